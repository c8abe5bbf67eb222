// SPDX-License-Identifier: LGPL-2.1-or-later
/* When is a victim one: the conditions of a verdict. */
#include "culprit_state.h"

/* What all owe, and who owes most. */
struct claim {
	float total;
	float most;
	const struct culprit_cell *first;
};

/* The means of the last slots, of which counters are known. */
struct pace {
	float cpi;
	float mpi;
};

static void claim_of(struct cmt_culprit *culprit, struct culprit_cell *cell,
		     struct claim *claim)
{
	*claim = (struct claim){ 0 };
	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		float kib = culprit_owed(culprit, &cell->debts[i]);

		claim->total += kib;
		if (kib > claim->most) {
			claim->most = kib;
			claim->first = &culprit->cells[cell->debts[i].cell];
		}
	}
}

static bool pace_of(const struct cmt_culprit *culprit,
		    const struct culprit_cell *cell, struct pace *pace)
{
	float cycles = 0, instructions = 0, misses = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CULPRIT_BLOCK; i++) {
		const struct culprit_recent *r =
			&cell->recent[(culprit->slot - i) % CULPRIT_RECENT];

		if (!(cell->has_counters >> i & 1))
			continue;
		cycles += r->cycles;
		instructions += r->instructions;
		misses += r->misses;
		n++;
	}
	if (2 * n < CULPRIT_BLOCK || !cell->counted)
		return false;
	pace->cpi = cycles / instructions;
	pace->mpi = misses / instructions;
	return true;
}

static bool slower(const struct culprit_cell *cell, const struct pace *pace)
{
	return pace->cpi > CULPRIT_CPI * cell->cpi50 &&
	       pace->cpi > cell->cpi50 + CULPRIT_CPI_MAD * 1.48f * cell->cpi_mad;
}

/* Of the last two slots. */
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

/* The conditions that counters do not touch. */
static bool cache_taken(const struct cmt_culprit *culprit,
			const struct culprit_cell *cell,
			const struct claim *claim, bool counted)
{
	float own = cell->own *
		    culprit_decay(culprit->slot - cell->own_slot);
	float lost_part = counted ? CULPRIT_LOST_B : CULPRIT_LOST_A;
	float refetch = counted ? CULPRIT_REFETCH_B : CULPRIT_REFETCH_A;
	float gone = cell->occupancy50 - held(culprit, cell);
	float gained = claim->first->occupancy - claim->first->occupancy50;

	return claim->most >= CULPRIT_SHARE * claim->total &&
	       gone >= culprit_max(2 * culprit->unit, lost_part * cell->occupancy50) &&
	       claim->total >= CULPRIT_SELF * own &&
	       cell->refetched <= refetch * claim->total &&
	       gained >= (counted ? 0 : CULPRIT_GAINED * claim->most);
}

static void judge_cache(struct cmt_culprit *culprit, struct culprit_cell *cell)
{
	float least = culprit_max(CULPRIT_TAKEN_KIB, CULPRIT_TAKEN * cell->occupancy50);
	struct claim claim;
	struct pace pace;
	bool counted;

	claim_of(culprit, cell, &claim);
	cell->passed = (uint8_t)(cell->passed << 1);
	cell->harmed = (uint8_t)(cell->harmed << 1);
	if (claim.most < least / 8)
		cell->onset = culprit->slot;
	if (claim.most <= 0)
		return;
	counted = pace_of(culprit, cell, &pace);
	if (counted)
		cell->harmed |= slower(cell, &pace) &&
				pace.mpi > CULPRIT_MPI * cell->mpi50;
	else
		cell->harmed |= cell->refetched >=
				culprit_max(CULPRIT_HARM_KIB, CULPRIT_HARM_A * claim.most);
	if (claim.most < least)
		return;
	cell->passed |= cache_taken(culprit, cell, &claim, counted);
	if (!(cell->passed & 1) ||
	    count(cell->passed >> 1, 3) < CULPRIT_PASSED)
		return;
	if (counted ? count(cell->harmed, 4) < 2 : !(cell->harmed & 1))
		return;
	culprit_tell(culprit, cell, CMT_CULPRIT_CACHE);
}

void culprit_judge(struct cmt_culprit *culprit)
{
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];

		if (!cell->used || cell->calm || !cell->known ||
		    cell->flags & CMT_CULPRIT_NO_VICTIM)
			continue;
		judge_cache(culprit, cell);
	}
}
