/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A chunk of a recording: its header, and its payload, compressed. */
#ifndef LIBCMT_REC_CHUNK_H
#define LIBCMT_REC_CHUNK_H

#include <cmt/recording.h>

#include "bytes.h"

/* bytes; a later version's header may have more */
#define REC_HEADER	96U
#define REC_HEADER_MAX	256U
#define REC_RAW_MAX	(16U << 20)	/* a larger payload is not unpacked */
#define REC_PAYLOAD_MAX	(CMT_CHUNK_MAX - REC_HEADER)
#define REC_MAGIC_LEN	8U
#define REC_CUTS	80U

extern const uint8_t rec_magic[REC_MAGIC_LEN];

/* Flags of a chunk beside CMT_CHUNK_ALL_NAMES. */
#define REC_PACKED	(1U << 1)	/* the payload is a frame of zstd */
/* DATA: the owners of the chunk are those of a snapshot */
#define REC_SYNC	(1U << 2)

struct rec_header {
	uint32_t bytes;		/* size of the header */
	uint32_t kind;
	uint32_t version;
	uint32_t flags;
	uint64_t sequence;
	uint64_t first_ns, last_ns;
	uint32_t payload;	/* bytes in the file */
	uint32_t raw;		/* bytes when unpacked */
	uint32_t payload_crc;
	uint32_t records, samples;
	uint32_t dropped;	/* records that are missing before the chunk */
	uint64_t run;		/* a random number per recorder */
};

/*
 * Is there a header in the @n bytes at @bytes?  False: there is none, or it is damaged,
 * truncated or implausible.
 */
bool rec_header_parse(struct rec_header *header, const uint8_t *bytes, size_t n);

static inline uint64_t rec_chunk_bytes(const struct rec_header *header)
{
	return (uint64_t)header->bytes + header->payload;
}

/*
 * Does it tell when its neighbours begin and end?  Not a state: some of the records that
 * are read after it are older.
 */
static inline bool rec_has_times(const struct rec_header *header)
{
	return header->kind == CMT_CHUNK_DATA && header->first_ns;
}

struct rec_packer;

/* @level: of zstd.  NULL: no memory. */
struct rec_packer *rec_packer_new(uint32_t level);
void rec_packer_free(struct rec_packer *packer);

/*
 * Ends of the parts of a payload with similar content, as ascending offsets: the
 * compression begins new tables there.
 */
struct rec_cuts {
	uint32_t nr;
	uint32_t at[REC_CUTS];
};

/*
 * Make the chunk of a header and a payload of at most REC_PAYLOAD_MAX bytes.  Fills in
 * the header's payload, crc and the like.  @cuts: may be NULL.  @chunk: valid until the
 * next call.  Returns 0, -ENOMEM or -E2BIG.
 */
int rec_pack(struct rec_packer *packer, struct rec_header *header,
	     const struct rec_buffer *raw, const struct rec_cuts *cuts,
	     const struct rec_buffer **chunk);

/*
 * Unpack the payload of a header, header->payload bytes, into @raw, which is emptied
 * before.  Returns 0, -ENOMEM or -EBADMSG.
 */
int rec_unpack(const struct rec_header *header, const uint8_t *payload,
	       struct rec_buffer *raw);

#endif
