// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The culprit engine on simulated scenarios: a table, and its limits.
 *
 * The set "deciding" is for those who change parameters, "reported" for the figures
 * that are told; no seed is in both.
 */
#include "limit.h"
#include "score.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_DECIDING	1000000ULL
#define SEED_REPORTED	4000000ULL
#define SEED_HARD	500000ULL	/* added */
#define SEED_QUIET	3000001ULL
#define QUIET_APART	4	/* times as many instructions between accesses */
#define OUTSIDE_EACH	2	/* times as many scenarios of the kinds outside */

struct table {
	uint64_t seed;
	uint32_t each;		/* scenarios of a kind */
	bool hard;
	bool limits;
	const char *keep;	/* a directory for traces, for who runs it again */
	struct score scores[2][KINDS];	/* without and with counters */
};

static char *trace_path(const struct table *table, const struct scenario *scenario)
{
	char *path;

	if (asprintf(&path, "%s/%d-%lu", table->keep, scenario->kind,
		     (unsigned long)scenario->seed) < 0)
		abort();
	return path;
}

static size_t trace_size(const struct scenario *scenario)
{
	return sizeof(struct trace) + (size_t)scenario->length_ms *
	       scenario->host.nr_runners * sizeof(struct reading);
}

static struct trace *trace_kept(const struct table *table,
				const struct scenario *scenario)
{
	char *path = trace_path(table, scenario);
	size_t size = trace_size(scenario);
	struct trace *trace = malloc(size);
	FILE *file = fopen(path, "r");

	if (!file || fread(trace, size, 1, file) != 1) {
		free(trace);
		trace = NULL;
	}
	if (file)
		fclose(file);
	free(path);
	return trace;
}

static void trace_keep(const struct table *table, const struct scenario *scenario,
		       const struct trace *trace)
{
	char *path = trace_path(table, scenario);
	FILE *file = fopen(path, "w");

	if (!file || fwrite(trace, trace_size(scenario), 1, file) != 1 ||
	    fclose(file)) {
		perror(path);
		exit(2);
	}
	free(path);
}

static struct trace *get_trace(const struct table *table,
			       const struct scenario *scenario)
{
	struct trace *trace = table->keep ? trace_kept(table, scenario) : NULL;

	if (trace)
		return trace;
	trace = trace_make(scenario);
	if (trace && table->keep)
		trace_keep(table, scenario, trace);
	return trace;
}

static void run_one(struct table *table, enum kind kind, uint64_t seed)
{
	static struct scenario scenario;
	struct trace *trace;

	scenario_make(&scenario, kind, seed, table->hard);
	trace = get_trace(table, &scenario);
	if (!trace ||
	    score_trace(&table->scores[0][kind], &scenario, trace, false) ||
	    score_trace(&table->scores[1][kind], &scenario, trace, true)) {
		fputs("culprit: the engine failed\n", stderr);
		exit(2);
	}
	free(trace);
}

static double part(uint32_t n, uint32_t of)
{
	return of ? 100.0 * n / of : 0;
}

static void print_guilty(const char *name, struct score *score)
{
	printf("%-16s %5u %6.1f %6.1f %6.1f %6.1f %7.1f %7.1f %7.1f %6.0f %6.0f %6u\n",
	       name, score->phases, part(score->right, score->phases),
	       part(score->wrong, score->phases),
	       part(score->missed, score->phases),
	       part(score->own, score->phases),
	       part(score->in20, score->phases), part(score->in30, score->phases),
	       part(score->in130, score->phases), score_latency(score, 50),
	       score_latency(score, 99), score->stray);
}

static void print_innocent(const char *name, const struct score *score)
{
	printf("%-16s %5u accused %5.1f %%, and the victim rightly by others %u times\n",
	       name, score->innocent, part(score->accused, score->innocent),
	       score->true_other);
}

static void print_kinds(struct score *scores, int from, int to, bool innocent)
{
	for (int k = from; k < to; k++) {
		if (kind_innocent(k) != innocent)
			continue;
		if (innocent)
			print_innocent(kind_name(k), &scores[k]);
		else
			print_guilty(kind_name(k), &scores[k]);
	}
}

static void print_confidence(const struct score *score)
{
	for (uint32_t i = 0; i < SCORE_BINS; i++) {
		const struct score_bin *bin = &score->bins[i];

		if (bin->told)
			printf("confidence %.3f: %u accusations, %.3f right\n",
			       bin->sum / bin->told, bin->told,
			       1.0 * bin->right / bin->told);
	}
}

static void check_limits(struct score *all, struct score *abrupt,
			 struct score *gradual, const struct score *innocent)
{
	limit("phases with harm", all->phases, 200, false);
	limit("innocent scenarios", innocent->innocent, 200, false);
	limit("first suspect right, %", part(all->right, all->phases), 95, false);
	limit("innocents accused, %", part(innocent->accused,
					   innocent->innocent), 2, true);
	limit("abrupt within 20 ms, %", part(abrupt->in20, abrupt->phases), 97,
	      false);
	limit("abrupt, p99, ms", score_latency(abrupt, 99), 30, true);
	limit("gradual within 130 ms, %", part(gradual->in130, gradual->phases),
	      95, false);
}

/* Of what is outside of all containers.  The limits are those of containers. */
static void check_outside(struct score *scores, const struct score *innocent)
{
	const struct score *outside = &scores[KIND_OUTSIDE];
	const struct score *grows = &scores[KIND_OUT_GROWS];
	const struct score *beside = &scores[KIND_BESIDE];

	limit("outside, phases with harm", outside->phases + grows->phases, 100,
	      false);
	limit("outside, right, %", part(outside->right, outside->phases), 95,
	      false);
	limit("outside, within 20 ms, %", part(outside->in20, outside->phases), 97,
	      false);
	limit("outside grows, within 130 ms, %",
	      part(grows->in130, grows->phases), 95, false);
	limit("a container named beside it, %",
	      part(beside->right, beside->phases), 95, false);
	limit("outside, innocent scenarios", innocent->innocent, 150, false);
	limit("outside, innocents accused, %",
	      part(innocent->accused, innocent->innocent), 2, true);
}

static void sum_up(struct table *table, int counters, struct score *all,
		   struct score *abrupt, struct score *innocent)
{
	for (int k = 0; k < KINDS; k++) {
		struct score *score = &table->scores[counters][k];

		if (k >= KINDS_INSIDE || k == KIND_BYPASS)
			continue;
		score_add(kind_innocent(k) ? innocent : all, score);
		if (kind_abrupt(k))
			score_add(abrupt, score);
	}
}

static void print_table(struct table *table, int counters)
{
	static struct score all, abrupt, innocent, told, outside;
	struct score *scores = table->scores[counters];

	memset(&outside, 0, sizeof(outside));
	memset(&all, 0, sizeof(all));
	memset(&abrupt, 0, sizeof(abrupt));
	memset(&innocent, 0, sizeof(innocent));
	memset(&told, 0, sizeof(told));
	sum_up(table, counters, &all, &abrupt, &innocent);
	printf("\n%s counters\n", counters ? "with" : "without");
	printf("%-16s %5s %6s %6s %6s %6s %7s %7s %7s %6s %6s %6s\n", "kind",
	       "n", "right", "wrong", "missed", "own", "20 ms", "30 ms",
	       "130 ms", "p50", "p99", "stray");
	print_kinds(scores, 0, KINDS_INSIDE, false);
	print_guilty("ALL", &all);
	print_guilty("ABRUPT", &abrupt);
	print_kinds(scores, 0, KINDS_INSIDE, true);
	print_innocent("INNOCENT", &innocent);
	print_kinds(scores, KINDS_INSIDE, KINDS, false);
	print_kinds(scores, KINDS_INSIDE, KINDS, true);
	for (int k = KINDS_INSIDE; k < KINDS; k++)
		score_add(&outside, &scores[k]);
	score_add(&told, &all);
	score_add(&told, &innocent);
	score_add(&told, &scores[KIND_BYPASS]);
	print_confidence(&told);
	puts("of the kinds outside:");
	print_confidence(&outside);
	if (!table->limits)
		return;
	check_limits(&all, &abrupt, &scores[KIND_GROW], &innocent);
	check_outside(scores, &outside);
}

/* A host on which nothing begins or ends, for a time.  Returns the accusations. */
static uint32_t run_quiet(uint64_t seconds, bool counters)
{
	static struct scenario scenario;
	struct score_live *live;
	uint32_t accused = 0;

	scenario_make(&scenario, KIND_QUIET, SEED_QUIET, false);
	for (uint32_t i = 0; i < scenario.host.nr_runners; i++)
		scenario.host.runners[i].apart *= QUIET_APART;
	host_start(&scenario.host, SEED_QUIET);
	live = score_live_new(&scenario.host, counters);
	for (uint64_t ms = 0; live && ms < seconds * 1000; ms++) {
		host_step(&scenario.host, (uint32_t)ms);
		accused += score_live_add(live, &scenario.host, ms);
	}
	score_live_free(live);
	return live ? accused : UINT32_MAX;
}

static void check_quiet(uint64_t seconds)
{
	char name[64];

	for (int counters = 0; counters < 2; counters++) {
		snprintf(name, sizeof(name), "%lu s quiet, %s counters, accusations",
			 (unsigned long)seconds, counters ? "with" : "without");
		limit(name, run_quiet(seconds, counters), 0, true);
		fflush(stdout);
	}
}

static int usage(void)
{
	fputs("usage: cmt-culprit [-d] [-h] [-l] [-v] [-n EACH] [-o KIND] [-k DIR] [-q SECONDS]\n"
	      "-d the deciding set  -h the hard one  -l limits, and their count\n"
	      "-k keep traces in DIR  -q a quiet host instead of scenarios\n", stderr);
	return 2;
}

static void run_table(struct table *table, int only)
{
	if (table->hard)
		table->seed += SEED_HARD;
	for (int k = 0; k < KINDS; k++) {
		uint32_t times = k < KINDS_INSIDE ? 1 : OUTSIDE_EACH;

		for (uint32_t i = 0; i < times * table->each; i++) {
			if (only < 0 || k == only)
				run_one(table, k, table->seed + i);
		}
	}
	print_table(table, 0);
	print_table(table, 1);
}

int main(int argc, char **argv)
{
	static struct table table = { .seed = SEED_REPORTED, .each = 40 };
	int c, only = -1, quiet = 0;

	while ((c = getopt(argc, argv, "dhlvn:k:o:q:")) != -1) {
		switch (c) {
		case 'd':
			table.seed = SEED_DECIDING;
			break;
		case 'h':
			table.hard = true;
			break;
		case 'l':
			table.limits = true;
			break;
		case 'v':
			score_verbose++;
			break;
		case 'n':
			table.each = (uint32_t)atoi(optarg);
			break;
		case 'k':
			table.keep = optarg;
			break;
		case 'o':
			only = atoi(optarg);
			break;
		case 'q':
			quiet = atoi(optarg);
			break;
		default:
			return usage();
		}
	}
	if (quiet)
		check_quiet((uint64_t)quiet);
	else
		run_table(&table, only);
	return quiet || table.limits ? limits_end() : 0;
}
