// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* Called after each millisecond, with its number in the recording. */
typedef void step_fn(void *ctx, const struct host *host, uint32_t ms);

static void run_host(const struct scenario *scenario, bool mute, step_fn *fn,
		     void *ctx)
{
	struct host *host = malloc(sizeof(*host));

	if (!host)
		abort();
	*host = scenario->host;
	host->mute = mute;
	host_start(host, scenario->seed + 1);
	for (uint32_t ms = 0; ms < scenario->warm_ms; ms++)
		host_step(host, UINT32_MAX - scenario->warm_ms + ms);
	for (uint32_t ms = 0; ms < scenario->length_ms; ms++) {
		host_step(host, ms);
		fn(ctx, host, ms);
	}
	free(host);
}

struct recording {
	const struct scenario *scenario;
	struct trace *trace;
	double work[2][SCENARIO_PHASES];	/* instructions: as it was, mute */
};

static void add_work(struct recording *r, bool mute, const struct host *host,
		     uint32_t ms)
{
	for (uint32_t p = 0; p < r->scenario->nr_phases; p++) {
		const struct phase *phase = &r->scenario->phases[p];

		if (ms < phase->onset_ms || ms >= phase->harm_end_ms)
			continue;
		for (uint32_t i = 0; i < host->nr_runners; i++) {
			if (host->runners[i].id == SCENARIO_VICTIM &&
			    host->runners[i].domain == 0)
				r->work[mute][p] += host->readings[i].instructions;
		}
	}
}

static void record(void *ctx, const struct host *host, uint32_t ms)
{
	struct recording *r = ctx;
	struct trace *trace = r->trace;

	memcpy(&trace->readings[(size_t)ms * host->nr_runners], host->readings,
	       host->nr_runners * sizeof(host->readings[0]));
	add_work(r, false, host, ms);
	for (uint32_t p = 0; p < r->scenario->nr_phases; p++) {
		const struct phase *phase = &r->scenario->phases[p];

		if (ms < phase->onset_ms || ms >= phase->harm_end_ms)
			continue;
		for (uint32_t i = 0; i < host->nr_runners; i++)
			trace->took[p][i] += host->took[0][i];
	}
}

static void record_mute(void *ctx, const struct host *host, uint32_t ms)
{
	add_work(ctx, true, host, ms);
}

struct trace *trace_make(const struct scenario *scenario)
{
	uint32_t n = scenario->host.nr_runners;
	struct recording r = { .scenario = scenario };

	r.trace = calloc(1, sizeof(*r.trace) + (size_t)scenario->length_ms * n *
			 sizeof(struct reading));
	if (!r.trace)
		return NULL;
	r.trace->nr_runners = n;
	r.trace->length_ms = scenario->length_ms;
	run_host(scenario, false, record, &r);
	if (scenario->nr_phases)
		run_host(scenario, true, record_mute, &r);
	for (uint32_t p = 0; p < scenario->nr_phases; p++)
		r.trace->harm[p] = 1 - r.work[0][p] / r.work[1][p];
	return r.trace;
}
