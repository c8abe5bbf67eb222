// SPDX-License-Identifier: LGPL-2.1-or-later
/* The usual values of an owner: percentiles of the last blocks, sorted as they come. */
#include "state.h"

#include <string.h>

void culprit_series_init(struct culprit_series *series, float value)
{
	for (uint32_t i = 0; i < CULPRIT_RING; i++)
		series->ring[i] = value;
	for (uint32_t i = 0; i < CULPRIT_WINDOW; i++)
		series->sorted[i] = value;
	series->nr = isnan(value) ? 0 : CULPRIT_WINDOW;
}

/* The first index whose value is not below @value */
static uint32_t lower_bound(const struct culprit_series *series, float value)
{
	uint32_t lo = 0, hi = series->nr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (series->sorted[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void sorted_remove(struct culprit_series *series, float value)
{
	uint32_t at = lower_bound(series, value);

	series->nr--;
	memmove(&series->sorted[at], &series->sorted[at + 1],
		(series->nr - at) * sizeof(float));
}

static void sorted_insert(struct culprit_series *series, float value)
{
	uint32_t at = lower_bound(series, value);

	memmove(&series->sorted[at + 1], &series->sorted[at],
		(series->nr - at) * sizeof(float));
	series->sorted[at] = value;
	series->nr++;
}

/* Only the values between the old and the new one move. */
static void sorted_replace(struct culprit_series *series, float old, float value)
{
	uint32_t from = lower_bound(series, old);
	uint32_t to = lower_bound(series, value);
	float *sorted = series->sorted;

	if (to > from) {
		to--;
		memmove(&sorted[from], &sorted[from + 1],
			(to - from) * sizeof(float));
	} else {
		memmove(&sorted[to + 1], &sorted[to],
			(from - to) * sizeof(float));
	}
	sorted[to] = value;
}

/* Block number @block: its value goes into the window when the lag is over. */
static void series_push(struct culprit_series *series, uint64_t block, float value)
{
	uint32_t at = block % CULPRIT_RING;
	float old = series->ring[at];
	float due = series->ring[(block + CULPRIT_WINDOW) % CULPRIT_RING];

	series->ring[at] = value;
	if (old == due)
		return;
	if (isnan(old) && isnan(due))
		return;
	if (isnan(due))
		sorted_remove(series, old);
	else if (isnan(old))
		sorted_insert(series, due);
	else
		sorted_replace(series, old, due);
}

/* At @percent, NAN if there is nothing. */
static float percentile(const struct culprit_series *series, uint32_t percent)
{
	if (!series->nr)
		return NAN;
	return series->sorted[(series->nr - 1) * percent / 100];
}

float culprit_deviation(const struct culprit_series *series)
{
	float median = percentile(series, 50);
	uint32_t lo = (series->nr - 1) / 2, hi = lo;
	float last = 0;

	for (uint32_t n = series->nr / 2; n; n--) {
		float below = lo ? median - series->sorted[lo - 1] : INFINITY;
		float above = hi + 1 < series->nr ?
			      series->sorted[hi + 1] - median : INFINITY;

		if (below < above) {
			last = below;
			lo--;
		} else {
			last = above;
			hi++;
		}
	}
	return last;
}

_Static_assert((CULPRIT_LEARN + CULPRIT_LAG) * CULPRIT_BLOCK <= CMT_CULPRIT_LEARN,
	       "who is there from the first slot on has baselines by then");

static void baselines(struct culprit_cell *cell)
{
	const struct culprit_series *s = cell->series;

	cell->known = s[CULPRIT_OF_TRAFFIC].nr >= CULPRIT_LEARN &&
		      s[CULPRIT_OF_OCCUPANCY].nr >= CULPRIT_LEARN;
	cell->traffic50 = percentile(&s[CULPRIT_OF_TRAFFIC], 50);
	cell->traffic90 = percentile(&s[CULPRIT_OF_TRAFFIC], 90);
	cell->occupancy50 = percentile(&s[CULPRIT_OF_OCCUPANCY], 50);
	cell->occupancy_low =
		percentile(&s[CULPRIT_OF_OCCUPANCY], CULPRIT_LOW);
	cell->occupancy_high =
		percentile(&s[CULPRIT_OF_OCCUPANCY], 100 - CULPRIT_LOW);
	cell->counted = s[CULPRIT_OF_CPI].nr >= CULPRIT_LEARN / 2;
	if (!cell->counted)
		return;
	cell->cpi50 = percentile(&s[CULPRIT_OF_CPI], 50);
	cell->mpi50 = percentile(&s[CULPRIT_OF_MPI], 50);
}

/* The past of an owner that begins now is known: it had and moved nothing. */
void culprit_cell_anew(struct culprit_cell *cell, bool born, uint64_t slot)
{
	float past = born ? 0 : NAN;

	culprit_series_init(&cell->series[CULPRIT_OF_TRAFFIC], past);
	culprit_series_init(&cell->series[CULPRIT_OF_OCCUPANCY], past);
	culprit_series_init(&cell->series[CULPRIT_OF_CPI], NAN);
	culprit_series_init(&cell->series[CULPRIT_OF_MPI], NAN);
	memset(cell->recent, 0, sizeof(cell->recent));
	cell->has_occupancy = born ? 0xffff : 0;
	cell->has_traffic = cell->has_occupancy;
	cell->has_counters = 0;
	cell->paced = 0;
	culprit_cell_acquit(cell);
	cell->calm = false;
	cell->still = 0;
	cell->occupancy = past;
	cell->refetched = 0;
	cell->own = 0;
	cell->nr_debts = 0;
	cell->owed_most = 0;
	cell->born = slot;
	cell->onset = slot;
	cell->block_slot = slot - slot % CULPRIT_BLOCK;
	baselines(cell);
}

/* Without instructions nothing is known; where nothing was before, all stays so. */
static void push_pace(struct culprit_cell *cell, uint64_t block, float cycles,
		      float misses, float instructions)
{
	struct culprit_series *s = cell->series;
	float per = instructions > 0 ? instructions : NAN;

	if (instructions > 0)
		cell->paced = CULPRIT_RING;
	else if (!cell->paced)
		return;
	else
		cell->paced--;
	series_push(&s[CULPRIT_OF_CPI], block, cycles / per);
	series_push(&s[CULPRIT_OF_MPI], block, misses / per);
}

/* The block that ended with the slot before @slot. */
static void push_block(struct culprit_cell *cell, uint64_t slot)
{
	struct culprit_series *s = cell->series;
	uint64_t block = slot / CULPRIT_BLOCK;
	uint32_t n = 0, counted = 0;
	float cycles = 0, instructions = 0, misses = 0, traffic = 0;

	for (uint32_t i = 1; i <= CULPRIT_BLOCK; i++) {
		const struct culprit_recent *r =
			&cell->recent[(slot - i) % CULPRIT_RECENT];

		if (cell->has_traffic >> i & 1) {
			traffic += r->traffic;
			n++;
		}
		if (cell->has_counters >> i & 1) {
			cycles += r->cycles;
			instructions += r->instructions;
			misses += r->misses;
			counted++;
		}
	}
	series_push(&s[CULPRIT_OF_TRAFFIC], block, n ? traffic / n : NAN);
	series_push(&s[CULPRIT_OF_OCCUPANCY], block, cell->occupancy);
	push_pace(cell, block, cycles, misses,
		  counted ? instructions : 0);
}

static void push_calm(struct culprit_cell *cell, uint64_t slot)
{
	struct culprit_series *s = cell->series;
	uint64_t block = slot / CULPRIT_BLOCK;

	series_push(&s[CULPRIT_OF_TRAFFIC], block, 0);
	series_push(&s[CULPRIT_OF_OCCUPANCY], block, cell->occupancy);
	push_pace(cell, block, 0, 0, 0);
}

/* A calm that is longer than all that is kept. */
static void all_calm(struct culprit_cell *cell, uint64_t slot)
{
	culprit_series_init(&cell->series[CULPRIT_OF_TRAFFIC], 0);
	culprit_series_init(&cell->series[CULPRIT_OF_OCCUPANCY],
			    cell->occupancy);
	culprit_series_init(&cell->series[CULPRIT_OF_CPI], NAN);
	culprit_series_init(&cell->series[CULPRIT_OF_MPI], NAN);
	cell->paced = 0;
	cell->block_slot = slot - slot % CULPRIT_BLOCK;
}

void culprit_blocks_end(struct culprit_cell *cell, uint64_t slot)
{
	if (cell->calm &&
	    slot - cell->block_slot > CULPRIT_RING * CULPRIT_BLOCK)
		all_calm(cell, slot);
	for (; slot - cell->block_slot >= CULPRIT_BLOCK;
	     cell->block_slot += CULPRIT_BLOCK) {
		if (cell->calm)
			push_calm(cell, cell->block_slot + CULPRIT_BLOCK);
		else
			push_block(cell, cell->block_slot + CULPRIT_BLOCK);
	}
	baselines(cell);
}
