// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slow growth: an owner takes more and more of the cache or of the memory over 1 to 30 s.
 * The truth is the same host without it: from when on it slows the victim by 5 %.  Right is
 * an incident of the victim that has the grower first, not later than 2 s after that.
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

#define SEED_DECIDING	9000000ULL
#define SEED_REPORTED	10000000ULL

#define WARM_MS		300
#define BEFORE_MS	2500
#define AFTER_MS	3500
#define LENGTH_MOST	(BEFORE_MS + 30000 + AFTER_MS)
#define WINDOW_MS	250	/* of the truth, and of an estimate */
#define WINDOWS		(LENGTH_MOST / WINDOW_MS)
#define SECOND		4	/* windows */
#define IN_TIME		8	/* windows */
#define HARMED		0.05
#define UNHARMED	0.02

#define VICTIM		0
#define GROWER		1

struct growth {
	struct host host;
	uint64_t seed;
	uint32_t ramp_ms;
	uint32_t windows;
};

/* What is told of the victim at the end of a window */
struct told {
	bool open;
	bool right;		/* the grower is first */
};

struct course {
	double pace[WINDOWS];	/* cycles for an instruction of the victim */
	struct told told[2][WINDOWS];
};

struct sums {
	uint32_t grown, right, wrong, early;
	uint32_t nr_delays;
	int delays[1000];	/* of the right ones, windows */
};


static void make_owner(struct runner *runner, struct rng *r)
{
	runner->pattern = rng_below(r, 3);
	runner->cpi = rng_range(r, 0.4, 1);
	runner->dirty = rng_range(r, 0, 0.3);
	runner->jitter = rng_range(r, 0.05, 0.35);
	runner->cpus = rng_range(r, 0.5, 2.5);
	runner->cold = rng_range(r, 0, 0.02);
	runner->overlap = rng_range(r, 1, 2.5);
	runner->apart = rng_range(r, 30, 150);
	runner->set = CACHE_LINES * rng_range(r, 0.02, 0.1);
}

static void grow(struct growth *growth, int what, double from, double to)
{
	struct host *host = &growth->host;

	host->events[host->nr_events++] = (struct event){
		.ms = BEFORE_MS, .ramp_ms = growth->ramp_ms, .runner = GROWER,
		.what = what, .from = from, .to = to,
	};
}

/* Its working set, how often it misses, or its CPUs */
static void make_grower(struct growth *growth, struct rng *r)
{
	struct runner *grower = &growth->host.runners[GROWER];

	switch (rng_below(r, 4)) {
	case 0:
		grower->pattern = PATTERN_STREAM;
		grower->apart = 3000;
		grow(growth, SET_APART, 3000, rng_range(r, 8, 40));
		break;
	case 1:
		grower->pattern = rng_below(r, 2) ? PATTERN_STREAM : PATTERN_RANDOM;
		grower->set = CACHE_LINES * rng_range(r, 0.5, 2);
		grower->cpus = 0.02;
		grow(growth, SET_CPUS, 0.02, rng_range(r, 1, 3));
		break;
	default:
		grower->set = CACHE_LINES * rng_range(r, 0.05, 0.25);
		grow(growth, SET_SET, grower->set, CACHE_LINES * rng_range(r, 0.5, 1.2));
	}
}

static void make_growth(struct growth *growth, uint64_t seed)
{
	static const double quanta[] = { 0, 64, 64, 64, 128 }, caches[] = { 16, 16, 32, 24 };
	struct host *host = &growth->host;
	struct rng *r = &host->rng;

	memset(growth, 0, sizeof(*growth));
	growth->seed = seed;
	r->s = seed;
	host->policy = rng_below(r, 3);
	host->domains = 1;
	host->unit_kib = caches[rng_below(r, 4)] * 1024 / CACHE_LINES;
	host->quantum_kib = quanta[rng_below(r, 5)];
	host->peak_kib = rng_range(r, 25, 120) * 1024;
	host->lost = 0.002;
	host->nr_runners = 3 + rng_below(r, 2);
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		host->runners[i].id = i;
		make_owner(&host->runners[i], r);
	}
	host->runners[VICTIM].set = CACHE_LINES * rng_range(r, 0.35, 0.75);
	growth->ramp_ms = (uint32_t)(1000 * pow(30, rng_unit(r)));
	growth->windows = (BEFORE_MS + growth->ramp_ms + AFTER_MS) / WINDOW_MS;
	make_grower(growth, r);
}

static struct told told_of(const struct cmt_culprit *engine)
{
	const struct cmt_incident *incident;
	double shares[HOST_RUNNERS + 1] = { 0 };	/* the last one: outside */
	uint32_t i = 0;

	while ((incident = cmt_culprit_incident_at(engine, i)) && incident->id != VICTIM)
		i++;
	if (!incident)
		return (struct told){ 0 };
	for (i = 0; i < incident->nr_parts; i++) {
		uint64_t by = incident->parts[i].by;

		shares[by == CMT_CULPRIT_OUTSIDE ? HOST_RUNNERS : by] +=
			incident->parts[i].share;
	}
	for (i = 0; i <= HOST_RUNNERS && shares[i] <= shares[GROWER]; i++)
		;
	return (struct told){ true, shares[GROWER] > 0 && i > HOST_RUNNERS };
}

/* @engines: with occupancies the second one; NULL: the grower is not there */
static void run_host(const struct growth *growth, struct cmt_culprit *engines[2],
		     struct course *course)
{
	static struct host host;
	double cycles = 0, work = 0;

	host = growth->host;
	host.runners[GROWER].absent = !engines;
	host_start(&host, growth->seed + 1);
	for (uint32_t ms = 0; ms < WARM_MS; ms++)
		host_step(&host, UINT32_MAX - WARM_MS + ms);
	for (uint32_t ms = 0; ms < growth->windows * WINDOW_MS; ms++) {
		uint32_t window = ms / WINDOW_MS;

		host_step(&host, ms);
		for (int e = 0; e < 2 && engines; e++)
			engine_add(engines[e], &host, ms, e == 1);
		cycles += host.readings[VICTIM].cycles;
		work += host.readings[VICTIM].work;
		if ((ms + 1) % WINDOW_MS)
			continue;
		course->pace[window] = cycles / work;
		cycles = work = 0;
		for (int e = 0; e < 2 && engines; e++)
			course->told[e][window] = told_of(engines[e]);
	}
}

/* The victim's slowdown by the grower in the windows from @from up to @to */
static double truth(const struct course *with, const struct course *without, uint32_t from,
		    uint32_t to)
{
	double sum = 0;

	for (uint32_t w = from; w < to; w++)
		sum += 1 - without->pace[w] / with->pace[w];
	return sum / (to - from);
}

/* The first window from which on, and half a second before, it is slowed; 0: none */
static uint32_t slowed_at(const struct growth *growth, const struct course *with,
			  const struct course *without, double share)
{
	uint32_t n = growth->windows;

	for (uint32_t w = SECOND / 2; w + SECOND <= n; w++)
		if (truth(with, without, w - SECOND / 2, w + SECOND / 2) >= share &&
		    truth(with, without, w, n) >= share)
			return w;
	return 0;
}

static void add_case(const struct growth *growth, const struct told *told, uint32_t harmless,
		     uint32_t harmed, struct sums *sums)
{
	uint32_t end = harmed + IN_TIME, first = 0;

	while (first < growth->windows && !told[first].right)
		first++;
	sums->grown++;
	if (first < end) {
		sums->right++;
		sums->delays[sums->nr_delays++ % 1000] = (int)first + 1 - (int)harmed;
		sums->early += first + SECOND < harmless;
	} else if (end <= growth->windows && told[end - 1].open) {
		sums->wrong++;
	}
	if (score_verbose)
		printf("  ramp %u ms, policy %u, kind %d to %.2f, pattern %u: 5 %% at %u, first %u, open %d%s\n",
		       growth->ramp_ms, growth->host.policy, growth->host.events[0].what,
		       growth->host.events[0].to, growth->host.runners[VICTIM].pattern,
		       harmed, first, told[end - 1].open, first < end ? "" : " LATE");
}

static void run_growth(uint64_t seed, struct sums sums[2])
{
	static struct growth growth;
	static struct course with, without;
	struct cmt_culprit *engines[2];
	uint32_t harmless, harmed;

	make_growth(&growth, seed);
	for (int e = 0; e < 2; e++)
		engines[e] = engine_new(&growth.host);
	run_host(&growth, NULL, &without);
	run_host(&growth, engines, &with);
	harmless = slowed_at(&growth, &with, &without, UNHARMED);
	harmed = slowed_at(&growth, &with, &without, HARMED);
	for (int e = 0; e < 2; e++) {
		if (score_verbose > 1)
			for (uint32_t w = 0; w < growth.windows; w++)
				printf("    %u: true %.3f open %d right %d\n", w,
				       truth(&with, &without, w, w + 1), with.told[e][w].open,
				       with.told[e][w].right);
		if (harmed * WINDOW_MS > BEFORE_MS && harmed + IN_TIME <= growth.windows)
			add_case(&growth, with.told[e], harmless, harmed, &sums[e]);
		cmt_culprit_free(engines[e]);
	}
}

static int cmp_int(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void print(const char *name, struct sums *s)
{
	qsort(s->delays, s->nr_delays, sizeof(s->delays[0]), cmp_int);
	printf("%-12s %u grown: in time %.1f %%, another one first %.1f %%, before 2 %% are lost %.1f %%; told after 5 %%: 5 %% %d ms, 50 %% %d ms, 95 %% %d ms\n",
	       name, s->grown, truth_percent(s->right, s->grown),
	       truth_percent(s->wrong, s->grown),
	       truth_percent(s->early, s->grown), s->delays[s->nr_delays / 20] * WINDOW_MS,
	       s->delays[s->nr_delays / 2] * WINDOW_MS,
	       s->delays[s->nr_delays * 19 / 20] * WINDOW_MS);
}

static void check(const char *name, const struct sums *s, double right, double early)
{
	char what[80];

	snprintf(what, sizeof(what), "%s: growers", name);
	limit(what, s->grown, 40, false);
	snprintf(what, sizeof(what), "%s: named in time, %%", name);
	limit(what, truth_percent(s->right, s->grown), right, false);
	snprintf(what, sizeof(what), "%s: named before 2 %% are lost, %%", name);
	limit(what, truth_percent(s->early, s->grown), early, true);
}

int main(int argc, char **argv)
{
	static struct sums sums[2];
	struct truth_opts opts = {
		.deciding = SEED_DECIDING, .reported = SEED_REPORTED, .hosts = 80,
	};

	truth_options(argc, argv, &opts);
	for (uint32_t i = 0; i < opts.hosts; i++)
		run_growth(opts.seed + i, sums);
	print("without RDT", &sums[0]);
	print("with RDT", &sums[1]);
	check("without RDT", &sums[0], 95, 5);
	check("with RDT", &sums[1], 97, 5);
	return limits_end();
}
