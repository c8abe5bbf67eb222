// SPDX-License-Identifier: GPL-2.0-or-later
#include "pyramid.h"

#include <errno.h>
#include <stdlib.h>

void pyramid_init(struct pyramid *pyramid, struct spool *spool, uint32_t unit_bytes)
{
	*pyramid = (struct pyramid){
		.spool = spool, .unit_bytes = unit_bytes, .end = UINT64_MAX,
	};
}

void pyramid_free(struct pyramid *pyramid)
{
	for (uint32_t i = 0; i < pyramid->nr; i++) {
		for (uint32_t k = 0; k < PYRAMID_LEVELS; k++)
			bytes_free(&pyramid->towers[i]->steps[k].stream.bytes);
		free(pyramid->towers[i]);
	}
	free(pyramid->towers);
	for (uint32_t k = 0; k < PYRAMID_LEVELS; k++) {
		bytes_free(&pyramid->pending[k][0]);
		bytes_free(&pyramid->pending[k][1]);
	}
	*pyramid = (struct pyramid){ 0 };
}

int pyramid_add(struct pyramid *pyramid)
{
	uint32_t room = pyramid->room ? pyramid->room * 2 : 64;
	struct tower **towers;

	if (pyramid->nr == pyramid->room) {
		towers = reallocarray(pyramid->towers, room, sizeof(*towers));
		if (!towers)
			return -ENOMEM;
		pyramid->towers = towers;
		pyramid->room = room;
	}
	pyramid->towers[pyramid->nr] = calloc(1, sizeof(struct tower));
	if (!pyramid->towers[pyramid->nr])
		return -ENOMEM;
	pyramid->nr++;
	return 0;
}

/* The stream of a block is complete: append it behind those of other containers. */
static int end_stream(struct pyramid *pyramid, uint32_t tower, uint32_t k)
{
	struct step *step = &pyramid->towers[tower]->steps[k];
	struct bytes *to = &pyramid->pending[k][step->block & 1];
	int ret = stream_close(&step->stream);

	if (!ret && step->stream.bytes.len) {
		ret |= bytes_varint(to, tower);
		ret |= bytes_varint(to, step->stream.bytes.len);
		ret |= bytes_add(to, step->stream.bytes.at, step->stream.bytes.len);
	}
	stream_clear(&step->stream);
	return ret ? -ENOMEM : 0;
}

/* The last points may have less slots than others of their level. */
static uint32_t window_of(const struct pyramid *pyramid, uint32_t k, uint64_t index)
{
	uint64_t slots = pyramid_slots(k), begin = index * slots;

	return (uint32_t)(pyramid->end - begin < slots ? pyramid->end - begin : slots);
}

static int put_stream(struct pyramid *pyramid, uint32_t tower, uint32_t k, uint64_t index,
		      const struct point *point, uint32_t nr)
{
	struct step *step = &pyramid->towers[tower]->steps[k];
	uint32_t block = (uint32_t)(index / PYRAMID_BLOCK);
	struct packed packed = point_pack(point, window_of(pyramid, k, index),
					  pyramid->unit_bytes);
	int ret = 0;

	if (block != step->block)
		ret = end_stream(pyramid, tower, k);
	step->block = block;
	return ret ? ret : stream_put(&step->stream, (uint32_t)(index % PYRAMID_BLOCK),
				      &packed, nr, !k);
}

static int put(struct pyramid *pyramid, uint32_t tower, uint32_t k, uint64_t index,
	       const struct point *point, uint32_t nr);

/* The open point of level @k is complete. */
static int settle(struct pyramid *pyramid, uint32_t tower, uint32_t k)
{
	struct step *step = &pyramid->towers[tower]->steps[k];
	struct point sum = step->sum;

	step->sum = (struct point){ 0 };
	return sum.slots ? put(pyramid, tower, k, step->sum_index, &sum, 1) : 0;
}

/* Points of the level below. */
static int raise(struct pyramid *pyramid, uint32_t tower, uint32_t k, uint64_t index,
		 const struct point *point, uint32_t nr)
{
	struct step *step = &pyramid->towers[tower]->steps[k];
	int ret = 0;

	while (!ret && nr) {
		if (step->sum.slots && step->sum_index != index / 4)
			ret = settle(pyramid, tower, k);
		if (!ret && index % 4 == 0 && nr >= 4) {
			struct point whole = point_times(point, 4);

			ret = put(pyramid, tower, k, index / 4, &whole, nr / 4);
			index += nr / 4 * 4;
			nr %= 4;
			continue;
		}
		point_merge(&step->sum, point);
		step->sum_index = (uint32_t)(index / 4);
		nr--;
		if (!ret && ++index % 4 == 0)
			ret = settle(pyramid, tower, k);
	}
	return ret;
}

static int put(struct pyramid *pyramid, uint32_t tower, uint32_t k, uint64_t index,
	       const struct point *point, uint32_t nr)
{
	int ret = 0;

	while (!ret && nr) {
		uint32_t left = PYRAMID_BLOCK - (uint32_t)(index % PYRAMID_BLOCK);
		uint32_t part = nr < left ? nr : left;

		ret = put_stream(pyramid, tower, k, index, point, part);
		if (!ret && k + 1 < PYRAMID_LEVELS)
			ret = raise(pyramid, tower, k + 1, index, point, part);
		index += part;
		nr -= part;
	}
	return ret;
}

int pyramid_put(struct pyramid *pyramid, uint32_t tower, uint64_t slot,
		const struct point *point, uint32_t nr)
{
	return put(pyramid, tower, 0, slot, point, nr);
}

static int flush_block(struct pyramid *pyramid, uint32_t k)
{
	uint32_t block = pyramid->next_block[k]++;
	struct bytes *pending = &pyramid->pending[k][block & 1];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < pyramid->nr; i++)
		if (pyramid->towers[i]->steps[k].block == block)
			ret = end_stream(pyramid, i, k);
	if (!ret && pending->len)
		ret = spool_add(pyramid->spool, k, block, pending);
	pending->len = 0;
	return ret;
}

static int settle_before(struct pyramid *pyramid, uint32_t k, uint64_t slot)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < pyramid->nr; i++) {
		const struct step *step = &pyramid->towers[i]->steps[k];

		if (step->sum.slots &&
		    (step->sum_index + 1ULL) * pyramid_slots(k) <= slot)
			ret = settle(pyramid, i, k);
	}
	return ret;
}

int pyramid_flush(struct pyramid *pyramid, uint64_t slot)
{
	int ret = 0;

	if (slot / PYRAMID_BLOCK <= pyramid->next_block[0])
		return 0;
	for (uint32_t k = 0; !ret && k < PYRAMID_LEVELS; k++) {
		uint64_t slots = PYRAMID_BLOCK * pyramid_slots(k);

		if (k)
			ret = settle_before(pyramid, k, slot);
		while (!ret && (pyramid->next_block[k] + 1ULL) * slots <= slot)
			ret = flush_block(pyramid, k);
	}
	return ret;
}

int pyramid_finish(struct pyramid *pyramid, uint64_t end)
{
	int ret = 0;

	pyramid->end = end;
	for (uint32_t k = 0; !ret && k < PYRAMID_LEVELS; k++) {
		uint64_t slots = PYRAMID_BLOCK * pyramid_slots(k);

		if (k)
			ret = settle_before(pyramid, k, UINT64_MAX);
		while (!ret && pyramid->next_block[k] * slots < end)
			ret = flush_block(pyramid, k);
	}
	return ret;
}
