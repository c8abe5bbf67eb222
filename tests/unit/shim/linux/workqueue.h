/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <linux/jiffies.h>

/* For one thread: an item runs when the test, or the code under test, waits for it. */
struct work_struct {
	void (*function)(struct work_struct *work);
	bool queued;
};

struct delayed_work {
	struct work_struct work;
	unsigned long jiffies;	/* until it is queued; 0: there is no timer */
};

#define DECLARE_WORK(name, fn) \
	struct work_struct name = { .function = (fn) }
#define DECLARE_DELAYED_WORK(name, fn) \
	struct delayed_work name = { .work = { .function = (fn) } }

struct workqueue_struct {
	int unused;
};

__attribute__((weak)) struct workqueue_struct shim_queue;

#define system_dfl_wq				(&shim_queue)
#define WQ_UNBOUND				0
#define WQ_HIGHPRI				0
#define WQ_MEM_RECLAIM				0
#define alloc_workqueue(name, flags, most)	(&shim_queue)
#define destroy_workqueue(queue)		((void)(queue))

/* The items that were queued, and those whose timer ran, at any time */
#define SHIM_WORKS	4
__attribute__((weak)) struct work_struct *shim_works[SHIM_WORKS];
__attribute__((weak)) struct delayed_work *shim_delayed[SHIM_WORKS];

/* An item runs: the code has the rights of a thread of the kernel. */
__attribute__((weak)) bool shim_in_work;

#define shim_remember(list, item) do {				\
	size_t i_ = 0;						\
								\
	while ((list)[i_] && (list)[i_] != (item))		\
		if (++i_ == SHIM_WORKS)				\
			abort();				\
	(list)[i_] = (item);					\
} while (0)

static inline bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	bool queues = !work->queued;

	assert(queue);
	work->queued = true;
	shim_remember(shim_works, work);
	return queues;
}

static inline bool flush_work(struct work_struct *work)
{
	bool runs = work->queued;

	work->queued = false;
	if (!runs)
		return false;
	shim_in_work = true;
	work->function(work);
	shim_in_work = false;
	return true;
}

static inline bool cancel_work_sync(struct work_struct *work)
{
	bool was = work->queued;

	work->queued = false;
	return was;
}

static inline bool queue_delayed_work(struct workqueue_struct *queue,
				      struct delayed_work *work, unsigned long jiffies)
{
	assert(queue);
	if (work->work.queued || work->jiffies)
		return false;
	work->work.queued = !jiffies;
	work->jiffies = jiffies;
	shim_remember(shim_delayed, work);
	return true;
}

static inline bool mod_delayed_work(struct workqueue_struct *queue,
				    struct delayed_work *work, unsigned long jiffies)
{
	bool was = work->work.queued || work->jiffies;

	work->work.queued = false;
	work->jiffies = 0;
	queue_delayed_work(queue, work, jiffies);
	return was;
}

static inline bool cancel_delayed_work_sync(struct delayed_work *work)
{
	bool was = work->work.queued || work->jiffies;

	work->work.queued = false;
	work->jiffies = 0;
	return was;
}

/* So much time passes: run what is due then, each item once at most. */
static inline void shim_pass(unsigned long jiffies)
{
	for (size_t i = 0; i < SHIM_WORKS && shim_works[i]; i++)
		flush_work(shim_works[i]);
	for (size_t i = 0; i < SHIM_WORKS && shim_delayed[i]; i++) {
		struct delayed_work *work = shim_delayed[i];

		if (work->jiffies > jiffies) {
			work->jiffies -= jiffies;
			continue;
		}
		work->work.queued |= !!work->jiffies;
		work->jiffies = 0;
		flush_work(&work->work);
	}
}

#endif
