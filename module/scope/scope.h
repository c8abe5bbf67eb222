/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which owner a process has (scope.c), when that owner gets an RMID (pending.c), and which
 * RMIDs are not cmt's (foreign.c).  The probes (probes.c) are called when processes and
 * cgroups (container.c, pattern.h) begin, change and end; other owners are requested by name
 * (attach.c).
 */
#ifndef CMT_SCOPE_H
#define CMT_SCOPE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "pattern.h"
#include "ring/ring.h"

struct cgroup;
struct task_struct;

/* The scope during a change: a process has no owner, or an owner that is held. */
#define CMT_SCOPE_NONE	0

/* The current CMT_SCOPE_*.  Any context. */
static inline u32 cmt_scope(void)
{
	return READ_ONCE(cmt_settings.scope);
}

/*
 * Held during each walk over all processes.  So one walk runs at a time, and the scope does
 * not change during a walk.  Process context; taken outside the owner lock.
 */
extern struct mutex cmt_scope_mutex;

/*
 * Change the scope.  All owners that are not held lose their RMIDs.  Then the owners of the
 * new scope get RMIDs.  @set: the new patterns, from kvmalloc(), which container.c owns
 * from then on; NULL: the patterns stay.  Returns when the change is made.  Process
 * context, without locks.
 */
void cmt_scope_set(u32 scope, struct cmt_pattern_set *set);

/* To be called after the probes are removed. */
void cmt_scope_stop(void);

/* Resolve the owner of each process.  With the mutex. */
void cmt_scope_resolve_all(void);

/*
 * The process has died: it leaves its owner, which is no longer found by its id.  With the
 * owner lock.  Returns as cmt_owner_join().
 */
bool cmt_process_ended(u32 tgid);

/* The cgroup v2 id of a task.  Any context. */
u64 cmt_scope_cgroup_of(struct task_struct *task);

/* The CPU comes up or goes down; called on the CPU itself, in process context. */
void cmt_scope_cpu_up(unsigned int cpu);
void cmt_scope_cpu_down(unsigned int cpu);

/* The probes of processes; the probe of exit calls cmt_scope_exit().  They do not sleep. */
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

/* probes.c */
int cmt_probes_init(void);
/* When this returns, no probe runs. */
void cmt_probes_exit(void);
/*
 * Owners, the scope or resctrl have changed: add or remove the probe of sched_switch,
 * which is there only while a switch may change the RMID.  Process context.  0, or the
 * error that kept the probe, or the one that accounts waiting, from being added; a work
 * item tries again a second later.
 */
int cmt_probes_update(void);
/*
 * For the probes: a process or a cgroup that had an owner has ended.  If it was the last
 * one, the probe of sched_switch is removed later.  Any context but NMI, without the owner
 * lock.
 */
void cmt_probes_owner_ended(void);
/* The probes of sched_wakeup and sched_wakeup_new (cpu/wait.h).  Process context. */
int cmt_probes_add_wakeup(void);
/* When this returns, neither runs, nor a probe that was removed before. */
void cmt_probes_remove_wakeup(void);
/*
 * Switches account what tasks wait for a CPU, or do not.  Process context.  Returns as
 * cmt_probes_update(): false is to follow an error of true.
 */
int cmt_probes_account_waits(bool waits);

/*
 * waits.c: a descriptor asks that waiting be accounted, or no longer.  *@wanted_here belongs to the
 * descriptor and is false at first.  Returns when it is accounted, or cannot be.  Process
 * context, not under mmap_lock.
 */
void cmt_waits_want(bool *wanted_here, bool wants);

/* After the probes and the last descriptor, before the counters. */
void cmt_waits_stop(void);

/*
 * attach.c: CMT_IOC_ATTACH and CMT_IOC_DETACH; returns their errors.  The caller has
 * checked kind and options.  Process context.
 */
int cmt_attach(struct cmt_attach *arg);
int cmt_detach(const struct cmt_attach *arg);

/*
 * A hold of an owner.  The owner may end before the hold: a process exits, a cgroup is
 * removed, a CPU goes offline.  The hold then refers to no owner, also where another
 * owner has the id; it is released in the same way.
 */
struct cmt_hold {
	struct list_head list;	/* for the holder's use */
	u64 serial;	/* the owner's serial */
	u32 number;	/* the owner's number; another owner's, if its serial differs */
};

/*
 * Process context, neither under mmap_lock nor under cpus_read_lock: these
 * functions may sleep for long.  The caller keeps the module from being unloaded.
 *
 * A cgroup or a CPU: @kind and @id as in CMT_IOC_REGISTER; 0, -ENOENT, -ENXIO, -ENOSPC as
 * CMT_IOC_ATTACH.
 */
int cmt_hold(struct cmt_hold *hold, u32 kind, u64 id);

/*
 * Hold the process of @task, which may be any thread of it.  @options:
 * CMT_ATTACH_CHILDREN or 0.  -ESRCH: the process has exited, or is a kernel thread; -ENOSPC
 * as CMT_IOC_ATTACH.
 */
int cmt_hold_task(struct cmt_hold *hold, struct task_struct *task, u32 options);

void cmt_unhold(struct cmt_hold *hold);
/* Release all holds of a list, at the cost of one. */
void cmt_unhold_all(struct list_head *holds);

/*
 * The owner's current RMID and generation; both change when resctrl takes the RMID.
 * -ENOENT: the owner has ended; -EAGAIN: the owner is pending, and *rmid is the overflow
 * owner's.  Any context but NMI.
 */
int cmt_hold_rmid(const struct cmt_hold *hold, u32 *rmid, u32 *generation);

/*
 * The least RMID above @after whose resctrl group is the sole group of the owner; 0: there
 * is none, or the owner has ended.  Any context but NMI.
 */
u32 cmt_hold_next_group(const struct cmt_hold *hold, u32 after);

/*
 * CMT_IOC_READ of an owner of the scope, or an attached or held owner.  @id: in the
 * namespace of current.  As cmt_demand_owner(); -ESRCH: no such process; -ENOENT: no owner;
 * -EAGAIN: pending.
 */
int cmt_owner_read(u32 kind, u64 id, struct cmt_record *records, u32 room,
		   u32 *count);

/*
 * foreign.c: RMIDs of resctrl and other agents.  When all CPUs are up; after the probes are
 * gone.
 */
int cmt_foreign_init(void);
void cmt_foreign_exit(void);

/* pending.c: owners that wait for an RMID */

int cmt_pending_init(void);
/* After the probes are gone. */
void cmt_pending_stop(void);

/*
 * Give free RMIDs to pending owners, at most @max.  The residue of each RMID is read
 * before.  Any context, with interrupts on or off.  Returns the number of owners.
 */
u32 cmt_pending_serve(u32 max);

/*
 * Let the work run when it is due: serve pending owners, drain, write postponed UPDATEs.
 * Any context, without the owner lock.
 */
void cmt_pending_later(void);

/*
 * Processes have another owner, or owners another RMID: let every CPU load its RMID
 * again, at once, but at most once in a limbo.  Any context.
 */
void cmt_refresh_later(void);

/* Load the RMID of this CPU again, at once. */
void cmt_refresh_this_cpu(void);

/* An RMID was freed.  Any context, without the owner lock. */
void cmt_rmids_freed(void);

/* The same at once, in process context.  Also serves pending owners. */
void cmt_pending_run(void);

/* The pending owners, in the order in which they are served.  Process context. */
u32 cmt_pending_snapshot(struct cmt_record *records, u32 room, u64 *as_of);

#endif
