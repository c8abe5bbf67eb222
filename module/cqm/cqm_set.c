// SPDX-License-Identifier: GPL-2.0
/*
 * Which event reports.  A set has the events of one client for the same value of one
 * source.  One event of a set reports, the counts of the others do not change: a sum
 * over descriptors counts the source once.
 */
#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "internal.h"

/* Events that are handled in one section with interrupts off */
#define CHOICE		64

/*
 * When a task exits, perf removes its event from the context, then sets the state OFF, then
 * EXIT (6.1 to 6.14).  So an event that is removed is not disabled; except that of a CPU
 * that goes offline, which stays OFF.
 */
static bool event_exits(const struct perf_event *event)
{
	smp_rmb();	/* perf removes it before the state changes */
	return (READ_ONCE(event->attach_state) &
		(PERF_ATTACH_TASK | PERF_ATTACH_CONTEXT)) == PERF_ATTACH_TASK;
}

/* An event in exit state keeps its count: its children may go on counting. */
static bool event_is_on(struct cqm_event *e)
{
	enum perf_event_state state = READ_ONCE(e->event->state);

	if (state >= PERF_EVENT_STATE_INACTIVE)
		e->on = true;
	else if (state > PERF_EVENT_STATE_EXIT && !event_exits(e->event))
		e->on = false;
	return e->on;
}

static bool event_is_active(const struct cqm_event *e)
{
	return READ_ONCE(e->event->state) == PERF_EVENT_STATE_ACTIVE;
}

/*
 * perf's tools drop the value of an event that did not run, also when another event
 * was disabled just before.  Occupancy moves only to an event of a higher rank, since
 * a move between two reads counts it twice or not at all.  Traffic can go to any event.
 */
static u32 event_rank(const struct cqm_set *set, struct cqm_event *e)
{
	bool runs;

	if (!e || !e->settled)
		return 0;
	runs = set->value == CQM_OCCUPANCY ? e->ran : event_is_active(e);
	return 1 + runs * 4 + event_is_on(e) * 2 + (e == set->reporter);
}

/* x86's local64_t is added to without a lock, and a reset comes from any CPU. */
static void event_add(struct perf_event *event, u64 bytes)
{
	atomic_long_add(bytes, &event->count.a.a);
}

/* Let @e report if its rank is higher.  A disabled event replaces no other one. */
static void set_offer(struct cqm_set *set, struct cqm_event *e)
{
	struct cqm_event *before = set->reporter;

	if (e == before || event_rank(set, e) <= event_rank(set, before) ||
	    (before && !event_is_on(e)))
		return;
	set->reporter = e;
	if (before && set->value == CQM_OCCUPANCY)
		local64_set(&before->event->count, 0);
}

/* With many events, the next call continues where this one ended. */
static void set_choose(struct cqm_set *set)
{
	struct cqm_event *e, *first = NULL;
	u32 left;

	set_offer(set, set->recent);
	for (left = CHOICE; left; left--) {
		e = list_first_entry_or_null(&set->events, struct cqm_event,
					     list);
		if (!e || e == first)
			break;
		first = first ?: e;
		set_offer(set, e);
		list_rotate_left(&set->events);
	}
}

void cqm_set_update(struct cqm_set *set)
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

void cqm_source_update(struct cqm_source *source)
{
	struct cqm_set *set;
	unsigned long flags;

	lockdep_assert_held(&cqm_mutex);
	list_for_each_entry(set, &source->sets, list) {
		raw_spin_lock_irqsave(&cqm_lock, flags);
		if (!set->reporter || !event_is_active(set->reporter))
			set_choose(set);
		cqm_set_update(set);
		raw_spin_unlock_irqrestore(&cqm_lock, flags);
	}
}

void cqm_set_begin(struct cqm_event *e)
{
	struct cqm_set *set = e->set;

	lockdep_assert_held(&cqm_lock);
	set->recent = e;
	/* perf makes it active when this has returned */
	e->on = true;
	if (set->counting)
		return;
	cqm_source_read_here(set->source);
	set_offer(set, e);
	set->base = set->source->values[set->value];
	set->counting = true;
	if (set->reporter && set->value == CQM_OCCUPANCY)
		local64_set(&set->reporter->event->count, set->base);
}

static u32 value_flag(enum cqm_value value)
{
	return CMT_F_OCCUPANCY << value;
}

static struct cqm_set *set_find(struct cqm_source *source, struct pid *client,
				enum cqm_value value)
{
	struct cqm_set *set;

	list_for_each_entry(set, &source->sets, list)
		if (set->client == client && set->value == value)
			return set;
	return NULL;
}

static struct cqm_set *set_new(struct cqm_source *source, struct pid *client,
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
	set->want.values = value_flag(value);
	cmt_want_begin(&set->want);
	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_add_tail(&set->list, &source->sets);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return set;
}

void cqm_set_put(struct cqm_set *set)
{
	struct cqm_source *source = set->source;
	unsigned long flags;

	if (--set->users)
		return;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_del(&set->list);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	cmt_want_end(&set->want);
	put_pid(set->client);
	kfree(set);
	cqm_source_put(source);
}

struct cqm_set *cqm_set_get(const struct cmt_hold *hold, u32 domain, u64 since,
			    struct pid *client, enum cqm_value value)
{
	struct cmt_want want = { .values = value_flag(value) };
	struct cqm_source *source;
	struct cqm_set *set = NULL;

	/* before the source is read */
	cmt_want_begin(&want);
	source = cqm_source_get(hold, domain, since);
	if (source)
		set = set_find(source, client, value) ?:
		      set_new(source, client, value);
	if (set)
		set->users++;
	else if (source)
		cqm_source_put(source);
	cmt_want_end(&want);
	return set;
}

void cqm_set_add(struct cqm_set *set, struct cqm_event *e)
{
	lockdep_assert_held(&cqm_lock);
	list_add_tail(&e->list, &set->events);
	e->set = set;
	set_offer(set, e);
}

void cqm_set_remove(struct cqm_event *e)
{
	struct cqm_set *set = e->set;

	lockdep_assert_held(&cqm_lock);
	list_del(&e->list);
	if (set->recent == e)
		set->recent = NULL;
	if (set->reporter != e)
		return;
	set->reporter = NULL;
	set_choose(set);
	/* traffic before the first enabled event belongs to no event */
	if (!set->reporter || !event_is_on(set->reporter))
		set->counting = false;
}

void cqm_set_end(struct cqm_event *e)
{
	struct cqm_set *set = e->set;

	cqm_set_remove(e);
	if (set->reporter && set->value != CQM_OCCUPANCY)
		event_add(set->reporter->event,
			  local64_read(&e->event->count));
	else if (set->reporter)
		cqm_set_update(set);
}
