// SPDX-License-Identifier: GPL-2.0
/*
 * The owners, the RMIDs, and the lock of both.  All of it is allocated at load, because a
 * probe must not allocate; the lifecycle clock orders the changes.
 */
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include "hw/hw.h"
#include "internal.h"

/* this many numbers of owners are not for services */
#define NOT_FOR_SERVICES	(CMT_NR_OWNERS / 4)

u16 *cmt_owner_table;
u16 cmt_owner_rmids[CMT_NR_OWNERS];
struct cmt_owner *cmt_owners;
struct cmt_pool owner_pool;
DEFINE_RAW_SPINLOCK(owner_lock);

static LIST_HEAD(unused);
static u32 nr_unused;
static u64 last_ts;		/* time of the last lifecycle record */
static u64 locked_at;		/* TSC */
static u64 locked_longest;	/* TSC cycles */

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

u64 owner_lock_held_ns(void)
{
	return mul_u64_u32_div(locked_longest, 1000000, tsc_khz ?: 1000000);
}

u64 cmt_owner_now(void)
{
	lockdep_assert_held(&owner_lock);
	last_ts = max(ktime_get_ns(), last_ts + 1);
	return last_ts;
}

struct cmt_owner *owner_unused(bool service)
{
	struct cmt_owner *owner;

	lockdep_assert_held(&owner_lock);
	owner = list_first_entry_or_null(&unused, struct cmt_owner, unused);
	if (!owner || (service && nr_unused < NOT_FOR_SERVICES))
		return NULL;
	list_del(&owner->unused);
	nr_unused--;
	return owner;
}

void owner_end(struct cmt_owner *owner)
{
	if (owner->members || owner->giving)
		return;
	owner->kind = 0;
	list_add_tail(&owner->unused, &unused);
	nr_unused++;
}

const unsigned long *cmt_table_readable(void)
{
	return owner_pool.readable;
}

u32 cmt_table_generation(u32 rmid)
{
	return READ_ONCE(owner_pool.live[rmid]);
}

const u32 *cmt_table_generations(void)
{
	return owner_pool.live;
}

u64 cmt_table_since(u32 rmid)
{
	return READ_ONCE(owner_pool.rmids[rmid].since);
}

u32 cmt_owners_active(void)
{
	return READ_ONCE(owner_pool.nr_active);
}

bool cmt_rmid_is_foreign(u32 rmid)
{
	return READ_ONCE(owner_pool.rmids[rmid].state) == CMT_RMID_FOREIGN;
}

bool cmt_rmid_has_flag(u32 rmid, u32 flag)
{
	return READ_ONCE(owner_pool.rmids[rmid].flags) & flag;
}

static bool pool_has_arrays(void)
{
	u32 room = cmt_caps.rmid_room;

	owner_pool.rmids = vcalloc(room, sizeof(*owner_pool.rmids));
	owner_pool.live = vcalloc(room, sizeof(*owner_pool.live));
	owner_pool.readable = vcalloc(BITS_TO_LONGS(room), sizeof(*owner_pool.readable));
	return owner_pool.rmids && owner_pool.live && owner_pool.readable;
}

void cmt_owners_exit(void)
{
	vfree(owner_pool.readable);
	vfree(owner_pool.live);
	vfree(owner_pool.rmids);
	vfree(cmt_owner_table);
	vfree(cmt_owners);
}

int owner_tables_alloc(void)
{
	u32 i;

	cmt_owners = vcalloc(CMT_NR_OWNERS, sizeof(*cmt_owners));
	cmt_owner_table = vcalloc(PID_MAX_LIMIT, sizeof(*cmt_owner_table));
	if (!cmt_owners || !cmt_owner_table || !pool_has_arrays()) {
		cmt_owners_exit();
		return -ENOMEM;
	}
	cmt_pool_init(&owner_pool, cmt_caps.nr_rmids);
	for (i = CMT_OVERFLOW_OWNER + 1; i < CMT_NR_OWNERS; i++)
		list_add_tail(&cmt_owners[i].unused, &unused);
	nr_unused = CMT_NR_OWNERS - CMT_OVERFLOW_OWNER - 1;
	return 0;
}
