// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "rmid.h"

static void pool_push_limbo(struct cmt_pool *pool, u32 rmid, u64 now)
{
	struct cmt_rmid *r = &pool->rmids[rmid];

	r->state = CMT_RMID_LIMBO;
	r->freed = now;
	list_add_tail(&r->list, &pool->limbo);
	pool->nr_limbo++;
}

void cmt_pool_init(struct cmt_pool *pool, u32 nr)
{
	u32 rmid;

	*pool = (struct cmt_pool){
		.rmids = pool->rmids,
		.live = pool->live,
		.readable = pool->readable,
		.nr = nr,
		.nr_free = nr - 1,
	};
	INIT_LIST_HEAD(&pool->free);
	INIT_LIST_HEAD(&pool->limbo);
	set_bit(0, pool->readable);

	for (rmid = 1; rmid < nr; rmid++) {
		pool->rmids[rmid].state = CMT_RMID_FREE;
		list_add(&pool->rmids[rmid].list, &pool->free);
	}
}

/* A new owner: of the previous one only the number stays. */
static void pool_begin(struct cmt_rmid *r, enum cmt_rmid_state state, u64 now)
{
	r->state = state;
	r->since = now;
	if (!++r->generation)
		r->generation = 1;
	r->flags = 0;
	r->owner = NULL;
	r->tgid = 0;
	r->cgroup_id = 0;
	r->residual_known = false;
	r->residual_bytes = 0;
	memset(r->comm, 0, sizeof(r->comm));
}

static void pool_unpublish(struct cmt_pool *pool, u32 rmid)
{
	clear_bit(rmid, pool->readable);
	WRITE_ONCE(pool->live[rmid], 0);
}

struct cmt_rmid *cmt_pool_alloc(struct cmt_pool *pool, u64 now)
{
	struct cmt_rmid *r;

	cmt_pool_expire(pool, now);
	if (!pool->nr_free)
		return NULL;

	r = list_first_entry(&pool->free, struct cmt_rmid, list);
	list_del(&r->list);
	pool->nr_free--;
	pool->nr_active++;
	pool_begin(r, CMT_RMID_ACTIVE, now);
	return r;
}

void cmt_pool_return(struct cmt_pool *pool, struct cmt_rmid *r)
{
	r->state = CMT_RMID_FREE;
	r->owner = NULL;
	list_add(&r->list, &pool->free);
	pool->nr_active--;
	pool->nr_free++;
}

void cmt_pool_publish(struct cmt_pool *pool, const struct cmt_rmid *r)
{
	u32 rmid = cmt_pool_number(pool, r);

	WRITE_ONCE(pool->live[rmid], r->generation);
	set_bit(rmid, pool->readable);
}

int cmt_pool_free(struct cmt_pool *pool, u32 rmid, u64 now)
{
	if (WARN_ON_ONCE(rmid >= pool->nr ||
			 pool->rmids[rmid].state != CMT_RMID_ACTIVE))
		return -EINVAL;

	pool_unpublish(pool, rmid);
	pool->nr_active--;
	pool_push_limbo(pool, rmid, now);
	return 0;
}

int cmt_pool_exclude(struct cmt_pool *pool, u32 rmid, u64 now)
{
	struct cmt_rmid *r;

	if (WARN_ON_ONCE(!rmid || rmid >= pool->nr))
		return -EINVAL;
	r = &pool->rmids[rmid];
	if (r->state == CMT_RMID_ACTIVE)
		return -EBUSY;
	if (r->state == CMT_RMID_FOREIGN)
		return -EALREADY;

	if (r->state == CMT_RMID_FREE)
		pool->nr_free--;
	else
		pool->nr_limbo--;
	list_del(&r->list);
	pool_begin(r, CMT_RMID_FOREIGN, now);
	pool->nr_foreign++;
	return 0;
}

int cmt_pool_include(struct cmt_pool *pool, u32 rmid, u64 now)
{
	if (WARN_ON_ONCE(rmid >= pool->nr) ||
	    pool->rmids[rmid].state != CMT_RMID_FOREIGN)
		return -EINVAL;
	pool_unpublish(pool, rmid);
	pool->nr_foreign--;
	pool_push_limbo(pool, rmid, now);
	return 0;
}

void cmt_pool_drained(struct cmt_pool *pool, u64 until)
{
	pool->drained = until;
}

bool cmt_pool_is_drained(const struct cmt_pool *pool)
{
	return list_empty(&pool->limbo) ||
	       list_last_entry(&pool->limbo, struct cmt_rmid, list)->freed <=
	       pool->drained;
}

static struct cmt_rmid *pool_first_limbo(struct cmt_pool *pool)
{
	return list_first_entry_or_null(&pool->limbo, struct cmt_rmid, list);
}

static bool pool_is_over(const struct cmt_pool *pool, const struct cmt_rmid *r,
			 u64 now)
{
	return r->freed <= pool->drained && r->freed + CMT_LIMBO_NS <= now;
}

/* A few at a time: the caller has interrupts off. */
#define EXPIRE_MAX	16

bool cmt_pool_expire(struct cmt_pool *pool, u64 now)
{
	struct cmt_rmid *r;
	u32 n;

	for (n = 0; n < EXPIRE_MAX; n++) {
		r = pool_first_limbo(pool);
		if (!r || !pool_is_over(pool, r, now))
			return false;
		r->state = CMT_RMID_FREE;
		list_move_tail(&r->list, &pool->free);
		pool->nr_limbo--;
		pool->nr_free++;
	}
	return true;
}

u64 cmt_pool_next_expiry(struct cmt_pool *pool)
{
	const struct cmt_rmid *r = pool_first_limbo(pool);

	return r ? r->freed + CMT_LIMBO_NS : U64_MAX;
}
