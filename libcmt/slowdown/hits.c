// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How an owner's hits grow with what it holds: as a power of it, whose exponent is seen in
 * how its slots differ.  Accesses without order have 1, a small hot part has less, a loop has
 * more: it hits little before all of it is in the cache.
 */
#include "slowdown.h"

#define SLOTS_LEAST	20
/* Owners whose exponent is not seen: accesses without order, */
#define STEEP_USUAL	1.0
/*
 * but most that hit little are loops.  Where lines are replaced at random, the exponent of a
 * loop is the logarithm of its hits; this much of it lies between both.
 */
#define STEEP_LOOPS	0.8
#define STEEP_SPREAD	0.6
#define STEEP_LEAST	0.05
#define STEEP_MOST	8.0
/*
 * Where no occupancy is known: what presses on the cache changes, and the hits of a loop then
 * differ more from slot to slot.  The exponent by their deviation, as a part of their mean.
 */
#define STEEP_EVEN	0.6
#define STEEP_UNEVEN	2.0
/* No hits are a power exactly. */
#define MODEL_VARIANCE	0.02
/* Occupancies are read in steps of about 64 KiB: the variance of that, KiB^2 */
#define STEP_VARIANCE	(64.0 * 64.0 / 12)
/* A share of hits below is noise of the counters */
#define HITS_LEAST	0.003
#define HITS_TRACE	0.001	/* what grows to the hits of another phase is not 0 */
#define HITS_MOST	0.985	/* of an owner that has all the cache it can use, */
#define MISSES_LEFT	0.4	/* or that has nearly all now: a part of what it misses */
#define HITS_ALL	0.9999
#define WAITS_MOST	0.95
/* What is held is looked at in such steps, up to more than lines can stay for */
#define TIMES_STEP	1.189207115002721
#define TABLE		56

static const double ln2 = 0.69314718055994531;

void slowdown_curve_scale(struct slowdown_curve *curve, double factor)
{
	slowdown_fade(&curve->o, factor);
	slowdown_fade(&curve->oo, factor);
	slowdown_fade(&curve->ho, factor);
	slowdown_fade(&curve->hh, factor);
}

void slowdown_curve_add(struct slowdown_curve *curve, double references, double misses,
			double kib)
{
	double w = 1.0 / SLOWDOWN_WINDOW, hits = references - misses;

	if (references <= 0)
		return;
	curve->o += w * references * kib;
	curve->oo += w * references * kib * kib;
	curve->ho += w * hits * kib;
	curve->hh += w * hits * hits / references;
}

bool slowdown_hits_nothing(const struct slowdown_owner *owner)
{
	double a = owner->mean.references;

	return a > 0 && a - (owner->mean.misses - owner->unreferenced) < HITS_LEAST * a;
}

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

double slowdown_logarithm(double x)
{
	double whole = 0, z, zz;

	while (x > 2) {
		whole += ln2;
		x /= 2;
	}
	z = (x - 1) / (x + 1);
	zz = z * z;
	return whole + 2 * z * (1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz / 9))));
}

/* @x >= 1 to the @exponent >= 0 */
static double power(double x, double exponent)
{
	return 1 / slowdown_kept(exponent * slowdown_logarithm(x));
}

/* The exponent of an owner that hits @hits, if nothing else is known */
static double usual_steep(double hits)
{
	double steep = STEEP_LOOPS * slowdown_logarithm(1 / clamp(hits, HITS_LEAST, 1));

	return steep > STEEP_USUAL ? steep : STEEP_USUAL;
}

static double root(double x)
{
	return x < 1 ? slowdown_kept(slowdown_logarithm(1 / x) / 2) : power(x, 0.5);
}

/* By the variance of hits, as a part of the square of their mean */
static double uneven_steep(double variance)
{
	double deviation = variance > 0 ? root(variance) : 0;

	return clamp(STEEP_EVEN + STEEP_UNEVEN * deviation, STEEP_LEAST, STEEP_MOST);
}

/* Least squares of hits over what is held, both as parts of their means */
double slowdown_steep(const struct slowdown_owner *owner)
{
	const struct slowdown_curve *c = &owner->curve;
	double a = owner->mean.references;
	double h = a - (owner->mean.misses - owner->unreferenced);
	double slots = owner->moments.n * SLOWDOWN_WINDOW;
	double certain = 1 / (STEEP_SPREAD * STEEP_SPREAD);
	double usual, oo, ho, hh, slope, variance, steps, seen;

	if (a <= 0 || slowdown_hits_nothing(owner))
		return STEEP_USUAL;
	usual = usual_steep(h / a);
	if (slots < SLOTS_LEAST)
		return usual;
	hh = c->hh * a / (h * h) - 1;
	if (c->o <= 0)
		return uneven_steep(hh);
	oo = c->oo * a / (c->o * c->o) - 1;
	ho = c->ho * a / (h * c->o) - 1;
	if (oo < 1e-9)
		return usual;
	slope = ho / oo;
	variance = (hh - slope * ho) / (slots - 2) / oo;
	steps = STEP_VARIANCE * a * a / (c->o * c->o) / oo;
	seen = 1 / (SLOWDOWN_SAMPLES_EACH * (variance > 0 ? variance : 0) + steps * steps +
		    MODEL_VARIANCE);
	return clamp((slope * seen + usual * certain) / (seen + certain), STEEP_LEAST,
		     STEEP_MOST);
}

struct slowdown_need slowdown_need(double misses, double references, double waits, double steep)
{
	struct slowdown_need need = {
		.waits = waits < WAITS_MOST ? waits : WAITS_MOST, .steep = steep,
	};

	if (references > 0)
		need.hits = clamp(1 - misses / references, 0, HITS_ALL);
	need.most = 1 - MISSES_LEFT * (1 - need.hits);
	if (need.most < HITS_MOST)
		need.most = HITS_MOST;
	return need;
}

/* What grows with what is held */
static double grows_from(const struct slowdown_need *need)
{
	return need->hits > HITS_TRACE ? need->hits : HITS_TRACE;
}

void slowdown_need_see(struct slowdown_need *need, double hits, double times)
{
	double more = hits / grows_from(need);

	need->seen = hits;
	need->seen_steep = clamp(slowdown_logarithm(more) / slowdown_logarithm(times),
				 STEEP_LEAST, STEEP_MOST);
	need->seen_times = power(more, 1 / need->seen_steep);
	if (need->most < hits)
		need->most = hits;
}

/* One that only streams hits no more in a larger cache. */
static bool is_helped(const struct slowdown_need *need)
{
	return need->hits >= HITS_LEAST || need->seen > 0;
}

double slowdown_hits(const struct slowdown_need *need, double times)
{
	double from = grows_from(need), hits;

	if (!is_helped(need))
		return need->hits;
	if (need->seen <= 0)
		hits = from * power(times, need->steep);
	else if (times < need->seen_times)
		hits = from * power(times, need->seen_steep);
	else
		hits = need->seen * power(times / need->seen_times, need->steep);
	hits -= from - need->hits;
	return hits < need->most ? hits : need->most;
}

/* As much as it can use, in times of what it holds */
static double times_most(const struct slowdown_need *need)
{
	if (need->seen > 0)
		return need->seen_times * power(need->most / need->seen, 1 / need->steep);
	return power(need->most / need->hits, 1 / need->steep);
}

/*
 * An owner holds what it brings in for as long as that stays.  Lines that hit stay longer:
 * by how much is between the square root of the share of misses and that share for the
 * policies that caches have, and is taken as its power of two thirds.  An owner that misses
 * less runs faster, and brings in more.
 * Returns the inverse of the cube of the time for which lines stay where it holds @times as
 * much.
 */
static double leaves(const struct slowdown_need *need, double times)
{
	double misses = (1 - slowdown_hits(need, times)) / (1 - need->hits);
	double held = times * (1 - need->waits * (1 - misses));

	return misses * misses / (held * held * held);
}

/* Amounts that an owner may hold, in steps, and how fast lines leave with them */
struct table {
	uint32_t nr;
	double times[TABLE], leaves[TABLE];
};

/*
 * Where an owner gains by holding more, two amounts may belong to one time.  It is taken to
 * reach the greater one.
 */
static void fill_table(const struct slowdown_need *need, struct table *table)
{
	double most = times_most(need), times = 1;

	for (table->nr = 0; table->nr < TABLE; table->nr++) {
		table->times[table->nr] = times;
		table->leaves[table->nr] = leaves(need, times);
		if (times >= most)
			break;
		times = times * TIMES_STEP < most ? times * TIMES_STEP : most;
	}
	table->nr += table->nr < TABLE;
	for (uint32_t i = table->nr - 1; i > 1; i--)
		if (table->leaves[i - 1] < table->leaves[i])
			table->leaves[i - 1] = table->leaves[i];
}

/* The amount with which lines leave so fast; *@at: where to look from, and where that was */
static double times_at(const struct table *table, double leaves, uint32_t *at)
{
	uint32_t i = *at;
	double part;

	while (i < table->nr && table->leaves[i] > leaves)
		i++;
	*at = i;
	if (i == table->nr)
		return table->times[i - 1];
	part = (table->leaves[i - 1] - leaves) / (table->leaves[i - 1] - table->leaves[i]);
	return table->times[i - 1] + part * (table->times[i] - table->times[i - 1]);
}

void slowdown_times(const struct slowdown_need *need, double times[SLOWDOWN_PRESSURES])
{
	bool helped = is_helped(need);
	struct table table;
	double pressure = 1;
	uint32_t at = 1;

	if (helped)
		fill_table(need, &table);
	times[0] = 1;
	for (uint32_t i = 1; i < SLOWDOWN_PRESSURES; i++) {
		pressure *= SLOWDOWN_PRESSURE_STEP;
		times[i] = helped ? times_at(&table, 1 / (pressure * pressure * pressure), &at) :
				    pressure;
	}
}
