// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "crc.h"

#define CRC_AT		8U	/* of the header, over the bytes after it */
#define CRC_FROM	12U
#define PACK_LEAST	64U	/* bytes that are worth it: a TAIL is not */
#define CUT_LEAST	512U

/* Text tools, and transfers that change line ends, are found out by these. */
const uint8_t rec_magic[REC_MAGIC_LEN] = { 0x89, 'C', 'M', 'T', '\r', '\n', 0x1a, '\n' };

struct rec_packer {
	ZSTD_CCtx *zstd;
	struct rec_buffer chunk;
};

bool rec_header_parse(struct rec_header *h, const uint8_t *bytes, size_t n)
{
	struct rec_cursor in = { .at = bytes + CRC_AT, .end = bytes + n };
	uint32_t crc;

	if (n < REC_HEADER || memcmp(bytes, rec_magic, REC_MAGIC_LEN))
		return false;
	crc = rec_get_u32(&in);
	h->bytes = rec_get_u32(&in);
	if (h->bytes < REC_HEADER || h->bytes > REC_HEADER_MAX || h->bytes > n ||
	    cmt_crc32c(bytes + CRC_FROM, h->bytes - CRC_FROM) != crc)
		return false;
	h->kind = rec_get_u32(&in);
	h->version = rec_get_u32(&in);
	h->flags = rec_get_u32(&in);
	h->payload = rec_get_u32(&in);
	h->sequence = rec_get_u64(&in);
	h->first_ns = rec_get_u64(&in);
	h->last_ns = rec_get_u64(&in);
	h->raw = rec_get_u32(&in);
	h->payload_crc = rec_get_u32(&in);
	h->records = rec_get_u32(&in);
	h->samples = rec_get_u32(&in);
	h->dropped = rec_get_u32(&in);
	rec_get_u32(&in);
	h->run = rec_get_u64(&in);
	return h->payload <= REC_PAYLOAD_MAX;
}

/* The header is put before its payload, in the room that was left for it. */
static void header_put(const struct rec_header *h, uint8_t *to)
{
	uint8_t bytes[REC_HEADER] = { 0 };
	struct rec_buffer out = { .bytes = bytes, .room = sizeof(bytes) };
	uint32_t crc;

	rec_put(&out, rec_magic, REC_MAGIC_LEN);
	rec_put_u32(&out, 0);
	rec_put_u32(&out, REC_HEADER);
	rec_put_u32(&out, h->kind);
	rec_put_u32(&out, h->version);
	rec_put_u32(&out, h->flags);
	rec_put_u32(&out, h->payload);
	rec_put_u64(&out, h->sequence);
	rec_put_u64(&out, h->first_ns);
	rec_put_u64(&out, h->last_ns);
	rec_put_u32(&out, h->raw);
	rec_put_u32(&out, h->payload_crc);
	rec_put_u32(&out, h->records);
	rec_put_u32(&out, h->samples);
	rec_put_u32(&out, h->dropped);
	rec_put_u32(&out, 0);
	rec_put_u64(&out, h->run);
	crc = htole32(cmt_crc32c(bytes + CRC_FROM, REC_HEADER - CRC_FROM));
	memcpy(bytes + CRC_AT, &crc, sizeof(crc));
	memcpy(to, bytes, sizeof(bytes));
}

struct rec_packer *rec_packer_new(uint32_t level)
{
	struct rec_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->zstd = ZSTD_createCCtx();
	if (!packer->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel,
						(int)level))) {
		rec_packer_free(packer);
		return NULL;
	}
	return packer;
}

void rec_packer_free(struct rec_packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	rec_buffer_free(&packer->chunk);
	free(packer);
}

/* Returns false: it does not become less. */
static bool compress(ZSTD_CCtx *zstd, const struct rec_buffer *raw,
		     const struct rec_cuts *cuts, uint8_t *to, size_t *n)
{
	ZSTD_inBuffer in = { .src = raw->bytes };
	ZSTD_outBuffer out = { .dst = to, .size = raw->nr };
	size_t left;

	if (raw->nr < PACK_LEAST)
		return false;
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	for (uint32_t i = 0; cuts && i < cuts->nr; i++) {
		if (cuts->at[i] - in.pos < CUT_LEAST)
			continue;
		in.size = cuts->at[i];
		left = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
		if (left || in.pos != in.size)
			return false;
	}
	in.size = raw->nr;
	left = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end);
	*n = out.pos;
	return !left && in.pos == in.size;
}

int rec_pack(struct rec_packer *packer, struct rec_header *h,
	     const struct rec_buffer *raw, const struct rec_cuts *cuts,
	     const struct rec_buffer **chunk)
{
	struct rec_buffer *out = &packer->chunk;
	uint8_t *to;
	size_t n;

	if (raw->failed || raw->nr > REC_PAYLOAD_MAX)
		return raw->failed ? -ENOMEM : -E2BIG;
	out->nr = 0;
	out->failed = false;
	to = rec_buffer_room(out, REC_HEADER + raw->nr);
	if (!to)
		return -ENOMEM;
	if (compress(packer->zstd, raw, cuts, to + REC_HEADER, &n)) {
		h->flags |= REC_PACKED;
	} else {
		h->flags &= ~REC_PACKED;
		n = raw->nr;
		if (n)
			memcpy(to + REC_HEADER, raw->bytes, n);
	}
	h->bytes = REC_HEADER;
	h->payload = (uint32_t)n;
	h->raw = (uint32_t)raw->nr;
	h->payload_crc = cmt_crc32c(to + REC_HEADER, n);
	header_put(h, to);
	out->nr = REC_HEADER + n;
	*chunk = out;
	return 0;
}

int rec_unpack(const struct rec_header *h, const uint8_t *payload, struct rec_buffer *raw)
{
	uint8_t *to;
	size_t n;

	raw->nr = 0;
	raw->failed = false;
	if (h->raw > REC_RAW_MAX ||
	    cmt_crc32c(payload, h->payload) != h->payload_crc)
		return -EBADMSG;
	if (!(h->flags & REC_PACKED)) {
		rec_put(raw, payload, h->payload);
		return raw->failed ? -ENOMEM : h->raw == h->payload ? 0 : -EBADMSG;
	}
	to = rec_buffer_room(raw, h->raw + 1);
	if (!to)
		return -ENOMEM;
	/* the room bounds the output, whatever size the frame announces */
	n = ZSTD_decompress(to, h->raw, payload, h->payload);
	if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	if (ZSTD_isError(n) || n != h->raw)
		return -EBADMSG;
	raw->nr = n;
	return 0;
}
