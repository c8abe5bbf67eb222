/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the room. */
#ifndef CMT_SAMPLER_H
#define CMT_SAMPLER_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "cpu/cpu.h"
#include "hw/hw.h"
#include "sample.h"

struct cmt_ring;

/* A tick has interrupts off for no longer, whatever the parameters. */
#define CMT_TICK_MAX_US		100

/*
 * A virtual CPU can be preempted in a burst for longer than limbo lasts, and then RMIDs
 * have other owners.  A burst that took half of that time is discarded.
 */
#define CMT_BURST_MAX_NS	1000000U

/* From a tick's reading of the clock to its last claim; later ones are discarded. */
#define CMT_TICK_LATE_NS	(2 * CMT_BURST_MAX_NS)

/* The state of an RMID in a domain beside its counter; protected by the claim. */
struct cmt_demand {
	struct cmt_record last;	/* the last reading on demand; CMT_REC_PAD: none */
	u32 events;		/* that last was to have */
	u32 base;		/* number of rebases of the MBM counters */
	bool owed;		/* the next sample in a ring is flagged as rebased */
};

/* The calls of demand.c to CPUs of a domain */
struct cmt_calls {
	raw_spinlock_t lock;	/* only tried; held during a call */
	u64 rest_until;		/* ns: no call before; protected by the lock */
	unsigned int cpu;	/* the CPU of the last call; written with the lock */
};

/* An L3 domain; never freed before the module is unloaded. */
struct cmt_domain {
	struct cmt_counter *counters;	/* by RMID; NULL: the backend reads nothing */
	struct cmt_demand *demands;	/* by RMID; NULL: the backend reads nothing */
	u32 id;
	/* RMIDs that CPUs ran with that do not read, for the first reader */
	unsigned long *forwarded;	/* a bit for each RMID */
	struct cmt_notes *notes;
	struct cpumask forwarders;	/* CPUs whose RMIDs the first reader reads */
	bool forwarding;		/* forwarders is not empty */
	struct cmt_calls calls;
};

/* The part of a CPU: index << 16 | readers, written and read as one word. */
#define SAMPLER_PART(index, readers)	((index) << 16 | (readers))
#define SAMPLER_PART_INDEX(part)	((part) >> 16)
#define SAMPLER_PART_READERS(part)	((part) & 0xffff)

/*
 * Accessed by its own CPU with interrupts off, except part and has_ticks.  The counts are
 * as those of struct cmt_cpu.
 */
struct sampler_cpu {
	struct hrtimer timer;
	struct cmt_domain *domain;
	struct cmt_notes *notes;	/* the domain's */
	struct cmt_cpu *cpu;	/* itself, and its ring */
	struct cmt_ring *ring;
	u64 tick;		/* number of the last boundary */
	u64 longest_ns;
	u64 ticks;
	u64 missed;
	u64 deferred;
	u64 samples;
	u64 busy_ns;
	u64 read_errors;
	u64 read_unavailable;
	u32 part;		/* of the idle RMIDs */
	u32 first_word;		/* of this part, until its words rotate */
	u32 room;		/* for records of readings and counters, a tick */
	bool has_ticks;		/* its timer runs while there is a reader */
	bool careful;		/* the next burst checks every access */
	struct cmt_burst burst;
	unsigned long bits[];	/* its queues; hot alone, where nothing is read */
};

DECLARE_PER_CPU(struct sampler_cpu *, cmt_sampler_cpus);

/* domain.c */

struct cmt_domain *cmt_sampler_domain(u32 index);
void cmt_domains_exit(void);

/*
 * Account a reading of a claimed counter with these events, and fill a SAMPLE, but for its
 * head.
 */
void cmt_domain_account(struct cmt_domain *domain, struct cmt_counter *counter,
			const struct cmt_raws *raws, u32 events,
			struct cmt_record *slot);

/*
 * A new owner begins: claim the counter, and read its residue and base.  On a CPU of the
 * domain, interrupts off.  False: another reader has the counter.
 */
bool cmt_domain_begin(struct cmt_domain *domain, u32 rmid, u32 generation);

/*
 * Remove the base of @rmid.  @change, if not NULL, is called with the counter claimed, on
 * this CPU, with interrupts off.  False: the counter is being read, and nothing was done.
 * Any context.
 */
bool cmt_domain_lose_base(u32 domain, u32 rmid,
			  void (*change)(u32 domain, u32 rmid));

/* The same of all RMIDs.  False: one is being read.  Process context. */
bool cmt_domain_lose_bases(u32 domain);

/*
 * While there are no ticks: the counters have been reset, or may have wrapped.  Remove the
 * bases of all RMIDs, but for readings on demand since @since, ns; U64_MAX: these, too.
 * Process context; mmap_lock may be held.
 */
void cmt_domains_lose_base(u64 since);

/* tick.c */

void cmt_ticks_init(void);

/* Before ticks begin to run */
void cmt_ticks_prepare(u32 budget_us);

/* Begin the ticks of this CPU.  Interrupts off. */
void cmt_tick_begin(struct sampler_cpu *s);
enum hrtimer_restart cmt_tick(struct hrtimer *timer);

/* Count values without data.  On the CPU itself, interrupts off, as for the next one. */
void cmt_tick_count_flaws(struct sampler_cpu *s, const struct cmt_counter *counter,
			  const struct cmt_raws *raws, u32 events);

/* Note a time with interrupts off on this CPU. */
void cmt_tick_note_ns(u64 ns);

/* sampler.c */

/*
 * CPU @cpu of domain @domain, which is up, has ticks or not, and reads the
 * @index-th part of @parts parts of the idle RMIDs; @parts 0: it reads none, and when this
 * returns no tick or reading of it as a reader is under way.  By partition.c, for all
 * CPUs of a domain that are up.  May sleep.
 */
void cmt_sampler_assign(unsigned int cpu, u32 domain, bool ticks, u32 index,
			u32 parts);

bool cmt_sampler_has_ticks(unsigned int cpu);

/* This CPU of the domain is not up any more: it has no ticks. */
void cmt_sampler_retire(u32 domain);

/*
 * A CPU that reads in the domain: this one, or else the next one after CPU @last.
 * -ENXIO: none is up.  Any context; racy.
 */
int cmt_sampler_reader(u32 domain, unsigned int last);

/*
 * May this CPU, which is up, read the counters of its domain?  While resctrl is mounted,
 * one CPU of a domain reads where CPUs share their registers.  Interrupts off, until the
 * reading has ended.
 */
bool cmt_sampler_may_read(void);

/* Between suspend's notifications no reading continues another one. */
bool cmt_sampler_is_suspended(void);

/* Have there been ticks within the last CMT_COUNTER_GAP_NS? */
bool cmt_sampler_ran(u64 now);

/*
 * The newest mark of a reading at @now, a past time of CLOCK_MONOTONIC, for which no
 * tick that is still to read skips the RMID.
 */
u32 cmt_sampler_mark_between(u64 now);

/* want.c: the backend's events that a reading reads.  READ_ONCE() */
extern u32 cmt_wanted_events;

/* abmc.c: the last CPU of @domain is not up any more.  On itself, in process context. */
void cmt_abmc_domain_down(u32 domain);

#endif
