/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a usage knows, for its own files.  usage.c has the interface and the
 * intervals, usage_recording.c reads a recording, usage_cpu.c has the CPUs, usage_holding.c who held what, usage_counters.c
 * what the processor counted, usage_rows.c makes rows of all three, usage_ids.c
 * compares their ids, usage_brief.c leaves rows out, and usage_channels.c has the memory
 * channels.  Below all of them is usage_group.c: which holdings are one row; and
 * usage_sum.c: what these held in all, slot by slot.
 *
 * Groups and cgroups last until a sweep (usage.c): then all that is not in use is
 * dropped, and a holding finds its group when it is next seen.  So a name that came
 * meanwhile joins from the next interval on.  Between sweeps the end of an interval
 * touches nothing: what is of one interval has the interval's number with it, and is
 * begun anew when the next one first needs it.
 */
#ifndef LIBCMT_USAGE_STATE_H
#define LIBCMT_USAGE_STATE_H

#include <cmt/resctrl.h>
#include <cmt/slots.h>
#include <cmt/usage.h>

#include "containers_cache.h"

#define USAGE_NONE	UINT32_MAX
#define USAGE_REASON_LEN sizeof(((struct cmt_uncore *)NULL)->channels_reason)
#define USAGE_DOMAINS	64	/* as many as slots know */

/* One MBM counter of one owner in one domain. */
struct usage_traffic {
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	uint64_t base;
	uint64_t base_ts;
	uint64_t last_ts;	/* of the last reading, also one without a value */
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* some traffic was not counted */
	bool linked;		/* the last difference ended at base */
	uint32_t chains;	/* of differences that follow each other */
	uint64_t bytes;
	uint64_t covered_ns;
	uint64_t missed_ns;	/* between readings, and not covered */
};

/* What a holding has in the sums of its groups. */
struct usage_share {
	bool in;		/* it is in them */
	bool unknown;		/* it has no value */
	uint64_t bytes;
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
	uint32_t group;		/* or USAGE_NONE */
	uint32_t child;		/* the group of its process or part, likewise */
	const struct cmt_slot_entry *entry;	/* in the slot that ends at seen_ns */
	uint64_t interval;	/* what is of an interval is of this one */
	uint64_t seen_ns;	/* in a slot that ends at this */
	bool alone;		/* no other of the same RMID and domain */
	bool ended;
	bool attached;
	/* of an interval */
	bool absent;		/* freed, or not in its last slot: it has ended */
	bool seen;
	bool emulated;
	bool occupancy_known;
	bool born;		/* first seen in it */
	bool read;		/* at least one reading in it; without one, total and
				 * local are of another interval
				 */
	bool steady;		/* a reading that is no less, with the same flags, only
				 * moves the ends of what is known
				 */
	bool kept;		/* there was one, that traffic does not have yet */
	bool held;		/* its last entry is in, and it has not ended */
	bool carried;		/* in its last slot, with nothing of one interval */
	bool chained;		/* by mate: see usage_group.first */
	uint32_t why;		/* of an interval */
	uint32_t mate;
	uint64_t news;		/* the interval in whose news it is */
	/* of the owner */
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint64_t cgroup_id;
	char comm[CMT_COMM_LEN + 1];
	uint32_t flags;		/* CMT_F_* of the last reading, */
	uint64_t ts;		/* its time */
	uint64_t mbm_total, mbm_local;	/* and counters */
	uint64_t occupancy_ts;	/* of the reading that it is of */
	uint64_t occupancy;
	uint64_t residual;
	/* seldom touched */
	struct usage_share share;
	bool blank;		/* no holding: an owner that ran, and was not read */
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
 * Two values of a memory channel that are read together.  They are sums, so that any two
 * readings can be subtracted, whatever is lost between them; but what was counted before
 * this interval is none of it.
 */
struct usage_series {
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	uint64_t base[2];
	uint64_t base_ts;
	/* of this interval */
	bool read;		/* at least one reading */
	bool broken;		/* something was not counted */
	uint64_t first_ns;	/* counted from here on */
	uint64_t sums[2];
	uint64_t covered_ns;	/* 0: no difference */
};

struct usage_channel {
	uint32_t socket, channel;
	bool gone;		/* the last record said unavailable; kept */
	uint32_t why;		/* of this interval */
	struct usage_series bytes;	/* read, written */
	struct usage_series cycles;	/* idle, busy */
};

/* All channels. */
struct usage_channels {
	struct usage_channel *all;	/* by socket and channel */
	uint32_t nr, room;
	uint32_t next;		/* where the next one is expected to be */
	bool over;		/* there was one too many, which is not in all */
	bool wanted;		/* the device was asked for them */
	uint32_t expected;	/* how many are read, says the module; 0: not known */
	char reason[USAGE_REASON_LEN];	/* why not all, it says; "": all are, or not known */
};

/* A cgroup that something is in. */
struct usage_cgroup {
	uint64_t id;
	struct cmt_item *item;	/* pinned; NULL: no memory */
	char *own;		/* path of the container; NULL: not known */
	uint64_t own_hash;	/* of own */
	uint32_t id_hash;	/* of the container's id; 0: it has none */
	uint32_t own_serial;	/* item->serial when these were copied */
	uint32_t group;		/* or USAGE_NONE */
	bool used;
};

/* What a row has held, over the slots of an interval: usage_sum() brings it up to date. */
struct usage_sum {
	/* kept from interval to interval */
	uint64_t now;		/* bytes of all shares in it */
	uint32_t holders;	/* how many these are; 0: it is in no slot */
	uint32_t unknown;	/* and how many of them have no value */
	/* of an interval */
	uint64_t interval;	/* its number */
	uint64_t counted;	/* number of the last slot that is in these: */
	uint64_t least, most, total;
	uint32_t nr;		/* slots in least and total */
};

/* What makes two holdings one row. */
struct usage_key {
	uint32_t type;
	uint64_t a, b;
	const char *own;	/* NULL: none */
};

struct usage_group {
	struct usage_sum sum;
	/* of the frame that is made: usage_group_now() */
	uint64_t frame;		/* its number */
	uint32_t pending;	/* owners */
	bool measured;		/* a row of the frame has its holdings */
	bool wanted;		/* a brief frame has a row of it */
	bool counts;		/* counted is of this frame, too */
	struct usage_counted counted;
	/* for good */
	uint32_t first;		/* its holdings, linked by mate; or USAGE_NONE */
	bool odd;		/* in no cgroup */
	uint32_t cgroup;	/* whose name it has, or USAGE_NONE */
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

/* A frame that waits to be taken, or has been. */
struct usage_frame {
	struct usage_frame *next;
	struct cmt_usage_frame frame;
	struct usage_rows rows, children;
	struct cmt_item **items;	/* pinned, of the rows */
	uint32_t nr_items, room_items;
	struct cmt_usage_channel *channels;
	uint32_t room_channels;
	char channels_reason[USAGE_REASON_LEN];
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
	uint32_t events;	/* CMT_F_OCCUPANCY | ... that the machine has, or that
				 * some reading had; without cmt_info: all
				 */
	uint64_t l3_bytes, interval_ns, slot_ns, late_ns;
	struct cmt_device *device;
	struct cmt_reader *reader;
	struct usage_replay *replay;	/* of a recording, in place of these; or NULL */
	struct cmt_slots *slots;
	struct cmt_containers *containers, *own_containers;
	/* the interval */
	bool unread;		/* the device reads nothing: usage_holdings_unread() */
	bool started;
	bool more;		/* the last call left something to read */
	uint64_t origin_ns;	/* readings since then are ours */
	uint64_t interval;	/* its number */
	uint64_t start_ns, end_ns;
	uint64_t slot_end_ns;	/* of the last slot */
	uint64_t nr_slots;
	uint64_t slots_before;	/* nr_slots at its begin */
	uint32_t slots_now, gaps_now;	/* in the interval */
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
	uint64_t lost, lost_base, dropped_base;
	uint64_t frames;	/* number of the frame that is made, or was */
	/* the last sweep */
	uint64_t swept_ns;	/* in slots' time */
	uint64_t swept_paths;	/* cmt_containers_paths() */
	bool untidy;		/* the next one is due */
	/* CMT_USAGE_BRIEF */
	bool brief;		/* the frame that is made leaves rows out */
	bool whole_due;		/* the next one may not, */
	uint64_t whole_ns;	/* nor one a second after this; in slots' time */
	bool narrow;		/* an interval has one slot, as a rule */
	bool loose;		/* some holding is in the chain of another group, too */
	uint64_t before_ns;	/* end of the slot before this one */
	uint32_t *news;		/* holdings of this interval with more than before */
	uint32_t nr_news, room_news;
	uint32_t *odd;		/* groups that always have a row */
	uint32_t nr_odd, room_odd;
	uint32_t *wanted;	/* groups that have a row in the frame that is made */
	uint32_t nr_wanted, room_wanted;
	/* holdings: of this interval, of these in the one before, and in that one */
	uint32_t nr_seen, nr_again, nr_seen_before;
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
	/* of the groups' containers */
	uint32_t *ids;		/* usage_cgroup.id_hash */
	uint32_t nr_ids, room_ids;
	struct usage_index id_index;
	bool same_ids;		/* some are the same, or that is not known */
	uint32_t nr_shares;	/* holdings that are in sums, */
	uint32_t shares_now;	/* and those of them that this slot has had so far */
	struct usage_holding **sorted;
	uint32_t *places;	/* by group, while they are sorted */
	struct cmt_usage_row **by_id;
	struct usage_cpu *cpus;		/* nr_cpus of them */
	struct usage_perf perf;
	struct usage_channels channels;
	bool counting;		/* the device was asked for counters */
	struct usage_frame *first, **last;	/* complete */
	struct usage_frame *taken, *spare;
};

/* Twice the room in the array whose pointer is at @array.  Returns 0 or -ENOMEM. */
int usage_grow_more(void *array, uint32_t *room, size_t size);
/* Room for one more in an array of @nr. */
static inline int usage_grow(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	return nr < *room ? 0 : usage_grow_more(array, room, size);
}

static inline int usage_cmp(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* The holding is in this interval for the first time. */
static inline void usage_count_seen(struct cmt_usage *usage,
				    struct usage_holding *h)
{
	usage->nr_seen++;
	usage->nr_again += h->interval + 1 == usage->interval;
	h->interval = usage->interval;
}

/* Are the holdings of a frame listed group by group? */
static inline bool usage_in_chains(const struct cmt_usage *usage)
{
	return usage->brief && !usage->loose;
}

/* Is the holding of this interval? */
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

/* Has it a name by its cgroup id?  A group of resctrl that libcmt reads does, too. */
static inline bool usage_is_named(const struct usage_holding *h)
{
	return usage_in_cgroup(h->kind, h->owner) ||
	       (h->kind == CMT_USAGE_OWNER && h->owner == CMT_OWNER_RESCTRL &&
		h->cgroup_id & CMT_RESCTRL_GROUP);
}

/* CMT_USAGE_WHY_* of CMT_F_* */
static inline uint32_t usage_why(uint32_t flags)
{
	return (flags & CMT_F_ERROR ? CMT_USAGE_WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? CMT_USAGE_WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? CMT_USAGE_WHY_OVERWRITTEN : 0);
}

/* usage.c: */

/* A record of no reader.  Returns 0 or -ENOMEM: it was not added. */
int usage_take(struct cmt_usage *usage, const struct cmt_record *record);

/* usage_recording.c: */

struct cmt_recording;
struct cmt_reader_counts;

/* Read from @recording from now on.  Returns 0 or -ENOMEM. */
int usage_replay_new(struct cmt_usage *usage, struct cmt_recording *recording);
void usage_replay_free(struct cmt_usage *usage);
/* Until a frame is complete, or the end: that ends the interval.  Returns 0 or -errno. */
int usage_replay(struct cmt_usage *usage);
bool usage_replay_ended(const struct cmt_usage *usage);
/* What the reader of the recording program has dropped, and its quiet CPUs. */
void usage_replay_counts(const struct cmt_usage *usage, struct cmt_reader_counts *counts);

/* usage_channels.c: what the module says of channels. */
void usage_set_uncore(struct cmt_usage *usage, const struct cmt_uncore *uncore);

/* usage_group.c: */

/* The cgroup of this id in this interval; USAGE_NONE: no memory. */
uint32_t usage_cgroup(struct cmt_usage *usage, uint64_t id);
/* The groups of a holding.  Returns 0 or -ENOMEM. */
int usage_group(struct cmt_usage *usage, struct usage_holding *h);
/* A group of the frame that is made. */
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

/* A frame, also a brief one, has a row of the group. */
static inline struct usage_group *usage_want(struct cmt_usage *usage,
					     uint32_t number)
{
	struct usage_group *group = usage_group_now(usage, number);

	if (!group->wanted)
		usage->wanted[usage->nr_wanted++] = number;
	group->wanted = true;
	return group;
}

/* Add the pending owners to the groups of their cgroups.  0 or -ENOMEM. */
int usage_group_pending(struct cmt_usage *usage);
/* A sweep: all groups go, and cgroups that were not used since the last one. */
void usage_groups_sweep(struct cmt_usage *usage);
void usage_groups_free(struct cmt_usage *usage);

/* usage_sum.c: */

/* The holding, which has a group, is in the slot that is being added. */
void usage_sum_add(struct cmt_usage *usage, struct usage_holding *h);
/* It is not, or is about to have another group. */
void usage_sum_drop(struct cmt_usage *usage, struct usage_holding *h);
/* The slot is over, and had @nr of the holdings that are in sums. */
void usage_sums_end(struct cmt_usage *usage, uint32_t nr);
/* Of a group, up to the last slot. */
const struct usage_sum *usage_sum(struct cmt_usage *usage, uint32_t group);

/* usage_holding.c: */

/* There is an L3 domain of this number.  Its index, or USAGE_NONE: one too many. */
uint32_t usage_domain(struct cmt_usage *usage, uint32_t domain);
int usage_holding_add(struct cmt_usage *usage, const struct cmt_slot_entry *e,
		      uint64_t end_ns);
/* The holding of an RMID and its generation in a domain; NULL: there is none. */
struct usage_holding *usage_holding_find(struct cmt_usage *usage, uint32_t rmid,
					 uint32_t generation, uint32_t domain);
/*
 * Of a device that reads nothing, before a frame: all owners are in the interval,
 * with values that are unavailable.  Returns 0 or -ENOMEM.
 */
int usage_holdings_unread(struct cmt_usage *usage);
/*
 * Before rows are made, and it is known whether they are brief: settle traffic, and which
 * owners are absent.  @emulated: set if some value is of a model.
 */
void usage_holdings_end(struct cmt_usage *usage, bool *emulated);
/* What a slot says it holds; false: nothing. */
static inline bool usage_holds(const struct usage_holding *h)
{
	return h->occupancy_known && h->occupancy_ts == h->ts;
}
/* Holds an owner nothing any more? */
static inline bool usage_ended(const struct usage_holding *h)
{
	return h->ended || h->absent;
}
/* A sweep: drop owners that ended or went unseen; the others have no group now. */
void usage_holdings_sweep(struct cmt_usage *usage);

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

/* usage_brief.c: */

/* The entries of a slot.  Returns 0 or -ENOMEM. */
int usage_entries_add(struct cmt_usage *usage, const struct cmt_slot *slot);
/* Add up the last slot, where a narrow interval has more than one all the same. */
void usage_brief_sums(struct cmt_usage *usage);
/* A holding that has found its group is in its chain.  Returns 0 or -ENOMEM. */
int usage_group_join(struct cmt_usage *usage, struct usage_holding *h);
/*
 * Does the frame leave rows out?  Not where something has gone that was in the interval
 * before: who is in no row then is not there any more.
 */
void usage_brief_decide(struct cmt_usage *usage, struct cmt_usage_frame *frame);
/* The groups that have a row in a brief frame; some are known already. */
void usage_brief_want(struct cmt_usage *usage);
/* Their holdings, at most @room of them.  Returns how many. */
uint32_t usage_brief_list(struct cmt_usage *usage, struct usage_holding **list,
			  uint32_t room);

/* usage_ids.c: CMT_USAGE_ROW_BORROWED_ID.  Returns 0 or -ENOMEM. */
int usage_mark_borrowed(struct cmt_usage *usage, struct usage_frame *to);

#endif
