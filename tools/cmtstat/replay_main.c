// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtstat.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include "common/errors.h"
#include "common/format.h"
#include "config/groups.h"
#include "config/subcommand.h"
#include "replay/excerpt.h"
#include "session/session.h"
#include "session/why_session.h"

static int say_unread(const struct replay *replay, int err)
{
	char path[4 * PATH_MAX], buf[128];
	const char *why = replay_why(replay, err, buf);

	escape_text(path, sizeof(path), replay->path, ESCAPE_ASCII);
	if (why)
		fprintf(stderr, REPLAY_NAME ": %s: %s\n", path, why);
	else
		error_plain(stderr, REPLAY_NAME, path, err);
	return EXIT_RUNTIME;
}

/* Missing data is reported, and is no failure. */
static void say_losses(struct replay *replay)
{
	char losses[256];

	replay_losses(replay, losses, sizeof(losses));
	if (losses[0])
		fprintf(stderr, REPLAY_NAME ": something is missing: %s\n",
			losses);
	if (!(replay->about.flags & CMT_RECORDING_COMPLETE))
		fprintf(stderr, REPLAY_NAME ": the recording has no end: it was cut off, or is being written\n");
}

/* Convert times of the command line to times of the recording. */
static int place(const struct config *config, struct replay *replay)
{
	char all[EXCERPT_ALL_LEN];

	if (excerpt_moment(replay, &config->from, REPLAY_NAME, "--from", &replay->from_ns) ||
	    excerpt_moment(replay, &config->to, REPLAY_NAME, "--to", &replay->to_ns))
		return EXIT_RUNTIME;
	if (replay->from_ns < replay->about.start_ns)
		replay->from_ns = replay->about.start_ns;
	replay->begin_ns = replay->from_ns;
	if (replay->from_ns > replay->about.end_ns) {
		fprintf(stderr, REPLAY_NAME ": --from: the recording has ended by then: it has %s\n",
			excerpt_all(all, replay));
		return EXIT_RUNTIME;
	}
	if (replay->to_ns > replay->from_ns)
		return 0;
	fprintf(stderr, REPLAY_NAME ": --to: that is not after the begin\n");
	return EXIT_RUNTIME;
}

static int show(const struct config *config, struct replay *replay)
{
	int ret;

	if (!replay->about.start_ns) {
		fprintf(stderr, REPLAY_NAME ": there is no record in it\n");
		return 0;
	}
	ret = groups_check(config, replay->info, false);
	if (!ret)
		ret = place(config, replay);
	if (ret)
		return ret;
	ret = config->why ? why_replay(config, replay) :
			    session_replay(config, replay);
	say_losses(replay);
	return ret;
}

static int check(struct config *config, int argc, char **argv)
{
	const char *why = config->why ? why_misplaced(config, true) : NULL;

	if (optind != argc - 1)
		return options_usage(&replay_program, stderr, "%s",
				     optind < argc ? "one file at a time" :
						     "which file?");
	if (!why && config->why && (config->speed_given && config->speed > 0))
		why = "--why: not with --speed: it is as fast as it can be";
	if (!why && config->expand && config->by != VIEW_CONTAINER)
		why = "--expand: only --by container";
	if (!why && config->slower && config->by != VIEW_CONTAINER)
		why = "--slower, --sort slower: only --by container";
	(void)argv;
	return why ? options_usage(&replay_program, stderr, "%s", why) : 0;
}

int replay_main(int argc, char **argv)
{
	struct config config = cmtstat_defaults;
	struct replay replay;
	int status, ret;

	if (!subcommand_parse(&replay_program, &config, argc, argv, &status))
		return status;
	status = check(&config, argc, argv);
	if (status)
		return status;
	ret = replay_open(&replay, argv[optind]);
	status = ret ? say_unread(&replay, ret) : show(&config, &replay);
	replay_close(&replay);
	return status;
}
