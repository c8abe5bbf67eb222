// SPDX-License-Identifier: GPL-2.0-or-later
#include "slower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MOST	1024

const char *slower_resource(enum cmt_slowdown_resource resource)
{
	switch (resource) {
	case CMT_SLOWDOWN_CPU:
		return "CPU";
	case CMT_SLOWDOWN_CACHE:
		return "cache";
	case CMT_SLOWDOWN_MEMORY:
		return "memory";
	default:
		return "not known";
	}
}

static struct slower *find(struct slower *list, uint32_t *nr, uint64_t id)
{
	uint32_t i = 0;

	while (i < *nr && list[i].id != id)
		i++;
	if (i == SLOWER_MOST)
		return NULL;
	if (i == *nr) {
		memset(&list[i], 0, sizeof(list[i]));
		list[i].id = id;
		(*nr)++;
	}
	return &list[i];
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Waiting for its own tasks is no neighbour's doing. */
static void add_part(struct slower *list, uint32_t *nr, const struct cmt_slowdown *from)
{
	struct slower *slower = from->id == from->by ? NULL : find(list, nr, from->id);
	double *sum;

	if (!slower || from->resource >= SLOWER_RESOURCES)
		return;
	sum = &slower->by_resource[from->resource];
	*sum = least(*sum + from->share, from->most);
	slower->low += from->low;
	slower->high += from->high;
	if (slower->nr_parts == SLOWER_PARTS)
		return;
	slower->parts[slower->nr_parts++] = (struct slower_part){
		.by_id = from->by, .domain = from->domain,
		.resource = from->resource, .share = from->share,
	};
}

static void sum_up(struct slower *slower)
{
	for (uint32_t i = 0; i < SLOWER_RESOURCES; i++)
		slower->share += slower->by_resource[i];
	slower->share = least(slower->share, 1);
	slower->low = least(slower->low, slower->share);
	slower->high = slower->high < slower->share ? slower->share : least(slower->high, 1);
}

static int cmp_slower(const void *pa, const void *pb)
{
	const struct slower *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

int slower_list(const struct cmt_culprit *culprit, struct slower list[SLOWER_MOST])
{
	struct cmt_slowdown pairs[PAIRS_MOST];
	int n = cmt_culprit_slowdown(culprit, pairs, PAIRS_MOST);
	uint32_t nr = 0;

	for (int i = 0; i < n; i++)
		add_part(list, &nr, &pairs[i]);
	if (n < 0)
		return n;
	for (uint32_t i = 0; i < nr; i++)
		sum_up(&list[i]);
	qsort(list, nr, sizeof(list[0]), cmp_slower);
	while (nr && list[nr - 1].share < SLOWER_LEAST)
		nr--;
	return (int)nr;
}
