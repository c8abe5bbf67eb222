/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of points, compressed, in a file without a name until the page is written. */
#ifndef REPORT_SPOOL_H
#define REPORT_SPOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "bytes.h"

struct blob {
	uint32_t level;
	uint32_t block;
	uint32_t raw;		/* bytes, before they were compressed */
	uint32_t len;		/* and after */
	uint64_t offset;	/* in the file */
	bool wanted;		/* a verdict is in it, or near */
	bool kept;		/* it goes into the page */
};

struct spool {
	FILE *file;
	struct blob *blobs;	/* in the order in which they were added */
	uint32_t nr;
	uint32_t room;
	uint64_t offset;
	struct bytes work;
};

/* @directory: where the page is to be; where no such file can be made, in that for
 *  temporary files; NULL: in memory.  Returns 0 or -errno; spool_close() in any case.
 */
int spool_open(struct spool *spool, const char *directory);
void spool_close(struct spool *spool);

/* Compress and keep.  Returns 0 or -errno. */
int spool_add(struct spool *spool, uint32_t level, uint32_t block,
	      const struct bytes *raw);

/* The compressed bytes of a blob, valid until the next call.  Returns 0 or -errno. */
int spool_read(struct spool *spool, const struct blob *blob, struct bytes *bytes);

/*
 * Choose the blobs of the page, of at most @limit bytes in base64: complete levels from
 * the coarsest in half of that; then wanted blocks, the finest first; then more levels,
 * and of the first level without room for all blocks those with the greatest changes.
 * Returns the bytes, more than @limit only where the coarsest level is.  Sorts the
 * blobs by level, the coarsest first, and block.
 */
uint64_t spool_choose(struct spool *spool, uint64_t limit);

#endif
