/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page that is being written: bytes in one piece, which grow. */
#ifndef EXPORTER_BODY_H
#define EXPORTER_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Begins as zeroes.  The bytes are the caller's to free. */
struct body {
	char *bytes;		/* not terminated */
	size_t len, room;
	bool failed;		/* no memory: it is not all there */
};

/* Make room for @more bytes.  Returns false, and has failed, without memory. */
bool body_reserve(struct body *body, size_t more);

static inline void body_put(struct body *body, const char *text, size_t len)
{
	if (body->room - body->len < len && !body_reserve(body, len))
		return;
	memcpy(body->bytes + body->len, text, len);
	body->len += len;
}

static inline void body_puts(struct body *body, const char *text)
{
	body_put(body, text, strlen(text));
}

#endif
