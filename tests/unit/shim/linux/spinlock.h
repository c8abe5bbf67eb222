/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <assert.h>
#include <stdbool.h>

/* For one thread: taking a lock that is held is the deadlock it would be. */
typedef struct {
	bool held;
} raw_spinlock_t;

#define DEFINE_RAW_SPINLOCK(name)	raw_spinlock_t name

__attribute__((weak)) unsigned int shim_locks_held;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->held = false;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	assert(!lock->held);
	lock->held = true;
	shim_locks_held++;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	assert(lock->held);
	lock->held = false;
	shim_locks_held--;
}

#define raw_spin_lock_irqsave(lock, flags) do {		\
	(flags) = 0;					\
	raw_spin_lock(lock);				\
} while (0)
#define raw_spin_unlock_irqrestore(lock, flags) do {	\
	(void)(flags);					\
	raw_spin_unlock(lock);				\
} while (0)

#endif
