// SPDX-License-Identifier: GPL-2.0
/*
 * RMIDs that another agent was seen to use, and the event that queues a scan for them.
 * The event is an irq_work, because a CPU sees an RMID in the switch path, too; scope/
 * has its function.
 */
#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>

#include "hw/hw.h"
#include "owner.h"

static DECLARE_BITMAP(seen, CMT_MAX_RMIDS);
static struct irq_work event;
static bool has_event;		/* between events_begin() and events_end() */

void cmt_foreign_queue_scan(void)
{
	if (READ_ONCE(has_event))
		irq_work_queue(&event);
}

static bool is_possible(u32 rmid)
{
	return rmid != CMT_RMID_NONE && rmid < cmt_caps.nr_rmids;
}

void cmt_foreign_see(u32 rmid)
{
	if (!is_possible(rmid) || test_bit(rmid, seen) ||
	    test_and_set_bit(rmid, seen))
		return;
	if (!cmt_rmid_is_foreign(rmid))
		cmt_foreign_queue_scan();
}

void cmt_foreign_note(u32 rmid)
{
	if (is_possible(rmid))
		set_bit(rmid, seen);
}

bool cmt_foreign_was_seen(u32 rmid)
{
	return test_bit(rmid, seen);
}

void cmt_foreign_forget(u32 rmid)
{
	clear_bit(rmid, seen);
}

void cmt_foreign_events_begin(void (*scan)(struct irq_work *event))
{
	/* hard: on PREEMPT_RT a real-time task may keep a CPU from other irq_works */
	event = IRQ_WORK_INIT_HARD(scan);
	WRITE_ONCE(has_event, true);
}

/* The event is queued with interrupts off, so after RCU's grace period it is not any more. */
void cmt_foreign_events_end(void)
{
	WRITE_ONCE(has_event, false);
	synchronize_rcu();
	irq_work_sync(&event);
}
