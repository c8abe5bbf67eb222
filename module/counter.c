// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "counter.h"

/* Units between two readings of a counter that is @bits wide. */
static u64 mbm_delta(u64 prev, u64 cur, u32 bits)
{
	u32 shift = 64 - bits;

	return ((cur << shift) - (prev << shift)) >> shift;
}

/* Bytes of @units; monotonic in @units. */
static u64 mbm_bytes(u64 units, u32 rmid, const struct cmt_backend_caps *caps)
{
	if (rmid > caps->mbm_correct_above)
		units = mul_u64_u32_shr(units, caps->mbm_correct_factor, 20);
	return units * caps->upscale_bytes;
}

static void mbm_base(struct cmt_mbm *mbm, const struct cmt_raw *raw)
{
	mbm->based = !raw->status;
	if (mbm->based)
		mbm->prev = raw->raw;
}

/*
 * Account a reading.  A missing one, or one whose predecessor is missing or
 * too old, adds nothing: traffic that is not known is not guessed.
 */
static u16 mbm_add(struct cmt_mbm *mbm, const struct cmt_raw *raw, bool gap,
		   u32 bits)
{
	bool rebased = !mbm->based || gap;

	if (!raw->status && !rebased)
		mbm->units += mbm_delta(mbm->prev, raw->raw, bits);
	mbm_base(mbm, raw);
	return !raw->status && rebased ? CMT_F_REBASED : 0;
}

/* The flag of a value that is there, or why it is not. */
static u16 raw_flags(const struct cmt_raw *raw, u16 valid)
{
	switch (raw->status) {
	case 0:
		return valid;
	case -EIO:
		return CMT_F_ERROR;
	case -ENODATA:
		return CMT_F_UNAVAILABLE;
	default:
		return 0;
	}
}

void cmt_counter_begin(struct cmt_counter *counter, u32 generation,
		       const struct cmt_reading *reading)
{
	memset(counter, 0, sizeof(*counter));
	counter->generation = generation;
	counter->begun = true;
	counter->ts = reading->ts;
	counter->epoch = reading->epoch;
}

void cmt_counter_set_residue(struct cmt_counter *counter,
			     const struct cmt_reading *reading,
			     const struct cmt_backend_caps *caps)
{
	if (reading->occupancy.status)
		return;
	counter->residual_known = true;
	counter->residual_bytes = reading->occupancy.raw * caps->upscale_bytes;
}

void cmt_counter_set_base(struct cmt_counter *counter,
			  const struct cmt_reading *reading)
{
	mbm_base(&counter->total, &reading->total);
	mbm_base(&counter->local, &reading->local);
}

void cmt_counter_sample(struct cmt_counter *counter, u32 rmid,
			const struct cmt_reading *reading,
			const struct cmt_backend_caps *caps,
			struct cmt_record *sample)
{
	bool gap = reading->ts - counter->ts > CMT_COUNTER_GAP_NS ||
		   reading->epoch != counter->epoch;
	u16 flags = caps->record_flags;

	flags |= raw_flags(&reading->occupancy, CMT_F_OCCUPANCY);
	flags |= raw_flags(&reading->total, CMT_F_MBM_TOTAL);
	flags |= raw_flags(&reading->local, CMT_F_MBM_LOCAL);
	flags |= mbm_add(&counter->total, &reading->total, gap,
			 caps->counter_bits);
	flags |= mbm_add(&counter->local, &reading->local, gap,
			 caps->counter_bits);
	if (counter->residual_known)
		flags |= CMT_F_RESIDUAL;
	counter->ts = reading->ts;
	counter->epoch = reading->epoch;

	memset(sample, 0, sizeof(*sample));
	sample->ts = reading->ts;
	sample->type = CMT_REC_SAMPLE;
	sample->flags = flags;
	sample->rmid = rmid;
	sample->generation = counter->generation;
	if (flags & CMT_F_OCCUPANCY)
		sample->sample.occupancy_bytes = reading->occupancy.raw *
						 caps->upscale_bytes;
	if (flags & CMT_F_MBM_TOTAL)
		sample->sample.mbm_total_bytes =
			mbm_bytes(counter->total.units, rmid, caps);
	if (flags & CMT_F_MBM_LOCAL)
		sample->sample.mbm_local_bytes =
			mbm_bytes(counter->local.units, rmid, caps);
	sample->sample.residual_bytes = counter->residual_bytes;
}
