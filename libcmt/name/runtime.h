/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of container runtimes about a container: their places and their contents.  No
 * daemon is asked.
 */
#ifndef LIBCMT_RUNTIME_H
#define LIBCMT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmt/containers.h>

/*
 * JSON values in a file, those of JSON in its strings included.  An empty object takes 3
 * bytes of text and 800 of memory, so a small file must not become a large tree.  A list
 * has some 12 values for each container, and as many in a string.
 */
#define CMT_VALUES_MAX		32768
#define CMT_VALUES_MAX_USER	8192	/* the owner is not root */

/* The content of a file: printable ASCII, truncated; "": missing. */
struct cmt_state {
	char name[CMT_CONTAINER_NAME_LEN];	/* the runtime's own */
	char image[CMT_CONTAINER_NAME_LEN];
	char pod[40];				/* the pod's UID */
	char pod_name[CMT_CONTAINER_NAME_LEN];
	char pod_namespace[64];
	char pod_container[64];			/* the container's name in the pod */
};

enum cmt_state_kind {
	CMT_STATE_DOCKER,	/* config.v2.json */
	CMT_STATE_CONTAINERD,	/* config.json with annotations */
	CMT_STATE_CRIO,		/* likewise */
	CMT_STATE_STORAGE,	/* containers.json: one list of all containers */
};

/*
 * Pure: bytes in, fields out.  Returns 0, -ENOENT if the file is valid and does not
 * have the container @id, or -EINVAL if it is invalid or has more than @values values.
 */
int cmt_state_parse(struct cmt_state *state, enum cmt_state_kind kind,
		    const char *bytes, size_t size, size_t values, const char *id);

/*
 * The containers of a list as ID\0NAME\0IMAGE\0..., printable, for cmt_list_find().
 * Strings whose JSON is over what @values leaves are not parsed: their containers have no
 * image.  Returns 0 and @text to free(), or NULL if there are none; or -EINVAL or -ENOMEM.
 */
int cmt_list_parse(const char *bytes, size_t size, size_t values, char **text, size_t *len);
/* Returns 0 or -ENOENT. */
int cmt_list_find(const char *text, size_t len, const char *id, struct cmt_state *state);

/*
 * Is @err temporary, and independent of the files (EMFILE, ENOMEM, EIO and the
 * like)?
 */
bool cmt_error_passes(int err);

/* The last reading of each list.  Begins as zeroes. */
#define CMT_PLACES 19
struct cmt_lists {
	struct cmt_list {
		char *text;		/* of cmt_list_parse() */
		size_t len;
		struct stat st;		/* identity of the file that was read */
	} all[CMT_PLACES];
};

void cmt_lists_destroy(struct cmt_lists *lists);

/*
 * Read the state files of @container's runtime, or of the user's runtimes if the cgroup
 * is below a user's slice.  Any other cgroup must be one that root made.  A list that has
 * not changed is not read again.  A runtime that is not in the path is put into @container.
 * Returns 0, -ENOENT, or -errno of a temporary error (EMFILE, ENOMEM, EIO and the
 * like), after which a retry is useful.
 */
int cmt_runtime_ask(int root_fd, struct cmt_lists *lists, struct cmt_container *container,
		    struct cmt_state *state);

#endif
