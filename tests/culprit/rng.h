/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that a seed repeats on every machine. */
#ifndef CULPRIT_RNG_H
#define CULPRIT_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s;
};

/* splitmix64 */
static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Below @n, which is not 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

static inline double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

static inline double rng_range(struct rng *r, double lo, double hi)
{
	return lo + (hi - lo) * rng_unit(r);
}

/* Of mean 0 and deviation 1; no tails beyond 3.5. */
static inline double rng_gauss(struct rng *r)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += rng_unit(r);
	return (sum - 2.0) * 1.7320508;
}

#endif
