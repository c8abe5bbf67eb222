// SPDX-License-Identifier: GPL-2.0-or-later
#include "why.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "errors.h"
#include "format.h"
#include "frame.h"
#include "signals.h"
#include "text.h"
#include "why_view.h"

#define SLOT_NS		1000000ULL
#define WAIT_NS		10000000ULL	/* the rings hold more */
#define LOOK_NS		1000000000ULL	/* between looks at files */
#define FRAMES		256		/* between looks at signals */
#define FLOWS		5
#define AGAIN_NS	10000000000ULL	/* before a victim says the same again */
#define ROOM_LEAST	1024U
#define ROOM_MOST	16384U	/* that the engine has */
#define NO_CGROUP	(0xffULL << 56)	/* as cmt_culprit_id() has it */

struct why {
	const struct config *config;
	struct cmt_device *dev;
	struct cmt_usage *usage;
	struct cmt_culprit *culprit;
	const struct cmt_usage_frame *frame;	/* the last one, or NULL */
	struct why_state state;
	bool begun;		/* why_view_begin() */
	bool learned;		/* why_view_learned() */
	uint64_t lost;
	uint64_t looked_ns;
	uint64_t until_ns;	/* UINT64_MAX: a signal */
};

const char *why_misplaced(const struct config *config)
{
	if (config->by != VIEW_CONTAINER)
		return "--why: only --by container";
	if (config->light)
		return "--why: not with --light: it needs the sampling";
	if (config->expand || config->top || config->sort != SORT_DEFAULT ||
	    config->output == OUTPUT_CSV)
		return "--why: only --interval, --count, --json, --filter, --no-counters and --device";
	return NULL;
}

/* What is missing on this machine: 0, or it is said and EXIT_RUNTIME. */
static int check_events(const struct cmt_info *info)
{
	char reason[4 * CMT_REASON_LEN + 1] = "", raw[CMT_REASON_LEN + 1] = "";

	if (info->events & CMT_F_OCCUPANCY && info->events & CMT_F_MBM_TOTAL)
		return 0;
	memcpy(raw, info->events & CMT_F_OCCUPANCY ? info->mbm_reason :
						     info->reason,
	       CMT_REASON_LEN);
	escape_text(reason, sizeof(reason), raw, 0);
	fprintf(stderr, "cmtstat: --why needs cache occupancy and memory bandwidth, which are unavailable: %s\n",
		reason);
	return EXIT_RUNTIME;
}

static int check_interval(uint32_t interval_ns)
{
	char now[FORMAT_LEN];

	if (interval_ns <= SLOT_NS)
		return 0;
	fprintf(stderr, "cmtstat: --why needs a sampling interval of 1 ms, and it is %s: see cmtctl interval\n",
		format_duration(now, interval_ns));
	return EXIT_RUNTIME;
}

static void name_row(struct why_name *name, const struct cmt_usage_row *from)
{
	struct row row = {
		.kind = from->kind, .owner = from->owner,
		.cgroup_id = from->cgroup_id, .container = from->container,
		.cpu = from->cpu, .rmid = from->rmid,
	};
	char buf[CONTAINER_LABEL_LEN];

	snprintf(name->label, CONTAINER_LABEL_LEN, "%s",
		 container_label(buf, &row));
	name->path = row_in_cgroup(&row) && row.container ?
		     row.container->path : NULL;
}

/* Who has ended since is in no row any more; its cgroup's name is kept for a while. */
static void name_of(const struct why *why, struct why_name *name, uint64_t id)
{
	struct cmt_usage_row gone = {
		.kind = id < NO_CGROUP ? CMT_USAGE_OWNER : CMT_USAGE_UNKNOWN,
		.owner = CMT_OWNER_CGROUP, .cgroup_id = id,
	};

	for (uint32_t i = 0; i < why->frame->nr_rows; i++) {
		const struct cmt_usage_row *row =
			cmt_usage_row_at(why->frame, i);

		if (cmt_culprit_id(why->frame, row) == id) {
			name_row(name, row);
			return;
		}
	}
	gone.container = cmt_containers_find(cmt_usage_containers(why->usage),
					     id);
	name_row(name, &gone);
}

/* As --filter has it: with or without the runtime. */
static bool is_wanted(const struct why *why, const struct why_name *name)
{
	const char *glob = why->config->filter;
	const char *rest = strchr(name->label, ':');

	return !glob || !fnmatch(glob, name->label, 0) ||
	       (rest && !fnmatch(glob, rest + 1, 0));
}

static int tell(struct why *why, const struct cmt_culprit_verdict *verdict)
{
	struct why_names names = { 0 };
	struct text text;
	int ret;

	name_of(why, &names.victim, verdict->id);
	if (!is_wanted(why, &names.victim))
		return 0;
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		name_of(why, &names.suspects[i], verdict->suspects[i].id);
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_verdict(text.out, &why->state, verdict, &names);
	return text_write(&text, STDOUT_FILENO, ret);
}

static int tell_all(struct why *why)
{
	const struct cmt_culprit_verdict *verdict;
	int ret = 0;

	while (!ret && cmt_culprit_next(why->culprit, &verdict) > 0)
		ret = tell(why, verdict);
	return ret;
}

static uint32_t count_owners(const struct cmt_usage_frame *frame)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		nr += row->kind == CMT_USAGE_OWNER && row->rmids;
	}
	return nr;
}

/* With the first frame in which something ticked: then it is known what there is. */
static int begin(struct why *why)
{
	struct why_state *state = &why->state;
	uint32_t counters;
	struct text text;
	int ret;

	why->begun = true;
	state->json = why->config->output == OUTPUT_JSON;
	state->emulated = why->frame->emulated;
	state->sampling_ns = why->frame->sampling_ns;
	state->owners = count_owners(why->frame);
	if (!why->config->counters)
		strcpy(state->counters_reason, "--no-counters");
	else if (cmt_device_counters(why->dev, &counters, state->counters_reason))
		strcpy(state->counters_reason, "the module does not count");
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_begin(text.out, state);
	return text_write(&text, STDOUT_FILENO, ret);
}

static int say_learned(struct why *why)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };
	struct text text;
	int ret;

	cmt_culprit_counts(why->culprit, &counts);
	if (!why_is_learned(&counts))
		return 0;
	why->learned = true;
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_learned(text.out, &why->state, &counts);
	return text_write(&text, STDOUT_FILENO, ret);
}

/* Returns 1 after a frame, 0 or -errno. */
static int next_frame(struct why *why)
{
	int ret = cmt_usage_next(why->usage, &why->frame);

	if (ret <= 0)
		return ret;
	why->lost = why->frame->lost_ever;
	if (!why->begun && why->frame->nr_cpus)
		ret = begin(why);
	if (ret < 0)
		return ret;
	ret = cmt_culprit_add_frame(why->culprit, why->frame);
	if (ret >= 0 && !why->learned)
		ret = say_learned(why);
	if (ret >= 0)
		ret = tell_all(why);
	return ret < 0 ? ret : 1;
}

/* What is no reading: names, and what kept containers from running. */
static int look(struct why *why)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	if (!why->frame || now - why->looked_ns < LOOK_NS)
		return 0;
	why->looked_ns = now;
	why->state.real_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - now);
	ret = cmt_usage_refresh(why->usage, CMT_USAGE_NAMES);
	/* where there are no cgroups, or no files of them, that is not known */
	if (!ret && cmt_culprit_refresh(why->culprit, why->frame, NULL) > 0)
		ret = tell_all(why);
	return ret;
}

static int wait_for_time(const struct why *why)
{
	struct pollfd fds[] = {
		{ .fd = cmt_device_fd(why->dev) },	/* only errors */
		{ .fd = STDOUT_FILENO },
	};
	int ret = signals_poll(fds, sizeof(fds) / sizeof(fds[0]), WAIT_NS);

	if (ret < 0)
		return ret == -EINTR ? 0 : ret;
	if (fds[0].revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	return fds[1].revents & (POLLERR | POLLHUP | POLLNVAL) ? -EPIPE : 0;
}

static int run(struct why *why)
{
	int ret = 0;

	while (!ret && !signal_stop &&
	       clock_ns(CLOCK_MONOTONIC) < why->until_ns) {
		ret = wait_for_time(why);
		for (int i = 0; !ret && i < FRAMES; i++) {
			ret = next_frame(why);
			if (ret <= 0)
				break;
			ret = 0;
		}
		if (!ret)
			ret = look(why);
		if (!ret && why->frame &&
		    why->frame->sampling_ns > SLOT_NS)
			return check_interval(why->frame->sampling_ns);
	}
	return ret;
}

static int end(struct why *why)
{
	struct cmt_culprit_flow flows[FLOWS];
	struct why_names names[FLOWS];
	struct why_end last = {
		.counts = { .sz = sizeof(last.counts) }, .lost = why->lost,
		.flows = flows, .names = names,
	};
	struct text text;
	int ret = cmt_culprit_standing(why->culprit, flows, FLOWS);

	if (!why->frame)
		return 0;
	last.nr_flows = ret > 0 ? (uint32_t)ret : 0;
	for (uint32_t i = 0; i < last.nr_flows; i++) {
		name_of(why, &names[i].victim, flows[i].id);
		name_of(why, &names[i].suspects[0], flows[i].by);
	}
	cmt_culprit_counts(why->culprit, &last.counts);
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_end(text.out, &why->state, &last);
	return text_write(&text, STDOUT_FILENO, ret);
}

/* Owners times L3 domains, of which nobody tells how many there are. */
static uint32_t room_for(const struct cmt_info *info)
{
	uint32_t most = 8 * info->nr_rmids;

	return most < ROOM_LEAST ? ROOM_LEAST : most > ROOM_MOST ? ROOM_MOST : most;
}

static int open_both(struct why *why)
{
	const struct cmt_usage_opts usage = {
		.sz = sizeof(usage), .device = why->dev,
		.by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_DOMAINS,
		.interval_ns = SLOT_NS, .slot_ns = SLOT_NS,
		.counters = why->config->counters & ~CMT_F_CHANNEL,
	};
	const struct cmt_culprit_opts culprit = {
		.sz = sizeof(culprit),
		.max_owners = room_for(cmt_device_info(why->dev)),
		.unit_bytes = cmt_device_info(why->dev)->upscale_bytes,
		.cooldown_ns = AGAIN_NS,
	};
	int ret = cmt_usage_new(&why->usage, &usage);

	if (!ret)
		ret = cmt_usage_refresh(why->usage, CMT_USAGE_NAMES);
	return ret ? ret : cmt_culprit_new(&why->culprit, &culprit);
}

static int run_open(struct why *why)
{
	const struct config *config = why->config;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret, last;

	why->state.real_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - now);
	why->until_ns = config->count ? now + config->count * config->interval_ns :
					UINT64_MAX;
	signals_setup(false);
	ret = run(why);
	last = ret ? 0 : end(why);
	return ret ? ret : last;
}

int why_run(const struct config *config, struct cmt_device *dev)
{
	struct why why = { .config = config, .dev = dev };
	uint32_t interval_ns;
	int ret = check_events(cmt_device_info(dev));

	if (!ret && !cmt_device_interval(dev, &interval_ns))
		ret = check_interval(interval_ns);
	if (ret)
		return ret;
	ret = open_both(&why);
	if (ret)
		error_reader(stderr, "cmtstat", ret);
	else
		ret = run_open(&why);
	cmt_culprit_free(why.culprit);
	cmt_usage_free(why.usage);
	if (ret < 0 && ret != -EPIPE && ret != -EINTR)
		error_plain(stderr, "cmtstat", ret == -ENODEV ?
			    "the device is gone" : "stopped", ret);
	return ret && ret != -EPIPE && ret != -EINTR ? EXIT_RUNTIME : 0;
}
