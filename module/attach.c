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

/* Nobody has this id yet.  The scope may have given the process an RMID. */
static int attach_process(struct task_struct *leader, u32 options)
{
	u16 entry = cmt_table_get(leader->tgid);
	struct cmt_object *object;

	if (!atomic_read(&leader->signal->live))
		return -ESRCH;
	if (cmt_object_find(CMT_OWNER_PROCESS, leader->tgid))
		return -EEXIST;
	object = cmt_object_new(CMT_OWNER_PROCESS, leader->tgid);
	if (!object)
		return -ENOSPC;
	object->attached = true;
	object->children = options & CMT_ATTACH_CHILDREN;
	object->cgroup_id = cmt_owner_cgroup(leader);
	strscpy_pad(object->comm, leader->comm, CMT_COMM_LEN);
	if (entry && !(entry & CMT_WAITS) && !cmt_entry_object(entry)) {
		cmt_object_adopt(object, cmt_owner_rmid_of(entry));
		return 0;
	}
	cmt_object_assign(object);
	cmt_entry_set(leader->tgid, cmt_object_entry(object));
	return 0;
}

/* A cgroup or a CPU; the scope may have made it an owner already. */
static int attach_object(u32 kind, u64 id, const char *name)
{
	struct cmt_object *object = cmt_object_find(kind, id);

	if (object && object->attached)
		return -EEXIST;
	if (object) {
		cmt_object_attach(object, true);
		return 0;
	}
	object = cmt_object_new(kind, id);
	if (!object)
		return -ENOSPC;
	object->attached = true;
	strscpy_pad(object->comm, name, CMT_COMM_LEN);
	cmt_object_assign(object);
	return 0;
}

/* What the caller is told, of an owner that is there. */
static void tell(u32 kind, u64 id, struct cmt_attach *arg)
{
	struct cmt_object *object = cmt_object_find(kind, id);

	arg->rmid = object->rmid ?: cmt_table_rest();
	arg->generation = cmt_table_generation(arg->rmid);
}

static int do_process(struct cmt_attach *arg)
{
	struct task_struct *leader = get_process(arg->id);
	unsigned long flags;
	int ret;

	if (!leader)
		return -ESRCH;
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	ret = attach_process(leader, arg->options);
	if (!ret)
		tell(CMT_OWNER_PROCESS, leader->tgid, arg);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	put_task_struct(leader);
	return ret;
}

static int do_cgroup(struct cmt_attach *arg)
{
	struct cgroup *cgroup = cgroup_get_from_id(arg->id);
	unsigned long flags;
	int ret = -ENOENT;

	if (IS_ERR(cgroup))
		return -ENOENT;
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	/* cgroup_destroy_locked() clears it before the rmdir probe is called */
	if (READ_ONCE(cgroup->self.flags) & CSS_ONLINE)
		ret = attach_object(CMT_OWNER_CGROUP, arg->id,
				    cgroup->level ? cmt_cgroup_name(cgroup) : "/");
	if (!ret)
		tell(CMT_OWNER_CGROUP, arg->id, arg);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	cgroup_put(cgroup);
	if (!ret)
		cmt_place_all(false);
	return ret;
}

static int do_cpu(struct cmt_attach *arg)
{
	char name[CMT_COMM_LEN];
	unsigned long flags;
	int ret = -ENXIO;

	if (arg->id >= nr_cpu_ids)
		return -ENXIO;
	snprintf(name, sizeof(name), "cpu%llu", arg->id);
	cpus_read_lock();
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	if (cpu_online(arg->id))
		ret = attach_object(CMT_OWNER_CPU, arg->id, name);
	if (!ret)
		tell(CMT_OWNER_CPU, arg->id, arg);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	cpus_read_unlock();
	return ret;
}

int cmt_attach(struct cmt_attach *arg)
{
	int ret = -EINVAL;

	mutex_lock(&cmt_scope_mutex);
	cmt_settle_begin();
	if (arg->kind == CMT_OWNER_PROCESS)
		ret = do_process(arg);
	else if (arg->kind == CMT_OWNER_CGROUP)
		ret = do_cgroup(arg);
	else if (arg->kind == CMT_OWNER_CPU)
		ret = do_cpu(arg);
	cmt_settle_end();
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
static int detach_object(u32 kind, u64 id)
{
	struct cmt_object *object = cmt_object_find(kind, id);

	if (!object || !object->attached)
		return -ENOENT;
	if (object->scoped)
		cmt_object_attach(object, false);
	else
		cmt_object_release(object);
	return 0;
}

int cmt_detach(const struct cmt_attach *arg)
{
	u64 id = id_of(arg);
	unsigned long flags;
	int ret;

	mutex_lock(&cmt_scope_mutex);
	cmt_settle_begin();
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	ret = detach_object(arg->kind, id);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	if (!ret)
		cmt_place_all(false);
	cmt_settle_end();
	mutex_unlock(&cmt_scope_mutex);
	return ret;
}
