// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The slowdown of each owner by each neighbour.  By cache: without the neighbour, the other
 * owners share its cache and hit more; the slowdown is the misses that this saves, times the cost
 * of a miss.  By memory: without the misses of the neighbour, a miss of the owner costs less.
 */
#include "slowdown.h"

#include <errno.h>
#include <stdlib.h>

#define SUSPECT_LEAST	0.01	/* of the misses, or of the cache, of its domain */
#define SHARE_MOST	0.95
#define SHARE_LEAST	0.001	/* smaller shares are not reported */
/*
 * A part of the cost of a miss, RISE_MOST at most, rises with the misses of the domain, to this
 * power.
 */
#define RISE_POWER	3
#define RISE_MOST	0.4
#define EQUALS	0.05	/* neighbours whose shares differ by less are ordered by their misses */
#define MORE_COUNTS	10	/* in that order, a miss more than before counts so many times */
/*
 * If some owner misses so many times as often per reference as before, pressure on the cache
 * rose.  An owner that does not miss more often then has all lines that it hits in the cache: it
 * does not use again what it misses.
 */
#define RISES	1.15
/* The likelihood that an owner without hits is a loop, and no stream */
#define LOOP_LIKELY	0.015
/* The part of the cache of a neighbour that hardly ever runs which others fill in between */
#define FILLED_MEANWHILE	0.35
/*
 * An estimated share is moved towards a usual share, by a part of the logarithm of their ratio:
 * small estimates are mostly too small and, without occupancies, large ones too large.
 */
#define USUAL_HOLDS	0.1
#define DRAWN_HOLDS	0.1
#define USUAL_COUNTED	0.06	/* no occupancy is known */
#define DRAWN_COUNTED	0.2
#define SLOT_NS		1e6
/* Slots without values after which an owner is no longer idle, but gone: idle ones are read */
#define GONE_SLOTS	250
/* Slots after its start without an estimate of an owner as a victim */
#define NEW_SLOTS	(SLOWDOWN_WINDOW - SLOWDOWN_WINDOW / 10)

struct totals {
	struct slowdown_total *all;
	uint32_t nr;
};

/* An owner of the domain */
struct member {
	const struct slowdown_owner *owner;
	struct slowdown_total *total;
	double weight;		/* the share of its cycles that it has in this domain */
	double cycles, misses;	/* means per slot */
	double kib;		/* mean occupancy */
	double moves;		/* misses; those above before count MORE_COUNTS times */
	double active;		/* share of slots in which it runs */
	bool referenced;	/* slowdown by cache is known */
	double beside;		/* misses of the domain in a slot in which it runs */
	struct slowdown_guess cost;	/* of a miss, cycles */
	struct slowdown_state states[SLOWDOWN_PHASES];
};

/* What all owners of the domain together hold in the slots of a phase, at each pressure */
struct phase {
	double held[SLOWDOWN_PRESSURES];	/* sums of slowdown_state.kib * times */
};

struct domain {
	struct member *members;
	uint32_t nr;
	double misses, kib, moves;	/* sums over the members */
	struct phase phases[SLOWDOWN_PHASES];
	double rise;		/* slowdown_rise(), weighted mean over the members */
	double rise_most;	/* the greatest slowdown_owner.rise */
	bool holds;		/* occupancies are known */
	const struct totals *totals;
	struct slowdown_list *list;
};

/* The greatest of a victim by a resource is kept in @total, until all are known. */
static void add_part(struct slowdown_list *list, struct slowdown_total *total,
		     struct slowdown_part *part)
{
	struct slowdown_part *first = &total->first[part->resource], less = *part;

	total->sum[part->resource] += part->share;
	if (part->share > first->share) {
		less = *first;
		*first = *part;
		first->first = true;
	}
	less.first = false;
	if (less.share >= SHARE_LEAST)
		slowdown_list_add(list, &less);
}

/* What all owners but @without hold at pressure number @i */
static double all_hold(const struct phase *phase, const struct slowdown_state *without, uint32_t i)
{
	return phase->held[i] - without->kib * without->times[i];
}

/*
 * The number of the pressure, with a fraction, at which the other owners hold as much as all do
 * now, and so fill the cache without @suspect
 */
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

/* The misses of a phase that the victim would not have at @pressure */
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

/* The sum over all phases, with the pressure of each */
static double spared(const struct member *victim, const double pressure[SLOWDOWN_PHASES])
{
	double misses = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		misses += spared_in(&victim->states[p], pressure[p]);
	return misses;
}

/*
 * A factor that orders suspects whose shares are nearly equal.  Where the victim lacks few lines,
 * each of several suspects may hold enough for all of them.  Of these, the one that misses most
 * is first; misses above those before count more.
 */
static double likely(const struct domain *domain, const struct member *suspect)
{
	return 1 - EQUALS * (1 - suspect->moves / domain->moves);
}

/*
 * The part of its cache that a suspect would give back.  Between the times in which it runs, the
 * others fill some of its cache, and hold that already.  Without occupancies this is not known.
 */
static double gives_back(const struct domain *domain, const struct member *suspect)
{
	return domain->holds ? 1 - FILLED_MEANWHILE * (1 - suspect->active) : 1;
}

/*
 * As spared(), for a victim without hits, which may be a loop: in proportion to the cache that
 * the suspect holds or, without occupancies, to its misses
 */
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

/* The part of the cost of a miss of @victim that it would not have without @misses of others */
static double cheaper(const struct domain *domain, const struct member *victim, double misses)
{
	double rises = slowdown_least(domain->rise * victim->beside / RISE_POWER, RISE_MOST);
	double left = 1 - misses / domain->misses;

	return rises * (1 - left * left * left);
}

/*
 * Set bounds, between which the truth was in nine of ten cases of the simulation.  Then scale
 * share and bounds from the time of the victim in this domain to all its time.
 */
static void set_bounds(struct slowdown_part *part, bool holds, double weight)
{
	part->low = weight * part->share * (holds ? 0.4 : 0.3);
	part->high = weight * slowdown_least(part->share * (holds ? 2.2 : 2.6) + 0.01, 1);
	part->share *= weight;
}

/* The misses that the victim would not have in a cache of its own */
static double spared_at_most(const struct member *victim)
{
	double misses = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		const struct slowdown_state *state = &victim->states[p];

		misses += state->references * (state->need.most - state->need.hits);
	}
	return misses;
}

static double limit_of(const struct domain *domain, const struct member *victim,
		       enum cmt_slowdown_resource resource)
{
	double misses = 0;

	if (domain->misses > 0 && resource == CMT_SLOWDOWN_CACHE)
		misses = spared_at_most(victim);
	else if (domain->misses > 0)
		misses = victim->misses *
			 cheaper(domain, victim, domain->misses - victim->misses);
	return slowdown_least(misses * victim->cost.value / victim->cycles +
			      victim->owner->outside[resource], SHARE_MOST);
}

/* The share of its time in the domain that the misses of @victim take */
static double miss_time(const struct member *victim)
{
	return slowdown_least(victim->misses * victim->cost.value / victim->cycles, SHARE_MOST);
}

static void add_limits(const struct domain *domain)
{
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		if (victim->cycles <= 0)
			continue;
		victim->total->misses += victim->weight * miss_time(victim);
		for (uint32_t r = CMT_SLOWDOWN_CACHE; r < SLOWDOWN_RESOURCES; r++)
			victim->total->limit[r] += victim->weight * limit_of(domain, victim, r);
	}
}

/* @share * (@usual / @share)^@by */
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

/* @shares: of the time of the victim in this domain, by resource */
static void add_shares(const struct domain *domain, const struct member *victim, uint64_t by,
		       const double shares[SLOWDOWN_RESOURCES])
{
	struct slowdown_total *total = victim->total;
	double both = 0;

	for (uint32_t r = CMT_SLOWDOWN_CACHE; r < SLOWDOWN_RESOURCES; r++) {
		struct slowdown_part part = {
			.id = victim->owner->id, .by = by,
			.domain = victim->owner->domain, .resource = r,
			.share = slowdown_least(shares[r], SHARE_MOST),
			.cpus = total->timed ? total->ran_ns / SLOT_NS : -1,
		};

		set_bounds(&part, domain->holds, victim->weight);
		add_part(domain->list, total, &part);
		both += part.share;
	}
	total->worst = slowdown_larger(total->worst, both);
}

/* Did the owner start so lately that too few of its slots count? */
static bool is_new(const struct slowdown_owner *owner)
{
	return owner->seen < owner->start_end + NEW_SLOTS;
}

/* The share of its time in the domain that @victim would not need with the cache of @suspect */
static double by_cache(const struct domain *domain, const struct member *victim,
		       const struct member *suspect, const double pressure[SLOWDOWN_PHASES])
{
	double cost = victim->cost.value / victim->cycles;

	if (!victim->referenced)
		return 0;
	return drawn(domain, cost * spared(victim, pressure) * likely(domain, suspect) *
			     gives_back(domain, suspect)) +
	       cost * spared_if_loop(domain, victim, suspect);
}

/* What a miss costs by memory is saved only of the misses that the cache does not spare. */
static void add_victim(const struct domain *domain, const struct member *victim,
		       const struct member *suspect, const double pressure[SLOWDOWN_PHASES])
{
	double cost = victim->cost.value / victim->cycles, time = miss_time(victim);
	double cache = by_cache(domain, victim, suspect, pressure);
	double memory = drawn(domain, cost * victim->misses *
				      cheaper(domain, victim, suspect->misses));
	const double shares[SLOWDOWN_RESOURCES] = {
		[CMT_SLOWDOWN_CACHE] = cache,
		[CMT_SLOWDOWN_MEMORY] = cache < time ? memory * (1 - cache / time) : 0,
	};

	add_shares(domain, victim, suspect->owner->id, shares);
}

static void add_victims(const struct domain *domain, const struct member *suspect)
{
	double pressure[SLOWDOWN_PHASES];

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		pressure[p] = pressure_without(&domain->phases[p], &suspect->states[p]);
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		if (victim != suspect && !victim->owner->suspect_only &&
		    slowdown_is_enough(victim->cycles) && !is_new(victim->owner))
			add_victim(domain, victim, suspect, pressure);
	}
}

static void add_outside(const struct domain *domain)
{
	for (uint32_t i = 0; i < domain->nr; i++) {
		const struct member *victim = &domain->members[i];

		if (slowdown_is_enough(victim->cycles))
			add_shares(domain, victim, CMT_CULPRIT_OUTSIDE, victim->owner->outside);
	}
}

/*
 * The rise is a property of the memory.  Each owner is a measurement of it with its own variance,
 * so the weighted mean is used.
 */
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

/* As member.moves */
static double moves(const struct slowdown_owner *owner, double misses)
{
	double before = owner->before.misses;

	if (owner->before.nr < SLOWDOWN_PAST_LEAST || misses <= before)
		return misses;
	return misses + MORE_COUNTS * (misses - before);
}

/* Mean KiB; what an owner held that is gone fades as its counters do. */
static double held(const struct slowdown *slowdown, const struct slowdown_owner *owner)
{
	bool gone = slowdown->slot - owner->slot > GONE_SLOTS;

	return owner->mean.occupancy_kib * (gone ? slowdown_scale(slowdown, owner) : 1);
}

static void add_member(const struct slowdown *slowdown, struct domain *domain,
		       const struct slowdown_owner *owner)
{
	struct member *member = &domain->members[domain->nr++];
	double scale = slowdown_scale(slowdown, owner);
	double misses = owner->mean.misses * scale;

	*member = (struct member){
		.owner = owner,
		.total = slowdown_total_of(domain->totals->all, domain->totals->nr, owner->id),
		.cycles = owner->mean.cycles * scale,
		.misses = misses, .moves = moves(owner, misses),
		.kib = held(slowdown, owner),
		.active = slowdown_least(owner->active * scale, 1),
		.referenced = slowdown_references_scale(owner) > 0,
		.cost = slowdown_cost(owner),
		.beside = owner->moments.n > 0 ? owner->moments.t / owner->moments.n : 0,
	};
	if (member->cycles > 0)
		member->weight = member->cycles / member->total->cycles;
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

/* Set the values of @domain that add_member() needs of all owners. */
static void set_known(const struct slowdown *slowdown, uint32_t number, struct domain *domain)
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

	set_known(slowdown, number, domain);
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
	add_limits(domain);
	for (uint32_t i = 0; i < domain->nr && domain->misses > 0; i++)
		if (may_be_suspect(domain, &domain->members[i]))
			add_victims(domain, &domain->members[i]);
	add_outside(domain);
}

static uint64_t domains_of(const struct slowdown *slowdown)
{
	uint64_t domains = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used)
			domains |= 1ULL << slowdown->owners[i].domain;
	return domains;
}

/* Each part gets the most of the first one; of those, there is one for each part. */
static void add_firsts(const struct totals *totals, struct slowdown_list *list)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		struct slowdown_part *part = &list->parts[i];

		part->most = slowdown_total_of(totals->all, totals->nr,
					       part->id)->first[part->resource].most;
	}
	for (uint32_t i = 0; i < totals->nr; i++)
		for (uint32_t r = CMT_SLOWDOWN_CACHE; r < SLOWDOWN_RESOURCES; r++)
			if (totals->all[i].first[r].most >= SHARE_LEAST)
				slowdown_list_add(list, &totals->all[i].first[r]);
}

static void all_parts(const struct slowdown *slowdown, struct member *members,
		      const struct totals *totals, struct slowdown_list *list)
{
	uint64_t domains = domains_of(slowdown);

	for (uint32_t d = 0; d < CMT_DOMAINS_MAX; d++) {
		struct domain domain = { .members = members, .totals = totals, .list = list };

		if (domains >> d & 1)
			parts_of(slowdown, d, &domain);
	}
	for (uint32_t i = 0; i < totals->nr; i++)
		slowdown_total_limit(&totals->all[i]);
	add_firsts(totals, list);
	slowdown_list_sort(list);
}

int slowdown_parts(const struct slowdown *slowdown, struct slowdown_part *parts, uint32_t n)
{
	struct slowdown_list list = { .parts = parts, .room = n };
	struct totals totals = { 0 };
	struct member *members;

	if (!slowdown->nr || slowdown->slot == slowdown->begin)
		return 0;
	members = malloc(slowdown->nr * sizeof(*members));
	totals.all = malloc(slowdown->nr * sizeof(*totals.all));
	if (members && totals.all) {
		totals.nr = slowdown_totals(slowdown, totals.all);
		all_parts(slowdown, members, &totals, &list);
	}
	free(members);
	free(totals.all);
	return members && totals.all ? (int)list.nr : -ENOMEM;
}
