// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slower because of what is outside this machine, as a neighbour of the hypervisor's: all
 * owners of a domain that miss lose time to misses, or to longer ones, while they access the
 * cache as before, and none of them moves or holds more.  It is seen as a change only.
 */
#include "slowdown.h"

#include <string.h>

#include "base/base.h"

#define LOOK		250	/* slots from one look to the next */
#define LOOKS_LEAST	12	/* of a mean that tells */
#define LOOKS		80	/* the weight of the past, */
#define LOOKS_TOLD	2400	/* and while outside is told: that becomes the past, too */
#define CYCLES_LEAST	200000.0	/* a slot */
#define LOST_LEAST	0.01	/* by each */
#define LOST_MOST	0.03	/* by the one that loses most, at least */
#define IN_MISSES	0.05	/* of its time, of an owner that can tell */
#define HITS_LEAST	0.1
#define WITNESSES_LEAST	2
#define DEMAND_CHANGED	0.1	/* references of an instruction: another phase */
#define MOVES_MORE	0.05
#define GAINED		0.03	/* of the cache that all hold */
#define STANDS_OUT	0.6	/* of all misses more */

/* The owners of a domain together, and how many can tell */
struct whole {
	double misses, kib, kib_before;
	double more, most_more;		/* misses more than before, and those of one owner */
	double asked;			/* misses more by accesses more */
	double gained;			/* KiB more of one owner, the most */
	double lost;			/* by one owner, the most */
	uint32_t witnesses, slower;
	bool holds;
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* A mean is a sum that began with the owner. */
static struct slowdown_before now_of(const struct slowdown *slowdown,
				     const struct slowdown_owner *owner)
{
	double whole = 1 - slowdown_kept((double)(slowdown->slot - slowdown->begin) /
					 SLOWDOWN_WINDOW);
	double scale = slowdown_kept((double)(slowdown->slot - owner->slot) /
				     SLOWDOWN_WINDOW) / whole;

	return (struct slowdown_before){
		.cycles = owner->mean.cycles * scale,
		.instructions = owner->mean.instructions * scale,
		.misses = owner->mean.misses * scale,
		.references = owner->mean.references * scale,
		.occupancy_kib = owner->mean.occupancy_kib,
	};
}

static bool runs(const struct slowdown_before *before)
{
	return before->cycles >= CYCLES_LEAST && before->instructions > 0 &&
	       before->references > 0;
}

/* Can the owner be slowed down by what is outside?  One that only streams has no cache to lose. */
static bool is_witness(const struct slowdown_owner *owner, const struct slowdown_before *now)
{
	return !owner->suspect_only && runs(now) && runs(&owner->before) &&
	       owner->before.misses < (1 - HITS_LEAST) * owner->before.references &&
	       now->misses * slowdown_cost(owner).value >= IN_MISSES * now->cycles;
}

static double lost(const struct slowdown_before *before, const struct slowdown_before *now)
{
	return 1 - before->cycles / before->instructions / (now->cycles / now->instructions);
}

static bool same_phase(const struct slowdown_before *before, const struct slowdown_before *now)
{
	double was = before->references / before->instructions;
	double is = now->references / now->instructions;

	return is > was * (1 - DEMAND_CHANGED) && is < was * (1 + DEMAND_CHANGED);
}

static double rise(const struct slowdown_before *before, const struct slowdown_before *now)
{
	if (before->looks < SLOWDOWN_LOOKS_LEAST || before->misses <= 0 || !runs(before) ||
	    !runs(now) || !same_phase(before, now))
		return 0;
	return now->misses / now->references / (before->misses / before->references);
}

/* Misses more that come from accesses more, or from an owner that is new */
static double asked(const struct slowdown_before *before, const struct slowdown_before *now)
{
	if (before->looks < LOOKS_LEAST || before->references <= 0)
		return now->misses;
	return (now->references / before->references - 1) * before->misses;
}

static void add_owner(struct whole *whole, const struct slowdown_owner *owner,
		      const struct slowdown_before *now)
{
	const struct slowdown_before *before = &owner->before;
	double more = now->misses - before->misses, gained;

	whole->misses += before->misses;
	whole->kib += now->occupancy_kib;
	whole->kib_before += before->occupancy_kib;
	whole->holds |= owner->holds;
	whole->more += larger(more, 0);
	whole->most_more = larger(whole->most_more, more);
	whole->asked += larger(asked(before, now), 0);
	gained = now->occupancy_kib - before->occupancy_kib;
	whole->gained = larger(whole->gained, gained);
	if (!is_witness(owner, now))
		return;
	whole->witnesses++;
	whole->lost = larger(whole->lost, lost(before, now));
	whole->slower += same_phase(before, now) && lost(before, now) >= LOST_LEAST;
}

/* Misses more are nobody's doing inside only where nobody holds more, as far as is known. */
static bool cache_went(const struct whole *whole)
{
	if (whole->more <= MOVES_MORE * whole->misses)
		return true;
	return whole->holds ? whole->kib < whole->kib_before * (1 - GAINED) :
			      whole->most_more < STANDS_OUT * whole->more;
}

static bool is_outside(const struct whole *whole)
{
	return whole->witnesses >= WITNESSES_LEAST &&
	       whole->slower == whole->witnesses && whole->lost >= LOST_MOST &&
	       whole->asked <= MOVES_MORE * whole->misses &&
	       whole->gained <= GAINED * whole->kib_before && cache_went(whole);
}

static void set_outside(struct slowdown_owner *owner, const struct slowdown_before *now)
{
	const struct slowdown_before *before = &owner->before;
	double share = lost(before, now), cache;

	if (!is_witness(owner, now))
		return;
	cache = (now->misses - before->misses / before->instructions * now->instructions) *
		slowdown_cost(owner).value / now->cycles;
	cache = larger(cache, 0);
	owner->outside[SLOWDOWN_CACHE] = cache < share ? cache : share;
	owner->outside[SLOWDOWN_MEMORY] = share - owner->outside[SLOWDOWN_CACHE];
}

static void mix(double *mean, double value, double weight)
{
	*mean += weight * (value - *mean);
}

static void add_before(struct slowdown_before *before, const struct slowdown_before *now,
		       bool told)
{
	double weight;

	before->looks += before->looks < LOOKS;
	weight = 1.0 / (told ? LOOKS_TOLD : before->looks);
	mix(&before->cycles, now->cycles, weight);
	mix(&before->instructions, now->instructions, weight);
	mix(&before->misses, now->misses, weight);
	mix(&before->references, now->references, weight);
	mix(&before->occupancy_kib, now->occupancy_kib, weight);
}

static void look_at(struct slowdown *slowdown, struct slowdown_owner *owner,
		    const struct whole *whole)
{
	struct slowdown_before now = now_of(slowdown, owner);
	bool outside = is_outside(whole);

	owner->rise = rise(&owner->before, &now);
	memset(owner->outside, 0, sizeof(owner->outside));
	if (outside)
		set_outside(owner, &now);
	if (slowdown->slot >= owner->settled + SLOWDOWN_WINDOW)
		add_before(&owner->before, &now, outside);
}

void slowdown_outside(struct slowdown *slowdown)
{
	struct whole wholes[CMT_DOMAINS_MAX] = { 0 };

	if (slowdown->slot - slowdown->looked < LOOK)
		return;
	slowdown->looked = slowdown->slot;
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		struct slowdown_before now = now_of(slowdown, owner);

		if (!owner->used)
			continue;
		add_owner(&wholes[owner->domain], owner, &now);
	}
	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used)
			look_at(slowdown, &slowdown->owners[i],
				&wholes[slowdown->owners[i].domain]);
}
