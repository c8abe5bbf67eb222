// SPDX-License-Identifier: GPL-2.0
/*
 * The owners that descriptors hold, CMT_IOC_REGISTER.  The close of a descriptor
 * releases its holds, and the kernel closes the descriptors of a program that dies.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "file.h"
#include "scope/scope.h"

struct held {
	struct cmt_hold hold;
	u32 kind;
	u64 id;		/* as the program gave it */
};

static DEFINE_MUTEX(holds_mutex);	/* the lists; outside the scope mutex */

static struct held *held_find(const struct cmt_file *file, u32 kind, u64 id)
{
	struct held *held;

	list_for_each_entry(held, &file->holds, hold.list)
		if (held->kind == kind && held->id == id)
			return held;
	return NULL;
}

static void held_drop(struct cmt_file *file, struct held *held)
{
	list_del(&held->hold.list);
	file->nr_holds--;
	cmt_unhold(&held->hold);
	kfree(held);
}

/* Another owner may have the id of an owner that has ended. */
static int held_look(struct cmt_file *file, u32 kind, u64 id)
{
	struct held *held = held_find(file, kind, id);
	u32 rmid, generation;

	if (!held)
		return 0;
	if (cmt_hold_rmid(&held->hold, &rmid, &generation) != -ENOENT)
		return -EEXIST;
	held_drop(file, held);
	return 0;
}

static int held_add(struct cmt_file *file, struct cmt_attach *arg)
{
	struct held *held;
	int ret;

	if (file->nr_holds == CMT_REGISTER_MAX)
		return -ENOSPC;
	held = kmalloc(sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	ret = cmt_hold(&held->hold, arg->kind, arg->id, arg->options);
	if (ret) {
		kfree(held);
		return ret;
	}
	held->kind = arg->kind;
	held->id = arg->id;
	list_add(&held->hold.list, &file->holds);
	file->nr_holds++;
	/* an owner that has ended has no RMID */
	cmt_hold_rmid(&held->hold, &arg->rmid, &arg->generation);
	return 0;
}

int cmt_register(struct cmt_file *file, struct cmt_attach *arg)
{
	int ret;

	mutex_lock(&holds_mutex);
	ret = held_look(file, arg->kind, arg->id);
	ret = ret ?: held_add(file, arg);
	mutex_unlock(&holds_mutex);
	return ret;
}

int cmt_unregister(struct cmt_file *file, const struct cmt_attach *arg)
{
	struct held *held;

	mutex_lock(&holds_mutex);
	held = held_find(file, arg->kind, arg->id);
	if (held)
		held_drop(file, held);
	mutex_unlock(&holds_mutex);
	return held ? 0 : -ENOENT;
}

void cmt_unregister_all(struct cmt_file *file)
{
	struct held *held, *next;

	cmt_unhold_all(&file->holds);
	list_for_each_entry_safe(held, next, &file->holds, hold.list)
		kfree(held);
}
