/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set-associative cache.  One of its lines stands for many lines of a real cache,
 * so that a scenario takes milliseconds; counts are therefore noisier than real ones.
 */
#ifndef CULPRIT_CACHE_H
#define CULPRIT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "rng.h"

#define CACHE_WAYS	16
#define CACHE_SETS	256
#define CACHE_LINES	(CACHE_WAYS * CACHE_SETS)
#define CACHE_OWNERS	32
#define CACHE_NONE	UINT32_MAX

enum cache_policy {
	CACHE_LRU,
	CACHE_RANDOM,
	CACHE_SRRIP,
	CACHE_POLICIES,
};

struct cache {
	enum cache_policy policy;
	uint32_t clock;
	struct rng rng;
	uint32_t held[CACHE_OWNERS];	/* lines of each owner */
	uint32_t tags[CACHE_SETS][CACHE_WAYS];	/* owner << 24 | line; CACHE_NONE */
	uint32_t age[CACHE_SETS][CACHE_WAYS];	/* LRU: time of use; SRRIP: 0..3 */
};

void cache_init(struct cache *cache, enum cache_policy policy, uint64_t seed);

/*
 * @owner touches its line @line (24 bits).  Returns true for a hit.  @evicted: the
 * owner whose line had to go, or CACHE_NONE.
 */
bool cache_touch(struct cache *cache, uint32_t owner, uint32_t line,
		 uint32_t *evicted);

#endif
