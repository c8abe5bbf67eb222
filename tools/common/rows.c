// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum sort_key key;
} sort_names[] = {
	{ "occupancy", SORT_OCCUPANCY },
	{ "total", SORT_TOTAL },
	{ "local", SORT_LOCAL },
	{ "name", SORT_NAME },
	{ "number", SORT_NUMBER },
	{ "rmids", SORT_RMIDS },
	{ "busy", SORT_BUSY },
	{ "cpu", SORT_CPU },
	{ "ipc", SORT_IPC },
	{ "mpki", SORT_MPKI },
};

int sort_key_parse(const char *name, enum sort_key *key)
{
	size_t i;

	for (i = 0; i < sizeof(sort_names) / sizeof(sort_names[0]); i++) {
		if (!strcmp(name, sort_names[i].name)) {
			*key = sort_names[i].key;
			return 0;
		}
	}
	return -EINVAL;
}

static const struct {
	const char *name;
	uint32_t scope;
	const char *one, *many;
} scope_names[] = {
	{ "process", CMT_SCOPE_PROCESS, "process", "processes" },
	{ "container", CMT_SCOPE_CONTAINER, "container", "containers" },
	{ "cpu", CMT_SCOPE_CPU, "CPU", "CPUs" },
	{ "manual", CMT_SCOPE_MANUAL, "attached owner", "attached owners" },
};

const char *scope_name(uint32_t scope)
{
	size_t i;

	for (i = 0; i < sizeof(scope_names) / sizeof(scope_names[0]); i++)
		if (scope == scope_names[i].scope)
			return scope_names[i].name;
	return "unknown";
}

const char *scope_noun(uint32_t scope, uint64_t nr)
{
	size_t i;

	for (i = 0; i < sizeof(scope_names) / sizeof(scope_names[0]); i++)
		if (scope == scope_names[i].scope)
			return nr == 1 ? scope_names[i].one :
					 scope_names[i].many;
	return "owners";
}

int scope_parse(const char *name, uint32_t *scope)
{
	size_t i;

	for (i = 0; i < sizeof(scope_names) / sizeof(scope_names[0]); i++) {
		if (!strcmp(name, scope_names[i].name)) {
			*scope = scope_names[i].scope;
			return 0;
		}
	}
	return -EINVAL;
}

const char *row_kind(const struct row *row)
{
	if (row->kind == CMT_USAGE_UNATTRIBUTED)
		return "unattributed";
	if (row->kind == CMT_USAGE_OVERFLOW)
		return "overflow";
	if (row->kind == CMT_USAGE_UNKNOWN)
		return "unknown";
	switch (row->owner) {
	case CMT_OWNER_CGROUP:
		return "cgroup";
	case CMT_OWNER_CPU:
		return "cpu";
	case CMT_OWNER_RESCTRL:
		return "resctrl";
	default:
		return "process";
	}
}

void row_owner(struct row *row, const struct cmt_owner *owner,
	       struct cmt_containers *containers)
{
	*row = (struct row){
		.kind = owner->kind == CMT_OWNER_OVERFLOW ? CMT_USAGE_OVERFLOW :
							    CMT_USAGE_OWNER,
		.owner = owner->kind,
		.attached = owner->attached,
		.seen = true,
		.cgroup_id = owner->cgroup_id,
		.rmid = owner->rmid,
		.generation = owner->generation,
		.pid = owner->tgid,
		.cpu = owner->cpu,
	};
	memcpy(row->comm, owner->comm, sizeof(row->comm));
	if (containers && row_in_cgroup(row))
		row->container = cmt_containers_lookup(containers,
						       row->cgroup_id);
}

/* How many owners are pending is not always asked for. */
static void overflow_label(char buf[CONTAINER_LABEL_LEN], const struct row *row)
{
	if (row->pending_attached)
		snprintf(buf, CONTAINER_LABEL_LEN,
			 "(overflow: %" PRIu64 " %s, %" PRIu32 " attached)",
			 row->pending, row->pending_noun, row->pending_attached);
	else if (row->pending_noun)
		snprintf(buf, CONTAINER_LABEL_LEN, "(overflow: %" PRIu64 " %s)",
			 row->pending, row->pending_noun);
	else
		snprintf(buf, CONTAINER_LABEL_LEN, "(overflow)");
}

const char *container_label(char buf[CONTAINER_LABEL_LEN],
			    const struct row *row)
{
	const struct cmt_container *c = row->container;
	const char *runtime;

	if (row->kind == CMT_USAGE_UNATTRIBUTED)
		return "(unattributed)";
	if (row->kind == CMT_USAGE_UNKNOWN)
		return "(unknown)";
	if (row->kind == CMT_USAGE_OVERFLOW) {
		overflow_label(buf, row);
		return buf;
	}
	if (row->owner == CMT_OWNER_CPU) {
		snprintf(buf, CONTAINER_LABEL_LEN, "cpu:%u", row->cpu);
		return buf;
	}
	if (row->owner == CMT_OWNER_RESCTRL) {
		snprintf(buf, CONTAINER_LABEL_LEN, "resctrl:%u", row->rmid);
		return buf;
	}
	if (!c) {
		snprintf(buf, CONTAINER_LABEL_LEN, "cgroup:%" PRIu64,
			 row->cgroup_id);
		return buf;
	}
	runtime = cmt_runtime_name(c->runtime);
	snprintf(buf, CONTAINER_LABEL_LEN, "%s%s%s", runtime,
		 *runtime ? ":" : "", c->name);
	return buf;
}

/* What the view calls a row, for --filter and for sorting by name. */
static const char *row_name(char buf[CONTAINER_LABEL_LEN],
			    const struct frame *frame, const struct row *row)
{
	switch (frame->by) {
	case VIEW_CPU:
		if (!row->is_cpu)
			break;
		snprintf(buf, CONTAINER_LABEL_LEN, "%u", row->cpu);
		return buf;
	case VIEW_DOMAIN:
		snprintf(buf, CONTAINER_LABEL_LEN, "%u", row->domain);
		return buf;
	case VIEW_CHANNEL:
		snprintf(buf, CONTAINER_LABEL_LEN, "%u/%u", row->socket,
			 row->channel);
		return buf;
	case VIEW_PROCESS:
		if (row->kind == CMT_USAGE_OWNER && row->comm[0])
			return row->comm;
		break;
	case VIEW_CONTAINER:
		if (row->child)
			return row->comm;
		break;
	}
	return container_label(buf, row);
}

static uint64_t row_number(const struct frame *frame, const struct row *row)
{
	switch (frame->by) {
	case VIEW_CPU:
		return row->cpu;
	case VIEW_DOMAIN:
		return row->domain;
	case VIEW_CHANNEL:
		return (uint64_t)row->socket << 32 | row->channel;
	default:
		return row->pid;
	}
}

/* Do numbers name the rows? */
static bool is_numbered(const struct frame *frame)
{
	return frame->by == VIEW_CPU || frame->by == VIEW_DOMAIN ||
	       frame->by == VIEW_CHANNEL;
}

static double busy_share(const struct row *row)
{
	return row->ticks ? (double)row->busy_ticks / row->ticks : 0;
}

static int cmp_down(double a, double b)
{
	return a > b ? -1 : a < b;
}

/* Largest first; a value that is not known after all that are. */
static int cmp_measure(const struct measure *a, const struct measure *b)
{
	if (a->known != b->known)
		return a->known ? -1 : 1;
	return a->known ? cmp_down(a->value, b->value) : 0;
}

struct order {
	const struct frame *frame;
	enum sort_key key;
};

static int cmp_number(const struct order *order, const struct row *a,
		      const struct row *b)
{
	uint64_t x = row_number(order->frame, a);
	uint64_t y = row_number(order->frame, b);

	return x < y ? -1 : x > y;
}

static int cmp_name(const struct order *order, const struct row *a,
		    const struct row *b)
{
	char x[CONTAINER_LABEL_LEN], y[CONTAINER_LABEL_LEN];

	if (is_numbered(order->frame))
		return cmp_number(order, a, b);
	return strcmp(row_name(x, order->frame, a),
		      row_name(y, order->frame, b));
}

static int cmp_key(const struct order *order, const struct row *a,
		   const struct row *b)
{
	switch (order->key) {
	case SORT_TOTAL:
		return cmp_measure(&a->total, &b->total);
	case SORT_LOCAL:
		return cmp_measure(&a->local, &b->local);
	case SORT_NAME:
		return cmp_name(order, a, b);
	case SORT_NUMBER:
		return cmp_number(order, a, b);
	case SORT_RMIDS:
		return cmp_down(a->rmids, b->rmids);
	case SORT_BUSY:
		return cmp_down(busy_share(a), busy_share(b));
	case SORT_CPU:
		return cmp_measure(&a->cpu_share, &b->cpu_share);
	case SORT_IPC:
		return cmp_measure(&a->ipc, &b->ipc);
	case SORT_MPKI:
		return cmp_measure(&a->mpki, &b->mpki);
	default:
		return cmp_measure(&a->occupancy, &b->occupancy);
	}
}

/* A strict order, so that equal rows keep their places on the screen. */
static int cmp_row(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	const struct order *order = ctx;
	int ret;

	if (a->is_cpu != b->is_cpu)
		return a->is_cpu ? -1 : 1;
	if (!a->is_cpu && a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	ret = cmp_key(order, a, b);
	if (!ret)
		ret = cmp_name(order, a, b);
	if (!ret)
		ret = cmp_number(order, a, b);
	if (!ret && a->cgroup_id != b->cgroup_id)
		ret = a->cgroup_id < b->cgroup_id ? -1 : 1;
	if (!ret && a->rmid != b->rmid)
		ret = a->rmid < b->rmid ? -1 : 1;
	return ret;
}

/* The whole name, or a container's name without its runtime. */
static bool matches(const struct frame *frame, const struct row *row,
		    const char *filter)
{
	char buf[CONTAINER_LABEL_LEN];

	if (!fnmatch(filter, row_name(buf, frame, row), 0))
		return true;
	return frame->by == VIEW_CONTAINER && row->container && !fnmatch(filter, row->container->name, 0);
}

/* Sum rows that make the others complete, whichever are shown. */
static bool is_remainder(const struct row *row)
{
	return !row->is_cpu &&
	       (row->kind == CMT_USAGE_UNATTRIBUTED || row->kind == CMT_USAGE_OVERFLOW);
}

static void sort_rows(struct row *rows, uint32_t nr, struct order *order)
{
	if (nr)
		qsort_r(rows, nr, sizeof(*rows), cmp_row, order);
}

/* Put a row behind those kept, and its children behind it. */
static void keep_row(struct frame *frame, const struct row *row, uint32_t *kept,
		     struct order *order, bool expand)
{
	struct row *children = frame->children + row->first_child;
	uint32_t nr = expand ? row->nr_children : 0;

	frame->flat[(*kept)++] = *row;
	if (!nr)
		return;
	sort_rows(children, nr, order);
	memcpy(&frame->flat[*kept], children, nr * sizeof(*children));
	*kept += nr;
}

void rows_select(struct frame *frame, const struct selection *selection)
{
	struct order order = { .frame = frame, .key = selection->key };
	uint32_t i, kept = 0, counted = 0;

	if (order.key == SORT_DEFAULT &&
	    is_numbered(frame))
		order.key = SORT_NUMBER;
	sort_rows(frame->rows, frame->nr_rows, &order);
	for (i = 0; i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];

		if (selection->filter && !matches(frame, row, selection->filter))
			continue;
		if (!is_remainder(row) && selection->top &&
		    counted++ >= selection->top)
			continue;
		keep_row(frame, row, &kept, &order, selection->expand);
	}
	frame->rows = frame->flat;
	frame->nr_rows = kept;
}
