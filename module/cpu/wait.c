// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "wait.h"

#ifdef CONFIG_SCHED_INFO
/* A tick looks at this number of hints. */
#define LOOKS		16

/* Added to the account of a task that is out of its quota */
#define THROTTLED	BIT_ULL(63)

/* What is added to an account at once is less than this, ns: half an hour. */
#define MOST		BIT_ULL(41)

/* A tick's clock may be this much ahead of the run queue's, ns: an account is ahead, then. */
#define AHEAD		BIT(24)

local_t *cmt_wait_accounts;

static bool was_throttled(u64 account, u64 now)
{
	return now - account - THROTTLED < MOST;
}

/*
 * At the last look the task was out of its quota, or the account is ahead, or it is of
 * another task; or no tick has looked for long.
 */
noinline void cmt_wait_ran_odd(const struct cmt_cpu *cpu, const struct task_struct *task)
{
	local_t *account = &cmt_wait_accounts[task->pid];
	u64 now = cmt_wait_account(task, task->sched_info.run_delay);
	u64 was = local_read(account);

	if (was - now < AHEAD)
		return;
	local_set(account, now);
	if (now - was < MOST)
		cpu->sum->waited += now - was;
	else if (was_throttled(was, now))
		cpu->sum->quota = true;
}

static __always_inline void hint_set(struct cmt_cpu *cpu, unsigned long i, u32 pid)
{
	struct cmt_hints *hints = &cpu->hints;

	/* before the bit: a tick clears the bit, and reads this */
	WRITE_ONCE(hints->pids[i], pid);
	OPTIMIZER_HIDE_VAR(cpu);	/* as in cmt_wait_ran() */
	set_bit(i, cpu->hints.used);
}

/*
 * There is a hint in the place of this one: of the same task, or another one goes to any
 * place.  Where all are used, there is none.
 */
static noinline void hint_elsewhere(struct cmt_cpu *cpu, u32 pid)
{
	u32 i = find_first_zero_bit(cpu->hints.used, CMT_WAIT_HINTS);

	if (i < CMT_WAIT_HINTS && READ_ONCE(cpu->hints.pids[(u8)pid]) != pid)
		hint_set(cpu, i, pid);
}

/* With the run-queue lock of the CPU held; by a tick, also of another CPU, without. */
static __always_inline void hint_add(struct cmt_cpu *cpu, u32 pid)
{
	unsigned long i = (u8)pid;

	if (unlikely(test_bit(i, cpu->hints.used)))
		hint_elsewhere(cpu, pid);
	else
		hint_set(cpu, i, pid);
}

noinline void cmt_wait_switch_odd(struct cmt_cpu *cpu, const struct task_struct *prev,
				  const struct task_struct *next,
				  unsigned int prev_state)
{
	if (!prev_state)
		hint_add(cpu, prev->pid);
	if (!cmt_wait_ran(cpu, prev, prev->pid))
		cmt_wait_ran_odd(cpu, prev);
	cmt_wait_unhint(&cpu->hints, next->pid);
}

/* When @task began to wait, on the clock of its run queue; 0: it does not wait.  RCU. */
static u64 waits_since(const struct task_struct *task)
{
	return READ_ONCE(task->sched_info.last_queued);
}

/* All waits of @task until now, ns. */
static u64 waited_ns(const struct task_struct *task, u64 since, u64 now)
{
	u64 ns = READ_ONCE(task->sched_info.run_delay);

	return since && now > since ? ns + now - since : ns;
}

/*
 * The RMID to load for @task if it ran on this CPU.  As cpu_rmid_of(), for a task that does
 * not run.
 */
static u32 rmid_if(const struct cmt_cpu *cpu, const struct task_struct *task)
{
	u32 own = cpu_own(task), theirs = cpu->foreign;

	if (cmt_resctrl_mounted())
		theirs = cmt_task_rmid(task) ?: cpu->default_rmid;
	if (!theirs || theirs >= cmt_caps.rmid_room)
		return own;
	return own && READ_ONCE(cmt_settings.resctrl) == CMT_RESCTRL_TAKE ? own : theirs;
}

/*
 * @task waits for this CPU @since, until @at.  Where another CPU changes the account at the same
 * time, the next tick or the switch accounts the wait.
 */
static void waiter_account(struct cmt_cpu *cpu, struct task_struct *task, u64 since, u64 at)
{
	local_t *account = &cmt_wait_accounts[task->pid];
	u64 was = local_read(account);
	u64 now = cmt_wait_account(task, waited_ns(task, since, at)), more = now - was;
	int throttled = cmt_task_throttled(task);
	bool quota;

	/* if this wait has ended, nothing that was read belongs together */
	if (throttled < 0 || was - now < AHEAD || waits_since(task) != since)
		return;
	quota = throttled || was_throttled(was, now);
	if (more >= MOST || throttled)
		more = 0;
	/* it may run on another CPU by now */
	if (atomic_long_cmpxchg(&account->a, was, throttled ? now + THROTTLED : now) == was)
		cmt_perf_waited(cpu->perf, rmid_if(cpu, task), more, quota);
}

/*
 * Without its hint, a task that begins to wait meanwhile gets another one.  One that waits
 * for another CPU was moved there.
 */
static void hint_look(struct cmt_cpu *cpu, struct cmt_hints *hints, u32 i, u64 now)
{
	struct task_struct *task;
	u64 since;

	clear_bit(i, hints->used);
	task = pid_task(find_pid_ns(READ_ONCE(hints->pids[i]), &init_pid_ns), PIDTYPE_PID);
	if (!task)
		return;
	since = waits_since(task);
	if (!since)
		return;
	hint_add(per_cpu_ptr(&cmt_cpus, task_cpu(task)), task->pid);
	if (task_cpu(task) == smp_processor_id())
		waiter_account(cpu, task, since, now);
}

/* The next bit of @bits from the cursor on, cyclically. */
static u32 bit_take(struct cmt_hints *hints, unsigned long *bits)
{
	u32 i = find_next_bit(bits, CMT_WAIT_HINTS, hints->cursor);

	if (i >= CMT_WAIT_HINTS)
		i = find_first_bit(bits, CMT_WAIT_HINTS);
	__clear_bit(i, bits);
	hints->cursor = i + 1;
	return i;
}

noinline void cmt_wait_look(struct cmt_cpu *cpu)
{
	struct cmt_hints *hints = &cpu->hints;
	DECLARE_BITMAP(bits, CMT_WAIT_HINTS);
	u64 now = local_clock();
	u32 looks;

	bitmap_copy(bits, hints->used, CMT_WAIT_HINTS);
	looks = min_t(u32, bitmap_weight(bits, CMT_WAIT_HINTS), LOOKS);
	rcu_read_lock();
	while (looks--)
		hint_look(cpu, hints, bit_take(hints, bits), now);
	rcu_read_unlock();
}

void notrace cmt_probe_wakeup(void *data, struct task_struct *task)
{
	hint_add(per_cpu_ptr(&cmt_cpus, task_cpu(task)), task->pid);
}

void notrace cmt_probe_wakeup_new(void *data, struct task_struct *task)
{
	local_set(&cmt_wait_accounts[task->pid], cmt_wait_account(task, 0));
	cmt_probe_wakeup(data, task);
}

static void see_thread(struct task_struct *task)
{
	u64 since = waits_since(task);
	u64 ns = waited_ns(task, since, local_clock());

	local_set(&cmt_wait_accounts[task->pid], cmt_wait_account(task, ns));
	if (since)
		hint_add(per_cpu_ptr(&cmt_cpus, task_cpu(task)), task->pid);
}

void cmt_wait_begin(void)
{
	cmt_walk_tasks(PIDTYPE_PID, see_thread);
}

const char *cmt_wait_alloc(void)
{
	cmt_wait_accounts = vzalloc(array_size(PID_MAX_LIMIT, sizeof(*cmt_wait_accounts)));
	return cmt_wait_accounts ? NULL : "no memory to account waiting";
}

void cmt_wait_free(void)
{
	unsigned int cpu;

	vfree(cmt_wait_accounts);
	for_each_possible_cpu(cpu)
		per_cpu(cmt_cpus, cpu).hints = (struct cmt_hints) { };
}
#else
void cmt_probe_wakeup(void *data, struct task_struct *task)
{
}

void cmt_probe_wakeup_new(void *data, struct task_struct *task)
{
}

void cmt_wait_begin(void)
{
}

const char *cmt_wait_alloc(void)
{
	return CMT_WAIT_REASON;
}

void cmt_wait_free(void)
{
}
#endif
