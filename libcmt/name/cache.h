/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table behind struct cmt_containers: a hash table by id, and a list in the
 * order of use.
 */
#ifndef LIBCMT_CONTAINERS_CACHE_H
#define LIBCMT_CONTAINERS_CACHE_H

#include <cmt/containers.h>
#include <stdbool.h>

struct cmt_state;

struct cmt_item {
	struct cmt_item *next;		/* next in the hash bucket */
	struct cmt_item *newer, *older;	/* in the order of use */
	/* number of users; a pinned item is not evicted */
	uint32_t pins;
	struct cmt_container container;
	char *path;
	uint32_t serial;		/* changes with the path */
	struct cmt_state *state;	/* NULL: the runtime has no name */
	bool given;			/* set by the caller: no file is read */
	/* the runtime's files were read, and had the container or not */
	bool named;
	/* times of the next lookup, in CLOCK_MONOTONIC; 0: now */
	uint64_t path_due, name_due;
	uint64_t name_wait;		/* grows with each lookup without a result */
};

struct cmt_cache {
	size_t nr_items, nr_buckets, max;
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
 * and may evict the oldest item that is not pinned.  NULL: no memory.
 */
struct cmt_item *cmt_cache_get(struct cmt_cache *cache, uint64_t id);

/* Make the item the newest. */
void cmt_cache_use(struct cmt_cache *cache, struct cmt_item *item);

void cmt_cache_drop(struct cmt_cache *cache, struct cmt_item *item);

/* For struct cmt_usage: the item of @id, pinned until it is unpinned; NULL: no memory. */
struct cmt_item *cmt_containers_pin(struct cmt_containers *containers,
				    uint64_t id);
void cmt_containers_unpin(struct cmt_containers *containers,
			  struct cmt_item *item);
/* Changes whenever the path of an item changes. */
uint64_t cmt_containers_paths(const struct cmt_containers *containers);

/*
 * For cmt-names(8): look up a cgroup, whose path was just read, only in the
 * runtimes' own files.  From then on @containers reads no other files.  NULL: no
 * memory.
 */
const struct cmt_container *
cmt_containers_lookup_at(struct cmt_containers *containers, uint64_t cgroup_id,
			 const char *path);

/* Look up the missing names that are due; may block.  True: a name is new. */
bool cmt_containers_refresh(struct cmt_containers *containers,
			    struct cmt_item *item);

#endif
