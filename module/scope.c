// SPDX-License-Identifier: GPL-2.0
/*
 * Who is an owner.  A process belongs, in this order, to
 *
 *	what was attached: itself, or the process that forked it, if that was
 *		attached with its children
 *	the nearest cgroup above it that is an object: a container, or attached
 *	itself, in process scope
 *	nobody: it runs under the RMID of its CPU, if that has one
 *
 * place() says which, from nothing but the table, the objects and the process's
 * cgroup.  It is called whenever one of these changes, and for all processes by
 * those who hold cmt_scope_mutex.  So it does not matter who sees a process
 * first.  A dying process is recognised by its count of live threads: do_exit()
 * decrements it before the exit probe takes the lock, so either the probe finds
 * the entry that was made and clears it, or place() makes none.
 */
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"

/* While the scope changes: nobody is an owner. */
#define SCOPE_NONE	0

DEFINE_MUTEX(cmt_scope_mutex);	/* whoever looks at all processes */

/* Written with cmt_scope_mutex and cmt_owner_lock */
static u32 scope = SCOPE_NONE;
static u64 scope_since;

static struct work_struct settle_work;

u32 cmt_scope(void)
{
	return READ_ONCE(scope);
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

/* An object that was attached as a process, and has its processes for good. */
static bool holds(const struct cmt_object *object)
{
	return object && object->kind == CMT_OWNER_PROCESS && !object->ending;
}

/* The object of a process, NULL: none. */
static struct cmt_object *object_of(struct task_struct *leader)
{
	struct cmt_object *object;

	object = cmt_entry_object(cmt_table_get(leader->tgid));
	if (holds(object))
		return object;
	rcu_read_lock();
	object = nearest_cgroup(process_cgroup(leader));
	rcu_read_unlock();
	return object;
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
		cmt_owner_give(leader, r);
		return CMT_PLACE_CHANGED;
	}
	if (old == CMT_WAITS_ALONE)
		return CMT_PLACE_WAITS;
	cmt_owner_queue(leader);
	return CMT_PLACE_QUEUED;
}

static enum cmt_place place_at(struct task_struct *leader, u16 entry)
{
	if (cmt_table_get(leader->tgid) == entry)
		return CMT_PLACE_SAME;
	cmt_table_set(leader->tgid, entry);
	return CMT_PLACE_CHANGED;
}

enum cmt_place cmt_scope_place(struct task_struct *leader, bool walk)
{
	struct cmt_object *object;

	lockdep_assert_held(&cmt_owner_lock);
	/* its exit probe is still to come, but a new scope does not wait for it */
	if (!atomic_read(&leader->signal->live))
		return scope == SCOPE_NONE ? place_at(leader, 0) :
					     CMT_PLACE_SAME;
	object = object_of(leader);
	if (object)
		return place_at(leader, cmt_object_entry(object));
	if (scope == CMT_SCOPE_PROCESS)
		return place_alone(leader, walk);
	return place_at(leader, 0);
}

bool cmt_scope_place_all(bool until_waits)
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
		place = cmt_scope_place(leader, true);
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
		changed |= place == CMT_PLACE_CHANGED;
		if (until_waits && place == CMT_PLACE_WAITS)
			break;
	}
	rcu_read_unlock();
	return changed;
}

void cmt_settle_begin(void)
{
	unsigned long flags;

	lockdep_assert_held(&cmt_scope_mutex);
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_owner_settle(CMT_SETTLE_ALL, cmt_owner_now());
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

static void settle_end(enum cmt_settler who)
{
	unsigned long flags;

	/* a switch that began before the table was changed is over then, too */
	cmt_cpus_refresh();
	cmt_resctrl_withdraw_left();
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_owner_settle(who, U64_MAX);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	cmt_serve_later();
}

void cmt_settle_end(void)
{
	lockdep_assert_held(&cmt_scope_mutex);
	settle_end(CMT_SETTLE_ALL);
}

/* Processes have been moved by probes, which cannot wait for other CPUs. */
static void settle_moves(struct work_struct *work)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_owner_settle(CMT_SETTLE_MOVED,
			 cmt_owner_settles(CMT_SETTLE_MOVES));
	cmt_owner_settle(CMT_SETTLE_MOVES, U64_MAX);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	settle_end(CMT_SETTLE_MOVED);
}

void cmt_owner_fork(struct task_struct *parent, struct task_struct *child)
{
	enum cmt_place place;
	struct cmt_object *object;
	unsigned long flags;

	if (child->flags & PF_KTHREAD)
		return;
	cmt_resctrl_fork(parent, child);
	if (!thread_group_leader(child))
		return;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	object = cmt_entry_object(cmt_table_get(parent->tgid));
	if (holds(object) && object->children)
		place = place_at(child, cmt_object_entry(object));
	else
		place = cmt_scope_place(child, false);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (place == CMT_PLACE_QUEUED)
		cmt_serve_warn("process", child->tgid, child->comm);
}

void cmt_owner_exit(struct task_struct *task)
{
	struct cmt_object *object;
	unsigned long flags;

	if (atomic_read(&task->signal->live))
		return;
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	object = cmt_entry_object(cmt_table_get(task->tgid));
	/* its children live on, its id may be another process's soon */
	if (holds(object) && object->id == task->tgid)
		cmt_object_forget_id(object);
	cmt_table_set(task->tgid, 0);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (cmt_owner_waiting())
		cmt_serve_later();
}

/* What is known of the process as an owner: its RMID, if it has one of its own. */
static struct cmt_rmid *own_rmid(u32 tgid, struct cmt_object **object)
{
	u16 entry = cmt_table_get(tgid);

	*object = cmt_entry_object(entry);
	if (*object && ((*object)->kind != CMT_OWNER_PROCESS ||
			(*object)->id != tgid))
		*object = NULL;
	else if (entry && !(entry & CMT_WAITS))
		return cmt_owner_rmid_of(entry);
	return NULL;
}

void cmt_owner_rename(struct task_struct *task, const char *comm)
{
	char name[CMT_COMM_LEN];
	struct cmt_object *object;
	struct cmt_rmid *r;
	unsigned long flags;

	if (!thread_group_leader(task))
		return;
	strscpy_pad(name, comm, sizeof(name));

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	r = own_rmid(task->tgid, &object);
	if (object)
		memcpy(object->comm, name, sizeof(name));
	if (r && memcmp(r->comm, name, sizeof(name))) {
		memcpy(r->comm, name, sizeof(name));
		cmt_owner_update(r);
	}
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

/* Its own RMID, if it has one, is in another cgroup. */
static void note_cgroup(u32 tgid, u64 cgroup_id)
{
	struct cmt_object *object;
	struct cmt_rmid *r = own_rmid(tgid, &object);

	if (object)
		object->cgroup_id = cgroup_id;
	if (r && r->cgroup_id != cgroup_id) {
		r->cgroup_id = cgroup_id;
		cmt_owner_update(r);
	}
}

/*
 * Settling begins before the process is in its place: who sees it there, and what
 * its task has from us of the place before, must not take that for resctrl's.
 */
static enum cmt_place place_moved(struct task_struct *leader, bool *settle)
{
	bool settling = cmt_owner_settles(CMT_SETTLE_MOVES) != U64_MAX;
	enum cmt_place place;

	if (!settling)
		cmt_owner_settle(CMT_SETTLE_MOVES, cmt_owner_now());
	place = cmt_scope_place(leader, false);
	*settle = place == CMT_PLACE_CHANGED || place == CMT_PLACE_QUEUED;
	if (!*settle && !settling)
		cmt_owner_settle(CMT_SETTLE_MOVES, U64_MAX);
	return place;
}

void cmt_owner_move(struct task_struct *task, u64 cgroup_id)
{
	enum cmt_place place;
	unsigned long flags;
	bool settle;

	if (!thread_group_leader(task) || task->flags & PF_KTHREAD)
		return;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	place = place_moved(task, &settle);
	note_cgroup(task->tgid, cgroup_id);
	cmt_cpu_refresh();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (settle)
		queue_work(system_unbound_wq, &settle_work);
	if (place == CMT_PLACE_QUEUED)
		cmt_serve_warn("process", task->tgid, task->comm);
}

static void scope_add_cpu(unsigned int cpu)
{
	struct cmt_object *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	if (scope == CMT_SCOPE_CPU && !cmt_object_find(CMT_OWNER_CPU, cpu)) {
		object = cmt_object_new(CMT_OWNER_CPU, cpu);
		if (object) {
			object->scoped = true;
			snprintf(object->comm, CMT_COMM_LEN, "cpu%u", cpu);
			cmt_object_assign(object);
		}
	}
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

void cmt_scope_cpu_up(unsigned int cpu)
{
	scope_add_cpu(cpu);
	if (cmt_owner_waiting())
		cmt_serve_later();
}

void cmt_scope_cpu_down(unsigned int cpu)
{
	struct cmt_object *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	object = cmt_object_find(CMT_OWNER_CPU, cpu);
	if (object)
		cmt_object_release(object);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

static void scope_add_cpus(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		scope_add_cpu(cpu);
	cpus_read_unlock();
}

static void scope_switch(u32 to)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	WRITE_ONCE(scope, to);
	scope_since = cmt_owner_now();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

/* Nobody but the rest has an RMID then. */
static void scope_close(void)
{
	struct cmt_object *object;
	unsigned long flags;
	u32 i;

	scope_switch(SCOPE_NONE);
	for (i = 0; (object = cmt_object_at(i)); i++) {
		raw_spin_lock_irqsave(&cmt_owner_lock, flags);
		cmt_object_release(object);
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	}
	cmt_scope_place_all(false);
}

static void scope_open(u32 to)
{
	scope_switch(to);
	if (to == CMT_SCOPE_CONTAINER)
		cmt_containers_add();
	else if (to == CMT_SCOPE_CPU)
		scope_add_cpus();
	cmt_scope_place_all(false);
}

void cmt_scope_set(u32 to, struct cmt_pattern_set *set)
{
	unsigned long flags;

	mutex_lock(&cmt_scope_mutex);
	cmt_settle_begin();
	scope_close();
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_owner_take_rest();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	if (set)
		cmt_containers_set(set);
	scope_open(to);
	cmt_settle_end();
	mutex_unlock(&cmt_scope_mutex);
}

u64 cmt_scope_since(void)
{
	return scope_since;
}

void cmt_scope_init(void)
{
	INIT_WORK(&settle_work, settle_moves);
}

void cmt_scope_stop(void)
{
	cancel_work_sync(&settle_work);
}
