// SPDX-License-Identifier: GPL-2.0-or-later
/* Who held how much, and moved how much, in each L3 domain. */
#include "aggregate_state.h"

#include <string.h>

#define FORGET_NS 2000000000ULL	/* an owner unseen for so long goes */

/* One reading of a counter.  @flags: CMT_F_* of the entry, @bit: its own. */
static void traffic_add(struct traffic *t, uint16_t flags, uint16_t bit,
			uint64_t value, uint64_t ts)
{
	if (!(flags & bit)) {
		t->gap |= t->ever;
		t->based = false;
		return;
	}
	if (!t->based || (flags & CMT_F_REBASED) || value < t->base) {
		t->gap |= t->ever;
	} else if (ts > t->base_ts) {
		t->known = true;
		t->bytes += value - t->base;
		t->covered_ns += ts - t->base_ts;
	}
	t->ever = true;
	t->read = true;
	t->based = true;
	t->base = value;
	t->base_ts = ts;
}

static struct holding *new_holding(struct aggregate *agg,
				   const struct cmt_slot_entry *e)
{
	struct holding *h, *holdings;

	holdings = aggregate_grow(agg, agg->holdings, agg->nr_holdings,
				  &agg->room_holdings, sizeof(*holdings));
	if (!holdings)
		return NULL;
	agg->holdings = holdings;
	h = &agg->holdings[agg->nr_holdings];
	memset(h, 0, sizeof(*h));
	h->rmid = e->rmid;
	h->generation = e->generation;
	h->domain = e->domain;
	h->kind = e->rmid == CMT_RMID_NONE ? OWNER_NOBODY : OWNER_UNKNOWN;
	h->born = true;
	h->next = agg->chains[e->rmid];
	agg->chains[e->rmid] = agg->nr_holdings++;
	return h;
}

/*
 * The holding of an entry.  An older generation of the same RMID in the same
 * domain has ended when a new one reports.
 */
static struct holding *holding_of(struct aggregate *agg,
				  const struct cmt_slot_entry *e)
{
	struct holding *found = NULL;
	uint32_t i;

	for (i = agg->chains[e->rmid]; i != NO_HOLDING;
	     i = agg->holdings[i].next) {
		struct holding *h = &agg->holdings[i];

		if (h->domain != e->domain)
			continue;
		if (h->generation == e->generation)
			found = h;
		else if (h->seen_ns <= e->ts)
			h->ended = true;
	}
	return found ? found : new_holding(agg, e);
}

static void holding_owner(struct aggregate *agg, struct holding *h,
			  const struct cmt_owner *owner)
{
	if (h->rmid == CMT_RMID_NONE || !owner)
		return;
	h->owner = owner->kind;
	h->attached = owner->attached;
	h->tgid = owner->tgid;
	h->cpu = owner->cpu;
	memcpy(h->comm, owner->comm, sizeof(h->comm));
	h->ended |= owner->freed;
	if (!owner_in_cgroup(owner)) {
		h->kind = owner->kind == CMT_OWNER_REST ? OWNER_REST :
							  OWNER_KNOWN;
		h->container = NULL;
		h->cgroup_id = 0;
		return;
	}
	if (h->kind != OWNER_KNOWN || h->cgroup_id != owner->cgroup_id ||
	    !h->seen)
		h->container = aggregate_name(agg, owner->cgroup_id);
	h->cgroup_id = owner->cgroup_id;
	h->kind = OWNER_KNOWN;
}

void holdings_add(struct aggregate *agg, const struct cmt_slot_entry *e)
{
	struct holding *h;

	if (e->rmid >= agg->opts.nr_rmids)
		return;
	aggregate_domain(agg, e->domain);
	h = holding_of(agg, e);
	if (!h)
		return;
	if (!agg->first_ns)
		agg->first_ns = e->ts;
	if (e->ts > agg->last_ns)
		agg->last_ns = e->ts;
	holding_owner(agg, h, e->owner);
	h->seen = true;
	h->seen_ns = e->ts;
	h->emulated |= !!(e->flags & CMT_F_EMULATED);
	h->why |= why_of(e->flags);
	if (e->flags & CMT_F_OCCUPANCY) {
		h->occupancy_known = true;
		h->occupancy = e->occupancy_bytes;
		h->residual = e->residual_bytes;
	}
	traffic_add(&h->total, e->flags, CMT_F_MBM_TOTAL, e->mbm_total_bytes,
		    e->ts);
	traffic_add(&h->local, e->flags, CMT_F_MBM_LOCAL, e->mbm_local_bytes,
		    e->ts);
}

static void close_traffic(struct traffic *t)
{
	t->known = false;
	t->read = false;
	t->gap = false;
	t->bytes = 0;
	t->covered_ns = 0;
}

void holdings_close(struct aggregate *agg)
{
	uint32_t i, kept = 0;

	memset(agg->chains, 0xff, agg->opts.nr_rmids * sizeof(*agg->chains));
	for (i = 0; i < agg->nr_holdings; i++) {
		struct holding *h = &agg->holdings[i];

		if (h->ended || agg->last_ns - h->seen_ns > FORGET_NS)
			continue;
		h->born = false;
		h->seen = false;
		h->emulated = false;
		h->why = 0;
		h->occupancy_known = false;
		close_traffic(&h->total);
		close_traffic(&h->local);
		h->next = agg->chains[h->rmid];
		agg->chains[h->rmid] = kept;
		agg->holdings[kept++] = *h;
	}
	agg->nr_holdings = kept;
}
