// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include "common/fields.h"

static void add_now(struct fields *fields, const struct cmt_stats *stats)
{
	fields_number(fields, "rmids_active", stats->rmids_active, NULL);
	fields_number(fields, "rmids_limbo", stats->rmids_limbo, NULL);
	fields_number(fields, "rmids_free", stats->rmids_free, NULL);
	fields_number(fields, "rmids_foreign", stats->rmids_foreign, NULL);
	fields_number(fields, "pending", stats->pending, NULL);
	fields_number(fields, "readers", stats->readers, NULL);
	fields_number(fields, "cpus_online", stats->cpus_online, NULL);
	fields_number(fields, "cpus_unread", stats->cpus_unread, NULL);
	fields_number(fields, "cpus_foreign", stats->cpus_foreign, NULL);
	fields_number(fields, "rings_small", stats->rings_small, NULL);
}

static void add_sums(struct fields *fields, const struct cmt_stats *stats)
{
	fields_number(fields, "allocs", stats->allocs, NULL);
	fields_number(fields, "frees", stats->frees, NULL);
	fields_number(fields, "alloc_fails", stats->alloc_fails, NULL);
	fields_number(fields, "served", stats->served, NULL);
	fields_number(fields, "records", stats->records, NULL);
	fields_number(fields, "ticks", stats->ticks, NULL);
	fields_number(fields, "missed", stats->missed, NULL);
	fields_number(fields, "deferred", stats->deferred, NULL);
	fields_number(fields, "samples", stats->samples, NULL);
	fields_number(fields, "switches", stats->switches, NULL);
	fields_number(fields, "pqr_writes", stats->pqr_writes, NULL);
	fields_number(fields, "pqr_overwritten", stats->pqr_overwritten, NULL);
	fields_number(fields, "read_errors", stats->read_errors, NULL);
	fields_number(fields, "read_unavailable", stats->read_unavailable,
		      NULL);
	fields_number(fields, "busy_ns", stats->busy_ns, NULL);
	fields_number(fields, "irqs_off_ns", stats->irqs_off_ns, NULL);
	fields_number(fields, "lock_held_ns", stats->lock_held_ns, NULL);
}

int ctl_stats(const struct ctl *ctl, const char **what)
{
	struct cmt_stats stats = { .size = sizeof(stats) };
	struct fields fields;
	int ret;

	*what = "cannot read the statistics";
	ret = cmt_device_stats(ctl->dev, &stats);
	if (ret)
		return ret;
	*what = "cannot print";
	ret = fields_begin(&fields, ctl->json);
	if (ret)
		return ret;
	fields_bool(&fields, "emulated", cmt_device_info(ctl->dev)->backend ==
					 CMT_BACKEND_EMULATED);
	add_now(&fields, &stats);
	add_sums(&fields, &stats);
	return fields_end(&fields);
}
