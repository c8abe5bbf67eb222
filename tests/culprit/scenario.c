// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenario.h"

#include <string.h>

#define WARM_MS		250
#define LENGTH_MS	900
#define MIB		1024.0

static const char *const names[KINDS] = {
	[KIND_STREAM] = "streaming",
	[KIND_BURSTS] = "bursts",
	[KIND_GROW] = "growing set",
	[KIND_MANY] = "many small",
	[KIND_CHANGING] = "changing",
	[KIND_DOMAINS] = "two domains",
	[KIND_BYPASS] = "bandwidth",
	[KIND_LARGE] = "large constant",
	[KIND_SELF] = "thrashes itself",
	[KIND_QUOTA] = "quota",
	[KIND_STARTUP] = "start-up",
	[KIND_RISE] = "load rises",
	[KIND_QUIET] = "quiet",
	[KIND_OUTSIDE] = "outside",
	[KIND_OUT_GROWS] = "outside grows",
	[KIND_BESIDE] = "beside",
	[KIND_OUT_VARIES] = "outside varies",
	[KIND_OUT_RISES] = "outside rises",
};

const char *kind_name(enum kind kind)
{
	return names[kind];
}

bool kind_abrupt(enum kind kind)
{
	return kind < KIND_LARGE && kind != KIND_GROW;
}

bool kind_innocent(enum kind kind)
{
	return kind >= KIND_LARGE && kind != KIND_OUTSIDE &&
	       kind != KIND_OUT_GROWS && kind != KIND_BESIDE;
}

static struct rng *rng_of(struct scenario *scenario)
{
	return &scenario->host.rng;
}

static double range(struct scenario *scenario, double lo, double hi)
{
	return rng_range(rng_of(scenario), lo, hi);
}

static struct runner *add_runner(struct scenario *scenario, uint32_t id,
				 uint32_t domain)
{
	struct host *host = &scenario->host;
	struct runner *runner = &host->runners[host->nr_runners++];

	runner->id = id;
	runner->domain = domain;
	runner->overlap = 2;
	runner->cpi = range(scenario, 0.4, 1.0);
	runner->cold = range(scenario, 0, 0.04);
	runner->dirty = range(scenario, 0, 0.3);
	runner->jitter = scenario->hard ? range(scenario, 0.05, 0.25) :
					  range(scenario, 0.02, 0.1);
	return runner;
}

static uint32_t index_of(struct scenario *scenario, const struct runner *runner)
{
	return (uint32_t)(runner - scenario->host.runners);
}

static struct event *add_event(struct scenario *scenario, struct runner *runner,
			       uint32_t ms)
{
	struct event *event = &scenario->host.events[scenario->host.nr_events++];

	event->ms = ms;
	event->runner = index_of(scenario, runner);
	return event;
}

/* From @ms on, over @ramp ms. */
static void set_cpus(struct scenario *scenario, struct runner *runner,
		     uint32_t ms, double to, uint32_t ramp)
{
	struct event *event = add_event(scenario, runner, ms);

	event->what = SET_CPUS;
	event->to = to;
	event->ramp_ms = ramp;
}

static void set_set(struct scenario *scenario, struct runner *runner, uint32_t ms,
		    double to, uint32_t ramp)
{
	struct event *event = add_event(scenario, runner, ms);

	event->what = SET_SET;
	event->to = to;
	event->ramp_ms = ramp;
}

/* Bound by the latency of the cache: who suffers. */
static struct runner *add_victim(struct scenario *scenario, uint32_t domain)
{
	struct runner *v = add_runner(scenario, SCENARIO_VICTIM, domain);

	v->pattern = (enum pattern)rng_below(rng_of(scenario), 3);
	v->cpus = range(scenario, 0.8, 3);
	v->set = range(scenario, 0.15, 0.45) * CACHE_LINES;
	v->apart = range(scenario, 30, 150);
	v->overlap = range(scenario, 1, 2.5);
	return v;
}

/* Small and steady: the others on the host. */
static struct runner *add_neighbour(struct scenario *scenario, uint32_t id,
				    uint32_t domain)
{
	struct runner *n = add_runner(scenario, id, domain);

	n->pattern = (enum pattern)rng_below(rng_of(scenario), 3);
	n->cpus = range(scenario, 0.05, 1.5);
	n->set = range(scenario, 0.005, 0.06) * CACHE_LINES;
	n->apart = range(scenario, 50, 800);
	if (rng_below(rng_of(scenario), 8) == 0) {
		n->pattern = PATTERN_STREAM;
		n->cpus = range(scenario, 0.02, 0.15);
	}
	return n;
}

/* Asleep until an event wakes it; then fills some @gbps GB/s. */
static struct runner *add_streamer(struct scenario *scenario, uint32_t id,
				   uint32_t domain)
{
	struct runner *s = add_runner(scenario, id, domain);

	s->pattern = PATTERN_STREAM;
	s->cpus = rng_below(rng_of(scenario), 2) ?
		  0 : range(scenario, 0.01, 0.05);
	s->overlap = range(scenario, 6, 12);
	s->apart = range(scenario, 4, 20);
	s->cold = 0;
	s->planted = true;
	return s;
}

/* A decoy that begins to compute, or to walk through little memory, at @ms. */
static void add_decoy(struct scenario *scenario, uint32_t id, uint32_t domain,
		      uint32_t ms)
{
	struct runner *d = add_neighbour(scenario, id, domain);
	double cpus = range(scenario, 0.5, 2);

	if (d->pattern == PATTERN_STREAM)
		d->pattern = PATTERN_SWEEP;
	d->set = range(scenario, 0.002, 0.02) * CACHE_LINES;
	d->cpus = 0.2 * cpus;
	set_cpus(scenario, d, ms, cpus, 0);
}

static void phase(struct scenario *scenario, uint32_t onset, uint32_t harm_end,
		  uint32_t end, uint32_t culprits)
{
	struct phase *p = &scenario->phases[scenario->nr_phases++];

	p->onset_ms = onset;
	p->harm_end_ms = harm_end;
	p->end_ms = end;
	p->culprits = culprits;
}

static uint32_t pick_onset(struct scenario *scenario)
{
	return 450 + rng_below(rng_of(scenario), 100);
}

static double stream_cpus(struct scenario *scenario)
{
	return range(scenario, 0.4, 3);
}

static void make_stream(struct scenario *scenario, uint32_t id, uint32_t domain)
{
	struct runner *a = add_streamer(scenario, id, domain);
	uint32_t onset = pick_onset(scenario);

	if (rng_below(rng_of(scenario), 3) == 0) {
		a->pattern = PATTERN_SWEEP;
		a->set = range(scenario, 0.6, 2) * CACHE_LINES;
	}
	set_cpus(scenario, a, onset, stream_cpus(scenario), 0);
	phase(scenario, onset, onset + 60, onset + 250, 1U << id);
}

static void make_bursts(struct scenario *scenario, uint32_t id)
{
	struct runner *a = add_streamer(scenario, id, 0);
	uint32_t length = 5 + rng_below(rng_of(scenario), 46);
	uint32_t period = length * 3 + rng_below(rng_of(scenario), 250);
	uint32_t onset = pick_onset(scenario), ms;
	double rest = a->cpus, cpus = stream_cpus(scenario);

	for (ms = onset; ms < LENGTH_MS; ms += period) {
		set_cpus(scenario, a, ms, cpus, 0);
		set_cpus(scenario, a, ms + length, rest, 0);
	}
	phase(scenario, onset, onset + length + 10, onset + 250, 1U << id);
}

static void make_grow(struct scenario *scenario, uint32_t id)
{
	struct runner *a = add_victim(scenario, 0);
	uint32_t onset = pick_onset(scenario);
	uint32_t ramp = 40 + rng_below(rng_of(scenario), 161);

	a->id = id;
	a->planted = true;
	a->overlap = range(scenario, 3, 8);
	a->set = range(scenario, 0.01, 0.1) * CACHE_LINES;
	set_set(scenario, a, onset, range(scenario, 0.7, 1.5) * CACHE_LINES,
		ramp);
	phase(scenario, onset, onset + ramp + 60, onset + ramp + 200, 1U << id);
}

static void make_many(struct scenario *scenario, uint32_t id)
{
	uint32_t n = 4 + rng_below(rng_of(scenario), 5), all = 0;
	uint32_t onset = pick_onset(scenario);

	for (uint32_t i = 0; i < n; i++) {
		struct runner *a = add_streamer(scenario, id + i, 0);

		set_cpus(scenario, a, onset + rng_below(rng_of(scenario), 4),
			 range(scenario, 0.15, 0.6), 0);
		all |= 1U << (id + i);
	}
	phase(scenario, onset, onset + 60, onset + 250, all);
}

static void make_changing(struct scenario *scenario, uint32_t id)
{
	uint32_t onset = pick_onset(scenario), second = onset + 220;
	struct runner *a = add_streamer(scenario, id, 0);
	struct runner *b = add_streamer(scenario, id + 1, 0);

	set_cpus(scenario, a, onset, stream_cpus(scenario), 0);
	set_cpus(scenario, a, onset + 70 + rng_below(rng_of(scenario), 30),
		 a->cpus, 0);
	set_cpus(scenario, b, second, stream_cpus(scenario), 0);
	phase(scenario, onset, onset + 60, second, 1U << id);
	phase(scenario, second, second + 60, LENGTH_MS, 1U << (id + 1));
}

static void make_bypass(struct scenario *scenario, uint32_t id)
{
	struct runner *a = add_streamer(scenario, id, 0);
	uint32_t onset = pick_onset(scenario);

	a->pattern = PATTERN_BYPASS;
	a->apart = 4;
	a->overlap = 12;
	set_cpus(scenario, a, onset, range(scenario, 3, 8), 0);
	phase(scenario, onset, onset + 60, onset + 250, 1U << id);
}

static void make_large(struct scenario *scenario, uint32_t id)
{
	struct runner *a = add_streamer(scenario, id, 0);

	a->planted = false;
	a->cpus = range(scenario, 0.2, 2);
	if (rng_below(rng_of(scenario), 2)) {
		a->pattern = (enum pattern)rng_below(rng_of(scenario), 3);
		a->overlap = 3;
		a->apart = 50;
		a->set = range(scenario, 0.3, 0.9) * CACHE_LINES;
	}
}

static void make_self(struct scenario *scenario)
{
	struct runner *v = &scenario->host.runners[0];

	v->planted = true;
	set_set(scenario, v, pick_onset(scenario),
		range(scenario, 1, 3) * CACHE_LINES,
		rng_below(rng_of(scenario), 2) ? 0 : 100);
}

static void make_quota(struct scenario *scenario, uint32_t id)
{
	struct runner *v = &scenario->host.runners[0];

	/* from the first or, later, from the second half on */
	v->quota_ms = 20 + rng_below(rng_of(scenario), 60);
	if (rng_below(rng_of(scenario), 2))
		make_large(scenario, id);
}

static void make_startup(struct scenario *scenario, uint32_t id)
{
	struct runner *v = &scenario->host.runners[0];
	uint32_t onset = pick_onset(scenario);

	v->planted = true;
	if (rng_below(rng_of(scenario), 2)) {
		set_cpus(scenario, v, onset - 300, v->cpus, 0);
		v->cpus = 0;
	}
	add_decoy(scenario, id, 0, onset);
	scenario->host.runners[scenario->host.nr_runners - 1].cpus = 0;
	set_set(scenario, v, onset + 150, v->set * 1.4, 100);
}

static void make_rise(struct scenario *scenario)
{
	struct host *host = &scenario->host;
	uint32_t onset = pick_onset(scenario);
	uint32_t ramp = rng_below(rng_of(scenario), 2) ? 0 : 100;
	double factor = range(scenario, 1.3, 2.5);

	for (uint32_t i = 0; i < host->nr_runners; i++)
		set_cpus(scenario, &host->runners[i],
			 onset + rng_below(rng_of(scenario), 5),
			 host->runners[i].cpus * factor, ramp);
}

/* The load of @r is another one every 10 to 80 ms. */
static void vary(struct scenario *scenario, struct runner *r, double most)
{
	for (uint32_t ms = 0; ms < LENGTH_MS;
	     ms += 10 + rng_below(rng_of(scenario), 71))
		set_cpus(scenario, r, ms, range(scenario, 0.02, most), 0);
}

/* Processes outside of all containers that work in little memory. */
static struct runner *add_outside(struct scenario *scenario, uint32_t id)
{
	struct runner *o = add_neighbour(scenario, id, 0);

	if (o->pattern == PATTERN_STREAM)
		o->pattern = PATTERN_SKEWED;
	o->set = range(scenario, 0.005, 0.04) * CACHE_LINES;
	o->cpus = range(scenario, 0.02, 0.3);
	o->outside = true;
	return o;
}

/* A container changes by itself, or load rises everywhere, or nothing happens. */
static void make_change(struct scenario *scenario, uint32_t id)
{
	switch (rng_below(rng_of(scenario), 5)) {
	case 0:
		make_self(scenario);
		break;
	case 1:
		make_quota(scenario, id);
		break;
	case 2:
		make_startup(scenario, id);
		break;
	case 3:
		make_rise(scenario);
		break;
	default:
		break;
	}
}

static void make_outside(struct scenario *scenario, uint32_t id)
{
	struct host *host = &scenario->host;

	if (scenario->kind == KIND_OUT_GROWS)
		make_grow(scenario, id);
	else
		make_stream(scenario, id, 0);
	host->runners[host->nr_runners - 1].outside = true;
}

static void make_beside(struct scenario *scenario, uint32_t id)
{
	make_stream(scenario, id, 0);
	vary(scenario, add_outside(scenario, id + 1), 1);
}

static void make_out_varies(struct scenario *scenario, uint32_t id)
{
	make_change(scenario, id);
	vary(scenario, add_outside(scenario, id + 1), 1);
}

static void make_out_rises(struct scenario *scenario, uint32_t id)
{
	struct runner *o;

	make_change(scenario, id);
	o = add_outside(scenario, id + 1);
	set_cpus(scenario, o, pick_onset(scenario), range(scenario, 0.5, 2),
		 150 + rng_below(rng_of(scenario), 251));
}

static void make_outside_kind(struct scenario *scenario, uint32_t id)
{
	switch (scenario->kind) {
	case KIND_OUTSIDE:
	case KIND_OUT_GROWS:
		make_outside(scenario, id);
		break;
	case KIND_BESIDE:
		make_beside(scenario, id);
		break;
	case KIND_OUT_VARIES:
		make_out_varies(scenario, id);
		break;
	default:
		make_out_rises(scenario, id);
		break;
	}
}

static void make_kind(struct scenario *scenario, uint32_t id)
{
	switch (scenario->kind) {
	case KIND_STREAM:
		make_stream(scenario, id, 0);
		break;
	case KIND_BURSTS:
		make_bursts(scenario, id);
		break;
	case KIND_GROW:
		make_grow(scenario, id);
		break;
	case KIND_MANY:
		make_many(scenario, id);
		break;
	case KIND_CHANGING:
		make_changing(scenario, id);
		break;
	case KIND_DOMAINS:
		make_stream(scenario, id, 0);
		break;
	case KIND_BYPASS:
		make_bypass(scenario, id);
		break;
	case KIND_LARGE:
		make_large(scenario, id);
		break;
	case KIND_SELF:
		make_self(scenario);
		break;
	case KIND_QUOTA:
		make_quota(scenario, id);
		break;
	case KIND_STARTUP:
		make_startup(scenario, id);
		break;
	case KIND_RISE:
		make_rise(scenario);
		break;
	case KIND_QUIET:
		break;
	default:
		make_outside_kind(scenario, id);
		break;
	}
}

/* Loads that step up or down at any time, all of them small. */
static void add_steps(struct scenario *scenario)
{
	struct host *host = &scenario->host;
	uint32_t n = host->nr_runners;

	for (uint32_t k = 0; k < 4; k++) {
		struct runner *r = &host->runners[rng_below(rng_of(scenario), n)];

		if (!r->planted && r->cpus > 0)
			set_cpus(scenario, r,
				 200 + rng_below(rng_of(scenario), 600),
				 r->cpus * range(scenario, 0.6, 1.7), 0);
	}
}

/*
 * The working sets of victim and neighbours together are between half of the cache
 * and half as much again as it has.
 */
static void press(struct scenario *scenario)
{
	struct host *host = &scenario->host;
	double pressure = range(scenario, 0.5, 1.5) * CACHE_LINES;

	for (uint32_t d = 0; d < host->domains; d++) {
		double sum = 0, victim = 0;

		for (uint32_t i = 0; i < host->nr_runners; i++) {
			const struct runner *r = &host->runners[i];

			if (r->domain != d || r->pattern == PATTERN_STREAM)
				continue;
			if (r->id == SCENARIO_VICTIM)
				victim += r->set;
			else
				sum += r->set;
		}
		for (uint32_t i = 0; i < host->nr_runners && sum > 0; i++) {
			struct runner *r = &host->runners[i];

			if (r->domain == d && r->id != SCENARIO_VICTIM &&
			    victim + sum < pressure)
				r->set *= (pressure - victim) / sum;
		}
	}
}

static void make_host(struct scenario *scenario)
{
	static const double quanta[] = { 0, 64, 64, 64, 128 };
	static const double caches[] = { 16, 16, 32, 24 };
	struct host *host = &scenario->host;

	host->policy = (enum cache_policy)rng_below(&host->rng, CACHE_POLICIES);
	host->domains = scenario->kind == KIND_DOMAINS ? 2 : 1;
	host->unit_kib = caches[rng_below(&host->rng, 4)] * MIB / CACHE_LINES;
	host->quantum_kib = quanta[rng_below(&host->rng, 5)];
	host->peak_kib = range(scenario, 15, 40) * MIB;
	host->lost = scenario->hard ? 0.01 : 0.002;
}

void scenario_make(struct scenario *scenario, enum kind kind, uint64_t seed,
		   bool hard)
{
	uint32_t id = 1, n, decoy;

	memset(scenario, 0, sizeof(*scenario));
	scenario->kind = kind;
	scenario->seed = seed;
	scenario->hard = hard;
	scenario->warm_ms = WARM_MS;
	scenario->length_ms = LENGTH_MS;
	/* another set for the kinds outside: the seeds of the others stay */
	rng_of(scenario)->s = seed * KINDS_INSIDE + kind % KINDS_INSIDE +
			      ((uint64_t)(kind / KINDS_INSIDE) << 40);
	make_host(scenario);
	add_victim(scenario, 0);
	if (kind == KIND_DOMAINS)
		add_victim(scenario, 1)->set /= 2;
	n = 2 + rng_below(rng_of(scenario), 8);
	for (uint32_t i = 0; i < n; i++)
		add_neighbour(scenario, id++,
			      rng_below(rng_of(scenario), scenario->host.domains));
	press(scenario);
	decoy = id++;
	make_kind(scenario, id);
	if (scenario->nr_phases && (hard || rng_below(rng_of(scenario), 2)))
		add_decoy(scenario, decoy, scenario->host.domains - 1,
			  scenario->phases[0].onset_ms +
			  rng_below(rng_of(scenario), 3));
	if (hard)
		add_steps(scenario);
}
