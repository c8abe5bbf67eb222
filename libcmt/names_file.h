/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of containers that cmt-names(8), a service of root, writes for users who
 * may not read the runtimes' state.  Text, tab-separated, in the order of the ids:
 *
 *	cmt-names 1
 *	ID	RUNTIME	CONTAINER	POD	NAMESPACE	POD-UID	IMAGE
 *	...
 *	end
 *
 * Everything is printable ASCII.  What is not known is empty.
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
#define CMT_NAMES_LINE	1024	/* bytes; no line is longer */

/* The file as it was read last.  All 0: not read yet. */
struct cmt_names {
	char *bytes;		/* NULL: there is no valid file */
	size_t size;
	struct stat st;		/* of the file that was read */
};

void cmt_names_destroy(struct cmt_names *names);

/*
 * Look @container's id up in the file below @root_fd, which is read again if it is
 * another one than last time.  A file that others than root could write is not read,
 * and one that is not complete says nothing.  A runtime that the path did not tell is
 * put into @container.  Returns 0, -ENOENT, or -errno of an error that passes.
 */
int cmt_names_find(struct cmt_names *names, int root_fd,
		   struct cmt_container *container, struct cmt_state *state);

/* Has the text everything that a complete file has, and nothing else? */
bool cmt_names_possible(const char *bytes, size_t size);

/*
 * The line of @container with its newline, into @line of CMT_NAMES_LINE bytes.
 * Returns its length; 0: there is no name.
 */
size_t cmt_names_line(char *line, const struct cmt_container *container);

#endif
