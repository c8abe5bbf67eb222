/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The processor's performance counters, and what tasks wait for the CPU (wait.h), by RMID.
 * While some descriptor asks for values, and 1 to 2 s longer, the kernel's perf counts cycles
 * and other events all the time, on each CPU that has ticks, and where no event of another
 * program needs the counter.  When the CPU's RMID changes, the counts since the last change
 * are added to the sums of the RMID that was loaded.  The tick writes the sums as PERF
 * records and sets them to 0.  The work of a tick counts for RMID 0, as in the cache.
 */
#ifndef CMT_PERF_H
#define CMT_PERF_H

#include <linux/types.h>

#include "cmt.h"

struct cmt_perf;
struct cmt_ring;

#define CMT_PERF_NR	4
#define CMT_PERF_EVENTS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			 CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define CMT_PERF_ALL	(CMT_PERF_EVENTS | CMT_F_WAITED)
#define CMT_PERF_WANTS	(CMT_PERF_ALL | CMT_F_COUNTERS_FIRST)

/*
 * This CPU, which @p belongs to, runs with @rmid from now on: the counts until now belong
 * to the RMID of the last call.  Interrupts off; the run-queue lock may be held.
 */
void cmt_perf_turn(struct cmt_perf *p, u32 rmid);

/* This CPU begins to have ticks: what was counted before is dropped.  Interrupts off. */
void cmt_perf_begin(void);

/*
 * Waiting is accounted from now on, @reason is NULL, or is not, because of it.  Process
 * context.
 */
void cmt_perf_set_waits(const char *reason);

/* The number of RMIDs with counts to write on this CPU.  Interrupts off. */
u32 cmt_perf_due(const struct cmt_perf *p);

/*
 * Write PERF records of the time @now to this CPU's ring, for at most @room RMIDs; the
 * other RMIDs come first in the next tick.  Interrupts off.
 */
void cmt_perf_write(struct cmt_perf *p, struct cmt_ring *ring, u64 now, u32 room);

/* At load.  @first: counters=first.  0 or -ENOMEM. */
int cmt_perf_init(bool first);

/*
 * A descriptor asks for the values @wants (CMT_F_CYCLES | ..., or 0) from now on, with
 * CMT_F_COUNTERS_FIRST before other programs.  *@wanted belongs to the descriptor and is 0
 * at first.  Values that no descriptor asks for any
 * more are counted for 1 to 2 s longer.  A STATE is written only if other values are
 * counted since.  Process context, not under mmap_lock.
 */
void cmt_perf_want(u32 *wanted, u32 wants);

/*
 * The values that were counted on all CPUs with ticks at the last check.  @reason: why a value
 * that was asked for was not counted, with the room of cmt_info.perf_reason.  Process context.
 */
u32 cmt_perf_counted(char *reason);

/*
 * By hotplug.c: the CPU is up, and has ticks or not; it goes down.  A CPU that was counting
 * and ceases to writes the PERFs that are due.
 */
void cmt_perf_cpu_up(unsigned int cpu, bool ticks);
void cmt_perf_cpu_down(unsigned int cpu);

/* Between these calls no event counts.  Process context, one call at a time. */
void cmt_perf_suspend(void);
void cmt_perf_resume(void);

/* After the last descriptor is closed, and before the CPUs go. */
void cmt_perf_stop(void);

#endif
