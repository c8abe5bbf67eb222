// SPDX-License-Identifier: GPL-2.0
/*
 * What the events of intel_cqm count.
 *
 *	source	what is read: an owner in all domains or in one, or all RMIDs of a
 *		domain
 *	set	the events of one client that ask for the same value of one source.
 *		One of them reports, the others stand still: a sum over descriptors
 *		counts the source once.
 *
 * One work item reads all sources, while there are events; an event that perf reads
 * on its CPU also reads there.  A source adds up what its RMIDs count, from one
 * reading to the next, so that its traffic never decreases, whichever RMID it has.
 *
 * Locks: cqm_mutex is held by whoever binds and by the work item, and cmt_hold()
 * is called inside it.  cqm_lock is raw: values, sets, the counts of events.  An
 * event is destroyed under locks of perf that cqm_mutex must not be taken in: the
 * work item lets go what the event held.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "cmt.h"
#include "compat.h"
#include "cqm.h"
#include "owner.h"
#include "sampler.h"

#define ALL_DOMAINS	U32_MAX

/* A switch reads no more often than this, and an owner waits so long for an RMID. */
#define END_NS		1000000
#define RMID_WAIT_MS	100

/* Of one RMID in one domain: what it counted when it was read last. */
struct last {
	u64 key;		/* RMID and generation; NO_KEY: none */
	u64 values[CQM_NR_VALUES];
};

#define NO_KEY		U64_MAX
#define KEY(rmid, generation)	((u64)(rmid) << 32 | (generation))

struct source {
	struct list_head list;
	struct list_head sets;
	struct cmt_hold hold;	/* of its owner: compared and read */
	bool of_owner;		/* or of all RMIDs of a domain */
	u64 since;		/* ns: an RMID that was given later begins at 0 */
	u32 domain;		/* or ALL_DOMAINS */
	u32 rmid;		/* of the owner at the last pass */
	u32 generation;
	u64 read_ns;		/* local_clock() */
	u64 values[CQM_NR_VALUES];
	u32 nr_lasts;		/* by domain, or by RMID */
	struct last lasts[];
};

struct cqm_set {
	struct list_head list;	/* of the source */
	struct list_head events;
	struct source *source;
	struct pid *client;
	enum cqm_value value;
	u32 users;		/* events, those that are gone too; cqm_mutex */
	struct cqm_event *reporter;	/* NULL: none may report */
	bool counting;		/* base is a value of the source, */
	u64 base;		/* up to which the events have counted */
};

/* Readings of one domain, some at a time. */
#define BATCH		32
#define BATCH_NS	20000	/* for so long interrupts are off */
#define BATCH_RETRIES	8	/* of counters that a tick reads just now */

struct batch {
	u32 domain;
	u32 nr;
	u32 at;
	u32 retries;
	struct reading {
		struct source *source;
		u32 rmid;
		u32 generation;
		int err;
		struct cmt_record sample;
	} readings[BATCH];
};

static DEFINE_MUTEX(cqm_mutex);
static DEFINE_RAW_SPINLOCK(cqm_lock);
static LIST_HEAD(sources);	/* cqm_mutex */
static LIST_HEAD(unsettled);	/* cqm_lock: CPU events, or a cgroup's */
static LIST_HEAD(gone);		/* cqm_lock */
static struct batch *batch;	/* cqm_mutex */

static void cqm_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(refresh_work, cqm_work);

static void work_later(void)
{
	queue_delayed_work(system_dfl_wq, &refresh_work,
			   msecs_to_jiffies(CMT_CQM_REFRESH_MS));
}

/* Sources */

static struct last *last_of(struct source *source, u32 rmid, u32 domain)
{
	return &source->lasts[source->of_owner ? domain : rmid];
}

static u64 difference(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static u64 sample_value(const struct cmt_record *sample, enum cqm_value value)
{
	if (value == CQM_OCCUPANCY)
		return sample->sample.occupancy_bytes;
	if (value == CQM_TOTAL)
		return sample->sample.mbm_total_bytes;
	return sample->sample.mbm_local_bytes;
}

/*
 * All traffic of an RMID counts that was given after the source began; that of an
 * older one counts from its first reading.
 */
static void last_take(struct source *source, struct last *last, u64 key,
		      const struct cmt_record *sample)
{
	bool fresh = cmt_table_since(sample->rmid) >= source->since;
	bool same = last->key == key;
	enum cqm_value i;

	for (i = CQM_TOTAL; i < CQM_NR_VALUES; i++) {
		u64 now = sample_value(sample, i);

		if (!(sample->flags & CMT_F_OCCUPANCY << i)) {
			if (!same)
				last->values[i] = 0;
			continue;
		}
		if (same || fresh)
			source->values[i] +=
				difference(same ? last->values[i] : 0, now);
		last->values[i] = now;
	}
	if (sample->flags & CMT_F_OCCUPANCY)
		last->values[CQM_OCCUPANCY] = sample->sample.occupancy_bytes;
	else if (!same)
		last->values[CQM_OCCUPANCY] = 0;
	last->key = key;
}

static void source_take(struct source *source, u32 domain,
			const struct cmt_record *sample)
{
	struct last *last = last_of(source, sample->rmid, domain);

	lockdep_assert_held(&cqm_lock);
	last_take(source, last, KEY(sample->rmid, sample->generation), sample);
}

/* An owner's: of all domains.  That of RMIDs without an owner is not known. */
static void source_sum(struct source *source)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < source->nr_lasts; i++)
		if (source->lasts[i].key != NO_KEY)
			bytes += source->lasts[i].values[CQM_OCCUPANCY];
	source->values[CQM_OCCUPANCY] = bytes;
}

/* The owner's RMID, in the domain of this CPU. */
static void source_read_here(struct source *source)
{
	u32 domain = this_cpu_read(cmt_cpus.domain);
	struct cmt_record sample;

	if (!source->of_owner || !source->generation ||
	    (source->domain != ALL_DOMAINS && source->domain != domain))
		return;
	if (cmt_demand_read_here(source->rmid, source->generation, &sample))
		return;
	source_take(source, domain, &sample);
	source_sum(source);
	source->read_ns = local_clock();
}

/* Sets */

/* An event that has exited stays as it was: its children may go on. */
static bool event_is_on(struct cqm_event *e)
{
	enum perf_event_state state = READ_ONCE(e->event->state);

	if (state >= PERF_EVENT_STATE_INACTIVE)
		e->on = true;
	else if (state > PERF_EVENT_STATE_EXIT)
		e->on = false;
	return e->on;
}

static bool event_is_active(const struct cqm_event *e)
{
	return READ_ONCE(e->event->state) == PERF_EVENT_STATE_ACTIVE;
}

/*
 * perf's tools drop the value of an event that did not run.  Occupancy moves to
 * another event only if the one before never ran, since a move between two reads
 * counts it twice or not at all; traffic can go to any.
 */
static u32 event_rank(const struct cqm_set *set, struct cqm_event *e)
{
	bool runs = set->value == CQM_OCCUPANCY ? e->ran : event_is_active(e);

	if (!e->settled)
		return 0;
	return 1 + event_is_on(e) * 4 + runs * 2 + (e == set->reporter);
}

/* x86's local64_t is added to without a lock, and a reset comes from any CPU. */
static void event_add(struct perf_event *event, u64 bytes)
{
	atomic_long_add(bytes, &event->count.a.a);
}

static void set_choose(struct cqm_set *set)
{
	struct cqm_event *e, *best = NULL, *before = set->reporter;
	u32 rank, most = 0;

	list_for_each_entry(e, &set->events, list) {
		rank = event_rank(set, e);
		if (rank <= most)
			continue;
		most = rank;
		best = e;
	}
	set->reporter = best;
	if (before && before != best && set->value == CQM_OCCUPANCY)
		local64_set(&before->event->count, 0);
}

/* The reporter counts what the source has counted since the last time. */
static void set_update(struct cqm_set *set)
{
	u64 value = set->source->values[set->value];
	struct cqm_event *e = set->reporter;

	lockdep_assert_held(&cqm_lock);
	if (!e || !event_is_on(e)) {
		set->counting = false;
		return;
	}
	if (set->value == CQM_OCCUPANCY)
		local64_set(&e->event->count, value);
	else if (set->counting)
		event_add(e->event, value - set->base);
	set->base = value;
	set->counting = true;
}

static void source_update(struct source *source)
{
	struct cqm_set *set;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_for_each_entry(set, &source->sets, list) {
		struct cqm_event *e = set->reporter;

		if (!e || !event_is_active(e))
			set_choose(set);
		set_update(set);
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
}

/*
 * What perf calls: a switch does not wait, and the lock may be this CPU's already,
 * under a probe of BPF.
 */
static bool event_lock(void)
{
	lockdep_assert_irqs_disabled();
	return !in_nmi() && raw_spin_trylock(&cqm_lock);
}

static bool event_is_of_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

void cqm_event_begin(struct cqm_event *e)
{
	struct cqm_set *set;

	WRITE_ONCE(e->ran, true);
	if (!event_lock())
		return;
	set = e->set;
	if (!event_is_of_cgroup(e->event))
		e->settled = true;
	/* perf makes it active when this has returned */
	e->on = true;
	if (e->settled && !set->counting) {
		source_read_here(set->source);
		set_choose(set);
		set->base = set->source->values[set->value];
		set->counting = true;
		if (set->reporter && set->value == CQM_OCCUPANCY)
			local64_set(&set->reporter->event->count, set->base);
	}
	raw_spin_unlock(&cqm_lock);
}

/*
 * Traffic goes to the event that is being read: who reads one after the other gets
 * it all.
 */
void cqm_event_update(struct cqm_event *e)
{
	struct cqm_set *set;

	if (!event_lock())
		return;
	set = e->set;
	source_read_here(set->source);
	if (set->value != CQM_OCCUPANCY && e->settled)
		set->reporter = e;
	set_update(set);
	raw_spin_unlock(&cqm_lock);
}

/* It may be disabled now, and then it is not read again. */
void cqm_event_end(struct cqm_event *e)
{
	if (!event_lock())
		return;
	if (local_clock() - e->set->source->read_ns >= END_NS) {
		source_read_here(e->set->source);
		set_update(e->set);
	}
	raw_spin_unlock(&cqm_lock);
}

/* Passes: all sources are read, in process context, with cqm_mutex */

/* On a CPU of the domain, interrupts off. */
static void batch_read_here(void *unused)
{
	u64 begin = local_clock();

	do {
		struct reading *r = &batch->readings[batch->at];

		r->err = cmt_demand_read_here(r->rmid, r->generation,
					      &r->sample);
		if (r->err == -EAGAIN && batch->retries) {
			batch->retries--;
			return;
		}
		batch->at++;
	} while (batch->at < batch->nr && local_clock() - begin < BATCH_NS);
}

static void batch_flush(void)
{
	int cpu = cmt_sampler_reader(batch->domain);
	unsigned long flags;
	u32 i;

	batch->at = 0;
	batch->retries = BATCH_RETRIES;
	while (cpu >= 0 && batch->at < batch->nr)
		if (smp_call_function_single(cpu, batch_read_here, NULL, true))
			break;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	for (i = 0; i < batch->at; i++) {
		const struct reading *r = &batch->readings[i];

		if (!r->err)
			source_take(r->source, batch->domain, &r->sample);
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	batch->nr = 0;
}

static void batch_add(struct source *source, u32 rmid, u32 generation)
{
	struct reading *r = &batch->readings[batch->nr++];

	r->source = source;
	r->rmid = rmid;
	r->generation = generation;
	if (batch->nr == BATCH)
		batch_flush();
}

static void source_batch(struct source *source)
{
	const unsigned long *readable = cmt_table_readable();
	u32 rmid;

	if (source->of_owner) {
		if (source->generation)
			batch_add(source, source->rmid, source->generation);
		return;
	}
	for_each_set_bit(rmid, readable, source->nr_lasts)
		batch_add(source, rmid, cmt_table_generation(rmid));
}

/* The RMID that the owner has now; no RMID: what was read last stands. */
static void source_prepare(struct source *source)
{
	u32 rmid, generation, i;
	unsigned long flags;

	if (source->of_owner) {
		if (cmt_hold_rmid(&source->hold, &rmid, &generation))
			generation = 0;
		raw_spin_lock_irqsave(&cqm_lock, flags);
		source->rmid = rmid;
		source->generation = generation;
		raw_spin_unlock_irqrestore(&cqm_lock, flags);
		return;
	}
	for (i = 0; i < source->nr_lasts; i++)
		source->lasts[i].values[CQM_OCCUPANCY] = 0;
}

static void source_finish(struct source *source)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	source_sum(source);
	source->read_ns = local_clock();
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	source_update(source);
}

/* @only: NULL: all */
static void sources_read(struct source *only)
{
	struct source *source;
	u32 domain;

	lockdep_assert_held(&cqm_mutex);
	list_for_each_entry(source, &sources, list)
		if (!only || source == only)
			source_prepare(source);
	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		batch->domain = domain;
		list_for_each_entry(source, &sources, list)
			if ((!only || source == only) &&
			    (source->domain == ALL_DOMAINS ||
			     source->domain == domain))
				source_batch(source);
		if (batch->nr)
			batch_flush();
	}
	list_for_each_entry(source, &sources, list)
		if (!only || source == only)
			source_finish(source);
}

/* Binding, with cqm_mutex */

static bool source_is(const struct source *source, const struct cmt_hold *hold,
		      u32 domain)
{
	if (source->domain != domain || source->of_owner != !!hold)
		return false;
	return !hold || (source->hold.serial == hold->serial &&
			 source->hold.number == hold->number);
}

/* @hold: NULL: of all RMIDs.  @since: before the hold.  NULL: no memory. */
static struct source *source_get(const struct cmt_hold *hold, u32 domain,
				 u64 since)
{
	u32 n = hold ? CMT_MAX_DOMAINS : cmt_caps.nr_rmids, i;
	struct source *source;

	list_for_each_entry(source, &sources, list)
		if (source_is(source, hold, domain))
			return source;
	source = kvzalloc(struct_size(source, lasts, n), GFP_KERNEL);
	if (!source)
		return NULL;
	INIT_LIST_HEAD(&source->sets);
	source->of_owner = hold;
	if (hold)
		source->hold = *hold;
	source->domain = domain;
	source->since = since;
	source->nr_lasts = n;
	for (i = 0; i < n; i++)
		source->lasts[i].key = NO_KEY;
	list_add_tail(&source->list, &sources);
	sources_read(source);
	return source;
}

/* Unless it has sets. */
static void source_put(struct source *source)
{
	if (!list_empty(&source->sets))
		return;
	list_del(&source->list);
	kvfree(source);
}

static struct cqm_set *set_find(struct source *source, struct pid *client,
				enum cqm_value value)
{
	struct cqm_set *set;

	list_for_each_entry(set, &source->sets, list)
		if (set->client == client && set->value == value)
			return set;
	return NULL;
}

static struct cqm_set *set_new(struct source *source, struct pid *client,
			       enum cqm_value value)
{
	struct cqm_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	unsigned long flags;

	if (!set)
		return NULL;
	INIT_LIST_HEAD(&set->events);
	set->source = source;
	set->client = get_pid(client);
	set->value = value;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_add_tail(&set->list, &source->sets);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return set;
}

static void set_put(struct cqm_set *set)
{
	struct source *source = set->source;
	unsigned long flags;

	if (--set->users)
		return;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_del(&set->list);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	put_pid(set->client);
	kfree(set);
	source_put(source);
}

/* For one event.  NULL: no memory, and nothing is left of it. */
static struct cqm_set *set_get(const struct cmt_hold *hold, u32 domain,
			       u64 since, struct pid *client,
			       enum cqm_value value)
{
	struct source *source = source_get(hold, domain, since);
	struct cqm_set *set;

	if (!source)
		return NULL;
	set = set_find(source, client, value) ?:
	      set_new(source, client, value);
	if (set)
		set->users++;
	else
		source_put(source);
	return set;
}

static void set_add(struct cqm_set *set, struct cqm_event *e)
{
	lockdep_assert_held(&cqm_lock);
	list_add_tail(&e->list, &set->events);
	e->set = set;
	if (!set->reporter)
		set_choose(set);
}

static void set_remove(struct cqm_event *e)
{
	struct cqm_set *set = e->set;

	lockdep_assert_held(&cqm_lock);
	list_del(&e->list);
	if (set->reporter != e)
		return;
	set->reporter = NULL;
	set_choose(set);
}

static int bind(struct cqm_event *e, const struct cmt_hold *hold, u32 domain,
		u64 since, enum cqm_value value)
{
	unsigned long flags;
	struct cqm_set *set;

	mutex_lock(&cqm_mutex);
	set = set_get(hold, domain, since, task_tgid(current), value);
	if (set) {
		raw_spin_lock_irqsave(&cqm_lock, flags);
		if (!hold)
			list_add_tail(&e->unsettled, &unsettled);
		set_add(set, e);
		set_update(set);
		raw_spin_unlock_irqrestore(&cqm_lock, flags);
	}
	mutex_unlock(&cqm_mutex);
	if (!set)
		return -ENOMEM;
	work_later();
	return 0;
}

/* RMIDs may be in limbo; without one nothing would be measured. */
static int wait_for_rmid(const struct cmt_hold *hold)
{
	unsigned long end = jiffies + msecs_to_jiffies(RMID_WAIT_MS);
	u32 rmid, generation;
	int ret;

	for (;;) {
		ret = cmt_hold_rmid(hold, &rmid, &generation);
		if (ret != -EAGAIN)
			return ret == -ENOENT ? -ESRCH : ret;
		if (time_after(jiffies, end))
			return -EBUSY;
		if (msleep_interruptible(2))
			return -EINTR;
	}
}

int cqm_bind_task(struct cqm_event *e, enum cqm_value value, bool inherit)
{
	u64 since = ktime_get_ns();
	int ret = cmt_hold_task(&e->hold, e->event->hw.target,
				inherit ? CMT_ATTACH_CHILDREN : 0);

	if (ret)
		return ret;
	e->holds = true;
	e->settled = true;
	ret = wait_for_rmid(&e->hold) ?:
	      bind(e, &e->hold, ALL_DOMAINS, since, value);
	if (ret)
		cmt_unhold(&e->hold);
	return ret;
}

int cqm_bind_cpu(struct cqm_event *e, enum cqm_value value)
{
	const struct cmt_cpu *cpu = &per_cpu(cmt_cpus, e->event->cpu);

	if (!READ_ONCE(cpu->up))
		return -ENODEV;
	return bind(e, NULL, cpu->domain, ktime_get_ns(), value);
}

void cqm_unbind(struct cqm_event *e)
{
	struct cqm_set *set;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	set = e->set;
	list_del_init(&e->unsettled);
	set_remove(e);
	if (set->reporter && set->value != CQM_OCCUPANCY)
		event_add(set->reporter->event,
			  local64_read(&e->event->count));
	else if (set->reporter)
		set_update(set);
	e->event = NULL;
	list_add_tail(&e->list, &gone);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	work_later();
}

/* The work item */

/* perf knows the cgroup when the event is in a context; 0: none of version 2 */
static u64 cgroup_id_of(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	struct perf_cgroup *cgrp = READ_ONCE(event->cgrp);

	if (cgrp && cgrp->css.cgroup->root == &cgrp_dfl_root)
		return cgroup_id(cgrp->css.cgroup);
#endif
	return 0;
}

/*
 * The next CPU event that turns out to be a cgroup's, or NULL.  An event that still
 * has a reference then keeps the memory of its cgroup while interrupts are off.
 */
static struct cqm_event *settle_next(u64 *cgroup, u32 *domain)
{
	struct cqm_event *e, *n, *found = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_for_each_entry_safe(e, n, &unsettled, unsettled) {
		/* perf stores it last, when it has completed the event */
		if (!smp_load_acquire(&e->event->ctx) ||
		    !atomic_long_read(&e->event->refcount))
			continue;
		list_del_init(&e->unsettled);
		if (!event_is_of_cgroup(e->event)) {
			e->settled = true;
			continue;
		}
		*cgroup = cgroup_id_of(e->event);
		*domain = per_cpu(cmt_cpus, e->event->cpu).domain;
		found = e;
		break;
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return found;
}

/* From the set of a CPU to that of the cgroup.  It may be gone meanwhile. */
static void bind_cgroup(struct cqm_event *e, u64 cgroup, u32 domain)
{
	struct cqm_set *set, *before = e->set;
	u64 since = ktime_get_ns();
	unsigned long flags;

	if (!cgroup || cmt_hold(&e->hold, CMT_OWNER_CGROUP, cgroup, 0))
		return;
	e->holds = true;
	set = set_get(&e->hold, domain, since, before->client, before->value);
	if (!set)
		return;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	if (e->event) {
		set_remove(e);
		e->settled = true;
		set_add(set, e);
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	set_put(e->set == set ? before : set);
}

static struct cqm_event *gone_next(void)
{
	struct cqm_event *e;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	e = list_first_entry_or_null(&gone, struct cqm_event, list);
	if (e)
		list_del(&e->list);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return e;
}

static void cqm_work(struct work_struct *work)
{
	struct cqm_event *e;
	u64 cgroup;
	u32 domain;

	mutex_lock(&cqm_mutex);
	while ((e = gone_next())) {
		set_put(e->set);
		if (e->holds)
			cmt_unhold(&e->hold);
		kfree(e);
	}
	while ((e = settle_next(&cgroup, &domain)))
		bind_cgroup(e, cgroup, domain);
	sources_read(NULL);
	if (!list_empty(&sources))
		work_later();
	mutex_unlock(&cqm_mutex);
}

int __init cqm_read_init(void)
{
	batch = kzalloc(sizeof(*batch), GFP_KERNEL);
	return batch ? 0 : -ENOMEM;
}

/* What was closed last is let go now. */
void cqm_read_exit(void)
{
	flush_delayed_work(&refresh_work);
	cancel_delayed_work_sync(&refresh_work);
	kfree(batch);
}
