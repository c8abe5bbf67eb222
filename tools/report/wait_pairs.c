// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_pairs.h"

#include <errno.h>
#include <stdlib.h>

/* The place of the pair, or a free one where it would be.  A quarter always stays free. */
static struct wait_pair *place_of(const struct wait_pairs *pairs, uint32_t victim,
				  uint32_t runner)
{
	uint64_t h = ((uint64_t)victim << 32 | runner) * 0x9e3779b97f4a7c15ULL;
	uint32_t i = (uint32_t)(h >> 32) % WAIT_PAIRS_ROOM;

	while (pairs->all[i].ns &&
	       (pairs->all[i].victim != victim || pairs->all[i].runner != runner))
		i = (i + 1) % WAIT_PAIRS_ROOM;
	return &pairs->all[i];
}

int wait_pairs_add(struct wait_pairs *pairs, uint32_t victim, uint32_t runner, uint64_t ns)
{
	struct wait_pair *pair;

	if (!ns)
		return 0;
	if (!pairs->all)
		pairs->all = calloc(WAIT_PAIRS_ROOM, sizeof(*pairs->all));
	if (!pairs->all)
		return -ENOMEM;
	pair = place_of(pairs, victim, runner);
	if (!pair->ns && pairs->nr == WAIT_PAIRS_ROOM / 4 * 3) {
		pairs->left_out_ns += ns;
		return 0;
	}
	pairs->nr += !pair->ns;
	pair->victim = victim;
	pair->runner = runner;
	pair->ns += ns;
	return 0;
}

/* The largest first. */
static int compare(const void *pa, const void *pb)
{
	const struct wait_pair *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->victim != b->victim)
		return a->victim < b->victim ? -1 : 1;
	return a->runner < b->runner ? -1 : a->runner > b->runner;
}

void wait_pairs_finish(struct wait_pairs *pairs)
{
	if (!pairs->all)
		return;
	qsort(pairs->all, WAIT_PAIRS_ROOM, sizeof(*pairs->all), compare);
	while (pairs->nr > WAIT_PAIRS_LISTED)
		pairs->left_out_ns += pairs->all[--pairs->nr].ns;
}

void wait_pairs_free(struct wait_pairs *pairs)
{
	free(pairs->all);
}
