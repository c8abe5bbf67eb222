/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RMID pool: which RMIDs are free, who has the others, and since when.
 * Pure: time is an argument, locking is the caller's (owner.c).
 *
 *	FREE --alloc--> ACTIVE --free--> LIMBO --limbo_ns--> FREE
 *	FREE or LIMBO --exclude--> FOREIGN --include--> LIMBO
 *
 * The free ones stand in one queue, in the order in which they were freed, so
 * that the one handed out next is the one whose cache lines had the longest
 * time to decay.  RMID 0 is in no state: it is never handed out.
 */
#ifndef CMT_RMID_H
#define CMT_RMID_H

#include <linux/bitops.h>
#include <linux/types.h>

#include "backend.h"
#include "uapi/cmt.h"

#define CMT_LIMBO_NS	2000000ULL	/* twice the default interval */

enum cmt_rmid_state {
	CMT_RMID_RESERVED,	/* RMID 0 */
	CMT_RMID_FREE,
	CMT_RMID_ACTIVE,
	CMT_RMID_LIMBO,
	CMT_RMID_FOREIGN,	/* another agent uses it */
};

struct cmt_object;

struct cmt_rmid {
	enum cmt_rmid_state state;
	u32 generation;		/* of the last owner; 0: there was none */
	u32 next;		/* in the queue; 0: last */
	u16 flags;		/* CMT_F_OWNER_*, CMT_F_ATTACHED: what has it */
	struct cmt_object *object;	/* the caller's: who has it */
	u32 tgid;
	u32 domain;		/* the L3 domain id residual_bytes is of */
	bool residual_known;
	u64 cgroup_id;
	u64 residual_bytes;
	u64 since;		/* ns, when it became ACTIVE */
	u64 freed;		/* ns, when it went to LIMBO */
	char comm[CMT_COMM_LEN];
};

struct cmt_pool {
	struct cmt_rmid *rmids;	/* nr of them, by number */
	u32 *live;		/* by number: generation while published, else 0;
				 * written under the caller's lock, read with
				 * READ_ONCE by anybody
				 */
	unsigned long readable[BITS_TO_LONGS(CMT_MAX_RMIDS)];
				/* RMID 0 and those published, read by anybody */
	u32 nr;
	u32 head;		/* queue: FREE ones, then LIMBO ones */
	u32 tail;
	u32 first_limbo;	/* 0: none */
	u32 nr_free;
	u32 nr_limbo;
	u32 nr_active;
	u32 nr_foreign;
	u64 limbo_ns;
	u64 hold;		/* ns: what was freed later stays in LIMBO */
};

/*
 * Begin with all RMIDs but 0 free, the highest first: resctrl hands its own out
 * from the bottom.  @rmids and @live: zeroed, @nr elements, the caller's.
 */
void cmt_pool_init(struct cmt_pool *pool, struct cmt_rmid *rmids, u32 *live,
		   u32 nr, u64 limbo_ns);

/*
 * Take the RMID that has been free for the longest time.  Returns it with
 * since and generation set and no metadata, or NULL when none is FREE at @now.
 * Nobody reads it before cmt_pool_publish().
 */
struct cmt_rmid *cmt_pool_alloc(struct cmt_pool *pool, u64 now);

/* What the RMID holds at its beginning is noted: it may be read from now on. */
void cmt_pool_publish(struct cmt_pool *pool, const struct cmt_rmid *r);

/* Send an ACTIVE RMID to LIMBO; its metadata stays.  -EINVAL: it is not ACTIVE. */
int cmt_pool_free(struct cmt_pool *pool, u32 rmid, u64 now);

/*
 * Another agent uses an RMID: it is not handed out.  -EBUSY: it is ACTIVE, and
 * its owner must give it up first.  Nothing happens to one that is FOREIGN.
 */
int cmt_pool_exclude(struct cmt_pool *pool, u32 rmid);

/* Nobody uses a FOREIGN RMID any more: to LIMBO.  -EINVAL: it is not FOREIGN. */
int cmt_pool_include(struct cmt_pool *pool, u32 rmid, u64 now);

/* Let those whose limbo is over at @now be FREE. */
void cmt_pool_settle(struct cmt_pool *pool, u64 now);

/* When the next LIMBO ends, ns; U64_MAX: nobody is in LIMBO, or all are held. */
u64 cmt_pool_next_settle(const struct cmt_pool *pool);

/* The number of an RMID of the pool. */
static inline u32 cmt_pool_number(const struct cmt_pool *pool,
				  const struct cmt_rmid *rmid)
{
	return rmid - pool->rmids;
}

#endif
