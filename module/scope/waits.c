// SPDX-License-Identifier: GPL-2.0
/* When it is accounted what tasks wait for a CPU (cpu/wait.h): while a descriptor asks. */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "scope.h"

/* The time for which waiting is accounted when no descriptor asks for it any more */
#define STAY_MS		2000

/* Until the next attempt, where it could not be accounted for a moment */
#define RETRY_MS	1000

static DEFINE_RAW_SPINLOCK(waits_lock);
static u32 nr_wanting;		/* number of descriptors; written with the lock */
static bool on;			/* the work item's */

static void waits_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(waits_work, waits_fn);

static void accounts_end(void)
{
	cmt_probes_account_waits(false);
	cmt_probes_remove_wakeup();
	cmt_wait_free();
}

/*
 * *@reason: why waiting cannot be accounted, or NULL.  0; -ENOENT: not by this kernel; another
 * error: not now.
 */
static int accounts_begin(const char **reason)
{
	int ret;

	*reason = cmt_wait_alloc();
	if (*reason)
		return CMT_WAIT_REASON[0] ? -ENOENT : -ENOMEM;
	ret = cmt_probes_add_wakeup();
	if (ret) {
		*reason = "no tracepoint of wake-ups";
		cmt_wait_free();
		return ret;
	}
	cmt_wait_begin();
	ret = cmt_probes_account_waits(true);
	if (ret) {
		*reason = "no tracepoint of switches";
		accounts_end();
	}
	return ret;
}

static void waits_begin(void)
{
	const char *reason;
	int ret = accounts_begin(&reason);

	on = !ret;
	cmt_perf_set_waits(reason);
	if (ret && ret != -ENOENT)
		queue_delayed_work(system_dfl_wq, &waits_work,
				   msecs_to_jiffies(RETRY_MS));
}

static void waits_end(void)
{
	on = false;
	cmt_perf_set_waits("not asked for");
	accounts_end();
}

static void waits_fn(struct work_struct *work)
{
	bool wanted = READ_ONCE(nr_wanting);

	if (wanted && !on)
		waits_begin();
	else if (!wanted && on)
		waits_end();
}

/*
 * A descriptor may change its wants in a loop: so the end is late.  A caller may get no CPU
 * for long: so it holds nothing while it sleeps, and leaves the change to the work item.
 */
void cmt_waits_want(bool *wanted_here, bool wants)
{
	raw_spin_lock(&waits_lock);
	WRITE_ONCE(nr_wanting, nr_wanting + wants - *wanted_here);
	*wanted_here = wants;
	if (wants)
		mod_delayed_work(system_dfl_wq, &waits_work, 0);
	else if (!nr_wanting)
		mod_delayed_work(system_dfl_wq, &waits_work,
				 msecs_to_jiffies(STAY_MS));
	raw_spin_unlock(&waits_lock);
	/* not flush_delayed_work(): another thread may have put it off, for the end */
	if (wants)
		flush_work(&waits_work.work);
}

void cmt_waits_stop(void)
{
	cancel_delayed_work_sync(&waits_work);
	if (on)
		waits_end();
}
