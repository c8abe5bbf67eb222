/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two recordings, side by side: sums of each, joined by container. */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/keys.h"
#include "common/options.h"
#include "common/rows.h"
#include "span.h"

enum diff_sort {
	DIFF_OCCUPANCY,
	DIFF_BANDWIDTH,
	DIFF_MISSES,
	DIFF_CPI,
	NR_DIFF_SORTS,
};

struct diff_config {
	const char *paths[2];
	enum diff_sort sort;
	uint64_t top;		/* 0: all */
	bool json;
};

/* The measurements of a container in one recording */
struct diff_sum {
	uint64_t frame;		/* number of the last interval with a row of it */
	bool several;		/* an interval had two rows of this name */
	uint64_t length_ns;	/* of the intervals that have it */
	/* Occupancy: bytes, over the time slots in which it was known. */
	double held;		/* bytes times slots */
	uint64_t slots, most;
	uint32_t rmids;		/* of the last interval */
	/* whose sum a reading is, times slots, where their number is known; and the slots without */
	double counters;
	uint64_t unsized;
	double counters_most;	/* 0: the number is not known of any */
	bool most_known, most_partial, occupancy_partial;
	/* Bandwidth: bytes, over the time of the intervals in which it was known. */
	uint64_t rated_ns;
	double moved, moved_lo, moved_hi;
	bool rate_partial;
	/* Counters, of the intervals that have the value. */
	uint64_t missed_ns;
	double misses;
	bool misses_partial;
	double cycles, instructions;
};

/* A value with its bounds; all NAN: it is unknown; bounds of NAN: these are. */
struct diff_value {
	bool known;
	bool partial;		/* a lower bound: hi is INFINITY, or NAN */
	double value, lo, hi;
};

/* One container. */
struct diff_row {
	char name[CONTAINER_LABEL_LEN];
	struct diff_sum sums[2];
};

struct diff {
	const struct diff_config *config;
	struct span spans[2];
	uint64_t frames[2];
	struct keys rows;	/* struct diff_row by its joining key */
	struct diff_row **sorted;
};

/* Add the intervals of recording @side.  0 or -errno. */
int diff_add(struct diff *diff, unsigned int side);

/* The unit of the occupancy in recording @side, in bytes */
double diff_unit(const struct diff *diff, unsigned int side);

/* Is the container in the recording? */
static inline bool diff_has(const struct diff_row *row, unsigned int side)
{
	return row->sums[side].frame;
}

struct diff_value diff_value(const struct diff *diff, const struct diff_row *row,
			     unsigned int side, enum diff_sort what);

/* The second less the first. */
struct diff_value diff_change(const struct diff *diff, const struct diff_row *row,
			      enum diff_sort what);

/*
 * Fill sorted: containers in both recordings by their change, then those in one only.
 */
int diff_sort(struct diff *diff);

int diff_table(FILE *out, const struct diff *diff);
int diff_json(FILE *out, const struct diff *diff);

/* Rows that config->top leaves. */
uint32_t diff_shown(const struct diff *diff);

extern const struct program diff_program;

/* As main(), with argv[0] "diff". */
int diff_main(int argc, char **argv);

#endif
