/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring of each CPU.  It is made before the CPU comes online for the first time, and
 * stays until the module is unloaded, so that a reader's mapping and unread records
 * survive the CPU.
 *
 * A ring has room for the records of a quarter of a second at the highest rate: so the
 * ring limits the samples of a tick (cmt_ring_cap()).
 */
#ifndef CMT_RING_H
#define CMT_RING_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "settings.h"
#include "waiter.h"
#include "writer.h"

struct page;

DECLARE_PER_CPU(struct cmt_ring, cmt_rings);

/*
 * The descriptors that have mapped a ring: ticks run while there is one.  Written by
 * sample/sampler.c.
 */
extern u32 cmt_readers;

/* cmt_info.instance, and that of all rings */
extern u64 cmt_instance;

/* @records: of every ring, a power of two; 0: as large as needed */
int cmt_rings_init(u32 records, u32 interval_ns);
void cmt_rings_exit(void);

/*
 * All CPUs that were online at load have their rings, and programs may map them now.  No
 * CPU is coming up.
 */
void cmt_rings_sizes_are_known(void);

/*
 * Slots of the largest ring that was wanted, and of the smallest that there is; constant
 * after cmt_rings_sizes_are_known().
 */
extern u32 cmt_ring_records, cmt_ring_records_least;

/* Length of the mapping of a ring. */
u64 cmt_ring_bytes(void);

/* The time whose records every ring holds, at @interval_ns */
u64 cmt_rings_hold_ns(u32 interval_ns);

/* The most samples in a tick of @cpu. */
u32 cmt_ring_cap(unsigned int cpu, u32 interval_ns);

/* The part of the rings in the statistics */
void cmt_rings_stats(struct cmt_stats *stats);

/* A page of a ring's mapping; NULL: there is none, or not yet. */
struct page *cmt_ring_page(u32 cpu, unsigned long pgoff);

/*
 * The CPU is about to come up; it is dead.  -ENOMEM: the CPU has no ring, and its
 * records are only counted.  During the load it gets a smaller ring rather than none.
 */
int cmt_ring_prepare(unsigned int cpu);
void cmt_ring_dead(unsigned int cpu);

/* The CPU is up, and has ticks or not. */
void cmt_ring_set_quiet(unsigned int cpu, bool quiet);

/* The L3 domain id of this CPU.  Preemption off. */
static inline u32 cmt_ring_domain_id(void)
{
	return this_cpu_read(cmt_rings.domain_id);
}

/*
 * Append to this CPU's ring, and wake waiters that are due.  Interrupts off;
 * a lock of any kind may be held.
 */
void cmt_emit(const struct cmt_record *record);

#endif
