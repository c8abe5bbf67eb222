// SPDX-License-Identifier: LGPL-2.1-or-later
/* For whom tasks waited: the parts by runner (wait.h), as parts by row. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>

int usage_waits_init(struct cmt_usage *usage)
{
	if (!(usage->flags & CMT_USAGE_WAITS) || !usage_by_owner(usage))
		return 0;
	return wait_init(&usage->waits, usage->nr_cpus);
}

int usage_waits_add(struct cmt_usage *usage, uint32_t runner,
		    const struct cmt_slot_perf *p)
{
	if (!usage->waits.nr_cpus)
		return 0;
	return wait_add(&usage->waits, p->cpu, runner, p->ran_ns,
			p->flags & CMT_F_WAITED ? p->waited_ns : 0,
			p->rmid == CMT_RMID_NONE);
}

/* The row of a runner. */
static uint32_t row_of(struct cmt_usage *usage, uint32_t runner)
{
	const struct usage_group *group;

	if (runner == WAIT_UNKNOWN)
		return CMT_USAGE_WAIT_UNKNOWN;
	group = usage_group_now(usage, usage->perf.runners[runner].group);
	return group->measured ? group->row : CMT_USAGE_WAIT_UNKNOWN;
}

static int cmp_pair(const void *pa, const void *pb)
{
	const struct cmt_usage_wait_part *a = pa, *b = pb;
	int ret = usage_cmp(a->row, b->row);

	return ret ? ret : usage_cmp(a->by, b->by);
}

/* By row, and the largest first. */
static int cmp_part(const void *pa, const void *pb)
{
	const struct cmt_usage_wait_part *a = pa, *b = pb;
	int ret = usage_cmp(a->row, b->row);

	if (!ret)
		ret = usage_cmp(b->ns, a->ns);
	return ret ? ret : usage_cmp(a->by, b->by);
}

/* Make one part of those with the same two rows.  Returns their number. */
static uint32_t merge(struct cmt_usage_wait_part *parts, uint32_t nr)
{
	uint32_t i, n = 0;

	for (i = 0; i < nr; i++) {
		if (n && !cmp_pair(&parts[n - 1], &parts[i]))
			parts[n - 1].ns += parts[i].ns;
		else
			parts[n++] = parts[i];
	}
	return n;
}

int usage_waits(struct cmt_usage *usage, struct usage_frame *to)
{
	const struct wait_sums *waits = &usage->waits;
	uint32_t i, nr = 0;

	to->frame.wait_size = sizeof(*to->waits);
	if (cmt_room(&to->waits, &to->room_waits, waits->nr_parts, sizeof(*to->waits)))
		return -ENOMEM;
	for (i = 0; i < waits->nr_parts; i++) {
		struct cmt_usage_wait_part part = {
			.row = row_of(usage, waits->parts[i].victim),
			.by = row_of(usage, waits->parts[i].by),
			.ns = waits->parts[i].ns,
		};

		if (part.row != CMT_USAGE_WAIT_UNKNOWN)
			to->waits[nr++] = part;
	}
	if (nr)
		qsort(to->waits, nr, sizeof(*to->waits), cmp_pair);
	nr = merge(to->waits, nr);
	if (nr)
		qsort(to->waits, nr, sizeof(*to->waits), cmp_part);
	to->frame.waits = to->waits;
	to->frame.nr_waits = nr;
	return 0;
}
