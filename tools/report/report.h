/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report: from a recording that is open to the page */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "page.h"
#include "watch/watch.h"

struct report_opts {
	bool progress;		/* how far it is goes to standard error */
	const char *directory;	/* for the spool; NULL: it is in memory */
	const char *file;	/* the name of the recording, in the page */
	uint64_t from_ns, to_ns;	/* CLOCK_MONOTONIC of the recording; to_ns: exclusive */
	bool from_memory;	/* it is in no file that anybody else has */
	bool (*is_stopped)(void);	/* asked now and then: report_open() ends; or NULL */
	bool is_short;		/* memory was too little for all that the recording was to have */
};

struct report {
	const struct report_opts *opts;
	struct replay *replay;
	struct watch watch;
	struct spool spool;
	struct model model;
	struct processes processes;
	struct page_about about;
	int64_t offset_ns;	/* of the clock, the last one */
	uint64_t judge_ns;	/* end of the frame at which it is next asked who can be judged */
};

/*
 * Read the recording of @replay, which is open.  @opts and @replay must outlive @report.
 * Returns 0, -ENODATA: nothing was read in that time, -ERANGE: its times are more than a
 * week apart, -EINTR: opts->is_stopped(), or another -errno; report_close() in any case.
 */
int report_open(struct report *report, struct replay *replay, const struct report_opts *opts);
void report_close(struct report *report);

/* @limit: as of page_write().  Returns as that. */
int report_write(struct report *report, FILE *out, uint64_t limit);

#endif
