// SPDX-License-Identifier: GPL-2.0-or-later
#include "keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void keep_begin(struct keep *keep)
{
	keep->head = keep->first = NULL;
	keep->end = &keep->first;
	keep->bytes = 0;
}

static uint64_t cost(const struct kept *kept)
{
	return sizeof(*kept) + kept->place.nr_bytes;
}

static void drop_first(struct keep *keep)
{
	struct kept *kept = keep->first;

	keep->bytes -= cost(kept);
	keep->first = kept->next;
	if (!keep->first)
		keep->end = &keep->first;
	free(kept);
}

void keep_end(struct keep *keep)
{
	while (keep->first)
		drop_first(keep);
	free(keep->head);
	keep->head = NULL;
}

static bool has_all_names(const struct kept *kept)
{
	return kept->place.kind == CMT_CHUNK_NAMES &&
	       kept->place.flags & CMT_CHUNK_ALL_NAMES;
}

/* The second chunk with all names: chunks before it can be dropped. */
static const struct kept *next_begin(const struct keep *keep)
{
	const struct kept *kept = keep->first ? keep->first->next : NULL;

	while (kept && !has_all_names(kept))
		kept = kept->next;
	return kept;
}

/* Time of the first chunk from @kept on that has one; UINT64_MAX: none has. */
static uint64_t begin_ns(const struct kept *kept)
{
	while (kept && !kept->place.first_ns)
		kept = kept->next;
	return kept ? kept->place.first_ns : UINT64_MAX;
}

static void drop_until(struct keep *keep, const struct kept *begin)
{
	while (keep->first != begin)
		drop_first(keep);
}

/* Drop chunks up to one with all names, so that the rest has them. */
static void make_room(struct keep *keep)
{
	const struct kept *begin = next_begin(keep);

	while (begin && begin_ns(begin) != UINT64_MAX &&
	       begin_ns(begin) + keep->span_ns <= keep->newest_ns) {
		drop_until(keep, begin);
		begin = next_begin(keep);
	}
	while (keep->bytes > keep->max_bytes && keep->first && keep->first->next) {
		keep->short_of++;
		drop_first(keep);
	}
}

static struct kept *copy(const struct cmt_chunk *chunk)
{
	struct kept *kept = malloc(sizeof(*kept) + chunk->nr_bytes);

	if (!kept)
		return NULL;
	kept->next = NULL;
	kept->place = (struct cmt_chunk_place){
		.sequence = chunk->sequence, .first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns, .kind = chunk->kind,
		.nr_bytes = (uint32_t)chunk->nr_bytes, .flags = chunk->flags,
		.records = chunk->records,
	};
	memcpy(kept->bytes, chunk->bytes, chunk->nr_bytes);
	return kept;
}

int keep_add(struct keep *keep, const struct cmt_chunk *chunk)
{
	struct kept *kept = copy(chunk);

	if (!kept) {
		keep->refused++;
		return -ENOMEM;
	}
	if (chunk->kind == CMT_CHUNK_HEAD) {
		free(keep->head);
		keep->head = kept;
		return 0;
	}
	*keep->end = kept;
	keep->end = &kept->next;
	keep->bytes += cost(kept);
	if (chunk->last_ns > keep->newest_ns)
		keep->newest_ns = chunk->last_ns;
	make_room(keep);
	return 0;
}

const struct kept *keep_first(const struct keep *keep)
{
	const struct kept *kept = keep->first;

	while (kept && !has_all_names(kept))
		kept = kept->next;
	return kept ? kept : keep->first;
}
