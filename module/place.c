// SPDX-License-Identifier: GPL-2.0
/*
 * To whom a process belongs.  This is, in this order,
 *
 *	what was attached: itself, or the process that forked it, if that was
 *		attached with its children
 *	the nearest cgroup above it that is an object: a container, or attached
 *	itself, in process scope
 *	nobody: it runs under the RMID of its CPU, if that has one
 *
 * cmt_place() says which, from nothing but the table, the objects and the
 * process's cgroup.  It is called whenever one of these changes, and for all
 * processes by those who hold cmt_scope_mutex.  So it does not matter who sees a
 * process first.  A dying process is recognised by its count of live threads:
 * do_exit() decrements it before the exit probe takes the lock, so either the
 * probe finds the entry that was made and clears it, or cmt_place() makes none.
 */
#include <linux/cgroup.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"

DEFINE_MUTEX(cmt_scope_mutex);	/* whoever looks at all processes */

/* Written with cmt_scope_mutex and cmt_owner_lock */
static u32 scope = CMT_SCOPE_NONE;
static u64 scope_since;

u32 cmt_scope(void)
{
	return READ_ONCE(scope);
}

u64 cmt_scope_since(void)
{
	return scope_since;
}

void cmt_scope_switch(u32 to)
{
	unsigned long flags;

	lockdep_assert_held(&cmt_scope_mutex);
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	WRITE_ONCE(scope, to);
	scope_since = cmt_owner_now();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

/*
 * The cgroup of a process.  That of a leader that is exiting does not follow
 * the others any more.  Under RCU.
 */
static struct cgroup *process_cgroup(struct task_struct *leader)
{
	struct task_struct *task;

	if (likely(!(leader->flags & PF_EXITING)))
		return task_dfl_cgroup(leader);
	for_each_thread(leader, task)
		if (!(task->flags & PF_EXITING))
			return task_dfl_cgroup(task);
	return task_dfl_cgroup(leader);
}

static struct cmt_object *nearest_cgroup(struct cgroup *cgroup)
{
	struct cmt_object *object;
	int level;

	if (!cmt_objects_any(CMT_OWNER_CGROUP))
		return NULL;
	for (level = cgroup->level; level >= 0; level--) {
		object = cmt_object_find(CMT_OWNER_CGROUP,
					 cgroup_id(cgroup->ancestors[level]));
		if (object)
			return object;
	}
	return NULL;
}

bool cmt_holds(const struct cmt_object *object)
{
	return object && object->kind == CMT_OWNER_PROCESS && !object->ending;
}

/* The object of a process, NULL: none. */
static struct cmt_object *object_of(struct task_struct *leader)
{
	struct cmt_object *object;

	object = cmt_entry_object(cmt_table_get(leader->tgid));
	if (cmt_holds(object))
		return object;
	rcu_read_lock();
	object = nearest_cgroup(process_cgroup(leader));
	rcu_read_unlock();
	return object;
}

void cmt_place_fill_fail(struct cmt_record *record, u64 ts,
			 struct task_struct *leader)
{
	cmt_owner_fill_fail(record, ts, 0, leader->tgid,
			    cmt_owner_cgroup(leader), leader->comm);
}

static void give_alone(struct task_struct *leader, struct cmt_rmid *r)
{
	if (cmt_table_get(leader->tgid) == CMT_WAITS_ALONE)
		cmt_owner_served();
	r->tgid = leader->tgid;
	r->cgroup_id = cmt_owner_cgroup(leader);
	strscpy_pad(r->comm, leader->comm, CMT_COMM_LEN);
	cmt_entry_set(leader->tgid, cmt_owner_begin(r));
}

static void queue_alone(struct task_struct *leader)
{
	struct cmt_record record;

	/* the last one of an object that has ended is a FREE, with its time */
	cmt_entry_set(leader->tgid, CMT_WAITS_ALONE);
	cmt_place_fill_fail(&record, cmt_owner_now(), leader);
	cmt_owner_fail(&record);
}

/*
 * In process scope: an RMID for the process alone.  Those who look at all
 * processes do so in the order of their age, so that who has waited longest is
 * served first; a fork has to stand in line behind those who wait.
 */
static enum cmt_place place_alone(struct task_struct *leader, bool walk)
{
	u16 old = cmt_table_get(leader->tgid);
	struct cmt_rmid *r = NULL;

	if (old && old != CMT_WAITS_ALONE && !cmt_entry_object(old))
		return CMT_PLACE_SAME;
	if (walk ? !cmt_object_first_waiting() : !cmt_owner_waiting())
		r = cmt_owner_take();
	if (r) {
		give_alone(leader, r);
		return CMT_PLACE_CHANGED;
	}
	if (old == CMT_WAITS_ALONE)
		return CMT_PLACE_WAITS;
	queue_alone(leader);
	return CMT_PLACE_QUEUED;
}

enum cmt_place cmt_place_at(struct task_struct *leader, u16 entry)
{
	if (cmt_table_get(leader->tgid) == entry)
		return CMT_PLACE_SAME;
	cmt_entry_set(leader->tgid, entry);
	return CMT_PLACE_CHANGED;
}

enum cmt_place cmt_place(struct task_struct *leader, bool walk)
{
	struct cmt_object *object;

	lockdep_assert_held(&cmt_owner_lock);
	/* its exit probe is still to come, but a new scope does not wait for it */
	if (scope == CMT_SCOPE_NONE && !atomic_read(&leader->signal->live))
		return cmt_place_at(leader, 0);
	if (!atomic_read(&leader->signal->live))
		return CMT_PLACE_SAME;
	object = object_of(leader);
	if (object)
		return cmt_place_at(leader, cmt_object_entry(object));
	if (scope == CMT_SCOPE_PROCESS)
		return place_alone(leader, walk);
	return cmt_place_at(leader, 0);
}

bool cmt_place_all(bool until_waits)
{
	struct task_struct *leader;
	enum cmt_place place;
	unsigned long flags;
	bool changed = false;

	lockdep_assert_held(&cmt_scope_mutex);
	rcu_read_lock();
	for_each_process(leader) {
		if (leader->flags & PF_KTHREAD)
			continue;
		raw_spin_lock_irqsave(&cmt_owner_lock, flags);
		place = cmt_place(leader, true);
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
		changed |= place == CMT_PLACE_CHANGED;
		if (until_waits && place == CMT_PLACE_WAITS)
			break;
	}
	rcu_read_unlock();
	return changed;
}
