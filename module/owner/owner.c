// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: how one is found, and which users and members it has.  An owner is released with
 * its last user; its number is used again when the last member has left.
 */
#include <linux/hashtable.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/string.h>

#include "internal.h"

/* with fewer RMIDs, none is reserved for the overflow owner */
#define OVERFLOW_MIN_RMIDS	8

DEFINE_PER_CPU(u32, cmt_cpu_owner);

static DEFINE_HASHTABLE(owner_hash, 12);	/* by kind and id */
static u64 hash_secret;				/* random and odd, constant after init */
static u32 nr_hashed[CMT_OWNER_CPU + 1];	/* by kind */
static u32 nr_at_level[CMT_LEVEL_DEEP + 1];	/* owners that can be found */
static u32 level_max;				/* the highest level that has owners */
static u32 nr_joined;				/* processes with an owner */
static u64 last_serial;

struct cmt_owner *cmt_owner_of(u32 tgid)
{
	return cmt_owner_at(READ_ONCE(cmt_owner_table[tgid]));
}

/*
 * Users choose ids: they make cgroups until one has the id that they want.  Without the
 * factor they cannot put many owners into one bucket, which is searched under the lock:
 * whatever ids they choose, two of them meet with a probability of 2 / 4096 (multiply-shift
 * hashing, Dietzfelbinger et al. 1997).  The table multiplies by a constant, too, which
 * makes no difference.
 */
static u64 hash_key(u32 kind, u64 id)
{
	return (id ^ (u64)kind << 56) * hash_secret;
}

struct cmt_owner *cmt_owner_find(u32 kind, u64 id)
{
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	hash_for_each_possible(owner_hash, owner, hash, hash_key(kind, id))
		if (owner->kind == kind && owner->id == id && !owner->ended)
			return owner;
	return NULL;
}

struct cmt_owner *cmt_owner_find_ended(u64 tgid)
{
	u64 key = hash_key(CMT_OWNER_PROCESS, tgid);
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	hash_for_each_possible(owner_hash, owner, hash, key)
		if (owner->kind == CMT_OWNER_PROCESS && owner->id == tgid &&
		    owner->ended && owner->attached)
			return owner;
	return NULL;
}

bool cmt_owners_any(u32 kind)
{
	return READ_ONCE(nr_hashed[kind]);
}

/* Owners that are no cgroups are at level 0. */
void cmt_owner_set_level(struct cmt_owner *owner, u32 level)
{
	lockdep_assert_held(&owner_lock);
	nr_at_level[owner->level]--;
	owner->level = min(level, CMT_LEVEL_DEEP);
	nr_at_level[owner->level]++;
	level_max = max(level_max, owner->level);
}

u32 cmt_owners_level(void)
{
	return level_max;
}

u32 cmt_owners_joined(void)
{
	return READ_ONCE(nr_joined);
}

u32 cmt_owners_unnumbered(void)
{
	return READ_ONCE(owner_overflow()->members);
}

void cmt_owner_forget_id(struct cmt_owner *owner)
{
	lockdep_assert_held(&owner_lock);
	if (owner->ended)
		return;
	owner->ended = true;
	nr_hashed[owner->kind]--;
	nr_at_level[owner->level]--;
	while (level_max && !nr_at_level[level_max])
		level_max--;
}

struct cmt_owner *cmt_owner_new(u32 kind, u64 id, u64 cgroup_id,
				const char *comm, enum cmt_by by)
{
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	owner = owner_unused(by == CMT_BY_SERVICE);
	if (!owner)
		return NULL;
	*owner = (struct cmt_owner) {
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
	nr_at_level[0]++;
	if (kind == CMT_OWNER_CPU)
		WRITE_ONCE(per_cpu(cmt_cpu_owner, id), cmt_owner_number(owner));
	owner_pending_enqueue(owner, CMT_WHY_NO_RMID);
	return owner;
}

bool cmt_owner_release(struct cmt_owner *owner)
{
	bool freed;

	lockdep_assert_held(&owner_lock);
	if (!owner->kind || owner->released)
		return false;
	owner->released = true;
	cmt_owner_forget_id(owner);
	hash_del(&owner->hash);
	if (owner->kind == CMT_OWNER_CPU)
		WRITE_ONCE(per_cpu(cmt_cpu_owner, owner->id), 0);
	if (owner->grouped)
		cmt_foreign_queue_scan();
	freed = owner_clear(owner);
	owner_end(owner);
	return freed;
}

/* A cgroup or a CPU may have no members; a process always has members. */
static bool owner_leave(struct cmt_owner *owner)
{
	if (--owner->members || owner_is_overflow(owner))
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
		.why = CMT_WHY_NO_OWNER,
	};

	if (owner_is_overflow(cmt_owner_of(tgid)))
		return false;
	strscpy_pad(process.comm, comm, CMT_COMM_LEN);
	owner_fail(&process);
	return cmt_owner_join(tgid, owner_overflow());
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

static void overflow_init(void)
{
	struct cmt_owner *owner = owner_overflow();

	INIT_LIST_HEAD(&owner->postponed);
	owner->kind = CMT_OWNER_OVERFLOW;
	strscpy_pad(owner->comm, "overflow", CMT_COMM_LEN);
	if (owner_pool.nr >= OVERFLOW_MIN_RMIDS)
		owner_queue_set(owner, true);
}

int cmt_owners_init(void)
{
	int ret = owner_tables_alloc();

	if (ret)
		return ret;
	hash_secret = get_random_u64() | 1;
	overflow_init();
	return 0;
}
