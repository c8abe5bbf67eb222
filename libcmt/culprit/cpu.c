// SPDX-License-Identifier: LGPL-2.1-or-later
/* The time in which a quota or the hypervisor kept owners from running. */
#include "state.h"

#include <errno.h>

#include <cmt/usage.h>

#define CPU_KNOWN	(CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STOLEN)

static bool cpu_possible(const struct cmt_culprit_cpu *cpu)
{
	uint64_t span = cpu->end_ns - cpu->start_ns;

	return !(cpu->valid & ~CPU_KNOWN) && !cpu->reserved &&
	       span >= CMT_CPU_SPAN_MIN && span <= CMT_CPU_SPAN_MAX;
}

/* The greater of the known values, in ns.  It may cover some more time than @cpu has. */
static uint64_t worst(const struct cmt_culprit_cpu *cpu, enum cmt_culprit_kind *kind)
{
	uint64_t throttled = cpu->valid & CMT_CULPRIT_CPU_THROTTLED ? cpu->throttled_ns : 0;
	uint64_t stolen = cpu->valid & CMT_CULPRIT_CPU_STOLEN ? cpu->stolen_ns : 0;

	*kind = stolen > throttled ? CMT_CULPRIT_STOLEN : CMT_CULPRIT_THROTTLED;
	return stolen > throttled ? stolen : throttled;
}

/* For as long again as it was observed, a pause is not a loss of cache. */
static void blame(struct cmt_culprit *culprit, const struct cmt_culprit_cpu *cpu)
{
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];

		if (cell->used && cell->id == cpu->id)
			cell->blamed_ns = cpu->end_ns + (cpu->end_ns - cpu->start_ns);
	}
}

/* An owner that is followed: it was in a frame, or has a cell.  NULL: it is not. */
static struct culprit_owner *owner_of(struct cmt_culprit *culprit, uint64_t id)
{
	struct culprit_owner *owner = culprit_owner_find(culprit, id);

	for (uint32_t d = 0; !owner && d < culprit->nr_domains; d++)
		if (culprit_find(culprit, id, d) != CULPRIT_NOBODY)
			owner = culprit_owner_add(culprit, id);
	return owner;
}

int cmt_culprit_add_cpu(struct cmt_culprit *culprit,
			const struct cmt_culprit_cpu *from)
{
	struct cmt_culprit_verdict verdict = { 0 };
	struct cmt_culprit_cpu known, *cpu = &known;
	struct culprit_owner *owner;

	if (cmt_opts_copy(cpu, sizeof(*cpu), from) || !cpu_possible(cpu))
		return -EINVAL;
	owner = owner_of(culprit, cpu->id);
	verdict.cpu_share = slowdown_least((double)worst(cpu, &verdict.kind) /
					   (double)(cpu->end_ns - cpu->start_ns), 1);
	if (!owner || verdict.cpu_share < CULPRIT_CPU_SHARE)
		return (int)culprit->queue_nr;
	verdict.ts_ns = cpu->end_ns;
	verdict.since_ns = cpu->start_ns;
	/* by how much an owner was robbed is an estimate */
	verdict.confidence = verdict.kind == CMT_CULPRIT_STOLEN ? NAN : 1;
	blame(culprit, cpu);
	culprit_report_cpu(culprit, owner, &verdict);
	return (int)culprit->queue_nr;
}

static void add_row(struct cmt_culprit *culprit,
		    const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row, struct cmt_cpu_turn *turn)
{
	const struct cmt_container *container = row->container;
	uint64_t id = cmt_culprit_id(frame, row);
	struct culprit_owner *owner;
	struct cmt_culprit_cpu cpu;

	owner = container && container->cgroup_id == id ? owner_of(culprit, id) : NULL;
	if (owner && cmt_cgroup_cpu_since(turn, container, &owner->cpu, &cpu))
		cmt_culprit_add_cpu(culprit, &cpu);
}

int cmt_culprit_refresh(struct cmt_culprit *culprit,
			const struct cmt_usage_frame *frame, const char *root)
{
	struct cmt_cpu_turn turn;

	if (frame->by != CMT_USAGE_BY_CONTAINER)
		return -EINVAL;
	if (culprit->root < 0)
		culprit->root = cmt_cgroup_open(root);
	if (culprit->root < 0)
		return culprit->root;
	cmt_cpu_turn_begin(&turn, culprit->root, &culprit->steal);
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		add_row(culprit, frame, cmt_usage_row_at(frame, i), &turn);
	return (int)culprit->queue_nr;
}
