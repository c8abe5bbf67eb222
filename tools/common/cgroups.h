/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's cgroup hierarchies, and cgroups by path. */
#ifndef TOOLS_CGROUPS_H
#define TOOLS_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Containers can be seen where they are in version 2. */
enum cgroup_mode {
	CGROUPS_NONE,
	CGROUPS_V1,
	CGROUPS_HYBRID,		/* version 2 is mounted beside version 1 */
	CGROUPS_V2,
};

struct cgroup_mount {
	enum cgroup_mode mode;
	char path[PATH_MAX];	/* where version 2 is mounted; "": nowhere */
};

/* "none", "v1", "hybrid", "v2" */
const char *cgroup_mode_name(enum cgroup_mode mode);

/* Parse @mounts, a file as /proc/self/mounts. */
void cgroup_find_in(struct cgroup_mount *mount, const char *mounts);

/* Find the mount of this machine. */
void cgroup_find(struct cgroup_mount *mount);

/*
 * The inode number of a cgroup.  @path is a directory's, below @mount, or the
 * cgroup's own as /proc/PID/cgroup has it; a leading slash makes no difference.
 * Returns 0, -ENOENT (no such cgroup), -EXDEV (not below @mount) or -errno.
 */
int cgroup_id(const char *mount, const char *path, uint64_t *id);

/*
 * Is this cgroup's path that of a container, by libcmt/name/name.c, and not of a cgroup in
 * one? A pod is none, and neither is a service.
 */
bool cgroup_is_container(const char *path);

/* The least limit of a cgroup and its ancestors; INFINITY: none, NAN: unknown. */
struct cgroup_limits {
	double cpus;		/* cpu.max: CPUs at once */
	double memory_bytes;	/* memory.max */
};

/* @path: as the kernel has it, with a leading slash. */
void cgroup_limits(const char *mount, const char *path,
		   struct cgroup_limits *limits);

/*
 * How many processes are in the cgroup @path (as the kernel has it, with a
 * leading slash), and with @below in all below it, too.  Returns 0 or -errno.
 */
int cgroup_processes(const char *mount, const char *path, bool below,
		     uint32_t *processes);

#endif
