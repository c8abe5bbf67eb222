// SPDX-License-Identifier: GPL-2.0
/*
 * resctrl also hands out RMIDs, and exports no list of them.  An RMID that a task has
 * from resctrl, or that is loaded on a CPU and was not loaded by cmt, is foreign: it
 * belongs to no owner of cmt, and its samples carry CMT_F_OWNER_RESCTRL.  The RMID of
 * the kernel's own accesses is foreign, too, where there is one (plza.h); its samples
 * carry CMT_F_OWNER_KERNEL.  While
 * resctrl is mounted a foreign RMID stays foreign: its group may live on without tasks.
 * Otherwise it returns to the pool when no CPU has had it for a second.
 *
 * The kernel has no event for a mount, so a work item checks once a second, and at once
 * when a tick finds an association that is not cmt's.
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "sample/sample.h"
#include "scope.h"

#define SCAN_INTERVAL	HZ
#define SCAN_AGAIN	1	/* jiffies to the next scan, if an RMID was being given */

static void scan_rmids(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan_work, scan_rmids);

static void scan_now(struct irq_work *event)
{
	mod_delayed_work(system_dfl_wq, &scan_work, 0);
}

/* From here on every switch follows resctrl; earlier changes are scanned. */
static void follow_mount(void)
{
	if (!cmt_resctrl_follow())
		return;
	cmt_probes_update();
	cmt_sampler_follow_resctrl();
	cmt_cpus_refresh();
	cmt_settings_emit();
}

static void see_thread(struct task_struct *thread)
{
	cmt_foreign_note(cmt_task_rmid(thread));
	cmt_rdtgroups_see_thread(thread);
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
	cmt_foreign_note(READ_ONCE(c->foreign));
	cmt_foreign_note(READ_ONCE(c->default_rmid));
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

	cmt_notes_drop(rmid);
	ret = cmt_rmid_exclude(rmid, flag);
	/* until it lost the RMID, another CPU may have marked the work of an owner */
	if (ret > 0)
		cmt_notes_drop(rmid);
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
		bool used = cmt_foreign_was_seen(rmid);
		u32 flag = rmid == cmt_plza_rmid() ? CMT_F_OWNER_KERNEL :
						     CMT_F_OWNER_RESCTRL;

		/* before the RMID can be read */
		hw_mbm_skip(rmid, mounted && used && flag == CMT_F_OWNER_RESCTRL);
		/* the kind has changed: release the old owner first */
		if (cmt_rmid_is_foreign(rmid) &&
		    (!used || !cmt_rmid_has_flag(rmid, flag)))
			include(rmid);
		if (used && !cmt_rmid_is_foreign(rmid))
			again |= exclude(rmid, flag);
		if (used && !mounted)
			cmt_foreign_forget(rmid);
	}
	return again;
}

static void scan_rmids(struct work_struct *work)
{
	bool mounted, again;

	follow_mount();
	mounted = cmt_resctrl_mounted();
	cmt_rdtgroups_begin();
	if (mounted)
		cmt_walk_tasks(PIDTYPE_PID, see_thread);
	scan_cpus(mounted);
	cmt_bmec_look();
	cmt_plza_look();
	cmt_foreign_note(cmt_plza_rmid());
	again = update_foreign(mounted);
	cmt_rdtgroups_judge();
	queue_delayed_work(system_dfl_wq, &scan_work,
			   again ? SCAN_AGAIN : SCAN_INTERVAL);
}

/* Called when all CPUs are up: a check writes records. */
int cmt_foreign_init(void)
{
	if (!cmt_caps.shared_rmids)
		return 0;
	cmt_foreign_events_begin(scan_now);
	mod_delayed_work(system_dfl_wq, &scan_work, 0);
	return 0;
}

void cmt_foreign_exit(void)
{
	if (!cmt_caps.shared_rmids)
		return;
	cmt_foreign_events_end();
	cancel_delayed_work_sync(&scan_work);
}
