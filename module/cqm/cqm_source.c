// SPDX-License-Identifier: GPL-2.0
/*
 * The sources of the events, and the readings of their RMIDs.  A source
 * adds up the differences between readings of its RMIDs, so its traffic never decreases,
 * whichever RMID its owner has.  The RMIDs of an owner are its own one, and those of the
 * resctrl groups that are its sole groups at this moment.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "cpu/cpu.h"
#include "hw/hw.h"
#include "internal.h"
#include "owner/owner.h"
#include "sample/sample.h"

#define NO_KEY		U64_MAX
#define NO_VALUE	U64_MAX
#define KNOWN	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define KEY(rmid, generation)	((u64)(rmid) << 32 | (generation))

/* Readings of one domain that are made at a time */
#define BATCH	32

/* Groups that are read where perf reads an event; the work item reads all. */
#define GROUPS_HERE	4

struct batch {
	u32 domain;
	u32 nr;
	struct cqm_source *sources[BATCH];
	struct cqm_last *lasts[BATCH];
	struct cmt_demand_key keys[BATCH];
	struct cmt_record samples[BATCH];
};

DEFINE_MUTEX(cqm_mutex);	/* sources, and binding */
DEFINE_RAW_SPINLOCK(cqm_lock);
LIST_HEAD(cqm_sources);
static struct batch batch;	/* cqm_mutex */

static u64 sample_value(const struct cmt_record *sample, enum cqm_value value)
{
	if (value == CQM_OCCUPANCY)
		return sample->sample.occupancy_bytes;
	if (value == CQM_TOTAL)
		return sample->sample.mbm_total_bytes;
	return sample->sample.mbm_local_bytes;
}

/*
 * Did the owner of the sample get the RMID after the begin of the source?  The RMID may have
 * a later owner by now: the generation is 0 before the time changes.  The RMID of a group may
 * have counted for others before the group was the owner's.
 */
static bool is_new(const struct cqm_source *source, const struct cmt_record *sample)
{
	u64 since = cmt_table_since(sample->rmid);

	if (source->of_owner && sample->rmid != source->rmid)
		return false;
	smp_rmb();	/* pairs with the owner lock between FREE and ALLOC */
	return since >= source->since &&
	       cmt_table_generation(sample->rmid) == sample->generation;
}

/*
 * An RMID that was given after the begin of the source counts with all its traffic, an
 * older RMID from its first reading on.  A reading that is older than the last one adds
 * nothing.
 */
static void traffic_take(struct cqm_source *source, struct cqm_last *last,
			 const struct cmt_record *sample, enum cqm_value i,
			 bool same)
{
	u64 now = sample_value(sample, i);

	if (!same || last->values[i] == NO_VALUE)
		last->values[i] = is_new(source, sample) ? 0 : now;
	if (now <= last->values[i])
		return;
	source->values[i] += now - last->values[i];
	last->values[i] = now;
}

/* The occupancy of an owner, or of a domain, is the sum of what was read last. */
static void occupancy_set(struct cqm_source *source, struct cqm_last *last, u64 bytes)
{
	source->values[CQM_OCCUPANCY] += bytes - last->values[CQM_OCCUPANCY];
	last->values[CQM_OCCUPANCY] = bytes;
}

static void last_take(struct cqm_source *source, struct cqm_last *last, u64 key,
		      const struct cmt_record *sample)
{
	bool same = last->key == key;
	enum cqm_value i;

	source->known |= sample->flags & KNOWN;
	for (i = CQM_TOTAL; i < CQM_NR_VALUES; i++)
		if (sample->flags & CMT_F_OCCUPANCY << i)
			traffic_take(source, last, sample, i, same);
		else if (!same)
			last->values[i] = NO_VALUE;
	if (sample->flags & CMT_F_OCCUPANCY)
		occupancy_set(source, last, sample->sample.occupancy_bytes);
	else if (!same)
		occupancy_set(source, last, 0);
	last->key = key;
}

/* @last: of the sample's RMID in its domain, in @source or in one of its groups */
static void source_take(struct cqm_source *source, struct cqm_last *last,
			const struct cmt_record *sample)
{
	lockdep_assert_held(&cqm_lock);
	last_take(source, last, KEY(sample->rmid, sample->generation), sample);
}

/* Returns whether the RMID was read. */
static bool rmid_read_here(struct cqm_source *source, struct cqm_last *lasts,
			   u32 rmid, u32 generation)
{
	struct cmt_demand_key key = { rmid, generation };
	struct cmt_record sample;

	if (!generation || cmt_demand_read_here(&key, &sample))
		return false;
	source_take(source, &lasts[this_cpu_read(cmt_cpus.domain)], &sample);
	return true;
}

void cqm_source_read_here(struct cqm_source *source)
{
	u32 domain = this_cpu_read(cmt_cpus.domain), n = 0;
	struct cqm_group *group;
	bool any;

	lockdep_assert_held(&cqm_lock);
	if (!source->of_owner ||
	    (source->domain != CQM_ALL_DOMAINS && source->domain != domain))
		return;
	any = rmid_read_here(source, source->lasts, source->rmid,
			     source->generation);
	list_for_each_entry(group, &source->groups, list) {
		if (n++ == GROUPS_HERE)
			break;
		any |= rmid_read_here(source, group->lasts, group->rmid,
				      group->generation);
	}
	if (any)
		source->read_ns = local_clock();
}

static void batch_flush(void)
{
	unsigned long flags;
	u32 i;

	cmt_demand_read(batch.keys, batch.nr, batch.domain, batch.samples);
	cmt_test_delay(msleep, 1);
	raw_spin_lock_irqsave(&cqm_lock, flags);
	for (i = 0; i < batch.nr; i++)
		if (batch.samples[i].type == CMT_REC_SAMPLE)
			source_take(batch.sources[i], batch.lasts[i],
				    &batch.samples[i]);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	batch.nr = 0;
}

static void batch_add(struct cqm_source *source, struct cqm_last *last, u32 rmid,
		      u32 generation)
{
	u32 i = batch.nr++;

	batch.sources[i] = source;
	batch.lasts[i] = last;
	batch.keys[i] = (struct cmt_demand_key) { rmid, generation };
	if (batch.nr == BATCH)
		batch_flush();
}

static void owner_batch(struct cqm_source *source)
{
	struct cqm_group *group;

	if (source->generation)
		batch_add(source, &source->lasts[batch.domain], source->rmid,
			  source->generation);
	list_for_each_entry(group, &source->groups, list)
		batch_add(source, &group->lasts[batch.domain], group->rmid,
			  group->generation);
}

static void source_batch(struct cqm_source *source)
{
	const unsigned long *readable = cmt_table_readable();
	u32 rmid;

	if (source->of_owner) {
		owner_batch(source);
		return;
	}
	for_each_set_bit(rmid, readable, source->nr_lasts)
		batch_add(source, &source->lasts[rmid], rmid,
			  cmt_table_generation(rmid));
}

/* Can a CPU read the counters of the domain?  Racy. */
static bool domain_is_up(u32 domain)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

		if (READ_ONCE(c->up) && READ_ONCE(c->domain) == domain)
			return true;
	}
	return false;
}

static void last_forget(struct cqm_source *source, struct cqm_last *last)
{
	unsigned long flags;

	if (!last->values[CQM_OCCUPANCY])
		return;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	occupancy_set(source, last, 0);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
}

/*
 * No CPU of the domain is up: what its cache held is no present occupancy.  Traffic goes on
 * from the last reading, when a CPU is up again.
 */
static void source_forget_domain(struct cqm_source *source, u32 domain)
{
	struct cqm_group *group;
	u32 rmid;

	if (!source->of_owner) {
		for (rmid = 0; rmid < source->nr_lasts; rmid++)
			last_forget(source, &source->lasts[rmid]);
		return;
	}
	last_forget(source, &source->lasts[domain]);
	list_for_each_entry(group, &source->groups, list)
		last_forget(source, &group->lasts[domain]);
}

/* Drop the readings of RMIDs that have another owner now, or none. */
static void source_forget(struct cqm_source *source)
{
	struct cqm_last *last;
	u32 rmid;

	for (rmid = 0; rmid < source->nr_lasts; rmid++) {
		last = &source->lasts[rmid];
		if (last->key != KEY(rmid, cmt_table_generation(rmid)))
			last_forget(source, last);
	}
}

/* Is this group still the owner's sole group, and has the RMID no later group? */
static bool group_is_current(const struct cqm_source *source,
			     const struct cqm_group *group)
{
	return cmt_hold_next_group(&source->hold, group->rmid - 1) == group->rmid &&
	       cmt_table_generation(group->rmid) == group->generation;
}

static void group_drop(struct cqm_source *source, struct cqm_group *group)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	for (i = 0; i < CMT_MAX_DOMAINS; i++)
		occupancy_set(source, &group->lasts[i], 0);
	list_del(&group->list);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	kfree(group);
}

/* Without memory the group is added in a later pass. */
static void group_add(struct cqm_source *source, u32 rmid)
{
	struct cqm_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	unsigned long flags;
	u32 i;

	if (!group)
		return;
	group->rmid = rmid;
	group->generation = cmt_table_generation(rmid);
	for (i = 0; i < CMT_MAX_DOMAINS; i++)
		group->lasts[i].key = NO_KEY;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_add_tail(&group->list, &source->groups);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
}

static bool has_group(const struct cqm_source *source, u32 rmid)
{
	const struct cqm_group *group;

	list_for_each_entry(group, &source->groups, list)
		if (group->rmid == rmid)
			return true;
	return false;
}

/* Find the sole groups of the owner. */
static void groups_find(struct cqm_source *source)
{
	struct cqm_group *group, *next;
	u32 rmid = 0;

	list_for_each_entry_safe(group, next, &source->groups, list)
		if (!group_is_current(source, group))
			group_drop(source, group);
	while ((rmid = cmt_hold_next_group(&source->hold, rmid)))
		if (!has_group(source, rmid))
			group_add(source, rmid);
}

/*
 * Find the present RMID of the owner.  With no RMID, or one that cannot be read now, the
 * last reading is kept.
 */
static void source_prepare(struct cqm_source *source)
{
	u32 rmid, generation;
	unsigned long flags;

	if (source->of_owner) {
		if (cmt_hold_rmid(&source->hold, &rmid, &generation))
			generation = 0;
		raw_spin_lock_irqsave(&cqm_lock, flags);
		source->rmid = rmid;
		source->generation = generation;
		raw_spin_unlock_irqrestore(&cqm_lock, flags);
		groups_find(source);
		return;
	}
	source_forget(source);
}

static void source_finish(struct cqm_source *source)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	source->read_ns = local_clock();
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
}

void cqm_sources_read(struct cqm_source *only)
{
	struct cqm_source *source;
	u32 domain;
	bool up;

	lockdep_assert_held(&cqm_mutex);
	list_for_each_entry(source, &cqm_sources, list)
		if (!only || source == only)
			source_prepare(source);
	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		batch.domain = domain;
		up = domain_is_up(domain);
		list_for_each_entry(source, &cqm_sources, list) {
			if ((only && source != only) ||
			    (source->domain != CQM_ALL_DOMAINS &&
			     source->domain != domain))
				continue;
			if (up)
				source_batch(source);
			else
				source_forget_domain(source, domain);
		}
		if (batch.nr)
			batch_flush();
	}
	list_for_each_entry(source, &cqm_sources, list)
		if (!only || source == only)
			source_finish(source);
}

static bool source_is(const struct cqm_source *source, const struct cmt_hold *hold,
		      u32 domain)
{
	if (source->domain != domain || source->of_owner != !!hold)
		return false;
	return !hold || (source->hold.serial == hold->serial &&
			 source->hold.number == hold->number);
}

static struct cqm_source *source_new(const struct cmt_hold *hold, u32 domain,
				     u64 since)
{
	u32 n = hold ? CMT_MAX_DOMAINS : cmt_caps.nr_rmids, i;
	struct cqm_source *source;

	source = kvzalloc(struct_size(source, lasts, n), GFP_KERNEL);
	if (!source)
		return NULL;
	INIT_LIST_HEAD(&source->sets);
	INIT_LIST_HEAD(&source->groups);
	source->of_owner = hold;
	if (hold)
		source->hold = *hold;
	source->domain = domain;
	source->since = since;
	source->nr_lasts = n;
	for (i = 0; i < n; i++)
		source->lasts[i].key = NO_KEY;
	list_add_tail(&source->list, &cqm_sources);
	return source;
}

/* What was known before says nothing about a new event. */
static void source_begin_event(struct cqm_source *source)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	source->known = 0;
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	cqm_sources_read(source);
}

struct cqm_source *cqm_source_get(const struct cmt_hold *hold, u32 domain,
				  u64 since)
{
	struct cqm_source *source;

	list_for_each_entry(source, &cqm_sources, list)
		if (source_is(source, hold, domain))
			break;
	if (list_entry_is_head(source, &cqm_sources, list))
		source = source_new(hold, domain, since);
	if (source)
		source_begin_event(source);
	return source;
}

void cqm_source_put(struct cqm_source *source)
{
	struct cqm_group *group, *next;

	if (!list_empty(&source->sets))
		return;
	list_del(&source->list);
	list_for_each_entry_safe(group, next, &source->groups, list)
		group_drop(source, group);
	kvfree(source);
}
