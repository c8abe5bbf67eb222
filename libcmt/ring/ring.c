// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps R1 to R6 are those of tests/model/ring.pml. */
#include "ring.h"

#include "barrier.h"

/* The oldest record that is surely not being overwritten: i > head - records */
static uint64_t ring_oldest(const struct cmt_ring *ring, uint64_t head)
{
	return head < ring->capacity ? 0 : head - ring->capacity + 1;
}

/* A CPU without memory for its ring only counts its records. */
static int ring_set_unwritten(struct cmt_ring *ring, uint64_t unwritten)
{
	if (unwritten < ring->unwritten || unwritten > CMT_RING_HEAD_MAX)
		return -EPROTO;
	ring->unwritten = unwritten;
	return 0;
}

static int ring_set_head(struct cmt_ring *ring, uint64_t head)
{
	if (head < ring->head || head > CMT_RING_HEAD_MAX)
		return -EPROTO;
	ring->head = head;
	return 0;
}

/*
 * State before head: when the state is OFFLINE, head covers all records up to
 * CPU_OFFLINE.  An ABSENT ring whose head moved came online in between.  In a state of
 * a newer module, records may come.
 */
int cmt_ring_refresh(struct cmt_ring *ring)
{
	uint64_t head;
	int err;

	/* R1, R2: both pair with cmt_ring_write() in module/ring/writer.c: ONLINE is
	 * stored before the first head, OFFLINE after the last.
	 */
	ring->state = cmt_load_acquire32(&ring->header->state);
	head = cmt_load_acquire64(&ring->header->head);
	if (ring->state == CMT_RING_ABSENT && head)
		ring->state = cmt_load_acquire32(&ring->header->state);

	if (ring->state == CMT_RING_ABSENT && head)
		return -EPROTO;
	err = ring_set_unwritten(ring, cmt_load_acquire64(&ring->header->unwritten));
	return err ? err : ring_set_head(ring, head);
}

static bool header_matches(const struct cmt_ring_header *header, size_t bytes,
			   const struct cmt_info *info, uint32_t cpu)
{
	return header->magic == CMT_RING_MAGIC &&
	       header->abi_version == info->abi_version &&
	       header->instance == info->instance &&
	       header->cpu == cpu &&
	       header->records >= 2 &&
	       header->records <= info->ring_records &&
	       !(header->records & (header->records - 1)) &&
	       header->record_bytes == sizeof(struct cmt_record) &&
	       header->data_offset == CMT_RING_DATA_OFFSET &&
	       header->records <= (bytes - CMT_RING_DATA_OFFSET) /
				  sizeof(struct cmt_record);
}

int cmt_ring_init(struct cmt_ring *ring, const void *image, size_t bytes,
		  const struct cmt_info *info, uint32_t cpu, bool oldest)
{
	int err;

	memset(ring, 0, sizeof(*ring));
	if (bytes < CMT_RING_DATA_OFFSET ||
	    !header_matches(image, bytes, info, cpu))
		return -EPROTO;

	ring->header = image;
	ring->slots = (const void *)((const char *)image +
				     CMT_RING_DATA_OFFSET);
	ring->capacity = ring->header->records;
	err = cmt_ring_refresh(ring);
	if (err)
		return err;
	ring->start = oldest ? ring_oldest(ring, ring->head) : ring->head;
	ring->pos = ring->start;
	ring->unwritten_start = ring->unwritten;
	return 0;
}

/*
 * In pieces of some KiB a loop is faster than memcpy(), which takes "rep movs".
 * The barrier keeps the compiler from making it that.
 */
CMT_RACES static void copy_straight(struct cmt_record *to,
				    const struct cmt_record *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		to[i] = from[i];
		__asm__ volatile("" : : : "memory");
	}
}

/*
 * The kernel may be writing to the copied slots; ring_copy() drops the affected
 * records.
 */
static void copy_slots(const struct cmt_ring *ring, struct cmt_record *records,
		       uint64_t first, uint64_t n)
{
	uint64_t slot = first & (ring->capacity - 1);
	uint64_t straight = ring->capacity - slot;

	if (straight > n)
		straight = n;
	copy_straight(records, ring->slots + slot, straight);
	copy_straight(records + straight, ring->slots, n - straight);
}

int cmt_ring_copy(struct cmt_ring *ring, struct cmt_record *records,
		  unsigned int n, uint64_t *lost)
{
	uint64_t first = ring_oldest(ring, ring->head), end, oldest;
	int err;

	*lost = 0;
	if (first < ring->pos)
		first = ring->pos;
	end = ring->head - first < n ? ring->head : first + n;
	copy_slots(ring, records, first, end - first);	/* R3 */

	/*
	 * R4: pairs with the write barrier between head and the next slot in
	 * cmt_ring_write() in module/ring/writer.c: a reader that copied a part of a
	 * newer record sees, here, the head that was stored before that record.
	 */
	cmt_load_barrier();
	err = ring_set_head(ring, cmt_load_acquire64(&ring->header->head)); /* R5 */
	if (err)
		return err;

	/* R6 */
	oldest = ring_oldest(ring, ring->head);
	if (oldest < first)
		oldest = first;
	*lost = oldest - ring->pos;
	if (oldest >= end) {
		ring->pos = oldest;
		return 0;
	}
	if (oldest != first)
		memmove(records, records + (oldest - first),
			(end - oldest) * sizeof(*records));
	ring->pos = end;
	return (int)(end - oldest);
}

CMT_RACES static uint64_t slot_ts(const struct cmt_ring *ring, uint64_t index)
{
	return ring->slots[index & (ring->capacity - 1)].ts;
}

int cmt_ring_ts_at(struct cmt_ring *ring, uint64_t index, uint64_t *ts)
{
	int err;

	*ts = slot_ts(ring, index);
	/* As in cmt_ring_copy(). */
	cmt_load_barrier();
	err = ring_set_head(ring, cmt_load_acquire64(&ring->header->head));
	if (err)
		return err;
	return index >= ring_oldest(ring, ring->head);
}
