// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_columns.h"

#include <stdio.h>
#include <string.h>

#include "common/names.h"

void export_row_name(struct export_row *export)
{
	const struct cmt_usage_row *row = export->row;
	size_t size = sizeof(export->name);

	if (row->kind == CMT_USAGE_OVERFLOW)
		snprintf(export->name, size, "(overflow)");
	else if (row->flags & CMT_USAGE_ROW_CPU)
		snprintf(export->name, size, "cpu:%u", row->cpu);
	else if (export->frame->by == CMT_USAGE_BY_DOMAIN)
		snprintf(export->name, size, "domain:%u", row->domain);
	else
		snprintf(export->name, size, "%.*s", (int)size - 1,
			 usage_row_label((char[CONTAINER_LABEL_LEN]){ 0 }, row));
}

struct value export_get_node(const struct export_row *e)
{
	return value_text(e->node);
}

struct value export_get_boot(const struct export_row *e)
{
	return value_text(e->boot);
}

struct value export_get_time(const struct export_row *e)
{
	return value_number_if(e->time_known, e->time_ns);
}

static struct value get_length(const struct export_row *e)
{
	return value_number(e->frame->end_ns - e->frame->start_ns);
}

static struct value get_monotonic(const struct export_row *e)
{
	return value_number(e->frame->start_ns);
}

static struct value get_by(const struct export_row *e)
{
	return value_number(e->frame->by);
}

static struct value get_kind(const struct export_row *e)
{
	return value_number(e->row->kind);
}

static struct value get_name(const struct export_row *e)
{
	return value_text(e->name);
}

static struct value get_path(const struct export_row *e)
{
	const struct cmt_container *container = e->row->container;

	/* a group of resctrl is in no cgroup */
	return value_text(container && e->row->owner != CMT_OWNER_RESCTRL ?
		    container->path : NULL);
}

static struct value get_image(const struct export_row *e)
{
	const struct cmt_container *container = e->row->container;

	return value_text(container ? container->image : NULL);
}

/* A group of resctrl has the name of one of its threads. */
static struct value get_comm(const struct export_row *e)
{
	return value_text(e->row->owner == CMT_OWNER_RESCTRL ? "" : e->row->comm);
}

static struct value get_cgroup(const struct export_row *e)
{
	uint64_t id = e->row->cgroup_id;

	return value_number_if(id && !(id & CMT_RESCTRL_GROUP), id);
}

static struct value get_pid(const struct export_row *e)
{
	return value_number_if(e->row->pid, e->row->pid);
}

static struct value get_cpu(const struct export_row *e)
{
	bool known = e->row->flags & CMT_USAGE_ROW_CPU ||
		     (e->row->kind == CMT_USAGE_OWNER &&
		      e->row->owner == CMT_OWNER_CPU);

	return value_number_if(known, e->row->cpu);
}

static struct value get_domain(const struct export_row *e)
{
	bool known = e->row->flags & CMT_USAGE_ROW_CPU ||
		     e->frame->by == CMT_USAGE_BY_DOMAIN;

	return value_number_if(known, e->row->domain);
}

static struct value get_rmids(const struct export_row *e)
{
	return value_number(e->row->rmids);
}

static struct value get_pending(const struct export_row *e)
{
	return value_number_if(e->frame->pending_known, e->row->pending);
}

static struct value get_l3(const struct export_row *e)
{
	return value_number_if(e->row->l3_bytes, e->row->l3_bytes);
}

static struct value get_occupancy(const struct export_row *e)
{
	return value_number_if(e->row->occupancy.known, e->row->occupancy.last_bytes);
}

static struct value get_least(const struct export_row *e)
{
	return value_number_if(e->row->occupancy.slots, e->row->occupancy.least_bytes);
}

/* The most is also known of an owner that has ended. */
static struct value get_most(const struct export_row *e)
{
	const struct cmt_usage_occupancy *o = &e->row->occupancy;

	return value_number_if(o->slots || o->known || o->most_bytes, o->most_bytes);
}

static struct value get_mean(const struct export_row *e)
{
	return value_number_if(e->row->occupancy.slots, e->row->occupancy.mean_bytes);
}

static struct value get_slots(const struct export_row *e)
{
	return value_number(e->row->occupancy.slots);
}

static struct value get_residual(const struct export_row *e)
{
	const struct cmt_usage_occupancy *o = &e->row->occupancy;

	return value_number_if(o->residual_known, o->residual_bytes);
}

static struct value get_age(const struct export_row *e)
{
	return value_number_if(e->row->occupancy.known, e->row->occupancy.age_ns);
}

static struct value get_occupancy_partial(const struct export_row *e)
{
	return value_number(e->row->occupancy.partial);
}

static struct value get_occupancy_why(const struct export_row *e)
{
	return value_number(e->row->occupancy.why);
}

#define RATE_GETTERS(which) \
static struct value get_##which##_bytes(const struct export_row *e) \
{ \
	return value_number_if(e->row->which.known, e->row->which.bytes); \
} \
static struct value get_##which##_rate(const struct export_row *e) \
{ \
	return value_real_if(e->row->which.known, e->row->which.rate); \
} \
static struct value get_##which##_lo(const struct export_row *e) \
{ \
	return value_real_if(e->row->which.known, e->row->which.lo); \
} \
static struct value get_##which##_hi(const struct export_row *e) \
{ \
	return value_real_if(e->row->which.known, e->row->which.hi); \
} \
static struct value get_##which##_partial(const struct export_row *e) \
{ \
	return value_number(e->row->which.partial); \
} \
static struct value get_##which##_why(const struct export_row *e) \
{ \
	return value_number(e->row->which.why); \
}

RATE_GETTERS(total)
RATE_GETTERS(local)

static struct value get_ran(const struct export_row *e)
{
	return value_number_if(e->row->counters.known, e->row->counters.ran_ns);
}

#define SUM_GETTER(which, bit) \
static struct value get_##which(const struct export_row *e) \
{ \
	return value_number_if(e->row->counters.values & (bit), e->row->counters.which); \
}

SUM_GETTER(cycles, CMT_F_CYCLES)
SUM_GETTER(instructions, CMT_F_INSTRUCTIONS)
SUM_GETTER(llc_misses, CMT_F_LLC_MISSES)
SUM_GETTER(llc_references, CMT_F_LLC_REFERENCES)
SUM_GETTER(waited_ns, CMT_F_WAITED)

static struct value get_cpu_share(const struct export_row *e)
{
	return value_real_if(true, e->row->counters.cpu_share);
}

static struct value get_ipc(const struct export_row *e)
{
	return value_real_if(true, e->row->counters.ipc);
}

static struct value get_mpki(const struct export_row *e)
{
	return value_real_if(true, e->row->counters.mpki);
}

static struct value get_wait_share(const struct export_row *e)
{
	return value_real_if(true, e->row->counters.wait_share);
}

static struct value get_wait_quota(const struct export_row *e)
{
	const struct cmt_usage_counters *counters = &e->row->counters;

	return value_number_if(counters->values & CMT_F_WAITED, counters->quota);
}

static struct value get_counters_partial(const struct export_row *e)
{
	return value_number(e->row->counters.partial);
}

static struct value get_bounds(const struct export_row *e)
{
	return value_number(e->row->counters.bounds);
}

static struct value get_counters_why(const struct export_row *e)
{
	return value_number(e->row->counters.why);
}

static struct value get_emulated(const struct export_row *e)
{
	return value_number(!!(e->row->flags & CMT_USAGE_ROW_EMULATED));
}

static struct value get_lost(const struct export_row *e)
{
	return value_number(e->frame->lost);
}

static struct value get_gaps(const struct export_row *e)
{
	return value_number(e->frame->nr_gaps);
}

static struct value get_grain(const struct export_row *e)
{
	return value_number(e->grain_ns);
}

static struct value get_since(const struct export_row *e)
{
	return value_number(e->since_ns);
}

static const char *const views[] = {
	[CMT_USAGE_BY_CONTAINER] = "container",
	[CMT_USAGE_BY_PROCESS] = "process",
	[CMT_USAGE_BY_CPU] = "cpu",
	[CMT_USAGE_BY_DOMAIN] = "domain",
	NULL,
};

static const char *const kinds[] = {
	[CMT_USAGE_OWNER] = "owner",
	[CMT_USAGE_UNKNOWN] = "unknown",
	[CMT_USAGE_OVERFLOW] = "overflow",
	[CMT_USAGE_UNATTRIBUTED] = "unattributed",
	NULL,
};

#define RATE_COLUMNS(which) \
	{ #which "_bytes", VALUE_U64, true, get_##which##_bytes, NULL }, \
	{ #which "_rate", VALUE_REAL, true, get_##which##_rate, NULL }, \
	{ #which "_lo", VALUE_LEAST, true, get_##which##_lo, NULL }, \
	{ #which "_hi", VALUE_MOST, true, get_##which##_hi, NULL }, \
	{ #which "_partial", VALUE_BOOL, false, get_##which##_partial, NULL }, \
	{ #which "_why", VALUE_WHY, false, get_##which##_why, NULL }

/* docs/fleet/schema.sql has the same columns in the same order: a test compares them. */
const struct export_column export_columns[] = {
	{ "node", VALUE_TEXT, false, export_get_node, NULL },
	{ "boot", VALUE_TEXT, false, export_get_boot, NULL },
	{ "time_ns", VALUE_U64, false, export_get_time, NULL },
	{ "length_ns", VALUE_U64, false, get_length, NULL },
	{ "monotonic_ns", VALUE_U64, false, get_monotonic, NULL },
	{ "view", VALUE_WORD, false, get_by, views },
	{ "kind", VALUE_WORD, false, get_kind, kinds },
	{ "name", VALUE_TEXT, false, get_name, NULL },
	{ "path", VALUE_TEXT, false, get_path, NULL },
	{ "image", VALUE_TEXT, false, get_image, NULL },
	{ "comm", VALUE_TEXT, false, get_comm, NULL },
	{ "cgroup_id", VALUE_U64, true, get_cgroup, NULL },
	{ "pid", VALUE_U32, true, get_pid, NULL },
	{ "cpu", VALUE_U32, true, get_cpu, NULL },
	{ "domain", VALUE_U32, true, get_domain, NULL },
	{ "rmids", VALUE_U32, false, get_rmids, NULL },
	{ "pending", VALUE_U32, true, get_pending, NULL },
	{ "l3_bytes", VALUE_U64, true, get_l3, NULL },
	{ "occupancy_bytes", VALUE_U64, true, get_occupancy, NULL },
	{ "occupancy_least_bytes", VALUE_U64, true, get_least, NULL },
	{ "occupancy_most_bytes", VALUE_U64, true, get_most, NULL },
	{ "occupancy_mean_bytes", VALUE_U64, true, get_mean, NULL },
	{ "occupancy_slots", VALUE_U32, false, get_slots, NULL },
	{ "residual_bytes", VALUE_U64, true, get_residual, NULL },
	{ "occupancy_age_ns", VALUE_U64, true, get_age, NULL },
	{ "occupancy_partial", VALUE_BOOL, false, get_occupancy_partial, NULL },
	{ "occupancy_why", VALUE_WHY, false, get_occupancy_why, NULL },
	RATE_COLUMNS(total),
	RATE_COLUMNS(local),
	{ "ran_ns", VALUE_U64, true, get_ran, NULL },
	{ "cycles", VALUE_U64, true, get_cycles, NULL },
	{ "instructions", VALUE_U64, true, get_instructions, NULL },
	{ "llc_misses", VALUE_U64, true, get_llc_misses, NULL },
	{ "llc_references", VALUE_U64, true, get_llc_references, NULL },
	{ "cpu_share", VALUE_REAL, true, get_cpu_share, NULL },
	{ "ipc", VALUE_REAL, true, get_ipc, NULL },
	{ "mpki", VALUE_REAL, true, get_mpki, NULL },
	{ "waited_ns", VALUE_U64, true, get_waited_ns, NULL },
	{ "wait_share", VALUE_REAL, true, get_wait_share, NULL },
	{ "wait_quota", VALUE_BOOL, false, get_wait_quota, NULL },
	{ "counters_partial", VALUE_BOOL, false, get_counters_partial, NULL },
	{ "counters_bounds", VALUE_COUNTERS, false, get_bounds, NULL },
	{ "counters_why", VALUE_WHY, false, get_counters_why, NULL },
	{ "emulated", VALUE_BOOL, false, get_emulated, NULL },
	{ "lost", VALUE_U64, false, get_lost, NULL },
	{ "gaps", VALUE_U32, false, get_gaps, NULL },
	{ "grain_ns", VALUE_U64, false, get_grain, NULL },
	{ "since_ns", VALUE_U64, false, get_since, NULL },
	{ .name = NULL },
};

const char *export_word(const struct export_column *column, uint64_t number)
{
	for (uint64_t i = 0; column->words[i]; i++)
		if (i == number)
			return column->words[i];
	return "";
}

const char *export_bit_name(enum value_type type, unsigned int bit)
{
	uint32_t flag = 1U << bit;

	if (type == VALUE_WHY)
		return flag == CMT_USAGE_WHY_NOT_COUNTED ? "not-counted" :
							   usage_why_name(flag);
	switch (flag) {
	case CMT_F_CYCLES:
		return "cycles";
	case CMT_F_INSTRUCTIONS:
		return "instructions";
	case CMT_F_LLC_MISSES:
		return "llc-misses";
	case CMT_F_LLC_REFERENCES:
		return "llc-references";
	case CMT_F_WAITED:
		return "waited";
	default:
		return NULL;
	}
}
