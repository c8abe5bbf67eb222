/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms of the milliseconds of a container, with fixed buckets, so that they can
 * be summed up over containers and machines.
 *
 * Frames of 1 ms are folded by the id of their rows.  At the end of an interval, a
 * series takes the counts of its row.
 */
#ifndef EXPORTER_HISTOGRAM_H
#define EXPORTER_HISTOGRAM_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

enum histogram_kind {
	HISTOGRAM_OCCUPANCY,	/* share of the L3 cache of a domain */
	HISTOGRAM_BANDWIDTH,	/* bytes a second, of a domain */
	NR_HISTOGRAMS,
};

#define HISTOGRAM_BUCKETS 12	/* with that without a bound, which is the last */

/* Of a kind, ascending, as labels write them; NULL: "+Inf". */
extern const char *const histogram_bounds[NR_HISTOGRAMS][HISTOGRAM_BUCKETS];

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];	/* each without the lower ones */
	double sum;
};

struct histograms {
	struct histogram of[NR_HISTOGRAMS];
};

uint64_t histogram_count(const struct histogram *histogram);
void histograms_add(struct histograms *to, const struct histograms *from);

/* Counts that wait for a series, by cmt_culprit_id() */
struct waiting {
	uint64_t id;
	uint32_t age;		/* intervals since it was folded or taken */
	struct histograms histograms;
};

/* Begins as zeroes. */
struct histogram_table {
	struct waiting *all;
	uint32_t nr, room;
	uint32_t *index;	/* open addressing, of numbers in all */
	uint32_t mask;		/* slots of the index, less one */
	uint64_t bounds[HISTOGRAM_BUCKETS];	/* of occupancy, in bytes, of l3_bytes */
	uint64_t l3_bytes;
	uint64_t dropped;	/* rows that there was no memory for, since it was looked at */
};

void histogram_table_free(struct histogram_table *table);

/*
 * @frame: of 1 ms, by container, with domains, and brief or not: rows without a reading
 * count in neither.
 */
void histogram_table_fold(struct histogram_table *table,
			  const struct cmt_usage_frame *frame);

/* Move the counts of @id to @to, or drop them (NULL). */
void histogram_table_take(struct histogram_table *table, uint64_t id,
			  struct histograms *to);

/* At the end of an interval: drop counts that no series took in the last ones. */
void histogram_table_age(struct histogram_table *table);

#endif
