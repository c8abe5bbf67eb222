/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waited for a CPU while whose tasks ran, by numbers of members: sums over the page. */
#ifndef REPORT_WAIT_PAIRS_H
#define REPORT_WAIT_PAIRS_H

#include <stdint.h>

#define WAIT_PAIRS_ROOM		65536U	/* places; a power of two */
#define WAIT_PAIRS_LISTED	100U
#define WAIT_PAIR_UNKNOWN	UINT32_MAX	/* a runner */

struct wait_pair {
	uint32_t victim, runner;
	uint64_t ns;		/* of all tasks of the victim */
};

/* Begins as zeroes. */
struct wait_pairs {
	struct wait_pair *all;	/* by hash; after wait_pairs_finish() the largest first */
	uint32_t nr;
	uint64_t left_out_ns;	/* of pairs that are not in it */
};

/* Returns 0 or -ENOMEM. */
int wait_pairs_add(struct wait_pairs *pairs, uint32_t victim, uint32_t runner, uint64_t ns);

/* Keep the WAIT_PAIRS_LISTED largest pairs.  Nothing is added after this. */
void wait_pairs_finish(struct wait_pairs *pairs);
void wait_pairs_free(struct wait_pairs *pairs);

#endif
