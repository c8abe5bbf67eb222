// SPDX-License-Identifier: GPL-2.0-or-later
/* From what was held, and from the CPUs, to rows. */
#include "aggregate_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

	rows = aggregate_grow(agg, to->rows, to->nr, &to->room, sizeof(*rows));
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

void aggregate_rows(struct aggregate *agg, struct frame *frame)
{
	agg->rows.nr = 0;
	agg->children.nr = 0;
	if (agg->opts.by == BY_CPU)
		build_cpu_rows(agg, frame->elapsed_ns);
	else
		build_rows(agg, frame->elapsed_ns);
	reserve_flat(agg, frame);
}
