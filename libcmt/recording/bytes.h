/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of a recording: little endian on every machine.  A buffer whose allocation
 * failed, and a cursor that ran past its end, keep a flag: one check at the end is
 * enough.
 */
#ifndef LIBCMT_REC_BYTES_H
#define LIBCMT_REC_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

/* Zero, or freed with rec_buffer_free(). */
struct rec_buffer {
	uint8_t *bytes;
	size_t nr, room;
	bool failed;		/* an allocation failed: the content is incomplete */
};

/* Room for @n more bytes, or NULL and failed.  nr does not change. */
uint8_t *rec_buffer_room(struct rec_buffer *buffer, size_t n);
void rec_buffer_free(struct rec_buffer *buffer);

void rec_put(struct rec_buffer *buffer, const void *bytes, size_t n);

static inline void rec_put_u32(struct rec_buffer *buffer, uint32_t value)
{
	value = htole32(value);
	rec_put(buffer, &value, sizeof(value));
}

static inline void rec_put_u64(struct rec_buffer *buffer, uint64_t value)
{
	value = htole64(value);
	rec_put(buffer, &value, sizeof(value));
}

/* Seven bits a byte, the lowest first; the last byte is below 128. */
void rec_put_varint(struct rec_buffer *buffer, uint64_t value);

/* A varint of the length, and the bytes.  NULL: no text, which differs from "". */
void rec_put_text(struct rec_buffer *buffer, const char *text);

struct rec_cursor {
	const uint8_t *at, *end;
	bool bad;		/* the input was too short: values are 0 */
};

/* The next @n bytes, or NULL and bad. */
const uint8_t *rec_get(struct rec_cursor *cursor, uint64_t n);
uint32_t rec_get_u32(struct rec_cursor *cursor);
uint64_t rec_get_u64(struct rec_cursor *cursor);
uint64_t rec_get_varint(struct rec_cursor *cursor);

/*
 * A terminated text, added to the buffer @texts: *@at is its position there.  Returns
 * false: there is no text.
 */
bool rec_get_text(struct rec_cursor *cursor, struct rec_buffer *texts, size_t *at);

/*
 * A count of elements of at least @least bytes each.  If the input is too short: 0 and
 * bad.
 */
uint32_t rec_get_count(struct rec_cursor *cursor, size_t least);

#endif
