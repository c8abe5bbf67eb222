// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/format.h"
#include "common/signals.h"
#include "config/subcommand.h"
#include "output.h"
#include "report.h"

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

static int find_times(const struct report_config *config, const struct replay *replay,
		      struct report_opts *opts)
{
	if (!replay->about.start_ns) {
		say(replay->path, "there is no record in it");
		return EXIT_RUNTIME;
	}
	return excerpt_find(&config->excerpt, replay, REPORT_NAME, &opts->from_ns,
			    &opts->to_ns) ? EXIT_RUNTIME : 0;
}

/* The reader of a page on standard output has gone: that is no failure. */
static int say_unwritten(const struct report_config *config, int err)
{
	bool is_file = strcmp(config->excerpt.output, "-");

	if (!err || (err == -EPIPE && !is_file))
		return 0;
	if (err == -EINTR)
		error_ended(stderr, REPORT_NAME, is_file ? config->excerpt.output : NULL,
			    is_file ? "is not written" : "is incomplete");
	else
		say(config->excerpt.output, strerror(-err));
	return EXIT_RUNTIME;
}

static int write_page(const struct report_config *config, struct report *report)
{
	struct output output;
	int ret = output_open(&output, config->excerpt.output);

	if (!ret)
		ret = output_close(&output, report_write(report, output.file, config->size));
	return say_unwritten(config, ret);
}

/* That of the page: a temporary directory may be in memory. */
static void find_directory(char directory[PATH_MAX], const char *output)
{
	const char *slash = strrchr(output, '/');

	snprintf(directory, PATH_MAX, ".");
	if (slash && (size_t)(slash - output) < PATH_MAX)
		snprintf(directory, PATH_MAX, "%.*s/", (int)(slash - output), output);
}

/* NULL: it is not about the recording, but about the directory of the page. */
static const char *why(int err)
{
	switch (err) {
	case -ERANGE:
		return "its times are more than a week apart: see --from and --to";
	case -ENODATA:
		return "nothing was read in that time";
	case -EBADMSG:
	case -EIO:
	case -ENOMEM:
		return strerror(-err);
	default:
		return NULL;
	}
}

static int make_page(const struct report_config *config, struct replay *replay,
		     struct report_opts *opts)
{
	struct report *report = calloc(1, sizeof(*report));
	char directory[PATH_MAX];
	int ret;

	if (!report)
		return EXIT_RUNTIME;
	find_directory(directory, config->excerpt.output);
	opts->directory = directory;
	ret = report_open(report, replay, opts);
	if (ret && why(ret))
		say(replay->path, why(ret));
	else if (ret)
		say_unwritten(config, ret);
	ret = ret ? EXIT_RUNTIME : write_page(config, report);
	report_close(report);
	free(report);
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
	if (!config->excerpt.output)
		return options_usage(&report_program, stderr, "where to?  -o PAGE");
	if (is_same_file(config->excerpt.output, argv[optind]))
		return options_usage(&report_program, stderr,
				     "-o: that is the recording itself");
	return 0;
}

int report_main(int argc, char **argv)
{
	struct report_config config = { .size = REPORT_SIZE };
	struct report_opts opts = { .progress = true, .is_stopped = signals_stopped };
	struct replay replay;
	int status, ret;

	if (!subcommand_parse(&report_program, &config, argc, argv, &status))
		return status;
	status = check(&config, argc, argv);
	if (status)
		return status;
	signals_setup(false);
	ret = replay_open(&replay, argv[optind]);
	opts.file = basename(argv[optind]);
	status = ret ? say_unread(&replay, ret) : find_times(&config, &replay, &opts);
	if (!status)
		status = make_page(&config, &replay, &opts);
	replay_close(&replay);
	return status;
}
