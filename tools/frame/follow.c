// SPDX-License-Identifier: GPL-2.0-or-later
#include "follow.h"

#include <math.h>

#define WINDOW_SLOTS 1000U	/* that a part's rate is of */

void follow_id(struct follow *follow, uint64_t id)
{
	if (id != follow->id)
		*follow = (struct follow){ .id = id };
}

static const struct cmt_usage_row *find(const struct follow *follow,
					const struct cmt_usage_frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (cmt_culprit_id(frame, row) == follow->id)
			return row;
	}
	return NULL;
}

static void put(struct follow *follow, uint64_t slot, float occupancy, float traffic)
{
	follow->occupancy[slot % FOLLOW_SLOTS] = occupancy;
	follow->traffic[slot % FOLLOW_SLOTS] = traffic;
}

/* Up to @slot, which is newer, unless all of it is new. */
static void skip_to(struct follow *follow, uint64_t slot)
{
	uint64_t from = follow->newest + 1;

	if (slot > FOLLOW_SLOTS && from < slot - FOLLOW_SLOTS + 1)
		from = slot - FOLLOW_SLOTS + 1;
	for (; from <= slot; from++)
		put(follow, from, NAN, NAN);
	follow->newest = slot;
}

static struct follow_part *part_of(struct follow *follow, uint32_t domain)
{
	uint32_t i;

	for (i = 0; i < follow->nr_parts; i++)
		if (follow->parts[i].domain == domain)
			return &follow->parts[i];
	if (i == FOLLOW_PARTS)
		return NULL;
	follow->nr_parts++;
	follow->parts[i] = (struct follow_part){
		.domain = domain, .occupancy = NAN, .rate = NAN,
	};
	return &follow->parts[i];
}

/* Is traffic missing for good?  That of an old value comes with the next reading. */
static bool lacks_traffic(const struct cmt_usage_rate *total)
{
	return (!total->known || total->partial) && total->why & ~CMT_USAGE_WHY_OLD;
}

static void add_part(struct follow *follow, const struct cmt_usage_row *from)
{
	struct follow_part *part = part_of(follow, from->domain);

	if (!part)
		return;
	part->occupancy = from->occupancy.known ?
			  (double)from->occupancy.last_bytes : (double)NAN;
	part->occupancy_partial = from->occupancy.partial;
	part->partial |= lacks_traffic(&from->total);
	if (!from->total.known)
		return;
	part->bytes += from->total.bytes;
	part->read = true;
}

/* All rows and parts are in the frame: those that are not hold nothing that is known. */
static void forget_parts(struct follow *follow)
{
	for (uint32_t i = 0; i < follow->nr_parts; i++)
		follow->parts[i].occupancy = (double)NAN;
}

static void add_row(struct follow *follow, uint64_t slot,
		    const struct cmt_usage_frame *frame, const struct cmt_usage_row *row)
{
	put(follow, slot, row->occupancy.known ?
			  (float)row->occupancy.last_bytes : NAN,
	    row->total.known ? (float)row->total.rate : NAN);
	for (uint32_t i = 0; i < row->nr_children; i++)
		add_part(follow, cmt_usage_child_at(frame, row->first_child + i));
}

static void end_window(struct follow *follow)
{
	double seconds = (double)(follow->newest - follow->window) *
			 FOLLOW_SLOT_NS / 1e9;

	if (follow->newest - follow->window < WINDOW_SLOTS)
		return;
	for (uint32_t i = 0; i < follow->nr_parts; i++) {
		struct follow_part *part = &follow->parts[i];

		part->rate = part->read ? (double)part->bytes / seconds : (double)NAN;
		part->rate_partial = part->partial || follow->partial;
		part->bytes = 0;
		part->read = false;
		part->partial = false;
	}
	follow->window = follow->newest;
	follow->partial = false;
}

void follow_add(struct follow *follow, const struct cmt_usage_frame *frame)
{
	uint64_t slot = frame->start_ns / FOLLOW_SLOT_NS;
	bool next = slot == follow->newest + 1 && !frame->nr_gaps;
	/* without a reading the occupancy stays, unless a reading may be lost */
	double held = next ? follow_occupancy(follow, 0) : (double)NAN;
	const struct cmt_usage_row *row;

	if (!follow->id || slot <= follow->newest)
		return;
	if (!follow->newest)
		follow->window = slot;
	else
		follow->partial |= !next;
	skip_to(follow, slot);
	row = find(follow, frame);
	if (!frame->brief)
		forget_parts(follow);
	if (row)
		add_row(follow, slot, frame, row);
	else if (frame->brief)
		put(follow, slot, (float)held, NAN);
	else
		follow->partial = true;
	end_window(follow);
}

static double value_at(const struct follow *follow, const float *values,
		       unsigned int age)
{
	if (!follow->newest || age >= FOLLOW_SLOTS || age > follow->newest)
		return NAN;
	return (double)values[(follow->newest - age) % FOLLOW_SLOTS];
}

double follow_occupancy(const struct follow *follow, unsigned int age)
{
	return value_at(follow, follow->occupancy, age);
}

double follow_traffic(const struct follow *follow, unsigned int age)
{
	return value_at(follow, follow->traffic, age);
}
