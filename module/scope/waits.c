// SPDX-License-Identifier: GPL-2.0
/* When it is accounted what tasks wait for a CPU (cpu/wait.h): while a descriptor asks. */
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "scope.h"

/* The time for which waiting is accounted when no descriptor asks for it any more */
#define STAY_MS		2000

static DEFINE_MUTEX(waits_mutex);
static u32 nr_wanting;		/* number of descriptors */
static bool on;

static void leave_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(leave_work, leave_fn);

/* Returns the reason why waiting cannot be accounted, or NULL. */
static const char *accounts_begin(void)
{
	const char *reason = cmt_wait_alloc();

	if (reason)
		return reason;
	if (cmt_probes_add_wakeup()) {
		cmt_wait_free();
		return "no tracepoint of wake-ups";
	}
	cmt_wait_begin();
	return NULL;
}

static void waits_begin(void)
{
	const char *reason = accounts_begin();

	lockdep_assert_held(&waits_mutex);
	cmt_perf_set_waits(reason);
	if (reason)
		return;
	on = true;
	cmt_probes_account_waits(true);
}

static void waits_end(void)
{
	on = false;
	cmt_perf_set_waits("not asked for");
	cmt_probes_account_waits(false);
	cmt_probes_remove_wakeup();
	cmt_wait_free();
}

void cmt_waits_want(bool *wanted_here, bool wants)
{
	mutex_lock(&waits_mutex);
	nr_wanting += wants - *wanted_here;
	*wanted_here = wants;
	if (nr_wanting && !on)
		waits_begin();
	else if (!nr_wanting && on)
		mod_delayed_work(system_dfl_wq, &leave_work,
				 msecs_to_jiffies(STAY_MS));
	mutex_unlock(&waits_mutex);
}

/* A descriptor may change its wants in a loop: so this is late. */
static void leave_fn(struct work_struct *work)
{
	mutex_lock(&waits_mutex);
	if (!nr_wanting && on)
		waits_end();
	mutex_unlock(&waits_mutex);
}

void cmt_waits_stop(void)
{
	cancel_delayed_work_sync(&leave_work);
	if (on)
		waits_end();
}
