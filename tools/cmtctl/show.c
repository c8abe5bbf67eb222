// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/fields.h"
#include "common/format.h"
#include "common/rows.h"

/* One of the two lists: owners of an RMID, and pending owners. */
struct list {
	const struct cmt_snapshot *snapshot;
	bool pending;
	uint32_t nr_pending;	/* that share the overflow RMID */
};

static void make_row(struct row *row, const struct list *list,
		     const struct cmt_owner *owner,
		     struct cmt_containers *containers)
{
	row_owner(row, owner, containers);
	row->pending_noun = "pending";
	row->pending = list->nr_pending;
}

/* Why an owner is pending; NULL: it is not, or the module does not say. */
static const char *why_name(uint32_t why)
{
	static const char *const names[] = {
		[CMT_WHY_NO_RMID] = "no-rmid",
		[CMT_WHY_RECLAIMED] = "reclaimed",
	};

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "unknown";
}

/* The number of the owner; false: it has none. */
static bool id_of(const struct row *row, uint64_t *id)
{
	if (row->kind != CMT_USAGE_OWNER || row_is_foreign(row))
		return false;
	*id = row->owner == CMT_OWNER_PROCESS ? row->pid :
	      row->owner == CMT_OWNER_CPU ? row->cpu : row->cgroup_id;
	return true;
}

static int print_json(const struct list *list, const struct row *row,
		      const struct cmt_owner *owner)
{
	const struct cmt_container *c = row_in_cgroup(row) ? row->container : NULL;
	uint64_t as_of = list->snapshot->as_of, id;
	char label[CONTAINER_LABEL_LEN];
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "kind", row_kind(row));
	if (id_of(row, &id))
		fields_number(&fields, "id", id, NULL);
	else
		fields_text(&fields, "id", NULL);
	fields_text(&fields, "name", row->comm[0] ? row->comm : NULL);
	fields_text(&fields, "container", container_label(label, row));
	fields_bool(&fields, "resctrl_group", row->sole);
	fields_text(&fields, "cgroup", c ? c->path : NULL);
	fields_hex(&fields, "cgroup_hex", c ? c->path : NULL);
	fields_number(&fields, "rmid", row->rmid, NULL);
	fields_number(&fields, "generation", row->generation, NULL);
	fields_number(&fields, "since_ns", owner->since, NULL);
	fields_number(&fields, "age_ns", as_of - owner->since, NULL);
	fields_bool(&fields, "attached", row->attached);
	fields_bool(&fields, "service", owner->service);
	fields_bool(&fields, "pending", list->pending);
	fields_text(&fields, "why", why_name(owner->why));
	return fields_end(&fields);
}

static void print_text(const struct list *list, const struct row *row,
		       const struct cmt_owner *owner)
{
	char comm[4 * CMT_COMM_LEN + 1], name[4 * CONTAINER_LABEL_LEN];
	char label[CONTAINER_LABEL_LEN], number[FORMAT_LEN] = "-";
	double age = (double)(list->snapshot->as_of - owner->since) / 1e9;
	uint64_t id;

	if (id_of(row, &id))
		snprintf(number, sizeof(number), "%" PRIu64, id);
	escape_text(comm, sizeof(comm), row->comm[0] ? row->comm : "-",
		    ESCAPE_ASCII);
	escape_text(name, sizeof(name), container_label(label, row),
		    ESCAPE_ASCII);
	printf("%-7s %10s %-15s %4u %10u %10.3f %-8s %s%s\n", row_kind(row),
	       number, comm, row->rmid, row->generation, age,
	       row->attached ? "yes" : "no", name, row_group_note(row));
}

static int print_list(const struct ctl *ctl, const struct list *list,
		      struct cmt_containers *containers)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };
	struct row row;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < list->snapshot->count; i++) {
		ret = cmt_record_owner(cmt_snapshot_at(list->snapshot, i), &owner);
		if (ret)
			break;
		make_row(&row, list, &owner, containers);
		if (ctl->json)
			ret = print_json(list, &row, &owner);
		else
			print_text(list, &row, &owner);
	}
	return ret;
}

static int print_all(const struct ctl *ctl, const struct cmt_snapshot *owners,
		     const struct cmt_snapshot *pending,
		     struct cmt_containers *containers)
{
	struct list list = { owners, false, pending->count };
	int ret;

	if (!ctl->json)
		printf("%-7s %10s %-15s %4s %10s %10s %-8s %s\n", "KIND", "ID",
		       "NAME", "RMID", "GENERATION", "AGE S", "ATTACHED",
		       "CONTAINER");
	ret = print_list(ctl, &list, containers);
	if (ret || !pending->count)
		return ret;
	if (!ctl->json)
		printf("%u pending, counted in the overflow RMID:\n",
		       pending->count);
	list = (struct list){ pending, true, pending->count };
	return print_list(ctl, &list, containers);
}

int ctl_show(const struct ctl *ctl, const char **what)
{
	struct cmt_snapshot *owners = NULL, *pending = NULL;
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .device = ctl->dev,
		.flags = CMT_CONTAINERS_NO_PAUSE,
	};
	struct cmt_containers *containers;
	int ret;

	*what = "cannot find container names";
	ret = cmt_containers_new(&containers, &opts);
	if (ret)
		return ret;
	*what = "cannot read the owners of RMIDs";
	ret = cmt_device_snapshot(ctl->dev, &owners);
	if (!ret) {
		*what = "cannot read the pending owners";
		ret = cmt_device_pending(ctl->dev, &pending);
	}
	if (!ret) {
		*what = "cannot print";
		ret = print_all(ctl, owners, pending, containers);
	}
	cmt_snapshot_free(pending);
	cmt_snapshot_free(owners);
	cmt_containers_free(containers);
	return ret;
}
