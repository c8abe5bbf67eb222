/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PERF records of one open slot, unchanged.  Records of an owner are added up
 * only in the sums of an interval.  So owners are looked up when the slot is handed
 * out, not when a record arrives.
 */
#ifndef LIBCMT_COUNTS_H
#define LIBCMT_COUNTS_H

#include <cmt/slots.h>

#include "base/base.h"

/*
 * Limit of records in a slot: the limit for each CPU and millisecond, and at most
 * CMT_COUNTS_MAX (20 MiB).  A stream with more records is corrupt.
 */
#define CMT_COUNTS_PER_CPU	256U
#define CMT_COUNTS_MAX		(1U << 18)

struct cmt_counts {
	struct cmt_slot_perf *all;
	uint32_t nr, room;
	uint32_t dropped;	/* dropped, because the slot was full */
};

/* The limit of records in a slot of @nr_cpus CPUs. */
uint32_t cmt_counts_max(uint32_t nr_cpus, uint64_t slot_ns);

/* Make room for @n more records, at most up to @max.  Returns 0 or -ENOMEM. */
int cmt_counts_room(struct cmt_counts *counts, uint32_t n, uint32_t max);

/*
 * Of @n possible records, add the first ones: PERFs with a time from @begin on and
 * less than @span later, while the room suffices.  Returns their number.
 */
uint32_t cmt_counts_add_run(struct cmt_counts *counts,
			    const struct cmt_record *records, uint32_t n,
			    uint64_t begin, uint64_t span);

/* Look up the owners.  They are valid as for cmt_tracker_find(). */
void cmt_counts_find_owners(struct cmt_counts *counts,
			    struct cmt_tracker *tracker);

/* Drop all records.  The memory stays for the next slot. */
static inline void cmt_counts_clear(struct cmt_counts *counts)
{
	counts->nr = 0;
	counts->dropped = 0;
}

#endif
