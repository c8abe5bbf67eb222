/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The readings of counters: in ticks, one timer per CPU that reads the counters of the
 * CPU's domain (sampler.c, tick.c, partition.c), and on demand (demand.c).  Where AMD's
 * counters are assigned, the RMIDs that have one (abmc.c).  Where they are not, whether the
 * events count what they should (bmec.c).
 */
#ifndef CMT_SAMPLE_H
#define CMT_SAMPLE_H

#include <linux/types.h>

#include "cmt.h"

int cmt_sampler_init(u32 interval_ns);
void cmt_sampler_exit(void);

/*
 * No tick runs, and no memory channel is claimed, from now on until the machine resumes or
 * restarts.  Process context.
 */
void cmt_sampler_suspend(void);

/*
 * Called before the first CPU of a domain comes up; @domain is the next index.  0 or
 * -ENOMEM.  Process context.
 */
int cmt_sampler_add_domain(u32 domain, u32 id);

/* The number of domains.  Any context. */
u32 cmt_sampler_domains(void);

/* Before the CPU comes up; 0 or -ENOMEM.  Process context. */
int cmt_sampler_prepare(unsigned int cpu);

/*
 * The values that a reader wants: CMT_F_OCCUPANCY | _MBM_TOTAL | _MBM_LOCAL.  A value is
 * read while some reader wants it.  The reader sets @values to its first choice; then both
 * members belong to want.c.
 */
#define CMT_VALUES_ALL	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

struct cmt_want {
	u32 values;
	bool reads;		/* between begin and end */
};

/* Process context; mmap_lock may be held. */
void cmt_want_values(struct cmt_want *want, u32 values);
/* Called before the first reading; again: nothing changes. */
void cmt_want_begin(struct cmt_want *want);
/* Also for one that has not begun */
void cmt_want_end(struct cmt_want *want);

/*
 * A descriptor begins or ceases to want ticks, which run while there is one that does, or
 * memory channels in them.  *@wanted_here belongs to the descriptor and is false at first.
 * Returns when ticks have begun or ceased.  Process context, mmap_lock may be held.
 */
void cmt_sampler_want_ticks(bool *wanted_here, bool wants);
void cmt_sampler_want_channels(bool *wanted_here, bool wants);

/*
 * @interval_ns is in range.  Returns when ticks have this interval, or a later call's, and a
 * STATE is written.  Process context.
 */
void cmt_sampler_set_interval(u32 interval_ns);
u32 cmt_sampler_budget_ns(void);

/* The part of the ticks in the statistics */
void cmt_sampler_stats(struct cmt_stats *stats);

/*
 * By hotplug.c, on the CPU itself, in process context, when cmt_cpu_up() or cmt_cpu_down()
 * has returned.  The idle RMIDs of the domain are partitioned again.
 */
void cmt_sampler_cpu_up(u32 domain);
void cmt_sampler_cpu_down(u32 domain);

/* All CPUs that were online at load are up; the unload begins. */
void cmt_sampler_cpus_are_up(void);
void cmt_sampler_cpus_go(void);

/* resctrl has been mounted or unmounted.  Process context, one call at a time. */
void cmt_sampler_follow_resctrl(void);
/* CMT_EVTSEL_*: what readings of resctrl meet */
u32 cmt_sampler_evtsel(void);

/*
 * A new owner begins on this CPU: read the residue of @rmid in this CPU's domain.
 * Interrupts off.  Returns whether *residual_bytes could be read; false while there are
 * no ticks, and where another CPU reads.  No tick samples @rmid for this owner before its
 * generation is published.
 */
bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes);

/*
 * A reading on demand claims the counter as a tick does (burst.h), with interrupts off on
 * a CPU of the domain that has ticks, and adds to the same sums.  So a tick of another CPU
 * may find the counter busy, and reads it in its next tick.
 */

/* What is read: an RMID while it has this generation */
struct cmt_demand_key {
	u32 rmid;
	u32 generation;
};

/*
 * CMT_IOC_READ of all RMIDs with an owner: SAMPLE records, by domain.  @room: the greatest
 * number of records; *count: their number.  Process context; may sleep.  0; -ENOSPC: there
 * are more records; -ENOMEM; -EINTR.
 */
int cmt_demand_all(struct cmt_record *records, u32 room, u32 *count);

/*
 * The same of one owner with the RMID of @keys[0]: the record of a domain is the sum of all
 * keys.  -ENOENT: that generation has ended.
 */
int cmt_demand_owner(const struct cmt_demand_key *keys, u32 n,
		     struct cmt_record *records, u32 room, u32 *count);

/* The time that calls to CPUs have had interrupts off, ns, of all CPUs. */
u64 cmt_demand_ns(void);

/* The current upper limit of records, of one RMID or of all. */
u32 cmt_demand_room(bool all);

/*
 * Read some RMIDs in the domain with index @domain, below cmt_sampler_domains().
 * @records[i] is the SAMPLE of @keys[i], as of CMT_IOC_READ; CMT_REC_PAD: the generation
 * has ended or, with -EINTR, the RMID was not read.  Process context; may sleep.
 * 0 or -EINTR.
 */
int cmt_demand_read(const struct cmt_demand_key *keys, u32 n, u32 domain,
		    struct cmt_record *records);

/*
 * Read one RMID in the domain of this CPU, with interrupts off, not in an NMI.  0, also
 * where a value is not known, by its flag; -ENOENT: the generation has ended;
 * -EAGAIN: the counter is busy, for some microseconds, or another CPU has to read it
 * (cmt_sampler_may_read()); -ENXIO: this CPU is not up.
 */
int cmt_demand_read_here(const struct cmt_demand_key *key,
			 struct cmt_record *sample);

/*
 * abmc.c, docs/decisions/0032-assignable-counters.md.  When all CPUs are up; exit()
 * releases all of cmt's counters, and is called before the CPUs go, or before a restart and
 * then again.
 */
int cmt_abmc_init(void);
void cmt_abmc_exit(void);

/*
 * bmec.c: look at what AMD's bandwidth events count, in all domains.  Process context, one
 * call at a time.
 */
void cmt_bmec_look(void);

/* CMT_ABMC_* of all domains, for cmt_info.  Any context. */
u32 cmt_abmc_info(void);

#endif
