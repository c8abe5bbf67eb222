// SPDX-License-Identifier: GPL-2.0-or-later
#include "score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS		1000000ULL
#define LEAST_HARM	0.03

int score_verbose;

void score_samples(const struct host *host, const struct reading *readings,
		   bool counters, struct cmt_culprit_sample *samples)
{
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		const struct reading *r = &readings[i];
		struct cmt_culprit_sample *s = &samples[i];

		memset(s, 0, sizeof(*s));
		s->id = host->runners[i].id;
		s->domain = host->runners[i].domain;
		s->valid = r->idle ? CMT_CULPRIT_IDLE : 0;
		s->flags = host->runners[i].outside ? CMT_CULPRIT_NO_VICTIM : 0;
		if (r->read) {
			s->valid |= CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC;
			s->occupancy_bytes = (uint64_t)(r->occupancy * 1024);
			s->traffic_bytes = (uint64_t)(r->traffic * 1024);
			s->span = 1;
		}
		if (!counters || r->idle || host->runners[i].outside)
			continue;
		s->valid |= CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS |
			    CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES;
		s->cycles = (uint64_t)r->cycles;
		s->instructions = (uint64_t)r->instructions;
		s->misses = (uint64_t)r->misses;
		s->references = (uint64_t)r->references;
	}
}

struct trial {
	struct score *score;
	const struct scenario *scenario;
	const struct trace *trace;
	bool named[SCENARIO_PHASES];	/* by whoever suffered */
	bool told[SCENARIO_PHASES];	/* for the victim itself */
	bool accused;
};

/* Lines of runner @i that runner 0, and that others evicted in @n ms until @ms. */
static void gone(const struct trial *trial, uint32_t i, uint32_t ms, uint32_t n,
		 double *first, double *others)
{
	*first = 0;
	*others = 0;
	for (uint32_t t = ms < n ? 0 : ms - n; t < ms; t++) {
		*first += trace_at(trial->trace, t)[i].gone_first;
		*others += trace_at(trial->trace, t)[i].gone_others;
	}
	*first /= n;
	*others /= n;
}

/* Of what runner @i loses more than in the 60 ms before, did runner 0 most? */
static bool first_rose(const struct trial *trial, uint32_t i, uint32_t ms)
{
	double first, others, first_before, others_before;

	gone(trial, i, ms + 1, 30, &first, &others);
	gone(trial, i, ms - 29, 60, &first_before, &others_before);
	return first - first_before > fmax(0, others - others_before);
}

/* In the last 6 ms, had runner 0 not changed: more cache, and more work? */
static bool first_caused(const struct trial *trial, uint32_t i, uint32_t ms,
			 bool counted)
{
	double held = 0, held_else = 0, work = 0, work_else = 0;

	for (uint32_t t = ms - 5; t <= ms; t++) {
		const struct reading *r = &trace_at(trial->trace, t)[i];

		held += r->held;
		held_else += r->held_else;
		work += r->work;
		work_else += r->work_else;
	}
	return held < 0.98 * held_else &&
	       (!counted || work < 0.99 * work_else);
}

/*
 * Where nobody is planted, runner 0 may change, and then takes cache from others.
 * It may be named for what it did: the claim is tried against what would be so
 * without the change, or, of a quota, against who evicted whom.
 */
static bool first_did(const struct trial *trial,
		      const struct cmt_culprit_verdict *verdict, uint32_t ms)
{
	const struct scenario *s = trial->scenario;
	uint32_t i = 0;

	if (verdict->suspects[0].id != SCENARIO_VICTIM || s->nr_phases ||
	    ms < 90)
		return false;
	while (s->host.runners[i].id != verdict->id)
		i++;
	if (s->host.runners[0].quota_ms)
		return first_rose(trial, i, ms);
	return s->host.runners[0].planted &&
	       first_caused(trial, i, ms, verdict->flags & CMT_CULPRIT_COUNTED);
}

/* Has @id been planted in a phase that has begun? */
static bool is_culprit(const struct scenario *scenario, uint64_t id, uint32_t ms)
{
	for (uint32_t p = 0; p < scenario->nr_phases; p++) {
		if (ms >= scenario->phases[p].onset_ms &&
		    scenario->phases[p].culprits >> id & 1)
			return true;
	}
	return false;
}

static bool is_accusation(const struct cmt_culprit_verdict *verdict)
{
	return verdict->nr_suspects > 0;
}

/* The phase that @ms is in, or nr_phases. */
static uint32_t phase_at(const struct scenario *scenario, uint32_t ms)
{
	uint32_t p;

	for (p = 0; p < scenario->nr_phases; p++) {
		if (ms >= scenario->phases[p].onset_ms &&
		    ms < scenario->phases[p].end_ms)
			break;
	}
	return p;
}

static void say(const struct trial *trial, const struct cmt_culprit_verdict *v,
		uint32_t ms)
{
	const struct scenario *s = trial->scenario;

	printf("%s, seed %lu, at %u ms (onset %u): %lu suffers from %lu, kind %u\n",
	       kind_name(s->kind), (unsigned long)s->seed, ms,
	       s->nr_phases ? s->phases[0].onset_ms : 0, (unsigned long)v->id,
	       (unsigned long)v->suspects[0].id, v->kind);
	printf("\tlost %lu of %lu KiB, %lu to the first (%.2f), refetched %lu KiB, cpi %.2f of %.2f, mpki %.2f of %.2f\n",
	       (unsigned long)v->lost_bytes >> 10,
	       (unsigned long)v->occupancy_before >> 10,
	       (unsigned long)v->suspects[0].taken_bytes >> 10,
	       v->suspects[0].share, (unsigned long)v->refetched_bytes >> 10,
	       v->cpi, v->cpi_before, v->mpki, v->mpki_before);
}

static void count_name(struct trial *trial, uint32_t p, bool right, uint32_t ms)
{
	struct score *score = trial->score;
	uint32_t latency = ms + 1 - trial->scenario->phases[p].onset_ms;

	trial->named[p] = true;
	score->right += right;
	score->wrong += !right;
	if (!right)
		return;
	score->in20 += latency <= 20;
	score->in30 += latency <= 30;
	score->in130 += latency <= 130;
	if (score->nr_latencies < SCORE_LATENCIES)
		score->latency_ms[score->nr_latencies++] = (uint16_t)latency;
}

static void count_confidence(struct score *score, double confidence, bool right)
{
	struct score_bin *bin =
		&score->bins[(confidence > 0.955) + (confidence > 0.985)];

	bin->told++;
	bin->right += right;
	bin->sum += confidence;
}

static void hear(struct trial *trial, const struct cmt_culprit_verdict *v,
		 uint32_t ms)
{
	const struct scenario *s = trial->scenario;
	uint32_t p = phase_at(s, ms);
	bool right;

	if (!is_accusation(v))
		return;
	if (first_did(trial, v, ms)) {
		trial->score->true_other++;
		count_confidence(trial->score, v->confidence, true);
		return;
	}
	trial->accused = true;
	right = s->nr_phases && is_culprit(s, v->suspects[0].id, ms);
	count_confidence(trial->score, v->confidence, right);
	if (p < s->nr_phases && trial->trace->harm[p] >= LEAST_HARM) {
		bool now = s->phases[p].culprits >> v->suspects[0].id & 1;

		if (!trial->named[p])
			count_name(trial, p, now, ms);
		if (!trial->told[p] && v->id == SCENARIO_VICTIM && !v->domain) {
			trial->told[p] = true;
			trial->score->own += now;
		}
	}
	trial->score->stray += s->nr_phases && !right;
	if (score_verbose > 1 || (score_verbose && !right))
		say(trial, v, ms);
}

static void conclude(struct trial *trial)
{
	const struct scenario *s = trial->scenario;
	struct score *score = trial->score;

	for (uint32_t p = 0; p < s->nr_phases; p++) {
		if (trial->trace->harm[p] < LEAST_HARM)
			continue;
		score->phases++;
		score->missed += !trial->named[p];
		if (score_verbose && !trial->named[p])
			printf("%s seed %lu: missed, harm %.3f\n",
			       kind_name(s->kind), (unsigned long)s->seed,
			       trial->trace->harm[p]);
	}
	score->innocent += !s->nr_phases;
	score->accused += !s->nr_phases && trial->accused;
}

struct score_live {
	struct cmt_culprit *culprit;
	bool counters;
};

struct score_live *score_live_new(const struct host *host, bool counters)
{
	struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = HOST_RUNNERS,
		.unit_bytes = (uint32_t)(host->quantum_kib * 1024),
		.peak_bytes = (uint64_t)(host->peak_kib * 1024e3),
	};
	struct score_live *live = calloc(1, sizeof(*live));

	if (live && cmt_culprit_new(&live->culprit, &opts)) {
		free(live);
		return NULL;
	}
	if (live)
		live->counters = counters;
	return live;
}

void score_live_free(struct score_live *live)
{
	if (live)
		cmt_culprit_free(live->culprit);
	free(live);
}

/* Returns as cmt_culprit_add(). */
static int feed(struct score_live *live, const struct host *host,
		const struct reading *readings, uint64_t ms)
{
	struct cmt_culprit_sample samples[HOST_RUNNERS];
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .sample_size = sizeof(samples[0]),
		.samples = samples, .nr_samples = host->nr_runners,
		.start_ns = (ms + 1) * MS,
	};

	score_samples(host, readings, live->counters, samples);
	return cmt_culprit_add(live->culprit, &slot);
}

uint32_t score_live_add(struct score_live *live, const struct host *host,
			uint64_t ms)
{
	const struct cmt_culprit_verdict *verdict;
	int ret = feed(live, host, host->readings, ms);
	uint32_t accusations = ret < 0;

	for (; ret > 0; ret--) {
		cmt_culprit_next(live->culprit, &verdict);
		accusations += is_accusation(verdict);
	}
	return accusations;
}

int score_trace(struct score *score, const struct scenario *scenario,
		const struct trace *trace, bool counters)
{
	struct trial trial = {
		.score = score, .scenario = scenario, .trace = trace,
	};
	struct score_live *live = score_live_new(&scenario->host, counters);
	const struct cmt_culprit_verdict *verdict;
	int ret = live ? 0 : -1;

	for (uint32_t ms = 0; ret >= 0 && ms < trace->length_ms; ms++) {
		ret = feed(live, &scenario->host, trace_at(trace, ms), ms);
		for (int i = 0; i < ret; i++) {
			cmt_culprit_next(live->culprit, &verdict);
			hear(&trial, verdict, ms);
		}
	}
	score_live_free(live);
	conclude(&trial);
	return ret < 0 ? ret : 0;
}

void score_add(struct score *to, const struct score *from)
{
	to->phases += from->phases;
	to->right += from->right;
	to->wrong += from->wrong;
	to->missed += from->missed;
	to->in20 += from->in20;
	to->in30 += from->in30;
	to->in130 += from->in130;
	to->innocent += from->innocent;
	to->accused += from->accused;
	to->own += from->own;
	for (uint32_t i = 0; i < SCORE_BINS; i++) {
		to->bins[i].told += from->bins[i].told;
		to->bins[i].right += from->bins[i].right;
		to->bins[i].sum += from->bins[i].sum;
	}
	to->stray += from->stray;
	to->true_other += from->true_other;
	for (uint32_t i = 0; i < from->nr_latencies &&
			     to->nr_latencies < SCORE_LATENCIES; i++)
		to->latency_ms[to->nr_latencies++] = from->latency_ms[i];
}

static int compare(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

double score_latency(struct score *score, double percent)
{
	uint32_t n = score->nr_latencies;

	if (!n)
		return 0;
	qsort(score->latency_ms, n, sizeof(score->latency_ms[0]), compare);
	return score->latency_ms[(uint32_t)((n - 1) * percent / 100 + 0.5)];
}
