/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of kept chunks: a recording. */
#ifndef TOOLS_KEEP_FILE_H
#define TOOLS_KEEP_FILE_H

#include "keep.h"

/* Begins as zeroes, with the caller's descriptor. */
struct keep_file {
	int fd;
	uint64_t size;		/* bytes, written so far */
	uint32_t nr_places;
	struct cmt_chunk_place *places;	/* of the kept chunks */
};

/* Write the content of @keep.  Returns 0, -ENODATA: there is none, or -errno. */
int keep_file_write(struct keep_file *file, const struct keep *keep);

/*
 * Write the index, the end of the file, by the recorder that the chunks are of: its
 * function write calls keep_file_chunk().  Returns 0 or -errno.
 */
int keep_file_end(struct keep_file *file, struct cmt_recorder *recorder);
int keep_file_chunk(struct keep_file *file, const struct cmt_chunk *chunk);

/* Closes no descriptor. */
void keep_file_free(struct keep_file *file);

#endif
