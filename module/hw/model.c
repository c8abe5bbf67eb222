// SPDX-License-Identifier: GPL-2.0
/* The arithmetic of the emulated cache; emulated.c describes the model. */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "model.h"

/* Beyond these (13 days between two folds, 8 TiB) products overflow. */
#define MODEL_MAX_NS		BIT_ULL(50)
#define MODEL_MAX_RSS_BYTES	BIT_ULL(43)

#define MODEL_SHARE_SHIFT	20

void cmt_model_init(struct cmt_model *model, struct cmt_model_owner *owners,
		    u32 nr_owners, u64 cache_bytes)
{
	model->cache_bytes = min_t(u64, cache_bytes, CMT_MODEL_MAX_CACHE_BYTES);
	model->total_bytes = 0;
	model->nr_owners = nr_owners;
	model->owners = owners;
}

/* bytes * (rss - cache) / rss: the part of a set that cannot be cached */
static u64 model_misses(u64 bytes, u64 rss_bytes, u64 cache_bytes)
{
	u64 share, low = bytes & (BIT_ULL(MODEL_SHARE_SHIFT) - 1);

	if (rss_bytes <= cache_bytes)
		return 0;
	share = div64_u64((rss_bytes - cache_bytes) << MODEL_SHARE_SHIFT,
			  rss_bytes);
	return (bytes >> MODEL_SHARE_SHIFT) * share +
	       (low * share >> MODEL_SHARE_SHIFT);
}

void cmt_model_run(struct cmt_model *model, u32 rmid, u64 ns, u64 rss_bytes)
{
	struct cmt_model_owner *owner = &model->owners[rmid];
	u64 touched, target, filled = 0;

	rss_bytes = min_t(u64, rss_bytes, MODEL_MAX_RSS_BYTES);
	target = min_t(u64, rss_bytes, model->cache_bytes);
	touched = min_t(u64, ns, MODEL_MAX_NS) * CMT_MODEL_FILL_BYTES_PER_NS;

	if (owner->occupancy_bytes < target)
		filled = min_t(u64, touched, target - owner->occupancy_bytes);
	owner->occupancy_bytes += filled;
	model->total_bytes += filled;
	owner->traffic_bytes += filled + model_misses(touched - filled,
						      rss_bytes,
						      model->cache_bytes);
}

void cmt_model_evict(struct cmt_model *model)
{
	u64 left = 0, total = model->total_bytes;
	u32 i;

	if (total <= model->cache_bytes)
		return;

	/*
	 * Rounding down keeps the sum within the cache.  No owner is larger
	 * than the cache, so the product stays below 2^60.
	 */
	for (i = 0; i < model->nr_owners; i++) {
		struct cmt_model_owner *owner = &model->owners[i];

		if (!owner->occupancy_bytes)
			continue;
		owner->occupancy_bytes =
			div64_u64(owner->occupancy_bytes * model->cache_bytes,
				  total);
		left += owner->occupancy_bytes;
	}
	model->total_bytes = left;
}
