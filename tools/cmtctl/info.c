// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <stdio.h>
#include <string.h>

#include "common/fields.h"
#include "common/format.h"
#include "common/names.h"
#include "common/rows.h"

/* The module's texts need not be terminated. */
static void add_text(struct fields *fields, const char *name, const char *text,
		     size_t size)
{
	char copy[65];

	snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
	fields_text(fields, name, copy);
}

static void add_machine(struct fields *fields, const struct cmt_info *info,
			uint32_t scope)
{
	char abi[32], l3[FORMAT_LEN];

	snprintf(abi, sizeof(abi), "%u.%u", info->abi_version >> 16,
		 info->abi_version & 0xffff);
	add_text(fields, "module_version", info->module_version,
		 sizeof(info->module_version));
	fields_text(fields, "abi", abi);
	fields_text(fields, "library_version", cmt_version());
	fields_bool(fields, "emulated",
		    info->backend == CMT_BACKEND_EMULATED);
	fields_text(fields, "backend", backend_name(info->backend));
	add_text(fields, "reason", info->reason, sizeof(info->reason));
	fields_text(fields, "vendor", vendor_name(info->vendor));
	fields_text(fields, "scope", scope_name(scope));
	if (info->l3_bytes)
		fields_number(fields, "l3_bytes", info->l3_bytes,
			      format_bytes(l3, info->l3_bytes));
	else
		fields_text(fields, "l3_bytes", NULL);
}

static void add_events(struct fields *fields, const struct cmt_info *info)
{
	fields_bool(fields, "occupancy", info->events & CMT_F_OCCUPANCY);
	fields_bool(fields, "mbm_total", info->events & CMT_F_MBM_TOTAL);
	fields_bool(fields, "mbm_local", info->events & CMT_F_MBM_LOCAL);
	if (info->mbm_reason[0])
		add_text(fields, "mbm_reason", info->mbm_reason,
			 sizeof(info->mbm_reason));
	else
		fields_text(fields, "mbm_reason", NULL);
}

/* "1023 or more" is shown as 1023. */
static void add_assignable(struct fields *fields, uint32_t assignable)
{
	fields_bool(fields, "abmc", assignable & CMT_ASSIGNABLE_ON);
	fields_number(fields, "abmc_counters",
		      CMT_ASSIGNABLE_ALL(assignable), NULL);
	fields_number(fields, "abmc_ours", CMT_ASSIGNABLE_OURS(assignable),
		      NULL);
	fields_number(fields, "abmc_others",
		      CMT_ASSIGNABLE_OTHERS(assignable), NULL);
}

/* AMD's: which RMID the kernel's own accesses have. */
static void add_plza(struct fields *fields, uint32_t plza)
{
	fields_bool(fields, "plza", plza & CMT_PLZA_EXISTS);
	fields_bool(fields, "plza_on", plza & CMT_PLZA_ON);
	if (plza & CMT_PLZA_HAS_RMID)
		fields_number(fields, "plza_rmid", CMT_PLZA_RMID(plza), NULL);
	else
		fields_text(fields, "plza_rmid", NULL);
}

/* The counters of the processor that some program requested, and the kernel's of waiting */
static void add_counters(struct fields *fields, uint32_t counters, const char *reason,
			 const struct cmt_info *info)
{
	fields_bool(fields, "cycles", counters & CMT_F_CYCLES);
	fields_bool(fields, "instructions", counters & CMT_F_INSTRUCTIONS);
	fields_bool(fields, "llc_misses", counters & CMT_F_LLC_MISSES);
	fields_bool(fields, "llc_references", counters & CMT_F_LLC_REFERENCES);
	fields_bool(fields, "waited", counters & CMT_F_WAITED);
	fields_text(fields, "perf_reason", reason[0] ? reason : NULL);
	fields_text(fields, "wait_reason", info->wait_reason[0] ? info->wait_reason : NULL);
}

static void add_resctrl(struct fields *fields, uint32_t mode, bool mounted)
{
	fields_text(fields, "resctrl", resctrl_name(mode));
	fields_bool(fields, "resctrl_mounted", mounted);
}

static void add_sampling(struct fields *fields, const struct cmt_info *info,
			 uint32_t interval_ns, uint32_t rings_small)
{
	char text[FORMAT_LEN];

	if (info->events) {
		fields_number(fields, "upscale_bytes", info->upscale_bytes, NULL);
		fields_number(fields, "counter_bits", info->counter_bits, NULL);
	} else {
		fields_text(fields, "upscale_bytes", NULL);
		fields_text(fields, "counter_bits", NULL);
	}
	fields_number(fields, "cpus", info->nr_cpus, NULL);
	fields_number(fields, "rmids", info->nr_rmids, NULL);
	fields_number(fields, "rmids_usable", info->rmids_usable, NULL);
	fields_number(fields, "ring_records", info->ring_records, NULL);
	fields_number(fields, "rings_small", rings_small, NULL);
	fields_number(fields, "ring_hold_ns", info->ring_hold_ns,
		      format_duration(text, info->ring_hold_ns));
	fields_number(fields, "budget_ns", info->budget_ns,
		      format_duration(text, info->budget_ns));
	fields_number(fields, "idle_ticks", info->idle_ticks, NULL);
	fields_number(fields, "limbo_ns", info->limbo_ns,
		      format_duration(text, info->limbo_ns));
	fields_number(fields, "interval_ns", interval_ns,
		      format_duration(text, interval_ns));
	fields_number(fields, "interval_min_ns", info->interval_min_ns,
		      format_duration(text, info->interval_min_ns));
	fields_number(fields, "interval_max_ns", info->interval_max_ns,
		      format_duration(text, info->interval_max_ns));
}

int ctl_info(const struct ctl *ctl, const char **what)
{
	const struct cmt_info *info = cmt_device_info(ctl->dev);
	struct cmt_stats stats = { .size = sizeof(stats) };
	struct fields fields;
	char reason[CMT_REASON_LEN];
	uint32_t interval_ns, scope, mode, counters;
	bool mounted;
	int ret;

	*what = "cannot read the interval";
	ret = cmt_device_interval(ctl->dev, &interval_ns);
	if (!ret) {
		*what = "cannot read the scope";
		ret = cmt_device_scope(ctl->dev, &scope);
	}
	if (!ret) {
		*what = "cannot read the resctrl mode";
		ret = cmt_device_resctrl(ctl->dev, &mode, &mounted);
	}
	if (!ret) {
		*what = "cannot read the state of the counters";
		ret = cmt_device_counters(ctl->dev, &counters, reason);
	}
	if (!ret) {
		*what = "cannot read the statistics";
		ret = cmt_device_stats(ctl->dev, &stats);
	}
	if (ret)
		return ret;
	*what = "cannot print";
	ret = fields_begin(&fields, ctl->json);
	if (ret)
		return ret;
	add_machine(&fields, info, scope);
	add_resctrl(&fields, mode, mounted);
	add_events(&fields, info);
	add_assignable(&fields, info->assignable);
	add_plza(&fields, info->plza);
	add_counters(&fields, counters, reason, info);
	add_sampling(&fields, info, interval_ns, stats.rings_small);
	return fields_end(&fields);
}
