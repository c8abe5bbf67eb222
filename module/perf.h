/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What owners cost: the processor's performance counters, by RMID.  On a CPU that
 * has ticks the kernel's perf counts cycles and so on all the time, while some
 * descriptor wants that.  Whenever the CPU's RMID changes, what was counted since
 * the last change is added to the sums of the RMID that was loaded; the tick
 * writes the sums as PERF records, and they begin at 0 again.  What a tick itself
 * does counts under RMID 0, as in the cache.
 */
#ifndef CMT_PERF_H
#define CMT_PERF_H

#include <linux/types.h>

#include "uapi/cmt.h"

struct cmt_cpu;
struct cmt_perf;

#define CMT_PERF_NR	4	/* CMT_F_CYCLES << 0..3 */
#define CMT_PERF_ALL	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			 CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

/*
 * This CPU, whose @p is, runs with @rmid from now on: what was counted belongs to the
 * RMID of the last call.  Interrupts off; the run-queue lock may be held.
 */
void cmt_perf_turn(struct cmt_perf *p, u32 rmid);

/* This CPU begins to have ticks: nothing was counted before.  Interrupts off. */
void cmt_perf_begin(void);

/* How many RMIDs have something to write on this CPU.  Interrupts off. */
u32 cmt_perf_due(const struct cmt_perf *p);

/*
 * Write PERF records to this CPU's ring, of the time @now, for at most @room RMIDs;
 * others come first in the next tick.  @cpu has counters.  Interrupts off.
 */
void cmt_perf_write(struct cmt_cpu *cpu, u64 now, u32 room);

/*
 * A descriptor, whose *@wanted is 0 at first, wants the values @wants from now on
 * (CMT_F_CYCLES | ..., or 0).  Process context, not under mmap_lock.
 */
void cmt_perf_want(u32 *wanted, u32 wants);

/* The values that are counted on all CPUs with ticks, as of the last look. */
u32 cmt_perf_counts(void);

/*
 * Look, and say why some that are wanted are not counted; @reason has room for that of
 * struct cmt_info.  Process context.
 */
u32 cmt_perf_look(char *reason);

/* By hotplug.c, on the CPU itself: it is up, and has ticks or not; it goes down. */
void cmt_perf_cpu_up(unsigned int cpu, bool ticks);
void cmt_perf_cpu_down(unsigned int cpu);

/* After the last descriptor is closed, and before the CPUs go. */
void cmt_perf_stop(void);

#endif
