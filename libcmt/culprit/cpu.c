// SPDX-License-Identifier: LGPL-2.1-or-later
/* The time in which owners did not run: by their cgroups' files, and by a program. */
#include "state.h"

#include <errno.h>

#include <cmt/usage.h>

#define CPU_SHARE	0.05	/* less is no trouble */
#define CPU_KNOWN	(CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STARVED | \
			 CMT_CULPRIT_CPU_STOLEN)

static bool cpu_possible(const struct cmt_culprit_cpu *cpu)
{
	uint64_t span = cpu->end_ns - cpu->start_ns;

	return !(cpu->valid & ~CPU_KNOWN) && !cpu->reserved &&
	       span >= CMT_CPU_SPAN_MIN && span <= CMT_CPU_SPAN_MAX;
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

/* The first cell of an owner, or NULL. */
static struct culprit_cell *cell_of(struct cmt_culprit *culprit, uint64_t id)
{
	for (uint32_t d = 0; d < culprit->nr_domains; d++) {
		uint32_t i = culprit_find(culprit, id, d);

		if (i != CULPRIT_NOBODY)
			return &culprit->cells[i];
	}
	return NULL;
}

static void look_at(struct cmt_culprit *culprit,
		    const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row,
		    const struct cmt_cpu_ticks *ticks)
{
	const struct cmt_container *container = row->container;
	uint64_t id = cmt_culprit_id(frame, row);
	struct culprit_cell *cell;
	struct cmt_culprit_cpu cpu;

	cell = container && container->cgroup_id == id ? cell_of(culprit, id) : NULL;
	if (cell && cmt_cgroup_cpu_since(culprit->root, container, ticks, &cell->cpu, &cpu))
		cmt_culprit_add_cpu(culprit, &cpu);
}

int cmt_culprit_refresh(struct cmt_culprit *culprit,
			const struct cmt_usage_frame *frame, const char *root)
{
	struct cmt_cpu_ticks ticks;

	if (frame->by != CMT_USAGE_BY_CONTAINER)
		return -EINVAL;
	if (culprit->root < 0)
		culprit->root = cmt_cgroup_open(root);
	if (culprit->root < 0)
		return culprit->root;
	cmt_cpu_ticks_since(&culprit->steal, &ticks);
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		look_at(culprit, frame, cmt_usage_row_at(frame, i), &ticks);
	return (int)culprit->queue_nr;
}
