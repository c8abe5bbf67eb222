// SPDX-License-Identifier: GPL-2.0-or-later
#include "columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

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
	if (row->kind == CMT_USAGE_OWNER)
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
	if (row->kind != CMT_USAGE_UNATTRIBUTED)
		set_number(cell, row->rmids);
}

static void get_pid(const struct row *row, struct cell *cell)
{
	if (row->kind == CMT_USAGE_OWNER && row->owner == CMT_OWNER_PROCESS)
		set_number(cell, row->pid);
}

static void get_comm(const struct row *row, struct cell *cell)
{
	if (row->kind == CMT_USAGE_OWNER && row->comm[0])
		set_text(cell, row->comm);
}

/* What is no process is told by what it is. */
static void get_shown_comm(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row) && row->comm[0])
		set_text(cell, row->comm);
	else if (!row_in_cgroup(row))
		get_container(row, cell);
}

static void get_shown_container(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row))
		get_container(row, cell);
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

static void get_cpu_percent(const struct row *row, struct cell *cell)
{
	if (!row->cpu_share.known)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100 * row->cpu_share.value;
	cell->partial = row->cpu_share.partial;
}

static void set_ratio(struct cell *cell, const struct measure *m)
{
	if (!m->known)
		return;
	cell->kind = CELL_RATIO;
	cell->real = m->value;
	cell->partial = m->partial;
}

static void get_ipc(const struct row *row, struct cell *cell)
{
	set_ratio(cell, &row->ipc);
}

static void get_mpki(const struct row *row, struct cell *cell)
{
	set_ratio(cell, &row->mpki);
}

static void get_ran(const struct row *row, struct cell *cell)
{
	if (row->counters.known)
		set_number(cell, row->counters.ran_ns);
}

static void set_sum(const struct row *row, struct cell *cell, uint32_t value,
		    uint64_t sum)
{
	if (row->counters.known && (row->counters.values & value))
		set_number(cell, sum);
}

static void get_cycles(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_CYCLES, row->counters.cycles);
}

static void get_instructions(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_INSTRUCTIONS, row->counters.instructions);
}

static void get_misses(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_LLC_MISSES, row->counters.llc_misses);
}

static void get_references(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_LLC_REFERENCES, row->counters.llc_references);
}

static void get_counters_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->counters.partial);
}

static void get_socket(const struct row *row, struct cell *cell)
{
	set_number(cell, row->socket);
}

static void get_channel(const struct row *row, struct cell *cell)
{
	set_number(cell, row->channel);
}

static void get_read(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->read);
}

static void get_written(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->written);
}

static void get_read_bytes(const struct row *row, struct cell *cell)
{
	if (row->read.known)
		set_number(cell, row->read_bytes);
}

static void get_written_bytes(const struct row *row, struct cell *cell)
{
	if (row->written.known)
		set_number(cell, row->written_bytes);
}

static void get_share(const struct row *row, struct cell *cell)
{
	if (!row->share.known)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100 * row->share.value;
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

static void get_age(const struct row *row, struct cell *cell)
{
	if (row->age_ns)
		set_number(cell, row->age_ns / 1000000);
}

static void get_reason(const struct row *row, struct cell *cell)
{
	const char *name = row->borrowed ? "borrowed-id" :
			   usage_why_name(row->why | row->counters.why);

	if (name)
		set_text(cell, name);
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

#define FIELD(name, get) { NULL, NULL, name, 0, true, false, 0, get }

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
	{ "OCCUPANCY", "OCC", "occupancy_bytes", 11, false, optional, 19, \
	  get_occupancy }, \
	{ "% L3", NULL, "occupancy_percent", 6, false, optional, 8, \
	  get_percent }, \
	{ "MBM TOTAL", "TOT/s", "mbm_total_bytes_per_s", 12, false, optional, \
	  18, get_total }, \
	{ "MBM LOCAL", "LOC/s", "mbm_local_bytes_per_s", 12, false, optional, \
	  7, get_local }

#define COUNTER_COLUMNS \
	{ "CPU %", NULL, "cpu_percent", 6, false, true, 13, get_cpu_percent }, \
	RATIO_COLUMNS

#define RATIO_COLUMNS \
	{ "IPC", NULL, "ipc", 5, false, true, 10, get_ipc }, \
	{ "MPKI", NULL, "mpki", 6, false, true, 12, get_mpki }, \
	FIELD("ran_ns", get_ran), \
	FIELD("cycles", get_cycles), \
	FIELD("instructions", get_instructions), \
	FIELD("llc_misses", get_misses), \
	FIELD("llc_references", get_references)

#define PARTIAL_COLUMNS \
	FIELD("age_ms", get_age), \
	FIELD("occupancy_partial", get_occupancy_partial), \
	FIELD("mbm_total_partial", get_total_partial), \
	FIELD("mbm_local_partial", get_local_partial), \
	FIELD("counters_partial", get_counters_partial), \
	{ "NOTE", NULL, "reason", 4, true, false, 14, get_reason }, \
	{ .get = NULL }

static const struct column container_columns[] = {
	FIELD("container", get_container),
	FIELD("kind", get_kind),
	FIELD("runtime", get_runtime),
	{ "RUNTIME", NULL, NULL, 8, true, false, 4, get_shown_runtime },
	{ "NAME", NULL, NULL, 16, true, false, 0, get_shown_name },
	{ "POD", NULL, NULL, 8, true, true, 3, get_shown_pod },
	NAME_FIELDS_BUT_RUNTIME,
	FIELD("pid", get_pid),
	FIELD("comm", get_comm),
	{ "PROCS", NULL, "processes", 5, false, false, 11, get_processes },
	FIELD("rmids", get_rmids),
	VALUE_COLUMNS(false),
	COUNTER_COLUMNS,
	FIELD("residual_bytes", get_residual),
	PARTIAL_COLUMNS
};

static const struct column process_columns[] = {
	{ "PID", NULL, "pid", 7, false, false, 17, get_pid },
	{ "COMM", NULL, NULL, 15, true, false, 0, get_shown_comm },
	FIELD("comm", get_comm),
	{ "CONTAINER", NULL, NULL, 12, true, false, 15, get_shown_container },
	FIELD("container", get_container),
	FIELD("kind", get_kind),
	FIELD("attached", get_attached),
	NAME_FIELDS,
	{ "RMID", NULL, "rmid", 4, false, false, 6, get_rmid },
	FIELD("generation", get_generation),
	VALUE_COLUMNS(false),
	COUNTER_COLUMNS,
	{ "RESIDUE", "RES", "residual_bytes", 10, false, false, 2, get_residual },
	PARTIAL_COLUMNS
};

static const struct column domain_columns[] = {
	{ "DOMAIN", NULL, "domain", 6, false, false, 0, get_domain },
	{ "RMIDS", NULL, "rmids", 5, false, false, 11, get_rmids },
	VALUE_COLUMNS(false),
	COUNTER_COLUMNS,
	PARTIAL_COLUMNS
};

static const struct column cpu_columns[] = {
	{ "CPU", NULL, "cpu", 3, false, false, 0, get_cpu },
	{ "DOMAIN", NULL, "domain", 6, false, false, 5, get_cpu_domain },
	{ "BUSY %", NULL, "busy_percent", 6, false, false, 17, get_busy },
	{ "RMID", NULL, "rmid", 4, false, false, 13, get_rmid },
	{ "PID", NULL, "pid", 7, false, true, 9, get_pid },
	{ "COMM", NULL, "comm", 15, true, true, 10, get_comm },
	{ "CONTAINER", NULL, "container", 12, true, false, 21, get_container },
	FIELD("kind", get_kind),
	NAME_FIELDS,
	VALUE_COLUMNS(true),
	FIELD("cpu_percent", get_cpu_percent),
	RATIO_COLUMNS,
	{ "TICKS", NULL, "ticks", 6, false, false, 1, get_ticks },
	{ "MISSED", NULL, "missed", 6, false, false, 12, get_missed },
	{ "LOST", NULL, "cpu_lost", 6, false, false, 16, get_lost },
	FIELD("sampler_ns", get_sampler),
	PARTIAL_COLUMNS
};

static const struct column channel_columns[] = {
	{ "SOCKET", NULL, "socket", 6, false, false, 0, get_socket },
	{ "CHANNEL", "CH", "channel", 7, false, false, 0, get_channel },
	{ "READ", "RD/s", "read_bytes_per_s", 12, false, false, 17, get_read },
	{ "WRITTEN", "WR/s", "written_bytes_per_s", 12, false, false, 16,
	  get_written },
	{ "TOTAL", "TOT/s", "total_bytes_per_s", 12, false, false, 18,
	  get_total },
	{ "SHARE %", NULL, "share_percent", 7, false, false, 15, get_share },
	FIELD("read_bytes", get_read_bytes),
	FIELD("written_bytes", get_written_bytes),
	FIELD("partial", get_total_partial),
	{ "NOTE", NULL, "reason", 4, true, false, 14, get_reason },
	{ .get = NULL }
};

static const struct {
	const char *name;
	const struct column *columns;
} views[] = {
	[VIEW_CONTAINER] = { "container", container_columns },
	[VIEW_PROCESS] = { "process", process_columns },
	[VIEW_CPU] = { "cpu", cpu_columns },
	[VIEW_DOMAIN] = { "domain", domain_columns },
	[VIEW_CHANNEL] = { "channel", channel_columns },
};

const struct column *columns_of(enum view by)
{
	return views[by].columns;
}

const char *by_name(enum view by)
{
	return views[by].name;
}

int by_parse(const char *name, enum view *by)
{
	unsigned int i;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (!strcmp(name, views[i].name)) {
			*by = (enum view)i;
			return 0;
		}
	}
	return -EINVAL;
}
