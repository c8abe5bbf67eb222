/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that others wrote, and may have put in the way. */
#ifndef LIBCMT_FILE_H
#define LIBCMT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Bytes; larger files are not read: a list of a user has some 250 containers. */
#define CMT_STATE_MAX		(1u << 20)
#define CMT_STATE_MAX_USER	(256u << 10)	/* the owner is not root */
#define CMT_ANY_OWNER	((uid_t)-1)

/*
 * Open @path below the directory @dir to read it: no symbolic link below @dir is
 * followed, no other file system entered, nothing waited for.  @dir is found below
 * @root_fd; links on the way to it are the administrator's and are followed, but not
 * out of the root.  Returns a descriptor, which may be of any kind of file, or -errno.
 */
int cmt_file_open(int root_fd, const char *dir, const char *path);

/* Returns 0 and @st of the regular file of @owner, or -errno.  See cmt_file_read(). */
int cmt_file_check(int fd, uid_t owner, struct stat *st);

/* Is the file the same as before, with the same content? */
bool cmt_same_file(const struct stat *a, const struct stat *b);

/*
 * Read all of the file @fd with the status @st: up to CMT_STATE_MAX bytes, or
 * CMT_STATE_MAX_USER.  Returns 0 and @bytes to free(), or -errno.
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

#endif
