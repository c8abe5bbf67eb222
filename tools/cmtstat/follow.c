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

static void add_part(struct follow *follow, const struct cmt_usage_row *from)
{
	struct follow_part *part = part_of(follow, from->domain);

	if (!part)
		return;
	if (from->occupancy.known)
		part->occupancy = (double)from->occupancy.last_bytes;
	if (!from->total.known)
		return;
	part->bytes += from->total.bytes;
	part->read = true;
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
		part->bytes = 0;
		part->read = false;
	}
	follow->window = follow->newest;
}

void follow_add(struct follow *follow, const struct cmt_usage_frame *frame)
{
	uint64_t slot = frame->start_ns / FOLLOW_SLOT_NS;
	bool next = slot == follow->newest + 1 && !frame->nr_gaps;
	double held = next ? follow_occupancy(follow, 0) : (double)NAN;
	const struct cmt_usage_row *row;

	if (!follow->id || slot <= follow->newest)
		return;
	if (!follow->newest)
		follow->window = slot;
	skip_to(follow, slot);
	row = find(follow, frame);
	if (!row && !frame->brief)
		return;
	if (!row) {
		/*
		 * without a reading the occupancy stays, unless a reading may be lost
		 */
		put(follow, slot, (float)held, NAN);
		end_window(follow);
		return;
	}
	put(follow, slot, row->occupancy.known ?
			  (float)row->occupancy.last_bytes : NAN,
	    row->total.known ? (float)row->total.rate : NAN);
	for (uint32_t i = 0; i < row->nr_children; i++)
		add_part(follow, cmt_usage_child_at(frame,
						    row->first_child + i));
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
