// SPDX-License-Identifier: GPL-2.0
/* The ioctls of scope, patterns, attaching and waiting. */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "cmt.h"
#include "pattern.h"

int cmt_may_control(const struct file *file)
{
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	return perfmon_capable() ? 0 : -EPERM;
}

/* The patterns of the argument; NULL: those in force stay. */
static struct cmt_pattern_set *get_patterns(struct cmt_scope *arg)
{
	struct cmt_pattern_set *set;
	char *text;
	int ret;

	if (!arg->patterns_bytes)
		return NULL;
	if (arg->patterns_bytes > CMT_PATTERNS_MAX) {
		arg->bad_at = CMT_PATTERNS_MAX;
		return ERR_PTR(-EINVAL);
	}
	text = memdup_user(u64_to_user_ptr(arg->patterns), arg->patterns_bytes);
	if (IS_ERR(text))
		return ERR_CAST(text);
	set = kvmalloc(sizeof(*set), GFP_KERNEL);
	ret = set ? cmt_pattern_parse(set, text, arg->patterns_bytes,
				      &arg->bad_at) : -ENOMEM;
	kfree(text);
	if (!ret)
		return set;
	kvfree(set);
	return ERR_PTR(ret);
}

long cmt_ioctl_set_scope(struct file *file, void __user *uarg)
{
	struct cmt_pattern_set *set = NULL;
	struct cmt_scope arg;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	ret = ret ?: cmt_may_control(file);
	if (ret)
		return ret;
	arg.bad_at = U32_MAX;
	if (arg.scope < CMT_SCOPE_PROCESS || arg.scope > CMT_SCOPE_MANUAL ||
	    arg.reserved)
		ret = -EINVAL;
	if (!ret)
		set = get_patterns(&arg);
	if (IS_ERR(set))
		ret = PTR_ERR(set);
	if (!ret)
		cmt_scope_set(arg.scope, set);
	if (ret && ret != -EINVAL)
		return ret;
	return cmt_arg_put(uarg, &arg, sizeof(arg)) ?: ret;
}

long cmt_ioctl_get_patterns(void __user *uarg)
{
	struct cmt_patterns arg;
	char *text;
	u32 bytes;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	if (ret)
		return ret;
	if (arg.reserved)
		return -EINVAL;
	text = kvmalloc(CMT_PATTERNS_MAX, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	bytes = cmt_containers_patterns(text);
	if (bytes > arg.bytes)
		ret = -ENOSPC;
	else if (copy_to_user(u64_to_user_ptr(arg.text), text, bytes))
		ret = -EFAULT;
	kvfree(text);
	if (ret == -EFAULT)
		return ret;
	arg.bytes = bytes;
	return cmt_arg_put(uarg, &arg, sizeof(arg)) ?: ret;
}

static bool attach_in_order(const struct cmt_attach *arg, u32 options)
{
	if (arg->kind < CMT_OWNER_PROCESS || arg->kind > CMT_OWNER_CPU)
		return false;
	if (arg->kind != CMT_OWNER_PROCESS)
		options = 0;
	return !(arg->options & ~options);
}

long cmt_ioctl_attach(struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	ret = ret ?: cmt_may_control(file);
	if (ret)
		return ret;
	if (!attach_in_order(&arg, CMT_ATTACH_CHILDREN))
		return -EINVAL;
	return cmt_attach(&arg) ?: cmt_arg_put(uarg, &arg, sizeof(arg));
}

long cmt_ioctl_detach(struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	ret = ret ?: cmt_may_control(file);
	if (ret)
		return ret;
	return attach_in_order(&arg, 0) ? cmt_detach(&arg) : -EINVAL;
}

/* More may come to wait until they are copied: then it takes more room, too. */
long cmt_ioctl_get_waiting(void __user *uarg)
{
	struct cmt_record *records;
	struct cmt_rmids arg;
	u32 room, count;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	if (ret)
		return ret;
	if (arg.reserved)
		return -EINVAL;
	room = min(arg.count, cmt_owner_waiting() + 256);
	records = kvcalloc(room + 1, sizeof(*records), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	count = cmt_waiting_snapshot(records, room, &arg.as_of);
	if (count > room)
		ret = -ENOSPC;
	else if (copy_to_user(u64_to_user_ptr(arg.records), records,
			      count * sizeof(*records)))
		ret = -EFAULT;
	kvfree(records);
	if (ret == -EFAULT)
		return ret;
	arg.count = count;
	return cmt_arg_put(uarg, &arg, sizeof(arg)) ?: ret;
}
