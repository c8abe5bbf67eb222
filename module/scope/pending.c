// SPDX-License-Identifier: GPL-2.0
/*
 * Pending owners and free RMIDs.  An RMID is given in three steps: it is taken from the
 * pool (G1), its residue is read (G2), and its owner gets it (G3).  The steps have the
 * names of the model that tests/run model explores, tests/model/rmid.pml: C1 and C2 are
 * cpu_own() and cpu_load().  The reading accesses MSRs, so it is made without the owner
 * lock.  If the owner ends meanwhile, the RMID returns to the pool.
 *
 * An RMID leaves limbo when every CPU has looked up its RMID again after the FREE.  One
 * work item asks the CPUs, serves pending owners, and reclaims RMIDs of services: when an
 * owner is pending, when few RMIDs are free, and when processes that run on other CPUs
 * have another owner or RMID.  Any process can cause such changes as often as it wants,
 * so the work item asks every CPU at most once in a limbo (cmt_owners_drain_due()), and an
 * excluded CPU only if another RMID than that of its task is loaded (cmt_cpus_drain()).  It
 * also writes the UPDATEs that were postponed.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "owner/owner.h"
#include "sample/sample.h"
#include "scope.h"

#define SNAPSHOT_CHUNK	16	/* owners visited in one hold of the lock */

static struct hrtimer pending_timer;	/* expires when the work is due */
static void pending_work_fn(struct work_struct *work);
static DECLARE_WORK(pending_work, pending_work_fn);
/* protects stopping, and the start of work and timer */
static DEFINE_RAW_SPINLOCK(stopping_lock);
static bool stopping;

/*
 * Interrupts are off, so the residue is read in this CPU's domain.  *@may_run: set if the
 * owner is not a new one of a probe: its processes may run on any CPU.
 */
static bool serve_one(bool *may_run)
{
	struct cmt_owner *owner;
	struct cmt_rmid *r;
	unsigned long flags;
	u64 residue = 0;
	bool known;

	flags = cmt_owners_lock();
	owner = cmt_owner_take(&r);
	cmt_owners_unlock(flags);
	if (!owner)
		return false;

	known = cmt_sampler_begin(cmt_owner_rmid_number(r), r->generation,
				  &residue);

	flags = cmt_owners_lock();
	r->residual_known = known;
	r->residual_bytes = residue;
	*may_run |= owner->failed || cmt_owner_is_named(owner);
	cmt_owner_give(owner, r);
	cmt_owners_unlock(flags);
	return true;
}

static u32 serve(u32 max, bool *may_run)
{
	unsigned long flags;
	u32 n = 0;

	local_irq_save(flags);
	while (n < max && serve_one(may_run))
		n++;
	local_irq_restore(flags);
	return n;
}

static void queue_now(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stopping_lock, flags);
	if (!stopping)
		queue_work(system_dfl_wq, &pending_work);
	raw_spin_unlock_irqrestore(&stopping_lock, flags);
}

/* Does the timer expire at @at or before? */
static bool is_armed(u64 at)
{
	return hrtimer_is_queued(&pending_timer) &&
	       ktime_to_ns(hrtimer_get_expires(&pending_timer)) <= (s64)at;
}

static void queue_at(u64 at)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stopping_lock, flags);
	if (!stopping && !is_armed(at))
		hrtimer_start(&pending_timer, ns_to_ktime(at),
			      HRTIMER_MODE_ABS_HARD);
	raw_spin_unlock_irqrestore(&stopping_lock, flags);
}

void cmt_pending_later(void)
{
	u64 due = cmt_owners_due();

	if (due <= ktime_get_ns())
		queue_now();
	else if (due != U64_MAX)
		queue_at(due);
}

void cmt_refresh_later(void)
{
	cmt_owners_want_drain();
	cmt_pending_later();
}

/* The owner that is served may be an earlier one than the caller's. */
u32 cmt_pending_serve(u32 max)
{
	bool may_run = false;
	u32 n = serve(max, &may_run);

	if (may_run)
		cmt_refresh_later();
	return n;
}

void cmt_refresh_this_cpu(void)
{
	unsigned long flags;

	local_irq_save(flags);
	cmt_cpu_refresh();
	local_irq_restore(flags);
}

void cmt_rmids_freed(void)
{
	cmt_refresh_this_cpu();
	cmt_pending_later();
}

static enum hrtimer_restart pending_expired(struct hrtimer *timer)
{
	queue_now();
	return HRTIMER_NORESTART;
}

/*
 * Let every CPU load its RMID again, by @refresh, and end the limbo of RMIDs that are loaded
 * on no CPU.
 */
static void drain(void (*refresh)(void))
{
	u64 until = cmt_owners_drain_begin();	/* D1 */

	refresh();				/* D2 */
	cmt_owners_drained(until);		/* D3 */
}

/* Returns whether an owner got or lost an RMID: CPUs must load their RMID again. */
static bool serve_and_reclaim(void)
{
	bool changed = false, may_run = false;

	while (serve(1, &may_run))
		changed = true;
	while (cmt_owners_reclaim())
		changed = true;
	return changed;
}

/* Print the message once each time that RMIDs run out. */
static void warn_pending(void)
{
	static bool warned;
	u32 pending = cmt_owners_pending();

	if (pending && !warned)
		pr_warn_ratelimited("no RMID for %u owners, %u RMIDs have one: pending owners are counted together\n",
				    pending, cmt_owners_active());
	warned = pending;
}

void cmt_pending_run(void)
{
	drain(cmt_cpus_refresh);
	if (serve_and_reclaim())
		drain(cmt_cpus_refresh);
	warn_pending();
	cmt_pending_later();
}

/*
 * RMIDs are given and reclaimed before the drain, so that the CPUs load them in this drain.
 * RMIDs that are given after it are loaded at switches, and by the next drain.
 */
static void pending_work_fn(struct work_struct *work)
{
	u64 now = ktime_get_ns();

	while (cmt_owners_update_postponed(now))
		;
	if (serve_and_reclaim())
		cmt_owners_want_drain();
	if (cmt_owners_drain_due() <= ktime_get_ns()) {
		drain(cmt_cpus_drain);
		/* a probe may give an RMID here */
		cmt_test_delay(msleep, 10);
		if (serve_and_reclaim())
			cmt_owners_want_drain();
	}
	warn_pending();
	cmt_pending_later();
}

/* The rank of a pending owner's class; lower ranks are served first. */
static int fail_class(const struct cmt_record *fail)
{
	if (fail->flags & CMT_F_ATTACHED)
		return 0;
	return fail->flags & CMT_F_SERVICE ? 2 : 1;
}

static int fail_cmp(const void *a, const void *b)
{
	const struct cmt_record *x = a, *y = b;
	int diff = fail_class(x) - fail_class(y);

	if (diff)
		return diff;
	if (x->ts == y->ts)
		return 0;
	return x->ts < y->ts ? -1 : 1;
}

/* Copy a chunk of the pending owners, from owner number @i on. */
static u32 snapshot_chunk(u32 i, struct cmt_record *records, u32 n, u32 room)
{
	unsigned long flags = cmt_owners_lock();
	u32 end = min(i + SNAPSHOT_CHUNK, CMT_NR_OWNERS);

	for (; i < end; i++) {
		const struct cmt_owner *owner = cmt_owner_at(i);

		if (!owner || !owner->pending || i == CMT_OVERFLOW_OWNER)
			continue;
		if (n < room)
			cmt_owner_fill_fail(&records[n], owner);
		n++;
	}
	cmt_owners_unlock(flags);
	return n;
}

/* An owner that is served while the chunks are copied may be missing. */
u32 cmt_pending_snapshot(struct cmt_record *records, u32 room, u64 *as_of)
{
	unsigned long flags;
	u32 i, n = 0;

	for (i = 0; i < CMT_NR_OWNERS; i += SNAPSHOT_CHUNK) {
		n = snapshot_chunk(i, records, n, room);
		cond_resched();
	}
	sort(records, min(n, room), sizeof(*records), fail_cmp, NULL);
	flags = cmt_owners_lock();
	*as_of = cmt_owner_now();
	cmt_owners_unlock(flags);
	return n;
}

int cmt_pending_init(void)
{
	cmt_hrtimer_setup(&pending_timer, pending_expired,
			  HRTIMER_MODE_ABS_HARD);
	return 0;
}

void cmt_pending_stop(void)
{
	raw_spin_lock_irq(&stopping_lock);
	stopping = true;
	raw_spin_unlock_irq(&stopping_lock);

	hrtimer_cancel(&pending_timer);
	cancel_work_sync(&pending_work);
}
