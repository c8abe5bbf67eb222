/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a recording: where its chunks are, by their headers. */
#ifndef LIBCMT_REC_FILE_H
#define LIBCMT_REC_FILE_H

#include "rec_chunk.h"

#define REC_ANYWHERE	UINT64_MAX

struct rec_file {
	int fd;			/* or -1 */
	uint64_t size;		/* as of rec_file_look() */
};

/* @fd is the file's from then on, also on error.  Returns as cmt_recording_open(). */
int rec_file_open(struct rec_file *file, int fd);
void rec_file_close(struct rec_file *file);

/* How large is it now?  Returns 0 or -errno. */
int rec_file_look(struct rec_file *file);

/* @n bytes from @offset on; they replace what @to has.  Returns 0, -ENOMEM, -ENODATA (there
 * are not as many) or -errno.
 */
int rec_file_read(const struct rec_file *file, uint64_t offset, size_t n,
		  struct rec_buffer *to);

/* The header at @offset.  Returns 1, 0: there is none that is intact, or -errno. */
int rec_file_header(const struct rec_file *file, uint64_t offset, struct rec_header *header);

/* The first header that is intact, from *@offset on and before @end, which may be
 * REC_ANYWHERE.  Returns as rec_file_header(), or -ENOMEM.
 */
int rec_file_find(const struct rec_file *file, uint64_t *offset, uint64_t end,
		  struct rec_header *header);

/* Does a header begin at @offset, and end behind the file? */
bool rec_file_cut_header(const struct rec_file *file, uint64_t offset);

/*
 * All chunks whose headers are intact.  @places: to be freed.  *@indexed: as the INDEX
 * says; otherwise they were looked for.  Returns 0, -ENOMEM or -errno.
 */
int rec_file_places(const struct rec_file *file, struct cmt_chunk_place **places,
		    uint32_t *n, bool *indexed);

#endif
