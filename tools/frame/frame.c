// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct measure measure_rate(const struct cmt_usage_rate *rate)
{
	return (struct measure){ rate->known, rate->partial, rate->rate };
}

/* A ratio is of the counted part, and is no bound. */
static struct measure measure_ratio(double value, bool partial)
{
	return (struct measure){ !isnan(value), partial, value };
}

static void copy_counters(struct row *to, const struct cmt_usage_counters *from)
{
	bool missing = from->why & (CMT_USAGE_WHY_GAP | CMT_USAGE_WHY_PENDING |
				    CMT_USAGE_WHY_EXCLUDED | CMT_USAGE_WHY_OVERWRITTEN);

	to->counters = *from;
	to->cpu_share = measure_ratio(from->known ? from->cpu_share : NAN,
				      missing);
	to->wait_share = measure_ratio(from->known ? from->wait_share : NAN,
				       from->bounds & CMT_F_WAITED);
	to->ipc = measure_ratio(from->known ? from->ipc : NAN, false);
	to->mpki = measure_ratio(from->known ? from->mpki : NAN, false);
}

/* An owner that ended has a most, and no least of the whole interval. */
static void copy_extremes(struct row *to,
			  const struct cmt_usage_occupancy *from)
{
	to->least = (struct measure){
		from->known && from->slots, from->partial,
		(double)from->least_bytes,
	};
	to->most = (struct measure){
		from->most_bytes || (from->known && from->slots),
		from->partial,
		(double)from->most_bytes,
	};
}

static void copy_values(struct row *to, const struct cmt_usage_row *from)
{
	const struct cmt_usage_occupancy *occupancy = &from->occupancy;

	to->occupancy = (struct measure){
		occupancy->known, occupancy->partial,
		(double)occupancy->last_bytes,
	};
	copy_extremes(to, occupancy);
	to->residual_bytes = occupancy->residual_bytes;
	to->residual_known = occupancy->residual_known;
	to->age_ns = occupancy->age_ns;
	to->total = measure_rate(&from->total);
	to->local = measure_rate(&from->local);
	to->occupancy_part = measure_ratio(from->coverage.occupancy, false);
	to->total_part = measure_ratio(from->coverage.total, false);
	to->local_part = measure_ratio(from->coverage.local, false);
	copy_counters(to, &from->counters);
	to->why = from->why;
	to->l3_bytes = from->l3_bytes;
}

static void copy_row(struct row *to, const struct cmt_usage_row *from)
{
	*to = (struct row){
		.kind = from->kind,
		.owner = from->owner,
		.whole = from->flags & CMT_USAGE_ROW_WHOLE,
		.attached = from->flags & CMT_USAGE_ROW_ATTACHED,
		.borrowed = from->flags & CMT_USAGE_ROW_BORROWED_ID,
		.seen = from->flags & CMT_USAGE_ROW_SEEN,
		.emulated = from->flags & CMT_USAGE_ROW_EMULATED,
		.is_cpu = from->flags & CMT_USAGE_ROW_CPU,
		.cgroup_id = from->cgroup_id,
		.container = from->container,
		.pid = from->pid,
		.rmid = from->rmid,
		.generation = from->generation,
		.domain = from->domain,
		.cpu = from->cpu,
		.has_group_cpu = from->flags & CMT_USAGE_ROW_GROUP_CPU,
		.rmids = from->rmids,
		.first_child = from->first_child,
		.nr_children = from->nr_children,
		.ticks = from->ticks,
		.busy_ticks = from->busy_ticks,
		.missed = from->missed,
		.busy_ns = from->busy_ns,
		.lost = from->lost,
	};
	memcpy(to->comm, from->comm, sizeof(to->comm));
	copy_values(to, from);
}

static void copy_memory(struct memory *to, const struct cmt_usage_frame *from)
{
	const struct cmt_usage_memory *memory = &from->memory;

	*to = (struct memory){
		.nr_channels = from->nr_channels,
		.read = measure_rate(&memory->read),
		.written = measure_rate(&memory->written),
		.total = measure_rate(&memory->total),
		.rmids = measure_rate(&memory->rmids),
		.unattributed_known = memory->unattributed.known,
		.unattributed = memory->unattributed.rate,
		.lo = memory->unattributed.lo,
		.hi = memory->unattributed.hi,
	};
}

/* A part of a lower bound is no bound of anything. */
static struct measure channel_share(const struct measure *part,
				    const struct measure *all)
{
	if (!part->known || !all->known || part->partial || all->partial ||
	    !(all->value > 0))
		return (struct measure){ 0 };
	return (struct measure){ true, false, part->value / all->value };
}

static void copy_channel(struct row *to, const struct cmt_usage_channel *from,
			 const struct memory *memory)
{
	*to = (struct row){
		.seen = true,
		.why = from->why,
		.socket = from->socket,
		.channel = from->channel,
		.read = measure_rate(&from->read),
		.written = measure_rate(&from->written),
		.total = measure_rate(&from->total),
		.read_bytes = from->read.bytes,
		.written_bytes = from->written.bytes,
	};
	to->share = channel_share(&to->total, &memory->total);
	to->idle = measure_ratio(from->idle.known && !from->idle.partial ?
				 from->idle.share : NAN, false);
	to->idle_why = from->idle.why;
}

static void copy_parts(struct frame *to, const struct cmt_usage_frame *from)
{
	uint32_t i;

	for (i = 0; i < to->nr_rows; i++) {
		to->rows[i].first_part = to->rows[i].first_child;
		to->rows[i].nr_parts = to->rows[i].nr_children;
		to->rows[i].first_child = to->rows[i].nr_children = 0;
	}
	for (i = 0; i < to->nr_parts; i++) {
		const struct cmt_usage_row *part = cmt_usage_child_at(from, i);

		to->parts[i] = (struct row_part){
			.domain = part->domain, .l3_bytes = part->l3_bytes,
			.occupancy = { part->occupancy.known, part->occupancy.partial,
				       (double)part->occupancy.last_bytes },
		};
	}
}

static void copy_rows(struct frame *to, const struct cmt_usage_frame *from)
{
	uint32_t i;

	for (i = 0; i < from->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(from, i);

		copy_row(&to->rows[i], row);
		if (from->by == CMT_USAGE_BY_CONTAINER)
			to->rows[i].culprit_id = cmt_culprit_id(from, row);
	}
	for (i = 0; i < to->nr_children; i++) {
		copy_row(&to->children[i], cmt_usage_child_at(from, i));
		to->children[i].child = true;
	}
	if (to->nr_parts)
		copy_parts(to, from);
}

static int make_parts_room(struct frame_room *room, uint32_t parts)
{
	struct row_part *more;

	if (room->nr_parts >= parts)
		return 0;
	more = reallocarray(room->parts, parts, sizeof(*more));
	if (!more)
		return -ENOMEM;
	room->parts = more;
	room->nr_parts = parts;
	return 0;
}

/* Rows, children, and where rows_select() puts both in one order. */
static int make_room(struct frame_room *room, uint32_t rows, uint32_t parts)
{
	struct row *more;

	if (room->rows && room->nr >= 2 * rows)
		return make_parts_room(room, parts);
	more = reallocarray(room->rows, 2 * (size_t)rows + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	room->rows = more;
	room->nr = 2 * rows;
	return make_parts_room(room, parts);
}

/* The library has processes as children, or parts: not both. */
static bool has_parts(const struct cmt_usage_frame *from)
{
	return from->nr_children && cmt_usage_child_at(from, 0)->flags & CMT_USAGE_ROW_PART;
}

/* Copy the properties of the interval. */
static void copy_interval(struct frame *to, const struct cmt_usage_frame *from)
{
	*to = (struct frame){
		.start_ns = from->start_ns,
		.end_ns = from->last_ns ? from->last_ns : from->end_ns,
		.unread = !from->last_ns,
		.elapsed_ns = from->elapsed_ns,
		.emulated = from->emulated,
		.nr_cpus = from->nr_cpus,
		.nr_domains = from->nr_domains,
		.interval_ns = from->sampling_ns,
		.busy_ns = from->busy_ns,
		.missed = from->missed,
		.ticks_ns = from->elapsed_ns * from->nr_cpus,
		.counted_ns = from->counted_ns,
	};
	copy_memory(&to->memory, from);
}

int frame_copy(struct frame *to, struct frame_room *room,
	       const struct cmt_usage_frame *from, enum view view)
{
	uint32_t rows = view == VIEW_CHANNEL ? from->nr_channels : from->nr_rows;
	uint32_t children = view == VIEW_CHANNEL ? 0 : from->nr_children, i;
	uint32_t parts = has_parts(from) ? children : 0;

	children -= parts;
	if (make_room(room, rows + children, parts))
		return -ENOMEM;
	copy_interval(to, from);
	to->by = view;
	to->nr_rows = rows;
	to->rows = room->rows;
	to->nr_children = children;
	to->children = room->rows + rows;
	to->flat = room->rows + rows + children;
	to->parts = room->parts;
	to->nr_parts = parts;
	if (view != VIEW_CHANNEL)
		copy_rows(to, from);
	for (i = 0; view == VIEW_CHANNEL && i < rows; i++)
		copy_channel(&to->rows[i], cmt_usage_channel_at(from, i),
			     &to->memory);
	return 0;
}

void frame_room_free(struct frame_room *room)
{
	free(room->rows);
	free(room->parts);
	*room = (struct frame_room){ 0 };
}
