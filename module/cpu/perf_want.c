// SPDX-License-Identifier: GPL-2.0
/* Which values are counted on which CPUs: what descriptors want, and CPUs that come and go. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu.h"
#include "perf_cpu.h"
#include "ring/ring.h"

/*
 * The interval between attempts to get a counter that another agent uses, and between
 * drops of values that no descriptor wants any more
 */
#define RETRY_MS	1000

/* Ticks look for shortages.  Where they are further apart, or do not run, a work item does. */
#define LOOK_MS		4

/* The events, CMT_F_COUNTERS_FIRST and CMT_F_WAITED */
#define NR_WANTS	(CMT_PERF_NR + 2)
static_assert(CMT_PERF_FLAG(CMT_PERF_NR) == CMT_F_COUNTERS_FIRST);
static_assert(CMT_PERF_FLAG(CMT_PERF_NR + 1) == CMT_F_WAITED);

/*
 * Taken inside cpus_read_lock, by work items and hotplug callbacks: a reader may get no CPU
 * for long.  Its holder makes and releases events.
 */
static DEFINE_MUTEX(perf_mutex);
static u32 wanted;	/* CMT_F_* to count; with what was recent at the last retry */
static DEFINE_PER_CPU(bool, has_ticks);
/*
 * The system is going to be suspended, or is resuming.  A suspend resets the counters, and the
 * kernel programs those of the one CPU that stays online again only for events that are new.
 */
static bool suspended;
/* a CPU that came online has made values be given up on all CPUs: these are to be updated */
static bool cpus_owed;
/* why waiting is not accounted; NULL: it is */
static const char *wait_reason = "not asked for";

/* What readers and the holder of the mutex share; inside the mutex */
static DEFINE_RAW_SPINLOCK(shared_lock);
static u32 nr_wanting[NR_WANTS];	/* number of descriptors, by value */
static u32 recent;	/* CMT_F_* that any descriptor wanted since the last retry */
/* why a value is not counted, at the last check, as cmt_settings.counters */
static char counts_reason[CMT_PERF_REASON_BYTES];

static void retry_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, retry_fn);

static void look_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_fn);

static void apply_fn(struct work_struct *work);
static DECLARE_WORK(apply_work, apply_fn);

/* A real-time task may keep each worker from the CPU that the worker is bound to. */
static struct workqueue_struct *give_way_queue;

/* On the CPU, interrupts off. */
static void cpu_install(void *perf_cpu)
{
	cmt_perf_install(perf_cpu);
}

static void cpu_remove(void *unused)
{
	cmt_perf_remove(smp_processor_id());
}

/* Write the sums, too: the CPU goes offline or has no ticks, and descriptors want them. */
static void cpu_write_remove(void *unused)
{
	cmt_perf_write_all(this_cpu_read(cmt_cpus.perf));
	cpu_remove(NULL);
}

/* @remove: what the CPU itself does */
static void cpu_stop(unsigned int cpu, smp_call_func_t remove)
{
	struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;

	lockdep_assert_held(&perf_mutex);
	if (!p)
		return;
	smp_call_function_single(cpu, remove, NULL, true);
	cmt_perf_events_release(p);
	kvfree(p);
}

/* What is to be counted now */
static u32 wants_now(void)
{
	return suspended ? wanted & ~CMT_PERF_EVENTS : wanted;
}

/*
 * Count the wanted values on the CPU.  The time on the CPU is counted with and without
 * events.  True: see cmt_perf_events_update().
 */
static bool cpu_update(unsigned int cpu)
{
	struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;
	bool again;

	lockdep_assert_held(&perf_mutex);
	if (p)
		return cmt_perf_events_update(cpu, p, wants_now());
	p = cmt_perf_new(cpu);
	if (!p)
		return false;
	p->waits = !wait_reason;
	again = cmt_perf_events_update(cpu, p, wants_now());
	smp_call_function_single(cpu, cpu_install, p, true);
	return again;
}

static void cpus_update(void)
{
	unsigned int cpu;
	bool again;

	cpus_owed = false;
	do {
		again = false;
		for_each_online_cpu(cpu)
			if (per_cpu(has_ticks, cpu))
				again |= cpu_update(cpu);
	} while (again);
}

static void retry_schedule(void)
{
	queue_delayed_work(system_dfl_wq, &retry_work, msecs_to_jiffies(RETRY_MS));
}

static void perf_change(u32 now)
{
	unsigned int cpu;

	if (!wanted)
		cmt_perf_clock_init();
	wanted = now;
	if (now) {
		cpus_update();
		retry_schedule();
		return;
	}
	for_each_online_cpu(cpu)
		cpu_stop(cpu, cpu_remove);
}

/* The values that are counted on the CPU, which has ticks; why others are not, in @reason. */
static u32 cpu_counted(unsigned int cpu, char *reason)
{
	const struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;

	if (!p) {
		strscpy(reason, "no memory", CMT_PERF_REASON_BYTES);
		return 0;
	}
	return cmt_perf_events_counted(cpu, p, reason) | (p->waits ? CMT_F_WAITED : 0);
}

/* Check which values are counted.  Returns whether this has changed, for longer than a suspend. */
static bool counts_check(void)
{
	u32 counted = wanted & CMT_PERF_ALL, before = cmt_settings.counters;
	char reason[CMT_PERF_REASON_BYTES] = "";
	unsigned int cpu;

	if (suspended)
		return false;
	for_each_online_cpu(cpu)
		if (wanted && per_cpu(has_ticks, cpu))
			counted &= cpu_counted(cpu, reason);
	if (wanted & ~counted & CMT_F_WAITED && !reason[0])
		strscpy(reason, wait_reason, sizeof(reason));
	raw_spin_lock(&shared_lock);
	strscpy(counts_reason, reason, sizeof(counts_reason));
	WRITE_ONCE(cmt_settings.counters, counted);
	raw_spin_unlock(&shared_lock);
	return counted != before;
}

/*
 * Run @change, then check which values are counted.  A STATE is written if this has changed.
 */
static void counts_update(void (*change)(void))
{
	bool changed;

	cpus_read_lock();
	mutex_lock(&perf_mutex);
	change();
	changed = counts_check();
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
	if (changed)
		cmt_settings_emit();
}

u32 cmt_perf_counted(char *reason)
{
	u32 counted;

	raw_spin_lock(&shared_lock);
	strscpy(reason, counts_reason, CMT_PERF_REASON_BYTES);
	counted = cmt_settings.counters;
	raw_spin_unlock(&shared_lock);
	return counted;
}

/* 0, where no value is wanted. */
static u32 all_wants(void)
{
	u32 all = 0, i;

	lockdep_assert_held(&shared_lock);
	for (i = 0; i < NR_WANTS; i++)
		all |= nr_wanting[i] ? CMT_PERF_FLAG(i) : 0;
	return all & CMT_PERF_ALL ? all : 0;
}

static void cpus_give_way(void)
{
	struct cmt_perf *p;
	unsigned int cpu;
	bool any = false;

	for_each_online_cpu(cpu) {
		p = per_cpu(cmt_cpus, cpu).perf;
		if (!p || !cmt_perf_events_are_short(p))
			continue;
		cmt_perf_events_give_way(cpu, p);
		any = true;
	}
	if (any)
		cpus_update();
}

static void look_schedule(void)
{
	bool ticks_look = READ_ONCE(cmt_readers) &&
			  READ_ONCE(cmt_settings.interval_ns) <= LOOK_MS * NSEC_PER_MSEC;

	if (wanted & CMT_PERF_EVENTS && !(wanted & CMT_F_COUNTERS_FIRST) && !ticks_look)
		queue_delayed_work(system_dfl_wq, &look_work, msecs_to_jiffies(LOOK_MS));
}

static void shortages_look(void)
{
	cpus_give_way();
	look_schedule();
}

static void look_fn(struct work_struct *work)
{
	counts_update(shortages_look);
}

/*
 * Additions apply at once.  A descriptor may change its wants in a loop, so only a retry
 * drops values.
 */
static void wants_apply(void)
{
	u32 now = wanted | READ_ONCE(recent);

	if (now != wanted)
		perf_change(now);
	else if (wanted && cpus_owed)
		cpus_update();
	look_schedule();
}

/*
 * perf checks whether the current process may count on a CPU.  A reader of /dev/cmt may
 * lack that right, so a work item of the kernel makes the events.
 */
static void apply_fn(struct work_struct *work)
{
	counts_update(wants_apply);
}

void cmt_perf_want(u32 *wanted_here, u32 wants)
{
	u32 i;

	raw_spin_lock(&shared_lock);
	for (i = 0; i < NR_WANTS; i++) {
		nr_wanting[i] += !!(wants & CMT_PERF_FLAG(i));
		nr_wanting[i] -= !!(*wanted_here & CMT_PERF_FLAG(i));
	}
	*wanted_here = wants;
	WRITE_ONCE(recent, recent | all_wants());
	raw_spin_unlock(&shared_lock);
	queue_work(system_dfl_wq, &apply_work);
	flush_work(&apply_work);
}

static void give_way_fn(struct work_struct *work)
{
	counts_update(cpus_give_way);
}

static DECLARE_WORK(give_way_work, give_way_fn);

void cmt_perf_give_way(void)
{
	queue_work(give_way_queue, &give_way_work);
}

/* Drop the values that no descriptor wanted since the last retry. */
static void wants_drop(void)
{
	u32 now;

	raw_spin_lock(&shared_lock);
	now = recent;
	WRITE_ONCE(recent, all_wants());
	raw_spin_unlock(&shared_lock);
	if (now != wanted)
		perf_change(now);
}

static void retry_all(void)
{
	unsigned int cpu;

	wants_drop();
	if (!wanted)
		return;
	cmt_perf_events_retry_tasks();
	for_each_online_cpu(cpu)
		if (per_cpu(cmt_cpus, cpu).perf)
			cmt_perf_events_retry(cpu, per_cpu(cmt_cpus, cpu).perf);
	cpus_update();
	look_schedule();
	retry_schedule();
}

static void retry_fn(struct work_struct *work)
{
	counts_update(retry_all);
}

/* Something has changed that decides which values are counted: check this outside of hotplug. */
static void counts_check_later(void)
{
	lockdep_assert_held(&perf_mutex);
	if (wanted)
		queue_work(system_dfl_wq, &apply_work);
}

static void cpu_set_waits(void *unused)
{
	struct cmt_perf *p = this_cpu_read(cmt_cpus.perf);

	if (p)
		cmt_perf_account_waits(p, !wait_reason);
}

void cmt_perf_set_waits(const char *reason)
{
	cpus_read_lock();
	mutex_lock(&perf_mutex);
	wait_reason = reason;
	on_each_cpu(cpu_set_waits, NULL, true);
	counts_check_later();
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
}

void cmt_perf_cpu_up(unsigned int cpu, bool ticks)
{
	mutex_lock(&perf_mutex);
	per_cpu(has_ticks, cpu) = ticks;
	if (wanted && ticks)
		cpus_owed |= cpu_update(cpu);
	else
		cpu_stop(cpu, cpu_write_remove);
	counts_check_later();
	mutex_unlock(&perf_mutex);
}

void cmt_perf_cpu_down(unsigned int cpu)
{
	mutex_lock(&perf_mutex);
	per_cpu(has_ticks, cpu) = false;
	cpu_stop(cpu, cpu_write_remove);
	counts_check_later();
	mutex_unlock(&perf_mutex);
}

static void suspended_set(bool value)
{
	lockdep_assert_held(&perf_mutex);
	suspended = value;
	if (wanted)
		cpus_update();
}

static void suspend(void)
{
	suspended_set(true);
}

static void resume(void)
{
	suspended_set(false);
}

static void resume_fn(struct work_struct *work)
{
	counts_update(resume);
}

static DECLARE_WORK(resume_work, resume_fn);

void cmt_perf_suspend(void)
{
	counts_update(suspend);
}

/* As apply_fn(): the process that asked for the suspend may lack the right to count. */
void cmt_perf_resume(void)
{
	queue_work(system_dfl_wq, &resume_work);
	flush_work(&resume_work);
}

/* As a descriptor that stays open */
int cmt_perf_init(bool first)
{
	unsigned int cpu;

	give_way_queue = alloc_workqueue("cmt_give_way", WQ_UNBOUND | WQ_HIGHPRI, 1);
	if (!give_way_queue)
		return -ENOMEM;
	nr_wanting[CMT_PERF_NR] = first;
	for_each_possible_cpu(cpu)
		cmt_perf_remove(cpu);
	return 0;
}

/*
 * Where no value is wanted, no work item queues another one, and cmt_perf_resume(), which
 * may still be called, finds no change: a STATE has no ring any more then.
 */
void cmt_perf_stop(void)
{
	cpus_read_lock();
	mutex_lock(&perf_mutex);
	WRITE_ONCE(recent, 0);
	if (wanted)
		perf_change(0);
	WRITE_ONCE(cmt_settings.counters, 0);
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
	cancel_delayed_work_sync(&retry_work);
	cancel_delayed_work_sync(&look_work);
	cancel_work_sync(&apply_work);
	cancel_work_sync(&resume_work);
	destroy_workqueue(give_way_queue);
}
