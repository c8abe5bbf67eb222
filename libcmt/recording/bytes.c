// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bytes.h"

#include <stdlib.h>

#define ROOM_MIN	256

uint8_t *rec_buffer_room(struct rec_buffer *buffer, size_t n)
{
	size_t room = buffer->room ? buffer->room : ROOM_MIN;
	uint8_t *bytes;

	if (buffer->failed)
		return NULL;
	if (buffer->bytes && n <= buffer->room - buffer->nr)
		return buffer->bytes + buffer->nr;
	while (room - buffer->nr < n)
		room *= 2;
	bytes = realloc(buffer->bytes, room);
	if (!bytes) {
		buffer->failed = true;
		return NULL;
	}
	buffer->bytes = bytes;
	buffer->room = room;
	return bytes + buffer->nr;
}

void rec_buffer_free(struct rec_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct rec_buffer){ 0 };
}

void rec_put(struct rec_buffer *buffer, const void *bytes, size_t n)
{
	uint8_t *to = rec_buffer_room(buffer, n);

	if (!to || !n)
		return;
	memcpy(to, bytes, n);
	buffer->nr += n;
}

void rec_put_varint(struct rec_buffer *buffer, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	rec_put(buffer, bytes, n);
}

void rec_put_text(struct rec_buffer *buffer, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	rec_put_varint(buffer, text ? n + 1 : 0);
	rec_put(buffer, text, n);
}

const uint8_t *rec_get(struct rec_cursor *cursor, uint64_t n)
{
	const uint8_t *at = cursor->at;

	if (cursor->bad || n > (uint64_t)(cursor->end - at)) {
		cursor->bad = true;
		return NULL;
	}
	cursor->at += n;
	return at;
}

uint32_t rec_get_u32(struct rec_cursor *cursor)
{
	const uint8_t *at = rec_get(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

uint64_t rec_get_u64(struct rec_cursor *cursor)
{
	const uint8_t *at = rec_get(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

uint64_t rec_get_varint(struct rec_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint8_t *at = rec_get(cursor, 1);

		if (!at)
			return 0;
		if (shift == 63 && *at > 1)
			break;
		value |= (uint64_t)(*at & 0x7f) << shift;
		if (*at < 0x80)
			return value;
	}
	cursor->bad = true;
	return 0;
}

bool rec_get_text(struct rec_cursor *cursor, struct rec_buffer *texts, size_t *at)
{
	uint64_t n = rec_get_varint(cursor);
	const uint8_t *bytes;

	*at = texts->nr;
	if (!n)
		return false;
	bytes = rec_get(cursor, n - 1);
	/* a text has no NUL: bytes after one would be lost silently */
	if (!bytes || memchr(bytes, 0, n - 1)) {
		cursor->bad = true;
		return false;
	}
	rec_put(texts, bytes, n - 1);
	rec_put(texts, "", 1);
	return true;
}

uint32_t rec_get_count(struct rec_cursor *cursor, size_t least)
{
	uint64_t n = rec_get_varint(cursor);

	if (n <= (size_t)(cursor->end - cursor->at) / least)
		return (uint32_t)n;
	cursor->bad = true;
	return 0;
}
