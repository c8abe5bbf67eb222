/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PERF records of one open slot, unchanged.  Records of an owner are added up only
 * in the sums of an interval, so the owner is not looked up when a record comes, but
 * when the slot is handed out.
 */
#ifndef LIBCMT_COUNTS_H
#define LIBCMT_COUNTS_H

#include <cmt/slots.h>

#include "internal.h"

/*
 * Records in a slot: the limit for each CPU and millisecond, and at most CMT_COUNTS_MAX
 * (20 MiB).  A stream with more of them is corrupt.
 */
#define CMT_COUNTS_PER_CPU	256U
#define CMT_COUNTS_MAX		(1U << 18)

struct cmt_counts {
	struct cmt_slot_perf *all;
	uint32_t nr, room;
	uint32_t dropped;	/* beyond the most that there may be */
};

/* The greatest number of records in a slot of @nr_cpus CPUs */
uint32_t cmt_counts_max(uint32_t nr_cpus, uint64_t slot_ns);

/* Room for @n more in memory, or for as many as @max leaves.  0 or -ENOMEM. */
int cmt_counts_room(struct cmt_counts *counts, uint32_t n, uint32_t max);

/*
 * Of @n records that can be, add the first ones: PERFs with a time from @begin on, by
 * less than @span later, as long as there is room in memory.  Returns how many.
 */
uint32_t cmt_counts_add_run(struct cmt_counts *counts,
			    const struct cmt_record *records, uint32_t n,
			    uint64_t begin, uint64_t span);

/* Look up the owners.  They are valid as those of cmt_tracker_find(). */
void cmt_counts_find_owners(struct cmt_counts *counts,
			    struct cmt_tracker *tracker);

/* Forget all records; the memory stays for the next slot. */
static inline void cmt_counts_clear(struct cmt_counts *counts)
{
	counts->nr = 0;
	counts->dropped = 0;
}

#endif
