// SPDX-License-Identifier: GPL-2.0
/*
 * RMIDs and who has them.  The table says, for a thread group id, under which
 * RMID the process runs: its own, or that of an object it belongs to.  It is
 * indexed by the id itself, so that the switch path needs one load, no lock and
 * no retry (docs/decisions/0003-owner-table.md).
 *
 * All is done under one lock, and every change of an entry goes through
 * cmt_table_set(), which knows when an RMID has nobody any more.  So nothing is
 * freed that is still in the table.  Who gets what is decided elsewhere: scope.c.
 */
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "cmt.h"
#include "owner.h"

/* With fewer RMIDs, none is kept for those who wait. */
#define REST_MIN_RMIDS	8

DEFINE_RAW_SPINLOCK(cmt_owner_lock);	/* all below, and writes to the table */
static u16 *owner_table;	/* by tgid */
static struct cmt_pool pool;
static u64 last_ts;		/* of the last lifecycle record */
static u32 waiting;
static u32 rest;		/* the RMID of all who wait; 0: there is none */
static u64 allocs;
static u64 frees;
static u64 alloc_fails;
static u64 served;

/* Since when they settle, U64_MAX: they do not; and what was left meanwhile. */
static u64 settle_since[CMT_NR_SETTLERS] = {
	[0 ... CMT_NR_SETTLERS - 1] = U64_MAX
};

static unsigned long left[BITS_TO_LONGS(CMT_MAX_RMIDS)];

static u32 entry_rmid(u16 entry)
{
	return unlikely(entry & CMT_WAITS) ? READ_ONCE(rest) : entry;
}

u32 cmt_owner_rmid(const struct task_struct *task)
{
	return entry_rmid(READ_ONCE(owner_table[task->tgid]));
}

u32 cmt_owner_cpu_rmid(const struct cmt_cpu *cpu)
{
	return entry_rmid(READ_ONCE(cpu->owner));
}

bool cmt_owner_is_rest(u32 rmid)
{
	return rmid == READ_ONCE(rest);
}

u32 cmt_owner_rest(void)
{
	return READ_ONCE(rest);
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

void cmt_owner_update(struct cmt_rmid *r)
{
	owner_emit(CMT_REC_UPDATE, cmt_owner_now(), r);
}

static void fill_fail(struct cmt_record *record, u64 ts, u16 flags, u32 tgid,
		      u64 cgroup_id, const char *comm)
{
	*record = (struct cmt_record) {
		.ts = ts,
		.type = CMT_REC_ALLOC_FAIL,
		.flags = cmt_caps.record_flags | flags,
		.rmid = rest,
		.generation = cmt_owner_generation(rest),
		.tgid = tgid,
		.domain = cmt_cpu_domain_id(),
		.owner.cgroup_id = cgroup_id,
	};
	strscpy_pad(record->owner.comm, comm, CMT_COMM_LEN);
}

void cmt_owner_fill_object(struct cmt_record *record,
			   const struct cmt_object *object)
{
	fill_fail(record, object->waits_since, cmt_object_flags(object),
		  object->kind == CMT_OWNER_CGROUP ? 0 : object->id,
		  object->cgroup_id, object->comm);
}

void cmt_owner_fill_process(struct cmt_record *record, u64 ts,
			    struct task_struct *leader)
{
	fill_fail(record, ts, 0, leader->tgid, cmt_owner_cgroup(leader),
		  leader->comm);
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
	return cmt_pool_alloc(&pool, cmt_owner_now());
}

/* The owner is noted: from here on the RMID is read. */
u32 cmt_owner_begin(struct cmt_rmid *r)
{
	r->domain = cmt_cpu_domain_id();
	r->residual_known = cmt_sampler_begin(cmt_pool_number(&pool, r),
					      r->generation,
					      &r->residual_bytes);
	cmt_pool_publish(&pool, r);
	allocs++;
	owner_emit(CMT_REC_ALLOC, r->since, r);
	return cmt_pool_number(&pool, r);
}

void cmt_owner_give(struct task_struct *leader, struct cmt_rmid *r)
{
	if (owner_table[leader->tgid] == CMT_WAITS_ALONE)
		cmt_owner_served();
	r->tgid = leader->tgid;
	r->cgroup_id = cmt_owner_cgroup(leader);
	strscpy_pad(r->comm, leader->comm, CMT_COMM_LEN);
	cmt_table_set(leader->tgid, cmt_owner_begin(r));
}

void cmt_owner_queue(struct task_struct *leader)
{
	struct cmt_record record;

	/* the last one of an object that has ended is a FREE, with its time */
	cmt_table_set(leader->tgid, CMT_WAITS_ALONE);
	cmt_owner_fill_process(&record, cmt_owner_now(), leader);
	alloc_fails++;
	cmt_emit(&record);
}

u64 cmt_owner_fail(const struct cmt_object *object)
{
	struct cmt_record record;

	cmt_owner_fill_object(&record, object);
	record.ts = cmt_owner_now();
	waiting++;
	alloc_fails++;
	cmt_emit(&record);
	return record.ts;
}

void cmt_owner_served(void)
{
	served++;
}

void cmt_owner_gave_up(void)
{
	waiting--;
}

u32 cmt_owner_waiting(void)
{
	return READ_ONCE(waiting);
}

u64 cmt_owner_next_free(void)
{
	return pool.nr_free ? 0 : cmt_pool_next_settle(&pool);
}

/* On other CPUs some may still run under it, for less than it is in LIMBO. */
void cmt_owner_free(u32 rmid)
{
	u64 now = cmt_owner_now();

	if (cmt_pool_free(&pool, rmid, now))
		return;
	pool.rmids[rmid].object = NULL;
	frees++;
	owner_emit(CMT_REC_FREE, now, &pool.rmids[rmid]);
	cmt_cpu_refresh();
}

struct cmt_rmid *cmt_owner_rmid_of(u32 rmid)
{
	return &pool.rmids[rmid];
}

u32 cmt_owner_number(const struct cmt_rmid *r)
{
	return cmt_pool_number(&pool, r);
}

void cmt_owner_exclude(u32 rmid)
{
	cmt_pool_exclude(&pool, rmid);
}

void cmt_owner_include(u32 rmid)
{
	cmt_pool_include(&pool, rmid, cmt_owner_now());
}

/* A process does not have this entry any more, its threads may. */
static void owner_left(u16 entry)
{
	if (entry && !(entry & CMT_WAITS))
		set_bit(entry, left);
}

u16 cmt_table_get(u32 tgid)
{
	return READ_ONCE(owner_table[tgid]);
}

struct cmt_object *cmt_entry_object(u16 entry)
{
	if (entry == CMT_WAITS_ALONE)
		return NULL;
	if (entry & CMT_WAITS)
		return cmt_object_at(entry & ~CMT_WAITS);
	return READ_ONCE(pool.rmids[entry].object);
}

void cmt_table_set(u32 tgid, u16 entry)
{
	u16 old = owner_table[tgid];
	struct cmt_object *from = cmt_entry_object(old);
	struct cmt_object *to = cmt_entry_object(entry);

	lockdep_assert_held(&cmt_owner_lock);
	if (old == entry)
		return;
	WRITE_ONCE(owner_table[tgid], entry);
	if (cmt_owner_settling())
		owner_left(old);
	if (to)
		cmt_object_join(to);
	if (entry == CMT_WAITS_ALONE)
		waiting++;
	if (from)
		cmt_object_leave(from);
	else if (old == CMT_WAITS_ALONE)
		waiting--;
	else if (old)
		cmt_owner_free(old);
}

/*
 * All who wait run under one RMID of their own, so that what they hold shows.
 * Where RMIDs are very few, one is not worth that: those who wait have RMID 0.
 */
void cmt_owner_take_rest(void)
{
	struct cmt_rmid *r = NULL;

	lockdep_assert_held(&cmt_owner_lock);
	if (!rest && pool.nr >= REST_MIN_RMIDS)
		r = cmt_owner_take();
	if (!r)
		return;
	r->flags = CMT_F_OWNER_REST;
	strscpy_pad(r->comm, "rest", CMT_COMM_LEN);
	WRITE_ONCE(rest, cmt_owner_begin(r));
}

/* They get another RMID in common, or have none until one is free. */
void cmt_owner_evict_rest(void)
{
	u32 old = rest;

	WRITE_ONCE(rest, CMT_RMID_NONE);
	cmt_owner_free(old);
	cmt_owner_take_rest();
}

void cmt_owner_settle(enum cmt_settler who, u64 since)
{
	int i;

	lockdep_assert_held(&cmt_owner_lock);
	settle_since[who] = since;
	pool.hold = U64_MAX;
	for (i = 0; i < CMT_NR_SETTLERS; i++)
		WRITE_ONCE(pool.hold, min(pool.hold, settle_since[i]));
	if (pool.hold == U64_MAX)
		bitmap_zero(left, CMT_MAX_RMIDS);
}

u64 cmt_owner_settles(enum cmt_settler who)
{
	return settle_since[who];
}

bool cmt_owner_settling(void)
{
	return READ_ONCE(pool.hold) != U64_MAX;
}

bool cmt_owner_was_left(u32 rmid)
{
	return rmid < pool.nr && test_bit(rmid, left);
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
	for (rmid = 1; rmid < pool.nr; rmid++) {
		struct cmt_rmid *r = &pool.rmids[rmid];

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
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
}

u32 cmt_owners_active(void)
{
	return READ_ONCE(pool.nr_active);
}

int cmt_owners_init(void)
{
	u32 nr = cmt_caps.nr_rmids;
	struct cmt_rmid *rmids = vcalloc(nr, sizeof(*rmids));
	u32 *live = vcalloc(nr, sizeof(*live));

	owner_table = vcalloc(PID_MAX_LIMIT, sizeof(*owner_table));
	if (!rmids || !live || !owner_table || cmt_objects_init()) {
		vfree(owner_table);
		vfree(live);
		vfree(rmids);
		return -ENOMEM;
	}
	cmt_pool_init(&pool, rmids, live, nr, CMT_LIMBO_NS);
	cmt_serve_init();
	cmt_foreign_init();
	cmt_scope_init();
	return 0;
}

void cmt_owners_stop(void)
{
	cmt_scope_stop();
	cmt_foreign_stop();
	cmt_serve_stop();
}

void cmt_owners_exit(void)
{
	cmt_containers_exit();
	cmt_objects_exit();
	vfree(owner_table);
	vfree(pool.live);
	vfree(pool.rmids);
}
