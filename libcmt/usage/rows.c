// SPDX-License-Identifier: LGPL-2.1-or-later
/* From holdings and CPUs to rows */
#include "state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The error of a reading.  A difference of two readings is of two values in the
 * hardware's unit, times the correction of the MBM counters, which is below 2.
 */
#define READ_UNITS	2

static int cmp_holding(const void *pa, const void *pb)
{
	const struct usage_holding *a = *(struct usage_holding *const *)pa;
	const struct usage_holding *b = *(struct usage_holding *const *)pb;
	int ret = usage_cmp(a->group, b->group);

	if (!ret)
		ret = usage_cmp(a->rmid, b->rmid);
	if (!ret)
		ret = usage_cmp(a->generation, b->generation);
	return ret ? ret : usage_cmp(a->domain, b->domain);
}

/* By domain, of one row; and as above in it. */
static int cmp_part(const void *pa, const void *pb)
{
	const struct usage_holding *a = *(struct usage_holding *const *)pa;
	const struct usage_holding *b = *(struct usage_holding *const *)pb;
	int ret = usage_cmp(a->domain, b->domain);

	return ret ? ret : cmp_holding(pa, pb);
}

/* By process, of one container; and as above in it. */
static int cmp_child(const void *pa, const void *pb)
{
	const struct usage_holding *a = *(struct usage_holding *const *)pa;
	const struct usage_holding *b = *(struct usage_holding *const *)pb;
	int ret = usage_cmp(a->child, b->child);

	return ret ? ret : cmp_holding(pa, pb);
}

/* They are few, and in order already but where one came lately. */
static void sort_holdings(struct usage_holding **holdings, uint32_t nr,
			  int (*cmp)(const void *, const void *))
{
	uint32_t i = 1;

	while (i < nr && cmp(&holdings[i - 1], &holdings[i]) <= 0)
		i++;
	if (i < nr)
		qsort(holdings, nr, sizeof(struct usage_holding *), cmp);
}

static const struct cmt_usage_coverage unknown_coverage = {
	.occupancy = NAN, .total = NAN, .local = NAN,
};

static struct cmt_usage_row *new_row(struct usage_rows *to)
{
	struct cmt_usage_row *row;

	if (cmt_grow(&to->rows, to->nr, &to->room, sizeof(*row)))
		return NULL;
	row = &to->rows[to->nr++];
	memset(row, 0, sizeof(*row));
	row->coverage = unknown_coverage;
	return row;
}

/* So much of so much. */
struct cover {
	uint64_t part, all;
};

static double cover_share(const struct cmt_usage *usage, uint32_t event,
			  const struct cover *cover)
{
	if (!(usage->events & event))
		return NAN;
	return cover->all ? (double)cover->part / (double)cover->all : NAN;
}

/* Not known, and without a reason: the machine has no such counter. */
static void cover_occupancy(struct cover *cover, const struct usage_holding *h)
{
	const uint32_t reasons = CMT_USAGE_WHY_ERROR | CMT_USAGE_WHY_UNAVAILABLE;

	if (usage_ended(h) || (!h->occupancy_known && !(h->why & reasons)))
		return;
	cover->part += h->occupancy_known;
	cover->all++;
}

static void cover_traffic(struct cover *cover, const struct usage_holding *h,
			  const struct usage_traffic *t)
{
	if (!h->read)
		return;
	cover->part += t->covered_ns;
	cover->all += t->covered_ns + t->missed_ns;
}

static struct cmt_usage_coverage
coverage_of(const struct cmt_usage *usage, struct usage_holding *const *run,
	    uint32_t n, uint64_t pending, uint64_t elapsed_ns)
{
	struct cover occupancy = { 0, pending };
	struct cover total = { 0, pending * elapsed_ns }, local = total;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (run[i]->blank)
			continue;
		cover_occupancy(&occupancy, run[i]);
		cover_traffic(&total, run[i], &run[i]->total);
		cover_traffic(&local, run[i], &run[i]->local);
	}
	return (struct cmt_usage_coverage){
		.occupancy = cover_share(usage, CMT_F_OCCUPANCY, &occupancy),
		.total = cover_share(usage, CMT_F_MBM_TOTAL, &total),
		.local = cover_share(usage, CMT_F_MBM_LOCAL, &local),
	};
}

/* How old a value is that no reading of the last slot has renewed. */
static uint64_t occupancy_age(const struct cmt_usage *usage,
			      const struct usage_holding *h)
{
	uint64_t age = usage->slot_end_ns - h->occupancy_ts;

	return age > usage->slot_ns ? age : 0;
}

static void row_occupancy(const struct cmt_usage *usage,
			  struct cmt_usage_row *row,
			  const struct usage_holding *h)
{
	struct cmt_usage_occupancy *o = &row->occupancy;
	uint64_t age = occupancy_age(usage, h);

	if (!h->read && !usage_ended(h))
		o->why |= CMT_USAGE_WHY_OLD;
	if (usage_ended(h))
		return;
	if (!h->occupancy_known) {
		o->partial = true;
		o->why |= h->why & (CMT_USAGE_WHY_ERROR |
				    CMT_USAGE_WHY_UNAVAILABLE);
		return;
	}
	o->known = true;
	o->last_bytes += h->occupancy;
	o->residual_bytes += h->residual;
	if (age > o->age_ns)
		o->age_ns = age;
}

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

/* @over_ns: the rate is over this time; 0: over the time that was counted. */
static void add_traffic(const struct cmt_usage *usage,
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

static void row_traffic(const struct cmt_usage *usage,
			struct cmt_usage_rate *r, const struct usage_holding *h,
			const struct usage_traffic *t, uint64_t elapsed_ns)
{
	add_traffic(usage, r, h, t, elapsed_ns, 0);
}

/* A holding without a reading in the interval: its value is of another interval. */
static void rate_unread(struct cmt_usage_rate *r, const struct usage_holding *h)
{
	r->why |= usage_ended(h) ? 0 : CMT_USAGE_WHY_OLD;
	r->partial = true;
}

/* In this interval; nothing before the first reading in it. */
static const struct usage_traffic *traffic_of(const struct usage_holding *h,
					      const struct usage_traffic *t)
{
	static const struct usage_traffic nothing;

	return h->read ? t : &nothing;
}

static const struct cmt_container *
container_of(const struct cmt_usage *usage, struct usage_frame *to,
	     uint32_t cgroup)
{
	struct cmt_item *item;

	if (cgroup == USAGE_NONE)
		return NULL;
	item = usage->cgroups[cgroup].item;
	/* a group whose path is not known is its RMID */
	if (item && item->container.cgroup_id & CMT_RESCTRL_GROUP && !item->path)
		return NULL;
	if (!item || cmt_grow(&to->items, to->nr_items, &to->room_items,
			      sizeof(struct cmt_item *)))
		return NULL;
	item->pins++;
	to->items[to->nr_items++] = item;
	return &item->container;
}

static void row_identity(struct cmt_usage_row *row,
			 const struct usage_holding *h)
{
	row->kind = h->kind;
	row->owner = h->owner;
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (h->attached)
		row->flags |= CMT_USAGE_ROW_ATTACHED;
	row->cpu = h->cpu;
	if (h->group_cpu != CMT_GROUP_NO_CPU) {
		row->flags |= CMT_USAGE_ROW_GROUP_CPU;
		row->cpu = h->group_cpu;
	}
	row->cgroup_id = h->cgroup_id;
	memcpy(row->comm, h->comm, sizeof(row->comm));
	row->pid = h->tgid;
	row->rmid = h->rmid;
	row->generation = h->generation;
	row->domain = h->domain;
}

/*
 * Values of one of the processes or cgroups in a container's row do not apply to the
 * row.
 */
static void row_of_container(struct cmt_usage_row *row)
{
	row->owner = CMT_OWNER_CGROUP;
	if (row->container)
		row->cgroup_id = row->container->cgroup_id;
	row->flags &= ~CMT_USAGE_ROW_ATTACHED;
	memset(row->comm, 0, sizeof(row->comm));
	row->pid = 0;
	row->rmid = 0;
	row->generation = 0;
	row->domain = 0;
	row->cpu = 0;
}

/*
 * The reasons that a holding gives its row.  A value that the last reading left incomplete
 * is so until the next one.  A domain has the RMIDs of all agents, and so all work.
 */
static uint32_t reasons_of(const struct cmt_usage *usage, const struct usage_holding *h)
{
	uint32_t why = h->why | usage_why(h->flags & CMT_F_PQR_OVERWRITTEN);

	return usage->by == CMT_USAGE_BY_DOMAIN ? why & ~CMT_USAGE_WHY_OVERWRITTEN : why;
}

static void row_add(const struct cmt_usage *usage, struct cmt_usage_row *row,
		    const struct usage_holding *h, uint64_t elapsed_ns)
{
	if (h->blank)
		return;
	row->why |= reasons_of(usage, h);
	if (h->emulated)
		row->flags |= CMT_USAGE_ROW_EMULATED;
	row_occupancy(usage, row, h);
	if (!h->read) {
		rate_unread(&row->total, h);
		rate_unread(&row->local, h);
		return;
	}
	row_traffic(usage, &row->total, h, &h->total, elapsed_ns);
	row_traffic(usage, &row->local, h, &h->local, elapsed_ns);
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

static void occupancy_settle(struct cmt_usage_occupancy *o, bool pending)
{
	if (pending) {
		o->why |= CMT_USAGE_WHY_PENDING;
		o->partial = true;
	}
	/* an owner that ended has a most */
	o->partial &= o->known || o->most_bytes;
}

static void rate_bound(struct cmt_usage_rate *r)
{
	r->why |= CMT_USAGE_WHY_OVERWRITTEN;
	r->partial = true;
	r->known &= r->bytes != 0;
}

static void occupancy_bound(struct cmt_usage_occupancy *o)
{
	o->why |= CMT_USAGE_WHY_OVERWRITTEN;
	o->partial = true;
	o->known &= o->last_bytes != 0;
	if (!o->known || !o->least_bytes)
		o->slots = 0;
}

/*
 * Another agent's RMID counted some of the work.  What the row's RMIDs counted is a lower
 * bound, and a lower bound of 0 says nothing.  How much of all it is, is not known.
 */
static void row_bound(struct cmt_usage_row *row)
{
	occupancy_bound(&row->occupancy);
	rate_bound(&row->total);
	rate_bound(&row->local);
	row->coverage = unknown_coverage;
}

static void row_settle(const struct cmt_usage *usage,
		       struct cmt_usage_row *row, bool alive)
{
	bool pending = row->pending != 0;

	if (!alive)
		row->occupancy.why |= CMT_USAGE_WHY_ENDED;
	if (row->why & CMT_USAGE_WHY_OVERWRITTEN)
		row_bound(row);
	occupancy_settle(&row->occupancy, pending);
	usage_rate_settle(&row->total, pending);
	usage_rate_settle(&row->local, pending);
	row->why |= row->occupancy.why | row->total.why | row->local.why;
	if (row->total.known)
		row->why &= ~CMT_USAGE_WHY_FIRST;
	row->l3_bytes = usage->l3_bytes;
	if (usage->by != CMT_USAGE_BY_DOMAIN)
		row->l3_bytes *= usage->nr_domains;
	else
		row->kind = CMT_USAGE_OWNER;
}

static void row_spread(struct cmt_usage_row *row, const struct usage_sum *sum)
{
	row->occupancy.least_bytes = sum->least;
	row->occupancy.most_bytes = sum->most;
	row->occupancy.mean_bytes = sum->nr ? sum->total / sum->nr : 0;
	row->occupancy.slots = sum->nr;
}

/* Of an interval that has no more than one slot, in which all was looked at together. */
static void row_of_slot(struct cmt_usage_row *row,
			struct usage_holding *const *run, uint32_t n)
{
	struct cmt_usage_occupancy *o = &row->occupancy;
	bool all = true, any = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (run[i]->blank || usage_ended(run[i]))
			continue;
		any = true;
		all &= usage_holds(run[i]);
		if (usage_holds(run[i]))
			o->most_bytes += run[i]->occupancy;
	}
	o->slots = any && all;
	o->least_bytes = o->slots ? o->most_bytes : 0;
	o->mean_bytes = o->least_bytes;
}

/* Nothing of the row was read: it ran, and that is all. */
static void row_blank(struct cmt_usage_row *row, bool alive)
{
	if (!alive)
		return;
	row->occupancy.why |= CMT_USAGE_WHY_OLD;
	row->total.why |= CMT_USAGE_WHY_OLD;
	row->local.why |= CMT_USAGE_WHY_OLD;
}

/* The holding that the row is named by: that of the owner's dedicated RMID, where it has one. */
static const struct usage_holding *first_own(struct usage_holding *const *run, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!run[i]->sole)
			return run[i];
	return run[0];
}

/* One row from a run of @n holdings, of the group @number. */
static void fill_row(struct cmt_usage *usage, struct usage_frame *to,
		     struct cmt_usage_row *row,
		     struct usage_holding *const *run, uint32_t n,
		     uint32_t number)
{
	static const struct usage_counted nothing;
	const struct usage_group *group = usage_group_now(usage, number);
	bool alive = false, blank = true;
	uint32_t i;

	row_identity(row, first_own(run, n));
	row->container = container_of(usage, to, group->cgroup);
	row->pending = group->pending;
	row->coverage = coverage_of(usage, run, n, row->pending,
				    to->frame.elapsed_ns);
	if (usage->narrow && usage->slots_now <= 1)
		row_of_slot(row, run, n);
	else
		row_spread(row, usage_sum(usage, number));
	for (i = 0; i < n; i++) {
		row_add(usage, row, run[i], to->frame.elapsed_ns);
		blank &= run[i]->blank;
		if (run[i]->owner == CMT_OWNER_CGROUP)
			row->flags |= CMT_USAGE_ROW_WHOLE;
		if (usage_ended(run[i]))
			continue;
		if (!alive || run[i]->rmid != run[i - 1]->rmid ||
		    run[i]->generation != run[i - 1]->generation)
			row->rmids += run[i]->rmid != CMT_RMID_NONE && !run[i]->sole;
		alive = true;
	}
	if (blank)
		row_blank(row, alive);
	row_settle(usage, row, alive);
	usage_row_counters(usage, &to->frame, row,
			   usage->by == CMT_USAGE_BY_CPU ? NULL :
			   group->counts ? &group->counted : &nothing);
}

/* How many holdings of @run, of @nr, are of the same child as the first. */
static uint32_t child_length(struct usage_holding *const *run, uint32_t nr)
{
	uint32_t n = 1;

	while (n < nr && run[n]->child == run[0]->child)
		n++;
	return n;
}

/* The processes of a container that have a dedicated RMID. */
static int build_children(struct cmt_usage *usage, struct usage_frame *to,
			  uint32_t parent, struct usage_holding **run, uint32_t n)
{
	uint32_t i, length, first = to->children.nr;

	sort_holdings(run, n, cmp_child);
	for (i = 0; i < n; i += length) {
		struct cmt_usage_row *child;

		length = child_length(run + i, n - i);
		if (run[i]->child == USAGE_NONE)
			continue;
		child = new_row(&to->children);
		if (!child)
			return -ENOMEM;
		fill_row(usage, to, child, run + i, length, run[i]->child);
	}
	to->rows.rows[parent].first_child = first;
	to->rows.rows[parent].nr_children = to->children.nr - first;
	return 0;
}

/* By container, for owners in cgroups */
static bool of_container(const struct cmt_usage *usage,
			 const struct cmt_usage_row *row)
{
	return usage->by == CMT_USAGE_BY_CONTAINER &&
	       usage_in_cgroup(row->kind, row->owner);
}

static int build_part(struct cmt_usage *usage, struct usage_frame *to,
		      struct usage_holding *const *run, uint32_t n)
{
	struct cmt_usage_row *part = new_row(&to->children);

	if (!part)
		return -ENOMEM;
	fill_row(usage, to, part, run, n, run[0]->child);
	if (of_container(usage, part))
		row_of_container(part);
	part->flags |= CMT_USAGE_ROW_PART;
	part->domain = run[0]->domain;
	part->l3_bytes = usage->l3_bytes;
	return 0;
}

/* Values from before the second domain appeared have no parts in this interval. */
static bool have_parts(struct usage_holding *const *run, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr && run[i]->child != USAGE_NONE; i++)
		;
	return i == nr;
}

/* The parts of the last row, by domain */
static int build_parts(struct cmt_usage *usage, struct usage_frame *to,
		       struct usage_holding **run, uint32_t nr)
{
	uint32_t i, n, parent = to->rows.nr - 1, first = to->children.nr;
	int err = 0;

	if (!have_parts(run, nr))
		return 0;
	sort_holdings(run, nr, cmp_part);
	for (i = 0; !err && i < nr; i += n) {
		n = child_length(run + i, nr - i);
		err = build_part(usage, to, run + i, n);
	}
	to->rows.rows[parent].first_child = first;
	to->rows.rows[parent].nr_children = to->children.nr - first;
	return err;
}

static int build_row(struct cmt_usage *usage, struct usage_frame *to,
		     struct usage_holding **run, uint32_t n)
{
	struct cmt_usage_row *row = new_row(&to->rows);

	if (!row)
		return -ENOMEM;
	usage_group_now(usage, run[0]->group)->measured = true;
	fill_row(usage, to, row, run, n, run[0]->group);
	if (of_container(usage, row))
		row_of_container(row);
	if (usage_in_parts(usage))
		return build_parts(usage, to, run, n);
	return build_children(usage, to, to->rows.nr - 1, run, n);
}

/* A CPU's own RMID, which the row of the CPU has. */
static bool in_cpu_row(const struct cmt_usage *usage,
		       const struct usage_holding *h)
{
	return usage->by == CMT_USAGE_BY_CPU && h->kind == CMT_USAGE_OWNER &&
	       h->owner == CMT_OWNER_CPU;
}

/* Is the row of the holding in this frame? */
static bool has_row(struct cmt_usage *usage, const struct usage_holding *h)
{
	if (!usage_seen(usage, h) || h->group == USAGE_NONE ||
	    in_cpu_row(usage, h))
		return false;
	return !usage->brief || usage_group_now(usage, h->group)->wanted;
}

/* List the holdings of the rows. */
static uint32_t list_holdings(struct cmt_usage *usage,
			      struct usage_holding **list)
{
	uint32_t i, nr = 0;

	if (usage->brief)
		usage_brief_want(usage);
	if (usage_in_chains(usage))
		nr = usage_brief_list(usage, list, usage->nr_holdings);
	else
		for (i = 0; i < usage->nr_holdings; i++)
			if (has_row(usage, &usage->holdings[i]))
				list[nr++] = &usage->holdings[i];
	for (i = 0; i < usage->perf.nr_blanks; i++)
		list[nr++] = &usage->perf.blanks[i];
	return nr;
}

/* Stable, by counting: @at has room for a number of each group, and one more. */
static void sort_by_group(const struct cmt_usage *usage,
			  struct usage_holding *const *list, uint32_t nr,
			  struct usage_holding **sorted, uint32_t *at)
{
	uint32_t i;

	memset(at, 0, (usage->nr_groups + 1) * sizeof(*at));
	for (i = 0; i < nr; i++)
		at[list[i]->group + 1]++;
	for (i = 0; i < usage->nr_groups; i++)
		at[i + 1] += at[i];
	for (i = 0; i < nr; i++)
		sorted[at[list[i]->group]++] = list[i];
}

/* Room to sort all holdings. */
static int make_room(struct cmt_usage *usage)
{
	size_t most = (size_t)usage->nr_holdings + usage->perf.nr_blanks + 1;
	struct usage_holding **sorted;
	uint32_t *places;

	sorted = reallocarray(usage->sorted, 2 * most, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	usage->sorted = sorted;
	places = reallocarray(usage->places, (size_t)usage->nr_groups + 1,
			      sizeof(*places));
	if (!places)
		return -ENOMEM;
	usage->places = places;
	return 0;
}

static int build_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	struct usage_holding **sorted, **list;
	uint32_t i, n, nr;
	int err = make_room(usage);

	if (err)
		return err;
	sorted = usage->sorted;
	list = sorted + usage->nr_holdings + usage->perf.nr_blanks + 1;
	nr = list_holdings(usage, list);
	if (usage_in_chains(usage) && !usage->perf.nr_blanks)
		sorted = list;
	else
		sort_by_group(usage, list, nr, sorted, usage->places);
	for (i = 0; !err && i < nr; i += n) {
		for (n = 1; i + n < nr && sorted[i + n]->group == sorted[i]->group;)
			n++;
		sort_holdings(sorted + i, n, cmp_holding);
		err = build_row(usage, to, sorted + i, n);
	}
	return err;
}

/* A container with pending owners only: their number, without values */
static int build_pending_row(const struct cmt_usage *usage,
			     struct usage_frame *to,
			     const struct usage_group *group)
{
	struct cmt_usage_row *row = new_row(&to->rows);

	if (!row)
		return -ENOMEM;
	row->kind = CMT_USAGE_OWNER;
	row->owner = CMT_OWNER_CGROUP;
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (to->frame.emulated)
		row->flags |= CMT_USAGE_ROW_EMULATED;
	row->cgroup_id = usage->cgroups[group->cgroup].id;
	row->container = container_of(usage, to, group->cgroup);
	row->pending = group->pending;
	row->coverage = coverage_of(usage, NULL, 0, row->pending,
				    to->frame.elapsed_ns);
	row_settle(usage, row, true);
	usage_row_counters(usage, &to->frame, row, NULL);
	return 0;
}

/* Only groups of cgroups have pending owners, and only by container. */
static int build_pending_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	uint32_t i;
	int err = 0;

	if (usage->by != CMT_USAGE_BY_CONTAINER || !usage->nr_pending)
		return 0;
	for (i = 0; !err && i < usage->nr_groups; i++) {
		const struct usage_group *group = usage_group_now(usage, i);

		if (group->pending && !group->measured)
			err = build_pending_row(usage, to, group);
	}
	return err;
}

/* The values of the RMID of a CPU.  False: it has none. */
static bool add_cpu_values(struct cmt_usage *usage,
			   struct cmt_usage_row *row, uint64_t elapsed_ns)
{
	bool alive = false, any = false;
	uint32_t i;

	for (i = 0; i < usage->nr_holdings; i++) {
		const struct usage_holding *h = &usage->holdings[i];

		if (!usage_seen(usage, h) || !in_cpu_row(usage, h) ||
		    h->cpu != row->cpu)
			continue;
		row_add(usage, row, h, elapsed_ns);
		row_spread(row, usage_sum(usage, h->group));
		alive |= !usage_ended(h);
		any = true;
	}
	if (any) {
		row_settle(usage, row, alive);
	} else {
		usage_rate_settle(&row->total, false);
		usage_rate_settle(&row->local, false);
	}
	return any;
}

static void cpu_identity(struct cmt_usage *usage, struct usage_frame *to,
			 struct cmt_usage_row *row, const struct usage_cpu *cpu)
{
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (cpu->emulated)
		row->flags |= CMT_USAGE_ROW_EMULATED;
	row->kind = cpu->kind;
	row->owner = cpu->owner;
	row->domain = cpu->domain;
	row->rmid = cpu->rmid;
	row->generation = cpu->generation;
	row->pid = cpu->tgid;
	row->cgroup_id = cpu->cgroup_id;
	if (cpu->cgroup_id)
		row->container = container_of(usage, to,
					      usage_cgroup(usage, cpu->cgroup_id));
	memcpy(row->comm, cpu->comm, sizeof(row->comm));
	row->why = cpu->why;
	row->ticks = cpu->ticks;
	row->busy_ticks = cpu->busy_ticks;
	row->missed = cpu->missed - cpu->missed_base;
	row->busy_ns = cpu->busy_ns - cpu->busy_base;
}

static int build_cpu_row(struct cmt_usage *usage, struct usage_frame *to,
			 uint32_t number)
{
	const struct usage_cpu *cpu = &usage->cpus[number];
	struct cmt_usage_row *row;

	if (!cpu->seen && cpu->lost == cpu->lost_base)
		return 0;
	row = new_row(&to->rows);
	if (!row)
		return -ENOMEM;
	row->flags = CMT_USAGE_ROW_CPU;
	row->cpu = number;
	row->kind = CMT_USAGE_UNKNOWN;
	row->lost = cpu->lost - cpu->lost_base;
	if (cpu->seen)
		cpu_identity(usage, to, row, cpu);
	return 0;
}

/*
 * The CPUs, and where CPUs have RMIDs of their own whatever else there is, so
 * that all rows are the cache.
 */
static int build_cpu_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	bool owners = false;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < usage->nr_cpus; i++)
		err = build_cpu_row(usage, to, i);
	for (i = 0; i < to->rows.nr; i++) {
		struct cmt_usage_row *row = &to->rows.rows[i];

		owners |= add_cpu_values(usage, row, to->frame.elapsed_ns);
		usage_row_counters(usage, &to->frame, row,
				   &usage->cpus[row->cpu].counted);
	}
	return !err && owners ? build_rows(usage, to) : err;
}

int usage_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	int err = usage_group_pending(usage);

	usage_brief_decide(usage, &to->frame);
	usage_holdings_end(usage, &to->frame.emulated);
	if (usage->narrow && usage->slots_now > 1)
		usage_brief_sums(usage);
	if (!err)
		err = usage_perf_end(usage);
	if (!err)
		err = usage->by == CMT_USAGE_BY_CPU ?
		      build_cpu_rows(usage, to) : build_rows(usage, to);
	if (!err)
		err = build_pending_rows(usage, to);
	return err ? err : usage_mark_borrowed(usage, to);
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
		add_traffic(usage, r, h, traffic_of(h, &h->total), elapsed_ns,
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
