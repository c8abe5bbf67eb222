// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slots go into an interval, and a complete interval into a frame that waits to be taken.
 *
 * An interval is complete when a slot after it is retired.  Where no slot is retired
 * (no CPU ticks, or one has no records), the clock ends the interval, at the latest
 * after the time that the reader waits for a CPU.  Later records count in the next
 * interval.
 */
#include "state.h"

#include <errno.h>
#include <stdlib.h>

#define SWEEP_NS	250000000ULL
/* where something has ended; on some hosts that is so in each millisecond */
#define SWEEP_ENDED_NS	25000000ULL

void usage_frame_release(struct cmt_usage *usage, struct usage_frame *frame)
{
	uint32_t i;

	for (i = 0; i < frame->nr_items; i++)
		cmt_containers_unpin(usage->containers, frame->items[i]);
	frame->nr_items = 0;
	frame->rows.nr = 0;
	frame->children.nr = 0;
	frame->next = usage->spare;
	usage->spare = frame;
}

static void frames_free(struct usage_frame *frame)
{
	while (frame) {
		struct usage_frame *next = frame->next;

		free(frame->rows.rows);
		free(frame->children.rows);
		free(frame->items);
		free(frame->channels);
		free(frame->waits);
		free(frame->waits_at);
		free(frame);
		frame = next;
	}
}

void usage_frames_free(struct cmt_usage *usage)
{
	while (usage->first) {
		struct usage_frame *frame = usage->first;

		usage->first = frame->next;
		usage_frame_release(usage, frame);
	}
	if (usage->taken)
		usage_frame_release(usage, usage->taken);
	frames_free(usage->spare);
}

static struct usage_frame *frame_new(struct cmt_usage *usage)
{
	struct usage_frame *frame = usage->spare;

	if (!frame)
		return calloc(1, sizeof(*frame));
	usage->spare = frame->next;
	return frame;
}

static void count_losses(struct cmt_usage *usage,
			 struct cmt_usage_frame *frame)
{
	struct cmt_reader_counts reader = {
		.sz = sizeof(reader), .lost = usage->lost,
	};
	struct cmt_slots_counts slots = { .sz = sizeof(slots) };

	if (usage->source->counts)
		usage->source->counts(usage, &reader);
	usage->perf.quiet = reader.quiet;
	cmt_slots_counts(usage->slots, &slots);
	frame->lost_ever = reader.lost;
	frame->lost = reader.lost - usage->lost_base;
	frame->dropped_ever = reader.late + reader.malformed + slots.late +
			      slots.malformed + slots.perf_dropped +
			      slots.channels_dropped + usage->dropped;
	frame->dropped = frame->dropped_ever - usage->dropped_base;
}

static void frame_begin(struct cmt_usage *usage, struct usage_frame *to,
			uint64_t end_ns)
{
	uint64_t since = usage->closed_ns ? usage->closed_ns : usage->first_ns;

	usage->frames++;
	usage->nr_wanted = 0;
	to->next = NULL;
	to->frame = (struct cmt_usage_frame){
		.start_ns = usage->start_ns,
		.end_ns = end_ns,
		.last_ns = usage->last_ns != usage->closed_ns ?
			   usage->last_ns : 0,
		.elapsed_ns = usage->last_ns - since,
		.by = usage->by,
		.row_size = sizeof(struct cmt_usage_row),
		.pending_known = usage->pending_known,
		.nr_domains = usage->nr_domains,
		.sampling_ns = usage->sampling_ns,
		.pending_ns = usage->pending_ns,
		.pending = usage->nr_pending,
		.nr_slots = usage->slots_now,
		.nr_gaps = usage->gaps_now,
		.counted_ns = usage_counted_ns(usage),
		.counters = usage->perf.flags & USAGE_VALUES,
	};
	usage_cpus_sum(usage, &to->frame);
	count_losses(usage, &to->frame);
}

static bool new_paths(const struct cmt_usage *usage)
{
	return cmt_containers_paths(usage->containers) != usage->swept_paths;
}

/*
 * At the end of an interval: after a while, sooner when something has ended, and at once when
 * something is called otherwise than before.  Intervals that are longer have a sweep each.  What
 * has ended is in no row of the next interval, with and without a sweep.
 */
static bool sweep_due(const struct cmt_usage *usage)
{
	uint64_t past_ns = usage->slot_end_ns - usage->swept_ns;

	return usage->untidy || new_paths(usage) ||
	       past_ns >= (usage->ended ? SWEEP_ENDED_NS : SWEEP_NS);
}

static void sweep(struct cmt_usage *usage)
{
	usage_holdings_sweep(usage);
	usage_groups_sweep(usage);
	usage->untidy = false;
	usage->ended = false;
	/* rows may have other names, or be of other owners */
	usage->whole_due = true;
	usage->swept_ns = usage->slot_end_ns;
	usage->swept_paths = cmt_containers_paths(usage->containers);
}

static void interval_close(struct cmt_usage *usage,
			   const struct cmt_usage_frame *frame)
{
	if (frame) {
		usage->lost_base = frame->lost_ever;
		usage->dropped_base = frame->dropped_ever;
	}
	usage->slots_before = usage->nr_slots;
	usage->slots_now = 0;
	usage->gaps_now = 0;
	usage_perf_close(usage);
	wait_reset(&usage->waits);
	usage_channels_close(usage);
	usage_cpus_close(usage);
	if (sweep_due(usage))
		sweep(usage);
	usage->interval++;
	usage->nr_news = 0;
	usage->nr_seen_before = usage->nr_seen;
	usage->nr_seen = 0;
	usage->nr_again = 0;
	usage->closed_ns = usage->last_ns;
}

/* No memory.  The rows that are lost with the frame are in the next one. */
static struct usage_frame *no_frame(struct cmt_usage *usage)
{
	usage->whole_due = true;
	return NULL;
}

struct usage_frame *usage_frame_build(struct cmt_usage *usage, uint64_t end_ns)
{
	struct usage_frame *to;

	usage_catch_up(usage, usage->slot_end_ns);
	if (usage_holdings_unread(usage))
		return no_frame(usage);
	to = frame_new(usage);
	if (!to)
		return no_frame(usage);
	frame_begin(usage, to, end_ns);
	if (usage_rows(usage, to) || usage_channels(usage, to) || usage_waits(usage, to)) {
		usage_frame_release(usage, to);
		return no_frame(usage);
	}
	to->frame.rows = to->rows.rows;
	to->frame.nr_rows = to->rows.nr;
	to->frame.children = to->children.rows;
	to->frame.nr_children = to->children.nr;
	return to;
}

int usage_interval_end(struct cmt_usage *usage, uint64_t end_ns, uint64_t now)
{
	struct usage_frame *to = usage_frame_build(usage, end_ns);

	/* before a sweep, after which all rows are due again */
	if (to)
		usage_brief_given(usage, &to->frame);
	interval_close(usage, to ? &to->frame : NULL);
	if (!cmt_ts_before(now, end_ns))
		end_ns += (now - end_ns) / usage->interval_ns *
			  usage->interval_ns;
	usage->start_ns = end_ns;
	usage->end_ns = end_ns + usage->interval_ns;
	if (!to)
		return -ENOMEM;
	*usage->last = to;
	usage->last = &to->next;
	return 0;
}

static int add_entries(struct cmt_usage *usage, const struct cmt_slot *slot)
{
	bool lacks = usage_missing_slot(usage, slot);
	uint32_t i;
	int err, ret;

	/* the sums of the last slot wait for a second one in the interval */
	if (usage->narrow && usage->slots_now)
		usage_brief_sums(usage);
	usage->before_ns = usage->slot_end_ns;
	usage->slot_end_ns = slot->end_ns;
	usage->nr_slots++;
	usage->slots_now++;
	usage->gaps_now += lacks || slot->gaps;
	err = usage_entries_add(usage, slot);
	for (i = 0; i < slot->nr_cpus; i++)
		usage_cpu_add(usage, cmt_slot_cpu_at(slot, i));
	if (!err)
		err = usage_perf_add(usage, slot);
	for (i = 0; !err && i < slot->nr_channels; i++)
		err = usage_channel_add(usage, cmt_slot_channel_at(slot, i));
	/* also without memory: its entries are of runners of this interval */
	ret = wait_slot_end(&usage->waits);
	return err ? err : ret;
}

/* An interval begins in the slot of the wanted moment; values in it need the one before. */
static void begin_first(struct cmt_usage *usage, uint64_t start_ns)
{
	uint64_t from_ns = usage->wanted_ns - usage->wanted_ns % usage->slot_ns;

	usage->started = true;
	usage->origin_ns = start_ns;
	usage->start_ns = start_ns;
	usage->end_ns = start_ns + usage->interval_ns;
	if (usage->flags & CMT_USAGE_ALIGNED)
		usage->end_ns -= start_ns % usage->interval_ns;
	else if (start_ns < from_ns)
		usage->end_ns = start_ns + 1 + (from_ns - start_ns - 1) % usage->interval_ns;
}

int usage_slot_add(void *ctx, const struct cmt_slot *slot)
{
	struct cmt_usage *usage = ctx;
	int err = 0, ret;

	if (!usage->started)
		begin_first(usage, slot->start_ns);
	usage_missing_count(usage, slot->start_ns);
	if (!cmt_ts_before(slot->start_ns, usage->end_ns))
		err = usage_interval_end(usage, usage->end_ns, slot->start_ns);
	/* names that came since the last interval */
	if (!usage->slots_now && new_paths(usage))
		sweep(usage);
	if (usage->unread && !usage->first_ns)
		usage->first_ns = slot->start_ns;
	ret = add_entries(usage, slot);
	return err ? err : ret;
}
