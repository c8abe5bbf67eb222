/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One broadcast ring: checked, and copied from while the kernel overwrites it.
 * It works on mapped bytes and needs no descriptor.
 */
#ifndef LIBCMT_RING_H
#define LIBCMT_RING_H

#include <stddef.h>

#include "internal.h"

/*
 * A head above this is no count of records: a billion a second make 2^56 in
 * more than two years.
 */
#define CMT_RING_HEAD_MAX	(1ULL << 56)

struct cmt_ring {
	const struct cmt_ring_header *header;
	const struct cmt_record *slots;	/* absent pages while ABSENT: no touch */
	uint64_t capacity;
	uint64_t start;		/* index of the first record that is ours */
	uint64_t pos;		/* index of the next one to copy */
	uint64_t head;		/* as last loaded, not below pos */
	uint32_t state;		/* as loaded before head */
};

/*
 * Check @image, a mapping of @bytes, against what the device said, and begin
 * at the head or, with @oldest, at the oldest record that is still there.
 * The image stays the caller's and outlives @ring.  Returns 0 or -EPROTO.
 */
int cmt_ring_init(struct cmt_ring *ring, const void *image, size_t bytes,
		  const struct cmt_info *info, uint32_t cpu, bool oldest);

/* Load state and head.  0 or -EPROTO: they make no sense. */
int cmt_ring_refresh(struct cmt_ring *ring);

/*
 * Copy up to @n of the records that the last refresh saw, and load head again.
 * *@lost: how many before the first one copied were overwritten.
 * Returns how many were copied, perhaps 0 though some were there, or -EPROTO.
 * The first one has index pos minus this number.
 */
int cmt_ring_copy(struct cmt_ring *ring, struct cmt_record *records,
		  unsigned int n, uint64_t *lost);

/*
 * GCC takes a function that only prefetches for one that does nothing, and drops
 * the call; hence the statement that it keeps.
 */
static inline void cmt_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* The record @n after the next one is wanted soon, if it is there. */
static inline void cmt_ring_prefetch_at(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t index = ring->pos + n;

	/* An older record's cache line is the writer's. */
	if (index < ring->head)
		cmt_prefetch(&ring->slots[index & (ring->capacity - 1)]);
}

/* The next @n records are wanted soon. */
static inline void cmt_ring_prefetch(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t mask = ring->capacity - 1;

	if (n > ring->head - ring->pos)
		n = ring->head - ring->pos;
	for (uint64_t i = 0; i < n; i++)
		cmt_prefetch(&ring->slots[(ring->pos + i) & mask]);
}

/*
 * The time of the record @index, which is below head.  Returns 1, 0 (it may have
 * been overwritten, *@ts is anything) or -EPROTO.
 */
int cmt_ring_ts_at(struct cmt_ring *ring, uint64_t index, uint64_t *ts);

#endif
