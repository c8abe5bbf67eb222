// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which rows a frame has, and of which holdings each one is */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int cmp_holding(const void *pa, const void *pb)
{
	const struct usage_holding *a = *(struct usage_holding *const *)pa;
	const struct usage_holding *b = *(struct usage_holding *const *)pb;
	int ret = usage_cmp(a->group, b->group);

	if (!ret)
		ret = usage_cmp(a->rmid, b->rmid);
	if (!ret)
		ret = usage_cmp(a->generation, b->generation);
	return ret ? ret : usage_cmp(a->domain, b->domain);
}

/* By process, of one container; and as above in it. */
static int cmp_child(const void *pa, const void *pb)
{
	const struct usage_holding *a = *(struct usage_holding *const *)pa;
	const struct usage_holding *b = *(struct usage_holding *const *)pb;
	int ret = usage_cmp(a->child, b->child);

	return ret ? ret : cmp_holding(pa, pb);
}

/* They are few, and in order already but where one came lately. */
static void sort_holdings(struct usage_holding **holdings, uint32_t nr,
			  int (*cmp)(const void *, const void *))
{
	uint32_t i = 1;

	while (i < nr && cmp(&holdings[i - 1], &holdings[i]) <= 0)
		i++;
	if (i < nr)
		qsort(holdings, nr, sizeof(struct usage_holding *), cmp);
}

/* Merge two sorted runs into @to; of a domain, those of the first come first. */
static void merge(struct usage_holding **to, struct usage_holding *const *a, uint32_t nr_a,
		  struct usage_holding *const *b, uint32_t nr_b)
{
	while (nr_a && nr_b) {
		bool first = (*a)->domain <= (*b)->domain;

		*to++ = first ? *a++ : *b++;
		nr_a -= first;
		nr_b -= !first;
	}
	memcpy(to, a, nr_a * sizeof(*to));
	memcpy(to + nr_a, b, nr_b * sizeof(*to));
}

/* The length of the sorted run that @holdings begin with. */
static uint32_t sorted_length(struct usage_holding *const *holdings, uint32_t nr)
{
	uint32_t n = 1;

	while (n < nr && holdings[n - 1]->domain <= holdings[n]->domain)
		n++;
	return n;
}

/*
 * By domain, those of a domain as they were: by RMID.  A row of many RMIDs has many
 * holdings, sorted by domain for each RMID.  @spare has room for all.
 */
static void sort_by_domain(struct usage_holding **holdings, uint32_t nr,
			   struct usage_holding **spare)
{
	uint32_t i, a, b;

	while (sorted_length(holdings, nr) < nr) {
		for (i = 0; i < nr; i += a + b) {
			a = sorted_length(holdings + i, nr - i);
			b = i + a < nr ? sorted_length(holdings + i + a, nr - i - a) : 0;
			merge(spare + i, holdings + i, a, holdings + i + a, b);
		}
		memcpy(holdings, spare, nr * sizeof(*holdings));
	}
}

/* How many holdings of @run, of @nr, are of the same child as the first. */
static uint32_t child_length(struct usage_holding *const *run, uint32_t nr)
{
	uint32_t n = 1;

	while (n < nr && run[n]->child == run[0]->child)
		n++;
	return n;
}

/* Values from before the second domain appeared have no parts in this interval. */
static bool have_parts(struct usage_holding *const *run, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr && run[i]->child != USAGE_NONE; i++)
		;
	return i == nr;
}

/* The domain of a row, or a process of a container that has a dedicated RMID */
static int build_child(struct cmt_usage *usage, struct usage_frame *to,
		       struct usage_holding *const *run, uint32_t n)
{
	struct cmt_usage_row *child = usage_row_new(&to->children);

	if (!child)
		return -ENOMEM;
	usage_row_fill(usage, to, child, run, n, run[0]->child);
	if (!usage_in_parts(usage))
		return 0;
	usage_row_of_container(usage, child);
	child->flags |= CMT_USAGE_ROW_PART;
	child->domain = run[0]->domain;
	child->l3_bytes = usage->l3_bytes;
	return 0;
}

/* Has the part something that a brief frame must have?  Or another agent counts for it. */
static bool is_part_new(struct cmt_usage *usage, struct usage_holding *const *run, uint32_t n)
{
	bool any = usage_group_now(usage, run[0]->child)->counts;
	uint32_t i;

	for (i = 0; !any && i < n; i++)
		any = run[i]->blank || usage_brief_news(usage, run[i]) ||
		      run[i]->flags & CMT_F_PQR_OVERWRITTEN;
	return any;
}

/*
 * Of a brief frame: drop the parts with nothing new, unless that are all.  Returns how many
 * holdings are left.
 */
static uint32_t drop_parts(struct cmt_usage *usage, struct usage_holding **run, uint32_t nr)
{
	uint32_t i, n, kept = 0;

	for (i = 0; i < nr; i += n) {
		n = child_length(run + i, nr - i);
		if (!is_part_new(usage, run + i, n))
			continue;
		memmove(run + kept, run + i, n * sizeof(*run));
		kept += n;
	}
	return kept ? kept : nr;
}

/* The parts of the last row by domain, or its processes.  @spare has room for @nr. */
static int build_children(struct cmt_usage *usage, struct usage_frame *to,
			  struct usage_holding **run, uint32_t nr,
			  struct usage_holding **spare)
{
	struct cmt_usage_row *parent = &to->rows.rows[to->rows.nr - 1];
	uint32_t i, n;
	int err = 0;

	if (usage_in_parts(usage) && !have_parts(run, nr))
		return 0;
	parent->first_child = to->children.nr;
	if (usage_in_parts(usage))
		sort_by_domain(run, nr, spare);
	else
		sort_holdings(run, nr, cmp_child);
	if (usage->brief && usage_in_parts(usage))
		nr = drop_parts(usage, run, nr);
	for (i = 0; !err && i < nr; i += n) {
		n = child_length(run + i, nr - i);
		if (run[i]->child != USAGE_NONE)
			err = build_child(usage, to, run + i, n);
	}
	parent->nr_children = to->children.nr - parent->first_child;
	return err;
}

static int build_row(struct cmt_usage *usage, struct usage_frame *to,
		     struct usage_holding **run, uint32_t n, struct usage_holding **spare)
{
	struct cmt_usage_row *row = usage_row_new(&to->rows);

	if (!row)
		return -ENOMEM;
	usage_group_measured(usage, run[0]->group, to->rows.nr - 1);
	usage_row_fill(usage, to, row, run, n, run[0]->group);
	usage_row_of_container(usage, row);
	return build_children(usage, to, run, n, spare);
}

/* Is the row of the holding in this frame? */
static bool has_row(struct cmt_usage *usage, const struct usage_holding *h)
{
	if (!usage_seen(usage, h) || usage_in_cpu_row(usage, h))
		return false;
	return !usage->brief || usage_group_now(usage, h->group)->wanted;
}

/* List the holdings of the rows. */
static uint32_t list_holdings(struct cmt_usage *usage,
			      struct usage_holding **list)
{
	uint32_t i, nr = 0;

	if (usage->brief)
		usage_brief_want(usage);
	if (usage_in_chains(usage))
		nr = usage_brief_list(usage, list, usage->nr_holdings);
	else
		for (i = 0; i < usage->nr_holdings; i++)
			if (has_row(usage, &usage->holdings[i]))
				list[nr++] = &usage->holdings[i];
	for (i = 0; i < usage->perf.nr_blanks; i++)
		list[nr++] = &usage->perf.blanks[i];
	return nr;
}

/* Stable, by counting: @at has room for a number of each group, and one more. */
static void sort_by_group(const struct cmt_usage *usage,
			  struct usage_holding *const *list, uint32_t nr,
			  struct usage_holding **sorted, uint32_t *at)
{
	uint32_t i;

	memset(at, 0, (usage->nr_groups + 1) * sizeof(*at));
	for (i = 0; i < nr; i++)
		at[list[i]->group + 1]++;
	for (i = 0; i < usage->nr_groups; i++)
		at[i + 1] += at[i];
	for (i = 0; i < nr; i++)
		sorted[at[list[i]->group]++] = list[i];
}

/* Room to sort all holdings. */
static int make_room(struct cmt_usage *usage)
{
	size_t most = (size_t)usage->nr_holdings + usage->perf.nr_blanks + 1;
	struct usage_holding **sorted;
	uint32_t *places;

	sorted = reallocarray(usage->sorted, 2 * most, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	usage->sorted = sorted;
	places = reallocarray(usage->places, (size_t)usage->nr_groups + 1,
			      sizeof(*places));
	if (!places)
		return -ENOMEM;
	usage->places = places;
	return 0;
}

static int build_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	struct usage_holding **sorted, **spare;
	uint32_t i, n, nr;
	int err = make_room(usage);

	if (err)
		return err;
	spare = usage->sorted;
	sorted = spare + usage->nr_holdings + usage->perf.nr_blanks + 1;
	nr = list_holdings(usage, sorted);
	if (!usage_in_chains(usage) || usage->perf.nr_blanks) {
		sort_by_group(usage, sorted, nr, spare, usage->places);
		sorted = usage->sorted;
		spare = sorted + usage->nr_holdings + usage->perf.nr_blanks + 1;
	}
	for (i = 0; !err && i < nr; i += n) {
		for (n = 1; i + n < nr && sorted[i + n]->group == sorted[i]->group;)
			n++;
		sort_holdings(sorted + i, n, cmp_holding);
		err = build_row(usage, to, sorted + i, n, spare);
	}
	return err;
}

/* Only groups of cgroups have pending owners, and only by container. */
static int build_pending_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	uint32_t i;
	int err = 0;

	if (usage->by != CMT_USAGE_BY_CONTAINER || !usage->nr_pending)
		return 0;
	for (i = 0; !err && i < usage->nr_groups; i++) {
		const struct usage_group *group = usage_group_now(usage, i);

		if (group->pending && !group->measured)
			err = usage_row_pending(usage, to, group);
	}
	return err;
}

/*
 * The CPUs, and where CPUs have RMIDs of their own whatever else there is, so that all
 * rows are the cache.
 */
static int build_cpu_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	bool owners;
	int err = usage_cpu_rows(usage, to, &owners);

	return !err && owners ? build_rows(usage, to) : err;
}

int usage_rows(struct cmt_usage *usage, struct usage_frame *to)
{
	int err = usage_group_pending(usage);

	usage_brief_decide(usage, &to->frame);
	usage_holdings_end(usage, &to->frame.emulated);
	if (usage->narrow && usage->slots_now > 1)
		usage_brief_sums(usage);
	if (!err)
		err = usage_perf_end(usage);
	if (!err)
		err = usage->by == CMT_USAGE_BY_CPU ?
		      build_cpu_rows(usage, to) : build_rows(usage, to);
	if (!err)
		err = build_pending_rows(usage, to);
	return err ? err : usage_mark_borrowed(usage, to);
}
