/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the module offer each other, by the file that does it.
 *
 *	probes.c -> owner.c -> rmid.c
 *	              |          (lifecycle records)
 *	              v
 *	           cpu.c -> backend -> counter.c <- sampler.c
 *	              |                               |  (samples, ticks)
 *	              +------------> ring.c <---------+
 *	                               |
 *	            chardev.c, procfs.c (what user space sees)
 *
 * Locks, outermost first: a descriptor's mutex, the sampler's mutex, the raw
 * ones: owner lock, an RMID's reading lock, a backend's.  mmap_lock is held
 * around the first two, so cpus_read_lock is taken inside neither.  The switch
 * path takes no lock, and the tick only tries an RMID's reading lock.
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

struct cmt_pool;
struct task_struct;

#define CMT_INTERVAL_MIN_NS	100000
#define CMT_INTERVAL_MAX_NS	1000000000

/* main.c: constant once the module is loaded */
extern const struct cmt_backend *cmt_backend;
extern struct cmt_backend_caps cmt_caps;
extern u64 cmt_instance;

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

int cmt_cpus_init(u32 ring_records);
void cmt_cpus_exit(void);
u32 cmt_ring_records(void);
u64 cmt_ring_bytes(void);

/* A page of a ring's mapping; NULL: there is none, or not yet. */
struct page *cmt_ring_page(u32 cpu, unsigned long pgoff);

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

/* All CPUs: refresh, before this returns.  Process context. */
void cmt_cpus_refresh(void);

/* All CPUs: their RMIDs are not what they were told.  Process context. */
void cmt_cpus_reset(void);

/* chardev.c: pollers sleep here, cmt_cpu.wake wakes them */
extern wait_queue_head_t cmt_pollers;

int cmt_chardev_init(void);
void cmt_chardev_exit(void);
void cmt_stats_fill(struct cmt_stats *stats);

/* owner.c: which RMID a task has; the only place that gives and takes one */

int cmt_owners_init(void);
/* After the probes are gone: nobody is given an RMID any more. */
void cmt_owners_stop(void);
void cmt_owners_exit(void);

/* Give every process that has none an RMID, as far as they go. */
void cmt_owners_adopt(void);

/*
 * The RMID of a task, that of the rest while it waits for one, CMT_RMID_NONE if
 * it has none.  One load; any context.
 */
u32 cmt_owner_rmid(const struct task_struct *task);

/* Is this the RMID of those who wait?  RMID 0 may be. */
bool cmt_owner_is_rest(u32 rmid);

/* The generation of an RMID while it has an owner, else 0.  Any context. */
u32 cmt_owner_generation(u32 rmid);

/* The RMIDs to read, one bit each: 0, and those with an owner.  Racy. */
const unsigned long *cmt_owner_readable(void);

/* When the owner of an RMID got it, ns; racy, for an RMID that has one. */
u64 cmt_owner_since(u32 rmid);

/* What the tracepoints report.  Preemption off. */
void cmt_owner_fork(struct task_struct *parent, struct task_struct *child);
void cmt_owner_exit(struct task_struct *task);
void cmt_owner_rename(struct task_struct *task, const char *comm);
void cmt_owner_move(struct task_struct *task, u64 cgroup_id);

/*
 * The assignments at one instant, as EXISTING records, oldest first.
 * @records: room for as many as there are RMIDs.  Returns their number.
 */
u32 cmt_owners_snapshot(struct cmt_record *records, u64 *as_of);

/* Another agent uses this RMID.  Any context. */
void cmt_owner_foreign(u32 rmid);

/* Fill the pool's part of the statistics. */
void cmt_owners_stats(struct cmt_stats *stats);

/* probes.c: the tracepoints */

int cmt_probes_init(void);
void cmt_probes_exit(void);

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

/* A new process, of which nobody knows yet, and the RMID of who forked it. */
void cmt_resctrl_fork(struct task_struct *child, u32 parents);

/* The threads of this process, which have @rmid from us, have none any more. */
void cmt_resctrl_withdraw(u32 tgid, u32 rmid);

/* The same for all processes.  No probe runs any more. */
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
void cmt_sampler_cpu_up(struct cmt_cpu *cpu);
void cmt_sampler_cpu_down(struct cmt_cpu *cpu);

/*
 * In this CPU's domain some of what the owner of @rmid did counts elsewhere:
 * its next sample says so.  Preemption off.
 */
void cmt_sampler_overwritten(u32 rmid);

/*
 * A new owner begins on this CPU: read what @rmid holds in this CPU's domain.
 * Interrupts off.  Returns whether *residual_bytes could be read.
 */
bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes);

#endif
