/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much slower an owner is because of each of its neighbours, from sums over about a
 * second: without a before and after.  docs/slowdown.md has the method and its figures.
 *
 * Means are per slot, and weigh slots by their age: e to the -1 after SLOWDOWN_WINDOW.
 */
#ifndef LIBCMT_SLOWDOWN_SLOWDOWN_H
#define LIBCMT_SLOWDOWN_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

#define SLOWDOWN_WINDOW	1000	/* slots */
/*
 * A smaller mean of counts is 0, some 8 minutes after the last one: numbers that are no longer
 * normal are slow to compute with, and never become 0 by themselves.
 */
#define SLOWDOWN_FADED	1e-200
/*
 * Of a victim with fewer in the window nothing is told: 1 to 2 % of a CPU.  What ran for 10 ms
 * of a second has no more, as a mean, also just after those 10 ms.
 */
#define SLOWDOWN_CYCLES_LEAST	50e6

/* Of one owner in one L3 domain in one slot. */
struct slowdown_values {
	double occupancy_kib;	/* negative: not known, or as before */
	double cycles, instructions, misses;	/* if counted */
	double references;	/* negative: not known */
	double ran_ns;		/* the same */
	bool counted;		/* cycles, instructions and misses are known */
};

/*
 * Means of products over the slots with enough work to tell: x is misses per instruction, y
 * cycles per instruction, t the misses of the domain a slot, n the share of such slots.
 */
struct slowdown_moments {
	double n, x, y, t, xx, xy, yy, xt, xxt, xxtt, xty;
};

/* Means of o, what the owner held, KiB, if known, and of its hits h; o and oo by references. */
struct slowdown_curve {
	double o, oo, ho, hh;
};

/* The slots of a domain by how much all its owners miss in them; 0: least */
#define SLOWDOWN_PHASES	4	/* halves of halves */

/* Sums of a domain, a slot with its weight */
struct slowdown_load {
	double slots[SLOWDOWN_PHASES], misses[SLOWDOWN_PHASES];
};

/* Sums of an owner in the slots of a phase, with the same weights */
struct slowdown_phase {
	double cycles, misses, references, unreferenced;
	double held;	/* KiB, when the slots began */
	double slots;	/* the load's, up to which this is */
};

enum slowdown_resource { SLOWDOWN_CACHE, SLOWDOWN_MEMORY, SLOWDOWN_RESOURCES };

/* Looks without which the past tells nothing: a second */
#define SLOWDOWN_LOOKS_LEAST	4

/* Means of an owner over some time before the last second or so */
struct slowdown_before {
	uint32_t looks;		/* they are from so many */
	double cycles, instructions, misses, references, occupancy_kib;
};

struct slowdown_owner {
	uint64_t id;
	uint32_t domain;
	uint32_t next;		/* with this hash, or the next free one */
	bool used;
	bool suspect_only;
	bool holds;		/* its occupancy is known */
	bool timed;		/* and so is the time in which it ran */
	uint64_t first;		/* the first slot with values, */
	uint64_t settled;	/* the first one after its start, */
	uint64_t seen;		/* and the last one */
	uint64_t slot;		/* the means are up to this one */
	uint64_t counted;	/* the last slot with counters, 0: none, */
	uint64_t referenced;	/* the last one with references, */
	uint64_t ran;		/* and the last one in which it did something */
	struct slowdown_values now;	/* of this slot */
	double occupancy_kib;	/* the last known value */
	struct slowdown_values mean;	/* of references: those that are known, */
	double unreferenced;	/* and the mean of misses without them */
	struct slowdown_moments moments;
	double active;		/* the mean of slots in which it ran, as far as is known */
	struct slowdown_curve curve;
	struct slowdown_phase phases[SLOWDOWN_PHASES];
	struct slowdown_before before;
	/* Misses of a reference, in times of before; 0: not known, or it does something else */
	double rise;
	/* The shares of its time that it lost since then to what is outside this machine */
	double outside[SLOWDOWN_RESOURCES];
};

/* No owner's id: what slows owners down is outside this machine. */
#define SLOWDOWN_OUTSIDE	UINT64_MAX

struct slowdown {
	uint64_t slot, begin;	/* the current slot, the one before the first */
	uint32_t room, nr;	/* owners; from nr on none was used yet */
	uint32_t free;
	uint32_t mask;
	uint32_t *hash;
	struct slowdown_owner *owners;
	uint32_t nr_now, nr_before;
	uint32_t *now;		/* owners with values in this slot, then in the one before */
	uint64_t swept, looked;
	double weight;		/* of this slot in what is by phase */
	struct slowdown_load loads[CMT_DOMAINS_MAX];
	/* Those that were counted, before the last ones were forgotten because they did nothing */
	uint32_t counted, referenced;
};

/*
 * Shares are of the victim's time in all domains: 0.2 means that it would need a fifth less
 * without @by.
 */
struct slowdown_part {
	uint64_t id, by;
	uint32_t domain;
	enum slowdown_resource resource;
	double share, low, high;
	double most;	/* what all others together can cost it, by this resource, anywhere */
	double cpus;	/* on which @id ran; negative: not known */
};

/* Returns false if there is no memory; slowdown_free() frees it in any case. */
bool slowdown_init(struct slowdown *slowdown, uint32_t room);
void slowdown_free(struct slowdown *slowdown);

/* A slot begins, @slots after the one before. */
void slowdown_begin(struct slowdown *slowdown, uint64_t slots);
/* In a slot only the first values of an owner count.  Without room it is left out. */
void slowdown_add(struct slowdown *slowdown, uint64_t id, uint32_t domain, bool suspect_only,
		  const struct slowdown_values *values);
void slowdown_end(struct slowdown *slowdown);

/*
 * Owners that were counted lately, or when any owner last did something: without any, no part
 * is known.
 */
uint32_t slowdown_counted(const struct slowdown *slowdown);
/* Those with references: without any, no part by cache is known. */
uint32_t slowdown_referenced(const struct slowdown *slowdown);

/* What makes of an owner's mean, which is as of its last slot, that of now */
double slowdown_scale(const struct slowdown *slowdown, const struct slowdown_owner *owner);

/* Was @slot, 0: none, in the last seconds? */
bool slowdown_is_lately(const struct slowdown *slowdown, uint64_t slot);

/* Of the owner in the domain where it does most, lately; NAN: not known. */
void slowdown_pace(const struct slowdown *slowdown, uint64_t id, double *cpi, double *mpki);

/* Slots before the first one with values of the owner */
uint64_t slowdown_before_first(const struct slowdown *slowdown, uint64_t id);
/* What an owner holds, by the last reading; 0: not known */
double slowdown_held_kib(const struct slowdown *slowdown, uint64_t id, uint32_t domain);

/* Store the greatest @n parts, the greatest first.  Returns their number, or -ENOMEM. */
int slowdown_parts(const struct slowdown *slowdown, struct slowdown_part *parts, uint32_t n);

/* little.c */
/* Is @cycles, a mean, enough to tell? */
bool slowdown_is_enough(double cycles);
/*
 * Owners that did something lately, and whose cycles are in no domain enough to tell: of these,
 * store @n ids.  Returns the number of all, or -ENOMEM.
 */
int slowdown_too_little(const struct slowdown *slowdown, uint64_t *ids, uint32_t n);

/* whole.c */
struct slowdown_whole {
	uint64_t id;
	double cycles, ran_ns;	/* means of all domains */
	double most[SLOWDOWN_RESOURCES];	/* what all others can cost it; 0 at first */
	bool timed;		/* ran_ns is known */
};

/* Fill in one of each owner, by id, in room for @slowdown's nr.  Returns their number. */
uint32_t slowdown_wholes(const struct slowdown *slowdown, struct slowdown_whole *wholes);
/* The one of @id, which is there. */
struct slowdown_whole *slowdown_whole_of(struct slowdown_whole *wholes, uint32_t nr, uint64_t id);

/* A mean of counts, which are not negative, that is @factor times as much now */
static inline void slowdown_fade(double *mean, double factor)
{
	*mean *= factor;
	if (*mean < SLOWDOWN_FADED)
		*mean = 0;
}

/* moments.c */
/* e to the -@x, for @x >= 0.  The library is not linked with libm. */
double slowdown_kept(double x);
void slowdown_moments_scale(struct slowdown_moments *moments, double factor);
/* A slot with too little work to tell is left out.  @t: the misses of its domain */
void slowdown_moments_add(struct slowdown_moments *moments,
			  const struct slowdown_values *values, double t);

/* Slots are no independent samples: so many of them tell as much as one. */
#define SLOWDOWN_SAMPLES_EACH	3.0

/* An estimate and its variance; no variance: there is none. */
struct slowdown_guess {
	double value, variance;
};

/*
 * The cycles that a miss costs: from the slots, drawn to what is usual, and to what an
 * instruction leaves that needs what is usual without a miss.
 */
struct slowdown_guess slowdown_cost(const struct slowdown_owner *owner);
/* By how much each miss of the domain in a slot raises that cost, as a part of it. */
struct slowdown_guess slowdown_rise(const struct slowdown_owner *owner);

/* outside.c */
/* Seldom: compare with before, and take the last second into it. */
void slowdown_outside(struct slowdown *slowdown);

/* hits.c */
void slowdown_curve_scale(struct slowdown_curve *curve, double factor);
void slowdown_curve_add(struct slowdown_curve *curve, double references, double misses,
			double kib);
/* It hits so little that its hits tell nothing: a stream, or a loop that gets too little */
bool slowdown_hits_nothing(const struct slowdown_owner *owner);
/* The exponent of the hits over what is held */
double slowdown_steep(const struct slowdown_owner *owner);
/* The natural logarithm of @x >= 1 */
double slowdown_logarithm(double x);

/*
 * An owner's hits as a share of its references, now and at most, that exponent, and the share
 * of its time that its misses take.  Where it is seen to hit more while it holds more, another
 * exponent leads there.
 */
struct slowdown_need {
	double hits, most, steep, waits;
	double seen, seen_times, seen_steep;	/* 0: not seen */
};

/* Of an owner with so many @misses, of its @references */
struct slowdown_need slowdown_need(double misses, double references, double waits, double steep);
/* It hits @hits where it holds @times as much; both are more than now. */
void slowdown_need_see(struct slowdown_need *need, double hits, double times);

/* The share of hits of an owner that holds @times as much as now, @times >= 1 */
double slowdown_hits(const struct slowdown_need *need, double times);

/* Others press less: lines stay for 1, STEP, STEP^2, ... times as long as now */
#define SLOWDOWN_PRESSURES	17
#define SLOWDOWN_PRESSURE_STEP	1.4142135623730951

/* What an owner holds then, in times of now */
void slowdown_times(const struct slowdown_need *need, double times[SLOWDOWN_PRESSURES]);

/* phases.c */
/* A processor may count references that it took together. */
static inline double slowdown_references(const struct slowdown_values *values)
{
	return values->references > values->misses ? values->references : values->misses;
}

/* A slot begins: @kept is left of what was in the one before. */
void slowdown_phases_begin(struct slowdown *slowdown, double kept);
/* A slot in which the owners of @domain miss @misses.  Returns its phase. */
uint32_t slowdown_phases_slot(struct slowdown *slowdown, uint32_t domain, double misses);
/* The phase of a slot with so many @misses */
uint32_t slowdown_phase_of(const struct slowdown_load *load, double misses);
/* Before the owner's means are of this slot, which is of phase @number */
void slowdown_phases_add(const struct slowdown *slowdown, struct slowdown_owner *owner,
			 uint32_t number);

/* How it is known what an owner holds; but for READ, kib has no unit. */
enum slowdown_holds {
	SLOWDOWN_HOLDS_READ,	/* by its occupancy */
	SLOWDOWN_HOLDS_MOVED,	/* by misses and references */
	SLOWDOWN_HOLDS_MISSED,	/* the same, of one that misses lines for which it has no use */
};

/* An owner in the slots of a phase */
struct slowdown_state {
	double misses, references;	/* a slot of any phase */
	double kib;
	struct slowdown_need need;
	double times[SLOWDOWN_PRESSURES];	/* of kib, where others press less */
};

void slowdown_states(const struct slowdown *slowdown, const struct slowdown_owner *owner,
		     enum slowdown_holds holds, double cost,
		     struct slowdown_state states[SLOWDOWN_PHASES]);

#endif
