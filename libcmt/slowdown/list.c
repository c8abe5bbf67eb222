// SPDX-License-Identifier: LGPL-2.1-or-later
/* The greatest parts.  While parts are added the list is a heap, with the least at 0. */
#include "slowdown.h"

#include <stdlib.h>

static int cmp_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int cmp_names(const struct slowdown_part *a, const struct slowdown_part *b)
{
	if (a->id != b->id)
		return cmp_number(a->id, b->id);
	if (a->by != b->by)
		return cmp_number(a->by, b->by);
	if (a->resource != b->resource)
		return cmp_number(a->resource, b->resource);
	return cmp_number(a->domain, b->domain);
}

/* What is kept: see struct slowdown_list.  Negative: @a before @b. */
static int cmp_rank(const struct slowdown_part *a, const struct slowdown_part *b)
{
	double rank_a = a->first ? a->most : a->share, rank_b = b->first ? b->most : b->share;

	if (a->first != b->first)
		return a->first ? -1 : 1;
	if (rank_a != rank_b)
		return rank_a > rank_b ? -1 : 1;
	return cmp_names(a, b);
}

static int cmp_share(const void *pa, const void *pb)
{
	const struct slowdown_part *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return cmp_names(a, b);
}

/* From @i, which is free, up to its place. */
static void sift_up(struct slowdown_list *list, uint32_t i, const struct slowdown_part *part)
{
	while (i && cmp_rank(&list->parts[(i - 1) / 2], part) < 0) {
		list->parts[i] = list->parts[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	list->parts[i] = *part;
}

/* In place of the least. */
static void sift_down(struct slowdown_list *list, const struct slowdown_part *part)
{
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < list->nr) {
		if (child + 1 < list->nr &&
		    cmp_rank(&list->parts[child + 1], &list->parts[child]) > 0)
			child++;
		if (cmp_rank(&list->parts[child], part) <= 0)
			break;
		list->parts[i] = list->parts[child];
		i = child;
	}
	list->parts[i] = *part;
}

void slowdown_list_add(struct slowdown_list *list, const struct slowdown_part *part)
{
	if (list->nr < list->room)
		sift_up(list, list->nr++, part);
	else if (list->nr && cmp_rank(part, &list->parts[0]) < 0)
		sift_down(list, part);
}

void slowdown_list_sort(struct slowdown_list *list)
{
	qsort(list->parts, list->nr, sizeof(*list->parts), cmp_share);
}
