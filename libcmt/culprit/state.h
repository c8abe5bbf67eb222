/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to the room.  Values are in KiB and in slots of 1 ms.  They are floats,
 * whose error is smaller than the unit of the counters.
 *
 * A cell is one owner in one L3 domain.  A cell is found by its sample's position in
 * the slot before, or else by the hash of id and domain.
 */
#ifndef LIBCMT_CULPRIT_STATE_H
#define LIBCMT_CULPRIT_STATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmt/culprit.h>

#include "base/base.h"
#include "cgroup/cgroup.h"
#include "params.h"
#include "slowdown/slowdown.h"

/* a cell that has no sample for so many slots is removed */
#define CULPRIT_FORGET	2000
#define CULPRIT_GAP	64	/* after more missing slots, all cells begin anew */
#define CULPRIT_SOURCES	8	/* in a list, at most */
#define CULPRIT_QUEUE	64
#define CULPRIT_NOBODY	UINT32_MAX
#define CULPRIT_BYTES_MAX (1ULL << 50)	/* or cycles, in a slot: more cannot be */

/*
 * The percentiles of a series are of the last blocks.  sorted has the values in
 * ascending order; a block without a value is NAN in the ring.
 */
struct culprit_series {
	float ring[CULPRIT_RING];
	float sorted[CULPRIT_WINDOW];
	uint16_t nr;		/* known values in sorted */
};

enum {
	CULPRIT_OF_TRAFFIC,
	CULPRIT_OF_OCCUPANCY,
	CULPRIT_OF_CPI,
	CULPRIT_OF_MPI,
	CULPRIT_SERIES,
};

/*
 * The values of one slot.  Sums are over the slots that are set in the cell's has_
 * masks.
 */
struct culprit_recent {
	float occupancy;
	float traffic;
	float cycles;
	float instructions;
	float misses;
};

/*
 * KiB that a victim lost to one suspect.  The debts decay with a time constant of 12
 * slots: cmt_culprit.grown grows instead, once for all debts.
 */
struct culprit_debt {
	uint32_t cell;
	float grown;		/* KiB times cmt_culprit.grown */
};

/* One of the last verdicts of a kind that were reported */
struct culprit_reported {
	uint64_t suspect;	/* the first one; 0: none */
	uint64_t ts_ns;		/* 0: there is no such verdict */
};

#define CULPRIT_REPORTED	4	/* so many neighbours may take turns */

struct culprit_cell {
	/* accessed in each slot */
	uint64_t id;
	uint32_t domain;
	uint32_t flags;		/* flags of the last sample */
	bool used;
	bool calm;		/* idle, and no value changes */
	/*
	 * absent from the last slot that was to have all cells, or the last sample has
	 * CMT_CULPRIT_NO_REST
	 */
	bool away;
	uint64_t seen;		/* the last slot with a sample */
	uint32_t still;		/* slots in a row without a change */
	uint64_t block_slot;	/* begin of the current block */
	uint64_t born;
	float occupancy;	/* the last known value */
	uint16_t has_occupancy;	/* one bit per slot; bit 0 is the newest slot */
	uint16_t has_traffic;
	uint16_t has_counters;
	uint8_t passed;		/* conditions of a sudden loss, one bit per slot */
	uint8_t harmed;
	uint8_t squeezed;	/* likewise for CMT_CULPRIT_BANDWIDTH */
	uint8_t crept;		/* likewise for a slow loss (CMT_CULPRIT_CACHE) */
	/* traffic a slot, mean of the last CULPRIT_MEAN slots */
	float rate;
	float excess;
	float lost;		/* KiB a slot */
	float refetched;
	/* KiB lost to the owner itself, times cmt_culprit.grown */
	float own;
	uint64_t onset;
	uint32_t nr_debts;
	/* upper bound of the sum of the debts, times cmt_culprit.grown */
	float owed_most;
	struct culprit_debt debts[CULPRIT_SOURCES];
	struct culprit_recent recent[CULPRIT_RECENT];
	/* baselines, renewed with each block */
	bool known;		/* traffic and occupancy have baselines */
	bool counted;		/* CPI and MPI have baselines */
	float traffic50, traffic90, cpi50, mpi50;
	float occupancy50, occupancy_low, occupancy_high;
	struct culprit_reported reported[CMT_CULPRIT_BANDWIDTH + 1 - CMT_CULPRIT_CACHE]
					[CULPRIT_REPORTED];
	uint64_t blamed_ns;	/* CPU time is known to be short until this time */
	uint32_t paced;		/* blocks until the series has no CPI */
	uint32_t next;		/* the next cell with this hash */
	struct culprit_series *series;	/* CULPRIT_SERIES elements */
};

/* One of the largest by excess of traffic, or by gain of occupancy: a suspect. */
struct culprit_source {
	uint32_t cell;
	float kib;
};

struct culprit_list {
	uint32_t nr;
	/* sum of all sources, also of those that the list has no room for */
	float total;
	struct culprit_source sources[CULPRIT_SOURCES];	/* largest first */
};

struct culprit_domain {
	float rate;		/* traffic of the cells that allocate cache lines */
	float traffic;		/* traffic of all cells */
	float usual;		/* sum of the medians of traffic */
	uint32_t nr_up;		/* cells without a loss and with increased traffic */
	uint32_t nr_flat;	/* cells without a loss and without increased traffic */
	struct culprit_list rising;	/* by traffic above what is usual */
	struct culprit_list gaining;	/* by occupancy above what is usual */
	struct culprit_list saturating;	/* empty: the memory is not saturated */
};

/* What an owner's tasks did in the current second, as far as is known. */
struct culprit_wait {
	uint64_t ran_ns;
	uint64_t waited_ns;
	uint32_t flags;		/* CMT_CULPRIT_PARTIAL, CMT_CULPRIT_QUOTA */
};

/* An owner as the CPU has it: in all L3 domains. */
struct culprit_owner {
	uint64_t id;
	uint64_t seen;		/* slot; 0: there is no such owner */
	uint64_t waits_since_ns;	/* begin of the seconds in which it waits; 0: none */
	uint64_t others_since_ns;	/* of those of them that have suspects */
	/* of the time in which it could run, in the last second; 0: little, or not known */
	double wait_share;
	struct culprit_wait wait;
	struct cmt_cgroup_cpu cpu;
	struct culprit_reported reported[CMT_CULPRIT_STOLEN + 1 - CMT_CULPRIT_THROTTLED]
					[CULPRIT_REPORTED];
	uint32_t next;		/* with this hash, or the next free one */
};

struct culprit_owners {
	struct culprit_owner *all;
	uint32_t nr;		/* used up to now: from here on all are free */
	uint32_t room;
	uint32_t free;
	uint64_t swept;		/* slot of the last search for old ones */
	uint32_t mask;
	uint32_t *hash;
};

/* What @victim waited while @by ran, in the current second.  ns 0: free. */
struct culprit_pair {
	uint64_t victim, by;
	uint64_t ns;
};

/* The share of @victim's time that @by cost it, in the last second that is known. */
struct culprit_delay {
	uint64_t victim, by;
	double share;
	double cpus;		/* on which the victim could run */
	bool partial;		/* some of the second is not known: there may be more */
};

struct culprit_waits {
	uint64_t begin_ns;	/* of the current second; 0: there was no frame */
	uint64_t seen_ns;	/* part of it in which waiting was accounted */
	bool partial;		/* some waiting may be in no record */
	uint32_t nr;
	uint32_t mask;
	struct culprit_pair *pairs;	/* by hash */
	uint32_t nr_last;
	struct culprit_delay *last;	/* as many as pairs */
};

/* What neighbours cost a victim since the begin of its incident */
struct culprit_cost {
	double share_ns;	/* sum of shares, each times its time: always known */
	uint64_t lost_ns;	/* CPU time, as far as it is known */
};

struct culprit_incident {
	struct cmt_incident incident;
	struct culprit_cost parts[CMT_INCIDENT_PARTS];	/* of those of the incident */
	struct culprit_cost all;
	double unknown_ns;	/* of all.share_ns: while the CPU time was not known */
	struct slowdown_known known;	/* of the victim, at the last estimate with a cost */
	double misses;		/* the part of that cost by cache and memory */
	uint64_t below;		/* slot since which it costs nearly nothing; 0: it does cost */
	bool unknown;		/* that is so since counters of the victim have stopped */
	bool seen;		/* in this estimate */
};

#define CULPRIT_INCIDENTS	128	/* open ones */
#define CULPRIT_INCIDENT_QUEUE	32

/* A victim's share, as a mean of about a second of estimates */
struct culprit_share {
	uint64_t id;
	double mean;
};

/* Of all victims, by id: as of the estimate before, and of this one */
struct culprit_shares {
	uint32_t nr, at, nr_now;
	struct culprit_share *before, *now;	/* CULPRIT_PAIRS each */
};

struct culprit_incidents {
	uint64_t numbers;	/* given */
	uint64_t estimated;	/* slot of the last estimate */
	uint64_t last_ns;	/* end of the last slot */
	uint32_t nr;
	struct culprit_incident *open;	/* CULPRIT_INCIDENTS, by number */
	struct cmt_slowdown *pairs;	/* of an estimate */
	struct culprit_shares shares;
	uint32_t queue_at, queue_nr;
	struct cmt_incident *queue;	/* CULPRIT_INCIDENT_QUEUE */
	struct cmt_incident shown;
};

#define CULPRIT_PAIRS	1024	/* of an estimate */

struct culprit_minute {
	double whole;		/* the weights of all estimates together; 1 after some minutes */
	uint32_t nr;
	struct cmt_slowdown *means;	/* in the order of culprit_cmp_pair() */
	struct cmt_slowdown *merged;
};

struct cmt_culprit {
	struct cmt_culprit_opts opts;
	float unit;		/* KiB */
	float peak;		/* KiB a slot; 0: not known */
	uint64_t slot;		/* number of the current slot; the first slot is 1 */
	uint64_t start_ns;	/* begin of the current slot */
	uint64_t first_ns;	/* begin of the first slot */
	float grown;		/* the weight of a KiB in new debts */
	uint64_t base;		/* slot of the last begin */
	uint32_t nr_used;	/* cells from this index on are unused */
	uint32_t nr_owners;
	uint32_t free;		/* unused cells, linked by next */
	uint32_t nr_domains;
	uint64_t slots, samples, verdicts, missing, not_followed, verdicts_dropped;
	struct culprit_domain domains[CMT_DOMAINS_MAX];
	uint32_t hash_mask;
	uint32_t *hash;
	uint32_t *order;	/* cell of sample i of the slot before */
	struct culprit_cell *cells;
	struct culprit_series *series;
	uint32_t nr_seen;	/* cells with a sample in this slot */
	uint32_t nr_active;
	uint32_t *active;	/* cells that are not calm */
	uint32_t nr_before;	/* active cells of the slot before */
	uint32_t *before;
	/* samples of a frame, max_owners elements */
	struct cmt_culprit_sample *samples_now;
	bool reads;		/* some slot has an occupancy: owners have cells */
	struct culprit_owners owners;
	struct culprit_waits waits;
	struct slowdown slowdown;
	struct culprit_incidents incidents;
	struct culprit_minute minute;
	uint32_t cpus;		/* most CPUs with ticks in the recent slots */
	uint64_t cpus_slot;	/* slot in which cpus was set */
	struct cmt_cpu_ticks steal;
	int root;		/* root of the cgroup tree, or -1 */
	uint32_t queue_at, queue_nr;
	struct cmt_culprit_verdict queue[CULPRIT_QUEUE];
	struct cmt_culprit_verdict shown;
};

/* Not fmaxf(): the library is not linked with libm. */
static inline float culprit_max(float a, float b)
{
	return a > b ? a : b;
}

/* Clear the conditions: none has held lately. */
static inline void culprit_cell_acquit(struct culprit_cell *cell)
{
	cell->passed = 0;
	cell->harmed = 0;
	cell->squeezed = 0;
	cell->crept = 0;
}

/* KiB that a suspect must take from the cell to be named. */
static inline float culprit_least(const struct culprit_cell *cell)
{
	return culprit_max(CULPRIT_TAKEN_KIB, CULPRIT_TAKEN * cell->occupancy50);
}

/* Signed values are faster to convert, and no value is too great for them. */
static inline float culprit_float(uint64_t value)
{
	return (float)(int64_t)value;
}

static inline const struct cmt_culprit_sample *
culprit_sample_at(const struct cmt_culprit_slot *slot, uint32_t i)
{
	return (const struct cmt_culprit_sample *)
		((const char *)slot->samples + (size_t)i * slot->sample_size);
}

/* slowdown.c */
/* What owners did in a slot, which comes @slots after the one before. */
void culprit_sum_up(struct cmt_culprit *culprit, const struct cmt_culprit_slot *slot,
		    uint64_t slots);
/* The share of an owner's time in which it runs: in the rest it waits for a CPU. */
double culprit_runs_share(const struct cmt_culprit *culprit, uint64_t id);

/* incidents.c */
/* As culprit_owners_init(). */
bool culprit_incidents_init(struct culprit_incidents *incidents);
void culprit_incidents_free(struct culprit_incidents *incidents);
/* After each slot: now and then there is an estimate, and incidents begin and end. */
void culprit_incidents_update(struct cmt_culprit *culprit);

/* minute.c */
/* As culprit_owners_init(). */
bool culprit_minute_init(struct culprit_minute *minute);
void culprit_minute_free(struct culprit_minute *minute);
/* By victim first */
int culprit_cmp_pair(const void *pa, const void *pb);
/* An estimate, in that order, which stands for @ns. */
void culprit_minute_add(struct culprit_minute *minute, const struct cmt_slowdown *pairs,
			uint32_t n, uint64_t ns);
/* Of @ns nothing is known: the means are so much older, and no estimate stands for it. */
void culprit_minute_skip(struct culprit_minute *minute, uint64_t ns);

/* baseline.c */
void culprit_series_init(struct culprit_series *series, float value);
void culprit_cell_anew(struct culprit_cell *cell, bool born, uint64_t slot);
/* The median absolute deviation.  At least one value must be known. */
float culprit_deviation(const struct culprit_series *series);
/* End all blocks before @slot, of which there is at least one. */
void culprit_blocks_end(struct culprit_cell *cell, uint64_t slot);
/* End all blocks before @slot.  In most slots no block ends. */
static inline void culprit_blocks(struct culprit_cell *cell, uint64_t slot)
{
	if (slot - cell->block_slot >= CULPRIT_BLOCK)
		culprit_blocks_end(cell, slot);
}

/* flow.c */
/* Advance by @slots: old debts get a lower weight. */
void culprit_decay(struct cmt_culprit *culprit, uint64_t slots);
void culprit_list_add(struct culprit_list *list, uint32_t cell, float kib);
void culprit_flows(struct cmt_culprit *culprit);

/* judge.c */
/* Means over the last slots with known counters. */
struct culprit_pace {
	bool known;		/* the means and their baselines are known */
	float cpi;
	float mpi;
};

void culprit_pace(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell, struct culprit_pace *pace);
void culprit_judge(struct cmt_culprit *culprit);

/* culprit.c */
/* Index of the cell, or CULPRIT_NOBODY. */
uint32_t culprit_find(struct cmt_culprit *culprit, uint64_t id, uint32_t domain);
/* May a slot that begins at @start_ns be added, after those before? */
bool culprit_comes_next(const struct cmt_culprit *culprit, uint64_t start_ns);

/* owner.c */
/* Return false if there is no memory; free it in any case. */
bool culprit_owners_init(struct culprit_owners *owners, uint32_t room, uint32_t buckets);
void culprit_owners_free(struct culprit_owners *owners);
struct culprit_owner *culprit_owner_find(const struct cmt_culprit *culprit, uint64_t id);
/* Find or add it, and note that it is there.  NULL: there is no room. */
struct culprit_owner *culprit_owner_add(struct cmt_culprit *culprit, uint64_t id);

/* waits.c */
/* As culprit_owners_init(). */
bool culprit_waits_init(struct culprit_waits *waits, uint32_t buckets);
void culprit_waits_free(struct culprit_waits *waits);
struct cmt_usage_frame;
void culprit_waits_add(struct cmt_culprit *culprit, const struct cmt_usage_frame *frame);

/* verdict.c */
/*
 * Complete a verdict, and queue it unless it repeats a recent one.  A confidence of 0 is
 * replaced.
 */
void culprit_report(struct cmt_culprit *culprit, struct culprit_cell *cell,
		    const struct culprit_list *suspects,
		    struct cmt_culprit_verdict *verdict);
/* The same of an owner that was kept from running. */
void culprit_report_cpu(struct cmt_culprit *culprit, struct culprit_owner *owner,
			struct cmt_culprit_verdict *verdict);

#endif
