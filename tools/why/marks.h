/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last verdicts, for the rows and the header of a table.  Pure. */
#ifndef TOOLS_MARKS_H
#define TOOLS_MARKS_H

#include "ongoing_incidents.h"
#include "why_view.h"

#define MARKS 8U
#define MARK_NS 60000000000ULL	/* the time that a mark is shown */

/* A verdict, and the names in it */
struct mark {
	struct cmt_culprit_verdict verdict;
	char victim[CONTAINER_LABEL_LEN];	/* raw bytes */
	char suspect[CONTAINER_LABEL_LEN];	/* the first; "": none */
};

/* The newest verdict of each victim and suspect, the newest first. */
struct marks {
	struct mark list[MARKS];
	unsigned int nr;
	bool too_dear;		/* stopped: budget_exceeded() */
};

/* CPU time of the engine, in windows: it may take a part of one CPU. */
struct budget {
	uint64_t begin_ns;	/* of the window; 0: none yet */
	uint64_t spent_ns;
};

#define BUDGET_WINDOW_NS 2000000000ULL
#define BUDGET_PERCENT	 10U

/* @spent_ns: more, until @now_ns.  With the end of a window: was it too much? */
bool budget_exceeded(struct budget *budget, uint64_t now_ns, uint64_t spent_ns);

/* Of as many as there is room for, the oldest goes. */
void marks_add(struct marks *marks, const struct cmt_culprit_verdict *verdict,
	       const struct why_names *names);

/*
 * Who took something from a victim that an incident is about: the incident says it better,
 * so only the neighbour that costs most there stays in @marks.
 */
void marks_explain(struct marks *marks, const struct ongoing *ongoing);

/* Set row.mark and row.suspected of a frame by container; @marks must outlive their use. */
void marks_set(const struct marks *marks, struct frame *frame);

/* The newest verdict with a suspect, or else the newest; NULL: none is shown. */
const struct mark *marks_first(const struct marks *marks, uint64_t now_ns);

/* "lost cache to docker:batch", "took cache of docker:web"; raw bytes. */
void mark_text(char *buf, size_t size, const struct mark *mark, bool suspected);

/*
 * A line of the mark for people, at @now_ns: "docker:web lost cache to docker:batch, 4 s
 * ago (...)".  Names are escaped.
 */
#define MARK_LINE (12 * CONTAINER_LABEL_LEN + 200)
void mark_line(char buf[MARK_LINE], const struct mark *mark, uint64_t now_ns);

#endif
