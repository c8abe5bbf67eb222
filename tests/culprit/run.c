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
};

static void record(void *ctx, const struct host *host, uint32_t ms)
{
	const struct recording *r = ctx;

	memcpy(&r->trace->readings[(size_t)ms * host->nr_runners],
	       host->readings, host->nr_runners * sizeof(host->readings[0]));
}

static void record_mute(void *ctx, const struct host *host, uint32_t ms)
{
	const struct recording *r = ctx;

	for (uint32_t i = 0; i < host->nr_runners; i++) {
		struct reading *to =
			&r->trace->readings[(size_t)ms * host->nr_runners + i];

		to->held_else = host->readings[i].held;
		to->work_else = host->readings[i].work;
	}
}

/* The part of its work that the victim, runner 0, did not do. */
static double harm(const struct trace *trace, const struct phase *phase)
{
	double work = 0, work_else = 0;

	for (uint32_t ms = phase->onset_ms; ms < phase->harm_end_ms; ms++) {
		work += trace_at(trace, ms)[0].work;
		work_else += trace_at(trace, ms)[0].work_else;
	}
	return 1 - work / work_else;
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
	run_host(scenario, true, record_mute, &r);
	for (uint32_t p = 0; p < scenario->nr_phases; p++)
		r.trace->harm[p] = harm(r.trace, &scenario->phases[p]);
	return r.trace;
}
