// SPDX-License-Identifier: GPL-2.0
/*
 * Take the RMIDs that another agent uses out of the pool, and away from who has
 * them; look every second which are still in use, and give back the others.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "owner.h"

/* What the process had of its RMID ends here, and it stands in line for another. */
static void evict_process(u32 tgid)
{
	struct task_struct *leader;

	cmt_entry_set(tgid, 0);
	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		cmt_place(leader, true);
	rcu_read_unlock();
}

/* Threads of the object's processes have the RMID from us. */
static void withdraw_from(const struct cmt_object *object, u32 rmid)
{
	struct task_struct *leader;

	rcu_read_lock();
	for_each_process(leader) {
		u16 entry = cmt_table_get(leader->tgid);

		if (cmt_entry_object(entry) == object)
			cmt_resctrl_withdraw(leader->tgid, rmid);
	}
	rcu_read_unlock();
}

/* It has another one from now on, and its members follow. */
static void evict_object(struct cmt_object *object, u32 rmid)
{
	struct cmt_rmid *r = cmt_owner_rmid_of(rmid);
	unsigned long flags;

	cmt_place_all(false);
	cmt_cpus_refresh();
	withdraw_from(object, rmid);

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	if (r->state == CMT_RMID_ACTIVE)
		cmt_owner_free(rmid);
	cmt_owner_exclude(rmid);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

static const char *kind_of(const struct cmt_rmid *r)
{
	if (r->flags & CMT_F_OWNER_REST)
		return "those who wait";
	if (r->flags & CMT_F_OWNER_CGROUP)
		return "cgroup";
	return r->flags & CMT_F_OWNER_CPU ? "CPU" : "process";
}

static void warn(u32 rmid, const struct cmt_rmid *was)
{
	u64 id = was->flags & CMT_F_OWNER_CGROUP ? was->cgroup_id : was->tgid;

	pr_notice_ratelimited("RMID %u is in use by resctrl or another agent: %s %llu had to give it up\n",
			      rmid, kind_of(was), id);
}

/* Take an RMID out of the pool, and away from who has it. */
static void evict(u32 rmid)
{
	struct cmt_rmid *r = cmt_owner_rmid_of(rmid), was;
	struct cmt_object *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	was = *r;
	object = was.state == CMT_RMID_ACTIVE ? was.object : NULL;
	if (object && !object->ending)
		cmt_object_assign(object);
	else if (was.state == CMT_RMID_ACTIVE && cmt_table_is_rest(rmid))
		cmt_owner_evict_rest();
	else if (was.state == CMT_RMID_ACTIVE && !object)
		evict_process(was.tgid);
	if (!object)
		cmt_owner_exclude(rmid);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (was.state != CMT_RMID_ACTIVE)
		return;
	warn(rmid, &was);
	if (object)
		evict_object(object, rmid);
	else
		cmt_resctrl_withdraw(was.tgid, rmid);
	cmt_cpus_refresh();
}

static void give_back(u32 rmid)
{
	unsigned long flags;

	clear_bit(rmid, cmt_foreign);
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_owner_include(rmid);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

static bool is_excluded(u32 rmid)
{
	return READ_ONCE(cmt_owner_rmid_of(rmid)->state) == CMT_RMID_FOREIGN;
}

/* Only here do RMIDs become FOREIGN and cease to be. */
static void look(struct work_struct *work)
{
	DECLARE_BITMAP(seen, CMT_MAX_RMIDS) = {};
	u32 rmid;

	mutex_lock(&cmt_scope_mutex);
	cmt_resctrl_scan(seen);
	/* one by one: switches set bits at the same time */
	for_each_set_bit(rmid, seen, cmt_caps.nr_rmids)
		set_bit(rmid, cmt_foreign);

	for_each_set_bit(rmid, cmt_foreign, cmt_caps.nr_rmids) {
		if (is_excluded(rmid) && !test_bit(rmid, seen))
			give_back(rmid);
		if (is_excluded(rmid) || !test_bit(rmid, cmt_foreign))
			continue;
		evict(rmid);
	}
	mutex_unlock(&cmt_scope_mutex);
	cmt_serve_later();
	cmt_foreign_look_again();
}

void cmt_evict_init(void)
{
	cmt_foreign_init(look);
}
