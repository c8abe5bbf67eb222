// SPDX-License-Identifier: GPL-2.0
/*
 * Owners, the two arrays that lead from a process to an RMID, and the lifecycle
 * records.  Only this file gives an RMID to an owner, or takes an RMID from an owner.
 * All state is written with the owner lock.  scope.c decides which owner a process has.
 */
#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include "hw/hw.h"
#include "owner.h"
#include "ring/ring.h"

/* with fewer RMIDs, none is reserved for the overflow owner */
#define OVERFLOW_MIN_RMIDS	8
/* this many numbers of owners are not for services */
#define NOT_FOR_SERVICES	(CMT_NR_OWNERS / 4)
#define SNAPSHOT_CHUNK		16	/* RMIDs copied in one hold of the lock */
#define UPDATE_CHUNK		16	/* UPDATEs written in one hold of the lock */
#define UPDATE_NS		NSEC_PER_MSEC	/* between two UPDATEs of an owner */

u16 *cmt_owner_table;
u16 cmt_owner_rmids[CMT_NR_OWNERS];
DEFINE_PER_CPU(u32, cmt_cpu_owner);

static DEFINE_RAW_SPINLOCK(owner_lock);
static struct cmt_pool pool;
static struct cmt_owner *owners;
static DEFINE_HASHTABLE(owner_hash, 12);	/* by kind and id */
static LIST_HEAD(unused);
static u32 nr_unused;
static u32 nr_hashed[CMT_OWNER_CPU + 1];	/* by kind */
static u32 nr_joined;				/* processes with an owner */

/*
 * The pending queue has one list for each class of owners, in the order in which the
 * classes are served.  The next list has the services that have an RMID; at its end is
 * the service that got an RMID or was detached last.  If no RMID is left for an owner of a
 * higher class, the service at the end loses its RMID.
 */
enum {
	LIST_NONE,
	LIST_OVERFLOW,		/* the overflow owner */
	LIST_NAMED,		/* attached or held */
	LIST_SCOPED,		/* containers, processes, CPUs */
	LIST_SERVICES,
	LIST_RECLAIMABLE,
	NR_LISTS,
};

static struct list_head lists[NR_LISTS];
static u32 nr_listed[NR_LISTS];
static u32 nr_giving;		/* RMIDs that are taken and not given yet */

/* Owners whose UPDATE was postponed, in the order in which these are due. */
static LIST_HEAD(postponed);
static u64 last_postponed;	/* ns: the last pass that had such UPDATEs to write */

static u64 last_serial;
static u64 last_ts;		/* time of the last lifecycle record */
static u64 last_drain;		/* begin of the last drain */
static bool drain_wanted;	/* CPUs must load their RMID again */
static u64 allocs;
static u64 frees;
static u64 alloc_fails;
static u64 served;
static u64 locked_at;		/* TSC */
static u64 locked_longest;	/* TSC cycles */

/* A snapshot, on the stack of its caller */
struct snapshot {
	struct cmt_record *records;	/* by RMID; type 0: not copied yet */
	u64 as_of;			/* 0: it has not begun */
	u32 next;			/* the first RMID of the next chunk */
};

/*
 * The snapshot that is under way; NULL: there is none.  Every caller that finds one
 * copies its next chunk, so no caller waits until another one is scheduled.
 */
static struct snapshot *snapshot;

unsigned long cmt_owners_lock(void)
	__acquires(&owner_lock)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&owner_lock, flags);
	locked_at = rdtsc();
	return flags;
}

void cmt_owners_unlock(unsigned long flags)
	__releases(&owner_lock)
{
	u64 held = rdtsc() - locked_at;

	if (unlikely(held > locked_longest))
		locked_longest = held;
	raw_spin_unlock_irqrestore(&owner_lock, flags);
}

u64 cmt_owner_now(void)
{
	lockdep_assert_held(&owner_lock);
	last_ts = max(ktime_get_ns(), last_ts + 1);
	return last_ts;
}

u32 cmt_owner_rmid_number(const struct cmt_rmid *r)
{
	return cmt_pool_number(&pool, r);
}

u32 cmt_owner_number(const struct cmt_owner *owner)
{
	return owner ? owner - owners : 0;
}

struct cmt_owner *cmt_owner_at(u32 number)
{
	return number && number < CMT_NR_OWNERS ? &owners[number] : NULL;
}

static struct cmt_owner *overflow_owner(void)
{
	return &owners[CMT_OVERFLOW_OWNER];
}

static bool is_overflow(const struct cmt_owner *owner)
{
	return owner == overflow_owner();
}

struct cmt_owner *cmt_owner_of(u32 tgid)
{
	return cmt_owner_at(READ_ONCE(cmt_owner_table[tgid]));
}

static u64 hash_key(u32 kind, u64 id)
{
	return id ^ (u64)kind << 56;
}

struct cmt_owner *cmt_owner_find(u32 kind, u64 id)
{
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	hash_for_each_possible(owner_hash, owner, hash, hash_key(kind, id))
		if (owner->kind == kind && owner->id == id)
			return owner;
	return NULL;
}

bool cmt_owners_any(u32 kind)
{
	return READ_ONCE(nr_hashed[kind]);
}

u32 cmt_owners_joined(void)
{
	return READ_ONCE(nr_joined);
}

void cmt_owner_forget_id(struct cmt_owner *owner)
{
	lockdep_assert_held(&owner_lock);
	if (!hash_hashed(&owner->hash))
		return;
	hash_del(&owner->hash);
	nr_hashed[owner->kind]--;
}

static u32 owner_flags(const struct cmt_owner *owner)
{
	static const u32 flags[] = {
		[CMT_OWNER_OVERFLOW] = CMT_F_OWNER_OVERFLOW,
		[CMT_OWNER_PROCESS] = 0,
		[CMT_OWNER_CGROUP] = CMT_F_OWNER_CGROUP,
		[CMT_OWNER_CPU] = CMT_F_OWNER_CPU,
	};

	return flags[owner->kind] |
	       (cmt_owner_is_named(owner) ? CMT_F_ATTACHED : 0) |
	       (owner->service ? CMT_F_SERVICE : 0);
}

/* cmt_record.tgid or owner_cpu */
static u32 owner_tgid(const struct cmt_owner *owner)
{
	return owner->kind == CMT_OWNER_CGROUP ? 0 : owner->id;
}

static void rmid_describe(struct cmt_rmid *r, const struct cmt_owner *owner)
{
	r->flags = owner_flags(owner);
	r->tgid = owner_tgid(owner);
	r->cgroup_id = owner->cgroup_id;
	memcpy(r->comm, owner->comm, CMT_COMM_LEN);
}

static void rmid_fill(struct cmt_record *record, u16 type, u64 ts,
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

/*
 * Copy the assignment of an RMID to the snapshot that is under way, unless it was copied
 * before.  Each lifecycle event calls this before it changes the RMID, so the snapshot
 * has the assignment at the time of its begin.  A record with type FREE has no owner.
 */
static void snapshot_keep(u32 rmid)
{
	const struct cmt_rmid *r = &pool.rmids[rmid];

	lockdep_assert_held(&owner_lock);
	if (likely(!snapshot) || snapshot->records[rmid].type)
		return;
	if (pool.live[rmid])
		rmid_fill(&snapshot->records[rmid], CMT_REC_EXISTING, r->since, r);
	else
		snapshot->records[rmid].type = CMT_REC_FREE;
}

static void rmid_emit(u16 type, u64 ts, const struct cmt_rmid *r)
{
	struct cmt_record record;

	rmid_fill(&record, type, ts, r);
	cmt_emit(&record);
}

void cmt_owner_fill_fail(struct cmt_record *record,
			 const struct cmt_owner *owner, u32 why)
{
	u32 rmid = overflow_owner()->rmid;

	*record = (struct cmt_record) {
		.ts = owner->pending_since,
		.type = CMT_REC_ALLOC_FAIL,
		.flags = cmt_caps.record_flags | owner_flags(owner),
		.rmid = rmid,
		.generation = cmt_table_generation(rmid),
		.tgid = owner_tgid(owner),
		.domain = cmt_ring_domain_id(),
		.owner.cgroup_id = owner->cgroup_id,
		.owner.why = why,
	};
	memcpy(record->owner.comm, owner->comm, CMT_COMM_LEN);
}

static void owner_fail(struct cmt_owner *owner, u32 why)
{
	struct cmt_record record;

	owner->failed = true;
	owner->pending_since = cmt_owner_now();
	if (is_overflow(owner))
		return;
	alloc_fails++;
	cmt_owner_fill_fail(&record, owner, why);
	cmt_emit(&record);
}

/* The list in which an owner belongs. */
static u32 list_of(const struct cmt_owner *owner)
{
	bool service = owner->service && !cmt_owner_is_named(owner);

	if (!owner->pending)
		return service && owner->rmid ? LIST_RECLAIMABLE : LIST_NONE;
	if (is_overflow(owner))
		return LIST_OVERFLOW;
	if (cmt_owner_is_named(owner))
		return LIST_NAMED;
	return service ? LIST_SERVICES : LIST_SCOPED;
}

/* After a change of an input of list_of(): move the owner to the end of its list. */
static void owner_relist(struct cmt_owner *owner)
{
	u32 from = owner->listed, to = list_of(owner);

	if (from == to)
		return;
	if (from) {
		list_del_init(&owner->list);
		WRITE_ONCE(nr_listed[from], nr_listed[from] - 1);
	}
	if (to) {
		list_add_tail(&owner->list, &lists[to]);
		WRITE_ONCE(nr_listed[to], nr_listed[to] + 1);
	}
	owner->listed = to;
}

static void pending_set(struct cmt_owner *owner, bool pending)
{
	owner->pending = pending;
	owner_relist(owner);
}

static struct cmt_owner *pending_first(void)
{
	u32 list;

	for (list = LIST_OVERFLOW; list <= LIST_SERVICES; list++)
		if (nr_listed[list])
			return list_first_entry(&lists[list], struct cmt_owner,
						list);
	return NULL;
}

/* Pending owners of the classes that are served before those of this list. */
static u32 nr_before(u32 list)
{
	u32 nr = 0;

	while (--list)
		nr += nr_listed[list];
	return nr;
}

/* Until an owner has a dedicated RMID, it shares the RMID of the overflow owner. */
static void owner_queue(struct cmt_owner *owner, u32 why)
{
	u32 shared = is_overflow(owner) ? CMT_RMID_NONE : CMT_RMID_OVERFLOW;

	lockdep_assert_held(&owner_lock);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], shared);
	owner->pending_since = cmt_owner_now();
	owner->failed = false;
	pending_set(owner, true);
	cmt_pool_expire(&pool, last_ts);
	if (nr_before(owner->listed + 1) > pool.nr_free)
		owner_fail(owner, why);
}

struct cmt_owner *cmt_owner_new(u32 kind, u64 id, u64 cgroup_id,
				const char *comm, enum cmt_by by)
{
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	owner = list_first_entry_or_null(&unused, struct cmt_owner, list);
	if (!owner || (by == CMT_BY_SERVICE && nr_unused < NOT_FOR_SERVICES))
		return NULL;
	list_del_init(&owner->list);
	nr_unused--;
	*owner = (struct cmt_owner) {
		.list = LIST_HEAD_INIT(owner->list),
		.postponed = LIST_HEAD_INIT(owner->postponed),
		.kind = kind,
		.id = id,
		.cgroup_id = cgroup_id,
		.serial = ++last_serial,
		.holders = by == CMT_BY_HOLD,
		.attached = by == CMT_BY_ATTACH,
		.scoped = by == CMT_BY_SCOPE || by == CMT_BY_SERVICE,
		.service = by == CMT_BY_SERVICE,
	};
	strscpy_pad(owner->comm, comm, CMT_COMM_LEN);
	hash_add(owner_hash, &owner->hash, hash_key(kind, id));
	nr_hashed[kind]++;
	if (kind == CMT_OWNER_CPU)
		WRITE_ONCE(per_cpu(cmt_cpu_owner, id), cmt_owner_number(owner));
	owner_queue(owner, CMT_WHY_NO_RMID);
	return owner;
}

struct cmt_owner *cmt_owner_take(struct cmt_rmid **r)
{
	struct cmt_owner *owner = pending_first();

	lockdep_assert_held(&owner_lock);
	if (!owner)
		return NULL;
	*r = cmt_pool_alloc(&pool, cmt_owner_now());
	if (!*r) {
		if (!owner->failed)
			owner_fail(owner, CMT_WHY_NO_RMID);
		return NULL;
	}
	pending_set(owner, false);
	owner->giving = true;
	nr_giving++;
	(*r)->owner = owner;
	return owner;
}

/* Make the number of an owner available again. */
static void owner_end(struct cmt_owner *owner)
{
	if (owner->members || owner->giving)
		return;
	owner->kind = 0;
	list_add_tail(&owner->list, &unused);
	nr_unused++;
}

bool cmt_owner_give(struct cmt_owner *owner, struct cmt_rmid *r)
{
	u32 rmid = cmt_pool_number(&pool, r);

	lockdep_assert_held(&owner_lock);
	owner->giving = false;
	nr_giving--;
	if (owner->released) {
		cmt_pool_return(&pool, r);
		owner_end(owner);
		return false;
	}
	snapshot_keep(rmid);
	rmid_describe(r, owner);
	r->domain = cmt_ring_domain_id();
	r->since = cmt_owner_now();
	owner->rmid = rmid;
	cmt_pool_publish(&pool, r);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], rmid);
	owner_relist(owner);
	allocs++;
	served += owner->failed && !is_overflow(owner);
	owner->failed = false;
	rmid_emit(CMT_REC_ALLOC, r->since, r);
	return true;
}

void cmt_owner_update(struct cmt_owner *owner)
{
	struct cmt_rmid *r = &pool.rmids[owner->rmid];
	u64 now;

	lockdep_assert_held(&owner_lock);
	if (!owner->rmid)
		return;
	now = cmt_owner_now();
	list_del_init(&owner->postponed);
	owner->next_update = now + UPDATE_NS;
	snapshot_keep(owner->rmid);
	rmid_describe(r, owner);
	rmid_emit(CMT_REC_UPDATE, now, r);
}

bool cmt_owner_update_limited(struct cmt_owner *owner)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&owner_lock);
	if (!owner->rmid || !list_empty(&owner->postponed))
		return false;
	if (owner->next_update <= now) {
		cmt_owner_update(owner);
		return false;
	}
	owner->next_update = now + UPDATE_NS;
	list_add_tail(&owner->postponed, &postponed);
	return true;
}

/* Write the postponed UPDATE of an owner, unless the owner is as before. */
static void postponed_write(struct cmt_owner *owner)
{
	const struct cmt_rmid *r = &pool.rmids[owner->rmid];

	if (r->cgroup_id != owner->cgroup_id ||
	    memcmp(r->comm, owner->comm, CMT_COMM_LEN))
		cmt_owner_update(owner);
	else
		list_del_init(&owner->postponed);
}

static struct cmt_owner *postponed_first(void)
{
	return list_first_entry_or_null(&postponed, struct cmt_owner, postponed);
}

/*
 * The time at which postponed UPDATEs must be written; U64_MAX: there are none.  Each owner
 * has its own time, but one pass in UPDATE_NS is enough for all of them.
 */
static u64 postponed_due(void)
{
	const struct cmt_owner *owner = postponed_first();

	if (!owner)
		return U64_MAX;
	return max(owner->next_update, last_postponed + UPDATE_NS);
}

bool cmt_owners_update_postponed(u64 until)
{
	struct cmt_owner *owner;
	u32 n;

	lockdep_assert_held(&owner_lock);
	for (n = 0; n < UPDATE_CHUNK; n++) {
		owner = postponed_first();
		if (!owner || owner->next_update > until)
			return false;
		last_postponed = until;
		postponed_write(owner);
	}
	return true;
}

/* The owner has no RMID any more, and is not pending. */
static bool owner_clear(struct cmt_owner *owner)
{
	u32 rmid = owner->rmid;
	struct cmt_rmid *r = &pool.rmids[rmid];
	u64 now;

	/* the FREE has the last name */
	if (!list_empty(&owner->postponed))
		postponed_write(owner);
	WRITE_ONCE(cmt_owner_rmids[cmt_owner_number(owner)], CMT_RMID_NONE);
	owner->rmid = CMT_RMID_NONE;
	pending_set(owner, false);
	if (!rmid)
		return false;
	now = cmt_owner_now();
	snapshot_keep(rmid);
	cmt_pool_free(&pool, rmid, now);
	r->owner = NULL;
	frees++;
	rmid_emit(CMT_REC_FREE, now, r);
	return true;
}

/*
 * Are more owners of the classes before services pending than RMIDs are free or in
 * limbo, and has a service an RMID?
 */
bool cmt_owners_reclaim_due(void)
{
	lockdep_assert_held(&owner_lock);
	return nr_before(LIST_SERVICES) > pool.nr_free + pool.nr_limbo &&
	       nr_listed[LIST_RECLAIMABLE];
}

bool cmt_owners_reclaim(void)
{
	struct cmt_owner *service;

	lockdep_assert_held(&owner_lock);
	if (!cmt_owners_reclaim_due())
		return false;
	service = list_last_entry(&lists[LIST_RECLAIMABLE], struct cmt_owner,
				  list);
	owner_clear(service);
	owner_queue(service, CMT_WHY_RECLAIMED);
	return true;
}

bool cmt_owner_release(struct cmt_owner *owner)
{
	bool freed;

	lockdep_assert_held(&owner_lock);
	if (!owner->kind || owner->released)
		return false;
	owner->released = true;
	cmt_owner_forget_id(owner);
	if (owner->kind == CMT_OWNER_CPU)
		WRITE_ONCE(per_cpu(cmt_cpu_owner, owner->id), 0);
	if (owner->grouped)
		cmt_foreign_look();
	freed = owner_clear(owner);
	owner_end(owner);
	return freed;
}

/* A cgroup or a CPU may have no members; a process always has members. */
static bool owner_leave(struct cmt_owner *owner)
{
	if (--owner->members || is_overflow(owner))
		return false;
	if (owner->released)
		owner_end(owner);
	else if (owner->kind == CMT_OWNER_PROCESS)
		return cmt_owner_release(owner);
	return false;
}

bool cmt_owner_join(u32 tgid, struct cmt_owner *owner)
{
	struct cmt_owner *from = cmt_owner_of(tgid);

	lockdep_assert_held(&owner_lock);
	if (from == owner)
		return false;
	WRITE_ONCE(cmt_owner_table[tgid], cmt_owner_number(owner));
	if (owner)
		owner->members++;
	WRITE_ONCE(nr_joined, nr_joined + !!owner - !!from);
	return from && owner_leave(from);
}

bool cmt_owner_join_overflow(u32 tgid, u64 cgroup_id, const char *comm)
{
	struct cmt_owner process = {
		.kind = CMT_OWNER_PROCESS,
		.id = tgid,
		.cgroup_id = cgroup_id,
	};

	if (is_overflow(cmt_owner_of(tgid)))
		return false;
	strscpy_pad(process.comm, comm, CMT_COMM_LEN);
	owner_fail(&process, CMT_WHY_NO_OWNER);
	return cmt_owner_join(tgid, overflow_owner());
}

static void owner_set_scoped(struct cmt_owner *owner, enum cmt_by by, bool want)
{
	owner->scoped = want;
	owner->service = want && by == CMT_BY_SERVICE;
}

/* The class of an owner and the flags of its records depend on its users. */
static void owner_set_by(struct cmt_owner *owner, enum cmt_by by, bool want)
{
	u32 flags = owner_flags(owner);

	lockdep_assert_held(&owner_lock);
	if (by == CMT_BY_HOLD)
		owner->holders += want ? 1 : -1;
	else if (by == CMT_BY_ATTACH)
		owner->attached = want;
	else
		owner_set_scoped(owner, by, want);
	if (flags == owner_flags(owner) || owner->released)
		return;
	owner_relist(owner);
	cmt_owner_update(owner);
}

void cmt_owner_want(struct cmt_owner *owner, enum cmt_by by)
{
	owner_set_by(owner, by, true);
}

bool cmt_owner_unwant(struct cmt_owner *owner, enum cmt_by by)
{
	bool last = owner->attached + owner->scoped + owner->holders == 1;

	if (last)
		return cmt_owner_release(owner);
	owner_set_by(owner, by, false);
	if (!cmt_owner_is_named(owner))
		owner->children = false;
	return false;
}

bool cmt_rmid_is_foreign(u32 rmid)
{
	return READ_ONCE(pool.rmids[rmid].state) == CMT_RMID_FOREIGN;
}

bool cmt_rmid_has_flag(u32 rmid, u32 flag)
{
	return READ_ONCE(pool.rmids[rmid].flags) & flag;
}

int cmt_rmid_exclude(u32 rmid, u32 flag)
{
	struct cmt_rmid *r = &pool.rmids[rmid];
	struct cmt_owner *owner = r->owner;
	bool had_owner = r->state == CMT_RMID_ACTIVE;

	lockdep_assert_held(&owner_lock);
	if (had_owner && owner->rmid != rmid)
		return -EAGAIN;		/* the RMID is taken and not given yet */
	if (had_owner) {
		owner_clear(owner);
		owner_queue(owner, CMT_WHY_RECLAIMED);
	}
	snapshot_keep(rmid);
	if (cmt_pool_exclude(&pool, rmid, cmt_owner_now()))
		return had_owner;
	WRITE_ONCE(r->flags, flag);
	r->domain = cmt_ring_domain_id();
	strscpy_pad(r->comm, flag == CMT_F_OWNER_KERNEL ? "kernel" : "resctrl",
		    CMT_COMM_LEN);
	cmt_pool_publish(&pool, r);
	rmid_emit(CMT_REC_ALLOC, r->since, r);
	return had_owner;
}

void cmt_rmid_include(u32 rmid)
{
	u64 now = cmt_owner_now();

	snapshot_keep(rmid);
	if (!cmt_pool_include(&pool, rmid, now))
		rmid_emit(CMT_REC_FREE, now, &pool.rmids[rmid]);
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
	struct cmt_rmid *r = &pool.rmids[rmid];

	lockdep_assert_held(&owner_lock);
	if (r->state != CMT_RMID_FOREIGN || is_described(r, as))
		return;
	snapshot_keep(rmid);
	WRITE_ONCE(r->flags, as->flags);
	r->tgid = as->tgid;
	r->cgroup_id = as->cgroup_id;
	memcpy(r->comm, as->comm, CMT_COMM_LEN);
	rmid_emit(CMT_REC_UPDATE, cmt_owner_now(), r);
}

bool cmt_rmid_describe_sole(u32 rmid, struct cmt_owner *sole)
{
	const struct cmt_rmid *r = &pool.rmids[rmid];
	bool begins = !(r->flags & CMT_F_GROUP_SOLE) ||
		      r->cgroup_id != sole->cgroup_id ||
		      r->tgid != owner_tgid(sole);
	struct cmt_rmid as;

	rmid_describe(&as, sole);
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
	lockdep_assert_held(&owner_lock);
	drain_wanted = true;
}

/*
 * At once if CPUs must load their RMID again.  With pending owners, when the next limbo
 * ends; without, when more RMIDs are in limbo than are free.  But every CPU is asked at
 * most once in a limbo.
 */
u64 cmt_owners_drain_due(void)
{
	u64 next = cmt_pool_next_expiry(&pool);
	u64 soonest = last_drain + CMT_LIMBO_NS;

	lockdep_assert_held(&owner_lock);
	if (drain_wanted)
		return soonest;
	if (!pending_first() && pool.nr_limbo <= pool.nr_free)
		return U64_MAX;
	return next == U64_MAX ? next : max(next, soonest);
}

u64 cmt_owners_due(void)
{
	if (cmt_owners_reclaim_due() || (pending_first() && pool.nr_free))
		return 0;
	return min(cmt_owners_drain_due(), postponed_due());
}

u64 cmt_owners_drain_begin(void)
{
	lockdep_assert_held(&owner_lock);
	drain_wanted = false;
	return cmt_owner_now();
}

void cmt_owners_drained(u64 until)
{
	lockdep_assert_held(&owner_lock);
	if (until <= last_drain)
		return;
	last_drain = until;
	cmt_pool_drained(&pool, until);
	cmt_pool_expire(&pool, cmt_owner_now());
}

static int record_cmp(const void *a, const void *b)
{
	const struct cmt_record *x = a, *y = b;

	if (x->ts == y->ts)
		return 0;
	return x->ts < y->ts ? -1 : 1;
}

/* Copy the next chunk of the snapshot that is under way. */
static void snapshot_chunk(void)
{
	u32 end = min(snapshot->next + SNAPSHOT_CHUNK, pool.nr);

	lockdep_assert_held(&owner_lock);
	for (; snapshot->next < end; snapshot->next++)
		snapshot_keep(snapshot->next);
	if (end == pool.nr)
		snapshot = NULL;
}

/*
 * Copy one chunk of the snapshot that is under way, and begin this one if it has not
 * begun and no other one is left.  Returns whether this snapshot is complete: then no
 * caller writes to its records any more.
 */
static bool snapshot_step(struct snapshot *mine)
{
	unsigned long flags = cmt_owners_lock();
	bool complete;

	if (snapshot)
		snapshot_chunk();
	if (!snapshot && !mine->as_of) {
		mine->as_of = cmt_owner_now();
		snapshot = mine;
	}
	complete = mine->next == pool.nr;
	cmt_owners_unlock(flags);
	return complete;
}

/* End a snapshot that is not complete: then no caller writes to its records any more. */
static void snapshot_drop(struct snapshot *mine)
{
	unsigned long flags = cmt_owners_lock();

	if (snapshot == mine)
		snapshot = NULL;
	cmt_owners_unlock(flags);
}

/* Each RMID is copied once, however many lifecycle events there are meanwhile. */
static int snapshot_make(struct snapshot *mine)
{
	while (!snapshot_step(mine)) {
		cond_resched();
		if (fatal_signal_pending(current)) {
			snapshot_drop(mine);
			return -EINTR;
		}
	}
	return 0;
}

int cmt_owners_snapshot(struct cmt_record *records, u64 *as_of)
{
	struct snapshot mine = { .records = records };
	int n = 0, ret = snapshot_make(&mine);
	u32 rmid;

	if (ret)
		return ret;
	*as_of = mine.as_of;
	for (rmid = 0; rmid < pool.nr; rmid++)
		if (records[rmid].type == CMT_REC_EXISTING)
			records[n++] = records[rmid];
	sort(records, n, sizeof(*records), record_cmp, NULL);
	return n;
}

void cmt_owners_stats(struct cmt_stats *stats)
{
	unsigned long flags = cmt_owners_lock();

	cmt_pool_expire(&pool, ktime_get_ns());
	stats->rmids_active = pool.nr_active - nr_giving;
	stats->rmids_limbo = pool.nr_limbo;
	stats->rmids_free = pool.nr_free + nr_giving;
	stats->rmids_foreign = pool.nr_foreign;
	stats->pending = cmt_owners_pending() + overflow_owner()->members;
	stats->allocs = allocs;
	stats->frees = frees;
	stats->alloc_fails = alloc_fails;
	stats->served = served;
	stats->lock_held_ns = mul_u64_u32_div(locked_longest, 1000000,
					      tsc_khz ?: 1000000);
	cmt_owners_unlock(flags);
}

u32 cmt_owners_active(void)
{
	return READ_ONCE(pool.nr_active);
}

u32 cmt_owners_pending(void)
{
	return READ_ONCE(nr_listed[LIST_NAMED]) +
	       READ_ONCE(nr_listed[LIST_SCOPED]) +
	       READ_ONCE(nr_listed[LIST_SERVICES]);
}

u32 cmt_owners_unnumbered(void)
{
	return READ_ONCE(overflow_owner()->members);
}

const unsigned long *cmt_table_readable(void)
{
	return pool.readable;
}

u32 cmt_table_generation(u32 rmid)
{
	return READ_ONCE(pool.live[rmid]);
}

const u32 *cmt_table_generations(void)
{
	return pool.live;
}

u64 cmt_table_since(u32 rmid)
{
	return READ_ONCE(pool.rmids[rmid].since);
}

static void overflow_init(void)
{
	struct cmt_owner *owner = overflow_owner();

	INIT_LIST_HEAD(&owner->list);
	INIT_LIST_HEAD(&owner->postponed);
	owner->kind = CMT_OWNER_OVERFLOW;
	strscpy_pad(owner->comm, "overflow", CMT_COMM_LEN);
	if (pool.nr >= OVERFLOW_MIN_RMIDS)
		pending_set(owner, true);
}

static bool pool_has_arrays(void)
{
	u32 room = cmt_caps.rmid_room;

	pool.rmids = vcalloc(room, sizeof(*pool.rmids));
	pool.live = vcalloc(room, sizeof(*pool.live));
	pool.readable = vcalloc(BITS_TO_LONGS(room), sizeof(*pool.readable));
	return pool.rmids && pool.live && pool.readable;
}

void cmt_owners_exit(void)
{
	vfree(pool.readable);
	vfree(pool.live);
	vfree(pool.rmids);
	vfree(cmt_owner_table);
	vfree(owners);
}

int cmt_owners_init(void)
{
	u32 i;

	owners = vcalloc(CMT_NR_OWNERS, sizeof(*owners));
	cmt_owner_table = vcalloc(PID_MAX_LIMIT, sizeof(*cmt_owner_table));
	if (!owners || !cmt_owner_table || !pool_has_arrays()) {
		cmt_owners_exit();
		return -ENOMEM;
	}
	cmt_pool_init(&pool, cmt_caps.nr_rmids);
	for (i = 0; i < NR_LISTS; i++)
		INIT_LIST_HEAD(&lists[i]);
	for (i = CMT_OVERFLOW_OWNER + 1; i < CMT_NR_OWNERS; i++)
		list_add_tail(&owners[i].list, &unused);
	nr_unused = CMT_NR_OWNERS - CMT_OVERFLOW_OWNER - 1;
	overflow_init();
	return 0;
}
