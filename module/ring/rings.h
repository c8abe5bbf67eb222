/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of the rings, and their sizes.  The ring of a CPU is made before the CPU
 * comes online for the first time, and stays until the module is unloaded, so that a
 * reader's mapping and unread records survive the CPU.
 *
 * A ring has room for the records of a quarter of a second at the highest rate: so the
 * ring limits the samples of a tick (cmt_ring_cap()).
 */
#ifndef CMT_RINGS_H
#define CMT_RINGS_H

#include <linux/types.h>

struct page;

/* @records: of every ring, a power of two; 0: as large as needed */
int cmt_rings_init(u32 records, u32 interval_ns);
void cmt_rings_exit(void);

/* Slots of the largest ring, and of the smallest; constant after init(). */
extern u32 cmt_ring_records, cmt_ring_records_least;

/* Length of the mapping of a ring. */
u64 cmt_ring_bytes(void);

/* The time whose records every ring holds, at @interval_ns */
u64 cmt_rings_hold_ns(u32 interval_ns);

/* The most samples in a tick of @cpu. */
u32 cmt_ring_cap(unsigned int cpu, u32 interval_ns);

/* A page of a ring's mapping; NULL: there is none, or not yet. */
struct page *cmt_ring_page(u32 cpu, unsigned long pgoff);

/*
 * The CPU is about to come up; it is dead.  -ENOMEM: the CPU has no ring, and its
 * records are not written.
 */
int cmt_ring_prepare(unsigned int cpu);
void cmt_ring_dead(unsigned int cpu);

/* The CPU is up, and has ticks or not. */
void cmt_ring_set_quiet(unsigned int cpu, bool quiet);

#endif
