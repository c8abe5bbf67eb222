// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_incidents.h"

#include <errno.h>

#include "common/clock_steps.h"
#include "common/format.h"
#include "common/signals.h"
#include "watch/why_slower.h"

#define COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define STEP 1024U	/* slots between two looks at signals */

struct taking {
	struct span *span;
	struct export_session *session;
	struct replay replay;
	struct watch watch;
	struct clock_steps clock;
};

static int note_clock(struct taking *taking, uint64_t from_ns)
{
	if (!taking->replay.clock_known)
		return 0;
	return clock_steps_add(&taking->clock, from_ns, taking->replay.offset_ns);
}

static int take(void *ctx, const struct why_incident *incident)
{
	struct taking *taking = ctx;

	/* an incident is told at its end: the clock may have been set since its begin */
	taking->session->origin.clock_known = taking->clock.nr;
	if (taking->clock.nr)
		taking->session->origin.clock_ns =
			(uint64_t)clock_steps_at(&taking->clock, incident->told->begin_ns);
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
	ret = note_clock(taking, frame->start_ns);
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
		ret = note_clock(&taking, 0);
	if (!ret)
		ret = watch_open_replay(&taking.watch, &taking.replay, span->first_ns, 0,
					WATCH_AGAIN_NS);
	if (!ret)
		ret = take_all(&taking);
	if (!ret)
		tell_unknown(&taking);
	watch_close(&taking.watch);
	clock_steps_free(&taking.clock);
	return ret;
}
