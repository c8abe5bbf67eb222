// SPDX-License-Identifier: GPL-2.0
/*
 * RMIDs that another agent was seen to use: anybody sets a bit.  What follows
 * from it is evict.c's.
 */
#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "owner.h"

/* How often one looks whether others still use what they used. */
#define FOREIGN_LOOK	HZ

unsigned long cmt_foreign[BITS_TO_LONGS(CMT_MAX_RMIDS)];
static struct irq_work foreign_noticed;
static struct delayed_work foreign_work;

bool cmt_foreign_is(u32 rmid)
{
	return rmid >= cmt_caps.nr_rmids || test_bit(rmid, cmt_foreign);
}

void cmt_foreign_seen(u32 rmid)
{
	if (rmid == CMT_RMID_NONE || rmid >= cmt_caps.nr_rmids)
		return;
	if (!test_bit(rmid, cmt_foreign) && !test_and_set_bit(rmid, cmt_foreign))
		irq_work_queue(&foreign_noticed);
}

static void notice(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &foreign_work, 0);
}

void cmt_foreign_look_again(void)
{
	if (!bitmap_empty(cmt_foreign, cmt_caps.nr_rmids))
		queue_delayed_work(system_unbound_wq, &foreign_work,
				   FOREIGN_LOOK);
}

void cmt_foreign_init(work_func_t look)
{
	foreign_noticed = IRQ_WORK_INIT(notice);
	INIT_DELAYED_WORK(&foreign_work, look);
}

void cmt_foreign_stop(void)
{
	irq_work_sync(&foreign_noticed);
	cancel_delayed_work_sync(&foreign_work);
}
