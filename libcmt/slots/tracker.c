// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RMIDs have nothing to do with each other, so each has its own queue of
 * events, sorted by time; events of one time stay in the order they came in.
 * An event is mostly the newest of its RMID, so it is inserted from the back.
 */
#include "tracker.h"

#include <stdlib.h>

#include "record/record.h"

#define RMIDS_MAX	65536
#define EVENTS_OF_ALL	256	/* limit of all RMIDs: so many times that of one */

enum event_type {
	EVENT_ALLOC,
	EVENT_FREE,
	EVENT_UPDATE,
};

struct event {
	struct event *prev, *next;	/* next also links the free ones */
	uint64_t ts;
	enum event_type type;
	struct cmt_owner owner;		/* of a FREE, rmid and generation count */
	struct cmt_owner after;		/* the RMID's, as of the last lookup */
};

struct rmid {
	struct cmt_owner owner;		/* as of the last advance */
	bool known;			/* owner is set */
	uint32_t busy;			/* 1 + place in tracker->busy, or 0 */
	struct event *first, *last;
	uint32_t nr_events;
	struct cmt_owner before;	/* of owner; generation 0: not known */
	/* generation of the last owner made by an UPDATE, its ALLOC being lost; or 0 */
	uint32_t alloc_lost;
	uint64_t changed;	/* time of the last change of owner, if known */
	/* of the last FREE of an owner that was not known; generation 0: none */
	uint32_t early_generation;
	uint64_t early_ts;
};

struct cmt_tracker {
	uint32_t nr_rmids;
	uint64_t advanced;	/* to this time */
	bool has_advanced;
	uint64_t as_of;		/* events up to it are in the snapshot */
	bool synced;		/* as_of is set */
	struct event *unused;
	uint64_t nr_events;	/* of all RMIDs */
	uint32_t nr_busy;
	uint32_t *busy;		/* RMIDs with events, in any order */
	struct cmt_hot *hot;	/* by RMID */
	uint64_t *changed;	/* bitmap of RMIDs: see cmt_tracker_changed() */
	uint64_t *owned;	/* bitmap of RMIDs: they have an owner */
	struct rmid rmids[];
};

int cmt_tracker_new(struct cmt_tracker **tracker, uint32_t nr_rmids)
{
	struct cmt_tracker *t;

	if (nr_rmids < 1 || nr_rmids > RMIDS_MAX)
		return -EINVAL;
	t = calloc(1, sizeof(*t) + nr_rmids * sizeof(t->rmids[0]));
	if (!t)
		return -ENOMEM;
	t->nr_rmids = nr_rmids;
	t->busy = calloc(nr_rmids, sizeof(*t->busy));
	t->hot = calloc(nr_rmids, sizeof(*t->hot));
	t->changed = calloc((nr_rmids + 63) / 64, sizeof(*t->changed));
	t->owned = calloc((nr_rmids + 63) / 64, sizeof(*t->owned));
	if (!t->busy || !t->hot || !t->changed || !t->owned) {
		cmt_tracker_free(t);
		return -ENOMEM;
	}
	*tracker = t;
	return 0;
}

static void free_events(struct event *event)
{
	while (event) {
		struct event *next = event->next;

		free(event);
		event = next;
	}
}

void cmt_tracker_free(struct cmt_tracker *tracker)
{
	if (!tracker)
		return;
	for (uint32_t i = 0; i < tracker->nr_busy; i++)
		free_events(tracker->rmids[tracker->busy[i]].first);
	free_events(tracker->unused);
	free(tracker->busy);
	free(tracker->hot);
	free(tracker->changed);
	free(tracker->owned);
	free(tracker);
}

/* The RMID's name, as a record has it or an UPDATE changes it. */
static void owner_rename(struct cmt_owner *owner, const struct cmt_owner *to)
{
	owner->kind = to->kind;
	owner->tgid = to->tgid;
	owner->cpu = to->cpu;
	owner->attached = to->attached;
	owner->service = to->service;
	owner->sole = to->sole;
	owner->group_tid = to->group_tid;
	owner->group_cpu = to->group_cpu;
	owner->cgroup_id = to->cgroup_id;
	memcpy(owner->comm, to->comm, sizeof(owner->comm));
}

static void note_alloc(struct rmid *rmid, uint32_t generation, bool lost)
{
	if (lost)
		rmid->alloc_lost = generation;
	else if (rmid->alloc_lost == generation)
		rmid->alloc_lost = 0;
}

/*
 * A FREE of another generation is stale.  An UPDATE of another one means that its ALLOC
 * was lost: the owner of the RMID is still known.
 */
static void apply(struct rmid *rmid, struct cmt_owner *owner, bool *known,
		  const struct event *event)
{
	bool same = *known && owner->generation == event->owner.generation;

	switch (event->type) {
	case EVENT_FREE:
		if (same && !owner->freed) {
			owner->freed = true;
			owner->until = event->ts;
		}
		break;
	case EVENT_UPDATE:
		if (same) {
			owner_rename(owner, &event->owner);
			break;
		}
		/* fall through */
	case EVENT_ALLOC:
		note_alloc(rmid, event->owner.generation, event->type == EVENT_UPDATE);
		*owner = event->owner;
		*known = true;
		break;
	}
}

static bool owned(const struct rmid *rmid)
{
	return rmid->known && !rmid->owner.freed;
}

static void set_changed(struct cmt_tracker *tracker, const struct rmid *rmid)
{
	size_t i = (size_t)(rmid - tracker->rmids);

	tracker->changed[i / 64] |= 1ULL << (i % 64);
}

/* The hot table is a part of @rmid, which has changed. */
static void warm(struct cmt_tracker *tracker, const struct rmid *rmid)
{
	size_t i = (size_t)(rmid - tracker->rmids);
	struct cmt_hot *hot = &tracker->hot[i];
	uint64_t bit = 1ULL << (i % 64);

	if (owned(rmid))
		tracker->owned[i / 64] |= bit;
	else
		tracker->owned[i / 64] &= ~bit;
	hot->owner = rmid->known ? &rmid->owner : NULL;
	hot->generation = rmid->known ? rmid->owner.generation : 0;
	hot->freed = rmid->owner.freed;
	hot->events = rmid->first;
	set_changed(tracker, rmid);
}

/* The RMID is about to be @generation's. */
static void keep_before(struct rmid *rmid, uint32_t generation)
{
	if (rmid->known && rmid->owner.generation != generation)
		rmid->before = rmid->owner;
}

static void rmid_apply(struct cmt_tracker *tracker, struct rmid *rmid,
		       const struct event *event)
{
	uint32_t generation = event->owner.generation;

	if (event->type != EVENT_FREE)
		keep_before(rmid, generation);
	apply(rmid, &rmid->owner, &rmid->known, event);
	if (rmid->known && rmid->owner.generation == generation) {
		rmid->changed = event->ts;
	} else {
		rmid->early_generation = generation;
		rmid->early_ts = event->ts;
	}
	warm(tracker, rmid);
}

static void set_busy(struct cmt_tracker *tracker, struct rmid *rmid)
{
	tracker->hot[rmid - tracker->rmids].events = true;
	set_changed(tracker, rmid);
	if (rmid->busy)
		return;
	tracker->busy[tracker->nr_busy++] = (uint32_t)(rmid - tracker->rmids);
	rmid->busy = tracker->nr_busy;
}

static void clear_busy(struct cmt_tracker *tracker, struct rmid *rmid)
{
	uint32_t place = rmid->busy - 1;
	uint32_t moved = tracker->busy[--tracker->nr_busy];

	tracker->busy[place] = moved;
	tracker->rmids[moved].busy = place + 1;
	rmid->busy = 0;
	warm(tracker, rmid);
}

static struct event *event_new(struct cmt_tracker *tracker)
{
	struct event *event = tracker->unused;

	if (event)
		tracker->unused = event->next;
	else
		event = malloc(sizeof(*event));
	return event;
}

static void insert(struct cmt_tracker *tracker, struct rmid *rmid,
		   struct event *event)
{
	struct event *after = rmid->last;

	while (after && cmt_ts_before(event->ts, after->ts))
		after = after->prev;
	event->prev = after;
	event->next = after ? after->next : rmid->first;
	if (event->next)
		event->next->prev = event;
	else
		rmid->last = event;
	if (after)
		after->next = event;
	else
		rmid->first = event;
	rmid->nr_events++;
	tracker->nr_events++;
	set_busy(tracker, rmid);
}

/* Take the first event of @rmid off its queue. */
static void drop_first(struct cmt_tracker *tracker, struct rmid *rmid)
{
	struct event *event = rmid->first;

	rmid->first = event->next;
	if (rmid->first)
		rmid->first->prev = NULL;
	else
		rmid->last = NULL;
	rmid->nr_events--;
	tracker->nr_events--;
	event->next = tracker->unused;
	tracker->unused = event;
}

static int enqueue_event(struct cmt_tracker *tracker, enum event_type type,
			 const struct cmt_owner *owner, uint64_t ts)
{
	struct event *event;

	if (owner->rmid == CMT_RMID_NONE || owner->rmid >= tracker->nr_rmids)
		return -EINVAL;
	if (tracker->synced && !cmt_ts_before(tracker->as_of, ts))
		return 0;
	if (tracker->has_advanced && cmt_ts_before(ts, tracker->advanced))
		return -ESTALE;
	event = event_new(tracker);
	if (!event)
		return -ENOMEM;
	event->ts = ts;
	event->type = type;
	event->owner = *owner;
	insert(tracker, &tracker->rmids[owner->rmid], event);
	return 0;
}

static uint32_t kind_of(uint32_t flags)
{
	if (cmt_flags_are_group(flags))
		return CMT_OWNER_RESCTRL;
	if (flags & CMT_F_OWNER_CGROUP)
		return CMT_OWNER_CGROUP;
	if (flags & CMT_F_OWNER_CPU)
		return CMT_OWNER_CPU;
	if (flags & CMT_F_OWNER_OVERFLOW)
		return CMT_OWNER_OVERFLOW;
	return flags & CMT_F_OWNER_KERNEL ? CMT_OWNER_KERNEL : CMT_OWNER_PROCESS;
}

/* What the record says of a resctrl group that is no owner's. */
static void group_from_record(struct cmt_owner *owner, const struct cmt_record *record)
{
	owner->cgroup_id = cmt_record_name_id(record);
	if (record->flags & CMT_F_OWNER_CPU)
		owner->group_cpu = record->owner_cpu;
	else
		owner->group_tid = record->tgid;
}

static void owner_from_record(struct cmt_owner *owner,
			      const struct cmt_record *record)
{
	memset(owner, 0, sizeof(*owner));
	owner->sz = sizeof(*owner);
	owner->since = record->ts;
	owner->cgroup_id = record->owner.cgroup_id;
	owner->group_cpu = CMT_GROUP_NO_CPU;
	owner->residual_known = record->type != CMT_REC_ALLOC_FAIL &&
				record->flags & CMT_F_RESIDUAL;
	if (record->type == CMT_REC_ALLOC_FAIL)
		owner->why = (uint32_t)record->owner.why;
	else if (owner->residual_known)
		owner->residual_bytes = record->owner.residual_bytes;
	owner->rmid = record->rmid;
	owner->generation = record->generation;
	owner->kind = kind_of(record->flags);
	owner->attached = record->flags & CMT_F_ATTACHED;
	owner->service = record->flags & CMT_F_SERVICE;
	owner->sole = record->flags & CMT_F_GROUP_SOLE;
	if (owner->kind == CMT_OWNER_RESCTRL)
		group_from_record(owner, record);
	else if (owner->kind == CMT_OWNER_PROCESS)
		owner->tgid = record->tgid;
	else if (owner->kind == CMT_OWNER_CPU)
		owner->cpu = record->owner_cpu;
	memcpy(owner->comm, record->owner.comm, CMT_COMM_LEN);
}

int cmt_record_owner(const struct cmt_record *record, struct cmt_owner *owner)
{
	struct cmt_owner known;

	if (record->type < CMT_REC_ALLOC || record->type > CMT_REC_ALLOC_FAIL)
		return -EINVAL;
	owner_from_record(&known, record);
	return cmt_out_copy(owner, &known, sizeof(known));
}

/*
 * EXISTING is a state, not an event: it is older than the stream around it.  Behind the
 * last advance it is applied at once, unless a newer state is known.
 */
static int queue_existing(struct cmt_tracker *tracker,
			  const struct cmt_owner *owner)
{
	struct event event = { .ts = owner->since, .type = EVENT_ALLOC, .owner = *owner };
	int err = enqueue_event(tracker, EVENT_ALLOC, owner, owner->since);
	struct rmid *rmid;

	if (err != -ESTALE)
		return err;
	rmid = &tracker->rmids[owner->rmid];
	if (!rmid->known || cmt_ts_before(rmid->owner.since, owner->since))
		rmid_apply(tracker, rmid, &event);
	return 0;
}

int cmt_tracker_record(struct cmt_tracker *tracker,
		       const struct cmt_record *record)
{
	struct cmt_owner owner;
	int err;

	if (record->type < CMT_REC_ALLOC || record->type > CMT_REC_UPDATE)
		return 0;
	owner_from_record(&owner, record);
	if (record->type == CMT_REC_FREE)
		err = enqueue_event(tracker, EVENT_FREE, &owner, record->ts);
	else if (record->type == CMT_REC_UPDATE)
		err = enqueue_event(tracker, EVENT_UPDATE, &owner, record->ts);
	else if (record->type == CMT_REC_EXISTING)
		err = queue_existing(tracker, &owner);
	else
		err = enqueue_event(tracker, EVENT_ALLOC, &owner, record->ts);
	return err ? err : 1;
}

void cmt_tracker_advance(struct cmt_tracker *tracker, uint64_t ts)
{
	if (tracker->has_advanced && cmt_ts_before(ts, tracker->advanced))
		return;
	tracker->advanced = ts;
	tracker->has_advanced = true;
	/* From the back: clear_busy() moves the last one into the hole. */
	for (uint32_t i = tracker->nr_busy; i-- > 0;) {
		struct rmid *rmid = &tracker->rmids[tracker->busy[i]];

		while (rmid->first && !cmt_ts_before(ts, rmid->first->ts)) {
			rmid_apply(tracker, rmid, rmid->first);
			drop_first(tracker, rmid);
		}
		if (!rmid->first)
			clear_busy(tracker, rmid);
	}
}

bool cmt_tracker_sync_possible(const struct cmt_tracker *tracker,
			       const struct cmt_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = &snapshot->records[i];

		if (record->type != CMT_REC_EXISTING ||
		    record->rmid == CMT_RMID_NONE ||
		    record->rmid >= tracker->nr_rmids)
			return false;
	}
	return true;
}

/* A snapshot may be older than the last advance: then later changes stay. */
static bool newer_than(const struct rmid *rmid, uint64_t as_of)
{
	return rmid->known && cmt_ts_before(as_of, rmid->changed);
}

static void rmid_end(struct rmid *rmid, uint64_t ts)
{
	rmid->owner.freed = true;
	rmid->owner.until = ts;
	rmid->changed = ts;
}

/*
 * An owner that the snapshot does not have was freed some time before; it is
 * kept as the last owner of its RMID.
 */
static void free_missing(struct cmt_tracker *tracker, uint64_t as_of)
{
	for (uint32_t i = 1; i < tracker->nr_rmids; i++) {
		struct rmid *rmid = &tracker->rmids[i];

		if (!owned(rmid) || newer_than(rmid, as_of))
			continue;
		rmid_end(rmid, as_of);
		warm(tracker, rmid);
	}
}

static void sync_one(struct cmt_tracker *tracker, uint64_t as_of,
		     const struct cmt_record *record)
{
	struct rmid *rmid = &tracker->rmids[record->rmid];

	if (newer_than(rmid, as_of))
		return;
	keep_before(rmid, record->generation);
	note_alloc(rmid, record->generation, false);
	owner_from_record(&rmid->owner, record);
	rmid->known = true;
	rmid->changed = record->ts;
	if (rmid->early_generation == record->generation &&
	    cmt_ts_before(as_of, rmid->early_ts))
		rmid_end(rmid, rmid->early_ts);
	warm(tracker, rmid);
}

/* Queued events up to as_of are applied first: they have the owners before it. */
int cmt_tracker_sync(struct cmt_tracker *tracker,
		     const struct cmt_snapshot *snapshot)
{
	uint64_t as_of = snapshot->as_of;

	if (!cmt_tracker_sync_possible(tracker, snapshot))
		return -EINVAL;
	cmt_tracker_advance(tracker, as_of);
	free_missing(tracker, as_of);
	for (uint32_t i = 0; i < snapshot->count; i++)
		sync_one(tracker, as_of, &snapshot->records[i]);
	if (!tracker->synced || cmt_ts_before(tracker->as_of, as_of))
		tracker->as_of = as_of;
	tracker->synced = true;
	return 0;
}

/*
 * Each event keeps the owner after it, so an owner that was handed out stays valid when
 * another time is looked up.
 */
const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *tracker,
					   uint32_t rmid, uint64_t ts)
{
	const struct cmt_owner *owner;
	struct event *event;
	struct rmid *r;
	bool known;

	if (rmid == CMT_RMID_NONE || rmid >= tracker->nr_rmids)
		return NULL;
	r = &tracker->rmids[rmid];
	owner = &r->owner;
	known = r->known && !cmt_ts_before(ts, owner->since);
	for (event = r->first; event && !cmt_ts_before(ts, event->ts);
	     event = event->next) {
		event->after = *owner;
		apply(r, &event->after, &known, event);
		owner = &event->after;
	}
	return known ? owner : NULL;
}

const struct cmt_owner *
cmt_tracker_lookup_generation(struct cmt_tracker *tracker, uint32_t rmid,
			      uint32_t generation, uint64_t ts)
{
	const struct cmt_owner *found;
	const struct event *event;
	const struct rmid *r;

	if (rmid == CMT_RMID_NONE || rmid >= tracker->nr_rmids || !generation)
		return NULL;
	/* sets the owner after each event */
	cmt_tracker_lookup(tracker, rmid, ts);
	r = &tracker->rmids[rmid];
	found = r->known && r->owner.generation == generation ? &r->owner : NULL;
	if (r->before.generation == generation)
		found = &r->before;
	for (event = r->first; event && !cmt_ts_before(ts, event->ts);
	     event = event->next)
		if (event->after.generation == generation)
			found = &event->after;
	return found;
}

bool cmt_tracker_full(const struct cmt_tracker *tracker, uint32_t rmid, uint32_t max)
{
	return tracker->nr_events >= (uint64_t)max * EVENTS_OF_ALL ||
	       (rmid < tracker->nr_rmids && tracker->rmids[rmid].nr_events >= max);
}

bool cmt_tracker_alloc_lost(const struct cmt_tracker *tracker, const struct cmt_owner *owner)
{
	return tracker->rmids[owner->rmid].alloc_lost == owner->generation;
}

uint64_t *cmt_tracker_changed(struct cmt_tracker *tracker)
{
	return tracker->changed;
}

const struct cmt_owner *cmt_tracker_next_owner(const struct cmt_tracker *tracker, uint32_t rmid)
{
	uint32_t nr_words = (tracker->nr_rmids + 63) / 64;
	uint64_t bits = UINT64_MAX << (rmid % 64);

	for (uint32_t word = rmid / 64; word < nr_words; word++) {
		bits &= tracker->owned[word];
		if (bits)
			return &tracker->rmids[64 * word + (uint32_t)__builtin_ctzll(bits)].owner;
		bits = UINT64_MAX;
	}
	return NULL;
}

const struct cmt_hot *cmt_tracker_hot(const struct cmt_tracker *tracker)
{
	return tracker->hot;
}
