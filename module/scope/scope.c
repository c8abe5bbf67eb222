// SPDX-License-Identifier: GPL-2.0
/*
 * Which owner a process has.  The first of these that applies:
 *
 *	an attached or held owner of kind process: the owner of the process itself, or
 *		of its parent at the fork, if that owner has CMT_ATTACH_CHILDREN
 *	the nearest cgroup above the process that is an owner: a container, or an
 *		attached or held cgroup
 *	the process, in process scope
 *	none: the process runs with the RMID of its CPU
 *
 * process_resolve() resolves the owner from the owners and the cgroup of the process.
 * Each change of an owner, a cgroup or the scope calls it: a probe for one process, a
 * holder of cmt_scope_mutex for all processes.  The result does not depend on the order
 * of the calls.
 *
 * A dying process is recognised by its count of live threads, which do_exit()
 * decrements before the exit probe.  The probe reads the entry of the process in
 * cmt_owner_table after that.  join_check() reads the count after the entry was written.
 * So either the probe finds the entry, or join_check() finds the count 0: no entry
 * outlives its process.
 */
#include <linux/cgroup.h>
#include <linux/container_of.h>
#include <linux/cpu.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "owner/owner.h"
#include "scope.h"

#define RESCAN_DELAY	(HZ / 10)
#define LEAVE_CHUNK	4U	/* owners that are released in one hold of the lock */

/* Results of process_resolve(): an RMID was freed, an owner is pending. */
#define RESOLVED_FREED	0x1
#define RESOLVED_WANTS	0x2

DEFINE_MUTEX(cmt_scope_mutex);	/* held during a walk over all processes */

static void rescan(struct work_struct *work);
static DECLARE_DELAYED_WORK(rescan_work, rescan);

u64 cmt_scope_cgroup_of(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

/*
 * A thread of the process that moves to other cgroups, which a leader that is exiting does
 * not.  NULL: all are exiting.  Without the owner lock, since the process may keep any
 * number of exiting threads.  Under RCU.
 */
static struct task_struct *live_thread(struct task_struct *leader)
{
	struct task_struct *task;

	if (likely(!(leader->flags & PF_EXITING)))
		return leader;
	for_each_thread(leader, task)
		if (!(task->flags & PF_EXITING))
			return task;
	return NULL;
}

/*
 * The owner lock is held, and whoever may make cgroups chooses their depth: only levels
 * at which there may be an owner are looked up.
 */
static struct cmt_owner *nearest_cgroup(struct cgroup *cgroup)
{
	struct cmt_owner *owner = NULL;
	int level;

	if (!cmt_owners_any(CMT_OWNER_CGROUP))
		return NULL;
	level = cgroup->level;
	if (cmt_owners_level() < CMT_LEVEL_DEEP)
		level = min_t(int, level, cmt_owners_level());
	for (; !owner && level >= 0; level--)
		owner = cmt_owner_find(CMT_OWNER_CGROUP,
				       cgroup_id(cgroup->ancestors[level]));
	return owner;
}

/* Processes of an attached or held owner of kind process keep this owner. */
static bool is_named_process(const struct cmt_owner *owner)
{
	return owner && owner->kind == CMT_OWNER_PROCESS &&
	       cmt_owner_is_named(owner) && !owner->released;
}

/* In process scope, an attached or held process is an owner of the scope, too. */
static void named_resolve(struct cmt_owner *owner, u32 tgid)
{
	if (cmt_scope() == CMT_SCOPE_PROCESS && owner->id == tgid && !owner->scoped)
		cmt_owner_want(owner, CMT_BY_SCOPE);
}

/*
 * Find or make the process's owner in process scope.  NULL: all owner numbers are used.
 */
static struct cmt_owner *process_owner(struct task_struct *leader)
{
	struct cmt_owner *owner;

	owner = cmt_owner_find(CMT_OWNER_PROCESS, leader->tgid);
	return owner ?: cmt_owner_new(CMT_OWNER_PROCESS, leader->tgid,
				      cmt_scope_cgroup_of(leader),
				      leader->comm, CMT_BY_SCOPE);
}

/* The owner whose id is the process's; NULL: there is none.  With the owner lock. */
static struct cmt_owner *own_owner(u32 tgid)
{
	struct cmt_owner *owner = cmt_owner_of(tgid);

	if (owner && owner->kind == CMT_OWNER_PROCESS && owner->id == tgid &&
	    !owner->ended)
		return owner;
	return NULL;
}

bool cmt_process_ended(u32 tgid)
{
	struct cmt_owner *owner = own_owner(tgid);

	/* children keep the owner, and another process may get the id soon */
	if (owner)
		cmt_owner_forget_id(owner);
	return cmt_owner_join(tgid, NULL);
}

/* After each write of an entry: a process that has died leaves its owner. */
static bool join_check(struct task_struct *leader)
{
	smp_mb();	/* pairs with atomic_dec_and_test() in do_exit() */
	if (likely(atomic_read(&leader->signal->live)))
		return false;
	return cmt_process_ended(leader->tgid);
}

/* Make the process a member of @owner, or of none. */
static u32 process_join(struct task_struct *leader, struct cmt_owner *owner)
{
	bool freed = cmt_owner_join(leader->tgid, owner);

	freed |= join_check(leader);
	return freed ? RESOLVED_FREED : 0;
}

static u32 process_join_own(struct task_struct *leader)
{
	struct cmt_owner *owner = process_owner(leader);
	u64 cgroup_id;
	bool freed;

	if (owner)
		return process_join(leader, owner) |
		       (owner->pending ? RESOLVED_WANTS : 0);
	cgroup_id = cmt_scope_cgroup_of(leader);
	freed = cmt_owner_join_overflow(leader->tgid, cgroup_id, leader->comm);
	freed |= join_check(leader);
	return freed ? RESOLVED_FREED : 0;
}

/* @cgroup: that of the process, under RCU */
static u32 process_resolve(struct task_struct *leader, struct cgroup *cgroup)
{
	struct cmt_owner *owner = cmt_owner_of(leader->tgid);

	if (!atomic_read(&leader->signal->live))
		return 0;
	if (is_named_process(owner)) {
		named_resolve(owner, leader->tgid);
		return 0;
	}
	owner = nearest_cgroup(cgroup);
	if (owner || cmt_scope() != CMT_SCOPE_PROCESS)
		return process_join(leader, owner);
	return process_join_own(leader);
}

/* To be called after a probe has changed owners of processes. */
static void probe_done(u32 resolved)
{
	if (resolved & RESOLVED_FREED)
		cmt_rmids_freed();
	if (resolved & RESOLVED_WANTS && cmt_pending_serve(2) < 2 &&
	    cmt_owners_pending())
		cmt_pending_later();
	if (unlikely(cmt_owners_unnumbered()))
		queue_delayed_work(system_dfl_wq, &rescan_work,
				   RESCAN_DELAY);
}

void cmt_probe_fork(void *data, struct task_struct *parent,
		    struct task_struct *child)
{
	struct cmt_owner *owner;
	unsigned long flags;
	u32 resolved;

	if (child->flags & PF_KTHREAD || !thread_group_leader(child))
		return;

	rcu_read_lock();
	flags = cmt_owners_lock();
	owner = cmt_owner_of(parent->tgid);
	/* the child has an id before this, by which it may be attached or held already */
	if (is_named_process(owner) && owner->children &&
	    !is_named_process(cmt_owner_of(child->tgid)))
		resolved = process_join(child, owner);
	else
		resolved = process_resolve(child, task_dfl_cgroup(child));
	cmt_owners_unlock(flags);
	rcu_read_unlock();
	if (resolved)
		probe_done(resolved);
}

void cmt_scope_exit(struct task_struct *task)
{
	unsigned long flags;
	bool freed;

	/* reads the count first: pairs with join_check() */
	if (atomic_read(&task->signal->live) ||
	    !READ_ONCE(cmt_owner_table[task->tgid]))
		return;

	/* a task that lost its CPU here would keep its RMID in limbo until it runs again */
	preempt_disable();
	flags = cmt_owners_lock();
	freed = cmt_process_ended(task->tgid);
	cmt_owners_unlock(flags);
	if (freed || unlikely(cmt_owners_unnumbered()))
		probe_done(freed ? RESOLVED_FREED : 0);
	cmt_probes_owner_ended();
	preempt_enable();
}

/* exec calls this probe, too, after it has made its thread the leader. */
void cmt_probe_rename(void *data, struct task_struct *task, const char *comm)
{
	char name[CMT_COMM_LEN];
	struct cmt_owner *owner;
	unsigned long flags;
	bool postponed = false;

	if (!thread_group_leader(task) ||
	    !READ_ONCE(cmt_owner_table[task->tgid]))
		return;
	strscpy_pad(name, comm, sizeof(name));

	flags = cmt_owners_lock();
	owner = own_owner(task->tgid);
	if (owner && memcmp(owner->comm, name, sizeof(name))) {
		memcpy(owner->comm, name, sizeof(name));
		postponed = cmt_owner_update_limited(owner);
	}
	cmt_owners_unlock(flags);
	if (postponed)
		cmt_pending_later();
}

/* Returns whether the UPDATE was postponed. */
static bool note_cgroup(u32 tgid, u64 cgroup_id)
{
	struct cmt_owner *owner = own_owner(tgid);

	if (!owner || owner->cgroup_id == cgroup_id)
		return false;
	owner->cgroup_id = cgroup_id;
	return cmt_owner_update_limited(owner);
}

void cmt_probe_attach(void *data, struct cgroup *to, const char *path,
		      struct task_struct *task, bool threadgroup)
{
	const struct cmt_owner *before;
	unsigned long flags;
	bool moved, postponed;
	u32 resolved;

	if (to->root != &cgrp_dfl_root || !thread_group_leader(task) ||
	    task->flags & PF_KTHREAD)
		return;
	/* an exiting leader stays where it is, while its process moves */
	if (task->flags & PF_EXITING && !threadgroup)
		return;

	preempt_disable();	/* as in cmt_scope_exit() */
	flags = cmt_owners_lock();
	before = cmt_owner_of(task->tgid);
	resolved = process_resolve(task, to);
	moved = before != cmt_owner_of(task->tgid);
	postponed = note_cgroup(task->tgid, cgroup_id(to));
	cmt_owners_unlock(flags);

	if (postponed)
		cmt_pending_later();
	if (moved) {
		probe_done(resolved);
		/*
		 * threads of the process may run on other CPUs, with the RMID of @before;
		 * the new owner has its RMID first, so that the drain loads it
		 */
		cmt_refresh_later();
		cmt_refresh_this_cpu();
	}
	preempt_enable();
}

/*
 * Under RCU.  The cgroup of a thread that is live with the lock held is that of the process,
 * or the move's probe comes later.
 */
static void see_process(struct task_struct *leader)
{
	struct task_struct *live;
	unsigned long flags;

	if (leader->flags & PF_KTHREAD)
		return;
	for (;;) {
		live = live_thread(leader);
		flags = cmt_owners_lock();
		if (!live || !(live->flags & PF_EXITING))
			break;
		cmt_owners_unlock(flags);
	}
	process_resolve(leader, task_dfl_cgroup(live ?: leader));
	cmt_owners_unlock(flags);
}

void cmt_scope_resolve_all(void)
{
	lockdep_assert_held(&cmt_scope_mutex);
	cmt_walk_tasks(PIDTYPE_TGID, see_process);
}

/* Owner numbers are free again: resolve the processes that got no number. */
static void rescan(struct work_struct *work)
{
	mutex_lock(&cmt_scope_mutex);
	cmt_scope_resolve_all();
	cmt_refresh_later();
	mutex_unlock(&cmt_scope_mutex);
}

static void scope_add_cpu(unsigned int cpu)
{
	char name[CMT_COMM_LEN];
	struct cmt_owner *owner;
	unsigned long flags;

	snprintf(name, sizeof(name), "cpu%u", cpu);
	flags = cmt_owners_lock();
	owner = cmt_owner_find(CMT_OWNER_CPU, cpu);
	if (cmt_scope() == CMT_SCOPE_CPU && owner)
		cmt_owner_want(owner, CMT_BY_SCOPE);
	else if (cmt_scope() == CMT_SCOPE_CPU)
		cmt_owner_new(CMT_OWNER_CPU, cpu, 0, name, CMT_BY_SCOPE);
	cmt_owners_unlock(flags);
}

void cmt_scope_cpu_up(unsigned int cpu)
{
	scope_add_cpu(cpu);
	cmt_pending_serve(1);
	cmt_refresh_this_cpu();
	cmt_pending_later();
}

void cmt_scope_cpu_down(unsigned int cpu)
{
	unsigned long flags = cmt_owners_lock();
	struct cmt_owner *owner = cmt_owner_find(CMT_OWNER_CPU, cpu);

	if (owner)
		cmt_owner_release(owner);
	cmt_owners_unlock(flags);
	cmt_pending_later();
}

/* A CPU that is online and not up has no RMID; nothing would release its owner. */
static void scope_add_cpus(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (per_cpu(cmt_cpus, cpu).up)
			scope_add_cpu(cpu);
	cpus_read_unlock();
}

static void scope_switch(u32 to)
{
	unsigned long flags = cmt_owners_lock();

	WRITE_ONCE(cmt_settings.scope, to);
	cmt_owners_unlock(flags);
}

/* Release an owner that is not held.  A held owner only loses its other users. */
static void scope_leave(struct cmt_owner *owner)
{
	if (!owner->holders || owner->released) {
		cmt_owner_release(owner);
		return;
	}
	if (owner->scoped)
		cmt_owner_unwant(owner, CMT_BY_SCOPE);
	if (owner->attached)
		cmt_owner_unwant(owner, CMT_BY_ATTACH);
}

/* Afterwards only the overflow owner and held owners have an RMID. */
static void scope_close(void)
{
	unsigned long flags;
	u32 i, end;

	scope_switch(CMT_SCOPE_NONE);
	for (i = CMT_OVERFLOW_OWNER + 1; i < CMT_NR_OWNERS;) {
		end = min(i + LEAVE_CHUNK, CMT_NR_OWNERS);
		flags = cmt_owners_lock();
		for (; i < end; i++)
			scope_leave(cmt_owner_at(i));
		cmt_owners_unlock(flags);
		cond_resched();
	}
	cmt_scope_resolve_all();
}

static void scope_open(u32 to)
{
	scope_switch(to);
	if (to == CMT_SCOPE_CONTAINER)
		cmt_containers_add();
	else if (to == CMT_SCOPE_CPU)
		scope_add_cpus();
	cmt_scope_resolve_all();
}

/* A change that a caller of cmt_scope_set() waits for */
struct scope_change {
	struct work_struct work;
	u32 to;
	struct cmt_pattern_set *set;
};

static void scope_change_fn(struct work_struct *work)
{
	struct scope_change *change = container_of(work, struct scope_change, work);

	mutex_lock(&cmt_scope_mutex);
	scope_close();
	if (change->set)
		cmt_containers_set(change->set);
	scope_open(change->to);
	cmt_probes_update();
	cmt_pending_run();
	cmt_settings_emit();
	mutex_unlock(&cmt_scope_mutex);
}

/*
 * A caller may lose its CPU at any instant, and get none for long: no process would have an
 * owner until then.  So a work item makes the change.
 */
void cmt_scope_set(u32 to, struct cmt_pattern_set *set)
{
	struct scope_change change = { .to = to, .set = set };

	INIT_WORK_ONSTACK(&change.work, scope_change_fn);
	queue_work(system_dfl_wq, &change.work);
	flush_work(&change.work);
	destroy_work_on_stack(&change.work);
}

void cmt_scope_stop(void)
{
	cancel_delayed_work_sync(&rescan_work);
}
