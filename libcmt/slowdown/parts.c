// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The neighbours' parts.  Cache: without a neighbour, the others share its cache by what they
 * miss, and hit more; the misses saved, by the cost of a miss.  Memory: without its misses, a
 * miss costs less.
 */
#include "slowdown.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

#define HITS_MOST	0.985	/* of an owner that has all the cache it can use */
#define SUSPECT_LEAST	0.01	/* of the misses, or of the cache, of its domain */
#define SHARE_MOST	0.95
#define COST_KEPT	0.4	/* of the cost of a miss, without others' misses */
/* Where no occupancy is known: an owner that hits less than this only streams */
#define HITS_STREAM	0.05
#define HITS_FULL	0.3
#define SHARE_LEAST	0.001
/* Fewer misses a slot are none */
#define MISSES_NONE	0.001
#define SLOT_NS		1e6
#define NEW_SLOTS	(SLOWDOWN_WINDOW - SLOWDOWN_WINDOW / 10)

struct list {
	struct slowdown_part *parts;
	uint32_t nr, room;
};

/* An owner of the domain */
struct member {
	const struct slowdown_owner *owner;
	double cycles, misses, references, hits, kib, ran_ns;
	double growth;		/* KiB held for each miss */
	struct slowdown_guess cost;
};

struct domain {
	struct member *members;
	uint32_t nr;
	double misses, kib;
	double rise;		/* of the cost of a miss, by each miss of the domain */
	bool holds;		/* occupancy is known */
	struct list *list;	/* of what is told */
};

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void add_part(struct list *list, const struct slowdown_part *part)
{
	struct slowdown_part *parts = list->parts;
	uint32_t i;

	if (list->nr < list->room)
		list->nr++;
	else if (parts[list->room - 1].share >= part->share)
		return;
	for (i = list->nr - 1; i && parts[i - 1].share < part->share; i--)
		parts[i] = parts[i - 1];
	parts[i] = *part;
}

/* What @member holds where each KiB is missed for @pressure times as long as now */
static double held_at(const struct member *member, double pressure)
{
	double kib, fill = pressure * member->growth * member->references;
	double most = member->hits > HITS_MOST ? member->hits : HITS_MOST;

	if (member->kib <= 0)
		return 0;
	kib = fill / (1 + fill * member->hits / member->kib);
	return member->hits > 0 ? least(kib, member->kib * most / member->hits) : kib;
}

static double all_hold(const struct domain *domain, const struct member *without,
		       double pressure)
{
	double sum = 0;

	for (uint32_t i = 0; i < domain->nr; i++)
		if (&domain->members[i] != without)
			sum += held_at(&domain->members[i], pressure);
	return sum;
}

/* The pressure at which all others fill the cache without @suspect */
static double pressure_without(const struct domain *domain, const struct member *suspect)
{
	double lo = 1, hi = 2;

	while (hi < 1e6 && all_hold(domain, suspect, hi) < domain->kib) {
		lo = hi;
		hi *= 2;
	}
	for (int i = 0; i < 12; i++) {
		double mid = (lo + hi) / 2;

		if (all_hold(domain, suspect, mid) < domain->kib)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

/* Misses that @victim would be spared at @pressure */
static double spared(const struct member *victim, double pressure)
{
	double hits, most = victim->hits > HITS_MOST ? victim->hits : HITS_MOST;

	if (victim->kib <= 0)
		return 0;
	hits = least(victim->hits * held_at(victim, pressure) / victim->kib, most);
	return hits > victim->hits ? victim->references * (hits - victim->hits) : 0;
}

/* The same where no occupancy is known: by the share of the suspect in all misses */
static double spared_unknown(const struct domain *domain, const struct member *victim,
			     const struct member *suspect)
{
	if (victim->hits < HITS_STREAM)
		return 0;
	return victim->misses * least(1, victim->hits / HITS_FULL) * suspect->misses /
	       domain->misses;
}

/* The part of the cost of a miss that goes without so many @misses of others */
static double cheaper(const struct domain *domain, double misses)
{
	double kept = slowdown_kept(domain->rise * misses);

	return 1 - (kept > COST_KEPT ? kept : COST_KEPT);
}

/* Bounds that had the truth in nine of ten cases of the simulation */
static void set_bounds(struct slowdown_part *part, bool holds)
{
	part->low = part->share * (holds ? 0.4 : 0.3);
	part->high = least(part->share * (holds ? 2.2 : 2.6) + 0.01, 1);
}

/* What the victim would gain in a cache of its own */
static double spared_at_most(const struct domain *domain, const struct member *victim)
{
	if (!domain->holds)
		return victim->misses * least(1, victim->hits / HITS_FULL);
	return victim->hits < HITS_MOST ?
	       victim->references * (HITS_MOST - victim->hits) : 0;
}

static double most_of(const struct domain *domain, const struct member *victim,
		      enum slowdown_resource resource)
{
	double misses = resource == SLOWDOWN_CACHE ? spared_at_most(domain, victim) :
			victim->misses * cheaper(domain, domain->misses - victim->misses);

	return least(misses * victim->cost.value / victim->cycles, SHARE_MOST);
}

static void tell(const struct domain *domain, const struct member *victim,
		 const struct member *suspect, enum slowdown_resource resource, double cycles)
{
	struct slowdown_part part = {
		.id = victim->owner->id, .by = suspect->owner->id,
		.domain = victim->owner->domain, .resource = resource,
		.share = least(cycles / victim->cycles, SHARE_MOST),
		.cpus = victim->owner->timed ? victim->ran_ns / SLOT_NS : -1,
	};

	if (part.share < SHARE_LEAST)
		return;
	set_bounds(&part, domain->holds);
	part.most = most_of(domain, victim, resource);
	if (part.most < part.share)
		part.most = part.share;
	add_part(domain->list, &part);
}

/* A program that begins misses what it has never had. */
static bool is_new(const struct slowdown_owner *owner)
{
	return owner->seen - owner->first < NEW_SLOTS;
}

static void victims_of(const struct domain *domain, const struct member *suspect)
{
	double pressure = domain->holds ? pressure_without(domain, suspect) : 1;

	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];
		double misses;

		if (victim == suspect || victim->owner->suspect_only ||
		    victim->cycles <= 0 || is_new(victim->owner))
			continue;
		misses = domain->holds ? spared(victim, pressure) :
					 spared_unknown(domain, victim, suspect);
		tell(domain, victim, suspect, SLOWDOWN_CACHE, misses * victim->cost.value);
		tell(domain, victim, suspect, SLOWDOWN_MEMORY,
		     victim->misses * victim->cost.value * cheaper(domain, suspect->misses));
	}
}

/* Pooled: it is the memory's, and each owner sees it with more or less noise. */
static void add_rise(const struct slowdown_owner *owner, double *sum, double *weights)
{
	struct slowdown_guess rise = slowdown_rise(owner);
	double weight;

	if (rise.variance <= 0)
		return;
	weight = 1 / rise.variance;
	*sum += weight * rise.value;
	*weights += weight;
}

/* @scale: from sums of slots to a mean of them */
static void add_member(struct domain *domain, const struct slowdown_owner *owner, double scale)
{
	struct member *member = &domain->members[domain->nr++];
	double misses = owner->mean.misses * scale;

	*member = (struct member){
		.owner = owner,
		.cycles = owner->mean.cycles * scale,
		.misses = misses,
		.references = owner->mean.references * scale,
		.ran_ns = owner->mean.ran_ns * scale,
		.kib = owner->mean.occupancy_kib,
		.cost = slowdown_cost(owner),
	};
	if (member->references > 0)
		member->hits = 1 - misses / member->references;
	member->growth = member->kib / (misses > MISSES_NONE ? misses : MISSES_NONE);
	domain->misses += misses;
	domain->kib += member->kib;
	domain->holds |= owner->holds;
}

static void add_members(const struct slowdown *slowdown, uint32_t number, struct domain *domain)
{
	double whole = 1 - slowdown_kept((double)(slowdown->slot - slowdown->begin) /
					 SLOWDOWN_WINDOW);
	double sum = 0, weights = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		double old = (double)(slowdown->slot - owner->slot) / SLOWDOWN_WINDOW;

		if (!owner->used || owner->domain != number)
			continue;
		add_member(domain, owner, slowdown_kept(old) / whole);
		add_rise(owner, &sum, &weights);
	}
	if (weights > 0 && sum > 0)
		domain->rise = sum / weights;
}

static bool may_be_suspect(const struct domain *domain, const struct member *member)
{
	return member->misses > SUSPECT_LEAST * domain->misses ||
	       member->kib > SUSPECT_LEAST * domain->kib;
}

static void parts_of(const struct slowdown *slowdown, uint32_t number, struct domain *domain)
{
	add_members(slowdown, number, domain);
	for (uint32_t i = 0; i < domain->nr && domain->misses > 0; i++)
		if (may_be_suspect(domain, &domain->members[i]))
			victims_of(domain, &domain->members[i]);
}

static uint64_t domains_of(const struct slowdown *slowdown)
{
	uint64_t domains = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used)
			domains |= 1ULL << slowdown->owners[i].domain;
	return domains;
}

int slowdown_parts(const struct slowdown *slowdown, struct slowdown_part *parts, uint32_t n)
{
	struct list list = { .parts = parts, .room = n };
	struct member *members;
	uint64_t domains = domains_of(slowdown);

	if (!domains || slowdown->slot == slowdown->begin)
		return 0;
	members = malloc(slowdown->nr * sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (uint32_t d = 0; d < CMT_DOMAINS_MAX; d++) {
		struct domain domain = { .members = members, .list = &list };

		if (domains >> d & 1)
			parts_of(slowdown, d, &domain);
	}
	free(members);
	return (int)list.nr;
}
