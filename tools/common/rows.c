// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CULPRIT_ROOM_LEAST	1024U
#define CULPRIT_ROOM_MOST	16384U	/* that the engine has */

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
	{ "wait", SORT_WAIT },
	{ "ipc", SORT_IPC },
	{ "mpki", SORT_MPKI },
	{ "slower", SORT_SLOWER },
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

const char *sort_key_name(enum sort_key key)
{
	size_t i;

	for (i = 0; i < sizeof(sort_names) / sizeof(sort_names[0]); i++)
		if (key == sort_names[i].key)
			return sort_names[i].name;
	return "default";
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
	if (row->kind == CMT_USAGE_OUTSIDE)
		return "outside";
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
	case CMT_OWNER_KERNEL:
		return "kernel";
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
		.sole = owner->sole,
		.seen = true,
		.cgroup_id = owner->cgroup_id,
		.rmid = owner->rmid,
		.generation = owner->generation,
		.pid = owner->tgid,
		.cpu = owner->cpu,
	};
	memcpy(row->comm, owner->comm, sizeof(row->comm));
	if (owner->kind == CMT_OWNER_RESCTRL && owner->group_cpu != CMT_GROUP_NO_CPU) {
		row->has_group_cpu = true;
		row->cpu = owner->group_cpu;
	}
	if (containers && (row_in_cgroup(row) || owner->kind == CMT_OWNER_RESCTRL))
		row->container = cmt_containers_lookup_owner(containers, owner);
}

const char *row_group_note(const struct row *row)
{
	return row->sole ? " (resctrl group)" : "";
}

/* The number of pending owners is not always requested. */
static void overflow_label(char buf[CONTAINER_LABEL_LEN], const struct row *row)
{
	char services[32] = "", attached[32] = "";

	if (row->pending_services)
		snprintf(services, sizeof(services), ", %" PRIu32 " service%s",
			 row->pending_services,
			 row->pending_services == 1 ? "" : "s");
	if (row->pending_attached)
		snprintf(attached, sizeof(attached), ", %" PRIu32 " attached",
			 row->pending_attached);
	if (row->pending_noun)
		snprintf(buf, CONTAINER_LABEL_LEN, "(overflow: %" PRIu64 " %s%s%s)",
			 row->pending, row->pending_noun, services, attached);
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
	if (row->kind == CMT_USAGE_OUTSIDE)
		return "(outside this machine)";
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
	if (row->owner == CMT_OWNER_KERNEL)
		return "(kernel)";
	if (row->owner == CMT_OWNER_RESCTRL && c && c->path) {
		snprintf(buf, CONTAINER_LABEL_LEN, "resctrl:%s", c->name);
		return buf;
	}
	if (row->owner == CMT_OWNER_RESCTRL && row->cgroup_id & CMT_RESCTRL_GROUP &&
	    !(row->cgroup_id & CMT_RESCTRL_RMID)) {
		snprintf(buf, CONTAINER_LABEL_LEN, "resctrl:%s", row->comm);
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

const char *label_name(const char *label)
{
	const char *name;

	for (int r = CMT_RUNTIME_DOCKER; *(name = cmt_runtime_name((enum cmt_runtime)r)); r++) {
		size_t len = strlen(name);

		if (!strncmp(label, name, len) && label[len] == ':')
			return label + len + 1;
	}
	return label;
}

const char *usage_row_label(char buf[CONTAINER_LABEL_LEN],
			    const struct cmt_usage_row *from)
{
	struct row row = {
		.kind = from->kind, .owner = from->owner,
		.cgroup_id = from->cgroup_id, .container = from->container,
		.cpu = from->cpu, .rmid = from->rmid,
	};

	memcpy(row.comm, from->comm, sizeof(row.comm));
	return container_label(buf, &row);
}

/* The name of a row in the view, for --filter and for sorting by name */
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

static struct measure busy_share(const struct row *row)
{
	return (struct measure){
		.known = row->ticks,
		.value = row->ticks ? (double)row->busy_ticks / row->ticks : 0,
	};
}

static int cmp_down(double a, double b)
{
	return a > b ? -1 : a < b;
}

struct order {
	const struct frame *frame;
	enum sort_key key;
	bool reverse;
};

/*
 * Largest first.  Unknown values come after known ones, also in the reverse order,
 * where the two are exchanged.
 */
static int cmp_measure(const struct order *order, const struct measure *a,
		       const struct measure *b)
{
	if (a->known != b->known)
		return a->known != order->reverse ? -1 : 1;
	return a->known ? cmp_down(a->value, b->value) : 0;
}

static int cmp_busy(const struct order *order, const struct row *a,
		    const struct row *b)
{
	const struct measure x = busy_share(a), y = busy_share(b);

	return cmp_measure(order, &x, &y);
}

static int cmp_number(const struct order *order, const struct row *a,
		      const struct row *b)
{
	uint64_t x = row_number(order->frame, a);
	uint64_t y = row_number(order->frame, b);

	return x < y ? -1 : x > y;
}

/* What is no process has no number, and comes after those as an unknown value does. */
static int cmp_known_number(const struct order *order, const struct row *a,
			    const struct row *b)
{
	if (is_numbered(order->frame) || !a->pid == !b->pid)
		return cmp_number(order, a, b);
	return !a->pid == order->reverse ? -1 : 1;
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
		return cmp_measure(order, &a->total, &b->total);
	case SORT_LOCAL:
		return cmp_measure(order, &a->local, &b->local);
	case SORT_NAME:
		return cmp_name(order, a, b);
	case SORT_NUMBER:
		return cmp_known_number(order, a, b);
	case SORT_RMIDS:
		return cmp_down(a->rmids, b->rmids);
	case SORT_BUSY:
		return cmp_busy(order, a, b);
	case SORT_CPU:
		return cmp_measure(order, &a->cpu_share, &b->cpu_share);
	case SORT_WAIT:
		return cmp_measure(order, &a->wait_share, &b->wait_share);
	case SORT_IPC:
		return cmp_measure(order, &a->ipc, &b->ipc);
	case SORT_MPKI:
		return cmp_measure(order, &a->mpki, &b->mpki);
	case SORT_SLOWER:
		return cmp_measure(order, &a->slowed, &b->slowed);
	default:
		return cmp_measure(order, &a->occupancy, &b->occupancy);
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
	ret = order->reverse ? cmp_key(order, b, a) : cmp_key(order, a, b);
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

static bool is_selected(const struct frame *frame, const struct row *row,
			const struct selection *selection)
{
	char buf[CONTAINER_LABEL_LEN];

	if (selection->filter && !matches(frame, row, selection->filter))
		return false;
	return !selection->search ||
	       strcasestr(row_name(buf, frame, row), selection->search);
}

static void sort_rows(struct row *rows, uint32_t nr, struct order *order)
{
	if (nr)
		qsort_r(rows, nr, sizeof(*rows), cmp_row, order);
}

/* Put a row behind the kept ones, and its children behind it. */
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
	struct order order = {
		.frame = frame, .key = selection->key,
		.reverse = selection->reverse,
	};
	uint32_t i, kept = 0, counted = 0;

	if (order.key == SORT_DEFAULT &&
	    is_numbered(frame))
		order.key = SORT_NUMBER;
	sort_rows(frame->rows, frame->nr_rows, &order);
	for (i = 0; i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];

		if (!is_selected(frame, row, selection))
			continue;
		if (!row_is_remainder(row) && selection->top &&
		    counted++ >= selection->top)
			continue;
		keep_row(frame, row, &kept, &order, selection->expand);
	}
	frame->rows = frame->flat;
	frame->nr_rows = kept;
}

const struct cmt_usage_row *
culprit_row(const struct cmt_usage_frame *frame, struct cmt_containers *containers,
	    uint64_t id, struct cmt_usage_row *gone)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (cmt_culprit_id(frame, row) == id)
			return row;
	}
	*gone = (struct cmt_usage_row){
		.kind = id == CMT_CULPRIT_OUTSIDE ? CMT_USAGE_OUTSIDE :
			id < CMT_CULPRIT_NO_CGROUP ? CMT_USAGE_OWNER :
						     CMT_USAGE_UNKNOWN,
		.owner = CMT_OWNER_CGROUP, .cgroup_id = id,
		.container = cmt_containers_find(containers, id),
	};
	return gone;
}

/* Owners times L3 domains, whose number is unknown */
uint32_t culprit_room(const struct cmt_info *info)
{
	uint32_t most = 8 * info->nr_rmids;

	return most < CULPRIT_ROOM_LEAST ? CULPRIT_ROOM_LEAST :
	       most > CULPRIT_ROOM_MOST ? CULPRIT_ROOM_MOST : most;
}
