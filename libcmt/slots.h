/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface between feed and slots: the window moves by an explicit floor.  And the
 * rows that a usage may leave out.
 */
#ifndef LIBCMT_SLOTS_H
#define LIBCMT_SLOTS_H

#include <cmt/slots.h>

#include "internal.h"

/* The floor has been raised once, or a record was added. */
bool cmt_slots_started(const struct cmt_slots *slots);

/*
 * If started: records before the floor are late, records from the limit on are beyond
 * the window.
 */
uint64_t cmt_slots_floor(const struct cmt_slots *slots);
uint64_t cmt_slots_limit(const struct cmt_slots *slots);

/* Is a slot open?  Then *@end is where the oldest one ends. */
bool cmt_slots_oldest(const struct cmt_slots *slots, uint64_t *end);

/* The floor from which on @ts is in the window */
uint64_t cmt_slots_reach(const struct cmt_slots *slots, uint64_t ts);

/*
 * No record before @ts follows: retire the slots that end before it.  Returns 0 or the
 * result of the callback.
 */
int cmt_slots_raise(struct cmt_slots *slots, uint64_t ts);

/*
 * Add @n records that can be, of one ring and in its order, none before the floor
 * and all before the limit.  Returns 0 or -ENOMEM: some were not added.
 */
int cmt_slots_add_checked(struct cmt_slots *slots,
			  const struct cmt_record *records, uint32_t n);

/* @lost records of @cpu are missing from @begin to @end. */
void cmt_slots_gap(struct cmt_slots *slots, uint32_t cpu, uint64_t begin,
		   uint64_t end, uint64_t lost);

/*
 * Give the slots a snapshot of the owners, when records had been missed @missed times.
 * The slots own @snapshot, also on error.  It is in force from its as_of on; until the
 * floor has reached as_of no other one is needed, but it may be replaced.  Returns 0,
 * -EINVAL or -ENOMEM.
 */
int cmt_slots_sync(struct cmt_slots *slots, struct cmt_snapshot *snapshot,
		   uint64_t missed);
/* Has that been done since, or is it on its way? */
bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t missed);

/*
 * In the callback: a bitmap of RMIDs.  The entries of others were all in the slot that
 * was handed out before, and say the same.
 */
const uint64_t *cmt_slots_news(const struct cmt_slots *slots);

#endif
