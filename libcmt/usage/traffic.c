// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes from one reading of a counter to the next. */
#include "state.h"

static void traffic_count(struct usage_traffic *t, uint64_t from,
			  uint64_t from_ts, uint64_t to, uint64_t to_ts)
{
	t->known = true;
	t->bytes += to - from;
	t->covered_ns += to_ts - from_ts;
	t->chains += !t->linked;
	t->linked = true;
}

/* From the last reading to this one nothing was counted. */
static void traffic_miss(struct usage_traffic *t, uint64_t last_ts, uint64_t ts)
{
	if (last_ts && cmt_ts_before(last_ts, ts))
		t->missed_ns += ts - last_ts;
}

/*
 * The last reading of a counter.  @bit: its CMT_F_* in the flags.  @since: the ALLOC of
 * an owner that began while this usage ran: from it on the counter counts in the domain
 * of the ALLOC; 0: another owner.  The traffic of an owner that was allocated before
 * dropped holdings may have been counted already.
 */
static void traffic_add(struct usage_traffic *t, const struct usage_holding *h,
			uint32_t bit, uint64_t value, uint64_t since)
{
	const uint32_t reasons = CMT_F_ERROR | CMT_F_UNAVAILABLE;
	bool first = !t->ever && since;
	uint64_t last_ts = t->last_ts;

	t->last_ts = h->ts;
	if (!(h->flags & bit)) {
		/* without a reason the machine has no such counter */
		if (h->flags & reasons)
			traffic_miss(t, last_ts, h->ts);
		t->gap |= t->ever;
		t->based = false;
		t->linked = false;
		return;
	}
	if (!(h->flags & CMT_F_REBASED) && first &&
	    h->ts - since < USAGE_FORGET_NS) {
		traffic_count(t, 0, since, value, h->ts);
	} else if (!(h->flags & CMT_F_REBASED) && t->based && value >= t->base) {
		if (cmt_ts_before(t->base_ts, h->ts))
			traffic_count(t, t->base, t->base_ts, value, h->ts);
	} else {
		traffic_miss(t, last_ts, h->ts);
		t->gap |= t->ever || first;
		t->linked = false;
	}
	t->ever = true;
	t->read = true;
	t->based = true;
	t->base = value;
	t->base_ts = h->ts;
}

void usage_traffic_settle(struct usage_holding *h, uint64_t since)
{
	traffic_add(&h->total, h, CMT_F_MBM_TOTAL, h->mbm_total, since);
	traffic_add(&h->local, h, CMT_F_MBM_LOCAL, h->mbm_local, since);
	h->kept = false;
}

static void traffic_begin(struct usage_traffic *t)
{
	t->known = false;
	t->read = false;
	t->gap = false;
	t->linked = false;
	t->chains = 0;
	t->bytes = 0;
	t->covered_ns = 0;
	t->missed_ns = 0;
}

void usage_traffic_begin(struct usage_holding *h)
{
	traffic_begin(&h->total);
	traffic_begin(&h->local);
}

static void traffic_continue(struct usage_traffic *to, const struct usage_traffic *from)
{
	*to = (struct usage_traffic){
		.ever = from->ever, .based = from->based, .base = from->base,
		.base_ts = from->base_ts, .last_ts = from->last_ts,
	};
}

void usage_traffic_continue(struct usage_holding *to, const struct usage_holding *from)
{
	traffic_continue(&to->total, &from->total);
	traffic_continue(&to->local, &from->local);
}
