// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How an owner's hits grow with what it holds: as a power of it, whose exponent is seen in
 * how its slots differ.  Accesses without order have 1, a small hot part has less, a loop has
 * more: it hits little before all of it is in the cache.
 */
#include "slowdown.h"

#define SLOTS_LEAST	20
/* Owners whose exponent is not seen */
#define STEEP_USUAL	1.0
#define STEEP_SPREAD	0.6
#define STEEP_LEAST	0.05
#define STEEP_MOST	8.0
/* No hits are a power exactly. */
#define MODEL_VARIANCE	0.02
/* Occupancies are read in steps of about 64 KiB: the variance of that, KiB^2 */
#define STEP_VARIANCE	(64.0 * 64.0 / 12)
/* A share of hits below is noise of the counters */
#define HITS_LEAST	0.003
#define ROUNDS		8

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

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* Least squares of hits over what is held, both as parts of their means */
double slowdown_steep(const struct slowdown_owner *owner)
{
	const struct slowdown_curve *c = &owner->curve;
	double a = owner->mean.references;
	double h = a - (owner->mean.misses - owner->unreferenced);
	double slots = owner->moments.n * SLOWDOWN_WINDOW;
	double usual = 1 / (STEEP_SPREAD * STEEP_SPREAD);
	double oo, ho, hh, slope, variance, steps, seen;

	if (slots < SLOTS_LEAST || h < HITS_LEAST * a || c->o <= 0)
		return STEEP_USUAL;
	oo = c->oo * a / (c->o * c->o) - 1;
	ho = c->ho * a / (h * c->o) - 1;
	hh = c->hh * a / (h * h) - 1;
	if (oo < 1e-9)
		return STEEP_USUAL;
	slope = ho / oo;
	variance = (hh - slope * ho) / (slots - 2) / oo;
	steps = STEP_VARIANCE * a * a / (c->o * c->o) / oo;
	seen = 1 / (SLOWDOWN_SAMPLES_EACH * (variance > 0 ? variance : 0) + steps * steps +
		    MODEL_VARIANCE);
	return clamp((slope * seen + STEEP_USUAL * usual) / (seen + usual), STEEP_LEAST,
		     STEEP_MOST);
}

/* The natural logarithm of @x >= 1 */
static double logarithm(double x)
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

double slowdown_hits(const struct slowdown_need *need, double times)
{
	double hits;

	if (need->hits < HITS_LEAST)
		return need->hits;
	hits = need->hits / slowdown_kept(need->steep * logarithm(times));
	return hits < need->most ? hits : need->most;
}

/* As much as it can use, in times of what it holds */
static double times_most(const struct slowdown_need *need)
{
	if (need->hits < HITS_LEAST)
		return 1e9;
	return 1 / slowdown_kept(logarithm(need->most / need->hits) / need->steep);
}

/*
 * An owner holds what it brings in for as long as that stays.  Lines that hit stay longer:
 * by how much is between the square root of the share of misses and that share for the
 * policies that caches have.  An owner that misses less runs faster, and brings in more.
 */
static bool holds_more(const struct slowdown_need *need, double pressure, double times)
{
	double misses = (1 - slowdown_hits(need, times)) / (1 - need->hits);
	double time = 1 - need->waits * (1 - misses);

	return pressure * pressure * misses > times * times * time * time;
}

static double times_at(const struct slowdown_need *need, double pressure, double lo, double hi)
{
	for (int i = 0; i < ROUNDS; i++) {
		double mid = (lo + hi) / 2;

		if (holds_more(need, pressure, mid))
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

void slowdown_times(const struct slowdown_need *need, double times[SLOWDOWN_PRESSURES])
{
	double most = times_most(need), pressure = 1;

	times[0] = 1;
	for (uint32_t i = 1; i < SLOWDOWN_PRESSURES; i++) {
		double hi = times[i - 1] * SLOWDOWN_PRESSURE_STEP * SLOWDOWN_PRESSURE_STEP;

		pressure *= SLOWDOWN_PRESSURE_STEP;
		hi = hi < most ? hi : most;
		times[i] = need->hits < HITS_LEAST ? pressure :
						     times_at(need, pressure, times[i - 1], hi);
	}
}
