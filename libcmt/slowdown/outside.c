// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slowdown by something outside this machine, such as another guest of the hypervisor.  It is
 * reported where all owners of a domain that miss lose time to more misses, or to slower ones,
 * while each makes as many references as before, and none moves or holds more.  Only a change
 * can be seen.
 */
#include "slowdown.h"

#include <string.h>

#include "base/base.h"

#define COMPARE_SLOTS	250	/* slots from one comparison to the next */
#define PAST_LEAST	12	/* comparisons before an owner counts as known */
/* The past is a mean over so many comparisons: 20 s, */
#define PAST_WEIGHT	80
/* 10 minutes while a slowdown from outside is reported, which else would soon be the past */
#define PAST_WEIGHT_OUTSIDE	2400

/* A witness, an owner that can show a slowdown from outside, has all of these: */
#define CYCLES_LEAST	200000.0	/* cycles a slot */
#define HITS_LEAST	0.1	/* share of hits before */
#define IN_MISSES	0.05	/* share of its time in misses */

/* A slowdown from outside is reported only where all of these hold: */
#define WITNESSES_LEAST	2	/* witnesses of the domain */
#define LOST_LEAST	0.01	/* share of its time that each witness lost */
#define LOST_MOST	0.03	/* share that the witness that lost most lost */
#define DEMAND_CHANGED	0.1	/* references per instruction changed by less in each witness */
#define MOVES_MORE	0.05	/* additional misses by accesses are no larger part of all; lost_cache() */
#define GAINED		0.03	/* no owner gained a larger part of the cache that all hold */
#define STANDS_OUT	0.6	/* no owner has a larger part of the additional misses */

/* The change of all owners of a domain together, from before to now */
struct domain_change {
	double misses;		/* before */
	double kib, kib_before;	/* what all hold */
	double more;		/* misses that each owner has more than before */
	double most_more;	/* the greatest of those of one owner */
	double asked;		/* additional misses that more accesses explain; asked() */
	double gained;		/* the greatest gain of one owner, KiB */
	double lost;		/* the greatest share of its time that one witness lost */
	uint32_t witnesses;
	uint32_t slower;	/* witnesses that lost LOST_LEAST in the same phase of their work */
	bool holds;		/* occupancies are known */
};

/* The mean CPU time in slots with counters; negative: not known */
static double ran_counted(const struct slowdown_owner *owner)
{
	double ran_ns = slowdown_ran_ns(owner);

	if (ran_ns <= 0 || owner->uncounted <= 0)
		return ran_ns;
	return ran_ns * (1 - owner->uncounted / owner->active);
}

/* The means of the owner up to now */
static struct slowdown_before now_of(const struct slowdown *slowdown,
				     const struct slowdown_owner *owner)
{
	double weights = 1 - slowdown_kept((double)(slowdown->slot - slowdown->begin) /
					   SLOWDOWN_WINDOW);
	double scale = slowdown_kept((double)(slowdown->slot - owner->slot) /
				     SLOWDOWN_WINDOW) / weights;
	double references = slowdown_references_scale(owner);

	return (struct slowdown_before){
		.cycles = owner->mean.cycles * scale,
		.instructions = owner->mean.instructions * scale,
		.misses = owner->mean.misses * scale,
		.references = references > 0 ? owner->mean.references * references * scale : -1,
		.ran_ns = ran_counted(owner) * scale,
		.occupancy_kib = owner->mean.occupancy_kib,
	};
}

static bool runs(const struct slowdown_before *before)
{
	return before->cycles >= CYCLES_LEAST && before->instructions > 0 &&
	       before->references > 0;
}

/*
 * Can the owner show a slowdown from outside?  An owner that only streams cannot: it has no
 * cache to lose.
 */
static bool is_witness(const struct slowdown_owner *owner, const struct slowdown_before *now)
{
	return !owner->suspect_only && runs(now) && runs(&owner->before) &&
	       owner->before.misses < (1 - HITS_LEAST) * owner->before.references &&
	       now->misses * slowdown_cost(owner).value >= IN_MISSES * now->cycles;
}

/*
 * The share of its time that the owner lost since before: in cycles and, where it is known, in
 * CPU time, the smaller one.  At a higher frequency, a miss takes more cycles; at a lower one,
 * all takes more time; and nothing outside did either.
 */
static double lost(const struct slowdown_before *before, const struct slowdown_before *now)
{
	double cycles = 1 - before->cycles / before->instructions /
			    (now->cycles / now->instructions);
	double time;

	if (before->ran_ns <= 0 || now->ran_ns <= 0)
		return cycles;
	time = 1 - before->ran_ns / before->instructions / (now->ran_ns / now->instructions);
	return slowdown_least(cycles, time);
}

/* Does the owner make as many references per instruction as before? */
static bool same_phase(const struct slowdown_before *before, const struct slowdown_before *now)
{
	double was = before->references / before->instructions;
	double is = now->references / now->instructions;

	return is > was * (1 - DEMAND_CHANGED) && is < was * (1 + DEMAND_CHANGED);
}

/* As slowdown_owner.rise */
static double rise(const struct slowdown_before *before, const struct slowdown_before *now)
{
	if (before->nr < SLOWDOWN_PAST_LEAST || before->misses <= 0 || !runs(before) ||
	    !runs(now) || !same_phase(before, now))
		return 0;
	return now->misses / now->references / (before->misses / before->references);
}

/*
 * The additional misses of an owner that additional accesses explain; all misses of an owner that
 * is new
 */
static double asked(const struct slowdown_before *before, const struct slowdown_before *now)
{
	if (before->nr < PAST_LEAST || before->references <= 0)
		return now->misses;
	return (now->references / before->references - 1) * before->misses;
}

static void add_owner(struct domain_change *change, const struct slowdown_owner *owner,
		      const struct slowdown_before *now)
{
	const struct slowdown_before *before = &owner->before;
	double more = now->misses - before->misses, gained;

	change->misses += before->misses;
	change->kib += now->occupancy_kib;
	change->kib_before += before->occupancy_kib;
	change->holds |= owner->holds;
	change->more += slowdown_larger(more, 0);
	change->most_more = slowdown_larger(change->most_more, more);
	change->asked += slowdown_larger(asked(before, now), 0);
	gained = now->occupancy_kib - before->occupancy_kib;
	change->gained = slowdown_larger(change->gained, gained);
	if (!is_witness(owner, now))
		return;
	change->witnesses++;
	change->lost = slowdown_larger(change->lost, lost(before, now));
	change->slower += same_phase(before, now) && lost(before, now) >= LOST_LEAST;
}

/*
 * Is the domain without additional misses, or did its owners lose cache to something outside?
 * Without occupancies: one owner whose working set grows has most of the additional misses.
 */
static bool lost_cache(const struct domain_change *change)
{
	if (change->more <= MOVES_MORE * change->misses)
		return true;
	return change->holds ? change->kib < change->kib_before * (1 - GAINED) :
			      change->most_more < STANDS_OUT * change->more;
}

static bool is_outside(const struct domain_change *change)
{
	return change->witnesses >= WITNESSES_LEAST &&
	       change->slower == change->witnesses && change->lost >= LOST_MOST &&
	       change->asked <= MOVES_MORE * change->misses &&
	       change->gained <= GAINED * change->kib_before && lost_cache(change);
}

static void set_outside(struct slowdown_owner *owner, const struct slowdown_before *now)
{
	const struct slowdown_before *before = &owner->before;
	double share = lost(before, now), cache;

	if (!is_witness(owner, now))
		return;
	cache = (now->misses - before->misses / before->instructions * now->instructions) *
		slowdown_cost(owner).value / now->cycles;
	cache = slowdown_larger(cache, 0);
	owner->outside[CMT_SLOWDOWN_CACHE] = cache < share ? cache : share;
	owner->outside[CMT_SLOWDOWN_MEMORY] = share - owner->outside[CMT_SLOWDOWN_CACHE];
}

/* Move @mean by @weight towards @value. */
static void mix(double *mean, double value, double weight)
{
	*mean += weight * (value - *mean);
}

/* What is not known is taken to be, in an instruction, as before. */
static void add_references(struct slowdown_before *before, const struct slowdown_before *now,
			   double instructions, double weight)
{
	if (now->references >= 0)
		mix(&before->references, now->references, weight);
	else if (instructions > 0)
		before->references *= before->instructions / instructions;
}

static void add_before(struct slowdown_before *before, const struct slowdown_before *now,
		       bool outside)
{
	double instructions = before->instructions, weight;

	before->nr += before->nr < PAST_WEIGHT;
	weight = 1.0 / (outside ? PAST_WEIGHT_OUTSIDE : before->nr);
	mix(&before->cycles, now->cycles, weight);
	mix(&before->instructions, now->instructions, weight);
	mix(&before->misses, now->misses, weight);
	add_references(before, now, instructions, weight);
	if (now->ran_ns >= 0)
		mix(&before->ran_ns, now->ran_ns, weight);
	mix(&before->occupancy_kib, now->occupancy_kib, weight);
}

static void compare_owner(struct slowdown *slowdown, struct slowdown_owner *owner,
			  const struct domain_change *change)
{
	struct slowdown_before now = now_of(slowdown, owner);
	bool outside = is_outside(change);

	owner->rise = rise(&owner->before, &now);
	memset(owner->outside, 0, sizeof(owner->outside));
	if (outside)
		set_outside(owner, &now);
	if (slowdown->slot >= owner->start_end + SLOWDOWN_WINDOW)
		add_before(&owner->before, &now, outside);
}

void slowdown_outside(struct slowdown *slowdown)
{
	struct domain_change changes[CMT_DOMAINS_MAX] = { 0 };

	if (slowdown->slot - slowdown->compared < COMPARE_SLOTS)
		return;
	slowdown->compared = slowdown->slot;
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		struct slowdown_before now = now_of(slowdown, owner);

		if (!owner->used)
			continue;
		add_owner(&changes[owner->domain], owner, &now);
	}
	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used)
			compare_owner(slowdown, &slowdown->owners[i],
				      &changes[slowdown->owners[i].domain]);
}
