/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of struct cmt_usage, private to the room:
 *
 *	usage.c		the interface and the intervals
 *	replay.c	reads a recording
 *	holding.c	what each owner holds in each domain
 *	cpus.c		the CPUs
 *	counters.c	the processor's counters (PERF records)
 *	memory.c	the memory channels
 *	rows.c		makes rows of holdings, counters and CPUs
 *	ids.c		compares the container ids of rows
 *	brief.c		chooses the rows of a brief frame
 *	group.c		which holdings make one row; below the files above
 *	sum.c		what the holdings of a group held in each slot; likewise
 *
 * Groups and cgroups last until a sweep (usage.c).  The sweep drops all groups and all
 * unused cgroups.  A holding finds its group again in the next slot that has the
 * holding.  So a new name of a cgroup takes effect in the interval after the sweep.
 * The end of an interval without a sweep changes no holding and no group.  Values of
 * one interval are stored with the number of the interval, and are reset on their first
 * use in a later one.
 */
#ifndef LIBCMT_USAGE_STATE_H
#define LIBCMT_USAGE_STATE_H

#include <cmt/resctrl.h>
#include <cmt/slots.h>
#include <cmt/usage.h>

#include "name/name.h"

#define USAGE_NONE	UINT32_MAX
#define USAGE_REASON_LEN sizeof(((struct cmt_uncore *)NULL)->channels_reason)
#define USAGE_DOMAINS	64	/* the limit in slots/entries.c */

/* One MBM counter of one owner in one domain. */
struct usage_traffic {
	/* kept from interval to interval */
	bool ever;		/* the counter was read at least once */
	/* base is the last reading, and the next reading can continue it */
	bool based;
	uint64_t base;
	uint64_t base_ts;
	uint64_t last_ts;	/* time of the last reading, with or without a value */
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* traffic between two readings was not counted */
	bool linked;		/* the last difference ended at base */
	uint32_t chains;	/* sequences of adjacent differences */
	uint64_t bytes;
	uint64_t covered_ns;
	uint64_t missed_ns;	/* time between readings without a difference */
};

/* What a holding contributes to the sums of its groups. */
struct usage_share {
	bool in;		/* the holding is in the sums */
	bool unknown;		/* the holding has no value */
	uint64_t bytes;
};

/*
 * One owner in one L3 domain: the identity of a cmt_slot_entry.  In most slots an entry
 * repeats the values of the slot before, or has a reading that continues them.  These
 * two cases access only the first members.
 */
struct usage_holding {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t older;		/* the next older holding of this RMID and domain */
	uint32_t group;		/* index of the group, or USAGE_NONE */
	/* index of the group of the row's part, or USAGE_NONE */
	uint32_t child;
	const struct cmt_slot_entry *entry;	/* in the slot that ends at seen_ns */
	/* the interval that the members "of an interval" are of */
	uint64_t interval;
	uint64_t seen_ns;	/* end of the last slot with the holding */
	bool alone;		/* no other holding has this RMID and domain */
	bool ended;
	bool attached;
	/* of an interval */
	/* the owner has ended: it was freed, or it is not in the last slot */
	bool absent;
	bool seen;
	bool emulated;
	bool occupancy_known;
	bool born;		/* the holding was first seen in the interval */
	/*
	 * at least one reading in the interval; if not, total and local are of an
	 * earlier interval
	 */
	bool read;
	/* A reading with the same flags and no lower values continues both counters. */
	bool steady;
	bool kept;		/* total and local lack the last reading */
	/* the last entry is accounted, and the owner has not ended */
	bool held;
	bool carried;		/* in the last slot, and no value is of one interval */
	bool chained;		/* linked by mate: see usage_group.first */
	uint32_t why;		/* of an interval */
	uint32_t mate;
	/* the interval in whose list usage->news the holding is */
	uint64_t news;
	/* of the owner */
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint64_t cgroup_id;
	char comm[CMT_COMM_LEN + 1];
	uint32_t flags;		/* CMT_F_* of the last reading */
	uint64_t ts;		/* time of the last reading */
	uint64_t mbm_total, mbm_local;	/* counters of the last reading */
	uint64_t occupancy_ts;	/* time of the reading with occupancy and residual */
	uint64_t occupancy;
	uint64_t residual;
	/* rarely accessed */
	struct usage_share share;
	bool blank;		/* stands for an owner that ran and has no holding */
	uint32_t cpu;
	struct usage_traffic total;
	struct usage_traffic local;
};

/* Sums over the PERF records of an interval. */
struct usage_counted {
	uint64_t nr;		/* number of records */
	uint32_t values;	/* CMT_F_CYCLES | ... that some records have */
	uint32_t lacking;	/* CMT_F_CYCLES | ... that some records lack */
	uint64_t ran_ns;
	uint64_t cycles, instructions, llc_misses, llc_references;
	/* sums over the records with both values */
	uint64_t ipc_instructions, ipc_cycles;
	uint64_t mpki_misses, mpki_instructions;
};

/*
 * An owner that ran in this interval.  With rows by domain: a domain in which owners
 * ran.
 */
struct usage_runner {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	/* the next older runner of this RMID, or of any domain */
	uint32_t older;
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint32_t cpu;
	uint64_t cgroup_id;
	bool attached;
	bool freed;
	char comm[CMT_COMM_LEN + 1];
	struct usage_counted counted;
	uint32_t group;		/* valid while rows are made */
	uint32_t child;
};

#define USAGE_COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

/* The PERF records of all owners. */
struct usage_perf {
	/* of this interval */
	uint64_t nr;
	uint32_t values;
	/* time covered: from closed_ns, or from first_ns if closed_ns is 0 */
	uint64_t first_ns, last_ns, closed_ns;
	/* by RMID or domain: the newest runner; NULL before the first record */
	uint32_t *newest;
	struct usage_runner *runners;
	uint32_t nr_runners, room_runners;
	/* runners without a holding; valid while rows are made */
	struct usage_holding *blanks;
	uint32_t nr_blanks, room_blanks;
	bool quiet;		/* some CPUs write no TICK records */
};

/*
 * Two values of a memory channel that are read together.  The values are running sums,
 * so any two readings can be subtracted, and a lost reading loses no traffic.  Traffic
 * from before this interval is not counted in it.
 */
struct usage_series {
	/* kept from interval to interval */
	bool ever;		/* the channel was read at least once */
	/* base is the last reading, and the next reading can continue it */
	bool based;
	uint64_t base[2];
	uint64_t base_ts;
	/* of this interval */
	bool read;		/* at least one reading */
	bool broken;		/* traffic between two readings was not counted */
	uint64_t first_ns;	/* begin of the time that sums cover */
	uint64_t sums[2];
	uint64_t covered_ns;	/* 0: no difference yet */
};

struct usage_channel {
	uint32_t socket, channel;
	/* the last record is "unavailable"; kept from interval to interval */
	bool gone;
	uint32_t why;		/* of this interval */
	struct usage_series bytes;	/* read, written */
	struct usage_series cycles;	/* idle, busy */
};

/* All channels. */
struct usage_channels {
	struct usage_channel *all;	/* by socket and channel */
	uint32_t nr, room;
	uint32_t next;		/* expected index of the next record's channel */
	bool over;		/* a record was dropped, because the table was full */
	bool wanted;		/* the device was asked for channels */
	uint32_t expected;	/* channels that the module reads; 0: not known */
	/*
	 * the module's reason for missing channels; "": none is missing, or not known
	 */
	char reason[USAGE_REASON_LEN];
};

/* A cgroup that owners run in. */
struct usage_cgroup {
	uint64_t id;
	struct cmt_item *item;	/* pinned; NULL: no memory */
	char *own;		/* path of the container; NULL: not known */
	uint64_t own_hash;	/* of own */
	uint32_t id_hash;	/* of the container's id; 0: it has none */
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

/* A complete frame: not taken yet, or taken. */
struct usage_frame {
	struct usage_frame *next;
	struct cmt_usage_frame frame;
	struct usage_rows rows, children;
	struct cmt_item **items;	/* pinned items of the rows */
	uint32_t nr_items, room_items;
	struct cmt_usage_channel *channels;
	uint32_t room_channels;
	char channels_reason[USAGE_REASON_LEN];
};

/* A hash table of numbers by key: open addressing, at most half full. */
struct usage_index {
	uint32_t *at;		/* USAGE_NONE: free */
	uint32_t size;		/* a power of two, or 0 */
};

struct cmt_usage {
	/* options */
	uint32_t by, flags;
	uint32_t nr_rmids, nr_cpus, unit_bytes;
	/*
	 * CMT_F_OCCUPANCY | ... of the machine, and of all readings; without cmt_info:
	 * all
	 */
	uint32_t events;
	uint64_t l3_bytes, interval_ns, slot_ns, late_ns;
	struct cmt_device *device;
	struct cmt_reader *reader;
	/* a recording, read in place of the device; or NULL */
	struct usage_replay *replay;
	struct cmt_slots *slots;
	struct cmt_containers *containers, *own_containers;
	/* the interval */
	/* the device has no readings: usage_holdings_unread() */
	bool unread;
	bool started;
	bool more;		/* the last call left records unread */
	/* owners allocated before it count from their first reading */
	uint64_t origin_ns;
	uint64_t interval;	/* number of the interval */
	uint64_t start_ns, end_ns;
	uint64_t slot_end_ns;	/* of the last slot */
	uint64_t nr_slots;
	uint64_t slots_before;	/* nr_slots at the begin of the interval */
	uint32_t slots_now, gaps_now;	/* slots and gaps in the interval */
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
	uint64_t lost, lost_base, dropped_base;
	uint64_t frames;	/* number of the last frame made */
	/* the last sweep */
	uint64_t swept_ns;	/* end of the last slot before the sweep */
	uint64_t swept_paths;	/* cmt_containers_paths() at the sweep */
	bool untidy;		/* the next sweep is due */
	/* CMT_USAGE_BRIEF */
	bool brief;		/* the frame that is being made leaves rows out */
	bool whole_due;		/* the next frame must have all rows */
	/* end of the last slot of the last frame with all rows */
	uint64_t whole_ns;
	bool narrow;		/* an interval is as long as a slot */
	/* some holding is also in the chain of a group that it left */
	bool loose;
	uint64_t before_ns;	/* end of the slot before the current one */
	uint32_t *news;		/* holdings of this interval with anything new */
	uint32_t nr_news, room_news;
	uint32_t *odd;		/* groups that always have a row */
	uint32_t nr_odd, room_odd;
	uint32_t *wanted;	/* groups with a row in the frame that is being made */
	uint32_t nr_wanted, room_wanted;
	/*
	 * holdings of this interval, of these the ones of the interval before, and all
	 * of the interval before
	 */
	uint32_t nr_seen, nr_again, nr_seen_before;
	uint32_t sampling_ns;
	bool pending_known;
	uint32_t nr_pending;
	uint64_t pending_ns;
	uint64_t *pending_ids;	/* cgroup ids, one for each pending owner */
	/* the tables */
	struct usage_holding *holdings;
	uint32_t nr_holdings, room_holdings;
	uint32_t expected;	/* expected index of the next entry's holding */
	uint32_t domains[USAGE_DOMAINS];
	uint32_t *chains[USAGE_DOMAINS];	/* by RMID: its newest holding */
	uint32_t nr_domains, last_domain;
	struct usage_cgroup *cgroups;
	uint32_t nr_cgroups, room_cgroups;
	struct usage_index cgroup_index;
	struct usage_group *groups;
	uint32_t nr_groups, room_groups;
	struct usage_index group_index;
	/* ids of the groups' containers */
	uint32_t *ids;		/* usage_cgroup.id_hash */
	uint32_t nr_ids, room_ids;
	struct usage_index id_index;
	bool same_ids;		/* two ids are equal, or an allocation failed */
	uint32_t nr_shares;	/* holdings in the sums */
	uint32_t shares_now;	/* of these, the number in this slot so far */
	struct usage_holding **sorted;
	uint32_t *places;	/* by group, used while holdings are sorted */
	struct cmt_usage_row **by_id;
	struct usage_cpu *cpus;		/* nr_cpus elements */
	struct usage_perf perf;
	struct usage_channels channels;
	bool counting;		/* the device was asked for counters */
	struct usage_frame *first, **last;	/* complete frames, not taken yet */
	struct usage_frame *taken, *spare;
};

/* Double the array at *@array.  Returns 0 or -ENOMEM. */
int usage_grow_more(void *array, uint32_t *room, size_t size);
/* Make room for one more element in an array of @nr.  Returns 0 or -ENOMEM. */
static inline int usage_grow(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	return nr < *room ? 0 : usage_grow_more(array, room, size);
}

static inline int usage_cmp(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Count a holding, in its first slot of this interval. */
static inline void usage_count_seen(struct cmt_usage *usage,
				    struct usage_holding *h)
{
	usage->nr_seen++;
	usage->nr_again += h->interval + 1 == usage->interval;
	h->interval = usage->interval;
}

/* Are the holdings of a frame listed by group? */
static inline bool usage_in_chains(const struct cmt_usage *usage)
{
	return usage->brief && !usage->loose;
}

/* Is the holding in this interval? */
static inline bool usage_seen(const struct cmt_usage *usage,
			      const struct usage_holding *h)
{
	return h->interval == usage->interval && h->seen;
}

static inline bool usage_by_owner(const struct cmt_usage *usage)
{
	return usage->by == CMT_USAGE_BY_CONTAINER ||
	       usage->by == CMT_USAGE_BY_PROCESS;
}

/* Has a row one part for each domain? */
static inline bool usage_in_parts(const struct cmt_usage *usage)
{
	return usage->flags & CMT_USAGE_DOMAINS && usage_by_owner(usage);
}

/* The overflow RMID, CPUs and RMIDs of resctrl are in no cgroup. */
static inline bool usage_in_cgroup(enum cmt_usage_kind kind, uint32_t owner)
{
	return kind == CMT_USAGE_OWNER && (owner == CMT_OWNER_PROCESS ||
					   owner == CMT_OWNER_CGROUP);
}

/*
 * Does the cgroup id of a holding name it?  So it does for a resctrl group of libcmt.
 */
static inline bool usage_is_named(const struct usage_holding *h)
{
	return usage_in_cgroup(h->kind, h->owner) ||
	       (h->kind == CMT_USAGE_OWNER && h->owner == CMT_OWNER_RESCTRL &&
		h->cgroup_id & CMT_RESCTRL_GROUP);
}

/* CMT_USAGE_WHY_* for CMT_F_* */
static inline uint32_t usage_why(uint32_t flags)
{
	return (flags & CMT_F_ERROR ? CMT_USAGE_WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? CMT_USAGE_WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? CMT_USAGE_WHY_OVERWRITTEN : 0);
}

/* usage.c: */

/* Add a record that comes from no reader.  Returns 0, or -ENOMEM: it was not added. */
int usage_take(struct cmt_usage *usage, const struct cmt_record *record);

/* replay.c: */

struct cmt_recording;
struct cmt_reader_counts;

/* Read from @recording from now on.  Returns 0 or -ENOMEM. */
int usage_replay_new(struct cmt_usage *usage, struct cmt_recording *recording);
void usage_replay_free(struct cmt_usage *usage);
/*
 * Read until a frame is complete, or to the end of the recording, which closes the
 * interval.  Returns 0 or -errno.
 */
int usage_replay(struct cmt_usage *usage);
bool usage_replay_ended(const struct cmt_usage *usage);
/* The recorded counts of dropped records and quiet CPUs. */
void usage_replay_counts(const struct cmt_usage *usage, struct cmt_reader_counts *counts);

/* memory.c: store what the module reports of channels. */
void usage_set_uncore(struct cmt_usage *usage, const struct cmt_uncore *uncore);

/* group.c: */

/* Find or add the cgroup @id, and mark it as used.  USAGE_NONE: no memory. */
uint32_t usage_cgroup(struct cmt_usage *usage, uint64_t id);
/* Find or add the groups of a holding.  Returns 0 or -ENOMEM. */
int usage_group(struct cmt_usage *usage, struct usage_holding *h);
/* The group @number, with the values of the frame that is being made. */
static inline struct usage_group *usage_group_now(struct cmt_usage *usage,
						  uint32_t number)
{
	struct usage_group *group = &usage->groups[number];

	if (group->frame != usage->frames) {
		group->frame = usage->frames;
		group->pending = 0;
		group->measured = false;
		group->wanted = false;
		group->counts = false;
	}
	return group;
}

/* Give the group a row in the frame, also in a brief one. */
static inline struct usage_group *usage_want(struct cmt_usage *usage,
					     uint32_t number)
{
	struct usage_group *group = usage_group_now(usage, number);

	if (!group->wanted)
		usage->wanted[usage->nr_wanted++] = number;
	group->wanted = true;
	return group;
}

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

/* holding.c: */

/*
 * Find or add the L3 domain @domain.  Returns its index, or USAGE_NONE: the table is
 * full.
 */
uint32_t usage_domain(struct cmt_usage *usage, uint32_t domain);
int usage_holding_add(struct cmt_usage *usage, const struct cmt_slot_entry *e,
		      uint64_t end_ns);
/* The holding of an RMID and its generation in a domain; NULL: there is none. */
struct usage_holding *usage_holding_find(struct cmt_usage *usage, uint32_t rmid,
					 uint32_t generation, uint32_t domain);
/*
 * For a device without readings, before a frame: add all owners to the interval, with
 * unavailable values.  Returns 0 or -ENOMEM.
 */
int usage_holdings_unread(struct cmt_usage *usage);
/*
 * Complete traffic, and find absent owners.  To be called before rows are made, after
 * usage_brief_decide().  @emulated: set if some value is emulated.
 */
void usage_holdings_end(struct cmt_usage *usage, bool *emulated);
/* Does the last reading of the holding have an occupancy? */
static inline bool usage_holds(const struct usage_holding *h)
{
	return h->occupancy_known && h->occupancy_ts == h->ts;
}
/* Has the owner ended? */
static inline bool usage_ended(const struct usage_holding *h)
{
	return h->ended || h->absent;
}
/*
 * A sweep: drop owners that ended or are unseen for long.  The others have no group
 * then.
 */
void usage_holdings_sweep(struct cmt_usage *usage);

/* cpus.c: */
void usage_cpu_add(struct cmt_usage *usage, const struct cmt_slot_cpu *c);
void usage_cpus_lost(struct cmt_usage *usage);
void usage_cpus_sum(const struct cmt_usage *usage,
		    struct cmt_usage_frame *frame);
void usage_cpus_close(struct cmt_usage *usage);

/* counters.c: */

/* Returns 0 or -ENOMEM. */
int usage_perf_add(struct cmt_usage *usage, const struct cmt_slot_perf *p);
/*
 * Sum up by group, and add blanks for owners that ran and have no holding.  To be
 * called before rows are made, after usage_holdings_end().  Returns 0 or -ENOMEM.
 */
int usage_perf_end(struct cmt_usage *usage);
/* The time that the PERF records of this interval cover. */
uint64_t usage_counted_ns(const struct cmt_usage *usage);
/*
 * Fill in the counters of a row, the last of its values.  @counted: NULL: no counters.
 */
void usage_row_counters(const struct cmt_usage *usage,
			const struct cmt_usage_frame *frame,
			struct cmt_usage_row *row,
			const struct usage_counted *counted);
void usage_perf_close(struct cmt_usage *usage);
void usage_perf_free(struct cmt_usage *usage);

/* An RMID or a channel is read within this time of its record's timestamp. */
#define USAGE_READ_NS	20000

/* rows.c: add @bytes moved in @span, with bounds; the error is at most @slack. */
void usage_rate_add(struct cmt_usage_rate *r, uint64_t bytes, uint64_t slack,
		    uint64_t span);
/* Complete a rate, when all bytes are added. */
void usage_rate_settle(struct cmt_usage_rate *r, bool pending);
/* Make the rows of the interval, in @to.  Returns 0 or -ENOMEM. */
int usage_rows(struct cmt_usage *usage, struct usage_frame *to);
/* The total bandwidth of all RMIDs.  To be called after usage_rows(). */
void usage_rmids(const struct cmt_usage *usage, struct cmt_usage_rate *r,
		 uint64_t elapsed_ns);

/* memory.c: */

/* Returns 0 or -ENOMEM. */
int usage_channel_add(struct cmt_usage *usage, const struct cmt_slot_channel *c);
/*
 * Fill in the channels and the memory of a frame, after its rows.  Returns 0 or
 * -ENOMEM.
 */
int usage_channels(struct cmt_usage *usage, struct usage_frame *to);
void usage_channels_close(struct cmt_usage *usage);

/* brief.c: */

/* Add the entries of a slot.  Returns 0 or -ENOMEM. */
int usage_entries_add(struct cmt_usage *usage, const struct cmt_slot *slot);
/* Sum up the last slot, for a narrow interval with more than one slot. */
void usage_brief_sums(struct cmt_usage *usage);
/* Add a holding to the chain of its new group.  Returns 0 or -ENOMEM. */
int usage_group_join(struct cmt_usage *usage, struct usage_holding *h);
/*
 * Decide whether the frame is brief.  A frame after a holding has gone has all rows,
 * because a missing row then means that the owner has gone.
 */
void usage_brief_decide(struct cmt_usage *usage, struct cmt_usage_frame *frame);
/* Choose the groups that have a row in a brief frame. */
void usage_brief_want(struct cmt_usage *usage);
/* List the holdings of these groups, at most @room.  Returns their number. */
uint32_t usage_brief_list(struct cmt_usage *usage, struct usage_holding **list,
			  uint32_t room);

/* ids.c: set CMT_USAGE_ROW_BORROWED_ID.  Returns 0 or -ENOMEM. */
int usage_mark_borrowed(struct cmt_usage *usage, struct usage_frame *to);

#endif
