/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RMID that each CPU runs with: loaded at switches (cpu.c) and in ticks (pqr.h),
 * beside resctrl (resctrl.h, rdtgroups.h) and the RMID of the kernel's own accesses
 * (plza.h).  The processor's counters turn with it (perf.h).
 */
#ifndef CMT_CPU_H
#define CMT_CPU_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "cmt.h"

struct cmt_perf;
struct perf_sum;
struct task_struct;

#define CMT_WAIT_HINTS	256	/* by a byte, which needs no mask */

/*
 * Tasks that may wait for the CPU (wait.h).  The hint of a task is at its process id, by the
 * lowest byte, or where another task's hint is there, at any.
 */
struct cmt_hints {
	u32 pids[CMT_WAIT_HINTS];
	DECLARE_BITMAP(used, CMT_WAIT_HINTS);	/* the task pids[bit] may wait */
	u32 cursor;		/* the bit that the next tick looks at first */
};

/*
 * Each count is written by the CPU itself with interrupts off, and read from any CPU.  A
 * count is exact; several counts are not of one instant.
 */
struct cmt_cpu {
	bool up;		/* between cpu_up() and cpu_down() */
	bool unread;		/* online, without a domain or without memory */
	bool overwritten;	/* an owner's RMID was overwritten since the last tick */
	bool reloading;		/* reload is queued */
	bool tick_loads;	/* the tick's end loads the RMID of current */
	bool switch_loads;	/* up, and @foreign is 0: a switch loads the RMID of next */
	u32 rmid;		/* loaded: the RMID that PQR_ASSOC should have */
	/*
	 * The RMID that resctrl or another agent loaded last; 0: the CPU is cmt's.  If not,
	 * @replaced is the RMID of cmt's that was loaded before.
	 */
	u32 foreign;
	/*
	 * The RMIDs that the CPU ran with since its last tick, but for the one that is
	 * loaded now.  Where @forward is not NULL, another CPU reads in place of this one,
	 * and the RMIDs are marked there.
	 */
	unsigned long *ran;
	unsigned long *forward;
	struct cmt_perf *perf;	/* perf.c; NULL: nothing is counted here */
	/* perf.c: sum of the loaded RMID; where nothing is counted, one that no record has */
	struct perf_sum *sum;
	u64 switches;
	u64 pqr_writes;
	/* a switch needs nothing behind these; wake-ups by other CPUs write to them */
	struct cmt_hints hints ____cacheline_aligned;
	u32 replaced;
	u32 default_rmid;	/* the RMID that another agent gave the CPU, for tasks in
				 * no resctrl group; as of the last such task
				 */
	u32 domain;		/* index of the domain */
	unsigned long looked;	/* jiffies of the last refresh, which reads PQR_ASSOC */
	u64 tick_closid;	/* CLOSID half of PQR_ASSOC in this tick */
	struct irq_work reload;	/* runs after resctrl has written PQR_ASSOC */
	u64 pqr_overwritten;
};

DECLARE_PER_CPU(struct cmt_cpu, cmt_cpus);

/*
 * This CPU, which is up, has run with @rmid.  Interrupts off.  Another CPU changes @forward
 * (cmt_sampler_assign()).
 */
static __always_inline void cmt_cpu_mark(const struct cmt_cpu *cpu, u32 rmid)
{
	unsigned long *forward = READ_ONCE(cpu->forward);

	if (!forward)
		__set_bit(rmid, cpu->ran);
	else if (!test_bit(rmid, forward))
		set_bit(rmid, forward);
}

/* hotplug.c brings the CPUs up. */
int cmt_cpus_init(void);
/* After the probes. */
void cmt_cpus_exit(void);

/* This CPU, in process context.  @domain is an index. */
void cmt_cpu_up(u32 domain, u32 domain_id);
void cmt_cpu_down(void);

/* The probe of sched_switch. */
void cmt_probe_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state);

/* The same, and it accounts what tasks wait for the CPU (wait.h). */
void cmt_probe_switch_waits(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state);

/* This CPU: load the RMID of current.  Interrupts off. */
void cmt_cpu_refresh(void);

/* All CPUs: refresh, before this returns.  Process context. */
void cmt_cpus_refresh(void);

/*
 * The same for changes that any user can make: an excluded CPU is interrupted only if its
 * RMID is not the one of its task.  Waits for a grace period of RCU if CPUs are excluded.
 */
void cmt_cpus_drain(void);

/*
 * All CPUs: call account() of the backend, so that it has all running times up to now.
 * Process context.
 */
void cmt_cpus_account(void);

/* The part of the CPUs in the statistics */
void cmt_cpus_stats(struct cmt_stats *stats);

#include "notes.h"
#include "perf.h"
#include "plza.h"
#include "pqr.h"
#include "rdtgroups.h"
#include "resctrl.h"
#include "wait.h"
#include "walk.h"

#endif
