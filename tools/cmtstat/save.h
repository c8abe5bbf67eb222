/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a flight recorder saves: their names, and how many there are. */
#ifndef TOOLS_SAVE_H
#define TOOLS_SAVE_H

#include <limits.h>

#include "keep.h"

struct saves {
	const char *path;	/* of the directory */
	int dir;
	uint64_t max_files;
	uint64_t removed;
};

struct save {
	int fd;
	char name[NAME_MAX + 1];
	uint64_t size;
	uint32_t nr_places;
	struct cmt_chunk_place *places;
};

/* Returns 0 or -errno: no directory, or none that can be written to. */
int saves_open(struct saves *saves, const char *path, uint64_t max_files);
void saves_close(struct saves *saves);

/* Begin a file, and write the content of @keep.  Returns 0 or -errno. */
int save_begin(struct save *save, const struct saves *saves,
	       const struct keep *keep);

/* cmt_recorder_fn's work, for cmt_recorder_index(). */
int save_write(struct save *save, const struct cmt_chunk *chunk);

/*
 * Give the file its name, and remove the oldest other files.  @err: the error of writing;
 * then the file is removed.  Closes nothing: the caller may hand save->fd on, and
 * save_close() it.  Returns @err, or -errno.
 */
int save_finish(struct save *save, struct saves *saves, int err);
void save_close(struct save *save);

#endif
