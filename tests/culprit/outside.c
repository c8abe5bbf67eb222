// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slower because of what is outside this machine: a neighbour that no reader sees takes cache
 * or loads the memory.  The truth is the same host without it.  And hosts in which something
 * else happens, where nothing outside is to be told.
 *
 * The set "deciding" is for those who change parameters, "reported" for the figures that
 * are told; no seed is in both.
 */
#include "engine.h"
#include "limit.h"
#include "score.h"
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_DECIDING	11000000ULL
#define SEED_REPORTED	12000000ULL

#define WARM_MS		300
#define BEFORE_MS	4500
#define LENGTH_MS	7000
#define LOOK_MS		250
#define JUDGED_MS	1000	/* the last so many of them are judged */
#define HARMED		0.05
#define TOLD		0.05
#define MOST		6

/* What happens on a host */
enum what {
	OUTSIDE_STREAM, OUTSIDE_SET, OUTSIDE_MEMORY,
	INSIDE_STREAM, INSIDE_SET, INSIDE_MEMORY, INSIDE_GROWS, INSIDE_PHASE, INSIDE_LOAD,
	QUIET, NR_WHATS
};

static const char *const names[NR_WHATS] = {
	"outside streams", "outside takes cache", "outside loads memory",
	"inside streams", "inside takes cache", "inside loads memory", "a set grows",
	"a phase changes", "load rises", "quiet",
};

struct sums {
	uint32_t hosts;
	uint32_t told;		/* hosts: to any victim, at any time */
	uint32_t harmed, named, first;	/* victims: outside named, and as the first */
};


static void make_owner(struct runner *runner, struct rng *r)
{
	runner->pattern = rng_below(r, 6) ? rng_below(r, 3) : PATTERN_STREAM;
	runner->cpi = rng_range(r, 0.4, 1);
	runner->dirty = rng_range(r, 0, 0.3);
	runner->jitter = rng_range(r, 0.05, 0.35);
	runner->cpus = rng_range(r, 0.3, 2.5);
	runner->cold = rng_range(r, 0, 0.04);
	runner->overlap = rng_range(r, 1, 2.5);
	runner->apart = rng_range(r, 30, 200);
	runner->set = CACHE_LINES * rng_range(r, 0.05, 0.6);
}

static void happen(struct host *host, uint32_t runner, int what, double to)
{
	host->events[host->nr_events++] = (struct event){
		.ms = BEFORE_MS, .runner = runner, .what = what, .to = to,
	};
}

/* The last runner of @host, which begins */
static void make_neighbour(struct host *host, enum what what, struct rng *r)
{
	uint32_t i = host->nr_runners++;
	struct runner *neighbour = &host->runners[i];

	neighbour->id = i;
	make_owner(neighbour, r);
	neighbour->elsewhere = what < INSIDE_STREAM;
	neighbour->pattern = what % 3 == 0 ? PATTERN_STREAM :
			     what % 3 == 2 ? PATTERN_BYPASS : rng_below(r, 3);
	neighbour->overlap = neighbour->pattern < PATTERN_STREAM ? 2 : 8;
	neighbour->apart = rng_range(r, 8, 40);
	neighbour->set = CACHE_LINES * rng_range(r, 0.5, 1.5);
	neighbour->cpus = 0;
	if (neighbour->pattern == PATTERN_BYPASS)
		host->peak_kib = rng_range(r, 6, 16) * 1024;
	happen(host, i, SET_CPUS, rng_range(r, 1, 4));
}

static void make_host(struct host *host, enum what what, uint64_t seed)
{
	static const double caches[] = { 16, 16, 32, 24 };
	struct rng *r = &host->rng;

	memset(host, 0, sizeof(*host));
	r->s = seed;
	host->policy = rng_below(r, 3);
	host->domains = 1;
	host->unit_kib = caches[rng_below(r, 4)] * 1024 / CACHE_LINES;
	host->quantum_kib = 64;
	host->peak_kib = rng_range(r, 25, 120) * 1024;
	host->lost = 0.002;
	host->nr_runners = 2 + rng_below(r, MOST - 2);
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		host->runners[i].id = i;
		make_owner(&host->runners[i], r);
	}
	if (what < INSIDE_GROWS)
		make_neighbour(host, what, r);
	else if (what == INSIDE_GROWS)
		happen(host, 0, SET_SET, CACHE_LINES * rng_range(r, 0.6, 2));
	else if (what == INSIDE_PHASE)
		happen(host, 0, SET_APART, rng_range(r, 8, 200));
	else if (what == INSIDE_LOAD)
		for (uint32_t i = 0; i < host->nr_runners; i++)
			happen(host, i, SET_CPUS, host->runners[i].cpus *
						  rng_range(r, 1, 2.5));
}

/* Told at an end: [victim], because of what is outside, and of one owner at most */
struct told {
	double outside[MOST + 1], inside[MOST + 1];
};

static bool ask(struct cmt_culprit *engine, struct told *told)
{
	struct cmt_slowdown parts[256];
	double by[MOST + 1][MOST + 1] = { 0 };
	bool any = false;
	int nr = cmt_culprit_slowdown(engine, parts, 256);

	memset(told, 0, sizeof(*told));
	for (int i = 0; i < nr; i++) {
		uint64_t v = parts[i].id;
		double *sum = parts[i].by == CMT_CULPRIT_OUTSIDE ?
			      &told->outside[v] : &by[v][parts[i].by];

		*sum += parts[i].share;
		if (sum != &told->outside[v] && *sum > told->inside[v])
			told->inside[v] = *sum;
	}
	for (uint32_t v = 0; v <= MOST; v++)
		any |= told->outside[v] >= TOLD;
	return any;
}

/* @engines: with occupancies the second one; NULL: the last runner is not there */
static void run_host(const struct host *from, uint64_t seed, struct cmt_culprit *engines[2],
		     double pace[MOST + 1], bool told[2])
{
	static struct host host;
	double cycles[MOST + 1] = { 0 }, work[MOST + 1] = { 0 };
	struct told now;

	host = *from;
	host.runners[host.nr_runners - 1].absent = !engines;
	host_start(&host, seed + 1);
	for (uint32_t ms = 0; ms < WARM_MS; ms++)
		host_step(&host, UINT32_MAX - WARM_MS + ms);
	for (uint32_t ms = 0; ms < LENGTH_MS; ms++) {
		host_step(&host, ms);
		for (int e = 0; e < 2 && engines; e++) {
			engine_add(engines[e], &host, ms, e == 1);
			if (!(ms % LOOK_MS))
				told[e] |= ask(engines[e], &now);
		}
		for (uint32_t i = 0; i < host.nr_runners && ms >= LENGTH_MS - JUDGED_MS; i++) {
			cycles[i] += host.readings[i].cycles;
			work[i] += host.readings[i].work;
		}
	}
	for (uint32_t i = 0; i < host.nr_runners; i++)
		pace[i] = cycles[i] / work[i];
}

static void add_victims(const struct host *host, const double *with, const double *without,
			const struct told *told, struct sums *sums)
{
	for (uint32_t v = 0; v + 1 < host->nr_runners; v++) {
		double share = 1 - without[v] / with[v];

		if (score_verbose)
			printf("    %u: true %.3f, outside %.3f, inside %.3f\n", v, share,
			       told->outside[v], told->inside[v]);
		if (!(share >= HARMED))
			continue;
		sums->harmed++;
		sums->named += told->outside[v] > 0;
		sums->first += told->outside[v] > told->inside[v];
	}
}

static void run_what(enum what what, uint64_t seed, struct sums sums[2])
{
	static struct host host;
	struct cmt_culprit *engines[2];
	double with[MOST + 1], without[MOST + 1];
	bool told[2] = { false };
	struct told end;

	make_host(&host, what, seed);
	for (int e = 0; e < 2; e++)
		engines[e] = engine_new(&host);
	run_host(&host, seed, engines, with, told);
	if (what < INSIDE_STREAM)
		run_host(&host, seed, NULL, without, NULL);
	for (int e = 0; e < 2; e++) {
		ask(engines[e], &end);
		sums[e].hosts++;
		sums[e].told += told[e];
		if (score_verbose)
			printf("  %s %llu, %s: told %d\n", names[what],
			       (unsigned long long)seed, e ? "RDT" : "no RDT", told[e]);
		if (what < INSIDE_STREAM)
			add_victims(&host, with, without, &end, &sums[e]);
		cmt_culprit_free(engines[e]);
	}
}

static void print(const char *name, const struct sums sums[2])
{
	for (int e = 0; e < 2; e++) {
		const struct sums *s = &sums[e];

		printf("%-20s %-8s %3u hosts: outside told %.1f %%", name,
		       e ? "RDT" : "no RDT", s->hosts, truth_percent(s->told, s->hosts));
		if (s->harmed)
			printf("; %u slowed by 5 %% or more: named %.1f %%, first %.1f %%",
			       s->harmed, truth_percent(s->named, s->harmed),
			       truth_percent(s->first, s->harmed));
		putchar('\n');
	}
}

static void add(struct sums to[2], const struct sums from[2])
{
	for (int e = 0; e < 2; e++) {
		to[e].hosts += from[e].hosts;
		to[e].told += from[e].told;
		to[e].harmed += from[e].harmed;
		to[e].named += from[e].named;
		to[e].first += from[e].first;
	}
}

int main(int argc, char **argv)
{
	static struct sums sums[NR_WHATS][2], outside[2], inside[2];
	struct truth_opts opts = {
		.deciding = SEED_DECIDING, .reported = SEED_REPORTED, .hosts = 12, .kind = NR_WHATS,
		.kinds = true,
	};

	truth_options(argc, argv, &opts);
	for (uint32_t what = 0; what < NR_WHATS; what++) {
		if (opts.kind != NR_WHATS && opts.kind != what)
			continue;
		for (uint32_t i = 0; i < opts.hosts; i++)
			run_what(what, opts.seed + 1000 * what + i, sums[what]);
		print(names[what], sums[what]);
		add(what < INSIDE_STREAM ? outside : inside, sums[what]);
	}
	print("outside", outside);
	print("inside", inside);
	limit("without RDT: slowed from outside, told first, %",
	      truth_percent(outside[0].first, outside[0].harmed), 25, false);
	limit("without RDT: outside told wrongly, %",
	      truth_percent(inside[0].told, inside[0].hosts), 2, true);
	limit("with RDT: outside told wrongly, %",
	      truth_percent(inside[1].told, inside[1].hosts), 2, true);
	return limits_end();
}
