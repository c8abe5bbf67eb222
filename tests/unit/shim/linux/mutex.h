/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

#include <assert.h>
#include <stdbool.h>

/* As a lock of linux/spinlock.h */
struct mutex {
	bool held;
};

#define DEFINE_MUTEX(name)	struct mutex name

static inline void mutex_lock(struct mutex *mutex)
{
	assert(!mutex->held);
	mutex->held = true;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	assert(mutex->held);
	mutex->held = false;
}

#endif
