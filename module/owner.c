// SPDX-License-Identifier: GPL-2.0
/*
 * An owner is a process (scope CMT_SCOPE_PROCESS): the table below says, for a
 * thread group id, which RMID it has.  The table is indexed by the id itself,
 * so that the switch path needs one load, no lock and no retry; the choice is
 * explained in docs/decisions/0003-owner-table.md.
 *
 * A process is admitted where it first shows: in its fork, or, for those that
 * were there before and those that found no RMID, in a walk over all
 * processes (cmt_owners_adopt()).  Both go through owner_admit() under one
 * lock, so it does not matter which of them sees a process first, and a dying
 * process is recognised there by its count of live threads: do_exit()
 * decrements it before the exit probe takes the lock, so either the probe
 * finds the RMID that was given and frees it, or owner_admit() finds no live
 * thread and gives none.
 */
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "compat.h"
#include "rmid.h"

/* In the table: a process that found no RMID and waits for one. */
#define OWNER_WAITING	U16_MAX

/* With fewer RMIDs, none is kept for those who wait. */
#define REST_MIN_RMIDS	8

/* How often one looks whether others still use what they used. */
#define FOREIGN_LOOK	HZ

static u16 *owner_table;	/* by tgid: RMID, OWNER_WAITING or 0 */

static DEFINE_RAW_SPINLOCK(owner_lock);	/* all below, and writes to the table */
static struct cmt_pool pool;
static u64 last_ts;		/* of the last lifecycle record */
static u64 last_serve;		/* when the last walk began */
static u32 waiting;
static u32 rest;		/* the RMID of all who wait; 0: there is none */
static u64 allocs;
static u64 frees;
static u64 alloc_fails;
static u64 served;

/*
 * RMIDs that another agent was seen to use.  Anybody sets a bit; foreign_work
 * takes them out of the pool, looks every second which are still in use, and
 * clears the bits of the others.
 */
static unsigned long foreign[BITS_TO_LONGS(CMT_MAX_RMIDS)];
static struct irq_work foreign_noticed;
static struct delayed_work foreign_work;

/* Serves those who wait, when the next limbo ends. */
static struct hrtimer serve_timer;
static struct work_struct serve_work;
static bool stopping;

u32 cmt_owner_rmid(const struct task_struct *task)
{
	u16 rmid = READ_ONCE(owner_table[task->tgid]);

	return unlikely(rmid == OWNER_WAITING) ? READ_ONCE(rest) : rmid;
}

bool cmt_owner_is_rest(u32 rmid)
{
	return rmid == READ_ONCE(rest);
}

u32 cmt_owner_generation(u32 rmid)
{
	return READ_ONCE(pool.live[rmid]);
}

const unsigned long *cmt_owner_readable(void)
{
	return pool.readable;
}

u64 cmt_owner_since(u32 rmid)
{
	return READ_ONCE(pool.rmids[rmid].since);
}

/*
 * The time of a lifecycle event.  Taken under the lock and never twice, so that
 * the order of time is the order of events, whichever rings they go to.
 */
static u64 owner_now(void)
{
	lockdep_assert_held(&owner_lock);
	last_ts = max(ktime_get_ns(), last_ts + 1);
	return last_ts;
}

static void owner_fill(struct cmt_record *record, u16 type, u64 ts,
		       const struct cmt_rmid *r)
{
	memset(record, 0, sizeof(*record));
	record->ts = ts;
	record->type = type;
	record->flags = cmt_caps.record_flags | r->flags;
	if (r->residual_known)
		record->flags |= CMT_F_RESIDUAL;
	record->rmid = cmt_pool_number(&pool, r);
	record->generation = r->generation;
	record->tgid = r->tgid;
	record->domain = r->domain;
	record->owner.cgroup_id = r->cgroup_id;
	record->owner.residual_bytes = r->residual_bytes;
	memcpy(record->owner.comm, r->comm, CMT_COMM_LEN);
}

static void owner_emit(u16 type, u64 ts, const struct cmt_rmid *r)
{
	struct cmt_record record;

	owner_fill(&record, type, ts, r);
	cmt_emit(&record);
}

static u64 owner_cgroup(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

/* No RMID of its own: say so once, and remember that the process waits. */
static void owner_queue(struct task_struct *leader)
{
	struct cmt_record record = {
		.ts = owner_now(),
		.type = CMT_REC_ALLOC_FAIL,
		.flags = cmt_caps.record_flags,
		.rmid = rest,
		.generation = cmt_owner_generation(rest),
		.tgid = leader->tgid,
		.domain = cmt_cpu_domain_id(),
		.owner.cgroup_id = owner_cgroup(leader),
	};

	WRITE_ONCE(owner_table[leader->tgid], OWNER_WAITING);
	waiting++;
	alloc_fails++;
	strscpy_pad(record.owner.comm, leader->comm, CMT_COMM_LEN);
	cmt_emit(&record);
}

/* Whose it is is known: from here on the RMID is read. */
static void owner_begin(struct cmt_rmid *r)
{
	r->domain = cmt_cpu_domain_id();
	r->residual_known = cmt_sampler_begin(cmt_pool_number(&pool, r),
					      r->generation,
					      &r->residual_bytes);
	cmt_pool_publish(&pool, r);
	allocs++;
	owner_emit(CMT_REC_ALLOC, r->since, r);
}

static void owner_give(struct task_struct *leader, struct cmt_rmid *r)
{
	r->tgid = leader->tgid;
	r->cgroup_id = owner_cgroup(leader);
	strscpy_pad(r->comm, leader->comm, CMT_COMM_LEN);
	owner_begin(r);
	WRITE_ONCE(owner_table[leader->tgid], cmt_pool_number(&pool, r));
}

/*
 * All who wait run under one RMID of their own, so that what they hold shows.
 * Where RMIDs are very few, one is not worth that: those who wait have RMID 0.
 */
static void owner_take_rest(void)
{
	struct cmt_rmid *r = NULL;

	lockdep_assert_held(&owner_lock);
	if (!rest && pool.nr >= REST_MIN_RMIDS)
		r = cmt_pool_alloc(&pool, owner_now());
	if (!r)
		return;
	r->flags = CMT_F_OWNER_REST;
	strscpy_pad(r->comm, "rest", CMT_COMM_LEN);
	owner_begin(r);
	WRITE_ONCE(rest, cmt_pool_number(&pool, r));
}

enum admission {
	ADMIT_NOTHING,		/* it has an RMID, or is dying */
	ADMIT_GIVEN,
	ADMIT_QUEUED,		/* found none and waits from now on */
	ADMIT_WAITS,		/* waited before, and still does */
};

/*
 * Give a process its RMID.  @walk: called for all processes in the order of
 * their age, so that who has waited longest is served first; a fork has to
 * stand in line behind those who wait.
 */
static enum admission owner_admit(struct task_struct *leader, bool walk)
{
	u16 old = owner_table[leader->tgid];
	struct cmt_rmid *r = NULL;

	lockdep_assert_held(&owner_lock);
	if (old && old != OWNER_WAITING)
		return ADMIT_NOTHING;
	if (!atomic_read(&leader->signal->live))
		return ADMIT_NOTHING;

	if (walk || !waiting)
		r = cmt_pool_alloc(&pool, owner_now());
	if (!r && old)
		return ADMIT_WAITS;
	if (!r) {
		owner_queue(leader);
		return ADMIT_QUEUED;
	}
	if (old) {
		waiting--;
		served++;
	}
	owner_give(leader, r);
	return ADMIT_GIVEN;
}

/*
 * Somebody waits: look again when the next limbo ends, but not more often than
 * every limbo time, for one who waits may be dying and take its time.
 */
static void owner_serve_later(void)
{
	unsigned long flags;
	u64 next = U64_MAX;

	raw_spin_lock_irqsave(&owner_lock, flags);
	if (waiting && !stopping)
		next = pool.nr_free ? 0 : cmt_pool_next_settle(&pool);
	if (next != U64_MAX)
		next = max(next, last_serve + CMT_LIMBO_NS);
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	if (next != U64_MAX && !hrtimer_is_queued(&serve_timer))
		hrtimer_start(&serve_timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart serve_expired(struct hrtimer *timer)
{
	queue_work(system_unbound_wq, &serve_work);
	return HRTIMER_NORESTART;
}

static enum admission owner_adopt(struct task_struct *leader)
{
	enum admission admission;
	unsigned long flags;

	if (leader->flags & PF_KTHREAD)
		return ADMIT_NOTHING;
	raw_spin_lock_irqsave(&owner_lock, flags);
	admission = owner_admit(leader, true);
	raw_spin_unlock_irqrestore(&owner_lock, flags);
	return admission;
}

void cmt_owners_adopt(void)
{
	enum admission admission;
	struct task_struct *leader;
	bool given = false;

	unsigned long flags;

	WRITE_ONCE(last_serve, ktime_get_ns());
	raw_spin_lock_irqsave(&owner_lock, flags);
	owner_take_rest();
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	rcu_read_lock();
	for_each_process(leader) {
		admission = owner_adopt(leader);
		given |= admission == ADMIT_GIVEN;
		/* those behind are younger, so they wait too */
		if (admission == ADMIT_WAITS)
			break;
	}
	rcu_read_unlock();

	if (given)
		cmt_cpus_refresh();
	owner_serve_later();
}

static void serve(struct work_struct *work)
{
	cmt_owners_adopt();
}

void cmt_owner_fork(struct task_struct *parent, struct task_struct *child)
{
	enum admission admission;
	unsigned long flags;

	if (!thread_group_leader(child) || child->flags & PF_KTHREAD)
		return;
	cmt_resctrl_fork(child, cmt_owner_rmid(parent));

	raw_spin_lock_irqsave(&owner_lock, flags);
	admission = owner_admit(child, false);
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	if (admission != ADMIT_QUEUED)
		return;
	pr_warn_ratelimited("no RMID for process %d (%s): %u have an owner, %u processes wait\n",
			    child->tgid, child->comm, READ_ONCE(pool.nr_active),
			    READ_ONCE(waiting));
	owner_serve_later();
}

/* Nobody is told any more to run under it, but on other CPUs some still may. */
static void owner_free(u32 rmid, u64 now)
{
	if (cmt_pool_free(&pool, rmid, now))
		return;
	frees++;
	owner_emit(CMT_REC_FREE, now, &pool.rmids[rmid]);
	cmt_cpu_refresh();
}

/* From here on the process has no RMID and does not wait for one. */
static void owner_release(u32 tgid)
{
	u16 rmid = owner_table[tgid];
	u64 now = owner_now();

	WRITE_ONCE(owner_table[tgid], 0);
	if (rmid == OWNER_WAITING)
		waiting--;
	else if (rmid)
		owner_free(rmid, now);
}

void cmt_owner_exit(struct task_struct *task)
{
	unsigned long flags;

	if (atomic_read(&task->signal->live))
		return;
	raw_spin_lock_irqsave(&owner_lock, flags);
	owner_release(task->tgid);
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	if (READ_ONCE(waiting))
		owner_serve_later();
}

void cmt_owner_foreign(u32 rmid)
{
	if (rmid == CMT_RMID_NONE || rmid >= cmt_caps.nr_rmids)
		return;
	if (!test_bit(rmid, foreign) && !test_and_set_bit(rmid, foreign))
		irq_work_queue(&foreign_noticed);
}

static void notice_foreign(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &foreign_work, 0);
}

/* What the process had of its RMID ends here, and it stands in line for another. */
static void owner_evict(u32 tgid)
{
	struct task_struct *leader;

	lockdep_assert_held(&owner_lock);
	owner_release(tgid);
	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		owner_admit(leader, true);
	rcu_read_unlock();
}

/* Those who wait get another RMID in common, or have none until one is free. */
static void owner_evict_rest(void)
{
	u64 now = owner_now();
	u32 old = rest;

	WRITE_ONCE(rest, CMT_RMID_NONE);
	owner_free(old, now);
	owner_take_rest();
}

/* Take an RMID out of the pool; returns whether somebody had to leave it. */
static bool foreign_begin(u32 rmid, u32 *tgid)
{
	struct cmt_rmid *r = &pool.rmids[rmid];
	unsigned long flags;
	bool active;

	raw_spin_lock_irqsave(&owner_lock, flags);
	active = r->state == CMT_RMID_ACTIVE;
	*tgid = r->tgid;
	if (active && rmid == rest)
		owner_evict_rest();
	else if (active)
		owner_evict(*tgid);
	cmt_pool_exclude(&pool, rmid);
	raw_spin_unlock_irqrestore(&owner_lock, flags);
	return active;
}

static void foreign_end(u32 rmid)
{
	unsigned long flags;

	clear_bit(rmid, foreign);
	raw_spin_lock_irqsave(&owner_lock, flags);
	cmt_pool_include(&pool, rmid, owner_now());
	raw_spin_unlock_irqrestore(&owner_lock, flags);
}

static bool is_foreign(u32 rmid)
{
	return READ_ONCE(pool.rmids[rmid].state) == CMT_RMID_FOREIGN;
}

/* Only here do RMIDs become FOREIGN and cease to be. */
static void settle_foreign(struct work_struct *work)
{
	DECLARE_BITMAP(seen, CMT_MAX_RMIDS) = {};
	u32 rmid, tgid;

	cmt_resctrl_scan(seen);
	bitmap_or(foreign, foreign, seen, CMT_MAX_RMIDS);

	for_each_set_bit(rmid, foreign, pool.nr) {
		if (is_foreign(rmid) && !test_bit(rmid, seen))
			foreign_end(rmid);
		if (is_foreign(rmid) || !test_bit(rmid, foreign))
			continue;
		if (!foreign_begin(rmid, &tgid))
			continue;
		pr_notice_ratelimited("RMID %u is in use by resctrl or another agent: process %u had to give it up\n",
				      rmid, tgid);
		cmt_resctrl_withdraw(tgid, rmid);
		cmt_cpus_refresh();
	}
	owner_serve_later();
	if (!bitmap_empty(foreign, pool.nr))
		queue_delayed_work(system_unbound_wq, &foreign_work,
				   FOREIGN_LOOK);
}

/* What is known of the RMID that is this process's own, or NULL. */
static struct cmt_rmid *owner_of(const struct task_struct *task)
{
	u16 rmid = owner_table[task->tgid];

	lockdep_assert_held(&owner_lock);
	return rmid && rmid != OWNER_WAITING ? &pool.rmids[rmid] : NULL;
}

void cmt_owner_rename(struct task_struct *task, const char *comm)
{
	char name[CMT_COMM_LEN];
	struct cmt_rmid *r;
	unsigned long flags;

	if (!thread_group_leader(task))
		return;
	strscpy_pad(name, comm, sizeof(name));

	raw_spin_lock_irqsave(&owner_lock, flags);
	r = owner_of(task);
	if (r && memcmp(r->comm, name, sizeof(name))) {
		memcpy(r->comm, name, sizeof(name));
		owner_emit(CMT_REC_UPDATE, owner_now(), r);
	}
	raw_spin_unlock_irqrestore(&owner_lock, flags);
}

void cmt_owner_move(struct task_struct *task, u64 cgroup_id)
{
	struct cmt_rmid *r;
	unsigned long flags;

	if (!thread_group_leader(task))
		return;

	raw_spin_lock_irqsave(&owner_lock, flags);
	r = owner_of(task);
	if (r && r->cgroup_id != cgroup_id) {
		r->cgroup_id = cgroup_id;
		owner_emit(CMT_REC_UPDATE, owner_now(), r);
	}
	raw_spin_unlock_irqrestore(&owner_lock, flags);
}

static int record_cmp(const void *a, const void *b)
{
	const struct cmt_record *x = a, *y = b;

	if (x->ts == y->ts)
		return 0;
	return x->ts < y->ts ? -1 : 1;
}

u32 cmt_owners_snapshot(struct cmt_record *records, u64 *as_of)
{
	unsigned long flags;
	u32 rmid, n = 0;

	raw_spin_lock_irqsave(&owner_lock, flags);
	for (rmid = 1; rmid < pool.nr; rmid++) {
		struct cmt_rmid *r = &pool.rmids[rmid];

		if (r->state == CMT_RMID_ACTIVE)
			owner_fill(&records[n++], CMT_REC_EXISTING, r->since, r);
	}
	*as_of = owner_now();
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	sort(records, n, sizeof(*records), record_cmp, NULL);
	return n;
}

void cmt_owners_stats(struct cmt_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&owner_lock, flags);
	cmt_pool_settle(&pool, ktime_get_ns());
	stats->rmids_active = pool.nr_active;
	stats->rmids_limbo = pool.nr_limbo;
	stats->rmids_free = pool.nr_free;
	stats->rmids_foreign = pool.nr_foreign;
	stats->waiting = waiting;
	stats->allocs = allocs;
	stats->frees = frees;
	stats->alloc_fails = alloc_fails;
	stats->served = served;
	raw_spin_unlock_irqrestore(&owner_lock, flags);
}

int cmt_owners_init(void)
{
	u32 nr = cmt_caps.nr_rmids;
	struct cmt_rmid *rmids = vcalloc(nr, sizeof(*rmids));
	u32 *live = vcalloc(nr, sizeof(*live));

	owner_table = vcalloc(PID_MAX_LIMIT, sizeof(*owner_table));
	if (!rmids || !live || !owner_table) {
		vfree(owner_table);
		vfree(live);
		vfree(rmids);
		return -ENOMEM;
	}
	cmt_pool_init(&pool, rmids, live, nr, CMT_LIMBO_NS);
	cmt_hrtimer_setup(&serve_timer, serve_expired, HRTIMER_MODE_ABS_HARD);
	INIT_WORK(&serve_work, serve);
	foreign_noticed = IRQ_WORK_INIT(notice_foreign);
	INIT_DELAYED_WORK(&foreign_work, settle_foreign);
	return 0;
}

void cmt_owners_stop(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&owner_lock, flags);
	stopping = true;
	raw_spin_unlock_irqrestore(&owner_lock, flags);

	irq_work_sync(&foreign_noticed);
	cancel_delayed_work_sync(&foreign_work);
	/* a serve() under way may have started the timer again, just before */
	hrtimer_cancel(&serve_timer);
	cancel_work_sync(&serve_work);
	hrtimer_cancel(&serve_timer);
	cancel_work_sync(&serve_work);
}

void cmt_owners_exit(void)
{
	vfree(owner_table);
	vfree(pool.live);
	vfree(pool.rmids);
}
