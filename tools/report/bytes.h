/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that grow.  All 0: empty. */
#ifndef REPORT_BYTES_H
#define REPORT_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at;
	size_t len;
	size_t room;
};

/* Room for @more bytes behind the ones that are there.  Returns 0 or -ENOMEM. */
int bytes_reserve(struct bytes *bytes, size_t more);
int bytes_add(struct bytes *bytes, const void *from, size_t len);
void bytes_free(struct bytes *bytes);

/* Seven bits a byte, the lowest first, the top bit: more follow. */
#define VARINT_MAX 10U
int bytes_varint(struct bytes *bytes, uint64_t value);

/* Of a difference: 0, -1, 1, -2, ... */
static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

#endif
