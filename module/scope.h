/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scope: which owner a process has.  scope.c decides; container.c and attach.c
 * make owners of cgroups and of what CMT_IOC_ATTACH names.
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

/* While the scope changes: a process has no owner but one that is held. */
#define CMT_SCOPE_NONE	0

/* CMT_SCOPE_*.  Any context. */
u32 cmt_scope(void);

/*
 * Held around all that looks at all processes, so that only one does and the
 * scope stays what it is meanwhile.  Process context; outside the owner lock.
 */
extern struct mutex cmt_scope_mutex;

/*
 * All owners that are not held lose their RMIDs, those of the new scope get theirs.
 * @set: the patterns from now on, kvmalloc()ed, container.c's then; NULL: as they
 * are.  Process context.
 */
void cmt_scope_set(u32 scope, struct cmt_pattern_set *set);

/* After the probes are gone. */
void cmt_scope_stop(void);

/* Look at all processes: each has the owner that it ought to.  With the mutex. */
void cmt_scope_resolve_all(void);

/* The cgroup v2 id of a task.  Any context. */
u64 cmt_scope_cgroup_of(struct task_struct *task);

/* The CPU joins or leaves, on itself, in process context. */
void cmt_scope_cpu_up(unsigned int cpu);
void cmt_scope_cpu_down(unsigned int cpu);

/* The probes of processes, and what that of their exit calls.  Preemption off. */
void cmt_probe_fork(void *data, struct task_struct *parent,
		    struct task_struct *child);
void cmt_scope_exit(struct task_struct *task);
void cmt_probe_rename(void *data, struct task_struct *task, const char *comm);
void cmt_probe_attach(void *data, struct cgroup *to, const char *path,
		      struct task_struct *task, bool threadgroup);

/* container.c: cgroups that are owners by their path */

/*
 * The probes of cgroups.  They are called with interrupts off, except on
 * PREEMPT_RT, and with a lock held under which kernfs makes paths: those must not
 * be asked for.
 */
void cmt_probe_mkdir(void *data, struct cgroup *cgroup, const char *path);
void cmt_probe_rmdir(void *data, struct cgroup *cgroup, const char *path);

/* With the scope mutex: those that are there; and other patterns. */
void cmt_containers_add(void);
void cmt_containers_set(struct cmt_pattern_set *set);
void cmt_containers_exit(void);

/* Copies the patterns, at most CMT_PATTERNS_MAX bytes; returns their length. */
u32 cmt_containers_patterns(char *text);

/*
 * attach.c: CMT_IOC_ATTACH and CMT_IOC_DETACH, and their errors.  kind and
 * options are in order.  Process context.
 */
int cmt_attach(struct cmt_attach *arg);
int cmt_detach(const struct cmt_attach *arg);

#endif
