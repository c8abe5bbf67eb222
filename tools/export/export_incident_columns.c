// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_columns.h"

static const struct cmt_incident *told_of(const struct export_row *e)
{
	return e->incident->told;
}

static const struct cmt_incident_part *part_of(const struct export_row *e)
{
	return &told_of(e)->parts[e->part];
}

static bool has(const struct export_row *e, uint32_t flag)
{
	return told_of(e)->flags & flag;
}

static struct value get_length(const struct export_row *e)
{
	return value_number(told_of(e)->end_ns - told_of(e)->begin_ns);
}

static struct value get_monotonic(const struct export_row *e)
{
	return value_number(told_of(e)->begin_ns);
}

static struct value get_number(const struct export_row *e)
{
	return value_number(told_of(e)->number);
}

static struct value get_victim(const struct export_row *e)
{
	return value_text(e->incident->victim.label);
}

static struct value get_victim_path(const struct export_row *e)
{
	return value_text(e->incident->victim.path);
}

static struct value get_suspect(const struct export_row *e)
{
	return value_text(e->incident->parts[e->part].label);
}

static struct value get_suspect_path(const struct export_row *e)
{
	return value_text(e->incident->parts[e->part].path);
}

static struct value get_resource(const struct export_row *e)
{
	return value_number(part_of(e)->resource);
}

/* A wait for a CPU is in no domain. */
static struct value get_domain(const struct export_row *e)
{
	return value_number_if(part_of(e)->resource != CMT_SLOWDOWN_CPU, part_of(e)->domain);
}

static struct value get_lost(const struct export_row *e)
{
	return value_number_if(has(e, CMT_INCIDENT_LOST), part_of(e)->lost_ns);
}

static struct value get_lost_by_all(const struct export_row *e)
{
	return value_number_if(has(e, CMT_INCIDENT_LOST), told_of(e)->lost_ns);
}

static struct value get_worst(const struct export_row *e)
{
	return value_real_if(true, told_of(e)->worst);
}

static struct value get_began_before(const struct export_row *e)
{
	return value_number(has(e, CMT_INCIDENT_BEFORE));
}

/* Its end is not known: it goes on, or counters of the victim stopped. */
static struct value get_goes_on(const struct export_row *e)
{
	return value_number(has(e, CMT_INCIDENT_OPEN | CMT_INCIDENT_UNKNOWN));
}

static struct value get_clipped(const struct export_row *e)
{
	return value_number(has(e, CMT_INCIDENT_CLIPPED));
}

static struct value get_emulated(const struct export_row *e)
{
	return value_number(e->emulated);
}

static const char *const resources[] = {
	[CMT_SLOWDOWN_CPU] = "cpu",
	[CMT_SLOWDOWN_CACHE] = "cache",
	[CMT_SLOWDOWN_MEMORY] = "memory",
	NULL,
};

/* As cmt.incidents in docs/fleet/schema.sql: a test compares them. */
const struct export_column export_incident_columns[] = {
	{ "node", VALUE_TEXT, false, export_get_node, NULL },
	{ "boot", VALUE_TEXT, false, export_get_boot, NULL },
	{ "time_ns", VALUE_U64, false, export_get_time, NULL },
	{ "length_ns", VALUE_U64, false, get_length, NULL },
	{ "monotonic_ns", VALUE_U64, false, get_monotonic, NULL },
	{ "number", VALUE_U64, false, get_number, NULL },
	{ "victim", VALUE_TEXT, false, get_victim, NULL },
	{ "victim_path", VALUE_TEXT, false, get_victim_path, NULL },
	{ "suspect", VALUE_TEXT, false, get_suspect, NULL },
	{ "suspect_path", VALUE_TEXT, false, get_suspect_path, NULL },
	{ "resource", VALUE_WORD, false, get_resource, resources },
	{ "domain", VALUE_U32, true, get_domain, NULL },
	{ "lost_ns", VALUE_U64, true, get_lost, NULL },
	{ "lost_by_all_ns", VALUE_U64, true, get_lost_by_all, NULL },
	{ "worst", VALUE_REAL, false, get_worst, NULL },
	{ "began_before", VALUE_BOOL, false, get_began_before, NULL },
	{ "goes_on", VALUE_BOOL, false, get_goes_on, NULL },
	{ "clipped", VALUE_BOOL, false, get_clipped, NULL },
	{ "emulated", VALUE_BOOL, false, get_emulated, NULL },
	{ .name = NULL },
};
