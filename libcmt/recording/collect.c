// SPDX-License-Identifier: LGPL-2.1-or-later
/* State that is in no record: names, answers of the module, and the files of cgroups */
#include "recorder.h"

#include <cmt/resctrl.h>
#include <cmt/tracker.h>
#include <errno.h>
#include <stdlib.h>

#include "cgroup/cgroup.h"
#include "record/record.h"

/* Drop owners of the last pass that own no RMID now. */
static void own_again(struct cmt_recorder *recorder)
{
	rec_names_forget(&recorder->names);
	for (uint32_t i = 0; i < recorder->owners.nr_rmids; i++) {
		const struct cmt_record *owner = &recorder->owners.all[i];

		if (owner->type && cmt_record_name_id(owner))
			rec_names_own(&recorder->names, cmt_record_name_id(owner));
	}
}

/* A group is found by what its RMID's record says of it. */
static const struct cmt_container *look_up(const struct cmt_recorder *recorder,
					   struct cmt_containers *containers, uint64_t id)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };
	uint32_t rmid = (uint16_t)id;
	const struct cmt_record *record;

	if (!(id & CMT_RESCTRL_RMID) || rmid >= recorder->owners.nr_rmids)
		return cmt_containers_lookup(containers, id);
	record = &recorder->owners.all[rmid];
	if (!record->type || cmt_record_name_id(record) != id ||
	    cmt_record_owner(record, &owner))
		return cmt_containers_lookup(containers, id);
	return cmt_containers_lookup_owner(containers, &owner);
}

/* A name that is known is set in place: the array stays where it is. */
static int name_one(struct cmt_recorder *recorder, struct cmt_containers *containers,
		    uint64_t id)
{
	const struct cmt_container *container = look_up(recorder, containers, id);

	if (!container)
		return -ENOMEM;
	return rec_names_set(&recorder->names, container);
}

int cmt_recorder_names(struct cmt_recorder *recorder, struct cmt_containers *containers)
{
	int first = 0;

	for (uint32_t i = 0; i < recorder->names.nr; i++) {
		const struct rec_name *name = &recorder->names.all[i];
		int err = name->owns ? name_one(recorder, containers, name->id) : 0;

		if (!first)
			first = err;
	}
	own_again(recorder);
	return first;
}

/* Read the files of each cgroup with a name; NULL: no memory, or no cgroups. */
static struct cmt_culprit_cpu *read_cgroups(struct cmt_recorder *recorder,
					    struct cmt_containers *containers,
					    const char *root, uint32_t *nr)
{
	struct cmt_cpu_turn turn;
	struct cmt_culprit_cpu *cpus;

	if (!recorder->rooted)
		recorder->root = cmt_cgroup_open(root);
	recorder->rooted = true;
	*nr = 0;
	cpus = recorder->root >= 0 ?
	       calloc(recorder->names.nr + 1ULL, sizeof(*cpus)) : NULL;
	if (!cpus)
		return NULL;
	cmt_cpu_turn_begin(&turn, recorder->root, &recorder->steal);
	for (uint32_t i = 0; i < recorder->names.nr; i++) {
		struct rec_name *name = &recorder->names.all[i];
		const struct cmt_container *container = name->owns && name->bytes &&
			!(name->id & CMT_RESCTRL_GROUP) ?
			cmt_containers_find(containers, name->id) : NULL;

		if (container && cmt_cgroup_cpu_since(&turn, container, &name->cpu,
						      &cpus[*nr]))
			++*nr;
	}
	return cpus;
}

/* Answers of the module, and where to keep them */
struct answers {
	struct cmt_stats stats;
	struct cmt_uncore uncore;
	struct cmt_reader_counts reader;
	struct cmt_snapshot *pending;
	struct cmt_box *boxes;
};

/* Pending owners can be many: they are read only when there are some. */
static void ask_pending(struct cmt_device *device, struct answers *a,
			struct cmt_recording_state *state)
{
	if (!state->stats)
		return;
	if (!a->stats.pending) {
		if (cmt_snapshot_new(&a->pending, state->monotonic_ns, NULL, 0))
			a->pending = NULL;
	} else if (cmt_device_pending(device, &a->pending)) {
		a->pending = NULL;
	}
	state->pending = a->pending;
}

static void ask_device(struct cmt_device *device, const struct cmt_reader *reader,
		       struct answers *a, struct cmt_recording_state *state)
{
	a->stats.size = sizeof(a->stats);
	if (!cmt_device_stats(device, &a->stats))
		state->stats = &a->stats;
	if (cmt_device_scope(device, &state->scope))
		state->scope = 0;
	if (cmt_device_interval(device, &state->interval_ns))
		state->interval_ns = 0;
	if (cmt_device_counters(device, &state->counters, state->counters_reason))
		state->counters = 0;
	a->uncore.size = sizeof(a->uncore);
	if (!cmt_device_uncore(device, &a->uncore, &a->boxes))
		state->uncore = &a->uncore;
	a->reader.sz = sizeof(a->reader);
	if (reader && !cmt_reader_counts(reader, &a->reader))
		state->reader = &a->reader;
	ask_pending(device, a, state);
}

int cmt_recorder_collect_state(struct cmt_recorder *recorder, struct cmt_device *device,
			       const struct cmt_reader *reader, struct cmt_containers *containers,
			       const char *root)
{
	struct cmt_recording_state state = { .sz = sizeof(state) };
	struct cmt_culprit_cpu *cpus = NULL;
	struct answers answers = { 0 };
	int ret;

	state.monotonic_ns = cmt_now_ns();
	state.realtime_ns = cmt_clock_ns(CLOCK_REALTIME);
	ask_device(device, reader, &answers, &state);
	if (containers) {
		/* an owner without room for a name has none, which is no failure */
		cmt_recorder_names(recorder, containers);
		cpus = read_cgroups(recorder, containers, root, &state.nr_cpus);
		state.cpus = cpus;
		state.cpu_size = sizeof(*cpus);
	}
	ret = cmt_recorder_state(recorder, &state);
	cmt_snapshot_free(answers.pending);
	free(answers.boxes);
	free(cpus);
	return ret;
}
