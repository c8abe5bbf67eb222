// SPDX-License-Identifier: LGPL-2.1-or-later
/* The time in which cgroups did not run, between two readings of their files. */
#include "cpu_files.h"

#include <cmt/containers.h>

#include "base/base.h"

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
 * The part of @span in which a cgroup did not run, of a time @off_ns that is a sum over all its
 * CPUs, of which it used @used_ns.
 */
static uint64_t of_all_cpus(uint64_t off_ns, uint64_t used_ns, uint64_t span)
{
	double wanted = (double)off_ns + (double)used_ns;

	return wanted <= (double)span ? off_ns :
	       (uint64_t)((double)off_ns * (double)span / wanted);
}

/*
 * The time that the quota took is counted on each CPU.  So it is at most the time in
 * which no task of the cgroup ran.
 */
static void add_throttled(struct cmt_culprit_cpu *to, const struct cmt_cgroup_cpu *was,
		      const struct cmt_cgroup_cpu *now)
{
	uint32_t known = was->known & now->known;
	uint64_t span = now->ts_ns - was->ts_ns, full = 0, used = 0;
	bool waited = known & CMT_CGROUP_FULL &&
		      counted(was->full_ns, now->full_ns, span, &full);
	bool ran = known & CMT_CGROUP_USED &&
		   counted(was->used_ns, now->used_ns, UINT64_MAX, &used);

	if (!(known & CMT_CGROUP_THROTTLED) || !(waited || ran) ||
	    !counted(was->throttled_ns, now->throttled_ns, waited ? full : UINT64_MAX,
		     &to->throttled_ns))
		return;
	if (!waited)
		to->throttled_ns = of_all_cpus(to->throttled_ns, used, span);
	to->valid |= CMT_CULPRIT_CPU_THROTTLED;
}

/* By the CPU time that it had: as much was taken of each part of that. */
static void add_stolen(struct cmt_culprit_cpu *to, const struct cmt_cgroup_cpu *was,
		       const struct cmt_cgroup_cpu *now,
		       const struct cmt_cpu_ticks *ticks)
{
	uint64_t used = 0;
	double stolen;

	if (!(was->known & now->known & CMT_CGROUP_USED) || !ticks->busy ||
	    !counted(was->used_ns, now->used_ns, UINT64_MAX, &used))
		return;
	stolen = (double)used * (double)ticks->stolen / (double)ticks->busy;
	to->valid |= CMT_CULPRIT_CPU_STOLEN;
	to->stolen_ns = of_all_cpus((uint64_t)stolen, used, now->ts_ns - was->ts_ns);
}

void cmt_cpu_turn_begin(struct cmt_cpu_turn *turn, int root, struct cmt_cpu_ticks *kept)
{
	*turn = (struct cmt_cpu_turn){ .root = root };
	cmt_cpu_ticks_since(kept, &turn->ticks);
}

bool cmt_cgroup_cpu_since(struct cmt_cpu_turn *turn, const struct cmt_container *container,
			  struct cmt_cgroup_cpu *kept, struct cmt_culprit_cpu *cpu)
{
	struct cmt_cgroup_cpu was = *kept, now;

	*cpu = (struct cmt_culprit_cpu){ .sz = sizeof(*cpu) };
	if (!container->path ||
	    !cmt_cgroup_cpu_read(turn, container->path, container->own_len,
				 container->cgroup_id, &now))
		return false;
	now.ts_ns = cmt_now_ns();
	*kept = now;
	if (!was.ts_ns || now.ts_ns - was.ts_ns < CMT_CPU_SPAN_MIN ||
	    now.ts_ns - was.ts_ns > CMT_CPU_SPAN_MAX)
		return false;
	cpu->id = container->cgroup_id;
	cpu->start_ns = was.ts_ns;
	cpu->end_ns = now.ts_ns;
	add_throttled(cpu, &was, &now);
	add_stolen(cpu, &was, &now, &turn->ticks);
	return true;
}

void cmt_cpu_ticks_since(struct cmt_cpu_ticks *kept, struct cmt_cpu_ticks *ticks)
{
	struct cmt_cpu_ticks was = *kept, now;

	*ticks = (struct cmt_cpu_ticks){ 0 };
	if (!cmt_cpu_ticks_read(&now))
		return;
	*kept = now;
	if (!was.busy || now.busy < was.busy || now.stolen < was.stolen)
		return;
	ticks->busy = now.busy - was.busy;
	ticks->stolen = now.stolen - was.stolen;
}
