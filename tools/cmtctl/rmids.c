// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fields.h"
#include "common/format.h"
#include "common/rows.h"

static bool emulated(const struct ctl *ctl)
{
	return cmt_device_info(ctl->dev)->backend == CMT_BACKEND_EMULATED;
}

static bool has_occupancy(const struct ctl *ctl)
{
	return cmt_device_info(ctl->dev)->events & CMT_F_OCCUPANCY;
}

static int print_json(const struct ctl *ctl, const struct row *row,
		      const struct cmt_record *record, uint64_t as_of)
{
	const struct cmt_container *c = row_in_cgroup(row) ? row->container : NULL;
	char label[CONTAINER_LABEL_LEN];
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_bool(&fields, "emulated", emulated(ctl));
	fields_number(&fields, "rmid", row->rmid, NULL);
	fields_number(&fields, "generation", row->generation, NULL);
	fields_text(&fields, "kind", row_kind(row));
	if (row->pid)
		fields_number(&fields, "pid", row->pid, NULL);
	else
		fields_text(&fields, "pid", NULL);
	fields_text(&fields, "comm", row->comm[0] ? row->comm : NULL);
	fields_text(&fields, "container", container_label(label, row));
	fields_bool(&fields, "resctrl_group", row->sole);
	fields_text(&fields, "cgroup", c ? c->path : NULL);
	fields_hex(&fields, "cgroup_hex", c ? c->path : NULL);
	if (row_in_cgroup(row) && row->cgroup_id)
		fields_number(&fields, "cgroup_id", row->cgroup_id, NULL);
	else
		fields_text(&fields, "cgroup_id", NULL);
	fields_number(&fields, "since_ns", record->ts, NULL);
	fields_number(&fields, "age_ns", as_of - record->ts, NULL);
	if (record->flags & CMT_F_RESIDUAL)
		fields_number(&fields, "residual_bytes",
			      record->owner.residual_bytes, NULL);
	else
		fields_text(&fields, "residual_bytes", NULL);
	return fields_end(&fields);
}

static void print_text(const struct row *row, const struct cmt_record *record,
		       uint64_t as_of)
{
	char comm[4 * CMT_COMM_LEN + 1], name[4 * CONTAINER_LABEL_LEN];
	char label[CONTAINER_LABEL_LEN], residue[FORMAT_LEN] = "-";
	char pid[16] = "-";

	escape_text(comm, sizeof(comm), row->comm, ESCAPE_ASCII);
	escape_text(name, sizeof(name), container_label(label, row),
		    ESCAPE_ASCII);
	if (row->pid)
		snprintf(pid, sizeof(pid), "%u", row->pid);
	if (record->flags & CMT_F_RESIDUAL)
		format_bytes(residue, record->owner.residual_bytes);
	printf("%4u %10u %7s %-15s %10.3f %10s %s%s\n", row->rmid,
	       row->generation, pid, comm,
	       (double)(as_of - record->ts) / 1e9, residue, name, row_group_note(row));
}

static void print_unavailable(const struct ctl *ctl)
{
	const struct cmt_info *info = cmt_device_info(ctl->dev);
	char reason[sizeof(info->reason) + 1] = "", escaped[4 * sizeof(reason)];

	memcpy(reason, info->reason, sizeof(info->reason));
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	printf("UNAVAILABLE: cache occupancy: %s\n", escaped);
}

static int print_all(const struct ctl *ctl, const struct cmt_snapshot *snapshot,
		     struct cmt_containers *containers)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };
	struct row row;
	uint32_t i;
	int ret = 0;

	if (!ctl->json && emulated(ctl))
		printf("EMULATED: the cache sizes come from a model, not from hardware\n");
	if (!ctl->json && !has_occupancy(ctl))
		print_unavailable(ctl);
	if (!ctl->json)
		printf("%4s %10s %7s %-15s %10s %10s %s\n", "RMID",
		       "GENERATION", "PID", "COMM", "AGE S", "RESIDUE",
		       "CONTAINER");
	for (i = 0; !ret && i < snapshot->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(snapshot, i);

		ret = cmt_record_owner(record, &owner);
		if (ret)
			break;
		row_owner(&row, &owner, containers);
		if (ctl->json)
			ret = print_json(ctl, &row, record, snapshot->as_of);
		else
			print_text(&row, record, snapshot->as_of);
	}
	return ret;
}

int ctl_rmids(const struct ctl *ctl, const char **what)
{
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .device = ctl->dev,
		.flags = CMT_CONTAINERS_NO_PAUSE,
	};
	struct cmt_containers *containers;
	struct cmt_snapshot *snapshot;
	int ret;

	*what = "cannot find container names";
	ret = cmt_containers_new(&containers, &opts);
	if (ret)
		return ret;
	*what = "cannot read the owners of RMIDs";
	ret = cmt_device_snapshot(ctl->dev, &snapshot);
	if (!ret) {
		*what = "cannot print";
		ret = print_all(ctl, snapshot, containers);
		cmt_snapshot_free(snapshot);
	}
	cmt_containers_free(containers);
	return ret;
}
