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
 * tick is told while it lasts.  For that a CPU keeps hints: which tasks may wait for it.  A
 * task without a hint is told when it runs.
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

#define CMT_WAIT_UNIT	1024U	/* PERF records have multiples of this, ns */

/* While no probe of these calls is there: NULL, or the reason why this cannot be. */
const char *cmt_wait_alloc(void);
void cmt_wait_free(void);

/* What tasks have waited up to now is not told.  While there are probes of wake-ups. */
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
 * The account of a task whose waits are all told, when they add up to @ns: ns.  Those of two
 * tasks are far apart: a thread that calls exec() gets the process id of its leader.
 */
static __always_inline u64 cmt_wait_account(const struct task_struct *task, u64 ns)
{
	return ns + (u64)(uintptr_t)task * GOLDEN_RATIO_32;
}

/*
 * @task runs on this CPU, or did until now: add what it has waited to the RMID that is
 * loaded.  False: that is not usual; use cmt_wait_ran_odd().
 *
 * A tick of a CPU for which the task waited a moment ago may add to the account meanwhile.
 * What both add is then told twice, and the account is ahead by as much, which is made up
 * for by the next wait.
 */
static __always_inline bool cmt_wait_ran(const struct cmt_cpu *cpu,
					 const struct task_struct *task)
{
	local_t *account = &cmt_wait_accounts[(u32)task->pid];
	u64 was = data_race(account->a.counter);	/* with the tick of another CPU */
	u64 more = cmt_wait_account(task, task->sched_info.run_delay) - was;

	if (unlikely(more > CMT_WAIT_USUAL))
		return false;
	/* before local_add(), after which a tick would test cpu->perf again */
	if (likely(cpu->perf))
		cpu->perf->sum->waited += more;
	local_add(more, account);
	return true;
}

/* Until the task runs, ticks look whether it waits.  False: another task's hint is there. */
static __always_inline bool cmt_wait_hint(struct cmt_hints *hints, u32 pid)
{
	unsigned long i = pid % CMT_WAIT_HINTS;

	if (unlikely(__test_and_set_bit(i, &hints->used)))
		return false;
	WRITE_ONCE(hints->pids[i], pid);
	return true;
}

static __always_inline void cmt_wait_unhint(struct cmt_hints *hints, u32 pid)
{
	unsigned long i = pid % CMT_WAIT_HINTS;

	if (likely(READ_ONCE(hints->pids[i]) == pid))
		__clear_bit(i, &hints->used);
}

/*
 * In the probe of sched_switch, before the RMID changes; @prev waits if @prev_state is 0.
 * False: cmt_wait_switch_odd() is to do it.  So there is no call here, for which registers
 * were saved.
 */
static __always_inline bool cmt_wait_switch(struct cmt_cpu *cpu,
					    const struct task_struct *prev,
					    const struct task_struct *next,
					    unsigned int prev_state)
{
	/* not the idle task */
	if (likely(prev->pid)) {
		if (!prev_state && unlikely(!cmt_wait_hint(&cpu->hints, prev->pid)))
			return false;
		if (unlikely(!cmt_wait_ran(cpu, prev)))
			return false;
	}
	cmt_wait_unhint(&cpu->hints, next->pid);
	return true;
}

void cmt_wait_switch_odd(struct cmt_cpu *cpu, const struct task_struct *prev,
			 const struct task_struct *next, unsigned int prev_state);
void cmt_wait_ran_odd(const struct cmt_cpu *cpu, const struct task_struct *task);
void cmt_wait_look(struct cmt_cpu *cpu);

/* In a tick, while the RMID of current is loaded.  @cpu has sums. */
static __always_inline void cmt_wait_tick(struct cmt_cpu *cpu)
{
	if (!cpu->perf->waits)
		return;
	if (current->pid && unlikely(!cmt_wait_ran(cpu, current)))
		cmt_wait_ran_odd(cpu, current);
	if (unlikely(cpu->hints.used))
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
