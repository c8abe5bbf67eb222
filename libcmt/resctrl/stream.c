// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of resctrl's groups, in a ring as the module writes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"
#include "state.h"

int cmt_resctrl_ring_new(struct resctrl *r)
{
	r->image = aligned_alloc(CMT_RING_DATA_OFFSET, r->info.ring_bytes);
	if (!r->image)
		return -ENOMEM;
	memset(r->image, 0, CMT_RING_DATA_OFFSET);
	cmt_ring_begin(r->image, &r->info, 0, CMT_RING_ONLINE);
	return 0;
}

uint64_t cmt_resctrl_stamp(struct resctrl *r)
{
	uint64_t now = cmt_now_ns();

	r->ts = now > r->ts ? now : r->ts + 1;
	return r->ts;
}

/* The reader is this thread, or one that takes the lock first. */
void cmt_resctrl_put_at(struct resctrl *r, const struct cmt_record *record)
{
	cmt_ring_put(r->image, record);
	r->stats.records++;
}

void cmt_resctrl_put(struct resctrl *r, struct cmt_record *record)
{
	record->ts = cmt_resctrl_stamp(r);
	cmt_resctrl_put_at(r, record);
}
