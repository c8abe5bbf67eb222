// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Owners that ran too little for an estimate.  A few milliseconds of a second are one phase of a
 * program, often the one in which it wakes up with cold caches, and these are too few slots to
 * estimate the cost of a miss.
 */
#include "slowdown.h"

#include <errno.h>
#include <stdlib.h>

struct ran {
	uint64_t id;
	double cycles;	/* a mean */
};

bool slowdown_is_enough(double cycles)
{
	return cycles * SLOWDOWN_WINDOW >= SLOWDOWN_CYCLES_LEAST;
}

/* By id; entries of one id by cycles, the domain with most cycles first */
static int cmp_ran(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

static uint32_t list_all(const struct slowdown *slowdown, struct ran *all)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (owner->used && !owner->suspect_only &&
		    slowdown_is_lately(slowdown, owner->ran))
			all[nr++] = (struct ran){
				owner->id, owner->mean.cycles * slowdown_scale(slowdown, owner),
			};
	}
	qsort(all, nr, sizeof(*all), cmp_ran);
	return nr;
}

int slowdown_too_little(const struct slowdown *slowdown, uint64_t *ids, uint32_t n)
{
	struct ran *all;
	uint32_t nr, found = 0;

	if (!slowdown->nr)
		return 0;
	all = malloc(slowdown->nr * sizeof(*all));
	if (!all)
		return -ENOMEM;
	nr = list_all(slowdown, all);
	for (uint32_t i = 0; i < nr; i++) {
		if ((i && all[i].id == all[i - 1].id) || slowdown_is_enough(all[i].cycles))
			continue;
		if (found < n)
			ids[found] = all[i].id;
		found++;
	}
	free(all);
	return (int)found;
}
