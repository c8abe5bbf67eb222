// SPDX-License-Identifier: GPL-2.0
/*
 * The events of perf that count on a CPU, and who has the counters of the processor.
 *
 * cmt gives way, unless its user says otherwise.  When an event of another program finds no
 * counter, the events of the CPU are released, and those are made anew for which there are
 * counters left: none that needs a general counter, or none at all.  A second later the
 * others are tried, one by one, until one is too many.
 *
 * perf prefers pinned events, and the events of a CPU to those of a task.  Those of cmt are
 * not pinned, and of a CPU.  A new one comes after the others of the CPU: an attempt takes
 * no counter from them.  It can take one from a task's event, for some milliseconds.  So
 * such attempts become rarer, and what a task needs is given up on all CPUs.
 *
 * A value is counted all of the time or not at all: events that perf rotates count samples of
 * the work, and other samples for each event.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "compat.h"
#include "hw/hw.h"
#include "perf_cpu.h"

/*
 * The least and the greatest time between attempts that may take the counter of a task's
 * event.  After the greatest one without a shortage the least one holds again.
 */
#define TASKS_MIN_NS	(1 * NSEC_PER_SEC)
#define TASKS_MAX_NS	(32 * NSEC_PER_SEC)

/* Cycles and instructions: Intel's processors have fixed counters for these. */
#define NR_FIXED	2

#define ALL_EVENTS	(BIT(CMT_PERF_NR) - 1)

/* The kernel's event numbers, by value */
static const u64 perf_configs[CMT_PERF_NR] = {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES,
};

/* Values from this one on are given up on all CPUs, because of tasks' events. */
static u32 tasks_limit = CMT_PERF_NR;
static u64 tasks_until;		/* ns: no attempt before */
static u64 tasks_pause;		/* ns: between the last two attempts */

/* No later attempt is needed: the machine does not change. */
static bool machine_lacks(int error)
{
	return error == -ENOENT || error == -ENODEV;
}

static void note_error(char *reason, unsigned int cpu, u32 index, int error)
{
	static const char *const names[CMT_PERF_NR] = {
		"cycles", "instructions", "LLC misses", "LLC references",
	};

	if (reason[0])
		return;
	if (machine_lacks(error))
		snprintf(reason, CMT_PERF_REASON_BYTES,
			 "this machine does not count %s", names[index]);
	else
		snprintf(reason, CMT_PERF_REASON_BYTES,
			 "no counter of %s on CPU %u: error %d", names[index],
			 cpu, -error);
}

static bool is_first(const struct cmt_perf *p)
{
	return p->wanted & CMT_F_COUNTERS_FIRST;
}

/*
 * On AMD's cores the kernel's names for events of the last level count events of another
 * level.  No event excludes guest mode: a virtual machine's own work would be missing, and
 * no value would say so.
 */
static struct perf_event *event_new(unsigned int cpu, const struct cmt_perf *p,
				    u32 index)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = perf_configs[index],
		.pinned = is_first(p),
	};

	if (CMT_PERF_FLAG(index) & (CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES) &&
	    cmt_caps.vendor != CMT_VENDOR_INTEL)
		return ERR_PTR(-ENOENT);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/*
 * perf's timer goes off once after the shortages until now; and where an event lacks a
 * counter at this moment, once or twice more, though cmt may release one.
 */
static void shortages_known(struct cmt_perf *p)
{
	const struct cmt_pmu_cpu *c = p->pmu_cpu;

	p->known = hrtimer_get_expires(&c->hrtimer);
	if (cmt_pmu_cpu_lacks(c) || cmt_pmu_task_lacks(c))
		p->known += 2 * c->hrtimer_interval;
	if (is_first(p))
		p->known = U64_MAX;
}

/* A new event, and whose events have no counter since */
struct event_change {
	struct cmt_perf *p;
	u32 index;
	struct perf_event *event;
	bool cpu_lacks;
	bool task_lacks;
};

/*
 * The event counts from now on.  So the value is missing in all sums of the time before,
 * and by p->out in the sum of the RMID that is loaded.
 */
static void event_set(void *info)
{
	struct event_change *change = info;
	struct perf_event *event = change->event;
	struct cmt_perf *p = change->p;
	u32 bit = BIT(change->index);

	p->events[change->index] = event;
	p->idle[change->index] = cmt_perf_idle_ns(event);
	p->read = event->pmu->read;
	p->pmu_cpu = cmt_pmu_cpu_of(event->pmu, smp_processor_id());
	p->out |= bit;
	p->in = 0;
	cmt_perf_lack(p, bit);
	shortages_known(p);
	change->cpu_lacks = event->state != PERF_EVENT_STATE_ACTIVE ||
			    (!is_first(p) && cmt_pmu_cpu_lacks(p->pmu_cpu));
	change->task_lacks = !is_first(p) && cmt_pmu_task_lacks(p->pmu_cpu);
}

static u32 events_present(const struct cmt_perf *p)
{
	u32 bits = 0, i;

	for (i = 0; i < CMT_PERF_NR; i++)
		bits |= p->events[i] ? BIT(i) : 0;
	return bits;
}

/* Events that are not to count any more, and whether one of the CPU had no counter */
struct events_drop {
	struct cmt_perf *p;
	u32 bits;
	bool cpu_lacks;
};

static void events_unset(void *info)
{
	struct events_drop *drop = info;
	struct cmt_perf *p = drop->p;
	u32 i;

	drop->cpu_lacks = cmt_pmu_cpu_lacks(p->pmu_cpu);
	for (i = 0; i < CMT_PERF_NR; i++)
		if (drop->bits & BIT(i))
			p->events[i] = NULL;
	p->out &= ~drop->bits;
	p->in = 0;
	cmt_perf_lack(p, drop->bits);
	if (!events_present(p))
		p->pmu_cpu = NULL;
	if (p->pmu_cpu)
		shortages_known(p);
}

/* Returns whether an event of the CPU, one of these or another one, had no counter. */
static bool events_drop(unsigned int cpu, struct cmt_perf *p, u32 bits)
{
	struct events_drop drop = { .p = p, .bits = bits & events_present(p) };
	struct perf_event *events[CMT_PERF_NR];
	u32 i;

	if (!drop.bits)
		return false;
	memcpy(events, p->events, sizeof(events));
	smp_call_function_single(cpu, events_unset, &drop, true);
	for (i = 0; i < CMT_PERF_NR; i++)
		if (drop.bits & BIT(i))
			perf_event_release_kernel(events[i]);
	return drop.cpu_lacks;
}

/*
 * A task may run on any CPU.  One attempt may lead to several calls: on other CPUs, or for
 * more values.
 */
static void tasks_give_way(u32 limit)
{
	u64 now = ktime_get_ns();

	tasks_limit = min(tasks_limit, limit);
	if (now < tasks_until)
		return;
	tasks_pause *= 2;
	if (now - tasks_until > TASKS_MAX_NS)
		tasks_pause = 0;
	tasks_pause = clamp(tasks_pause, TASKS_MIN_NS, TASKS_MAX_NS);
	tasks_until = now + tasks_pause;
}

void cmt_perf_events_retry_tasks(void)
{
	if (ktime_get_ns() >= tasks_until)
		tasks_limit = CMT_PERF_NR;
}

/* The first value that is given up on the CPU */
static u32 limit_of(const struct cmt_perf *p)
{
	return is_first(p) ? p->limit : min(p->limit, tasks_limit);
}

/* False: there is no counter for the event, or not without one that another event needs. */
static bool event_add(unsigned int cpu, struct cmt_perf *p, u32 index)
{
	struct event_change change = { .p = p, .index = index };

	change.event = event_new(cpu, p, index);
	p->barred = IS_ERR(change.event) &&
		    cmt_perf_is_barred(PTR_ERR(change.event));
	if (p->barred) {
		p->limit = index;
		return false;
	}
	if (IS_ERR(change.event)) {
		p->errors[index] = PTR_ERR(change.event);
		return true;
	}
	smp_call_function_single(cpu, event_set, &change, true);
	if (!change.cpu_lacks && !change.task_lacks)
		return true;
	events_drop(cpu, p, BIT(index));
	if (change.task_lacks)
		tasks_give_way(index);
	else
		p->limit = index;
	return false;
}

/* Bits of the values whose events could not be made */
static u32 refused_bits(const struct cmt_perf *p)
{
	u32 bits = 0, i;

	for (i = 0; i < CMT_PERF_NR; i++)
		bits |= p->errors[i] ? BIT(i) : 0;
	return bits;
}

static u32 wanted_bits(const struct cmt_perf *p)
{
	return p->wanted / CMT_PERF_FLAG(0) & ALL_EVENTS & ~refused_bits(p);
}

/* Bits of the events that are to count: wanted, and not given up */
static u32 events_wanted(const struct cmt_perf *p)
{
	return wanted_bits(p) & (BIT(limit_of(p)) - 1);
}

bool cmt_perf_events_update(unsigned int cpu, struct cmt_perf *p, u32 wanted)
{
	bool changes_side = (p->wanted ^ wanted) & CMT_F_COUNTERS_FIRST;
	u32 limit = tasks_limit, i;

	if (p->wanted != wanted)
		memset(p->errors, 0, sizeof(p->errors));
	if (changes_side)
		p->limit = CMT_PERF_NR;
	p->wanted = wanted;
	/* new events may need the counters of events that are released: these come first */
	events_drop(cpu, p, changes_side ? ALL_EVENTS : ~events_wanted(p));
	for (i = 0; i < CMT_PERF_NR; i++)
		if (events_wanted(p) & ~events_present(p) & BIT(i) &&
		    !event_add(cpu, p, i))
			break;
	return tasks_limit < limit;
}

void cmt_perf_events_give_way(unsigned int cpu, struct cmt_perf *p)
{
	u32 general = events_present(p) >> NR_FIXED;
	u32 limit = general ? NR_FIXED : 0;

	if (events_drop(cpu, p, ALL_EVENTS))
		p->limit = limit;
	else
		tasks_give_way(limit);
}

/* A pinned event without a counter is in this state until it is made anew. */
static bool event_is_out(const struct perf_event *event)
{
	return event && READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR;
}

void cmt_perf_events_retry(unsigned int cpu, struct cmt_perf *p)
{
	u32 i;

	p->limit = CMT_PERF_NR;
	for (i = 0; i < CMT_PERF_NR; i++) {
		if (event_is_out(p->events[i]))
			events_drop(cpu, p, BIT(i));
		if (!machine_lacks(p->errors[i]))
			p->errors[i] = 0;
	}
}

static void given_up_reason(char *reason, unsigned int cpu, const struct cmt_perf *p)
{
	if (p->barred)
		strscpy(reason, "a virtual machine has the counters (mediated vPMU)",
			CMT_PERF_REASON_BYTES);
	else if (is_first(p))
		snprintf(reason, CMT_PERF_REASON_BYTES,
			 "another agent has the counters of CPU %u", cpu);
	else if (tasks_limit < p->limit)
		strscpy(reason, "events of tasks need the counters: cmt gives way",
			CMT_PERF_REASON_BYTES);
	else
		snprintf(reason, CMT_PERF_REASON_BYTES,
			 "other events need the counters of CPU %u: cmt gives way",
			 cpu);
}

u32 cmt_perf_events_counted(unsigned int cpu, const struct cmt_perf *p, char *reason)
{
	u32 bits = 0, i;

	for (i = 0; i < CMT_PERF_NR; i++) {
		if (p->events[i] && !event_is_out(p->events[i]))
			bits |= BIT(i);
		if (p->errors[i])
			note_error(reason, cpu, i, p->errors[i]);
	}
	if (wanted_bits(p) & ~bits)
		given_up_reason(reason, cpu, p);
	return bits * CMT_PERF_FLAG(0);
}

void cmt_perf_events_release(struct cmt_perf *p)
{
	u32 i;

	for (i = 0; i < CMT_PERF_NR; i++)
		if (p->events[i])
			perf_event_release_kernel(p->events[i]);
}
