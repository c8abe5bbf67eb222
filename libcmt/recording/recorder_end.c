// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where the chunks of a file are, for its end. */
#include "recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "index.h"

void recorder_place(struct cmt_recorder *recorder, const struct cmt_chunk *chunk)
{
	uint64_t offset = recorder->offset;

	recorder->offset += chunk->nr_bytes;
	recorder->no_index |= recorder->nr_places == REC_PLACES_MAX ||
			      cmt_grow(&recorder->places, recorder->nr_places,
				       &recorder->room_places, sizeof(*recorder->places));
	if (recorder->no_index)
		return;
	recorder->places[recorder->nr_places++] = (struct cmt_chunk_place){
		.offset = offset, .sequence = chunk->sequence,
		.first_ns = chunk->first_ns, .last_ns = chunk->last_ns,
		.nr_bytes = (uint32_t)chunk->nr_bytes, .kind = chunk->kind,
		.flags = chunk->flags, .records = chunk->records,
	};
}

/* Write INDEX at @offset, and a TAIL with that offset. */
static int write_end(struct cmt_recorder *recorder, const struct cmt_chunk_place *places,
		     uint32_t n, uint64_t offset)
{
	struct rec_header header = { .kind = CMT_CHUNK_INDEX };
	int ret = 0;

	if (places) {
		rec_index_put(places, n, &recorder->raw);
		ret = recorder_emit(recorder, &header);
	}
	if (ret)
		return ret;
	header = (struct rec_header){ .kind = CMT_CHUNK_TAIL };
	rec_put_u64(&recorder->raw, places ? offset : 0);
	return recorder_emit(recorder, &header);
}

int recorder_end_file(struct cmt_recorder *recorder, const struct cmt_chunk_place *places,
		      uint32_t n, bool index)
{
	return write_end(recorder, index ? places : NULL, n, recorder->offset);
}

/* Nothing of INDEX and TAIL is a place of the recorder's own file. */
int cmt_recorder_index(struct cmt_recorder *recorder, const struct cmt_chunk_place *places,
		       uint32_t n)
{
	bool no_index = recorder->no_index;
	uint64_t own = recorder->offset, offset = 0;
	int ret;

	for (uint32_t i = 0; i < n; i++) {
		if (places[i].offset != offset || places[i].nr_bytes < REC_HEADER)
			return -EINVAL;
		offset += places[i].nr_bytes;
	}
	if (!n)
		return -EINVAL;
	recorder->no_index = true;
	ret = write_end(recorder, n <= REC_PLACES_MAX ? places : NULL, n, offset);
	recorder->no_index = no_index;
	recorder->offset = own;
	return ret;
}
