/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feed: records of all rings into slots, without a merge.
 *
 * Slots and tracker take records in any order within the window.  So a round goes over
 * the rings by CPU: a few records are copied to one small buffer, checked once, and
 * added.  Records beyond the window stay in their ring.  After the round the floor of
 * the window is the least of the bounds of the rings (see source.h), and the slots
 * before it are retired.
 *
 * Pure: mapped bytes, and the time is given.
 */
#ifndef LIBCMT_FEED_H
#define LIBCMT_FEED_H

#include "slots.h"
#include "source.h"

struct cmt_round {
	unsigned int added;	/* records, to the slots */
	bool dropped;		/* some were, as late or malformed */
	bool bounded;		/* the floor is known: */
	uint64_t floor;		/* no record before it follows */
	bool stopped;		/* some are beyond the window, the first: */
	uint64_t stop_ts;
};

/* One round.  The floor is not moved yet.  Returns 0, -EPROTO or -ENOMEM. */
int cmt_feed_round(struct cmt_sources *sources, struct cmt_slots *slots,
		   struct cmt_round *round);

/*
 * Move the floor.  Returns 0 or the result of the callback.  *@moved: records that were
 * beyond the window may be in it now.
 */
int cmt_feed_raise(struct cmt_slots *slots, const struct cmt_round *round,
		   bool *moved);

/* No more records are ready: note the waiting ones, for cmt_sources_due(). */
void cmt_feed_hold(struct cmt_sources *sources, const struct cmt_slots *slots,
		   const struct cmt_round *round);

#endif
