// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <asm/barrier.h>

#include "ring.h"

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

	ring->header = header;
	ring->slots = NULL;
	ring->head = 0;
	ring->last_ts = 0;
	ring->mask = records - 1;
}

void cmt_ring_open(struct cmt_ring *ring, struct cmt_record *slots)
{
	ring->slots = slots;
}

void cmt_ring_set_state(struct cmt_ring *ring, u32 state)
{
	/*
	 * Pairs with the acquire load of state in the reader (libcmt/ring.c):
	 * the slots exist before the ring says that it is online, and
	 * CPU_OFFLINE is in the ring before it says that it is offline.
	 */
	smp_store_release(&ring->header->state, state);
}

void cmt_ring_write(struct cmt_ring *ring, const struct cmt_record *record)
{
	struct cmt_record *slot = &ring->slots[ring->head & ring->mask];

	*slot = *record;
	slot->cpu = ring->header->cpu;
	if (slot->ts < ring->last_ts)
		slot->ts = ring->last_ts;
	ring->last_ts = slot->ts;
	ring->head++;

	/*
	 * Publish.  Pairs with the reader's acquire load of head: who sees
	 * this head sees the record.
	 */
	smp_store_release(&ring->header->head, ring->head);

	/*
	 * Order this head before the next write to a slot.  Pairs with the
	 * load barrier between the reader's copy and its second load of head:
	 * who copied a byte of the record after this one sees this head, and
	 * so discards the record that was there.
	 */
	smp_wmb();
}
