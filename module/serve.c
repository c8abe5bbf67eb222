// SPDX-License-Identifier: GPL-2.0
/*
 * Those who found no RMID.  Objects stand in two lines, processes are marked in
 * the table and found by a walk (docs/decisions/0005-waiting-by-walk.md).
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"

static struct hrtimer serve_timer;	/* when the next limbo ends */
static struct work_struct serve_work;
static u64 last_serve;			/* cmt_owner_lock */
static bool stopping;			/* the same */

/*
 * Look again when the next limbo ends, but not more often than every limbo
 * time, for one who waits may be dying and take its time.
 */
void cmt_serve_later(void)
{
	unsigned long flags;
	u64 next = U64_MAX;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	if (cmt_owner_waiting() && !stopping)
		next = cmt_owner_next_free();
	if (next != U64_MAX)
		next = max(next, last_serve + CMT_LIMBO_NS);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (next != U64_MAX && !hrtimer_is_queued(&serve_timer))
		hrtimer_start(&serve_timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart serve_expired(struct hrtimer *timer)
{
	queue_work(system_unbound_wq, &serve_work);
	return HRTIMER_NORESTART;
}

/* Objects first; returns whether one of them got an RMID. */
static bool serve_objects(void)
{
	struct cmt_object *object;
	struct cmt_rmid *r;
	unsigned long flags;
	bool given = false;

	do {
		raw_spin_lock_irqsave(&cmt_owner_lock, flags);
		object = cmt_object_first_waiting();
		r = object ? cmt_owner_take() : NULL;
		if (r)
			cmt_object_give(object, r);
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
		given |= !!r;
	} while (r);
	return given;
}

static void serve(struct work_struct *work)
{
	unsigned long flags;
	bool given;

	mutex_lock(&cmt_scope_mutex);
	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	last_serve = ktime_get_ns();
	cmt_owner_take_rest();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	given = serve_objects();
	/* those behind the first that goes on waiting are younger */
	if (cmt_place_all(!given) || given)
		cmt_cpus_refresh();
	mutex_unlock(&cmt_scope_mutex);
	cmt_serve_later();
}

void cmt_serve_warn(const char *kind, u64 id, const char *comm)
{
	pr_warn_ratelimited("no RMID for %s %llu (%.15s): %u have an owner, %u wait\n",
			    kind, id, comm, cmt_owners_active(),
			    cmt_owner_waiting());
	cmt_serve_later();
}

/* It waits since its birth, or since processes are owners. */
static void fill_process(struct cmt_record *record, struct task_struct *leader)
{
	u64 since = max(leader->start_time, cmt_scope_since());

	cmt_place_fill_fail(record, since, leader);
}

u32 cmt_waiting_snapshot(struct cmt_record *records, u32 room, u64 *as_of)
{
	struct task_struct *leader;
	unsigned long flags;
	u32 n;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	n = cmt_objects_waiting(records, room);
	*as_of = cmt_owner_now();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	rcu_read_lock();
	for_each_process(leader) {
		raw_spin_lock_irqsave(&cmt_owner_lock, flags);
		if (cmt_table_get(leader->tgid) == CMT_WAITS_ALONE) {
			if (n < room)
				fill_process(&records[n], leader);
			n++;
		}
		raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	}
	rcu_read_unlock();
	return n;
}

void cmt_serve_init(void)
{
	cmt_hrtimer_setup(&serve_timer, serve_expired, HRTIMER_MODE_ABS_HARD);
	INIT_WORK(&serve_work, serve);
}

void cmt_serve_stop(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	stopping = true;
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	/* a serve() under way may have started the timer again, just before */
	hrtimer_cancel(&serve_timer);
	cancel_work_sync(&serve_work);
	hrtimer_cancel(&serve_timer);
	cancel_work_sync(&serve_work);
}
