/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ticks: one timer per CPU that reads the counters of the CPU's domain.  burst.h
 * describes which RMIDs are read, and in which order.
 */
#ifndef CMT_SAMPLER_H
#define CMT_SAMPLER_H

#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "hw/burst.h"

struct cmt_cpu;

/* A tick has interrupts off for no longer, whatever the parameters. */
#define CMT_TICK_MAX_US		100

/*
 * Which RMIDs a CPU ran with since its last tick, but for the one that is loaded now.  A
 * CPU that does not read, or has no ticks, marks them for the CPU of the domain that reads
 * in its place: then @forward is not NULL.
 */
struct cmt_marks {
	unsigned long *hot;
	unsigned long *forward;
};

DECLARE_PER_CPU(struct cmt_marks, cmt_marks);

/* This CPU, which is up, has run with @rmid.  Interrupts off. */
static __always_inline void cmt_sampler_mark(u32 rmid)
{
	struct cmt_marks *marks = this_cpu_ptr(&cmt_marks);

	if (!marks->forward)
		__set_bit(rmid, marks->hot);
	else if (!test_bit(rmid, marks->forward))
		set_bit(rmid, marks->forward);
}

/* The state of an RMID in a domain beside its counter; protected by the claim. */
struct cmt_demand {
	struct cmt_record last;	/* the last reading on demand; CMT_REC_PAD: none */
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
	/* what the next sample of an RMID says, a bit for each RMID: */
	unsigned long *overwritten;	/* CMT_F_PQR_OVERWRITTEN */
	unsigned long *inherited;	/* all that the RMID holds is residue */
	bool noted;			/* in one of these there may be a bit */
	struct cpumask forwarders;	/* CPUs whose RMIDs the first reader reads */
	bool forwarding;		/* forwarders is not empty */
	struct cmt_calls calls;
};

int cmt_sampler_init(u32 interval_ns);
void cmt_sampler_exit(void);

/*
 * Called before the first CPU of a domain comes up; @domain is the next index.  0 or
 * -ENOMEM.  Process context.
 */
int cmt_sampler_add_domain(u32 domain, u32 id);

/* The number of domains, and one domain.  Any context. */
u32 cmt_sampler_domains(void);
struct cmt_domain *cmt_sampler_domain(u32 index);

/* Before the CPU comes up; 0 or -ENOMEM.  Process context. */
int cmt_sampler_prepare(unsigned int cpu);

/*
 * A reader begins or ends; ticks run while there is one.  Process context, mmap_lock
 * may be held.
 */
void cmt_sampler_get(void);
void cmt_sampler_put(void);
u32 cmt_sampler_readers(void);
/*
 * A descriptor begins or ceases to want memory channels.  @wanted_here: whether it wanted
 * them before; protected by the sampler mutex.  Process context.
 */
void cmt_sampler_want_channels(bool *wanted_here, bool wants);
/* Does some descriptor want channels while ticks run? */
bool cmt_sampler_wants_channels(void);

u32 cmt_sampler_interval(void);
/* @interval_ns is in range.  Process context. */
void cmt_sampler_set_interval(u32 interval_ns);
u32 cmt_sampler_budget_ns(void);

/* The longest that a tick had interrupts off, on any CPU, ns. */
u64 cmt_sampler_longest_ns(void);

/*
 * CPU @cpu of domain @domain, which is up, has ticks or not, and reads the
 * @index-th part of @parts parts of the idle RMIDs; @parts 0: it reads none, and when this
 * returns no tick or reading of it as a reader is under way.  By hotplug.c, for all CPUs of
 * a domain that are up.  May sleep.
 */
void cmt_sampler_assign(unsigned int cpu, u32 domain, bool ticks, u32 index,
			u32 parts);

bool cmt_sampler_has_ticks(unsigned int cpu);

/* This CPU is not up any more.  On itself, in process context. */
void cmt_sampler_cpu_down(u32 domain);

/*
 * May this CPU, which is up, read the counters of its domain?  While resctrl is mounted,
 * one CPU of a domain reads where CPUs share their registers.  Interrupts off, until the
 * reading has ended.
 */
bool cmt_sampler_may_read(void);

/*
 * A new owner begins on this CPU: read the residue of @rmid in this CPU's domain.
 * Interrupts off.  Returns whether *residual_bytes could be read; false while there are
 * no ticks, and where another CPU reads.  No tick samples @rmid for this owner before its
 * generation is published.
 */
bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes);

/*
 * Some work of the owner of @rmid in @domain counted under another RMID: its next
 * sample there is flagged.  Any context.
 */
void cmt_sampler_overwritten(u32 domain, u32 rmid);

/*
 * The RMID of a resctrl group counts for one owner from now on: what it holds, in all domains,
 * may be of others, and counts as residue.  Any context.
 */
void cmt_sampler_inherit(u32 rmid);

/*
 * The RMID has a new owner: the overwritten work was that of earlier owners.  Any context.
 * cmt_sampler_begin() does the same.
 */
void cmt_sampler_overwritten_end(u32 rmid);

/* For demand.c: */

/*
 * A CPU that reads in the domain: this one, or else the next one after CPU @last.
 * -ENXIO: none is up.  Any context; racy.
 */
int cmt_sampler_reader(u32 domain, unsigned int last);

/* Between suspend's notifications no reading continues another one. */
bool cmt_sampler_is_suspended(void);

/* Have there been ticks within the last CMT_COUNTER_GAP_NS? */
bool cmt_sampler_ran(u64 now);

/*
 * The newest mark of a reading at @now, a past time of CLOCK_MONOTONIC, for which no
 * tick that is still to read skips the RMID.
 */
u32 cmt_sampler_mark_between(u64 now);

/*
 * Remove the base of @rmid.  @change, if not NULL, is called with the counter claimed, on
 * this CPU, with interrupts off.  False: the counter is being read, and nothing was done.
 * Any context.
 */
bool cmt_sampler_lose_base(u32 domain, u32 rmid,
			   void (*change)(u32 domain, u32 rmid));

/* Account a reading of a claimed counter, and fill a SAMPLE, but for its head. */
void cmt_sampler_account(struct cmt_domain *domain, struct cmt_counter *counter,
			 const struct cmt_raws *raws, struct cmt_record *slot);

/*
 * Count values without data, in the counts of this CPU.  Interrupts off, as for the next
 * one.
 */
void cmt_sampler_count_flaws(struct cmt_cpu *cpu, const struct cmt_raws *raws);

/* Note a time with interrupts off. */
void cmt_sampler_note_ns(u64 ns);

/* exclude.c: CPUs without ticks; constant once init() has returned 0 */
int cmt_exclude_init(void);
bool cmt_is_excluded(unsigned int cpu);

#endif
