// SPDX-License-Identifier: GPL-2.0-or-later
#include "why_session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/errors.h"
#include "common/format.h"
#include "common/signals.h"
#include "common/text.h"
#include "frame/frame.h"
#include "watch/watch.h"
#include "watch/why_slower.h"

#define WAIT_NS		10000000ULL	/* the rings hold more */
#define FRAMES		256		/* the interval between checks for signals */

struct why {
	const struct config *config;
	struct replay *replay;	/* the source in place of a device, or NULL */
	struct watch watch;
	struct why_state state;
	struct remedy_machine machine;
	struct idle_domains idle;
	bool begun;		/* why_view_begin() */
	bool learned;		/* why_view_learned() */
	bool said_slower;	/* why_view_slower(), for the first time */
	uint64_t first_ns;	/* begin of the first frame; 0: there was none */
	uint64_t until_ns;	/* UINT64_MAX: a signal */
};

const char *why_misplaced(const struct config *config, bool replay)
{
	if (config->by != VIEW_CONTAINER)
		return "--why: only --by container";
	if (config->light)
		return "--why: not with --light: it needs the sampling";
	if (config->expand || config->top || config->sort != SORT_DEFAULT ||
	    config->output == OUTPUT_CSV || !config->marks)
		return replay ? "--why: only --from, --to, --interval, --count, --json, --filter and --peak" :
				"--why: only --interval, --count, --json, --filter, --peak, --no-counters and --device";
	return NULL;
}

static int check_interval(uint32_t interval_ns)
{
	char now[FORMAT_LEN];

	if (interval_ns <= WATCH_SLOT_NS)
		return 0;
	fprintf(stderr, "cmtstat: --why needs a sampling interval of 1 ms or less, and it is %s\nSet it, as root: cmtctl interval 1ms\n",
		format_duration(now, interval_ns));
	return EXIT_RUNTIME;
}

/* Of a recording, which has it as it is: returns EXIT_RUNTIME where nothing was judged. */
static int check_recorded(const struct why *why)
{
	if (!why->watch.coarse_ns || why->watch.coarse_ns <= why->replay->from_ns)
		return 0;
	fprintf(stderr, REPLAY_NAME ": --why needs a sampling interval of 1 ms or less: time with a longer one is not judged\n");
	return why->watch.judged_ns > why->replay->from_ns ? 0 : EXIT_RUNTIME;
}

static int tell(struct why *why, const struct cmt_culprit_verdict *verdict,
		const struct why_names *names)
{
	struct text text;
	int ret;

	if (!why_is_wanted(why->config->filter, &names->victim) ||
	    (why->replay && verdict->ts_ns < why->replay->from_ns))
		return 0;
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_verdict(text.out, &why->state, verdict, names);
	return text_write(&text, STDOUT_FILENO, ret);
}

static int tell_all(struct why *why)
{
	const struct cmt_culprit_verdict *verdict;
	struct why_names names;
	int ret = 0;

	while (!ret && watch_verdict(&why->watch, &verdict, &names) > 0)
		ret = tell(why, verdict, &names);
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

static void explain_waits(struct why *why, const struct cmt_info *info)
{
	char *reason = why->state.wait_reason;

	if (info->wait_reason[0])
		memcpy(reason, info->wait_reason, sizeof(info->wait_reason));
	else if (!watch_uncounted(&why->watch, CMT_F_WAITED, reason))
		reason[0] = '\0';
	else if (!reason[0])
		strcpy(reason, "the module does not account it");
}

static void explain_counters(struct why *why)
{
	struct why_state *state = &why->state;

	if (!why->replay && !(why->config->counters & CMT_F_CYCLES))
		strcpy(state->counters_reason, "--no-counters");
	else if (!watch_uncounted(&why->watch, WATCH_COUNTERS, state->counters_reason))
		state->counters_reason[0] = '\0';
}

/* What can be judged here.  Returns 0, or -ENOTSUP after a message: nothing. */
static int explain(struct why *why)
{
	const struct cmt_info *info = why->replay ? why->replay->info :
				      cmt_device_info(why->watch.dev);
	struct why_state *state = &why->state;
	char cache[4 * CMT_REASON_LEN + 1], waits[sizeof(cache)], counters[sizeof(cache)];

	if (!watch_lacks(info, state->cache_reason))
		state->cache_reason[0] = '\0';
	else if (!state->cache_reason[0])
		strcpy(state->cache_reason, "the module does not say why");
	state->cache_lacks = watch_lacks_what(info);
	state->no_occupancy = !(info->events & CMT_F_OCCUPANCY);
	explain_counters(why);
	explain_waits(why, info);
	if (!state->cache_reason[0] || !state->wait_reason[0] || !state->counters_reason[0])
		return 0;
	escape_text(cache, sizeof(cache), state->cache_reason, ESCAPE_ASCII);
	escape_text(waits, sizeof(waits), state->wait_reason, ESCAPE_ASCII);
	escape_text(counters, sizeof(counters), state->counters_reason, ESCAPE_ASCII);
	fprintf(stderr, "cmtstat: --why needs one of three: cache occupancy and memory bandwidth, of which %s unavailable: %s; the processor's counters, which are not counted: %s; what tasks wait for a CPU, which is not accounted: %s\n",
		state->cache_lacks, cache, counters, waits);
	return -ENOTSUP;
}

/* With the first frame in which a CPU ticked: then the values are known. */
static int begin(struct why *why)
{
	struct why_state *state = &why->state;
	struct text text;
	int ret = explain(why);

	why->begun = true;
	if (ret)
		return ret;
	state->json = why->config->output == OUTPUT_JSON;
	state->emulated = why->watch.frame->emulated;
	state->sampling_ns = why->watch.frame->sampling_ns;
	state->owners = count_owners(why->watch.frame);
	if (!why->replay) {
		remedy_machine_read(&why->machine);
		state->machine = &why->machine;
		idle_domains_begin(&why->idle, "");
		state->idle = &why->idle;
		state->l3_bytes = cmt_device_info(why->watch.dev)->l3_bytes;
	}
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

	cmt_culprit_counts(why->watch.culprit, &counts);
	if (!why_is_learned(&counts))
		return 0;
	why->learned = true;
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_learned(text.out, &why->state, &counts);
	return text_write(&text, STDOUT_FILENO, ret);
}

/* A recording goes on after a time that is not judged; without one, such time is the end. */
static bool is_present_judged(const struct why *why)
{
	return !why->replay || !watch_is_coarse(&why->watch);
}

/* All that is slower once after the first second, then what begins and ends. */
static int say_slower(struct why *why)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	if (!is_present_judged(why) ||
	    (why->replay && why->watch.frame->end_ns < why->replay->from_ns))
		return 0;
	if (why->said_slower)
		return why_slower_events(&why->watch, &why->state, why->config->filter);
	if (why->watch.frame->end_ns - why->first_ns < SLOWER_SLOTS * WATCH_SLOT_NS)
		return 0;
	cmt_culprit_counts(why->watch.culprit, &counts);
	if (counts.slots + counts.missing < SLOWER_SLOTS)
		return 0;
	why->said_slower = true;
	return why_slower_now(&why->watch, &why->state, why->config->filter);
}

/* Returns 1 after a frame, 0 or -errno. */
static int next_frame(struct why *why)
{
	int ret = watch_next(&why->watch);

	if (ret <= 0)
		return ret;
	if (why->replay && why->replay->clock_known)
		ret = clock_steps_add(&why->state.clock, why->watch.frame->start_ns,
				      why->replay->offset_ns);
	if (ret < 0)
		return ret;
	if (!why->first_ns)
		why->first_ns = why->watch.frame->start_ns;
	ret = !why->begun && why->watch.frame->nr_cpus ? begin(why) : 0;
	/* counting what is learned takes a look at each owner */
	if (ret >= 0 && !why->learned && !why->watch.frame->brief)
		ret = say_learned(why);
	if (ret >= 0)
		ret = tell_all(why);
	if (ret >= 0 && why->begun)
		ret = say_slower(why);
	return ret < 0 ? ret : 1;
}

static int note_clock(struct why *why)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return clock_steps_add(&why->state.clock, now, (int64_t)(clock_ns(CLOCK_REALTIME) - now));
}

static int look(struct why *why)
{
	int ret = watch_look(&why->watch);

	if (ret <= 0)
		return ret;
	ret = note_clock(why);
	return ret ? ret : tell_all(why);
}

static int wait_for_time(const struct why *why)
{
	struct pollfd fds[] = {
		{ .fd = cmt_device_fd(why->watch.dev) },	/* only errors */
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
		if (!ret && why->watch.frame &&
		    why->watch.frame->sampling_ns > WATCH_SLOT_NS)
			return check_interval(why->watch.frame->sampling_ns);
	}
	return ret;
}

static int end(struct why *why)
{
	struct why_end last = {
		.counts = { .sz = sizeof(last.counts) }, .lost = why->watch.lost,
		.at_least = why->replay && replay_is_damaged(why->replay),
	};
	struct text text;
	int ret;

	if (!why->watch.frame)
		return 0;
	cmt_culprit_counts(why->watch.culprit, &last.counts);
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_end(text.out, &why->state, &last);
	ret = text_write(&text, STDOUT_FILENO, ret);
	if (ret)
		return ret;
	return is_present_judged(why) ?
	       why_slower_now(&why->watch, &why->state, why->config->filter) :
	       why_slower_events(&why->watch, &why->state, why->config->filter);
}

/* --count times --interval; UINT64_MAX: more than a clock counts, 0: not given */
static uint64_t wanted_ns(const struct config *config)
{
	uint64_t ns;

	return __builtin_mul_overflow(config->count, config->interval_ns, &ns) ? UINT64_MAX : ns;
}

static int run_open(struct why *why)
{
	const struct config *config = why->config;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), length = wanted_ns(config);
	int ret = note_clock(why), last;

	if (ret)
		return ret;
	why->until_ns = length && length < UINT64_MAX - now ? now + length : UINT64_MAX;
	signals_setup(false);
	ret = run(why);
	/* also where the sampling interval has become too long */
	last = ret < 0 ? 0 : end(why);
	return ret ? ret : last;
}

int why_run(const struct config *config, struct cmt_device *dev)
{
	struct why why = { .config = config };
	uint32_t interval_ns;
	int ret = 0;

	if (!cmt_device_interval(dev, &interval_ns))
		ret = check_interval(interval_ns);
	if (ret)
		return ret;
	ret = watch_open(&why.watch, dev, config->counters & ~CMT_F_CHANNEL,
			 config->peak_bytes, WATCH_AGAIN_NS);
	if (ret)
		error_reader(stderr, "cmtstat", ret);
	else
		ret = run_open(&why);
	watch_close(&why.watch);
	clock_steps_free(&why.state.clock);
	if (ret < 0 && ret != -EPIPE && ret != -EINTR && ret != -ENOTSUP)
		error_plain(stderr, "cmtstat", ret == -ENODEV ?
			    "the device is gone" : "stopped", ret);
	return ret && ret != -EPIPE && ret != -EINTR ? EXIT_RUNTIME : 0;
}

/* A signal is looked for now and then. */
static int replay_frames(struct why *why)
{
	int ret = 0;

	for (int i = 0; !ret && i < FRAMES; i++) {
		ret = next_frame(why);
		if (ret <= 0)
			return ret ? ret : 1;
		ret = why->watch.frame->end_ns >= why->until_ns;
	}
	return ret;
}

static int run_replay(struct why *why)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	int ret = 0;

	why->until_ns = why->replay->to_ns;
	signals_setup(false);
	while (!ret && !signal_stop) {
		ret = signals_poll(&out, 1, 0);
		ret = ret > 0 ? -EPIPE : 0;
		if (!ret)
			ret = replay_frames(why);
	}
	if (ret < 0)
		return ret;
	ret = check_recorded(why);
	return ret ? ret : end(why);
}

int why_replay(const struct config *config, struct replay *replay)
{
	struct why why = { .config = config, .replay = replay };
	uint64_t from_ns = replay->from_ns, count_ns = wanted_ns(config);
	int ret;

	if (count_ns && replay->to_ns - from_ns > count_ns)
		replay->to_ns = from_ns + count_ns;
	ret = watch_open_replay(&why.watch, replay, from_ns, config->peak_bytes,
				WATCH_AGAIN_NS);
	replay->from_ns = from_ns;
	if (!ret)
		ret = run_replay(&why);
	if (ret > 0 || ret == -EPIPE || ret == -EINTR)
		ret = ret > 0 ? EXIT_RUNTIME : 0;
	else if (ret && ret != -ENOTSUP)
		error_plain(stderr, REPLAY_NAME, "stopped", ret);
	replay->lost = why.watch.lost;
	watch_close(&why.watch);
	clock_steps_free(&why.state.clock);
	return ret < 0 ? EXIT_RUNTIME : ret;
}
