// SPDX-License-Identifier: GPL-2.0
/*
 * What the switch path and the ticks read of owners, without a lock.  The table
 * says, for a thread group id, under which RMID the process runs: its own, or
 * that of an object it belongs to.  It is indexed by the id itself, so that the
 * switch path needs one load, no lock and no retry
 * (docs/decisions/0003-owner-table.md).
 *
 * All is written under one lock: entries by object.c, RMIDs by owner.c.
 */
#include <linux/bitmap.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "cmt.h"
#include "owner.h"

DEFINE_RAW_SPINLOCK(cmt_owner_lock);
struct cmt_pool cmt_pool;

static u16 *table;	/* by tgid */
static u32 rest;	/* the RMID of all who wait; 0: there is none */

/* Since when they settle, U64_MAX: they do not; and what was left meanwhile. */
static u64 settle_since[CMT_NR_SETTLERS] = {
	[0 ... CMT_NR_SETTLERS - 1] = U64_MAX
};

static unsigned long left[BITS_TO_LONGS(CMT_MAX_RMIDS)];

static u32 entry_rmid(u16 entry)
{
	return unlikely(entry & CMT_WAITS) ? READ_ONCE(rest) : entry;
}

u32 cmt_table_rmid(const struct task_struct *task)
{
	return entry_rmid(READ_ONCE(table[task->tgid]));
}

u32 cmt_table_cpu_rmid(const struct cmt_cpu *cpu)
{
	return entry_rmid(READ_ONCE(cpu->owner));
}

u16 cmt_table_get(u32 tgid)
{
	return READ_ONCE(table[tgid]);
}

/* A process does not have this entry any more, its threads may. */
static void note_left(u16 entry)
{
	if (entry && !(entry & CMT_WAITS))
		set_bit(entry, left);
}

void cmt_table_write(u32 tgid, u16 entry)
{
	u16 old = table[tgid];

	lockdep_assert_held(&cmt_owner_lock);
	WRITE_ONCE(table[tgid], entry);
	if (cmt_table_settling())
		note_left(old);
}

u32 cmt_table_rest(void)
{
	return READ_ONCE(rest);
}

bool cmt_table_is_rest(u32 rmid)
{
	return rmid == READ_ONCE(rest);
}

void cmt_table_set_rest(u32 rmid)
{
	lockdep_assert_held(&cmt_owner_lock);
	WRITE_ONCE(rest, rmid);
}

u32 cmt_table_generation(u32 rmid)
{
	return READ_ONCE(cmt_pool.live[rmid]);
}

const unsigned long *cmt_table_readable(void)
{
	return cmt_pool.readable;
}

u64 cmt_table_since(u32 rmid)
{
	return READ_ONCE(cmt_pool.rmids[rmid].since);
}

void cmt_table_settle(enum cmt_settler who, u64 since)
{
	int i;

	lockdep_assert_held(&cmt_owner_lock);
	settle_since[who] = since;
	cmt_pool.hold = U64_MAX;
	for (i = 0; i < CMT_NR_SETTLERS; i++)
		WRITE_ONCE(cmt_pool.hold,
			   min(cmt_pool.hold, settle_since[i]));
	if (cmt_pool.hold == U64_MAX)
		bitmap_zero(left, CMT_MAX_RMIDS);
}

u64 cmt_table_settles(enum cmt_settler who)
{
	return settle_since[who];
}

bool cmt_table_settling(void)
{
	return READ_ONCE(cmt_pool.hold) != U64_MAX;
}

bool cmt_table_was_left(u32 rmid)
{
	return rmid < cmt_pool.nr && test_bit(rmid, left);
}

int cmt_table_init(void)
{
	u32 nr = cmt_caps.nr_rmids;
	struct cmt_rmid *rmids = vcalloc(nr, sizeof(*rmids));
	u32 *live = vcalloc(nr, sizeof(*live));

	table = vcalloc(PID_MAX_LIMIT, sizeof(*table));
	if (!rmids || !live || !table) {
		vfree(table);
		vfree(live);
		vfree(rmids);
		return -ENOMEM;
	}
	cmt_pool_init(&cmt_pool, rmids, live, nr, CMT_LIMBO_NS);
	return 0;
}

void cmt_table_exit(void)
{
	vfree(table);
	vfree(cmt_pool.live);
	vfree(cmt_pool.rmids);
}
