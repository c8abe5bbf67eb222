// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"

/*
 * An owner that does not run is read once in 32 ticks: the bandwidth of the slots
 * before comes with that reading, so a block is complete this number of slots after its
 * end.
 */
#define LATE_SLOTS	128U
#define NEAR_SLOTS	1000U	/* of a verdict, that the page is to have in full */

void model_init(struct model *model, struct spool *spool, uint32_t unit_bytes,
		uint64_t start_ns)
{
	*model = (struct model){ .spool = spool, .start_ns = start_ns };
	pyramid_init(&model->pyramid, spool, unit_bytes ? unit_bytes : 1);
}

void model_free(struct model *model)
{
	members_free(model);
	sums_free(&model->sums);
	pyramid_free(&model->pyramid);
	wait_pairs_free(&model->wait_pairs);
	incidents_free(&model->incidents);
	free(model->verdicts);
	*model = (struct model){ 0 };
}

static void copy_rates(struct point *to, const struct point *from)
{
	to->rated = from->rated;
	to->localed = from->localed;
	to->rate_bounded = from->rate_bounded;
	to->partial |= from->rate_bounded;
	to->rate_sum = to->rate_most = from->rate_sum;
	to->local_sum = from->local_sum;
}

/* Put @nr slots behind those that are done. */
static int put(struct model *model, struct member *member, const struct point *point,
	       uint64_t nr)
{
	const struct point all = point_times(point, (uint32_t)nr);
	uint64_t slot = member->done;

	if (!nr)
		return 0;
	point_merge(&member->all, &all);
	sums_add_rmid(&model->sums, slot, nr, point,
		      member->kind == CMT_USAGE_UNATTRIBUTED);
	member->done += nr;
	member->last = member->done - 1;
	if (!point->rated)
		member->unrated = member->done;
	return pyramid_put(&model->pyramid, (uint32_t)(member - model->members), slot,
			   point, (uint32_t)nr);
}

/*
 * Put the held occupancy until @slot.  @rates: has the bandwidth of the last @span
 * slots of these; NULL: it is unknown.
 */
static int settle(struct model *model, struct member *member, uint64_t slot,
		  const struct point *rates, uint64_t span)
{
	struct point point = { .slots = 1, .held = 1 };
	uint64_t nr = slot > member->done ? slot - member->done : 0;
	int ret;

	if (!member->present) {
		member->done += nr;
		return 0;
	}
	if (member->holding) {
		point.known = 1;
		point.least = point.most = member->occupancy;
		point.sum = (double)member->occupancy;
	}
	span = !rates ? 0 : span < nr ? span : nr;
	ret = put(model, member, &point, nr - span);
	if (ret || !rates)
		return ret;
	copy_rates(&point, rates);
	return put(model, member, &point, span);
}

/* Slots before @slot that are not done are unknown, of all members. */
static int blank(struct model *model, uint64_t slot)
{
	const struct point unknown = { .slots = 1 };
	int ret = 0;

	for (uint32_t i = 0; !ret && i < model->nr; i++) {
		struct member *member = &model->members[i];

		member->holding = false;
		if (!member->present)
			member->done = slot;
		if (slot <= member->done)
			continue;
		member->blank += slot - member->done;
		member->why |= CMT_USAGE_WHY_GAP;
		ret = put(model, member, &unknown, slot - member->done);
	}
	return ret;
}

static int settle_all(struct model *model, uint64_t slot)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < model->nr; i++)
		ret = settle(model, &model->members[i], slot, NULL, 0);
	return ret;
}

/* Blocks that have been complete for long enough. */
static int flush(struct model *model, uint64_t slot)
{
	uint64_t end;
	int ret;

	if (slot < LATE_SLOTS)
		return 0;
	end = (slot - LATE_SLOTS) / PYRAMID_BLOCK * PYRAMID_BLOCK;
	if (end / PYRAMID_BLOCK <= model->pyramid.next_block[0])
		return 0;
	ret = settle_all(model, end);
	if (!ret)
		ret = sums_flush(model, end);
	return ret ? ret : pyramid_flush(&model->pyramid, end);
}

/* Unknown slots from @slot on, block by block */
static int gap(struct model *model, uint64_t slot, uint64_t end)
{
	int ret = settle_all(model, slot);

	while (!ret && slot < end) {
		uint64_t begin = slot;

		slot = (slot / PYRAMID_BLOCK + 1) * PYRAMID_BLOCK;
		slot = slot < end ? slot : end;
		sums_blank(&model->sums, begin, slot);
		ret = blank(model, slot);
		if (!ret)
			ret = flush(model, slot);
	}
	return ret;
}

static void note_gap(struct model *model, uint64_t slot, uint64_t nr, enum gap_why why)
{
	struct gap *last = model->nr_gaps ? &model->gaps[model->nr_gaps - 1] : NULL;

	model->gap_slots += nr;
	if (last && !model->gaps_left_out && last->why == why && last->slot + last->nr == slot) {
		last->nr += nr;
		return;
	}
	if (model->nr_gaps < MODEL_GAPS)
		model->gaps[model->nr_gaps++] = (struct gap){ slot, nr, why };
	else
		model->gaps_left_out++;
}

/* Slots that the bandwidth of a row is of. */
static uint64_t span_of(const struct cmt_usage_rate *rate)
{
	double slots = rate->rate > 0 ?
		       (double)rate->bytes * 1e9 / rate->rate / (double)MODEL_SLOT_NS : 1;

	return slots < 1.5 ? 1 : slots > 1e6 ? 1000000 : (uint64_t)(slots + 0.5);
}

static bool is_read(const struct cmt_usage_row *row)
{
	return row->total.known ||
	       (row->occupancy.known && row->occupancy.age_ns < MODEL_SLOT_NS);
}

static struct point point_of(const struct cmt_usage_row *row, const struct point *rates)
{
	const struct cmt_usage_occupancy *o = &row->occupancy;
	struct point point = { .slots = 1 };

	if (o->known) {
		point.known = 1;
		point.least = point.most = o->last_bytes;
		point.sum = (double)o->last_bytes;
		point.held = !is_read(row);
		point.partial = point.bytes_bounded = o->partial;
	}
	copy_rates(&point, rates);
	return point;
}

static void leave(struct member *member)
{
	member->present = member->holding = false;
}

/* A reading that comes later has what is missing now. */
static bool is_bound(const struct cmt_usage_rate *rate)
{
	return rate->partial && rate->why & ~CMT_USAGE_WHY_OLD;
}

/*
 * The bandwidth of a row in slots that are not done, up to @slot: its traffic, over all
 * of them.  In a row with more than one RMID only the running ones are read, and the
 * traffic of the others comes later: so the traffic is of all slots since the last
 * reading of any RMID.  Through unknown slots, and where the container was absent, the
 * row's own rate counts.  Returns the number of slots.
 */
static uint64_t rates_of(const struct member *member, uint64_t slot,
			 const struct cmt_usage_row *row, struct point *rates)
{
	uint64_t span = span_of(&row->total);
	uint64_t slots = member->present && slot > member->done ? slot + 1 - member->done : 1;
	bool through = !member->present || slot + 1 < member->unrated + span;
	double second = 1e9 / (double)(slots * MODEL_SLOT_NS);

	if (!row->total.known || !isfinite(row->total.rate))
		return 0;
	rates->rated = 1;
	rates->rate_sum = through ? row->total.rate : (double)row->total.bytes * second;
	rates->rate_bounded = is_bound(&row->total);
	/* a point has one mark for both, and without it the rest would be called remote */
	if (row->local.known && isfinite(row->local.rate) &&
	    (rates->rate_bounded || !is_bound(&row->local))) {
		rates->localed = 1;
		rates->local_sum = through ? row->local.rate :
					     (double)row->local.bytes * second;
	}
	return through && span < slots ? span : slots;
}

/* Add the values of @slot, and the held occupancy before it. */
static int add_point(struct model *model, struct member *member, uint64_t slot,
		     const struct cmt_usage_row *row)
{
	struct point rates = { 0 }, point;
	uint64_t span = rates_of(member, slot, row, &rates);
	int ret = settle(model, member, slot, &rates, span ? span - 1 : 0);

	if (!member->present) {
		member->first = member->all.slots ? member->first : slot;
		member->present = true;
	}
	point = point_of(row, &rates);
	member->holding = point.known;
	member->occupancy = row->occupancy.last_bytes;
	return ret ? ret : put(model, member, &point, 1);
}

/* A slot without any record of a CPU is a gap, or the first one, and says nothing. */
static void add_waits(struct member *member, const struct cmt_usage_counters *c)
{
	bool known = c->values & CMT_F_WAITED;

	member->waits |= known;
	member->waits_partial |= c->bounds & CMT_F_WAITED || (c->known && !known) ||
				 c->why & ~CMT_USAGE_WHY_NOT_COUNTED;
	member->waited_ns += c->waited_ns;
}

static int add_row(struct model *model, const struct cmt_usage_frame *frame, uint64_t slot,
		   const struct cmt_usage_row *row)
{
	int64_t number = members_of(model, frame, row);
	struct member *member;
	int ret = 0;

	if (number < 0)
		return (int)number;
	member = &model->members[number];
	member->why |= row->occupancy.why | row->total.why;
	member->parts |= row->kind == CMT_USAGE_OWNER && row->cgroup_id &&
			 !(row->flags & CMT_USAGE_ROW_WHOLE);
	member->seen = model->frames;
	add_waits(member, &row->counters);
	if (!row->occupancy.known && row->occupancy.why & CMT_USAGE_WHY_ENDED) {
		ret = settle(model, member, slot, NULL, 0);
		leave(member);
		return ret;
	}
	/* the occupancy stays, and the bandwidth comes later */
	if (member->holding && row->occupancy.known && !is_read(row) &&
	    row->occupancy.last_bytes == member->occupancy)
		return 0;
	return add_point(model, member, slot, row);
}

/* Members without a row in a frame of all rows have ended. */
static int end_others(struct model *model, uint64_t slot)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < model->nr; i++) {
		struct member *member = &model->members[i];

		if (!member->present || member->seen == model->frames)
			continue;
		ret = settle(model, member, slot, NULL, 0);
		leave(member);
	}
	return ret;
}

static int add_rows(struct model *model, const struct cmt_usage_frame *frame, uint64_t slot)
{
	int ret = 0;

	if (frame->nr_gaps) {
		/* owners in the frame may be read; the others are unknown */
		note_gap(model, slot, 1, GAP_LOST);
		sums_blank(&model->sums, slot, slot + 1);
		ret = settle_all(model, slot);
	}
	for (uint32_t i = 0; !ret && i < frame->nr_rows; i++)
		ret = add_row(model, frame, slot, cmt_usage_row_at(frame, i));
	if (!ret && frame->nr_gaps)
		return blank(model, slot + 1);
	return ret || frame->brief ? ret : end_others(model, slot);
}

static void add_counts(struct model *model, const struct cmt_usage_frame *frame)
{
	model->frames++;
	model->lost_last = frame->nr_gaps;
	model->lost += frame->lost;
	model->dropped += frame->dropped;
	model->missed += frame->missed;
	model->counters |= frame->counters;
	snprintf(model->channels_reason, sizeof(model->channels_reason), "%s",
		 frame->channels_reason ? frame->channels_reason : "");
	if (frame->sampling_ns > model->sampling_ns)
		model->sampling_ns = frame->sampling_ns;
	if (frame->nr_cpus > model->nr_cpus)
		model->nr_cpus = frame->nr_cpus;
	if (frame->nr_domains > model->nr_domains)
		model->nr_domains = frame->nr_domains;
	if (frame->nr_rows) {
		model->emulated |= frame->emulated;
		model->not_emulated |= !frame->emulated;
		model->l3_bytes = cmt_usage_row_at(frame, 0)->l3_bytes;
	}
}

/* Between the last slot with a sample and @slot: the held occupancy, or a gap */
static int bridge(struct model *model, const struct cmt_usage_frame *frame, uint64_t slot)
{
	uint64_t from = model->ticked;
	bool lost = frame ? frame->nr_gaps : model->lost_last;

	model->ticked = slot + 1;
	if (frame && frame->sampling_ns)
		model->period = (uint32_t)((frame->sampling_ns + MODEL_SLOT_NS - 1) /
					   MODEL_SLOT_NS);
	if (slot < from + (model->period ? model->period : 1))
		return 0;
	/* a recording begins within its first slot: that the slot is unknown is no gap */
	if (from || slot > 1)
		note_gap(model, from, slot - from,
			 lost ? GAP_LOST : GAP_UNREAD);
	return gap(model, from, slot);
}

static int add_wait_pairs(struct model *model, const struct cmt_usage_frame *frame)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < frame->nr_waits; i++) {
		const struct cmt_usage_wait_part *part = cmt_usage_wait_part_at(frame, i);
		int64_t victim = members_of(model, frame, cmt_usage_row_at(frame, part->row));
		int64_t runner = WAIT_PAIR_UNKNOWN;

		if (victim >= 0 && part->by != CMT_USAGE_WAIT_UNKNOWN)
			runner = members_of(model, frame, cmt_usage_row_at(frame, part->by));
		if (victim < 0 || runner < 0)
			return -ENOMEM;
		ret = wait_pairs_add(&model->wait_pairs, (uint32_t)victim, (uint32_t)runner,
				     part->ns);
	}
	return ret;
}

int model_add(struct model *model, const struct cmt_usage_frame *frame)
{
	uint64_t slot;
	int ret;

	slot = (frame->start_ns - model->start_ns) / MODEL_SLOT_NS;
	if (frame->start_ns < model->start_ns || slot < model->slots ||
	    slot >= MODEL_SLOTS_MAX)
		return -ERANGE;
	add_counts(model, frame);
	model->slots = slot + 1;
	if (!frame->nr_cpus)
		return 0;
	ret = bridge(model, frame, slot);
	if (!ret)
		ret = sums_add_channels(model, frame, slot);
	if (!ret)
		ret = add_rows(model, frame, slot);
	if (!ret)
		ret = add_wait_pairs(model, frame);
	return ret ? ret : flush(model, slot);
}

void model_judge(struct model *model, const struct slower_little *little)
{
	/* those that the list had no room for may be any */
	bool complete = little->nr == little->all;

	for (uint32_t i = 0; i < model->nr; i++) {
		struct member *member = &model->members[i];

		if (!member->present)
			continue;
		member->seconds++;
		member->little += !complete || slower_is_little(little, member->id);
	}
}

/* The order of verdicts in the list: the surest first, of these the greatest loss. */
static double weight(const struct cmt_culprit_verdict *verdict)
{
	double sure = isnan(verdict->confidence) ? 0 : verdict->confidence;

	return sure + (double)verdict->lost_bytes / 1e18;
}

static void find_lightest(struct model *model)
{
	model->lightest = 0;
	for (uint32_t i = 1; i < model->nr_verdicts; i++)
		if (weight(&model->verdicts[i].verdict) <
		    weight(&model->verdicts[model->lightest].verdict))
			model->lightest = i;
	model->lightest_found = true;
}

/* Room for one that is heavier than the lightest; NULL: there is none. */
static struct model_verdict *lightest(struct model *model,
				      const struct cmt_culprit_verdict *verdict)
{
	struct model_verdict *least;

	model->verdicts_left_out++;
	if (!model->lightest_found)
		find_lightest(model);
	least = &model->verdicts[model->lightest];
	if (weight(verdict) <= weight(&least->verdict))
		return NULL;
	model->lightest_found = false;
	return least;
}

/* In @to, or NULL: it is not to be listed.  Returns 0 or -ENOMEM. */
static int room_for(struct model *model, const struct cmt_culprit_verdict *verdict,
		    struct model_verdict **to)
{
	uint32_t room = model->room_verdicts ? model->room_verdicts * 2 : 16;
	struct model_verdict *verdicts;

	if (model->nr_verdicts == MODEL_VERDICTS) {
		*to = lightest(model, verdict);
		return 0;
	}
	if (model->nr_verdicts == model->room_verdicts) {
		verdicts = reallocarray(model->verdicts, room, sizeof(*verdicts));
		if (!verdicts)
			return -ENOMEM;
		model->verdicts = verdicts;
		model->room_verdicts = room;
	}
	*to = &model->verdicts[model->nr_verdicts++];
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct model_verdict *x = a, *y = b;

	return x->verdict.ts_ns < y->verdict.ts_ns ? -1 :
	       x->verdict.ts_ns > y->verdict.ts_ns;
}

static void count(struct model *model, uint64_t id, bool victim)
{
	struct member *member = (struct member *)model_find(model, id);

	if (member && victim)
		member->verdicts++;
	else if (member)
		member->suspected++;
}

int model_verdict(struct model *model, const struct cmt_culprit_verdict *verdict,
		  const struct why_names *names)
{
	struct model_verdict *to;

	count(model, verdict->id, true);
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		count(model, verdict->suspects[i].id, false);
	if (room_for(model, verdict, &to))
		return -ENOMEM;
	if (!to)
		return 0;
	to->verdict = *verdict;
	memcpy(to->victim, names->victim.label, sizeof(to->victim));
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		memcpy(to->suspects[i], names->suspects[i].label, CONTAINER_LABEL_LEN);
	return 0;
}

/* Is a verdict's moment in the slots of a blob? */
static bool is_wanted(const struct model *model, const struct blob *blob,
		      const struct cmt_culprit_verdict *verdict)
{
	uint64_t slots = PYRAMID_BLOCK * pyramid_slots(blob->level);
	uint64_t begin = model->start_ns + blob->block * slots * MODEL_SLOT_NS;
	uint64_t end = begin + slots * MODEL_SLOT_NS;
	uint64_t near = NEAR_SLOTS * MODEL_SLOT_NS;

	return verdict->ts_ns + near > begin && verdict->ts_ns < end + near;
}

static void mark_blobs(struct model *model)
{
	for (uint32_t i = 0; i < model->spool->nr; i++) {
		struct blob *blob = &model->spool->blobs[i];

		for (uint32_t k = 0; !blob->wanted && k < model->nr_verdicts; k++)
			blob->wanted = is_wanted(model, blob, &model->verdicts[k].verdict);
	}
}

int model_finish(struct model *model, uint64_t end_ns)
{
	uint64_t end = end_ns > model->start_ns ?
		       (end_ns - model->start_ns + MODEL_SLOT_NS - 1) / MODEL_SLOT_NS : 0;
	int ret;

	if (end > model->slots)
		model->slots = end < MODEL_SLOTS_MAX ? end : MODEL_SLOTS_MAX;
	ret = bridge(model, NULL, model->slots);
	if (!ret)
		ret = settle_all(model, model->slots);
	if (!ret)
		ret = sums_flush(model, model->slots);
	if (!ret)
		ret = pyramid_finish(&model->pyramid, model->slots);
	if (model->nr_verdicts)
		qsort(model->verdicts, model->nr_verdicts, sizeof(*model->verdicts), by_time);
	wait_pairs_finish(&model->wait_pairs);
	incidents_finish(&model->incidents);
	mark_blobs(model);
	return ret;
}
