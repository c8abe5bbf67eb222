// SPDX-License-Identifier: GPL-2.0
/*
 * Who is an owner: what the scope makes one, and what the probes of processes
 * and the hotplug callbacks say of those that are.
 */
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "owner.h"

static struct work_struct settle_work;

void cmt_settle_begin(void)
{
	unsigned long flags;

	lockdep_assert_held(&cmt_scope_mutex);
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_table_settle(CMT_SETTLE_ALL, cmt_owner_now());
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

static void settle_end(enum cmt_settler who)
{
	unsigned long flags;

	/* a switch that began before the table was changed is over then, too */
	cmt_cpus_refresh();
	if (cmt_resctrl_withdraw_left())
		cmt_cpus_reset();
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_table_settle(who, U64_MAX);
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
	cmt_table_settle(CMT_SETTLE_MOVED,
			 cmt_table_settles(CMT_SETTLE_MOVES));
	cmt_table_settle(CMT_SETTLE_MOVES, U64_MAX);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	settle_end(CMT_SETTLE_MOVED);
}

void cmt_scope_fork(struct task_struct *parent, struct task_struct *child)
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
	if (cmt_holds(object) && object->children)
		place = cmt_place_at(child, cmt_object_entry(object));
	else
		place = cmt_place(child, false);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (place == CMT_PLACE_QUEUED)
		cmt_serve_warn("process", child->tgid, child->comm);
}

void cmt_scope_exit(struct task_struct *task)
{
	struct cmt_object *object;
	unsigned long flags;

	if (atomic_read(&task->signal->live))
		return;
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	object = cmt_entry_object(cmt_table_get(task->tgid));
	/* its children live on, its id may be another process's soon */
	if (cmt_holds(object) && object->id == task->tgid)
		cmt_object_forget_id(object);
	cmt_entry_set(task->tgid, 0);
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

void cmt_scope_rename(struct task_struct *task, const char *comm)
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
	bool settling = cmt_table_settles(CMT_SETTLE_MOVES) != U64_MAX;
	enum cmt_place place;

	if (!settling)
		cmt_table_settle(CMT_SETTLE_MOVES, cmt_owner_now());
	place = cmt_place(leader, false);
	*settle = place == CMT_PLACE_CHANGED || place == CMT_PLACE_QUEUED;
	if (!*settle && !settling)
		cmt_table_settle(CMT_SETTLE_MOVES, U64_MAX);
	return place;
}

void cmt_scope_move(struct task_struct *task, u64 cgroup_id)
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
	if (cmt_scope() == CMT_SCOPE_CPU && !cmt_object_find(CMT_OWNER_CPU, cpu)) {
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

/* Nobody but the rest has an RMID then. */
static void scope_close(void)
{
	struct cmt_object *object;
	unsigned long flags;
	u32 i;

	cmt_scope_switch(CMT_SCOPE_NONE);
	for (i = 0; (object = cmt_object_at(i)); i++) {
		raw_spin_lock_irqsave(&cmt_owner_lock, flags);
		cmt_object_release(object);
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	}
	cmt_place_all(false);
}

static void scope_open(u32 to)
{
	cmt_scope_switch(to);
	if (to == CMT_SCOPE_CONTAINER)
		cmt_containers_add();
	else if (to == CMT_SCOPE_CPU)
		scope_add_cpus();
	cmt_place_all(false);
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

void cmt_scope_init(void)
{
	INIT_WORK(&settle_work, settle_moves);
}

void cmt_scope_stop(void)
{
	cancel_work_sync(&settle_work);
}
