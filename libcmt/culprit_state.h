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

#include "culprit_params.h"

struct cmt_container;

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

/* What the files of a cgroup said last. */
struct culprit_cpu {
	uint64_t ts_ns;		/* 0: they were not read yet */
	uint32_t known;		/* CULPRIT_FILE_* */
	uint64_t throttled_ns;	/* by its quota and those above it; on all CPUs */
	uint64_t full_ns;	/* it wanted to run, and nothing of it did */
	uint64_t used_ns;
};

/* Of the machine, in ticks. */
struct culprit_steal {
	uint64_t busy, stolen;
};

struct culprit_cell {
	/* what each slot touches comes first */
	uint64_t id;
	uint32_t domain;
	uint32_t flags;		/* of the last sample */
	bool used;
	bool calm;		/* idle, and nothing changes */
	bool away;		/* it was not where all were to be, or its last sample
				 * has CMT_CULPRIT_NO_REST
				 */
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
	uint32_t apart;		/* slots from a reading to the one before; 0: it is
				 * read in each slot
				 */
	float apart_rate;	/* between these two, */
	uint64_t apart_slot;	/* of the later one */
	uint64_t rose_slot;	/* of the last one before the rate was unusual; 0: it
				 * is not
				 */
	uint32_t nr_debts;
	float owed_most;	/* a bound on the sum of the debts; grown */
	struct culprit_debt debts[CULPRIT_SOURCES];
	struct culprit_recent recent[CULPRIT_RECENT];
	/* baselines, renewed with each block */
	bool known;		/* traffic and occupancy have baselines */
	bool counted;		/* so have CPI and MPI */
	float traffic50, traffic90, cpi50, mpi50;
	float occupancy50, occupancy_low, occupancy_high;
	struct culprit_told told[CMT_CULPRIT_STOLEN + 1];
	uint64_t blamed_ns;	/* CPU trouble until then */
	struct culprit_cpu cpu;	/* of the first cell of an owner */
	float lost_mean;	/* of about a second, for the standing picture */
	float rate_mean;
	uint64_t mean_slot;
	uint32_t paced;		/* blocks until no CPI is in its series any more */
	uint32_t blind;		/* slots since its rate was known */
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
	float rate;		/* of cells that allocate */
	float traffic;		/* of all */
	float usual;		/* sum of their medians */
	uint32_t nr_up;		/* of cells without a loss: with more traffic */
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
	uint32_t nr_before;	/* and those that were not in the slot before */
	uint32_t *before;
	struct cmt_culprit_sample *samples_now;	/* of a frame, max_owners */
	uint32_t cpus;		/* the most that ticked lately, */
	uint64_t cpus_slot;	/* then */
	struct culprit_steal steal;
	int root;		/* of the cgroups, or -1 */
	uint32_t queue_at, queue_nr;
	struct cmt_culprit_verdict queue[CULPRIT_QUEUE];
	struct cmt_culprit_verdict shown;
};

/* Not fmaxf(): the library is not linked with libm. */
static inline float culprit_max(float a, float b)
{
	return a > b ? a : b;
}

/* No condition has held lately. */
static inline void culprit_cell_acquit(struct culprit_cell *cell)
{
	cell->passed = 0;
	cell->harmed = 0;
	cell->squeezed = 0;
	cell->grew = 0;
	cell->crept = 0;
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
/* At least one block ends before @slot. */
void culprit_blocks_end(struct culprit_cell *cell, uint64_t slot);
/* Blocks that end before @slot: mostly none does. */
static inline void culprit_blocks(struct culprit_cell *cell, uint64_t slot)
{
	if (slot - cell->block_slot >= CULPRIT_BLOCK)
		culprit_blocks_end(cell, slot);
}
/*
 * The traffic of the last @slots, a slot, where it was not known when their blocks ended:
 * RMID 0 is read once in 32 ticks.
 */
void culprit_blocks_late(struct culprit_cell *cell, uint64_t slot, float rate,
			 uint32_t slots);

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

/* culprit.c: the cell, or CULPRIT_NOBODY. */
uint32_t culprit_find(struct cmt_culprit *culprit, uint64_t id, uint32_t domain);

/* culprit_files.c */
/*
 * The number in the line "@key NUMBER" of cpu.stat, in microseconds; of the line that
 * begins with "full" in cpu.pressure; and of the line "cpu" of /proc/stat.  False: it
 * is not there, or not as the kernel writes it.
 */
bool culprit_parse_stat(const char *text, const char *key, uint64_t *ns);
bool culprit_parse_pressure(const char *text, uint64_t *ns);
bool culprit_parse_steal(const char *text, struct culprit_steal *steal);

#define CULPRIT_FILE_THROTTLED	(1U << 0)
#define CULPRIT_FILE_FULL	(1U << 1)
#define CULPRIT_FILE_USED	(1U << 2)

/* What the cgroup at @path, of @own bytes of it, says; its id must be @id. */
bool culprit_read_cgroup(int root, const char *path, size_t own, uint64_t id,
			 struct culprit_cpu *cpu);
bool culprit_read_steal(struct culprit_steal *steal);

/* culprit_cpu.c */
/*
 * What kept a cgroup from running since @kept, which is from the last look, or zero.
 * @ticks: as of culprit_look_at_machine().  Returns false: it is not known.
 */
bool culprit_look(int root, const struct cmt_container *container,
		  const struct culprit_steal *ticks, struct culprit_cpu *kept,
		  struct cmt_culprit_cpu *cpu);
/* @ticks: since the last look; all 0: not known */
void culprit_look_at_machine(struct culprit_steal *kept, struct culprit_steal *ticks);

/* culprit_verdict.c */
/* The confidence is 0: it is filled in here. */
void culprit_tell(struct cmt_culprit *culprit, struct culprit_cell *cell,
		  const struct culprit_list *suspects,
		  struct cmt_culprit_verdict *verdict);

#endif
