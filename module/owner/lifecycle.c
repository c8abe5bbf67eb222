// SPDX-License-Identifier: GPL-2.0
/*
 * The records of an RMID's lifecycle: ALLOC, UPDATE and FREE as they happen, EXISTING in a
 * snapshot.
 */
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "hw/hw.h"
#include "internal.h"
#include "ring/ring.h"

#define SNAPSHOT_CHUNK		16	/* RMIDs copied in one hold of the lock */
#define UPDATE_CHUNK		16	/* UPDATEs written in one hold of the lock */
#define UPDATE_NS		NSEC_PER_MSEC	/* between two UPDATEs of an owner */

/* Owners whose UPDATE was postponed, in the order in which these are due. */
static LIST_HEAD(postponed);
static u64 last_postponed;	/* ns: the last pass that had such UPDATEs to write */

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

u32 owner_flags(const struct cmt_owner *owner)
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

u32 owner_tgid(const struct cmt_owner *owner)
{
	return owner->kind == CMT_OWNER_CGROUP ? 0 : owner->id;
}

void owner_describe(struct cmt_rmid *r, const struct cmt_owner *owner)
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
	record->rmid = cmt_pool_number(&owner_pool, r);
	record->generation = r->generation;
	record->tgid = r->tgid;
	record->domain = r->domain;
	record->owner.cgroup_id = r->cgroup_id;
	record->owner.residual_bytes = r->residual_bytes;
	memcpy(record->owner.comm, r->comm, CMT_COMM_LEN);
}

void owner_snapshot_keep(u32 rmid)
{
	const struct cmt_rmid *r = &owner_pool.rmids[rmid];

	lockdep_assert_held(&owner_lock);
	if (likely(!snapshot) || snapshot->records[rmid].type)
		return;
	if (owner_pool.live[rmid])
		rmid_fill(&snapshot->records[rmid], CMT_REC_EXISTING, r->since,
			  r);
	else
		snapshot->records[rmid].type = CMT_REC_FREE;
}

void owner_emit(u16 type, u64 ts, const struct cmt_rmid *r)
{
	struct cmt_record record;

	rmid_fill(&record, type, ts, r);
	cmt_emit(&record);
}

void cmt_owner_fill_fail(struct cmt_record *record,
			 const struct cmt_owner *owner)
{
	u32 rmid = owner_overflow()->rmid;

	*record = (struct cmt_record) {
		.ts = owner->pending_since,
		.type = CMT_REC_ALLOC_FAIL,
		.flags = cmt_caps.record_flags | owner_flags(owner),
		.rmid = rmid,
		.generation = cmt_table_generation(rmid),
		.tgid = owner_tgid(owner),
		.domain = cmt_ring_domain_id(),
		.owner.cgroup_id = owner->cgroup_id,
		.owner.why = owner->why,
	};
	memcpy(record->owner.comm, owner->comm, CMT_COMM_LEN);
}

void cmt_owner_update(struct cmt_owner *owner)
{
	struct cmt_rmid *r = &owner_pool.rmids[owner->rmid];
	u64 now;

	lockdep_assert_held(&owner_lock);
	if (!owner->rmid)
		return;
	now = cmt_owner_now();
	list_del_init(&owner->postponed);
	owner->next_update = now + UPDATE_NS;
	owner_snapshot_keep(owner->rmid);
	owner_describe(r, owner);
	owner_emit(CMT_REC_UPDATE, now, r);
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

void owner_update_write(struct cmt_owner *owner)
{
	const struct cmt_rmid *r = &owner_pool.rmids[owner->rmid];

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

/* Each owner has its own time, but one pass in UPDATE_NS is enough for all of them. */
u64 owner_update_due(void)
{
	const struct cmt_owner *owner = postponed_first();

	if (!owner)
		return U64_MAX;
	return max(owner->next_update, last_postponed + UPDATE_NS);
}

bool cmt_owners_update_postponed(u64 until)
{
	unsigned long flags = cmt_owners_lock();
	struct cmt_owner *owner;
	u32 n;

	for (n = 0; n < UPDATE_CHUNK; n++) {
		owner = postponed_first();
		if (!owner || owner->next_update > until)
			break;
		last_postponed = until;
		owner_update_write(owner);
	}
	cmt_owners_unlock(flags);
	return n == UPDATE_CHUNK;
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
	u32 end = min(snapshot->next + SNAPSHOT_CHUNK, owner_pool.nr);

	lockdep_assert_held(&owner_lock);
	for (; snapshot->next < end; snapshot->next++)
		owner_snapshot_keep(snapshot->next);
	if (end == owner_pool.nr)
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
	complete = mine->next == owner_pool.nr;
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
	for (rmid = 0; rmid < owner_pool.nr; rmid++)
		if (records[rmid].type == CMT_REC_EXISTING)
			records[n++] = records[rmid];
	sort(records, n, sizeof(*records), record_cmp, NULL);
	return n;
}
