/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of cmtstat's readings: device, usage, and the files of cgroups */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include "common/cgroups.h"
#include "frame/frame.h"
#include "light_reader.h"
#include "replay/replay.h"
#include "table/view.h"

/* How many processes the container of a cgroup had. */
struct head_count {
	uint64_t cgroup_id;
	bool known;
	uint32_t processes;
};

struct source {
	struct cmt_device *dev;
	struct cmt_usage *usage;	/* its own, or that of light */
	bool on_demand;			/* light is the source */
	struct light_reader light;
	struct replay *replay;		/* the source in place of a device, or NULL */
	enum view by;
	uint32_t children;			/* of rows: CMT_USAGE_CHILDREN, CMT_USAGE_DOMAINS or 0 */
	uint32_t counters;			/* the requested counters */
	const struct cmt_usage_frame *frame;	/* the last one; the usage's */
	struct frame_room room;			/* the rows of a report */
	struct cgroup_mount mount;
	struct head_count *counts;		/* by cgroup_id, ascending */
	uint32_t nr_counts;
	uint64_t counted_ns;
	uint64_t pending_ns;		/* when pending owners were counted */
};

/*
 * Begin to read @dev, which must outlive the source.  @children: as of the source.  @counters: CMT_F_CYCLES | ...,
 * CMT_F_CHANNEL, to be counted; 0: none.  @on_demand: without rings, and without the sampling.  Returns
 * 0 or -errno; source_close() in any case.
 */
int source_open(struct source *source, struct cmt_device *dev,
		enum view by, uint32_t children, uint64_t interval_ns,
		uint32_t counters, bool on_demand);

/* Begin to read the recording at its from_ns, and at its speed.  As source_open(). */
int source_open_replay(struct source *source, struct replay *replay,
		       enum view by, uint32_t children, uint64_t interval_ns);
void source_close(struct source *source);

/*
 * Process the available records, for a bounded time, and refresh names.  Returns 1: an
 * interval is complete, source_report() is of it; 0 or -errno.
 */
int source_pump(struct source *source);

/* Read the limits of the cgroup that @report follows, if there is one. */
void source_limits(const struct source *source, struct report *report);

/* The descriptor for poll(2), or -1: there is nothing to wait for. */
int source_fd(const struct source *source);

/* How long to wait for the device at most before source_pump(). */
uint64_t source_wait_ns(const struct source *source);

/*
 * The interval that source_pump() has found complete, with the module's statistics.
 * With @wanted_ns, its full length, the report is of the interval so far, which goes
 * on.
 */
int source_report(struct source *source, uint64_t wanted_ns,
		  struct report *report);

#endif
