/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an aggregate knows, for its own files: aggregate.c has the interval and
 * the CPUs, aggregate_holdings.c who held what, and aggregate_rows.c makes the
 * rows of both.  Below all of them is aggregate_names.c.
 */
#ifndef TOOLS_AGGREGATE_STATE_H
#define TOOLS_AGGREGATE_STATE_H

#include "aggregate.h"

#define NO_HOLDING UINT32_MAX

/* One MBM counter of one owner in one domain. */
struct traffic {
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	uint64_t base;
	uint64_t base_ts;
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* some traffic was not counted */
	uint64_t bytes;
	uint64_t covered_ns;
};

/* One owner in one domain: what cmt_slot_entry names by its first members. */
struct holding {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t next;		/* in the chain of this RMID */
	enum owner_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	bool attached;
	uint32_t tgid;
	uint32_t cpu;
	char comm[CMT_COMM_LEN + 1];
	uint64_t cgroup_id;
	const struct cmt_container *container;
	struct traffic total;
	struct traffic local;
	uint64_t seen_ns;
	bool born;		/* first seen in this interval */
	bool ended;
	/* of this interval */
	bool seen;
	bool emulated;
	uint32_t why;
	bool occupancy_known;
	uint64_t occupancy;
	uint64_t residual;
};

struct group {
	uint64_t cgroup_id;
	uint64_t seen_ns;
	const struct cmt_container *container;
};

struct cpu_state {
	bool ever;
	bool seen;
	bool emulated;
	uint32_t domain;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint32_t why;
	uint32_t rmid;
	uint32_t generation;
	uint32_t tgid;
	enum owner_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	char comm[CMT_COMM_LEN + 1];
	uint64_t cgroup_id;
	const struct cmt_container *container;
	uint64_t missed, missed_base;
	uint64_t busy_ns, busy_base;
	uint64_t lost, lost_base;
};

struct rows {
	struct row *rows;
	uint32_t nr, room;
};

struct aggregate {
	struct aggregate_opts opts;
	int err;
	struct holding *holdings;
	uint32_t nr_holdings, room_holdings;
	uint32_t *chains;	/* by RMID: its first holding, or NO_HOLDING */
	struct holding **sorted;
	struct group *groups;
	uint32_t nr_groups, room_groups;
	uint32_t *domains;
	uint32_t nr_domains, room_domains;
	struct cpu_state *cpus;		/* opts.nr_cpus of them */
	struct rows rows, children;
	struct row *flat;
	uint32_t interval_ns;
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
};

/*
 * Room for one more in an array of @nr.  Returns where the array is now, or
 * NULL: it is where it was, and agg->err says why.
 */
void *aggregate_grow(struct aggregate *agg, void *array, uint32_t nr,
		     uint32_t *room, size_t size);

/*
 * The name of a cgroup; asked for once as long as somebody is in it, or, while
 * it is not to be found, by every owner in it once an interval.
 */
const struct cmt_container *aggregate_name(struct aggregate *agg,
					   uint64_t cgroup_id);

/* There is an L3 domain of this number. */
void aggregate_domain(struct aggregate *agg, uint32_t domain);

/*
 * Memory stays bounded by the cgroups of the last minute.  Before the rows of
 * an interval are built, so that none of them loses its name.
 */
void aggregate_forget(struct aggregate *agg);

/* Those who wait, and CPUs, are in no cgroup that would have a name. */
static inline bool owner_in_cgroup(const struct cmt_owner *owner)
{
	return owner->kind != CMT_OWNER_REST && owner->kind != CMT_OWNER_CPU;
}

/* WHY_* of CMT_F_* */
static inline uint32_t why_of(uint16_t flags)
{
	return (flags & CMT_F_ERROR ? WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? WHY_OVERWRITTEN : 0);
}

/* A reading of an RMID in a domain. */
void holdings_add(struct aggregate *agg, const struct cmt_slot_entry *e);

/* Drop who ended or went unseen; the others begin a new interval. */
void holdings_close(struct aggregate *agg);

/* The rows of the interval, in @frame. */
void aggregate_rows(struct aggregate *agg, struct frame *frame);

#endif
