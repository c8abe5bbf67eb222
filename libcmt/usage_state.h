/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a usage knows, for its own files.  usage.c has the interface and the
 * intervals, usage_cpu.c the CPUs, usage_holding.c who held what, usage_counters.c
 * what the processor counted, usage_rows.c makes rows of all three, usage_ids.c
 * compares their ids, and usage_channels.c has the memory channels.  Below all of them
 * is usage_group.c: which holdings are one row.
 *
 * Groups and cgroups are of one interval: they are found when a holding is first
 * seen in it, so that a name that came meanwhile joins from the next one on.
 */
#ifndef LIBCMT_USAGE_STATE_H
#define LIBCMT_USAGE_STATE_H

#include <cmt/slots.h>
#include <cmt/usage.h>

#include "containers_cache.h"

#define USAGE_NONE	UINT32_MAX
#define USAGE_DOMAINS	64	/* as many as slots know */

/* One MBM counter of one owner in one domain. */
struct usage_traffic {
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	uint64_t base;
	uint64_t base_ts;
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* some traffic was not counted */
	bool linked;		/* the last difference ended at base */
	uint32_t chains;	/* of differences that follow each other */
	uint64_t bytes;
	uint64_t covered_ns;
};

/*
 * One owner in one domain: what cmt_slot_entry names.  Most entries say what the one
 * before said, carried over or read again, and touch what stands first and no more.
 */
struct usage_holding {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t older;		/* of the same RMID and domain */
	uint32_t group;		/* of this interval, or USAGE_NONE */
	uint32_t child;		/* the group of its process or part, likewise */
	uint32_t owner;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint64_t cgroup_id;
	uint64_t seen_ns;	/* in a slot that ends at this */
	bool alone;		/* no other of the same RMID and domain */
	bool ended;
	bool attached;
	/* of this interval */
	bool absent;		/* freed, or not in its last slot: it has ended */
	bool seen;
	bool steady;		/* a reading that is no less, with the same flags, only
				 * moves the ends of what is known
				 */
	bool kept;		/* there was one, that traffic does not have yet */
	uint32_t flags;		/* CMT_F_* of the last reading, */
	uint64_t ts;		/* its time */
	uint64_t mbm_total, mbm_local;	/* and counters */
	uint64_t occupancy_ts;	/* of the reading that it is of */
	uint64_t occupancy;
	uint64_t residual;
	char comm[CMT_COMM_LEN + 1];
	/* seldom touched */
	bool blank;		/* no holding: an owner that ran, and was not read */
	enum cmt_usage_kind kind;
	bool born;		/* first seen in this interval */
	bool read;		/* at least one reading in it */
	bool emulated;
	bool occupancy_known;
	uint32_t why;
	uint32_t cpu;
	struct usage_traffic total;
	struct usage_traffic local;
};

/* Sums over PERF records, in an interval. */
struct usage_counted {
	uint64_t nr;		/* of records */
	uint32_t values;	/* CMT_F_CYCLES | ...: some record has them, */
	uint32_t lacking;	/* and some have not */
	uint64_t ran_ns;
	uint64_t cycles, instructions, llc_misses, llc_references;
	/* of the records that have both */
	uint64_t ipc_instructions, ipc_cycles;
	uint64_t mpki_misses, mpki_instructions;
};

/* An owner that ran in this interval; by domain: a domain in which some did. */
struct usage_runner {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t older;		/* of the same RMID; of all domains */
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint32_t cpu;
	uint64_t cgroup_id;
	bool attached;
	bool freed;
	char comm[CMT_COMM_LEN + 1];
	struct usage_counted counted;
	uint32_t group;		/* while rows are made */
	uint32_t child;
};

#define USAGE_COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

/* The PERF records of all owners. */
struct usage_perf {
	/* of this interval */
	uint64_t nr;
	uint32_t values;
	/* time: from first_ns on, or from where the interval before ended */
	uint64_t first_ns, last_ns, closed_ns;
	/* by RMID or domain: the newest runner; NULL: no record has come yet */
	uint32_t *newest;
	struct usage_runner *runners;
	uint32_t nr_runners, room_runners;
	/* runners without a holding, while rows are made */
	struct usage_holding *blanks;
	uint32_t nr_blanks, room_blanks;
	bool quiet;		/* some CPU has no TICKs */
};

/*
 * A memory channel.  Its values are sums, so that any two readings can be subtracted,
 * whatever is lost between them; but what was moved before this interval is none of it.
 */
struct usage_channel {
	uint32_t socket, channel;
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	bool gone;		/* the last record said unavailable */
	uint64_t base[2];	/* bytes read, written */
	uint64_t base_ts;
	/* of this interval */
	bool read;		/* at least one reading */
	bool broken;		/* some traffic was not counted */
	uint32_t why;
	uint64_t first_ns;	/* counted from here on */
	uint64_t bytes[2];
	uint64_t covered_ns;	/* 0: no difference */
};

/* All channels. */
struct usage_channels {
	struct usage_channel *all;	/* by socket and channel */
	uint32_t nr, room;
	uint32_t next;		/* where the next one is expected to be */
	bool over;		/* there was one too many, which is not in all */
	bool wanted;		/* the device was asked for them */
	uint32_t expected;	/* how many are read, says the module; 0: not known */
	char reason[80];	/* why not all, it says; "": all are, or not known */
};

/* A cgroup that something in this interval is in. */
struct usage_cgroup {
	uint64_t id;
	struct cmt_item *item;	/* pinned; NULL: no memory */
	char *own;		/* path of the container; NULL: not known */
	uint64_t own_hash;	/* of own */
	uint32_t own_serial;	/* item->serial when that was copied */
	uint32_t group;		/* or USAGE_NONE */
	bool used;
};

/* What a row has held, over the slots of an interval. */
struct usage_sum {
	uint64_t slot;		/* number of the slot that now is of */
	uint64_t now;
	uint64_t least, most, total;
	uint32_t nr;		/* slots in least and total */
	bool incomplete;	/* in this slot */
	bool any;
};

/* What makes two holdings one row. */
struct usage_key {
	uint32_t type;
	uint64_t a, b;
	const char *own;	/* NULL: none */
};

struct usage_group {
	struct usage_key key;
	uint32_t cgroup;	/* whose name it has, or USAGE_NONE */
	uint32_t pending;	/* owners */
	bool measured;		/* a row of the frame has its holdings */
	struct usage_sum sum;
	struct usage_counted counted;	/* while rows are made */
};

struct usage_cpu {
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
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	char comm[CMT_COMM_LEN + 1];
	uint64_t cgroup_id;
	uint64_t missed, missed_base;
	uint64_t busy_ns, busy_base;
	uint64_t lost, lost_base;
	struct usage_counted counted;
};

/* A growing array. */
struct usage_rows {
	struct cmt_usage_row *rows;
	uint32_t nr, room;
};

/* A frame that waits to be taken, or has been. */
struct usage_frame {
	struct usage_frame *next;
	struct cmt_usage_frame frame;
	struct usage_rows rows, children;
	struct cmt_item **items;	/* pinned, of the rows */
	uint32_t nr_items, room_items;
	struct cmt_usage_channel *channels;
	uint32_t room_channels;
	char channels_reason[80];
};

/* Numbers by key: open addressing, twice as large as it is full. */
struct usage_index {
	uint32_t *at;		/* USAGE_NONE: free */
	uint32_t size;		/* a power of two, or 0 */
};

struct cmt_usage {
	/* options */
	uint32_t by, flags;
	uint32_t nr_rmids, nr_cpus, unit_bytes;
	uint64_t l3_bytes, interval_ns, slot_ns, late_ns;
	struct cmt_device *device;
	struct cmt_reader *reader;
	struct cmt_slots *slots;
	struct cmt_containers *containers, *own_containers;
	/* the interval */
	bool unread;		/* the device reads nothing: usage_holdings_unread() */
	bool started;
	bool more;		/* the last call left something to read */
	uint64_t origin_ns;	/* readings since then are ours */
	uint64_t start_ns, end_ns;
	uint64_t slot_end_ns;	/* of the last slot */
	uint64_t nr_slots;
	uint32_t slots_now, gaps_now;	/* in the interval */
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
	uint64_t lost, lost_base, dropped_base;
	uint32_t sampling_ns;
	bool pending_known;
	uint32_t nr_pending;
	uint64_t pending_ns;
	uint64_t *pending_ids;	/* of cgroups, one for each owner */
	/* contents */
	struct usage_holding *holdings;
	uint32_t nr_holdings, room_holdings;
	uint32_t expected;	/* the holding after that of the last entry */
	uint32_t domains[USAGE_DOMAINS];
	uint32_t *chains[USAGE_DOMAINS];	/* by RMID: its newest holding */
	uint32_t nr_domains, last_domain;
	struct usage_cgroup *cgroups;
	uint32_t nr_cgroups, room_cgroups;
	struct usage_index cgroup_index;
	struct usage_group *groups;
	uint32_t nr_groups, room_groups;
	struct usage_index group_index;
	uint32_t *touched;	/* groups with a value in this slot */
	uint32_t nr_touched, room_touched;
	struct usage_holding **sorted;
	struct cmt_usage_row **by_id;
	struct usage_cpu *cpus;		/* nr_cpus of them */
	struct usage_perf perf;
	struct usage_channels channels;
	bool counting;		/* the device was asked for counters */
	struct usage_frame *first, **last;	/* complete */
	struct usage_frame *taken, *spare;
};

/*
 * Room for one more in an array of @nr, whose pointer is at @array.  Returns 0 or
 * -ENOMEM.
 */
int usage_grow(void *array, uint32_t nr, uint32_t *room, size_t size);

static inline int usage_cmp(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline bool usage_by_owner(const struct cmt_usage *usage)
{
	return usage->by == CMT_USAGE_BY_CONTAINER ||
	       usage->by == CMT_USAGE_BY_PROCESS;
}

/* Has a row a part in each domain? */
static inline bool usage_in_parts(const struct cmt_usage *usage)
{
	return usage->flags & CMT_USAGE_DOMAINS && usage_by_owner(usage);
}

/* The overflow RMID, CPUs and resctrl's RMIDs are in no cgroup. */
static inline bool usage_in_cgroup(enum cmt_usage_kind kind, uint32_t owner)
{
	return kind == CMT_USAGE_OWNER && (owner == CMT_OWNER_PROCESS ||
					   owner == CMT_OWNER_CGROUP);
}

/* CMT_USAGE_WHY_* of CMT_F_* */
static inline uint32_t usage_why(uint32_t flags)
{
	return (flags & CMT_F_ERROR ? CMT_USAGE_WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? CMT_USAGE_WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? CMT_USAGE_WHY_OVERWRITTEN : 0);
}

/* usage_group.c: */

/* The cgroup of this id in this interval; USAGE_NONE: no memory. */
uint32_t usage_cgroup(struct cmt_usage *usage, uint64_t id);
/* The groups of a holding.  Returns 0 or -ENOMEM. */
int usage_group(struct cmt_usage *usage, struct usage_holding *h);
/* Add the pending owners to the groups of their cgroups.  0 or -ENOMEM. */
int usage_group_pending(struct cmt_usage *usage);
/* A value of a group in the slot that is being added. */
void usage_sum_add(struct cmt_usage *usage, uint32_t group, bool known,
		   uint64_t bytes);
/* The slot is over. */
void usage_sum_close(struct cmt_usage *usage);
/* The interval is: all groups go, and cgroups that were not used. */
void usage_groups_close(struct cmt_usage *usage);
void usage_groups_free(struct cmt_usage *usage);

/* usage_holding.c: */

/* There is an L3 domain of this number.  Its index, or USAGE_NONE: one too many. */
uint32_t usage_domain(struct cmt_usage *usage, uint32_t domain);
int usage_holding_add(struct cmt_usage *usage, const struct cmt_slot_entry *e,
		      uint64_t end_ns);
/*
 * Of a device that reads nothing, before a frame: all owners are in the interval,
 * with values that are unavailable.  Returns 0 or -ENOMEM.
 */
int usage_holdings_unread(struct cmt_usage *usage);
/* Before rows are made: settle traffic, and which owners are absent. */
void usage_holdings_end(struct cmt_usage *usage);
/* Holds an owner nothing any more? */
static inline bool usage_ended(const struct usage_holding *h)
{
	return h->ended || h->absent;
}
/* Drop owners that ended or went unseen; the others begin a new interval. */
void usage_holdings_close(struct cmt_usage *usage);

/* usage_cpu.c: */
void usage_cpu_add(struct cmt_usage *usage, const struct cmt_slot_cpu *c);
void usage_cpus_lost(struct cmt_usage *usage);
void usage_cpus_sum(const struct cmt_usage *usage,
		    struct cmt_usage_frame *frame);
void usage_cpus_close(struct cmt_usage *usage);

/* usage_counters.c: */

/* Returns 0 or -ENOMEM. */
int usage_perf_add(struct cmt_usage *usage, const struct cmt_slot_perf *p);
/*
 * Before rows are made, after usage_holdings_end(): sums by group, and blanks for those
 * that ran and have no holding.  Returns 0 or -ENOMEM.
 */
int usage_perf_end(struct cmt_usage *usage);
/* How long the records of this interval have counted. */
uint64_t usage_counted_ns(const struct cmt_usage *usage);
/* The counters of a row that is settled but for them; NULL: it has none. */
void usage_row_counters(const struct cmt_usage *usage,
			const struct cmt_usage_frame *frame,
			struct cmt_usage_row *row,
			const struct usage_counted *counted);
void usage_perf_close(struct cmt_usage *usage);
void usage_perf_free(struct cmt_usage *usage);

/* The values of an RMID, or a channel, are read within this time of the record's. */
#define USAGE_READ_NS	20000

/* usage_rows.c: add what was moved in @span, and its bounds; it is off by @slack. */
void usage_rate_add(struct cmt_usage_rate *r, uint64_t bytes, uint64_t slack,
		    uint64_t span);
/* All is added. */
void usage_rate_settle(struct cmt_usage_rate *r, bool pending);
/* The rows of the interval, in @to.  Returns 0 or -ENOMEM. */
int usage_rows(struct cmt_usage *usage, struct usage_frame *to);
/* The total bandwidth of all RMIDs.  After usage_rows(). */
void usage_rmids(const struct cmt_usage *usage, struct cmt_usage_rate *r,
		 uint64_t elapsed_ns);

/* usage_channels.c: */

/* Returns 0 or -ENOMEM. */
int usage_channel_add(struct cmt_usage *usage, const struct cmt_slot_channel *c);
/* The channels and the memory of the frame, after its rows.  Returns 0 or -ENOMEM. */
int usage_channels(struct cmt_usage *usage, struct usage_frame *to);
void usage_channels_close(struct cmt_usage *usage);

/* usage_ids.c: CMT_USAGE_ROW_BORROWED_ID.  Returns 0 or -ENOMEM. */
int usage_mark_borrowed(struct cmt_usage *usage, struct usage_frame *to);

#endif
