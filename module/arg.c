// SPDX-License-Identifier: GPL-2.0
/* Arguments of ioctls, which grow. */
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "cmt.h"

int cmt_arg_get(void *arg, size_t ksize, const void __user *uarg)
{
	u32 *head = arg;
	u32 usize;
	int ret;

	if (get_user(usize, (const u32 __user *)uarg))
		return -EFAULT;
	if (usize < ksize || usize > PAGE_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(arg, ksize, uarg, usize);
	if (ret)
		return ret == -E2BIG ? -EINVAL : ret;
	return head[1] ? -EINVAL : 0;
}

int cmt_arg_put(void __user *uarg, void *arg, size_t ksize)
{
	*(u32 *)arg = ksize;
	return copy_to_user(uarg, arg, ksize) ? -EFAULT : 0;
}
