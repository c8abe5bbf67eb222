/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroup v2 tree: its mount point, a walk over it, and CPU times of cgroups. */
#ifndef LIBCMT_CGROUP_H
#define LIBCMT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/culprit.h>

struct cmt_container;

/*
 * Open the directory @root, or the cgroup v2 mount if @root is NULL.  Returns a
 * descriptor or -errno; -ENOENT: cgroup v2 is not mounted.
 */
int cmt_cgroup_open(const char *root);

/*
 * Is the directory above the cgroup of the first @len bytes of @path root's, as that of the
 * tree is?  Who has that directory makes cgroups of any name there.  In a user namespace all
 * accounts outside of it look like one.  False: it is another account's, or cannot be seen,
 * as where @root_fd is -1.
 */
bool cmt_cgroup_made_by_root(int root_fd, const char *path, size_t len);

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

/* A time in which CPU times are counted, in ns */
#define CMT_CPU_SPAN_MIN	1000000ULL
#define CMT_CPU_SPAN_MAX	60000000000ULL

#define CMT_CGROUP_THROTTLED	(1U << 0)
#define CMT_CGROUP_FULL		(1U << 1)
#define CMT_CGROUP_USED		(1U << 2)

/* The last reading of a cgroup's files. */
struct cmt_cgroup_cpu {
	uint64_t ts_ns;		/* 0: not read yet */
	uint32_t known;		/* CMT_CGROUP_* */
	/*
	 * time throttled by the quotas of the cgroup and its ancestors, on all CPUs; not
	 * known of a cgroup that is deeper than 16 levels
	 */
	uint64_t throttled_ns;
	uint64_t full_ns;	/* time in which tasks wanted to run, and no task ran */
	uint64_t used_ns;
};

/* CPU time of the machine, in ticks. */
struct cmt_cpu_ticks {
	uint64_t busy, stolen;
};

#define CMT_CPU_LEVELS	256U

/* A cgroup whose cpu.stat was read in this turn. */
struct cmt_cpu_level {
	const char *path;	/* its first @len bytes; NULL: there is none */
	size_t len;
	bool known;		/* it has a time throttled */
	uint64_t throttled_ns;
};

/*
 * A look at many cgroups: the files of what is above several of them are read once, as
 * far as there is room.  The paths of all containers stay valid while it lasts.
 */
struct cmt_cpu_turn {
	int root;
	struct cmt_cpu_ticks ticks;	/* since the last turn; all 0: not known */
	struct cmt_cpu_level levels[CMT_CPU_LEVELS];
};

/* @kept: of the last turn, 0 before the first */
void cmt_cpu_turn_begin(struct cmt_cpu_turn *turn, int root, struct cmt_cpu_ticks *kept);

/*
 * The reasons why a cgroup did not run since the last call, of which @kept has the
 * values; @kept is zero before the first call.  False: not known.
 */
bool cmt_cgroup_cpu_since(struct cmt_cpu_turn *turn, const struct cmt_container *container,
			  struct cmt_cgroup_cpu *kept, struct cmt_culprit_cpu *cpu);
/* @ticks: CPU time since the last call; all 0: not known */
void cmt_cpu_ticks_since(struct cmt_cpu_ticks *kept, struct cmt_cpu_ticks *ticks);

#endif
