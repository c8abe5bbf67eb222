/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From time slots to the rows of a table.
 *
 * Slots are fed in order with aggregate_slot(); aggregate_close() ends an
 * interval and gives its rows.  Pure: no descriptor, no clock; names come
 * through a function.
 *
 * Occupancy is the last reading of the interval, summed over the RMIDs and L3
 * domains of a row.  An owner that ended in the interval holds no occupancy
 * in it: what it left behind belongs to nobody, and the next owner of its
 * RMID reads it as its own residue.
 *
 * Bandwidth is traffic over the time it was counted in: for an owner that
 * lived throughout, from its last reading of the interval before to its last
 * of this one; for one that came, ended or has a gap, the whole interval.
 *
 * A value is known or not.  A known value is partial when it leaves something
 * out (a reading that failed, traffic that nobody counted): a lower bound.
 */
#ifndef TOOLS_AGGREGATE_H
#define TOOLS_AGGREGATE_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

enum aggregate_by {
	BY_CONTAINER,
	BY_PROCESS,
	BY_CPU,
	BY_DOMAIN,
};

struct aggregate_opts {
	enum aggregate_by by;
	uint32_t nr_rmids;	/* cmt_info.nr_rmids */
	uint32_t nr_cpus;	/* cmt_info.nr_cpus */
	uint64_t l3_bytes;	/* of one domain; 0: unknown */
	/*
	 * The container of a cgroup, NULL if it has no name.  It must stay
	 * valid until forget() of the same id, which is optional.
	 */
	const struct cmt_container *(*lookup)(void *ctx, uint64_t cgroup_id);
	void (*forget)(void *ctx, uint64_t cgroup_id);
	void *ctx;
};

enum owner_kind {
	OWNER_KNOWN,
	OWNER_UNKNOWN,		/* an RMID whose owner's record was lost */
	OWNER_REST,		/* the RMID of all who wait for their own */
	OWNER_NOBODY,		/* RMID 0: idle, kernel, not monitored */
};

struct measure {
	bool known;
	bool partial;
	double value;		/* bytes, or bytes a second */
};

/* struct row.why: what kept a value from being complete */
#define WHY_ERROR	(1U << 0)	/* QM_CTR said error */
#define WHY_UNAVAILABLE	(1U << 1)	/* QM_CTR said unavailable */
#define WHY_GAP		(1U << 2)	/* traffic that nobody counted */
#define WHY_FIRST	(1U << 3)	/* one reading makes no bandwidth */
#define WHY_ENDED	(1U << 4)	/* all owners of the row ended */
#define WHY_OVERWRITTEN	(1U << 5)	/* another agent set a CPU's RMID */

struct row {
	enum owner_kind kind;
	uint32_t owner;		/* CMT_OWNER_*, of OWNER_KNOWN.  A container's
				 * row is a cgroup, whatever it sums up.
				 */
	bool whole;		/* BY_CONTAINER: one RMID is all of a cgroup */
	bool attached;
	bool seen;		/* BY_CPU: false: only its losses are known */
	uint64_t cgroup_id;	/* 0: in none, such as a CPU */
	const struct cmt_container *container;	/* NULL: no name */
	char comm[CMT_COMM_LEN + 1];		/* raw bytes */
	uint32_t pid;
	uint32_t rmid;		/* process: its RMID; CPU: at the last tick */
	uint32_t generation;
	uint32_t domain;
	uint32_t rmids;		/* RMIDs in the row that have not ended */
	uint32_t why;
	bool emulated;
	struct measure occupancy;	/* bytes */
	struct measure total;		/* bytes a second */
	struct measure local;
	uint64_t residual_bytes;	/* of occupancy at most this much was
					 * there before the owners were
					 */
	uint64_t l3_bytes;	/* what 100 % is; 0: unknown */
	/* BY_CONTAINER: its rows of processes with an RMID, frame.children */
	uint32_t first_child;
	uint32_t nr_children;
	bool child;		/* it is one of them */
	/* What the cgroups say, not the RMIDs: set by who knows */
	bool processes_known;
	uint32_t processes;
	/* OWNER_REST: how many of what wait; NULL: not asked */
	const char *waits;
	uint64_t waiting;
	uint32_t waiting_attached;	/* and others that were attached */
	uint32_t cpu;		/* of CMT_OWNER_CPU, and BY_CPU */
	/* BY_CPU only: the row is a CPU's; others are there in CPU scope, for
	 * what belongs to none
	 */
	bool is_cpu;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint64_t missed;
	uint64_t busy_ns;
	uint64_t lost;
};

/* One interval.  rows stays valid until the next aggregate_close(). */
struct frame {
	enum aggregate_by by;
	uint64_t end_ns;	/* CLOCK_MONOTONIC of the last reading; 0: none */
	uint64_t elapsed_ns;	/* since the last reading of the one before */
	bool emulated;
	uint32_t nr_cpus;	/* that ticked in the interval */
	uint32_t nr_domains;	/* seen so far */
	uint32_t interval_ns;	/* sampling interval in force; 0: no tick */
	uint64_t busy_ns;	/* spent sampling, all CPUs */
	uint64_t ticks_ns;	/* CPU time that busy_ns is a part of */
	uint32_t nr_rows;
	struct row *rows;
	struct row *children;
	struct row *flat;	/* room for all rows and children */
};

/* Has it a cgroup?  A CPU and the rest have none. */
static inline bool row_in_cgroup(const struct row *row)
{
	return row->kind == OWNER_KNOWN && row->owner != CMT_OWNER_CPU;
}

struct aggregate;

/* Returns 0 or -ENOMEM. */
int aggregate_new(struct aggregate **agg, const struct aggregate_opts *opts);
void aggregate_free(struct aggregate *agg);

/* A cmt_slot_fn; @ctx is the struct aggregate. */
void aggregate_slot(void *ctx, const struct cmt_slot *slot);

/* Records that @cpu's ring has lost so far, before aggregate_close(). */
void aggregate_lost(struct aggregate *agg, uint32_t cpu, uint64_t total);

/*
 * End the interval.  Rows come in no order of use: see rows_select().
 * Returns 0, or -ENOMEM if it ever ran out of memory since the last call.
 */
int aggregate_close(struct aggregate *agg, struct frame *frame);

#endif
