// SPDX-License-Identifier: GPL-2.0-or-later
#include "beside.h"

#include <stdio.h>

static bool is_named(const struct row *row)
{
	return row->container && row->container->path;
}

/* Is the group of the row a better example than the one before? */
static bool is_better(const struct beside *beside, const struct row *row)
{
	if (!beside->any || row->has_group_cpu != beside->has_cpu)
		return !beside->any || row->has_group_cpu;
	return is_named(row) && !beside->named;
}

static void add_group(struct beside *beside, const struct row *row)
{
	beside->groups += is_named(row) || row->has_group_cpu;
	if (!is_better(beside, row))
		return;
	beside->any = true;
	beside->named = is_named(row);
	beside->has_cpu = row->has_group_cpu;
	beside->cpu = row->cpu;
	beside->rmid = row->rmid;
	snprintf(beside->name, sizeof(beside->name), "%s",
		 beside->named ? row->container->name : "");
}

static void add_incomplete(struct beside *beside, const struct row *row)
{
	char label[CONTAINER_LABEL_LEN];

	if (!beside->incomplete++)
		snprintf(beside->first, sizeof(beside->first), "%s", row->pid ? row->comm :
			 container_label(label, row));
}

void beside_add(struct beside *beside, const struct row *row)
{
	if (row->is_cpu)
		return;
	if (row->kind == CMT_USAGE_OWNER && row->owner == CMT_OWNER_RESCTRL)
		add_group(beside, row);
	if (row->why & CMT_USAGE_WHY_OVERWRITTEN)
		add_incomplete(beside, row);
}

void beside_add_frame(struct beside *beside, const struct frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		beside_add(beside, &frame->rows[i]);
}

const char *beside_text(char buf[BESIDE_TEXT_LEN], const struct beside *beside)
{
	char group[CMT_CONTAINER_NAME_LEN + 16], more[32] = "";
	const char *plural = beside->groups > 2 ? "s" : "";

	if (!beside->any)
		return "an RMID of another program counts some of it";
	if (beside->named)
		snprintf(group, sizeof(group), "resctrl group %s", beside->name);
	else
		snprintf(group, sizeof(group), "RMID %u of resctrl%s", beside->rmid,
			 beside->has_cpu ? " or another program" : "");
	if (beside->groups > 1)
		snprintf(more, sizeof(more), ", with %u more group%s", beside->groups - 1,
			 plural);
	if (beside->has_cpu)
		snprintf(buf, BESIDE_TEXT_LEN, "CPU %u %s %s%s", beside->cpu,
			 beside->named ? "is of" : "has", group, more);
	else
		snprintf(buf, BESIDE_TEXT_LEN, "%s%s counts tasks of several owners", group,
			 more);
	return buf;
}

const char *beside_remedy(const struct beside *beside)
{
	return beside->any ? "; cmtctl resctrl take counts it for cmt" : "";
}
