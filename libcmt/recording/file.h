/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a recording, and the positions of its chunks by their headers. */
#ifndef LIBCMT_REC_FILE_H
#define LIBCMT_REC_FILE_H

#include "chunk.h"

#define REC_ANYWHERE	UINT64_MAX

struct rec_file {
	int fd;			/* or -1 */
	uint64_t size;		/* of the last rec_file_look() */
};

/* The file owns @fd, also on error.  Returns as cmt_recording_open(). */
int rec_file_open(struct rec_file *file, int fd);
void rec_file_close(struct rec_file *file);

/* Update the size of the file.  Returns 0 or -errno. */
int rec_file_look(struct rec_file *file);

/*
 * Read @n bytes from @offset on; they replace the content of @to.  Returns 0, -ENOMEM,
 * -ENODATA (the file ends before) or -errno.
 */
int rec_file_read(const struct rec_file *file, uint64_t offset, size_t n,
		  struct rec_buffer *to);

/* Read the header at @offset.  Returns 1, 0: no intact header is there, or -errno. */
int rec_file_header(const struct rec_file *file, uint64_t offset, struct rec_header *header);

/*
 * Find the first intact header from *@offset on and before @end, which may be
 * REC_ANYWHERE.  Returns as rec_file_header(), or -ENOMEM.
 */
int rec_file_find(const struct rec_file *file, uint64_t *offset, uint64_t end,
		  struct rec_header *header);

/* Does a header begin at @offset, and end after the end of the file? */
bool rec_file_cut_header(const struct rec_file *file, uint64_t offset);

/*
 * List all chunks with intact headers.  @places: free with free().  *@indexed: the list
 * is from the INDEX, otherwise from a search.  Returns 0, -ENOMEM or -errno.
 */
int rec_file_places(const struct rec_file *file, struct cmt_chunk_place **places,
		    uint32_t *n, bool *indexed);

#endif
