// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The total of a group, slot by slot.  A sum stays the same until a holding in it
 * changes.  The slots in between are counted at that change, or when a row is made:
 * most holdings have the same values in most slots.
 */
#include "state.h"

/* Count the slots up to number @slot, all of which had the present sum. */
static void sum_count(const struct cmt_usage *usage, struct usage_sum *sum,
		      uint64_t slot)
{
	uint64_t slots;

	if (sum->interval != usage->interval) {
		sum->interval = usage->interval;
		sum->counted = usage->slots_before;
		sum->least = 0;
		sum->most = 0;
		sum->total = 0;
		sum->nr = 0;
	}
	if (slot <= sum->counted)
		return;
	slots = slot - sum->counted;
	sum->counted = slot;
	if (sum->holders && sum->now > sum->most)
		sum->most = sum->now;
	/* an incomplete sum is a lower bound: of use for the most, and for nothing else */
	if (!sum->holders || sum->unknown)
		return;
	if (!sum->nr || sum->now < sum->least)
		sum->least = sum->now;
	sum->total += sum->now * slots;
	sum->nr += (uint32_t)slots;
}

static void sum_change(struct cmt_usage *usage, uint32_t group,
		       const struct usage_share *from,
		       const struct usage_share *to)
{
	struct usage_sum *sum = &usage->groups[group].sum;

	sum_count(usage, sum, usage->nr_slots - 1);
	sum->now += to->bytes - from->bytes;
	sum->holders += (uint32_t)to->in - (uint32_t)from->in;
	sum->unknown += (uint32_t)to->unknown - (uint32_t)from->unknown;
}

/* There is room for all holdings: see new_holding() in holding.c. */
static uint32_t list_share(struct cmt_usage *usage, const struct usage_holding *h)
{
	usage->shares[usage->nr_shares] = (uint32_t)(h - usage->holdings);
	return usage->nr_shares++;
}

static void unlist_share(struct cmt_usage *usage, uint32_t at)
{
	uint32_t moved = usage->shares[--usage->nr_shares];

	usage->shares[at] = moved;
	usage->holdings[moved].share.at = at;
}

static void share_set(struct cmt_usage *usage, struct usage_holding *h,
		      struct usage_share share)
{
	sum_change(usage, h->group, &h->share, &share);
	if (h->child != USAGE_NONE)
		sum_change(usage, h->child, &h->share, &share);
	share.at = h->share.at;
	if (share.in && !h->share.in)
		share.at = list_share(usage, h);
	else if (!share.in && h->share.in)
		unlist_share(usage, h->share.at);
	h->share = share;
}

void usage_sum_add(struct cmt_usage *usage, struct usage_holding *h)
{
	bool known = usage_holds(h);
	uint64_t bytes = known ? h->occupancy : 0;

	if (h->share.in && h->share.unknown == !known && h->share.bytes == bytes)
		return;
	share_set(usage, h, (struct usage_share){
		.in = true, .unknown = !known, .bytes = bytes,
	});
}

void usage_sum_drop(struct cmt_usage *usage, struct usage_holding *h)
{
	if (h->share.in)
		share_set(usage, h, (struct usage_share){ .in = false });
}

/*
 * Holdings of owners that ended stay until the interval ends, and may be many: they are not
 * visited.  Backwards, because a share that is dropped has the last one in its place.
 */
void usage_sums_end(struct cmt_usage *usage, uint32_t nr)
{
	uint32_t i;

	if (nr == usage->nr_shares)
		return;
	for (i = usage->nr_shares; i-- > 0;) {
		struct usage_holding *h = &usage->holdings[usage->shares[i]];

		if (h->seen_ns != usage->slot_end_ns)
			usage_sum_drop(usage, h);
	}
}

const struct usage_sum *usage_sum(struct cmt_usage *usage, uint32_t group)
{
	struct usage_sum *sum = &usage->groups[group].sum;

	sum_count(usage, sum, usage->nr_slots);
	return sum;
}
