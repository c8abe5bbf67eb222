/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owners of evicted lines: the model's matrix by address space (evictions= in
 * CMT_LAB).
 */
#ifndef CMT_LAB_EVICTED_H
#define CMT_LAB_EVICTED_H

#include <stdint.h>

#define EVICTED_MOST	8

/* For some spaces: lost lines by evictor, since evicted_begin(). */
struct evicted {
	uint32_t nr;
	uint32_t spaces[EVICTED_MOST];
	/*
	 * by victim and evictor; [nr] is the sum of all spaces that are not in spaces[]
	 */
	uint64_t lines[EVICTED_MOST][EVICTED_MOST + 1];
	/*
	 * the part whose lines were filled through addresses of user space, on both
	 * sides
	 */
	uint64_t user[EVICTED_MOST][EVICTED_MOST + 1];
	uint64_t at_ns;		/* CLOCK_MONOTONIC */
};

/* Reset all counts to 0.  The model rests meanwhile. */
void evicted_begin(void);

/* The caller sets spaces[] and nr. */
void evicted_read(struct evicted *evicted);

/* The evictions between two readings of the same spaces. */
void evicted_less(struct evicted *evicted, const struct evicted *before);

/*
 * Invariants of all counts since evicted_begin(), if no line was flushed.  The matrix
 * has every evicted line.  Of each space with a name since then, the filled lines that
 * it does not hold are evicted.  The model rests meanwhile.
 */
void evicted_check(const uint32_t *spaces, uint32_t nr);

#endif
