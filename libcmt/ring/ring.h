/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One broadcast ring: checked, and copied from while the kernel overwrites it.
 * It works on mapped bytes and needs no descriptor.
 */
#ifndef LIBCMT_RING_H
#define LIBCMT_RING_H

#include <stddef.h>

#include "base/base.h"

/*
 * A larger head is not a count of records: at a billion records a second, a head
 * reaches 2^56 in more than two years.
 */
#define CMT_RING_HEAD_MAX	(1ULL << 56)

struct cmt_ring {
	const struct cmt_ring_header *header;
	/* with ABSENT: pages that must not be accessed */
	const struct cmt_record *slots;
	uint64_t capacity;
	uint64_t start;		/* index of the first record for this reader */
	uint64_t pos;		/* index of the next record to copy */
	uint64_t head;		/* the last loaded head, at least pos */
	uint32_t state;		/* loaded before head */
};

/*
 * Check @image, a mapping of @bytes, against the device's info.  Begin at the head
 * or, with @oldest, at the oldest record that is still present.  The caller keeps
 * the image, which outlives @ring.  Returns 0 or -EPROTO.
 */
int cmt_ring_init(struct cmt_ring *ring, const void *image, size_t bytes,
		  const struct cmt_info *info, uint32_t cpu, bool oldest);

/* Load state and head.  Returns 0, or -EPROTO: they are inconsistent. */
int cmt_ring_refresh(struct cmt_ring *ring);

/*
 * Copy up to @n records below the head of the last refresh, and load head again.
 * *@lost: number of overwritten records before the first copied record.  Returns the
 * number of copied records, or -EPROTO.  The number is 0 if all were overwritten.
 * The first copied record has index pos minus this number.
 */
int cmt_ring_copy(struct cmt_ring *ring, struct cmt_record *records,
		  unsigned int n, uint64_t *lost);

/*
 * GCC takes a function that only prefetches for a function without effect, and drops
 * the call.  The statement prevents this.
 */
static inline void cmt_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* Prefetch the record @n after the next one, if it is present. */
static inline void cmt_ring_prefetch_at(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t index = ring->pos + n;

	/* The writer may own the cache line of an older record. */
	if (index < ring->head)
		cmt_prefetch(&ring->slots[index & (ring->capacity - 1)]);
}

/* Prefetch the next @n records. */
static inline void cmt_ring_prefetch(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t mask = ring->capacity - 1;

	if (n > ring->head - ring->pos)
		n = ring->head - ring->pos;
	for (uint64_t i = 0; i < n; i++)
		cmt_prefetch(&ring->slots[(ring->pos + i) & mask]);
}

/*
 * Read the time of the record @index, which is below head.  Returns 1, 0 (the record
 * may have been overwritten, and *@ts is undefined) or -EPROTO.
 */
int cmt_ring_ts_at(struct cmt_ring *ring, uint64_t index, uint64_t *ts);

#endif
