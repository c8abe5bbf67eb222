/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an owner holds in an L3 domain, and the traffic that it causes there. */
#ifndef LIBCMT_USAGE_HOLDING_H
#define LIBCMT_USAGE_HOLDING_H

#include <cmt/slots.h>
#include <cmt/usage.h>

#include "owner.h"
#include "traffic.h"

struct cmt_usage;
struct usage_runner;

/* What a holding contributes to the sums of its groups. */
struct usage_share {
	bool in;		/* the holding is in the sums */
	bool unknown;		/* the holding has no value */
	uint32_t at;		/* where in: index in usage->shares */
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
	/*
	 * the next holding of this RMID and domain: of an older generation, or an earlier
	 * one of the same generation
	 */
	uint32_t older;
	uint32_t group;		/* index of the group, or USAGE_NONE */
	/* index of the group of the row's part, or USAGE_NONE */
	uint32_t child;
	const struct cmt_slot_entry *entry;	/* in the slot that ends at seen_ns */
	/* the interval that the members "of an interval" are of */
	uint64_t interval;
	uint64_t seen_ns;	/* end of the last slot with the holding */
	bool alone;		/* no other holding has this RMID and domain */
	bool ended;
	bool rest_ended;	/* all that follow by older have ended, too */
	/* the RMID and its generation have another holding, of the group's present owner */
	bool former;
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
	bool residual_known;	/* residual is; of the reading with the occupancy */
	uint32_t why;		/* of an interval */
	uint32_t mate;
	/* the interval in whose list usage->news the holding is */
	uint64_t news;
	struct usage_owner owner;
	uint32_t flags;		/* CMT_F_* of the last reading */
	uint64_t ts;		/* time of the last reading */
	uint64_t mbm_total, mbm_local;	/* counters of the last reading */
	uint64_t occupancy_ts;	/* time of the reading with occupancy and residual */
	uint64_t occupancy;
	uint64_t residual;
	/* rarely accessed */
	struct usage_share share;
	bool blank;		/* stands for an owner that ran and has no holding */
	struct usage_traffic total;
	struct usage_traffic local;
};

/*
 * Find or add the L3 domain @domain.  Returns its index, or USAGE_NONE: the table is
 * full.
 */
uint32_t usage_domain(struct cmt_usage *usage, uint32_t domain);
int usage_holding_add(struct cmt_usage *usage, const struct cmt_slot_entry *e,
		      uint64_t end_ns);
/* The same, of an entry whose holding is known.  Returns 0 or -ENOMEM. */
int usage_holding_take(struct cmt_usage *usage, struct usage_holding *h,
		       const struct cmt_slot_entry *e, uint64_t end_ns);
/* The holding of the owner that ran, in a domain; NULL: there is none. */
struct usage_holding *usage_holding_find(struct cmt_usage *usage,
					 const struct usage_runner *runner, uint32_t domain);
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

#endif
