// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slots of time: what is added to the slot of a record, and when its window is moved. */
#include "window.h"

#include <cmt/reader.h>
#include <stdlib.h>

#include "record/record.h"

#define SLOT_DEFAULT_NS	1000000ULL
#define SLOT_MIN_NS	10000ULL
#define SLOT_MAX_NS	10000000000ULL
#define WINDOW_DEFAULT	4
#define WINDOW_MAX	64
#define RMIDS_MAX	65536
#define CPUS_MAX	65536
/* Lifecycle records of an RMID.  The lookup of an owner walks over all that are queued. */
#define EVENTS_PER_MS	256U

static int slots_opts(struct cmt_slots_opts *opts,
		      const struct cmt_slots_opts *from)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (err)
		return err;
	if (!opts->slot_ns)
		opts->slot_ns = SLOT_DEFAULT_NS;
	if (!opts->window)
		opts->window = WINDOW_DEFAULT;
	if (opts->slot_ns < SLOT_MIN_NS || opts->slot_ns > SLOT_MAX_NS ||
	    opts->window < 2 || opts->window > WINDOW_MAX ||
	    opts->nr_rmids < 1 || opts->nr_rmids > RMIDS_MAX ||
	    opts->nr_cpus < 1 || opts->nr_cpus > CPUS_MAX)
		return -EINVAL;
	return 0;
}

static int slots_alloc(struct cmt_slots *s)
{
	/* An RMID is in limbo for 2 ms before it is handed out again. */
	uint32_t generations_max = 2 + (uint32_t)(s->slot_ns / 1000000);
	int err;

	s->gaps = calloc(s->nr_cpus, sizeof(*s->gaps));
	if (!s->gaps)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->window; i++) {
		s->slots[i].number = i;
		s->slots[i].cpus = calloc(s->nr_cpus, sizeof(struct cpu));
		if (!s->slots[i].cpus)
			return -ENOMEM;
	}
	err = cmt_tracker_new(&s->tracker, s->nr_rmids);
	return err ? err : cmt_entries_new(&s->entries, s->tracker, s->nr_rmids,
					   s->window, generations_max);
}

int cmt_slots_new(struct cmt_slots **slots, const struct cmt_slots_opts *opts,
		  cmt_slot_fn fn, void *ctx)
{
	struct cmt_slots_opts o;
	struct cmt_slots *s;
	int err;

	err = fn ? slots_opts(&o, opts) : -EINVAL;
	if (err)
		return err;
	s = calloc(1, sizeof(*s) + o.window * sizeof(s->slots[0]));
	if (!s)
		return -ENOMEM;
	s->slot_ns = o.slot_ns;
	s->window = o.window;
	s->nr_rmids = o.nr_rmids;
	s->nr_cpus = o.nr_cpus;
	s->perf_max = cmt_counts_max(s->nr_cpus, s->slot_ns);
	s->events_max = s->window * EVENTS_PER_MS * (uint32_t)((s->slot_ns + 999999) / 1000000);
	s->fn = fn;
	s->ctx = ctx;
	s->last = &s->slots[0];
	err = slots_alloc(s);
	if (err) {
		cmt_slots_free(s);
		return err;
	}
	*slots = s;
	return 0;
}

void cmt_slots_free(struct cmt_slots *slots)
{
	if (!slots)
		return;
	for (uint32_t i = 0; i < slots->window; i++) {
		free(slots->slots[i].cpus);
		free(slots->slots[i].perf.all);
		free(slots->slots[i].channels.all);
	}
	cmt_entries_free(slots->entries);
	cmt_tracker_free(slots->tracker);
	cmt_snapshot_free(slots->snapshot);
	free(slots->gaps);
	free(slots);
}

static void add_tick(struct slot *slot, const struct cmt_record *record)
{
	struct cpu *cpu = &slot->cpus[record->cpu];

	if (!cpu->out.ticks) {
		slot->nr_cpus++;
		memset(cpu, 0, sizeof(*cpu));
		cpu->out.cpu = record->cpu;
		cpu->ts = record->ts;
	}
	cpu->out.ticks++;
	cpu->out.busy_ticks += record->rmid != CMT_RMID_NONE;
	cpu->out.flags |= record->flags;
	if (cmt_ts_before(record->ts, cpu->ts))
		return;
	cpu->ts = record->ts;
	cpu->out.domain = record->domain;
	cpu->out.rmid = record->rmid;
	cpu->out.generation = record->generation;
	cpu->out.interval_ns = record->interval_ns;
	cpu->out.missed = record->tick.missed;
	cpu->out.deferred = record->tick.deferred;
	cpu->out.busy_ns = record->tick.busy_ns;
	cpu->out.read = record->tick.read;
	cpu->out.waiting = record->tick.waiting;
}

/*
 * A new gap of a CPU that still has one is merged with it: both are in the window, or
 * between the window and the feed.
 */
static void add_gap(struct cmt_slots *slots, uint32_t cpu, uint64_t begin,
		    uint64_t end)
{
	struct gap *gap;

	if (cpu >= slots->nr_cpus || cmt_ts_before(end, begin))
		return;
	gap = &slots->gaps[cpu];
	if (gap->open) {
		if (cmt_ts_before(begin, gap->begin))
			gap->begin = begin;
		if (cmt_ts_before(gap->end, end))
			gap->end = end;
		return;
	}
	*gap = (struct gap){ .begin = begin, .end = end, .open = true };
	slots->nr_gaps++;
}

/* A loss whose slot is retired is reported in the oldest open slot. */
static void count_lost(struct cmt_slots *slots, struct slot *slot, uint64_t lost)
{
	if (!slot)
		slot = window_oldest(slots);
	if (slot)
		slot->lost += lost;
	else
		slots->lost += lost;
}

static int add_lost(struct cmt_slots *slots, const struct cmt_record *record)
{
	struct slot *slot = NULL;
	uint64_t begin, end;

	if (slots->started && !cmt_ts_before(record->ts, slots->floor)) {
		int ret = window_find(slots, record->ts, &slot);

		if (ret)
			return ret;
	}
	count_lost(slots, slot, cmt_record_lost(record));
	cmt_record_gap(record, &begin, &end);
	add_gap(slots, record->cpu, begin, end);
	slots->counts.added++;
	return 0;
}

static bool known_type(uint16_t type)
{
	return (type >= CMT_REC_ALLOC && type <= CMT_REC_ALLOC_FAIL) ||
	       (type >= CMT_REC_SAMPLE && type <= CMT_REC_CHANNEL) ||
	       (type >= CMT_REC_CPU_ONLINE && type <= CMT_REC_STATE);
}

/* Returns 0, -E2BIG (a stream with so many events is corrupt), or as cmt_tracker_record(). */
static int add_event(struct cmt_slots *slots, const struct cmt_record *record)
{
	int err;

	if (cmt_record_is_lifecycle(record) &&
	    cmt_tracker_full(slots->tracker, record->rmid, slots->events_max))
		return -E2BIG;
	err = cmt_tracker_record(slots->tracker, record);
	return err < 0 ? err : 0;
}

static int count_added(struct cmt_slots *slots, int err)
{
	if (err == -ENOMEM)
		return err;
	if (err == -ESTALE)
		slots->counts.late++;
	else if (err)
		slots->counts.malformed++;
	else
		slots->counts.added++;
	return 0;
}

/*
 * Add PERFs that can be, from the first of @n records on.  Returns how many are done
 * with, at least one, or -ENOMEM.
 */
CMT_APART static int add_perf(struct cmt_slots *slots, struct slot *slot,
			      const struct cmt_record *records, uint32_t n)
{
	uint32_t added;

	if (cmt_counts_room(&slot->perf, n, slots->perf_max))
		return -ENOMEM;
	added = cmt_counts_add_run(&slot->perf, records, n, slot->start,
				   slots->slot_ns);
	slots->counts.added += added;
	if (added)
		return (int)added;
	slots->counts.perf_dropped++;
	slot->perf.dropped++;
	return 1;
}

/* A reading that can be. */
static inline int add_reading(struct cmt_slots *slots, struct slot *slot,
			      const struct cmt_record *record)
{
	int err = 0;

	if (record->type == CMT_REC_SAMPLE)
		err = cmt_entries_add(slots->entries, slot->number, record);
	else if (record->type == CMT_REC_TICK)
		add_tick(slot, record);
	else
		return add_perf(slots, slot, record, 1) < 0 ? -ENOMEM : 0;
	if (err)
		return count_added(slots, err);
	slots->counts.added++;
	return 0;
}

static int add_channel(struct cmt_slots *slots, struct slot *slot,
		       const struct cmt_record *record)
{
	int ret = cmt_channels_add(&slot->channels, record);

	if (ret < 0)
		return ret;
	slots->counts.added += (uint64_t)ret;
	slots->counts.channels_dropped += !ret;
	return 0;
}

static int add_known(struct cmt_slots *slots, struct slot *slot,
		     const struct cmt_record *record)
{
	if (cmt_record_is_reading(record))
		return add_reading(slots, slot, record);
	return record->type == CMT_REC_CHANNEL ?
	       add_channel(slots, slot, record) :
	       count_added(slots, add_event(slots, record));
}

/* An EXISTING is a state and not an event: it may be of any age. */
static int add_possible(struct cmt_slots *slots,
			const struct cmt_record *record)
{
	struct slot *slot;
	int err;

	if (record->type == CMT_REC_EXISTING)
		return count_added(slots, add_event(slots, record));
	err = window_find(slots, record->ts, &slot);
	if (err)
		return err;
	return slot ? add_known(slots, slot, record) :
		      count_added(slots, -ESTALE);
}

CMT_APART static int add_closely(struct cmt_slots *slots,
				 const struct cmt_record *record)
{
	if (record->type == CMT_REC_LOST)
		return add_lost(slots, record);
	if (record->type != CMT_REC_PAD && !known_type(record->type))
		slots->counts.unknown++;
	else if (!cmt_record_possible(record, slots->nr_cpus, slots->nr_rmids))
		slots->counts.malformed++;
	else
		return add_possible(slots, record);
	return 0;
}

/* Nearly every record is a reading, in the slot of the record before it. */
int cmt_slots_add(struct cmt_slots *slots, const struct cmt_record *record)
{
	if (!cmt_record_is_reading(record) || record->cpu >= slots->nr_cpus ||
	    !cmt_record_owner_possible(record, slots->nr_rmids) ||
	    !window_in_last(slots, record->ts))
		return add_closely(slots, record);
	return add_reading(slots, slots->last, record);
}

int cmt_slots_flush(struct cmt_slots *slots)
{
	if (!slots->started)
		return 0;
	return window_raise(slots, slots->newest + slots->slot_ns);
}

int cmt_slots_raise(struct cmt_slots *slots, uint64_t ts)
{
	uint64_t floor = ts - ts % slots->slot_ns;

	if (slots->started)
		return window_raise(slots, floor);
	slots->started = true;
	slots->newest = floor;
	slots->floor = floor;
	return 0;
}

/* To the last slot.  Returns how many of the first records are SAMPLEs of it. */
static uint32_t add_samples(struct cmt_slots *slots,
			    const struct cmt_record *records, uint32_t n)
{
	const struct slot *last = slots->last;
	uint32_t added = cmt_entries_add_run(slots->entries, last->number,
					     records, n, last->start,
					     slots->slot_ns);

	slots->counts.added += added;
	return added;
}

/*
 * To the last slot: the first of @n records, and SAMPLEs or PERFs as far as they follow
 * each other in it.  Returns how many are done with, or -ENOMEM.
 */
static int add_checked(struct cmt_slots *slots, const struct cmt_record *records,
		       uint32_t n)
{
	uint32_t added = 0;
	int err = 0;

	if (records->type == CMT_REC_PERF)
		return add_perf(slots, slots->last, records, n);
	if (records->type == CMT_REC_SAMPLE)
		added = add_samples(slots, records, n);
	if (added)
		return (int)added;
	if (known_type(records->type))
		err = add_known(slots, slots->last, records);
	else
		slots->counts.unknown++;
	return err ? err : 1;
}

int cmt_slots_add_checked(struct cmt_slots *slots,
			  const struct cmt_record *records, uint32_t n)
{
	uint32_t i = 0;
	int ret = 0;

	while (i < n) {
		if (!window_in_last(slots, records[i].ts))
			ret = window_take(slots, records[i].ts);
		if (ret)
			return ret;
		ret = add_checked(slots, &records[i], n - i);
		if (ret < 0)
			return ret;
		i += (uint32_t)ret;
		ret = 0;
	}
	return 0;
}

void cmt_slots_gap(struct cmt_slots *slots, uint32_t cpu, uint64_t begin,
		   uint64_t end, uint64_t lost)
{
	struct slot *slot = NULL;

	if (slots->started && !cmt_ts_before(begin, slots->floor) &&
	    cmt_ts_before(begin, window_end(slots)) &&
	    !window_take(slots, begin))
		slot = slots->last;
	count_lost(slots, slot, lost);
	add_gap(slots, cpu, begin, end);
}

bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t missed)
{
	return slots->snapshot || slots->synced == missed + 1;
}

/* Returns 0, -EINVAL or -ENOMEM; the slots own @snapshot, also then. */
static int take_snapshot(struct cmt_slots *slots, struct cmt_snapshot *snapshot)
{
	int err = cmt_tracker_sync_possible(slots->tracker, snapshot) ? 0 : -EINVAL;

	for (uint32_t i = 0; !err && i < snapshot->count; i++) {
		err = add_event(slots, &snapshot->records[i]);
		/* its owner is known when the snapshot is in force */
		if (err == -E2BIG)
			err = 0;
	}
	if (err) {
		cmt_snapshot_free(snapshot);
		return err;
	}
	cmt_snapshot_free(slots->snapshot);
	slots->snapshot = snapshot;
	if (slots->started)
		window_use_snapshot(slots, slots->floor - 1);
	return 0;
}

int cmt_slots_sync(struct cmt_slots *slots, const struct cmt_snapshot *snapshot)
{
	struct cmt_snapshot *copy;
	int err = cmt_snapshot_new(&copy, snapshot->as_of, snapshot->records,
				   snapshot->count);

	return err ? err : take_snapshot(slots, copy);
}

int cmt_slots_sync_missed(struct cmt_slots *slots, struct cmt_snapshot *snapshot,
			  uint64_t missed)
{
	int err = take_snapshot(slots, snapshot);

	if (!err)
		slots->synced = missed + 1;
	return err;
}

const uint64_t *cmt_slots_news(const struct cmt_slots *slots)
{
	return cmt_entries_news(slots->entries);
}

const uint32_t *cmt_slots_read(const struct cmt_slots *slots, uint32_t *nr)
{
	return cmt_entries_read(slots->entries, nr);
}

struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *slots)
{
	return slots->tracker;
}

int cmt_slots_counts(const struct cmt_slots *slots,
		     struct cmt_slots_counts *counts)
{
	return cmt_out_copy(counts, &slots->counts, sizeof(slots->counts));
}

const struct cmt_owner *cmt_slots_next_owner(const struct cmt_slots *slots, uint32_t rmid)
{
	return cmt_tracker_next_owner(slots->tracker, rmid);
}

bool cmt_slots_alloc_lost(const struct cmt_slots *slots, const struct cmt_owner *owner)
{
	return cmt_tracker_alloc_lost(slots->tracker, owner);
}
