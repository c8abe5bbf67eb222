/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cmtstat's readings come from: device, reader, slots, aggregate. */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include "cgroups.h"
#include "view.h"

/* How many processes the container of a cgroup had. */
struct head_count {
	uint64_t cgroup_id;
	bool known;
	uint32_t processes;
};

struct source {
	struct cmt_device *dev;
	struct cmt_reader *reader;
	struct cmt_slots *slots;
	struct cmt_containers *containers;
	struct aggregate *agg;
	struct cgroup_mount mount;
	struct head_count *counts;		/* by cgroup_id, ascending */
	uint32_t nr_counts;
	uint64_t counted_ns;
	uint64_t lost, dropped;		/* as of the last report */
};

/*
 * Begin to read @dev, which must outlive the source.  Returns 0, or -errno
 * with *what saying what failed.
 */
int source_open(struct source *source, struct cmt_device *dev,
		enum aggregate_by by, const char **what);
void source_close(struct source *source);

/*
 * Take in what there is to read, for at most 200 ms, so that a stream faster
 * than this process cannot keep it for ever.  Returns 0 or -errno.
 */
int source_pump(struct source *source);

/* End the interval: rows, counts, and the module's statistics. */
int source_report(struct source *source, struct report *report);

uint64_t clock_ns(int clock);

#endif
