// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

#define TABLE_MIN 64	/* a power of two */

static size_t hash(const struct cmt_cache *cache, uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) &
	       (cache->nr_buckets - 1);
}

int cmt_cache_init(struct cmt_cache *cache, size_t max)
{
	*cache = (struct cmt_cache){ .max = max, .nr_buckets = TABLE_MIN };
	cache->buckets = calloc(cache->nr_buckets, sizeof(*cache->buckets));
	return cache->buckets ? 0 : -ENOMEM;
}

void cmt_cache_destroy(struct cmt_cache *cache)
{
	for (size_t i = 0; cache->buckets && i < cache->nr_buckets; i++)
		while (cache->buckets[i])
			cmt_cache_drop(cache, cache->buckets[i]);
	free(cache->buckets);
}

struct cmt_item *cmt_cache_find(const struct cmt_cache *cache, uint64_t id)
{
	struct cmt_item *item = cache->buckets[hash(cache, id)];

	while (item && item->container.cgroup_id != id)
		item = item->next;
	return item;
}

/* A table that cannot grow gets slower, that is all. */
static void grow(struct cmt_cache *cache)
{
	struct cmt_cache bigger = *cache;

	bigger.nr_buckets = cache->nr_buckets * 2;
	bigger.buckets = calloc(bigger.nr_buckets, sizeof(*bigger.buckets));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < cache->nr_buckets; i++) {
		while (cache->buckets[i]) {
			struct cmt_item *item = cache->buckets[i];
			size_t to = hash(&bigger, item->container.cgroup_id);

			cache->buckets[i] = item->next;
			item->next = bigger.buckets[to];
			bigger.buckets[to] = item;
		}
	}
	free(cache->buckets);
	*cache = bigger;
}

static void unlink_use(struct cmt_cache *cache, struct cmt_item *item)
{
	if (item->newer)
		item->newer->older = item->older;
	else
		cache->newest = item->older;
	if (item->older)
		item->older->newer = item->newer;
	else
		cache->oldest = item->newer;
	cache->nr_unpinned--;
}

static void link_newest(struct cmt_cache *cache, struct cmt_item *item)
{
	item->newer = NULL;
	item->older = cache->newest;
	if (cache->newest)
		cache->newest->newer = item;
	else
		cache->oldest = item;
	cache->newest = item;
	cache->nr_unpinned++;
}

void cmt_cache_use(struct cmt_cache *cache, struct cmt_item *item)
{
	if (item->pins || item == cache->newest)
		return;
	unlink_use(cache, item);
	link_newest(cache, item);
}

void cmt_cache_drop(struct cmt_cache *cache, struct cmt_item *item)
{
	struct cmt_item **link;

	link = &cache->buckets[hash(cache, item->container.cgroup_id)];
	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	if (!item->pins)
		unlink_use(cache, item);
	cache->nr_items--;
	free(item->path);
	free(item->state);
	free(item);
}

static void add_newest(struct cmt_cache *cache, struct cmt_item *item)
{
	if (cache->nr_unpinned >= cache->max)
		cmt_cache_drop(cache, cache->oldest);
	link_newest(cache, item);
}

void cmt_cache_pin(struct cmt_cache *cache, struct cmt_item *item)
{
	if (!item->pins++)
		unlink_use(cache, item);
}

void cmt_cache_unpin(struct cmt_cache *cache, struct cmt_item *item)
{
	if (!--item->pins)
		add_newest(cache, item);
}

static struct cmt_item *item_new(struct cmt_cache *cache, uint64_t id)
{
	struct cmt_item *item = calloc(1, sizeof(*item));
	struct cmt_item **link;

	if (!item)
		return NULL;
	item->container.sz = sizeof(item->container);
	item->container.cgroup_id = id;
	snprintf(item->container.name, sizeof(item->container.name),
		 "cgroup:%" PRIu64, id);
	if (cache->nr_items >= cache->nr_buckets)
		grow(cache);
	link = &cache->buckets[hash(cache, id)];
	item->next = *link;
	*link = item;
	cache->nr_items++;
	add_newest(cache, item);
	return item;
}

struct cmt_item *cmt_cache_get(struct cmt_cache *cache, uint64_t id)
{
	struct cmt_item *item = cmt_cache_find(cache, id);

	if (!item)
		return item_new(cache, id);
	cmt_cache_use(cache, item);
	return item;
}
