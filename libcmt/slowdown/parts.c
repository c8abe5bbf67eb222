// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The neighbours' parts.  Cache: without a neighbour, the others share its cache by what they
 * miss, and hit more; the misses saved, by the cost of a miss.  Memory: without its misses, a
 * miss costs less.
 */
#include "slowdown.h"

#include <errno.h>
#include <stdlib.h>

#define SUSPECT_LEAST	0.01	/* of the misses, or of the cache, of its domain */
#define SHARE_MOST	0.95
/* The part of the cost of a miss that rises: with the third power of the domain's misses */
#define RISE_POWER	3
#define RISE_MOST	0.4
#define SHARE_LEAST	0.001
#define EQUALS	0.05	/* shares that differ less are as good as equal */
#define MORE_COUNTS	10	/* so often a miss more than before counts among equals */
/*
 * Where one misses so many times as often as before, one that does not has all lines that it
 * hits: what it misses is not used again.
 */
#define RISES	1.15
/* One that hits nothing is no stream, but a loop, with this likelihood */
#define LOOP_LIKELY	0.015
/* Of what a neighbour holds that hardly ever runs, others get so much less back */
#define FILLED_MEANWHILE	0.35
/*
 * A guess is drawn to a usual share by so much of its distance, as a logarithm: the smallest
 * are mostly too small, and without occupancies the largest too large.
 */
#define USUAL_HOLDS	0.1
#define DRAWN_HOLDS	0.1
#define USUAL_COUNTED	0.06	/* no occupancy is known */
#define DRAWN_COUNTED	0.2
#define SLOT_NS		1e6
#define NEW_SLOTS	(SLOWDOWN_WINDOW - SLOWDOWN_WINDOW / 10)

struct list {
	struct slowdown_part *parts;
	uint32_t nr, room;
};

struct wholes {
	struct slowdown_whole *all;
	uint32_t nr;
};

/* An owner of the domain */
struct member {
	const struct slowdown_owner *owner;
	struct slowdown_whole *whole;
	double weight;		/* the part of its time that it spends here */
	double cycles, misses, kib;
	double moves;		/* its misses, those that are more than before many times */
	double active;		/* the share of slots in which it runs */
	double beside;		/* misses of the domain in a slot in which it runs */
	struct slowdown_guess cost;
	struct slowdown_state states[SLOWDOWN_PHASES];
};

/* What all owners of the domain hold in the slots of a phase, KiB, where others press less */
struct phase {
	double held[SLOWDOWN_PRESSURES];
};

struct domain {
	struct member *members;
	uint32_t nr;
	double misses, kib, moves;
	struct phase phases[SLOWDOWN_PHASES];
	double rise;		/* of the cost of a miss, by each miss of the domain */
	double rise_most;	/* of the misses of one owner */
	bool holds;		/* occupancy is known */
	const struct wholes *wholes;
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

/* What all hold at pressure number @i, but @without */
static double all_hold(const struct phase *phase, const struct slowdown_state *without, uint32_t i)
{
	return phase->held[i] - without->kib * without->times[i];
}

/* The pressure at which all others fill the cache without @suspect: a number and a part */
static double pressure_without(const struct phase *phase, const struct slowdown_state *suspect)
{
	double before = all_hold(phase, suspect, 0), now;

	for (uint32_t i = 1; i < SLOWDOWN_PRESSURES; i++) {
		now = all_hold(phase, suspect, i);
		if (now > phase->held[0])
			return i - 1 + (phase->held[0] - before) / (now - before);
		before = now;
	}
	return SLOWDOWN_PRESSURES - 1;
}

/* Misses that @victim would be spared at @pressure */
static double spared_in(const struct slowdown_state *victim, double pressure)
{
	uint32_t i = (uint32_t)pressure;
	double times = victim->times[i];

	if (victim->kib <= 0)
		return 0;
	if (i < SLOWDOWN_PRESSURES - 1)
		times += (victim->times[i + 1] - times) * (pressure - i);
	return victim->references * (slowdown_hits(&victim->need, times) - victim->need.hits);
}

/* The same in all phases, by the pressure in each */
static double spared(const struct member *victim, const double pressure[SLOWDOWN_PHASES])
{
	double misses = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		misses += spared_in(&victim->states[p], pressure[p]);
	return misses;
}

/*
 * Where few lines are missing, each of several suspects may hold enough for all of them: of
 * these, the one that moves most is first, and above all what it moves more than before.
 */
static double likely(const struct domain *domain, const struct member *suspect)
{
	return 1 - EQUALS * (1 - suspect->moves / domain->moves);
}

/*
 * What comes and goes: in between, the others fill a part of what it leaves, and have that
 * already.  How much they hold is seen, and without occupancies is not.
 */
static double gives_back(const struct domain *domain, const struct member *suspect)
{
	return domain->holds ? 1 - FILLED_MEANWHILE * (1 - suspect->active) : 1;
}

/* The same as spared(), if @victim hits nothing and may be a loop: by who has the cache */
static double spared_if_loop(const struct domain *domain, const struct member *victim,
			     const struct member *suspect)
{
	double part = suspect->misses / domain->misses;

	if (!slowdown_hits_nothing(victim->owner))
		return 0;
	if (domain->kib > 0)
		part = suspect->kib / domain->kib;
	return LOOP_LIKELY * victim->misses * part;
}

/* The part of the cost of a miss of @victim that goes without so many @misses of others */
static double cheaper(const struct domain *domain, const struct member *victim, double misses)
{
	double rises = least(domain->rise * victim->beside / RISE_POWER, RISE_MOST);
	double left = 1 - misses / domain->misses;

	return rises * (1 - left * left * left);
}

/*
 * Bounds that had the truth in nine of ten cases of the simulation, then all as a part of what
 * the victim does anywhere.
 */
static void set_bounds(struct slowdown_part *part, bool holds, double weight)
{
	part->low = weight * part->share * (holds ? 0.4 : 0.3);
	part->high = weight * least(part->share * (holds ? 2.2 : 2.6) + 0.01, 1);
	part->share *= weight;
}

/* What the victim would gain in a cache of its own */
static double spared_at_most(const struct member *victim)
{
	double misses = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		const struct slowdown_state *state = &victim->states[p];

		misses += state->references * (state->need.most - state->need.hits);
	}
	return misses;
}

static double most_of(const struct domain *domain, const struct member *victim,
		      enum slowdown_resource resource)
{
	double misses = 0;

	if (domain->misses > 0 && resource == SLOWDOWN_CACHE)
		misses = spared_at_most(victim);
	else if (domain->misses > 0)
		misses = victim->misses *
			 cheaper(domain, victim, domain->misses - victim->misses);
	return least(misses * victim->cost.value / victim->cycles +
		     victim->owner->outside[resource], SHARE_MOST);
}

static void add_most(const struct domain *domain)
{
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		for (uint32_t r = 0; r < SLOWDOWN_RESOURCES && victim->cycles > 0; r++)
			victim->whole->most[r] += victim->weight * most_of(domain, victim, r);
	}
}

/* @share by e to the @by times the logarithm of @usual / @share */
static double drawn_to(double usual, double by, double share)
{
	if (share < usual)
		return share / slowdown_kept(by * slowdown_logarithm(usual / share));
	return share * slowdown_kept(by * slowdown_logarithm(share / usual));
}

static double drawn(const struct domain *domain, double share)
{
	if (share < SHARE_LEAST)
		return share;
	if (!domain->holds)
		return drawn_to(USUAL_COUNTED, DRAWN_COUNTED, share);
	return share < USUAL_HOLDS ? drawn_to(USUAL_HOLDS, DRAWN_HOLDS, share) : share;
}

static void tell(const struct domain *domain, const struct member *victim, uint64_t by,
		 enum slowdown_resource resource, double share)
{
	struct slowdown_part part = {
		.id = victim->owner->id, .by = by,
		.domain = victim->owner->domain, .resource = resource,
		.share = least(share, SHARE_MOST),
		.cpus = victim->whole->timed ? victim->whole->ran_ns / SLOT_NS : -1,
	};

	set_bounds(&part, domain->holds, victim->weight);
	if (part.share >= SHARE_LEAST)
		add_part(domain->list, &part);
}

/* Too few of its slots count. */
static bool is_new(const struct slowdown_owner *owner)
{
	return owner->seen < owner->settled + NEW_SLOTS;
}

static void victims_of(const struct domain *domain, const struct member *suspect)
{
	double pressure[SLOWDOWN_PHASES], cost;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		pressure[p] = pressure_without(&domain->phases[p], &suspect->states[p]);
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		if (victim == suspect || victim->owner->suspect_only ||
		    !slowdown_is_enough(victim->cycles) || is_new(victim->owner))
			continue;
		cost = victim->cost.value / victim->cycles;
		tell(domain, victim, suspect->owner->id, SLOWDOWN_CACHE,
		     drawn(domain, cost * spared(victim, pressure) * likely(domain, suspect) *
				   gives_back(domain, suspect)) +
			     cost * spared_if_loop(domain, victim, suspect));
		tell(domain, victim, suspect->owner->id, SLOWDOWN_MEMORY,
		     drawn(domain, cost * victim->misses *
				   cheaper(domain, victim, suspect->misses)));
	}
}

static void victims_of_outside(const struct domain *domain)
{
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		if (!slowdown_is_enough(victim->cycles))
			continue;
		for (uint32_t r = 0; r < SLOWDOWN_RESOURCES; r++)
			if (victim->owner->outside[r] > 0)
				tell(domain, victim, SLOWDOWN_OUTSIDE, r,
				     victim->owner->outside[r]);
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

static void add_held(struct phase *phase, const struct slowdown_state *state)
{
	for (uint32_t i = 0; i < SLOWDOWN_PRESSURES; i++)
		phase->held[i] += state->kib * state->times[i];
}

static enum slowdown_holds known_by(const struct domain *domain,
				    const struct slowdown_owner *owner)
{
	if (domain->holds)
		return SLOWDOWN_HOLDS_READ;
	return domain->rise_most >= RISES && owner->rise > 0 && owner->rise < RISES ?
		       SLOWDOWN_HOLDS_MISSED : SLOWDOWN_HOLDS_MOVED;
}

static double moves(const struct slowdown_owner *owner, double misses)
{
	double before = owner->before.misses;

	if (owner->before.looks < SLOWDOWN_LOOKS_LEAST || misses <= before)
		return misses;
	return misses + MORE_COUNTS * (misses - before);
}

static void add_member(const struct slowdown *slowdown, struct domain *domain,
		       const struct slowdown_owner *owner)
{
	struct member *member = &domain->members[domain->nr++];
	double scale = slowdown_scale(slowdown, owner);
	double misses = owner->mean.misses * scale;

	*member = (struct member){
		.owner = owner,
		.whole = slowdown_whole_of(domain->wholes->all, domain->wholes->nr, owner->id),
		.cycles = owner->mean.cycles * scale,
		.misses = misses, .moves = moves(owner, misses),
		.kib = owner->mean.occupancy_kib,
		.active = least(owner->active * scale, 1),
		.cost = slowdown_cost(owner),
		.beside = owner->moments.n > 0 ? owner->moments.t / owner->moments.n : 0,
	};
	if (member->cycles > 0)
		member->weight = member->cycles / member->whole->cycles;
	slowdown_states(slowdown, owner, known_by(domain, owner), member->cost.value,
			member->states);
	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		add_held(&domain->phases[p], &member->states[p]);
	domain->misses += misses;
	domain->moves += member->moves;
	domain->kib += member->kib;
}

static bool is_of(const struct slowdown_owner *owner, uint32_t domain)
{
	return owner->used && owner->domain == domain;
}

/* What is of all owners, and needed to add one */
static void look_at_owners(const struct slowdown *slowdown, uint32_t number, struct domain *domain)
{
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (!is_of(owner, number))
			continue;
		domain->holds |= owner->holds;
		if (owner->rise > domain->rise_most)
			domain->rise_most = owner->rise;
	}
}

static void add_members(const struct slowdown *slowdown, uint32_t number, struct domain *domain)
{
	double sum = 0, weights = 0;

	look_at_owners(slowdown, number, domain);
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (!is_of(owner, number))
			continue;
		add_member(slowdown, domain, owner);
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
	add_most(domain);
	for (uint32_t i = 0; i < domain->nr && domain->misses > 0; i++)
		if (may_be_suspect(domain, &domain->members[i]))
			victims_of(domain, &domain->members[i]);
	victims_of_outside(domain);
}

static uint64_t domains_of(const struct slowdown *slowdown)
{
	uint64_t domains = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used)
			domains |= 1ULL << slowdown->owners[i].domain;
	return domains;
}

static void set_most(const struct list *list, const struct wholes *wholes)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		struct slowdown_part *part = &list->parts[i];

		part->most = slowdown_whole_of(wholes->all, wholes->nr,
					       part->id)->most[part->resource];
		if (part->most < part->share)
			part->most = part->share;
	}
}

static void all_parts(const struct slowdown *slowdown, struct member *members,
		      const struct wholes *wholes, struct list *list)
{
	uint64_t domains = domains_of(slowdown);

	for (uint32_t d = 0; d < CMT_DOMAINS_MAX; d++) {
		struct domain domain = { .members = members, .wholes = wholes, .list = list };

		if (domains >> d & 1)
			parts_of(slowdown, d, &domain);
	}
	set_most(list, wholes);
}

int slowdown_parts(const struct slowdown *slowdown, struct slowdown_part *parts, uint32_t n)
{
	struct list list = { .parts = parts, .room = n };
	struct wholes wholes = { 0 };
	struct member *members;

	if (!slowdown->nr || slowdown->slot == slowdown->begin)
		return 0;
	members = malloc(slowdown->nr * sizeof(*members));
	wholes.all = malloc(slowdown->nr * sizeof(*wholes.all));
	if (members && wholes.all) {
		wholes.nr = slowdown_wholes(slowdown, wholes.all);
		all_parts(slowdown, members, &wholes, &list);
	}
	free(members);
	free(wholes.all);
	return members && wholes.all ? (int)list.nr : -ENOMEM;
}
