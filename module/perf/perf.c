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
#include "owner/owner.h"
#include "perf.h"
#include "sample/sampler.h"

/*
 * The interval between attempts to get a counter that another agent uses, and between
 * drops of values that no descriptor wants any more
 */
#define RETRY_MS	1000
#define REASON_BYTES	sizeof_field(struct cmt_info, perf_reason)
#define NS_SHIFT	24
#define NO_GENERATION	U32_MAX	/* generation of an empty sum; no owner reaches it */

/* The counts of an RMID since its last PERF */
struct perf_sum {
	u64 values[CMT_PERF_NR];
	u64 ran;		/* running time in TSC cycles; 0: no record is due */
	u32 generation;		/* generation of the owner; 0: RMID 0 */
	u32 missing;		/* bits of values that were not counted all the time */
};

/* Accessed by its own CPU with interrupts off, except the state of the events. */
struct cmt_perf {
	struct perf_sum *sum;	/* the sum of the loaded RMID */
	u64 since;		/* TSC at the last turn */
	/*
	 * By value; NULL: not counted.  An event's count is the count since the last
	 * turn: the turn resets it.
	 */
	struct perf_event *events[CMT_PERF_NR];
	void (*read)(struct perf_event *event);	/* the read function of all events' PMU */
	u32 out;		/* bits of events that had no counter at the last turn */
	u32 in;			/* events before the first NULL; 0: the turn checks all */
	const u32 *generations;
	u32 cursor;		/* the next RMID to write */
	u32 nr_due;		/* bits in due */
	unsigned long *due;	/* bitmap of RMIDs, behind sums */
	struct perf_sum sums[];	/* cmt_caps.rmid_room elements */
};

/* The kernel's event numbers, by value */
static const u64 perf_configs[CMT_PERF_NR] = {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES,
};

/* Taken inside cpus_read_lock.  Its holder makes and releases events. */
static DEFINE_MUTEX(perf_mutex);
static u32 nr_wanting[CMT_PERF_NR];	/* number of descriptors, by value */
static u32 recent;	/* CMT_F_* that any descriptor wanted since the last retry */
static u32 wanted;	/* CMT_F_* to count; with what was recent at the last retry */
/* those of wanted that count on all CPUs with ticks */
static u32 counts;
static u32 ns_mult;			/* TSC to ns, constant while wanted */
static char perf_reason[REASON_BYTES];	/* the reason why a counter could not be made */

static void perf_retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, perf_retry);

static u32 value_flag(u32 index)
{
	return CMT_F_CYCLES << index;
}

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

static void sum_fill(struct cmt_record *record, const struct cmt_perf *p,
		     struct perf_sum *sum)
{
	u64 ns = mul_u64_u32_shr(sum->ran, ns_mult, NS_SHIFT);
	u64 *values = &record->perf.cycles;
	u32 flags = 0, i;

	record->rmid = sum - p->sums;
	record->generation = sum->generation;
	record->ran_ns = min_t(u64, ns, U32_MAX);
	for (i = 0; i < CMT_PERF_NR; i++) {
		bool counted = p->events[i] && !(sum->missing & BIT(i));

		values[i] = counted ? sum->values[i] : 0;
		flags |= counted ? value_flag(i) : 0;
	}
	record->flags = flags;
	*sum = (struct perf_sum) { .generation = sum->generation };
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

/* Write the counts of the RMID's last owner. */
static void sum_emit(struct cmt_perf *p, struct perf_sum *sum)
{
	struct cmt_record record = {
		.ts = ktime_get_ns(),
		.type = CMT_REC_PERF,
		.domain = cmt_cpu_domain_id(),
	};

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
	if (sum->ran)
		sum_emit(p, sum);
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
	struct perf_sum *sum = p->sum;
	u64 now = cmt_cycles();

	lockdep_assert_irqs_disabled();
	if (!sum->ran)
		due_set(p, sum);
	sum->ran += now - p->since;
	p->since = now;
	if (unlikely(p->in < 3 || !event_take(p, sum, 0) ||
		     !event_take(p, sum, 1) || !event_take(p, sum, 2) ||
		     (p->in > 3 && !event_take(p, sum, 3))))
		take_any(p, sum);
	p->sum = sum_of(p, rmid);
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

void cmt_perf_write(struct cmt_cpu *cpu, u64 now, u32 room)
{
	struct cmt_perf *p = cpu->perf;
	u64 ts = max(now, cpu->ring.last_ts);
	u32 n;

	for (n = min(p->nr_due, room); n; n--) {
		struct cmt_record *slot = cmt_ring_slot(&cpu->ring);
		struct perf_sum *sum = &p->sums[due_take(p)];

		slot->ts = ts;
		cmt_record_put32(&slot->type,
				 CMT_REC_PERF | smp_processor_id() << 16);
		slot->domain = cpu->domain_id;
		sum_fill(slot, p, sum);
		cmt_ring_publish(&cpu->ring);
	}
	cpu->ring.last_ts = ts;
}

/* On the CPU, interrupts off. */
static void cpu_install(void *perf_cpu)
{
	struct cmt_perf *p = perf_cpu;

	p->since = cmt_cycles();
	p->sum = p->sums;
	this_cpu_write(cmt_cpus.perf, p);
	cmt_perf_begin();
}

/* Write the sums, before the CPU goes offline or has no ticks.  On the CPU itself. */
static void cpu_write(void *unused)
{
	struct cmt_perf *p = this_cpu_read(cmt_cpus.perf);
	u32 rmid;

	cmt_perf_turn(p, this_cpu_read(cmt_cpus.rmid));
	for_each_set_bit(rmid, p->due, cmt_caps.rmid_room)
		sum_emit(p, &p->sums[rmid]);
}

static void cpu_remove(void *unused)
{
	this_cpu_write(cmt_cpus.perf, NULL);
}

static void cpu_stop(unsigned int cpu)
{
	struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;
	u32 i;

	lockdep_assert_held(&perf_mutex);
	if (!p)
		return;
	smp_call_function_single(cpu, cpu_remove, NULL, true);
	for (i = 0; i < CMT_PERF_NR; i++)
		if (p->events[i])
			perf_event_release_kernel(p->events[i]);
	kvfree(p);
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
 * A pinned event counts all of the time, or is in the error state.  On AMD's cores the
 * kernel's names for events of the last level count events of another level.
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

/* A change of cmt_perf.events, made on the CPU with interrupts off */
struct event_change {
	struct cmt_perf *p;
	u32 index;
	struct perf_event *event;	/* NULL: the value is not counted any more */
};

/*
 * The event counts from now on.  So the value is missing in all sums of the time before,
 * and by @out in the sum of the RMID that is loaded.
 */
static void event_set(void *info)
{
	const struct event_change *change = info;
	struct cmt_perf *p = change->p;
	u32 bit = BIT(change->index), rmid;

	p->events[change->index] = change->event;
	if (change->event)
		p->read = change->event->pmu->read;
	p->out = change->event ? p->out | bit : p->out & ~bit;
	p->in = 0;
	for_each_set_bit(rmid, p->due, cmt_caps.rmid_room)
		p->sums[rmid].missing |= bit;
}

static void event_change(unsigned int cpu, struct cmt_perf *p, u32 index,
			 struct perf_event *event)
{
	struct event_change change = { p, index, event };

	smp_call_function_single(cpu, event_set, &change, true);
}

static void event_add(unsigned int cpu, struct cmt_perf *p, u32 index)
{
	struct perf_event *event = event_new(cpu, index);

	if (IS_ERR(event)) {
		note_reason(cpu, index, PTR_ERR(event));
		return;
	}
	event_change(cpu, p, index, event);
}

static void event_drop(unsigned int cpu, struct cmt_perf *p, u32 index)
{
	struct perf_event *event = p->events[index];

	event_change(cpu, p, index, NULL);
	perf_event_release_kernel(event);
}

/* New events may need the counters of events that are released: these come first. */
static void events_update(unsigned int cpu, struct cmt_perf *p)
{
	u32 i;

	for (i = 0; i < CMT_PERF_NR; i++)
		if (p->events[i] && !(wanted & value_flag(i)))
			event_drop(cpu, p, i);
	for (i = 0; i < CMT_PERF_NR; i++)
		if (!p->events[i] && wanted & value_flag(i))
			event_add(cpu, p, i);
}

static struct cmt_perf *perf_alloc(unsigned int cpu)
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
	return p;
}

/*
 * Count the wanted values on the CPU.  Values that were counted before are counted on
 * without a gap.  The time on the CPU is counted with and without events.
 */
static void cpu_update(unsigned int cpu)
{
	struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;

	lockdep_assert_held(&perf_mutex);
	if (p) {
		events_update(cpu, p);
		return;
	}
	p = perf_alloc(cpu);
	if (!p) {
		strscpy(perf_reason, "no memory", sizeof(perf_reason));
		return;
	}
	events_update(cpu, p);
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

static void perf_change(u32 now)
{
	unsigned int cpu;

	perf_reason[0] = '\0';
	if (!wanted)
		clock_init();
	wanted = now;
	for_each_online_cpu(cpu) {
		if (!now)
			cpu_stop(cpu);
		else if (cpu_counts(cpu))
			cpu_update(cpu);
	}
	if (now)
		schedule_delayed_work(&retry_work, msecs_to_jiffies(RETRY_MS));
}

/* Does another agent's pinned event use the counter of @event? */
static bool event_is_out(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR;
}

static u32 cpu_counted(unsigned int cpu, char *reason)
{
	const struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;
	u32 counted = 0, i;

	if (!p)
		return 0;
	for (i = 0; i < CMT_PERF_NR; i++) {
		if (!p->events[i])
			continue;
		if (!event_is_out(p->events[i]))
			counted |= value_flag(i);
		else
			snprintf(reason, REASON_BYTES,
				 "another agent has the counters of CPU %u",
				 cpu);
	}
	return counted;
}

/* Check which values are counted.  Returns whether this has changed. */
static bool counts_check(char *reason)
{
	u32 counted = wanted, before = counts;
	unsigned int cpu;

	strscpy(reason, perf_reason, REASON_BYTES);
	for_each_online_cpu(cpu)
		if (cpu_counts(cpu))
			counted &= cpu_counted(cpu, reason);
	WRITE_ONCE(counts, counted);
	return counted != before;
}

/*
 * Run @change, if not NULL, then check which values are counted.  A STATE is written if
 * this has changed.  @reason: REASON_BYTES
 */
static u32 counts_update(void (*change)(void), char *reason)
{
	bool changed;
	u32 counted;

	cpus_read_lock();
	mutex_lock(&perf_mutex);
	if (change)
		change();
	changed = counts_check(reason);
	counted = counts;
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
	if (changed)
		cmt_state_emit();
	return counted;
}

u32 cmt_perf_look(char *reason)
{
	return counts_update(NULL, reason);
}

u32 cmt_perf_counts(void)
{
	return READ_ONCE(counts);
}

static u32 all_wants(void)
{
	u32 all = 0, i;

	for (i = 0; i < CMT_PERF_NR; i++)
		all |= nr_wanting[i] ? value_flag(i) : 0;
	return all;
}

/*
 * Additions apply at once.  A descriptor may change its wants in a loop, so only a retry
 * drops values.
 */
static void wants_apply(void)
{
	if (recent & ~wanted)
		perf_change(wanted | recent);
}

/*
 * perf checks whether the current process may count on a CPU.  A reader of /dev/cmt may
 * lack that right, so a work item of the kernel makes the events.
 */
static void perf_apply(struct work_struct *work)
{
	char reason[REASON_BYTES];

	counts_update(wants_apply, reason);
}

static DECLARE_WORK(apply_work, perf_apply);

void cmt_perf_want(u32 *wanted_here, u32 wants)
{
	u32 i;

	mutex_lock(&perf_mutex);
	for (i = 0; i < CMT_PERF_NR; i++) {
		nr_wanting[i] += !!(wants & value_flag(i));
		nr_wanting[i] -= !!(*wanted_here & value_flag(i));
	}
	*wanted_here = wants;
	recent |= wants;
	mutex_unlock(&perf_mutex);
	queue_work(system_dfl_wq, &apply_work);
	flush_work(&apply_work);
}

/* An event that gets its counter again counts from then on, as a new one does. */
static void cpu_retry(unsigned int cpu)
{
	struct cmt_perf *p = per_cpu(cmt_cpus, cpu).perf;
	u32 i;

	for (i = 0; p && i < CMT_PERF_NR; i++) {
		struct perf_event *event = p->events[i];

		if (!event || !event_is_out(event))
			continue;
		event_change(cpu, p, i, event);
		perf_event_enable(event);
	}
}

/* Drop the values that no descriptor wanted since the last retry. */
static void wants_drop(void)
{
	if (recent != wanted)
		perf_change(recent);
	recent = all_wants();
}

static void retry_all(void)
{
	unsigned int cpu;

	wants_drop();
	if (!wanted)
		return;
	for_each_online_cpu(cpu)
		cpu_retry(cpu);
	schedule_delayed_work(&retry_work, msecs_to_jiffies(RETRY_MS));
}

static void perf_retry(struct work_struct *work)
{
	char reason[REASON_BYTES];

	counts_update(retry_all, reason);
}

/* The CPU goes offline, or has no ticks. */
static void cpu_retire(unsigned int cpu)
{
	if (!per_cpu(cmt_cpus, cpu).perf)
		return;
	smp_call_function_single(cpu, cpu_write, NULL, true);
	cpu_stop(cpu);
}

void cmt_perf_cpu_up(unsigned int cpu, bool ticks)
{
	mutex_lock(&perf_mutex);
	if (wanted && ticks)
		cpu_update(cpu);
	else
		cpu_retire(cpu);
	mutex_unlock(&perf_mutex);
}

void cmt_perf_cpu_down(unsigned int cpu)
{
	mutex_lock(&perf_mutex);
	cpu_retire(cpu);
	mutex_unlock(&perf_mutex);
}

void cmt_perf_stop(void)
{
	cancel_delayed_work_sync(&retry_work);
	cpus_read_lock();
	mutex_lock(&perf_mutex);
	if (wanted)
		perf_change(0);
	mutex_unlock(&perf_mutex);
	cpus_read_unlock();
}
