/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the module offer each other, by the file that does it.  Each
 * calls those below it, and none above:
 *
 *	main.c		   chardev.c, control.c, procfs.c
 *	probes.c, hotplug.c
 *	attach.c, evict.c, scope.c -> container.c
 *	serve.c		   those who wait
 *	place.c		   to whom a process belongs
 *	object.c	   containers, CPUs, what was attached
 *	owner.c		   RMIDs given and taken back (lifecycle records)
 *	sampler.c	   the ticks (samples, ticks) -> counter.c
 *	cpu.c		   the switch path -> resctrl.c, foreign.c
 *	table.c -> rmid.c  what these read without a lock
 *	ring.c		   backend.c -> hw.c, emulated.c
 *
 * Locks, outermost first: a descriptor's mutex, the sampler's mutex, the raw
 * ones: owner lock, an RMID's reading lock, a backend's.  mmap_lock is held
 * around the first two, so cpus_read_lock is taken inside neither.  Apart from
 * these two, and around cpus_read_lock and the raw ones: the scope mutex, under
 * which no user memory is touched, and which no hotplug callback takes.  The
 * switch path takes no lock, and the tick only tries an RMID's reading lock.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "backend.h"
#include "ring.h"
#include "uapi/cmt.h"

struct cgroup;
struct cmt_pattern_set;
struct file;
struct task_struct;

#define CMT_INTERVAL_MIN_NS	100000
#define CMT_INTERVAL_MAX_NS	1000000000

/* backend.c: constant once the module is loaded */
extern const struct cmt_backend *cmt_backend;
extern struct cmt_backend_caps cmt_caps;

/* @name: auto, hw or emulated */
int cmt_backend_init(const char *name);

/* cpu.c: the CPUs, their rings, their domains, and the RMID each one runs */

/* RMIDs from @first to before @end, read and written at once */
#define CMT_SHARE(first, end)	((first) << 16 | (end))
#define CMT_SHARE_FIRST(share)	((share) >> 16)
#define CMT_SHARE_END(share)	((share) & 0xffff)

/*
 * Counters are written by the CPU itself with interrupts off, and read by
 * anybody: each is exact, a set of them is not of one instant.
 */
struct cmt_cpu {
	struct cmt_ring ring;
	u64 wake_at;		/* head at which a poller wants to be woken */
	struct irq_work wake;

	bool up;		/* between cpu_up() and cpu_down() */
	u32 rmid;		/* what set_rmid() was last told */
	u32 own;		/* the owner's that runs; not rmid: resctrl's is */
	u16 owner;		/* of what runs here and has no other one; as in
				 * owner.h, written with the owner lock
				 */
	bool overwritten;	/* own was, since the last tick */
	u32 domain;		/* index */
	u32 domain_id;
	u32 share;		/* of the domain's RMIDs: CMT_SHARE() */
	u32 cursor;		/* where in it the next tick begins */
	struct hrtimer timer;

	u64 switches;
	u64 pqr_writes;
	u64 pqr_overwritten;
	u64 ticks;
	u64 missed;
	u64 deferred;
	u64 samples;
	u64 busy_ns;
	u64 read_errors;
	u64 read_unavailable;
};

DECLARE_PER_CPU(struct cmt_cpu, cmt_cpus);

/* Of this load of the module, in all rings. */
extern u64 cmt_instance;

/* Memory for the rings; the CPUs come by hotplug.c. */
int cmt_cpus_init(u32 ring_records);
void cmt_cpus_exit(void);
u32 cmt_ring_records(void);
u64 cmt_ring_bytes(void);

/* A page of a ring's mapping; NULL: there is none, or not yet. */
struct page *cmt_ring_page(u32 cpu, unsigned long pgoff);

/* The CPU is dead, or has nothing to do with us yet. */
int cmt_cpu_prepare(unsigned int cpu);
int cmt_cpu_dead(unsigned int cpu);

/* This CPU, in process context.  @domain is an index. */
void cmt_cpu_up(u32 domain, u32 domain_id);
void cmt_cpu_down(void);

/* The L3 domain id of this CPU.  Preemption off. */
u32 cmt_cpu_domain_id(void);

/* Append to this CPU's ring.  Interrupts off. */
void cmt_emit(const struct cmt_record *record);

/* The switch path: @prev leaves this CPU, @next comes. */
void cmt_cpu_switch(struct task_struct *prev, struct task_struct *next);

/* This CPU: run what runs under the RMID it has now.  Interrupts off. */
void cmt_cpu_refresh(void);

/*
 * This CPU: look whether another agent changed its RMID since the last time,
 * take it back, and refresh.  Returns whether what ran here ran under another
 * agent's RMID at any time since then.  Interrupts off.
 */
bool cmt_cpu_check(void);

/*
 * What runs on this CPU between these is nobody's: what a tick reads and writes
 * would otherwise fill the cache for whoever it interrupts.  Interrupts off.
 */
void cmt_cpu_tick_begin(void);
void cmt_cpu_tick_end(void);

/*
 * Did in this CPU's domain, since this was asked last, some of what the owner of
 * @rmid did count elsewhere?  Interrupts off.
 */
bool cmt_cpu_was_overwritten(const struct cmt_cpu *cpu, u32 rmid);

/* All CPUs: refresh, before this returns.  Process context. */
void cmt_cpus_refresh(void);

/* All CPUs: their RMIDs are not what they were told.  Process context. */
void cmt_cpus_reset(void);

/* chardev.c: pollers sleep here, cmt_cpu.wake wakes them */
extern wait_queue_head_t cmt_pollers;

int cmt_chardev_init(void);
void cmt_chardev_exit(void);
void cmt_stats_fill(struct cmt_stats *stats);

/*
 * arg.c: copy an ioctl argument of known size @ksize in, as the caller's size says.
 * The rules are in uapi/cmt.h; every structure begins with size and flags.
 */
int cmt_arg_get(void *arg, size_t ksize, const void __user *uarg);
int cmt_arg_put(void __user *uarg, void *arg, size_t ksize);

/* control.c: may who opened this change what all see? */
int cmt_may_control(const struct file *file);

long cmt_ioctl_set_scope(struct file *file, void __user *uarg);
long cmt_ioctl_get_patterns(void __user *uarg);
long cmt_ioctl_attach(struct file *file, void __user *uarg);
long cmt_ioctl_detach(struct file *file, void __user *uarg);
long cmt_ioctl_get_waiting(void __user *uarg);

/* table.c: which RMID a task has */

int cmt_table_init(void);
void cmt_table_exit(void);

/*
 * The RMID of a task, that of the rest while it waits for one, CMT_RMID_NONE if
 * it has none.  One load; any context.
 */
u32 cmt_table_rmid(const struct task_struct *task);

/* What a CPU's own RMID is, as for a task.  Any context. */
u32 cmt_table_cpu_rmid(const struct cmt_cpu *cpu);

/* Is this the RMID of those who wait?  RMID 0 may be. */
bool cmt_table_is_rest(u32 rmid);
u32 cmt_table_rest(void);

/* The generation of an RMID while it has an owner, else 0.  Any context. */
u32 cmt_table_generation(u32 rmid);

/* The RMIDs to read, one bit each: 0, and those with an owner.  Racy. */
const unsigned long *cmt_table_readable(void);

/* When the owner of an RMID got it, ns; racy, for an RMID that has one. */
u64 cmt_table_since(u32 rmid);

/*
 * Are RMIDs being taken away from owners that live on?  Then a thread may have
 * one that was its owner's: cmt_table_was_left().  Any context.
 */
bool cmt_table_settling(void);
bool cmt_table_was_left(u32 rmid);

/* owner.c: what is told of all of them */

/* How many RMIDs have an owner, and how many wait for one.  Racy. */
u32 cmt_owners_active(void);
u32 cmt_owner_waiting(void);

/*
 * The assignments at one instant, as EXISTING records, oldest first.
 * @records: room for as many as there are RMIDs.  Returns their number.
 */
u32 cmt_owners_snapshot(struct cmt_record *records, u64 *as_of);

/* Fill the pool's part of the statistics. */
void cmt_owners_stats(struct cmt_stats *stats);

/* place.c: CMT_SCOPE_*, or CMT_SCOPE_NONE while it changes */
u32 cmt_scope(void);

/* scope.c: who is an owner */

void cmt_scope_init(void);
/* After the probes are gone. */
void cmt_scope_stop(void);

/*
 * All owners give up their RMIDs, those of the new scope get theirs.  @set: the
 * patterns from now on, kvmalloc()ed, belong to container.c then; NULL: as they are.
 * Process context.
 */
void cmt_scope_set(u32 scope, struct cmt_pattern_set *set);

/* The CPU joins or leaves, on itself, in process context. */
void cmt_scope_cpu_up(unsigned int cpu);
void cmt_scope_cpu_down(unsigned int cpu);

/* container.c: copies the patterns, at most CMT_PATTERNS_MAX bytes; returns their length. */
u32 cmt_containers_patterns(char *text);

/*
 * attach.c: CMT_IOC_ATTACH and CMT_IOC_DETACH, and their errors.  kind and
 * options are in order.  Process context.
 */
int cmt_attach(struct cmt_attach *arg);
int cmt_detach(const struct cmt_attach *arg);

/* What the tracepoints report: scope.c and container.c.  Preemption off. */
void cmt_scope_fork(struct task_struct *parent, struct task_struct *child);
void cmt_scope_exit(struct task_struct *task);
void cmt_scope_rename(struct task_struct *task, const char *comm);
void cmt_scope_move(struct task_struct *task, u64 cgroup_id);
void cmt_container_mkdir(struct cgroup *cgroup);
void cmt_container_rmdir(struct cgroup *cgroup);

/*
 * serve.c: those who wait, as ALLOC_FAIL records, in the order in which they will
 * be served.  At most @room are copied.  Returns their number.
 */
u32 cmt_waiting_snapshot(struct cmt_record *records, u32 room, u64 *as_of);

/* foreign.c: RMIDs that another agent uses.  Any context. */
void cmt_foreign_seen(u32 rmid);
bool cmt_foreign_is(u32 rmid);

/* probes.c: the tracepoints */

int cmt_probes_init(void);
void cmt_probes_exit(void);

/* hotplug.c: the CPUs that are there, and those that come and go */

int cmt_hotplug_init(void);
void cmt_hotplug_exit(void);

/* procfs.c: /proc/cmt */

int cmt_procfs_init(void);
void cmt_procfs_exit(void);

/* resctrl.c: what resctrl and we tell each other of a task's RMID */

/*
 * What @task is to run under from now on, @own being its owner's RMID or none:
 * resctrl's, if resctrl gave it one, else @own, which resctrl is told of.
 * It is current, or next on this CPU.  Preemption off.
 */
u32 cmt_resctrl_rmid(struct task_struct *task, u32 own);

/* A new thread, which nobody has run yet, and who forked it: current. */
void cmt_resctrl_fork(struct task_struct *parent, struct task_struct *child);

/* The threads of this process, which have @rmid from us, have none any more. */
void cmt_resctrl_withdraw(u32 tgid, u32 rmid);

/*
 * All threads: what they have from us of owners they had before.  True: on some
 * CPUs resctrl may have written that after us, and will not write again.
 */
bool cmt_resctrl_withdraw_left(void);

/*
 * Before the probes go, one after the other: what a task has that is forked
 * meanwhile is not what its owner has, and is not resctrl's.
 */
void cmt_resctrl_stop(void);

/* All threads: what they have from us.  No probe runs any more. */
void cmt_resctrl_withdraw_all(void);

/* The RMIDs that threads have from resctrl: set their bits in @rmids. */
void cmt_resctrl_scan(unsigned long *rmids);

/* sampler.c: the ticks and the readings */

int cmt_sampler_init(u32 interval_ns);
void cmt_sampler_exit(void);

/* Before the first CPU of a domain comes up.  Process context. */
int cmt_sampler_add_domain(u32 domain);

/*
 * A reader comes and goes; ticks run while there is one.  Process context,
 * mmap_lock may be held.
 */
void cmt_sampler_get(void);
void cmt_sampler_put(void);
u32 cmt_sampler_readers(void);

u32 cmt_sampler_interval(void);
/* @interval_ns is in range.  Process context. */
void cmt_sampler_set_interval(u32 interval_ns);

/* This CPU joins or leaves the ticks, on itself, in process context. */
void cmt_sampler_cpu_up(void);
void cmt_sampler_cpu_down(void);

/*
 * A new owner begins on this CPU: read what @rmid holds in this CPU's domain.
 * Interrupts off.  Returns whether *residual_bytes could be read.
 */
bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes);

#endif
