// SPDX-License-Identifier: LGPL-2.1-or-later
/* How much slower owners are because of which neighbour: CPU from waits, else from sums. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>

#define SUMMED		(CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS | CMT_CULPRIT_MISSES)

static void add_sample(struct slowdown *slowdown, const struct cmt_culprit_sample *sample)
{
	struct slowdown_values values = {
		.occupancy_kib = sample->valid & CMT_CULPRIT_OCCUPANCY ?
			culprit_float(sample->occupancy_bytes) / 1024 : -1,
		.counted = (sample->valid & SUMMED) == SUMMED,
		.cycles = culprit_float(sample->cycles),
		.instructions = culprit_float(sample->instructions),
		.misses = culprit_float(sample->misses),
		.references = sample->valid & CMT_CULPRIT_REFERENCES ?
			culprit_float(sample->references) : -1,
		.ran_ns = sample->valid & CMT_CULPRIT_RAN ? culprit_float(sample->ran_ns) : -1,
	};

	slowdown_add(slowdown, sample->id, sample->domain,
		     sample->flags & CMT_CULPRIT_NO_VICTIM, &values);
}

/* An owner that was idle did nothing, and holds what it held. */
void culprit_sum_up(struct cmt_culprit *culprit, const struct cmt_culprit_slot *slot,
		    uint64_t slots)
{
	slowdown_begin(&culprit->slowdown, slots);
	for (uint32_t i = 0; i < slot->nr_samples; i++) {
		const struct cmt_culprit_sample *sample = culprit_sample_at(slot, i);

		if (sample->valid & ~CMT_CULPRIT_IDLE)
			add_sample(&culprit->slowdown, sample);
	}
	slowdown_end(&culprit->slowdown);
}

/* The greatest of all pairs.  While they are added it is a heap, with the least at 0. */
struct list {
	struct cmt_slowdown *all;
	uint32_t nr, room;
};

/* The greatest first, in whatever order they were added. */
static int cmp_share(const void *pa, const void *pb)
{
	const struct cmt_slowdown *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return culprit_cmp_pair(a, b);
}

/* From @i, which is free, up to its place. */
static void sift_up(struct list *list, uint32_t i, const struct cmt_slowdown *slowdown)
{
	while (i && cmp_share(&list->all[(i - 1) / 2], slowdown) < 0) {
		list->all[i] = list->all[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	list->all[i] = *slowdown;
}

/* In place of the least. */
static void sift_down(struct list *list, const struct cmt_slowdown *slowdown)
{
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < list->nr) {
		if (child + 1 < list->nr &&
		    cmp_share(&list->all[child + 1], &list->all[child]) > 0)
			child++;
		if (cmp_share(&list->all[child], slowdown) <= 0)
			break;
		list->all[i] = list->all[child];
		i = child;
	}
	list->all[i] = *slowdown;
}

static void add(struct list *list, const struct cmt_slowdown *slowdown)
{
	if (list->nr < list->room)
		sift_up(list, list->nr++, slowdown);
	else if (cmp_share(slowdown, &list->all[0]) < 0)
		sift_down(list, slowdown);
}

static void add_waits(const struct culprit_waits *waits, struct list *list)
{
	for (uint32_t i = 0; i < waits->nr_last; i++) {
		const struct culprit_delay *delay = &waits->last[i];
		struct cmt_slowdown slowdown = {
			.id = delay->victim, .by = delay->by,
			.resource = CMT_SLOWDOWN_CPU, .share = delay->share,
			.low = delay->share, .most = 1,
			.high = delay->partial ? 1 : delay->share,
			.cpus = delay->cpus,
		};

		add(list, &slowdown);
	}
}

/* A part is of the time in which the owner runs; its time is also that in which it waits. */
static double runs_share(const struct cmt_culprit *culprit, uint64_t id)
{
	const struct culprit_owner *owner = culprit_owner_find(culprit, id);

	return owner && owner->wait_share < 1 ? 1 - owner->wait_share : 1;
}

static void add_parts(const struct cmt_culprit *culprit, const struct slowdown_part *parts,
		      int nr, struct list *list)
{
	for (int i = 0; i < nr; i++) {
		const struct slowdown_part *part = &parts[i];
		double runs = runs_share(culprit, part->id);
		struct cmt_slowdown slowdown = {
			.id = part->id, .by = part->by, .domain = part->domain,
			.resource = part->resource,
			.share = runs * part->share, .low = runs * part->low,
			.high = runs * part->high, .most = runs * part->most,
			.cpus = part->cpus < 0 ? NAN : part->cpus / runs,
		};

		add(list, &slowdown);
	}
}

int cmt_culprit_too_little(const struct cmt_culprit *culprit, uint64_t *ids, uint32_t n)
{
	return slowdown_too_little(&culprit->slowdown, ids, n);
}

int cmt_culprit_slowdown(const struct cmt_culprit *culprit, struct cmt_slowdown *slowdowns,
			 uint32_t n)
{
	struct list list = { .all = slowdowns, .room = n };
	struct slowdown_part parts[CULPRIT_PAIRS];
	int nr;

	if (!n || n > CULPRIT_PAIRS)
		return -EINVAL;
	nr = slowdown_parts(&culprit->slowdown, parts, n);
	if (nr < 0)
		return nr;
	add_waits(&culprit->waits, &list);
	add_parts(culprit, parts, nr, &list);
	qsort(slowdowns, list.nr, sizeof(*slowdowns), cmp_share);
	return (int)list.nr;
}
