// SPDX-License-Identifier: LGPL-2.1-or-later
/* The losses of each owner in this slot, the owners that rose, and their debts. */
#include "state.h"

#define GROWTH		1.0869040f	/* exp(1/12) */
#define GROWN_MAX	1e9f

/* Amounts would outgrow a float: begin at 1 again. */
static void shrink(struct cmt_culprit *culprit)
{
	float by = 1 / culprit->grown;

	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];
		uint32_t nr = 0;

		cell->own *= by;
		cell->owed_most *= by;
		for (uint32_t k = 0; k < cell->nr_debts; k++) {
			cell->debts[k].grown *= by;
			if (cell->debts[k].grown >= 0.1f)
				cell->debts[nr++] = cell->debts[k];
		}
		cell->nr_debts = nr;
	}
	culprit->grown = 1;
}

void culprit_decay(struct cmt_culprit *culprit, uint64_t slots)
{
	while (slots--) {
		culprit->grown *= GROWTH;
		if (culprit->grown > GROWN_MAX)
			shrink(culprit);
	}
}

static const struct culprit_recent *recent(const struct cmt_culprit *culprit,
					   const struct culprit_cell *cell,
					   uint32_t ago)
{
	return &cell->recent[(culprit->slot - ago) % CULPRIT_RECENT];
}

/* The sum over the slots with known values; @n: the number of these slots. */
static float sum_traffic(const struct cmt_culprit *culprit,
			 const struct culprit_cell *cell, uint32_t *n)
{
	float sum = 0;

	_Static_assert(CULPRIT_MEAN == 4, "all are added at once");
	if ((cell->has_traffic & 15) == 15) {
		*n = 4;
		return recent(culprit, cell, 0)->traffic +
		       recent(culprit, cell, 1)->traffic +
		       recent(culprit, cell, 2)->traffic +
		       recent(culprit, cell, 3)->traffic;
	}
	*n = 0;
	for (uint32_t i = 0; i < CULPRIT_MEAN; i++) {
		if (cell->has_traffic >> i & 1) {
			sum += recent(culprit, cell, i)->traffic;
			(*n)++;
		}
	}
	return sum;
}

/* The loss of a slot, by balance: bytes that came in and are no longer there. */
static float lost(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell, float in)
{
	uint32_t ends = 1U | 1U << CULPRIT_MEAN;
	float kept;

	if ((cell->has_occupancy & ends) != ends)
		return 0;
	kept = recent(culprit, cell, 0)->occupancy -
	       recent(culprit, cell, CULPRIT_MEAN)->occupancy;
	return in > kept ? (in - kept) / CULPRIT_MEAN : 0;
}

void culprit_list_add(struct culprit_list *list, uint32_t cell, float kib)
{
	uint32_t i;

	list->total += kib;
	if (list->nr < CULPRIT_SOURCES)
		list->nr++;
	else if (list->sources[CULPRIT_SOURCES - 1].kib >= kib)
		return;
	for (i = list->nr - 1; i && list->sources[i - 1].kib < kib; i--)
		list->sources[i] = list->sources[i - 1];
	list->sources[i].cell = cell;
	list->sources[i].kib = kib;
}

/* Traffic without occupancy passes the cache by, as non-temporal stores do. */
static bool allocates(const struct cmt_culprit *culprit,
		      const struct culprit_cell *cell)
{
	return cell->occupancy + culprit->unit >= 0.1f * cell->rate;
}

/* Bytes that were fetched above the median, and are not forgotten yet */
static void refetch(const struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	float more;

	if (!(cell->has_traffic & 1))
		return;
	more = recent(culprit, cell, 0)->traffic - cell->traffic50;
	more += cell->refetched / GROWTH;
	cell->refetched = more > 0 ? more : 0;
}

/*
 * Does load rise everywhere? An owner that lost cache and fetches it again does not
 * count.
 */
static void count_up(const struct cmt_culprit *culprit,
		     const struct culprit_cell *cell,
		     struct culprit_domain *domain)
{
	if (cell->traffic50 < culprit->unit / 8 + 4 ||
	    cell->occupancy < 0.97f * cell->occupancy50 - culprit->unit)
		return;
	if (cell->rate > CULPRIT_UP * cell->traffic50)
		domain->nr_up++;
	else
		domain->nr_flat++;
}

/* More than the counter's unit, and more than the owner's usual gains and losses */
static float gain_least(const struct cmt_culprit *culprit,
			const struct culprit_cell *cell)
{
	float spread = cell->occupancy_high - cell->occupancy_low;

	return culprit_max(culprit_max(culprit->unit, CULPRIT_TAKEN_KIB / 4),
			   CULPRIT_SPREAD * spread);
}

/* For as long as rates are means of: then all of cell_flow() is 0. */
static bool is_idle(const struct culprit_cell *cell)
{
	return cell->still > CULPRIT_MEAN;
}

static void idle_flow(const struct cmt_culprit *culprit,
		      struct culprit_cell *cell, struct culprit_domain *domain)
{
	cell->rate = 0;
	cell->lost = 0;
	cell->excess = 0;
	if (!cell->known)
		return;
	domain->usual += cell->traffic50;
	refetch(culprit, cell);
	count_up(culprit, cell, domain);
}

/* The first pass: this cell only */
static void cell_flow(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];
	struct culprit_domain *domain = &culprit->domains[cell->domain];
	float gain, in;
	bool known;
	uint32_t n;

	if (is_idle(cell)) {
		idle_flow(culprit, cell, domain);
		return;
	}
	in = sum_traffic(culprit, cell, &n);
	/* too little is known: no rate */
	known = 2 * n >= CULPRIT_MEAN;
	cell->rate = known ? in / n : 0;
	cell->lost = n == CULPRIT_MEAN ? lost(culprit, cell, in) : 0;
	cell->excess = 0;
	domain->traffic += cell->rate;
	if (allocates(culprit, cell))
		domain->rate += cell->rate;
	if (!cell->known)
		return;
	domain->usual += cell->traffic50;
	refetch(culprit, cell);
	cell->excess = culprit_max(0, cell->rate -
				   CULPRIT_EXCESS * cell->traffic90 -
				   culprit->unit / (2 * CULPRIT_MEAN));
	if (cell->excess > 0)
		culprit_list_add(&domain->rising, index, cell->excess);
	count_up(culprit, cell, domain);
	gain = cell->occupancy - cell->occupancy_high;
	if (gain > gain_least(culprit, cell) &&
	    cell->rate > CULPRIT_CREPT_RISE * cell->traffic50)
		culprit_list_add(&domain->gaining, index, gain);
}

/* Of nine owners that took from the cell, the one that took least is dropped. */
static struct culprit_debt *find_debt(struct culprit_cell *cell, uint32_t by)
{
	struct culprit_debt *least = cell->debts;

	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		struct culprit_debt *debt = &cell->debts[i];

		if (debt->cell == by)
			return debt;
		if (debt->grown < least->grown)
			least = debt;
	}
	if (cell->nr_debts < CULPRIT_SOURCES)
		least = &cell->debts[cell->nr_debts++];
	least->cell = by;
	least->grown = 0;
	return least;
}

/*
 * The second pass: the cell's loss is divided among the owners that rose, by their
 * parts.
 */
static void share_loss(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];
	const struct culprit_domain *domain = &culprit->domains[cell->domain];
	float part;

	if (cell->lost < CULPRIT_LEAST || domain->rate <= 0 || !cell->known)
		return;
	part = cell->lost / domain->rate;
	for (uint32_t i = 0; i < domain->rising.nr; i++) {
		const struct culprit_source *s = &domain->rising.sources[i];
		float kib = part * s->kib;

		if (kib < CULPRIT_LEAST)
			break;
		if (s->cell != index &&
		    allocates(culprit, &culprit->cells[s->cell])) {
			find_debt(cell, s->cell)->grown += kib * culprit->grown;
			cell->owed_most += kib * culprit->grown;
		}
	}
	cell->own += part * cell->excess * culprit->grown;
}

void culprit_flows(struct cmt_culprit *culprit)
{
	culprit_decay(culprit, 1);
	for (uint32_t d = 0; d < culprit->nr_domains; d++)
		culprit->domains[d] = (struct culprit_domain){ 0 };
	for (uint32_t i = 0; i < culprit->nr_active; i++)
		cell_flow(culprit, culprit->active[i]);
	for (uint32_t i = 0; i < culprit->nr_active; i++)
		share_loss(culprit, culprit->active[i]);
}
