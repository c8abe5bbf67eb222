// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of resctrl's groups, in a ring as the module writes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/barrier.h"
#include "state.h"

int cmt_resctrl_ring_new(struct resctrl *r)
{
	r->image = aligned_alloc(CMT_RING_DATA_OFFSET, r->info.ring_bytes);
	if (!r->image)
		return -ENOMEM;
	memset(r->image, 0, CMT_RING_DATA_OFFSET);
	*r->image = (struct cmt_ring_header){
		.magic = CMT_RING_MAGIC,
		.abi_version = r->info.abi_version,
		.instance = r->info.instance,
		.records = r->info.ring_records,
		.record_bytes = sizeof(struct cmt_record),
		.data_offset = CMT_RING_DATA_OFFSET,
		.state = CMT_RING_ONLINE,
	};
	return 0;
}

uint64_t cmt_resctrl_stamp(struct resctrl *r)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	r->ts = now > r->ts ? now : r->ts + 1;
	return r->ts;
}

/* The reader is this thread, or one that takes the lock first. */
void cmt_resctrl_put(struct resctrl *r, struct cmt_record *record)
{
	uint64_t head = r->image->head;
	struct cmt_record *slots;

	slots = (struct cmt_record *)(void *)((char *)r->image + CMT_RING_DATA_OFFSET);
	record->ts = cmt_resctrl_stamp(r);
	slots[head & (r->info.ring_records - 1)] = *record;
	__atomic_store_n(&r->image->head, head + 1, __ATOMIC_RELEASE);
	r->stats.records++;
}
