// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <stdlib.h>

void parts_free(struct parts *parts)
{
	free(parts->all);
	*parts = (struct parts){ .nr = 0 };
}

void parts_begin(struct parts *parts)
{
	uint32_t i;

	for (i = 0; i < parts->nr; i++) {
		parts->all[i].occupancy_known = false;
		parts->all[i].occupancy = 0;
	}
}

/* NULL: no room, or no memory. */
static struct part *part_of(struct parts *parts, uint32_t domain)
{
	struct part *all;
	uint32_t i;

	for (i = 0; i < parts->nr; i++)
		if (parts->all[i].domain == domain)
			return &parts->all[i];
	if (parts->nr == PARTS_MAX)
		return NULL;
	all = reallocarray(parts->all, parts->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	parts->all = all;
	all[parts->nr] = (struct part){ .domain = domain };
	return &all[parts->nr++];
}

static void count(uint64_t *sum, bool *known, const struct cmt_usage_rate *rate)
{
	if (!rate->known)
		return;
	*known = true;
	if (__builtin_add_overflow(*sum, rate->bytes, sum))
		*sum = UINT64_MAX;
}

static void add(struct part *part, const struct cmt_usage_row *row)
{
	if (row->occupancy.known) {
		part->occupancy_known = true;
		part->occupancy += row->occupancy.last_bytes;
	}
	count(&part->total, &part->total_known, &row->total);
	count(&part->local, &part->local_known, &row->local);
}

uint32_t parts_add(struct parts *parts, const struct cmt_usage_frame *frame,
		   const struct cmt_usage_row *row)
{
	uint32_t i, dropped = 0;

	for (i = 0; i < row->nr_children; i++) {
		const struct cmt_usage_row *from =
			cmt_usage_child_at(frame, row->first_child + i);
		struct part *part;

		if (!(from->flags & CMT_USAGE_ROW_PART))
			continue;
		part = part_of(parts, from->domain);
		if (part)
			add(part, from);
		else
			dropped++;
	}
	return dropped;
}
