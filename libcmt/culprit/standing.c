// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which owner displaces which one now, also without a change; and the CPU times. */
#include "state.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

#define CPU_MIN_NS	1000000ULL
#define CPU_MAX_NS	60000000000ULL
#define CPU_SHARE	0.05	/* less is no trouble */
#define FLOWS_MAX	1024U
#define CPU_KNOWN	(CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STARVED | \
			 CMT_CULPRIT_CPU_STOLEN)

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

static bool cpu_possible(const struct cmt_culprit_cpu *cpu)
{
	uint64_t span = cpu->end_ns - cpu->start_ns;

	return !(cpu->valid & ~CPU_KNOWN) && !cpu->reserved &&
	       span >= CPU_MIN_NS && span <= CPU_MAX_NS;
}

/* The greatest of the known values.  Returns its part of the time. */
static double worst(const struct cmt_culprit_cpu *cpu,
		    enum cmt_culprit_kind *kind)
{
	const uint64_t ns[] = {
		cpu->throttled_ns, cpu->starved_ns, cpu->stolen_ns,
	};
	uint64_t most = 0;

	*kind = CMT_CULPRIT_NONE;
	for (uint32_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		if (!(cpu->valid >> i & 1) || ns[i] <= most)
			continue;
		most = ns[i];
		*kind = CMT_CULPRIT_THROTTLED + i;
	}
	return (double)most / (double)(cpu->end_ns - cpu->start_ns);
}

int cmt_culprit_add_cpu(struct cmt_culprit *culprit,
			const struct cmt_culprit_cpu *from)
{
	static const struct culprit_list nobody;
	struct cmt_culprit_verdict verdict = { 0 };
	struct cmt_culprit_cpu known, *cpu = &known;
	bool told = false;

	if (cmt_opts_copy(cpu, sizeof(*cpu), from) || !cpu_possible(cpu))
		return -EINVAL;
	verdict.cpu_share = worst(cpu, &verdict.kind);
	if (verdict.cpu_share < CPU_SHARE)
		return (int)culprit->queue_nr;
	verdict.ts_ns = cpu->end_ns;
	verdict.since_ns = cpu->start_ns;
	/* by how much an owner was robbed is an estimate */
	verdict.confidence = verdict.kind == CMT_CULPRIT_STOLEN ? NAN : 1;
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];

		if (!cell->used || cell->id != cpu->id)
			continue;
		/* for as long again as it was observed: the next value will come */
		cell->blamed_ns = cpu->end_ns + (cpu->end_ns - cpu->start_ns);
		if (!told)
			culprit_tell(culprit, cell, &nobody, &verdict);
		told = true;
	}
	return (int)culprit->queue_nr;
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
