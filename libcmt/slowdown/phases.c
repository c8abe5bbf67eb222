// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sums by phase.  A neighbour that comes and goes presses on the cache in some slots only, and
 * the mean of all slots does not show what an owner would gain without that neighbour.  So the
 * slots of a domain are divided into SLOWDOWN_PHASES by its misses.
 *
 * Sums are not scaled in each slot.  Instead, each slot has a greater weight than the one before;
 * at WEIGHT_MOST all sums are scaled, and the weight begins at 1 again.
 */
#include "slowdown.h"

#define WEIGHT_MOST	8.0
/* The hits of an owner in another phase are used if all of these hold: */
#define SEEN_REFERENCES	0.05	/* the phase has this part of its references */
#define SEEN_TIMES	1.1	/* it holds so many times as much in that phase */
#define SEEN_HITS	0.01	/* its share of hits is greater by this */
/* The greatest part of its misses in phases of which too few slots have references */
#define UNKNOWN_MOST	0.1

static void rescale(struct slowdown *slowdown, double factor)
{
	for (uint32_t d = 0; d < CMT_DOMAINS_MAX; d++)
		for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
			slowdown_fade(&slowdown->loads[d].slots[p], factor);
			slowdown_fade(&slowdown->loads[d].misses[p], factor);
		}
	for (uint32_t i = 0; i < slowdown->nr; i++)
		for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
			struct slowdown_phase *phase = &slowdown->owners[i].phases[p];

			slowdown_fade(&phase->cycles, factor);
			slowdown_fade(&phase->misses, factor);
			slowdown_fade(&phase->references, factor);
			slowdown_fade(&phase->unreferenced, factor);
			slowdown_fade(&phase->unknown, factor);
			slowdown_fade(&phase->held, factor);
			slowdown_fade(&phase->slots, factor);
		}
}

void slowdown_phases_begin(struct slowdown *slowdown, double kept)
{
	if (slowdown->weight <= WEIGHT_MOST * kept) {
		slowdown->weight /= kept;
		return;
	}
	rescale(slowdown, kept / slowdown->weight);
	slowdown->weight = 1;
}

uint32_t slowdown_phase_of(const struct slowdown_load *load, double misses)
{
	const double *s = load->slots, *m = load->misses;
	uint32_t half = misses * (s[0] + s[1] + s[2] + s[3]) > m[0] + m[1] + m[2] + m[3] ? 2 : 0;

	return half + (misses * (s[half] + s[half + 1]) > m[half] + m[half + 1]);
}

uint32_t slowdown_phases_slot(struct slowdown *slowdown, uint32_t domain, double misses)
{
	struct slowdown_load *load = &slowdown->loads[domain];
	uint32_t phase = slowdown_phase_of(load, misses);

	load->slots[phase] += slowdown->weight;
	load->misses[phase] += slowdown->weight * misses;
	return phase;
}

/* Add what the owner held when each slot began, up to now: also in slots without its values */
static void add_held(struct slowdown_owner *owner, const struct slowdown_load *load)
{
	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		struct slowdown_phase *phase = &owner->phases[p];

		phase->held += owner->occupancy_kib * (load->slots[p] - phase->slots);
		phase->slots = load->slots[p];
	}
}

void slowdown_phases_add(const struct slowdown *slowdown, struct slowdown_owner *owner,
			 uint32_t number)
{
	struct slowdown_phase *phase = &owner->phases[number];
	const struct slowdown_values *now = &owner->now;
	double w = slowdown->weight;

	add_held(owner, &slowdown->loads[owner->domain]);
	if (!now->counted)
		return;
	phase->cycles += w * now->cycles;
	phase->misses += w * now->misses;
	if (now->references >= 0) {
		phase->references += w * slowdown_references(now);
		return;
	}
	phase->unreferenced += w * now->misses;
	if (slowdown->slot >= owner->start_end)
		phase->unknown += w * now->misses;
}

/* Misses, those in slots of which references are known and all since start_end */
struct known {
	double known, all;
};

static struct known known_of(const struct slowdown_phase *phase)
{
	double known = phase->misses - phase->unreferenced;

	return (struct known){ known, known + phase->unknown };
}

static bool is_known(const struct known *misses)
{
	return misses->known >= SLOWDOWN_KNOWN_LEAST * misses->all;
}

static double scale_of(const struct known *misses)
{
	if (!is_known(misses))
		return 1 / SLOWDOWN_KNOWN_LEAST;
	return misses->known > 0 ? misses->all / misses->known : 1;
}

double slowdown_references_scale(const struct slowdown_owner *owner)
{
	struct known sum = { 0, 0 };
	double unknown = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		struct known misses = known_of(&owner->phases[p]);

		sum.known += misses.known;
		sum.all += misses.all;
		unknown += is_known(&misses) ? 0 : misses.all;
	}
	return unknown <= UNKNOWN_MOST * sum.all ? scale_of(&sum) : 0;
}

/*
 * What an owner holds, where no occupancy is known: the square root of misses times references.
 * Lines of all owners stay for the same time, and lines that hit for longer.  Only the ratios
 * among owners have a meaning.
 */
static double held_unknown(double misses, double references)
{
	return misses > 0 && references > misses ?
		       references * slowdown_kept(slowdown_logarithm(references / misses) / 2) :
		       misses;
}

/* Add the hits of the phase with the greatest share of hits, of those in which it holds more. */
static void add_seen(const struct slowdown_state *states, double references,
		struct slowdown_state *state)
{
	const struct slowdown_state *best = NULL;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		const struct slowdown_state *other = &states[p];

		if (other->references >= SEEN_REFERENCES * references &&
		    other->kib > SEEN_TIMES * state->kib &&
		    other->need.hits >= state->need.hits + SEEN_HITS &&
		    (!best || other->need.hits > best->need.hits))
			best = other;
	}
	if (best && state->kib > 0)
		slowdown_need_see(&state->need, best->need.hits, best->kib / state->kib);
}

static struct slowdown_state state_of(const struct slowdown_owner *owner, uint32_t number,
				      double cost, double steep, double scale)
{
	const struct slowdown_phase *phase = &owner->phases[number];
	struct known misses = known_of(phase);

	return (struct slowdown_state){
		.misses = phase->misses * scale,
		.references = phase->references * scale_of(&misses) * scale,
		.need = slowdown_need(misses.known, phase->references,
				      phase->cycles > 0 ? phase->misses * cost / phase->cycles : 0,
				      steep),
	};
}

/*
 * What the owner held is the mean over the slots of the phase up to its last values: no event
 * says when an owner ended, so later slots must not count.
 */
void slowdown_states(const struct slowdown *slowdown, const struct slowdown_owner *owner,
		     enum slowdown_holds holds, double cost,
		     struct slowdown_state states[SLOWDOWN_PHASES])
{
	const struct slowdown_load *load = &slowdown->loads[owner->domain];
	double all = (double)(slowdown->slot - slowdown->begin) / SLOWDOWN_WINDOW;
	double scale = 1 / (slowdown->weight * SLOWDOWN_WINDOW * (1 - slowdown_kept(all)));
	double steep = slowdown_steep(owner), references = 0;

	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		states[p] = state_of(owner, p, cost, steep, scale);
		references += states[p].references;
		if (holds == SLOWDOWN_HOLDS_MISSED)
			states[p].kib = states[p].misses;
		else if (holds == SLOWDOWN_HOLDS_MOVED)
			states[p].kib = held_unknown(states[p].misses, states[p].references);
		else if (load->slots[p] > 0)
			states[p].kib = owner->phases[p].held / load->slots[p];
	}
	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		add_seen(states, references, &states[p]);
		slowdown_times(&states[p].need, states[p].times);
	}
}
