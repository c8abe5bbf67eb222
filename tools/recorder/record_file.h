/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that chunks are appended to, and the earlier ones: FILE.1, FILE.2, ... */
#ifndef TOOLS_RECORD_FILE_H
#define TOOLS_RECORD_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmt/recording.h>

struct record_file {
	/* The caller's: */
	const char *path;
	uint64_t max_bytes;	/* 0: no limit */
	uint64_t max_files;	/* with this one */
	bool force;		/* replace existing files */
	/* The file's: */
	int fd;			/* -1: not open */
	bool made;		/* it was not there */
	bool cleared;
	uint64_t nr_older;	/* numbers of older files that this recording or an earlier one uses */
	char *held;		/* what is written before; or NULL */
	uint64_t size;
	uint64_t nr_chunks;
	uint64_t largest;	/* chunk */
	int err;		/* -errno: nothing is written any more */
	uint64_t before;	/* bytes of files before this one */
	uint64_t nr_files;	/* that were begun; and of these: */
	uint64_t removed;	/* gone, for max_files */
};

/*
 * Open and lock it; its content stays until record_file_clear().  Returns 0 or -errno;
 * record_file_why() explains it.  Call record_file_close() in any case.
 */
int record_file_open(struct record_file *file);

/* NULL: use strerror(3).  The text does not have the path. */
const char *record_file_why(int err);

/*
 * Truncate it, with force, and write what was held.  Returns 0, or -errno, which is file->err,
 * too.
 */
int record_file_clear(struct record_file *file);

/*
 * cmt_recorder_fn; @ctx is the file.  Before record_file_clear() chunks are held in memory.
 * After an error the file ends with the last chunk.
 */
int record_file_write(void *ctx, const struct cmt_chunk *chunk);

/* Is another file to be begun before the next chunk? */
bool record_file_full(const struct record_file *file);

/*
 * Begin another one.  Returns 0, or -errno, which is file->err, too; -EIDRM: the path names
 * another program's file, and nothing has changed.
 */
int record_file_rotate(struct record_file *file);

/* Was the file removed? */
bool record_file_removed(const struct record_file *file);

/*
 * Where nothing was recorded, and nothing cleared, the path names what it named before.
 * Returns 0 or -errno: the data may not be on the disk.
 */
int record_file_close(struct record_file *file);

#endif
