// SPDX-License-Identifier: GPL-2.0
/* The counts by RMID: summed up in the switch, and written by the tick as PERF records. */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "perf_cpu.h"
#include "ring/ring.h"
#include "wait.h"

#define NS_SHIFT	24
#define NO_GENERATION	U32_MAX	/* generation of an empty sum; no owner reaches it */

static u32 ns_mult;		/* TSC to ns, constant while something is counted */
static u64 ran_max;		/* TSC cycles: the longest time in one record */

/* The sum of a CPU where nothing is counted */
static DEFINE_PER_CPU(struct perf_sum, uncounted);

/*
 * As perf_event_read_local(), which is not exported: the event is of this CPU, and perf
 * takes it off the CPU with interrupts off.  An NMI may add to the count meanwhile.
 * False: the event has no counter.
 */
static __always_inline bool event_take(const struct cmt_perf *p,
				       struct perf_sum *sum, u32 i)
{
	struct perf_event *event = p->events[i];

	if (unlikely(event->state != PERF_EVENT_STATE_ACTIVE))
		return false;
	p->read(event);
	sum->values[i] += local64_xchg(&event->count, 0);
	return true;
}

/*
 * This loop is not used for the first three values, and for the four that cmtstat asks
 * for.  A counter that the event lacked at the begin or at the end counted only some of
 * the time.
 */
static noinline void take_any(struct cmt_perf *p, struct perf_sum *sum)
{
	u32 was_out = p->out, in = 0, i;

	p->out = 0;
	for (i = 0; i < CMT_PERF_NR; i++) {
		if (!p->events[i])
			continue;
		in += in == i;
		if (!event_take(p, sum, i))
			p->out |= BIT(i);
	}
	sum->missing |= p->out | was_out;
	p->in = p->out ? 0 : in;
}

/* The value, if it was counted all the time and is not above @most; else 0. */
static u64 value_of(const struct cmt_perf *p, const struct perf_sum *sum, u32 i,
		    u64 most, u32 *flags)
{
	if (!p->events[i] || sum->missing & BIT(i) || sum->values[i] > most)
		return 0;
	*flags |= CMT_PERF_FLAG(i);
	return sum->values[i];
}

static u64 waited_of(const struct cmt_perf *p, const struct perf_sum *sum, u32 *flags)
{
	if (!p->waits || sum->missing & CMT_PERF_WAITED)
		return 0;
	*flags |= CMT_F_WAITED | (sum->quota ? CMT_F_WAIT_QUOTA : 0);
	return sum->waited - sum->waited % CMT_WAIT_UNIT;
}

static noinline void due_set(struct cmt_perf *p, const struct perf_sum *sum)
{
	p->nr_due += !__test_and_set_bit(sum - p->sums, p->due);
}

static void due_clear(struct cmt_perf *p, u32 rmid)
{
	__clear_bit(rmid, p->due);
	p->nr_due--;
}

/*
 * A running time that is too long for one record continues in another one: the sum stays due,
 * and comes next.
 */
static void sum_fill(struct cmt_record *record, struct cmt_perf *p,
		     struct perf_sum *sum)
{
	u32 flags = 0;

	record->rmid = sum - p->sums;
	record->generation = sum->generation;
	record->ran_ns = mul_u64_u32_shr(min(sum->ran, ran_max), ns_mult, NS_SHIFT);
	record->perf.cycles = value_of(p, sum, 0, U64_MAX, &flags);
	record->perf.instructions = value_of(p, sum, 1, U64_MAX, &flags);
	record->perf.waited_ns = waited_of(p, sum, &flags);
	record->perf.llc_misses = value_of(p, sum, 2, U32_MAX, &flags);
	record->perf.llc_references = value_of(p, sum, 3, U32_MAX, &flags);
	record->flags = flags;
	cmt_perf_sum_written(sum, ran_max);
	if (likely(!sum->ran))
		return;
	due_set(p, sum);
	p->cursor = sum - p->sums;
}

void cmt_perf_lack(struct cmt_perf *p, u32 bits)
{
	u32 rmid;

	for_each_set_bit(rmid, p->due, cmt_caps.rmid_room)
		p->sums[rmid].missing |= bits;
}

/*
 * An event may lose its counter and get it back between two turns, which then see nothing of
 * it.  perf counts the time.
 */
static noinline void idle_look(struct cmt_perf *p)
{
	u32 bits = 0, i;

	for (i = 0; i < CMT_PERF_NR; i++) {
		u64 ns = p->events[i] ? cmt_perf_idle_ns(p->events[i]) : 0;

		bits |= ns != p->idle[i] ? BIT(i) : 0;
		p->idle[i] = ns;
	}
	if (bits)
		cmt_perf_lack(p, bits);
}

/* Write the counts of the RMID's last owner. */
static void sum_emit(struct cmt_perf *p, struct perf_sum *sum)
{
	struct cmt_record record = {
		.ts = ktime_get_ns(),
		.type = CMT_REC_PERF,
		.domain = cmt_ring_domain_id(),
	};

	if (cmt_perf_shortage(p, p->looked))
		idle_look(p);
	due_clear(p, sum - p->sums);
	sum_fill(&record, p, sum);
	cmt_emit(&record);
}

/* Begin a new sum: the RMID has another owner than the sum, or none. */
static noinline struct perf_sum *sum_next_owner(struct cmt_perf *p,
						struct perf_sum *sum,
						u32 generation)
{
	if (!generation)
		return p->sums;
	while (test_bit(sum - p->sums, p->due))
		sum_emit(p, sum);
	sum->waited = 0;
	sum->generation = generation;
	return sum;
}

/* The counts of an RMID without an owner go to RMID 0, as in TICK. */
static __always_inline struct perf_sum *sum_of(struct cmt_perf *p, u32 rmid)
{
	struct perf_sum *sum;
	u32 generation;

	sum = &p->sums[rmid];
	generation = READ_ONCE(p->generations[rmid]);
	if (unlikely(sum->generation != generation))
		return sum_next_owner(p, sum, generation);
	return sum;
}

void cmt_perf_turn(struct cmt_perf *p, u32 rmid)
{
	struct perf_sum *sum = this_cpu_read(cmt_cpus.sum);
	u64 now = cmt_cycles();

	lockdep_assert_irqs_disabled();
	if (!sum->ran)
		due_set(p, sum);
	cmt_perf_sum_ran(sum, now - p->since);
	p->since = now;
	if (unlikely(p->in < 3 || !event_take(p, sum, 0) ||
		     !event_take(p, sum, 1) || !event_take(p, sum, 2) ||
		     (p->in > 3 && !event_take(p, sum, 3))))
		take_any(p, sum);
	this_cpu_write(cmt_cpus.sum, sum_of(p, rmid));
}

void cmt_perf_waited(struct cmt_perf *p, u32 rmid, u64 ns, bool quota)
{
	struct perf_sum *sum = sum_of(p, rmid);

	lockdep_assert_irqs_disabled();
	sum->waited += ns;
	sum->quota |= quota;
	due_set(p, sum);
}

/* The sums of the time until now lack the value. */
void cmt_perf_account_waits(struct cmt_perf *p, bool waits)
{
	p->waits = waits;
	this_cpu_read(cmt_cpus.sum)->missing |= CMT_PERF_WAITED;
	cmt_perf_lack(p, CMT_PERF_WAITED);
}

void cmt_perf_begin(void)
{
	struct cmt_perf *p = this_cpu_read(cmt_cpus.perf);
	u32 rmid;

	lockdep_assert_irqs_disabled();
	if (!p)
		return;
	cmt_perf_turn(p, this_cpu_read(cmt_cpus.rmid));
	for_each_set_bit(rmid, p->due, cmt_caps.rmid_room)
		p->sums[rmid] = (struct perf_sum) {
			.generation = p->sums[rmid].generation,
		};
	bitmap_zero(p->due, cmt_caps.rmid_room);
	p->nr_due = 0;
}

u32 cmt_perf_due(const struct cmt_perf *p)
{
	return p->nr_due;
}

/* The next RMID with counts to write, from the cursor on, cyclically. */
static u32 due_take(struct cmt_perf *p)
{
	u32 rmid = find_next_bit(p->due, cmt_caps.rmid_room, p->cursor);

	if (rmid >= cmt_caps.rmid_room)
		rmid = find_first_bit(p->due, cmt_caps.rmid_room);
	due_clear(p, rmid);
	p->cursor = rmid + 1;
	return rmid;
}

static noinline void shortage_look(struct cmt_perf *p)
{
	idle_look(p);
	if (cmt_perf_shortage(p, p->known))
		cmt_perf_give_way();
}

void cmt_perf_write(struct cmt_perf *p, struct cmt_ring *ring, u64 now, u32 room)
{
	u64 ts = max(now, ring->last_ts);

	if (unlikely(cmt_perf_shortage(p, p->looked)))
		shortage_look(p);
	p->looked = now;
	for (; p->nr_due && room; room--) {
		struct cmt_record *slot = cmt_ring_slot(ring);
		struct perf_sum *sum = &p->sums[due_take(p)];

		slot->ts = ts;
		cmt_record_put32(&slot->type,
				 CMT_REC_PERF | smp_processor_id() << 16);
		slot->domain = ring->domain_id;
		sum_fill(slot, p, sum);
		cmt_ring_publish(ring);
	}
	ring->last_ts = ts;
}

void cmt_perf_remove(unsigned int cpu)
{
	per_cpu(cmt_cpus, cpu).perf = NULL;
	per_cpu(cmt_cpus, cpu).sum = per_cpu_ptr(&uncounted, cpu);
}

void cmt_perf_install(struct cmt_perf *p)
{
	lockdep_assert_irqs_disabled();
	p->since = cmt_cycles();
	this_cpu_write(cmt_cpus.sum, p->sums);
	this_cpu_write(cmt_cpus.perf, p);
	cmt_perf_begin();
}

void cmt_perf_write_all(struct cmt_perf *p)
{
	u32 rmid;

	cmt_perf_turn(p, this_cpu_read(cmt_cpus.rmid));
	for_each_set_bit(rmid, p->due, cmt_caps.rmid_room)
		while (test_bit(rmid, p->due))
			sum_emit(p, &p->sums[rmid]);
}

struct cmt_perf *cmt_perf_new(unsigned int cpu)
{
	u32 room = cmt_caps.rmid_room, rmid;
	struct cmt_perf *p;
	size_t bytes = struct_size(p, sums, room);

	p = kvzalloc_node(bytes + BITS_TO_LONGS(room) * sizeof(*p->due),
			  GFP_KERNEL, cpu_to_node(cpu));
	if (!p)
		return NULL;
	p->due = (void *)p + bytes;
	for (rmid = 1; rmid < room; rmid++)
		p->sums[rmid].generation = NO_GENERATION;
	p->generations = cmt_table_generations();
	p->limit = CMT_PERF_NR;
	return p;
}

void cmt_perf_clock_init(void)
{
	ns_mult = div_u64(1000000ULL << NS_SHIFT, cmt_clock_khz());
	ran_max = div_u64((u64)U32_MAX << NS_SHIFT, ns_mult);
}
