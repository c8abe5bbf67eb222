/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much slower containers are now, because of which neighbours: a bounded number of series */
#ifndef EXPORTER_SLOWDOWNS_H
#define EXPORTER_SLOWDOWNS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#define SLOWDOWNS_MAX	256

struct slowdown_series {
	char *labels;
	uint64_t hash;		/* of labels */
	double share;
};

struct slowdown_list {
	struct slowdown_series all[SLOWDOWNS_MAX];
	uint32_t nr;
};

/* Of the last second.  Begins as zeroes: nothing is known. */
struct slowdowns {
	bool counted;		/* slowdown by memory is known */
	bool referenced;	/* slowdown by cache is known */
	struct slowdown_list victims;	/* because of all others */
	struct slowdown_list pairs;	/* of a victim, a neighbour and a resource */
};

/*
 * Replace all values.  @frame, @containers: names of the owners.  What is less than 1 %
 * has no series, nor have more than SLOWDOWNS_MAX; the slowest victims come first.
 */
void slowdowns_read(struct slowdowns *slowdowns, const struct cmt_culprit *engine,
		    const struct cmt_usage_frame *frame, struct cmt_containers *containers,
		    bool emulated);

/* Nothing is known any more. */
void slowdowns_free(struct slowdowns *slowdowns);

#endif
