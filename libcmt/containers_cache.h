/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table behind struct cmt_containers: by id, and in the order of use. */
#ifndef LIBCMT_CONTAINERS_CACHE_H
#define LIBCMT_CONTAINERS_CACHE_H

#include <cmt/containers.h>
#include <stdbool.h>

struct cmt_state;

struct cmt_item {
	struct cmt_item *next;		/* in its bucket */
	struct cmt_item *newer, *older;	/* in the order of use */
	uint32_t pins;			/* it is not evicted meanwhile */
	struct cmt_container container;
	char *path;
	uint32_t serial;		/* another one whenever the path changes */
	struct cmt_state *state;	/* NULL: the runtime has none */
	bool given;			/* by the caller: nothing is asked */
	/* When to ask again, in CLOCK_MONOTONIC; 0: now. */
	bool named;			/* the runtime was asked, and has answered */
	uint64_t path_due, name_due;
	uint64_t name_wait;		/* grows with each answer "not here" */
};

struct cmt_cache {
	size_t nr_items, nr_buckets, max;
	struct cmt_item **buckets;
	struct cmt_item *newest, *oldest;
};

/* Returns 0 or -ENOMEM. */
int cmt_cache_init(struct cmt_cache *cache, size_t max);
void cmt_cache_destroy(struct cmt_cache *cache);

/* NULL: it is not there. */
struct cmt_item *cmt_cache_find(const struct cmt_cache *cache, uint64_t id);

/*
 * The item of @id, which becomes the newest; a new one, named "cgroup:<id>", may
 * evict the oldest that is not pinned.  NULL: no memory.
 */
struct cmt_item *cmt_cache_get(struct cmt_cache *cache, uint64_t id);

/* It becomes the newest. */
void cmt_cache_use(struct cmt_cache *cache, struct cmt_item *item);

void cmt_cache_drop(struct cmt_cache *cache, struct cmt_item *item);

/* For struct cmt_usage: the item of @id, pinned until it is unpinned; NULL: no memory. */
struct cmt_item *cmt_containers_pin(struct cmt_containers *containers,
				    uint64_t id);
void cmt_containers_unpin(struct cmt_containers *containers,
			  struct cmt_item *item);
/* Another number whenever the path of some item has changed. */
uint64_t cmt_containers_paths(const struct cmt_containers *containers);

/*
 * For cmt-names(8): look up a cgroup whose path was just read, only in the runtimes'
 * own files.  From then on @containers reads no others.  NULL: no memory.
 */
const struct cmt_container *
cmt_containers_lookup_at(struct cmt_containers *containers, uint64_t cgroup_id,
			 const char *path);

/* Look up the missing names that are due; may block.  True: a name is new. */
bool cmt_containers_refresh(struct cmt_containers *containers,
			    struct cmt_item *item);

#endif
