// SPDX-License-Identifier: GPL-2.0-or-later
#include "aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A cgroup or an owner unseen for so long is forgotten. */
#define FORGET_NS 60000000000ULL
#define OWNER_FORGET_NS 2000000000ULL

#define NO_HOLDING UINT32_MAX

/* One MBM counter of one owner in one domain. */
struct traffic {
	/* kept from interval to interval */
	bool ever;		/* there has been a reading */
	bool based;		/* base is the last one, and comparable */
	uint64_t base;
	uint64_t base_ts;
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* some traffic was not counted */
	uint64_t bytes;
	uint64_t covered_ns;
};

/* One owner in one domain: what cmt_slot_entry names by its first members. */
struct holding {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t next;		/* in the chain of this RMID */
	enum owner_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	bool attached;
	uint32_t tgid;
	uint32_t cpu;
	char comm[CMT_COMM_LEN + 1];
	uint64_t cgroup_id;
	const struct cmt_container *container;
	struct traffic total;
	struct traffic local;
	uint64_t seen_ns;
	bool born;		/* first seen in this interval */
	bool ended;
	/* of this interval */
	bool seen;
	bool emulated;
	uint32_t why;
	bool occupancy_known;
	uint64_t occupancy;
	uint64_t residual;
};

struct group {
	uint64_t cgroup_id;
	uint64_t seen_ns;
	const struct cmt_container *container;
};

struct cpu_state {
	bool ever;
	bool seen;
	bool emulated;
	uint32_t domain;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint32_t why;
	uint32_t rmid;
	uint32_t generation;
	uint32_t tgid;
	enum owner_kind kind;
	uint32_t owner;		/* CMT_OWNER_* */
	char comm[CMT_COMM_LEN + 1];
	uint64_t cgroup_id;
	const struct cmt_container *container;
	uint64_t missed, missed_base;
	uint64_t busy_ns, busy_base;
	uint64_t lost, lost_base;
};

struct rows {
	struct row *rows;
	uint32_t nr, room;
};

struct aggregate {
	struct aggregate_opts opts;
	int err;
	struct holding *holdings;
	uint32_t nr_holdings, room_holdings;
	uint32_t *chains;	/* by RMID: its first holding, or NO_HOLDING */
	struct holding **sorted;
	struct group *groups;
	uint32_t nr_groups, room_groups;
	uint32_t *domains;
	uint32_t nr_domains, room_domains;
	struct cpu_state *cpus;		/* opts.nr_cpus of them */
	struct rows rows, children;
	struct row *flat;
	uint32_t interval_ns;
	uint64_t first_ns;	/* first reading ever */
	uint64_t last_ns;	/* last reading so far */
	uint64_t closed_ns;	/* last_ns of the interval before */
};

/*
 * Room for one more in an array of @nr.  Returns where the array is now, or
 * NULL: it is where it was, and agg->err says why.
 */
static void *grow(struct aggregate *agg, void *array, uint32_t nr,
		  uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *new;

	if (nr < *room)
		return array;
	new = reallocarray(array, more, size);
	if (new)
		*room = more;
	else
		agg->err = -ENOMEM;
	return new;
}

int aggregate_new(struct aggregate **result, const struct aggregate_opts *opts)
{
	struct aggregate *agg = calloc(1, sizeof(*agg));

	if (!agg)
		return -ENOMEM;
	agg->opts = *opts;
	agg->cpus = calloc(opts->nr_cpus, sizeof(*agg->cpus));
	agg->chains = malloc(opts->nr_rmids * sizeof(*agg->chains));
	if (!agg->cpus || !agg->chains) {
		aggregate_free(agg);
		return -ENOMEM;
	}
	memset(agg->chains, 0xff, opts->nr_rmids * sizeof(*agg->chains));
	*result = agg;
	return 0;
}

void aggregate_free(struct aggregate *agg)
{
	if (!agg)
		return;
	free(agg->holdings);
	free(agg->chains);
	free(agg->sorted);
	free(agg->groups);
	free(agg->domains);
	free(agg->cpus);
	free(agg->rows.rows);
	free(agg->children.rows);
	free(agg->flat);
	free(agg);
}

/*
 * The name of a cgroup; asked for once as long as somebody is in it, or, while
 * it is not to be found, by every owner in it once an interval.
 */
static const struct cmt_container *name_of(struct aggregate *agg,
					   uint64_t cgroup_id)
{
	struct group *group = NULL, *groups;
	uint32_t i;

	for (i = 0; i < agg->nr_groups; i++) {
		group = &agg->groups[i];
		if (group->cgroup_id == cgroup_id) {
			group->seen_ns = agg->last_ns;
			break;
		}
	}
	if (i == agg->nr_groups) {
		groups = grow(agg, agg->groups, agg->nr_groups,
			      &agg->room_groups, sizeof(*groups));
		if (!groups)
			return NULL;
		agg->groups = groups;
		group = &agg->groups[agg->nr_groups++];
		*group = (struct group){ .cgroup_id = cgroup_id,
					 .seen_ns = agg->last_ns };
	}
	if (!group->container || !group->container->path)
		group->container = agg->opts.lookup(agg->opts.ctx, cgroup_id);
	return group->container;
}

static void note_domain(struct aggregate *agg, uint32_t domain)
{
	uint32_t i, *domains;

	for (i = 0; i < agg->nr_domains; i++)
		if (agg->domains[i] == domain)
			return;
	domains = grow(agg, agg->domains, agg->nr_domains, &agg->room_domains,
		       sizeof(*domains));
	if (!domains)
		return;
	agg->domains = domains;
	agg->domains[agg->nr_domains++] = domain;
}

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

	holdings = grow(agg, agg->holdings, agg->nr_holdings,
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

/* Those who wait, and CPUs, are in no cgroup that would have a name. */
static bool in_cgroup(const struct cmt_owner *owner)
{
	return owner->kind != CMT_OWNER_REST && owner->kind != CMT_OWNER_CPU;
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
	if (!in_cgroup(owner)) {
		h->kind = owner->kind == CMT_OWNER_REST ? OWNER_REST :
							  OWNER_KNOWN;
		h->container = NULL;
		h->cgroup_id = 0;
		return;
	}
	if (h->kind != OWNER_KNOWN || h->cgroup_id != owner->cgroup_id ||
	    !h->seen)
		h->container = name_of(agg, owner->cgroup_id);
	h->cgroup_id = owner->cgroup_id;
	h->kind = OWNER_KNOWN;
}

static uint32_t why_of(uint16_t flags)
{
	return (flags & CMT_F_ERROR ? WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? WHY_OVERWRITTEN : 0);
}

static void add_entry(struct aggregate *agg, const struct cmt_slot_entry *e)
{
	struct holding *h;

	if (e->rmid >= agg->opts.nr_rmids)
		return;
	note_domain(agg, e->domain);
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

static void cpu_owner(struct aggregate *agg, struct cpu_state *cpu,
		      const struct cmt_slot_cpu *c)
{
	if (cpu->seen && cpu->kind == OWNER_KNOWN && c->owner &&
	    cpu->rmid == c->rmid && cpu->generation == c->generation &&
	    cpu->cgroup_id == c->owner->cgroup_id)
		return;
	cpu->rmid = c->rmid;
	cpu->generation = c->generation;
	cpu->container = NULL;
	cpu->comm[0] = '\0';
	cpu->tgid = 0;
	cpu->cgroup_id = 0;
	cpu->owner = 0;
	cpu->kind = OWNER_NOBODY;
	if (c->rmid == CMT_RMID_NONE)
		return;
	cpu->kind = OWNER_UNKNOWN;
	if (!c->owner)
		return;
	cpu->kind = c->owner->kind == CMT_OWNER_REST ? OWNER_REST : OWNER_KNOWN;
	cpu->owner = c->owner->kind;
	cpu->tgid = c->owner->tgid;
	memcpy(cpu->comm, c->owner->comm, sizeof(cpu->comm));
	if (!in_cgroup(c->owner))
		return;
	cpu->cgroup_id = c->owner->cgroup_id;
	cpu->container = name_of(agg, c->owner->cgroup_id);
}

static void add_cpu(struct aggregate *agg, const struct cmt_slot_cpu *c)
{
	struct cpu_state *cpu;

	if (c->cpu >= agg->opts.nr_cpus || !c->ticks)
		return;
	cpu = &agg->cpus[c->cpu];
	if (!cpu->ever) {
		cpu->ever = true;
		cpu->missed_base = c->missed;
		cpu->busy_base = c->busy_ns;
	}
	note_domain(agg, c->domain);
	agg->interval_ns = c->interval_ns;
	if (agg->opts.by == BY_CPU)
		cpu_owner(agg, cpu, c);
	cpu->seen = true;
	cpu->domain = c->domain;
	cpu->ticks += c->ticks;
	cpu->busy_ticks += c->busy_ticks;
	cpu->missed = c->missed;
	cpu->busy_ns = c->busy_ns;
	cpu->emulated |= !!(c->flags & CMT_F_EMULATED);
	cpu->why |= why_of(c->flags);
}

void aggregate_slot(void *ctx, const struct cmt_slot *slot)
{
	struct aggregate *agg = ctx;
	uint32_t i;

	for (i = 0; i < slot->nr_entries; i++)
		add_entry(agg, &slot->entries[i]);
	for (i = 0; i < slot->nr_cpus; i++)
		add_cpu(agg, &slot->cpus[i]);
}

void aggregate_lost(struct aggregate *agg, uint32_t cpu, uint64_t total)
{
	if (cpu < agg->opts.nr_cpus)
		agg->cpus[cpu].lost = total;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/*
 * Two cgroups are one container when runtime and container id are the same.
 * Without an id every cgroup stands for itself: a name alone is not unique.
 */
static int cmp_container(const struct holding *a, const struct holding *b)
{
	const struct cmt_container *x = a->container, *y = b->container;
	bool a_cpu = a->owner == CMT_OWNER_CPU, b_cpu = b->owner == CMT_OWNER_CPU;

	if (a_cpu || b_cpu)
		return a_cpu && b_cpu ? cmp_u64(a->cpu, b->cpu) :
					a_cpu ? 1 : -1;
	if (x && y && x->id[0] && y->id[0]) {
		if (x->runtime != y->runtime)
			return x->runtime < y->runtime ? -1 : 1;
		return strcmp(x->id, y->id);
	}
	if ((x && x->id[0]) != (y && y->id[0]))
		return x && x->id[0] ? -1 : 1;
	return cmp_u64(a->cgroup_id, b->cgroup_id);
}

/* 0: both belong in one row of the view. */
static int cmp_row(enum aggregate_by by, const struct holding *a,
		   const struct holding *b)
{
	if (by == BY_DOMAIN)
		return cmp_u64(a->domain, b->domain);
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (by == BY_CONTAINER)
		return a->kind == OWNER_KNOWN ? cmp_container(a, b) : 0;
	if (a->rmid != b->rmid)
		return cmp_u64(a->rmid, b->rmid);
	return cmp_u64(a->generation, b->generation);
}

/* qsort_r(): rows together, and in a row the domains of an RMID together. */
static int cmp_holding(const void *pa, const void *pb, void *ctx)
{
	const struct holding *a = *(struct holding *const *)pa;
	const struct holding *b = *(struct holding *const *)pb;
	const struct aggregate *agg = ctx;
	int ret = cmp_row(agg->opts.by, a, b);

	if (!ret)
		ret = cmp_u64(a->rmid, b->rmid);
	if (!ret)
		ret = cmp_u64(a->generation, b->generation);
	return ret ? ret : cmp_u64(a->domain, b->domain);
}

static struct row *new_row(struct aggregate *agg, struct rows *to)
{
	struct row *row, *rows;

	rows = grow(agg, to->rows, to->nr, &to->room, sizeof(*rows));
	if (!rows)
		return NULL;
	to->rows = rows;
	row = &to->rows[to->nr++];
	memset(row, 0, sizeof(*row));
	return row;
}

static void row_occupancy(struct row *row, const struct holding *h)
{
	if (h->ended)
		return;
	if (!h->occupancy_known) {
		row->occupancy.partial = true;
		return;
	}
	row->occupancy.known = true;
	row->occupancy.value += (double)h->occupancy;
	row->residual_bytes += h->residual;
}

/*
 * @elapsed_ns: of the interval.  Traffic of an owner that was not there all
 * the time spreads over all of it, as the others' does.
 */
static void row_traffic(struct row *row, struct measure *m,
			const struct holding *h, const struct traffic *t,
			uint64_t elapsed_ns)
{
	uint64_t span = elapsed_ns;

	if (t->gap)
		row->why |= WHY_GAP;
	if (t->gap || !t->read)
		m->partial = true;
	if (!t->known || !elapsed_ns) {
		if (t->read)
			row->why |= WHY_FIRST;
		return;
	}
	if (!h->born && !h->ended && !t->gap)
		span = t->covered_ns;
	m->known = true;
	m->value += (double)t->bytes * 1e9 / (double)span;
}

static void row_identity(struct row *row, const struct holding *h)
{
	row->kind = h->kind;
	row->owner = h->owner;
	row->attached = h->attached;
	row->cpu = h->cpu;
	row->seen = true;
	row->cgroup_id = h->cgroup_id;
	row->container = h->container;
	memcpy(row->comm, h->comm, sizeof(row->comm));
	row->pid = h->tgid;
	row->rmid = h->rmid;
	row->generation = h->generation;
	row->domain = h->domain;
}

static void row_add(struct row *row, const struct holding *h,
		    uint64_t elapsed_ns)
{
	row->why |= h->why;
	row->emulated |= h->emulated;
	row_occupancy(row, h);
	row_traffic(row, &row->total, h, &h->total, elapsed_ns);
	row_traffic(row, &row->local, h, &h->local, elapsed_ns);
}

/* A value that is not known has no bound either. */
static void measure_settle(struct measure *m)
{
	if (!m->known)
		m->partial = false;
}

static void row_settle(struct aggregate *agg, struct row *row, bool alive)
{
	measure_settle(&row->occupancy);
	measure_settle(&row->total);
	measure_settle(&row->local);
	/* explains a missing value only: others of the row have theirs */
	if (row->total.known)
		row->why &= ~WHY_FIRST;
	if (!alive)
		row->why |= WHY_ENDED;
	row->l3_bytes = agg->opts.l3_bytes;
	if (agg->opts.by != BY_DOMAIN)
		row->l3_bytes *= agg->nr_domains;
	if (agg->opts.by == BY_DOMAIN)
		row->kind = OWNER_KNOWN;
}

/* How many holdings from @run on, of @nr, are one row. */
static uint32_t run_length(enum aggregate_by by, struct holding *const *run,
			   uint32_t nr)
{
	uint32_t n = 1;

	while (n < nr && !cmp_row(by, run[0], run[n]))
		n++;
	return n;
}

/* One row from a run of @n holdings. */
static void fill_row(struct aggregate *agg, struct row *row,
		     struct holding *const *run, uint32_t n,
		     uint64_t elapsed_ns)
{
	bool alive = false;
	uint32_t i;

	row_identity(row, run[0]);
	for (i = 0; i < n; i++) {
		row_add(row, run[i], elapsed_ns);
		row->whole |= run[i]->owner == CMT_OWNER_CGROUP;
		if (run[i]->ended)
			continue;
		if (!alive || run[i]->rmid != run[i - 1]->rmid ||
		    run[i]->generation != run[i - 1]->generation)
			row->rmids += run[i]->rmid != CMT_RMID_NONE;
		alive = true;
	}
	row_settle(agg, row, alive);
}

/* The processes of a container that have an RMID of their own. */
static void build_children(struct aggregate *agg, struct row *row,
			   struct holding *const *run, uint32_t n,
			   uint64_t elapsed_ns)
{
	uint32_t i, length;

	row->first_child = agg->children.nr;
	for (i = 0; i < n; i += length) {
		struct row *child;

		length = run_length(BY_PROCESS, run + i, n - i);
		if (run[i]->owner != CMT_OWNER_PROCESS)
			continue;
		child = new_row(agg, &agg->children);
		if (!child)
			return;
		fill_row(agg, child, run + i, length, elapsed_ns);
		child->child = true;
	}
	row->nr_children = agg->children.nr - row->first_child;
}

/* The row that begins with the holding @first; returns how many it has. */
static uint32_t build_row(struct aggregate *agg, uint32_t first, uint32_t nr,
			  uint64_t elapsed_ns)
{
	struct holding **run = agg->sorted + first;
	uint32_t n = run_length(agg->opts.by, run, nr - first);
	struct row *row = new_row(agg, &agg->rows);

	if (!row)
		return n;
	fill_row(agg, row, run, n, elapsed_ns);
	if (agg->opts.by != BY_CONTAINER || !row_in_cgroup(row))
		return n;
	row->owner = CMT_OWNER_CGROUP;
	row->attached = false;
	build_children(agg, row, run, n, elapsed_ns);
	return n;
}

/* A CPU's own RMID, which the row of the CPU has. */
static bool in_cpu_row(const struct aggregate *agg, uint32_t i)
{
	return agg->opts.by == BY_CPU && agg->holdings[i].kind == OWNER_KNOWN &&
	       agg->holdings[i].owner == CMT_OWNER_CPU;
}

static void build_rows(struct aggregate *agg, uint64_t elapsed_ns)
{
	struct holding **sorted;
	uint32_t i, nr = 0;

	sorted = reallocarray(agg->sorted, agg->nr_holdings + 1,
			      sizeof(*sorted));
	if (!sorted) {
		agg->err = -ENOMEM;
		return;
	}
	agg->sorted = sorted;
	for (i = 0; i < agg->nr_holdings; i++)
		if (agg->holdings[i].seen && !in_cpu_row(agg, i))
			sorted[nr++] = &agg->holdings[i];
	qsort_r(sorted, nr, sizeof(*sorted), cmp_holding, agg);
	for (i = 0; i < nr; )
		i += build_row(agg, i, nr, elapsed_ns);
}

/* What the RMID of a CPU held; false: it has none. */
static bool add_cpu_values(struct aggregate *agg, struct row *row,
			   uint64_t elapsed_ns)
{
	bool alive = false, any = false;
	uint32_t i;

	for (i = 0; i < agg->nr_holdings; i++) {
		const struct holding *h = &agg->holdings[i];

		if (!h->seen || !in_cpu_row(agg, i) || h->cpu != row->cpu)
			continue;
		row_add(row, h, elapsed_ns);
		alive |= !h->ended;
		any = true;
	}
	if (any)
		row_settle(agg, row, alive);
	return any;
}

static void build_cpu_row(struct aggregate *agg, uint32_t number)
{
	const struct cpu_state *cpu = &agg->cpus[number];
	struct row *row;

	if (!cpu->seen && cpu->lost == cpu->lost_base)
		return;
	row = new_row(agg, &agg->rows);
	if (!row)
		return;
	row->is_cpu = true;
	row->cpu = number;
	row->kind = OWNER_UNKNOWN;
	row->lost = cpu->lost - cpu->lost_base;
	if (!cpu->seen)
		return;
	row->seen = true;
	row->kind = cpu->kind;
	row->owner = cpu->owner;
	row->domain = cpu->domain;
	row->rmid = cpu->rmid;
	row->generation = cpu->generation;
	row->pid = cpu->tgid;
	row->cgroup_id = cpu->cgroup_id;
	row->container = cpu->container;
	memcpy(row->comm, cpu->comm, sizeof(row->comm));
	row->why = cpu->why;
	row->emulated = cpu->emulated;
	row->ticks = cpu->ticks;
	row->busy_ticks = cpu->busy_ticks;
	row->missed = cpu->missed - cpu->missed_base;
	row->busy_ns = cpu->busy_ns - cpu->busy_base;
}

/*
 * The CPUs, and where CPUs have RMIDs of their own whatever else there is, so
 * that all rows are the cache.
 */
static void build_cpu_rows(struct aggregate *agg, uint64_t elapsed_ns)
{
	bool owners = false;
	uint32_t i;

	for (i = 0; i < agg->opts.nr_cpus; i++)
		build_cpu_row(agg, i);
	for (i = 0; i < agg->rows.nr; i++)
		owners |= add_cpu_values(agg, &agg->rows.rows[i], elapsed_ns);
	if (owners)
		build_rows(agg, elapsed_ns);
}

/* Where rows_select() puts rows and children in one order. */
static void reserve_flat(struct aggregate *agg, struct frame *frame)
{
	struct row *flat = reallocarray(agg->flat,
					agg->rows.nr + agg->children.nr + 1,
					sizeof(*flat));

	if (flat)
		agg->flat = flat;
	else
		agg->err = -ENOMEM;
	frame->rows = agg->rows.rows;
	frame->nr_rows = flat ? agg->rows.nr : 0;
	frame->children = agg->children.rows;
	frame->flat = agg->flat;
}

static void close_traffic(struct traffic *t)
{
	t->known = false;
	t->read = false;
	t->gap = false;
	t->bytes = 0;
	t->covered_ns = 0;
}

/* Drop who ended or went unseen; the others begin a new interval. */
static void close_holdings(struct aggregate *agg)
{
	uint32_t i, kept = 0;

	memset(agg->chains, 0xff, agg->opts.nr_rmids * sizeof(*agg->chains));
	for (i = 0; i < agg->nr_holdings; i++) {
		struct holding *h = &agg->holdings[i];

		if (h->ended || agg->last_ns - h->seen_ns > OWNER_FORGET_NS)
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

static bool group_in_use(const struct aggregate *agg, uint64_t cgroup_id)
{
	uint32_t i;

	for (i = 0; i < agg->nr_holdings; i++)
		if (agg->holdings[i].kind == OWNER_KNOWN &&
		    agg->holdings[i].cgroup_id == cgroup_id)
			return true;
	for (i = 0; i < agg->opts.nr_cpus; i++)
		if (agg->cpus[i].seen && agg->cpus[i].cgroup_id == cgroup_id)
			return true;
	return false;
}

/*
 * Memory stays bounded by the cgroups of the last minute.  Before the rows of
 * an interval are built, so that none of them loses its name.
 */
static void forget_groups(struct aggregate *agg)
{
	uint32_t i, kept = 0;

	for (i = 0; i < agg->nr_groups; i++) {
		struct group *group = &agg->groups[i];

		if (agg->last_ns - group->seen_ns <= FORGET_NS ||
		    group_in_use(agg, group->cgroup_id)) {
			agg->groups[kept++] = *group;
		} else if (agg->opts.forget) {
			agg->opts.forget(agg->opts.ctx, group->cgroup_id);
		}
	}
	agg->nr_groups = kept;
}

static void close_cpus(struct aggregate *agg)
{
	uint32_t i;

	for (i = 0; i < agg->opts.nr_cpus; i++) {
		struct cpu_state *cpu = &agg->cpus[i];

		cpu->missed_base = cpu->missed;
		cpu->busy_base = cpu->busy_ns;
		cpu->lost_base = cpu->lost;
		cpu->ticks = 0;
		cpu->busy_ticks = 0;
		cpu->why = 0;
		cpu->seen = false;
		cpu->emulated = false;
	}
}

static void sum_cpus(const struct aggregate *agg, struct frame *frame)
{
	uint32_t i;

	for (i = 0; i < agg->opts.nr_cpus; i++) {
		const struct cpu_state *cpu = &agg->cpus[i];

		if (!cpu->seen)
			continue;
		frame->nr_cpus++;
		frame->busy_ns += cpu->busy_ns - cpu->busy_base;
		frame->emulated |= cpu->emulated;
	}
	for (i = 0; i < agg->nr_holdings; i++)
		frame->emulated |= agg->holdings[i].emulated;
}

int aggregate_close(struct aggregate *agg, struct frame *frame)
{
	uint64_t since = agg->closed_ns ? agg->closed_ns : agg->first_ns;
	int err;

	*frame = (struct frame){
		.by = agg->opts.by,
		.elapsed_ns = agg->last_ns - since,
		.nr_domains = agg->nr_domains,
		.interval_ns = agg->interval_ns,
	};
	if (agg->last_ns != agg->closed_ns)
		frame->end_ns = agg->last_ns;
	forget_groups(agg);
	sum_cpus(agg, frame);
	frame->ticks_ns = frame->elapsed_ns * frame->nr_cpus;
	agg->rows.nr = 0;
	agg->children.nr = 0;
	if (agg->opts.by == BY_CPU)
		build_cpu_rows(agg, frame->elapsed_ns);
	else
		build_rows(agg, frame->elapsed_ns);
	reserve_flat(agg, frame);
	close_holdings(agg);
	close_cpus(agg);
	agg->closed_ns = agg->last_ns;
	err = agg->err;
	agg->err = 0;
	return err;
}
