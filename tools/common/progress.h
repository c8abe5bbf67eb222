/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far something is that takes longer than two seconds, on standard error. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;	/* "cmtstat report: reading FILE"; NULL: show nothing */
	uint64_t begin_ns, next_ns;	/* CLOCK_MONOTONIC of this machine */
	bool terminal;
	bool shown;
};

void progress_begin(struct progress *progress, const char *what);

/* @done of @all.  Reads the clock: call it some hundred times a second at most. */
void progress_show(struct progress *progress, uint64_t done, uint64_t all);

/* The line on a terminal goes away. */
void progress_end(struct progress *progress);

#endif
