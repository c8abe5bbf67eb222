/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small messages of protobuf: fields in the order in which they are put.  A field that
 * does not fit in a message is left out completely, never cut.
 */
#ifndef TOOLS_PROTO_H
#define TOOLS_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "out.h"

#define PROTO_ROOM 1536

struct proto {
	size_t used;
	uint8_t bytes[PROTO_ROOM];
};

void proto_varint(struct proto *to, uint32_t field, uint64_t value);
void proto_double(struct proto *to, uint32_t field, double value);

/* @text: bytes; bytes that are not UTF-8 become U+FFFD */
void proto_text(struct proto *to, uint32_t field, const char *text);
void proto_message(struct proto *to, uint32_t field, const struct proto *message);

/* The message as a field of the file. */
void proto_put(struct out *out, uint32_t field, const struct proto *message);

#endif
