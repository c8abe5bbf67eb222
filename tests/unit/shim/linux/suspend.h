/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SUSPEND_H
#define SHIM_LINUX_SUSPEND_H

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

#define register_pm_notifier(nb)	((void)(nb), 0)
#define unregister_pm_notifier(nb)	((void)(nb))

#endif
