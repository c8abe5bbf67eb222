/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feed: records of all rings into slots, without a merge.
 *
 * Slots and tracker take records in any order within the window.  So a round goes
 * from ring to ring.  A few records are copied to one small buffer, checked once,
 * and added.  Records beyond the window stay in their ring.  After the round, the
 * floor of the window is the least of the bounds of the rings (see ring/ring.h).  The
 * slots before the floor are retired.
 *
 * A round is pure: its input is mapped bytes and the time.  cmt_reader_feed() makes
 * rounds, and gives the slots the owners that were missed.
 */
#ifndef LIBCMT_FEED_H
#define LIBCMT_FEED_H

#include "slots.h"
#include "ring/ring.h"

struct cmt_round {
	unsigned int added;	/* number of records added to slots */
	bool dropped;		/* records were dropped, as late or malformed */
	bool bounded;		/* floor is set */
	uint64_t floor;		/* no record before this time follows */
	bool stopped;		/* records are left, the first at stop_ts */
	uint64_t stop_ts;
};

/*
 * Read all rings once.  The floor does not move yet.  Returns 0, -EPROTO or -ENOMEM.
 */
int cmt_feed_round(struct cmt_sources *sources, struct cmt_slots *slots,
		   struct cmt_round *round);

/*
 * Move the floor.  Returns 0 or the result of the callback.  *@moved: records that
 * were beyond the window may be inside now.
 */
int cmt_feed_raise(struct cmt_slots *slots, const struct cmt_round *round,
		   bool *moved);

/* Set held and held_ts for cmt_sources_due(), when no more records are ready. */
void cmt_feed_hold(struct cmt_sources *sources, const struct cmt_slots *slots,
		   const struct cmt_round *round);

#endif
