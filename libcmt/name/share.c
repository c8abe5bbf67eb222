// SPDX-License-Identifier: LGPL-2.1-or-later
/* How long lookups take, and when they pause. */
#include "share.h"

#include <time.h>

#include "base/base.h"

#define SHARE		20	/* a kind of lookups takes 1/SHARE of a CPU */
#define TURN_NS		50000000ULL
#define ROUND_NS	(SHARE * TURN_NS)	/* more than the caller's pass over all ids */

/* Two users may have the same bit, but not in all rounds. */
static uint64_t user_bit(const struct cmt_share *share, uint32_t uid)
{
	return 1ULL << (uid * 0x9e3779b97f4a7c15ULL * (2 * share->rounds + 1) >> 58);
}

bool cmt_share_admits(struct cmt_share *share, uint32_t uid, uint64_t now)
{
	uint64_t bit = user_bit(share, uid);

	if (cmt_ts_before(now, share->pause_ends)) {
		share->waiting |= !(share->served & bit);
		return false;
	}
	if (!cmt_ts_before(now, share->round_ends)) {
		if (!share->waiting) {
			share->served = 0;
			share->rounds++;
		}
		share->waiting = false;
		share->round_ends = now + ROUND_NS;
	}
	return !(share->served & bit);
}

struct cmt_spent cmt_share_begin(void)
{
	return (struct cmt_spent){
		.cpu_ns = cmt_clock_ns(CLOCK_THREAD_CPUTIME_ID),
		.wall_ns = cmt_now_ns(),
	};
}

/*
 * Wall time ends a turn, but does not lengthen the pause: other programs may have had the
 * CPU.
 */
void cmt_share_charge(struct cmt_share *share, uint32_t uid,
		      const struct cmt_spent *began)
{
	struct cmt_spent now = cmt_share_begin();
	uint64_t pause;

	share->cpu_ns += now.cpu_ns - began->cpu_ns;
	share->wall_ns += now.wall_ns - began->wall_ns;
	if (share->cpu_ns < TURN_NS && share->wall_ns < TURN_NS)
		return;
	pause = SHARE * share->cpu_ns;
	share->pause_ends = now.wall_ns + (pause > TURN_NS ? pause : TURN_NS);
	share->round_ends = share->pause_ends;
	share->served |= user_bit(share, uid);
	share->cpu_ns = 0;
	share->wall_ns = 0;
}
