/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RMID pool: which RMIDs are free, which have an owner, and since when.
 * Pure: time is an argument, locking is the caller's (table.c).
 *
 *	FREE --alloc--> ACTIVE --free--> LIMBO --CMT_LIMBO_NS, drained--> FREE
 *	FREE or LIMBO --exclude--> FOREIGN --include--> LIMBO
 *
 * FREE RMIDs are in one queue, in the order in which they were freed: the RMID that is
 * allocated next had the longest time for its cache lines to be evicted.  RMID 0 is
 * RESERVED: it is never allocated.
 *
 * An RMID leaves LIMBO when its time is over and the caller has stated that it is loaded
 * on no CPU (cmt_pool_drained()).
 */
#ifndef CMT_RMID_H
#define CMT_RMID_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/types.h>

#include "uapi/cmt.h"

#define CMT_LIMBO_NS	2000000ULL	/* twice the default interval */

enum cmt_rmid_state {
	CMT_RMID_RESERVED,	/* RMID 0 */
	CMT_RMID_FREE,
	CMT_RMID_ACTIVE,
	CMT_RMID_LIMBO,
	CMT_RMID_FOREIGN,	/* resctrl or another agent uses the RMID */
};

struct cmt_owner;

struct cmt_rmid {
	enum cmt_rmid_state state;
	u32 generation;		/* generation of the last owner; 0: no owner so far */
	struct list_head list;	/* in cmt_pool.free, in cmt_pool.limbo, or in no list */
	u32 flags;		/* CMT_F_OWNER_*, _ATTACHED, _SERVICE of the owner */
	struct cmt_owner *owner;	/* set by the caller; NULL: FOREIGN, or none */
	u32 tgid;		/* cmt_record.tgid of lifecycle records */
	u32 domain;		/* the L3 domain id of residual_bytes */
	bool residual_known;
	u64 cgroup_id;
	u64 residual_bytes;
	u64 since;		/* ns, when the RMID became ACTIVE or FOREIGN */
	u64 freed;		/* ns, when the RMID went to LIMBO */
	char comm[CMT_COMM_LEN];
};

struct cmt_pool {
	/* Arrays of the caller, with room for every RMID that any agent may load: */
	struct cmt_rmid *rmids;	/* by number */
	u32 *live;		/* by number: generation while published, else 0;
				 * also of resctrl's RMIDs, which may be nr or
				 * above.  Written under the caller's lock, read
				 * with READ_ONCE in any context
				 */
	unsigned long *readable;	/* RMID 0 and all published RMIDs */
	u32 nr;
	struct list_head free;	/* in the order of allocation */
	struct list_head limbo;	/* the oldest first */
	u32 nr_free;
	u32 nr_limbo;
	u32 nr_active;
	u32 nr_foreign;
	u64 drained;		/* ns: RMIDs that were freed later stay in LIMBO */
};

/*
 * Begin with all RMIDs below @nr except 0 FREE, the highest first: resctrl allocates
 * RMIDs from the lowest on.  The caller has set the arrays of @pool, which are zero.
 */
void cmt_pool_init(struct cmt_pool *pool, u32 nr);

/*
 * Take the RMID that has been free for the longest time.  Returns it with
 * since and generation set and no metadata, or NULL when none is FREE at @now.
 * Nothing reads the RMID before cmt_pool_publish().
 */
struct cmt_rmid *cmt_pool_alloc(struct cmt_pool *pool, u64 now);

/*
 * Return an RMID of cmt_pool_alloc() that was not used: the next call allocates it.
 */
void cmt_pool_return(struct cmt_pool *pool, struct cmt_rmid *r);

/* An ACTIVE or FOREIGN RMID: the sampler reads it from now on. */
void cmt_pool_publish(struct cmt_pool *pool, const struct cmt_rmid *r);

/* Send an ACTIVE RMID to LIMBO.  Its metadata stays.  -EINVAL: the RMID is not ACTIVE. */
int cmt_pool_free(struct cmt_pool *pool, u32 rmid, u64 now);

/*
 * Another agent uses an RMID: it is not allocated, and has a new generation and
 * no metadata.  -EBUSY: it is ACTIVE, free it first; -EALREADY: it is FOREIGN.
 */
int cmt_pool_exclude(struct cmt_pool *pool, u32 rmid, u64 now);

/* No agent uses a FOREIGN RMID any more: to LIMBO.  -EINVAL: not FOREIGN. */
int cmt_pool_include(struct cmt_pool *pool, u32 rmid, u64 now);

/*
 * Every CPU has loaded its RMID again since @until, ns.  So RMIDs that were freed up to
 * @until are loaded on no CPU.
 */
void cmt_pool_drained(struct cmt_pool *pool, u64 until);

/* Is no RMID in LIMBO loaded on a CPU, as far as the caller has stated? */
bool cmt_pool_is_drained(const struct cmt_pool *pool);

/*
 * Make RMIDs FREE whose limbo is over at @now, a bounded number in one call.  Returns
 * whether there may be more.
 */
bool cmt_pool_expire(struct cmt_pool *pool, u64 now);

/* The end of the limbo of the oldest RMID in LIMBO; U64_MAX: there is none. */
u64 cmt_pool_next_expiry(struct cmt_pool *pool);

/* The number of an RMID of the pool. */
static inline u32 cmt_pool_number(const struct cmt_pool *pool,
				  const struct cmt_rmid *rmid)
{
	return rmid - pool->rmids;
}

#endif
