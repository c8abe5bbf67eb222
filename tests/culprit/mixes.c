// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slowdown in mixes of owners that run from the start, against the only truth: the same
 * mix without one of the neighbours.  A table, and its limits.
 *
 * The set "deciding" is for those who change parameters, "reported" for the figures that
 * are told; no seed is in both.
 */
#include "engine.h"
#include "limit.h"
#include "score.h"
#include "truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_DECIDING	7000000ULL
#define SEED_REPORTED	8000000ULL
#define WARM_MS		300
#define LENGTH_MS	1000
#define MIX_MOST	7

#define HARMED		0.05	/* of a victim's time, by one neighbour */
#define UNHARMED	0.02
#define NOTHING_TOLD	0.05

struct mix {
	struct host host;
	uint64_t seed;
};

/* What is told of a mix, and the truth: [victim][neighbour] */
struct answers {
	double told[MIX_MOST][MIX_MOST];
	double low[MIX_MOST][MIX_MOST], high[MIX_MOST][MIX_MOST];
	double true_share[MIX_MOST][MIX_MOST];
	bool outside;		/* something outside is told, and there is nothing */
};

struct sums {
	uint32_t mixes, outside;
	uint32_t harmed, right, near;	/* near: within a factor of 2 */
	uint32_t unharmed, wronged;
	uint32_t pairs, bounded;
	uint32_t nr_ratios;
	double ratios[10000];
};

/* A working set far below the cache, around it, above it, a stream, a small one, bursts */
static void make_runner(struct runner *runner, struct rng *r)
{
	uint32_t kind = rng_below(r, 6);
	bool stream = kind == 3 || kind == 5;

	runner->cpi = rng_range(r, 0.4, 1);
	runner->dirty = rng_range(r, 0, 0.3);
	runner->jitter = rng_range(r, 0.05, 0.35);
	runner->cpus = kind == 4 ? rng_range(r, 0.05, 1.5) : rng_range(r, 0.3, 3);
	if (stream) {
		runner->pattern = PATTERN_STREAM;
		runner->overlap = rng_range(r, 4, 12);
		runner->apart = rng_range(r, 4, 40);
		runner->quota_ms = kind == 5 ? 20 + rng_below(r, 60) : 0;
		return;
	}
	runner->pattern = rng_below(r, 3);
	runner->cold = rng_range(r, 0, 0.04);
	runner->overlap = rng_range(r, 1, kind == 2 ? 5 : 2.5);
	runner->apart = rng_range(r, kind == 4 ? 50 : 30, kind == 4 ? 800 : 200);
	runner->set = CACHE_LINES * (kind == 2 ? rng_range(r, 0.8, 2) :
				     kind == 4 ? rng_range(r, 0.005, 0.06) :
						 rng_range(r, 0.1, 0.6));
}

static void make_mix(struct mix *mix, uint64_t seed)
{
	static const double quanta[] = { 0, 64, 64, 64, 128 }, caches[] = { 16, 16, 32, 24 };
	struct host *host = &mix->host;
	struct rng *r = &host->rng;

	memset(mix, 0, sizeof(*mix));
	mix->seed = seed;
	r->s = seed;
	host->policy = rng_below(r, 3);
	host->domains = 1;
	host->unit_kib = caches[rng_below(r, 4)] * 1024 / CACHE_LINES;
	host->quantum_kib = quanta[rng_below(r, 5)];
	host->peak_kib = rng_range(r, 25, 120) * 1024;
	host->lost = 0.002;
	host->nr_runners = 3 + rng_below(r, MIX_MOST - 2);
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		host->runners[i].id = i;
		make_runner(&host->runners[i], r);
	}
}

static void run_host(const struct mix *mix, int absent, struct cmt_culprit *engines[2],
		     double cpi[MIX_MOST])
{
	static struct host host;
	double cycles[MIX_MOST] = { 0 }, work[MIX_MOST] = { 0 };

	host = mix->host;
	if (absent >= 0)
		host.runners[absent].absent = true;
	host_start(&host, mix->seed + 1);
	for (uint32_t ms = 0; ms < WARM_MS; ms++)
		host_step(&host, UINT32_MAX - WARM_MS + ms);
	for (uint32_t ms = 0; ms < LENGTH_MS; ms++) {
		host_step(&host, ms);
		for (int e = 0; e < 2 && engines; e++)
			engine_add(engines[e], &host, ms, e == 1);
		for (uint32_t i = 0; i < host.nr_runners; i++) {
			cycles[i] += host.readings[i].cycles;
			work[i] += host.readings[i].work;
		}
	}
	for (uint32_t i = 0; i < host.nr_runners; i++)
		cpi[i] = work[i] > 0 ? cycles[i] / work[i] : NAN;
}

/* Cache and memory together: leaving one out gives back both. */
static void ask(struct cmt_culprit *engine, struct answers *answers)
{
	struct cmt_slowdown parts[1024];
	int nr = cmt_culprit_slowdown(engine, parts, 1024);

	for (int i = 0; i < nr; i++) {
		uint64_t v = parts[i].id, by = parts[i].by;

		if (by == CMT_CULPRIT_OUTSIDE) {
			answers->outside = true;
			continue;
		}
		answers->told[v][by] += parts[i].share;
		answers->low[v][by] += parts[i].low;
		answers->high[v][by] += parts[i].high;
	}
}

static void add_victim(const struct answers *a, uint32_t v, uint32_t n, struct sums *sums)
{
	uint32_t worst = 0, first = 0;
	double ratio;

	for (uint32_t s = 1; s < n; s++) {
		worst = a->true_share[v][s] > a->true_share[v][worst] ? s : worst;
		first = a->told[v][s] > a->told[v][first] ? s : first;
	}
	for (uint32_t s = 0; s < n; s++) {
		if (s == v || a->told[v][s] < HARMED)
			continue;
		sums->pairs++;
		sums->bounded += a->true_share[v][s] >= a->low[v][s] &&
				 a->true_share[v][s] <= a->high[v][s];
	}
	if (a->true_share[v][worst] < UNHARMED) {
		sums->unharmed++;
		sums->wronged += a->told[v][first] >= NOTHING_TOLD;
	}
	if (a->true_share[v][worst] < HARMED)
		return;
	ratio = a->told[v][worst] / a->true_share[v][worst];
	sums->harmed++;
	sums->right += a->told[v][first] > 0 &&
		       a->true_share[v][first] >= 0.7 * a->true_share[v][worst];
	sums->near += ratio >= 0.5 && ratio <= 2;
	sums->ratios[sums->nr_ratios++ % 10000] = ratio;
	if (score_verbose)
		printf("  v %u: worst %u %.3f told %.3f; first %u %.3f true %.3f\n", v, worst,
		       a->true_share[v][worst], a->told[v][worst], first, a->told[v][first],
		       a->true_share[v][first]);
}

static void run_mix(uint64_t seed, struct sums sums[2])
{
	static struct mix mix;
	static struct answers answers[2];
	struct cmt_culprit *engines[2];
	double all[MIX_MOST], without[MIX_MOST];
	uint32_t n;

	make_mix(&mix, seed);
	n = mix.host.nr_runners;
	memset(answers, 0, sizeof(answers));
	for (int e = 0; e < 2; e++)
		engines[e] = engine_new(&mix.host);
	run_host(&mix, -1, engines, all);
	for (uint32_t s = 0; s < n; s++) {
		run_host(&mix, (int)s, NULL, without);
		for (uint32_t v = 0; v < n; v++)
			for (int e = 0; e < 2; e++)
				answers[e].true_share[v][s] =
					v == s ? 0 : 1 - without[v] / all[v];
	}
	for (int e = 0; e < 2; e++) {
		ask(engines[e], &answers[e]);
		sums[e].mixes++;
		sums[e].outside += answers[e].outside;
		for (uint32_t v = 0; v < n; v++)
			if (!isnan(all[v]))
				add_victim(&answers[e], v, n, &sums[e]);
		cmt_culprit_free(engines[e]);
	}
}

static int cmp_double(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 :
	       *(const double *)a > *(const double *)b;
}

static void print(const char *name, struct sums *s)
{
	qsort(s->ratios, s->nr_ratios, sizeof(s->ratios[0]), cmp_double);
	printf("%-12s %u slowed by 5 %% or more: right %.1f %%, within a factor of 2 %.1f %%, told/true 5 %% %.2f, 50 %% %.2f, 95 %% %.2f; %u unharmed, told 5 %% or more %.1f %%; %u told, in bounds %.1f %%\n",
	       name, s->harmed, truth_percent(s->right, s->harmed), truth_percent(s->near, s->harmed),
	       s->ratios[s->nr_ratios / 20], s->ratios[s->nr_ratios / 2],
	       s->ratios[s->nr_ratios * 19 / 20], s->unharmed,
	       truth_percent(s->wronged, s->unharmed), s->pairs, truth_percent(s->bounded, s->pairs));
}

static void check(const char *name, const struct sums *s, double right, double near,
		  double wronged)
{
	char what[80];

	snprintf(what, sizeof(what), "%s: victims", name);
	limit(what, s->harmed, 200, false);
	snprintf(what, sizeof(what), "%s: right neighbour first, %%", name);
	limit(what, truth_percent(s->right, s->harmed), right, false);
	snprintf(what, sizeof(what), "%s: within a factor of 2, %%", name);
	limit(what, truth_percent(s->near, s->harmed), near, false);
	snprintf(what, sizeof(what), "%s: unharmed told 5 %% or more, %%", name);
	limit(what, truth_percent(s->wronged, s->unharmed), wronged, true);
	snprintf(what, sizeof(what), "%s: mixes told of something outside, %%", name);
	limit(what, truth_percent(s->outside, s->mixes), 0, true);
	snprintf(what, sizeof(what), "%s: in bounds, %%", name);
	limit(what, truth_percent(s->bounded, s->pairs), 90, false);
}

int main(int argc, char **argv)
{
	static struct sums sums[2];
	struct truth_opts opts = {
		.deciding = SEED_DECIDING, .reported = SEED_REPORTED, .hosts = 150,
	};

	truth_options(argc, argv, &opts);
	for (uint32_t i = 0; i < opts.hosts; i++)
		run_mix(opts.seed + i, sums);
	print("without RDT", &sums[0]);
	print("with RDT", &sums[1]);
	check("without RDT", &sums[0], 94, 88, 1.5);
	check("with RDT", &sums[1], 98, 90, 0.5);
	return limits_end();
}
