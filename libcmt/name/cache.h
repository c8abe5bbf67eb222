/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table behind struct cmt_containers: a hash table by id, and a list of the items that
 * are not pinned, in the order of use.
 */
#ifndef LIBCMT_CACHE_H
#define LIBCMT_CACHE_H

#include "name.h"

struct cmt_cache {
	size_t nr_items, nr_buckets;
	size_t nr_unpinned, max;	/* in the list, and the most there may be */
	struct cmt_item **buckets;
	struct cmt_item *newest, *oldest;
};

/* Returns 0 or -ENOMEM. */
int cmt_cache_init(struct cmt_cache *cache, size_t max);
void cmt_cache_destroy(struct cmt_cache *cache);

/* NULL: the id is not in the table. */
struct cmt_item *cmt_cache_find(const struct cmt_cache *cache, uint64_t id);

/*
 * The item of @id, which becomes the newest.  A new item has the name "cgroup:<id>",
 * and where max are in the list, it evicts the oldest of them.  NULL: no memory.
 */
struct cmt_item *cmt_cache_get(struct cmt_cache *cache, uint64_t id);

/* Make the item the newest. */
void cmt_cache_use(struct cmt_cache *cache, struct cmt_item *item);

/* Each pin is undone by one unpin.  With the last one the item is the newest. */
void cmt_cache_pin(struct cmt_cache *cache, struct cmt_item *item);
void cmt_cache_unpin(struct cmt_cache *cache, struct cmt_item *item);

void cmt_cache_drop(struct cmt_cache *cache, struct cmt_item *item);

#endif
