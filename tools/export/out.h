/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of many rows: one buffer in front of a descriptor.  The first error is kept,
 * and later output is dropped, so that callers check it now and then.
 */
#ifndef TOOLS_OUT_H
#define TOOLS_OUT_H

#include <stddef.h>
#include <stdint.h>

struct out {
	int fd;
	int err;		/* 0 or -errno; -EPIPE: the reader has gone */
	uint64_t bytes;		/* put so far */
	size_t used, room;
	char *buffer;
};

/* Returns 0 or -ENOMEM; out_close() frees in any case. */
int out_open(struct out *out, int fd);

/* Write the content of the buffer.  Returns out->err. */
int out_flush(struct out *out);

/* Flush and free; @out->fd stays open.  Returns out->err. */
int out_close(struct out *out);

void out_bytes(struct out *out, const void *bytes, size_t n);
void out_text(struct out *out, const char *text);
void out_byte(struct out *out, uint8_t byte);

/* Little-endian, of @n bytes at most 8. */
void out_le(struct out *out, uint64_t value, unsigned int n);

/* As protobuf and ClickHouse have it: seven bits a byte, the lowest first. */
void out_varint(struct out *out, uint64_t value);

/* Decimal; a double so that the same one is read again. */
void out_u64(struct out *out, uint64_t value);
void out_double(struct out *out, double value);

#endif
