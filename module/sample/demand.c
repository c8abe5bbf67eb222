// SPDX-License-Identifier: GPL-2.0
/*
 * Readings on demand, CMT_IOC_READ.  A reading is made as in a tick: on a CPU of the
 * domain, with interrupts off, with the counter claimed, and added to the same sums.
 * Three rules keep readings on demand from changing the records in the rings:
 *
 *	the mark of the reading is older than the mark of any tick that has still to
 *		read, so that no tick skips the RMID;
 *	a value that this reading rebased is also flagged in the next sample in a ring
 *		(cmt_demand.owed);
 *	an RMID is read at most once in CMT_READ_FRESH_NS for all callers, so a tick
 *		seldom finds the counter busy.
 *
 * Calls to CPUs.  A domain has one call at a time, and the next call waits for as long
 * as the last call took.  So readings take at most half of the time of one CPU in each
 * domain, and a section with interrupts off has one call, whatever the number of callers.
 * The lock of a call is only tried, and is held with preemption off.  A caller holds
 * nothing while it sleeps, so a caller that gets no CPU delays no other one.  Callers have
 * no order: all that wait for the same call wake up after its rest, within BUSY_US, and
 * the first one to run makes the next call.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "owner/owner.h"
#include "ring/ring.h"
#include "sampler.h"

/* Interrupts are off for at most this time and one reading. */
#define CALL_MAX_NS	50000U

/* A longer reading may be of another owner, as with BURST_MAX_NS in ticks. */
#define READ_MAX_NS	1000000U

/* Attempts at a busy counter, between sleeps of BUSY_US or more */
#define BUSY_TRIES	1000
#define BUSY_US		20

/* The cost of the interrupt beside the readings, rounded up */
#define INTERRUPT_NS	5000

/* A call is longer only if the machine or its virtual CPU was stopped meanwhile. */
#define REST_MAX_NS	(100 * NSEC_PER_MSEC)

/* Time in calls, with interrupts off; by the CPU itself */
static DEFINE_PER_CPU(u64, demand_ns);

static void sample_init(struct cmt_record *sample, const struct cmt_demand_key *key,
			u32 cpu, u32 domain_id)
{
	*sample = (struct cmt_record) {
		.ts = ktime_get_ns(),
		.type = CMT_REC_SAMPLE,
		.cpu = cpu,
		.flags = cmt_caps.record_flags,
		.rmid = key->rmid,
		.generation = key->generation,
		.domain = domain_id,
	};
}

/* Has the RMID still this generation?  Then earlier readings are of its owner. */
static bool is_live(const struct cmt_demand_key *key)
{
	return cmt_table_generation(key->rmid) == key->generation &&
	       (key->generation || !key->rmid);
}

/* Is the last reading on demand of this owner, and younger than @ns at @now? */
static bool is_last_younger(const struct cmt_demand *demand,
			    const struct cmt_demand_key *key, u64 now, u64 ns)
{
	const struct cmt_record *last = &demand->last;

	return last->type == CMT_REC_SAMPLE &&
	       last->generation == key->generation && now - last->ts < ns;
}

static bool is_fresh(const struct cmt_demand *demand,
		     const struct cmt_demand_key *key, u32 events, u64 now)
{
	return demand->events == events &&
	       is_last_younger(demand, key, now, CMT_READ_FRESH_NS) &&
	       !cmt_sampler_is_suspended();
}

/*
 * Does a reading at @now continue that of the counter's mark @seen?  The mark of a reading
 * on demand is older than the reading.
 */
static bool is_based(const struct cmt_demand *demand,
		     const struct cmt_demand_key *key, u32 seen, u64 now)
{
	u32 age = cmt_mark(now) - seen;

	if (cmt_sampler_is_suspended())
		return false;
	if (is_last_younger(demand, key, now, CMT_COUNTER_GAP_NS))
		return true;
	/* marks repeat every 39 hours */
	return cmt_sampler_ran(now) &&
	       (age <= 2 * CMT_MARK_GAP || -age <= 2 * CMT_MARK_GAP);
}

/*
 * Prepare the claimed counter for the reading.  Returns the mark for after the reading;
 * @seen is the mark before it.
 */
static u32 counter_prepare(struct cmt_domain *domain,
			   const struct cmt_demand_key *key, u32 seen, u64 now)
{
	struct cmt_counter *counter = &domain->counters[key->rmid];
	struct cmt_demand *demand = &domain->demands[key->rmid];
	u32 mark = cmt_sampler_mark_between(now);

	if (!cmt_counter_is_of(counter, key->generation)) {
		cmt_counter_begin(counter, key->rmid, key->generation,
				  &cmt_caps);
		demand->owed = false;
		return mark;
	}
	if (!is_based(demand, key, seen, now)) {
		cmt_counter_lose_base(counter);
		return mark;
	}
	return (s32)(mark - seen) > 0 ? mark : seen;
}

static void sample_finish(struct cmt_domain *domain, const struct cmt_raws *raws,
			  u32 events, struct cmt_record *sample)
{
	u32 rmid = sample->rmid;
	struct cmt_demand *demand = &domain->demands[rmid];
	struct cmt_counter *counter = &domain->counters[rmid];

	cmt_domain_account(domain, counter, raws, events, sample);
	cmt_tick_count_flaws(this_cpu_read(cmt_sampler_cpus), counter, raws, events);
	if (sample->flags & CMT_F_REBASED)
		demand->owed = true;
	if (demand->owed)
		cmt_counter_make_slow(counter);
	if (test_bit(rmid, domain->notes->overwritten))
		sample->flags |= CMT_F_PQR_OVERWRITTEN;
	sample->base = demand->base;
	demand->last = *sample;
	demand->events = events;
}

/* Read the claimed counter.  *seen: the mark for the release; unchanged on failure. */
static int claimed_read(struct cmt_domain *domain, const struct cmt_demand_key *key,
			u32 *seen, struct cmt_record *sample)
{
	struct cmt_demand *demand = &domain->demands[key->rmid];
	u32 events = READ_ONCE(cmt_wanted_events), mark;
	struct cmt_raws raws;

	/* after the claim: no later owner has begun here, and no time is later */
	sample->ts = ktime_get_ns();
	if (!is_live(key))
		return -ENOENT;
	if (is_fresh(demand, key, events, sample->ts)) {
		*sample = demand->last;
		return 0;
	}
	mark = counter_prepare(domain, key, *seen, sample->ts);
	cmt_backend->read(key->rmid, events, &raws);
	if (ktime_get_ns() - sample->ts > READ_MAX_NS || !is_live(key)) {
		/* AMD reports only once that a counter was reset */
		if ((raws.total | raws.local) & CMT_RAW_UNAVAILABLE)
			cmt_counter_lose_base(&domain->counters[key->rmid]);
		return is_live(key) ? -EAGAIN : -ENOENT;
	}
	sample_finish(domain, &raws, events, sample);
	*seen = mark;
	return 0;
}

int cmt_demand_read_here(const struct cmt_demand_key *key,
			 struct cmt_record *sample)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct cmt_domain *domain;
	u32 seen;
	int ret;

	lockdep_assert_irqs_disabled();
	if (!cpu->up)
		return -ENXIO;
	if (key->rmid >= cmt_caps.nr_rmids || !is_live(key))
		return -ENOENT;
	sample_init(sample, key, smp_processor_id(), cmt_ring_domain_id());
	if (!cmt_backend_samples())
		return 0;
	if (!cmt_sampler_may_read())
		return -EAGAIN;
	domain = cmt_sampler_domain(cpu->domain);
	if (!cmt_claim_any(&domain->counters[key->rmid], &seen))
		return -EAGAIN;
	ret = claimed_read(domain, key, &seen, sample);
	cmt_claim_release(&domain->counters[key->rmid], seen);
	return ret;
}

/* A call for some RMIDs in one domain */
struct demand_call {
	const struct cmt_demand_key *keys;
	struct cmt_record *records;	/* one each; CMT_REC_PAD: it has ended */
	u32 n;
	u32 done;
	u32 domain;
	int cpu;	/* the called CPU, or -ENXIO */
	u64 ns;		/* the time of the last call on its CPU */
	int ret;	/* why the call ended early */
};

/* On a CPU of the domain, interrupts off: read while there is time. */
static void call_run(void *info)
{
	const struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct demand_call *call = info;
	u64 start = ktime_get_ns(), ns = 0;
	u32 limit = min(cmt_sampler_budget_ns(), CALL_MAX_NS);

	call->ret = cpu->up && cpu->domain == call->domain ? 0 : -ENXIO;
	while (!call->ret && call->done < call->n && ns < limit) {
		struct cmt_record *record = &call->records[call->done];

		call->ret = cmt_demand_read_here(&call->keys[call->done], record);
		if (call->ret == -ENOENT) {
			record->type = CMT_REC_PAD;
			call->ret = 0;
		}
		call->done += !call->ret;
		ns = ktime_get_ns() - start;
	}
	if (ns)
		cmt_tick_note_ns(ns);
	call->ns = ns;
	this_cpu_add(demand_ns, ns);
}

u64 cmt_demand_ns(void)
{
	unsigned int cpu;
	u64 ns = 0;

	for_each_possible_cpu(cpu)
		ns += READ_ONCE(per_cpu(demand_ns, cpu));
	return ns;
}

/* No CPU of the domain can read the counter, or its claim does not end. */
static void call_give_up(struct demand_call *call)
{
	struct cmt_record *record = &call->records[call->done];
	const struct cmt_demand_key *key = &call->keys[call->done++];

	sample_init(record, key, raw_smp_processor_id(),
		    cmt_sampler_domain(call->domain)->id);
	record->flags |= CMT_F_UNAVAILABLE;
}

/* Returns 0: called, or no CPU of the domain is up; or the time to wait first, ns. */
static u32 call_try(struct demand_call *call, struct cmt_calls *calls)
{
	u64 now;
	s64 rest;

	/* outside of the lock: this looks at all CPUs */
	call->cpu = cmt_sampler_reader(call->domain, READ_ONCE(calls->cpu));
	if (call->cpu < 0)
		return 0;
	if (!raw_spin_trylock(&calls->lock))
		return BUSY_US * NSEC_PER_USEC;
	rest = calls->rest_until - ktime_get_ns();
	if (rest <= 0) {
		WRITE_ONCE(calls->cpu, call->cpu);
		call->ns = 0;
		smp_call_function_single(call->cpu, call_run, call, true);
		now = ktime_get_ns();
		calls->rest_until = now + min_t(u64, call->ns + INTERRUPT_NS,
						REST_MAX_NS);
	}
	raw_spin_unlock(&calls->lock);
	return max_t(s64, rest, 0);
}

/*
 * One call to a CPU.  Returns 0, -ENXIO: no CPU of the domain is up, or -EAGAIN: no RMID
 * was read, and a later call may succeed.
 */
static int call_once(struct demand_call *call)
{
	struct cmt_calls *calls = &cmt_sampler_domain(call->domain)->calls;
	u32 before = call->done, us;

	while (!fatal_signal_pending(current)) {
		us = DIV_ROUND_UP(call_try(call, calls), NSEC_PER_USEC);
		if (!us)
			break;
		usleep_range(us, us + BUSY_US);
	}
	if (call->cpu < 0)
		return -ENXIO;
	return call->done > before ? 0 : -EAGAIN;
}

/* Read all RMIDs of the call.  Returns 0 or -EINTR. */
static int call_all(struct demand_call *call)
{
	int ret, tries = 0;

	cmt_cpus_account();
	while (call->done < call->n) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = call_once(call);
		if (!ret) {
			tries = 0;
			cond_resched();
			continue;
		}
		if (signal_pending(current))
			return -EINTR;
		if (ret == -ENXIO || ++tries > BUSY_TRIES)
			call_give_up(call);
		else
			usleep_range(BUSY_US, 2 * BUSY_US);
	}
	return 0;
}

int cmt_demand_read(const struct cmt_demand_key *keys, u32 n, u32 domain,
		    struct cmt_record *records)
{
	struct demand_call call = {
		.keys = keys,
		.records = records,
		.n = n,
		.domain = domain,
	};

	memset(records, 0, n * sizeof(*records));
	return call_all(&call);
}

/* Move the records of live owners to the front, in order.  Returns their number. */
static u32 records_pack(struct cmt_record *records, u32 n)
{
	u32 i, kept = 0;

	for (i = 0; i < n; i++)
		if (records[i].type != CMT_REC_PAD)
			records[kept++] = records[i];
	return kept;
}

/* Read @n RMIDs in every domain; arguments as of cmt_demand_all(). */
static int read_domains(const struct cmt_demand_key *keys, u32 n,
			struct cmt_record *records, u32 room, u32 *count)
{
	struct demand_call call = { .keys = keys, .n = n };
	u32 domains = cmt_sampler_domains(), kept = 0;
	int ret = 0;

	*count = n * domains;
	if (*count > room)
		return -ENOSPC;
	for (; !ret && call.domain < domains; call.domain++) {
		call.records = records + kept;
		call.done = 0;
		ret = call_all(&call);
		kept += records_pack(call.records, n);
	}
	*count = kept;
	return ret;
}

int cmt_demand_all(struct cmt_record *records, u32 room, u32 *count)
{
	struct cmt_demand_key *keys;
	u32 rmid, n = 0;
	int ret;

	keys = kvmalloc_array(cmt_caps.nr_rmids, sizeof(*keys), GFP_KERNEL);
	if (!keys)
		return -ENOMEM;
	for (rmid = 1; rmid < cmt_caps.nr_rmids; rmid++) {
		keys[n] = (struct cmt_demand_key) {
			rmid, cmt_table_generation(rmid)
		};
		n += !!keys[n].generation;
	}
	ret = read_domains(keys, n, records, room, count);
	kvfree(keys);
	return ret;
}

#define KNOWN (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL | CMT_F_RESIDUAL)

/*
 * Add a reading of another RMID to the sample of an owner: a value is known if both are.  The
 * sum has another base when it is one of other RMIDs.
 */
static void sample_add(struct cmt_record *sum, const struct cmt_record *sample)
{
	u32 known = sum->flags & sample->flags & KNOWN;

	sum->flags = known | ((sum->flags | sample->flags) & ~KNOWN);
	sum->base += sample->base +
		     jhash_2words(sample->rmid, sample->generation, 0);
	sum->sample.occupancy_bytes = known & CMT_F_OCCUPANCY ?
		sum->sample.occupancy_bytes + sample->sample.occupancy_bytes : 0;
	sum->sample.mbm_total_bytes = known & CMT_F_MBM_TOTAL ?
		sum->sample.mbm_total_bytes + sample->sample.mbm_total_bytes : 0;
	sum->sample.mbm_local_bytes = known & CMT_F_MBM_LOCAL ?
		sum->sample.mbm_local_bytes + sample->sample.mbm_local_bytes : 0;
	sum->sample.residual_bytes = known & CMT_F_RESIDUAL ?
		sum->sample.residual_bytes + sample->sample.residual_bytes : 0;
}

/*
 * One record for each domain from @n records, of which those of a domain follow each other,
 * the one of @rmid first.  Returns their number.
 */
static u32 samples_fold(struct cmt_record *records, u32 n, u32 rmid)
{
	u32 i, kept = 0;

	for (i = 0; i < n; i++) {
		if (records[i].rmid == rmid)
			records[kept++] = records[i];
		else if (kept && records[kept - 1].domain == records[i].domain)
			sample_add(&records[kept - 1], &records[i]);
	}
	return kept;
}

int cmt_demand_owner(const struct cmt_demand_key *keys, u32 n,
		     struct cmt_record *records, u32 room, u32 *count)
{
	struct cmt_record *each;
	u32 all;
	int ret;

	*count = cmt_sampler_domains();
	if (*count > room)
		return -ENOSPC;
	all = n * *count;
	each = kvcalloc(all, sizeof(*each), GFP_KERNEL);
	if (!each)
		return -ENOMEM;
	/* for a domain that is new since then there is no room: -ENOSPC, too */
	ret = read_domains(keys, n, each, all, count);
	if (!ret && !is_live(&keys[0]))
		ret = -ENOENT;
	if (!ret) {
		*count = samples_fold(each, *count, keys[0].rmid);
		memcpy(records, each, *count * sizeof(*each));
	}
	kvfree(each);
	return ret;
}

u32 cmt_demand_room(bool all)
{
	return cmt_sampler_domains() * (all ? cmt_caps.nr_rmids : 1);
}
