// SPDX-License-Identifier: GPL-2.0
/*
 * A tick: one burst (burst.h) and a TICK record.  No reading needs another CPU, and no
 * tick is longer than its budget: the remaining RMIDs are counted as deferred, and come
 * first in the next tick.
 *
 * Time.  A tick reads CLOCK_MONOTONIC once.  The times of its readings are that
 * plus what the TSC has advanced since, rounded down, so that no record is ahead
 * of CLOCK_MONOTONIC, which NTP slews by 0.05 % at most.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/smp.h>

#include "compat.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sampler.h"
#include "uncore/uncore.h"

/* TSC and CLOCK_MONOTONIC are read within this time, or again, up to this often. */
#define CLOCK_APART_NS		2000U
#define CLOCK_TRIES		4

/* The part of a tick's longest time for the records, written after the readings */
#define TICK_WRITE_US		20

/* cmt_burst.due_words has one bit for each word of a queue. */
static_assert(CMT_RMID_WORDS <= BITS_PER_LONG);

/* Cycles to ns, rounded down; written while there are no ticks. */
static struct {
	u32 mult;
	u32 khz;
	u32 budget;		/* cycles */
	u32 burst_max;
	u32 apart;
} clock;

#define CLOCK_SHIFT	24

static struct cmt_scale scale;		/* constant */

static __always_inline u64 cycles_to_ns(u64 cycles)
{
	return cycles * clock.mult >> CLOCK_SHIFT;
}

static u32 ns_to_cycles(u32 ns)
{
	return div_u64((u64)ns * clock.khz, 1000000);
}

/* At every start, because the kernel refines the frequency in the first seconds */
void cmt_ticks_prepare(u32 budget_us)
{
	u32 us = min_t(u32, budget_us, CMT_TICK_MAX_US - TICK_WRITE_US);

	clock.khz = cmt_clock_khz();
	clock.mult = div_u64(1000000ULL << CLOCK_SHIFT, clock.khz);
	clock.mult -= clock.mult >> 10;
	clock.budget = ns_to_cycles(us * 1000);
	clock.burst_max = ns_to_cycles(CMT_BURST_MAX_NS);
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

/* The first reader of a domain reads the RMIDs of the CPUs that do not read. */
static noinline void forwarded_take(struct sampler_cpu *s)
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

/*
 * The first reader of a domain also reads, in every tick, RMIDs that count without a switch
 * that loads them: RMID 0 on each CPU without an owner, and the kernel's RMID.
 */
static __always_inline void first_reader_take(struct sampler_cpu *s)
{
	unsigned long *hot = s->burst.hot.rmids;

	if (unlikely(s->domain->forwarding))
		forwarded_take(s);
	hot[0] |= BIT(CMT_RMID_NONE);
	if (unlikely(cmt_caps.has_plza))
		__set_bit(cmt_plza_rmid(), hot);
}

/* The words of idle RMIDs rotate among the CPUs that read, every CMT_TURN_TICKS. */
static void words_choose(struct sampler_cpu *s, u64 tick, u32 part)
{
	u32 n = max(SAMPLER_PART_READERS(part), 1U);

	s->first_word = (SAMPLER_PART_INDEX(part) + (u32)(tick / CMT_TURN_TICKS)) % n;
}

/* Each tick comes here once and in order, the missed ones as far as they matter. */
static __always_inline void turns_take(struct sampler_cpu *s, u64 tick,
				       u32 part)
{
	if (unlikely(!(tick % CMT_TURN_TICKS)))
		words_choose(s, tick, part);
	cmt_burst_add_turns(&s->burst, tick, s->first_word, SAMPLER_PART_READERS(part));
}

/* Before the last one @missed ticks were missed, and their turns. */
static noinline void turns_catch_up(struct sampler_cpu *s, u64 missed, u32 part)
{
	u64 i;

	for (i = min_t(u64, missed, CMT_TURN_TICKS - 1); i; i--)
		turns_take(s, s->tick - i, part);
}

/* Fill in any sample of a tick. */
static noinline void sample_fill(struct sampler_cpu *s, struct cmt_record *slot,
				 const struct cmt_reading *reading)
{
	struct cmt_domain *domain = s->domain;
	u32 rmid = reading->counter - domain->counters;

	cmt_domain_account(domain, reading->counter, &reading->raws,
			   s->burst.events, slot);
	if (domain->demands[rmid].owed) {
		domain->demands[rmid].owed = false;
		slot->flags |= CMT_F_REBASED;
	}
	if (test_bit(rmid, s->notes->overwritten) &&
	    test_and_clear_bit(rmid, s->notes->overwritten))
		slot->flags |= CMT_F_PQR_OVERWRITTEN;
}

/* @missing: CMT_F_*.  For the bandwidth of some RMIDs the processor was not asked. */
static noinline void count_unavailable(struct sampler_cpu *s,
				       const struct cmt_counter *counter, u32 missing)
{
	if (hw_mbm_skips_rmid((u32)counter->name))
		missing &= ~CMT_MBM_EVENTS;
	s->read_unavailable += hweight32(missing);
}

noinline void cmt_tick_count_flaws(struct sampler_cpu *s,
				   const struct cmt_counter *counter,
				   const struct cmt_raws *raws, u32 events)
{
	const u64 values[] = { raws->occupancy, raws->total, raws->local };
	u32 missing = 0, i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		if (values[i] & CMT_RAW_ERROR)
			s->read_errors++;
		else if (values[i] & CMT_RAW_UNAVAILABLE)
			missing |= CMT_F_OCCUPANCY << i;
	}
	missing &= events;
	if (missing)
		count_unavailable(s, counter, missing);
}

/*
 * Account the readings, and write their records.  @plain: no reading needs a check of
 * its own.
 */
static __always_inline void samples_write(struct sampler_cpu *s, u64 now,
					  bool plain)
{
	const struct cmt_reading *reading = s->burst.readings;
	const struct cmt_reading *end = s->burst.end;
	const struct cmt_scale by = scale;
	struct cmt_ring ring = *s->ring;
	u32 type = CMT_REC_SAMPLE | smp_processor_id() << 16;
	u32 mark = s->burst.mark, mult = clock.mult, start = s->burst.start;
	u64 domain = ring.domain_id;
	u64 base = max(now, ring.last_ts);
	struct cmt_record *slot = cmt_ring_slot(&ring);
	struct cmt_record *slots_end = ring.slots + ring.mask + 1;

	s->samples += end - reading;
	for (; reading != end; reading++) {
		struct cmt_counter *counter = reading->counter;

		ring.last_ts = base +
			       ((u64)(reading->cycles - start) * mult >>
				CLOCK_SHIFT);
		slot->ts = ring.last_ts;
		cmt_record_put32(&slot->type, type);
		cmt_record_put64(&slot->domain, domain);
		if (!plain)
			cmt_tick_count_flaws(s, counter, &reading->raws,
					     s->burst.events);
		if (plain && likely(!(counter->key & CMT_KEY_SLOW)))
			cmt_counter_continue(counter, &reading->raws, &by, slot);
		else
			sample_fill(s, slot, reading);
		cmt_ring_publish(&ring);
		if (unlikely(++slot == slots_end))
			slot = ring.slots;
		cmt_claim_release(counter, mark);
	}
	s->ring->head = ring.head;
	s->ring->last_ts = ring.last_ts;
}

/* There may be notes of these RMIDs, or of others.  Notes may be made meanwhile. */
static noinline void samples_write_checked(struct sampler_cpu *s, u64 now)
{
	u32 made = cmt_notes_begin(s->notes);

	samples_write(s, now, false);
	cmt_notes_end(s->notes, made);
}

static void sample(struct sampler_cpu *s, u64 now)
{
	u64 begin = cmt_cycles();
	int err = cmt_backend->sample(&s->burst);

	if (unlikely(err)) {
		s->careful = err == -EIO;
		s->read_errors += s->burst.end - s->burst.readings;
	}
	if (unlikely(err || cmt_cycles() - begin > clock.burst_max)) {
		cmt_burst_discard(&s->burst);
		return;
	}
	s->careful = false;
	if (likely(!s->burst.flawed && !cmt_notes_any(s->notes)))
		return samples_write(s, now, true);
	samples_write_checked(s, now);
}

/* The number of records that a tick may write beside those of its channels. */
static u32 room_beside_channels(const struct sampler_cpu *s)
{
	const struct cmt_channels *channels = this_cpu_read(cmt_cpu_channels);

	if (likely(!channels))
		return s->room;
	return s->room - min(cmt_channels_due(channels), s->room / 2);
}

/* Returns the number of RMIDs that are due and are deferred. */
static u32 sample_due(struct sampler_cpu *s, const struct cmt_cpu *cpu, u64 now,
		      u64 boundary, u64 ticks)
{
	unsigned long *hot = s->burst.hot.rmids;
	u32 part = READ_ONCE(s->part);

	if (!SAMPLER_PART_READERS(part))
		return 0;
	__set_bit(cpu->rmid, hot);
	if (unlikely(ticks > 1))
		turns_catch_up(s, ticks - 1, part);
	turns_take(s, s->tick, part);
	/* RMID 0 is loaded wherever a CPU is idle: no other reader reads it */
	hot[0] &= ~BIT(CMT_RMID_NONE);
	s->burst.turn.rmids[0] &= ~BIT(CMT_RMID_NONE);
	if (!SAMPLER_PART_INDEX(part))
		first_reader_take(s);
	if (!cmt_burst_is_due(&s->burst))
		return 0;
	s->burst.room = room_beside_channels(s);
	if (unlikely(cpu->perf))
		s->burst.room -= min(cmt_perf_due(cpu->perf),
				     s->burst.room / 2);
	s->burst.mark = cmt_mark(boundary);
	s->burst.events = READ_ONCE(cmt_wanted_events);
	s->burst.careful = s->careful;
	sample(s, now);
	if (likely(!s->burst.cut && !s->burst.busy))
		return 0;
	return cmt_burst_waiting(&s->burst);
}

/* An owner that ends on another CPU at this moment is reported as RMID 0 here. */
static __always_inline void emit_tick(struct sampler_cpu *s,
				      struct cmt_ring *ring, u32 rmid, u64 now,
				      u32 interval_ns, u32 flags, u32 waiting,
				      u32 read)
{
	struct cmt_record *slot = cmt_ring_slot(ring);
	/* another CPU may give the RMID to an owner: either generation is right */
	u32 generation = data_race(s->burst.generations[rmid]);
	u64 ts = now + cycles_to_ns(cmt_cycles_low() - s->burst.start);

	ts = max(ts, ring->last_ts);
	ring->last_ts = ts;
	slot->ts = ts;
	cmt_record_put32(&slot->type, CMT_REC_TICK | smp_processor_id() << 16);
	slot->flags = cmt_caps.record_flags | flags;
	slot->rmid = generation ? rmid : CMT_RMID_NONE;
	slot->generation = generation;
	slot->domain = ring->domain_id;
	slot->interval_ns = interval_ns;
	slot->tick.missed = s->missed;
	slot->tick.deferred = s->deferred;
	slot->tick.busy_ns = s->busy_ns;
	slot->tick.read = read;
	slot->tick.waiting = waiting;
	cmt_ring_publish(ring);
}

void cmt_tick_note_ns(u64 ns)
{
	struct sampler_cpu *s = this_cpu_read(cmt_sampler_cpus);

	if (ns > s->longest_ns)
		WRITE_ONCE(s->longest_ns, ns);
}

/* @entered: cycles, when the tick began */
static void count_busy(struct sampler_cpu *s, u32 entered)
{
	u64 ns = cycles_to_ns(cmt_cycles_low() - entered);

	s->busy_ns += ns;
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
	       (unsigned long)this_cpu_read(cmt_cpu_channels);
}

/* @samples have been written.  The CPU that reads the channels may have changed. */
static noinline void write_more(struct sampler_cpu *s, const struct cmt_cpu *cpu,
				u64 now, u32 samples)
{
	u32 room = room_beside_channels(s);

	if (cpu->perf)
		cmt_perf_write(cpu->perf, s->ring, now, room - min(samples, room));
	cmt_channels_write(s->ring);
}

enum hrtimer_restart cmt_tick(struct hrtimer *timer)
{
	struct sampler_cpu *s = container_of(timer, struct sampler_cpu, timer);
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct cmt_ring *ring = s->ring;
	u32 interval_ns = READ_ONCE(cmt_settings.interval_ns), entered, flags, waiting;
	u64 now = clock_read(&entered, &s->burst.start);
	u64 samples = s->samples, boundary;
	u64 ticks = timer_forward(timer, now, interval_ns, &boundary);

	if (WARN_ON_ONCE(cpu != s->cpu))
		return HRTIMER_NORESTART;
	if (unlikely(!cpu->up || !READ_ONCE(s->has_ticks)))
		return HRTIMER_NORESTART;
	if (unlikely(ticks != 1)) {
		if (!ticks)
			return HRTIMER_RESTART;
		s->missed += ticks - 1;
	}
	s->ticks++;
	s->tick += ticks;

	flags = cmt_cpu_tick_begin(cpu);
	if (unlikely(cpu->perf)) {
		cmt_wait_tick(cpu);
		cmt_perf_turn(cpu->perf, CMT_RMID_NONE);
	}
	waiting = sample_due(s, cpu, now, boundary, ticks);
	s->deferred += waiting;
	if (unlikely(has_more(cpu)))
		write_more(s, cpu, now, s->samples - samples);
	emit_tick(s, ring, cpu->rmid, now, interval_ns, flags, waiting,
		  s->samples - samples);
	/* after all records of the tick */
	cmt_waiters_check(ring->head);
	cmt_cpu_tick_end(cpu);
	if (unlikely(cpu->perf))
		cmt_perf_turn(cpu->perf, cpu->rmid);
	count_busy(s, entered);
	return HRTIMER_RESTART;
}

void cmt_tick_begin(struct sampler_cpu *s)
{
	u32 interval_ns = READ_ONCE(cmt_settings.interval_ns);

	s->tick = div_u64(ktime_get_ns(), interval_ns);
	words_choose(s, s->tick, READ_ONCE(s->part));
	s->burst.budget = clock.budget;
	s->room = cmt_ring_cap(smp_processor_id(), interval_ns);
	hrtimer_start(&s->timer, ns_to_ktime((s->tick + 1) * interval_ns),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

void cmt_ticks_init(void)
{
	if (cmt_backend_samples())
		scale = (struct cmt_scale) {
			.mbm_mask = GENMASK_ULL(cmt_caps.counter_bits - 1, 0),
			.upscale_bytes = cmt_caps.upscale_bytes,
		};
}
