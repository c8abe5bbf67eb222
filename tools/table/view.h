/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One interval as text: a table for people, JSON or CSV for programs. */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include <stdio.h>

#include "columns.h"
#include "common/beside.h"
#include "common/cgroups.h"
#include "frame/follow.h"
#include "replay/replay.h"
#include "shares.h"
#include "why/marks.h"
#include "why/ongoing_incidents.h"

/* Owners with a dedicated RMID, and pending owners, which share the overflow RMID. */
struct census {
	bool unknown;		/* how many have one, as in a recording */
	bool pending_unknown;
	uint32_t monitored;	/* of the scope's kind, without services */
	uint32_t pending;
	uint32_t services;
	uint32_t services_pending;
	uint32_t attached;	/* not of the scope's kind */
	uint32_t attached_pending;
};

struct report {
	const struct cmt_info *info;
	struct cmt_stats stats;
	struct frame frame;
	struct beside beside;	/* of all rows */
	uint32_t scope;		/* CMT_SCOPE_* */
	struct census census;
	bool expand;		/* processes of containers are wanted */
	const struct replay *replay;	/* a recording is read; or NULL */
	bool on_demand;		/* no ticks ran for it */
	uint64_t wanted_ns;	/* the interval goes on to this length; 0: it
				 * has ended
				 */
	int64_t realtime_ns;	/* of the interval's end */
	uint32_t uncounted;	/* CMT_F_CYCLES | ...: requested, and not counted */
	/* why, of waiting only without another reason; "": nothing is missing */
	char counters_reason[CMT_REASON_LEN];
	/* why not all memory channels are read; "": all, or not requested */
	char channels_reason[sizeof(((struct cmt_uncore *)NULL)->channels_reason)];
	struct marks marks;	/* verdicts of the last minute */
	bool too_coarse;	/* wanted, and the sampling interval is too long for them */
	struct ongoing ongoing;	/* that go on */
	struct caches caches;	/* on the full screen: what is held of them, */
	const struct shares *shares;	/* and the bars of that; or NULL */
	struct follow follow;	/* the row of the pane, closely */
	bool limited;		/* limits are those of its cgroup */
	struct cgroup_limits limits;
	bool emulated;		/* the backend, or a record, is emulated */
	uint64_t lost;		/* records overwritten before they were read, */
	uint64_t lost_ever;	/* in the interval and since the start */
	uint64_t dropped;	/* records late or malformed, likewise */
	uint64_t dropped_ever;
	uint32_t gaps;		/* slots of the interval with records missing */
};

#define MAX_COLUMNS 28
#define NO_ROW UINT32_MAX

/* The part of a table on the full screen: in and out */
struct window {
	uint32_t top;		/* the first row, as far as the following ones fill the screen */
	uint32_t selected;	/* marked, and on the screen; NO_ROW: none */
	/* out */
	uint32_t shown;		/* rows from the top, */
	uint32_t sums;		/* and the last of the table, below "+N rows" */
	unsigned int titles;	/* the line that they are in, */
	unsigned int nr_places;	/* and the columns in it */
	struct {
		unsigned int begin, end;
		enum sort_key sort;
	} places[MAX_COLUMNS];
};

struct table_opts {
	unsigned int width;	/* columns of the screen; 0: no limit */
	unsigned int height;	/* lines of the screen; 0: no limit */
	struct window *window;	/* of the full screen, with bars and curves; or NULL */
};

/* Why waiting is not accounted for this report, which asked for it; NULL: it is, or it did not. */
const char *view_wait_reason(const struct report *report);

struct screen;

/* The lines above the table, and the table. */
void view_table(struct screen *screen, const struct report *report);

/* The table only, in the remaining lines */
void view_rows(struct screen *screen, const struct report *report);

/*
 * One JSON object a line: the interval's, then one for each row.  Returns 0 or
 * -ENOMEM.
 */
int view_json(FILE *out, const struct report *report);

/* The line with the fields' names, then one line a row. */
void view_csv_header(FILE *out, enum view by);
void view_csv(FILE *out, const struct report *report);

#endif
