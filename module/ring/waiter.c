// SPDX-License-Identifier: GPL-2.0
/*
 * A waiter that is not due and has a sleeper on its wait queue is armed: the waiter
 * is in armed_waiters, and in every ring cmt_due.at is not above the head at
 * which the waiter is due.  The writer of a ring compares the ring's head with
 * cmt_due.at.  A head at or past cmt_due.at disarms the ring (U64_MAX), marks it as
 * fired, and queues due_work.  due_work wakes the armed waiters that are due in that
 * ring, and arms the ring for the other waiters.  A waiter that is armed in between arms
 * the ring again, and leaves the mark.
 *
 * An irq_work queues due_work, because the writer may hold any lock.  due_work
 * runs in process context, because user space decides how many waiters there are.
 * A waiter leaves armed_waiters only when its wait queue is woken, or at its end, and is
 * freed by RCU, so that its wait queue is woken without the lock.
 *
 * A reader may get no CPU for long, also where the kernel is preemptible: so it holds the
 * lock for a change of the list only.
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "ring.h"

DEFINE_PER_CPU(struct cmt_due, cmt_due) = { .at = U64_MAX };

static void due_wake(struct work_struct *work);

static DEFINE_PER_CPU(struct irq_work, due_irqs);
static DECLARE_WORK(due_work, due_wake);

static LIST_HEAD(armed_waiters);
static DEFINE_RAW_SPINLOCK(armed_lock);	/* cmt_waiter.armed */

static u64 ring_head(unsigned int cpu)
{
	return READ_ONCE(per_cpu(cmt_due, cpu).header->head);
}

/* Racy: a change of seen or watermark is followed by cmt_waiter_changed(). */
static u64 due_at(const struct cmt_waiter *waiter, unsigned int cpu)
{
	return READ_ONCE(waiter->seen[cpu]) + READ_ONCE(waiter->watermark);
}

static bool waiter_is_due(const struct cmt_waiter *waiter)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (ring_head(cpu) >= due_at(waiter, cpu))
			return true;
	return false;
}

/*
 * For a waiter in armed_waiters.  A writer may disarm the ring meanwhile; due_work arms the
 * ring again.
 */
static void ring_arm(unsigned int cpu, u64 head)
{
	u64 *at = &per_cpu(cmt_due, cpu).at;
	u64 old = READ_ONCE(*at);

	while (head < old && !try_cmpxchg(at, &old, head))
		;
}

/*
 * Returns whether the waiter is due by now.  due_work may wake the waiter meanwhile: then
 * the rings are armed for nothing.
 */
static bool waiter_arm(struct cmt_waiter *waiter)
{
	unsigned int cpu;

	raw_spin_lock(&armed_lock);
	if (list_empty(&waiter->armed))
		list_add_tail(&waiter->armed, &armed_waiters);
	raw_spin_unlock(&armed_lock);
	for_each_possible_cpu(cpu)
		ring_arm(cpu, due_at(waiter, cpu));
	/* pairs with smp_mb() in cmt_waiters_check(): at, then head */
	smp_mb();
	return waiter_is_due(waiter);
}

static void waiter_wake(struct cmt_waiter *waiter)
{
	raw_spin_lock(&armed_lock);
	list_del_init(&waiter->armed);
	raw_spin_unlock(&armed_lock);
	wake_up_poll(&waiter->queue, EPOLLIN | EPOLLRDNORM);
}

/*
 * Where no waiter is armed, an old cmt_due.at would queue due_work for nothing.  A waiter is
 * in the list before it arms the rings.
 */
static void rings_disarm(void)
{
	unsigned int cpu;
	bool none = true;

	for_each_possible_cpu(cpu) {
		raw_spin_lock(&armed_lock);
		none = list_empty(&armed_waiters);
		if (none && READ_ONCE(per_cpu(cmt_due, cpu).at) != U64_MAX)
			WRITE_ONCE(per_cpu(cmt_due, cpu).at, U64_MAX);
		raw_spin_unlock(&armed_lock);
		if (!none)
			break;
	}
}

/* The first one of @unseen, which goes back to armed_waiters.  Under RCU. */
static struct cmt_waiter *waiter_next(struct list_head *unseen)
{
	struct cmt_waiter *waiter;

	raw_spin_lock(&armed_lock);
	waiter = list_first_entry_or_null(unseen, struct cmt_waiter, armed);
	if (waiter)
		list_move_tail(&waiter->armed, &armed_waiters);
	raw_spin_unlock(&armed_lock);
	return waiter;
}

static void waiter_wake_or_arm(struct cmt_waiter *waiter, unsigned int cpu)
{
	u64 at = due_at(waiter, cpu);

	if (ring_head(cpu) < at) {
		ring_arm(cpu, at);
		/* pairs with smp_mb() in cmt_waiters_check() */
		smp_mb();
	}
	if (ring_head(cpu) >= at)
		waiter_wake(waiter);
}

/*
 * The ring has fired: wake the waiters that are due, arm it for the others.  A waiter that
 * is armed meanwhile arms the ring itself.
 */
static void ring_wake(unsigned int cpu)
{
	struct cmt_waiter *waiter;
	LIST_HEAD(unseen);

	raw_spin_lock(&armed_lock);
	list_splice_init(&armed_waiters, &unseen);
	raw_spin_unlock(&armed_lock);
	do {
		rcu_read_lock();
		waiter = waiter_next(&unseen);
		if (waiter)
			waiter_wake_or_arm(waiter, cpu);
		rcu_read_unlock();
		cond_resched();
	} while (waiter);
}

static void due_wake(struct work_struct *work)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu(cmt_due, cpu).fired) &&
		    xchg(&per_cpu(cmt_due, cpu).fired, false))
			ring_wake(cpu);
	rings_disarm();
}

static void due_irq(struct irq_work *work)
{
	queue_work(system_dfl_wq, &due_work);
}

void cmt_waiters_due(unsigned int cpu)
{
	WRITE_ONCE(per_cpu(cmt_due, cpu).at, U64_MAX);
	/* due_wake() sees this: queue_work() orders, also when due_work is queued */
	WRITE_ONCE(per_cpu(cmt_due, cpu).fired, true);
	irq_work_queue(&per_cpu(due_irqs, cpu));
}

void cmt_waiters_check_cpu(unsigned int cpu, u64 head)
{
	/* as in cmt_waiters_check() */
	smp_mb();
	if (head >= READ_ONCE(per_cpu(cmt_due, cpu).at))
		cmt_waiters_due(cpu);
}

/* Without a sleeper there is nothing to wake: a later sleeper polls again. */
bool cmt_waiter_poll(struct cmt_waiter *waiter)
{
	bool due = waiter_is_due(waiter);

	/* pairs with cmt_waiter_changed(): the queue, then the watermark */
	if (due || !wq_has_sleeper(&waiter->queue))
		return due;
	return waiter_arm(waiter);
}

void cmt_waiter_changed(struct cmt_waiter *waiter)
{
	/* pairs with cmt_waiter_poll(): the watermark, then the queue */
	if (!wq_has_sleeper(&waiter->queue))
		return;
	if (waiter_arm(waiter))
		waiter_wake(waiter);
}

u64 cmt_waiter_take(struct cmt_waiter *waiter)
{
	unsigned int cpu;
	u64 records = 0;

	mutex_lock(&waiter->lock);
	if (waiter_is_due(waiter)) {
		for_each_possible_cpu(cpu) {
			u64 head = ring_head(cpu);

			records += head - waiter->seen[cpu];
			WRITE_ONCE(waiter->seen[cpu], head);
		}
	}
	mutex_unlock(&waiter->lock);
	return records;
}

struct cmt_waiter *cmt_waiter_new(void)
{
	struct cmt_waiter *waiter;
	unsigned int cpu;

	waiter = kvzalloc(struct_size(waiter, seen, nr_cpu_ids),
			  GFP_KERNEL_ACCOUNT);
	if (!waiter)
		return NULL;
	init_waitqueue_head(&waiter->queue);
	INIT_LIST_HEAD(&waiter->armed);
	mutex_init(&waiter->lock);
	waiter->watermark = 1;
	for_each_possible_cpu(cpu)
		waiter->seen[cpu] = ring_head(cpu);
	return waiter;
}

void cmt_waiter_free(struct cmt_waiter *waiter)
{
	raw_spin_lock(&armed_lock);
	list_del_init(&waiter->armed);	/* due_work may be about to do the same */
	raw_spin_unlock(&armed_lock);
	mutex_destroy(&waiter->lock);
	kvfree_rcu(waiter, rcu);
}

void cmt_waiters_init(void)
{
	unsigned int cpu;

	/* hard: on PREEMPT_RT a CPU that goes offline keeps other irq_works */
	for_each_possible_cpu(cpu) {
		per_cpu(cmt_due, cpu).header = per_cpu(cmt_rings, cpu).header;
		per_cpu(due_irqs, cpu) = IRQ_WORK_INIT_HARD(due_irq);
	}
}

void cmt_waiters_stop(void)
{
	unsigned int cpu;

	rings_disarm();
	/* every writer that saw an armed ring has queued the irq_work */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(due_irqs, cpu));
	cancel_work_sync(&due_work);
}
