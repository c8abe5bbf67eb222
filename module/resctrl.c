// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's resctrl keeps an RMID for every task, and writes it to PQR_ASSOC
 * after our probe has run, whenever it differs from what it wrote last.  So
 * while resctrl is in use our own write does not last, and a task runs under
 * what is in task_struct::rmid.  We go along with that: where resctrl left 0,
 * our RMID is put there, and resctrl itself makes it the CPU's at every switch,
 * together with the CLOSID, which stays resctrl's.  What resctrl put there is
 * never changed.  docs/decisions/0012-resctrl.md has the reasons.
 *
 * An RMID of ours is put there when the task is switched to, which is soon
 * enough, and which needs no walk over threads when an owner gets an RMID.
 * It must be gone before it is somebody else's:
 *
 *	the process ends	an exiting task is put back to 0 once its process
 *				has no RMID any more
 *	the owner changes	cmt_resctrl_withdraw_left()
 *	a child is forked	its task is a copy: cmt_resctrl_fork()
 *	resctrl wants it	cmt_resctrl_withdraw()
 *	the module goes		cmt_resctrl_stop(), cmt_resctrl_withdraw_all()
 *
 * The RMID of those who wait for one is not put there: they may be many, and
 * it had to be taken back from every one that is served.
 *
 * So an RMID in a task that is neither 0 nor its owner's was given by resctrl.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "cmt.h"
#include "compat.h"

/* It takes less to end the probes, and then to look at all tasks. */
#define FORK_WINDOW_NS	(5ULL * NSEC_PER_SEC)

static bool stopping;	/* nothing is put into a task, or learnt from one */

/* Nothing is put where nothing is read: another backend, or no resctrl. */
static u32 *task_rmid(struct task_struct *task)
{
	return cmt_caps.shared_rmids ? cmt_task_rmid(task) : NULL;
}

/* resctrl may write at the same time; then it has the last word. */
static void take_back(struct task_struct *task, u32 rmid)
{
	cmpxchg(task_rmid(task), rmid, CMT_RMID_NONE);
}

/*
 * Is what the task has from us, of an owner it had before?  It is gone when they
 * have settled, so it is looked at again after that was asked.
 */
static bool is_stale(struct task_struct *task, u32 has)
{
	if (cmt_foreign_is(has))
		return false;
	if (cmt_table_settling())
		return true;
	smp_rmb();	/* pairs with cmpxchg() in take_back() */
	return READ_ONCE(*task_rmid(task)) != has;
}

u32 cmt_resctrl_rmid(struct task_struct *task, u32 own)
{
	u32 *rmid = task_rmid(task);
	u32 has;

	if (!rmid)
		return own;
	has = READ_ONCE(*rmid);
	if (likely(has == own))
		return own;
	if (unlikely(READ_ONCE(stopping)))
		return own;
	if (has == CMT_RMID_NONE && cmt_table_is_rest(own))
		return own;
	if (has == CMT_RMID_NONE && own != CMT_RMID_NONE)
		has = cmpxchg(rmid, CMT_RMID_NONE, own) ?: own;
	if (likely(has == own))
		return own;
	/* what it had from us went back when its last thread began to exit */
	if (own == CMT_RMID_NONE && task->flags & PF_EXITING) {
		take_back(task, has);
		return own;
	}
	if (is_stale(task, has))
		return own;
	cmt_foreign_seen(has);
	return has;
}

/*
 * The copy may be of what the parent had when its owner was another one.  But
 * what resctrl gave to the parent, the child is to have.
 */
void cmt_resctrl_fork(struct task_struct *parent, struct task_struct *child)
{
	u32 *rmid = task_rmid(child);
	u32 has = rmid ? READ_ONCE(*rmid) : CMT_RMID_NONE;

	if (has == CMT_RMID_NONE)
		return;
	cmt_resctrl_rmid(parent, cmt_table_rmid(parent));
	if (!cmt_foreign_is(has))
		take_back(child, has);
}

void cmt_resctrl_withdraw(u32 tgid, u32 rmid)
{
	struct task_struct *leader, *task;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader && task_rmid(leader)) {
		for_each_thread(leader, task)
			take_back(task, rmid);
	}
	rcu_read_unlock();
}

bool cmt_resctrl_withdraw_left(void)
{
	struct task_struct *process, *task;

	if (!cmt_caps.shared_rmids)
		return false;
	rcu_read_lock();
	for_each_process_thread(process, task) {
		u32 *rmid = task_rmid(task);
		u32 has = rmid ? READ_ONCE(*rmid) : CMT_RMID_NONE;

		if (has != CMT_RMID_NONE && cmt_table_was_left(has) &&
		    has != cmt_table_rmid(task) && !cmt_foreign_is(has))
			take_back(task, has);
	}
	rcu_read_unlock();
	return true;
}

/*
 * Is it a copy of what the parent has from us?  Then it was forked when the probe
 * of fork was gone, which would have taken that back, and the parent's was still
 * to be withdrawn.  What resctrl gave to the parent is known, for that has run.
 */
static bool is_late_copy(struct task_struct *task, u32 has)
{
	return !cmt_foreign_is(has) &&
	       task->start_time + FORK_WINDOW_NS >= ktime_get_ns();
}

void cmt_resctrl_withdraw_all(void)
{
	struct task_struct *process, *task;

	if (!cmt_caps.shared_rmids)
		return;
	rcu_read_lock();
	for_each_process_thread(process, task) {
		u32 *rmid = task_rmid(task);
		u32 has = rmid ? READ_ONCE(*rmid) : CMT_RMID_NONE;

		if (has != CMT_RMID_NONE && (has == cmt_table_rmid(task) ||
					     is_late_copy(task, has)))
			take_back(task, has);
	}
	rcu_read_unlock();
}

/*
 * From here on no parent has anything to copy.  A fork that is under way is seen
 * by the probe, which still is there, or by cmt_resctrl_withdraw_all() at the
 * end, when the probes have ended, which takes long.
 */
void cmt_resctrl_stop(void)
{
	WRITE_ONCE(stopping, true);
	synchronize_rcu();	/* who has not seen it is done */
	cmt_resctrl_withdraw_all();
}

void cmt_resctrl_scan(unsigned long *rmids)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		u32 *rmid = task_rmid(task);
		u32 has = rmid ? READ_ONCE(*rmid) : CMT_RMID_NONE;

		if (has != CMT_RMID_NONE && has < cmt_caps.nr_rmids &&
		    has != cmt_table_rmid(task) &&
		    !(task->flags & PF_EXITING) && !is_stale(task, has))
			set_bit(has, rmids);
	}
	rcu_read_unlock();
}
