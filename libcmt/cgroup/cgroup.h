/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroup v2 tree: its mount point, and a walk over the tree. */
#ifndef LIBCMT_CGROUP_H
#define LIBCMT_CGROUP_H

#include <stdint.h>

/*
 * Open the directory @root, or the cgroup v2 mount if @root is NULL.  Returns a
 * descriptor or -errno; -ENOENT: cgroup v2 is not mounted.
 */
int cmt_cgroup_open(const char *root);

/*
 * Called for each cgroup with its id and path ("/" is the root).  0 continues the
 * walk.
 */
typedef int (*cmt_cgroup_fn)(void *ctx, uint64_t id, const char *path);

/*
 * Walk all cgroups below @root_fd.  Symbolic links are not followed, and other file
 * systems are not entered.  Levels deeper than 64, paths longer than 4096 bytes and
 * unreadable directories are skipped.  Returns 0, -errno for the root, or the result
 * of @fn.
 */
int cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx);

#endif
