// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a miss costs, from how the slots of an owner differ: cycles per instruction are a
 * line over misses per instruction, whose slope is the cost of a miss.
 */
#include "slowdown.h"

/* Slots with less say nothing: a fifteenth of a CPU of 3 GHz */
#define CYCLES_LEAST	200000.0
#define SLOTS_LEAST	50
#define SLOPE_SLOTS	10	/* a slope alone is certain with fewer */

/* The cost of a miss where nothing is known, and how far owners are from it, in cycles */
#define COST_USUAL	90.0
#define COST_SPREAD	70.0
#define COST_LEAST	15.0
#define COST_MOST	400.0
/* Cycles of an instruction without a miss, at least */
#define CPI_LEAST	0.3

double slowdown_kept(double x)
{
	double kept = x < 512 ? (512 - x) / (512 + x) : 0;

	for (int i = 0; i < 8; i++)
		kept *= kept;
	return kept;
}

void slowdown_moments_scale(struct slowdown_moments *m, double factor)
{
	m->n *= factor;
	m->x *= factor;
	m->y *= factor;
	m->t *= factor;
	m->xx *= factor;
	m->xy *= factor;
	m->yy *= factor;
	m->xt *= factor;
	m->xxt *= factor;
	m->xxtt *= factor;
	m->xty *= factor;
}

void slowdown_moments_add(struct slowdown_moments *m, const struct slowdown_values *values,
			  double t)
{
	double w = 1.0 / SLOWDOWN_WINDOW, x, y;

	if (values->instructions <= 0 || values->cycles < CYCLES_LEAST)
		return;
	x = values->misses / values->instructions;
	y = values->cycles / values->instructions;
	m->n += w;
	m->x += w * x;
	m->y += w * y;
	m->t += w * t;
	m->xx += w * x * x;
	m->xy += w * x * y;
	m->yy += w * y * y;
	m->xt += w * x * t;
	m->xxt += w * x * x * t;
	m->xxtt += w * x * x * t * t;
	m->xty += w * x * t * y;
}

/* Means by slot that tells, and sums of products about them */
struct line {
	double slots;
	double xx, xy, yy;	/* about the means */
};

static struct line line_of(const struct slowdown_moments *m)
{
	return (struct line){
		.slots = m->n * SLOWDOWN_WINDOW,
		.xx = m->xx - m->x * m->x / m->n,
		.xy = m->xy - m->x * m->y / m->n,
		.yy = m->yy - m->y * m->y / m->n,
	};
}

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* Not more than leaves the instructions their cycles */
static double cost_most(const struct slowdown_values *mean)
{
	double most = (mean->cycles - CPI_LEAST * mean->instructions) / mean->misses;

	return clamp(most, 10, COST_MOST);
}

struct slowdown_guess slowdown_cost(const struct slowdown_owner *owner)
{
	struct slowdown_guess cost = { COST_USUAL, COST_SPREAD * COST_SPREAD };
	struct line l = line_of(&owner->moments);
	double slope, variance, seen, usual = 1 / cost.variance;

	if (l.slots >= SLOPE_SLOTS && l.xx > 0) {
		slope = l.xy / l.xx;
		variance = (l.yy - slope * l.xy) / ((l.slots - 2) * l.xx);
		seen = 1 / (variance + 1);
		cost.value = (slope * seen + cost.value * usual) / (seen + usual);
		cost.variance = 1 / (seen + usual);
	}
	cost.value = clamp(cost.value, COST_LEAST, COST_MOST);
	if (owner->mean.misses > 0 && cost.value > cost_most(&owner->mean))
		cost.value = cost_most(&owner->mean);
	return cost;
}

/*
 * Least squares of y over x and z = x (t - mean of t), both about their means: the second
 * slope over the cost of a miss.
 */
struct slowdown_guess slowdown_rise(const struct slowdown_owner *owner)
{
	const struct slowdown_moments *m = &owner->moments;
	struct line l = line_of(m);
	struct slowdown_guess none = { 0, 0 }, rise;
	double t = m->t / m->n, z = m->xt - t * m->x;
	double xz = m->xxt - t * m->xx - m->x * z / m->n;
	double zz = m->xxtt - 2 * t * m->xxt + t * t * m->xx - z * z / m->n;
	double zy = m->xty - t * m->xy - z * m->y / m->n;
	double det = l.xx * zz - xz * xz, a, b, left;

	if (l.slots < SLOTS_LEAST || !(det > 1e-9 * l.xx * zz))
		return none;
	a = (l.xy * zz - zy * xz) / det;
	b = (zy * l.xx - l.xy * xz) / det;
	left = l.yy - a * l.xy - b * zy;
	if (a < COST_LEAST || a > 500)
		a = slowdown_cost(owner).value;
	rise.value = b / a;
	rise.variance = left * l.xx / det / (l.slots - 3) / (a * a);
	return rise;
}
