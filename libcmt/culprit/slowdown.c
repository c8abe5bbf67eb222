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

/* @delays: all of one victim, the largest first.  Waiting for itself is not in most. */
static void add_victims_waits(const struct culprit_delay *delays, uint32_t nr,
			      struct slowdown_list *list)
{
	bool first = true;
	double most = 0;

	for (uint32_t i = 0; i < nr; i++)
		most += delays[i].by != delays[i].victim ? delays[i].share : 0;
	for (uint32_t i = 0; i < nr; i++) {
		const struct culprit_delay *delay = &delays[i];
		bool own = delay->by == delay->victim;
		struct slowdown_part part = {
			.id = delay->victim, .by = delay->by,
			.resource = CMT_SLOWDOWN_CPU, .share = delay->share,
			.low = delay->share, .most = own ? delay->share : most,
			.high = delay->partial ? 1 : delay->share,
			.cpus = delay->cpus, .first = first && !own,
		};

		first &= own;
		slowdown_list_add(list, &part);
	}
}

static void add_waits(const struct culprit_waits *waits, struct slowdown_list *list)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i <= waits->nr_last; i++) {
		if (i < waits->nr_last && waits->last[i].victim == waits->last[first].victim)
			continue;
		add_victims_waits(&waits->last[first], i - first, list);
		first = i;
	}
}

double culprit_runs_share(const struct cmt_culprit *culprit, uint64_t id)
{
	const struct culprit_owner *owner = culprit_owner_find(culprit, id);

	return owner && owner->wait_share < 1 ? 1 - owner->wait_share : 1;
}

/* A part is of the time in which the owner runs; its time is also that in which it waits. */
static void add_parts(const struct cmt_culprit *culprit, struct slowdown_part *parts, int nr,
		      struct slowdown_list *list)
{
	for (int i = 0; i < nr; i++) {
		struct slowdown_part *part = &parts[i];
		double runs = culprit_runs_share(culprit, part->id);

		part->share *= runs;
		part->low *= runs;
		part->high *= runs;
		part->most *= runs;
		part->cpus = part->cpus < 0 ? NAN : part->cpus / runs;
		slowdown_list_add(list, part);
	}
}

static int list_all(const struct cmt_culprit *culprit, struct slowdown_part *parts,
		    struct slowdown_list *list)
{
	int nr = slowdown_parts(&culprit->slowdown, parts, list->room);

	if (nr < 0)
		return nr;
	add_waits(&culprit->waits, list);
	add_parts(culprit, parts, nr, list);
	slowdown_list_sort(list);
	return (int)list->nr;
}

int cmt_culprit_too_little(const struct cmt_culprit *culprit, uint64_t *ids, uint32_t n)
{
	return slowdown_too_little(&culprit->slowdown, ids, n);
}

int cmt_culprit_slowdown(const struct cmt_culprit *culprit, struct cmt_slowdown *slowdowns,
			 uint32_t n)
{
	struct slowdown_list list = { .room = CULPRIT_PAIRS };
	struct slowdown_part *parts;
	int nr;

	if (!n || n > CULPRIT_PAIRS)
		return -EINVAL;
	parts = calloc(2 * CULPRIT_PAIRS, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	list.parts = parts + CULPRIT_PAIRS;
	nr = list_all(culprit, parts, &list);
	nr = nr < (int)n ? nr : (int)n;
	for (int i = 0; i < nr; i++) {
		const struct slowdown_part *part = &list.parts[i];

		slowdowns[i] = (struct cmt_slowdown){
			.id = part->id, .by = part->by, .domain = part->domain,
			.resource = part->resource, .share = part->share, .low = part->low,
			.high = part->high, .most = part->most, .cpus = part->cpus,
		};
	}
	free(parts);
	return nr;
}
