// SPDX-License-Identifier: LGPL-2.1-or-later
/* For whom tasks waited: the parts by runner (wait.h), as parts by row. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int usage_waits_init(struct cmt_usage *usage)
{
	if (!(usage->flags & CMT_USAGE_WAITS) || !usage_by_owner(usage))
		return 0;
	return wait_init(&usage->waits, usage->nr_cpus);
}

int usage_waits_add(struct cmt_usage *usage, uint32_t runner,
		    const struct cmt_slot_perf *p)
{
	return wait_add(&usage->waits, p->cpu, runner, p->ran_ns,
			p->flags & CMT_F_WAITED ? p->waited_ns : 0,
			p->rmid == CMT_RMID_NONE);
}

/* The rows of all runners. */
static void find_rows(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->perf.nr_runners; i++) {
		struct usage_runner *runner = &usage->perf.runners[i];
		const struct usage_group *group = usage_group_now(usage, runner->group);

		runner->row = group->measured ? group->row : CMT_USAGE_WAIT_UNKNOWN;
	}
}

static uint32_t row_of(const struct cmt_usage *usage, uint32_t runner)
{
	return runner == WAIT_UNKNOWN ? CMT_USAGE_WAIT_UNKNOWN :
					usage->perf.runners[runner].row;
}

/* The largest first. */
static int cmp_part(const void *pa, const void *pb)
{
	const struct cmt_usage_wait_part *a = pa, *b = pb;
	int ret = usage_cmp(b->ns, a->ns);

	return ret ? ret : usage_cmp(a->by, b->by);
}

/*
 * The parts of runners as parts of rows, by row.  Sorted by counting: they are many in each
 * millisecond.  @at: [rows + 1], on return where the parts of each row end.
 */
static void list_parts(const struct cmt_usage *usage, struct cmt_usage_wait_part *to,
		       uint32_t *at, uint32_t rows)
{
	const struct wait_sums *waits = &usage->waits;
	uint32_t i, row;

	memset(at, 0, (rows + 1) * sizeof(*at));
	for (i = 0; i < waits->nr_parts; i++) {
		row = row_of(usage, waits->parts[i].victim);
		if (row != CMT_USAGE_WAIT_UNKNOWN)
			at[row + 1]++;
	}
	for (i = 0; i < rows; i++)
		at[i + 1] += at[i];
	for (i = 0; i < waits->nr_parts; i++) {
		row = row_of(usage, waits->parts[i].victim);
		if (row != CMT_USAGE_WAIT_UNKNOWN)
			to[at[row]++] = (struct cmt_usage_wait_part){
				.row = row, .by = row_of(usage, waits->parts[i].by),
				.ns = waits->parts[i].ns,
			};
	}
}

/*
 * Add the @nr parts of a row to @to, which has @n: one for each row that ran.  @last: by
 * row, and behind these the unknown one: 1 + the index of its last part in @to.  Returns how
 * many @to has.
 */
static uint32_t merge_parts(struct cmt_usage_wait_part *to, uint32_t n,
			    const struct cmt_usage_wait_part *parts, uint32_t nr,
			    uint32_t *last, uint32_t rows)
{
	uint32_t i, first = n;

	for (i = 0; i < nr; i++) {
		uint32_t by = parts[i].by == CMT_USAGE_WAIT_UNKNOWN ? rows : parts[i].by;

		if (last[by] > first) {
			to[last[by] - 1].ns += parts[i].ns;
			continue;
		}
		to[n++] = parts[i];
		last[by] = n;
	}
	if (n - first > 1)
		qsort(to + first, n - first, sizeof(*to), cmp_part);
	return n;
}

/* Room for all parts twice, and for two numbers of each row. */
static int make_room(struct usage_frame *to, uint32_t parts)
{
	if (cmt_array_reserve(&to->waits, &to->room_waits, 2 * parts, sizeof(*to->waits)))
		return -ENOMEM;
	return cmt_array_reserve(&to->waits_at, &to->room_waits_at, 2 * (to->rows.nr + 1),
				 sizeof(*to->waits_at));
}

int usage_waits(struct cmt_usage *usage, struct usage_frame *to)
{
	uint32_t i, n = 0, first = 0, rows = to->rows.nr, parts = usage->waits.nr_parts;
	struct cmt_usage_wait_part *all;
	uint32_t *at, *last;

	to->frame.wait_size = sizeof(*to->waits);
	if (!parts)
		return 0;
	if (make_room(to, parts))
		return -ENOMEM;
	all = to->waits + parts;
	at = to->waits_at;
	last = at + rows + 1;
	find_rows(usage);
	list_parts(usage, all, at, rows);
	memset(last, 0, (rows + 1) * sizeof(*last));
	for (i = 0; i < rows; first = at[i++])
		n = merge_parts(to->waits, n, all + first, at[i] - first, last, rows);
	to->frame.waits = to->waits;
	to->frame.nr_waits = n;
	return 0;
}
