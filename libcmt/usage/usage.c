// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Intervals: records go into slots, slots into an interval, and a complete interval
 * into a frame that waits to be taken.
 *
 * An interval is complete when a slot after it is retired.  Where no slot is retired
 * (no CPU ticks, or one has no records), the clock ends the interval, at the latest
 * after the time that the reader waits for a CPU.  Later records count in the next
 * interval.
 */
#include <cmt/recording.h>
#include <cmt/usage.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "ring/ring.h"
#include "state.h"

#define INTERVAL_DEFAULT	1000000000ULL
#define INTERVAL_MAX		3600000000000ULL
#define SLOT_DEFAULT		1000000ULL
#define LATE_MAX_NS		500000000ULL
#define FEEDS			64	/* in one call */
#define POLL_MS			5	/* while a frame is overdue */
#define SWEEP_NS		250000000ULL

static void frame_release(struct cmt_usage *usage, struct usage_frame *frame)
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
		free(frame);
		frame = next;
	}
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

	if (usage->reader)
		cmt_reader_counts(usage->reader, &reader);
	if (usage->replay)
		usage_replay_counts(usage, &reader);
	usage->perf.quiet = reader.quiet;
	if (reader.lost != usage->lost_base)
		usage_cpus_lost(usage);
	cmt_slots_counts(usage->slots, &slots);
	frame->lost_ever = reader.lost;
	frame->lost = reader.lost - usage->lost_base;
	frame->dropped_ever = reader.late + reader.malformed + slots.late +
			      slots.malformed + slots.perf_dropped +
			      slots.channels_dropped;
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
		.counters = usage->perf.values,
	};
	usage_cpus_sum(usage, &to->frame);
	count_losses(usage, &to->frame);
}

static bool new_paths(const struct cmt_usage *usage)
{
	return cmt_containers_paths(usage->containers) != usage->swept_paths;
}

/*
 * At the end of an interval: after a while, and when something has ended, or is called
 * otherwise than before.  Intervals that are longer have a sweep each.
 */
static bool sweep_due(const struct cmt_usage *usage)
{
	return usage->untidy || new_paths(usage) ||
	       usage->slot_end_ns - usage->swept_ns >= SWEEP_NS;
}

static void sweep(struct cmt_usage *usage)
{
	usage_holdings_sweep(usage);
	usage_groups_sweep(usage);
	usage->untidy = false;
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

/* The frame of the interval so far; NULL: no memory. */
static struct usage_frame *frame_build(struct cmt_usage *usage, uint64_t end_ns)
{
	struct usage_frame *to;

	if (usage_holdings_unread(usage))
		return NULL;
	to = frame_new(usage);
	if (!to)
		return NULL;
	frame_begin(usage, to, end_ns);
	if (usage_rows(usage, to) || usage_channels(usage, to)) {
		frame_release(usage, to);
		return NULL;
	}
	to->frame.rows = to->rows.rows;
	to->frame.nr_rows = to->rows.nr;
	to->frame.children = to->children.rows;
	to->frame.nr_children = to->children.nr;
	return to;
}

/* End the interval at @end_ns; the next one is that in which @now lies. */
static int end_interval(struct cmt_usage *usage, uint64_t end_ns, uint64_t now)
{
	struct usage_frame *to = frame_build(usage, end_ns);

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
	uint32_t i;
	int err;

	/* the sums of the last slot wait for a second one in the interval */
	if (usage->narrow && usage->slots_now)
		usage_brief_sums(usage);
	usage->before_ns = usage->slot_end_ns;
	usage->slot_end_ns = slot->end_ns;
	usage->nr_slots++;
	usage->slots_now++;
	usage->gaps_now += slot->gaps != 0;
	err = usage_entries_add(usage, slot);
	for (i = 0; i < slot->nr_cpus; i++)
		usage_cpu_add(usage, cmt_slot_cpu_at(slot, i));
	for (i = 0; !err && i < slot->nr_perf; i++)
		err = usage_perf_add(usage, cmt_slot_perf_at(slot, i));
	for (i = 0; !err && i < slot->nr_channels; i++)
		err = usage_channel_add(usage, cmt_slot_channel_at(slot, i));
	return err;
}

static int add_slot(void *ctx, const struct cmt_slot *slot)
{
	struct cmt_usage *usage = ctx;
	int err = 0, ret;

	if (!usage->started) {
		usage->started = true;
		usage->origin_ns = slot->start_ns;
		usage->start_ns = slot->start_ns;
		usage->end_ns = slot->start_ns + usage->interval_ns;
	}
	if (!cmt_ts_before(slot->start_ns, usage->end_ns))
		err = end_interval(usage, usage->end_ns, slot->start_ns);
	/* names that came since the last interval */
	if (!usage->slots_now && new_paths(usage))
		sweep(usage);
	if (usage->unread && !usage->first_ns)
		usage->first_ns = slot->start_ns;
	ret = add_entries(usage, slot);
	return err ? err : ret;
}

static int check_opts(const struct cmt_usage_opts *o)
{
	const uint32_t both = CMT_USAGE_CHILDREN | CMT_USAGE_DOMAINS;

	if (o->by > CMT_USAGE_BY_DOMAIN ||
	    (o->flags & ~(both | CMT_USAGE_BRIEF)) || (o->flags & both) == both ||
	    (o->counters & ~(uint64_t)(USAGE_COUNTERS | CMT_F_CHANNEL)) ||
	    o->interval_ns < o->slot_ns || o->interval_ns > INTERVAL_MAX)
		return -EINVAL;
	return o->nr_rmids && o->nr_cpus ? 0 : -EINVAL;
}

/* The machine is the device's, or that which was recorded; NULL: the caller's word. */
static int find_info(const struct cmt_usage_opts *opts, const struct cmt_info **info)
{
	*info = NULL;
	if (opts->device && opts->recording)
		return -EINVAL;
	if (opts->device)
		*info = cmt_device_info(opts->device);
	if (!opts->recording)
		return 0;
	*info = cmt_recording_info(opts->recording);
	return *info ? 0 : -EBADMSG;
}

static int usage_opts(struct cmt_usage_opts *opts,
		      const struct cmt_usage_opts *from, const struct cmt_info **info)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (!err)
		err = find_info(opts, info);
	if (err)
		return err;
	if (!opts->slot_ns)
		opts->slot_ns = SLOT_DEFAULT;
	if (!opts->interval_ns)
		opts->interval_ns = INTERVAL_DEFAULT;
	if (*info) {
		opts->nr_rmids = (*info)->nr_rmids;
		opts->nr_cpus = (*info)->nr_cpus;
		opts->l3_bytes = (*info)->l3_bytes;
		opts->unit_bytes = (*info)->upscale_bytes;
	}
	return check_opts(opts);
}

/* The greatest delay of a record: see cmt_reader_opts.latency_ns. */
static uint64_t lateness(const struct cmt_usage_opts *opts)
{
	uint64_t late;

	late = cmt_ring_share(cmt_device_info(opts->device)->ring_hold_ns);
	if (opts->reader && opts->reader->latency_ns)
		late = opts->reader->latency_ns;
	if (!late || late > LATE_MAX_NS)
		late = LATE_MAX_NS;
	return late + 2 * opts->slot_ns;
}

static int open_containers(struct cmt_usage *usage,
			   const struct cmt_usage_opts *from)
{
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .device = from->device,
		.flags = from->device ? 0 : CMT_CONTAINERS_GIVEN,
	};
	int err;

	usage->containers = from->containers;
	if (usage->containers)
		return 0;
	err = cmt_containers_new(&usage->own_containers, &opts);
	usage->containers = usage->own_containers;
	return err;
}

static int open_slots(struct cmt_usage *usage)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .slot_ns = usage->slot_ns,
		.nr_rmids = usage->nr_rmids, .nr_cpus = usage->nr_cpus,
	};

	usage->cpus = calloc(usage->nr_cpus, sizeof(*usage->cpus));
	if (!usage->cpus)
		return -ENOMEM;
	return cmt_slots_new(&usage->slots, &opts, add_slot, usage);
}

/* Before the reader starts the sampling.  A module that cannot count is an older one. */
static int ask_counters(struct cmt_usage *usage,
			const struct cmt_usage_opts *opts)
{
	int err;

	if (!opts->device || !opts->counters)
		return 0;
	err = cmt_device_set_counters(opts->device, (uint32_t)opts->counters);
	usage->counting = !err;
	usage->channels.wanted = !!(opts->counters & CMT_F_CHANNEL);
	return err == -ENOTTY ? 0 : err;
}

/* The present owners are read at once, so that names can be refreshed. */
static int open_reader(struct cmt_usage *usage,
		       const struct cmt_usage_opts *opts)
{
	int ret;

	if (!opts->device)
		return 0;
	usage->late_ns = lateness(opts);
	usage->started = true;
	usage->origin_ns = cmt_now_ns();
	usage->start_ns = usage->origin_ns;
	usage->end_ns = usage->start_ns + usage->interval_ns;
	ret = cmt_reader_new(&usage->reader, opts->device, opts->reader);
	if (!ret)
		ret = cmt_reader_feed(usage->reader, usage->slots);
	return ret < 0 ? ret : 0;
}

int cmt_usage_new(struct cmt_usage **usage, const struct cmt_usage_opts *opts)
{
	const struct cmt_info *info;
	struct cmt_usage_opts o;
	struct cmt_usage *u;
	int err;

	err = usage_opts(&o, opts, &info);
	if (err)
		return err;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->by = o.by;
	u->flags = o.flags;
	u->nr_rmids = o.nr_rmids;
	u->nr_cpus = o.nr_cpus;
	u->unit_bytes = o.unit_bytes;
	u->l3_bytes = o.l3_bytes;
	u->interval_ns = o.interval_ns;
	u->narrow = o.flags & CMT_USAGE_BRIEF && o.interval_ns == o.slot_ns;
	u->slot_ns = o.slot_ns;
	u->device = o.device;
	u->events = info ? info->events : ~0U;
	u->unread = !u->events;
	u->last = &u->first;
	u->interval = 1;
	u->whole_due = true;
	err = open_containers(u, &o);
	if (!err)
		err = open_slots(u);
	if (!err)
		err = ask_counters(u, &o);
	if (!err)
		err = open_reader(u, &o);
	if (!err && o.recording)
		err = usage_replay_new(u, o.recording);
	if (err) {
		cmt_usage_free(u);
		return err;
	}
	*usage = u;
	return 0;
}

void cmt_usage_free(struct cmt_usage *usage)
{
	uint32_t d;

	if (!usage)
		return;
	cmt_reader_free(usage->reader);
	usage_replay_free(usage);
	if (usage->counting)
		cmt_device_set_counters(usage->device, 0);
	cmt_slots_free(usage->slots);
	while (usage->first) {
		struct usage_frame *frame = usage->first;

		usage->first = frame->next;
		frame_release(usage, frame);
	}
	if (usage->taken)
		frame_release(usage, usage->taken);
	frames_free(usage->spare);
	usage_groups_free(usage);
	usage_perf_free(usage);
	free(usage->channels.all);
	for (d = 0; d < USAGE_DOMAINS; d++)
		free(usage->chains[d]);
	free(usage->holdings);
	free(usage->sorted);
	free(usage->places);
	free(usage->news);
	free(usage->by_id);
	free(usage->cpus);
	free(usage->pending_ids);
	cmt_containers_free(usage->own_containers);
	free(usage);
}

/* Feed until an interval is complete, or nothing is there, or it takes too long. */
static int feed(struct cmt_usage *usage)
{
	int i, n;

	usage->more = false;
	for (i = 0; i < FEEDS && !usage->first; i++) {
		n = cmt_reader_feed(usage->reader, usage->slots);
		if (n <= 0)
			return n;
	}
	usage->more = true;
	return 0;
}

/*
 * The clock is read before the rings: all that the module wrote until then is in the
 * interval that the clock ends, however long the process stands still in between.
 */
static int take_in(struct cmt_usage *usage)
{
	uint64_t now;
	int err;

	if (usage->replay)
		return usage_replay(usage);
	if (!usage->device)
		return 0;
	now = cmt_now_ns();
	err = feed(usage);
	if (err || usage->first || usage->more)
		return err;
	if (cmt_ts_before(now, usage->end_ns + usage->late_ns))
		return 0;
	return end_interval(usage, usage->end_ns, now - usage->late_ns);
}

static void release_taken(struct cmt_usage *usage)
{
	if (usage->taken)
		frame_release(usage, usage->taken);
	usage->taken = NULL;
}

int cmt_usage_next(struct cmt_usage *usage,
		   const struct cmt_usage_frame **frame)
{
	int err;

	if (!usage->first) {
		err = take_in(usage);
		if (err)
			return err;
	}
	if (!usage->first)
		return 0;
	release_taken(usage);
	usage->taken = usage->first;
	usage->first = usage->taken->next;
	if (!usage->first)
		usage->last = &usage->first;
	*frame = &usage->taken->frame;
	return 1;
}

int cmt_usage_peek(struct cmt_usage *usage,
		   const struct cmt_usage_frame **frame)
{
	struct usage_frame *to;

	usage->whole_due = true;
	to = frame_build(usage, usage->slots_now ? usage->slot_end_ns :
						   usage->start_ns);
	if (!to)
		return -ENOMEM;
	release_taken(usage);
	usage->taken = to;
	*frame = &to->frame;
	return 0;
}

int cmt_usage_timeout(const struct cmt_usage *usage)
{
	uint64_t due, now, ms;

	if (usage->first || usage->more)
		return 0;
	if (usage->replay && !usage_replay_ended(usage))
		return 0;
	if (!usage->device)
		return -1;
	/* the interval ends with the first slot after it */
	due = usage->end_ns + 2 * usage->slot_ns + usage->sampling_ns;
	now = cmt_now_ns();
	if (!cmt_ts_before(now, due))
		return POLL_MS;
	ms = (due - now + 999999) / 1000000;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int cmt_usage_wait(struct cmt_usage *usage, int timeout_ms)
{
	int own = cmt_usage_timeout(usage);

	if (!usage->reader)
		return -EINVAL;
	if (own >= 0 && (timeout_ms < 0 || own < timeout_ms))
		timeout_ms = own;
	return cmt_reader_wait(usage->reader, timeout_ms);
}

static void refresh_names(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cgroups; i++)
		if (usage->cgroups[i].item)
			cmt_containers_refresh(usage->containers,
					       usage->cgroups[i].item);
}

static int refresh_pending(struct cmt_usage *usage)
{
	struct cmt_snapshot *pending;
	int err = cmt_device_pending(usage->device, &pending);

	if (err)
		cmt_usage_set_pending(usage, NULL);
	if (err)
		return err == -EAGAIN ? 0 : err;
	err = cmt_usage_set_pending(usage, pending);
	cmt_snapshot_free(pending);
	return err;
}

int cmt_usage_refresh(struct cmt_usage *usage, unsigned int what)
{
	if (!what || (what & ~(CMT_USAGE_NAMES | CMT_USAGE_PENDING)) ||
	    ((what & CMT_USAGE_PENDING) && !usage->device && !usage->replay))
		return -EINVAL;
	if (usage->replay)
		return 0;
	usage->whole_due = true;
	if (what & CMT_USAGE_NAMES)
		refresh_names(usage);
	return what & CMT_USAGE_PENDING ? refresh_pending(usage) : 0;
}

int cmt_usage_set_pending(struct cmt_usage *usage,
			  const struct cmt_snapshot *pending)
{
	uint64_t *ids = NULL;
	struct cmt_owner owner = { .sz = sizeof(owner) };
	uint32_t i;

	if (pending) {
		ids = malloc((pending->count + 1) * sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		for (i = 0; i < pending->count; i++) {
			if (cmt_record_owner(cmt_snapshot_at(pending, i), &owner)) {
				free(ids);
				return -EINVAL;
			}
			ids[i] = owner.cgroup_id;
		}
	}
	free(usage->pending_ids);
	usage->pending_ids = ids;
	usage->pending_known = pending;
	usage->whole_due = true;
	usage->nr_pending = pending ? pending->count : 0;
	usage->pending_ns = pending ? pending->as_of : 0;
	return 0;
}

int usage_take(struct cmt_usage *usage, const struct cmt_record *record)
{
	uint64_t lost = cmt_record_lost(record);
	int err = cmt_slots_add(usage->slots, record);

	if (err)
		return err;
	if (lost && record->cpu < usage->nr_cpus)
		usage->cpus[record->cpu].lost += lost;
	usage->lost += lost;
	return 0;
}

int cmt_usage_add(struct cmt_usage *usage, const struct cmt_record *record)
{
	return usage->device || usage->replay ? -EINVAL : usage_take(usage, record);
}

int cmt_usage_sync(struct cmt_usage *usage, const struct cmt_snapshot *snapshot)
{
	if (usage->device || usage->replay)
		return -EINVAL;
	return cmt_tracker_sync(cmt_slots_tracker(usage->slots), snapshot);
}

int cmt_usage_flush(struct cmt_usage *usage)
{
	int err = cmt_slots_flush(usage->slots);

	if (err || !usage->nr_slots ||
	    !cmt_ts_before(usage->start_ns, usage->slot_end_ns))
		return err;
	usage->untidy = true;
	return end_interval(usage, usage->slot_end_ns, usage->slot_end_ns);
}

struct cmt_containers *cmt_usage_containers(struct cmt_usage *usage)
{
	return usage->containers;
}
