// SPDX-License-Identifier: GPL-2.0
/*
 * resctrl also hands out RMIDs, and exports no list of them.  An RMID that a task has
 * from resctrl, or that is loaded on a CPU and was not loaded by cmt, is foreign: it
 * has no owner of cmt's, and is sampled as an owner of a separate kind.  The RMID of
 * the kernel's own accesses is foreign, too, where there is one (plza.h).  While
 * resctrl is mounted a foreign RMID stays foreign: its group may live on without tasks.
 * Otherwise it returns to the pool when no CPU has had it for a second.
 *
 * The kernel has no event for a mount, so a work item checks once a second, and at once
 * when a tick finds an association that is not cmt's.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu.h"
#include "hotplug.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "scope/scope.h"

#define LOOK_INTERVAL	HZ
#define LOOK_AGAIN	1	/* jiffies to the next check, if an RMID was being given */

DEFINE_STATIC_KEY_FALSE(cmt_resctrl_key);

static struct file_system_type *fs_type;	/* NULL: this kernel has no resctrl */
static unsigned long seen[BITS_TO_LONGS(CMT_MAX_RMIDS)];
static bool started;

bool cmt_resctrl_mounted(void)
{
	return static_key_enabled(&cmt_resctrl_key);
}

void cmt_resctrl_set_mode(u32 mode)
{
	WRITE_ONCE(cmt_settings.resctrl, mode);
	cmt_cpus_refresh();
	cmt_settings_emit();
}

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look);

static void look_now_fn(struct irq_work *work)
{
	mod_delayed_work(system_dfl_wq, &look_work, 0);
}

static struct irq_work look_now = IRQ_WORK_INIT(look_now_fn);

void cmt_resctrl_look(void)
{
	if (READ_ONCE(started))
		irq_work_queue(&look_now);
}

void cmt_resctrl_seen(u32 rmid)
{
	if (rmid == CMT_RMID_NONE || rmid >= cmt_caps.nr_rmids ||
	    test_bit(rmid, seen) || test_and_set_bit(rmid, seen))
		return;
	if (!cmt_rmid_is_foreign(rmid))
		cmt_resctrl_look();
}

bool cmt_resctrl_is_mounted(void)
{
	return fs_type && !hlist_empty(&fs_type->fs_supers);
}

/* From here on every switch follows resctrl; earlier changes are scanned. */
static void follow_mount(bool mounted)
{
	if (mounted == cmt_resctrl_mounted())
		return;
	if (mounted)
		static_branch_enable(&cmt_resctrl_key);
	else
		static_branch_disable(&cmt_resctrl_key);
	WRITE_ONCE(cmt_settings.resctrl_mounted, mounted);
	cmt_probes_update();
	cmt_hotplug_follow_resctrl(mounted);
	cmt_cpus_refresh();
	cmt_settings_emit();
}

static void note(u32 rmid)
{
	if (rmid != CMT_RMID_NONE && rmid < cmt_caps.nr_rmids)
		set_bit(rmid, seen);
}

static void scan_tasks(void)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		note(cmt_task_rmid(task));
		cmt_rdtgroups_see_thread(task);
	}
	rcu_read_unlock();
}

static void refresh_ipi(void *unused)
{
	cmt_cpu_refresh();
}

/*
 * An agent's last write may go unread: where no RMID changes, a switch does not read the
 * register, and without readers there are no ticks.  While resctrl is mounted, an excluded
 * CPU is not interrupted for that.
 */
static void scan_cpu(unsigned int cpu, bool mounted)
{
	const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

	if (READ_ONCE(c->foreign) && !(mounted && cmt_is_excluded(cpu)))
		smp_call_function_single(cpu, refresh_ipi, NULL, true);
	note(READ_ONCE(c->foreign));
	note(READ_ONCE(c->default_rmid));
	cmt_rdtgroups_see_cpu(READ_ONCE(c->default_rmid), cpu);
}

static void scan_cpus(bool mounted)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		scan_cpu(cpu, mounted);
}

/* Returns whether the RMID was being given to an owner, and must be checked again. */
static bool exclude(u32 rmid, u32 flag)
{
	unsigned long flags = cmt_owners_lock();
	int ret;

	cmt_overwritten_end(rmid);
	ret = cmt_rmid_exclude(rmid, flag);
	/* until it lost the RMID, another CPU may have marked the work of an owner */
	if (ret > 0)
		cmt_overwritten_end(rmid);
	cmt_owners_unlock(flags);
	if (ret > 0) {
		pr_notice_ratelimited("RMID %u is in use by resctrl or another agent: its owner is pending\n",
				      rmid);
		cmt_pending_run();
	} else {
		cmt_pending_later();	/* an owner may have waited for the RMID */
	}
	return ret < 0;
}

static void include(u32 rmid)
{
	unsigned long flags = cmt_owners_lock();

	cmt_rmid_include(rmid);
	cmt_owners_unlock(flags);
	cmt_rdtgroups_forget(rmid);
	cmt_pending_later();
}

static bool update_foreign(bool mounted)
{
	bool again = false;
	u32 rmid;

	for (rmid = 1; rmid < cmt_caps.nr_rmids; rmid++) {
		bool used = test_bit(rmid, seen);
		u32 flag = rmid == cmt_plza_rmid() ? CMT_F_OWNER_KERNEL :
						     CMT_F_OWNER_RESCTRL;

		/* the kind has changed: release the old owner first */
		if (cmt_rmid_is_foreign(rmid) &&
		    (!used || !cmt_rmid_has_flag(rmid, flag)))
			include(rmid);
		if (used && !cmt_rmid_is_foreign(rmid))
			again |= exclude(rmid, flag);
		if (used && !mounted)
			clear_bit(rmid, seen);
	}
	return again;
}

static void look(struct work_struct *work)
{
	bool mounted = cmt_resctrl_is_mounted();
	bool again;

	follow_mount(mounted);
	cmt_rdtgroups_begin();
	if (mounted)
		scan_tasks();
	scan_cpus(mounted);
	cmt_plza_look();
	note(cmt_plza_rmid());
	again = update_foreign(mounted);
	cmt_rdtgroups_judge();
	queue_delayed_work(system_dfl_wq, &look_work,
			   again ? LOOK_AGAIN : LOOK_INTERVAL);
}

/* Called when all CPUs are up: a check writes records. */
int cmt_resctrl_init(u32 mode)
{
	WRITE_ONCE(cmt_settings.resctrl, mode);
	if (!cmt_caps.shared_rmids)
		return 0;
	fs_type = get_fs_type("resctrl");
	WRITE_ONCE(started, true);
	mod_delayed_work(system_dfl_wq, &look_work, 0);
	return 0;
}

/*
 * A check is requested with interrupts off, so after RCU's grace period none is requested.
 */
void cmt_resctrl_stop(void)
{
	WRITE_ONCE(started, false);
	synchronize_rcu();
	irq_work_sync(&look_now);
	cancel_delayed_work_sync(&look_work);
	if (cmt_resctrl_mounted())
		static_branch_disable(&cmt_resctrl_key);
}
