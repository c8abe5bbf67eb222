/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracker's hot table: the data for a lookup of an RMID without queued events,
 * which is nearly every lookup.  Owners are referred to, not copied.
 */
#ifndef LIBCMT_TRACKER_H
#define LIBCMT_TRACKER_H

#include <cmt/tracker.h>

#include "base/base.h"

struct cmt_hot {
	const struct cmt_owner *owner;	/* NULL: unknown */
	uint32_t generation;		/* generation of the owner, or 0 */
	bool freed;
	bool events;			/* only cmt_tracker_lookup() can answer */
};

/* By RMID.  The table does not move while the tracker exists. */
const struct cmt_hot *cmt_tracker_hot(const struct cmt_tracker *tracker);

/*
 * The owner of the first RMID from @rmid on that has one as of the last advance.  NULL: no
 * further one has.
 */
const struct cmt_owner *cmt_tracker_next_owner(const struct cmt_tracker *tracker, uint32_t rmid);

/* Would cmt_tracker_sync() accept @snapshot? */
bool cmt_tracker_sync_possible(const struct cmt_tracker *tracker,
			       const struct cmt_snapshot *snapshot);

/* Are @max events of @rmid queued, or 256 times as many of all RMIDs? */
bool cmt_tracker_full(const struct cmt_tracker *tracker, uint32_t rmid, uint32_t max);

/* Is @owner, which the tracker returned, since an UPDATE, because its ALLOC was lost? */
bool cmt_tracker_alloc_lost(const struct cmt_tracker *tracker, const struct cmt_owner *owner);

/*
 * A bitmap of RMIDs.  A bit is set when an event is queued or applied, or the owner
 * changes.  The caller clears bits.
 */
uint64_t *cmt_tracker_changed(struct cmt_tracker *tracker);

/*
 * The owner with @generation of @rmid, also an owner that was freed before @ts,
 * unless the RMID had two later owners.  NULL: unknown.  Valid as for
 * cmt_tracker_find().
 */
const struct cmt_owner *
cmt_tracker_lookup_generation(struct cmt_tracker *tracker, uint32_t rmid,
			      uint32_t generation, uint64_t ts);

/*
 * The owner of @rmid with @generation at @ts; NULL: unknown.  Valid until the next
 * event is queued or applied.  @rmid: below the tracker's nr_rmids.
 */
static inline const struct cmt_owner *
cmt_tracker_find(struct cmt_tracker *tracker, const struct cmt_hot *hot,
		 uint32_t rmid, uint32_t generation, uint64_t ts)
{
	const struct cmt_owner *owner;

	hot += rmid;
	if (!hot->events)
		return hot->generation == generation ? hot->owner : NULL;
	owner = cmt_tracker_lookup(tracker, rmid, ts);
	return owner && owner->generation == generation ? owner : NULL;
}

#endif
