/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layers of the module.  Each calls those below it, and none above:
 *
 *	main.c		   device.c -> ioctl.c, waiter.c, hold.c; procfs.c; state.c;
 *			   cqm.c -> cqm_set.c -> cqm_source.c
 *	probes.c, hotplug.c
 *	attach.c, container.c -> scope.c	which owner a process has
 *	resctrl.c	   foreign RMIDs, the mount -> plza.c; rdtgroups.c -> rdtgroup.c
 *	abmc.c		   assigns AMD's assignable counters -> hw_abmc.c
 *	pending.c	   pending owners and free RMIDs
 *	demand.c	   readings without a tick
 *	sampler.c	   the ticks (samples, ticks) -> exclude.c; burst.c -> counter.c
 *	cpu.c		   the switch path, PQR_ASSOC -> rings.c
 *	owner.c -> rmid.c  owners and their RMIDs (lifecycle records)
 *	channel.c -> pmon.c -> pmon_table.c	the counters outside the cores
 *	ring.c		   backend.c -> hw.c -> hw_read.c -> hw_abmc.c; software.c, emulated.c
 *
 * Five calls go up: cpu.c reports an RMID of another agent, and members of groups, to
 * resctrl.c; resctrl.c reports a mount to probes.c and hotplug.c; owner.c reports to
 * resctrl.c that the owner of a group has ended, and writes its records to the ring of the
 * CPU in cpu.c; and each layer that changes a setting of all readers calls state.c.
 *
 * Locks, outermost first: a descriptor's mutex, the sampler's mutex, the raw
 * ones: owner lock, a backend's.  mmap_lock is held around the first two, so
 * cpus_read_lock is taken inside neither.  Apart from these two, and around
 * cpus_read_lock and the raw ones: the scope mutex, under which no user memory is
 * touched, and which no hotplug callback takes; hold.c's mutex is around that.  The switch
 * path, the tick and a reading on demand take no lock.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "hw/backend.h"
#include "ring/ring.h"
#include "uapi/cmt.h"

struct cmt_channels;
struct cmt_perf;
struct file;
struct task_struct;

#define CMT_INTERVAL_MIN_NS	100000
#define CMT_INTERVAL_MAX_NS	1000000000

/*
 * A test build waits here, to widen the window of a race; @wait is msleep or mdelay.
 */
#ifdef CMT_TEST_DELAY
#define cmt_test_delay(wait, times)	wait((times) * CMT_TEST_DELAY)
#else
#define cmt_test_delay(wait, times)	do { } while (0)
#endif

/* backend.c: constant once the module is loaded */
extern const struct cmt_backend *cmt_backend;
extern struct cmt_backend_caps cmt_caps;

/* The events that can be read now. */
u32 cmt_backend_events(void);

/* Does the backend read any event?  If not, the ticks sample nothing. */
static inline bool cmt_backend_samples(void)
{
	return cmt_caps.events;
}

/* @name: auto, hw, software or emulated */
int cmt_backend_init(const char *name);

/* Files without a header of their own: */

/* device.c: /dev/cmt, as uapi/cmt.h says */
int cmt_device_init(void);
void cmt_device_exit(void);
/* @file is an open /dev/cmt, @records is in range. */
void cmt_device_set_watermark(struct file *file, u32 records);
/* @counters: as of struct cmt_counters */
void cmt_device_set_counters(struct file *file, u32 counters);

/* ioctl.c */
long cmt_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
/* As CMT_IOC_GET_STATS, without size. */
void cmt_stats_fill(struct cmt_stats *stats);

/* procfs.c */
int cmt_procfs_init(void);
void cmt_procfs_exit(void);

/*
 * state.c: the scope, the interval, the resctrl mode or what is counted has changed.
 * Write the settings to this CPU's ring, as a CMT_REC_STATE record.  Called without the
 * lock that the change takes.
 */
void cmt_state_emit(void);

/* probes.c */
int cmt_probes_init(void);
/* When this returns, no probe runs. */
void cmt_probes_exit(void);
/*
 * Owners, the scope or resctrl have changed: add or remove the probe of sched_switch,
 * which is there only while a switch may change the RMID.  Process context.
 */
void cmt_probes_update(void);

/* hotplug.c: online CPUs, and CPUs that come up and go down */
int cmt_hotplug_init(void);
void cmt_hotplug_exit(void);
/* resctrl has been mounted or unmounted.  Process context, one call at a time. */
void cmt_hotplug_follow_resctrl(bool mounted);
/* CMT_EVTSEL_*: what readings of resctrl meet */
u32 cmt_hotplug_evtsel(void);

/* cpu.c: the CPUs, their rings, their domains, and the RMID each one runs */

/*
 * Each counter is written by the CPU itself with interrupts off, and read from any CPU.  A
 * counter is exact; several counters are not of one instant.
 */
struct cmt_cpu {
	struct cmt_ring ring;

	bool up;		/* between cpu_up() and cpu_down() */
	bool unread;		/* online, in a domain without an index */
	bool overwritten;	/* an owner's RMID was overwritten since the last tick */
	bool reloading;		/* reload is queued */
	bool tick_loads;	/* the tick's end loads the RMID of current */
	u16 owner;		/* number of the owner of the CPU's tasks that have
				 * no other owner; written with the owner lock
				 */
	u32 rmid;		/* loaded: the RMID that PQR_ASSOC should have */
	u32 foreign;		/* the RMID that resctrl or another agent loaded last */
	u32 default_rmid;	/* the RMID that another agent gave the CPU, for tasks in
				 * no resctrl group; as of the last such task
				 */
	struct cmt_perf *perf;	/* perf.c; NULL: nothing is counted here */
	struct cmt_channels *channels;	/* the channels that this CPU reads; NULL: none */
	u64 switches;
	u64 pqr_writes;
	u64 tick_closid;	/* CLOSID half of PQR_ASSOC in this tick */
	struct irq_work reload;	/* runs after resctrl has written PQR_ASSOC */
	u32 domain;		/* index of the domain */
	u32 domain_id;

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

/* cmt_info.instance, and that of all rings */
extern u64 cmt_instance;

/* hotplug.c brings the CPUs up. */
int cmt_cpus_init(void);
/* After the probes. */
void cmt_cpus_exit(void);

/* This CPU, in process context.  @domain is an index. */
void cmt_cpu_up(u32 domain, u32 domain_id);
void cmt_cpu_down(void);

/* The L3 domain id of this CPU.  Preemption off. */
u32 cmt_cpu_domain_id(void);

/*
 * Append to this CPU's ring, and wake waiters that are due.  Interrupts off;
 * a lock of any kind may be held.
 */
void cmt_emit(const struct cmt_record *record);

/* The probe of sched_switch. */
void cmt_probe_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state);

/* This CPU: load the RMID of current.  Interrupts off. */
void cmt_cpu_refresh(void);

/* All CPUs: refresh, before this returns.  Process context. */
void cmt_cpus_refresh(void);

/*
 * All CPUs: call account() of the backend, so that it has all running times up to now.
 * Process context.
 */
void cmt_cpus_account(void);

/* All CPUs: PQR_ASSOC may have been reset.  Process context. */
void cmt_cpus_reset(void);

#endif
