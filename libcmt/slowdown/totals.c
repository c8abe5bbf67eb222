// SPDX-License-Identifier: LGPL-2.1-or-later
/* An owner in all domains together: a share is of all its time. */
#include "slowdown.h"

#include <stdlib.h>

static int cmp_id(const void *pa, const void *pb)
{
	const struct slowdown_total *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Add up the entries of each owner, which follow each other.  Returns the number of owners. */
static uint32_t merge(struct slowdown_total *totals, uint32_t nr)
{
	uint32_t merged = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct slowdown_total *last = merged ? &totals[merged - 1] : NULL;

		if (!last || last->id != totals[i].id) {
			totals[merged++] = totals[i];
			continue;
		}
		last->cycles += totals[i].cycles;
		last->ran_ns += totals[i].ran_ns;
		last->timed &= totals[i].timed;
	}
	return merged;
}

uint32_t slowdown_totals(const struct slowdown *slowdown, struct slowdown_total *totals)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		double scale, ran_ns;

		if (!owner->used)
			continue;
		scale = slowdown_scale(slowdown, owner);
		ran_ns = slowdown_ran_ns(owner);
		if (ran_ns < 0 && !owner->counted)
			ran_ns = 0;
		totals[nr++] = (struct slowdown_total){
			.id = owner->id, .cycles = owner->mean.cycles * scale,
			.ran_ns = ran_ns * scale, .timed = ran_ns >= 0,
		};
	}
	qsort(totals, nr, sizeof(*totals), cmp_id);
	return merge(totals, nr);
}

struct slowdown_total *slowdown_total_of(struct slowdown_total *totals, uint32_t nr, uint64_t id)
{
	const struct slowdown_total key = { .id = id };

	return bsearch(&key, totals, nr, sizeof(*totals), cmp_id);
}

/* The part that misses still have of what they took, where @spared of it is spared */
static double left(const struct slowdown_total *total, double spared)
{
	return spared < total->misses ? 1 - spared / total->misses : 0;
}

/*
 * A miss that the cache spares costs nothing by memory, so memory is limited to the misses that
 * are left.  Neither limit is below what one neighbour alone would change.
 */
void slowdown_total_limit(struct slowdown_total *total)
{
	struct slowdown_part *cache = &total->first[CMT_SLOWDOWN_CACHE];
	struct slowdown_part *memory = &total->first[CMT_SLOWDOWN_MEMORY];
	double limit = slowdown_larger(total->limit[CMT_SLOWDOWN_CACHE], cache->share);

	cache->most = slowdown_least(total->sum[CMT_SLOWDOWN_CACHE], limit);
	limit = slowdown_larger(total->limit[CMT_SLOWDOWN_MEMORY] * left(total, cache->most),
				total->worst - cache->most);
	memory->most = slowdown_least(total->sum[CMT_SLOWDOWN_MEMORY], limit);
}
