/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of container names that cmt-names(8), a service of root, writes for users
 * without access to the runtimes' state.  Text, tab-separated, in the order of the ids:
 *
 *	cmt-names 1
 *	ID	RUNTIME	CONTAINER	POD	NAMESPACE	POD-UID	IMAGE
 *	...
 *	end
 *
 * All text is printable ASCII.  An unknown field is empty.
 */
#ifndef LIBCMT_NAMES_FILE_H
#define LIBCMT_NAMES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmt/containers.h>

#include "runtime.h"

#define CMT_NAMES_DIR	"/run/cmt"
#define CMT_NAMES_FILE	"names"
#define CMT_NAMES_BEGIN	"cmt-names 1\n"
#define CMT_NAMES_END	"end\n"
#define CMT_NAMES_LINE	1024	/* the longest line, in bytes */

/* The last reading of the file.  All 0: not read yet. */
struct cmt_names {
	char *bytes;		/* NULL: no valid file was found */
	size_t size;
	struct stat st;		/* identity of the file that was read */
};

void cmt_names_destroy(struct cmt_names *names);

/*
 * Look up @container's id in the file below @root_fd.  The file is read again if it is
 * not the file of the last call.  A file that users other than root can write is not
 * read.  An incomplete file has no names.  Sets the runtime of @container if the path
 * has none.  Returns 0, -ENOENT, or -errno of a temporary error.
 */
int cmt_names_find(struct cmt_names *names, int root_fd,
		   struct cmt_container *container, struct cmt_state *state);

/* Is the text a complete file, with nothing else? */
bool cmt_names_possible(const char *bytes, size_t size);

/*
 * Write the line of @container, with its newline, to @line of CMT_NAMES_LINE bytes.
 * Returns its length; 0: the container has no name.
 */
size_t cmt_names_line(char *line, const struct cmt_container *container);

#endif
