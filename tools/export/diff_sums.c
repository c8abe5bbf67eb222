// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How containers of two recordings are joined.  Cgroup ids, and container ids in paths,
 * differ between boots: a container is the same one where runtime and name are the
 * same, and the user, if it is in a user's slice.  Rows without a name are joined by
 * the path of the cgroup, and rows without a path by the cgroup id, within one boot.
 */
#include "diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export_columns.h"

/* Has it a name that a person or program gave? A short id is none. */
static bool is_named(const struct cmt_container *c)
{
	size_t len = strlen(c->name);

	return c->runtime != CMT_RUNTIME_NONE && len &&
	       (!*c->id || strncmp(c->name, c->id, len));
}

static int row_key(const struct span *span, const struct cmt_usage_row *row, char **key)
{
	const struct cmt_container *c = row->container;
	char user[16] = "-";
	int n;

	if (c && c->flags & CMT_CONTAINER_OF_USER)
		snprintf(user, sizeof(user), "%u", c->uid);
	if (row->kind != CMT_USAGE_OWNER)
		n = asprintf(key, "kind %u", row->kind);
	else if (c && c->path && row->owner == CMT_OWNER_RESCTRL)
		n = asprintf(key, "group %s", c->path);
	else if (c && c->path && is_named(c))
		n = asprintf(key, "name %s %u %s", user, c->runtime, c->name);
	else if (c && c->path)
		n = asprintf(key, "path %.*s", (int)c->own_len, c->path);
	else if (row->cgroup_id && row->owner != CMT_OWNER_RESCTRL)
		n = asprintf(key, "id %" PRIu64 " %s", row->cgroup_id,
			     span->about.boot_id);
	else
		n = asprintf(key, "owner %u %u %u", row->owner, row->cpu,
			     row->owner == CMT_OWNER_RESCTRL ? row->rmid : 0);
	return n < 0 ? -ENOMEM : 0;
}

/* Rows of no container have, except that of the RMIDs whose owner's record was lost. */
static bool has_one_rmid(const struct cmt_usage_row *row)
{
	if (row->kind == CMT_USAGE_OWNER)
		return row->owner != CMT_OWNER_CGROUP;
	return row->kind != CMT_USAGE_UNKNOWN;
}

/*
 * A row is a sum over its RMIDs, in each L3 domain.  One that ended in the interval counted in
 * a part of it.  The groups of resctrl that belong to a container are not in its number.
 */
static void add_size(struct diff_sum *sum, const struct export_row *e, uint64_t slots)
{
	uint32_t before = sum->rmids, rmids = e->row->rmids;
	double counters;

	if (has_one_rmid(e->row))
		rmids = 1;
	sum->rmids = rmids;
	counters = (double)(rmids < before ? before : rmids) * e->frame->nr_domains;
	sum->counters += counters * slots;
	sum->unsized += counters > 0 ? 0 : slots;
	if (sum->counters_most < counters)
		sum->counters_most = counters;
}

static void add_occupancy(struct diff_sum *sum, const struct export_row *e)
{
	const struct cmt_usage_occupancy *o = &e->row->occupancy;

	add_size(sum, e, o->slots);
	if (o->slots) {
		sum->held += (double)o->mean_bytes * o->slots;
		sum->slots += o->slots;
		sum->occupancy_partial |= o->partial;
	}
	if (!o->slots && !o->known && !o->most_bytes)
		return;
	sum->most_known = true;
	sum->most_partial |= o->partial;
	if (sum->most < o->most_bytes)
		sum->most = o->most_bytes;
}

static void add_rate(struct diff_sum *sum, const struct cmt_usage_rate *r,
		     uint64_t length_ns)
{
	double length = (double)length_ns;

	if (!r->known || !isfinite(r->rate))
		return;
	sum->rated_ns += length_ns;
	sum->moved += r->rate * length;
	sum->moved_lo += r->lo * length;
	sum->moved_hi += r->hi * length;
	sum->rate_partial |= r->partial;
}

static void add_counters(struct diff_sum *sum, const struct cmt_usage_counters *c,
			 uint64_t length_ns)
{
	const uint32_t both = CMT_F_CYCLES | CMT_F_INSTRUCTIONS;

	if (c->values & CMT_F_LLC_MISSES) {
		sum->missed_ns += length_ns;
		sum->misses += (double)c->llc_misses;
		sum->misses_partial |= !!(c->bounds & CMT_F_LLC_MISSES);
	}
	if ((c->values & both) == both && isfinite(c->ipc)) {
		/* without an instruction the ratio does not say of how many cycles it is */
		sum->cycles += c->ipc > 0 ? (double)c->instructions / c->ipc :
					    (double)c->cycles;
		sum->instructions += (double)c->instructions;
	}
}

static int add_row(struct diff *diff, unsigned int side, struct export_row *e)
{
	uint64_t length_ns = e->frame->end_ns - e->frame->start_ns;
	struct diff_row *row;
	struct diff_sum *sum;
	char *key;

	if (row_key(&diff->spans[side], e->row, &key))
		return -ENOMEM;
	row = keys_get(&diff->rows, key);
	free(key);
	if (!row)
		return -ENOMEM;
	if (!*row->name) {
		export_row_name(e);
		memcpy(row->name, e->name, sizeof(row->name));
	}
	sum = &row->sums[side];
	sum->several |= sum->frame == diff->frames[side];
	if (sum->frame != diff->frames[side])
		sum->length_ns += length_ns;
	sum->frame = diff->frames[side];
	add_occupancy(sum, e);
	add_rate(sum, &e->row->total, length_ns);
	add_counters(sum, &e->row->counters, length_ns);
	return 0;
}

static int add_frame(struct diff *diff, unsigned int side,
		     const struct cmt_usage_frame *frame)
{
	struct export_row e = { .frame = frame };
	int ret = 0;

	diff->frames[side]++;
	for (uint32_t i = 0; !ret && i < frame->nr_rows; i++) {
		e.row = cmt_usage_row_at(frame, i);
		ret = add_row(diff, side, &e);
	}
	return ret;
}

int diff_add(struct diff *diff, unsigned int side)
{
	const struct cmt_usage_frame *frame;
	int ret = span_begin(&diff->spans[side]);

	while (!ret && (ret = span_next(&diff->spans[side], &frame)) > 0)
		ret = add_frame(diff, side, frame);
	return ret;
}
