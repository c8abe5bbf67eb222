/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which holdings make one row, and what these held in each slot. */
#ifndef LIBCMT_USAGE_GROUP_H
#define LIBCMT_USAGE_GROUP_H

#include "counters.h"
#include "name/name.h"

struct cmt_usage;
struct usage_holding;

/* A cgroup that owners run in. */
struct usage_cgroup {
	uint64_t id;
	struct cmt_item *item;	/* pinned; NULL: no memory */
	char *own;		/* path of the container; NULL: not known */
	uint64_t own_hash;	/* of own */
	uint32_t id_hash;	/* of usage_identity(); 0: it is NULL */
	/* item->serial at the time of the copy of own, own_hash and id_hash */
	uint32_t own_serial;
	uint32_t group;		/* or USAGE_NONE */
	bool used;
};

/*
 * The sum that a row held in each slot of an interval.  usage_sum() updates it to the
 * last slot.
 */
struct usage_sum {
	/* kept from interval to interval */
	uint64_t now;		/* bytes of all shares in the sum */
	uint32_t holders;	/* number of these shares; 0: the group is in no slot */
	uint32_t unknown;	/* number of these shares without a value */
	/* of an interval */
	uint64_t interval;	/* its number */
	uint64_t counted;	/* number of the last slot in least, most and total */
	uint64_t least, most, total;
	uint32_t nr;		/* slots in least and total */
};

/* The identity of a row: holdings with equal keys are one row. */
struct usage_key {
	uint32_t type;
	uint64_t a, b;
	const char *own;	/* NULL: none */
};

struct usage_group {
	struct usage_sum sum;
	/* of the frame that is being made: usage_group_now() */
	uint64_t frame;		/* number of that frame */
	uint32_t pending;	/* pending owners */
	bool measured;		/* a row of the frame has the group's holdings */
	uint32_t row;		/* where measured: the index of that row */
	bool wanted;		/* a brief frame has a row of the group */
	bool counts;		/* counted is of this frame */
	struct usage_counted counted;
	/* kept until the next sweep */
	/* the first holding, the others linked by mate; or USAGE_NONE */
	uint32_t first;
	bool odd;		/* the group has a holding without a cgroup */
	uint32_t cgroup;	/* the cgroup that names the row, or USAGE_NONE */
	struct usage_key key;
};

/* A hash table of numbers by key: open addressing, at most half full. */
struct usage_index {
	uint32_t *at;		/* USAGE_NONE: free */
	uint32_t size;		/* a power of two, or 0 */
};

/* The RMID that has the row of an owner. */
struct usage_best {
	struct usage_owner owner;
	uint32_t rmid;
	uint32_t generation;
};

/* Of all owners that are alive at a time, made when a group that is an owner's asks for one. */
struct usage_bests {
	uint64_t slot_end_ns;	/* they are alive at the end of this slot; 0: not made yet */
	struct usage_best *all;
	uint32_t nr, room;
	struct usage_index index;	/* by owner */
};

/* Find or add the cgroup @id, and mark it as used.  USAGE_NONE: no memory. */
uint32_t usage_cgroup(struct cmt_usage *usage, uint64_t id);
/* Find or add the groups of a holding.  Returns 0 or -ENOMEM. */
int usage_group(struct cmt_usage *usage, struct usage_holding *h);
/* Add the pending owners to the groups of their cgroups.  Returns 0 or -ENOMEM. */
int usage_group_pending(struct cmt_usage *usage);
/* A sweep: drop all groups, and the cgroups that are unused since the last sweep. */
void usage_groups_sweep(struct cmt_usage *usage);
void usage_groups_free(struct cmt_usage *usage);

/* sum.c: */

/* The holding has a group, and is in the slot that is being added. */
void usage_sum_add(struct cmt_usage *usage, struct usage_holding *h);
/* The holding is not in the slot, or is about to change its group. */
void usage_sum_drop(struct cmt_usage *usage, struct usage_holding *h);
/* End a slot that had @nr holdings which are in the sums. */
void usage_sums_end(struct cmt_usage *usage, uint32_t nr);
/* The sum of a group, up to the last slot. */
const struct usage_sum *usage_sum(struct cmt_usage *usage, uint32_t group);

#endif
