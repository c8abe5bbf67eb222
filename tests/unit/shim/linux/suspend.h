/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SUSPEND_H
#define SHIM_LINUX_SUSPEND_H

#include <stddef.h>

enum {
	PM_HIBERNATION_PREPARE	= 1,
	PM_POST_HIBERNATION	= 2,
	PM_SUSPEND_PREPARE	= 3,
	PM_POST_SUSPEND		= 4,
};

#define NOTIFY_DONE	0

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long action, void *data);
};

/* The block that is registered; a test calls it. */
__attribute__((weak)) struct notifier_block *shim_pm_block;

static inline int register_pm_notifier(struct notifier_block *nb)
{
	shim_pm_block = nb;
	return 0;
}

static inline int unregister_pm_notifier(struct notifier_block *nb)
{
	(void)nb;
	shim_pm_block = NULL;
	return 0;
}

#endif
