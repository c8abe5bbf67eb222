// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream.h"

#include <errno.h>

#define OPEN_MOST 16U	/* points of a run whose length is filled in: one byte */

static int header(struct stream *stream, unsigned int kind, uint32_t nr)
{
	return bytes_varint(&stream->bytes, (uint64_t)(nr - 1) << 3 | kind);
}

int stream_close(struct stream *stream)
{
	uint32_t run = stream->run;

	stream->open_kind = 0;
	stream->run = 0;
	return run ? header(stream, stream->kind, run) : 0;
}

void stream_clear(struct stream *stream)
{
	stream->bytes.len = 0;
	*stream = (struct stream){ .bytes = stream->bytes };
}

static int put_run(struct stream *stream, unsigned int kind, uint32_t nr)
{
	int ret = 0;

	if (!nr)
		return 0;
	if (stream->run && stream->kind != kind)
		ret = stream_close(stream);
	stream->open_kind = 0;
	stream->kind = (uint8_t)kind;
	stream->run += nr;
	stream->at += nr;
	if (kind != STREAM_SAME)
		stream->is_before = false;
	return ret;
}

/* Prepare for a point of @kind: open the run that it belongs to. */
static int open_run(struct stream *stream, unsigned int kind)
{
	uint8_t *first;
	int ret = stream->run ? stream_close(stream) : 0;

	if (ret)
		return ret;
	if (stream->open_kind == kind && stream->open_nr < OPEN_MOST) {
		first = &stream->bytes.at[stream->open];
		*first = (uint8_t)(stream->open_nr++ << 3 | kind);
		return 0;
	}
	stream->open_kind = (uint8_t)kind;
	stream->open_nr = 1;
	stream->open = stream->bytes.len;
	return header(stream, kind, 1);
}

static int put_values(struct stream *stream, const struct packed *p, bool fine)
{
	struct bytes *bytes = &stream->bytes;
	int ret = bytes_varint(bytes, zigzag((int64_t)p->mean - stream->before.mean));

	if (p->mean && !fine) {
		ret |= bytes_varint(bytes, p->mean - p->least);
		ret |= bytes_varint(bytes, p->most - p->mean);
	}
	ret |= bytes_varint(bytes, zigzag((int64_t)p->rate - stream->before.rate));
	if (p->rate && !fine)
		ret |= bytes_varint(bytes, p->rate_most - p->rate);
	ret |= bytes_varint(bytes, zigzag((int64_t)p->local - stream->before.local));
	return ret ? -ENOMEM : 0;
}

static int put_point(struct stream *stream, const struct packed *p, bool fine)
{
	unsigned int kind = p->there != THERE_WHOLE ? STREAM_BRIEF :
			    p->note != NOTE_SHARE ? STREAM_NOTED : STREAM_VALUES;
	int ret = open_run(stream, kind);

	if (!ret && kind == STREAM_BRIEF)
		ret = bytes_varint(&stream->bytes, p->there);
	if (!ret && kind != STREAM_VALUES)
		ret = bytes_add(&stream->bytes, &p->note, 1);
	if (!ret)
		ret = put_values(stream, p, fine);
	stream->before = *p;
	stream->is_before = true;
	stream->at++;
	return ret;
}

int stream_put(struct stream *stream, uint32_t index, const struct packed *packed,
	       uint32_t nr, bool fine)
{
	int ret = 0;

	if (index > stream->at)
		ret = put_run(stream, STREAM_ABSENT, index - stream->at);
	if (ret || !nr)
		return ret;
	if (!packed_is_known(packed))
		return put_run(stream, STREAM_UNKNOWN, nr);
	if (!stream->is_before || !packed_equal(packed, &stream->before)) {
		ret = put_point(stream, packed, fine);
		nr--;
	}
	return ret ? ret : put_run(stream, STREAM_SAME, nr);
}
