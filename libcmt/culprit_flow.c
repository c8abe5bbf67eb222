// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each owner lost in this slot, who rose, and what of it is owed by whom. */
#include "culprit_state.h"

/* exp(-1/12) to the power of 1, 2, 4, ...: no libm for this */
static const float decays[] = {
	0.920044f, 0.846482f, 0.716531f, 0.513417f, 0.263597f, 0.069483f,
	0.0048279f,
};

float culprit_decay(uint64_t slots)
{
	float decay = 1;

	if (slots >> (sizeof(decays) / sizeof(decays[0])))
		return 0;
	for (uint32_t i = 0; slots; i++, slots >>= 1)
		decay *= slots & 1 ? decays[i] : 1;
	return decay;
}

float culprit_owed(const struct cmt_culprit *culprit,
		   const struct culprit_debt *debt)
{
	return debt->kib * culprit_decay(culprit->slot - debt->slot);
}

static const struct culprit_recent *recent(const struct cmt_culprit *culprit,
					   const struct culprit_cell *cell,
					   uint32_t ago)
{
	return &cell->recent[(culprit->slot - ago) % CULPRIT_RECENT];
}

/* The mean of what is known of the last slots; 0 where it is too little. */
static float mean_traffic(const struct cmt_culprit *culprit,
			  const struct culprit_cell *cell)
{
	float sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CULPRIT_BLOCK; i++) {
		if (cell->has_traffic >> i & 1) {
			sum += recent(culprit, cell, i)->traffic;
			n++;
		}
	}
	return n * 2 >= CULPRIT_BLOCK ? sum / n : 0;
}

/* By balance of flows: what came in and is not there any more.  A slot. */
static float lost(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell)
{
	uint32_t all = (1U << CULPRIT_BLOCK) - 1;
	uint32_t ends = 1U | 1U << CULPRIT_BLOCK;
	float in = 0, kept;

	if ((cell->has_traffic & all) != all ||
	    (cell->has_occupancy & ends) != ends)
		return 0;
	for (uint32_t i = 0; i < CULPRIT_BLOCK; i++)
		in += recent(culprit, cell, i)->traffic;
	kept = recent(culprit, cell, 0)->occupancy -
	       recent(culprit, cell, CULPRIT_BLOCK)->occupancy;
	return in > kept ? (in - kept) / CULPRIT_BLOCK : 0;
}

static void source_add(struct culprit_domain *domain, uint32_t cell, float excess)
{
	uint32_t i;

	if (domain->nr_sources < CULPRIT_SOURCES)
		domain->nr_sources++;
	else if (domain->sources[CULPRIT_SOURCES - 1].excess >= excess)
		return;
	for (i = domain->nr_sources - 1;
	     i && domain->sources[i - 1].excess < excess; i--)
		domain->sources[i] = domain->sources[i - 1];
	domain->sources[i].cell = cell;
	domain->sources[i].excess = excess;
}

/* Traffic without occupancy passes the cache by, as non-temporal stores do. */
static bool allocates(const struct cmt_culprit *culprit,
		      const struct culprit_cell *cell)
{
	return cell->occupancy + culprit->unit >= 0.1f * cell->rate;
}

static void means(const struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	uint64_t slots = culprit->slot - cell->mean_slot;
	float weight = slots < 1000 ? slots / 1000.0f : 1;

	cell->mean_slot = culprit->slot;
	cell->lost_mean += weight * (cell->lost - cell->lost_mean);
	cell->rate_mean += weight * (cell->rate - cell->rate_mean);
}

/* The first pass: this cell by itself. */
static void cell_flow(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];
	struct culprit_domain *domain = &culprit->domains[cell->domain];
	float usual, excess;

	cell->rate = mean_traffic(culprit, cell);
	cell->lost = lost(culprit, cell);
	means(culprit, cell);
	cell->excess = 0;
	domain->nr_active += cell->rate > 4;
	if (!cell->known)
		return;
	if (allocates(culprit, cell))
		domain->rate += cell->rate;
	domain->traffic += cell->rate;
	domain->usual += cell->traffic50;
	if (cell->has_traffic & 1) {
		float more = recent(culprit, cell, 0)->traffic - cell->traffic50;

		cell->refetched = cell->refetched * culprit_decay(1) + more;
		cell->refetched = cell->refetched > 0 ? cell->refetched : 0;
	}
	usual = CULPRIT_EXCESS * cell->traffic90 +
		culprit->unit / (2 * CULPRIT_BLOCK);
	excess = cell->rate - usual;
	if (excess <= 0)
		return;
	cell->excess = excess;
	domain->nr_rising++;
	domain->excess += excess;
	source_add(domain, index, excess);
}

static struct culprit_debt *find_debt(const struct cmt_culprit *culprit,
				      struct culprit_cell *cell, uint32_t by)
{
	struct culprit_debt *least = NULL;

	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		struct culprit_debt *debt = &cell->debts[i];

		if (debt->cell == by)
			return debt;
		if (!least || culprit_owed(culprit, debt) <
			      culprit_owed(culprit, least))
			least = debt;
	}
	if (cell->nr_debts < CULPRIT_SOURCES)
		least = &cell->debts[cell->nr_debts++];
	least->cell = by;
	least->slot = culprit->slot;
	least->kib = 0;
	return least;
}

static void owe(struct cmt_culprit *culprit, struct culprit_cell *cell,
		uint32_t by, float kib)
{
	struct culprit_debt *debt = find_debt(culprit, cell, by);

	debt->kib = culprit_owed(culprit, debt) + kib;
	debt->slot = culprit->slot;
}

/* The second pass: what the cell lost is owed by those who rose, by their parts. */
static void share_loss(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];
	const struct culprit_domain *domain = &culprit->domains[cell->domain];
	float part;

	if (cell->lost <= 0 || domain->rate <= 0 || !cell->known)
		return;
	part = cell->lost / domain->rate;
	for (uint32_t i = 0; i < domain->nr_sources; i++) {
		const struct culprit_source *s = &domain->sources[i];

		if (s->cell != index &&
		    allocates(culprit, &culprit->cells[s->cell]))
			owe(culprit, cell, s->cell, part * s->excess);
	}
	if (cell->excess > 0) {
		cell->own = cell->own *
			    culprit_decay(culprit->slot - cell->own_slot) +
			    part * cell->excess;
		cell->own_slot = culprit->slot;
	}
}

void culprit_flows(struct cmt_culprit *culprit)
{
	for (uint32_t d = 0; d < culprit->nr_domains; d++)
		culprit->domains[d] = (struct culprit_domain){ 0 };
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		if (culprit->cells[i].used && !culprit->cells[i].calm)
			cell_flow(culprit, i);
	}
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		if (culprit->cells[i].used && !culprit->cells[i].calm)
			share_loss(culprit, i);
	}
}
