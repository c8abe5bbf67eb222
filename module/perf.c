// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"
#include "perf.h"
#include "sampler.h"
#include "waiter.h"

/* How often a counter that another agent has is tried again. */
#define RETRY_MS	1000
#define REASON_BYTES	sizeof_field(struct cmt_info, perf_reason)
#define NS_SHIFT	24

DEFINE_STATIC_KEY_FALSE(cmt_perf_key);

/* What was counted under an RMID since its last PERF. */
struct perf_sum {
	u64 values[CMT_PERF_NR];
	u64 ran;		/* cycles of the TSC */
	u32 generation;
	u32 missing;		/* CMT_F_*: not counted some of the time */
};

struct perf_counter {
	struct perf_event *event;
	u64 last;		/* its count at the last turn, */
	bool counted;		/* if it did count then */
	u32 index;		/* of values */
};

/* Touched by its own CPU with interrupts off, but for the counters' events. */
struct perf_cpu {
	u64 since;		/* TSC at the last turn */
	u32 slot;		/* RMID that runs; 0: it has no owner */
	u32 generation;		/* of slot */
	u32 nr;			/* of counters */
	u32 wanted;		/* CMT_F_* */
	struct perf_counter counters[CMT_PERF_NR];
	const u32 *generations;
	u32 cursor;		/* the RMID that is written first */
	u32 nr_due;		/* bits in due */
	unsigned long due[CMT_RMID_WORDS];	/* RMIDs that have a sum */
	struct perf_sum sums[];
};

/* The kernel's names, in the order of values. */
static const u64 perf_configs[CMT_PERF_NR] = {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES,
};

static DEFINE_PER_CPU(struct perf_cpu *, perf_cpus);

/* Inside cpus_read_lock; its holder starts and stops counters. */
static DEFINE_MUTEX(perf_mutex);
static u32 nr_wanting[CMT_PERF_NR];	/* descriptors */
static u32 wanted;			/* CMT_F_*: by any of these */
static u32 counts;			/* of these, on all CPUs with ticks */
static u32 ns_mult;			/* TSC to ns, constant while wanted */
static char perf_reason[REASON_BYTES];	/* of a counter that could not be made */

static void perf_retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, perf_retry);

static u32 value_flag(u32 index)
{
	return CMT_F_CYCLES << index;
}

/*
 * As perf_event_read_local() does, which no module may call: the event is this
 * CPU's own, and whoever takes it off the CPU has interrupts off.
 */
static __always_inline void counter_turn(struct perf_counter *c,
					 struct perf_sum *sum)
{
	struct perf_event *event = c->event;
	bool counts = event->state == PERF_EVENT_STATE_ACTIVE;
	u64 count = c->last;

	if (likely(counts)) {
		event->pmu->read(event);
		count = local64_read(&event->count);
	}
	if (likely(counts && c->counted))
		sum->values[c->index] += count - c->last;
	else
		sum->missing |= value_flag(c->index);
	c->last = count;
	c->counted = counts;
}

static void sum_fill(struct cmt_record *record, const struct perf_cpu *p,
		     u32 rmid, struct perf_sum *sum)
{
	u64 ns = mul_u64_u32_shr(sum->ran, ns_mult, NS_SHIFT);
	u32 i;

	record->flags = p->wanted & ~sum->missing;
	record->rmid = rmid;
	record->generation = sum->generation;
	record->ran_ns = min_t(u64, ns, U32_MAX);
	for (i = 0; i < CMT_PERF_NR; i++)
		(&record->perf.cycles)[i] = record->flags & value_flag(i) ?
					    sum->values[i] : 0;
	*sum = (struct perf_sum) { .generation = sum->generation };
}

static void due_set(struct perf_cpu *p, u32 rmid)
{
	p->nr_due += !__test_and_set_bit(rmid, p->due);
}

/* The RMID has another owner than when the sum was begun. */
static noinline void sum_next_owner(struct perf_cpu *p, struct perf_sum *sum)
{
	struct cmt_record record = {
		.type = CMT_REC_PERF,
		.domain = cmt_cpu_domain_id(),
	};

	if (test_bit(p->slot, p->due)) {
		record.ts = ktime_get_ns();
		sum_fill(&record, p, p->slot, sum);
		cmt_emit(&record);
	}
	sum->generation = p->generation;
}

/* An RMID without an owner counts as none: as TICK says it. */
static __always_inline void slot_set(struct perf_cpu *p, u32 rmid)
{
	if (unlikely(rmid >= cmt_caps.nr_rmids))
		rmid = CMT_RMID_NONE;
	p->generation = READ_ONCE(p->generations[rmid]);
	p->slot = p->generation ? rmid : CMT_RMID_NONE;
}

void cmt_perf_turn(u32 rmid)
{
	struct perf_cpu *p = this_cpu_read(perf_cpus);
	struct perf_sum *sum;
	u64 now;
	u32 i;

	lockdep_assert_irqs_disabled();
	if (unlikely(!p))
		return;
	sum = &p->sums[p->slot];
	if (unlikely(sum->generation != p->generation))
		sum_next_owner(p, sum);
	now = cmt_cycles();
	sum->ran += now - p->since;
	p->since = now;
	for (i = 0; i < p->nr; i++)
		counter_turn(&p->counters[i], sum);
	due_set(p, p->slot);
	slot_set(p, rmid);
}

void cmt_perf_begin(void)
{
	struct perf_cpu *p = this_cpu_read(perf_cpus);
	u32 rmid;

	lockdep_assert_irqs_disabled();
	if (!p)
		return;
	cmt_perf_turn(this_cpu_read(cmt_cpus.rmid));
	for_each_set_bit(rmid, p->due, CMT_MAX_RMIDS)
		p->sums[rmid] = (struct perf_sum) {
			.generation = p->sums[rmid].generation,
		};
	bitmap_zero(p->due, CMT_MAX_RMIDS);
	p->nr_due = 0;
}

u32 cmt_perf_due(void)
{
	const struct perf_cpu *p = this_cpu_read(perf_cpus);

	return p ? p->nr_due : 0;
}

/* The next RMID that has something to write, from the cursor on and around. */
static u32 due_take(struct perf_cpu *p)
{
	u32 rmid = find_next_bit(p->due, cmt_caps.nr_rmids, p->cursor);

	if (rmid >= cmt_caps.nr_rmids)
		rmid = find_first_bit(p->due, cmt_caps.nr_rmids);
	__clear_bit(rmid, p->due);
	p->nr_due--;
	p->cursor = rmid + 1;
	return rmid;
}

void cmt_perf_write(struct cmt_cpu *cpu, u64 now, u32 room)
{
	struct perf_cpu *p = this_cpu_read(perf_cpus);
	u64 ts = max(now, cpu->ring.last_ts);
	u32 n;

	if (!p)
		return;
	for (n = min(p->nr_due, room); n; n--) {
		struct cmt_record *slot = cmt_ring_slot(&cpu->ring);
		u32 rmid = due_take(p);

		slot->ts = ts;
		cmt_record_put32(&slot->type,
				 CMT_REC_PERF | smp_processor_id() << 16);
		slot->domain = cpu->domain_id;
		sum_fill(slot, p, rmid, &p->sums[rmid]);
		cmt_ring_publish(&cpu->ring);
	}
	cpu->ring.last_ts = ts;
}

/* On the CPU, interrupts off. */
static void cpu_install(void *perf_cpu)
{
	struct perf_cpu *p = perf_cpu;

	p->since = cmt_cycles();
	slot_set(p, this_cpu_read(cmt_cpus.rmid));
	this_cpu_write(perf_cpus, p);
	cmt_perf_begin();
}

static void cpu_remove(void *unused)
{
	this_cpu_write(perf_cpus, NULL);
}

static void perf_cpu_free(struct perf_cpu *p)
{
	u32 i;

	for (i = 0; i < p->nr; i++)
		perf_event_release_kernel(p->counters[i].event);
	kvfree(p);
}

static void cpu_stop(unsigned int cpu)
{
	struct perf_cpu *p = per_cpu(perf_cpus, cpu);

	lockdep_assert_held(&perf_mutex);
	if (!p)
		return;
	smp_call_function_single(cpu, cpu_remove, NULL, true);
	perf_cpu_free(p);
}

static void note_reason(unsigned int cpu, u32 index, long err)
{
	static const char *const names[CMT_PERF_NR] = {
		"cycles", "instructions", "LLC misses", "LLC references",
	};

	if (perf_reason[0])
		return;
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV)
		snprintf(perf_reason, sizeof(perf_reason),
			 "this machine does not count %s", names[index]);
	else
		snprintf(perf_reason, sizeof(perf_reason),
			 "no counter of %s on CPU %u: error %ld", names[index],
			 cpu, -err);
}

/*
 * Pinned: it counts all of the time, or is in the error state.  The kernel's names
 * for the last level's events are another level's on AMD's cores.
 */
static struct perf_event *event_new(unsigned int cpu, u32 index)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = perf_configs[index],
		.pinned = 1,
	};

	if (value_flag(index) & (CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES) &&
	    cmt_caps.vendor != CMT_VENDOR_INTEL)
		return ERR_PTR(-EOPNOTSUPP);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static void counters_make(struct perf_cpu *p, unsigned int cpu)
{
	struct perf_event *event;
	u32 i;

	for (i = 0; i < CMT_PERF_NR; i++) {
		if (!(wanted & value_flag(i)))
			continue;
		event = event_new(cpu, i);
		if (IS_ERR(event)) {
			note_reason(cpu, i, PTR_ERR(event));
			continue;
		}
		p->counters[p->nr++] = (struct perf_counter) {
			.event = event,
			.index = i,
		};
		p->wanted |= value_flag(i);
	}
}

/* Without a counter the time on the CPU is counted all the same. */
static void cpu_start(unsigned int cpu)
{
	struct perf_cpu *p;

	lockdep_assert_held(&perf_mutex);
	if (per_cpu(perf_cpus, cpu))
		return;
	p = kvzalloc_node(struct_size(p, sums, cmt_caps.nr_rmids), GFP_KERNEL,
			  cpu_to_node(cpu));
	if (!p) {
		strscpy(perf_reason, "no memory", sizeof(perf_reason));
		return;
	}
	p->generations = cmt_table_generations();
	counters_make(p, cpu);
	smp_call_function_single(cpu, cpu_install, p, true);
}

/* The kernel refines tsc_khz in the first seconds. */
static void clock_init(void)
{
	u32 khz = static_key_enabled(&cmt_no_tsc) ? 1000000 : tsc_khz;

	ns_mult = div_u64(1000000ULL << NS_SHIFT, khz ?: 1000000);
}

static bool cpu_counts(unsigned int cpu)
{
	return per_cpu(cmt_cpus, cpu).up && cmt_sampler_has_ticks(cpu);
}

/* Other values are wanted.  What was counted since the last tick is dropped. */
static void perf_change(u32 now)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		cpu_stop(cpu);
	if (!now)
		static_branch_disable_cpuslocked(&cmt_perf_key);
	perf_reason[0] = '\0';
	if (!wanted)
		clock_init();
	wanted = now;
	if (!now)
		return;
	for_each_online_cpu(cpu)
		if (cpu_counts(cpu))
			cpu_start(cpu);
	static_branch_enable_cpuslocked(&cmt_perf_key);
	schedule_delayed_work(&retry_work, msecs_to_jiffies(RETRY_MS));
}

/* Another agent's pinned event has what this one needs. */
static bool event_is_out(const struct perf_counter *c)
{
	return READ_ONCE(c->event->state) == PERF_EVENT_STATE_ERROR;
}

static u32 cpu_counted(unsigned int cpu, char *reason)
{
	const struct perf_cpu *p = per_cpu(perf_cpus, cpu);
	u32 counted, i;

	if (!p)
		return 0;
	counted = p->wanted;
	for (i = 0; i < p->nr; i++) {
		if (!event_is_out(&p->counters[i]))
			continue;
		counted &= ~value_flag(p->counters[i].index);
		snprintf(reason, REASON_BYTES,
			 "another agent has the counters of CPU %u", cpu);
	}
	return counted;
}

/* @reason: REASON_BYTES */
static u32 look(char *reason)
{
	u32 counted = wanted;
	unsigned int cpu;

	strscpy(reason, perf_reason, REASON_BYTES);
	for_each_online_cpu(cpu)
		if (cpu_counts(cpu))
			counted &= cpu_counted(cpu, reason);
	WRITE_ONCE(counts, counted);
	return counted;
}

u32 cmt_perf_look(char *reason)
{
	u32 counted;

	cpus_read_lock();
	mutex_lock(&perf_mutex);
	counted = look(reason);
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
	return counted;
}

u32 cmt_perf_counts(void)
{
	return READ_ONCE(counts);
}

void cmt_perf_want(u32 *wanted_here, u32 wants)
{
	char reason[REASON_BYTES];
	u32 now = 0, i;

	cpus_read_lock();
	mutex_lock(&perf_mutex);
	for (i = 0; i < CMT_PERF_NR; i++) {
		nr_wanting[i] += !!(wants & value_flag(i));
		nr_wanting[i] -= !!(*wanted_here & value_flag(i));
		now |= nr_wanting[i] ? value_flag(i) : 0;
	}
	*wanted_here = wants;
	if (now != wanted)
		perf_change(now);
	look(reason);
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
}

static void retry_all(void)
{
	unsigned int cpu;
	u32 i;

	for_each_online_cpu(cpu) {
		struct perf_cpu *p = per_cpu(perf_cpus, cpu);

		for (i = 0; p && i < p->nr; i++)
			if (event_is_out(&p->counters[i]))
				perf_event_enable(p->counters[i].event);
	}
}

static void perf_retry(struct work_struct *work)
{
	char reason[REASON_BYTES];
	u32 before;

	cpus_read_lock();
	mutex_lock(&perf_mutex);
	before = counts;
	if (wanted) {
		retry_all();
		schedule_delayed_work(&retry_work,
				      msecs_to_jiffies(RETRY_MS));
	}
	before ^= look(reason);
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
	if (before)
		cmt_state_emit();
}

void cmt_perf_cpu_up(unsigned int cpu, bool ticks)
{
	mutex_lock(&perf_mutex);
	if (wanted && ticks)
		cpu_start(cpu);
	else
		cpu_stop(cpu);
	mutex_unlock(&perf_mutex);
}

void cmt_perf_cpu_down(unsigned int cpu)
{
	mutex_lock(&perf_mutex);
	cpu_stop(cpu);
	mutex_unlock(&perf_mutex);
}

void cmt_perf_stop(void)
{
	cancel_delayed_work_sync(&retry_work);
}
