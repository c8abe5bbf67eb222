// SPDX-License-Identifier: GPL-2.0
/*
 * One pinned timer per CPU fires on the boundaries of CLOCK_MONOTONIC that
 * divide by the interval, on all CPUs at once (tick.c).
 */
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sampler.h"
#include "uncore/uncore.h"

#define BUDGET_MIN_US		5
#define BUDGET_MAX_US		100

static unsigned int budget_us = 20;
module_param(budget_us, uint, 0444);
MODULE_PARM_DESC(budget_us, "time to read counters, per tick and CPU, microseconds, 5 to 100 (default 20)");

DEFINE_PER_CPU(struct sampler_cpu *, cmt_sampler_cpus);

/*
 * Interval, start and stop.  Work items take it, and suspend and restart; no reader and no
 * program that sets the interval does, which may get no CPU for long.
 */
static DEFINE_MUTEX(sampler_mutex);
static bool suspended;			/* between the two notifications, and at a restart */
static u64 stopped_at;			/* ns */
static bool running;			/* written with the mutex */
static bool claimed;			/* channels are read in ticks */

/* Written with the lock, as cmt_readers is; the work item puts them into force */
static DEFINE_RAW_SPINLOCK(wants_lock);
static u32 channels_wanted;		/* number of descriptors */
static u32 interval_wanted;		/* ns; 0: it stays */

/*
 * On the CPU itself, interrupts off.  Either it finds the sampler stopped, or ticks_stop()
 * finds its timer.  All CPUs do this at once, so they share no lock.
 */
static void timer_start(void *unused)
{
	struct sampler_cpu *s = this_cpu_read(cmt_sampler_cpus);

	if (!s || !READ_ONCE(running) || !this_cpu_read(cmt_cpus.up) ||
	    !READ_ONCE(s->has_ticks))
		return;
	cmt_tick_begin(s);
	smp_mb();	/* pairs with ticks_stop() */
	if (!READ_ONCE(running))
		hrtimer_try_to_cancel(&s->timer);
}

/* As timer_start(), and what was counted while there were no ticks is dropped. */
static void timer_begin(void *unused)
{
	cmt_perf_begin();
	timer_start(NULL);
}

static bool has_ticks(int cpu, void *unused)
{
	const struct sampler_cpu *s = per_cpu(cmt_sampler_cpus, cpu);

	return s && READ_ONCE(s->has_ticks);
}

/*
 * Excluded CPUs are not interrupted: readers come and go as often as they want.
 *
 * Neither takes cpus_read_lock, because a reader waits in mmap() for the work item that
 * starts the sampler, under mmap_lock, which the kernel takes inside cpus_read_lock elsewhere
 * (cpuset).  A CPU that is coming up starts its timer itself.
 */
static void ticks_start(smp_call_func_t start)
{
	lockdep_assert_held(&sampler_mutex);
	cmt_ticks_prepare(budget_us);
	WRITE_ONCE(running, true);
	smp_mb();	/* pairs with the call in cmt_sampler_assign() */
	on_each_cpu_cond(has_ticks, start, NULL, true);
}

static void ticks_stop(void)
{
	unsigned int cpu;

	lockdep_assert_held(&sampler_mutex);
	/* a first time, which cmt_sampler_ran() finds while the last ticks end */
	WRITE_ONCE(stopped_at, ktime_get_ns());
	smp_store_release(&running, false);	/* pairs with cmt_sampler_ran() */
	smp_mb();	/* pairs with timer_start() */
	for_each_possible_cpu(cpu)
		if (per_cpu(cmt_sampler_cpus, cpu))
			hrtimer_cancel(&per_cpu(cmt_sampler_cpus, cpu)->timer);
	WRITE_ONCE(stopped_at, ktime_get_ns());
}

static void sampler_start(void)
{
	u64 now = ktime_get_ns();

	if (now - stopped_at > CMT_COUNTER_GAP_NS)
		cmt_domains_lose_base(now - CMT_COUNTER_GAP_NS);
	ticks_start(timer_begin);
}

/* Ticks run while there is a reader, with channels while a descriptor wants these. */
static void sampler_update(void)
{
	bool runs = READ_ONCE(cmt_readers) && !suspended;
	bool claims = runs && READ_ONCE(channels_wanted);

	lockdep_assert_held(&sampler_mutex);
	if (running && !runs)
		ticks_stop();
	if (claimed && !claims)
		cmt_channels_release();
	if (claims && !claimed)
		cmt_channels_claim();
	claimed = claims;
	if (runs && !running)
		sampler_start();
}

static u32 interval_take(void)
{
	u32 wanted;

	raw_spin_lock(&wants_lock);
	wanted = interval_wanted;
	interval_wanted = 0;
	raw_spin_unlock(&wants_lock);
	return wanted;
}

/*
 * Returns whether a program has set the interval.  What was counted since the last tick comes
 * with the next one.
 */
static bool interval_update(void)
{
	u32 wanted = interval_take();
	bool restarts = running && wanted != cmt_settings.interval_ns;

	lockdep_assert_held(&sampler_mutex);
	if (!wanted)
		return false;
	if (restarts)
		ticks_stop();
	WRITE_ONCE(cmt_settings.interval_ns, wanted);
	if (restarts)
		ticks_start(timer_start);
	return true;
}

static void update_fn(struct work_struct *work)
{
	bool interval_set;

	mutex_lock(&sampler_mutex);
	interval_set = interval_update();
	sampler_update();
	mutex_unlock(&sampler_mutex);
	if (interval_set)
		cmt_settings_emit();
}

static DECLARE_WORK(update_work, update_fn);

/*
 * With a thread of its own: mmap() waits for the work item under mmap_lock, for which cpuset
 * may wait with all forks stopped, and then no workqueue gets a new thread.
 */
static struct workqueue_struct *update_queue;

bool cmt_sampler_is_suspended(void)
{
	return READ_ONCE(suspended);
}

bool cmt_sampler_ran(u64 now)
{
	/* pairs with ticks_stop(): the time is there when there are no ticks */
	return smp_load_acquire(&running) ||
	       (s64)(now - READ_ONCE(stopped_at)) <= (s64)CMT_COUNTER_GAP_NS;
}

/*
 * The mark of a reading on demand at @now.  It is older than the mark of each tick that
 * has still to read: a tick under way began up to CMT_TICK_LATE_NS before @now, and its
 * boundary is the last one before that, or a later one.
 */
u32 cmt_sampler_mark_between(u64 now)
{
	u32 since = 0;

	if (READ_ONCE(running)) {
		now -= CMT_TICK_LATE_NS;
		div_u64_rem(now, READ_ONCE(cmt_settings.interval_ns), &since);
	}
	return cmt_mark(now - since) - 2;
}

/* A CPU of the domain that is up, preferably one that reads in ticks. */
int cmt_sampler_reader(u32 domain, unsigned int last)
{
	unsigned int cpu, any = nr_cpu_ids, reader = nr_cpu_ids;

	for_each_possible_cpu(cpu) {
		const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

		if (!READ_ONCE(c->up) || READ_ONCE(c->domain) != domain)
			continue;
		any = min(any, cpu);
		if (!READ_ONCE(per_cpu(cmt_sampler_cpus, cpu)->part))
			continue;
		if (cpu == raw_smp_processor_id())
			return cpu;
		if (reader == nr_cpu_ids || (cpu > last && reader <= last))
			reader = cpu;
	}
	if (reader == nr_cpu_ids)
		reader = any;
	return reader == nr_cpu_ids ? -ENXIO : reader;
}

/*
 * Queued with the lock held: a thread that finds the value stored by another thread waits for
 * the same work item.
 */
static void want_store(u32 *wanted, u32 value)
{
	lockdep_assert_held(&wants_lock);
	if (*wanted == value)
		return;
	WRITE_ONCE(*wanted, value);
	queue_work(update_queue, &update_work);
}

/* @nr: the number of descriptors that want the same */
static void descriptor_wants(u32 *nr, bool *wanted_here, bool wants)
{
	raw_spin_lock(&wants_lock);
	want_store(nr, *nr + wants - *wanted_here);
	*wanted_here = wants;
	raw_spin_unlock(&wants_lock);
	flush_work(&update_work);
}

void cmt_sampler_want_ticks(bool *wanted_here, bool wants)
{
	descriptor_wants(&cmt_readers, wanted_here, wants);
}

/* Ticks go on, because any user of the device can ask for channels at any rate. */
void cmt_sampler_want_channels(bool *wanted_here, bool wants)
{
	descriptor_wants(&channels_wanted, wanted_here, wants);
}

u32 cmt_sampler_budget_ns(void)
{
	return budget_us * 1000;
}

void cmt_sampler_set_interval(u32 interval_ns)
{
	raw_spin_lock(&wants_lock);
	want_store(&interval_wanted, interval_ns);
	raw_spin_unlock(&wants_lock);
	flush_work(&update_work);
}

void cmt_sampler_stats(struct cmt_stats *stats)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct sampler_cpu *s = per_cpu(cmt_sampler_cpus, cpu);

		if (!s)
			continue;
		stats->ticks += READ_ONCE(s->ticks);
		stats->missed += READ_ONCE(s->missed);
		stats->deferred += READ_ONCE(s->deferred);
		stats->samples += READ_ONCE(s->samples);
		stats->read_errors += READ_ONCE(s->read_errors);
		stats->read_unavailable += READ_ONCE(s->read_unavailable);
		stats->busy_ns += READ_ONCE(s->busy_ns);
		stats->irqs_off_ns = max(stats->irqs_off_ns,
					 READ_ONCE(s->longest_ns));
	}
}

bool cmt_sampler_may_read(void)
{
	return likely(!cmt_caps.shared_evtsel) ||
	       SAMPLER_PART_READERS(READ_ONCE(this_cpu_read(cmt_sampler_cpus)->part)) ||
	       !cmt_resctrl_is_mounted();
}

bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct cmt_domain *domain;

	lockdep_assert_irqs_disabled();
	cmt_notes_drop(rmid);
	if (!cpu->up || !READ_ONCE(running) || !cmt_backend_samples() ||
	    !cmt_sampler_may_read())
		return false;
	domain = cmt_sampler_domain(cpu->domain);
	if (!cmt_domain_begin(domain, rmid, generation))
		return false;
	*residual_bytes = domain->counters[rmid].residual_bytes;
	return domain->counters[rmid].flags & CMT_F_RESIDUAL;
}

void cmt_sampler_assign(unsigned int cpu, u32 domain, bool ticks, u32 index,
			u32 parts)
{
	struct sampler_cpu *s = per_cpu(cmt_sampler_cpus, cpu);
	struct cmt_domain *d = cmt_sampler_domain(domain);
	bool start = ticks && !s->has_ticks;
	bool forwards = !parts && cmt_backend_samples();
	bool ends = !parts && SAMPLER_PART_READERS(s->part);

	s->domain = d;
	s->notes = d->notes;
	s->burst.counters = d->counters;
	WRITE_ONCE(s->part, SAMPLER_PART(index, parts));
	WRITE_ONCE(s->cpu->forward,
		   forwards ? d->forwarded : NULL);
	if (forwards)
		cpumask_set_cpu(cpu, &d->forwarders);
	else
		cpumask_clear_cpu(cpu, &d->forwarders);
	WRITE_ONCE(d->forwarding, !cpumask_empty(&d->forwarders));
	WRITE_ONCE(s->has_ticks, ticks);
	if (start)
		smp_call_function_single(cpu, timer_start, NULL, true);
	/* readings have interrupts off: after RCU's grace period, none is under way */
	if (ends)
		synchronize_rcu();
}

bool cmt_sampler_has_ticks(unsigned int cpu)
{
	return READ_ONCE(per_cpu(cmt_sampler_cpus, cpu)->has_ticks);
}

static void queue_clear(struct cmt_queue *queue)
{
	bitmap_zero(queue->rmids, cmt_caps.rmid_room);
	queue->cursor = 0;
}

/*
 * The CPU is no longer up, so no caller starts its timer again.  A timer that is not
 * cancelled would migrate to another CPU.
 */
void cmt_sampler_retire(u32 domain)
{
	struct sampler_cpu *s = this_cpu_read(cmt_sampler_cpus);
	struct cmt_domain *d = cmt_sampler_domain(domain);

	WARN_ON_ONCE(this_cpu_read(cmt_cpus.up));
	WRITE_ONCE(s->has_ticks, false);
	WRITE_ONCE(s->part, 0);
	hrtimer_cancel(&s->timer);
	queue_clear(&s->burst.hot);
	if (cmt_backend_samples())
		queue_clear(&s->burst.turn);
	cpumask_clear_cpu(smp_processor_id(), &d->forwarders);
	WRITE_ONCE(d->forwarding, !cpumask_empty(&d->forwarders));
}

void cmt_sampler_suspend(void)
{
	mutex_lock(&sampler_mutex);
	WRITE_ONCE(suspended, true);
	sampler_update();
	mutex_unlock(&sampler_mutex);
}

static void sampler_resume(void)
{
	mutex_lock(&sampler_mutex);
	cmt_cpus_refresh();	/* PQR_ASSOC may have been reset */
	cmt_domains_lose_base(U64_MAX);
	WRITE_ONCE(suspended, false);
	sampler_update();
	mutex_unlock(&sampler_mutex);
}

/*
 * Suspend resets the counters, and PQR_ASSOC of the one CPU that does not go through
 * hotplug.  CLOCK_MONOTONIC stops meanwhile, so no gap in time shows it.  So there are
 * no ticks and no events of perf from before the tasks are frozen until they are thawed,
 * and the first readings after that have no base.
 */
static int sampler_pm(struct notifier_block *nb, unsigned long action,
		      void *unused)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		cmt_sampler_suspend();
		cmt_perf_suspend();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		cmt_perf_resume();
		sampler_resume();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sampler_pm_nb = {
	.notifier_call = sampler_pm,
};

/* Where nothing is read there are no turns, but the switch path still marks RMIDs. */
int cmt_sampler_prepare(unsigned int cpu)
{
	u32 words = BITS_TO_LONGS(cmt_caps.rmid_room);
	bool samples = cmt_backend_samples();
	u32 queues = samples ? CMT_BURST_QUEUES : 1;
	struct sampler_cpu *s;

	if (per_cpu(cmt_sampler_cpus, cpu))
		return 0;
	s = kzalloc_node(struct_size(s, bits, words * queues), GFP_KERNEL,
			 cpu_to_node(cpu));
	if (!s)
		return -ENOMEM;
	cmt_hrtimer_setup(&s->timer, cmt_tick, HRTIMER_MODE_ABS_PINNED_HARD);
	s->cpu = &per_cpu(cmt_cpus, cpu);
	s->ring = &per_cpu(cmt_rings, cpu);
	s->burst.generations = cmt_table_generations();
	s->burst.readable = cmt_table_readable();
	s->burst.caps = &cmt_caps;
	s->burst.words = samples ? BITS_TO_LONGS(cmt_caps.nr_rmids) : 0;
	cmt_burst_init(&s->burst, s->bits, words);
	s->cpu->ran = s->bits;
	per_cpu(cmt_sampler_cpus, cpu) = s;
	return 0;
}

int __init cmt_sampler_init(u32 interval_ns)
{
	int ret;

	if (budget_us < BUDGET_MIN_US || budget_us > BUDGET_MAX_US) {
		pr_err("budget_us=%u is out of range: %d to %d\n", budget_us,
		       BUDGET_MIN_US, BUDGET_MAX_US);
		return -EINVAL;
	}
	cmt_settings.interval_ns = interval_ns;
	cmt_ticks_init();
	update_queue = alloc_workqueue("cmt_sampler", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!update_queue)
		return -ENOMEM;
	ret = register_pm_notifier(&sampler_pm_nb);
	if (ret)
		destroy_workqueue(update_queue);
	return ret;
}

void cmt_sampler_exit(void)
{
	unsigned int cpu;

	unregister_pm_notifier(&sampler_pm_nb);
	destroy_workqueue(update_queue);
	for_each_possible_cpu(cpu)
		kfree(per_cpu(cmt_sampler_cpus, cpu));
	cmt_domains_exit();
}
