// SPDX-License-Identifier: GPL-2.0-or-later
#include "proto.h"

#include <string.h>

#include "common/format.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

#define VARINT_MAX 10U

static size_t varint(uint8_t *to, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static size_t tag(uint8_t *to, uint32_t field, unsigned int type)
{
	return varint(to, (uint64_t)field << 3 | type);
}

void proto_varint(struct proto *to, uint32_t field, uint64_t value)
{
	if (to->used + 2 * VARINT_MAX > PROTO_ROOM)
		return;
	to->used += tag(to->bytes + to->used, field, VARINT);
	to->used += varint(to->bytes + to->used, value);
}

void proto_double(struct proto *to, uint32_t field, double value)
{
	uint64_t bits;

	if (to->used + 2 * VARINT_MAX > PROTO_ROOM)
		return;
	memcpy(&bits, &value, sizeof(bits));
	to->used += tag(to->bytes + to->used, field, FIXED64);
	for (unsigned int i = 0; i < 8; i++)
		to->bytes[to->used++] = (uint8_t)(bits >> 8 * i);
}

static void put_bytes(struct proto *to, uint32_t field, const void *bytes, size_t n)
{
	if (to->used + n + 2 * VARINT_MAX > PROTO_ROOM)
		return;
	to->used += tag(to->bytes + to->used, field, BYTES);
	to->used += varint(to->bytes + to->used, n);
	memcpy(to->bytes + to->used, bytes, n);
	to->used += n;
}

void proto_text(struct proto *to, uint32_t field, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char utf8[PROTO_ROOM / 2];
	size_t n = 0;

	while (*text) {
		uint32_t code;
		unsigned int len = utf8_decode(text, &code);
		const char *from = len ? text : replacement;
		size_t part = len ? len : 3;

		if (n + part > sizeof(utf8))
			break;
		memcpy(utf8 + n, from, part);
		n += part;
		text += len ? len : 1;
	}
	put_bytes(to, field, utf8, n);
}

void proto_message(struct proto *to, uint32_t field, const struct proto *message)
{
	put_bytes(to, field, message->bytes, message->used);
}

void proto_put(struct out *out, uint32_t field, const struct proto *message)
{
	uint8_t head[2 * VARINT_MAX];
	size_t n = tag(head, field, BYTES);

	n += varint(head + n, message->used);
	out_bytes(out, head, n);
	out_bytes(out, message->bytes, message->used);
}
