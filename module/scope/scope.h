/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scope: which owner a process has.  scope.c decides; container.c makes owners of
 * cgroups, attach.c owners for CMT_IOC_ATTACH.
 */
#ifndef CMT_SCOPE_H
#define CMT_SCOPE_H

#include <linux/mutex.h>
#include <linux/types.h>

struct cgroup;
struct cmt_attach;
struct cmt_owner;
struct cmt_pattern_set;
struct task_struct;

/* The scope during a change: a process has no owner, or an owner that is held. */
#define CMT_SCOPE_NONE	0

/* The current CMT_SCOPE_*.  Any context. */
u32 cmt_scope(void);

/*
 * Held during each walk over all processes.  So one walk runs at a time, and the scope does
 * not change during a walk.  Process context; taken outside the owner lock.
 */
extern struct mutex cmt_scope_mutex;

/*
 * Change the scope.  All owners that are not held lose their RMIDs.  Then the owners of the
 * new scope get RMIDs.  @set: the new patterns, from kvmalloc(), which container.c owns
 * from then on; NULL: the patterns stay.  Process context.
 */
void cmt_scope_set(u32 scope, struct cmt_pattern_set *set);

/* To be called after the probes are removed. */
void cmt_scope_stop(void);

/* Resolve the owner of each process.  With the mutex. */
void cmt_scope_resolve_all(void);

/* The cgroup v2 id of a task.  Any context. */
u64 cmt_scope_cgroup_of(struct task_struct *task);

/* The CPU comes up or goes down; called on the CPU itself, in process context. */
void cmt_scope_cpu_up(unsigned int cpu);
void cmt_scope_cpu_down(unsigned int cpu);

/* The probes of processes; the probe of exit calls cmt_scope_exit().  Preemption off. */
void cmt_probe_fork(void *data, struct task_struct *parent,
		    struct task_struct *child);
void cmt_scope_exit(struct task_struct *task);
void cmt_probe_rename(void *data, struct task_struct *task, const char *comm);
void cmt_probe_attach(void *data, struct cgroup *to, const char *path,
		      struct task_struct *task, bool threadgroup);

/* container.c: cgroups that are owners by their path */

/*
 * The probes of cgroups.  They are called with interrupts off, except on
 * PREEMPT_RT, and with a lock held that kernfs takes to make paths: they must not ask
 * kernfs for a path.
 */
void cmt_probe_mkdir(void *data, struct cgroup *cgroup, const char *path);
void cmt_probe_rmdir(void *data, struct cgroup *cgroup, const char *path);

/* With the scope mutex: add the existing containers; set other patterns. */
void cmt_containers_add(void);
void cmt_containers_set(struct cmt_pattern_set *set);
void cmt_containers_exit(void);

/* Copies the patterns, at most CMT_PATTERNS_MAX bytes; returns their length. */
u32 cmt_containers_patterns(char *text);

/*
 * attach.c: CMT_IOC_ATTACH and CMT_IOC_DETACH; returns their errors.  The caller has
 * checked kind and options.  Process context.
 */
int cmt_attach(struct cmt_attach *arg);
int cmt_detach(const struct cmt_attach *arg);

#endif
