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
 * Walk all cgroups below @root_fd that are there while we look: no symbolic
 * link is followed, no other file system entered, nothing deeper than 64
 * levels or 4096 bytes of path looked at.  What cannot be read is skipped.
 * Returns 0, -errno for the root, or what @fn returned.
 */
int cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx);

#endif
