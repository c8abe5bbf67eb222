/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What feeds slots moves their window by an explicit floor.  What they are folded into
 * learns which RMIDs have nothing new, who owns an RMID, and the order of channels.
 */
#ifndef LIBCMT_SLOTS_H
#define LIBCMT_SLOTS_H

#include <cmt/slots.h>

#include "base/base.h"

/* Has the floor been raised, or a record been added? */
bool cmt_slots_started(const struct cmt_slots *slots);

/*
 * Valid if started: records before the floor are late, and records from the limit on
 * are beyond the window.
 */
uint64_t cmt_slots_floor(const struct cmt_slots *slots);
uint64_t cmt_slots_limit(const struct cmt_slots *slots);

/* Is a slot open?  If so, *@end is the end of the oldest open slot. */
bool cmt_slots_oldest(const struct cmt_slots *slots, uint64_t *end);

/* The lowest floor with @ts in the window. */
uint64_t cmt_slots_reach(const struct cmt_slots *slots, uint64_t ts);

/*
 * Raise the floor: no record before @ts follows.  Retires the slots that end before
 * @ts.  Returns 0 or the result of the callback.
 */
int cmt_slots_raise(struct cmt_slots *slots, uint64_t ts);

/*
 * Add @n possible records of one ring in its order, none before the floor, and all
 * before the limit.  Returns 0, or -ENOMEM: some records were not added.
 */
int cmt_slots_add_checked(struct cmt_slots *slots,
			  const struct cmt_record *records, uint32_t n);

/* Note that @lost records of @cpu are missing from @begin to @end. */
void cmt_slots_gap(struct cmt_slots *slots, uint32_t cpu, uint64_t begin,
		   uint64_t end, uint64_t lost);

/*
 * Give the slots a snapshot of the owners, when records had been missed @missed
 * times.  The slots own @snapshot, also on error.  The snapshot is in force from its
 * as_of on.  Until the floor has reached as_of, no other snapshot is needed; a newer
 * one may replace it.  Returns 0, -EINVAL or -ENOMEM.
 */
int cmt_slots_sync(struct cmt_slots *slots, struct cmt_snapshot *snapshot,
		   uint64_t missed);
/* Was a snapshot given after @missed, or is one about to be in force? */
bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t missed);

/*
 * In the callback: a bitmap of RMIDs.  The entries of the other RMIDs are unchanged
 * from the slot before.
 */
const uint64_t *cmt_slots_news(const struct cmt_slots *slots);

/* The owner that has @rmid now.  NULL: unknown, or freed. */
const struct cmt_owner *cmt_slots_owner(const struct cmt_slots *slots, uint32_t rmid);

/* 16 channels of 64 sockets.  A stream with more channels is corrupt. */
#define CMT_CHANNELS_MAX	1024U

/* Order by socket, then channel. */
static inline int cmt_channel_cmp(uint32_t socket_a, uint32_t channel_a,
				  uint32_t socket_b, uint32_t channel_b)
{
	if (socket_a != socket_b)
		return socket_a < socket_b ? -1 : 1;
	return channel_a < channel_b ? -1 : channel_a > channel_b;
}

#endif
