// SPDX-License-Identifier: GPL-2.0
#include "writer.h"

void cmt_ring_init(struct cmt_ring *ring, struct cmt_ring_header *header,
		   u32 cpu, u32 records, u64 instance)
{
	header->magic = CMT_RING_MAGIC;
	header->abi_version = CMT_ABI_VERSION;
	header->instance = instance;
	header->cpu = cpu;
	header->records = records;
	header->record_bytes = sizeof(struct cmt_record);
	header->data_offset = CMT_RING_DATA_OFFSET;
	header->state = CMT_RING_ABSENT;

	*ring = (struct cmt_ring) { .header = header, .mask = records - 1 };
}

void cmt_ring_set_state(struct cmt_ring *ring, u32 state)
{
	/*
	 * W1, W5: pairs with the acquire load of state in the reader
	 * (libcmt/ring/ring.c): the slots exist before the ring says that it is
	 * online, and CPU_OFFLINE is in the ring before it says that it is
	 * offline.
	 */
	smp_store_release(&ring->header->state, state);
}

void cmt_ring_write(struct cmt_ring *ring, const struct cmt_record *record)
{
	struct cmt_record *slot = cmt_ring_slot(ring);

	*slot = *record;
	slot->cpu = ring->header->cpu;
	if (slot->ts < ring->last_ts)
		slot->ts = ring->last_ts;
	ring->last_ts = slot->ts;
	cmt_ring_publish(ring);
}
