// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/origin.h"
#include "config/config.h"
#include "lead.h"

#define LOOK_NS		1000000000ULL	/* the interval between readings of files */
#define SLOWERS_NS	500000000ULL	/* an interval of 1 s does not miss one by jitter */
#define SLOTS_MOST	512	/* at once: signals wait for it */
#define LEAD_NS		3000000000ULL	/* that the engine learns from */

const char *watch_lacks(const struct cmt_info *info,
			char reason[CMT_REASON_LEN + 1])
{
	if (info->events & CMT_F_OCCUPANCY && info->events & CMT_F_MBM_TOTAL)
		return NULL;
	memcpy(reason, info->events & CMT_F_OCCUPANCY ? info->mbm_reason :
							info->reason,
	       CMT_REASON_LEN);
	reason[CMT_REASON_LEN] = '\0';
	return reason;
}

const char *watch_lacks_what(const struct cmt_info *info)
{
	if (info->events & CMT_F_OCCUPANCY)
		return "bandwidth is";
	return info->events & CMT_F_MBM_TOTAL ? "occupancy is" : "occupancy and bandwidth are";
}

bool watch_wanted(const struct config *config, const struct cmt_info *info,
		  uint32_t counters)
{
	char reason[CMT_REASON_LEN + 1];

	bool wanted = config->output == OUTPUT_TABLE ? config->marks : config->slower;

	return wanted && !config->why && !config->light && !origin_is_resctrl(info) &&
	       (counters & CMT_F_WAITED || !watch_lacks(info, reason));
}

static int open_usage(struct watch *watch, uint32_t counters)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .device = watch->dev,
		.recording = watch->replay ? watch->replay->recording : NULL,
		.by = CMT_USAGE_BY_CONTAINER,
		.flags = CMT_USAGE_DOMAINS | CMT_USAGE_BRIEF | CMT_USAGE_WAITS,
		.interval_ns = WATCH_SLOT_NS, .slot_ns = WATCH_SLOT_NS,
		.counters = counters,
		/* what the engine looks at; the frames of a recording are a report's, too */
		.values = watch->dev ? CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL : 0,
	};

	return cmt_usage_new(&watch->usage, &opts);
}

static int open_culprit(struct watch *watch, const struct cmt_info *info,
			uint64_t peak_bytes, uint64_t cooldown_ns)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = culprit_room(info),
		.unit_bytes = info->upscale_bytes,
		.peak_bytes = peak_bytes, .cooldown_ns = cooldown_ns,
	};

	return cmt_culprit_new(&watch->culprit, &opts);
}

int watch_open(struct watch *watch, struct cmt_device *dev, uint32_t counters,
	       uint64_t peak_bytes, uint64_t cooldown_ns)
{
	int ret;

	*watch = (struct watch){ .dev = dev };
	ret = open_usage(watch, counters);
	if (!ret)
		ret = cmt_usage_refresh(watch->usage, CMT_USAGE_NAMES);
	return ret ? ret : open_culprit(watch, cmt_device_info(dev), peak_bytes,
				  cooldown_ns);
}

int watch_open_replay(struct watch *watch, struct replay *replay, uint64_t from_ns,
		      uint64_t peak_bytes, uint64_t cooldown_ns)
{
	int ret;

	*watch = (struct watch){ .replay = replay, .lead = lead_new(from_ns) };
	if (!watch->lead)
		return -ENOMEM;
	ret = replay_seek(replay, from_ns > LEAD_NS ? from_ns - LEAD_NS : 0);
	if (!ret)
		ret = open_usage(watch, 0);
	return ret ? ret : open_culprit(watch, replay->info, peak_bytes,
				  cooldown_ns);
}

void watch_close(struct watch *watch)
{
	cmt_culprit_free(watch->culprit);
	cmt_usage_free(watch->usage);
	free(watch->lead);
	*watch = (struct watch){ 0 };
}

static void note_counted(struct watch *watch, const struct cmt_recording_state *state)
{
	watch->counted_known = true;
	watch->counted = state->counters;
	watch->counted_ever |= state->counters;
	if (state->counters_reason[0])
		memcpy(watch->uncounted_reason, state->counters_reason,
		       sizeof(watch->uncounted_reason));
}

/* Without a state, what was asked for is all that is known of @counted. */
static uint32_t recorded_uncounted(const struct watch *watch, uint32_t counted, uint32_t asked,
				   char reason[CMT_REASON_LEN])
{
	memcpy(reason, watch->uncounted_reason, CMT_REASON_LEN);
	if (!reason[0])
		strcpy(reason, "the recording has none");
	return asked & ~(watch->counted_known ? counted : watch->replay->about.counters);
}

uint32_t watch_uncounted(const struct watch *watch, uint32_t asked,
			 char reason[CMT_REASON_LEN])
{
	uint32_t counted = 0;

	if (watch->replay)
		return recorded_uncounted(watch, watch->counted, asked, reason);
	reason[0] = '\0';
	if (cmt_device_counters(watch->dev, &counted, reason))
		strcpy(reason, "the module does not count");
	return asked & ~counted;
}

uint32_t watch_never_counted(const struct watch *watch, uint32_t asked,
			     char reason[CMT_REASON_LEN])
{
	return recorded_uncounted(watch, watch->counted_ever, asked, reason);
}

/* Add the files of cgroups from the recording. */
static int add_recorded(struct watch *watch)
{
	const struct cmt_recording_state *state;
	int ret = 0;

	if (cmt_usage_state(watch->usage, &state) != 1)
		return 1;
	note_counted(watch, state);
	if (state->realtime_ns) {
		watch->replay->clock_known = true;
		watch->replay->offset_ns = (int64_t)(state->realtime_ns -
						     state->monotonic_ns);
	}
	for (uint32_t i = 0; i < state->nr_cpus && ret >= 0; i++)
		ret = cmt_culprit_add_cpu(watch->culprit,
					  cmt_recording_cpu_at(state, i));
	return ret == -ENOMEM ? ret : 1;
}

/* A hole in the recording may reach from the wanted part to behind it. */
static bool is_behind_part(const struct watch *watch)
{
	return watch->replay && watch->frame->start_ns >= watch->replay->to_ns;
}

bool watch_is_coarse(const struct watch *watch)
{
	return watch->coarse_ns > watch->judged_ns;
}

static int judge(struct watch *watch)
{
	int ret;

	if (watch->frame->sampling_ns > WATCH_SLOT_NS) {
		watch->coarse_ns = watch->frame->end_ns;
		return 0;
	}
	ret = cmt_culprit_add_frame(watch->culprit, watch->frame);
	if (ret < 0)
		return ret;
	watch->judged_ns = watch->frame->end_ns;
	if (watch->lead)
		lead_follow(watch->lead, watch->culprit, watch->judged_ns);
	return 0;
}

int watch_next(struct watch *watch)
{
	int ret = cmt_usage_next(watch->usage, &watch->frame);

	if (ret <= 0 || is_behind_part(watch))
		return ret < 0 ? ret : 0;
	watch->lost = watch->frame->lost_ever;
	ret = judge(watch);
	if (ret < 0)
		return ret;
	if (watch->replay)
		return add_recorded(watch);
	/* where there are no cgroups, or no files of them, that is not known */
	if (watch->look_due && !watch->frame->brief) {
		watch->look_due = false;
		cmt_culprit_refresh(watch->culprit, watch->frame, NULL);
	}
	return 1;
}

int watch_look(struct watch *watch)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	if (watch->replay || !watch->frame || now - watch->looked_ns < LOOK_NS)
		return 0;
	watch->looked_ns = now;
	watch->look_due = true;
	ret = cmt_usage_refresh(watch->usage, CMT_USAGE_NAMES);
	return ret ? ret : 1;
}

static void name_row(struct why_name *name, const struct cmt_usage_row *from)
{
	char buf[CONTAINER_LABEL_LEN];

	snprintf(name->label, CONTAINER_LABEL_LEN, "%s",
		 usage_row_label(buf, from));
	name->path = from->kind == CMT_USAGE_OWNER && from->container ?
		     from->container->path : NULL;
}

void watch_name(const struct watch *watch, struct why_name *name, uint64_t id)
{
	struct cmt_usage_row gone;

	name_row(name, culprit_row(watch->frame,
				   cmt_usage_containers(watch->usage), id, &gone));
}

static bool all_named(const struct cmt_culprit_verdict *verdict,
		      const struct why_names *names)
{
	bool named = names->victim.path || verdict->id >= CMT_CULPRIT_NO_CGROUP;

	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		named &= names->suspects[i].path ||
			 verdict->suspects[i].id >= CMT_CULPRIT_NO_CGROUP;
	return named;
}

static void name_all(const struct watch *watch,
		     const struct cmt_culprit_verdict *verdict,
		     struct why_names *names)
{
	watch_name(watch, &names->victim, verdict->id);
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		watch_name(watch, &names->suspects[i],
			   verdict->suspects[i].id);
}

/* An owner that is newer than the last refresh has no name yet. */
int watch_verdict(struct watch *watch, const struct cmt_culprit_verdict **verdict,
		  struct why_names *names)
{
	int ret = cmt_culprit_next(watch->culprit, verdict);

	if (ret <= 0)
		return ret;
	name_all(watch, *verdict, names);
	if (!all_named(*verdict, names) &&
	    !cmt_usage_refresh(watch->usage, CMT_USAGE_NAMES))
		name_all(watch, *verdict, names);
	return ret;
}

static int add_marks(struct watch *watch, struct marks *marks)
{
	const struct cmt_culprit_verdict *verdict;
	struct why_names names;
	int added = 0;

	while (watch->frame && watch_verdict(watch, &verdict, &names) > 0) {
		marks_add(marks, verdict, &names);
		added = 1;
	}
	return added;
}

static void name_slower(const struct watch *watch, struct slower *slower)
{
	watch_name(watch, &slower->name, slower->id);
	for (uint32_t i = 0; i < slower->nr_parts; i++)
		watch_name(watch, &slower->parts[i].by, slower->parts[i].by_id);
}

void watch_slowers(struct watch *watch, struct slowers *slowers)
{
	if (watch_is_coarse(watch))
		slowers->known = false;
	if (!watch->frame || watch_is_coarse(watch) ||
	    watch->frame->end_ns - watch->slowers_ns < SLOWERS_NS)
		return;
	watch->slowers_ns = watch->frame->end_ns;
	slowers_read(slowers, watch->culprit);
	for (uint32_t i = 0; i < slowers->nr; i++)
		name_slower(watch, &slowers->list[i]);
}

/* The neighbour that costs most now, which may be another than that of the whole time */
static const struct cmt_incident_part *worst_part(const struct cmt_incident *told)
{
	const struct cmt_incident_part *worst = NULL;

	for (uint32_t i = 0; i < told->nr_parts; i++)
		if (told->parts[i].share >= SLOWER_LEAST &&
		    (!worst || told->parts[i].share > worst->share))
			worst = &told->parts[i];
	return worst;
}

static struct ongoing_incident named_incident(const struct watch *watch,
				      const struct cmt_incident *told)
{
	const struct cmt_incident_part *part = worst_part(told);
	struct ongoing_incident incident = {
		.id = told->id, .share = told->share, .worst = told->worst,
		.begin_ns = told->begin_ns,
		.before = told->flags & CMT_INCIDENT_BEFORE,
	};
	struct why_name name = { 0 };

	watch_name(watch, &name, told->id);
	memcpy(incident.victim, name.label, sizeof(incident.victim));
	if (!part)
		return incident;
	watch_name(watch, &name, part->by);
	memcpy(incident.by, name.label, sizeof(incident.by));
	incident.by_id = part->by;
	incident.resource = part->resource;
	incident.by_share = part->share;
	return incident;
}

void watch_ongoing(const struct watch *watch, struct ongoing *ongoing)
{
	const struct cmt_incident *told;
	struct ongoing_incident incident;

	*ongoing = (struct ongoing){ 0 };
	for (uint32_t i = 0; watch->frame && !watch_is_coarse(watch) &&
	     (told = cmt_culprit_incident_at(watch->culprit, i)); i++) {
		incident = named_incident(watch, told);
		ongoing_add(ongoing, &incident);
	}
}

static bool is_far_enough(const struct watch *watch)
{
	return watch->replay && watch->frame &&
	       watch->frame->end_ns >= watch->until_ns;
}

bool watch_is_behind(const struct watch *watch)
{
	return watch->replay && !is_far_enough(watch) && !cmt_usage_timeout(watch->usage);
}

static int take_marks(struct watch *watch, struct marks *marks)
{
	int ret = 0, added = 0;

	for (int i = 0; i < SLOTS_MOST; i++) {
		ret = is_far_enough(watch) ? 0 : watch_next(watch);
		if (ret <= 0)
			break;
		follow_add(&watch->follow, watch->frame);
		added |= add_marks(watch, marks);
	}
	if (ret >= 0)
		ret = watch_look(watch);
	added |= add_marks(watch, marks);
	return ret < 0 ? ret : added;
}

int watch_marks(struct watch *watch, struct marks *marks, uint64_t followed)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int ret;

	follow_id(&watch->follow, followed);
	ret = take_marks(watch, marks);
	/* a recording waits */
	if (watch->replay)
		return ret;
	marks->too_dear = budget_exceeded(&watch->budget,
					  clock_ns(CLOCK_MONOTONIC),
					  clock_ns(CLOCK_THREAD_CPUTIME_ID) -
					  begin);
	return marks->too_dear ? -EDQUOT : ret;
}
