// SPDX-License-Identifier: GPL-2.0-or-later
#include "slower.h"

#include <stdio.h>
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
	struct slower_sum *sum;

	if (!slower || from->resource >= SLOWER_RESOURCES)
		return;
	sum = &slower->sums[from->resource];
	sum->share += from->share;
	sum->low += from->low;
	sum->high += from->high;
	sum->all = from->most;
	if (slower->nr_parts == SLOWER_PARTS)
		return;
	slower->parts[slower->nr_parts++] = (struct slower_part){
		.by_id = from->by, .domain = from->domain,
		.resource = from->resource, .share = from->share,
	};
}

static int cmp_part(const void *pa, const void *pb)
{
	const struct slower_part *a = pa, *b = pb;

	return (a->share < b->share) - (a->share > b->share);
}

/* As an incident has it: the parts of a resource add up to what all cost together. */
static void sum_up(struct slower *slower)
{
	double scale[SLOWER_RESOURCES];

	for (uint32_t i = 0; i < SLOWER_RESOURCES; i++) {
		const struct slower_sum *sum = &slower->sums[i];

		scale[i] = sum->share > 0 ? sum->all / sum->share : 0;
		slower->share += sum->all;
		slower->low += scale[i] * sum->low;
		slower->high += scale[i] * sum->high;
	}
	slower->share = least(slower->share, 1);
	slower->high = slower->high < slower->share ? slower->share : least(slower->high, 1);
	for (uint32_t i = 0; i < slower->nr_parts; i++)
		slower->parts[i].share *= least(scale[slower->parts[i].resource], 1);
	qsort(slower->parts, slower->nr_parts, sizeof(slower->parts[0]), cmp_part);
}

static int cmp_slower(const void *pa, const void *pb)
{
	const struct slower *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/*
 * @complete: set to whether all are in the list that are SLOWER_LEAST slower.  All victims are
 * there if one has more pairs than there are resources: the greatest of each come first.
 */
static int list_all(const struct cmt_culprit *culprit, struct slower list[SLOWER_MOST],
		    bool *complete)
{
	struct cmt_slowdown pairs[PAIRS_MOST];
	int n = cmt_culprit_slowdown(culprit, pairs, PAIRS_MOST);
	uint32_t nr = 0;

	for (int i = 0; i < n; i++)
		add_part(list, &nr, &pairs[i]);
	*complete = n >= 0 && nr < SLOWER_MOST &&
		    (n < PAIRS_MOST || n > (int)(SLOWER_RESOURCES * nr));
	if (n < 0)
		return n;
	for (uint32_t i = 0; i < nr; i++)
		sum_up(&list[i]);
	qsort(list, nr, sizeof(list[0]), cmp_slower);
	while (nr && list[nr - 1].share < SLOWER_LEAST)
		nr--;
	return (int)nr;
}

int slower_list(const struct cmt_culprit *culprit, struct slower list[SLOWER_MOST])
{
	bool complete;

	return list_all(culprit, list, &complete);
}

void slower_read_little(const struct cmt_culprit *culprit, struct slower_little *little)
{
	int n = cmt_culprit_too_little(culprit, little->ids, SLOWER_LITTLE);

	/* without memory all may be so */
	little->all = n < 0 ? UINT32_MAX : (uint32_t)n;
	little->nr = n < 0 ? 0 : little->all < SLOWER_LITTLE ? little->all : SLOWER_LITTLE;
}

static int cmp_id(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

bool slower_is_little(const struct slower_little *little, uint64_t id)
{
	return bsearch(&id, little->ids, little->nr, sizeof(id), cmp_id);
}

void slowers_read(struct slowers *slowers, const struct cmt_culprit *culprit)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };
	int n = list_all(culprit, slowers->list, &slowers->complete);

	slower_read_little(culprit, &slowers->little);
	slowers->complete &= slowers->little.nr == slowers->little.all;
	cmt_culprit_counts(culprit, &counts);
	slowers->known = n >= 0 && counts.slots + counts.missing >= SLOWER_SLOTS;
	slowers->nr = n > 0 ? (uint32_t)n : 0;
}

#define SOME (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES)	/* tell of memory */
#define ALL (SOME | CMT_F_LLC_REFERENCES | CMT_F_WAITED)
/* Where these are lower bounds, a part is not known, or may not be. */
#define BOUNDS (CMT_F_LLC_REFERENCES | CMT_F_WAITED)

static const struct slower *find_victim(const struct slowers *slowers, uint64_t id)
{
	for (uint32_t i = 0; i < slowers->nr; i++)
		if (slowers->list[i].id == id)
			return &slowers->list[i];
	return NULL;
}

/* What did nothing is too little, too. */
static uint32_t known_of(const struct slowers *slowers, const struct row *row)
{
	const struct cmt_usage_counters *c = &row->counters;
	uint32_t known = c->known ? c->values & ALL : 0;

	if (known & CMT_F_CYCLES && (!c->cycles ||
				     slower_is_little(&slowers->little, row->culprit_id)))
		known &= CMT_F_WAITED;
	return known;
}

/* Where a part is not known, the rest is a lower bound, and nothing of it tells nothing. */
static void set_slower(const struct slowers *slowers, struct row *row)
{
	const struct cmt_usage_counters *c = &row->counters;
	const struct slower *slower = find_victim(slowers, row->culprit_id);
	uint32_t known = known_of(slowers, row);
	bool partial = known != ALL || c->bounds & BOUNDS;

	if (!(known & CMT_F_WAITED) && (known & SOME) != SOME)
		return;
	if (!slower && (partial || !slowers->complete))
		return;
	row->slower = slower;
	row->slowed = (struct measure){ true, partial, slower ? slower->share : 0 };
}

/* Owners outside all containers can only be suspects. */
void slowers_set(const struct slowers *slowers, struct frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		struct row *row = &frame->rows[i];

		row->slower = NULL;
		row->slowed = (struct measure){ 0 };
		if (slowers->known && row->culprit_id && row_in_cgroup(row))
			set_slower(slowers, row);
	}
}

double slower_low(const struct row *row)
{
	return row->slower ? row->slower->low : 0;
}

double slower_high(const struct row *row)
{
	return row->slower ? row->slower->high : SLOWER_LEAST;
}

const char *slower_text(char *buf, size_t size, const struct row *row)
{
	const struct slower *slower = row->slower;

	if (slower && slower->nr_parts)
		snprintf(buf, size, "%s%.0f%% %s %s", row->slowed.partial ? ">" : "",
			 100 * slower->share, label_name(slower->parts[0].by.label),
			 slower_resource(slower->parts[0].resource));
	else
		snprintf(buf, size, "<1%%");
	return buf;
}
