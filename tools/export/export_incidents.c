// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_incidents.h"

#include <errno.h>
#include <stdlib.h>

#include "common/format.h"
#include "common/signals.h"
#include "watch/why_slower.h"

#define COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define STEP 1024U	/* slots between two looks at signals */
#define CLOCK_STEP_NS 1000000ULL	/* less is drift of the clock */

/* From @from_ns on, CLOCK_REALTIME less CLOCK_MONOTONIC is @offset_ns. */
struct clock_step {
	uint64_t from_ns;
	int64_t offset_ns;
};

struct taking {
	struct span *span;
	struct export_session *session;
	struct replay replay;
	struct watch watch;
	struct clock_step *steps;	/* by time; the first one from 0 on */
	uint32_t nr_steps;
};

static int add_step(struct taking *taking, uint64_t from_ns)
{
	struct clock_step *steps = reallocarray(taking->steps, taking->nr_steps + 1,
						sizeof(*steps));

	if (!steps)
		return -ENOMEM;
	taking->steps = steps;
	steps[taking->nr_steps++] = (struct clock_step){ from_ns, taking->replay.offset_ns };
	return 0;
}

/* Was the clock set in this slot?  Two clocks drift apart a little all the time. */
static int look_at_clock(struct taking *taking)
{
	uint64_t before = (uint64_t)taking->steps[taking->nr_steps - 1].offset_ns;
	uint64_t step = (uint64_t)taking->replay.offset_ns - before;

	if (step < CLOCK_STEP_NS || -step < CLOCK_STEP_NS)
		return 0;
	return add_step(taking, taking->watch.frame->start_ns);
}

/* An incident is told at its end: the clock may have been set since its begin. */
static int64_t offset_at(const struct taking *taking, uint64_t ns)
{
	uint32_t i = taking->nr_steps - 1;

	while (i && taking->steps[i].from_ns > ns)
		i--;
	return taking->steps[i].offset_ns;
}

static int take(void *ctx, const struct why_incident *incident)
{
	struct taking *taking = ctx;

	taking->session->origin.clock_known = taking->replay.clock_known;
	taking->session->origin.clock_ns = (uint64_t)offset_at(taking, incident->told->begin_ns);
	return export_incident(taking->session, incident, taking->span->emulated);
}

/* Returns 1, 0: the part has ended, or what can be judged of it, or -errno. */
static int next_slot(struct taking *taking)
{
	const struct cmt_usage_frame *frame = taking->watch.frame;
	int ret;

	/* the engine is given what replay --why gives it */
	if (frame && frame->end_ns >= taking->span->end_ns)
		return 0;
	ret = watch_next(&taking->watch);
	if (ret <= 0)
		return ret;
	frame = taking->watch.frame;
	taking->span->emulated |= frame->emulated;
	ret = look_at_clock(taking);
	if (!ret)
		ret = why_take_ended(&taking->watch, take, taking);
	return ret ? ret : 1;
}

static int take_all(struct taking *taking)
{
	int ret = 1;

	for (uint32_t i = 0; ret > 0; i++) {
		if (i % STEP == 0 && signals_stopped())
			return -EINTR;
		ret = next_slot(taking);
		if (ret > 0 && i % STEP == 0)
			span_show_progress(taking->span, taking->watch.frame->end_ns);
	}
	return ret ? ret : why_take_open(&taking->watch, take, taking);
}

static void tell_unknown(const struct taking *taking)
{
	char reason[CMT_REASON_LEN], escaped[4 * CMT_REASON_LEN + 1];

	if (taking->watch.coarse_ns > taking->span->first_ns)
		fprintf(stderr, "%s: incidents need a sampling interval of 1 ms or less: time with a longer one is not judged\n",
			taking->span->opts.program);
	if (!watch_never_counted(&taking->watch, COUNTERS, reason))
		return;
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	fprintf(stderr, "%s: slowdown by cache and memory is not known: the recording does not have all counters of the processor: %s\n",
		taking->span->opts.program, escaped);
}

int export_incidents(struct span *span, struct export_session *session)
{
	struct taking taking = {
		.span = span, .session = session, .replay = span_replay(span),
	};
	int ret = taking.replay.info ? 0 : -EBADMSG;

	if (session->format->needs_clock && !span->clock_known) {
		fprintf(stderr, "%s: the recording has no wall-clock time\n",
			span->opts.program);
		return -ENODATA;
	}
	/* a recording has one usage: the watch's */
	cmt_usage_free(span->usage);
	span->usage = NULL;
	if (!ret)
		ret = add_step(&taking, 0);
	if (!ret)
		ret = watch_open_replay(&taking.watch, &taking.replay, span->first_ns, 0,
					WATCH_AGAIN_NS);
	if (!ret)
		ret = take_all(&taking);
	if (!ret)
		tell_unknown(&taking);
	watch_close(&taking.watch);
	free(taking.steps);
	return ret;
}
