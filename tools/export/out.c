// SPDX-License-Identifier: GPL-2.0-or-later
#include "out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/signals.h"

#define ROOM (256U << 10)
#define EXACT 9007199254740992.0	/* 2^53: below it whole numbers are exact */

int out_open(struct out *out, int fd)
{
	*out = (struct out){ .fd = fd, .room = ROOM, .buffer = malloc(ROOM) };
	if (!out->buffer)
		out->err = -ENOMEM;
	return out->err;
}

int out_flush(struct out *out)
{
	if (!out->err && out->used)
		out->err = signals_write(out->fd, out->buffer, out->used);
	out->used = 0;
	return out->err;
}

int out_close(struct out *out)
{
	out_flush(out);
	free(out->buffer);
	out->buffer = NULL;
	return out->err;
}

void out_bytes(struct out *out, const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n && !out->err) {
		size_t part = out->room - out->used;

		part = part < n ? part : n;
		memcpy(out->buffer + out->used, from, part);
		out->used += part;
		out->bytes += part;
		from += part;
		n -= part;
		if (out->used == out->room)
			out_flush(out);
	}
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void out_byte(struct out *out, uint8_t byte)
{
	out_bytes(out, &byte, 1);
}

void out_le(struct out *out, uint64_t value, unsigned int n)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	out_bytes(out, bytes, n);
}

void out_varint(struct out *out, uint64_t value)
{
	uint8_t bytes[10];
	unsigned int n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	out_bytes(out, bytes, n);
}

void out_u64(struct out *out, uint64_t value)
{
	char digits[20];
	unsigned int at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	out_bytes(out, digits + at, sizeof(digits) - at);
}

void out_double(struct out *out, double value)
{
	char text[32];

	if (value >= 0 && value < EXACT && value == floor(value)) {
		out_u64(out, (uint64_t)value);
		return;
	}
	out_bytes(out, text, (size_t)snprintf(text, sizeof(text), "%.17g", value));
}
