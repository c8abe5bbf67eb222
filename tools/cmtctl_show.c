// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fields.h"
#include "format.h"
#include "rows.h"

/* One of the two lists: who has an RMID, and who waits for one. */
struct list {
	const struct cmt_snapshot *snapshot;
	bool waiting;
	uint32_t nr_waiting;	/* in the rest */
};

static void make_row(struct row *row, const struct list *list,
		     const struct cmt_owner *owner,
		     struct cmt_containers *containers)
{
	row_owner(row, owner, containers);
	row->waits = "waiting";
	row->waiting = list->nr_waiting;
}

/* The number that names it; false: there is none. */
static bool id_of(const struct row *row, uint64_t *id)
{
	if (row->kind != OWNER_KNOWN)
		return false;
	*id = row->owner == CMT_OWNER_PROCESS ? row->pid :
	      row->owner == CMT_OWNER_CPU ? row->cpu : row->cgroup_id;
	return true;
}

static int print_json(const struct list *list, const struct row *row,
		      const struct cmt_owner *owner)
{
	const struct cmt_container *c = row->container;
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
	fields_text(&fields, "cgroup", c ? c->path : NULL);
	fields_number(&fields, "rmid", row->rmid, NULL);
	fields_number(&fields, "generation", row->generation, NULL);
	fields_number(&fields, "since_ns", owner->since, NULL);
	fields_number(&fields, "age_ns", as_of - owner->since, NULL);
	fields_bool(&fields, "attached", row->attached);
	fields_bool(&fields, "waiting", list->waiting);
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
	printf("%-7s %10s %-15s %4u %10u %10.3f %-8s %s\n", row_kind(row),
	       number, comm, row->rmid, row->generation, age,
	       row->attached ? "yes" : "no", name);
}

static int print_list(const struct ctl *ctl, const struct list *list,
		      struct cmt_containers *containers)
{
	struct cmt_owner owner;
	struct row row;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < list->snapshot->count; i++) {
		ret = cmt_record_owner(&list->snapshot->records[i], &owner);
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
		     const struct cmt_snapshot *waiting,
		     struct cmt_containers *containers)
{
	struct list list = { owners, false, waiting->count };
	int ret;

	if (!ctl->json)
		printf("%-7s %10s %-15s %4s %10s %10s %-8s %s\n", "KIND", "ID",
		       "NAME", "RMID", "GENERATION", "AGE S", "ATTACHED",
		       "CONTAINER");
	ret = print_list(ctl, &list, containers);
	if (ret || !waiting->count)
		return ret;
	if (!ctl->json)
		printf("%u without an RMID of their own, counted in that of the rest:\n",
		       waiting->count);
	list = (struct list){ waiting, true, waiting->count };
	return print_list(ctl, &list, containers);
}

int ctl_show(const struct ctl *ctl, const char **what)
{
	struct cmt_snapshot *owners = NULL, *waiting = NULL;
	struct cmt_containers *containers = NULL;
	int ret;

	*what = "cannot find container names";
	ret = cmt_containers_new(&containers, NULL);
	if (ret && ret != -ENOENT)
		return ret;
	*what = "cannot read who owns the RMIDs";
	ret = cmt_device_snapshot(ctl->dev, &owners);
	if (!ret) {
		*what = "cannot read who waits for an RMID";
		ret = cmt_device_waiting(ctl->dev, &waiting);
	}
	if (!ret) {
		*what = "cannot print";
		ret = print_all(ctl, owners, waiting, containers);
	}
	free(waiting);
	free(owners);
	cmt_containers_free(containers);
	return ret;
}
