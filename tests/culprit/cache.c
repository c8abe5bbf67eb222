// SPDX-License-Identifier: GPL-2.0-or-later
#include "cache.h"

#include <string.h>

#define RRPV_MAX	3

void cache_init(struct cache *cache, enum cache_policy policy, uint64_t seed)
{
	memset(cache, 0, sizeof(*cache));
	memset(cache->tags, 0xff, sizeof(cache->tags));
	cache->policy = policy;
	cache->rng.s = seed;
}

static int lookup(const uint32_t *tags, uint32_t tag)
{
	uint32_t hits = 0;

	/* no early exit: the compiler makes vectors of it */
	for (int way = 0; way < CACHE_WAYS; way++)
		hits |= (uint32_t)(tags[way] == tag) << way;
	return hits ? __builtin_ctz(hits) : -1;
}

static int least(const uint32_t *age)
{
	int way = 0;

	for (int i = 1; i < CACHE_WAYS; i++)
		way = age[i] < age[way] ? i : way;
	return way;
}

static int srrip_victim(uint32_t *age)
{
	for (;;) {
		for (int way = 0; way < CACHE_WAYS; way++) {
			if (age[way] == RRPV_MAX)
				return way;
		}
		for (int way = 0; way < CACHE_WAYS; way++)
			age[way]++;
	}
}

static int victim(struct cache *cache, uint32_t set)
{
	int way = lookup(cache->tags[set], CACHE_NONE);

	if (way >= 0)
		return way;
	switch (cache->policy) {
	case CACHE_RANDOM:
		return (int)rng_below(&cache->rng, CACHE_WAYS);
	case CACHE_SRRIP:
		return srrip_victim(cache->age[set]);
	default:
		return least(cache->age[set]);
	}
}

bool cache_touch(struct cache *cache, uint32_t owner, uint32_t line,
		 uint32_t *evicted)
{
	uint32_t tag = owner << 24 | (line & 0xffffff);
	uint32_t set = tag * 0x9e3779b1U >> 24;
	int way = lookup(cache->tags[set], tag);
	bool hit = way >= 0;

	_Static_assert(CACHE_SETS == 256, "a set is 8 bits of the hash");
	*evicted = CACHE_NONE;
	if (!hit) {
		way = victim(cache, set);
		if (cache->tags[set][way] != CACHE_NONE) {
			*evicted = cache->tags[set][way] >> 24;
			cache->held[*evicted]--;
		}
		cache->tags[set][way] = tag;
		cache->held[owner]++;
	}
	if (cache->policy == CACHE_SRRIP)
		cache->age[set][way] = hit ? 0 : RRPV_MAX - 1;
	else
		cache->age[set][way] = ++cache->clock;
	return hit;
}
