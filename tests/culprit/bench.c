// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a slot costs, in CPU time, by how many owners do something; and how often the slot's
 * samples could be sorted in that time, which other load on the machine changes as little as
 * the processor does.  Status 1: more often than LIMIT at 200 owners, all of them active, all
 * with counters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmt/culprit.h>

#include "rng.h"

#define MS	1000000ULL
#define OWNERS	1000
#define SLOTS	4000
#define ROUNDS	7
#define LIMIT	3.0

struct cost {
	double slot, sort;	/* us */
};

static struct cmt_culprit_sample samples[OWNERS], sorted[OWNERS];

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* An owner whose load wanders, and that bursts now and then. */
static void stir(struct cmt_culprit_sample *s, uint64_t ms, struct rng *rng)
{
	uint64_t traffic = 20 + rng_below(rng, 40);

	if ((ms + s->id * 37) % 1000 < 20)
		traffic += 800;
	s->valid = CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC |
		   CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS |
		   CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES;
	s->traffic_bytes = traffic * 1024;
	s->occupancy_bytes = (300 + rng_below(rng, 64)) * 1024ULL;
	s->cycles = 3000000 + rng_below(rng, 100000);
	s->instructions = 2000000 + rng_below(rng, 100000);
	s->misses = traffic * 16;
	s->references = 2 * s->misses;
}

static int cmp_traffic(const void *pa, const void *pb)
{
	const struct cmt_culprit_sample *a = pa, *b = pb;

	return a->traffic_bytes < b->traffic_bytes ? -1 : a->traffic_bytes > b->traffic_bytes;
}

static double sort_seconds(uint32_t owners)
{
	double begin = cpu_seconds();

	memcpy(sorted, samples, owners * sizeof(*samples));
	qsort(sorted, owners, sizeof(*sorted), cmp_traffic);
	return cpu_seconds() - begin;
}

static struct cost run(uint32_t owners, uint32_t active)
{
	struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .sample_size = sizeof(samples[0]),
		.samples = samples, .nr_samples = owners,
	};
	const struct cmt_culprit_verdict *verdict;
	struct rng rng = { 42 };
	struct cmt_culprit *culprit;
	struct cost cost = { 0, 0 };

	if (cmt_culprit_new(&culprit, &opts))
		abort();
	for (uint64_t ms = 1; ms <= SLOTS; ms++) {
		double begin;

		for (uint32_t i = 0; i < owners; i++) {
			samples[i] = (struct cmt_culprit_sample){
				.id = i + 1, .valid = CMT_CULPRIT_IDLE,
			};
			if (i < active)
				stir(&samples[i], ms, &rng);
			else if (ms == 1)
				samples[i].valid = CMT_CULPRIT_OCCUPANCY;
		}
		slot.start_ns = ms * MS;
		begin = cpu_seconds();
		if (cmt_culprit_add(culprit, &slot) < 0)
			abort();
		while (cmt_culprit_next(culprit, &verdict))
			;
		cost.slot += (cpu_seconds() - begin) * 1e6 / SLOTS;
		cost.sort += sort_seconds(owners) * 1e6 / SLOTS;
	}
	cmt_culprit_free(culprit);
	return cost;
}

/* The least of some: what else runs on the machine only adds. */
static struct cost least(uint32_t owners, uint32_t active)
{
	struct cost best = run(owners, active);

	for (int i = 1; i < ROUNDS; i++) {
		struct cost cost = run(owners, active);

		best.slot = cost.slot < best.slot ? cost.slot : best.slot;
		best.sort = cost.sort < best.sort ? cost.sort : best.sort;
	}
	return best;
}

int main(void)
{
	static const uint32_t cases[][2] = {
		{ 200, 0 }, { 200, 20 }, { 1000, 0 }, { 1000, 200 }, { 200, 200 },
	};
	double ratio = 0;

	printf("%8s %8s %10s %12s %16s\n", "owners", "active", "us a slot",
	       "% of a core", "times sorting");
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cost cost = least(cases[i][0], cases[i][1]);

		ratio = cost.slot / cost.sort;
		printf("%8u %8u %10.2f %12.2f %16.2f\n", cases[i][0], cases[i][1], cost.slot,
		       cost.slot / 10, ratio);
	}
	printf("limit: 200 of 200 active, %.1f times sorting their samples: %.2f, %s\n", LIMIT,
	       ratio, ratio <= LIMIT ? "kept" : "MISSED");
	return ratio > LIMIT;
}
