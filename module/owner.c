// SPDX-License-Identifier: GPL-2.0
/*
 * RMIDs given and taken back, and the lifecycle records that say so: the one
 * place that does either.  All is done under cmt_owner_lock.  Who gets what is
 * decided above: object.c, place.c.
 */
#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "cmt.h"
#include "owner.h"

/* With fewer RMIDs, none is kept for those who wait. */
#define REST_MIN_RMIDS	8

/* All with cmt_owner_lock */
static u64 last_ts;		/* of the last lifecycle record */
static u32 waiting;
static u64 allocs;
static u64 frees;
static u64 alloc_fails;
static u64 served;

/*
 * The time of a lifecycle event.  Taken under the lock and never twice, so that
 * the order of time is the order of events, whichever rings they go to.
 */
u64 cmt_owner_now(void)
{
	lockdep_assert_held(&cmt_owner_lock);
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
	record->rmid = cmt_pool_number(&cmt_pool, r);
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

void cmt_owner_update(struct cmt_rmid *r)
{
	owner_emit(CMT_REC_UPDATE, cmt_owner_now(), r);
}

void cmt_owner_fill_fail(struct cmt_record *record, u64 ts, u16 flags, u32 tgid,
			 u64 cgroup_id, const char *comm)
{
	u32 rest = cmt_table_rest();

	*record = (struct cmt_record) {
		.ts = ts,
		.type = CMT_REC_ALLOC_FAIL,
		.flags = cmt_caps.record_flags | flags,
		.rmid = rest,
		.generation = cmt_table_generation(rest),
		.tgid = tgid,
		.domain = cmt_cpu_domain_id(),
		.owner.cgroup_id = cgroup_id,
	};
	strscpy_pad(record->owner.comm, comm, CMT_COMM_LEN);
}

u64 cmt_owner_cgroup(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

struct cmt_rmid *cmt_owner_take(void)
{
	return cmt_pool_alloc(&cmt_pool, cmt_owner_now());
}

/* The owner is noted: from here on the RMID is read. */
u32 cmt_owner_begin(struct cmt_rmid *r)
{
	r->domain = cmt_cpu_domain_id();
	r->residual_known = cmt_sampler_begin(cmt_pool_number(&cmt_pool, r),
					      r->generation,
					      &r->residual_bytes);
	cmt_pool_publish(&cmt_pool, r);
	allocs++;
	owner_emit(CMT_REC_ALLOC, r->since, r);
	return cmt_pool_number(&cmt_pool, r);
}

void cmt_owner_fail(const struct cmt_record *record)
{
	alloc_fails++;
	cmt_emit(record);
}

void cmt_owner_waits(void)
{
	waiting++;
}

void cmt_owner_served(void)
{
	served++;
}

void cmt_owner_waits_no_more(void)
{
	waiting--;
}

u32 cmt_owner_waiting(void)
{
	return READ_ONCE(waiting);
}

u64 cmt_owner_next_free(void)
{
	return cmt_pool.nr_free ? 0 : cmt_pool_next_settle(&cmt_pool);
}

/* On other CPUs some may still run under it, for less than it is in LIMBO. */
void cmt_owner_free(u32 rmid)
{
	u64 now = cmt_owner_now();

	if (cmt_pool_free(&cmt_pool, rmid, now))
		return;
	cmt_pool.rmids[rmid].object = NULL;
	frees++;
	owner_emit(CMT_REC_FREE, now, &cmt_pool.rmids[rmid]);
	cmt_cpu_refresh();
}

struct cmt_rmid *cmt_owner_rmid_of(u32 rmid)
{
	return &cmt_pool.rmids[rmid];
}

u32 cmt_owner_number(const struct cmt_rmid *r)
{
	return cmt_pool_number(&cmt_pool, r);
}

void cmt_owner_exclude(u32 rmid)
{
	cmt_pool_exclude(&cmt_pool, rmid);
}

void cmt_owner_include(u32 rmid)
{
	cmt_pool_include(&cmt_pool, rmid, cmt_owner_now());
}

/*
 * All who wait run under one RMID of their own, so that what they hold shows.
 * Where RMIDs are very few, one is not worth that: those who wait have RMID 0.
 */
void cmt_owner_take_rest(void)
{
	struct cmt_rmid *r = NULL;

	lockdep_assert_held(&cmt_owner_lock);
	if (!cmt_table_rest() && cmt_pool.nr >= REST_MIN_RMIDS)
		r = cmt_owner_take();
	if (!r)
		return;
	r->flags = CMT_F_OWNER_REST;
	strscpy_pad(r->comm, "rest", CMT_COMM_LEN);
	cmt_table_set_rest(cmt_owner_begin(r));
}

/* They get another RMID in common, or have none until one is free. */
void cmt_owner_evict_rest(void)
{
	u32 old = cmt_table_rest();

	cmt_table_set_rest(CMT_RMID_NONE);
	cmt_owner_free(old);
	cmt_owner_take_rest();
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

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	for (rmid = 1; rmid < cmt_pool.nr; rmid++) {
		struct cmt_rmid *r = &cmt_pool.rmids[rmid];

		if (r->state == CMT_RMID_ACTIVE)
			owner_fill(&records[n++], CMT_REC_EXISTING, r->since, r);
	}
	*as_of = cmt_owner_now();
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	sort(records, n, sizeof(*records), record_cmp, NULL);
	return n;
}

void cmt_owners_stats(struct cmt_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	cmt_pool_settle(&cmt_pool, ktime_get_ns());
	stats->rmids_active = cmt_pool.nr_active;
	stats->rmids_limbo = cmt_pool.nr_limbo;
	stats->rmids_free = cmt_pool.nr_free;
	stats->rmids_foreign = cmt_pool.nr_foreign;
	stats->waiting = waiting;
	stats->allocs = allocs;
	stats->frees = frees;
	stats->alloc_fails = alloc_fails;
	stats->served = served;
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

u32 cmt_owners_active(void)
{
	return READ_ONCE(cmt_pool.nr_active);
}
