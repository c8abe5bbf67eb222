// SPDX-License-Identifier: LGPL-2.1-or-later
/* The time in which cgroups did not run, between two readings of their files. */
#include "state.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <cmt/usage.h>

#include "cgroup/cgroup.h"

#define LOOK_MIN_NS	1000000ULL	/* as cmt_culprit_add_cpu() has them */
#define LOOK_MAX_NS	60000000000ULL

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The count between two readings, at most @most.  False: it is unknown. */
static bool counted(uint64_t before, uint64_t now, uint64_t most, uint64_t *ns)
{
	*ns = now >= before ? least(now - before, most) : 0;
	return now >= before;
}

/*
 * The time that the quota took is counted on each CPU.  So it is at most the time in
 * which no task of the cgroup ran; in the rest of that time other tasks had the CPUs.
 */
static void add_waits(struct cmt_culprit_cpu *to, const struct culprit_cpu *was,
		      const struct culprit_cpu *now)
{
	uint32_t known = was->known & now->known;
	uint64_t span = now->ts_ns - was->ts_ns, full = span;
	bool waited = known & CULPRIT_FILE_FULL &&
		      counted(was->full_ns, now->full_ns, span, &full);
	bool quota = known & CULPRIT_FILE_THROTTLED &&
		     counted(was->throttled_ns, now->throttled_ns,
			     waited ? full : span, &to->throttled_ns);

	if (quota)
		to->valid |= CMT_CULPRIT_CPU_THROTTLED;
	if (!waited)
		return;
	to->valid |= CMT_CULPRIT_CPU_STARVED;
	to->starved_ns = full - to->throttled_ns;
}

/* By the CPU time that it had: as much was taken of each part of that. */
static void add_stolen(struct cmt_culprit_cpu *to, const struct culprit_cpu *was,
		       const struct culprit_cpu *now,
		       const struct culprit_steal *ticks)
{
	uint64_t used = 0;
	double stolen;

	if (!(was->known & now->known & CULPRIT_FILE_USED) || !ticks->busy ||
	    !counted(was->used_ns, now->used_ns, UINT64_MAX, &used))
		return;
	stolen = (double)used * (double)ticks->stolen / (double)ticks->busy;
	to->valid |= CMT_CULPRIT_CPU_STOLEN;
	to->stolen_ns = stolen < (double)(now->ts_ns - was->ts_ns) ?
			(uint64_t)stolen : now->ts_ns - was->ts_ns;
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

bool culprit_look(int root, const struct cmt_container *container,
		  const struct culprit_steal *ticks, struct culprit_cpu *kept,
		  struct cmt_culprit_cpu *cpu)
{
	struct culprit_cpu was = *kept, now;

	*cpu = (struct cmt_culprit_cpu){ .sz = sizeof(*cpu) };
	if (!container->path ||
	    !culprit_read_cgroup(root, container->path, container->own_len,
				 container->cgroup_id, &now))
		return false;
	now.ts_ns = now_ns();
	*kept = now;
	if (!was.ts_ns || now.ts_ns - was.ts_ns < LOOK_MIN_NS ||
	    now.ts_ns - was.ts_ns > LOOK_MAX_NS)
		return false;
	cpu->id = container->cgroup_id;
	cpu->start_ns = was.ts_ns;
	cpu->end_ns = now.ts_ns;
	add_waits(cpu, &was, &now);
	add_stolen(cpu, &was, &now, ticks);
	return true;
}

void culprit_look_at_machine(struct culprit_steal *kept, struct culprit_steal *ticks)
{
	struct culprit_steal was = *kept, now;

	*ticks = (struct culprit_steal){ 0 };
	if (!culprit_read_steal(&now))
		return;
	*kept = now;
	if (!was.busy || now.busy < was.busy || now.stolen < was.stolen)
		return;
	ticks->busy = now.busy - was.busy;
	ticks->stolen = now.stolen - was.stolen;
}

static void look_at(struct cmt_culprit *culprit,
		    const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row,
		    const struct culprit_steal *ticks)
{
	const struct cmt_container *container = row->container;
	uint64_t id = cmt_culprit_id(frame, row);
	struct culprit_cell *cell;
	struct cmt_culprit_cpu cpu;

	cell = container && container->cgroup_id == id ? cell_of(culprit, id) : NULL;
	if (cell && culprit_look(culprit->root, container, ticks, &cell->cpu, &cpu))
		cmt_culprit_add_cpu(culprit, &cpu);
}

int cmt_culprit_refresh(struct cmt_culprit *culprit,
			const struct cmt_usage_frame *frame, const char *root)
{
	struct culprit_steal ticks;

	if (frame->by != CMT_USAGE_BY_CONTAINER)
		return -EINVAL;
	if (culprit->root < 0)
		culprit->root = cmt_cgroup_open(root);
	if (culprit->root < 0)
		return culprit->root;
	culprit_look_at_machine(&culprit->steal, &ticks);
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		look_at(culprit, frame, cmt_usage_row_at(frame, i), &ticks);
	return (int)culprit->queue_nr;
}
