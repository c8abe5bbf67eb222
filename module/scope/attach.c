// SPDX-License-Identifier: GPL-2.0
/*
 * Owners that were requested by name, beside those of the scope: attached, or held by a
 * descriptor or by the kernel.
 */
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "sample/sample.h"
#include "scope.h"

/* The process with this id in the caller's PID namespace, or NULL. */
static struct task_struct *get_process(u64 id)
{
	struct task_struct *leader;
	struct pid *pid;

	if (!id || id > PID_MAX_LIMIT)
		return NULL;
	pid = find_get_pid(id);
	leader = get_pid_task(pid, PIDTYPE_TGID);
	put_pid(pid);
	if (leader && leader->flags & PF_KTHREAD) {
		put_task_struct(leader);
		return NULL;
	}
	return leader;
}

/* Make an owner, or find an existing one.  *@hold refers to the owner. */
static struct cmt_owner *name_owner(struct cmt_hold *hold, u32 kind, u64 id,
				    u64 cgroup_id, const char *name,
				    enum cmt_by by)
{
	struct cmt_owner *owner = cmt_owner_find(kind, id);

	if (owner && owner->attached && by == CMT_BY_ATTACH)
		return ERR_PTR(-EEXIST);
	if (owner)
		cmt_owner_want(owner, by);
	else
		owner = cmt_owner_new(kind, id, cgroup_id, name, by);
	if (!owner)
		return ERR_PTR(-ENOSPC);
	hold->serial = owner->serial;
	hold->number = cmt_owner_number(owner);
	return owner;
}

static int name_process(struct cmt_hold *hold, struct task_struct *leader,
			u32 options, enum cmt_by by)
{
	struct cmt_owner *owner;

	if (!atomic_read(&leader->signal->live))
		return -ESRCH;
	owner = name_owner(hold, CMT_OWNER_PROCESS, leader->tgid,
			   cmt_scope_cgroup_of(leader), leader->comm, by);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (options & CMT_ATTACH_CHILDREN)
		owner->children = true;
	cmt_owner_join(leader->tgid, owner);
	/* pairs with the exit probe, as in scope.c */
	smp_mb();
	if (atomic_read(&leader->signal->live))
		return 0;
	cmt_owner_unwant(owner, by);
	cmt_process_ended(leader->tgid);
	return -ESRCH;
}

static int name_leader(struct cmt_hold *hold, struct task_struct *leader,
		       u32 options, enum cmt_by by)
{
	unsigned long flags = cmt_owners_lock();
	int ret = name_process(hold, leader, options, by);

	cmt_owners_unlock(flags);
	return ret;
}

static int name_by_pid(struct cmt_hold *hold, u64 id, u32 options,
		       enum cmt_by by)
{
	struct task_struct *leader = get_process(id);
	int ret;

	if (!leader)
		return -ESRCH;
	ret = name_leader(hold, leader, options, by);
	put_task_struct(leader);
	return ret;
}

static int name_cgroup(struct cmt_hold *hold, u64 id, enum cmt_by by)
{
	struct cgroup *cgroup = cgroup_get_from_id(id);
	unsigned long flags;
	struct cmt_owner *owner = ERR_PTR(-ENOENT);
	const char *name;

	if (IS_ERR(cgroup))
		return -ENOENT;
	name = cgroup->level ? cmt_cgroup_name(cgroup) : "/";
	flags = cmt_owners_lock();
	/* cgroup_destroy_locked() clears it before the rmdir probe is called */
	if (READ_ONCE(cgroup->self.flags) & CSS_ONLINE)
		owner = name_owner(hold, CMT_OWNER_CGROUP, id, id, name, by);
	if (!IS_ERR(owner))
		cmt_owner_set_level(owner, cgroup->level);
	cmt_owners_unlock(flags);
	cgroup_put(cgroup);
	if (!IS_ERR(owner))
		cmt_scope_resolve_all();
	return PTR_ERR_OR_ZERO(owner);
}

static int name_cpu(struct cmt_hold *hold, u64 cpu, enum cmt_by by)
{
	char name[CMT_COMM_LEN];
	struct cmt_owner *owner = ERR_PTR(-ENXIO);
	unsigned long flags;

	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	snprintf(name, sizeof(name), "cpu%llu", cpu);
	cpus_read_lock();
	flags = cmt_owners_lock();
	if (cpu_online(cpu) && per_cpu(cmt_cpus, cpu).up)
		owner = name_owner(hold, CMT_OWNER_CPU, cpu, 0, name, by);
	cmt_owners_unlock(flags);
	cpus_read_unlock();
	return PTR_ERR_OR_ZERO(owner);
}

static int name_any(struct cmt_hold *hold, u32 kind, u64 id, u32 options,
		    enum cmt_by by)
{
	lockdep_assert_held(&cmt_scope_mutex);
	if (kind == CMT_OWNER_PROCESS)
		return name_by_pid(hold, id, options, by);
	if (kind == CMT_OWNER_CGROUP)
		return name_cgroup(hold, id, by);
	return name_cpu(hold, id, by);
}

/* After an owner was made, or failed with @ret */
static int name_done(int ret)
{
	cmt_probes_update();
	/* -ESRCH: the owner of a process that was exiting may have ended */
	if (!ret || ret == -ESRCH)
		cmt_pending_run();
	return ret;
}

/* The held owner; NULL: it has ended.  With the owner lock. */
static struct cmt_owner *hold_owner(const struct cmt_hold *hold)
{
	struct cmt_owner *owner = cmt_owner_at(hold->number);

	if (!owner || owner->serial != hold->serial || owner->released)
		return NULL;
	return owner;
}

int cmt_hold_rmid(const struct cmt_hold *hold, u32 *rmid, u32 *generation)
{
	unsigned long flags = cmt_owners_lock();
	struct cmt_owner *owner = hold_owner(hold);
	int ret = -ENOENT;

	*rmid = owner ? cmt_owner_rmid(cmt_owner_number(owner)) : CMT_RMID_NONE;
	*generation = cmt_table_generation(*rmid);
	if (owner)
		ret = owner->rmid ? 0 : -EAGAIN;
	cmt_owners_unlock(flags);
	return ret;
}

u32 cmt_hold_next_group(const struct cmt_hold *hold, u32 after)
{
	unsigned long flags = cmt_owners_lock();
	const struct cmt_owner *owner = hold_owner(hold);
	bool grouped = owner && owner->grouped;

	cmt_owners_unlock(flags);
	return grouped ? cmt_rdtgroups_next(hold->number, after) : 0;
}

int cmt_attach(struct cmt_attach *arg)
{
	struct cmt_hold made;
	int ret;

	mutex_lock(&cmt_scope_mutex);
	ret = name_done(name_any(&made, arg->kind, arg->id, arg->options,
				 CMT_BY_ATTACH));
	if (!ret)
		cmt_hold_rmid(&made, &arg->rmid, &arg->generation);
	mutex_unlock(&cmt_scope_mutex);
	return ret;
}

int cmt_hold(struct cmt_hold *hold, u32 kind, u64 id)
{
	int ret;

	mutex_lock(&cmt_scope_mutex);
	ret = name_done(name_any(hold, kind, id, 0, CMT_BY_HOLD));
	mutex_unlock(&cmt_scope_mutex);
	return ret;
}

/*
 * The process of @task, or NULL.  The caller refers to @task, which keeps signal_struct,
 * but not the leader: the process may be reaped.
 */
static struct task_struct *get_process_of(struct task_struct *task)
{
	struct task_struct *leader;

	rcu_read_lock();
	leader = get_pid_task(task_tgid(task), PIDTYPE_TGID);
	rcu_read_unlock();
	return leader;
}

int cmt_hold_task(struct cmt_hold *hold, struct task_struct *task, u32 options)
{
	struct task_struct *leader;
	int ret = -ESRCH;

	if (task->flags & PF_KTHREAD)
		return ret;
	if (!thread_group_leader(task))
		cmt_test_delay(msleep, 50);
	leader = get_process_of(task);
	if (!leader)
		return ret;
	mutex_lock(&cmt_scope_mutex);
	ret = name_done(name_leader(hold, leader, options, CMT_BY_HOLD));
	mutex_unlock(&cmt_scope_mutex);
	put_task_struct(leader);
	return ret;
}

/* After owners were released: their members get other owners, or none. */
static void unname_done(void)
{
	cmt_scope_resolve_all();
	cmt_probes_update();
	cmt_pending_run();
}

/*
 * Returns whether processes may have another owner now: while an owner is named, its
 * members stay.
 */
static bool hold_end(const struct cmt_hold *hold)
{
	unsigned long flags = cmt_owners_lock();
	struct cmt_owner *owner = hold_owner(hold);
	bool ended = false;

	if (owner) {
		cmt_owner_unwant(owner, CMT_BY_HOLD);
		ended = !hold_owner(hold) || !cmt_owner_is_named(owner);
	}
	cmt_owners_unlock(flags);
	return ended;
}

void cmt_unhold(struct cmt_hold *hold)
{
	mutex_lock(&cmt_scope_mutex);
	if (hold_end(hold))
		unname_done();
	mutex_unlock(&cmt_scope_mutex);
}

void cmt_unhold_all(struct list_head *holds)
{
	struct cmt_hold *hold;
	bool ended = false;

	if (list_empty(holds))
		return;
	mutex_lock(&cmt_scope_mutex);
	list_for_each_entry(hold, holds, list)
		ended |= hold_end(hold);
	if (ended)
		unname_done();
	mutex_unlock(&cmt_scope_mutex);
}

/* The id under which the owner was attached; 0: there can be none. */
static u64 id_of(const struct cmt_attach *arg)
{
	struct task_struct *leader;
	u64 id;

	if (arg->kind != CMT_OWNER_PROCESS)
		return arg->id;
	leader = get_process(arg->id);
	if (!leader)
		return 0;
	id = leader->tgid;
	put_task_struct(leader);
	return id;
}

/*
 * The id of a process that may have ended; 0: there is none.  Other PID namespaces forget
 * which process had an id.
 */
static u64 ended_id_of(const struct cmt_attach *arg)
{
	if (arg->kind != CMT_OWNER_PROCESS ||
	    task_active_pid_ns(current) != &init_pid_ns)
		return 0;
	return arg->id;
}

/*
 * An owner of the scope, or one that is held, stays an owner.  @ended: the id of a process
 * that may have ended.
 */
static int detach(u32 kind, u64 id, u64 ended)
{
	struct cmt_owner *owner = cmt_owner_find(kind, id);

	if (ended && !(owner && owner->attached))
		owner = cmt_owner_find_ended(ended);
	if (!owner || !owner->attached)
		return -ENOENT;
	cmt_owner_unwant(owner, CMT_BY_ATTACH);
	return 0;
}

int cmt_detach(const struct cmt_attach *arg)
{
	u64 id = id_of(arg), ended = ended_id_of(arg);
	unsigned long flags;
	int ret;

	mutex_lock(&cmt_scope_mutex);
	flags = cmt_owners_lock();
	ret = detach(arg->kind, id, ended);
	cmt_owners_unlock(flags);
	if (!ret)
		unname_done();
	mutex_unlock(&cmt_scope_mutex);
	return ret;
}

/* Returns the number of the owner, or -errno. */
static int owner_key(u32 kind, u64 id, struct cmt_demand_key *key)
{
	unsigned long flags = cmt_owners_lock();
	const struct cmt_owner *owner = cmt_owner_find(kind, id);
	int ret = -ENOENT;

	if (owner) {
		key->rmid = owner->rmid;
		key->generation = cmt_table_generation(owner->rmid);
		ret = owner->rmid ? cmt_owner_number(owner) : -EAGAIN;
	}
	cmt_owners_unlock(flags);
	return ret;
}

/* First the dedicated RMID, then those of sole groups.  Returns the number, or -errno. */
static int owner_keys(u32 kind, u64 id, struct cmt_demand_key *keys)
{
	int number = owner_key(kind, id, &keys[0]), n = 1;
	u32 rmid = 0;

	if (number < 0)
		return number;
	while ((rmid = cmt_rdtgroups_next(number, rmid))) {
		keys[n].rmid = rmid;
		keys[n].generation = cmt_table_generation(rmid);
		n += !!keys[n].generation;
	}
	return n;
}

int cmt_owner_read(u32 kind, u64 id, struct cmt_record *records, u32 room,
		   u32 *count)
{
	const struct cmt_attach arg = { .kind = kind, .id = id };
	struct cmt_demand_key *keys;
	int ret;

	id = id_of(&arg);
	if (!id && kind == CMT_OWNER_PROCESS)
		return -ESRCH;
	keys = kvmalloc_array(cmt_caps.nr_rmids, sizeof(*keys), GFP_KERNEL);
	if (!keys)
		return -ENOMEM;
	ret = owner_keys(kind, id, keys);
	if (ret > 0)
		ret = cmt_demand_owner(keys, ret, records, room, count);
	kvfree(keys);
	return ret;
}
