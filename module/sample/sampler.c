// SPDX-License-Identifier: GPL-2.0
/*
 * One pinned timer per CPU fires on the boundaries of CLOCK_MONOTONIC that
 * divide by the interval, on all CPUs at once.  A tick is one burst (burst.h) and
 * a TICK record.  No reading needs another CPU, and no tick is longer than its
 * budget: the remaining RMIDs are counted as deferred, and come first in the next
 * tick.
 *
 * Time.  A tick reads CLOCK_MONOTONIC once.  The times of its readings are that
 * plus what the TSC has advanced since, rounded down, so that no record is ahead
 * of CLOCK_MONOTONIC, which NTP slews by 0.05 % at most.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include "uncore/channel.h"
#include "cmt.h"
#include "compat.h"
#include "hw/counter.h"
#include "owner/owner.h"
#include "perf/perf.h"
#include "cpu/pqr.h"
#include "cpu/resctrl.h"
#include "ring/rings.h"
#include "sampler.h"
#include "ring/waiter.h"

/* After an allocation, occupancy in another domain is residue for this time. */
#define RESIDUE_WINDOW_NS	2000000ULL

/*
 * A virtual CPU can be preempted in a burst for longer than limbo lasts, and then RMIDs
 * have other owners.  A burst that took half of that time is discarded.
 */
#define BURST_MAX_NS		1000000U

/* TSC and CLOCK_MONOTONIC are read within this time, or again, up to this often. */
#define CLOCK_APART_NS		2000U
#define CLOCK_TRIES		4

#define BUDGET_MIN_US		5
#define BUDGET_MAX_US		100

/* From a tick's reading of the clock to its last claim; later ones are discarded. */
#define TICK_LATE_NS		(2 * BURST_MAX_NS)

/* The part of a tick's longest time for the records, written after the readings */
#define TICK_WRITE_US		20

static unsigned int budget_us = 20;
module_param(budget_us, uint, 0444);
MODULE_PARM_DESC(budget_us, "time to read counters, per tick and CPU, microseconds, 5 to 100 (default 20)");

DEFINE_STATIC_KEY_FALSE(cmt_no_tsc);
DEFINE_PER_CPU(struct cmt_marks, cmt_marks);

/* cmt_burst.due_words has one bit for each word of a queue. */
static_assert(CMT_RMID_WORDS <= BITS_PER_LONG);

/* The part of a CPU: index << 16 | readers, written and read as one word. */
#define PART(index, readers)	((index) << 16 | (readers))
#define PART_INDEX(part)	((part) >> 16)
#define PART_READERS(part)	((part) & 0xffff)

/* Accessed by its own CPU with interrupts off, except part and ticks. */
struct sampler_cpu {
	struct hrtimer timer;
	struct cmt_domain *domain;
	u64 tick;		/* number of the last boundary */
	u64 longest_ns;
	u32 part;		/* of the idle RMIDs */
	u32 room;		/* for records of readings and counters, a tick */
	bool ticks;		/* its timer runs while there is a reader */
	bool careful;		/* the next burst checks every access */
	struct cmt_burst burst;
	unsigned long bits[];	/* its queues; hot alone, where nothing is read */
};

/* Cycles to ns, rounded down; written while there are no ticks. */
static struct {
	u32 mult;
	u32 khz;
	u32 budget;		/* cycles */
	u32 burst_max;
	u32 apart;
} clock;

#define CLOCK_SHIFT	24

static struct cmt_domain *domains[CMT_MAX_DOMAINS];	/* by index, from 0 on */
static u32 nr_domains;
static DEFINE_PER_CPU(struct sampler_cpu *, sampler_cpus);

static DEFINE_MUTEX(sampler_mutex);	/* readers, interval, start and stop */
static u32 readers;
static u32 channels_wanted;		/* the number of descriptors */
static bool suspended;			/* between the two notifications */
static u64 stopped_at;			/* ns */
static DEFINE_RAW_SPINLOCK(running_lock);	/* running, starting a timer */
static bool running;
static u32 interval;			/* ns; WRITE_ONCE under sampler_mutex */
static struct cmt_scale scale;		/* constant */

static __always_inline u64 cycles_to_ns(u64 cycles)
{
	return cycles * clock.mult >> CLOCK_SHIFT;
}

static u32 ns_to_cycles(u32 ns)
{
	return div_u64((u64)ns * clock.khz, 1000000);
}

/* The kernel refines tsc_khz in the first seconds: at every start. */
static void clock_init(void)
{
	u32 us = min_t(u32, budget_us, CMT_TICK_MAX_US - TICK_WRITE_US);

	clock.khz = static_key_enabled(&cmt_no_tsc) ? 1000000 : tsc_khz;
	clock.mult = div_u64(1000000ULL << CLOCK_SHIFT, clock.khz);
	clock.mult -= clock.mult >> 10;
	clock.budget = ns_to_cycles(us * 1000);
	clock.burst_max = ns_to_cycles(BURST_MAX_NS);
	clock.apart = ns_to_cycles(CLOCK_APART_NS);
}

/*
 * CLOCK_MONOTONIC, and in *@cycles a TSC that is at most CLOCK_APART_NS later.  Both
 * are low halves, as all times in a tick.
 */
static __always_inline u64 clock_read(u32 *entered, u32 *cycles)
{
	u32 before = cmt_cycles_low();
	int tries = CLOCK_TRIES;
	u64 now;

	*entered = before;
	for (;;) {
		now = ktime_get_ns();
		*cycles = cmt_cycles_low();
		if (likely(*cycles - before <= clock.apart) || !--tries)
			return now;
		before = cmt_cycles_low();
	}
}

/* A tick clears the bit when it reads @rmid: of an RMID that no tick reads there is none. */
void cmt_sampler_overwritten(u32 domain, u32 rmid)
{
	if (rmid >= cmt_caps.nr_rmids)
		return;
	set_bit(rmid, domains[domain]->overwritten);
	WRITE_ONCE(domains[domain]->noted, true);
}

void cmt_sampler_inherit(u32 rmid)
{
	u32 i, n = cmt_sampler_domains();

	for (i = 0; i < n; i++) {
		set_bit(rmid, domains[i]->inherited);
		WRITE_ONCE(domains[i]->noted, true);
	}
}

/* The first reader of a domain reads the RMIDs of the CPUs that do not read. */
static void forwarded_take(struct sampler_cpu *s)
{
	struct cmt_domain *domain = s->domain;
	u32 word, cpu;

	for (word = 0; word < s->burst.words; word++)
		if (READ_ONCE(domain->forwarded[word]))
			s->burst.hot.rmids[word] |=
				xchg(&domain->forwarded[word], 0);
	for_each_cpu(cpu, &domain->forwarders)
		__set_bit(READ_ONCE(per_cpu(cmt_cpus, cpu).rmid),
			  s->burst.hot.rmids);
}

static __always_inline void turns_take(struct sampler_cpu *s, u64 tick,
				       u32 part)
{
	u32 n = PART_READERS(part), first = 0;

	if (n > 1)
		first = (PART_INDEX(part) + (u32)(tick / CMT_TURN_TICKS)) % n;
	cmt_burst_add_turns(&s->burst, tick, first, n);
}

/* Before the last one @missed ticks were missed, and their turns. */
static noinline void turns_catch_up(struct sampler_cpu *s, u64 missed, u32 part)
{
	u64 i;

	for (i = min_t(u64, missed, CMT_TURN_TICKS - 1); i; i--)
		turns_take(s, s->tick - i, part);
}

void cmt_sampler_account(struct cmt_domain *domain, struct cmt_counter *counter,
			 const struct cmt_raws *raws, struct cmt_record *slot)
{
	u32 rmid = counter - domain->counters;

	/*
	 * The owner was allocated in another domain.  Its traffic here is not
	 * known.  Shortly after the allocation the occupancy counts as residue;
	 * later the lines may be the owner's.
	 */
	if (cmt_counter_is_new(counter) && rmid &&
	    slot->ts - cmt_table_since(rmid) <= RESIDUE_WINDOW_NS)
		cmt_counter_set_residue(counter, raws, &cmt_caps);
	cmt_counter_sample(counter, raws, &cmt_caps, slot);
	if (slot->flags & CMT_F_REBASED)
		domain->demands[rmid].base++;
}

/* Fill in any sample of a tick. */
static noinline void sample_fill(struct sampler_cpu *s, struct cmt_record *slot,
				 const struct cmt_reading *reading)
{
	struct cmt_domain *domain = s->domain;
	u32 rmid = reading->counter - domain->counters;

	if (test_bit(rmid, domain->inherited) &&
	    test_and_clear_bit(rmid, domain->inherited))
		cmt_counter_set_residue(reading->counter, &reading->raws,
					&cmt_caps);
	cmt_sampler_account(domain, reading->counter, &reading->raws, slot);
	if (domain->demands[rmid].owed) {
		domain->demands[rmid].owed = false;
		slot->flags |= CMT_F_REBASED;
	}
	if (test_bit(rmid, domain->overwritten) &&
	    test_and_clear_bit(rmid, domain->overwritten))
		slot->flags |= CMT_F_PQR_OVERWRITTEN;
}

noinline void cmt_sampler_count_flaws(struct cmt_cpu *cpu,
				      const struct cmt_raws *raws)
{
	const u64 values[] = { raws->occupancy, raws->total, raws->local };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		if (values[i] & CMT_RAW_ERROR)
			cpu->read_errors++;
		else if (values[i] & CMT_RAW_UNAVAILABLE &&
			 cmt_caps.events & (CMT_F_OCCUPANCY << i))
			cpu->read_unavailable++;
	}
}

/*
 * Account the readings, and write their records.  @plain: no reading needs a check of
 * its own.
 */
static __always_inline void samples_write(struct sampler_cpu *s,
					  struct cmt_cpu *cpu, u64 now,
					  bool plain)
{
	const struct cmt_reading *reading = s->burst.readings;
	const struct cmt_reading *end = s->burst.end;
	const struct cmt_scale by = scale;
	struct cmt_ring ring = cpu->ring;
	u32 type = CMT_REC_SAMPLE | smp_processor_id() << 16;
	u32 mark = s->burst.mark, mult = clock.mult, start = s->burst.start;
	u64 domain = cpu->domain_id;
	u64 base = max(now, ring.last_ts);
	struct cmt_record *slot = cmt_ring_slot(&ring);
	struct cmt_record *slots_end = ring.slots + ring.mask + 1;

	cpu->samples += end - reading;
	for (; reading != end; reading++) {
		struct cmt_counter *counter = reading->counter;

		ring.last_ts = base +
			       ((u64)(reading->cycles - start) * mult >>
				CLOCK_SHIFT);
		slot->ts = ring.last_ts;
		cmt_record_put32(&slot->type, type);
		cmt_record_put64(&slot->domain, domain);
		if (!plain)
			cmt_sampler_count_flaws(cpu, &reading->raws);
		if (plain && likely(!(counter->key & CMT_KEY_SLOW)))
			cmt_counter_continue(counter, &reading->raws, &by, slot);
		else
			sample_fill(s, slot, reading);
		cmt_ring_publish(&ring);
		if (unlikely(++slot == slots_end))
			slot = ring.slots;
		cmt_claim_release(counter, mark);
	}
	cpu->ring.head = ring.head;
	cpu->ring.last_ts = ring.last_ts;
}

static void sample(struct sampler_cpu *s, struct cmt_cpu *cpu, u64 now)
{
	struct cmt_domain *domain = s->domain;
	u64 begin = cmt_cycles();
	int err = cmt_backend->sample(&s->burst);

	if (unlikely(err)) {
		s->careful = err == -EIO;
		cpu->read_errors += s->burst.end - s->burst.readings;
	}
	if (unlikely(err || cmt_cycles() - begin > clock.burst_max)) {
		cmt_burst_discard(&s->burst);
		return;
	}
	s->careful = false;
	if (likely(!s->burst.flawed && !domain->noted))
		return samples_write(s, cpu, now, true);
	WRITE_ONCE(domain->noted, false);
	samples_write(s, cpu, now, false);
	if (!bitmap_empty(domain->overwritten, cmt_caps.rmid_room) ||
	    !bitmap_empty(domain->inherited, cmt_caps.rmid_room))
		WRITE_ONCE(domain->noted, true);
}

/* The number of records that a tick may write beside those of its channels. */
static u32 room_beside_channels(const struct sampler_cpu *s,
				const struct cmt_cpu *cpu)
{
	const struct cmt_channels *channels = READ_ONCE(cpu->channels);

	if (likely(!channels))
		return s->room;
	return s->room - min(cmt_channels_due(channels), s->room / 2);
}

/* Returns the number of RMIDs that are due and are deferred. */
static u32 sample_due(struct sampler_cpu *s, struct cmt_cpu *cpu, u64 now,
		      u64 boundary, u64 ticks)
{
	unsigned long *hot = s->burst.hot.rmids;
	u32 part = READ_ONCE(s->part);

	if (!PART_READERS(part))
		return 0;
	__set_bit(cpu->rmid, hot);
	if (unlikely(s->domain->forwarding) && !PART_INDEX(part))
		forwarded_take(s);
	/* RMID 0 has its turn, and is not hot wherever a CPU is idle */
	hot[0] &= ~BIT(CMT_RMID_NONE);
	turns_take(s, s->tick, part);
	if (unlikely(ticks > 1))
		turns_catch_up(s, ticks - 1, part);
	if (!cmt_burst_is_due(&s->burst))
		return 0;
	s->burst.room = room_beside_channels(s, cpu);
	if (unlikely(cpu->perf))
		s->burst.room -= min(cmt_perf_due(cpu->perf),
				     s->burst.room / 2);
	s->burst.mark = cmt_mark(boundary);
	s->burst.careful = s->careful;
	sample(s, cpu, now);
	if (likely(!s->burst.cut && !s->burst.busy))
		return 0;
	return cmt_burst_waiting(&s->burst);
}

/* An owner that ends on another CPU at this moment is reported as RMID 0 here. */
static __always_inline void emit_tick(struct sampler_cpu *s,
				      struct cmt_cpu *cpu, u64 now,
				      u32 interval_ns, u32 flags, u32 waiting,
				      u32 read)
{
	struct cmt_record *slot = cmt_ring_slot(&cpu->ring);
	/* another CPU may give the RMID to an owner: either generation is right */
	u32 generation = data_race(s->burst.generations[cpu->rmid]);
	u64 ts = now + cycles_to_ns(cmt_cycles_low() - s->burst.start);

	ts = max(ts, cpu->ring.last_ts);
	cpu->ring.last_ts = ts;
	slot->ts = ts;
	cmt_record_put32(&slot->type, CMT_REC_TICK | smp_processor_id() << 16);
	slot->flags = cmt_caps.record_flags | flags;
	slot->rmid = generation ? cpu->rmid : CMT_RMID_NONE;
	slot->generation = generation;
	slot->domain = cpu->domain_id;
	slot->interval_ns = interval_ns;
	slot->tick.missed = cpu->missed;
	slot->tick.deferred = cpu->deferred;
	slot->tick.busy_ns = cpu->busy_ns;
	slot->tick.read = read;
	slot->tick.waiting = waiting;
	cmt_ring_publish(&cpu->ring);
}

void cmt_sampler_note_ns(u64 ns)
{
	struct sampler_cpu *s = this_cpu_read(sampler_cpus);

	if (ns > s->longest_ns)
		WRITE_ONCE(s->longest_ns, ns);
}

/* @entered: cycles, when the tick began */
static void count_busy(struct sampler_cpu *s, struct cmt_cpu *cpu, u32 entered)
{
	u64 ns = cycles_to_ns(cmt_cycles_low() - entered);

	cpu->busy_ns += ns;
	if (unlikely(ns > s->longest_ns))
		WRITE_ONCE(s->longest_ns, ns);
}

/*
 * As hrtimer_forward(), without a call where no tick was missed.  Returns the
 * number of boundaries since the last tick; *boundary is the last of them.
 */
static __always_inline u64 timer_forward(struct hrtimer *timer, u64 now,
					 u32 interval_ns, u64 *boundary)
{
	u64 expires = ktime_to_ns(hrtimer_get_expires(timer)), ticks;

	if (likely(now - expires < interval_ns)) {
		*boundary = expires;
		hrtimer_add_expires_ns(timer, interval_ns);
		return 1;
	}
	ticks = hrtimer_forward(timer, ns_to_ktime(now), interval_ns);
	*boundary = ktime_to_ns(hrtimer_get_expires(timer)) - interval_ns;
	return ticks;
}

/* Has the tick other records than samples?  This is seldom, so it is one branch. */
static __always_inline bool has_more(const struct cmt_cpu *cpu)
{
	return (unsigned long)cpu->perf |
	       (unsigned long)READ_ONCE(cpu->channels);
}

/* @samples have been written.  The CPU that reads the channels may have changed. */
static noinline void write_more(struct sampler_cpu *s, struct cmt_cpu *cpu,
				u64 now, u32 samples)
{
	u32 room = room_beside_channels(s, cpu);

	if (cpu->perf)
		cmt_perf_write(cpu, now, room - min(samples, room));
	cmt_channels_write(cpu);
}

static enum hrtimer_restart sampler_tick(struct hrtimer *timer)
{
	struct sampler_cpu *s = container_of(timer, struct sampler_cpu, timer);
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	u32 interval_ns = READ_ONCE(interval), entered, flags, waiting;
	u64 now = clock_read(&entered, &s->burst.start);
	u64 samples = cpu->samples, boundary;
	u64 ticks = timer_forward(timer, now, interval_ns, &boundary);

	if (WARN_ON_ONCE(s != this_cpu_read(sampler_cpus)))
		return HRTIMER_NORESTART;
	if (unlikely(!cpu->up || !READ_ONCE(s->ticks)))
		return HRTIMER_NORESTART;
	if (unlikely(!ticks))
		return HRTIMER_RESTART;
	cpu->ticks++;
	cpu->missed += ticks - 1;
	s->tick += ticks;

	flags = cmt_cpu_tick_begin(cpu);
	if (unlikely(cpu->perf))
		cmt_perf_turn(cpu->perf, CMT_RMID_NONE);
	waiting = sample_due(s, cpu, now, boundary, ticks);
	cpu->deferred += waiting;
	if (unlikely(has_more(cpu)))
		write_more(s, cpu, now, cpu->samples - samples);
	emit_tick(s, cpu, now, interval_ns, flags, waiting,
		  cpu->samples - samples);
	/* after all records of the tick */
	cmt_waiters_check(cpu->ring.head);
	cmt_cpu_tick_end(cpu);
	if (unlikely(cpu->perf))
		cmt_perf_turn(cpu->perf, cpu->rmid);
	count_busy(s, cpu, entered);
	return HRTIMER_RESTART;
}

/*
 * On the CPU itself, interrupts off.  Either it finds the sampler running, and
 * timers_stop() finds its timer, or it finds the sampler stopped.
 */
static void timer_start(void *unused)
{
	struct sampler_cpu *s = this_cpu_read(sampler_cpus);
	u32 interval_ns = READ_ONCE(interval);
	u64 tick = div_u64(ktime_get_ns(), interval_ns);

	if (!s)
		return;
	raw_spin_lock(&running_lock);
	if (running && this_cpu_read(cmt_cpus.up) && READ_ONCE(s->ticks)) {
		s->tick = tick;
		s->burst.budget = clock.budget;
		s->room = cmt_ring_cap(smp_processor_id(), interval_ns);
		cmt_perf_begin();
		hrtimer_start(&s->timer, ns_to_ktime((tick + 1) * interval_ns),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	}
	raw_spin_unlock(&running_lock);
}

static void set_running(bool value)
{
	raw_spin_lock_irq(&running_lock);
	WRITE_ONCE(running, value);
	raw_spin_unlock_irq(&running_lock);
}

/* False: a reading on demand has the counter, for some microseconds. */
bool cmt_sampler_lose_base(u32 domain, u32 rmid, void (*change)(u32, u32))
{
	struct cmt_domain *d = domains[domain];
	struct cmt_counter *counter = &d->counters[rmid];
	unsigned long flags;
	u32 seen;
	bool claimed;

	local_irq_save(flags);
	claimed = cmt_claim_any(counter, &seen);
	if (claimed) {
		cmt_counter_lose_base(counter);
		d->demands[rmid].last.type = CMT_REC_PAD;
		if (change)
			change(domain, rmid);
		cmt_claim_release(counter, cmt_mark(ktime_get_ns()) - 2);
	}
	local_irq_restore(flags);
	return claimed;
}

/*
 * The next readings have no base: the counters have been reset, or may have wrapped.
 * There are no ticks.  Interrupts are on.
 */
static void counters_lose_base(void)
{
	u32 domain, rmid;

	if (!cmt_backend_samples())
		return;
	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++)
			while (!cmt_sampler_lose_base(domain, rmid, NULL))
				cpu_relax();
}

/*
 * Neither takes cpus_read_lock, because a reader starts the sampler in mmap(),
 * under mmap_lock, which the kernel takes inside cpus_read_lock elsewhere
 * (cpuset).  A CPU that is coming up starts its timer itself.
 */
static void timers_start(void)
{
	lockdep_assert_held(&sampler_mutex);
	if (!readers || suspended)
		return;
	clock_init();
	if (channels_wanted)
		cmt_channels_claim();
	if (ktime_get_ns() - stopped_at > CMT_COUNTER_GAP_NS)
		counters_lose_base();
	set_running(true);
	on_each_cpu(timer_start, NULL, true);
}

static void timers_stop(void)
{
	unsigned int cpu;

	lockdep_assert_held(&sampler_mutex);
	if (!running)
		return;
	set_running(false);
	for_each_possible_cpu(cpu)
		if (per_cpu(sampler_cpus, cpu))
			hrtimer_cancel(&per_cpu(sampler_cpus, cpu)->timer);
	cmt_channels_release();
	WRITE_ONCE(stopped_at, ktime_get_ns());
}

bool cmt_sampler_is_suspended(void)
{
	return READ_ONCE(suspended);
}

bool cmt_sampler_ran(u64 now)
{
	return READ_ONCE(running) ||
	       (s64)(now - READ_ONCE(stopped_at)) <= (s64)CMT_COUNTER_GAP_NS;
}

/*
 * The mark of a reading on demand at @now.  It is older than the mark of each tick that
 * has still to read: a tick under way began up to an interval before @now.
 */
u32 cmt_sampler_mark_between(u64 now)
{
	u64 back = READ_ONCE(running) ? READ_ONCE(interval) + TICK_LATE_NS : 0;

	return cmt_mark(now - back) - 2;
}

/* Domains are added from 0 on, and never go. */
u32 cmt_sampler_domains(void)
{
	/* pairs with cmt_sampler_add_domain() */
	return smp_load_acquire(&nr_domains);
}

struct cmt_domain *cmt_sampler_domain(u32 index)
{
	return READ_ONCE(domains[index]);
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
		if (!READ_ONCE(per_cpu(sampler_cpus, cpu)->part))
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

/* Ticks go on, because any user of the device can ask for channels at any rate. */
void cmt_sampler_want_channels(bool *wanted_here, bool wants)
{
	bool had;

	mutex_lock(&sampler_mutex);
	had = channels_wanted;
	WRITE_ONCE(channels_wanted, channels_wanted + wants - *wanted_here);
	*wanted_here = wants;
	if (running && !had && channels_wanted)
		cmt_channels_claim();
	if (running && had && !channels_wanted)
		cmt_channels_release();
	mutex_unlock(&sampler_mutex);
}

bool cmt_sampler_wants_channels(void)
{
	return READ_ONCE(readers) && READ_ONCE(channels_wanted);
}

u32 cmt_sampler_readers(void)
{
	return READ_ONCE(readers);
}

u32 cmt_sampler_interval(void)
{
	return READ_ONCE(interval);
}

u32 cmt_sampler_budget_ns(void)
{
	return budget_us * 1000;
}

void cmt_sampler_set_interval(u32 interval_ns)
{
	mutex_lock(&sampler_mutex);
	timers_stop();
	WRITE_ONCE(interval, interval_ns);
	timers_start();
	mutex_unlock(&sampler_mutex);
}

u64 cmt_sampler_longest_ns(void)
{
	u64 longest = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct sampler_cpu *s = per_cpu(sampler_cpus, cpu);

		if (s)
			longest = max(longest, READ_ONCE(s->longest_ns));
	}
	return longest;
}

/* Claim and read an RMID.  False: another reader has it. */
static bool counter_begin(struct cmt_domain *domain, u32 rmid, u32 generation)
{
	struct cmt_counter *counter = &domain->counters[rmid];
	struct cmt_raws raws;
	u32 seen;

	if (!cmt_claim_any(counter, &seen))
		return false;
	domain->demands[rmid].owed = false;
	cmt_backend->read(rmid, &raws);
	cmt_counter_begin(counter, rmid, generation, &cmt_caps);
	cmt_counter_set_residue(counter, &raws, &cmt_caps);
	cmt_counter_set_base(counter, &raws, &cmt_caps);
	cmt_claim_release(counter, cmt_mark(ktime_get_ns()) - 2);
	return true;
}

void cmt_sampler_overwritten_end(u32 rmid)
{
	u32 i, n = cmt_sampler_domains();

	for (i = 0; i < n; i++)
		if (test_bit(rmid, domains[i]->overwritten))
			clear_bit(rmid, domains[i]->overwritten);
}

bool cmt_sampler_may_read(void)
{
	return likely(!cmt_caps.shared_evtsel) ||
	       PART_READERS(READ_ONCE(this_cpu_read(sampler_cpus)->part)) ||
	       !cmt_resctrl_is_mounted();
}

bool cmt_sampler_begin(u32 rmid, u32 generation, u64 *residual_bytes)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct cmt_counter *counter;

	lockdep_assert_irqs_disabled();
	cmt_sampler_overwritten_end(rmid);
	if (!cpu->up || !READ_ONCE(running) || !cmt_backend_samples() ||
	    !cmt_sampler_may_read())
		return false;
	counter = &domains[cpu->domain]->counters[rmid];
	if (!counter_begin(domains[cpu->domain], rmid, generation))
		return false;
	*residual_bytes = counter->residual_bytes;
	return counter->flags & CMT_F_RESIDUAL;
}

void cmt_sampler_assign(unsigned int cpu, u32 domain, bool ticks, u32 index,
			u32 parts)
{
	struct sampler_cpu *s = per_cpu(sampler_cpus, cpu);
	struct cmt_domain *d = domains[domain];
	bool start = ticks && !s->ticks;
	bool forwards = !parts && cmt_backend_samples();
	bool ends = !parts && PART_READERS(s->part);

	s->domain = d;
	s->burst.counters = d->counters;
	WRITE_ONCE(s->part, PART(index, parts));
	WRITE_ONCE(per_cpu(cmt_marks, cpu).forward,
		   forwards ? d->forwarded : NULL);
	if (forwards)
		cpumask_set_cpu(cpu, &d->forwarders);
	else
		cpumask_clear_cpu(cpu, &d->forwarders);
	WRITE_ONCE(d->forwarding, !cpumask_empty(&d->forwarders));
	WRITE_ONCE(s->ticks, ticks);
	if (start)
		smp_call_function_single(cpu, timer_start, NULL, true);
	/* readings have interrupts off: after RCU's grace period, none is under way */
	if (ends)
		synchronize_rcu();
}

bool cmt_sampler_has_ticks(unsigned int cpu)
{
	return READ_ONCE(per_cpu(sampler_cpus, cpu)->ticks);
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
void cmt_sampler_cpu_down(u32 domain)
{
	struct sampler_cpu *s = this_cpu_read(sampler_cpus);
	struct cmt_domain *d = domains[domain];

	WARN_ON_ONCE(this_cpu_read(cmt_cpus.up));
	WRITE_ONCE(s->ticks, false);
	WRITE_ONCE(s->part, 0);
	hrtimer_cancel(&s->timer);
	queue_clear(&s->burst.hot);
	if (cmt_backend_samples())
		queue_clear(&s->burst.turn);
	cpumask_clear_cpu(smp_processor_id(), &d->forwarders);
	WRITE_ONCE(d->forwarding, !cpumask_empty(&d->forwarders));
}

/*
 * Suspend resets the counters, and PQR_ASSOC of the one CPU that does not go through
 * hotplug.  CLOCK_MONOTONIC stops meanwhile, so no gap in time shows it.  So there are
 * no ticks from before the tasks are frozen until they are thawed, and the first
 * readings after that have no base.
 */
static int sampler_pm(struct notifier_block *nb, unsigned long action,
		      void *unused)
{
	mutex_lock(&sampler_mutex);
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		WRITE_ONCE(suspended, true);
		timers_stop();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		cmt_cpus_reset();
		counters_lose_base();
		WRITE_ONCE(suspended, false);
		timers_start();
		break;
	}
	mutex_unlock(&sampler_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block sampler_pm_nb = {
	.notifier_call = sampler_pm,
};

static int domain_add_counters(struct cmt_domain *d)
{
	u32 seen = cmt_mark(ktime_get_ns()) - 2;
	u32 rmid;

	d->counters = vzalloc(array_size(cmt_caps.nr_rmids,
					 sizeof(*d->counters)));
	d->demands = vzalloc(array_size(cmt_caps.nr_rmids,
					sizeof(*d->demands)));
	if (!d->counters || !d->demands)
		return -ENOMEM;
	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++) {
		cmt_counter_reset(&d->counters[rmid]);
		d->counters[rmid].seen = seen;
	}
	return 0;
}

static int domain_alloc(struct cmt_domain *d)
{
	d->forwarded = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	d->overwritten = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	d->inherited = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	if (!d->forwarded || !d->overwritten || !d->inherited)
		return -ENOMEM;
	raw_spin_lock_init(&d->calls.lock);
	return cmt_backend_samples() ? domain_add_counters(d) : 0;
}

static void domain_free(struct cmt_domain *d)
{
	bitmap_free(d->forwarded);
	bitmap_free(d->overwritten);
	bitmap_free(d->inherited);
	vfree(d->counters);
	vfree(d->demands);
	kfree(d);
}

int cmt_sampler_add_domain(u32 domain, u32 id)
{
	struct cmt_domain *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->id = id;
	if (domain_alloc(d)) {
		domain_free(d);
		return -ENOMEM;
	}
	WRITE_ONCE(domains[domain], d);
	/* pairs with cmt_sampler_domains(): the domain, then the number */
	smp_store_release(&nr_domains, domain + 1);
	return 0;
}

/* Where nothing is read there are no turns, but the switch path still marks RMIDs. */
int cmt_sampler_prepare(unsigned int cpu)
{
	u32 words = BITS_TO_LONGS(cmt_caps.rmid_room);
	bool samples = cmt_backend_samples();
	u32 queues = samples ? CMT_BURST_QUEUES : 1;
	struct sampler_cpu *s;

	if (per_cpu(sampler_cpus, cpu))
		return 0;
	s = kzalloc_node(struct_size(s, bits, words * queues), GFP_KERNEL,
			 cpu_to_node(cpu));
	if (!s)
		return -ENOMEM;
	cmt_hrtimer_setup(&s->timer, sampler_tick, HRTIMER_MODE_ABS_PINNED_HARD);
	s->burst.generations = cmt_table_generations();
	s->burst.readable = cmt_table_readable();
	s->burst.caps = &cmt_caps;
	s->burst.words = samples ? BITS_TO_LONGS(cmt_caps.nr_rmids) : 0;
	cmt_burst_init(&s->burst, s->bits, words);
	per_cpu(cmt_marks, cpu).hot = s->bits;
	per_cpu(sampler_cpus, cpu) = s;
	return 0;
}

int __init cmt_sampler_init(u32 interval_ns)
{
	int ret = cmt_exclude_init();

	if (ret)
		return ret;
	if (budget_us < BUDGET_MIN_US || budget_us > BUDGET_MAX_US) {
		pr_err("budget_us=%u is out of range: %d to %d\n", budget_us,
		       BUDGET_MIN_US, BUDGET_MAX_US);
		return -EINVAL;
	}
	/* here, because it takes cpus_read_lock() */
	if (!tsc_khz)
		static_branch_enable(&cmt_no_tsc);
	interval = interval_ns;
	if (cmt_backend_samples())
		scale = (struct cmt_scale) {
			.mbm_mask = GENMASK_ULL(cmt_caps.counter_bits - 1, 0),
			.upscale_bytes = cmt_caps.upscale_bytes,
		};
	return register_pm_notifier(&sampler_pm_nb);
}

void cmt_sampler_exit(void)
{
	unsigned int cpu;
	u32 domain;

	unregister_pm_notifier(&sampler_pm_nb);
	for_each_possible_cpu(cpu)
		kfree(per_cpu(sampler_cpus, cpu));
	for (domain = 0; domain < nr_domains; domain++)
		domain_free(domains[domain]);
}
