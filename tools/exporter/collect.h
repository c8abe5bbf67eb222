/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the device to series: a cmt_usage by container, and further state of the
 * machine.  A device that goes away is opened again when it is back.
 */
#ifndef EXPORTER_COLLECT_H
#define EXPORTER_COLLECT_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "channels.h"
#include "exporter.h"
#include "fine.h"
#include "recent.h"
#include "series.h"
#include "waits.h"

/* Sums are since the exporter began, and go on when the device is another one. */
struct machine {
	bool up;		/* the device is being read */
	struct cmt_info info;	/* of the last device */
	struct cmt_stats stats;
	bool stats_known;
	uint32_t scope;
	uint32_t counters;	/* CMT_F_CYCLES | ..., that are counted now */
	uint32_t counted;	/* those that were counted at least once */
	bool seen;		/* the following are of the last interval */
	double end;		/* when it ended, CLOCK_REALTIME, seconds */
	uint32_t nr_cpus, nr_domains;
	uint32_t sampling_ns;
	bool pending_known;
	uint32_t pending;
	uint64_t intervals;
	uint64_t busy_ns;
	uint64_t missed;	/* ticks */
	uint64_t lost, dropped;	/* records */
	uint64_t slots, gaps;
	uint64_t opens;		/* of the device */
	struct channels channels;
	struct waits waits;
};

struct collector {
	const struct exporter_config *config;
	enum origin origin;	/* of the device: once it was opened, not ORIGIN_AUTO */
	struct cmt_device *dev;		/* NULL: gone */
	struct cmt_usage *usage;
	struct series_set set;
	struct fine fine;
	struct recent recent;	/* with --page */
	struct machine machine;
	uint64_t version;	/* another one when something has changed */
	uint64_t due_ns;	/* CLOCK_MONOTONIC: when an interval may be over */
	uint64_t retry_ns;	/* CLOCK_MONOTONIC: when to open it again */
	uint64_t gap_ns;	/* likewise: when an interval without it ends */
	int said;		/* the last error that was printed */
};

/* Returns 0, or -errno after a message on standard error. */
int collect_open(struct collector *collector,
		 const struct exporter_config *config);
void collect_close(struct collector *collector);

/* For poll(2): the descriptor, -1: there is none, and how long to wait at most. */
int collect_fd(const struct collector *collector);
uint64_t collect_wait_ns(const struct collector *collector);

/* Process the available records.  @events: of poll(2) on the descriptor. */
void collect_step(struct collector *collector, short events);

#endif
