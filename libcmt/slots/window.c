// SPDX-License-Identifier: LGPL-2.1-or-later
#include "window.h"

/* Emit the CPUs with records, moved together; usually all have records. */
static void emit_cpus(struct cmt_slots *slots, struct slot *slot)
{
	const struct cmt_hot *hot = cmt_tracker_hot(slots->tracker);
	uint32_t n = 0;

	for (uint32_t i = 0; n < slot->nr_cpus; i++) {
		struct cpu *cpu = &slot->cpus[i];

		if (!cpu->out.ticks)
			continue;
		cpu->out.owner = cmt_tracker_find(slots->tracker, hot,
						  cpu->out.rmid,
						  cpu->out.generation, cpu->ts);
		if (n != i) {
			slot->cpus[n] = *cpu;
			cpu->out.ticks = 0;
		}
		n++;
	}
}

/* On how many CPUs is a gap in the slot?  Gaps that end in it are done with. */
static uint32_t count_gaps(struct cmt_slots *slots, const struct slot *slot)
{
	uint64_t end = slot->start + slots->slot_ns;
	uint32_t n = 0;

	for (uint32_t cpu = 0; slots->nr_gaps && cpu < slots->nr_cpus; cpu++) {
		struct gap *gap = &slots->gaps[cpu];

		if (!gap->open)
			continue;
		n += cmt_ts_before(gap->begin, end) &&
		     !cmt_ts_before(gap->end, slot->start);
		if (cmt_ts_before(gap->end, end)) {
			gap->open = false;
			slots->nr_gaps--;
		}
	}
	return n;
}

/* A snapshot counts when all slots before it are retired. */
void window_use_snapshot(struct cmt_slots *slots, uint64_t ts)
{
	struct cmt_snapshot *snapshot = slots->snapshot;

	if (!snapshot || cmt_ts_before(ts, snapshot->as_of))
		return;
	/* It was checked when it came. */
	cmt_tracker_sync(slots->tracker, snapshot);
	cmt_snapshot_free(snapshot);
	slots->snapshot = NULL;
}

static void advance(struct cmt_slots *slots, uint64_t ts)
{
	/* first: changes after as_of are made to its owners */
	window_use_snapshot(slots, ts);
	cmt_tracker_advance(slots->tracker, ts);
}

/* Returns the result of the callback. */
static int retire(struct cmt_slots *slots, struct slot *slot)
{
	struct cmt_slot out = {
		.start_ns = slot->start,
		.end_ns = slot->start + slots->slot_ns,
		.lost = slot->lost,
		.nr_cpus = slot->nr_cpus,
		.cpus = &slot->cpus[0].out,
		.cpu_size = sizeof(slot->cpus[0]),
		.gaps = count_gaps(slots, slot),
		.nr_perf = slot->perf.nr,
		.perf_size = sizeof(slot->perf.all[0]),
		.perf = slot->perf.all,
		.perf_dropped = slot->perf.dropped,
		.nr_channels = slot->channels.nr,
		.channel_size = sizeof(slot->channels.all[0]),
		.channels_dropped = slot->channels.dropped,
		.channels = slot->channels.all,
	};
	int ret;

	window_use_snapshot(slots, out.start_ns - 1);
	out.nr_entries = cmt_entries_emit(slots->entries, slot->number,
					  out.end_ns, &out.entries);
	emit_cpus(slots, slot);
	cmt_counts_find_owners(&slot->perf, slots->tracker);
	slot->lost = 0;
	slot->open = false;
	slots->counts.retired++;
	ret = slots->fn(slots->ctx, &out);
	for (; slot->nr_cpus; slot->nr_cpus--)
		slot->cpus[slot->nr_cpus - 1].out.ticks = 0;
	cmt_counts_clear(&slot->perf);
	cmt_channels_clear(&slot->channels);
	advance(slots, out.end_ns - 1);
	return ret;
}

struct slot *window_oldest(const struct cmt_slots *slots)
{
	const struct slot *oldest = NULL;

	for (uint32_t i = 0; i < slots->window; i++) {
		const struct slot *slot = &slots->slots[i];

		if (slot->open &&
		    (!oldest || cmt_ts_before(slot->start, oldest->start)))
			oldest = slot;
	}
	return (struct slot *)oldest;
}

int window_raise(struct cmt_slots *slots, uint64_t floor)
{
	struct slot *slot;
	int ret;

	if (!cmt_ts_before(slots->floor, floor))
		return 0;
	for (;;) {
		slot = window_oldest(slots);
		if (!slot || !cmt_ts_before(slot->start, floor))
			break;
		ret = retire(slots, slot);
		slots->floor = slot->start + slots->slot_ns;
		if (ret)
			return ret;
	}
	slots->floor = floor;
	advance(slots, floor - 1);
	return 0;
}

static int move_window(struct cmt_slots *slots, uint64_t start)
{
	int ret = 0;

	uint64_t floor = start - (slots->window - 1) * slots->slot_ns;

	if (!slots->started) {
		slots->started = true;
		slots->newest = start;
		slots->floor = floor;
	} else if (cmt_ts_before(slots->newest, start)) {
		ret = window_raise(slots, floor);
		if (!ret)
			slots->newest = start;
	}
	return ret;
}

static struct slot *find_open(struct cmt_slots *slots, uint64_t ts)
{
	for (uint32_t i = 0; i < slots->window; i++) {
		struct slot *slot = &slots->slots[i];

		if (slot->open && ts - slot->start < slots->slot_ns)
			return slot;
	}
	return NULL;
}

/*
 * Open the slot at @start, which is not open.  There is a closed slot, because the
 * window has at most window starts.  Returns 0, or the result of the callback.
 */
static int open_slot(struct cmt_slots *slots, uint64_t start,
		     struct slot **found)
{
	struct slot *closed = NULL;
	int ret;

	for (uint32_t i = 0; i < slots->window; i++) {
		struct slot *slot = &slots->slots[i];

		if (!slot->open)
			closed = slot;
	}
	/* But where 2^64 is no multiple of slot_ns, once in 584 years. */
	if (!closed) {
		closed = window_oldest(slots);
		ret = retire(slots, closed);
		slots->floor = closed->start + slots->slot_ns;
		if (ret)
			return ret;
	}
	closed->open = true;
	closed->start = start;
	closed->lost = slots->lost;
	slots->lost = 0;
	*found = closed;
	return 0;
}

/* Records come in runs: most of one slot, the others of the next one. */
static uint64_t slot_start(const struct cmt_slots *slots, uint64_t ts)
{
	uint64_t next = slots->last->start + slots->slot_ns;

	if (slots->last->open && ts - next < slots->slot_ns)
		return next;
	return ts - ts % slots->slot_ns;
}

int window_find(struct cmt_slots *slots, uint64_t ts, struct slot **found)
{
	uint64_t start;
	int ret;

	*found = window_in_last(slots, ts) ? slots->last : find_open(slots, ts);
	if (*found) {
		slots->last = *found;
		return 0;
	}
	start = slot_start(slots, ts);
	ret = move_window(slots, start);
	if (ret || cmt_ts_before(start, slots->floor))
		return ret;
	ret = open_slot(slots, start, found);
	if (!ret)
		slots->last = *found;
	return ret;
}

int window_take(struct cmt_slots *slots, uint64_t ts)
{
	struct slot *found = find_open(slots, ts);
	uint64_t start;

	if (found) {
		slots->last = found;
		return 0;
	}
	start = slot_start(slots, ts);
	if (cmt_ts_before(slots->newest, start))
		slots->newest = start;
	return open_slot(slots, start, &slots->last);
}
