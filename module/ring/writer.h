/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broadcast ring's writer.  The protocol and the reader's half of it are
 * described in uapi/cmt.h.  Its steps are named as in the model that
 * tests/run model explores, tests/model/ring.pml.
 */
#ifndef CMT_WRITER_H
#define CMT_WRITER_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "uapi/cmt.h"

#define CMT_RING_RECORDS_MIN	256
#define CMT_RING_RECORDS_MAX	65536

/*
 * head is the writer's own copy: memory that user space maps is written, never read.
 * One writer at a time: the ring's CPU with interrupts off, or another CPU while the
 * ring's CPU is dead.
 */
struct cmt_ring {
	struct cmt_ring_header *header;	/* mapped */
	struct cmt_record *slots;	/* mapped */
	u64 head;
	u64 last_ts;
	u32 mask;
	u32 domain_id;		/* of the CPU, when it was last up; 0: it never was */
};

/*
 * Begin an empty ring in state CMT_RING_ABSENT.  @header: a zeroed page;
 * @records: a power of two.  The slots are set later, once.
 */
void cmt_ring_init(struct cmt_ring *ring, struct cmt_ring_header *header,
		   u32 cpu, u32 records, u64 instance);

/* Publish @state (CMT_RING_*). */
void cmt_ring_set_state(struct cmt_ring *ring, u32 state);

/*
 * W2: the slot of the next record, to be filled in place, and its publication.
 *
 * Each record is published separately.  A reader keeps record i only if i > head -
 * records, so only one slot beyond head may be half written: a burst that filled
 * several slots before it published them would overwrite records that readers keep.  On
 * x86 a publication is one store.  A burst keeps readings in memory of the CPU before
 * it writes records.
 */
static __always_inline struct cmt_record *cmt_ring_slot(struct cmt_ring *ring)
{
	return &ring->slots[ring->head & ring->mask];
}

static __always_inline void cmt_ring_publish(struct cmt_ring *ring)
{
	/*
	 * W3: pairs with the reader's acquire load of head: a reader that sees
	 * this head sees the record.
	 */
	smp_store_release(&ring->header->head, ++ring->head);

	/*
	 * W4: order this head before the next write to a slot.  Pairs with the
	 * load barrier between the reader's copy and its second load of head: a
	 * reader that copied a byte of the next record sees this head, and so
	 * discards the record that was in the slot before.
	 */
	smp_wmb();
}

/*
 * Append one record.  Its cpu is the ring's, and its ts is raised to that of
 * the record before it should it be older (by the nanosecond that owner/table.c adds
 * to keep lifecycle records apart), so that time in a ring never goes back.
 */
void cmt_ring_write(struct cmt_ring *ring, const struct cmt_record *record);

#endif
