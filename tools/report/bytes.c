// SPDX-License-Identifier: GPL-2.0-or-later
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bytes_reserve(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : 64;
	uint8_t *at;

	if (more <= bytes->room - bytes->len)
		return 0;
	if (more > SIZE_MAX / 4 || bytes->len > SIZE_MAX / 4)
		return -ENOMEM;
	while (room - bytes->len < more)
		room *= 2;
	at = realloc(bytes->at, room);
	if (!at)
		return -ENOMEM;
	bytes->at = at;
	bytes->room = room;
	return 0;
}

int bytes_add(struct bytes *bytes, const void *from, size_t len)
{
	if (!len)
		return 0;
	if (bytes_reserve(bytes, len))
		return -ENOMEM;
	memcpy(bytes->at + bytes->len, from, len);
	bytes->len += len;
	return 0;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){ 0 };
}

int bytes_varint(struct bytes *bytes, uint64_t value)
{
	if (bytes_reserve(bytes, VARINT_MAX))
		return -ENOMEM;
	for (; value > 0x7f; value >>= 7)
		bytes->at[bytes->len++] = (uint8_t)(value | 0x80);
	bytes->at[bytes->len++] = (uint8_t)value;
	return 0;
}
