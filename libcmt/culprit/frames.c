// SPDX-License-Identifier: LGPL-2.1-or-later
/* From the rows of a usage to samples. */
#include "state.h"

#include <errno.h>

#include <cmt/usage.h>

#define SLOT_NS		1000000ULL
/* Of a row with records there is more that has none: its CPU time is a lower bound, too. */
#define MISSED		(CMT_USAGE_WHY_GAP | CMT_USAGE_WHY_PENDING | \
			 CMT_USAGE_WHY_EXCLUDED | CMT_USAGE_WHY_OVERWRITTEN)

enum { ID_KIND, ID_CPU, ID_RESCTRL, ID_RMID };

static uint64_t tagged(uint64_t what, uint32_t high, uint32_t low)
{
	return CMT_CULPRIT_NO_CGROUP | what << 52 | (uint64_t)high << 32 | low;
}

static bool in_cgroup(const struct cmt_usage_row *row)
{
	return row->kind == CMT_USAGE_OWNER && row->owner == CMT_OWNER_CGROUP &&
	       row->cgroup_id && row->cgroup_id < CMT_CULPRIT_NO_CGROUP;
}

uint64_t cmt_culprit_id(const struct cmt_usage_frame *frame,
			const struct cmt_usage_row *row)
{
	if (frame->by == CMT_USAGE_BY_PROCESS)
		return tagged(ID_RMID, row->rmid, row->generation);
	if (in_cgroup(row))
		return row->cgroup_id;
	if (row->kind != CMT_USAGE_OWNER)
		return tagged(ID_KIND, 0, row->kind);
	if (row->owner == CMT_OWNER_CPU)
		return tagged(ID_CPU, 0, row->cpu);
	return tagged(ID_RESCTRL, row->rmid, row->generation);
}

/* Slots in which the traffic was counted: it is also given as a rate */
static uint32_t span_of(const struct cmt_usage_rate *r)
{
	double slots = r->rate > 0 ? (double)r->bytes * 1e9 / r->rate / SLOT_NS :
				     1;

	return slots < 1.5 ? 1 : slots > 1e6 ? 1000000 : (uint32_t)(slots + 0.5);
}

/*
 * Where a CPU has no tick, owners that run there are not read.  The expected number of
 * CPUs with ticks is that of most recent slots.
 */
static bool all_ticked(struct cmt_culprit *culprit,
		       const struct cmt_usage_frame *frame)
{
	if (frame->nr_cpus >= culprit->cpus ||
	    culprit->slots - culprit->cpus_slot > CULPRIT_GAP) {
		culprit->cpus = frame->nr_cpus;
		culprit->cpus_slot = culprit->slots;
	}
	return frame->nr_cpus == culprit->cpus && !frame->nr_gaps;
}

/*
 * Was it not read because it did not run?  With counters that is known.  RMID 0 is read in
 * every tick, whatever ran; where it was not, the tick deferred it.
 */
static bool did_not_run(const struct cmt_usage_frame *frame,
			const struct cmt_usage_row *row)
{
	if (row->counters.known)
		return !row->counters.partial && !row->counters.ran_ns;
	return !frame->counted_ns && row->kind != CMT_USAGE_UNATTRIBUTED;
}

/* A value that cannot be, as of a counter that jumped, is not known. */
static void set_value(struct cmt_culprit_sample *s, uint32_t valid, uint64_t *to,
		      uint64_t value)
{
	if (value >= CULPRIT_BYTES_MAX)
		return;
	s->valid |= valid;
	*to = value;
}

static void sample_read(const struct cmt_usage_row *row,
			struct cmt_culprit_sample *s)
{
	set_value(s, CMT_CULPRIT_OCCUPANCY, &s->occupancy_bytes, row->occupancy.last_bytes);
	if (!row->total.known || row->total.partial)
		return;
	set_value(s, CMT_CULPRIT_TRAFFIC, &s->traffic_bytes, row->total.bytes);
	s->span = span_of(&row->total);
}

static void sample_counters(const struct cmt_usage_counters *c,
			    struct cmt_culprit_sample *s)
{
	uint32_t values = c->known ? c->values & ~c->bounds : 0;

	if (values & CMT_F_CYCLES)
		set_value(s, CMT_CULPRIT_CYCLES, &s->cycles, c->cycles);
	if (values & CMT_F_INSTRUCTIONS)
		set_value(s, CMT_CULPRIT_INSTRUCTIONS, &s->instructions, c->instructions);
	if (values & CMT_F_LLC_REFERENCES)
		set_value(s, CMT_CULPRIT_REFERENCES, &s->references, c->llc_references);
	if (c->known && !(c->why & MISSED))
		set_value(s, CMT_CULPRIT_RAN, &s->ran_ns, c->ran_ns);
	if (values & CMT_F_LLC_MISSES)
		set_value(s, CMT_CULPRIT_MISSES, &s->misses, c->llc_misses);
}

/*
 * An owner with several RMIDs was read when one of them was: the others did not run, or
 * come with the next tick.
 */
static void sample_of(const struct cmt_usage_frame *frame, bool ticked,
		      const struct cmt_usage_row *row,
		      struct cmt_culprit_sample *s)
{
	const struct cmt_usage_occupancy *o = &row->occupancy;
	bool complete = o->known && !o->partial;

	*s = (struct cmt_culprit_sample){
		.id = cmt_culprit_id(frame, row),
		.domain = row->flags & CMT_USAGE_ROW_PART ? row->domain : 0,
		.flags = row->kind == CMT_USAGE_OWNER ? 0 :
							CMT_CULPRIT_NO_VICTIM,
	};
	/* it has its row in each frame, also a brief one, or is there no more */
	if (!complete)
		s->flags |= CMT_CULPRIT_NO_REST;
	if (complete && (!o->age_ns || row->total.known))
		sample_read(row, s);
	else if (complete && ticked && did_not_run(frame, row))
		s->valid = CMT_CULPRIT_IDLE;
	if (s->valid != CMT_CULPRIT_IDLE)
		sample_counters(&row->counters, s);
}

/* Flags of owners without a row */
static uint32_t slot_flags(const struct cmt_usage_frame *frame, bool ticked)
{
	if (!frame->brief)
		return 0;
	if (!ticked || (frame->counted_ns && frame->brief_why))
		return CMT_CULPRIT_SLOT_PART;
	return CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE;
}

/* A frame on its way to a slot. */
struct adding {
	struct cmt_culprit *culprit;
	const struct cmt_usage_frame *frame;
	bool ticked;		/* all CPUs did */
	uint32_t nr;		/* samples */
	uint32_t left_out;
};

static void add_sample(struct adding *adding, const struct cmt_usage_row *row)
{
	struct cmt_culprit *culprit = adding->culprit;
	struct cmt_culprit_sample *s = &culprit->samples_now[adding->nr];

	if (adding->nr == culprit->opts.max_owners) {
		adding->left_out++;
		return;
	}
	sample_of(adding->frame, adding->ticked, row, s);
	if (s->domain < CMT_DOMAINS_MAX)
		adding->nr++;
	else
		adding->left_out++;
}

/* Each part of a row, or where it has none the row. */
static void add_row(struct adding *adding, const struct cmt_usage_row *row)
{
	const struct cmt_usage_row *part;
	uint32_t i;

	for (i = 0; i < row->nr_children; i++) {
		part = cmt_usage_child_at(adding->frame, row->first_child + i);
		if (!(part->flags & CMT_USAGE_ROW_PART))
			break;
		add_sample(adding, part);
	}
	if (!i)
		add_sample(adding, row);
}

int cmt_culprit_add_frame(struct cmt_culprit *culprit,
			  const struct cmt_usage_frame *frame)
{
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = frame->start_ns,
		.sample_size = sizeof(struct cmt_culprit_sample),
		.samples = culprit->samples_now,
	};
	struct adding adding = { .culprit = culprit, .frame = frame };
	int ret;

	if (frame->end_ns - frame->start_ns != culprit->opts.slot_ns ||
	    (frame->by != CMT_USAGE_BY_CONTAINER &&
	     frame->by != CMT_USAGE_BY_PROCESS))
		return -EINVAL;
	if (!frame->nr_cpus)
		return (int)culprit->queue_nr;
	if (!culprit_comes_next(culprit, frame->start_ns))
		return -EINVAL;
	adding.ticked = all_ticked(culprit, frame);
	culprit_waits_add(culprit, frame);
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		add_row(&adding, cmt_usage_row_at(frame, i));
	slot.nr_samples = adding.nr;
	slot.flags = slot_flags(frame, adding.ticked);
	ret = cmt_culprit_add(culprit, &slot);
	if (ret >= 0)
		culprit->not_followed += adding.left_out;
	return ret;
}
