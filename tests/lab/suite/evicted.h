/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who evicted whose lines: the model's matrix, by address space (evictions= in CMT_LAB). */
#ifndef CMT_LAB_EVICTED_H
#define CMT_LAB_EVICTED_H

#include <stdint.h>

#define EVICTED_MOST	8

/* Of some spaces: what each lost, and to whom.  Lines since evicted_begin(). */
struct evicted {
	uint32_t nr;
	uint32_t spaces[EVICTED_MOST];
	/* by victim and evictor; [nr] is all that are not in spaces[] */
	uint64_t lines[EVICTED_MOST][EVICTED_MOST + 1];
	/* of these, where both were filled through addresses of user space */
	uint64_t user[EVICTED_MOST][EVICTED_MOST + 1];
	uint64_t at_ns;		/* CLOCK_MONOTONIC */
};

/* All counts are 0 from here on; the model rests meanwhile. */
void evicted_begin(void);

/* spaces[] and nr are the caller's. */
void evicted_read(struct evicted *evicted);

/* What was evicted between two readings of the same spaces. */
void evicted_less(struct evicted *evicted, const struct evicted *before);

/*
 * What must hold of all counts since evicted_begin(), in which no line was flushed.  The
 * matrix has every line that was evicted, and of each space with a name since then: what it
 * filled and does not hold is evicted.  The model rests meanwhile.
 */
void evicted_check(const uint32_t *spaces, uint32_t nr);

#endif
