// SPDX-License-Identifier: GPL-2.0-or-later
#include "columns.h"

#include <errno.h>
#include <string.h>

#include "cells.h"

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
	LIVE_COLUMNS(optional), \
	{ "MBM TOTAL", "TOT/s", "mbm_total_bytes_per_s", 12, false, optional, \
	  18, get_total }, \
	{ "MBM LOCAL", "LOC/s", "mbm_local_bytes_per_s", 12, false, optional, \
	  7, get_local }

#define LIVE_COLUMNS(optional) \
	{ "OF L3", NULL, NULL, 10, true, optional, 5, get_bar }, \
	{ "LEAST", NULL, NULL, 10, false, optional, 9, get_least }, \
	{ "MOST", NULL, NULL, 10, false, optional, 12, get_most }, \
	{ "LAST MINUTE", NULL, NULL, 12, true, optional, 11, get_trail }

#define COUNTER_COLUMNS \
	{ "CPU %", NULL, "cpu_percent", 6, false, true, 13, get_cpu_percent }, \
	RATIO_COLUMNS

#define RATIO_COLUMNS \
	{ "WAIT %", NULL, "wait_percent", 6, false, true, 14, get_wait_percent }, \
	{ "IPC", NULL, "ipc", 5, false, true, 10, get_ipc }, \
	{ "MPKI", NULL, "mpki", 6, false, true, 12, get_mpki }, \
	FIELD("ran_ns", get_ran), \
	FIELD("cycles", get_cycles), \
	FIELD("instructions", get_instructions), \
	FIELD("llc_misses", get_misses), \
	FIELD("llc_references", get_references), \
	FIELD("waited_ns", get_waited), \
	FIELD("wait_quota", get_wait_quota)

#define NOTE_COLUMNS \
	FIELD("reason", get_reason), \
	{ "NOTE", NULL, NULL, 4, true, false, 14, get_note }

#define PARTIAL_COLUMNS \
	FIELD("occupancy_least_bytes", get_least), \
	FIELD("occupancy_most_bytes", get_most), \
	FIELD("age_ms", get_age), \
	FIELD("occupancy_partial", get_occupancy_partial), \
	FIELD("mbm_total_partial", get_total_partial), \
	FIELD("mbm_local_partial", get_local_partial), \
	FIELD("occupancy_coverage_percent", get_occupancy_coverage), \
	FIELD("mbm_total_coverage_percent", get_total_coverage), \
	FIELD("mbm_local_coverage_percent", get_local_coverage), \
	FIELD("counters_partial", get_counters_partial), \
	FIELD("wait_partial", get_wait_partial), \
	NOTE_COLUMNS, \
	{ .get = NULL }

#define LETTER_COLUMN { " ", NULL, NULL, 1, true, true, 13, get_letter }

static const struct column container_columns[] = {
	LETTER_COLUMN,
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
	{ "SLOWER", NULL, NULL, 12, true, true, 16, get_slower },
	PARTIAL_COLUMNS
};

static const struct column process_columns[] = {
	LETTER_COLUMN,
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
	{ "RD IDLE %", "IDLE %", "read_idle_percent", 9, false, false, 13,
	  get_idle },
	FIELD("read_idle_reason", get_idle_reason),
	NOTE_COLUMNS,
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

static const struct {
	void (*get)(const struct row *row, struct cell *cell);
	bool live;
	enum sort_key sort;
} traits[] = {
	{ get_bar, true, SORT_OCCUPANCY },
	{ get_letter, true, SORT_OCCUPANCY },
	{ get_least, true, SORT_DEFAULT },
	{ get_most, true, SORT_DEFAULT },
	{ get_trail, true, SORT_DEFAULT },
	{ get_occupancy, false, SORT_OCCUPANCY },
	{ get_percent, false, SORT_OCCUPANCY },
	{ get_total, false, SORT_TOTAL },
	{ get_local, false, SORT_LOCAL },
	{ get_shown_name, false, SORT_NAME },
	{ get_shown_comm, false, SORT_NAME },
	{ get_pid, false, SORT_NUMBER },
	{ get_cpu, false, SORT_NUMBER },
	{ get_domain, false, SORT_NUMBER },
	{ get_socket, false, SORT_NUMBER },
	{ get_rmids, false, SORT_RMIDS },
	{ get_busy, false, SORT_BUSY },
	{ get_cpu_percent, false, SORT_CPU },
	{ get_wait_percent, false, SORT_WAIT },
	{ get_ipc, false, SORT_IPC },
	{ get_mpki, false, SORT_MPKI },
	{ get_slower, false, SORT_SLOWER },
};

bool column_live(const struct column *column)
{
	size_t i;

	for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (traits[i].get == column->get)
			return traits[i].live;
	return false;
}

bool column_stretches(const struct column *column)
{
	return column->get == get_trail;
}

enum sort_key column_sort(const struct column *column)
{
	size_t i;

	for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (traits[i].get == column->get)
			return traits[i].sort;
	return SORT_DEFAULT;
}

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
