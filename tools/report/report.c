// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>

#include "command.h"
#include "common/progress.h"
#include "watch/why_slower.h"

#define AGAIN_NS	10000000000ULL	/* as of --why */
#define CLOCK_SET_NS	500000000LL	/* a greater change of the clock was no slewing */
#define FRAMES		256U		/* the interval between readings of the clock */
#define JUDGE_NS	1000000000ULL
#define PROCESSES_NS	1000000000ULL	/* the resolution of the values of processes */

/* The recorder notes the clock now and then. */
static void check_clock(struct report *report)
{
	int64_t change = report->replay->offset_ns - report->offset_ns;

	report->offset_ns = report->replay->offset_ns;
	if (change > CLOCK_SET_NS || change < -CLOCK_SET_NS)
		report->about.clock_set++;
}

static int take_verdicts(struct report *report)
{
	const struct cmt_culprit_verdict *verdict;
	struct why_names names;
	int ret = 0;

	while (!ret && watch_verdict(&report->watch, &verdict, &names) > 0)
		if (verdict->ts_ns >= report->opts->from_ns)
			ret = model_verdict(&report->model, verdict, &names);
	return ret;
}

static int take_incident(void *ctx, const struct why_incident *incident)
{
	struct report *report = ctx;

	return incidents_add(&report->model.incidents, incident);
}

/* Once a second: that is what the engine judges by. */
static void take_little(struct report *report)
{
	static struct slower_little little;

	if (report->watch.frame->end_ns < report->judge_ns || watch_is_coarse(&report->watch))
		return;
	report->judge_ns = report->watch.frame->end_ns + JUDGE_NS;
	slower_read_little(report->watch.culprit, &little);
	model_judge(&report->model, &little);
}

/*
 * Frames before the begin are only for the engine's baselines.  The first frame of the report
 * has all rows: what is not known of a member before its first row looks as if it was not there.
 */
static int take_frame(struct report *report)
{
	const struct cmt_usage_frame *frame = report->watch.frame;
	int ret = 0;

	check_clock(report);
	if (frame->start_ns >= report->model.start_ns)
		ret = model_add(&report->model, frame);
	else
		ret = cmt_usage_refresh(report->watch.usage, CMT_USAGE_NAMES);
	if (!ret)
		ret = take_verdicts(report);
	take_little(report);
	return ret ? ret : why_take_ended(&report->watch, take_incident, report);
}

/* Returns 0 or -EINTR. */
static int check_stop(const struct report *report)
{
	return report->opts->is_stopped && report->opts->is_stopped() ? -EINTR : 0;
}

static int take_frames(struct report *report)
{
	struct progress progress;
	int ret;

	progress_begin(&progress, report->opts->progress ? REPORT_NAME ": reading" : NULL);
	for (uint32_t i = 0;; i++) {
		ret = watch_next(&report->watch);
		if (ret <= 0)
			break;
		ret = take_frame(report);
		if (!ret && i % FRAMES == 0)
			ret = check_stop(report);
		if (ret)
			break;
		if (i % FRAMES == 0)
			progress_show(&progress,
				      report->watch.frame->end_ns - report->opts->from_ns,
				      report->opts->to_ns - report->opts->from_ns);
	}
	progress_end(&progress);
	return ret < 0 ? ret : why_take_open(&report->watch, take_incident, report);
}

static void fill_about(struct report *report)
{
	struct cmt_recording_about *about = &report->replay->about;
	struct page_about *to = &report->about;

	/* reading has found further damage */
	cmt_recording_about(report->replay->recording, about);
	to->host = about->host;
	to->kernel = about->kernel;
	to->recorder = about->program;
	to->info = report->replay->info;
	if (!watch_never_counted(&report->watch, CMT_F_INSTRUCTIONS, to->counters_reason))
		to->counters_reason[0] = '\0';
	to->counter_bits = about->counter_bits;
	to->damaged = about->damaged;
	to->damaged_bytes = about->damaged_bytes;
	to->missing = about->missing;
	to->complete = about->flags & CMT_RECORDING_COMPLETE;
	to->culprit.sz = sizeof(to->culprit);
	cmt_culprit_counts(report->watch.culprit, &to->culprit);
}

static bool has_processes(const struct model *model)
{
	for (uint32_t i = 0; i < model->nr; i++)
		if (model->members[i].parts)
			return true;
	return false;
}

static int take_processes(struct report *report, struct cmt_usage *usage)
{
	const struct cmt_usage_frame *frame;
	struct progress progress;
	int ret;

	progress_begin(&progress, report->opts->progress ? REPORT_NAME ": reading processes" : NULL);
	while ((ret = cmt_usage_next(usage, &frame)) > 0 && frame->start_ns < report->opts->to_ns) {
		if (frame->end_ns <= report->opts->from_ns)
			continue;
		ret = processes_add(&report->processes, frame);
		ret = ret ? ret : check_stop(report);
		if (ret)
			break;
		progress_show(&progress, frame->end_ns - report->opts->from_ns,
			      report->opts->to_ns - report->opts->from_ns);
	}
	progress_end(&progress);
	return ret < 0 ? ret : processes_finish(&report->processes);
}

/* A usage has processes or domains: the recording is read again, at a coarser grain. */
static int read_processes(struct report *report)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_CHILDREN,
		.interval_ns = PROCESSES_NS, .recording = report->replay->recording,
	};
	uint64_t from = report->opts->from_ns;
	struct cmt_usage *usage = NULL;
	int ret;

	/* a rate needs the reading before it */
	from -= from < 2 * PROCESSES_NS ? from : 2 * PROCESSES_NS;
	processes_init(&report->processes, &report->model);
	ret = replay_seek(report->replay, from);
	if (!ret)
		ret = cmt_usage_new(&usage, &opts);
	if (!ret)
		ret = take_processes(report, usage);
	cmt_usage_free(usage);
	report->model.processes_left_out = report->processes.left_out;
	processes_free(&report->processes);
	return ret;
}

static int read_all(struct report *report)
{
	int ret = watch_open_replay(&report->watch, report->replay, report->opts->from_ns, 0,
				    AGAIN_NS);

	report->offset_ns = report->replay->offset_ns;
	if (!ret)
		ret = take_frames(report);
	if (!ret)
		ret = model_finish(&report->model, report->opts->to_ns);
	if (!ret)
		fill_about(report);
	watch_close(&report->watch);
	return !ret && has_processes(&report->model) ? read_processes(report) : ret;
}

int report_open(struct report *report, struct replay *replay, const struct report_opts *opts)
{
	int ret;

	*report = (struct report){ .opts = opts, .replay = replay };
	replay->to_ns = opts->to_ns;
	report->judge_ns = opts->from_ns + JUDGE_NS;
	report->about.file = opts->file;
	report->about.from_memory = opts->from_memory;
	report->about.is_short = opts->is_short;
	report->about.real_known = replay->clock_known;
	report->about.real_ns = replay->offset_ns;
	ret = spool_open(&report->spool, opts->directory);
	model_init(&report->model, &report->spool, replay->info->upscale_bytes,
		   opts->from_ns / MODEL_SLOT_NS * MODEL_SLOT_NS);
	if (!ret)
		ret = read_all(report);
	return ret || report->model.frames ? ret : -ENODATA;
}

void report_close(struct report *report)
{
	model_free(&report->model);
	spool_close(&report->spool);
}

int report_write(struct report *report, FILE *out, uint64_t limit)
{
	return page_write(out, &report->model, &report->about, limit);
}
