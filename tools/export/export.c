// SPDX-License-Identifier: GPL-2.0-or-later
/* cmtstat export: a recording in the formats of others. */
#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/errors.h"
#include "common/format.h"
#include "common/signals.h"
#include "config/subcommand.h"
#include "export_incidents.h"

#define SECOND_NS 1000000000ULL
#define PROGRAM "cmtstat export"

/* 1 ms, 2 ms, 5 ms, 10 ms, ... */
static uint64_t coarser(uint64_t grain_ns)
{
	uint64_t decade = 1;

	while (decade * 10 <= grain_ns)
		decade *= 10;
	if (grain_ns < 2 * decade)
		return 2 * decade;
	return grain_ns < 5 * decade ? 5 * decade : 10 * decade;
}

/*
 * The greatest number of rows in an interval of a second.  @rows: 0 without rows.  Read
 * separately, so that damage counts once.
 */
static int count_rows(const struct span_opts *opts, uint64_t *rows)
{
	struct span_opts coarse = *opts;
	const struct cmt_usage_frame *frame;
	struct span span;
	int ret;

	coarse.grain_ns = SECOND_NS;
	ret = span_open(&span, &coarse);
	ret = ret ? ret : span_begin(&span);
	*rows = 0;
	while (!ret && (ret = span_next(&span, &frame)) > 0) {
		if (*rows < frame->nr_rows)
			*rows = frame->nr_rows;
		ret = 0;
	}
	progress_end(&span.progress);
	span_close(&span);
	return ret;
}

/* A viewer shall stay usable: where the part is long, intervals are, too. */
static int bound_points(struct span *span)
{
	uint64_t wanted = span->opts.grain_ns, grain = wanted, rows, length;
	char was[FORMAT_LEN], is[FORMAT_LEN];
	int ret = count_rows(&span->opts, &rows);

	if (ret)
		return ret;
	length = span->end_ns - span->first_ns;
	while (length / grain * rows * EXPORT_ROW_POINTS > EXPORT_POINTS &&
	       grain < SPAN_MAX_GRAIN_NS)
		grain = coarser(grain);
	grain = grain < SPAN_MAX_GRAIN_NS ? grain : SPAN_MAX_GRAIN_NS;
	span->opts.grain_ns = grain;
	if (grain != wanted)
		fprintf(stderr, PROGRAM ": intervals of %s in place of %s: a viewer shows about %u points; --from and --to choose a part\n",
			format_duration(is, grain), format_duration(was, wanted),
			EXPORT_POINTS);
	return 0;
}

static int write_frames(struct span *span, struct export_session *session)
{
	const struct cmt_usage_frame *frame;
	int ret;

	while ((ret = span_next(span, &frame)) > 0) {
		session->origin.clock_known = span->clock_known;
		session->origin.clock_ns = span->clock_ns;
		if (session->format->needs_clock && !span->clock_known) {
			fprintf(stderr, PROGRAM ": the recording has no wall-clock time\n");
			return -ENODATA;
		}
		ret = session->format->frame(session, frame);
		if (ret)
			break;
	}
	return ret;
}

static int write_rows(struct span *span, struct export_session *session, bool incidents)
{
	return incidents ? export_incidents(span, session) : write_frames(span, session);
}

static int write_all(struct span *span, struct out *out, const struct export_config *config)
{
	const struct export_format *format = config->format;
	struct export_session session = {
		.format = format, .out = out,
		.columns = config->incidents ? export_incident_columns : export_columns,
		.origin = { .node = span->about.host, .boot = span->about.boot_id,
			    .begin_ns = span->about.start_ns },
		.grain_ns = span->opts.grain_ns,
	};
	int ret = span_begin(span), err;

	if (ret)
		return ret;
	if (format->begin)
		ret = format->begin(&session);
	if (!ret)
		ret = write_rows(span, &session, config->incidents);
	err = session.state || !ret ? format->end ? format->end(&session) : 0 : 0;
	span_report(span);
	if (!ret && !session.rows)
		fprintf(stderr, PROGRAM ": there is no %s in this part\n",
			config->incidents ? "incident" : "row");
	return ret ? ret : err;
}

/* Where the rows go.  Nothing of a file is lost before the recording was looked at. */
struct target {
	int fd;
	bool named;	/* not standard output, which may be any */
	bool made;	/* a file that was not there */
};

/* Not over the recording itself. */
static int target_open(struct target *target, const struct export_config *config)
{
	const char *path = config->span.excerpt.output;
	struct stat in, out;

	*target = (struct target){ .fd = STDOUT_FILENO, .named = path };
	if (!path)
		return 0;
	/* a link to a file that is not there is there itself */
	target->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	target->made = target->fd >= 0;
	if (!target->made && errno == EEXIST)
		target->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (target->fd < 0)
		return -errno;
	if (fstat(config->span.fd, &in) || fstat(target->fd, &out))
		return -errno;
	return in.st_dev == out.st_dev && in.st_ino == out.st_ino ? -EEXIST : 0;
}

/* Only a regular file has a length. */
static int target_begin(struct target *target)
{
	if (!target->named || !ftruncate(target->fd, 0) || errno == EINVAL)
		return 0;
	return -errno;
}

/* Without capabilities it may have to stay, empty. */
static void target_forget(const struct target *target, const struct export_config *config)
{
	if (target->made)
		unlink(config->span.excerpt.output);
}

static int target_close(struct target *target)
{
	if (target->fd < 0 || !target->named || !close(target->fd))
		return 0;
	return -errno;
}

static int export_to(const struct export_config *config, struct span *span, int fd)
{
	struct out out;
	int ret = out_open(&out, fd), err;

	if (!ret && config->format->bounded)
		ret = bound_points(span);
	if (!ret)
		ret = write_all(span, &out, config);
	err = out_close(&out);
	return ret ? ret : err;
}

/* Rows for a person, who may have seen enough; a program takes all of a binary format. */
static bool is_text(const struct export_config *config)
{
	return config->format == &export_csv || config->format == &export_ndjson;
}

static int say(const struct export_config *config, const char *what, int err)
{
	/* the reader of the output has gone */
	if (!err || (err == -EPIPE && !config->span.excerpt.output && is_text(config)))
		return EXIT_SUCCESS;
	if (err == -EINTR)
		error_ended(stderr, PROGRAM, config->span.excerpt.output, "is incomplete");
	else
		error_plain(stderr, PROGRAM, what, err);
	return EXIT_RUNTIME;
}

static int say_unopened(const char *path, int err)
{
	char shown[4 * PATH_MAX];

	escape_text(shown, sizeof(shown), path, ESCAPE_ASCII);
	if (err == -EEXIST)
		fprintf(stderr, PROGRAM ": -o %s: that is the recording itself\n", shown);
	else
		error_plain(stderr, PROGRAM, shown, err);
	return EXIT_RUNTIME;
}

static int export_file(const struct export_config *config, struct target *target)
{
	struct span span;
	int ret = span_open(&span, &config->span), err;

	if (ret) {
		span_close(&span);
		target_forget(target, config);
		target_close(target);
		return EXIT_RUNTIME;
	}
	ret = target_begin(target);
	if (!ret)
		ret = export_to(config, &span, target->fd);
	err = target_close(target);
	span_close(&span);
	return say(config, "stopped, not all is written", ret ? ret : err);
}

/* Capabilities are for the two files, and for nothing that is in them. */
static int run(struct export_config *config)
{
	struct target target;
	int ret;

	if (span_file(&config->span))
		return EXIT_RUNTIME;
	ret = target_open(&target, config);
	if (ret) {
		target_close(&target);
		ret = say_unopened(config->span.excerpt.output, ret);
	} else {
		ret = caps_drop(false);
		ret = ret ? say(config, "cannot drop capabilities", ret) :
			    export_file(config, &target);
	}
	close(config->span.fd);
	return ret;
}

/* NULL, or the error in the arguments */
static const char *misused(const struct export_config *config, int operands)
{
	if (!config->format)
		return "one of --csv, --ndjson, --perfetto and --clickhouse is needed";
	if (config->incidents && !config->format->row)
		return "--by incident: not with --perfetto";
	if (config->incidents && config->span.grain_ns)
		return "--by incident: not with --grain";
	if (operands != 1)
		return "one recording is needed";
	return NULL;
}

int export_main(int argc, char **argv)
{
	struct export_config config = { .span = { .program = PROGRAM, .aligned = true } };
	const char *why;
	int status;

	if (!subcommand_parse(&export_program, &config, argc, argv, &status))
		return status;
	why = misused(&config, argc - optind);
	if (why)
		return options_usage(&export_program, stderr, "%s", why);
	config.span.path = argv[optind];
	if (!config.span.grain_ns)
		config.span.grain_ns = config.format->grain_ns;
	if (!config.span.excerpt.output && !is_text(&config) && isatty(STDOUT_FILENO))
		return options_usage(&export_program, stderr,
				     "binary output: not to a terminal, see --output");
	signals_setup(false);
	return run(&config);
}
