// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slowdowns over the last minute: means of the estimates of single seconds. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_NS	60000000000ULL
#define LEAST		0.0005	/* a smaller mean is not reported */
#define FADED		1e-6	/* a smaller mean is dropped; one estimate is a 240th */
#define MEANS		(2 * CULPRIT_PAIRS)

bool culprit_minute_init(struct culprit_minute *minute)
{
	minute->means = calloc(MEANS, sizeof(*minute->means));
	minute->merged = calloc(MEANS + CULPRIT_PAIRS, sizeof(*minute->merged));
	return minute->means && minute->merged;
}

void culprit_minute_free(struct culprit_minute *minute)
{
	free(minute->means);
	free(minute->merged);
}

int culprit_cmp_pair(const void *pa, const void *pb)
{
	const struct cmt_slowdown *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	return (a->domain > b->domain) - (a->domain < b->domain);
}

static void scale(struct cmt_slowdown *mean, double factor)
{
	mean->share *= factor;
	mean->low *= factor;
	mean->high *= factor;
	mean->most *= factor;
	mean->cpus *= factor;
}

/*
 * Meanwhile cpus is what is lost, share * cpus.  Where that is not known once, it is not until
 * the pair is dropped.
 */
static void add_to(struct cmt_slowdown *mean, const struct cmt_slowdown *now, double weight)
{
	mean->share += weight * now->share;
	mean->low += weight * now->low;
	mean->high += weight * now->high;
	mean->cpus += weight * now->share * now->cpus;
}

/* A new one, with what is left of its past. */
static void push(struct culprit_minute *minute, uint32_t *nr, const struct cmt_slowdown *mean)
{
	if (mean->share >= FADED)
		minute->merged[(*nr)++] = *mean;
}

static int cmp_share(const void *pa, const void *pb)
{
	const struct cmt_slowdown *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return culprit_cmp_pair(pa, pb);
}

/* By victim and resource, the greatest first; its own tasks are last. */
static int cmp_resource(const void *pa, const void *pb)
{
	const struct cmt_slowdown *a = pa, *b = pb;
	bool own_a = a->by == a->id, own_b = b->by == b->id;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	return own_a != own_b ? own_a - own_b : cmp_share(pa, pb);
}

static int cmp_most(const void *pa, const void *pb)
{
	const struct cmt_slowdown *a = pa, *b = pb;

	return a->most != b->most ? (a->most > b->most ? -1 : 1) : culprit_cmp_pair(a, b);
}

/* Bring the first of each victim and resource to the begin.  Returns how many these are. */
static uint32_t firsts_of(struct cmt_slowdown *means, uint32_t nr)
{
	struct cmt_slowdown last = { 0 };
	uint32_t firsts = 0;

	qsort(means, nr, sizeof(*means), cmp_resource);
	for (uint32_t i = 0; i < nr; i++) {
		if (firsts && means[i].id == last.id && means[i].resource == last.resource)
			continue;
		last = means[i];
		means[i] = means[firsts];
		means[firsts++] = last;
	}
	return firsts;
}

/*
 * Keep @room at most: each victim, as in an estimate (struct slowdown_list), and then the
 * greatest.  Returns how many these are, in no order.
 */
static uint32_t keep(struct cmt_slowdown *means, uint32_t nr, uint32_t room)
{
	uint32_t firsts;

	if (nr <= room)
		return nr;
	firsts = firsts_of(means, nr);
	qsort(means, firsts, sizeof(*means), cmp_most);
	qsort(means + firsts, nr - firsts, sizeof(*means), cmp_share);
	return room;
}

/*
 * Read what all others cost @id, by resource, from a list in the order of culprit_cmp_pair();
 * 0: nothing.  Goes on at *@at, behind smaller ids.
 */
static void totals_of(const struct cmt_slowdown *list, uint32_t n, uint32_t *at, uint64_t id,
		      double totals[SLOWDOWN_RESOURCES])
{
	memset(totals, 0, SLOWDOWN_RESOURCES * sizeof(*totals));
	for (; *at < n && list[*at].id <= id; (*at)++)
		if (list[*at].id == id && list[*at].by != id)
			totals[list[*at].resource] = list[*at].most;
}

/* A total is a mean of all the time, also of that in which a pair has nothing of it. */
static void set_totals(struct culprit_minute *minute, uint32_t nr,
		       const struct cmt_slowdown *pairs, uint32_t n, double weight)
{
	double before[SLOWDOWN_RESOURCES], now[SLOWDOWN_RESOURCES];
	uint32_t at_before = 0, at_now = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct cmt_slowdown *mean = &minute->merged[i];

		if (!i || mean[-1].id != mean->id) {
			totals_of(minute->means, minute->nr, &at_before, mean->id, before);
			totals_of(pairs, n, &at_now, mean->id, now);
		}
		mean->most = (1 - weight) * before[mean->resource] + weight * now[mean->resource];
	}
}

/* Both in the order of culprit_cmp_pair() */
static void merge(struct culprit_minute *minute, const struct cmt_slowdown *pairs, uint32_t n,
		  double weight)
{
	uint32_t nr = 0, i = 0, j = 0;

	while (i < minute->nr || j < n) {
		int order = i == minute->nr ? 1 : j == n ? -1 :
			    culprit_cmp_pair(&minute->means[i], &pairs[j]);
		struct cmt_slowdown mean = order <= 0 ? minute->means[i] : pairs[j];

		scale(&mean, order <= 0 ? 1 - weight : 0);
		if (order >= 0)
			add_to(&mean, &pairs[j], weight);
		push(minute, &nr, &mean);
		i += order <= 0;
		j += order >= 0;
	}
	set_totals(minute, nr, pairs, n, weight);
	nr = keep(minute->merged, nr, MEANS);
	qsort(minute->merged, nr, sizeof(*minute->merged), culprit_cmp_pair);
	memcpy(minute->means, minute->merged, nr * sizeof(*minute->means));
	minute->nr = nr;
}

void culprit_minute_add(struct culprit_minute *minute, const struct cmt_slowdown *pairs,
			uint32_t n, uint64_t ns)
{
	double weight = 1 - slowdown_kept((double)ns / MINUTE_NS);

	minute->whole += weight * (1 - minute->whole);
	merge(minute, pairs, n, weight);
}

void culprit_minute_skip(struct culprit_minute *minute, uint64_t ns)
{
	double kept = slowdown_kept((double)ns / MINUTE_NS);

	minute->whole *= kept;
	merge(minute, minute->means, 0, 1 - kept);
}

/* The means are of what there was of the minute. */
int cmt_culprit_slowdown_minute(const struct cmt_culprit *culprit,
				struct cmt_slowdown *slowdowns, uint32_t n)
{
	const struct culprit_minute *minute = &culprit->minute;
	uint32_t nr = minute->nr;
	struct cmt_slowdown *all;

	if (!n)
		return -EINVAL;
	if (!nr)
		return 0;
	all = malloc(nr * sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all, minute->means, nr * sizeof(*all));
	nr = keep(all, nr, CULPRIT_PAIRS);
	qsort(all, nr, sizeof(*all), cmp_share);
	nr = nr < n ? nr : n;
	while (nr && all[nr - 1].share < LEAST * minute->whole)
		nr--;
	for (uint32_t i = 0; i < nr; i++) {
		slowdowns[i] = all[i];
		scale(&slowdowns[i], 1 / minute->whole);
		slowdowns[i].cpus /= slowdowns[i].share;
	}
	free(all);
	return (int)nr;
}
