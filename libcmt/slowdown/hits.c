// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How the hits of an owner grow with the cache that it holds: as a power, whose exponent is
 * estimated from how the slots of the owner differ.  Accesses in random order have the exponent
 * 1, a working set with a small hot part has less.  A loop has more: it hits little until all of
 * it is in the cache.
 */
#include "slowdown.h"

#define SLOTS_LEAST	20
/* The usual exponent, that of accesses in random order */
#define STEEP_USUAL	1.0
/*
 * Most owners that hit little are loops.  Where lines are replaced at random, the exponent of a
 * loop is minus the logarithm of its share of hits.  The usual exponent is this part of it, if
 * that is more than STEEP_USUAL.
 */
#define STEEP_LOOPS	0.8
/* The standard deviation of exponents around the usual one */
#define STEEP_SPREAD	0.6
#define STEEP_LEAST	0.05
#define STEEP_MOST	8.0
/*
 * Where no occupancy is known, the exponent is EVEN + UNEVEN * d.  d is the standard deviation
 * of hits from slot to slot, as a part of their mean: the pressure on the cache changes, and the
 * hits of a loop then change most.
 */
#define STEEP_EVEN	0.6
#define STEEP_UNEVEN	2.0
/* Hits are not exactly a power: the least variance of an estimated exponent */
#define MODEL_VARIANCE	0.02
/* Occupancies are read in steps of about 64 KiB: the variance of that, KiB^2 */
#define STEP_VARIANCE	(64.0 * 64.0 / 12)
#define HITS_LEAST	0.003	/* a smaller share of hits is noise of the counters */
#define HITS_TRACE	0.001	/* least share of hits that can grow by a power */
#define HITS_MOST	0.985	/* share of hits of an owner with all the cache it can use */
#define MISSES_LEFT	0.4	/* part of its misses that an owner keeps then which hits HITS_MOST now */
#define HITS_ALL	0.9999	/* greatest share of hits that is computed with */
#define WAITS_MOST	0.95	/* greatest slowdown_need.waits */
/* Amounts in a table grow by this factor, up to 2^14: more than the last pressure leads to */
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
	double sum = 0, z, zz;

	while (x > 2) {
		sum += ln2;
		x /= 2;
	}
	z = (x - 1) / (x + 1);
	zz = z * z;
	return sum + 2 * z * (1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz / 9))));
}

/* @x >= 1 to the @exponent >= 0 */
static double power(double x, double exponent)
{
	return 1 / slowdown_kept(exponent * slowdown_logarithm(x));
}

/* The exponent of an owner with the share of hits @hits, if nothing else is known */
static double usual_steep(double hits)
{
	double steep = STEEP_LOOPS * slowdown_logarithm(1 / clamp(hits, HITS_LEAST, 1));

	return steep > STEEP_USUAL ? steep : STEEP_USUAL;
}

static double root(double x)
{
	return x < 1 ? slowdown_kept(slowdown_logarithm(1 / x) / 2) : power(x, 0.5);
}

/* The exponent without occupancies.  @variance: of hits, as a part of the square of their mean */
static double uneven_steep(double variance)
{
	double deviation = variance > 0 ? root(variance) : 0;

	return clamp(STEEP_EVEN + STEEP_UNEVEN * deviation, STEEP_LEAST, STEEP_MOST);
}

/* Least squares of hits over the cache that is held, both as parts of their means */
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

/* The share of hits that grows by the power */
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

/* Would the owner hit more with more cache?  An owner that only streams would not. */
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

/* The cache at which the owner has its greatest share of hits, as a multiple of now */
static double times_most(const struct slowdown_need *need)
{
	if (need->seen > 0)
		return need->seen_times * power(need->most / need->seen, 1 / need->steep);
	return power(need->most / need->hits, 1 / need->steep);
}

/*
 * How fast lines must leave the cache for the owner to hold @times as much as now: the inverse
 * of the cube of the time for which lines stay, as a multiple of now.
 *
 * An owner holds the lines that it brings in, for the time that lines stay.  Lines that hit stay
 * longer: by a factor between the square root of the share of misses and that share, for the
 * replacement policies of caches; the power of two thirds is used.  An owner that misses less
 * runs faster, and brings in more lines.
 */
static double leaves(const struct slowdown_need *need, double times)
{
	double misses = (1 - slowdown_hits(need, times)) / (1 - need->hits);
	double held = times * (1 - need->waits * (1 - misses));

	return misses * misses / (held * held * held);
}

/* Amounts that an owner may hold, in steps, and leaves() of each */
struct table {
	uint32_t nr;
	double times[TABLE], leaves[TABLE];
};

/*
 * An owner may gain so much by holding more that several amounts have the same leaves().  The
 * greatest of them is used: the loop at the end makes leaves fall over the table.
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

/*
 * The amount at which leaves() is @leaves.  *@at: the entry to begin the search with, and the one
 * where it ended, for the next call with a smaller @leaves
 */
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
