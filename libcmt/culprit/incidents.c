// SPDX-License-Identifier: LGPL-2.1-or-later
/* Incidents: times in which neighbours made an owner slower, from an estimate now and then. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define FIRST		1000U	/* slots before the first estimate, which is of a second */
#define ESTIMATE_SLOTS	250U	/* slots from one estimate to the next, where none is missing */
#define QUIET		1000U	/* slots with nearly no cost, then the incident has ended */
#define EARLY		3000U	/* slots: what is found so soon may have begun before them */
#define CHANGE_NS	3000000000ULL	/* since a verdict that has the begin of an incident */
#define SHARE_WEIGHT	0.2212	/* of an estimate in a mean of a second: 1 - e^(-250 / 1000) */
#define UNKNOWN_MOST	0.1	/* of the cost while the CPU time is not known; else lost is not */

/* What neighbours cost one victim, as of one estimate */
struct cost {
	const struct cmt_slowdown *pairs;
	uint32_t nr;
	double share, low, high;
	double misses;		/* the part of share by cache and memory */
	double shares[SLOWDOWN_RESOURCES];	/* the parts by each resource */
	double cpus[SLOWDOWN_RESOURCES];	/* NAN: not known, or share is 0 */
	double scale[SLOWDOWN_RESOURCES];	/* so that the pairs add up to the share */
};

bool culprit_incidents_init(struct culprit_incidents *incidents)
{
	incidents->open = calloc(CULPRIT_INCIDENTS, sizeof(*incidents->open));
	incidents->pairs = calloc(CULPRIT_PAIRS, sizeof(*incidents->pairs));
	incidents->queue = calloc(CULPRIT_INCIDENT_QUEUE, sizeof(*incidents->queue));
	incidents->shares.before = calloc(CULPRIT_PAIRS, sizeof(struct culprit_share));
	incidents->shares.now = calloc(CULPRIT_PAIRS, sizeof(struct culprit_share));
	return incidents->open && incidents->pairs && incidents->queue &&
	       incidents->shares.before && incidents->shares.now;
}

void culprit_incidents_free(struct culprit_incidents *incidents)
{
	free(incidents->open);
	free(incidents->pairs);
	free(incidents->queue);
	free(incidents->shares.before);
	free(incidents->shares.now);
}

/* All pairs of a victim by one resource but those with itself, which is no neighbour */
static struct cmt_slowdown sum_of(const struct cmt_slowdown *pairs, uint32_t nr, uint32_t resource)
{
	struct cmt_slowdown sum = { .cpus = NAN };

	for (uint32_t i = 0; i < nr; i++) {
		if (pairs[i].by == pairs[i].id || pairs[i].resource != resource)
			continue;
		sum.share += pairs[i].share;
		sum.low += pairs[i].low;
		sum.high += pairs[i].high;
		sum.most = pairs[i].most;
		sum.cpus = pairs[i].cpus;
	}
	return sum;
}

/* Pairs that are too small for the estimate are in most only. */
static struct cost cost_of(const struct cmt_slowdown *pairs, uint32_t nr)
{
	struct cost cost = { .pairs = pairs, .nr = nr };

	for (uint32_t r = 0; r < SLOWDOWN_RESOURCES; r++) {
		struct cmt_slowdown sum = sum_of(pairs, nr, r);
		double scale = sum.share > 0 ? sum.most / sum.share : 0;

		cost.scale[r] = slowdown_least(scale, 1);
		cost.share += sum.most;
		cost.misses += r != CMT_SLOWDOWN_CPU ? sum.most : 0;
		cost.low += scale * sum.low;
		cost.high += scale * sum.high;
		cost.shares[r] = sum.most;
		cost.cpus[r] = sum.cpus;
	}
	cost.share = slowdown_least(cost.share, 1);
	cost.high = slowdown_least(slowdown_larger(cost.high, cost.share), 1);
	return cost;
}

static uint64_t now_of(const struct cmt_culprit *culprit)
{
	return culprit->start_ns + culprit->opts.slot_ns;
}

static bool is_lost_known(const struct culprit_incident *one)
{
	return one->unknown_ns <= UNKNOWN_MOST * one->all.share_ns;
}

static bool costs_more(const struct culprit_incident *one, uint32_t i, uint32_t j)
{
	const struct culprit_cost *a = &one->parts[i], *b = &one->parts[j];

	if (is_lost_known(one) && a->lost_ns != b->lost_ns)
		return a->lost_ns > b->lost_ns;
	return a->share_ns > b->share_ns;
}

static void swap_parts(struct culprit_incident *one, uint32_t i, uint32_t j)
{
	struct cmt_incident_part part = one->incident.parts[i];
	struct culprit_cost cost = one->parts[i];

	one->incident.parts[i] = one->incident.parts[j];
	one->incident.parts[j] = part;
	one->parts[i] = one->parts[j];
	one->parts[j] = cost;
}

static void sort_parts(struct culprit_incident *one)
{
	for (uint32_t i = 1; i < one->incident.nr_parts; i++)
		for (uint32_t j = i; j && costs_more(one, j, j - 1); j--)
			swap_parts(one, j, j - 1);
}

/* The place of a part; CMT_INCIDENT_PARTS: it has none. */
static uint32_t part_of(const struct cmt_incident *incident, const struct cmt_slowdown *pair)
{
	for (uint32_t i = 0; i < incident->nr_parts; i++) {
		const struct cmt_incident_part *part = &incident->parts[i];

		if (part->by == pair->by && part->resource == pair->resource &&
		    part->domain == pair->domain)
			return i;
	}
	return CMT_INCIDENT_PARTS;
}

/*
 * Where all places are taken, that of what cost least.  CMT_INCIDENT_PARTS: now @share is not
 * more.
 */
static uint32_t new_part(struct culprit_incident *one, const struct cmt_slowdown *pair,
			 double share)
{
	struct cmt_incident *incident = &one->incident;
	uint32_t at = 0;

	if (incident->nr_parts < CMT_INCIDENT_PARTS) {
		at = incident->nr_parts++;
	} else {
		incident->flags |= CMT_INCIDENT_CLIPPED;
		for (uint32_t i = 1; i < incident->nr_parts; i++)
			if (costs_more(one, at, i))
				at = i;
		if (incident->parts[at].share >= share)
			return CMT_INCIDENT_PARTS;
	}
	incident->parts[at] = (struct cmt_incident_part){
		.by = pair->by, .resource = pair->resource, .domain = pair->domain,
	};
	one->parts[at] = (struct culprit_cost){ 0 };
	return at;
}

/* @cpus: on which the victim could run; NAN: not known */
static void add_to(struct culprit_cost *cost, double share, double cpus, uint64_t ns)
{
	double share_ns = share * (double)ns;

	cost->share_ns += share_ns;
	cost->lost_ns += isnan(cpus) ? 0 : (uint64_t)(cpus * share_ns);
}

/*
 * For how long a cost has been so.  That of cache and memory is a mean over about a second.  That
 * of CPUs is what the last second of waits cost, and holds until the next one ends.
 */
struct span {
	uint64_t ns[SLOWDOWN_RESOURCES];
};

static struct span span_of(uint64_t misses_ns, uint64_t cpu_ns)
{
	struct span span = { { 0 } };

	for (uint32_t r = 0; r < SLOWDOWN_RESOURCES; r++)
		span.ns[r] = r == CMT_SLOWDOWN_CPU ? cpu_ns : misses_ns;
	return span;
}

/* @anew: a pair that has no part yet */
static void add_pair(const struct cmt_culprit *culprit, struct culprit_incident *one,
		     const struct cmt_slowdown *pair, double share, const struct span *span,
		     bool anew)
{
	uint32_t at = part_of(&one->incident, pair);
	struct cmt_incident_part *part;

	if ((at == CMT_INCIDENT_PARTS) != anew)
		return;
	if (anew)
		at = new_part(one, pair, share);
	if (at == CMT_INCIDENT_PARTS)
		return;
	part = &one->incident.parts[at];
	part->share = share;
	add_to(&one->parts[at], share, pair->cpus, span->ns[pair->resource]);
	if (pair->resource != CMT_SLOWDOWN_CPU)
		part->held_bytes = (uint64_t)(1024 * slowdown_held_kib(&culprit->slowdown,
								       pair->by, pair->domain));
}

/* First those that have a part: a new one must not take the place of what costs more. */
static void add_pairs(const struct cmt_culprit *culprit, struct culprit_incident *one,
		      const struct cost *cost, const struct span *span, bool anew)
{
	for (uint32_t i = 0; i < cost->nr; i++) {
		const struct cmt_slowdown *pair = &cost->pairs[i];

		if (pair->by != pair->id)
			add_pair(culprit, one, pair, cost->scale[pair->resource] * pair->share,
				 span, anew);
	}
}

static void add_all(struct culprit_incident *one, const struct cost *cost,
		    const struct span *span)
{
	for (uint32_t r = 0; r < SLOWDOWN_RESOURCES; r++) {
		add_to(&one->all, cost->shares[r], cost->cpus[r], span->ns[r]);
		if (isnan(cost->cpus[r]))
			one->unknown_ns += cost->shares[r] * (double)span->ns[r];
	}
}

static void set_lost(struct culprit_incident *one)
{
	struct cmt_incident *incident = &one->incident;
	bool known = is_lost_known(one);

	incident->flags &= ~CMT_INCIDENT_LOST;
	incident->flags |= known ? CMT_INCIDENT_LOST : 0;
	incident->lost_ns = known ? one->all.lost_ns : 0;
	for (uint32_t i = 0; i < incident->nr_parts; i++)
		incident->parts[i].lost_ns = known ? one->parts[i].lost_ns : 0;
}

static void add_cost(const struct cmt_culprit *culprit, struct culprit_incident *one,
		     const struct cost *cost, const struct span *span)
{
	struct cmt_incident *incident = &one->incident;

	for (uint32_t i = 0; i < incident->nr_parts; i++)
		incident->parts[i].share = 0;
	add_pairs(culprit, one, cost, span, false);
	add_pairs(culprit, one, cost, span, true);
	add_all(one, cost, span);
	sort_parts(one);
	set_lost(one);
	incident->share = cost->share;
	incident->low = cost->low;
	incident->high = cost->high;
	if (incident->worst < cost->share)
		incident->worst = cost->share;
	slowdown_pace(&culprit->slowdown, incident->id, &incident->cpi, &incident->mpki);
	incident->cpi_without = incident->cpi *
		(1 - cost->misses / culprit_runs_share(culprit, incident->id));
}

/* A verdict about the victim, not long ago, knows when it began.  0: there is none. */
static uint64_t change_of(const struct cmt_culprit *culprit, uint64_t id)
{
	uint64_t now = now_of(culprit), since = 0;

	for (uint32_t i = 0; i < CULPRIT_QUEUE; i++) {
		const struct cmt_culprit_verdict *verdict = &culprit->queue[i];

		if (verdict->id == id && verdict->nr_suspects &&
		    now - verdict->ts_ns < CHANGE_NS && (!since || verdict->since_ns < since))
			since = verdict->since_ns;
	}
	return since;
}

static void set_begin(const struct cmt_culprit *culprit, struct cmt_incident *incident)
{
	uint64_t estimate_ns = ESTIMATE_SLOTS * culprit->opts.slot_ns;
	uint64_t first_ns = culprit->first_ns;
	uint64_t since = change_of(culprit, incident->id);

	if (!since && culprit->slot < EARLY &&
	    slowdown_before_first(&culprit->slowdown, incident->id) < ESTIMATE_SLOTS)
		since = first_ns;
	incident->begin_ns = since ? since : now_of(culprit) - estimate_ns;
	if (since && since - first_ns < estimate_ns) {
		incident->begin_ns = first_ns;
		incident->flags |= CMT_INCIDENT_BEFORE;
	}
}

static void enqueue(struct culprit_incidents *incidents, const struct cmt_incident *incident)
{
	uint32_t at;

	if (incidents->queue_nr == CULPRIT_INCIDENT_QUEUE) {
		incidents->queue_at = (incidents->queue_at + 1) % CULPRIT_INCIDENT_QUEUE;
		incidents->queue_nr--;
	}
	at = (incidents->queue_at + incidents->queue_nr) % CULPRIT_INCIDENT_QUEUE;
	incidents->queue[at] = *incident;
	incidents->queue_nr++;
}

/* Time since the last estimate */
static uint64_t since_estimate_ns(const struct cmt_culprit *culprit)
{
	return (culprit->slot - culprit->incidents.estimated) * culprit->opts.slot_ns;
}

/*
 * Without a cost of cache or memory: the end of the second of waits that the cost is of.  An
 * incident may begin behind it, where a small cost of misses comes to that of waits.
 */
static void set_end(const struct cmt_culprit *culprit, struct cmt_incident *incident,
		    const struct cost *cost)
{
	uint64_t end_ns = now_of(culprit), waits_ns = culprit->waits.begin_ns;

	if (cost->misses < CMT_INCIDENT_END && waits_ns > incident->begin_ns)
		end_ns = waits_ns;
	if (end_ns > incident->end_ns)
		incident->end_ns = end_ns;
}

static void set_known(const struct cmt_culprit *culprit, struct culprit_incident *one,
		      const struct cost *cost)
{
	one->known = slowdown_known(&culprit->slowdown, one->incident.id);
	one->misses = cost->misses;
}

/* Counters of the victim have stopped, and with what is no longer known it may still cost. */
static bool is_unknown(const struct cmt_culprit *culprit, const struct culprit_incident *one,
		       const struct cost *cost)
{
	return one->misses + cost->shares[CMT_SLOWDOWN_CPU] >= CMT_INCIDENT_END &&
	       slowdown_has_stopped(&culprit->slowdown, one->incident.id, &one->known);
}

/* A mean over a second has all that the second cost. */
static void open_one(struct cmt_culprit *culprit, const struct cost *cost)
{
	struct culprit_incidents *incidents = &culprit->incidents;
	struct culprit_incident *one = &incidents->open[incidents->nr];
	uint64_t mean_ns = FIRST * culprit->opts.slot_ns, since_ns = since_estimate_ns(culprit);
	struct span span = span_of(mean_ns, since_ns < mean_ns ? since_ns : mean_ns);

	if (incidents->nr == CULPRIT_INCIDENTS)
		return;
	incidents->nr++;
	*one = (struct culprit_incident){
		.incident = {
			.number = ++incidents->numbers, .id = cost->pairs[0].id,
			.flags = CMT_INCIDENT_OPEN,
		},
		.seen = true,
	};
	set_begin(culprit, &one->incident);
	set_end(culprit, &one->incident, cost);
	set_known(culprit, one, cost);
	add_cost(culprit, one, cost, &span);
	enqueue(incidents, &one->incident);
}

static struct culprit_incident *open_of(struct culprit_incidents *incidents, uint64_t id)
{
	for (uint32_t i = 0; i < incidents->nr; i++)
		if (incidents->open[i].incident.id == id)
			return &incidents->open[i];
	return NULL;
}

static void go_on(const struct cmt_culprit *culprit, struct culprit_incident *one,
		  const struct cost *cost)
{
	uint64_t ns = since_estimate_ns(culprit);
	struct span span = span_of(ns, ns);

	one->seen = true;
	add_cost(culprit, one, cost, &span);
	if (cost->share >= CMT_INCIDENT_END) {
		one->below = 0;
		set_end(culprit, &one->incident, cost);
		set_known(culprit, one, cost);
		return;
	}
	if (!one->below)
		one->below = culprit->slot;
	one->unknown = is_unknown(culprit, one, cost);
}

/*
 * An estimate is a mean of about a second, so that of what rises is that of a second ago.
 * Returns @share with what it rose in a second; victims come by id.
 */
static double with_rise(struct culprit_shares *shares, uint64_t id, double share)
{
	struct culprit_share now = { id, share };

	while (shares->at < shares->nr && shares->before[shares->at].id < id)
		shares->at++;
	if (shares->at < shares->nr && shares->before[shares->at].id == id)
		now.mean = shares->before[shares->at].mean;
	now.mean += SHARE_WEIGHT * (share - now.mean);
	shares->now[shares->nr_now++] = now;
	return share + share - now.mean;
}

static void judge(struct cmt_culprit *culprit, const struct cost *cost)
{
	struct culprit_incidents *incidents = &culprit->incidents;
	uint64_t id = cost->pairs[0].id;
	struct culprit_incident *one = open_of(incidents, id);
	double soon = with_rise(&incidents->shares, id, cost->share);

	if (one)
		go_on(culprit, one, cost);
	else if (cost->share >= CMT_INCIDENT_BEGIN ||
		 (cost->share >= CMT_INCIDENT_END && soon >= CMT_INCIDENT_BEGIN))
		open_one(culprit, cost);
}

static void shares_next(struct culprit_shares *shares)
{
	struct culprit_share *before = shares->before;

	shares->before = shares->now;
	shares->now = before;
	shares->nr = shares->nr_now;
	shares->nr_now = shares->at = 0;
}

static void judge_all(struct cmt_culprit *culprit, uint32_t nr)
{
	const struct cmt_slowdown *pairs = culprit->incidents.pairs;
	uint32_t first = 0;

	for (uint32_t i = 1; i <= nr; i++) {
		struct cost cost;

		if (i < nr && pairs[i].id == pairs[first].id)
			continue;
		cost = cost_of(&pairs[first], i - first);
		judge(culprit, &cost);
		first = i;
	}
	shares_next(&culprit->incidents.shares);
}

static bool has_ended(const struct cmt_culprit *culprit, const struct culprit_incident *one)
{
	return one->below && culprit->slot - one->below >= QUIET;
}

static void end_one(struct culprit_incidents *incidents, uint32_t i)
{
	struct culprit_incident *one = &incidents->open[i];

	one->incident.flags &= ~CMT_INCIDENT_OPEN;
	one->incident.flags |= one->unknown ? CMT_INCIDENT_UNKNOWN : 0;
	one->incident.share = 0;
	one->incident.low = 0;
	one->incident.high = 0;
	enqueue(incidents, &one->incident);
	incidents->nr--;
	memmove(one, one + 1, (incidents->nr - i) * sizeof(*one));
}

/* Without memory for the estimate, nothing begins or ends. */
static void estimate_now(struct cmt_culprit *culprit)
{
	static const struct cost none;
	struct culprit_incidents *incidents = &culprit->incidents;
	int nr = cmt_culprit_slowdown(culprit, incidents->pairs, CULPRIT_PAIRS);

	if (nr < 0)
		return;
	qsort(incidents->pairs, (uint32_t)nr, sizeof(*incidents->pairs),
	      culprit_cmp_pair);
	culprit_minute_add(&culprit->minute, incidents->pairs, (uint32_t)nr,
			   since_estimate_ns(culprit));
	for (uint32_t i = 0; i < incidents->nr; i++)
		incidents->open[i].seen = false;
	judge_all(culprit, (uint32_t)nr);
	for (uint32_t i = incidents->nr; i-- > 0;) {
		if (!incidents->open[i].seen)
			go_on(culprit, &incidents->open[i], &none);
		if (has_ended(culprit, &incidents->open[i]))
			end_one(incidents, i);
	}
	incidents->estimated = culprit->slot;
}

/* On a grid of CLOCK_MONOTONIC: so incidents of overlapping recordings have the same begin. */
void culprit_incidents_update(struct cmt_culprit *culprit)
{
	uint64_t grid_ns = ESTIMATE_SLOTS * culprit->opts.slot_ns;
	uint64_t now = now_of(culprit), last = culprit->incidents.last_ns;

	culprit->incidents.last_ns = now;
	if (culprit->slot >= FIRST && now / grid_ns != last / grid_ns)
		estimate_now(culprit);
}

int cmt_culprit_next_incident(struct cmt_culprit *culprit, const struct cmt_incident **incident)
{
	struct culprit_incidents *incidents = &culprit->incidents;

	if (!incidents->queue_nr)
		return 0;
	incidents->shown = incidents->queue[incidents->queue_at];
	incidents->queue_at = (incidents->queue_at + 1) % CULPRIT_INCIDENT_QUEUE;
	incidents->queue_nr--;
	*incident = &incidents->shown;
	return 1;
}

const struct cmt_incident *cmt_culprit_incident_at(const struct cmt_culprit *culprit, uint32_t i)
{
	const struct culprit_incidents *incidents = &culprit->incidents;

	return i < incidents->nr ? &incidents->open[i].incident : NULL;
}
