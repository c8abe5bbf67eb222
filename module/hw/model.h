/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of the emulated cache; the model is stated in emulated.c.
 * Pure: no clock, no lock, no allocation.  The caller serializes.
 */
#ifndef CMT_MODEL_H
#define CMT_MODEL_H

#include <linux/bits.h>
#include <linux/types.h>

#define CMT_MODEL_LINE_BYTES		64
#define CMT_MODEL_FILL_BYTES_PER_NS	4	/* 4 GB/s, one core from DRAM */
/* Larger caches are taken as this: occupancy * cache must fit in 64 bits. */
#define CMT_MODEL_MAX_CACHE_BYTES	BIT_ULL(30)

struct cmt_model_owner {
	u64 occupancy_bytes;
	u64 traffic_bytes;	/* from memory since the start, never decreases */
};

struct cmt_model {
	u64 cache_bytes;
	u64 total_bytes;	/* sum of all occupancy_bytes */
	u32 nr_owners;
	struct cmt_model_owner *owners;	/* caller's memory, zeroed, by RMID */
};

void cmt_model_init(struct cmt_model *model, struct cmt_model_owner *owners,
		    u32 nr_owners, u64 cache_bytes);

/*
 * @rmid ran for @ns with @rss_bytes resident.  The cache may be overfull until
 * cmt_model_evict(), which ends a round of any number of these.
 */
void cmt_model_run(struct cmt_model *model, u32 rmid, u64 ns, u64 rss_bytes);
void cmt_model_evict(struct cmt_model *model);

#endif
