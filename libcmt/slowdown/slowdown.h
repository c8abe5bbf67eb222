/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much slower an owner is because of each of its neighbours, estimated from means over
 * about a second; no change of an owner is needed.  docs/slowdown.md has the method and its
 * figures.
 *
 *	sums.c		owners, the values of each slot, and the means of each owner
 *	moments.c	the cost of a miss, from how the slots of an owner differ
 *	hits.c		how the hits of an owner grow with the cache that it holds
 *	phases.c	the slots of a domain by the misses in them, and sums by phase
 *	outside.c	slowdown by something outside this machine
 *	little.c	owners that ran too little for an estimate
 *	totals.c	an owner in all domains together, and what all others cost it
 *	list.c		the greatest parts
 *	parts.c		the slowdown of each owner by each neighbour, from all of these
 *
 * A mean is one per slot.  The weight of a slot is e^-1 after SLOWDOWN_WINDOW slots.
 */
#ifndef LIBCMT_SLOWDOWN_SLOWDOWN_H
#define LIBCMT_SLOWDOWN_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include <cmt/culprit.h>

#include "base/base.h"

#define SLOWDOWN_WINDOW	1000	/* slots */
/*
 * A smaller mean of counts is set to 0, some 8 minutes after the last count: denormal numbers
 * are slow to compute with, and never become 0 by themselves.
 */
#define SLOWDOWN_FADED	1e-200
/*
 * A victim with fewer cycles in the window has no estimate: 1 to 2 % of a CPU.  The mean of an
 * owner that runs for 10 ms of each second is below, also just after those 10 ms.
 */
#define SLOWDOWN_CYCLES_LEAST	50e6
/* A value that is known in a smaller part of the slots is not known. */
#define SLOWDOWN_KNOWN_LEAST	0.4

/* The values of one owner in one L3 domain in one slot */
struct slowdown_values {
	double occupancy_kib;	/* negative: not known, or unchanged */
	double cycles, instructions, misses;	/* valid if counted */
	double references;	/* negative: not known */
	double ran_ns;		/* CPU time; negative: not known */
	bool counted;		/* cycles, instructions and misses are known */
};

/*
 * Means of products over the slots in which the owner ran enough (moments.c).  In each slot x
 * is misses per instruction, y cycles per instruction and t the misses of the domain.  n is the
 * share of such slots.
 */
struct slowdown_moments {
	double n, x, y, t, xx, xy, yy, xt, xxt, xxtt, xty;
};

/*
 * Means of products of o, the KiB that the owner held (0: not known), and h, its hits in the
 * slot.  o and oo are weighted by the references of the slot, hh by their inverse.
 */
struct slowdown_curve {
	double o, oo, ho, hh;
};

/*
 * The slots of a domain are of four phases, by the misses of all its owners in the slot.  Phases
 * 0 and 1 have the slots below the mean of all slots, 2 and 3 those above.  Of each pair, the
 * second one has the slots above the mean of the pair.
 */
#define SLOWDOWN_PHASES	4

/* Sums over the slots of each phase of a domain, each slot with its weight */
struct slowdown_load {
	double slots[SLOWDOWN_PHASES], misses[SLOWDOWN_PHASES];
};

/* Sums of an owner over the slots of a phase, with the same weights */
struct slowdown_phase {
	double cycles, misses, references;
	double unreferenced;	/* misses in slots without references */
	double unknown;		/* of these, misses in slots since start_end */
	double held;		/* KiB held when each slot began */
	double slots;		/* slowdown_load.slots when held was last brought up to date */
};

/* Size of arrays by enum cmt_slowdown_resource; the room does not use CMT_SLOWDOWN_CPU. */
#define SLOWDOWN_RESOURCES	(CMT_SLOWDOWN_MEMORY + 1)

/* Comparisons, one every 250 slots, from which on a past can be used: a second */
#define SLOWDOWN_PAST_LEAST	4

/* Means of an owner over some 20 s (outside.c), to compare the last second with */
struct slowdown_before {
	uint32_t nr;		/* comparisons that the means are made of */
	double cycles, instructions, misses, occupancy_kib;
	double references;	/* negative: not known */
	double ran_ns;		/* CPU time in slots with counters; negative: not known */
};

struct slowdown_owner {
	uint64_t id;
	uint32_t domain;
	uint32_t next;		/* the next owner with this hash, or the next free entry */
	bool used;
	bool suspect_only;	/* never a victim */
	bool holds;		/* its occupancy is known */
	uint64_t first;		/* the first slot with values */
	uint64_t start_end;	/* the first slot whose references count */
	uint64_t seen;		/* the last slot with values */
	uint64_t slot;		/* the slot up to which the means are */
	uint64_t counted;	/* the last slot with counters; 0: none */
	uint64_t referenced;	/* the last slot with references; 0: none */
	uint64_t ran;		/* the last slot with cycles; 0: none */
	struct slowdown_values now;	/* the values of the slot @seen */
	double occupancy_kib;	/* the last known occupancy */
	struct slowdown_values mean;	/* references: over slots where they are known */
	double unreferenced;	/* mean of the misses in slots without references */
	struct slowdown_moments moments;
	double active;		/* share of slots in which it ran, or whose cycles are not known */
	double uncounted;	/* of active: the slots without counters */
	double untimed;		/* of active: the slots whose CPU time is not known */
	struct slowdown_curve curve;
	struct slowdown_phase phases[SLOWDOWN_PHASES];
	struct slowdown_before before;
	/*
	 * Misses per reference, as a multiple of those before; 0: not known, or the owner is in
	 * another phase of its work than before
	 */
	double rise;
	/* Shares of its time that it lost since before to something outside this machine */
	double outside[SLOWDOWN_RESOURCES];
};

struct slowdown {
	uint64_t slot;		/* number of the current slot */
	uint64_t begin;		/* number of the slot before the first one */
	uint32_t room;		/* size of owners */
	uint32_t nr;		/* entries of owners that were ever used: those below nr */
	uint32_t free;		/* the first free entry below nr */
	uint32_t mask;		/* size of hash, less 1 */
	uint32_t *hash;		/* by id and domain: the first owner */
	struct slowdown_owner *owners;
	uint32_t nr_now;	/* owners with values in this slot so far */
	uint32_t nr_before;	/* owners with values in the slot before */
	uint32_t *now;		/* below nr_now: of this slot; from there on: of the one before */
	uint64_t swept;		/* slot of the last sweep, which drops old owners */
	uint64_t compared;	/* slot of the last comparison with before (outside.c) */
	double weight;		/* of this slot, in sums by phase */
	struct slowdown_load loads[CMT_DOMAINS_MAX];
	uint32_t counted;	/* slowdown_counted() at the last sweep */
	uint32_t referenced;	/* slowdown_referenced() at the last sweep */
};

/*
 * Shares are of the victim's time in all domains: 0.2 means that it would need a fifth less
 * without @by.
 */
struct slowdown_part {
	uint64_t id, by;	/* @by may be CMT_CULPRIT_OUTSIDE */
	uint32_t domain;
	enum cmt_slowdown_resource resource;	/* not CMT_SLOWDOWN_CPU */
	double share;
	double low, high;	/* bounds of share */
	double most;	/* what all neighbours cost @id by this resource in all domains */
	double cpus;	/* mean number of CPUs on which @id ran; negative: not known */
	bool first;	/* the greatest share of @id by this resource */
};

/*
 * Those that are first come before all others, by most: so each victim is in the list while
 * there is room for one part of each victim by each resource.  The others follow by share.
 */
struct slowdown_list {
	struct slowdown_part *parts;
	uint32_t nr, room;
};

/* Returns false if there is no memory; slowdown_free() frees it in any case. */
bool slowdown_init(struct slowdown *slowdown, uint32_t room);
void slowdown_free(struct slowdown *slowdown);

/* Begin a slot, @slots after the one before. */
void slowdown_begin(struct slowdown *slowdown, uint64_t slots);
/*
 * Add the values of an owner in the slot.  Further values of the same owner and domain are
 * ignored, and so is an owner for which there is no room.
 */
void slowdown_add(struct slowdown *slowdown, uint64_t id, uint32_t domain, bool suspect_only,
		  const struct slowdown_values *values);
/* End the slot: add its values to the means. */
void slowdown_end(struct slowdown *slowdown);

/*
 * The number of owners with counters, in some domain, in the last 5 s: of those that may be
 * victims or, where none of these has values in that time, of those that may not.  Where no owner
 * at all has, the number at the last sweep that found one.  0: no part is known.
 */
uint32_t slowdown_counted(const struct slowdown *slowdown);
/*
 * Those of them with references in enough of the slots of some domain.  0: no part by cache is
 * known.
 */
uint32_t slowdown_referenced(const struct slowdown *slowdown);

/* The factor from a mean of @owner, which is up to owner->slot, to the mean up to now */
double slowdown_scale(const struct slowdown *slowdown, const struct slowdown_owner *owner);

/*
 * The mean CPU time of @owner, up to owner->slot: slots of which it is not known are taken to be
 * like the others.  Negative: not known
 */
double slowdown_ran_ns(const struct slowdown_owner *owner);

/* Was @slot in the last 5 s?  0: no slot. */
bool slowdown_is_lately(const struct slowdown *slowdown, uint64_t slot);

/* The domains in which values of an owner suffice for an estimate, a bit for each */
struct slowdown_known {
	uint64_t counted;
	uint64_t referenced;	/* those of them in which slowdown by cache is known */
};

struct slowdown_known slowdown_known(const struct slowdown *slowdown, uint64_t id);
/*
 * Do values of the owner that sufficed @before, in some domain, no longer suffice since counters
 * of it have stopped, while other values of it are still known?  Then its slowdown by cache, or
 * also that by memory, is no longer known.
 */
bool slowdown_has_stopped(const struct slowdown *slowdown, uint64_t id,
			  const struct slowdown_known *before);

/* Means of the owner in the domain where it has most instructions; NAN: not known. */
void slowdown_pace(const struct slowdown *slowdown, uint64_t id, double *cpi, double *mpki);

/* The number of slots before the first one with values of the owner */
uint64_t slowdown_before_first(const struct slowdown *slowdown, uint64_t id);
/* The KiB that an owner holds, by the last reading; 0: not known */
double slowdown_held_kib(const struct slowdown *slowdown, uint64_t id, uint32_t domain);

/* Store the @n parts of a struct slowdown_list by share.  Returns their number, or -ENOMEM. */
int slowdown_parts(const struct slowdown *slowdown, struct slowdown_part *parts, uint32_t n);

/* little.c */
/* Is @cycles, a mean, enough for an estimate?  See SLOWDOWN_CYCLES_LEAST. */
bool slowdown_is_enough(double cycles);
/*
 * Store up to @n ids of owners that ran in the last 5 s, and whose cycles are in no domain
 * enough for an estimate.  Returns the number of all such owners, or -ENOMEM.
 */
int slowdown_too_little(const struct slowdown *slowdown, uint64_t *ids, uint32_t n);

/* totals.c */
/* One owner over all domains */
struct slowdown_total {
	uint64_t id;
	double cycles, ran_ns;	/* sums of the means of its domains */
	bool timed;		/* ran_ns is known */
	/* From here on 0 until parts.c adds it; shares of its time */
	double misses;		/* what its misses take */
	double limit[SLOWDOWN_RESOURCES];	/* what no neighbours at all would change */
	double sum[SLOWDOWN_RESOURCES];		/* of all parts, also of those that are too small */
	double worst;		/* the greatest of one neighbour by cache and memory together */
	struct slowdown_part first[SLOWDOWN_RESOURCES];	/* the part with the greatest share */
};

/*
 * Store the total of each owner, sorted by id.  @totals: room for slowdown->nr.
 * Returns their number.
 */
uint32_t slowdown_totals(const struct slowdown *slowdown, struct slowdown_total *totals);
/* The total of @id, which must be in @totals. */
struct slowdown_total *slowdown_total_of(struct slowdown_total *totals, uint32_t nr, uint64_t id);

/* Set most of its first parts, from what was added. */
void slowdown_total_limit(struct slowdown_total *total);

/* list.c */
void slowdown_list_add(struct slowdown_list *list, const struct slowdown_part *part);
/* By share, the greatest first; nothing can be added then. */
void slowdown_list_sort(struct slowdown_list *list);

static inline double slowdown_least(double a, double b)
{
	return a < b ? a : b;
}

static inline double slowdown_larger(double a, double b)
{
	return a > b ? a : b;
}

/* Multiply a mean of counts, which is not negative, by @factor. */
static inline void slowdown_fade(double *mean, double factor)
{
	*mean *= factor;
	if (*mean < SLOWDOWN_FADED)
		*mean = 0;
}

/* moments.c */
/* e^-@x, for @x >= 0.  The library is not linked with libm. */
double slowdown_kept(double x);
void slowdown_moments_scale(struct slowdown_moments *moments, double factor);
/* Add a slot, unless it has too few cycles.  @t: the misses of its domain */
void slowdown_moments_add(struct slowdown_moments *moments,
			  const struct slowdown_values *values, double t);

/* Neighbouring slots are not independent: so many slots count as one independent sample. */
#define SLOWDOWN_SAMPLES_EACH	3.0

/* An estimate and its variance; variance 0: there is no estimate */
struct slowdown_guess {
	double value, variance;
};

/*
 * The cycles that a miss costs: the mean, weighted by the inverse variances, of the slope over
 * the slots, of the usual cost, and of the cost at which instructions without a miss need the
 * usual cycles.
 */
struct slowdown_guess slowdown_cost(const struct slowdown_owner *owner);
/* By how much each miss of the domain in a slot raises that cost, as a part of the cost */
struct slowdown_guess slowdown_rise(const struct slowdown_owner *owner);

/* outside.c */
/*
 * Every 250 slots: compare the last second of each owner with the time before, set owner->rise
 * and owner->outside, and add the last second to owner->before.
 */
void slowdown_outside(struct slowdown *slowdown);

/* hits.c */
void slowdown_curve_scale(struct slowdown_curve *curve, double factor);
void slowdown_curve_add(struct slowdown_curve *curve, double references, double misses,
			double kib);
/*
 * Does the owner hit so little that its hits cannot be told from noise?  It is a stream, or a
 * loop that gets too little of the cache.
 */
bool slowdown_hits_nothing(const struct slowdown_owner *owner);
/* The exponent with which hits grow over the cache that is held */
double slowdown_steep(const struct slowdown_owner *owner);
/* The natural logarithm of @x >= 1 */
double slowdown_logarithm(double x);

/* How the hits of an owner grow with the cache that it holds */
struct slowdown_need {
	double hits;		/* hits now, as a share of references */
	double most;		/* the greatest share of hits, with all the cache it can use */
	double steep;		/* exponent, from now on or from seen_times on */
	double waits;		/* share of its time that its misses take */
	double seen;		/* a greater share of hits, seen in another phase; 0: none */
	double seen_times;	/* the cache at which it has that share, as a multiple of now */
	double seen_steep;	/* exponent from now to seen_times */
};

/* The need of an owner with so many @misses, of its @references; see the members */
struct slowdown_need slowdown_need(double misses, double references, double waits, double steep);
/*
 * Add that the owner has the share of hits @hits where it holds @times as much as now; both are
 * greater than now.
 */
void slowdown_need_see(struct slowdown_need *need, double hits, double times);

/* The share of hits of an owner that holds @times as much as now, @times >= 1 */
double slowdown_hits(const struct slowdown_need *need, double times);

/*
 * Pressure on the cache falls in steps: at pressure number i, lines stay STEP^i times as long as
 * now.
 */
#define SLOWDOWN_PRESSURES	17
#define SLOWDOWN_PRESSURE_STEP	1.4142135623730951

/* What an owner holds at each pressure, as a multiple of what it holds now */
void slowdown_times(const struct slowdown_need *need, double times[SLOWDOWN_PRESSURES]);

/* phases.c */
/* A processor may count several references as one, and so fewer references than misses. */
static inline double slowdown_references(const struct slowdown_values *values)
{
	return values->references > values->misses ? values->references : values->misses;
}

/*
 * The factor from the references that were counted to those of all slots since start_end: slots
 * without references are taken to be like the others of their phase.  0: too few slots have
 * references, and slowdown by cache is not known.
 */
double slowdown_references_scale(const struct slowdown_owner *owner);

/* Begin a slot.  @kept: the weight of the slot before, where this one has 1 */
void slowdown_phases_begin(struct slowdown *slowdown, double kept);
/* Add a slot in which the owners of @domain have so many @misses.  Returns its phase. */
uint32_t slowdown_phases_slot(struct slowdown *slowdown, uint32_t domain, double misses);
/* The phase of a slot with so many @misses */
uint32_t slowdown_phase_of(const struct slowdown_load *load, double misses);
/*
 * Add the slot, which is of phase @number, to the sums of the owner.  To be called before its
 * occupancy_kib is that of this slot.
 */
void slowdown_phases_add(const struct slowdown *slowdown, struct slowdown_owner *owner,
			 uint32_t number);

/*
 * What slowdown_state.kib is made of.  It is in KiB for READ; for the others, only the ratios
 * among owners have a meaning.
 */
enum slowdown_holds {
	SLOWDOWN_HOLDS_READ,	/* occupancy */
	SLOWDOWN_HOLDS_MOVED,	/* misses and references */
	SLOWDOWN_HOLDS_MISSED,	/* misses: the owner does not use again what it misses */
};

/* An owner in the slots of a phase */
struct slowdown_state {
	double misses, references;	/* sums over the phase, divided by all slots */
	double kib;			/* the cache that it holds; see enum slowdown_holds */
	struct slowdown_need need;
	double times[SLOWDOWN_PRESSURES];	/* slowdown_times() of need */
};

/* The state of the owner in each phase.  @cost: of a miss, cycles */
void slowdown_states(const struct slowdown *slowdown, const struct slowdown_owner *owner,
		     enum slowdown_holds holds, double cost,
		     struct slowdown_state states[SLOWDOWN_PHASES]);

#endif
