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

/* A ratio is of what was counted, and no bound of anything. */
static struct measure measure_ratio(double value, bool partial)
{
	return (struct measure){ !isnan(value), partial, value };
}

static void copy_counters(struct row *to, const struct cmt_usage_counters *from)
{
	bool missing = from->why & (CMT_USAGE_WHY_GAP | CMT_USAGE_WHY_PENDING |
				    CMT_USAGE_WHY_EXCLUDED);

	to->counters = *from;
	to->cpu_share = measure_ratio(from->known ? from->cpu_share : NAN,
				      missing);
	to->ipc = measure_ratio(from->known ? from->ipc : NAN, false);
	to->mpki = measure_ratio(from->known ? from->mpki : NAN, false);
}

static void copy_values(struct row *to, const struct cmt_usage_row *from)
{
	const struct cmt_usage_occupancy *occupancy = &from->occupancy;

	to->occupancy = (struct measure){
		occupancy->known, occupancy->partial,
		(double)occupancy->last_bytes,
	};
	to->residual_bytes = occupancy->residual_bytes;
	to->age_ns = occupancy->age_ns;
	to->total = measure_rate(&from->total);
	to->local = measure_rate(&from->local);
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

/* Rows, children, and where rows_select() puts both in one order. */
static int make_room(struct frame_room *room, uint32_t rows)
{
	struct row *more;

	if (room->rows && room->nr >= 2 * rows)
		return 0;
	more = reallocarray(room->rows, 2 * (size_t)rows + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	room->rows = more;
	room->nr = 2 * rows;
	return 0;
}

int frame_copy(struct frame *to, struct frame_room *room,
	       const struct cmt_usage_frame *from)
{
	uint32_t i, nr = from->nr_rows + from->nr_children;

	if (make_room(room, nr))
		return -ENOMEM;
	*to = (struct frame){
		.by = (enum cmt_usage_by)from->by,
		.end_ns = from->last_ns,
		.elapsed_ns = from->elapsed_ns,
		.emulated = from->emulated,
		.nr_cpus = from->nr_cpus,
		.nr_domains = from->nr_domains,
		.interval_ns = from->sampling_ns,
		.busy_ns = from->busy_ns,
		.missed = from->missed,
		.ticks_ns = from->elapsed_ns * from->nr_cpus,
		.counted_ns = from->counted_ns,
		.nr_rows = from->nr_rows,
		.rows = room->rows,
		.children = room->rows + from->nr_rows,
		.flat = room->rows + nr,
	};
	for (i = 0; i < from->nr_rows; i++)
		copy_row(&to->rows[i], cmt_usage_row_at(from, i));
	for (i = 0; i < from->nr_children; i++) {
		copy_row(&to->children[i], cmt_usage_child_at(from, i));
		to->children[i].child = true;
	}
	return 0;
}

void frame_room_free(struct frame_room *room)
{
	free(room->rows);
	*room = (struct frame_room){ 0 };
}
