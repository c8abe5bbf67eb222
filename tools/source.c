// SPDX-License-Identifier: GPL-2.0-or-later
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUMP_NS 200000000ULL
#define COUNT_NS 900000000ULL	/* processes are counted no more often */

uint64_t clock_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Without cgroup v2 there are no names: rows are called by cgroup id. */
static const struct cmt_container *find(const struct source *source,
					uint64_t cgroup_id)
{
	if (!source->containers)
		return NULL;
	return cmt_containers_lookup(source->containers, cgroup_id);
}

static const struct cmt_container *lookup(void *ctx, uint64_t cgroup_id)
{
	return find(ctx, cgroup_id);
}

static void forget(void *ctx, uint64_t cgroup_id)
{
	const struct source *source = ctx;

	if (source->containers)
		cmt_containers_forget(source->containers, cgroup_id);
}

static int open_aggregate(struct source *source, enum aggregate_by by)
{
	const struct cmt_info *info = cmt_device_info(source->dev);
	struct aggregate_opts opts = {
		.by = by,
		.nr_rmids = info->nr_rmids,
		.nr_cpus = info->nr_cpus,
		.l3_bytes = info->l3_bytes,
		.lookup = lookup,
		.forget = forget,
		.ctx = source,
	};

	return aggregate_new(&source->agg, &opts);
}

static int open_slots(struct source *source)
{
	const struct cmt_info *info = cmt_device_info(source->dev);
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.nr_rmids = info->nr_rmids,
		.nr_cpus = info->nr_cpus,
	};

	return cmt_slots_new(&source->slots, &opts, aggregate_slot,
			     source->agg);
}

int source_open(struct source *source, struct cmt_device *dev,
		enum aggregate_by by, const char **what)
{
	int ret;

	*source = (struct source){ .dev = dev };
	cgroup_find(&source->mount);
	*what = "cannot find container names";
	ret = cmt_containers_new(&source->containers, NULL);
	if (ret && ret != -ENOENT)
		goto err;
	*what = "cannot prepare the table";
	ret = open_aggregate(source, by);
	if (!ret)
		ret = open_slots(source);
	if (ret)
		goto err;
	*what = "cannot map the rings";
	ret = cmt_reader_new(&source->reader, dev, NULL);
	if (ret)
		goto err;
	*what = "cannot read who owns the RMIDs";
	ret = cmt_reader_feed(source->reader, source->slots);
	if (ret >= 0)
		return 0;
err:
	source_close(source);
	return ret;
}

void source_close(struct source *source)
{
	cmt_reader_free(source->reader);
	cmt_slots_free(source->slots);
	aggregate_free(source->agg);
	cmt_containers_free(source->containers);
	free(source->counts);
	*source = (struct source){ 0 };
}

int source_pump(struct source *source)
{
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + PUMP_NS;
	int n;

	do {
		n = cmt_reader_feed(source->reader, source->slots);
		if (n <= 0)
			return n;
	} while (clock_ns(CLOCK_MONOTONIC) < deadline_ns);
	return 0;
}

static void report_losses(struct source *source, struct report *report)
{
	struct cmt_reader_counts reader;
	struct cmt_slots_counts slots;

	cmt_reader_counts(source->reader, &reader);
	cmt_slots_counts(source->slots, &slots);
	report->lost_ever = reader.lost;
	report->lost = reader.lost - source->lost;
	report->dropped_ever = reader.late + reader.malformed + slots.late +
			       slots.malformed;
	report->dropped = report->dropped_ever - source->dropped;
	source->lost = report->lost_ever;
	source->dropped = report->dropped_ever;
}

static void feed_cpu_losses(struct source *source)
{
	uint32_t cpu, nr_cpus = cmt_device_info(source->dev)->nr_cpus;
	struct cmt_reader_counts counts;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (!cmt_reader_cpu_counts(source->reader, cpu, &counts))
			aggregate_lost(source->agg, cpu, counts.lost);
}

static void count_row(const struct source *source, const struct row *row,
		      struct head_count *count)
{
	const struct cmt_container *container = row->container;
	char path[PATH_MAX];

	*count = (struct head_count){ .cgroup_id = row->cgroup_id };
	/* the root's are the kernel's threads, too */
	if (!container || !container->path || !strcmp(container->path, "/") ||
	    !source->mount.path[0])
		return;
	cgroup_of_container(path, container->path, container->id);
	count->known = !cgroup_processes(source->mount.path, path,
					 row->whole || container->id[0],
					 &count->processes);
}

static int cmp_count(const void *pa, const void *pb)
{
	const struct head_count *a = pa, *b = pb;

	return a->cgroup_id < b->cgroup_id ? -1 : a->cgroup_id > b->cgroup_id;
}

static int count_processes(struct source *source, const struct frame *frame)
{
	struct head_count *counts;
	uint32_t i;

	counts = reallocarray(source->counts, frame->nr_rows + 1,
			      sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	source->counts = counts;
	source->nr_counts = 0;
	for (i = 0; i < frame->nr_rows; i++)
		if (row_in_cgroup(&frame->rows[i]))
			count_row(source, &frame->rows[i],
				  &counts[source->nr_counts++]);
	qsort(counts, source->nr_counts, sizeof(*counts), cmp_count);
	return 0;
}

/* Reading them costs more than a short interval is worth. */
static int add_processes(struct source *source, const struct frame *frame)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;
	uint32_t i;

	if (!source->counts || now - source->counted_ns >= COUNT_NS) {
		ret = count_processes(source, frame);
		if (ret)
			return ret;
		source->counted_ns = now;
	}
	for (i = 0; i < frame->nr_rows; i++) {
		struct row *row = &frame->rows[i];
		struct head_count key = { .cgroup_id = row->cgroup_id };
		const struct head_count *found;

		if (!row_in_cgroup(row))
			continue;
		found = bsearch(&key, source->counts, source->nr_counts,
				sizeof(key), cmp_count);
		row->processes_known = found && found->known;
		row->processes = found ? found->processes : 0;
	}
	return 0;
}

/*
 * A container may be attached as well, and any other cgroup: the record is the
 * same, and only the name tells.  One that patterns of the user's own make a
 * container counts as attached then, which it is.
 */
static bool is_container(const struct source *source,
			 const struct cmt_owner *owner)
{
	const struct cmt_container *container;

	if (owner->kind != CMT_OWNER_CGROUP || !owner->attached)
		return owner->kind == CMT_OWNER_CGROUP;
	container = find(source, owner->cgroup_id);
	return container && container->path &&
	       cgroup_is_container(container->path);
}

/* Is an owner what the scope is about? */
static bool in_scope(const struct source *source, uint32_t scope,
		     const struct cmt_owner *owner)
{
	switch (scope) {
	case CMT_SCOPE_PROCESS:
		return owner->kind == CMT_OWNER_PROCESS;
	case CMT_SCOPE_CONTAINER:
		return is_container(source, owner);
	case CMT_SCOPE_CPU:
		return owner->kind == CMT_OWNER_CPU;
	default:
		return true;
	}
}

static void count_owners(const struct source *source,
			 const struct cmt_snapshot *snapshot, uint32_t scope,
			 uint32_t *inside, uint32_t *others)
{
	struct cmt_owner owner;
	uint32_t i;

	for (i = 0; i < snapshot->count; i++) {
		if (cmt_record_owner(&snapshot->records[i], &owner) ||
		    owner.kind == CMT_OWNER_REST)
			continue;
		if (in_scope(source, scope, &owner))
			++*inside;
		else
			++*others;
	}
}

/*
 * In process scope the statistics say how many wait: there may be thousands,
 * and to name them the module would have to look at every process.  They say
 * so, too, while more come than can be asked for.
 */
static int take_census(struct source *source, struct report *report)
{
	struct census *census = &report->census;
	struct cmt_snapshot *snapshot;
	int ret = cmt_device_snapshot(source->dev, &snapshot);

	*census = (struct census){ .waiting = report->stats.waiting };
	if (ret)
		return ret;
	count_owners(source, snapshot, report->scope, &census->monitored,
		     &census->attached);
	free(snapshot);
	if (report->scope == CMT_SCOPE_PROCESS)
		return 0;
	ret = cmt_device_waiting(source->dev, &snapshot);
	if (ret == -EAGAIN)
		return 0;
	if (ret)
		return ret;
	census->waiting = 0;
	count_owners(source, snapshot, report->scope, &census->waiting,
		     &census->attached_waiting);
	free(snapshot);
	return 0;
}

static void name_rest(const struct report *report)
{
	uint32_t i;

	for (i = 0; i < report->frame.nr_rows; i++) {
		struct row *row = &report->frame.rows[i];

		if (row->kind != OWNER_REST || row->is_cpu)
			continue;
		row->waiting = report->census.waiting;
		row->waits = scope_noun(report->scope, row->waiting);
		row->waiting_attached = report->census.attached_waiting;
	}
}

static int report_owners(struct source *source, struct report *report)
{
	int ret = cmt_device_scope(source->dev, &report->scope);

	if (!ret)
		ret = take_census(source, report);
	if (ret)
		return ret;
	name_rest(report);
	if (report->frame.by != BY_CONTAINER)
		return 0;
	return add_processes(source, &report->frame);
}

int source_report(struct source *source, struct report *report)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t age;
	int ret;

	report->info = cmt_device_info(source->dev);
	ret = cmt_device_stats(source->dev, &report->stats);
	if (ret)
		return ret;
	feed_cpu_losses(source);
	report_losses(source, report);
	ret = aggregate_close(source->agg, &report->frame);
	if (!ret)
		ret = report_owners(source, report);
	age = report->frame.end_ns ? now - report->frame.end_ns : 0;
	report->realtime_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - age);
	report->emulated = report->frame.emulated ||
			   report->info->backend == CMT_BACKEND_EMULATED;
	return ret;
}
