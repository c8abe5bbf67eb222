/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroup v2 tree: where it is mounted, and a walk over it. */
#ifndef LIBCMT_CGROUP_H
#define LIBCMT_CGROUP_H

#include <stdint.h>

/*
 * Open the directory @root, or the cgroup v2 mount if @root is NULL.
 * Returns a descriptor or -errno; -ENOENT: there is none.
 */
int cmt_cgroup_open(const char *root);

/* Called for each cgroup with its id and path ("/" is the root).  0: go on */
typedef int (*cmt_cgroup_fn)(void *ctx, uint64_t id, const char *path);

/*
 * Walk all present cgroups below @root_fd: symbolic links are not followed, other file
 * systems are not entered, and deeper levels than 64 or longer paths than 4096 bytes
 * are skipped, and so are unreadable directories.  Returns 0, -errno for the root, or
 * the result of @fn.
 */
int cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx);

#endif
