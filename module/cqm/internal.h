/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of cqm/ have for each other:
 *
 *	cqm.c		the callbacks of perf
 *	cqm_event.c	the life of an event, and the work item
 *	cqm_set.c	which event reports
 *	cqm_source.c	the readings
 *
 * Locks: cqm_mutex is held while an event is bound and by the work item; cmt_hold() is
 * called inside it.  cqm_lock is raw and protects values, sets and the counts of events.
 */
#ifndef CMT_CQM_INTERNAL_H
#define CMT_CQM_INTERNAL_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "hw/hw.h"
#include "sample/sample.h"
#include "scope/scope.h"

struct cpumask;
struct perf_event;
struct pid;

/* The interval between updates of all events: the greatest age of a value */
#define CMT_CQM_REFRESH_MS	20

/* perf_event_attr.config is the value + 1. */
enum cqm_value {
	CQM_OCCUPANCY,
	CQM_TOTAL,
	CQM_LOCAL,
	CQM_NR_VALUES
};

#define CQM_ALL_DOMAINS	U32_MAX

/* The last reading of one RMID in one domain */
struct cqm_last {
	u64 key;		/* RMID and generation; all bits set: none */
	u64 values[CQM_NR_VALUES];
};

/* A resctrl group all of whose members belong to the owner of the source */
struct cqm_group {
	struct list_head list;	/* of the source */
	u32 rmid;
	u32 generation;
	struct cqm_last lasts[CMT_MAX_DOMAINS];	/* by domain */
};

/* The source of values: an owner, in all domains or in one; or all RMIDs of a domain. */
struct cqm_source {
	struct list_head list;
	struct list_head sets;
	struct cmt_hold hold;	/* a hold of the owner, used for comparisons and readings */
	bool of_owner;		/* false: all RMIDs of a domain */
	u64 since;		/* ns: RMIDs that the owner gets later count from 0 */
	u32 domain;		/* index, or CQM_ALL_DOMAINS */
	u32 rmid;		/* the owner's RMID at the last pass */
	u32 generation;
	/* the owner's sole groups at the last pass; changed with both locks */
	struct list_head groups;
	u64 read_ns;		/* local_clock() */
	u32 known;		/* CMT_F_*: values that were read since the last event was bound */
	u64 values[CQM_NR_VALUES];
	u32 nr_lasts;		/* by domain, or by RMID */
	struct cqm_last lasts[];
};

/* The pmu_private of an event, except of an inherited one. */
struct cqm_event {
	struct list_head list;		/* in the list of the set, or in the list gone */
	/* in the list unsettled; empty: settled; protected by cqm_lock */
	struct list_head unsettled;
	struct perf_event *event;	/* NULL: destroyed; protected by cqm_lock */
	struct cqm_set *set;		/* protected by cqm_lock and cqm_mutex */
	struct cmt_hold hold;
	bool holds;			/* hold is valid */
	bool settled;			/* the source of the event is known */
	bool on;			/* was enabled at the last check */
	bool ran;			/* perf has scheduled the event on a CPU */
	/* in the list unmeasured; empty: measured; protected by cqm_lock */
	struct list_head unmeasured;
	bool measured;			/* the value was known once since the event was bound */
	bool refused;			/* perf could not run the event */
};

/* cqm_event.c */

/*
 * Bind a new event to its source, and read the source once.  Process context.  Returns
 * 0 or -errno.  A CPU event may turn out to be a cgroup's, when perf has completed it.
 */
int cqm_bind_task(struct cqm_event *e, enum cqm_value value, bool inherit);
int cqm_bind_cpu(struct cqm_event *e, enum cqm_value value);

/* The event ends.  Other events of its set go on.  Any context. */
void cqm_unbind(struct cqm_event *e);

/*
 * Interrupts off, on the CPU of the event.  The lock is only tried.  cqm_event_begin():
 * 0, or -EBUSY: the value has never been known, so the event must not run.  When the
 * value is known, perf tries again.
 */
int cqm_event_begin(struct cqm_event *e);
void cqm_event_update(struct cqm_event *e);
void cqm_event_end(struct cqm_event *e);

/*
 * For an inherited event: has the value of @e, from which it was inherited, been known?
 * False: when it is known, perf tries again on this CPU.  As cqm_event_begin().
 */
bool cqm_event_may_run(struct cqm_event *e);

/* To be called when no events are left. */
void cqm_events_exit(void);

/* cqm_set.c, with cqm_lock but where another lock is named */

struct cqm_set {
	struct list_head list;	/* of the source */
	struct list_head events;
	struct cqm_source *source;
	struct pid *client;
	enum cqm_value value;
	struct cmt_want want;	/* of the value */
	u32 users;		/* events, also closed ones; protected by cqm_mutex */
	struct cqm_event *reporter;	/* NULL: no event can report */
	/* the last event that perf scheduled on a CPU, or NULL */
	struct cqm_event *recent;
	bool counting;		/* base is valid */
	/* the value of the source that the events have counted up to */
	u64 base;
};

/*
 * With cqm_mutex: the set of one more event, which cqm_set_put() ends.  NULL: no memory, and
 * nothing stays allocated.
 */
struct cqm_set *cqm_set_get(const struct cmt_hold *hold, u32 domain, u64 since,
			    struct pid *client, enum cqm_value value);
void cqm_set_put(struct cqm_set *set);

void cqm_set_add(struct cqm_set *set, struct cqm_event *e);
void cqm_set_remove(struct cqm_event *e);

/* perf runs the event from now on.  On the CPU of the event. */
void cqm_set_begin(struct cqm_event *e);
/* Remove an event that is closed: what it has counted stays in the sum of the set. */
void cqm_set_end(struct cqm_event *e);

/* Add the counts of the source since the last update to the reporter. */
void cqm_set_update(struct cqm_set *set);
/* With cqm_mutex: update all sets of a source. */
void cqm_source_update(struct cqm_source *source);

/* cqm_source.c */

extern struct mutex cqm_mutex;
extern raw_spinlock_t cqm_lock;
extern struct list_head cqm_sources;	/* cqm_mutex */

/* Read the owner's RMIDs in the domain of this CPU.  With cqm_lock. */
void cqm_source_read_here(struct cqm_source *source);

/*
 * Read all domains of all sources, or of @only.  Needs cqm_mutex, as do the next functions.
 */
void cqm_sources_read(struct cqm_source *only);

/*
 * Get an existing source or a new one, and read it: a new event counts from this
 * reading.  @hold: NULL: all RMIDs.  @since: a time before the hold.  Returns NULL
 * without memory.
 */
struct cqm_source *cqm_source_get(const struct cmt_hold *hold, u32 domain,
				  u64 since);
/* Free the source if it has no sets. */
void cqm_source_put(struct cqm_source *source);

/* cqm.c */

/* Let perf run the events of these CPUs that it could not run.  Process context. */
void cqm_retry(const struct cpumask *cpus);

#endif
