// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where all chunks of a file are: by its INDEX, or looked for. */
#include <errno.h>
#include <stdlib.h>

#include "file.h"
#include "index.h"

#define TAIL_BYTES	(REC_HEADER + sizeof(uint64_t))
#define PLACES_MOST	(1U << 22)	/* of a file; 256 MiB of memory */

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

static int by_index(const struct rec_file *file, struct cmt_chunk_place **places, uint32_t *n)
{
	struct rec_buffer raw = { 0 };
	struct rec_cursor in;
	uint64_t at;
	int ret = find_index(file, &raw, &at);

	if (ret > 0)
		ret = read_chunk(file, at, CMT_CHUNK_INDEX, &raw);
	if (ret > 0) {
		in = (struct rec_cursor){ .at = raw.bytes, .end = raw.bytes + raw.nr };
		ret = rec_index_get(&in, at, places, n);
		ret = ret == -EBADMSG ? 0 : ret ? ret : 1;
	}
	rec_buffer_free(&raw);
	return ret;
}

struct places {
	struct cmt_chunk_place *all;
	uint32_t nr, room;
};

static int add_place(struct places *places, uint64_t offset, const struct rec_header *h)
{
	if (places->nr == PLACES_MOST ||
	    cmt_grow(&places->all, places->nr, &places->room, sizeof(*places->all)))
		return -ENOMEM;
	places->all[places->nr++] = (struct cmt_chunk_place){
		.offset = offset, .sequence = h->sequence, .first_ns = h->first_ns,
		.last_ns = h->last_ns, .nr_bytes = (uint32_t)rec_chunk_bytes(h),
		.kind = h->kind, .flags = h->flags & CMT_CHUNK_ALL_NAMES,
		.records = h->records,
	};
	return 0;
}

/* From header to header; damaged bytes in between are searched. */
static int by_headers(const struct rec_file *file, struct places *places)
{
	struct rec_header header;
	uint64_t offset = 0;
	int ret = 0, err;

	while (offset < file->size) {
		ret = rec_file_header(file, offset, &header);
		if (!ret)
			ret = rec_file_find(file, &offset, REC_ANYWHERE, &header);
		if (ret <= 0)
			break;
		if (rec_chunk_bytes(&header) > file->size - offset) {
			offset += header.bytes;
			continue;
		}
		err = add_place(places, offset, &header);
		if (err)
			return err;
		offset += rec_chunk_bytes(&header);
	}
	return ret < 0 ? ret : 0;
}

int rec_file_places(const struct rec_file *file, struct cmt_chunk_place **places,
		    uint32_t *n, bool *indexed)
{
	struct places found = { 0 };
	int ret = by_index(file, places, n);

	*indexed = ret > 0;
	if (ret)
		return ret < 0 ? ret : 0;
	ret = by_headers(file, &found);
	if (ret) {
		free(found.all);
		return ret;
	}
	*places = found.all;
	*n = found.nr;
	return 0;
}
