/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated host: containers on one or two L3 domains, what they do, what a reader
 * of cmt sees of it at 1 ms, and the truth, which no reader sees.
 *
 * A runner is a container on one domain.  Its CPU time is divided into cycles for
 * instructions, for hits and for misses; a miss costs more where the memory of the
 * domain is busy.
 */
#ifndef CULPRIT_HOST_H
#define CULPRIT_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"

#define HOST_RUNNERS	CACHE_OWNERS
#define HOST_DOMAINS	2
#define HOST_SUBSLICES	16	/* of a millisecond */
#define HOST_EVENTS	256
#define HOST_CYCLES	3e6	/* of a CPU in a millisecond */

enum pattern {
	PATTERN_RANDOM,		/* uniform over the working set */
	PATTERN_SWEEP,		/* in order, again and again */
	PATTERN_SKEWED,		/* three quarters of the accesses to a quarter of it */
	PATTERN_STREAM,		/* never the same line again */
	PATTERN_BYPASS,		/* the same, past the cache */
};

struct runner {
	uint32_t id;		/* of the container */
	uint32_t domain;
	enum pattern pattern;
	double cpus;		/* used on average */
	double set;		/* working set, lines of the cache */
	double apart;		/* instructions from one access to the next */
	double cpi;		/* cycles per instruction, all hits in inner caches */
	double overlap;		/* misses that are under way at once */
	double cold;		/* share of the accesses that go to new lines */
	double dirty;		/* share of the lines that are written back */
	double jitter;		/* relative deviation of cpus */
	uint32_t quota_ms;	/* of each 100 ms it may run so many; 0: all */
	bool outside;		/* in no container: RMID 0, which is read also while it is idle */
	bool planted;		/* changes in this scenario, and does harm */
	bool elsewhere;		/* in another machine of the hypervisor's: no reader sees it */
	bool absent;		/* is not there: what the others do without it */
	/* below: state of the simulation */
	struct rng rng;
	struct rng mood;	/* of drift: the same with and without an aggressor */
	double drift;
	double debt;		/* cycles used too many in the last subslice */
	uint32_t at;		/* of a sweep or stream */
	uint32_t cold_at;
};

/* From @ms on, or over @ramp_ms from there, a property of a runner is @to. */
struct event {
	uint32_t ms;
	uint32_t ramp_ms;
	uint32_t runner;
	enum { SET_CPUS, SET_SET, SET_APART, SET_PATTERN } what;
	double from;		/* of a ramp: filled in when it begins */
	double to;
};

/* A reader's view of one runner in one millisecond. */
struct reading {
	bool read;		/* occupancy and traffic were */
	bool idle;		/* it did not run, and so was not read */
	double occupancy;	/* KiB */
	double traffic;		/* KiB */
	double cycles, instructions, misses, references, ran_ns;
	/* the truth: lines evicted by runner 0, and by all others but itself */
	uint32_t gone_first, gone_others;
	double held;		/* KiB */
	double work;		/* instructions */
	double held_else, work_else;	/* the same, had nothing changed */
};

struct host {
	enum cache_policy policy;
	uint32_t domains;
	uint32_t nr_runners;
	double unit_kib;	/* of a line */
	double quantum_kib;	/* of the counters; 0: bytes */
	double peak_kib;	/* memory bandwidth of a domain, KiB per ms */
	double lost;		/* share of the readings that are lost */
	struct runner runners[HOST_RUNNERS];
	struct event events[HOST_EVENTS];
	uint32_t nr_events;
	bool mute;		/* without what the planted ones do */
	struct rng rng;
	/* below: state */
	struct cache cache[HOST_DOMAINS];
	double busy[HOST_DOMAINS];	/* of the memory, 0..1, the last subslice */
	double counted[HOST_RUNNERS];	/* KiB, the MBM counter */
	double shown[HOST_RUNNERS];	/* its last reading */
	struct reading readings[HOST_RUNNERS];
	double moved[HOST_DOMAINS];	/* KiB in this subslice */
	/* the truth of this millisecond: lines of [victim] evicted by [owner] */
	uint32_t took[HOST_RUNNERS][HOST_RUNNERS];
};

/* @host: the caller has filled in the first part.  Starts from empty caches. */
void host_start(struct host *host, uint64_t seed);

/* One millisecond, number @ms.  Leaves readings and truth in @host. */
void host_step(struct host *host, uint32_t ms);

#endif
