// SPDX-License-Identifier: GPL-2.0-or-later
#include "columns.h"

#include <errno.h>
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

static void get_cgroup(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->path)
		set_text(cell, row->container->path);
}

static void get_cgroup_id(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN)
		set_number(cell, row->cgroup_id);
}

static void get_rmids(const struct row *row, struct cell *cell)
{
	if (row->kind != OWNER_NOBODY)
		set_number(cell, row->rmids);
}

static void get_pid(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN)
		set_number(cell, row->pid);
}

static void get_comm(const struct row *row, struct cell *cell)
{
	if (row->kind == OWNER_KNOWN)
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
	set_number(cell, row->cpu);
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
	set_number(cell, row->ticks);
}

static void get_missed(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->missed);
}

static void get_lost(const struct row *row, struct cell *cell)
{
	set_number(cell, row->lost);
}

static void get_sampler(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->busy_ns);
}

#define NAME_FIELDS \
	{ NULL, "runtime", 0, true, get_runtime }, \
	{ NULL, "name", 0, true, get_name }, \
	{ NULL, "id", 0, true, get_id }, \
	{ NULL, "pod", 0, true, get_pod }, \
	{ NULL, "container_name", 0, true, get_container_name }, \
	{ NULL, "pod_name", 0, true, get_pod_name }, \
	{ NULL, "namespace", 0, true, get_namespace }, \
	{ NULL, "image", 0, true, get_image }, \
	{ NULL, "cgroup", 0, true, get_cgroup }, \
	{ NULL, "cgroup_id", 0, false, get_cgroup_id }

#define VALUE_COLUMNS \
	{ "OCCUPANCY", "occupancy_bytes", 11, false, get_occupancy }, \
	{ "% L3", "occupancy_percent", 6, false, get_percent }, \
	{ "MBM TOTAL", "mbm_total_bytes_per_s", 12, false, get_total }, \
	{ "MBM LOCAL", "mbm_local_bytes_per_s", 12, false, get_local }

#define PARTIAL_COLUMNS \
	{ NULL, "occupancy_partial", 0, false, get_occupancy_partial }, \
	{ NULL, "mbm_total_partial", 0, false, get_total_partial }, \
	{ NULL, "mbm_local_partial", 0, false, get_local_partial }, \
	{ "NOTE", "reason", 4, true, get_reason }, \
	{ .get = NULL }

static const struct column container_columns[] = {
	{ "CONTAINER", "container", 20, true, get_container },
	NAME_FIELDS,
	{ "PROCS", "rmids", 5, false, get_rmids },
	VALUE_COLUMNS,
	{ NULL, "residual_bytes", 0, false, get_residual },
	PARTIAL_COLUMNS
};

static const struct column process_columns[] = {
	{ "PID", "pid", 7, false, get_pid },
	{ "COMM", "comm", 15, true, get_comm },
	{ "CONTAINER", "container", 12, true, get_container },
	NAME_FIELDS,
	{ "RMID", "rmid", 4, false, get_rmid },
	{ NULL, "generation", 0, false, get_generation },
	VALUE_COLUMNS,
	{ "RESIDUE", "residual_bytes", 10, false, get_residual },
	PARTIAL_COLUMNS
};

static const struct column domain_columns[] = {
	{ "DOMAIN", "domain", 6, false, get_domain },
	{ "RMIDS", "rmids", 5, false, get_rmids },
	VALUE_COLUMNS,
	PARTIAL_COLUMNS
};

static const struct column cpu_columns[] = {
	{ "CPU", "cpu", 3, false, get_cpu },
	{ "DOMAIN", "domain", 6, false, get_domain },
	{ "BUSY %", "busy_percent", 6, false, get_busy },
	{ "RMID", "rmid", 4, false, get_rmid },
	{ "PID", "pid", 7, false, get_pid },
	{ "COMM", "comm", 15, true, get_comm },
	{ "CONTAINER", "container", 12, true, get_container },
	NAME_FIELDS,
	{ "TICKS", "ticks", 6, false, get_ticks },
	{ "MISSED", "missed", 6, false, get_missed },
	{ "LOST", "cpu_lost", 6, false, get_lost },
	{ NULL, "sampler_ns", 0, false, get_sampler },
	{ "NOTE", "reason", 4, true, get_reason },
	{ .get = NULL }
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
