// SPDX-License-Identifier: LGPL-2.1-or-later
/* From the traffic of holdings to rates with bounds */
#include "state.h"

#include <math.h>

/*
 * The error of a reading.  A difference of two readings is of two values in the
 * hardware's unit, times the correction of the MBM counters, which is below 2.
 */
#define READ_UNITS	2

/*
 * Over how long traffic spreads: of an owner that was not there all the time over
 * the interval, as the others' does, or longer where it was counted longer.
 */
static uint64_t traffic_span(const struct usage_holding *h,
			     const struct usage_traffic *t, uint64_t elapsed_ns)
{
	if ((!h->born && !usage_ended(h) && !t->gap) || t->covered_ns > elapsed_ns)
		return t->covered_ns;
	return elapsed_ns;
}

static double rate_of(uint64_t bytes, uint64_t ns)
{
	return (double)bytes * 1e9 / (double)ns;
}

/* As a rate of @elapsed, of bytes that were counted in @span: one of both is longer. */
static void rate_add(struct cmt_usage_rate *r, uint64_t bytes, uint64_t slack,
		     uint64_t span, uint64_t elapsed)
{
	uint64_t most = span > elapsed ? span : elapsed;
	uint64_t least = span > elapsed ? elapsed : span;

	r->known = true;
	r->bytes += bytes;
	r->rate += rate_of(bytes, elapsed);
	if (bytes > slack)
		r->lo += rate_of(bytes - slack, most + 2 * USAGE_READ_NS);
	if (least > 2 * USAGE_READ_NS)
		r->hi += rate_of(bytes + slack, least - 2 * USAGE_READ_NS);
	else
		r->hi = INFINITY;
}

void usage_rate_add(struct cmt_usage_rate *r, uint64_t bytes, uint64_t slack,
		    uint64_t span)
{
	rate_add(r, bytes, slack, span, span);
}

void usage_rate_traffic(const struct cmt_usage *usage,
			struct cmt_usage_rate *r, const struct usage_holding *h,
			const struct usage_traffic *t, uint64_t elapsed_ns,
			uint64_t over_ns)
{
	uint64_t span = traffic_span(h, t, elapsed_ns);

	if (t->gap)
		r->why |= CMT_USAGE_WHY_GAP;
	if (!t->read && !h->read)
		r->why |= usage_ended(h) ? 0 : CMT_USAGE_WHY_OLD;
	else if (!t->read)
		r->why |= h->why & (CMT_USAGE_WHY_ERROR |
				    CMT_USAGE_WHY_UNAVAILABLE);
	if (t->gap || !t->read)
		r->partial = true;
	if (t->known && span)
		rate_add(r, t->bytes, (uint64_t)t->chains * READ_UNITS *
			 usage->unit_bytes, span, over_ns ? over_ns : span);
	else if (t->read)
		r->why |= CMT_USAGE_WHY_FIRST;
}

/* In this interval; nothing before the first reading in it. */
static const struct usage_traffic *traffic_of(const struct usage_holding *h,
					      const struct usage_traffic *t)
{
	static const struct usage_traffic nothing;

	return h->read ? t : &nothing;
}

void usage_rate_settle(struct cmt_usage_rate *r, bool pending)
{
	/*
	 * explains a missing value only: the row's other values have reasons of their
	 * own
	 */
	if (r->known)
		r->why &= ~CMT_USAGE_WHY_FIRST;
	if (pending) {
		r->why |= CMT_USAGE_WHY_PENDING;
		r->partial = true;
	}
	/* a value that is not known has no bound either */
	r->partial &= r->known;
	if (!r->known)
		r->rate = NAN;
	if (!r->known || r->partial)
		r->hi = INFINITY;
}

void usage_rmids(const struct cmt_usage *usage, struct cmt_usage_rate *r,
		 uint64_t elapsed_ns)
{
	uint32_t i, nr = usage->brief ? 0 : usage->nr_holdings;
	bool all = false;

	for (i = 0; i < nr; i++) {
		const struct usage_holding *h = &usage->holdings[i];

		if (!usage_seen(usage, h))
			continue;
		/*
		 * all bytes count once, also those of an owner that was loaded only
		 * briefly
		 */
		usage_rate_traffic(usage, r, h, traffic_of(h, &h->total), elapsed_ns,
				   elapsed_ns);
		all |= h->rmid == CMT_RMID_NONE;
	}
	/* readings on demand are of owners only */
	if (!all) {
		r->partial = true;
		r->why |= CMT_USAGE_WHY_OLD;
	}
	usage_rate_settle(r, false);
}
