// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include <math.h>
#include <string.h>

#define HIT_CYCLES	30.0
#define MISS_CYCLES	220.0
#define TURN		32	/* idle RMIDs are read once in so many ticks */
#define COUNTER_NOISE	0.004

void host_start(struct host *host, uint64_t seed)
{
	host->rng.s = seed;
	for (uint32_t d = 0; d < host->domains; d++)
		cache_init(&host->cache[d], host->policy, seed + d + 1);
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		host->runners[i].rng.s = seed ^ (0x1000193ULL * (i + 1));
		host->runners[i].mood.s = ~host->runners[i].rng.s;
		host->runners[i].at = rng_below(&host->runners[i].rng, 1 << 20);
	}
}

static double *property(struct runner *runner, const struct event *event)
{
	switch (event->what) {
	case SET_CPUS:	return &runner->cpus;
	case SET_SET:	return &runner->set;
	default:	return &runner->apart;
	}
}

static void apply(struct runner *runner, struct event *event, uint32_t ms)
{
	double *value = property(runner, event);

	if (event->what == SET_PATTERN) {
		if (ms == event->ms)
			runner->pattern = (enum pattern)event->to;
		return;
	}
	if (ms == event->ms)
		event->from = *value;
	if (ms >= event->ms + event->ramp_ms)
		*value = event->to;
	else
		*value = event->from + (event->to - event->from) *
			 (ms - event->ms) / event->ramp_ms;
}

static void apply_events(struct host *host, uint32_t ms)
{
	for (uint32_t i = 0; i < host->nr_events; i++) {
		struct event *event = &host->events[i];
		struct runner *runner = &host->runners[event->runner];

		if (host->mute && runner->planted)
			continue;
		if (ms >= event->ms && ms <= event->ms + event->ramp_ms)
			apply(runner, event, ms);
	}
}

static uint32_t next_line(struct runner *runner)
{
	uint32_t set = runner->set < 1 ? 1 : (uint32_t)runner->set;

	if (runner->cold > 0 && rng_unit(&runner->rng) < runner->cold)
		return 0x800000 | (runner->cold_at++ & 0x7fffff);
	switch (runner->pattern) {
	case PATTERN_RANDOM:
		return rng_below(&runner->rng, set);
	case PATTERN_SKEWED:
		if (rng_next(&runner->rng) & 3)
			set = set / 4 + 1;
		return rng_below(&runner->rng, set);
	case PATTERN_SWEEP:
		runner->at = runner->at + 1 < set ? runner->at + 1 : 0;
		return runner->at;
	default:
		return runner->at++ & 0x7fffff;
	}
}

static void move(struct host *host, uint32_t i, double kib)
{
	host->counted[i] += kib;
	host->moved[host->runners[i].domain] += kib;
}

/* One access.  Returns whether it was a hit. */
static bool access_line(struct host *host, uint32_t i)
{
	struct runner *runner = &host->runners[i];
	uint32_t line = next_line(runner), evicted;

	if (runner->pattern == PATTERN_BYPASS) {
		move(host, i, host->unit_kib);
		return false;
	}
	if (cache_touch(&host->cache[runner->domain], i, line, &evicted))
		return true;
	move(host, i, host->unit_kib);
	if (evicted == CACHE_NONE)
		return false;
	host->took[evicted][i]++;
	if (rng_unit(&runner->rng) < host->runners[evicted].dirty)
		move(host, evicted, host->unit_kib);
	return false;
}

/* Cycles that a miss costs, by how busy the memory is. */
static double miss_cycles(const struct host *host, const struct runner *runner)
{
	double busy = host->busy[runner->domain];
	double queue = busy > 0.6 ? 4.0 * (busy - 0.6) * (busy - 0.6) / 0.16 : 0;

	return MISS_CYCLES * (1 + 0.3 * busy + queue) / runner->overlap;
}

static void run(struct host *host, uint32_t i, double cycles)
{
	struct runner *runner = &host->runners[i];
	struct reading *reading = &host->readings[i];
	double weight = host->unit_kib * 16;	/* real lines that one stands for */
	double work = weight * runner->apart * runner->cpi;
	double hit = work + weight * HIT_CYCLES / runner->overlap;
	double miss = work + weight * miss_cycles(host, runner);

	reading->cycles += cycles;
	cycles -= runner->debt;
	while (cycles > 0) {
		bool was_hit = access_line(host, i);

		cycles -= was_hit ? hit : miss;
		reading->instructions += weight * runner->apart;
		reading->references += weight;
		reading->misses += was_hit ? 0 : weight;
	}
	runner->debt = -cycles;
}

static double cpus_now(struct runner *runner, uint32_t ms)
{
	double noise = rng_gauss(&runner->mood);

	runner->drift = 0.9 * runner->drift + 0.43 * runner->jitter * noise;
	if (runner->absent ||
	    (runner->quota_ms && ms % 100 >= runner->quota_ms))
		return 0;
	return fmax(0, runner->cpus * (1 + runner->drift));
}

static double quantized(const struct host *host, double kib)
{
	return host->quantum_kib > 0 ?
	       floor(kib / host->quantum_kib) * host->quantum_kib : kib;
}

static void read_counters(struct host *host, uint32_t i, uint32_t ms)
{
	const struct runner *runner = &host->runners[i];
	struct reading *reading = &host->readings[i];
	double kib = host->cache[runner->domain].held[i] * host->unit_kib;
	double counted = quantized(host, host->counted[i]);

	reading->idle = !runner->outside && reading->cycles <= 0 &&
			(ms + i) % TURN;
	if (reading->idle)
		return;
	reading->read = rng_unit(&host->rng) >= host->lost;
	if (!reading->read)
		return;
	reading->occupancy = quantized(host, kib);
	reading->traffic = counted - host->shown[i];
	host->shown[i] = counted;
}

/* Those of @mask: some are read a sixteenth of a millisecond early. */
static void read_some(struct host *host, uint32_t mask, uint32_t ms)
{
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		if (mask & 1U << i)
			read_counters(host, i, ms);
	}
}

static void noise(struct host *host, struct reading *reading)
{
	reading->cycles *= 1 + COUNTER_NOISE * rng_gauss(&host->rng);
	reading->instructions *= 1 + COUNTER_NOISE * rng_gauss(&host->rng);
	reading->misses *= 1 + COUNTER_NOISE * rng_gauss(&host->rng);
	reading->references *= 1 + COUNTER_NOISE * rng_gauss(&host->rng);
}

static void subslice(struct host *host, const double *cpus)
{
	uint32_t n = host->nr_runners, first = rng_below(&host->rng, n);

	memset(host->moved, 0, sizeof(host->moved));
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (first + k) % n;

		if (cpus[i] > 0)
			run(host, i, cpus[i] * HOST_CYCLES / HOST_SUBSLICES);
	}
	for (uint32_t d = 0; d < host->domains; d++) {
		double busy = host->moved[d] * HOST_SUBSLICES / host->peak_kib;

		host->busy[d] = 0.5 * host->busy[d] + 0.5 * fmin(busy, 1.5);
	}
}

static void tell_truth(struct host *host, uint32_t i)
{
	struct reading *reading = &host->readings[i];

	reading->held = host->cache[host->runners[i].domain].held[i] *
			host->unit_kib;
	reading->work = reading->instructions;
	for (uint32_t by = 0; by < host->nr_runners; by++) {
		if (!by)
			reading->gone_first += host->took[i][by];
		else if (by != i)
			reading->gone_others += host->took[i][by];
	}
}

void host_step(struct host *host, uint32_t ms)
{
	uint32_t early = (uint32_t)rng_next(&host->rng);
	double cpus[HOST_RUNNERS];

	apply_events(host, ms);
	memset(host->readings, 0, sizeof(host->readings));
	memset(host->took, 0, sizeof(host->took));
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		cpus[i] = cpus_now(&host->runners[i], ms);
		host->readings[i].ran_ns = cpus[i] * 1e6;
	}
	for (int s = 0; s < HOST_SUBSLICES; s++) {
		if (s == HOST_SUBSLICES - 1)
			read_some(host, early, ms);
		subslice(host, cpus);
	}
	read_some(host, ~early, ms);
	for (uint32_t i = 0; i < host->nr_runners; i++) {
		tell_truth(host, i);
		noise(host, &host->readings[i]);
	}
}
