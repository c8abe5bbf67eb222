// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "rmid.h"

static void pool_push(struct cmt_pool *pool, u32 rmid)
{
	pool->rmids[rmid].next = 0;
	if (pool->tail)
		pool->rmids[pool->tail].next = rmid;
	else
		pool->head = rmid;
	pool->tail = rmid;
}

static u32 pool_pop(struct cmt_pool *pool)
{
	u32 rmid = pool->head;

	pool->head = pool->rmids[rmid].next;
	if (!pool->head)
		pool->tail = 0;
	pool->rmids[rmid].next = 0;
	return rmid;
}

/* Take one out of the middle. */
static void pool_unlink(struct cmt_pool *pool, u32 rmid)
{
	u32 next = pool->rmids[rmid].next, prev;

	if (pool->first_limbo == rmid)
		pool->first_limbo = next;
	if (pool->head == rmid) {
		pool_pop(pool);
		return;
	}
	for (prev = pool->head; pool->rmids[prev].next != rmid;)
		prev = pool->rmids[prev].next;
	pool->rmids[prev].next = next;
	if (!next)
		pool->tail = prev;
	pool->rmids[rmid].next = 0;
}

static void pool_push_limbo(struct cmt_pool *pool, u32 rmid, u64 now)
{
	struct cmt_rmid *r = &pool->rmids[rmid];

	r->state = CMT_RMID_LIMBO;
	r->freed = now;
	pool_push(pool, rmid);
	if (!pool->first_limbo)
		pool->first_limbo = rmid;
	pool->nr_limbo++;
}

void cmt_pool_init(struct cmt_pool *pool, struct cmt_rmid *rmids, u32 *live,
		   u32 nr, u64 limbo_ns)
{
	u32 rmid;

	memset(pool, 0, sizeof(*pool));
	pool->rmids = rmids;
	pool->live = live;
	pool->nr = nr;
	pool->limbo_ns = limbo_ns;
	pool->hold = U64_MAX;
	set_bit(0, pool->readable);

	for (rmid = nr - 1; rmid; rmid--) {
		rmids[rmid].state = CMT_RMID_FREE;
		pool_push(pool, rmid);
		pool->nr_free++;
	}
}

struct cmt_rmid *cmt_pool_alloc(struct cmt_pool *pool, u64 now)
{
	struct cmt_rmid *r;
	u32 rmid;

	cmt_pool_settle(pool, now);
	if (!pool->nr_free)
		return NULL;

	rmid = pool_pop(pool);
	r = &pool->rmids[rmid];
	pool->nr_free--;
	pool->nr_active++;

	r->state = CMT_RMID_ACTIVE;
	r->since = now;
	if (!++r->generation)
		r->generation = 1;
	r->flags = 0;
	r->object = NULL;
	r->tgid = 0;
	r->cgroup_id = 0;
	r->residual_known = false;
	r->residual_bytes = 0;
	memset(r->comm, 0, sizeof(r->comm));
	return r;
}

void cmt_pool_publish(struct cmt_pool *pool, const struct cmt_rmid *r)
{
	u32 rmid = cmt_pool_number(pool, r);

	WRITE_ONCE(pool->live[rmid], r->generation);
	set_bit(rmid, pool->readable);
}

int cmt_pool_free(struct cmt_pool *pool, u32 rmid, u64 now)
{
	struct cmt_rmid *r;

	if (WARN_ON_ONCE(rmid >= pool->nr))
		return -EINVAL;
	r = &pool->rmids[rmid];
	if (WARN_ON_ONCE(r->state != CMT_RMID_ACTIVE))
		return -EINVAL;

	clear_bit(rmid, pool->readable);
	WRITE_ONCE(pool->live[rmid], 0);
	pool->nr_active--;
	pool_push_limbo(pool, rmid, now);
	return 0;
}

int cmt_pool_exclude(struct cmt_pool *pool, u32 rmid)
{
	struct cmt_rmid *r;

	if (WARN_ON_ONCE(!rmid || rmid >= pool->nr))
		return -EINVAL;
	r = &pool->rmids[rmid];
	if (r->state == CMT_RMID_ACTIVE)
		return -EBUSY;
	if (r->state == CMT_RMID_FOREIGN)
		return 0;

	if (r->state == CMT_RMID_FREE)
		pool->nr_free--;
	else
		pool->nr_limbo--;
	pool_unlink(pool, rmid);
	r->state = CMT_RMID_FOREIGN;
	pool->nr_foreign++;
	return 0;
}

int cmt_pool_include(struct cmt_pool *pool, u32 rmid, u64 now)
{
	if (WARN_ON_ONCE(rmid >= pool->nr) ||
	    pool->rmids[rmid].state != CMT_RMID_FOREIGN)
		return -EINVAL;
	pool->nr_foreign--;
	pool_push_limbo(pool, rmid, now);
	return 0;
}

void cmt_pool_settle(struct cmt_pool *pool, u64 now)
{
	u64 next;

	while ((next = cmt_pool_next_settle(pool)) != U64_MAX && next <= now) {
		struct cmt_rmid *r = &pool->rmids[pool->first_limbo];

		r->state = CMT_RMID_FREE;
		pool->first_limbo = r->next;
		pool->nr_limbo--;
		pool->nr_free++;
	}
}

u64 cmt_pool_next_settle(const struct cmt_pool *pool)
{
	u32 first = pool->first_limbo;

	if (!first || pool->rmids[first].freed > pool->hold)
		return U64_MAX;
	return pool->rmids[first].freed + pool->limbo_ns;
}
