/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long tasks wait for a CPU, by RMID.  The kernel has the sum of each task's waits: the
 * second number of /proc/PID/schedstat, sched_info.run_delay.  An account for each process
 * id says how much of that sum is in PERF records.  The rest is added
 *
 *	for the task that ran, to the RMID that was loaded: by a switch, and by the tick
 *	for tasks that wait, to the RMID that they would run with: by the tick
 *
 * so the sum is exact whatever happens to a task meanwhile, and a wait that is longer than a
 * tick is accounted while it lasts.  For that a CPU keeps hints: which tasks may wait for it.
 * The wait of a task without a hint is accounted when the task runs.
 */
#ifndef CMT_WAIT_H
#define CMT_WAIT_H

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/local.h>

#include "cpu.h"
#include "perf_cpu.h"

/* While no probe of these calls is there: NULL, or the reason why this cannot be. */
const char *cmt_wait_alloc(void);
void cmt_wait_free(void);

/* Waits up to now are not accounted.  To be called while there are probes of wake-ups. */
void cmt_wait_begin(void);

/* The probes of sched_wakeup and sched_wakeup_new, with the run-queue lock held */
void cmt_probe_wakeup(void *data, struct task_struct *task);
void cmt_probe_wakeup_new(void *data, struct task_struct *task);

#ifdef CONFIG_SCHED_INFO
#define CMT_WAIT_REASON	""

/* What is longer, ns, is not usual. */
#define CMT_WAIT_USUAL	S32_MAX

/* By process id, while waiting is accounted. */
extern local_t *cmt_wait_accounts;

/*
 * The account of a task when all its waits, which add up to @ns, are accounted.  Those of two
 * tasks are far apart: a thread that calls exec() gets the process id of its leader.
 */
static __always_inline u64 cmt_wait_account(const struct task_struct *task, u64 ns)
{
	return ns + (u64)(uintptr_t)task * GOLDEN_RATIO_32;
}

/*
 * @task, with this @pid, runs on this CPU, or did until now: add what it has waited to the
 * RMID that is loaded.  False: that is not usual; use cmt_wait_ran_odd().
 *
 * A tick of a CPU for which the task waited a moment ago may add to the account meanwhile.
 * What both add is then accounted twice, and the account is ahead by as much; the next wait
 * counts less by that.
 */
static __always_inline bool cmt_wait_ran(const struct cmt_cpu *cpu,
					 const struct task_struct *task, u32 pid)
{
	unsigned long i = pid, same = i;
	u64 was = data_race(cmt_wait_accounts[i].a.counter);	/* with another CPU's tick */
	u64 more = cmt_wait_account(task, task->sched_info.run_delay) - was;

	if (unlikely(more > CMT_WAIT_USUAL))
		return false;
	cpu->sum->waited += more;
	/* so both accesses have the index in their address, and no instruction computes one */
	OPTIMIZER_HIDE_VAR(same);
	local_add(more, &cmt_wait_accounts[same]);
	return true;
}

/* Until the task runs, ticks look whether it waits.  False: another task's hint is there. */
static __always_inline bool cmt_wait_hint(struct cmt_hints *hints, u32 pid)
{
	unsigned long i = (u8)pid;

	if (unlikely(__test_and_set_bit(i, hints->used)))
		return false;
	WRITE_ONCE(hints->pids[i], pid);
	return true;
}

static __always_inline void cmt_wait_unhint(struct cmt_hints *hints, u32 pid)
{
	unsigned long i = (u8)pid;

	/* the tick of another CPU may add a hint meanwhile */
	if (likely(data_race(hints->pids[i]) == pid))
		__clear_bit(i, hints->used);
}

/* @prev leaves this CPU, and waits if @prev_state is 0.  False: cmt_wait_switch_odd() */
static __always_inline bool cmt_wait_leave(struct cmt_cpu *cpu,
					   const struct task_struct *prev,
					   unsigned int prev_state)
{
	u32 pid = prev->pid;

	if (!prev_state) {
		/* the idle task, whose state is always 0 */
		if (!pid)
			return true;
		if (unlikely(!cmt_wait_hint(&cpu->hints, pid)))
			return false;
	}
	return likely(cmt_wait_ran(cpu, prev, pid));
}

/*
 * In the probe of sched_switch, before the RMID changes.  False: cmt_wait_switch_odd() is to
 * do it.  So there is no call here, for which registers were saved.
 */
static __always_inline bool cmt_wait_switch(struct cmt_cpu *cpu,
					    const struct task_struct *prev,
					    const struct task_struct *next,
					    unsigned int prev_state)
{
	if (unlikely(!cmt_wait_leave(cpu, prev, prev_state)))
		return false;
	cmt_wait_unhint(&cpu->hints, next->pid);
	return true;
}

void cmt_wait_switch_odd(struct cmt_cpu *cpu, const struct task_struct *prev,
			 const struct task_struct *next, unsigned int prev_state);
void cmt_wait_ran_odd(const struct cmt_cpu *cpu, const struct task_struct *task);
void cmt_wait_look(struct cmt_cpu *cpu);

static __always_inline bool cmt_wait_hints_any(const struct cmt_hints *hints)
{
	const unsigned long *used = hints->used;

	BUILD_BUG_ON(BITS_TO_LONGS(CMT_WAIT_HINTS) != 4);
	/* wake-ups by other CPUs set bits: this tick sees them, or the next one */
	return data_race(used[0] | used[1] | used[2] | used[3]);
}

/*
 * In a tick, while the RMID of current is loaded.  @cpu has sums.  What the task waited before
 * it ran is accounted in the first tick after it, as the tasks that ran meanwhile are.
 */
static __always_inline void cmt_wait_tick(struct cmt_cpu *cpu)
{
	if (!cpu->perf->waits)
		return;
	if (current->pid && unlikely(!cmt_wait_ran(cpu, current, current->pid)))
		cmt_wait_ran_odd(cpu, current);
	if (unlikely(cmt_wait_hints_any(&cpu->hints)))
		cmt_wait_look(cpu);
}
#else
#define CMT_WAIT_REASON	"the kernel has no CONFIG_SCHED_INFO"

static inline bool cmt_wait_switch(struct cmt_cpu *cpu, const struct task_struct *prev,
				   const struct task_struct *next,
				   unsigned int prev_state) { return true; }
static inline void cmt_wait_switch_odd(struct cmt_cpu *cpu, const struct task_struct *prev,
				       const struct task_struct *next,
				       unsigned int prev_state) { }
static inline void cmt_wait_tick(struct cmt_cpu *cpu) { }
#endif

#endif
