// SPDX-License-Identifier: LGPL-2.1-or-later
/* What an owner does in all domains together: a share is one of all its time. */
#include "slowdown.h"

#include <stdlib.h>

static int cmp_id(const void *pa, const void *pb)
{
	const struct slowdown_whole *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Those of the same owner become one. */
static uint32_t merge(struct slowdown_whole *wholes, uint32_t nr)
{
	uint32_t merged = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct slowdown_whole *last = merged ? &wholes[merged - 1] : NULL;

		if (!last || last->id != wholes[i].id) {
			wholes[merged++] = wholes[i];
			continue;
		}
		last->cycles += wholes[i].cycles;
		last->ran_ns += wholes[i].ran_ns;
		last->timed &= wholes[i].timed;
	}
	return merged;
}

uint32_t slowdown_wholes(const struct slowdown *slowdown, struct slowdown_whole *wholes)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		double scale;

		if (!owner->used)
			continue;
		scale = slowdown_scale(slowdown, owner);
		wholes[nr++] = (struct slowdown_whole){
			.id = owner->id, .cycles = owner->mean.cycles * scale,
			.ran_ns = owner->mean.ran_ns * scale,
			.timed = owner->timed || !owner->counted,
		};
	}
	qsort(wholes, nr, sizeof(*wholes), cmp_id);
	return merge(wholes, nr);
}

struct slowdown_whole *slowdown_whole_of(struct slowdown_whole *wholes, uint32_t nr, uint64_t id)
{
	const struct slowdown_whole key = { .id = id };

	return bsearch(&key, wholes, nr, sizeof(*wholes), cmp_id);
}
