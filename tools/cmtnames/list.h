/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The containers that have a cgroup, as the file of names that libcmt reads. */
#ifndef TOOLS_CMTNAMES_LIST_H
#define TOOLS_CMTNAMES_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmt_containers;

/* Lines in any order, then text.  All 0: empty. */
struct names_list {
	char **lines;
	size_t nr, room;
	size_t bytes;		/* of the lines */
	size_t left_out;	/* containers for which the file has no room */
};

void names_list_free(struct names_list *list);

/*
 * Add the container whose own cgroup is @path, if it belongs to root and has a name.
 * Cgroups nested in a container are skipped.  Returns 0 or -ENOMEM.
 */
int names_list_add(struct names_list *list, struct cmt_containers *containers,
		   uint64_t cgroup_id, const char *path);

/* The file's text, in @text to free() and @size.  Sorts.  Returns 0 or -ENOMEM. */
int names_list_text(struct names_list *list, char **text, size_t *size);

/*
 * Replace the file of names below the directory @root_fd: readers see the old text or
 * the new one, complete.  The file has mode 0640 and the group of this process.
 * Returns 0 or -errno.
 */
int names_write(int root_fd, const char *text, size_t size);

#endif
