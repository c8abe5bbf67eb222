/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of perf, and what compat.h says of them, for one CPU.  The test has perf. */
#ifndef SHIM_FAKE_PERF_H
#define SHIM_FAKE_PERF_H

#include <errno.h>

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/types.h>

enum {
	PERF_EVENT_STATE_ERROR		= -3,
	PERF_EVENT_STATE_ACTIVE		= 1,
};

struct perf_event;

struct pmu {
	void (*read)(struct perf_event *event);
};

struct perf_event {
	struct pmu *pmu;
	int state;
	u64 total_time_enabled, total_time_running;
};

struct cmt_pmu_cpu {
	struct {
		u64 expires;
	} hrtimer;
	u64 hrtimer_interval;
	bool cpu_lacks, task_lacks;
};

#define hrtimer_get_expires(timer)	((timer)->expires)
#define cmt_pmu_cpu_lacks(c)		((c)->cpu_lacks)
#define cmt_pmu_task_lacks(c)		((c)->task_lacks)
#define cmt_perf_is_barred(error)	((error) == -EOPNOTSUPP)

struct cmt_pmu_cpu *cmt_pmu_cpu_of(const struct pmu *pmu, int cpu);
struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr,
						    int cpu, void *task, void *overflow,
						    void *context);
void perf_event_release_kernel(struct perf_event *event);

#define smp_call_function_single(cpu, function, info, wait) ({	\
	(void)(cpu);						\
	(void)(wait);						\
	(function)(info);					\
})

#define NSEC_PER_MSEC			1000000ULL
#define NSEC_PER_SEC			1000000000ULL
#define data_race(expression)		(expression)
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define clamp(value, low, high)		min(max(value, (__typeof__(value))(low)), \
					    (__typeof__(value))(high))

#endif
