// SPDX-License-Identifier: LGPL-2.1-or-later
/* The occupancy and the traffic of each owner, in each L3 domain */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots/slots.h"

/* The index of the domain; nr_domains: it was not seen before. */
static uint32_t find_domain(const struct cmt_usage *usage, uint32_t domain)
{
	uint32_t i;

	if (usage_in_last_domain(usage, domain))
		return usage->last_domain;
	/* entries are sorted by RMID, then domain */
	i = usage->last_domain + 1;
	if (i < usage->nr_domains && usage->domains[i] == domain)
		return i;
	for (i = 0; i < usage->nr_domains; i++)
		if (usage->domains[i] == domain)
			break;
	return i;
}

uint32_t usage_domain(struct cmt_usage *usage, uint32_t domain)
{
	uint32_t i = find_domain(usage, domain);

	if (i == usage->nr_domains) {
		if (i == CMT_DOMAINS_MAX)
			return USAGE_NONE;
		usage->domains[usage->nr_domains++] = domain;
		/* rows have parts from now on */
		usage->untidy |= usage_in_parts(usage);
	}
	usage->last_domain = i;
	return i;
}

static uint32_t *make_chains(struct cmt_usage *usage, uint32_t domain)
{
	size_t bytes = usage->nr_rmids * sizeof(uint32_t);

	if (!usage->chains[domain]) {
		usage->chains[domain] = malloc(bytes);
		if (usage->chains[domain])
			memset(usage->chains[domain], 0xff, bytes);
	}
	return usage->chains[domain];
}

/*
 * A chain has the highest generation first, and of one generation the newest holding.  The
 * new one lives: holdings before it are not followed by ended ones only.
 */
static void chain_add(struct cmt_usage *usage, uint32_t number, uint32_t *newest)
{
	struct usage_holding *h = &usage->holdings[number];
	uint32_t *at = newest;

	h->alone = *newest == USAGE_NONE;
	if (!h->alone)
		usage->holdings[*newest].alone = false;
	while (*at != USAGE_NONE && usage->holdings[*at].generation > h->generation) {
		usage->holdings[*at].rest_ended = false;
		at = &usage->holdings[*at].older;
	}
	h->rest_ended = false;
	h->older = *at;
	*at = number;
}

static struct usage_holding *new_holding(struct cmt_usage *usage,
					 const struct cmt_slot_entry *e,
					 uint32_t *newest)
{
	struct usage_holding *h;

	if (cmt_grow(&usage->holdings, usage->nr_holdings,
		     &usage->room_holdings, sizeof(*h)) ||
	    cmt_array_reserve(&usage->shares, &usage->room_shares, usage->room_holdings,
			      sizeof(*usage->shares)))
		return NULL;
	h = &usage->holdings[usage->nr_holdings];
	*h = (struct usage_holding){
		.rmid = e->rmid, .generation = e->generation,
		.domain = e->domain,
		.interval = usage->interval, .born = true,
		.owner = usage_owner_of(e->rmid, NULL),
		.group = USAGE_NONE, .child = USAGE_NONE,
	};
	chain_add(usage, usage->nr_holdings++, newest);
	usage->nr_seen++;
	return h;
}

static void holding_ended(struct cmt_usage *usage, struct usage_holding *h)
{
	h->ended = true;
	h->held = false;
	usage->ended = true;
}

/*
 * The holding of an entry.  An older generation of the same RMID in the same
 * domain has ended when a new one reports.  Holdings that ended stay until the interval
 * ends, and may be many: the walk stops where all that follow are older, and have ended.
 */
static struct usage_holding *holding_of(struct cmt_usage *usage,
					const struct cmt_slot_entry *e,
					uint32_t *newest)
{
	struct usage_holding *found = NULL, *last = NULL, *h;
	uint32_t i;

	for (i = *newest; i != USAGE_NONE; i = h->older) {
		h = &usage->holdings[i];
		if (h->generation == e->generation)
			found = h->former ? found : h;
		else if (!cmt_ts_before(e->ts, h->ts))
			holding_ended(usage, h);
		if (!last || !h->ended)
			last = h;
		if (h->rest_ended && (found || h->generation < e->generation))
			break;
	}
	if (last)
		last->rest_ended = true;
	return found ? found : new_holding(usage, e, newest);
}

/* An owner that is no longer known is still the last one. */
static void holding_owner(struct cmt_usage *usage, struct usage_holding *h,
			  const struct cmt_owner *owner)
{
	struct usage_owner now = usage_owner_of(h->rmid, owner);

	if (!owner || h->rmid == CMT_RMID_NONE)
		return;
	h->absent = owner->freed;
	if (!usage_owner_same(&h->owner, &now) || h->owner.cgroup_id != now.cgroup_id) {
		usage_sum_drop(usage, h);
		h->group = USAGE_NONE;
	}
	h->owner = now;
}

/* The ALLOC of an owner with all its traffic in the time of this usage, or 0 */
static uint64_t allocated(const struct cmt_usage *usage,
			  const struct cmt_slot_entry *e)
{
	if (!e->owner || cmt_ts_before(e->owner->since, usage->origin_ns) ||
	    cmt_slots_alloc_lost(usage->slots, e->owner))
		return 0;
	return e->owner->since;
}

/* Does a reading with these flags, and no less, continue both counters as they are? */
static bool is_steady(const struct usage_holding *h)
{
	return h->flags & CMT_F_OCCUPANCY && !(h->flags & CMT_F_REBASED) &&
	       !(h->flags & CMT_F_MBM_TOTAL) == !h->total.linked &&
	       !(h->flags & CMT_F_MBM_LOCAL) == !h->local.linked;
}

/* Take the values of an entry that differ from those of the entry before. */
static void value_take(struct cmt_usage *usage, struct usage_holding *h,
		       const struct cmt_slot_entry *e)
{
	if (e->ts > usage->last_ns)
		usage->last_ns = e->ts;
	h->ts = e->ts;
	h->mbm_total = e->mbm_total_bytes;
	h->mbm_local = e->mbm_local_bytes;
	if (usage_flags(usage, e->flags) & CMT_F_OCCUPANCY) {
		h->occupancy_ts = e->ts;
		h->occupancy = e->occupancy_bytes;
		h->residual_known = e->flags & CMT_F_RESIDUAL;
		h->residual = h->residual_known ? e->residual_bytes : 0;
	}
}

static void holding_read(struct cmt_usage *usage, struct usage_holding *h,
			 const struct cmt_slot_entry *e)
{
	uint64_t since = allocated(usage, e);

	/* AMD's bandwidth can come with another mode of its counters */
	usage->events |= usage_flags(usage, e->flags);
	if (!usage->first_ns)
		usage->first_ns = since ? since : e->ts;
	if (!h->read)
		usage_traffic_begin(h);
	h->flags = usage_flags(usage, e->flags);
	h->read = true;
	usage_traffic_settle(h, since);
	h->steady = is_steady(h);
}

/* It is in the interval, with such flags. */
static void holding_seen(struct usage_holding *h, uint32_t flags)
{
	h->seen = true;
	h->emulated |= !!(flags & CMT_F_EMULATED);
	h->occupancy_known |= !!(flags & CMT_F_OCCUPANCY);
	h->why |= usage_why(flags);
}

/* Give the holding its owner, and the groups of its rows.  Returns 0, or -ENOMEM: it has none. */
static int holding_join(struct cmt_usage *usage, struct usage_holding *h,
			const struct cmt_owner *owner)
{
	bool had_group = h->group != USAGE_NONE;
	int err;

	holding_owner(usage, h, owner);
	if (h->group != USAGE_NONE)
		return 0;
	/* the row that it was in may be no more, or it had no memory for one */
	usage->whole_due |= had_group || !h->born;
	h->seen = false;
	err = usage_group(usage, h);
	if (!err)
		err = usage_group_join(usage, h);
	if (err)
		h->group = USAGE_NONE;
	return err;
}

/* An entry without memory is not taken: the next one has its traffic, too. */
static int holding_update(struct cmt_usage *usage, struct usage_holding *h,
			  const struct cmt_slot_entry *e)
{
	int err = holding_join(usage, h, e->owner);

	if (err)
		return err;
	if (h->kept)
		usage_traffic_settle(h, 0);
	value_take(usage, h, e);
	holding_seen(h, usage_flags(usage, e->flags));
	if (e->samples)
		holding_read(usage, h, e);
	return 0;
}

static bool same_owner(const struct usage_holding *h,
		       const struct cmt_owner *owner)
{
	if (!owner)
		return h->rmid == CMT_RMID_NONE;
	return !owner->freed && usage_owner_is(&h->owner, owner);
}

/*
 * A value carried over, or a reading that continues the last one, of the same owner:
 * the fast path.
 */
static bool goes_on(const struct cmt_usage *usage, const struct usage_holding *h,
		    const struct cmt_slot_entry *e)
{
	/* the first reading of an interval begins it */
	if (!h->seen && e->samples)
		return false;
	if (usage_ended(h) || h->group == USAGE_NONE || !same_owner(h, e->owner))
		return false;
	if (!h->seen)
		return e->ts == h->ts;
	return !e->samples ||
	       (h->steady && usage_flags(usage, e->flags) == h->flags &&
		cmt_ts_before(h->ts, e->ts) &&
		e->mbm_total_bytes >= h->mbm_total &&
		e->mbm_local_bytes >= h->mbm_local);
}

static void holding_begin(struct cmt_usage *usage, struct usage_holding *h)
{
	if (h->kept)
		usage_traffic_settle(h, 0);
	usage_count_seen(usage, h);
	h->absent = false;
	h->seen = false;
	h->emulated = false;
	h->occupancy_known = false;
	h->born = false;
	h->read = false;
	h->steady = false;
	h->why = 0;
}

/* Entries have the same order in most slots. */
static struct usage_holding *holding_expected(struct cmt_usage *usage,
					      const struct cmt_slot_entry *e)
{
	struct usage_holding *h;

	if (usage->expected >= usage->nr_holdings)
		return NULL;
	h = &usage->holdings[usage->expected];
	return h->alone && h->rmid == e->rmid && h->domain == e->domain &&
	       h->generation == e->generation ? h : NULL;
}

static struct usage_holding *holding_find(struct cmt_usage *usage,
					  const struct cmt_slot_entry *e,
					  uint32_t domain)
{
	uint32_t *chains = make_chains(usage, domain);

	return chains ? holding_of(usage, e, &chains[e->rmid]) : NULL;
}

/*
 * No value of the holding is of one interval, so it is the same in the next one: it was
 * not read, and has nothing to report in each interval.
 */
static bool is_carried(const struct usage_holding *h)
{
	return !h->read && !h->born && !h->kept && !h->why &&
	       h->occupancy_known && !usage_ended(h);
}

/* Returns 0 or -ENOMEM. */
static int add_news(struct cmt_usage *usage, struct usage_holding *h)
{
	if (!(usage->flags & CMT_USAGE_BRIEF) || h->news == usage->interval)
		return 0;
	if (cmt_grow(&usage->news, usage->nr_news, &usage->room_news,
		     sizeof(*usage->news)))
		return -ENOMEM;
	h->news = usage->interval;
	usage->news[usage->nr_news++] = (uint32_t)(h - usage->holdings);
	return 0;
}

/* A new holding for the present owner of a group.  NULL: no memory. */
static struct usage_holding *holding_pass_on(struct cmt_usage *usage,
					     struct usage_holding *h,
					     const struct cmt_slot_entry *e, uint32_t domain)
{
	uint32_t number = (uint32_t)(h - usage->holdings);
	struct usage_holding *next;

	next = new_holding(usage, e, &usage->chains[domain][e->rmid]);
	if (!next)
		return NULL;
	h = &usage->holdings[number];
	if (h->kept)
		usage_traffic_settle(h, 0);
	usage_sum_drop(usage, h);
	holding_ended(usage, h);
	h->former = true;
	/* other groups of the former owner are in the same row until a sweep */
	usage->untidy = true;
	usage->whole_due = true;
	usage_traffic_continue(next, h);
	return next;
}

/* The holding of the entry; NULL: no memory, or *@err is 0 and it cannot be. */
static struct usage_holding *holding_at(struct cmt_usage *usage,
					const struct cmt_slot_entry *e, int *err)
{
	struct usage_holding *h = holding_expected(usage, e);
	uint32_t domain;

	*err = 0;
	if (h && !usage_changes_hands(&h->owner, e->owner))
		return h;
	domain = usage_domain(usage, e->domain);
	if (e->rmid >= usage->nr_rmids || domain == USAGE_NONE) {
		usage->dropped += e->samples;
		return NULL;
	}
	h = holding_find(usage, e, domain);
	if (h && usage_changes_hands(&h->owner, e->owner))
		h = holding_pass_on(usage, h, e, domain);
	*err = h ? 0 : -ENOMEM;
	return h;
}

int usage_holding_take(struct cmt_usage *usage, struct usage_holding *h,
		       const struct cmt_slot_entry *e, uint64_t end_ns)
{
	int err;

	h->seen_ns = end_ns;
	h->entry = e;
	h->held = false;
	h->carried = false;
	if (h->interval != usage->interval)
		holding_begin(usage, h);
	err = add_news(usage, h);
	if (err)
		return err;
	if (!goes_on(usage, h, e)) {
		err = holding_update(usage, h, e);
		if (!err && usage_ended(h))
			usage_sum_drop(usage, h);
		if (err || usage_ended(h))
			return err;
	} else if (e->samples) {
		value_take(usage, h, e);
		h->kept = true;
	} else if (!h->seen) {
		holding_seen(h, usage_flags(usage, e->flags));
	}
	h->held = true;
	if (usage->narrow) {
		h->carried = is_carried(h);
		return 0;
	}
	usage->shares_now++;
	usage_sum_add(usage, h);
	return 0;
}

int usage_holding_add(struct cmt_usage *usage, const struct cmt_slot_entry *e,
		      uint64_t end_ns)
{
	int err;
	struct usage_holding *h = holding_at(usage, e, &err);

	if (!h)
		return err;
	usage->expected = (uint32_t)(h - usage->holdings) + 1;
	return usage_holding_take(usage, h, e, end_ns);
}

/* Add an unavailable reading of the owner; by domain one in each. */
static int add_unread(struct cmt_usage *usage, const struct cmt_owner *owner)
{
	struct cmt_slot_entry e = {
		.ts = usage->slot_end_ns - 1, .samples = 1,
		.flags = CMT_F_UNAVAILABLE, .rmid = owner->rmid,
		.generation = owner->generation, .owner = owner,
	};
	uint32_t d, n = usage->by == CMT_USAGE_BY_DOMAIN ? usage->nr_domains : 1;
	int err = 0;

	for (d = 0; !err && d < n; d++) {
		e.domain = usage->domains[d];
		err = usage_holding_add(usage, &e, usage->slot_end_ns);
	}
	return err;
}

/* The owners are those of the tracker, as of the last slot.  Ticks show the domains. */
int usage_holdings_unread(struct cmt_usage *usage)
{
	const struct cmt_owner *owner;
	int err = 0;

	if (!usage->unread || !usage->slots_now || !usage->nr_domains)
		return 0;
	usage->last_ns = usage->slot_end_ns - 1;
	owner = cmt_slots_next_owner(usage->slots, 1);
	while (!err && owner) {
		err = add_unread(usage, owner);
		owner = cmt_slots_next_owner(usage->slots, owner->rmid + 1);
	}
	return err;
}

/*
 * Slots carry the values of every live owner, so an owner that is not in the last slot
 * has ended: its FREE came after its last reading.  Or its state was lost: it is kept
 * for some time, so that no traffic counts twice.
 */
static void holding_end(const struct cmt_usage *usage, struct usage_holding *h,
			bool *emulated)
{
	if (h->kept)
		usage_traffic_settle(h, 0);
	if (!usage_seen(usage, h))
		return;
	*emulated |= h->emulated;
	h->absent |= h->owner.kind != CMT_USAGE_UNKNOWN &&
		     h->seen_ns != usage->slot_end_ns;
}

/*
 * In one slot no owner is absent, and holdings without news are not in a brief frame.
 */
void usage_holdings_end(struct cmt_usage *usage, bool *emulated)
{
	bool few = usage->brief && usage->narrow && usage->slots_now <= 1;
	uint32_t i, nr = few ? usage->nr_news : usage->nr_holdings;

	for (i = 0; i < nr; i++)
		holding_end(usage, &usage->holdings[few ? usage->news[i] : i],
			    emulated);
}

static void clear_chains(struct cmt_usage *usage)
{
	uint32_t d;

	for (d = 0; d < usage->nr_domains; d++)
		if (usage->chains[d])
			memset(usage->chains[d], 0xff,
			       usage->nr_rmids * sizeof(uint32_t));
}

/* In the order of entries */
static int cmp_place(const void *pa, const void *pb)
{
	const struct usage_holding *a = pa, *b = pb;
	int ret = usage_cmp(a->rmid, b->rmid);

	if (!ret)
		ret = usage_cmp(a->domain, b->domain);
	return ret ? ret : usage_cmp(a->generation, b->generation);
}

static void sort_by_place(struct usage_holding *holdings, uint32_t nr)
{
	uint32_t i = 1;

	while (i < nr && cmp_place(&holdings[i - 1], &holdings[i]) <= 0)
		i++;
	if (i < nr)
		qsort(holdings, nr, sizeof(*holdings), cmp_place);
}

static void link_holding(struct cmt_usage *usage, uint32_t number)
{
	const struct usage_holding *h = &usage->holdings[number];

	chain_add(usage, number, &usage->chains[usage_domain(usage, h->domain)][h->rmid]);
}

void usage_holdings_sweep(struct cmt_usage *usage)
{
	uint32_t i, kept = 0;

	clear_chains(usage);
	for (i = 0; i < usage->nr_holdings; i++) {
		struct usage_holding *h = &usage->holdings[i];

		if (h->ended || usage->slot_end_ns > h->seen_ns + USAGE_FORGET_NS)
			continue;
		h->group = USAGE_NONE;
		h->child = USAGE_NONE;
		h->chained = false;
		h->held = false;
		h->share = (struct usage_share){ .in = false };
		if (kept != i)
			usage->holdings[kept] = *h;
		kept++;
	}
	usage->nr_holdings = kept;
	sort_by_place(usage->holdings, kept);
	for (i = 0; i < kept; i++)
		link_holding(usage, i);
}

/* Did the RMID have another owner than the one that ran?  Only a group's may. */
static bool is_other(const struct usage_owner *held, const struct usage_owner *ran)
{
	return held->kind == CMT_USAGE_OWNER && ran->kind == CMT_USAGE_OWNER &&
	       (usage_of_group(held) || usage_of_group(ran)) &&
	       !usage_owner_same(held, ran);
}

struct usage_holding *usage_holding_find(struct cmt_usage *usage,
					 const struct usage_runner *runner, uint32_t domain)
{
	uint32_t i = USAGE_NONE, d = find_domain(usage, domain);

	if (d < usage->nr_domains && usage->chains[d])
		i = usage->chains[d][runner->rmid];
	while (i != USAGE_NONE && (usage->holdings[i].generation != runner->generation ||
				   is_other(&usage->holdings[i].owner, &runner->owner)))
		i = usage->holdings[i].older;
	return i == USAGE_NONE ? NULL : &usage->holdings[i];
}
