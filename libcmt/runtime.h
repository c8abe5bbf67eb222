/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of container runtimes about a container: their places, their reading and
 * their contents.  No daemon is asked.
 */
#ifndef LIBCMT_RUNTIME_H
#define LIBCMT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cmt/containers.h>

#define CMT_STATE_MAX	(1u << 20)	/* bytes; larger files are not read */
#define CMT_ANY_OWNER	((uid_t)-1)

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
	CMT_STATE_OCI,		/* config.json with annotations */
	CMT_STATE_STORAGE,	/* containers.json: one list of all containers */
};

/*
 * Pure: bytes in, fields out.  Returns 0, -ENOENT if the file is valid and does not
 * have the container @id, or -EINVAL if it is invalid.
 */
int cmt_state_parse(struct cmt_state *state, enum cmt_state_kind kind,
		    const char *bytes, size_t size, const char *id);

/*
 * Open @path below the directory @dir to read it: no symbolic link below @dir is
 * followed, no other file system entered, nothing waited for.  @dir is found below
 * @root_fd; links on the way to it are the administrator's and are followed, but not
 * out of the root.  Returns a descriptor, which may be of any kind of file, or -errno.
 */
int cmt_file_open(int root_fd, const char *dir, const char *path);

/*
 * Read all of the file @fd with the status @st: up to CMT_STATE_MAX bytes.  Returns 0
 * and @bytes to free(), or -errno.
 */
int cmt_file_bytes(int fd, const struct stat *st, char **bytes, size_t *size);

/*
 * Read the regular file @path below @dir, opened as above.  @owner: the required owner
 * of the file, or CMT_ANY_OWNER.  Returns 0 and @bytes to free(), or -errno.
 */
int cmt_file_read(int root_fd, const char *dir, const char *path, uid_t owner,
		  char **bytes, size_t *size);

/*
 * Is the directory @dir below @root_fd, with all that its path leads through,
 * on file systems of this machine?  Enters none that is not, so a server that
 * does not answer is not waited for.
 */
bool cmt_dir_is_local(int root_fd, const char *dir);

/*
 * As above for the mount of @path, by a list in the format of /proc/self/mountinfo.
 * Returns 1, 0, or -ENOENT: the list does not have the mount.
 */
int cmt_mount_is_local(FILE *mounts, const char *path);

/*
 * Is @err temporary, and independent of the files (EMFILE, ENOMEM, EIO and the
 * like)?
 */
bool cmt_error_passes(int err);

/*
 * Read the state files of @container's runtime, or of the user's runtimes if the cgroup
 * is below a user's slice.  A runtime that is not in the path is put into @container.
 * Returns 0, -ENOENT, or -errno of a temporary error (EMFILE, ENOMEM, EIO and the
 * like), after which a retry is useful.
 */
int cmt_runtime_ask(int root_fd, struct cmt_container *container,
		    struct cmt_state *state);

#endif
