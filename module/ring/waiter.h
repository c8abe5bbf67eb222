/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiters: open descriptors, and what poll(), epoll and a blocking read() wait
 * for.  A waiter is due when one ring has the watermark's number of records more
 * than at the descriptor's last read().
 */
#ifndef CMT_WAITER_H
#define CMT_WAITER_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <asm/barrier.h>

struct cmt_waiter {
	wait_queue_head_t queue;
	struct list_head armed;	/* in armed_waiters, protected by armed_lock */
	struct rcu_head rcu;
	struct mutex lock;	/* serialises cmt_waiter_take() */
	u32 watermark;
	u64 seen[];		/* by CPU: head at the last read() */
};

/*
 * One per ring, in a separate cache line: readers write and ticks read it, and ticks do
 * not write to this line before a waiter is due.
 */
struct cmt_due {
	u64 at;			/* head at which a waiter is due; U64_MAX: none */
	bool fired;		/* at was reached, and due_wake() has not run since */
	const struct cmt_ring_header *header;	/* constant; struct cmt_ring is not */
} ____cacheline_aligned_in_smp;

DECLARE_PER_CPU(struct cmt_due, cmt_due);

/* NULL: no memory.  Records written before this call count as read. */
struct cmt_waiter *cmt_waiter_new(void);

/* The wait queue is empty. */
void cmt_waiter_free(struct cmt_waiter *waiter);

/* Is @waiter due?  If not, the wait queue is woken when @waiter becomes due. */
bool cmt_waiter_poll(struct cmt_waiter *waiter);

/*
 * The records written to all rings since the last call.  0: @waiter is not due, and
 * nothing has changed.
 */
u64 cmt_waiter_take(struct cmt_waiter *waiter);

/* read() or a new watermark has changed the head at which @waiter is due. */
void cmt_waiter_changed(struct cmt_waiter *waiter);

/* The head of @cpu's ring is at or past cmt_due.at.  Any context. */
void cmt_waiters_due(unsigned int cpu);

/* After records were written to the ring of a dead CPU. */
void cmt_waiters_check_cpu(unsigned int cpu, u64 head);

/*
 * After records were written to this CPU's ring, whose head is @head.  Costs one
 * load while no waiter is armed.  Interrupts off.
 */
static inline void cmt_waiters_check(u64 head)
{
	/* pairs with smp_mb() in waiter_arm() and ring_wake(): head, then at */
	smp_mb();
	if (unlikely(head >= this_cpu_read(cmt_due.at)))
		cmt_waiters_due(smp_processor_id());
}

/* All rings have a header, and there are no descriptors yet, or any more. */
void cmt_waiters_init(void);
void cmt_waiters_stop(void);

#endif
