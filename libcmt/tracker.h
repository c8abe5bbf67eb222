/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracker's hot table: what a lookup needs of an RMID that has no queued
 * events, which is nearly every one.  Owners are pointed to, not copied.
 */
#ifndef LIBCMT_TRACKER_H
#define LIBCMT_TRACKER_H

#include <cmt/tracker.h>

#include "internal.h"

struct cmt_hot {
	const struct cmt_owner *owner;	/* NULL: none is known */
	uint32_t generation;		/* of the owner, or 0 */
	bool freed;
	bool events;			/* cmt_tracker_lookup() knows */
};

/* By RMID; it stays where it is while the tracker lives. */
const struct cmt_hot *cmt_tracker_hot(const struct cmt_tracker *tracker);

/*
 * A bitmap of RMIDs: set when an event is queued or applied, or the owner becomes
 * another one; cleared by whoever has looked.
 */
uint64_t *cmt_tracker_changed(struct cmt_tracker *tracker);

/*
 * Whose @generation of @rmid is, also of an owner that was freed before @ts, as long
 * as no other two had the RMID since; NULL: not known.  Valid as cmt_tracker_find().
 */
const struct cmt_owner *
cmt_tracker_lookup_generation(struct cmt_tracker *tracker, uint32_t rmid,
			      uint32_t generation, uint64_t ts);

/*
 * Who owned @rmid with @generation at @ts; NULL: not known.  Valid until the next
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
