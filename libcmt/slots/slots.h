/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots beside their public functions: losses and owners that come from no record, which
 * RMIDs have nothing new, who owns an RMID, and the order of channels.
 */
#ifndef LIBCMT_SLOTS_H
#define LIBCMT_SLOTS_H

#include <cmt/slots.h>

#include "base/base.h"

/* Note that @lost records of @cpu are missing from @begin to @end. */
void cmt_slots_gap(struct cmt_slots *slots, uint32_t cpu, uint64_t begin,
		   uint64_t end, uint64_t lost);

/*
 * As cmt_slots_sync(), when records had been missed @missed times.  The slots own
 * @snapshot, also on error.  Until the floor has reached as_of, no other snapshot is
 * needed.
 */
int cmt_slots_sync_missed(struct cmt_slots *slots, struct cmt_snapshot *snapshot,
			  uint64_t missed);

/*
 * In the callback: a bitmap of RMIDs.  An entry of another RMID that is at the same address
 * as in the slot before has the same values, and the same owner; only its age may have
 * changed.
 */
const uint64_t *cmt_slots_news(const struct cmt_slots *slots);

/*
 * In the callback: the indices of the entries with a reading, in any order.  All other
 * entries are at the indices of the slot before, with the same values and owners.  NULL:
 * entries came, went, or changed their owner.
 */
const uint32_t *cmt_slots_read(const struct cmt_slots *slots, uint32_t *nr);

/* The owner of the first RMID from @rmid on that has one now.  NULL: no further one has. */
const struct cmt_owner *cmt_slots_next_owner(const struct cmt_slots *slots, uint32_t rmid);

/* Is @owner, of a slot, since an UPDATE, because its ALLOC was lost? */
bool cmt_slots_alloc_lost(const struct cmt_slots *slots, const struct cmt_owner *owner);

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
