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

#define REC_NOWHERE	UINT64_MAX

/* A DATA chunk with records, and the chunks before it that its records need. */
struct rec_mark {
	uint64_t offset, end;	/* of the chunk, in the file */
	uint64_t last_ns;	/* of its records */
	uint64_t names;		/* offset of the last NAMES with all names, or REC_NOWHERE */
	uint64_t state;		/* offset of the last STATE, or REC_NOWHERE */
};

/*
 * All chunks with intact headers, in sums, and marks.  Of more DATA chunks than marks only
 * every step-th has one, from the first on; step is a power of two.
 */
struct rec_places {
	uint32_t most;		/* marks, two at least; by the caller */
	bool indexed;		/* all of it is from the INDEX, otherwise from a search */
	bool tailed;		/* there is a TAIL */
	struct rec_mark *marks;
	uint32_t nr, room;
	uint64_t step;
	uint64_t data;		/* DATA chunks with records */
	struct rec_mark last;	/* of these the last one; zero: there is none */
	uint64_t names, state;	/* as of a mark, for the end of the file */
	uint64_t chunks, records;
	uint64_t start_ns;	/* time of the first record; 0: there is none */
};

/*
 * Find all chunks.  @places: zero but for most, or of an earlier call.  Returns 0, -ENOMEM or
 * -errno.
 */
int rec_file_places(const struct rec_file *file, struct rec_places *places);
void rec_places_free(struct rec_places *places);

#endif
