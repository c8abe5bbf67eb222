// SPDX-License-Identifier: GPL-2.0
#include <linux/math64.h>

#include "counter.h"

#define ALL_EVENTS	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

/* Units between two readings. */
static u64 mbm_delta(u64 prev, u64 raw, u32 bits)
{
	return (raw - prev) & (~0ULL >> (64 - bits));
}

/* Bytes of @units; monotonic in @units. */
static u64 mbm_bytes(u64 units, u32 rmid, const struct cmt_backend_caps *caps)
{
	if (caps->mbm_factors)
		units = mul_u64_u32_shr(units, caps->mbm_factors[rmid], 16);
	else if (rmid > caps->mbm_correct_above)
		units = mul_u64_u32_shr(units, caps->mbm_correct_factor, 20);
	return units * (caps->mbm_unit_bytes ?: caps->upscale_bytes);
}

/* The flag of a valid value, or of the reason for a missing one; 0: it was not read. */
static u32 raw_flags(u64 raw, u32 event, u32 events)
{
	if (!(events & event))
		return 0;
	if (raw & CMT_RAW_ERROR)
		return CMT_F_ERROR;
	if (raw & CMT_RAW_UNAVAILABLE)
		return CMT_F_UNAVAILABLE;
	return event;
}

static bool raw_is_data(u64 raw, u32 event, u32 events)
{
	return raw_flags(raw, event, events) == event;
}

static bool has_base(const struct cmt_counter *counter, u64 based)
{
	return !(counter->key & CMT_KEY_SLOW) || counter->key & based;
}

/* @raw has data: is it less than the last reading, on a counter too wide to wrap? */
static bool mbm_fell(const struct cmt_counter *counter,
		     const struct cmt_mbm *mbm, u64 raw, u64 based,
		     const struct cmt_backend_caps *caps)
{
	return caps->counter_bits >= CMT_COUNTER_WIDE &&
	       has_base(counter, based) &&
	       (raw & caps->data_mask) < (mbm->prev & caps->data_mask);
}

bool cmt_counter_fell(const struct cmt_counter *counter,
		      const struct cmt_raws *raws, u32 events,
		      const struct cmt_backend_caps *caps)
{
	return (raw_is_data(raws->total, CMT_F_MBM_TOTAL, events) &&
		mbm_fell(counter, &counter->total, raws->total, CMT_KEY_TOTAL,
			 caps)) ||
	       (raw_is_data(raws->local, CMT_F_MBM_LOCAL, events) &&
		mbm_fell(counter, &counter->local, raws->local, CMT_KEY_LOCAL,
			 caps));
}

static bool mbm_kept(const struct cmt_counter *counter,
		     const struct cmt_mbm *mbm, u64 raw, u64 based, u64 units,
		     const struct cmt_backend_caps *caps)
{
	return has_base(counter, based) &&
	       !mbm_fell(counter, mbm, raw, based, caps) &&
	       (mbm->prev & caps->data_mask) > units;
}

bool cmt_counter_kept(const struct cmt_counter *counter,
		      const struct cmt_raws *raws, u32 events, u64 units,
		      const struct cmt_backend_caps *caps)
{
	return (raw_is_data(raws->total, CMT_F_MBM_TOTAL, events) &&
		mbm_kept(counter, &counter->total, raws->total, CMT_KEY_TOTAL,
			 units, caps)) ||
	       (raw_is_data(raws->local, CMT_F_MBM_LOCAL, events) &&
		mbm_kept(counter, &counter->local, raws->local, CMT_KEY_LOCAL,
			 units, caps));
}

/* Make @raw the base of the next reading, if it is data. */
static void mbm_base(struct cmt_counter *counter, struct cmt_mbm *mbm, u64 raw,
		     u64 based, bool data)
{
	counter->key &= ~based;
	if (!data)
		return;
	counter->key |= based;
	mbm->prev = raw;
}

/*
 * Account a reading.  A missing reading adds nothing, nor does a reading whose
 * predecessor is missing, too old or greater: unknown traffic is not guessed.
 */
static u32 mbm_add(struct cmt_counter *counter, struct cmt_mbm *mbm, u64 raw,
		   u64 based, bool data, const struct cmt_backend_caps *caps)
{
	bool rebased = !(counter->key & based) ||
		       mbm_fell(counter, mbm, raw, based, caps);

	if (data && !rebased)
		mbm->units += mbm_delta(mbm->prev, raw, caps->counter_bits);
	mbm_base(counter, mbm, raw, based, data);
	return data && rebased ? CMT_F_REBASED : 0;
}

/* A key without CMT_KEY_* bits means that both counters have a base. */
void cmt_counter_make_slow(struct cmt_counter *counter)
{
	if (!(counter->key & CMT_KEY_SLOW))
		counter->key |= CMT_KEY_SLOW | CMT_KEY_BEGUN | CMT_KEY_BASED;
}

static void key_expand(struct cmt_counter *counter)
{
	counter->key &= ~CMT_KEY_NEW;
	cmt_counter_make_slow(counter);
}

static void key_reduce(struct cmt_counter *counter, bool all,
		       const struct cmt_backend_caps *caps)
{
	u32 rmid = (u32)counter->name;

	if (caps->mbm_factors || caps->mbm_unit_bytes)
		return;
	if (all && (counter->key & CMT_KEY_BASED) == CMT_KEY_BASED &&
	    (counter->key & CMT_KEY_BEGUN) && rmid <= caps->mbm_correct_above)
		counter->key = (u32)counter->key;
}

void cmt_counter_reset(struct cmt_counter *counter)
{
	memset(counter, 0, sizeof(*counter));
	counter->key = CMT_KEY_SLOW;
}

void cmt_counter_begin(struct cmt_counter *counter, u32 rmid, u32 generation,
		       const struct cmt_backend_caps *caps)
{
	counter->flags = caps->record_flags | ALL_EVENTS;
	counter->key = CMT_KEY_SLOW | CMT_KEY_BEGUN | CMT_KEY_NEW | generation;
	counter->name = (u64)generation << 32 | rmid;
	memset(&counter->total, 0, sizeof(counter->total));
	memset(&counter->local, 0, sizeof(counter->local));
	counter->residual_bytes = 0;
}

bool cmt_counter_set_residue(struct cmt_counter *counter,
			     const struct cmt_raws *raws, u32 events,
			     const struct cmt_backend_caps *caps)
{
	if (!raw_is_data(raws->occupancy, CMT_F_OCCUPANCY, events))
		return false;
	counter->flags |= CMT_F_RESIDUAL;
	counter->residual_bytes = (raws->occupancy & caps->data_mask) *
				  caps->upscale_bytes;
	return true;
}

void cmt_counter_set_base(struct cmt_counter *counter,
			  const struct cmt_raws *raws, u32 events,
			  const struct cmt_backend_caps *caps)
{
	key_expand(counter);
	mbm_base(counter, &counter->total, raws->total, CMT_KEY_TOTAL,
		 raw_is_data(raws->total, CMT_F_MBM_TOTAL, events));
	mbm_base(counter, &counter->local, raws->local, CMT_KEY_LOCAL,
		 raw_is_data(raws->local, CMT_F_MBM_LOCAL, events));
	key_reduce(counter, true, caps);
}

void cmt_counter_lose_base(struct cmt_counter *counter)
{
	if (!(counter->key & CMT_KEY_SLOW))
		counter->key |= CMT_KEY_SLOW | CMT_KEY_BEGUN;
	counter->key &= ~CMT_KEY_BASED;
}

/* Fill in the values with a flag; a value without its flag is 0. */
static void fill_values(const struct cmt_counter *counter, u64 occupancy,
			const struct cmt_backend_caps *caps,
			struct cmt_record *sample)
{
	memset(sample->payload, 0, sizeof(sample->payload));
	if (sample->flags & CMT_F_OCCUPANCY)
		sample->sample.occupancy_bytes = (occupancy & caps->data_mask) *
						 caps->upscale_bytes;
	if (sample->flags & CMT_F_MBM_TOTAL)
		sample->sample.mbm_total_bytes =
			mbm_bytes(counter->total.units, sample->rmid, caps);
	if (sample->flags & CMT_F_MBM_LOCAL)
		sample->sample.mbm_local_bytes =
			mbm_bytes(counter->local.units, sample->rmid, caps);
	sample->sample.residual_bytes = counter->residual_bytes;
}

void cmt_counter_sample(struct cmt_counter *counter,
			const struct cmt_raws *raws, u32 events,
			const struct cmt_backend_caps *caps,
			struct cmt_record *sample)
{
	u32 flags;

	key_expand(counter);
	flags = raw_flags(raws->occupancy, CMT_F_OCCUPANCY, events) |
		raw_flags(raws->total, CMT_F_MBM_TOTAL, events) |
		raw_flags(raws->local, CMT_F_MBM_LOCAL, events);
	/* the event's flag without others means that the value is valid */
	flags |= mbm_add(counter, &counter->total, raws->total, CMT_KEY_TOTAL,
			 raw_is_data(raws->total, CMT_F_MBM_TOTAL, events), caps);
	flags |= mbm_add(counter, &counter->local, raws->local, CMT_KEY_LOCAL,
			 raw_is_data(raws->local, CMT_F_MBM_LOCAL, events), caps);
	key_reduce(counter, (flags & ALL_EVENTS) == ALL_EVENTS, caps);

	sample->flags = flags | (counter->flags & ~ALL_EVENTS);
	cmt_record_put64(&sample->rmid, counter->name);
	fill_values(counter, raws->occupancy, caps, sample);
}
