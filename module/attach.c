// SPDX-License-Identifier: GPL-2.0
/* Owners that somebody asked for, CMT_IOC_ATTACH, beside those of the scope. */
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"
#include "scope.h"

/* The process with this id where the caller lives, or NULL. */
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

/* The scope may have made it an owner already. */
static struct cmt_owner *attach_owner(u32 kind, u64 id, u64 cgroup_id,
				      const char *name)
{
	struct cmt_owner *owner = cmt_owner_find(kind, id);

	if (owner && owner->attached)
		return ERR_PTR(-EEXIST);
	if (owner) {
		cmt_owner_attach(owner, true);
		return owner;
	}
	owner = cmt_owner_new(kind, id, cgroup_id, name, true);
	return owner ?: ERR_PTR(-ENOSPC);
}

static int attach_process(struct task_struct *leader, u32 options)
{
	struct cmt_owner *owner;

	if (!atomic_read(&leader->signal->live))
		return -ESRCH;
	owner = attach_owner(CMT_OWNER_PROCESS, leader->tgid,
			     cmt_scope_cgroup_of(leader), leader->comm);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	owner->children = options & CMT_ATTACH_CHILDREN;
	cmt_owner_join(leader->tgid, owner);
	return 0;
}

static int attach_by_pid(u64 *id, u32 options)
{
	struct task_struct *leader = get_process(*id);
	unsigned long flags;
	int ret;

	if (!leader)
		return -ESRCH;
	*id = leader->tgid;
	flags = cmt_owners_lock();
	ret = attach_process(leader, options);
	/* pairs with the exit probe, as in scope.c */
	smp_mb();
	if (!ret && !atomic_read(&leader->signal->live)) {
		cmt_owner_join(leader->tgid, NULL);
		ret = -ESRCH;
	}
	cmt_owners_unlock(flags);
	put_task_struct(leader);
	return ret;
}

static int attach_cgroup(u64 id)
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
		owner = attach_owner(CMT_OWNER_CGROUP, id, id, name);
	cmt_owners_unlock(flags);
	cgroup_put(cgroup);
	if (!IS_ERR(owner))
		cmt_scope_resolve_all();
	return PTR_ERR_OR_ZERO(owner);
}

static int attach_cpu(u64 cpu)
{
	char name[CMT_COMM_LEN];
	struct cmt_owner *owner = ERR_PTR(-ENXIO);
	unsigned long flags;

	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	snprintf(name, sizeof(name), "cpu%llu", cpu);
	cpus_read_lock();
	flags = cmt_owners_lock();
	if (cpu_online(cpu))
		owner = attach_owner(CMT_OWNER_CPU, cpu, 0, name);
	cmt_owners_unlock(flags);
	cpus_read_unlock();
	return PTR_ERR_OR_ZERO(owner);
}

/* Which RMID the owner has now; that of an owner that has ended already: none. */
static void attach_fill(u64 id, struct cmt_attach *arg)
{
	unsigned long flags = cmt_owners_lock();
	struct cmt_owner *owner = cmt_owner_find(arg->kind, id);

	arg->rmid = owner ? cmt_owner_rmid(cmt_owner_number(owner)) :
			    CMT_RMID_NONE;
	arg->generation = cmt_table_generation(arg->rmid);
	cmt_owners_unlock(flags);
}

int cmt_attach(struct cmt_attach *arg)
{
	u64 id = arg->id;
	int ret;

	mutex_lock(&cmt_scope_mutex);
	if (arg->kind == CMT_OWNER_PROCESS)
		ret = attach_by_pid(&id, arg->options);
	else if (arg->kind == CMT_OWNER_CGROUP)
		ret = attach_cgroup(id);
	else
		ret = attach_cpu(id);
	cmt_probes_update();
	if (!ret) {
		cmt_pending_run();
		attach_fill(id, arg);
	}
	mutex_unlock(&cmt_scope_mutex);
	return ret;
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

/* What the scope makes an owner stays one. */
static int detach(u32 kind, u64 id)
{
	struct cmt_owner *owner = cmt_owner_find(kind, id);

	if (!owner || !owner->attached)
		return -ENOENT;
	owner->children = false;
	if (owner->scoped)
		cmt_owner_attach(owner, false);
	else
		cmt_owner_release(owner);
	return 0;
}

int cmt_detach(const struct cmt_attach *arg)
{
	u64 id = id_of(arg);
	unsigned long flags;
	int ret;

	mutex_lock(&cmt_scope_mutex);
	flags = cmt_owners_lock();
	ret = detach(arg->kind, id);
	cmt_owners_unlock(flags);
	if (!ret) {
		cmt_scope_resolve_all();
		cmt_probes_update();
		cmt_pending_run();
	}
	mutex_unlock(&cmt_scope_mutex);
	return ret;
}
