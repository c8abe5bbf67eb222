// SPDX-License-Identifier: LGPL-2.1-or-later
/* From the holdings of a group to the values of a row */
#include "state.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct cmt_usage_coverage unknown_coverage = {
	.occupancy = NAN, .total = NAN, .local = NAN,
};

struct cmt_usage_row *usage_row_new(struct usage_rows *to)
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

/* A sum that lacks a residue is no upper bound.  Of no cache, the residue is none. */
static void row_residue(struct cmt_usage_occupancy *o, const struct usage_holding *h)
{
	bool all = !o->known || o->residual_known;

	o->residual_known = all && (h->residual_known || !h->occupancy);
	o->residual_bytes += h->residual;
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
	row_residue(o, h);
	o->known = true;
	o->last_bytes += h->occupancy;
	if (age > o->age_ns)
		o->age_ns = age;
}

static void row_traffic(const struct cmt_usage *usage,
			struct cmt_usage_rate *r, const struct usage_holding *h,
			const struct usage_traffic *t, uint64_t elapsed_ns)
{
	usage_rate_traffic(usage, r, h, t, elapsed_ns, 0);
}

/* A holding without a reading in the interval: its value is of another interval. */
static void rate_unread(struct cmt_usage_rate *r, const struct usage_holding *h)
{
	r->why |= usage_ended(h) ? 0 : CMT_USAGE_WHY_OLD;
	r->partial = true;
}

const struct cmt_container *
usage_row_container(const struct cmt_usage *usage, struct usage_frame *to,
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

void usage_row_owner(struct cmt_usage_row *row, const struct usage_owner *owner)
{
	row->kind = owner->kind;
	row->owner = owner->type;
	row->cgroup_id = owner->cgroup_id;
	row->pid = owner->tgid;
	memcpy(row->comm, owner->comm, sizeof(row->comm));
}

static void row_identity(struct cmt_usage_row *row, const struct usage_holding *h)
{
	usage_row_owner(row, &h->owner);
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (h->owner.attached)
		row->flags |= CMT_USAGE_ROW_ATTACHED;
	row->cpu = h->owner.cpu;
	if (h->owner.group_cpu != CMT_GROUP_NO_CPU) {
		row->flags |= CMT_USAGE_ROW_GROUP_CPU;
		row->cpu = h->owner.group_cpu;
	}
	row->rmid = h->rmid;
	row->generation = h->generation;
	row->domain = h->domain;
}

void usage_row_of_container(const struct cmt_usage *usage, struct cmt_usage_row *row)
{
	const struct usage_owner owner = { .kind = row->kind, .type = row->owner };

	if (usage->by != CMT_USAGE_BY_CONTAINER || !usage_in_cgroup(&owner))
		return;
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

void usage_row_add(const struct cmt_usage *usage, struct cmt_usage_row *row,
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

static void occupancy_settle(struct cmt_usage_occupancy *o, bool pending)
{
	if (pending) {
		o->why |= CMT_USAGE_WHY_PENDING;
		o->partial = true;
	}
	/* an owner that ended has a most */
	o->partial &= o->known || o->most_bytes;
	o->residual_known &= o->known;
	if (!o->residual_known)
		o->residual_bytes = 0;
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

void usage_row_settle(const struct cmt_usage *usage,
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

void usage_row_spread(struct cmt_usage_row *row, const struct usage_sum *sum)
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
		if (!run[i]->owner.sole)
			return run[i];
	return run[0];
}

void usage_row_fill(struct cmt_usage *usage, struct usage_frame *to,
		    struct cmt_usage_row *row,
		    struct usage_holding *const *run, uint32_t n,
		    uint32_t number)
{
	static const struct usage_counted nothing;
	const struct usage_group *group = usage_group_now(usage, number);
	bool alive = false, blank = true;
	uint32_t i;

	row_identity(row, first_own(run, n));
	row->container = usage_row_container(usage, to, group->cgroup);
	row->pending = group->pending;
	row->coverage = coverage_of(usage, run, n, row->pending,
				    to->frame.elapsed_ns);
	if (usage->narrow && usage->slots_now <= 1)
		row_of_slot(row, run, n);
	else
		usage_row_spread(row, usage_sum(usage, number));
	for (i = 0; i < n; i++) {
		usage_row_add(usage, row, run[i], to->frame.elapsed_ns);
		blank &= run[i]->blank;
		if (run[i]->owner.type == CMT_OWNER_CGROUP)
			row->flags |= CMT_USAGE_ROW_WHOLE;
		if (usage_ended(run[i]))
			continue;
		if (!alive || run[i]->rmid != run[i - 1]->rmid ||
		    run[i]->generation != run[i - 1]->generation)
			row->rmids += run[i]->rmid != CMT_RMID_NONE && !run[i]->owner.sole;
		alive = true;
	}
	if (blank)
		row_blank(row, alive);
	usage_row_settle(usage, row, alive);
	usage_row_counters(usage, &to->frame, row,
			   usage->by == CMT_USAGE_BY_CPU ? NULL :
			   group->counts ? &group->counted : &nothing);
}

int usage_row_pending(const struct cmt_usage *usage,
		      struct usage_frame *to,
		      const struct usage_group *group)
{
	struct cmt_usage_row *row = usage_row_new(&to->rows);

	if (!row)
		return -ENOMEM;
	row->kind = CMT_USAGE_OWNER;
	row->owner = CMT_OWNER_CGROUP;
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (to->frame.emulated)
		row->flags |= CMT_USAGE_ROW_EMULATED;
	row->cgroup_id = usage->cgroups[group->cgroup].id;
	row->container = usage_row_container(usage, to, group->cgroup);
	row->pending = group->pending;
	row->coverage = coverage_of(usage, NULL, 0, row->pending,
				    to->frame.elapsed_ns);
	usage_row_settle(usage, row, true);
	usage_row_counters(usage, &to->frame, row, NULL);
	return 0;
}
