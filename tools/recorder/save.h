/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a flight recorder saves: their names, and how many there are. */
#ifndef TOOLS_SAVE_H
#define TOOLS_SAVE_H

#include <limits.h>

#include "common/keep_file.h"

struct saves {
	char *path;		/* of the directory, for programs in another one */
	int dir;
	uint64_t max_files;	/* for rules, and as many for requests */
	uint64_t removed;
	int stays_err;		/* why the first that cannot be removed stays: -errno; 0: none */
	char stays[NAME_MAX + 1];
};

struct save {
	struct keep_file file;
	bool asked;		/* a request, not a rule */
	char name[NAME_MAX + 1];
};

/*
 * Returns 0 or -errno: no directory, none that can be written to, or -EWOULDBLOCK: another
 * recorder has it.  Call saves_close() in any case.
 */
int saves_open(struct saves *saves, const char *path, uint64_t max_files);
void saves_close(struct saves *saves);

/* Begin a file, and write the content of @keep.  Returns 0 or -errno. */
int save_begin(struct save *save, const struct saves *saves,
	       const struct keep *keep, bool asked);

/*
 * Give the file its name, and remove the oldest other files like it that can be removed.
 * @err: the error of writing; then the file is removed.  Closes nothing: the caller may hand
 * save->file.fd on, and save_close() it.  Returns @err, or -errno.
 */
int save_finish(struct save *save, struct saves *saves, int err);
void save_close(struct save *save);

#endif
