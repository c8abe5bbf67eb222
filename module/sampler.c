// SPDX-License-Identifier: GPL-2.0
/*
 * One pinned timer per CPU fires on the boundaries of CLOCK_MONOTONIC that
 * divide by the interval, on all CPUs at once.  Each CPU reads its share of its
 * domain's RMIDs, so that no reading needs another CPU, and no tick is longer
 * than a part of the interval: what does not fit is deferred, counted, and
 * comes first in the next tick.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>

#include "cmt.h"
#include "compat.h"
#include "counter.h"

/* A tick reads for at most this part of the interval. */
#define TICK_BUDGET_DIVISOR	4

/* How long after an allocation occupancy in another domain is residue. */
#define RESIDUE_WINDOW_NS	2000000ULL

/* What is known of one RMID in one domain, and who may touch it. */
struct reading_state {
	raw_spinlock_t lock;
	struct cmt_counter counter;
};

static struct reading_state *states[CMT_MAX_DOMAINS];	/* by index; by RMID */
static DEFINE_MUTEX(sampler_mutex);	/* readers, interval, start and stop */
static u32 readers;
static DEFINE_RAW_SPINLOCK(running_lock);	/* running, starting a timer */
static bool running;
static u32 interval;			/* ns; WRITE_ONCE under sampler_mutex */
static u32 epoch;			/* grows with every resume */

static struct reading_state *state_of(u32 domain, u32 rmid)
{
	return &states[domain][rmid];
}

static struct cmt_raw read_event(u32 rmid, enum cmt_event event, u16 flag)
{
	struct cmt_raw raw = { .status = -EOPNOTSUPP };

	if (cmt_caps.events & flag)
		raw.status = cmt_backend->read(rmid, event, &raw.raw);
	return raw;
}

/* Between read_begin() and read_end(). */
static void read_rmid(struct cmt_cpu *cpu, u32 rmid, struct cmt_reading *reading)
{
	int errors, unavailable;

	reading->ts = ktime_get_ns();
	reading->epoch = READ_ONCE(epoch);
	reading->occupancy = read_event(rmid, CMT_EVENT_OCCUPANCY,
					CMT_F_OCCUPANCY);
	reading->total = read_event(rmid, CMT_EVENT_MBM_TOTAL,
				    CMT_F_MBM_TOTAL);
	reading->local = read_event(rmid, CMT_EVENT_MBM_LOCAL,
				    CMT_F_MBM_LOCAL);

	errors = (reading->occupancy.status == -EIO) +
		 (reading->total.status == -EIO) +
		 (reading->local.status == -EIO);
	unavailable = (reading->occupancy.status == -ENODATA) +
		      (reading->total.status == -ENODATA) +
		      (reading->local.status == -ENODATA);
	cpu->read_errors += errors;
	cpu->read_unavailable += unavailable;
}

bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct reading_state *state;
	struct cmt_reading reading;
	bool known;

	lockdep_assert_irqs_disabled();
	if (!cpu->up)
		return false;
	state = state_of(cpu->domain, rmid);

	cmt_backend->read_begin();
	read_rmid(cpu, rmid, &reading);
	cmt_backend->read_end();

	raw_spin_lock(&state->lock);
	cmt_counter_begin(&state->counter, generation, &reading);
	cmt_counter_set_residue(&state->counter, &reading, &cmt_caps);
	cmt_counter_set_base(&state->counter, &reading);
	*residual_bytes = state->counter.residual_bytes;
	known = state->counter.residual_known;
	raw_spin_unlock(&state->lock);
	return known;
}

/*
 * A generation that is new in this domain: the owner was allocated in another
 * one.  What traffic it has had here is not known.  Shortly after the
 * allocation the occupancy is as good as residue; later it may be the owner's
 * own.
 */
static void state_begin(struct reading_state *state, u32 rmid, u32 generation,
			const struct cmt_reading *reading)
{
	cmt_counter_begin(&state->counter, generation, reading);
	if (generation &&
	    reading->ts - cmt_table_since(rmid) <= RESIDUE_WINDOW_NS)
		cmt_counter_set_residue(&state->counter, reading, &cmt_caps);
}

/*
 * Read one RMID and write its record.  false: it has to wait, because it is
 * being read elsewhere, or its owner has changed meanwhile.
 */
static bool sample_rmid(struct cmt_cpu *cpu, u32 rmid, u32 generation, u64 *now)
{
	struct reading_state *state = state_of(cpu->domain, rmid);
	struct cmt_reading reading;
	struct cmt_record record;

	if (!raw_spin_trylock(&state->lock))
		return false;
	read_rmid(cpu, rmid, &reading);
	*now = reading.ts;
	if (!state->counter.begun || state->counter.generation != generation)
		state_begin(state, rmid, generation, &reading);
	cmt_counter_sample(&state->counter, rmid, &reading, &cmt_caps, &record);
	if (cmt_cpu_was_overwritten(cpu, rmid))
		record.flags |= CMT_F_PQR_OVERWRITTEN;
	raw_spin_unlock(&state->lock);

	/* a virtual CPU can stand still for longer than limbo lasts */
	if (cmt_table_generation(rmid) != generation)
		return false;
	record.domain = cpu->domain_id;
	cmt_emit(&record);
	cpu->samples++;
	return true;
}

/* Read from @rmid to before @end; returns the first one that has to wait. */
static u32 sample_range(struct cmt_cpu *cpu, u32 rmid, u32 end, u64 *now,
			u64 deadline)
{
	const unsigned long *readable = cmt_table_readable();

	for_each_set_bit_from(rmid, readable, end) {
		u32 generation = cmt_table_generation(rmid);

		if (rmid && !generation)
			continue;
		if (*now >= deadline ||
		    !sample_rmid(cpu, rmid, generation, now))
			break;
	}
	return min(rmid, end);
}

static u32 count_range(u32 rmid, u32 end)
{
	u32 count = 0;

	for_each_set_bit_from(rmid, cmt_table_readable(), end)
		count++;
	return count;
}

/* Read this CPU's share, from where the last tick stopped, until @deadline. */
static void sample_share(struct cmt_cpu *cpu, u64 now, u64 deadline)
{
	u32 share = READ_ONCE(cpu->share);
	u32 first = CMT_SHARE_FIRST(share), end = CMT_SHARE_END(share);
	u32 start = clamp(cpu->cursor, first, end);
	u32 stop;

	if (first == end)
		return;

	cmt_backend->read_begin();
	stop = sample_range(cpu, start, end, &now, deadline);
	if (stop < end) {
		cpu->deferred += count_range(stop, end) +
				 count_range(first, start);
	} else {
		stop = sample_range(cpu, first, start, &now, deadline);
		cpu->deferred += count_range(stop, start);
	}
	cmt_backend->read_end();
	cpu->cursor = stop;
}

/* An owner that ends on another CPU right now runs here as nobody. */
static void emit_tick(struct cmt_cpu *cpu, u32 interval_ns, u16 flags)
{
	u32 generation = cmt_table_generation(cpu->own);
	struct cmt_record record = {
		.ts = ktime_get_ns(),
		.type = CMT_REC_TICK,
		.flags = cmt_caps.record_flags | flags,
		.rmid = generation ? cpu->own : CMT_RMID_NONE,
		.generation = generation,
		.domain = cpu->domain_id,
		.interval_ns = interval_ns,
		.tick.missed = cpu->missed,
		.tick.deferred = cpu->deferred,
		.tick.busy_ns = cpu->busy_ns,
		.tick.samples = cpu->samples,
	};

	cmt_emit(&record);
}

static void wake_pollers(struct cmt_cpu *cpu)
{
	/* pairs with cmt_poll() in chardev.c: head first, then wake_at */
	smp_mb();
	if (cpu->ring.head < READ_ONCE(cpu->wake_at))
		return;
	WRITE_ONCE(cpu->wake_at, U64_MAX);
	irq_work_queue(&cpu->wake);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct cmt_cpu *cpu = container_of(timer, struct cmt_cpu, timer);
	u32 interval_ns = READ_ONCE(interval);
	u64 start = ktime_get_ns();
	u64 periods = hrtimer_forward(timer, start, interval_ns);
	u16 flags = 0;

	cpu->ticks++;
	if (periods > 1)
		cpu->missed += periods - 1;

	if (cmt_cpu_check())
		flags = CMT_F_PQR_OVERWRITTEN;
	cmt_cpu_tick_begin();
	sample_share(cpu, start, start + interval_ns / TICK_BUDGET_DIVISOR);
	emit_tick(cpu, interval_ns, flags);
	wake_pollers(cpu);
	cmt_cpu_tick_end();

	cpu->busy_ns += ktime_get_ns() - start;
	return HRTIMER_RESTART;
}

/*
 * On the CPU itself, interrupts off.  Either it sees that the sampler runs and
 * timers_stop() finds its timer, or it sees that it does not.
 */
static void timer_start(void *unused)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	u32 interval_ns = READ_ONCE(interval);
	u64 next = div_u64(ktime_get_ns(), interval_ns) + 1;

	raw_spin_lock(&running_lock);
	if (running && cpu->up)
		hrtimer_start(&cpu->timer, ns_to_ktime(next * interval_ns),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	raw_spin_unlock(&running_lock);
}

static void set_running(bool value)
{
	raw_spin_lock_irq(&running_lock);
	running = value;
	raw_spin_unlock_irq(&running_lock);
}

/*
 * Neither takes cpus_read_lock, because a reader starts the sampler in mmap(),
 * under mmap_lock, which the kernel takes inside cpus_read_lock elsewhere
 * (cpuset).  A CPU that is coming up starts its timer itself.
 */
static void timers_start(void)
{
	lockdep_assert_held(&sampler_mutex);
	set_running(true);
	on_each_cpu(timer_start, NULL, true);
}

static void timers_stop(void)
{
	unsigned int cpu;

	lockdep_assert_held(&sampler_mutex);
	set_running(false);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(cmt_cpus, cpu).timer);
}

void cmt_sampler_get(void)
{
	mutex_lock(&sampler_mutex);
	if (!readers++)
		timers_start();
	mutex_unlock(&sampler_mutex);
}

void cmt_sampler_put(void)
{
	mutex_lock(&sampler_mutex);
	if (!--readers)
		timers_stop();
	mutex_unlock(&sampler_mutex);
}

u32 cmt_sampler_readers(void)
{
	return READ_ONCE(readers);
}

u32 cmt_sampler_interval(void)
{
	return READ_ONCE(interval);
}

void cmt_sampler_set_interval(u32 interval_ns)
{
	mutex_lock(&sampler_mutex);
	if (readers)
		timers_stop();
	WRITE_ONCE(interval, interval_ns);
	if (readers)
		timers_start();
	mutex_unlock(&sampler_mutex);
}

void cmt_sampler_cpu_up(void)
{
	unsigned long flags;

	local_irq_save(flags);
	timer_start(NULL);
	local_irq_restore(flags);
}

void cmt_sampler_cpu_down(void)
{
	hrtimer_cancel(this_cpu_ptr(&cmt_cpus.timer));
}

/*
 * Suspend resets the counters, and PQR_ASSOC of the one CPU that does not go
 * through hotplug; CLOCK_MONOTONIC stands still meanwhile, so that no gap shows.
 */
static int sampler_pm(struct notifier_block *nb, unsigned long action,
		      void *unused)
{
	if (action == PM_POST_SUSPEND || action == PM_POST_HIBERNATION) {
		WRITE_ONCE(epoch, epoch + 1);
		cmt_cpus_reset();
	}
	return NOTIFY_DONE;
}

static struct notifier_block sampler_pm_nb = {
	.notifier_call = sampler_pm,
};

int cmt_sampler_add_domain(u32 domain)
{
	struct reading_state *domain_states;
	u32 rmid;

	if (states[domain])
		return 0;
	domain_states = vcalloc(cmt_caps.nr_rmids, sizeof(*domain_states));
	if (!domain_states)
		return -ENOMEM;
	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++)
		raw_spin_lock_init(&domain_states[rmid].lock);
	states[domain] = domain_states;
	return 0;
}

int cmt_sampler_init(u32 interval_ns)
{
	unsigned int cpu;

	interval = interval_ns;
	for_each_possible_cpu(cpu)
		cmt_hrtimer_setup(&per_cpu(cmt_cpus, cpu).timer, tick,
				  HRTIMER_MODE_ABS_PINNED_HARD);
	return register_pm_notifier(&sampler_pm_nb);
}

void cmt_sampler_exit(void)
{
	u32 domain;

	unregister_pm_notifier(&sampler_pm_nb);
	for (domain = 0; domain < CMT_MAX_DOMAINS; domain++)
		vfree(states[domain]);
}
