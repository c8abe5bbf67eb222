/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by victim and neighbour: a bounded number of series */
#ifndef EXPORTER_PAIRS_H
#define EXPORTER_PAIRS_H

#include <stdint.h>

#define PAIRS_MAX	256

struct pair {
	char *labels;		/* victim and neighbour, and their further labels */
	uint64_t hash;		/* of labels */
	uint64_t sum;
	uint64_t last_ns;	/* CLOCK_MONOTONIC, when the sum last grew */
};

/* Begins as zeroes, but for window_ns. */
struct pairs {
	struct pair all[PAIRS_MAX];
	uint32_t nr;
	uint64_t window_ns;	/* for so long a pair that does not grow keeps its place */
};

/*
 * Add @n to the pair with these labels, which may be a new one, at @now.
 * Where all are in use, a new one replaces the one that has not grown longest, if that
 * is more than a window ago.  Returns -ENOSPC, or -ENOMEM, where there is no room for a
 * new one, else 0.
 */
int pairs_add(struct pairs *pairs, const char *labels, uint64_t n, uint64_t now);

/* Forget the pairs that have not grown for an hour.  @now: CLOCK_MONOTONIC. */
void pairs_forget(struct pairs *pairs, uint64_t now);

void pairs_free(struct pairs *pairs);

#endif
