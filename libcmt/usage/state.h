/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of struct cmt_usage, private to the room:
 *
 *	usage.c		the interface
 *	live.c		reads a device
 *	replay.c	reads a recording
 *	interval.c	slots into intervals, and intervals into frames
 *	missing.c	what a damaged recording lacks
 *	holding.c	what each owner holds in each domain
 *	traffic.c	the traffic of a holding
 *	owner.c		whose an RMID is
 *	cpus.c		the CPUs
 *	counters.c	the processor's counters (PERF records)
 *	waits.c		for whom tasks waited
 *	memory.c	the memory channels
 *	rows.c		which rows a frame has
 *	row.c		the values of a row, of its holdings
 *	rate.c		rates, of the traffic of holdings
 *	ids.c		compares the container ids of rows
 *	brief.c		chooses the rows of a brief frame
 *	group.c		which holdings make one row; below the files above
 *	sum.c		what the holdings of a group held in each slot; likewise
 *
 * Groups and cgroups last until a sweep (interval.c).  The sweep drops all groups and all
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

#include "base/base.h"
#include "counters.h"
#include "frame.h"
#include "group.h"
#include "holding.h"
#include "memory.h"
#include "wait/wait.h"
#include "row.h"

#define USAGE_NONE	UINT32_MAX
/* an owner in no slot for this time is dropped */
#define USAGE_FORGET_NS	2000000000ULL

/*
 * Where the records come from, and what is in no record: a device, a recording, or the
 * program, which gives them itself.  A function may be NULL.
 */
struct usage_source {
	/* Read until a frame is complete, or nothing is left.  Returns 0 or -errno. */
	int (*read)(struct cmt_usage *usage);
	/* As cmt_usage_timeout(), when no frame waits; NULL: -1. */
	int (*timeout)(const struct cmt_usage *usage);
	/* Set what is known of the reader, and the lost records of each CPU. */
	void (*counts)(struct cmt_usage *usage, struct cmt_reader_counts *counts);
	/* As cmt_usage_refresh().  Not NULL. */
	int (*refresh)(struct cmt_usage *usage, unsigned int what);
	void (*close)(struct cmt_usage *usage);
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
	struct usage_owner owner;
	uint64_t missed, missed_base;
	uint64_t busy_ns, busy_base;
	uint64_t lost, lost_base;
	struct usage_counted counted;
	/* of the frame that is being made */
	uint32_t row;		/* index of the row, or USAGE_NONE */
	bool own, alive;	/* the CPU has an RMID of its own; it still has it */
};

/* The records that a damaged part of a recording had. */
struct usage_missing {
	bool open;		/* slots from its begin on, or behind it, are to come */
	/* of what is not counted yet; 0, and UINT64_MAX: not known yet */
	uint64_t from_ns, to_ns;
	uint64_t lost;		/* not in an interval yet */
};

struct cmt_usage {
	/* options */
	uint32_t by, flags;
	uint32_t nr_rmids, nr_cpus, unit_bytes;
	/*
	 * CMT_F_OCCUPANCY | ... of the machine, and of all readings; without cmt_info:
	 * all; none that is unwanted
	 */
	uint32_t events;
	uint32_t unwanted;	/* values that are ignored, as if the machine had none */
	uint64_t l3_bytes, interval_ns, slot_ns, late_ns;
	const struct usage_source *source;
	/* of the source, or NULL */
	struct cmt_device *device;
	struct cmt_reader *reader;
	struct usage_replay *replay;
	struct cmt_slots *slots;
	struct cmt_containers *containers, *own_containers;
	/* the interval */
	/* the device has no readings: usage_holdings_unread() */
	bool unread;
	bool started;
	bool more;		/* the last call left records unread */
	/* the wanted moment of a recording, which may be after its first records; 0: none */
	uint64_t wanted_ns;
	/* owners allocated before it count from their first reading */
	uint64_t origin_ns;
	uint64_t interval;	/* number of the interval */
	uint64_t start_ns, end_ns;
	uint64_t slot_end_ns;	/* of the last slot */
	uint64_t nr_slots;
	uint64_t slots_before;	/* nr_slots at the begin of the interval */
	uint32_t slots_now, gaps_now;	/* slots and gaps in the interval */
	struct usage_missing missing;
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
	uint64_t lost, lost_base, dropped_base;
	uint64_t dropped;	/* records of more domains than there can be */
	uint64_t frames;	/* number of the last frame made */
	/* the last sweep */
	uint64_t swept_ns;	/* end of the last slot before the sweep */
	uint64_t swept_paths;	/* cmt_containers_paths() at the sweep */
	bool untidy;		/* the next sweep is due */
	bool ended;		/* some holding has ended since the last sweep */
	/* CMT_USAGE_BRIEF */
	bool brief;		/* the frame that is being made leaves rows out */
	bool whole_due;		/* the next frame must have all rows */
	/* end of the last slot of the last frame with all rows */
	uint64_t whole_ns;
	bool narrow;		/* by owner, and an interval is as long as a slot */
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
	/* By index of an entry: its holding */
	uint32_t *steps;
	uint32_t nr_steps, room_steps;
	bool in_step;		/* steps are those of the last slot, and all are held */
	bool behind;		/* their holdings lack the seen_ns of slots since then */
	uint32_t domains[CMT_DOMAINS_MAX];
	uint32_t *chains[CMT_DOMAINS_MAX];	/* by RMID: its highest generation */
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
	struct usage_bests bests;
	bool same_ids;		/* two ids are equal, or an allocation failed */
	uint32_t *shares;	/* holdings in the sums, in any order */
	uint32_t nr_shares, room_shares;
	uint32_t shares_now;	/* of these, the number in this slot so far */
	struct usage_holding **sorted;
	uint32_t *places;	/* by group, used while holdings are sorted */
	struct cmt_usage_row **by_id;
	struct usage_cpu *cpus;		/* nr_cpus elements */
	struct usage_perf perf;
	struct wait_sums waits;		/* by runner; CMT_USAGE_WAITS */
	struct usage_channels channels;
	bool counting;		/* the device was asked for counters */
	bool choosing;		/* the device was asked for some values */
	struct usage_frame *first, **last;	/* complete frames, not taken yet */
	struct usage_frame *taken, *spare;
};

#define USAGE_SAMPLED	((uint32_t)(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL))

/* The flags of a reading, as they are for this usage */
static inline uint32_t usage_flags(const struct cmt_usage *usage, uint32_t flags)
{
	return flags & ~usage->unwanted;
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

/* Is the holding in this interval?  Then it has a group. */
static inline bool usage_seen(const struct cmt_usage *usage,
			      const struct usage_holding *h)
{
	return h->interval == usage->interval && h->seen;
}

/* Nearly every record is of the domain of the one before. */
static inline bool usage_in_last_domain(const struct cmt_usage *usage, uint32_t domain)
{
	return usage->nr_domains && usage->domains[usage->last_domain] == domain;
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

/* CMT_USAGE_WHY_* for CMT_F_* */
static inline uint32_t usage_why(uint32_t flags)
{
	return (flags & CMT_F_ERROR ? CMT_USAGE_WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? CMT_USAGE_WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? CMT_USAGE_WHY_OVERWRITTEN : 0);
}

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

/* A CPU's own RMID, which the row of the CPU has. */
static inline bool usage_in_cpu_row(const struct cmt_usage *usage,
				    const struct usage_holding *h)
{
	return usage->by == CMT_USAGE_BY_CPU && h->owner.kind == CMT_USAGE_OWNER &&
	       h->owner.type == CMT_OWNER_CPU;
}

/* The group has this row of the frame. */
static inline void usage_group_measured(struct cmt_usage *usage, uint32_t number,
					uint32_t row)
{
	struct usage_group *group = usage_group_now(usage, number);

	group->measured = true;
	group->row = row;
}

/* usage.c: */

/* Add a record that comes from no reader.  Returns 0, or -ENOMEM: it was not added. */
int usage_take(struct cmt_usage *usage, const struct cmt_record *record);
/* Read the names that are missing, or old. */
void usage_refresh_names(struct cmt_usage *usage);

/* live.c: read from @opts->device from now on.  Returns 0 or -errno. */
int usage_live(struct cmt_usage *usage, const struct cmt_usage_opts *opts);

/* replay.c: read from @recording from now on.  Returns 0, -EBUSY or -ENOMEM. */
int usage_replay(struct cmt_usage *usage, struct cmt_recording *recording);

/* missing.c: */

/*
 * Note that records are missing, from @from_ns to @to_ns, on any CPU.  0, and UINT64_MAX: not
 * known yet.  @lost: how many; 0: not known, and counts as one.
 */
void usage_missing_add(struct cmt_usage *usage, uint64_t from_ns, uint64_t to_ns,
		       uint64_t lost);
/* Records of @to_ns came, or the end: what had no end yet ends there, or where it begins. */
void usage_missing_until(struct cmt_usage *usage, uint64_t to_ns);
/* Count what is missing in the interval before @until_ns, and no slot has. */
void usage_missing_count(struct cmt_usage *usage, uint64_t until_ns);
/* Count it before @slot.  Does the slot lack records, or the frame what came before it? */
bool usage_missing_slot(struct cmt_usage *usage, const struct cmt_slot *slot);
/* No slot follows in the interval: count the rest. */
void usage_missing_end(struct cmt_usage *usage);

/* cpus.c: */
void usage_cpu_add(struct cmt_usage *usage, const struct cmt_slot_cpu *c);
void usage_cpus_sum(const struct cmt_usage *usage,
		    struct cmt_usage_frame *frame);
/* Add the rows of all CPUs.  @owners: some CPU has its own RMID.  Returns 0 or -ENOMEM. */
int usage_cpu_rows(struct cmt_usage *usage, struct usage_frame *to, bool *owners);
void usage_cpus_close(struct cmt_usage *usage);

/* rows.c: make the rows of the interval, in @to.  Returns 0 or -ENOMEM. */
int usage_rows(struct cmt_usage *usage, struct usage_frame *to);

/* brief.c: */

/* Add the entries of a slot.  Returns 0 or -ENOMEM. */
int usage_entries_add(struct cmt_usage *usage, const struct cmt_slot *slot);
/* Of holdings that were not visited: they are in each slot up to that which ends at @end_ns. */
void usage_catch_up(struct cmt_usage *usage, uint64_t end_ns);
/* Sum up the last slot, for a narrow interval with more than one slot. */
void usage_brief_sums(struct cmt_usage *usage);
/* Add a holding to the chain of its new group.  Returns 0 or -ENOMEM. */
int usage_group_join(struct cmt_usage *usage, struct usage_holding *h);
/*
 * Decide whether the frame is brief.  A frame after a holding has gone has all rows,
 * because a missing row then means that the owner has gone.
 */
void usage_brief_decide(struct cmt_usage *usage, struct cmt_usage_frame *frame);
/* cmt_usage_next() gives the frame: if it has all rows, the next one need not. */
void usage_brief_given(struct cmt_usage *usage, const struct cmt_usage_frame *frame);
/* Choose the groups that have a row in a brief frame. */
void usage_brief_want(struct cmt_usage *usage);
/* Has the holding a value that a brief frame must have?  Where nothing is read, none has. */
bool usage_brief_news(const struct cmt_usage *usage, const struct usage_holding *h);
/* List the holdings of these groups, at most @room.  Returns their number. */
uint32_t usage_brief_list(struct cmt_usage *usage, struct usage_holding **list,
			  uint32_t room);

/* waits.c: */

/* Returns 0 or -ENOMEM. */
int usage_waits_init(struct cmt_usage *usage);
/* Add a record of a runner, where waits.nr_cpus is set.  Returns 0 or -ENOMEM. */
int usage_waits_add(struct cmt_usage *usage, uint32_t runner,
		    const struct cmt_slot_perf *p);
/* Parts of the frame, after its rows.  Returns 0 or -ENOMEM. */
int usage_waits(struct cmt_usage *usage, struct usage_frame *to);

/* ids.c */

/* The container's id, or where it has none its name.  NULL: it is no single container. */
const char *usage_identity(const struct cmt_container *container);
/* Set CMT_USAGE_ROW_BORROWED_ID.  Returns 0 or -ENOMEM. */
int usage_mark_borrowed(struct cmt_usage *usage, struct usage_frame *to);

#endif
