// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which owner displaces which one now, also without a change. */
#include "state.h"

#include <errno.h>
#include <string.h>

#define FLOWS_MAX	1024U

static void add_flow(struct cmt_culprit_flow *flows, uint32_t *nr, uint32_t n,
		     const struct cmt_culprit_flow *flow)
{
	uint32_t i;

	if (*nr < n)
		(*nr)++;
	else if (flows[n - 1].bytes >= flow->bytes)
		return;
	for (i = *nr - 1; i && flows[i - 1].bytes < flow->bytes; i--)
		flows[i] = flows[i - 1];
	flows[i] = *flow;
}

/* The cell's loss, divided by the parts of the traffic of its domain */
static void flows_of(const struct cmt_culprit *culprit,
		     const struct culprit_cell *cell, float traffic,
		     struct cmt_culprit_flow *flows, uint32_t *nr, uint32_t n)
{
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		const struct culprit_cell *by = &culprit->cells[i];
		struct cmt_culprit_flow flow = {
			.id = cell->id, .by = by->id, .domain = cell->domain,
		};
		float kib;

		if (!by->used || by->calm || by == cell || by->domain != cell->domain ||
		    by->rate_mean <= 0)
			continue;
		kib = cell->lost_mean * by->rate_mean / traffic;
		flow.bytes = (uint64_t)((double)kib * 1024 * 1000);
		if (flow.bytes)
			add_flow(flows, nr, n, &flow);
	}
}

static float mean_traffic(const struct cmt_culprit *culprit, uint32_t domain)
{
	float sum = 0;

	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		const struct culprit_cell *cell = &culprit->cells[i];

		if (cell->used && !cell->calm && cell->domain == domain)
			sum += cell->rate_mean;
	}
	return sum;
}

int cmt_culprit_standing(const struct cmt_culprit *culprit,
			 struct cmt_culprit_flow *flows, uint32_t n)
{
	uint32_t nr = 0;

	if (!n || n > FLOWS_MAX)
		return -EINVAL;
	for (uint32_t d = 0; d < culprit->nr_domains; d++) {
		float traffic = mean_traffic(culprit, d);

		for (uint32_t i = 0; i < culprit->nr_used && traffic > 0; i++) {
			const struct culprit_cell *cell = &culprit->cells[i];

			if (cell->used && !cell->calm && cell->domain == d &&
			    cell->lost_mean > 0 &&
			    !(cell->flags & CMT_CULPRIT_NO_VICTIM))
				flows_of(culprit, cell, traffic, flows, &nr, n);
		}
	}
	return (int)nr;
}

int cmt_culprit_counts(const struct cmt_culprit *culprit,
		       struct cmt_culprit_counts *counts)
{
	struct cmt_culprit_counts now = {
		.slots = culprit->slots,
		.samples = culprit->samples,
		.verdicts = culprit->verdicts,
		.missing = culprit->missing,
		.not_followed = culprit->not_followed,
		.not_told = culprit->not_told,
		.owners = culprit->nr_owners,
	};

	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		const struct culprit_cell *cell = &culprit->cells[i];

		/* the usual values of an owner that is only idle are clear */
		now.learning += cell->used && !cell->known && !cell->calm;
	}
	return cmt_out_copy(counts, &now, sizeof(now));
}
