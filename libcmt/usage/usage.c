// SPDX-License-Identifier: LGPL-2.1-or-later
/* A usage: its options, its source and the frames that a program takes. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>

#include "recording/recording.h"

#define INTERVAL_DEFAULT	1000000000ULL
#define INTERVAL_MAX		3600000000000ULL
#define SLOT_DEFAULT		1000000ULL

static int check_opts(const struct cmt_usage_opts *o)
{
	const uint32_t both = CMT_USAGE_CHILDREN | CMT_USAGE_DOMAINS;
	const uint32_t all = both | CMT_USAGE_BRIEF | CMT_USAGE_WAITS | CMT_USAGE_ALIGNED |
			     CMT_USAGE_BOUNDED;

	if (o->by > CMT_USAGE_BY_DOMAIN ||
	    (o->flags & ~all) || (o->flags & both) == both ||
	    (o->flags & CMT_USAGE_ALIGNED && o->device) ||
	    (o->counters & ~(uint64_t)(USAGE_VALUES | CMT_F_COUNTERS_FIRST |
				       CMT_F_CHANNEL)) ||
	    (o->values & ~(uint64_t)USAGE_SAMPLED) ||
	    o->interval_ns < o->slot_ns || o->interval_ns > INTERVAL_MAX)
		return -EINVAL;
	return o->nr_rmids && o->nr_cpus ? 0 : -EINVAL;
}

/* The machine is the device's, or that which was recorded; NULL: the caller's word. */
static int find_info(const struct cmt_usage_opts *opts, const struct cmt_info **info)
{
	*info = NULL;
	if (opts->device && opts->recording)
		return -EINVAL;
	if (opts->device)
		*info = cmt_device_info(opts->device);
	if (!opts->recording)
		return 0;
	*info = cmt_recording_info(opts->recording);
	return *info ? 0 : -EBADMSG;
}

static int usage_opts(struct cmt_usage_opts *opts,
		      const struct cmt_usage_opts *from, const struct cmt_info **info)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (!err)
		err = find_info(opts, info);
	if (err)
		return err;
	if (!opts->slot_ns)
		opts->slot_ns = SLOT_DEFAULT;
	if (!opts->interval_ns)
		opts->interval_ns = INTERVAL_DEFAULT;
	if (*info) {
		opts->nr_rmids = (*info)->nr_rmids;
		opts->nr_cpus = (*info)->nr_cpus;
		opts->l3_bytes = (*info)->l3_bytes;
		opts->unit_bytes = (*info)->upscale_bytes;
	}
	return check_opts(opts);
}

static int open_containers(struct cmt_usage *usage,
			   const struct cmt_usage_opts *from)
{
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .device = from->device,
		.flags = from->device ? 0 : CMT_CONTAINERS_GIVEN,
	};
	int err;

	usage->containers = from->containers;
	if (usage->containers)
		return 0;
	err = cmt_containers_new(&usage->own_containers, &opts);
	usage->containers = usage->own_containers;
	return err;
}

static int open_slots(struct cmt_usage *usage)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .slot_ns = usage->slot_ns,
		.nr_rmids = usage->nr_rmids, .nr_cpus = usage->nr_cpus,
	};

	usage->cpus = calloc(usage->nr_cpus, sizeof(*usage->cpus));
	if (!usage->cpus || usage_waits_init(usage))
		return -ENOMEM;
	return cmt_slots_new(&usage->slots, &opts, usage_slot_add, usage);
}

/* Records are given by cmt_usage_add(), and pending owners by cmt_usage_set_pending(). */
static int given_refresh(struct cmt_usage *usage, unsigned int what)
{
	if (what & CMT_USAGE_PENDING)
		return -EINVAL;
	usage_refresh_names(usage);
	return 0;
}

static const struct usage_source given = {
	.refresh = given_refresh,
};

int cmt_usage_new(struct cmt_usage **usage, const struct cmt_usage_opts *opts)
{
	const struct cmt_info *info;
	struct cmt_usage_opts o;
	struct cmt_usage *u;
	int err;

	err = usage_opts(&o, opts, &info);
	if (err)
		return err;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->by = o.by;
	u->flags = o.flags;
	u->nr_rmids = o.nr_rmids;
	u->nr_cpus = o.nr_cpus;
	u->unit_bytes = o.unit_bytes;
	u->l3_bytes = o.l3_bytes;
	u->interval_ns = o.interval_ns;
	u->narrow = o.flags & CMT_USAGE_BRIEF && usage_by_owner(u) &&
		    o.interval_ns == o.slot_ns;
	u->slot_ns = o.slot_ns;
	u->source = &given;
	u->events = info ? info->events : ~0U;
	u->unread = !u->events;
	u->unwanted = o.values ? USAGE_SAMPLED & ~(uint32_t)o.values : 0;
	u->events &= ~u->unwanted;
	u->last = &u->first;
	u->interval = 1;
	u->whole_due = true;
	err = open_containers(u, &o);
	if (!err)
		err = open_slots(u);
	if (!err && o.device)
		err = usage_live(u, &o);
	if (!err && o.recording)
		err = usage_replay(u, o.recording);
	if (err) {
		cmt_usage_free(u);
		return err;
	}
	*usage = u;
	return 0;
}

void cmt_usage_free(struct cmt_usage *usage)
{
	uint32_t d;

	if (!usage)
		return;
	if (usage->source->close)
		usage->source->close(usage);
	cmt_slots_free(usage->slots);
	usage_frames_free(usage);
	usage_groups_free(usage);
	usage_perf_free(usage);
	wait_free(&usage->waits);
	free(usage->channels.all);
	for (d = 0; d < CMT_DOMAINS_MAX; d++)
		free(usage->chains[d]);
	free(usage->holdings);
	free(usage->steps);
	free(usage->shares);
	free(usage->sorted);
	free(usage->places);
	free(usage->news);
	free(usage->by_id);
	free(usage->cpus);
	free(usage->pending_ids);
	cmt_containers_free(usage->own_containers);
	free(usage);
}

static void release_taken(struct cmt_usage *usage)
{
	if (usage->taken)
		usage_frame_release(usage, usage->taken);
	usage->taken = NULL;
}

int cmt_usage_next(struct cmt_usage *usage,
		   const struct cmt_usage_frame **frame)
{
	int err;

	if (!usage->first && usage->source->read) {
		err = usage->source->read(usage);
		if (err)
			return err;
	}
	if (!usage->first)
		return 0;
	release_taken(usage);
	usage->taken = usage->first;
	usage->first = usage->taken->next;
	if (!usage->first)
		usage->last = &usage->first;
	*frame = &usage->taken->frame;
	return 1;
}

int cmt_usage_peek(struct cmt_usage *usage,
		   const struct cmt_usage_frame **frame)
{
	struct usage_frame *to;

	usage->whole_due = true;
	to = usage_frame_build(usage, usage->slots_now ? usage->slot_end_ns :
							 usage->start_ns);
	if (!to)
		return -ENOMEM;
	release_taken(usage);
	usage->taken = to;
	*frame = &to->frame;
	return 0;
}

int cmt_usage_timeout(const struct cmt_usage *usage)
{
	if (usage->first || usage->more)
		return 0;
	return usage->source->timeout ? usage->source->timeout(usage) : -1;
}

int cmt_usage_wait(struct cmt_usage *usage, int timeout_ms)
{
	int own = cmt_usage_timeout(usage);

	if (!usage->reader)
		return -EINVAL;
	if (own >= 0 && (timeout_ms < 0 || own < timeout_ms))
		timeout_ms = own;
	return cmt_reader_wait(usage->reader, timeout_ms);
}

/* The present owner of a group's RMID knows where the group's name is. */
static void hint_name(struct cmt_usage *usage, const struct usage_cgroup *cgroup)
{
	struct cmt_tracker *tracker = cmt_slots_tracker(usage->slots);
	const struct cmt_owner *owner;

	if (!(cgroup->id & CMT_RESCTRL_RMID))
		return;
	owner = cmt_tracker_lookup(tracker, (uint16_t)cgroup->id, usage->slot_end_ns - 1);
	if (owner && owner->cgroup_id == cgroup->id)
		cmt_containers_hint(cgroup->item, owner);
}

void usage_refresh_names(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cgroups; i++) {
		const struct usage_cgroup *cgroup = &usage->cgroups[i];

		if (!cgroup->item)
			continue;
		hint_name(usage, cgroup);
		cmt_containers_refresh(usage->containers, cgroup->item);
	}
	usage->whole_due = true;
}

int cmt_usage_refresh(struct cmt_usage *usage, unsigned int what)
{
	if (!what || (what & ~(CMT_USAGE_NAMES | CMT_USAGE_PENDING)))
		return -EINVAL;
	return usage->source->refresh(usage, what);
}

int cmt_usage_set_pending(struct cmt_usage *usage,
			  const struct cmt_snapshot *pending)
{
	uint64_t *ids = NULL;
	struct cmt_owner owner = { .sz = sizeof(owner) };
	uint32_t i;

	if (pending) {
		ids = malloc((pending->count + 1) * sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		for (i = 0; i < pending->count; i++) {
			if (cmt_record_owner(cmt_snapshot_at(pending, i), &owner)) {
				free(ids);
				return -EINVAL;
			}
			ids[i] = owner.cgroup_id;
		}
	}
	free(usage->pending_ids);
	usage->pending_ids = ids;
	usage->pending_known = pending;
	usage->whole_due = true;
	usage->nr_pending = pending ? pending->count : 0;
	usage->pending_ns = pending ? pending->as_of : 0;
	return 0;
}

int usage_take(struct cmt_usage *usage, const struct cmt_record *record)
{
	uint64_t lost = cmt_record_lost(record);
	int err = cmt_slots_add(usage->slots, record);

	if (err)
		return err;
	if (lost && record->cpu < usage->nr_cpus)
		usage->cpus[record->cpu].lost += lost;
	usage->lost += lost;
	return 0;
}

int cmt_usage_add(struct cmt_usage *usage, const struct cmt_record *record)
{
	return usage->source != &given ? -EINVAL : usage_take(usage, record);
}

int cmt_usage_sync(struct cmt_usage *usage, const struct cmt_snapshot *snapshot)
{
	if (usage->source != &given)
		return -EINVAL;
	return cmt_slots_sync(usage->slots, snapshot);
}

int cmt_usage_set_uncore(struct cmt_usage *usage,
			 const struct cmt_uncore *uncore)
{
	if (usage->source != &given)
		return -EINVAL;
	usage_set_uncore(usage, uncore);
	return 0;
}

int cmt_usage_flush(struct cmt_usage *usage)
{
	int err = cmt_slots_flush(usage->slots);

	if (err || !usage->nr_slots ||
	    !cmt_ts_before(usage->start_ns, usage->slot_end_ns))
		return err;
	usage_missing_end(usage);
	usage->untidy = true;
	return usage_interval_end(usage, usage->slot_end_ns, usage->slot_end_ns);
}

struct cmt_containers *cmt_usage_containers(struct cmt_usage *usage)
{
	return usage->containers;
}
