/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a ring is, and how much a tick may write to it, so that every ring holds the
 * records of 250 ms.  Pure.  docs/overhead.md has the bytes of some machines, and the unit
 * test compares them.
 */
#ifndef CMT_SIZE_H
#define CMT_SIZE_H

#include <linux/types.h>

#include "writer.h"

/*
 * The slots, a power of two, that a CPU needs that reads a domain's @rmids RMIDs together
 * with others, @readers in all; 0: it reads none.  @interval_ns: the shortest one for
 * which it is enough.
 */
u32 cmt_size_records(u32 rmids, u32 readers, u32 interval_ns);

/* The most samples in a tick of a ring of @records slots. */
u32 cmt_size_cap(u32 records, u32 interval_ns);

/* The time, ns, whose records such a ring holds at least. */
u64 cmt_size_hold_ns(u32 records, u32 interval_ns);

/* The memory of a ring with its header. */
static inline u64 cmt_size_bytes(u32 records)
{
	return CMT_RING_DATA_OFFSET + (u64)records * sizeof(struct cmt_record);
}

#endif
