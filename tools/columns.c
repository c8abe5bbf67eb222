// SPDX-License-Identifier: GPL-2.0-or-later
#include "columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void set_text(struct cell *cell, const char *text)
{
	cell->kind = CELL_TEXT;
	cell->text = text;
}

static void set_number(struct cell *cell, uint64_t number)
{
	cell->kind = CELL_NUMBER;
	cell->number = number;
}

static void set_bool(struct cell *cell, bool value)
{
	cell->kind = CELL_BOOL;
	cell->number = value;
}

static void get_container(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_text(cell, container_label(cell->buf, row));
}

static void get_runtime(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->runtime != CMT_RUNTIME_NONE)
		set_text(cell, cmt_runtime_name(row->container->runtime));
}

static void get_name(const struct row *row, struct cell *cell)
{
	if (row->container)
		set_text(cell, row->container->name);
}

static void get_id(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->id[0])
		set_text(cell, row->container->id);
}

static void get_pod(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod[0])
		set_text(cell, row->container->pod);
}

static void get_container_name(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->container_name)
		set_text(cell, row->container->container_name);
}

static void get_pod_name(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod_name)
		set_text(cell, row->container->pod_name);
}

static void get_namespace(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod_namespace)
		set_text(cell, row->container->pod_namespace);
}

static void get_image(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->image)
		set_text(cell, row->container->image);
}

/* A process of a container stands below it, whose name need not be said. */
static void get_shown_name(const struct row *row, struct cell *cell)
{
	const char *text = cell->buf;

	if (row->child)
		snprintf(cell->buf, sizeof(cell->buf), "  %u %s", row->pid,
			 row->comm);
	else if (row->container)
		text = row->container->name;
	else
		text = container_label(cell->buf, row);
	set_text(cell, text);
}

static void get_shown_runtime(const struct row *row, struct cell *cell)
{
	if (row->child)
		set_text(cell, "");
	else
		get_runtime(row, cell);
}

static void get_shown_pod(const struct row *row, struct cell *cell)
{
	const struct cmt_container *c = row->container;

	if (!row->child && c && (c->pod_name || c->pod[0]))
		set_text(cell, c->pod_name ? c->pod_name : c->pod);
}

static void get_kind(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_text(cell, row_kind(row));
}

static void get_attached(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN)
		set_bool(cell, row->attached);
}

static void get_processes(const struct row *row, struct cell *cell)
{
	if (row->processes_known)
		set_number(cell, row->processes);
}

static void get_cgroup(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->path)
		set_text(cell, row->container->path);
}

static void get_cgroup_id(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row))
		set_number(cell, row->cgroup_id);
}

static void get_rmids(const struct row *row, struct cell *cell)
{
	if (row->kind != OWNER_NOBODY)
		set_number(cell, row->rmids);
}

static void get_pid(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN && row->owner == CMT_OWNER_PROCESS)
		set_number(cell, row->pid);
}

static void get_comm(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN && row->comm[0])
		set_text(cell, row->comm);
}

static void get_rmid(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->rmid);
}

static void get_generation(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->generation);
}

static void get_domain(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->domain);
}

static void get_occupancy(const struct row *row, struct cell *cell)
{
	if (!row->occupancy.known)
		return;
	cell->kind = CELL_BYTES;
	cell->number = (uint64_t)row->occupancy.value;
	cell->partial = row->occupancy.partial;
}

static void get_percent(const struct row *row, struct cell *cell)
{
	if (!row->occupancy.known || !row->l3_bytes)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100 * row->occupancy.value / (double)row->l3_bytes;
	cell->partial = row->occupancy.partial;
}

static void set_rate(struct cell *cell, const struct measure *m)
{
	if (!m->known)
		return;
	cell->kind = CELL_RATE;
	cell->real = m->value;
	cell->partial = m->partial;
}

static void get_total(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->total);
}

static void get_local(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->local);
}

static void get_residual(const struct row *row, struct cell *cell)
{
	if (!row->occupancy.known)
		return;
	cell->kind = CELL_BYTES;
	cell->number = row->residual_bytes;
}

static void get_occupancy_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->occupancy.partial);
}

static void get_total_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->total.partial);
}

static void get_local_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->local.partial);
}

/* The first that applies: what says most about a value that is not there. */
static void get_reason(const struct row *row, struct cell *cell)
{
	static const struct {
		uint32_t why;
		const char *name;
	} reasons[] = {
		{ WHY_ERROR, "error" },
		{ WHY_UNAVAILABLE, "unavailable" },
		{ WHY_ENDED, "ended" },
		{ WHY_GAP, "gap" },
		{ WHY_FIRST, "first-reading" },
		{ WHY_OVERWRITTEN, "rmid-overwritten" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (row->why & reasons[i].why) {
			set_text(cell, reasons[i].name);
			return;
		}
	}
}

static void get_cpu(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->cpu);
}

/* What is no CPU may hold cache in every domain. */
static void get_cpu_domain(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->domain);
}

static void get_busy(const struct row *row, struct cell *cell)
{
	if (!row->ticks)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100.0 * row->busy_ticks / row->ticks;
}

static void get_ticks(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->ticks);
}

static void get_missed(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->missed);
}

static void get_lost(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->lost);
}

static void get_sampler(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->busy_ns);
}

#define FIELD(name, get) { NULL, name, 0, true, false, get }

#define NAME_FIELDS_BUT_RUNTIME \
	FIELD("name", get_name), \
	FIELD("id", get_id), \
	FIELD("pod", get_pod), \
	FIELD("container_name", get_container_name), \
	FIELD("pod_name", get_pod_name), \
	FIELD("namespace", get_namespace), \
	FIELD("image", get_image), \
	FIELD("cgroup", get_cgroup), \
	FIELD("cgroup_id", get_cgroup_id)

#define NAME_FIELDS \
	FIELD("runtime", get_runtime), \
	NAME_FIELDS_BUT_RUNTIME

#define VALUE_COLUMNS(optional) \
	{ "OCCUPANCY", "occupancy_bytes", 11, false, optional, get_occupancy }, \
	{ "% L3", "occupancy_percent", 6, false, optional, get_percent }, \
	{ "MBM TOTAL", "mbm_total_bytes_per_s", 12, false, optional, \
	  get_total }, \
	{ "MBM LOCAL", "mbm_local_bytes_per_s", 12, false, optional, get_local }

#define PARTIAL_COLUMNS \
	FIELD("occupancy_partial", get_occupancy_partial), \
	FIELD("mbm_total_partial", get_total_partial), \
	FIELD("mbm_local_partial", get_local_partial), \
	{ "NOTE", "reason", 4, true, false, get_reason }, \
	{ .get = NULL }

static const struct column container_columns[] = {
	FIELD("container", get_container),
	FIELD("kind", get_kind),
	FIELD("runtime", get_runtime),
	{ "RUNTIME", NULL, 8, true, false, get_shown_runtime },
	{ "NAME", NULL, 16, true, false, get_shown_name },
	{ "POD", NULL, 8, true, true, get_shown_pod },
	NAME_FIELDS_BUT_RUNTIME,
	FIELD("pid", get_pid),
	FIELD("comm", get_comm),
	{ "PROCS", "processes", 5, false, false, get_processes },
	FIELD("rmids", get_rmids),
	VALUE_COLUMNS(false),
	FIELD("residual_bytes", get_residual),
	PARTIAL_COLUMNS
};

static const struct column process_columns[] = {
	{ "PID", "pid", 7, false, false, get_pid },
	{ "COMM", "comm", 15, true, false, get_comm },
	{ "CONTAINER", "container", 12, true, false, get_container },
	FIELD("kind", get_kind),
	FIELD("attached", get_attached),
	NAME_FIELDS,
	{ "RMID", "rmid", 4, false, false, get_rmid },
	FIELD("generation", get_generation),
	VALUE_COLUMNS(false),
	{ "RESIDUE", "residual_bytes", 10, false, false, get_residual },
	PARTIAL_COLUMNS
};

static const struct column domain_columns[] = {
	{ "DOMAIN", "domain", 6, false, false, get_domain },
	{ "RMIDS", "rmids", 5, false, false, get_rmids },
	VALUE_COLUMNS(false),
	PARTIAL_COLUMNS
};

static const struct column cpu_columns[] = {
	{ "CPU", "cpu", 3, false, false, get_cpu },
	{ "DOMAIN", "domain", 6, false, false, get_cpu_domain },
	{ "BUSY %", "busy_percent", 6, false, false, get_busy },
	{ "RMID", "rmid", 4, false, false, get_rmid },
	{ "PID", "pid", 7, false, true, get_pid },
	{ "COMM", "comm", 15, true, true, get_comm },
	{ "CONTAINER", "container", 12, true, false, get_container },
	FIELD("kind", get_kind),
	NAME_FIELDS,
	VALUE_COLUMNS(true),
	{ "TICKS", "ticks", 6, false, false, get_ticks },
	{ "MISSED", "missed", 6, false, false, get_missed },
	{ "LOST", "cpu_lost", 6, false, false, get_lost },
	FIELD("sampler_ns", get_sampler),
	PARTIAL_COLUMNS
};

static const struct {
	const char *name;
	const struct column *columns;
} views[] = {
	[BY_CONTAINER] = { "container", container_columns },
	[BY_PROCESS] = { "process", process_columns },
	[BY_CPU] = { "cpu", cpu_columns },
	[BY_DOMAIN] = { "domain", domain_columns },
};

const struct column *columns_of(enum aggregate_by by)
{
	return views[by].columns;
}

const char *by_name(enum aggregate_by by)
{
	return views[by].name;
}

int by_parse(const char *name, enum aggregate_by *by)
{
	unsigned int i;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (!strcmp(name, views[i].name)) {
			*by = (enum aggregate_by)i;
			return 0;
		}
	}
	return -EINVAL;
}
