// SPDX-License-Identifier: GPL-2.0-or-later
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/origin.h"

#define COUNT_NS 900000000ULL	/* processes are counted no more often */

/* May wait for a disk. */
static const struct cmt_container *find(const struct source *source,
					uint64_t cgroup_id)
{
	return cmt_containers_lookup(cmt_usage_containers(source->usage),
				     cgroup_id);
}

/* The part of cmt_usage_refresh() for a usage without a device */
static void ask_pending(struct source *source)
{
	struct cmt_snapshot *pending;

	if (cmt_device_pending(source->dev, &pending)) {
		cmt_usage_set_pending(source->usage, NULL);
		return;
	}
	cmt_usage_set_pending(source->usage, pending);
	cmt_snapshot_free(pending);
}

/*
 * In process scope, find the containers with pending processes.  The module visits
 * every process for it, so this is done seldom, and only when there are some.  A failed
 * count is unknown, and no failure.
 */
static void refresh_pending(struct source *source)
{
	static const struct cmt_snapshot none;
	struct cmt_stats stats = { .size = sizeof(stats) };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint32_t scope;

	if (source->by != VIEW_CONTAINER ||
	    (source->pending_ns && now - source->pending_ns < COUNT_NS) ||
	    cmt_device_scope(source->dev, &scope) ||
	    scope != CMT_SCOPE_PROCESS ||
	    cmt_device_stats(source->dev, &stats))
		return;
	source->pending_ns = now;
	if (!stats.pending)
		cmt_usage_set_pending(source->usage, &none);
	else if (source->on_demand)
		ask_pending(source);
	else
		cmt_usage_refresh(source->usage, CMT_USAGE_PENDING);
}

static void refresh(struct source *source)
{
	if (source->replay)
		return;
	cmt_usage_refresh(source->usage, CMT_USAGE_NAMES);
	refresh_pending(source);
}

int source_open(struct source *source, struct cmt_device *dev,
		enum view by, uint32_t children, uint64_t interval_ns,
		uint32_t counters, bool on_demand)
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .device = dev,
		.by = by == VIEW_CHANNEL ? CMT_USAGE_BY_DOMAIN : (uint32_t)by,
		.interval_ns = interval_ns, .counters = counters,
		.flags = children,
	};
	int ret;

	*source = (struct source){
		.dev = dev, .by = by, .children = children, .counters = counters,
		.on_demand = on_demand,
	};
	cgroup_find(&source->mount);
	if (on_demand) {
		ret = light_reader_open(&source->light, dev, &opts);
		source->usage = source->light.usage;
	} else {
		ret = cmt_usage_new(&source->usage, &opts);
	}
	if (!ret)
		refresh(source);
	return ret;
}

int source_open_replay(struct source *source, struct replay *replay,
		       enum view by, uint32_t children, uint64_t interval_ns)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .recording = replay->recording,
		.by = by == VIEW_CHANNEL ? CMT_USAGE_BY_DOMAIN : (uint32_t)by,
		.interval_ns = interval_ns,
		.flags = children | CMT_USAGE_BOUNDED,
	};
	int ret;

	*source = (struct source){
		.replay = replay, .by = by, .children = children,
		.counters = replay->about.counters,
	};
	replay->interval_ns = interval_ns;
	ret = replay_seek(replay, replay->from_ns);
	return ret ? ret : cmt_usage_new(&source->usage, &opts);
}

void source_close(struct source *source)
{
	if (source->on_demand)
		light_reader_close(&source->light);
	else
		cmt_usage_free(source->usage);
	frame_room_free(&source->room);
	free(source->counts);
	*source = (struct source){ 0 };
}

/* Events are written to rings with and without readers. */
int source_fd(const struct source *source)
{
	return source->on_demand || source->replay ? -1 : cmt_device_fd(source->dev);
}

uint64_t source_wait_ns(const struct source *source)
{
	int ms;

	if (source->replay)
		return replay_wait_ns(source->replay);
	if (source->on_demand)
		return light_reader_wait_ns(&source->light);
	ms = cmt_usage_timeout(source->usage);
	return ms < 0 ? UINT64_MAX : (uint64_t)ms * 1000000;
}

int source_pump(struct source *source)
{
	const struct cmt_usage_frame *frame;
	int ret;

	if (source->replay)
		ret = replay_pump(source->replay, source->usage, &frame);
	else if (source->on_demand)
		ret = light_reader_pump(&source->light, &frame);
	else
		ret = cmt_usage_next(source->usage, &frame);
	refresh(source);
	if (ret > 0)
		source->frame = frame;
	return ret;
}

static void report_losses(const struct cmt_usage_frame *frame,
			  struct report *report)
{
	report->lost = frame->lost;
	report->lost_ever = frame->lost_ever;
	report->dropped = frame->dropped;
	report->dropped_ever = frame->dropped_ever;
	report->gaps = frame->nr_gaps;
}

static void report_channels(const struct source *source, struct report *report)
{
	snprintf(report->channels_reason, sizeof(report->channels_reason), "%s",
		 source->frame->channels_reason);
}

/* Report the missing counters, read now: a CPU may have come online without them. */
static int report_counters(const struct source *source, struct report *report)
{
	uint32_t asked = source->counters & ~(CMT_F_COUNTERS_FIRST | CMT_F_CHANNEL);
	uint32_t counters;
	int ret = 0;

	report->uncounted = 0;
	report->counters_reason[0] = '\0';
	if (!asked)
		return 0;
	if (source->on_demand) {
		report->uncounted = asked;
		strcpy(report->counters_reason, "--light runs no ticks, which counting needs");
		return 0;
	}
	if (source->replay) {
		const struct replay_state *state = &source->replay->state;

		counters = state->known ? state->counters : asked;
		memcpy(report->counters_reason, state->counters_reason,
		       sizeof(report->counters_reason));
	} else {
		ret = cmt_device_counters(source->dev, &counters,
					  report->counters_reason);
	}
	if (!ret)
		report->uncounted = asked & ~counters;
	return ret;
}

/* Whether the row is of a container or service, with all that is nested in it. */
static bool counts_below(const struct row *row)
{
	const struct cmt_container *container = row->container;

	return row->whole || container->id[0] ||
	       (container->runtime != CMT_RUNTIME_NONE &&
		container->runtime != CMT_RUNTIME_KUBEPODS);
}

static bool own_path(const struct source *source, const struct row *row,
		     char path[PATH_MAX])
{
	const struct cmt_container *container = row->container;

	/* the root's are the kernel's threads, too */
	if (!container || !container->path || !strcmp(container->path, "/") ||
	    !source->mount.path[0])
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)container->own_len,
		 container->path);
	return true;
}

static void count_row(const struct source *source, const struct row *row,
		      struct head_count *count)
{
	char path[PATH_MAX];

	*count = (struct head_count){ .cgroup_id = row->cgroup_id };
	if (!own_path(source, row, path))
		return;
	count->known = !cgroup_processes(source->mount.path, path,
					 counts_below(row), &count->processes);
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
 * A container may also be attached, and so may any other cgroup: the records are equal,
 * and only the name differs.  A container by the user's own patterns then counts as
 * attached, which is true.
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

/* Is an owner of the kind of the scope? */
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
			 uint32_t *inside, uint32_t *services, uint32_t *others)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };
	uint32_t i;

	for (i = 0; i < snapshot->count; i++) {
		if (cmt_record_owner(cmt_snapshot_at(snapshot, i), &owner) ||
		    owner.sole || owner.kind == CMT_OWNER_OVERFLOW ||
		    owner.kind == CMT_OWNER_RESCTRL ||
		    owner.kind == CMT_OWNER_KERNEL)
			continue;
		if (owner.service && !owner.attached)
			++*services;
		else if (in_scope(source, scope, &owner))
			++*inside;
		else
			++*others;
	}
}

/*
 * In process scope the statistics have the number of pending owners: there may be
 * thousands, and a list would make the module visit every process.  The statistics also
 * serve while more owners become pending than a list has room for.
 */
static int take_census(struct source *source, struct report *report)
{
	struct census *census = &report->census;
	struct cmt_snapshot *snapshot;
	int ret = cmt_device_snapshot(source->dev, &snapshot);

	*census = (struct census){ .pending = report->stats.pending };
	if (ret)
		return ret;
	count_owners(source, snapshot, report->scope, &census->monitored,
		     &census->services, &census->attached);
	cmt_snapshot_free(snapshot);
	if (report->scope == CMT_SCOPE_PROCESS)
		return 0;
	ret = cmt_device_pending(source->dev, &snapshot);
	if (ret == -EAGAIN)
		return 0;
	if (ret)
		return ret;
	cmt_usage_set_pending(source->usage, snapshot);
	census->pending = 0;
	count_owners(source, snapshot, report->scope, &census->pending,
		     &census->services_pending, &census->attached_pending);
	cmt_snapshot_free(snapshot);
	return 0;
}

static void name_overflow(const struct report *report)
{
	uint32_t i;

	for (i = 0; !report->census.pending_unknown &&
	     i < report->frame.nr_rows; i++) {
		struct row *row = &report->frame.rows[i];

		if (row->kind != CMT_USAGE_OVERFLOW || row->is_cpu)
			continue;
		row->pending = report->census.pending;
		row->pending_noun = scope_noun(report->scope, row->pending);
		row->pending_services = report->census.services_pending;
		row->pending_attached = report->census.attached_pending;
	}
}

/* No module gave RMIDs to owners of a scope. */
static int report_groups(struct report *report)
{
	report->scope = 0;
	report->census = (struct census){ .unknown = true, .pending_unknown = true };
	return 0;
}

static int report_owners(struct source *source, struct report *report)
{
	int ret = cmt_device_scope(source->dev, &report->scope);

	if (!ret)
		ret = take_census(source, report);
	if (ret)
		return ret;
	name_overflow(report);
	if (report->frame.by != VIEW_CONTAINER)
		return 0;
	return add_processes(source, &report->frame);
}

/* The state of a recording: this machine is not asked. */
static void report_state(const struct replay *replay, struct report *report)
{
	const struct replay_state *state = &replay->state;

	report->replay = replay;
	report->info = replay->info;
	report->stats = state->stats;
	report->scope = state->known ? state->scope : replay->info->scope;
	report->census = (struct census){
		.unknown = true, .pending_unknown = !state->pending_known,
		.pending = state->pending,
		.services_pending = state->services_pending,
		.attached_pending = state->attached_pending,
	};
	/* as live: in process scope they are not listed by name */
	if (state->stats_known && (!state->pending_known ||
				   report->scope == CMT_SCOPE_PROCESS)) {
		report->census.pending_unknown = false;
		report->census.pending = state->stats.pending;
	}
}

static int report_device(const struct source *source, struct report *report)
{
	report->info = cmt_device_info(source->dev);
	report->stats.size = sizeof(report->stats);
	return cmt_device_stats(source->dev, &report->stats);
}

static int64_t realtime_of(const struct source *source, uint64_t end_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t age = end_ns ? now - end_ns : 0;

	if (!source->replay)
		return (int64_t)(clock_ns(CLOCK_REALTIME) - age);
	return source->replay->clock_known ?
	       (int64_t)end_ns + source->replay->offset_ns : 0;
}

int source_report(struct source *source, uint64_t wanted_ns,
		  struct report *report)
{
	int ret = 0;

	report->on_demand = source->on_demand;
	report->wanted_ns = wanted_ns;
	if (source->replay)
		report_state(source->replay, report);
	else
		ret = report_device(source, report);
	if (ret)
		return ret;
	if (report->wanted_ns)
		ret = cmt_usage_peek(source->usage, &source->frame);
	if (!ret)
		ret = frame_copy(&report->frame, &source->room, source->frame,
				 source->by);
	if (ret)
		return ret;
	report->beside = (struct beside){ 0 };
	beside_add_frame(&report->beside, &report->frame);
	report_losses(source->frame, report);
	report_channels(source, report);
	if (origin_is_resctrl(report->info))
		ret = report_groups(report);
	else if (source->replay)
		name_overflow(report);
	else
		ret = report_owners(source, report);
	if (!ret)
		ret = report_counters(source, report);
	report->realtime_ns = realtime_of(source, report->frame.end_ns);
	report->emulated = report->frame.emulated ||
			   report->info->backend == CMT_BACKEND_EMULATED;
	return ret;
}

void source_limits(const struct source *source, struct report *report)
{
	const struct frame *frame = &report->frame;
	char path[PATH_MAX];

	report->limited = false;
	if (source->replay)
		return;
	for (uint32_t i = 0; report->follow.id && i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];

		if (row->culprit_id != report->follow.id ||
		    !row_in_cgroup(row) || !own_path(source, row, path))
			continue;
		cgroup_limits(source->mount.path, path, &report->limits);
		report->limited = true;
		return;
	}
}
