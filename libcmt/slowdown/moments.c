// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cost of a miss, from how the slots of an owner differ: cycles per instruction are a line
 * over misses per instruction, whose slope is the cost of a miss.  In slots with more misses the
 * memory is often busier, too.  So the slope over misses and the slope over the load of the
 * memory are estimated together.
 */
#include "slowdown.h"

/* A slot with fewer cycles is left out: a fifteenth of a CPU of 3 GHz */
#define CYCLES_LEAST	200000.0
#define SLOTS_LEAST	50	/* slots that both slopes together need */
#define SLOPE_SLOTS	10	/* slots that the slope over misses alone needs */
#define SAME		1e-8	/* a smaller variance, as a part of a square, is from rounding */
#define SLOPE_LEAST	1.0	/* least variance of a slope */

/* The cost of a miss where nothing is known, and its standard deviation over owners; cycles */
#define COST_USUAL	90.0
#define COST_SPREAD	70.0
#define COST_LEAST	15.0
#define COST_MOST	400.0
/* The same of the cycles per instruction without misses */
#define CPI_USUAL	0.8
#define CPI_SPREAD	0.5

double slowdown_kept(double x)
{
	double kept = x < 512 ? (512 - x) / (512 + x) : 0;

	for (int i = 0; i < 8; i++)
		kept *= kept;
	return kept;
}

void slowdown_moments_scale(struct slowdown_moments *m, double factor)
{
	slowdown_fade(&m->n, factor);
	slowdown_fade(&m->x, factor);
	slowdown_fade(&m->y, factor);
	slowdown_fade(&m->t, factor);
	slowdown_fade(&m->xx, factor);
	slowdown_fade(&m->xy, factor);
	slowdown_fade(&m->yy, factor);
	slowdown_fade(&m->xt, factor);
	slowdown_fade(&m->xxt, factor);
	slowdown_fade(&m->xxtt, factor);
	slowdown_fade(&m->xty, factor);
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

/* Covariances, times the share n of the slots that count; z is x (t - mean of t). */
struct about {
	double slots;		/* number of slots that count */
	double xx, xy, yy;	/* xx is 0: x is the same in all slots */
	double xz, zz, zy;
	double det;	/* 0: x and z cannot be distinguished */
};

static struct about about_of(const struct slowdown_moments *m)
{
	double t = m->t / m->n, z = m->xt - t * m->x;
	struct about a = {
		.slots = m->n * SLOWDOWN_WINDOW,
		.xx = m->xx - m->x * m->x / m->n,
		.xy = m->xy - m->x * m->y / m->n,
		.yy = m->yy - m->y * m->y / m->n,
		.xz = m->xxt - t * m->xx - m->x * z / m->n,
		.zz = m->xxtt - 2 * t * m->xxt + t * t * m->xx - z * z / m->n,
		.zy = m->xty - t * m->xy - z * m->y / m->n,
	};
	double det = a.xx * a.zz - a.xz * a.xz;

	if (a.xx < SAME * m->xx)
		a.xx = 0;
	if (a.slots >= SLOTS_LEAST && a.xx > 0 && a.zz > SAME * m->xx * t * t &&
	    det > 1e-9 * a.xx * a.zz)
		a.det = det;
	return a;
}

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* The slopes of y over x and over z, by least squares */
struct slopes {
	double x, z;
	double left;	/* the part of yy that they do not explain, divided by slots - 3 */
};

static struct slopes slopes_of(const struct about *a)
{
	struct slopes s = {
		.x = (a->xy * a->zz - a->zy * a->xz) / a->det,
		.z = (a->zy * a->xx - a->xy * a->xz) / a->det,
	};

	s.left = (a->yy - s.x * a->xy - s.z * a->zy) / (a->slots - 3);
	return s;
}

/* Where the load of the memory is the same in all slots, the slope over x alone. */
static struct slowdown_guess slope_of(const struct about *a)
{
	struct slowdown_guess slope = { 0, 0 };
	double variance;

	if (a->det > 0) {
		struct slopes both = slopes_of(a);

		slope.value = both.x;
		variance = both.left * a->zz / a->det;
	} else if (a->slots >= SLOPE_SLOTS && a->xx > 0) {
		slope.value = a->xy / a->xx;
		variance = (a->yy - slope.value * a->xy) / ((a->slots - 2) * a->xx);
	} else {
		return slope;
	}
	slope.variance = SLOWDOWN_SAMPLES_EACH * (variance > 0 ? variance : 0) + SLOPE_LEAST;
	return slope;
}

/* The cost of a miss if an instruction without misses needs CPI_USUAL cycles. */
static struct slowdown_guess rest_of(const struct slowdown_values *mean)
{
	struct slowdown_guess rest = { 0, 0 };

	if (mean->misses > 0) {
		double spread = CPI_SPREAD * mean->instructions / mean->misses;

		rest.value = (mean->cycles - CPI_USUAL * mean->instructions) / mean->misses;
		rest.variance = spread * spread;
	}
	return rest;
}

/* The mean of both, weighted by the inverse of their variances */
static struct slowdown_guess together(struct slowdown_guess a, struct slowdown_guess b)
{
	double weight;

	if (b.variance <= 0)
		return a;
	weight = a.variance / (a.variance + b.variance);
	return (struct slowdown_guess){
		.value = a.value + weight * (b.value - a.value),
		.variance = weight * b.variance,
	};
}

struct slowdown_guess slowdown_cost(const struct slowdown_owner *owner)
{
	struct about about = about_of(&owner->moments);
	struct slowdown_guess cost = { COST_USUAL, COST_SPREAD * COST_SPREAD };

	cost = together(cost, slope_of(&about));
	cost = together(cost, rest_of(&owner->mean));
	cost.value = clamp(cost.value, COST_LEAST, COST_MOST);
	return cost;
}

struct slowdown_guess slowdown_rise(const struct slowdown_owner *owner)
{
	struct about about = about_of(&owner->moments);
	struct slowdown_guess rise = { 0, 0 };
	double cost = slowdown_cost(owner).value;
	struct slopes slopes;

	if (about.det <= 0)
		return rise;
	slopes = slopes_of(&about);
	rise.value = slopes.z / cost;
	rise.variance = slopes.left * about.xx / about.det / (cost * cost);
	return rise;
}
