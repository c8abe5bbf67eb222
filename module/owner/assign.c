// SPDX-License-Identifier: GPL-2.0
/*
 * Which RMID an owner has.  Only this file gives an RMID to an owner, or takes an RMID from
 * an owner; pending.c of scope/ decides when.
 */
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "internal.h"
#include "ring/ring.h"

static u32 nr_giving;		/* RMIDs that are taken and not given yet */
static u64 last_drain;		/* begin of the last drain */
static bool drain_wanted;	/* CPUs must load their RMID again */
static u64 allocs;
static u64 frees;
static u64 alloc_fails;
static u64 served;

u32 cmt_owner_rmid_number(const struct cmt_rmid *r)
{
	return cmt_pool_number(&owner_pool, r);
}

void owner_fail(struct cmt_owner *owner)
{
	struct cmt_record record;

	owner->failed = true;
	if (owner_is_overflow(owner))
		return;
	alloc_fails++;
	cmt_owner_fill_fail(&record, owner);
	record.ts = cmt_owner_now();
	cmt_emit(&record);
}

void owner_pending_enqueue(struct cmt_owner *owner, u32 why)
{
	u32 shared = owner_is_overflow(owner) ? CMT_RMID_NONE :
						CMT_RMID_OVERFLOW;

	lockdep_assert_held(&owner_lock);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], shared);
	owner->pending_since = cmt_owner_now();
	owner->failed = false;
	owner->why = why;
	owner_queue_set(owner, true);
	cmt_pool_expire(&owner_pool, owner->pending_since);
	if (owner_queue_before(owner->listed + 1) > owner_pool.nr_free)
		owner_fail(owner);
}

struct cmt_owner *cmt_owner_take(struct cmt_rmid **r)
{
	struct cmt_owner *owner = owner_queue_first();

	lockdep_assert_held(&owner_lock);
	if (!owner)
		return NULL;
	*r = cmt_pool_alloc(&owner_pool, cmt_owner_now());
	if (!*r) {
		if (!owner->failed)
			owner_fail(owner);
		return NULL;
	}
	owner_queue_set(owner, false);
	owner->giving = true;
	nr_giving++;
	(*r)->owner = owner;
	return owner;
}

bool cmt_owner_give(struct cmt_owner *owner, struct cmt_rmid *r)
{
	u32 rmid = cmt_pool_number(&owner_pool, r);

	lockdep_assert_held(&owner_lock);
	owner->giving = false;
	nr_giving--;
	if (owner->released) {
		cmt_pool_return(&owner_pool, r);
		owner_end(owner);
		return false;
	}
	owner_snapshot_keep(rmid);
	owner_describe(r, owner);
	r->domain = cmt_ring_domain_id();
	r->since = cmt_owner_now();
	owner->rmid = rmid;
	cmt_pool_publish(&owner_pool, r);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], rmid);
	owner_relist(owner);
	allocs++;
	served += owner->failed && !owner_is_overflow(owner);
	owner->failed = false;
	owner_emit(CMT_REC_ALLOC, r->since, r);
	return true;
}

bool owner_clear(struct cmt_owner *owner)
{
	u32 rmid = owner->rmid;
	struct cmt_rmid *r = &owner_pool.rmids[rmid];
	u64 now;

	/* the FREE has the last name */
	if (!list_empty(&owner->postponed))
		owner_update_write(owner);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], CMT_RMID_NONE);
	owner->rmid = CMT_RMID_NONE;
	owner_queue_set(owner, false);
	if (!rmid)
		return false;
	now = cmt_owner_now();
	owner_snapshot_keep(rmid);
	cmt_pool_free(&owner_pool, rmid, now);
	r->owner = NULL;
	frees++;
	owner_emit(CMT_REC_FREE, now, r);
	return true;
}

/*
 * Are more owners of the classes before services pending than RMIDs are free or in
 * limbo, and has a service an RMID?
 */
static bool reclaim_is_due(void)
{
	return owner_queue_before(LIST_SERVICES) >
	       owner_pool.nr_free + owner_pool.nr_limbo &&
	       owner_queue_reclaimable();
}

bool cmt_owners_reclaim(void)
{
	unsigned long flags = cmt_owners_lock();
	bool due = reclaim_is_due();
	struct cmt_owner *service;

	if (due) {
		service = owner_queue_reclaimable();
		owner_clear(service);
		owner_pending_enqueue(service, CMT_WHY_RECLAIMED);
	}
	cmt_owners_unlock(flags);
	return due;
}

int cmt_rmid_exclude(u32 rmid, u32 flag)
{
	struct cmt_rmid *r = &owner_pool.rmids[rmid];
	struct cmt_owner *owner = r->owner;
	bool had_owner = r->state == CMT_RMID_ACTIVE;

	lockdep_assert_held(&owner_lock);
	if (had_owner && owner->rmid != rmid)
		return -EAGAIN;		/* the RMID is taken and not given yet */
	if (had_owner) {
		owner_clear(owner);
		owner_pending_enqueue(owner, CMT_WHY_RECLAIMED);
	}
	owner_snapshot_keep(rmid);
	if (cmt_pool_exclude(&owner_pool, rmid, cmt_owner_now()))
		return had_owner;
	WRITE_ONCE(r->flags, flag);
	r->domain = cmt_ring_domain_id();
	strscpy_pad(r->comm, flag == CMT_F_OWNER_KERNEL ? "kernel" : "resctrl",
		    CMT_COMM_LEN);
	cmt_pool_publish(&owner_pool, r);
	owner_emit(CMT_REC_ALLOC, r->since, r);
	return had_owner;
}

void cmt_rmid_include(u32 rmid)
{
	u64 now = cmt_owner_now();

	owner_snapshot_keep(rmid);
	if (!cmt_pool_include(&owner_pool, rmid, now))
		owner_emit(CMT_REC_FREE, now, &owner_pool.rmids[rmid]);
}

static bool is_described(const struct cmt_rmid *r, const struct cmt_rmid *as)
{
	return r->flags == as->flags && r->tgid == as->tgid &&
	       r->cgroup_id == as->cgroup_id &&
	       !memcmp(r->comm, as->comm, CMT_COMM_LEN);
}

/* The state may have changed since the caller decided. */
static void foreign_describe(u32 rmid, const struct cmt_rmid *as)
{
	struct cmt_rmid *r = &owner_pool.rmids[rmid];

	lockdep_assert_held(&owner_lock);
	if (r->state != CMT_RMID_FOREIGN || is_described(r, as))
		return;
	owner_snapshot_keep(rmid);
	WRITE_ONCE(r->flags, as->flags);
	r->tgid = as->tgid;
	r->cgroup_id = as->cgroup_id;
	memcpy(r->comm, as->comm, CMT_COMM_LEN);
	owner_emit(CMT_REC_UPDATE, cmt_owner_now(), r);
}

bool cmt_rmid_describe_sole(u32 rmid, struct cmt_owner *sole)
{
	const struct cmt_rmid *r = &owner_pool.rmids[rmid];
	bool begins = !(r->flags & CMT_F_GROUP_SOLE) ||
		      r->cgroup_id != sole->cgroup_id ||
		      r->tgid != owner_tgid(sole);
	struct cmt_rmid as;

	owner_describe(&as, sole);
	as.flags |= CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE;
	sole->grouped = true;
	foreign_describe(rmid, &as);
	return begins;
}

void cmt_rmid_describe(u32 rmid, u32 flags, u32 tgid, const char *comm)
{
	struct cmt_rmid as = {
		.flags = CMT_F_OWNER_RESCTRL | flags,
		.tgid = tgid,
	};

	strscpy_pad(as.comm, comm, CMT_COMM_LEN);
	foreign_describe(rmid, &as);
}

void cmt_owners_want_drain(void)
{
	unsigned long flags = cmt_owners_lock();

	drain_wanted = true;
	cmt_owners_unlock(flags);
}

/* The end of the next limbo; but every CPU is asked at most once in a limbo. */
static u64 limbo_due(void)
{
	u64 next = cmt_pool_next_expiry(&owner_pool);

	return next == U64_MAX ? next : max(next, last_drain + CMT_LIMBO_NS);
}

/*
 * At once if CPUs must load their RMID again.  If RMIDs were freed since the last drain:
 * with pending owners, when the next limbo ends; without, when more RMIDs are in limbo
 * than are free.
 */
static u64 drain_due(void)
{
	if (drain_wanted)
		return last_drain + CMT_LIMBO_NS;
	if (cmt_pool_is_drained(&owner_pool) ||
	    (!owner_queue_first() && owner_pool.nr_limbo <= owner_pool.nr_free))
		return U64_MAX;
	return limbo_due();
}

u64 cmt_owners_drain_due(void)
{
	unsigned long flags = cmt_owners_lock();
	u64 due = drain_due();

	cmt_owners_unlock(flags);
	return due;
}

/* Pending owners get RMIDs whose limbo ends also if these were drained before. */
static u64 work_due(void)
{
	u64 due = min(drain_due(), owner_update_due());

	if (reclaim_is_due() || (owner_queue_first() && owner_pool.nr_free))
		return 0;
	return owner_queue_first() ? min(due, limbo_due()) : due;
}

u64 cmt_owners_due(void)
{
	unsigned long flags = cmt_owners_lock();
	u64 due = work_due();

	cmt_owners_unlock(flags);
	return due;
}

u64 cmt_owners_drain_begin(void)
{
	unsigned long flags = cmt_owners_lock();
	u64 now = cmt_owner_now();

	drain_wanted = false;
	cmt_owners_unlock(flags);
	return now;
}

/* All RMIDs whose limbo is over, a few in one hold of the lock */
static void expire_all(void)
{
	unsigned long flags;
	bool more;

	do {
		flags = cmt_owners_lock();
		more = cmt_pool_expire(&owner_pool, cmt_owner_now());
		cmt_owners_unlock(flags);
	} while (more);
}

void cmt_owners_drained(u64 until)
{
	unsigned long flags = cmt_owners_lock();

	if (until > last_drain) {
		last_drain = until;
		cmt_pool_drained(&owner_pool, until);
	}
	cmt_owners_unlock(flags);
	expire_all();
}

void cmt_owners_stats(struct cmt_stats *stats)
{
	unsigned long flags;

	expire_all();
	flags = cmt_owners_lock();
	stats->rmids_active = owner_pool.nr_active - nr_giving;
	stats->rmids_limbo = owner_pool.nr_limbo;
	stats->rmids_free = owner_pool.nr_free + nr_giving;
	stats->rmids_foreign = owner_pool.nr_foreign;
	stats->pending = cmt_owners_pending() + owner_overflow()->members;
	stats->allocs = allocs;
	stats->frees = frees;
	stats->alloc_fails = alloc_fails;
	stats->served = served;
	stats->lock_held_ns = owner_lock_held_ns();
	cmt_owners_unlock(flags);
}
