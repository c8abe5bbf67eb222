/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to culprit*.c.  Values are KiB and slots of 1 ms, as float: they differ by
 * less than a unit of the counters.
 *
 * A cell is one owner in one L3 domain.  Cells are found by id and domain, and in the
 * usual case by their place in the slot before.
 */
#ifndef LIBCMT_CULPRIT_STATE_H
#define LIBCMT_CULPRIT_STATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmt/culprit.h>

/*
 * Parameters: docs/culprit.md says what each is for, and tests/culprit/ on what they
 * were decided.  -D gives another value, for those who decide them.
 */
#ifndef CULPRIT_EXCESS
#define CULPRIT_EXCESS	1.4f	/* traffic above so much of its 90th percentile */
#endif
#ifndef CULPRIT_TAKEN
#define CULPRIT_TAKEN	0.10f	/* of the victim's occupancy, taken by the first */
#endif
#ifndef CULPRIT_TAKEN_KIB
#define CULPRIT_TAKEN_KIB 256.0f
#endif
#ifndef CULPRIT_SHARE
#define CULPRIT_SHARE	0.2f	/* the first suspect's part of what was taken */
#endif
#ifndef CULPRIT_LOST_A
#define CULPRIT_LOST_A	0.04f	/* of the victim's occupancy, gone */
#endif
#ifndef CULPRIT_LOST_B
#define CULPRIT_LOST_B	0.03f
#endif
#ifndef CULPRIT_SELF
#define CULPRIT_SELF	0.5f	/* others' part to its own */
#endif
#ifndef CULPRIT_REFETCH_A
#define CULPRIT_REFETCH_A 6.0f	/* refetched at most so many times what was taken */
#endif
#ifndef CULPRIT_REFETCH_B
#define CULPRIT_REFETCH_B 4.0f
#endif
#ifndef CULPRIT_GAINED
#define CULPRIT_GAINED	0.2f	/* of what it took a suspect must have gained */
#endif
#ifndef CULPRIT_HARM_A
#define CULPRIT_HARM_A	0.5f	/* refetched at least so much of what was taken */
#endif
#ifndef CULPRIT_HARM_KIB
#define CULPRIT_HARM_KIB 64.0f
#endif
#ifndef CULPRIT_CPI
#define CULPRIT_CPI	1.03f	/* of the median */
#endif
#ifndef CULPRIT_CPI_MAD
#define CULPRIT_CPI_MAD	1.5f	/* deviations above it */
#endif
#ifndef CULPRIT_MPI
#define CULPRIT_MPI	1.05f
#endif
#ifndef CULPRIT_CREPT
#define CULPRIT_CREPT	0.04f	/* of the victim's occupancy, below its low */
#endif
#ifndef CULPRIT_LOW
#define CULPRIT_LOW	2	/* percentile; the high is as far from the top */
#endif
#ifndef CULPRIT_SPREAD
#define CULPRIT_SPREAD	0.3f	/* and gained so much of what it varies by, */
#endif
#ifndef CULPRIT_SPREAD_V
#define CULPRIT_SPREAD_V 0.5f	/* as the victim lost */
#endif
#ifndef CULPRIT_COMMON
#define CULPRIT_COMMON	0.6f	/* so many rise: load rises everywhere, */
#endif
#ifndef CULPRIT_UP
#define CULPRIT_UP	1.2f	/* above so much of their median, */
#endif
#ifndef CULPRIT_STANDS_OUT
#define CULPRIT_STANDS_OUT 3.0f	/* and only who rises so much can be named */
#endif
#ifndef CULPRIT_CREPT_RISE
#define CULPRIT_CREPT_RISE 1.5f	/* a gainer moves more than so much of its median */
#endif
#ifndef CULPRIT_GAINER
#define CULPRIT_GAINER	0.5f	/* one suspect's part of what all gained */
#endif
#ifndef CULPRIT_CREPT_GAIN
#define CULPRIT_CREPT_GAIN 0.5f	/* of what the victim lost, the suspect gained */
#endif
#ifndef CULPRIT_BUSY
#define CULPRIT_BUSY	0.75f	/* of the peak: the memory is saturated */
#endif
#ifndef CULPRIT_BUSIER
#define CULPRIT_BUSIER	2.0f	/* of the usual traffic, where no peak is known */
#endif
#ifndef CULPRIT_BUSY_KIB
#define CULPRIT_BUSY_KIB 1024.0f /* a slot: less is not busy */
#endif
#ifndef CULPRIT_BUSY_SHARE
#define CULPRIT_BUSY_SHARE 0.5f	/* one suspect's part of the excess */
#endif
#ifndef CULPRIT_BUSY_RISE
#define CULPRIT_BUSY_RISE 0.3f	/* and of all that is more than usual */
#endif
#ifndef CULPRIT_BUSY_CPI
#define CULPRIT_BUSY_CPI 1.08f	/* of the median, where the memory is saturated */
#endif
#define CULPRIT_SURE_BUSY 0.98	/* confidence in CMT_CULPRIT_BANDWIDTH */
#ifndef CULPRIT_WINDOW
#define CULPRIT_WINDOW	32	/* blocks in a baseline */
#endif
#ifndef CULPRIT_PASSED
#define CULPRIT_PASSED	2	/* of the last 3 slots, and this one */
#endif
#ifndef CULPRIT_LEARN
#define CULPRIT_LEARN	20	/* blocks before a baseline counts */
#endif
#ifndef CULPRIT_LAG
#define CULPRIT_LAG	3	/* blocks that are too new for a baseline */
#endif
#define CULPRIT_BLOCK	8	/* slots in a block of a baseline */
#define CULPRIT_MEAN	4	/* slots that rates are means of */
#ifndef CULPRIT_LEAST
#define CULPRIT_LEAST	6.0f	/* KiB a slot: who takes less is not noted */
#endif
#define CULPRIT_RING	(CULPRIT_WINDOW + CULPRIT_LAG)
#define CULPRIT_RECENT	16	/* slots kept one by one; a power of two */
#define CULPRIT_FORGET	2000	/* slots without a sample */
#define CULPRIT_SECOND	1000	/* slots that the standing picture is the mean of */
#define CULPRIT_GAP	64	/* slots left out before all begins anew */
#define CULPRIT_DOMAINS	64
#define CULPRIT_SOURCES	8	/* of a domain in a slot */
#define CULPRIT_QUEUE	64
#define CULPRIT_NOBODY	UINT32_MAX

/* Percentiles of the last blocks: sorted as they come, unknown ones are NAN. */
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

/* What one slot says; sums are of slots whose bit in the masks is set. */
struct culprit_recent {
	float occupancy;
	float traffic;
	float cycles;
	float instructions;
	float misses;
};

/*
 * What a victim lost to one suspect.  It decays with a time constant of 12 slots:
 * all of them at once, in cmt_culprit.grown.
 */
struct culprit_debt {
	uint32_t cell;
	float grown;		/* KiB times cmt_culprit.grown */
};

/* The last verdict of each kind. */
struct culprit_told {
	uint64_t suspect;
	uint64_t ts_ns;		/* 0: none */
};

struct culprit_cell {
	/* what each slot touches comes first */
	uint64_t id;
	uint32_t domain;
	uint32_t flags;		/* CMT_CULPRIT_NO_VICTIM */
	bool used;
	bool calm;		/* idle, and nothing changes */
	uint64_t seen;		/* the last slot with a sample */
	uint32_t still;		/* slots in which nothing changed */
	uint64_t block_slot;	/* the next block begins here */
	uint64_t born;
	float occupancy;	/* last known */
	uint16_t has_occupancy;	/* bits: slots, the newest is bit 0 */
	uint16_t has_traffic;
	uint16_t has_counters;
	uint8_t passed;		/* slots in which all conditions held, by kind */
	uint8_t harmed;
	uint8_t squeezed;	/* of CMT_CULPRIT_BANDWIDTH */
	uint8_t grew;		/* of CMT_CULPRIT_OWN_SET */
	uint8_t crept;		/* of the slow way to CMT_CULPRIT_CACHE */
	float rate;		/* traffic a slot, mean of a block's length */
	float excess;
	float lost;		/* a slot */
	float refetched;
	float own;		/* what it took from itself; grown, as debts */
	uint64_t onset;
	uint32_t nr_debts;
	struct culprit_debt debts[CULPRIT_SOURCES];
	struct culprit_recent recent[CULPRIT_RECENT];
	/* baselines, renewed with each block */
	bool known;		/* traffic and occupancy have baselines */
	bool counted;		/* so have CPI and MPI */
	float traffic50, traffic90, cpi50, mpi50;
	float occupancy50, occupancy_low, occupancy_high;
	struct culprit_told told[CMT_CULPRIT_STOLEN + 1];
	uint64_t blamed_ns;	/* CPU trouble until then */
	float lost_mean;	/* of about a second, for the standing picture */
	float rate_mean;
	uint64_t mean_slot;
	uint32_t next;		/* of the same hash */
	struct culprit_series *series;	/* CULPRIT_SERIES of them */
};

/* One of the greatest, by excess of traffic or by gain of occupancy; a suspect. */
struct culprit_source {
	uint32_t cell;
	float kib;
};

struct culprit_list {
	uint32_t nr;
	float total;		/* of all, also those that have no place */
	struct culprit_source sources[CULPRIT_SOURCES];	/* greatest first */
};

struct culprit_domain {
	float rate;		/* of those who allocate */
	float traffic;		/* of all */
	float usual;		/* sum of their medians */
	uint32_t nr_up;		/* of those who lost no cache: with more traffic */
	uint32_t nr_flat;	/* and without */
	struct culprit_list rising;	/* by traffic above what is usual */
	struct culprit_list gaining;	/* by occupancy above what is usual */
	struct culprit_list saturating;	/* empty: the memory is not busy */
};

struct cmt_culprit {
	struct cmt_culprit_opts opts;
	float unit;		/* KiB */
	float peak;		/* KiB a slot; 0: not known */
	uint64_t slot;		/* number of this one; the first is 1 */
	uint64_t start_ns;	/* of this one */
	float grown;		/* what a KiB of now counts in debts */
	uint64_t base;		/* the slot in which all began, or began anew */
	uint32_t nr_used;	/* cells [0, nr_used) may be used */
	uint32_t nr_owners;
	uint32_t free;		/* a list by next */
	uint32_t nr_domains;
	uint64_t slots, samples, verdicts, missing, not_followed, not_told;
	struct culprit_domain domains[CULPRIT_DOMAINS];
	uint32_t hash_mask;
	uint32_t *hash;
	uint32_t *order;	/* cell of sample i, in the slot before */
	struct culprit_cell *cells;
	struct culprit_series *series;
	uint32_t nr_seen;	/* cells with a sample in this slot */
	uint32_t nr_active;
	uint32_t *active;	/* those that are not calm */
	uint32_t queue_at, queue_nr;
	struct cmt_culprit_verdict queue[CULPRIT_QUEUE];
	struct cmt_culprit_verdict shown;
};

/* Not fmaxf(): the library is not linked with libm. */
static inline float culprit_max(float a, float b)
{
	return a > b ? a : b;
}

/* What one must take of a cell to be named. */
static inline float culprit_least(const struct culprit_cell *cell)
{
	return culprit_max(CULPRIT_TAKEN_KIB, CULPRIT_TAKEN * cell->occupancy50);
}

/* culprit_baseline.c */
void culprit_series_init(struct culprit_series *series, float value);
void culprit_cell_anew(struct culprit_cell *cell, bool born, uint64_t slot);
/* The median distance of known values, of which there is one, from their median. */
float culprit_deviation(const struct culprit_series *series);
/* Blocks that end before @slot. */
void culprit_blocks(struct culprit_cell *cell, uint64_t slot);

/* culprit_flow.c */
/* @slots more: old debts count less. */
void culprit_decay(struct cmt_culprit *culprit, uint64_t slots);
void culprit_list_add(struct culprit_list *list, uint32_t cell, float kib);
void culprit_flows(struct cmt_culprit *culprit);

/* culprit_judge.c */
/* Means of the last slots whose counters are known. */
struct culprit_pace {
	bool known;		/* and so is what is usual */
	float cpi;
	float mpi;
};

void culprit_pace(const struct cmt_culprit *culprit,
		  const struct culprit_cell *cell, struct culprit_pace *pace);
void culprit_judge(struct cmt_culprit *culprit);

/* culprit_verdict.c */
/* The confidence is 0: it is filled in here. */
void culprit_tell(struct cmt_culprit *culprit, struct culprit_cell *cell,
		  const struct culprit_list *suspects,
		  struct cmt_culprit_verdict *verdict);

#endif
