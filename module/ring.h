/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broadcast ring's writer.  The protocol and the reader's half of it are
 * described in uapi/cmt.h.
 */
#ifndef CMT_RING_H
#define CMT_RING_H

#include <linux/types.h>

#include "uapi/cmt.h"

#define CMT_RING_RECORDS_MIN	256
#define CMT_RING_RECORDS_MAX	65536

/*
 * head is the writer's own copy: what user space maps is written, never read.
 * One writer at a time: the ring's CPU with interrupts off, or another CPU
 * while that one is dead.
 */
struct cmt_ring {
	struct cmt_ring_header *header;	/* mapped */
	struct cmt_record *slots;	/* mapped */
	u64 head;
	u64 last_ts;
	u32 mask;
};

/*
 * Begin an empty ring in state CMT_RING_ABSENT.  @header: a zeroed page;
 * @records: a power of two.  Slots come with cmt_ring_open().
 */
void cmt_ring_init(struct cmt_ring *ring, struct cmt_ring_header *header,
		   u32 cpu, u32 records, u64 instance);

/* Give the ring its slots, once; it stays what it is but for the state. */
void cmt_ring_open(struct cmt_ring *ring, struct cmt_record *slots);

/* Publish @state (CMT_RING_*). */
void cmt_ring_set_state(struct cmt_ring *ring, u32 state);

/*
 * Append one record.  Its cpu is the ring's, and its ts is raised to that of
 * the record before it should it be older (by the nanosecond that owner.c adds
 * to keep lifecycle records apart), so that time in a ring never goes back.
 */
void cmt_ring_write(struct cmt_ring *ring, const struct cmt_record *record);

#endif
