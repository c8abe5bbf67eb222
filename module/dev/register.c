// SPDX-License-Identifier: GPL-2.0
/*
 * The owners that descriptors hold, CMT_IOC_REGISTER.  The close of a descriptor
 * releases its holds, and the kernel closes the descriptors of a program that dies.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/threads.h>

#include "file.h"
#include "scope/scope.h"

/* A process is not kept by its id, which another process gets later. */
struct held {
	struct cmt_hold hold;
	u32 kind;
	u64 id;			/* of a cgroup or a CPU */
	struct pid *pid;	/* of a process, with a reference; else NULL */
};

static DEFINE_MUTEX(holds_mutex);	/* the lists; outside the scope mutex */

/* The process that has the id in the caller's PID namespace, or NULL */
static struct pid *get_pid_of(const struct cmt_attach *arg)
{
	if (arg->kind != CMT_OWNER_PROCESS || arg->id > PID_MAX_LIMIT)
		return NULL;
	return find_get_pid(arg->id);
}

/* Had the process this id, which another one may have now? */
static bool had_id(const struct held *held, u64 id)
{
	return id && held->pid && pid_vnr(held->pid) == id;
}

/* First that of @pid, then that of a process that has ended */
static struct held *held_find(const struct cmt_file *file,
			      const struct cmt_attach *arg,
			      const struct pid *pid)
{
	struct held *held, *ended = NULL;

	list_for_each_entry(held, &file->holds, hold.list) {
		if (held->kind != arg->kind)
			continue;
		if (held->pid ? held->pid == pid : held->id == arg->id)
			return held;
		if (!ended && had_id(held, arg->id))
			ended = held;
	}
	return ended;
}

static void held_free(struct held *held)
{
	put_pid(held->pid);
	kfree(held);
}

static void held_drop(struct cmt_file *file, struct held *held)
{
	list_del(&held->hold.list);
	file->nr_holds--;
	cmt_unhold(&held->hold);
	held_free(held);
}

/* Another owner may have the id of an owner that has ended. */
static int held_look(struct cmt_file *file, const struct cmt_attach *arg,
		     const struct pid *pid)
{
	struct held *held = held_find(file, arg, pid);
	u32 rmid, generation;

	if (!held)
		return 0;
	if (cmt_hold_rmid(&held->hold, &rmid, &generation) == -ENOENT) {
		held_drop(file, held);
		return 0;
	}
	/* children keep the owner of a process that has ended */
	return held->pid == pid ? -EEXIST : 0;
}

static int hold_process(struct cmt_hold *hold, struct pid *pid, u32 options)
{
	struct task_struct *leader = get_pid_task(pid, PIDTYPE_TGID);
	int ret;

	if (!leader)
		return -ESRCH;
	ret = cmt_hold_task(hold, leader, options);
	put_task_struct(leader);
	return ret;
}

static int held_make(struct held *held, const struct cmt_attach *arg,
		     struct pid *pid)
{
	held->kind = arg->kind;
	held->id = arg->id;
	held->pid = get_pid(pid);
	if (arg->kind == CMT_OWNER_PROCESS)
		return hold_process(&held->hold, pid, arg->options);
	return cmt_hold(&held->hold, arg->kind, arg->id);
}

static int held_add(struct cmt_file *file, struct cmt_attach *arg,
		    struct pid *pid)
{
	struct held *held;
	int ret;

	if (file->nr_holds == CMT_REGISTER_MAX)
		return -ENOSPC;
	held = kmalloc(sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	ret = held_make(held, arg, pid);
	if (ret) {
		held_free(held);
		return ret;
	}
	list_add(&held->hold.list, &file->holds);
	file->nr_holds++;
	/* an owner that has ended has no RMID */
	cmt_hold_rmid(&held->hold, &arg->rmid, &arg->generation);
	return 0;
}

int cmt_register(struct cmt_file *file, struct cmt_attach *arg)
{
	struct pid *pid = get_pid_of(arg);
	int ret;

	mutex_lock(&holds_mutex);
	ret = held_look(file, arg, pid);
	ret = ret ?: held_add(file, arg, pid);
	mutex_unlock(&holds_mutex);
	put_pid(pid);
	return ret;
}

int cmt_unregister(struct cmt_file *file, const struct cmt_attach *arg)
{
	struct pid *pid = get_pid_of(arg);
	struct held *held;

	mutex_lock(&holds_mutex);
	held = held_find(file, arg, pid);
	if (held)
		held_drop(file, held);
	mutex_unlock(&holds_mutex);
	put_pid(pid);
	return held ? 0 : -ENOENT;
}

void cmt_unregister_all(struct cmt_file *file)
{
	struct held *held, *next;

	cmt_unhold_all(&file->holds);
	list_for_each_entry_safe(held, next, &file->holds, hold.list)
		held_free(held);
}
