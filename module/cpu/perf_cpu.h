/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of one CPU.  perf.c adds the counts up and writes them, perf_events.c makes
 * and releases the events, and perf_want.c says on which CPUs, and for which values.
 */
#ifndef CMT_PERF_CPU_H
#define CMT_PERF_CPU_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "compat.h"
#include "perf.h"
#include "perf_sum.h"

#define CMT_PERF_FLAG(i)	(CMT_F_CYCLES << (i))	/* of a value, by its index */
/* Waiting is a value without an event: its bit comes after those of the others. */
#define CMT_PERF_WAITED		BIT(CMT_PERF_NR)
#define CMT_PERF_REASON_BYTES	sizeof_field(struct cmt_info, perf_reason)

/*
 * Accessed by its own CPU with interrupts off, except the state of the events and the members
 * from wanted to barred, which the mutex of perf_want.c protects.
 */
struct cmt_perf {
	u64 since;		/* TSC at the last turn */
	/*
	 * By value; NULL: not counted.  An event's count is the count since the last
	 * turn: the turn resets it.
	 */
	struct perf_event *events[CMT_PERF_NR];
	void (*read)(struct perf_event *event);	/* the read function of all events' PMU */
	u32 out;		/* bits of events that had no counter at the last turn */
	u32 in;			/* events before the first NULL; 0: the turn checks all */
	const u32 *generations;
	u32 cursor;		/* the next RMID to write */
	u32 nr_due;		/* bits in due */
	bool waits;		/* what tasks wait is accounted */
	unsigned long *due;	/* bitmap of RMIDs, behind sums */

	/* perf's state of the CPU and of all events' PMU; NULL: there is no event */
	const struct cmt_pmu_cpu *pmu_cpu;
	u64 looked;		/* ns: the last tick that looked for a shortage */
	u64 known;		/* ns: no shortage up to this time is new; U64_MAX: none ever */
	u64 idle[CMT_PERF_NR];	/* ns without a counter, by event, as of the last look */
	u32 wanted;		/* CMT_F_* */
	int errors[CMT_PERF_NR];	/* by value: why its event could not be made; or 0 */
	u32 limit;		/* values from this one on are given up on this CPU */
	bool barred;		/* because of a virtual machine, as cmt_perf_is_barred() */

	struct perf_sum sums[];	/* cmt_caps.rmid_room elements */
};

/*
 * Has an event of this PMU, on the CPU or of a task that ran there, found no counter since
 * @since?  perf starts a timer then.  On the CPU itself with interrupts off, or as a hint.
 */
static __always_inline bool cmt_perf_shortage(const struct cmt_perf *p, u64 since)
{
	if (!p->pmu_cpu)
		return false;
	/* another CPU sees an old time or a new one */
	return data_race((u64)hrtimer_get_expires(&p->pmu_cpu->hrtimer)) > since;
}

/* For how long the event, which is of this CPU, had no counter.  Interrupts off. */
static inline u64 cmt_perf_idle_ns(const struct perf_event *event)
{
	return event->total_time_enabled - event->total_time_running;
}

/* perf.c: */

/* While nothing is counted. */
void cmt_perf_clock_init(void);

/* NULL: no memory */
struct cmt_perf *cmt_perf_new(unsigned int cpu);

/* On the CPU, interrupts off, or before it is up: nothing is counted there. */
void cmt_perf_remove(unsigned int cpu);

/* On the CPU, interrupts off: begin to count; write all sums that are due. */
void cmt_perf_install(struct cmt_perf *p);
void cmt_perf_write_all(struct cmt_perf *p);

/* The sums of the time until now lack the values @bits.  On the CPU, interrupts off. */
void cmt_perf_lack(struct cmt_perf *p, u32 bits);

/*
 * Tasks of @rmid have waited for this CPU for @ns more; @quota: as CMT_F_WAIT_QUOTA.
 * Interrupts off.
 */
void cmt_perf_waited(struct cmt_perf *p, u32 rmid, u64 ns, bool quota);

/* Account what tasks wait for this CPU, or do not.  Interrupts off. */
void cmt_perf_account_waits(struct cmt_perf *p, bool waits);

/* perf_events.c, with the mutex of perf_want.c: */

/*
 * Count the values @wanted, but for those that are given up, on an online CPU.  What was
 * counted before is counted on without a gap.  True: values are given up on all CPUs now; the
 * other ones are to be updated.
 */
bool cmt_perf_events_update(unsigned int cpu, struct cmt_perf *p, u32 wanted);

/* Is there a shortage on the CPU, not known yet, to which cmt gives way? */
static inline bool cmt_perf_events_are_short(const struct cmt_perf *p)
{
	return cmt_perf_shortage(p, p->known);
}

/* Release all events of the CPU, and give up values; cmt_perf_events_update() follows. */
void cmt_perf_events_give_way(unsigned int cpu, struct cmt_perf *p);

/*
 * What was given up, or could not be made for a moment, may be tried again;
 * cmt_perf_events_update() follows.
 */
void cmt_perf_events_retry(unsigned int cpu, struct cmt_perf *p);
/* The same of the values that are given up on all CPUs, if it is time.  First. */
void cmt_perf_events_retry_tasks(void);

/* The values that are counted on the CPU; why wanted ones are not, in @reason. */
u32 cmt_perf_events_counted(unsigned int cpu, const struct cmt_perf *p, char *reason);

/* No event of the CPU is in use. */
void cmt_perf_events_release(struct cmt_perf *p);

/* perf_want.c: some CPU has a shortage that is not known yet.  Hard interrupt. */
void cmt_perf_give_way(void);

#endif
