// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "caps.h"
#include "errors.h"
#include "format.h"
#include "output.h"
#include "page.h"
#include "progress.h"
#include "subcommands.h"
#include "watch.h"
#include "why_slower.h"

#define AGAIN_NS	10000000000ULL	/* as of --why */
#define CLOCK_SET_NS	500000000LL	/* a greater change of the clock was no slewing */
#define FRAMES		256U		/* the interval between readings of the clock */
#define PROCESSES_NS	1000000000ULL	/* the resolution of the values of processes */

struct report_run {
	const struct report_config *config;
	struct replay replay;
	struct watch watch;
	struct spool spool;
	struct model model;
	struct processes processes;
	struct page_about about;
	uint64_t from_ns, to_ns;	/* to_ns: exclusive */
	int64_t offset_ns;	/* of the clock, the last one */
};

static void say(const char *path, const char *why)
{
	char shown[4 * PATH_MAX];

	escape_text(shown, sizeof(shown), path, ESCAPE_ASCII);
	fprintf(stderr, REPORT_NAME ": %s: %s\n", shown, why);
}

static int say_unread(const struct replay *replay, int err)
{
	char buf[128];
	const char *why = replay_why(replay, err, buf);

	say(replay->path, why ? why : strerror(-err));
	return EXIT_RUNTIME;
}

static int find_times(struct report_run *run)
{
	if (!run->replay.about.start_ns) {
		say(run->replay.path, "there is no record in it");
		return EXIT_RUNTIME;
	}
	return part_find(&run->config->part, &run->replay, REPORT_NAME, &run->from_ns,
			 &run->to_ns) ? EXIT_RUNTIME : 0;
}

/* The recorder notes the clock now and then. */
static void check_clock(struct report_run *run)
{
	int64_t change = run->replay.offset_ns - run->offset_ns;

	run->offset_ns = run->replay.offset_ns;
	if (change > CLOCK_SET_NS || change < -CLOCK_SET_NS)
		run->about.clock_set++;
}

static int take_verdicts(struct report_run *run)
{
	const struct cmt_culprit_verdict *verdict;
	struct why_names names;
	int ret = 0;

	while (!ret && watch_verdict(&run->watch, &verdict, &names) > 0)
		if (verdict->ts_ns >= run->from_ns)
			ret = model_verdict(&run->model, verdict, &names);
	return ret;
}

static int take_incident(void *ctx, const struct why_incident *incident)
{
	struct report_run *run = ctx;

	return incident->told->end_ns < run->from_ns ?
	       0 : incidents_add(&run->model.incidents, incident);
}

/* Frames before the begin are only for the engine's baselines. */
static int take_frame(struct report_run *run)
{
	const struct cmt_usage_frame *frame = run->watch.frame;
	int ret = 0;

	check_clock(run);
	if (frame->start_ns >= run->model.start_ns)
		ret = model_add(&run->model, frame);
	if (!ret)
		ret = take_verdicts(run);
	return ret ? ret : why_take_ended(&run->watch, take_incident, run);
}

static int take_frames(struct report_run *run)
{
	struct progress progress;
	int ret;

	progress_begin(&progress, REPORT_NAME ": reading");
	for (uint32_t i = 0;; i++) {
		ret = watch_next(&run->watch);
		if (ret <= 0 || run->watch.frame->start_ns >= run->to_ns)
			break;
		ret = take_frame(run);
		if (ret)
			break;
		if (i % FRAMES == 0)
			progress_show(&progress,
				      run->watch.frame->end_ns - run->from_ns,
				      run->to_ns - run->from_ns);
	}
	progress_end(&progress);
	return ret < 0 ? ret : why_take_open(&run->watch, take_incident, run);
}

static void fill_about(struct report_run *run)
{
	struct cmt_recording_about *about = &run->replay.about;
	struct page_about *to = &run->about;

	/* reading has found further damage */
	cmt_recording_about(run->replay.recording, about);
	to->host = about->host;
	to->kernel = about->kernel;
	to->recorder = about->program;
	to->info = run->replay.info;
	to->counters_reason = about->counters & ~(CMT_F_CHANNEL | CMT_F_WAITED) ?
			      NULL : "the recording has none";
	to->counter_bits = about->counter_bits;
	to->damaged = about->damaged;
	to->damaged_bytes = about->damaged_bytes;
	to->missing = about->missing;
	to->complete = about->flags & CMT_RECORDING_COMPLETE;
	to->culprit.sz = sizeof(to->culprit);
	cmt_culprit_counts(run->watch.culprit, &to->culprit);
}

static bool has_processes(const struct model *model)
{
	for (uint32_t i = 0; i < model->nr; i++)
		if (model->members[i].parts)
			return true;
	return false;
}

static int take_processes(struct report_run *run, struct cmt_usage *usage)
{
	const struct cmt_usage_frame *frame;
	struct progress progress;
	int ret;

	progress_begin(&progress, REPORT_NAME ": reading processes");
	while ((ret = cmt_usage_next(usage, &frame)) > 0 && frame->start_ns < run->to_ns) {
		if (frame->end_ns <= run->from_ns)
			continue;
		ret = processes_add(&run->processes, frame);
		if (ret)
			break;
		progress_show(&progress, frame->end_ns - run->from_ns,
			      run->to_ns - run->from_ns);
	}
	progress_end(&progress);
	return ret < 0 ? ret : processes_finish(&run->processes);
}

/* A usage has processes or domains: the recording is read again, at a coarser grain. */
static int read_processes(struct report_run *run)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_CHILDREN,
		.interval_ns = PROCESSES_NS, .recording = run->replay.recording,
	};
	uint64_t from = run->from_ns;
	struct cmt_usage *usage = NULL;
	int ret;

	/* a rate needs the reading before it */
	from -= from < 2 * PROCESSES_NS ? from : 2 * PROCESSES_NS;
	processes_init(&run->processes, &run->model);
	ret = replay_seek(&run->replay, from);
	if (!ret)
		ret = cmt_usage_new(&usage, &opts);
	if (!ret)
		ret = take_processes(run, usage);
	cmt_usage_free(usage);
	run->model.processes_left_out = run->processes.left_out;
	processes_free(&run->processes);
	return ret;
}

static int write_page(struct report_run *run)
{
	struct output output;
	int ret = output_open(&output, run->config->part.output);

	if (!ret)
		ret = output_close(&output, page_write(output.file, &run->model, &run->about,
						       run->config->size));
	if (ret)
		say(run->config->part.output, strerror(-ret));
	return ret ? EXIT_RUNTIME : 0;
}

static int read_all(struct report_run *run)
{
	int ret = watch_open_replay(&run->watch, &run->replay, run->from_ns, 0,
				    AGAIN_NS);

	run->offset_ns = run->replay.offset_ns;
	if (!ret)
		ret = take_frames(run);
	if (!ret)
		ret = model_finish(&run->model, run->to_ns);
	if (!ret)
		fill_about(run);
	watch_close(&run->watch);
	return !ret && has_processes(&run->model) ? read_processes(run) : ret;
}

/* In the directory of the page: a temporary directory may be in memory. */
static int open_spool(struct report_run *run)
{
	const char *output = run->config->part.output, *slash = strrchr(output, '/');
	char directory[PATH_MAX] = ".";

	if (slash && (size_t)(slash - output) < sizeof(directory))
		snprintf(directory, sizeof(directory), "%.*s/", (int)(slash - output), output);
	return spool_open(&run->spool, directory);
}

static int run_open(struct report_run *run)
{
	int ret = open_spool(run);

	model_init(&run->model, &run->spool, run->replay.info->upscale_bytes,
		   run->from_ns / MODEL_SLOT_NS * MODEL_SLOT_NS);
	if (!ret)
		ret = read_all(run);
	if (ret == -ERANGE)
		say(run->replay.path, "its times are more than a week apart: see --from and --to");
	else if (ret)
		say(run->replay.path, strerror(-ret));
	else if (!run->model.frames)
		say(run->replay.path, "nothing was read in that time");
	else
		ret = write_page(run);
	ret = ret || !run->model.frames ? EXIT_RUNTIME : 0;
	model_free(&run->model);
	spool_close(&run->spool);
	return ret;
}

/* The page must not go where the recording is. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static int check(const struct report_config *config, int argc, char **argv)
{
	if (optind != argc - 1)
		return options_usage(&report_program, stderr, "%s",
				     optind < argc ? "one file at a time" : "which file?");
	if (!config->part.output)
		return options_usage(&report_program, stderr, "where to?  -o PAGE");
	if (is_same_file(config->part.output, argv[optind]))
		return options_usage(&report_program, stderr,
				     "-o: that is the recording itself");
	return 0;
}

int report_main(int argc, char **argv)
{
	struct report_config config = { .size = REPORT_SIZE };
	struct report_run *run;
	int status, ret;

	if (!subcommand_parse(&report_program, &config, argc, argv, &status))
		return status;
	status = check(&config, argc, argv);
	if (status)
		return status;
	run = calloc(1, sizeof(*run));
	if (!run)
		return EXIT_RUNTIME;
	run->config = &config;
	ret = replay_open(&run->replay, argv[optind]);
	if (!ret)
		ret = caps_drop(false);
	run->about.file = basename(argv[optind]);
	run->about.real_known = run->replay.clock_known;
	run->about.real_ns = run->replay.offset_ns;
	status = ret ? say_unread(&run->replay, ret) : find_times(run);
	if (!status)
		status = run_open(run);
	replay_close(&run->replay);
	free(run);
	return status;
}
