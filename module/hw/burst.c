// SPDX-License-Identifier: GPL-2.0
/* The rare half of a burst. */
#include <linux/bitops.h>

#include "burst.h"

/*
 * A mark that is newer than the tick's is of a later tick on another CPU, or of the
 * owner's begin.  A mark that is older than the gap, or so old that it seems to be far
 * in the future, gives the next reading no base.
 */
enum cmt_claim cmt_claim_odd(struct cmt_counter *counter, u32 mark, u32 *seen)
{
	u32 old = *seen;

	if ((old & ~1U) - mark <= 2 * (u32)CMT_MARK_GAP)
		return CMT_CLAIM_SKIP;
	if (old & 1)
		return CMT_CLAIM_BUSY;
	if (!try_cmpxchg(&counter->seen, &old, mark | 1))
		return (old & ~1U) == mark ? CMT_CLAIM_SKIP : CMT_CLAIM_BUSY;
	cmt_counter_lose_base(counter);
	return CMT_CLAIM_READ;
}

bool cmt_burst_renew(const struct cmt_burst *burst, struct cmt_counter *counter,
		     u32 seen)
{
	u32 rmid = counter - burst->counters;
	u32 generation = READ_ONCE(burst->generations[rmid]);

	if (rmid && !generation) {
		cmt_claim_release(counter, seen);
		return false;
	}
	if (!cmt_counter_is_of(counter, generation))
		cmt_counter_begin(counter, rmid, generation, burst->caps);
	return true;
}

/* Split the RMIDs that the first pass left into the two queues again. */
static void burst_part(struct cmt_burst *burst)
{
	unsigned long *hot = burst->hot.rmids, *turn = burst->turn.rmids;
	const unsigned long *mixed = burst->mixed.rmids;
	u32 word;

	for (word = 0; word < burst->words; word++) {
		turn[word] &= mixed[word] & ~hot[word];
		hot[word] &= mixed[word];
	}
	burst->mixed.cursor = 0;
	burst->busy = 0;
}

bool cmt_burst_next(struct cmt_burst *burst, int pass, struct cmt_queue **queue,
		    u32 *budget, u32 *room)
{
	burst->first = pass < 2 ? burst->end : NULL;
	switch (pass) {
	case 0:
		burst_part(burst);
		*queue = &burst->hot;
		*budget = burst->budget - burst->budget / 4;
		*room = burst->room - burst->room / 4;
		return true;
	case 1:
		*queue = &burst->turn;
		*budget = burst->budget;
		*room = burst->room;
		return true;
	case 2:
		*queue = &burst->hot;
		if (!burst->cut)
			return true;
		break;
	}
	burst->cut = cmt_burst_waiting(burst);
	return false;
}

void cmt_burst_discard(struct cmt_burst *burst)
{
	struct cmt_reading *reading;

	for (reading = burst->readings; reading != burst->end; reading++) {
		u32 rmid = reading->counter - burst->counters;

		/* AMD reports only once that a counter was reset */
		if ((reading->raws.total | reading->raws.local) &
		    CMT_RAW_UNAVAILABLE)
			cmt_counter_lose_base(reading->counter);
		__set_bit(rmid, burst->hot.rmids);
		cmt_claim_release(reading->counter, reading->seen);
	}
	burst->end = burst->readings;
	burst->cut = true;
}

u32 cmt_burst_waiting(const struct cmt_burst *burst)
{
	u32 i, n = 0;

	for (i = 0; i < burst->words; i++)
		n += hweight_long((burst->hot.rmids[i] |
				   burst->turn.rmids[i]) &
				  READ_ONCE(burst->readable[i]));
	return n;
}
