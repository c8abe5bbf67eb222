/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The perf PMU intel_cqm: events for perf_event_open(2), with the names and the
 * numbers of the PMU that Linux 4.1 to 4.13 had (docs/decisions/0026).
 *
 * cqm.c has what perf calls, cqm_read.c what the events count.
 */
#ifndef CMT_CQM_H
#define CMT_CQM_H

#include <linux/list.h>
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

/* 0 or -ENOMEM */
int cqm_read_init(void);
/* There are no events. */
void cqm_read_exit(void);

/* No failure ends the load of the module. */
int cmt_cqm_init(void);
void cmt_cqm_exit(void);

#endif
