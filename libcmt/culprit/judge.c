// SPDX-License-Identifier: LGPL-2.1-or-later
/* When is a victim one: the conditions of a verdict. */
#include "state.h"

void culprit_pace(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell, struct culprit_pace *pace)
{
	float cycles = 0, instructions = 0, misses = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CULPRIT_MEAN; i++) {
		const struct culprit_recent *r =
			&cell->recent[(culprit->slot - i) % CULPRIT_RECENT];

		if (!(cell->has_counters >> i & 1))
			continue;
		cycles += r->cycles;
		instructions += r->instructions;
		misses += r->misses;
		n++;
	}
	pace->known = 2 * n >= CULPRIT_MEAN && cell->counted;
	pace->cpi = pace->known ? cycles / instructions : 0;
	pace->mpi = pace->known ? misses / instructions : 0;
}

static bool slower(const struct culprit_cell *cell,
		   const struct culprit_pace *pace, float factor)
{
	float more = pace->cpi - cell->cpi50;

	return pace->cpi > factor * cell->cpi50 &&
	       more > CULPRIT_CPI_MAD * 1.48f *
		      culprit_deviation(&cell->series[CULPRIT_OF_CPI]);
}

/* The mean of the last two slots. */
static float held(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell)
{
	float now = cell->recent[culprit->slot % CULPRIT_RECENT].occupancy;
	float before = cell->recent[(culprit->slot - 1) % CULPRIT_RECENT].occupancy;

	if ((cell->has_occupancy & 3) != 3)
		return cell->occupancy;
	return (now + before) / 2;
}

/* @bits: slots in which it held, the newest is bit 0; how many of the last @n. */
static int count(uint8_t bits, uint32_t n)
{
	return __builtin_popcount(bits & ((1U << n) - 1));
}

static void shift(uint8_t *bits, bool held_now)
{
	*bits = (uint8_t)(*bits << 1 | held_now);
}

static float own_part(const struct cmt_culprit *culprit,
		      const struct culprit_cell *cell)
{
	return cell->own > 0 ? cell->own / culprit->grown : 0;
}

/*
 * The bytes that others took from the cell; @first: the owner that took most, if any.
 */
static float claimed(const struct cmt_culprit *culprit,
		     const struct culprit_cell *cell,
		     struct culprit_source *first)
{
	float total = 0;

	first->kib = 0;
	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		float kib = cell->debts[i].grown / culprit->grown;

		if (kib < 1)
			continue;
		total += kib;
		if (kib > first->kib)
			*first = (struct culprit_source){
				.cell = cell->debts[i].cell, .kib = kib,
			};
	}
	return total;
}

/* The same, by each. */
static void claims_of(const struct cmt_culprit *culprit,
		      const struct culprit_cell *cell, struct culprit_list *claims)
{
	claims->nr = 0;
	claims->total = 0;
	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		float kib = cell->debts[i].grown / culprit->grown;

		if (kib >= 1)
			culprit_list_add(claims, cell->debts[i].cell, kib);
	}
}

/* Is the suspect one of a majority whose load rises, without standing out? */
static bool in_crowd(const struct cmt_culprit *culprit,
		     const struct culprit_source *first)
{
	const struct culprit_cell *cell = &culprit->cells[first->cell];
	const struct culprit_domain *domain = &culprit->domains[cell->domain];
	uint32_t all = domain->nr_up + domain->nr_flat;

	return domain->nr_up >= 2 && domain->nr_up > CULPRIT_COMMON * all &&
	       cell->rate < CULPRIT_STANDS_OUT * cell->traffic90;
}

/* The conditions of a sudden loss that counters do not touch. */
static bool taken(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell,
		  const struct culprit_source *claim, float total, bool counted)
{
	const struct culprit_cell *first = &culprit->cells[claim->cell];
	float most = claim->kib;
	float part = counted ? CULPRIT_LOST_B : CULPRIT_LOST_A;
	float refetch = counted ? CULPRIT_REFETCH_B : CULPRIT_REFETCH_A;
	float gone = cell->occupancy50 - held(culprit, cell);
	float gained = first->occupancy - first->occupancy50;

	return most >= culprit_least(cell) &&
	       !in_crowd(culprit, claim) && most >= CULPRIT_SHARE * total &&
	       gone > 0 &&
	       gone >= culprit_max(2 * culprit->unit, part * cell->occupancy50) &&
	       total >= CULPRIT_SELF * own_part(culprit, cell) &&
	       cell->refetched <= refetch * total &&
	       gained >= (counted ? 0 : CULPRIT_GAINED * most);
}

/* The same for a slow loss: owners that gained instead of owners that rose */
static bool crept(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell,
		  const struct culprit_list *gaining)
{
	float gone = cell->occupancy_low - held(culprit, cell);
	float most = gaining->sources[0].kib;

	return gone >= culprit_max(2 * culprit->unit,
				   CULPRIT_CREPT * cell->occupancy50) &&
	       gone >= CULPRIT_TAKEN_KIB / 4 &&
	       !in_crowd(culprit, &gaining->sources[0]) &&
	       gone >= CULPRIT_SPREAD_V *
		       (cell->occupancy_high - cell->occupancy_low) &&
	       most >= CULPRIT_CREPT_GAIN * gone;
}

static bool harmed(const struct culprit_cell *cell,
		   const struct culprit_pace *pace, float taken_kib)
{
	if (pace->known)
		return slower(cell, pace, CULPRIT_CPI) &&
		       pace->mpi > CULPRIT_MPI * cell->mpi50;
	return cell->refetched >= culprit_max(CULPRIT_HARM_KIB,
					      CULPRIT_HARM_A * taken_kib);
}

/*
 * While CPU time is known to be short, only counters can show that the cache is, too.
 */
static bool may_accuse(const struct cmt_culprit *culprit,
		       const struct culprit_cell *cell,
		       const struct culprit_pace *pace)
{
	return pace->known ||
	       !cmt_ts_before(culprit->start_ns, cell->blamed_ns);
}

/*
 * @slots: the conditions have held for this long; the onset may be known to be earlier.
 */
static void report_kind(struct cmt_culprit *culprit, struct culprit_cell *cell,
			uint32_t kind, const struct culprit_list *suspects,
			uint32_t slots)
{
	struct cmt_culprit_verdict verdict = { .kind = kind };

	if (culprit->slot - cell->onset < slots)
		cell->onset = culprit->slot - slots;
	if (cell->onset < cell->born)
		cell->onset = cell->born;
	culprit_report(culprit, cell, suspects, &verdict);
}

/*
 * Quickly decide, for certain, that the debts are too small, so that claims need not be
 * added up.  This holds for most cells most of the time.  The bound on the sum of the
 * debts is computed again where it is too great for a decision.
 */
static bool owed_little(const struct cmt_culprit *culprit,
			struct culprit_cell *cell)
{
	float little = culprit_least(cell) / 8 * culprit->grown;

	if (1.001f * cell->owed_most < little)
		return true;
	cell->owed_most = 0;
	for (uint32_t i = 0; i < cell->nr_debts; i++)
		cell->owed_most += cell->debts[i].grown;
	return 1.001f * cell->owed_most < little;
}

static bool judge_sudden(struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	struct culprit_source first = { 0 };
	struct culprit_list claims;
	struct culprit_pace pace;
	float total = 0;

	if (!owed_little(culprit, cell))
		total = claimed(culprit, cell, &first);
	if (total < culprit_least(cell) / 8) {
		cell->onset = culprit->slot;
		cell->passed = 0;
		cell->harmed = 0;
		return false;
	}
	culprit_pace(culprit, cell, &pace);
	shift(&cell->harmed, harmed(cell, &pace, first.kib));
	shift(&cell->passed, taken(culprit, cell, &first, total, pace.known) &&
	      may_accuse(culprit, cell, &pace));
	if (!(cell->passed & 1) ||
	    count(cell->passed >> 1, 3) < CULPRIT_PASSED)
		return false;
	if (pace.known ? count(cell->harmed, 4) < 2 : !(cell->harmed & 1))
		return false;
	claims_of(culprit, cell, &claims);
	report_kind(culprit, cell, CMT_CULPRIT_CACHE, &claims, 2);
	return true;
}

static void judge_slow(struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	const struct culprit_list *gaining =
		&culprit->domains[cell->domain].gaining;
	struct culprit_list suspects;
	struct culprit_pace pace;
	float gone = cell->occupancy50 - cell->occupancy;

	if (!gaining->nr || !crept(culprit, cell, gaining)) {
		cell->crept = 0;
		return;
	}
	culprit_pace(culprit, cell, &pace);
	shift(&cell->crept, harmed(cell, &pace, gone) &&
	      may_accuse(culprit, cell, &pace));
	if (cell->crept != 0xff)
		return;
	suspects = *gaining;
	/* an estimate: the victim's loss, divided by the gains */
	for (uint32_t i = 0; i < suspects.nr; i++)
		suspects.sources[i].kib *= gone / gaining->total;
	suspects.total = gone;
	report_kind(culprit, cell, CMT_CULPRIT_CACHE, &suspects, 8);
}

/*
 * Find the owner that made the memory of the domain busier than usual, if it is.  An
 * owner that lost cache and fetches it again is not meant.
 */
static void saturate(const struct cmt_culprit *culprit,
		     struct culprit_domain *domain)
{
	struct culprit_list *list = &domain->saturating;
	float least = culprit_max(CULPRIT_BUSY * culprit->peak,
				  CULPRIT_BUSIER * domain->usual);

	if (domain->traffic < culprit_max(least, CULPRIT_BUSY_KIB))
		return;
	for (uint32_t i = 0; i < domain->rising.nr; i++) {
		const struct culprit_source *s = &domain->rising.sources[i];
		const struct culprit_cell *cell = &culprit->cells[s->cell];

		if (cell->occupancy >= cell->occupancy50 - 2 * culprit->unit)
			culprit_list_add(list, s->cell, s->kib);
	}
	/* the rise may be another owner's, whose baseline includes it by now */
	least = culprit_max(CULPRIT_BUSY_SHARE * domain->rising.total,
			    CULPRIT_BUSY_RISE *
			    (domain->traffic - domain->usual));
	if (list->nr && list->sources[0].kib < least)
		list->nr = 0;
}

/* Slower, and not because of more misses. */
static bool squeezed(const struct cmt_culprit *culprit,
		     const struct culprit_cell *cell,
		     const struct culprit_pace *pace)
{
	if (pace->known)
		return slower(cell, pace, CULPRIT_BUSY_CPI);
	return culprit->peak > 0 && cell->traffic50 > 16 &&
	       cell->rate < 0.85f * cell->traffic50;
}

/* A victim whose own traffic rose a little is none of its suspects. */
static void report_bandwidth(struct cmt_culprit *culprit, struct culprit_cell *cell,
			     const struct culprit_list *saturating)
{
	struct culprit_list others = { .total = saturating->total };

	for (uint32_t i = 0; i < saturating->nr; i++) {
		const struct culprit_source *s = &saturating->sources[i];

		if (&culprit->cells[s->cell] == cell)
			others.total -= s->kib;
		else
			others.sources[others.nr++] = *s;
	}
	if (others.nr)
		report_kind(culprit, cell, CMT_CULPRIT_BANDWIDTH, &others, 5);
}

static void judge_bandwidth(struct cmt_culprit *culprit,
			    struct culprit_cell *cell)
{
	const struct culprit_domain *domain = &culprit->domains[cell->domain];
	struct culprit_pace pace;

	if (!domain->saturating.nr) {
		cell->squeezed = 0;
		return;
	}
	culprit_pace(culprit, cell, &pace);
	shift(&cell->squeezed, cell->excess < 0.25f * domain->rising.total &&
	      squeezed(culprit, cell, &pace) && may_accuse(culprit, cell, &pace));
	if (cell->squeezed & 1 && count(cell->squeezed, 6) >= 5)
		report_bandwidth(culprit, cell, &domain->saturating);
}

static void judge_cell(struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	if (judge_sudden(culprit, cell))
		return;
	judge_slow(culprit, cell);
	judge_bandwidth(culprit, cell);
}

/* A slow loss needs one owner with most of all gains, or none is named. */
static void find_gainer(struct culprit_list *gaining)
{
	if (gaining->nr &&
	    gaining->sources[0].kib < CULPRIT_GAINER * gaining->total)
		gaining->nr = 0;
}

void culprit_judge(struct cmt_culprit *culprit)
{
	for (uint32_t d = 0; d < culprit->nr_domains; d++) {
		find_gainer(&culprit->domains[d].gaining);
		saturate(culprit, &culprit->domains[d]);
	}
	for (uint32_t i = 0; i < culprit->nr_active; i++) {
		struct culprit_cell *cell = &culprit->cells[culprit->active[i]];

		if (cell->known && !(cell->flags & CMT_CULPRIT_NO_VICTIM))
			judge_cell(culprit, cell);
	}
}
