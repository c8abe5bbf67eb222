/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The perf PMU intel_cqm: events for perf_event_open(2), with the names and the
 * numbers of the PMU that Linux 4.1 to 4.13 had (docs/decisions/0026).
 *
 *	cqm.c		what perf calls
 *	cqm_set.c	which event reports, and the work item
 *	cqm_source.c	what is read
 *
 * Locks: cqm_mutex is held by whoever binds an event and by the work item; cmt_hold()
 * is called inside it.  cqm_lock is raw: values, sets, the counts of events.
 */
#ifndef CMT_CQM_H
#define CMT_CQM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "demand.h"

struct perf_event;
struct pid;

/* How often all events get new values; so old is the value of one that is not read. */
#define CMT_CQM_REFRESH_MS	20

/* perf_event_attr.config is one more. */
enum cqm_value {
	CQM_OCCUPANCY,
	CQM_TOTAL,
	CQM_LOCAL,
	CQM_NR_VALUES
};

#define CQM_ALL_DOMAINS	U32_MAX

/* Of one RMID in one domain: what it counted when it was read last. */
struct cqm_last {
	u64 key;		/* RMID and generation; all bits: none */
	u64 values[CQM_NR_VALUES];
};

/* What is read: an owner in all domains or in one, or all RMIDs of a domain. */
struct cqm_source {
	struct list_head list;
	struct list_head sets;
	struct cmt_hold hold;	/* of its owner: compared and read */
	bool of_owner;		/* or of all RMIDs of a domain */
	u64 since;		/* ns: an RMID that was given later begins at 0 */
	u32 domain;		/* or CQM_ALL_DOMAINS */
	u32 rmid;		/* of the owner at the last pass */
	u32 generation;
	u64 read_ns;		/* local_clock() */
	u64 values[CQM_NR_VALUES];
	u32 nr_lasts;		/* by domain, or by RMID */
	struct cqm_last lasts[];
};

/* An event that is not an inherited one: its pmu_private. */
struct cqm_event {
	struct list_head list;		/* of the set, or gone */
	struct list_head unsettled;	/* or empty; cqm_lock */
	struct perf_event *event;	/* NULL: destroyed; cqm_lock */
	struct cqm_set *set;		/* cqm_lock, cqm_mutex */
	struct cmt_hold hold;
	bool holds;			/* hold is one */
	bool settled;			/* it is known what it is of */
	bool on;			/* enabled, when last looked */
	bool ran;			/* perf has had it on a CPU */
};

/* cqm_set.c */

/*
 * Bind a new event to what it counts, read once.  Process context.  0 or -errno.
 * A CPU event may turn out to be a cgroup's, when perf has completed it.
 */
int cqm_bind_task(struct cqm_event *e, enum cqm_value value, bool inherit);
int cqm_bind_cpu(struct cqm_event *e, enum cqm_value value);

/* The event ends; who was bound with it counts on.  Any context. */
void cqm_unbind(struct cqm_event *e);

/* With interrupts off, on the CPU of the event; the lock is not waited for. */
void cqm_event_begin(struct cqm_event *e);
void cqm_event_update(struct cqm_event *e);
void cqm_event_end(struct cqm_event *e);

/* There are no events. */
void cqm_sets_exit(void);

/* cqm_source.c */

extern struct mutex cqm_mutex;
extern raw_spinlock_t cqm_lock;
extern struct list_head cqm_sources;	/* cqm_mutex */

/* 0 or -ENOMEM */
int cqm_sources_init(void);
void cqm_sources_exit(void);

/* The owner's RMID, in the domain of this CPU.  With cqm_lock. */
void cqm_source_read_here(struct cqm_source *source);

/* All domains of all sources, or of @only one.  With cqm_mutex, so the others. */
void cqm_sources_read(struct cqm_source *only);

/*
 * One that is there, or a new one.  It is read: who binds an event counts from here.
 * @hold: NULL: of all RMIDs.
 * @since: before the hold.  NULL: no memory.
 */
struct cqm_source *cqm_source_get(const struct cmt_hold *hold, u32 domain,
				  u64 since);
/* Unless it has sets. */
void cqm_source_put(struct cqm_source *source);

/* No failure ends the load of the module. */
int cmt_cqm_init(void);
void cmt_cqm_exit(void);

#endif
