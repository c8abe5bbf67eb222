// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a resctrl group's RMID describe the owner whose sole group it is, or else a
 * thread or a CPU of the group, by which user space finds the path of the group.
 *
 * Only the work item of scope/foreign.c writes hints.  A thread that is exiting has left its owner,
 * and a thread that is being forked has none yet: neither is a member.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"

#define PERIOD		HZ
#define NO_CPU		(-1)

/* What is known of the members of a group, beside cmt_rdtgroups */
struct hint {
	u64 serial;	/* of the owner cmt_rdtgroup.last */
	u32 thread;	/* the id of a member, in the records; 0: they have none */
	u32 found;	/* in this walk: @thread, or else the first member; 0: none */
	int cpu;	/* the lowest CPU that is a member; NO_CPU: none */
	char comm[CMT_COMM_LEN];	/* of @found */
};

struct cmt_rdtgroup *cmt_rdtgroups;
static struct hint *hints;
static unsigned long period_end;	/* jiffies */

int cmt_rdtgroups_init(void)
{
	cmt_rdtgroups = vcalloc(cmt_caps.rmid_room, sizeof(*cmt_rdtgroups));
	hints = vcalloc(cmt_caps.rmid_room, sizeof(*hints));
	period_end = jiffies;
	if (cmt_rdtgroups && hints)
		return 0;
	cmt_rdtgroups_exit();
	return -ENOMEM;
}

void cmt_rdtgroups_exit(void)
{
	vfree(hints);
	vfree(cmt_rdtgroups);
}

void cmt_rdtgroups_begin(void)
{
	u32 rmid;

	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++) {
		hints[rmid].found = 0;
		hints[rmid].cpu = NO_CPU;
	}
}

static bool is_member(const struct task_struct *thread)
{
	return !(READ_ONCE(thread->flags) & PF_EXITING) &&
	       READ_ONCE(thread->__state) != TASK_NEW;
}

/* The number of the owner of the thread, or of the CPU that it is on */
static u32 owner_of(const struct task_struct *thread)
{
	return READ_ONCE(cmt_owner_table[thread->tgid]) ?:
	       READ_ONCE(per_cpu(cmt_cpu_owner, task_cpu(thread)));
}

void cmt_rdtgroups_see_thread(struct task_struct *thread)
{
	u32 rmid = cmt_task_rmid(thread), id = task_pid_nr(thread);
	struct hint *hint;

	if (!rmid || rmid >= cmt_caps.nr_rmids || !is_member(thread))
		return;
	cmt_rdtgroup_see(&cmt_rdtgroups[rmid],
			 cmt_rdtgroups_owner(owner_of(thread)));
	hint = &hints[rmid];
	if (hint->found && id != hint->thread)
		return;
	hint->found = id;
	strscpy_pad(hint->comm, thread->comm, CMT_COMM_LEN);
}

void cmt_rdtgroups_see_cpu(u32 rmid, unsigned int cpu)
{
	if (!rmid || rmid >= cmt_caps.nr_rmids)
		return;
	cmt_rdtgroup_see(&cmt_rdtgroups[rmid], CMT_RDTGROUP_SEVERAL);
	if (hints[rmid].cpu == NO_CPU)
		hints[rmid].cpu = cpu;
}

/* The owner that was judged last; NULL: none, or it has ended.  With the owner lock. */
static struct cmt_owner *last_owner(u32 rmid)
{
	struct cmt_owner *owner = cmt_owner_at(cmt_rdtgroups[rmid].last);

	return owner && !owner->released && owner->kind &&
	       owner->serial == hints[rmid].serial ? owner : NULL;
}

static void note_serial(u32 rmid)
{
	const struct cmt_owner *owner = cmt_owner_at(cmt_rdtgroups[rmid].last);

	hints[rmid].serial = owner ? owner->serial : 0;
}

/*
 * A thread that left its group is replaced when a period ends, so that threads which come
 * and go do not write an UPDATE in each run of the work item.
 */
static void describe_members(u32 rmid, bool period_ends)
{
	struct hint *hint = &hints[rmid];

	if (hint->thread && hint->thread != hint->found && !period_ends)
		return;
	hint->thread = hint->found;
	if (hint->thread)
		cmt_rmid_describe(rmid, 0, hint->thread, hint->comm);
	else if (hint->cpu != NO_CPU)
		cmt_rmid_describe(rmid, CMT_F_OWNER_CPU, hint->cpu, "resctrl");
	else
		cmt_rmid_describe(rmid, 0, 0, "resctrl");
}

/* What counted under the RMID so far is in the owner's sum from now on. */
static void describe_sole(u32 rmid, struct cmt_owner *owner)
{
	hints[rmid].thread = 0;
	if (cmt_rmid_describe_sole(rmid, owner) && owner->rmid)
		cmt_notes_drop(owner->rmid);
}

/* With the owner lock. */
static void judge(u32 rmid, bool period_ends)
{
	struct cmt_rdtgroup *group = &cmt_rdtgroups[rmid];
	struct cmt_owner *owner;
	u32 last;

	if (group->last && !last_owner(rmid))
		cmt_rdtgroup_reset(group);
	last = group->last;
	if (cmt_rdtgroup_judge(group, period_ends))
		cmt_note_inherited(rmid);
	if (group->last != last)
		note_serial(rmid);
	owner = last_owner(rmid);
	if (owner && cmt_rdtgroup_is_sole(group, group->last))
		describe_sole(rmid, owner);
	else
		describe_members(rmid, period_ends);
}

void cmt_rdtgroups_judge(void)
{
	bool period_ends = time_after_eq(jiffies, period_end);
	unsigned long flags;
	u32 rmid;

	if (period_ends)
		period_end = jiffies + PERIOD;
	for (rmid = 1; rmid < cmt_caps.nr_rmids; rmid++) {
		if (!cmt_rmid_is_foreign(rmid) ||
		    !cmt_rmid_has_flag(rmid, CMT_F_OWNER_RESCTRL))
			continue;
		flags = cmt_owners_lock();
		judge(rmid, period_ends);
		cmt_owners_unlock(flags);
	}
}

u32 cmt_rdtgroups_next(u32 number, u32 after)
{
	while (++after < cmt_caps.nr_rmids)
		if (cmt_rdtgroup_is_sole(&cmt_rdtgroups[after], number))
			return after;
	return 0;
}

void cmt_rdtgroups_forget(u32 rmid)
{
	cmt_rdtgroups[rmid] = (struct cmt_rdtgroup) { };
	hints[rmid] = (struct hint) { .cpu = NO_CPU };
}
