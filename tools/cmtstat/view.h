/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One interval as text: a table for people, JSON or CSV for programs. */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include <stdio.h>

#include "columns.h"

/* Owners of the scope's kind, and others that were attached. */
struct census {
	uint32_t monitored;	/* have a dedicated RMID */
	uint32_t pending;	/* share the overflow RMID */
	uint32_t attached;	/* others: have one, */
	uint32_t attached_pending;	/* share the overflow RMID */
};

struct report {
	const struct cmt_info *info;
	struct cmt_stats stats;
	struct frame frame;
	uint32_t scope;		/* CMT_SCOPE_* */
	struct census census;
	bool expand;		/* processes of containers are wanted */
	bool on_demand;		/* no ticks ran for it */
	uint64_t wanted_ns;	/* the interval goes on to this length; 0: it
				 * has ended
				 */
	int64_t realtime_ns;	/* of the interval's end */
	uint32_t uncounted;	/* CMT_F_CYCLES | ...: asked for, and not counted */
	char counters_reason[CMT_REASON_LEN];	/* why; "": nothing is missing */
	char channels_reason[80];	/* why not all memory channels are read; "": all,
					 * or not asked for
					 */
	bool emulated;		/* the backend is, or a record said so */
	uint64_t lost;		/* records overwritten before they were read, */
	uint64_t lost_ever;	/* in the interval and since the start */
	uint64_t dropped;	/* records late or malformed, likewise */
	uint64_t dropped_ever;
};

struct table_opts {
	unsigned int width;	/* columns of the screen; 0: no limit */
	unsigned int height;	/* lines of the screen; 0: no limit */
	bool attributes;	/* bold and reverse video may be used */
	const char *eol;	/* what ends a line */
};

void view_table(FILE *out, const struct report *report,
		const struct table_opts *opts);

/*
 * One JSON object a line: the interval's, then one for each row.  Returns 0 or
 * -ENOMEM.
 */
int view_json(FILE *out, const struct report *report);

/* The line with the fields' names, then one line a row. */
void view_csv_header(FILE *out, enum view by);
void view_csv(FILE *out, const struct report *report);

#endif
