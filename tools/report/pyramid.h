/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Levels of points: level k has one for each 4^k slots of 1 ms.  A level is cut into
 * blocks of PYRAMID_BLOCK points of all containers, each of which can be read without
 * other blocks.
 */
#ifndef REPORT_PYRAMID_H
#define REPORT_PYRAMID_H

#include "spool.h"
#include "stream.h"

#define PYRAMID_LEVELS	12U	/* the last one: 70 minutes a point */
#define PYRAMID_BLOCK	2048U	/* points */

struct step {
	struct stream stream;
	uint32_t block;		/* that the stream is of */
	uint32_t sum_index;	/* the open point: */
	struct point sum;	/* slots is 0: nothing yet */
};

/* One container. */
struct tower {
	struct step steps[PYRAMID_LEVELS];
};

struct pyramid {
	struct spool *spool;
	uint32_t unit_bytes;
	uint64_t end;		/* slots in all; UINT64_MAX: not known yet */
	struct tower **towers;
	uint32_t nr;
	uint32_t room;
	uint32_t next_block[PYRAMID_LEVELS];
	struct bytes pending[PYRAMID_LEVELS][2];	/* by the block's last bit */
};

void pyramid_init(struct pyramid *pyramid, struct spool *spool, uint32_t unit_bytes);
void pyramid_free(struct pyramid *pyramid);

/* Slots of a point. */
static inline uint64_t pyramid_slots(uint32_t level)
{
	return 1ULL << 2 * level;
}

/* One container more: its number is @nr before.  Returns 0 or -ENOMEM. */
int pyramid_add(struct pyramid *pyramid);

/*
 * Put @nr slots from @slot on, each as @point, which is of one slot.  The slots of a
 * container come in order; slots in between are absent.  At most one block after that
 * of pyramid_flush().
 */
int pyramid_put(struct pyramid *pyramid, uint32_t tower, uint64_t slot,
		const struct point *point, uint32_t nr);

/* All that is before @slot was put: blocks that are complete go to the spool. */
int pyramid_flush(struct pyramid *pyramid, uint64_t slot);

/* The page has @end slots, and no point follows. */
int pyramid_finish(struct pyramid *pyramid, uint64_t end);

#endif
