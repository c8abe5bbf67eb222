// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the chunks of a file are: by its INDEX, or looked for.  A file of any length needs no
 * more memory than some marks: to go to a moment takes longer where these are further apart.
 */
#include <errno.h>
#include <stdlib.h>

#include "file.h"
#include "index.h"

#define TAIL_BYTES	(REC_HEADER + sizeof(uint64_t))

/* A chunk of @kind at @offset, its payload in @raw.  Returns 1, 0: none, or -errno. */
static int read_chunk(const struct rec_file *file, uint64_t offset, uint32_t kind,
		      struct rec_buffer *raw)
{
	struct rec_buffer payload = { 0 };
	struct rec_header header;
	int ret = rec_file_header(file, offset, &header);

	if (ret > 0 && (header.kind != kind ||
			header.version >> 16 != CMT_RECORDING_VERSION >> 16))
		ret = 0;
	if (ret > 0)
		ret = rec_file_read(file, offset + header.bytes, header.payload, &payload);
	else
		return ret;
	if (!ret)
		ret = rec_unpack(&header, payload.bytes, raw);
	rec_buffer_free(&payload);
	return ret == -EBADMSG || ret == -ENODATA ? 0 : ret ? ret : 1;
}

/* Read the INDEX that TAIL refers to.  Returns as read_chunk(). */
static int find_index(const struct rec_file *file, struct rec_buffer *raw, uint64_t *at)
{
	struct rec_cursor in;
	int ret;

	if (file->size < TAIL_BYTES)
		return 0;
	ret = read_chunk(file, file->size - TAIL_BYTES, CMT_CHUNK_TAIL, raw);
	if (ret <= 0)
		return ret;
	in = (struct rec_cursor){ .at = raw->bytes, .end = raw->bytes + raw->nr };
	*at = rec_get_u64(&in);
	return *at && *at < file->size;
}

/* Keep every second mark. */
static void thin_out(struct rec_places *places)
{
	places->nr = (places->nr + 1) / 2;
	for (uint32_t i = 1; i < places->nr; i++)
		places->marks[i] = places->marks[2 * i];
	places->step *= 2;
}

static int add_mark(struct rec_places *places, const struct rec_mark *mark)
{
	uint64_t number = places->data++;

	places->last = *mark;
	if (places->nr == places->most && !(number % places->step))
		thin_out(places);
	if (number % places->step)
		return 0;
	if (cmt_grow(&places->marks, places->nr, &places->room, sizeof(*places->marks)))
		return -ENOMEM;
	places->marks[places->nr++] = *mark;
	return 0;
}

static int add_chunk(struct rec_places *places, const struct cmt_chunk_place *chunk)
{
	places->chunks++;
	places->records += chunk->records;
	places->tailed |= chunk->kind == CMT_CHUNK_TAIL;
	if (chunk->kind == CMT_CHUNK_STATE)
		places->state = chunk->offset;
	if (chunk->kind == CMT_CHUNK_NAMES && chunk->flags & CMT_CHUNK_ALL_NAMES)
		places->names = chunk->offset;
	if (chunk->kind != CMT_CHUNK_DATA || !chunk->records)
		return 0;
	if (!places->start_ns)
		places->start_ns = chunk->first_ns;
	return add_mark(places, &(struct rec_mark){
		.offset = chunk->offset, .end = chunk->offset + chunk->nr_bytes,
		.last_ns = chunk->last_ns, .names = places->names, .state = places->state,
	});
}

/* Returns 1, 0: there is no index, or -errno. */
static int by_index(const struct rec_file *file, struct rec_places *places)
{
	struct cmt_chunk_place *all = NULL;
	struct rec_buffer raw = { 0 };
	struct rec_cursor in;
	uint32_t n = 0;
	uint64_t at;
	int ret = find_index(file, &raw, &at), err = 0;

	if (ret > 0)
		ret = read_chunk(file, at, CMT_CHUNK_INDEX, &raw);
	if (ret > 0) {
		in = (struct rec_cursor){ .at = raw.bytes, .end = raw.bytes + raw.nr };
		ret = rec_index_get(&in, at, &all, &n);
		ret = ret == -EBADMSG ? 0 : ret ? ret : 1;
	}
	rec_buffer_free(&raw);
	for (uint32_t i = 0; i < n && ret > 0 && !err; i++)
		err = add_chunk(places, &all[i]);
	free(all);
	return err ? err : ret;
}

/* From header to header; damaged bytes in between are searched. */
static int by_headers(const struct rec_file *file, struct rec_places *places)
{
	struct rec_header h;
	uint64_t offset = 0;
	int ret = 0, err;

	while (offset < file->size) {
		ret = rec_file_header(file, offset, &h);
		if (!ret)
			ret = rec_file_find(file, &offset, REC_ANYWHERE, &h);
		if (ret <= 0)
			break;
		if (rec_chunk_bytes(&h) > file->size - offset) {
			offset += h.bytes;
			continue;
		}
		err = add_chunk(places, &(struct cmt_chunk_place){
			.offset = offset, .first_ns = h.first_ns, .last_ns = h.last_ns,
			.nr_bytes = (uint32_t)rec_chunk_bytes(&h), .kind = h.kind,
			.flags = h.flags & CMT_CHUNK_ALL_NAMES, .records = h.records,
		});
		if (err)
			return err;
		offset += rec_chunk_bytes(&h);
	}
	return ret < 0 ? ret : 0;
}

void rec_places_free(struct rec_places *places)
{
	free(places->marks);
	*places = (struct rec_places){
		.most = places->most, .step = 1, .names = REC_NOWHERE, .state = REC_NOWHERE,
	};
}

int rec_file_places(const struct rec_file *file, struct rec_places *places)
{
	int ret;

	rec_places_free(places);
	ret = by_index(file, places);
	places->indexed = ret > 0;
	return ret < 0 ? ret : ret ? 0 : by_headers(file, places);
}
