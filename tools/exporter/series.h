/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series of containers: the state between the intervals of a cmt_usage.
 *
 * A series is identified by its labels.  It begins with the first interval that has a
 * row with these labels, and ends a window after the last one, so that a scrape gets
 * the last value of its counters.  Its gauges exist only while it has a row.
 */
#ifndef EXPORTER_SERIES_H
#define EXPORTER_SERIES_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "parts.h"

#define SERIES_UNKNOWN UINT64_MAX

/* Sums since the series began.  They never decrease. */
enum series_count {
	COUNT_TOTAL,		/* bytes */
	COUNT_LOCAL,
	COUNT_RAN,		/* ns */
	COUNT_CYCLES,
	COUNT_INSTRUCTIONS,
	COUNT_LLC_MISSES,
	COUNT_LLC_REFERENCES,
	COUNT_WAITED,		/* ns */
	NR_COUNTS,
};

/* Intervals in which values were lower bounds, or not known. */
enum series_incomplete {
	INCOMPLETE_OCCUPANCY,
	INCOMPLETE_MEMORY,
	INCOMPLETE_LOCAL,
	INCOMPLETE_COUNTERS,
	INCOMPLETE_WAIT,
	NR_INCOMPLETE,
};

/* Of one interval; SERIES_UNKNOWN: there is none. */
struct series_extreme {
	uint64_t least, most;
};

struct series {
	struct series *next;	/* in its bucket */
	char *labels;
	char *info;		/* of the container; NULL: none */
	bool has_image;		/* in info */
	bool special;		/* no container: does not count */
	bool others;		/* of all containers that have no series */
	bool seen;		/* in the last interval */
	bool merged;		/* several rows of the last interval */
	bool summed;		/* of some interval since there are histograms */
	uint32_t absent;	/* intervals since it was seen */
	/* Of the last interval. */
	bool occupancy_known;
	bool occupancy_degraded;	/* a lower bound, or older than the interval */
	uint64_t occupancy;	/* bytes */
	uint64_t residual;
	bool residual_unknown;	/* of some row with an occupancy */
	uint32_t rmids;
	uint32_t pending;
	uint32_t incomplete_now;	/* 1 << INCOMPLETE_* */
	uint64_t counts[NR_COUNTS];
	uint32_t counted;	/* 1 << COUNT_*: was known at least once */
	uint64_t incomplete[NR_INCOMPLETE];
	struct parts parts;
	struct histograms *histograms;	/* of its milliseconds; NULL: none */
	struct series_extreme window[];
};

struct series_set {
	bool emulated;		/* values are of a model, and labelled so */
	uint32_t max;		/* containers with a series of their own */
	uint32_t window;	/* intervals */
	uint32_t turn;		/* of the window, of the last interval */
	uint32_t nr_containers;	/* with a series of their own */
	uint32_t nr_others;	/* without, in the last interval */
	bool cpus_excluded;	/* in the last interval: what ran there is in no row */
	uint64_t rows_dropped;	/* no memory for their values, ever */
	struct histogram_table *histograms;	/* for new series; NULL: none */
	struct series **all;
	uint32_t nr, room;
	struct series **buckets;
};

/* Returns 0 or -ENOMEM. */
int series_open(struct series_set *set, uint32_t max, uint32_t window);
void series_close(struct series_set *set);

/*
 * Add an interval.  @values: CMT_F_OCCUPANCY | ..., the values of the device; other
 * values are not counted as incomplete.
 */
void series_frame(struct series_set *set, const struct cmt_usage_frame *frame,
		  uint32_t values);

/* There was an interval without a device. */
void series_gap(struct series_set *set);

/* Over the window, or SERIES_UNKNOWN. */
struct series_extreme series_extreme(const struct series_set *set,
				     const struct series *series);

#endif
