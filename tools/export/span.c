// SPDX-License-Identifier: GPL-2.0-or-later
#include "span.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "common/format.h"
#include "common/signals.h"

#define SECOND_NS	1000000000ULL
#define STEP_NS		(SECOND_NS / 1000)	/* less is drift of the clock, and no step */

static int complain(const struct span_opts *opts, struct cmt_recording *recording, int err)
{
	const struct replay replay = { .path = opts->path, .recording = recording };
	char name[4 * PATH_MAX], buf[128];
	const char *why = replay_why(&replay, err, buf);

	escape_text(name, sizeof(name), opts->path, ESCAPE_ASCII);
	if (why)
		fprintf(stderr, "%s: %s: %s\n", opts->program, name, why);
	else
		error_plain(stderr, opts->program, name, err);
	return err;
}

int span_complain(const struct span *span, int err)
{
	return complain(&span->opts, span->recording, err);
}

struct replay span_replay(const struct span *span)
{
	const struct cmt_recording_about *about = &span->about;

	return (struct replay){
		.path = span->opts.path, .fd = -1, .recording = span->recording,
		.about = *about, .info = cmt_recording_info(span->recording),
		.from_ns = span->first_ns, .to_ns = span->end_ns,
		.clock_known = about->realtime_ns,
		.offset_ns = (int64_t)(about->realtime_ns - about->monotonic_ns),
	};
}

/* Find the wanted part in the recording. */
static int find_part(struct span *span)
{
	const struct replay replay = span_replay(span);

	span->clock_known = replay.clock_known;
	span->clock_ns = (uint64_t)replay.offset_ns;
	return excerpt_find(&span->opts.excerpt, &replay, span->opts.program, &span->first_ns,
			    &span->end_ns);
}

int span_file(struct span_opts *opts)
{
	opts->fd = replay_file(opts->path);
	return opts->fd < 0 ? complain(opts, NULL, opts->fd) : 0;
}

int span_open(struct span *span, const struct span_opts *opts)
{
	int ret;

	*span = (struct span){ .opts = *opts, .about.sz = sizeof(span->about) };
	snprintf(span->what, sizeof(span->what), "%s: reading", opts->program);
	ret = cmt_recording_open_fd(&span->recording, opts->fd);
	if (ret)
		span->recording = NULL;
	else if (!cmt_recording_info(span->recording))
		ret = -EBADMSG;
	else
		ret = cmt_recording_about(span->recording, &span->about);
	if (ret)
		return span_complain(span, ret);
	return find_part(span);
}

void span_close(struct span *span)
{
	cmt_usage_free(span->usage);
	if (span->recording)
		cmt_recording_close(span->recording);
	span->usage = NULL;
	span->recording = NULL;
}

/* A value needs the reading before it: the first interval is read, and not returned. */
static uint64_t seek_to(const struct span *span)
{
	uint64_t before = SECOND_NS + span->opts.grain_ns;

	return span->first_ns > span->about.start_ns + before ?
	       span->first_ns - before : span->about.start_ns;
}

int span_begin(struct span *span)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = span->opts.by,
		.flags = CMT_USAGE_BOUNDED | (span->opts.aligned ? CMT_USAGE_ALIGNED : 0),
		.interval_ns = span->opts.grain_ns, .recording = span->recording,
	};
	int ret;

	cmt_usage_free(span->usage);
	span->usage = NULL;
	ret = cmt_recording_seek(span->recording, seek_to(span));
	if (!ret)
		ret = cmt_usage_new(&span->usage, &opts);
	if (ret)
		return ret;
	span->clock_known = span->about.realtime_ns;
	span->clock_ns = span->about.realtime_ns - span->about.monotonic_ns;
	progress_begin(&span->progress, span->what);
	return 0;
}

/* Two clocks drift apart a little all the time: times shall not waver for that. */
static void look_at_clock(struct span *span)
{
	const struct cmt_recording_state *state;
	uint64_t clock_ns, step;

	if (cmt_usage_state(span->usage, &state) < 0 || !state->realtime_ns)
		return;
	clock_ns = state->realtime_ns - state->monotonic_ns;
	step = clock_ns - span->clock_ns;
	if (span->clock_known && (step < STEP_NS || -step < STEP_NS))
		return;
	span->clock_known = true;
	span->clock_ns = clock_ns;
}

void span_show_progress(struct span *span, uint64_t at_ns)
{
	progress_show(&span->progress, at_ns - span->first_ns,
		      span->end_ns - span->first_ns);
}

int span_next(struct span *span, const struct cmt_usage_frame **frame)
{
	int ret;

	do {
		if (signals_stopped())
			return -EINTR;
		ret = cmt_usage_next(span->usage, frame);
		if (ret < 0 || (!ret && cmt_usage_timeout(span->usage)))
			return ret;
		if (ret)
			look_at_clock(span);
	} while (!ret || (*frame)->end_ns <= span->first_ns || !(*frame)->end_ns);
	if ((*frame)->start_ns >= span->end_ns)
		return 0;
	span->emulated |= (*frame)->emulated;
	span_show_progress(span, (*frame)->end_ns);
	return 1;
}

uint32_t span_rounded_bits(const struct span *span)
{
	return replay_rounded_bits(&span->about, cmt_recording_info(span->recording));
}

void span_report(struct span *span)
{
	struct cmt_recording_about *about = &span->about;
	char name[4 * PATH_MAX];

	progress_end(&span->progress);
	escape_text(name, sizeof(name), span->opts.path, ESCAPE_ASCII);
	if (span->emulated)
		fprintf(stderr, "%s: %s: EMULATED: these values come from a model, not from hardware\n",
			span->opts.program, name);
	if (span_rounded_bits(span))
		fprintf(stderr, "%s: %s: " REPLAY_ROUNDED "\n", span->opts.program, name,
			span_rounded_bits(span));
	if (cmt_recording_about(span->recording, about))
		return;
	if (about->damaged || about->missing)
		fprintf(stderr, "%s: %s: the recording is damaged: %" PRIu64 " parts, %" PRIu64
			" chunks missing; intervals there say so\n",
			span->opts.program, name, about->damaged, about->missing);
	if (!(about->flags & CMT_RECORDING_COMPLETE))
		fprintf(stderr, "%s: %s: the recording has no end: it was cut off, or is being written\n",
			span->opts.program, name);
}
