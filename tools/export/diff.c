// SPDX-License-Identifier: GPL-2.0-or-later
/* cmtstat diff: which containers changed from one recording to another. */
#include "diff.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/errors.h"
#include "common/signals.h"
#include "common/text.h"
#include "config/subcommand.h"

#define PROGRAM "cmtstat diff"
#define GRAIN_NS 1000000000ULL

/* All of it is in memory before its first byte is written. */
static int show(struct diff *diff)
{
	struct text text;
	int ret = diff_sort(diff);

	if (!ret)
		ret = text_open(&text);
	if (ret)
		return ret;
	ret = diff->config->json ? diff_json(text.out, diff) :
				   diff_table(text.out, diff);
	return text_write(&text, STDOUT_FILENO, ret);
}

static int open_files(const struct diff_config *config, struct span_opts opts[2])
{
	int ret = 0;

	for (unsigned int side = 0; side < 2; side++) {
		int err;

		opts[side] = (struct span_opts){
			.program = PROGRAM, .path = config->paths[side],
			.grain_ns = GRAIN_NS, .by = CMT_USAGE_BY_CONTAINER,
		};
		err = span_file(&opts[side]);
		ret = ret ? ret : err;
	}
	if (ret)
		return ret;
	ret = caps_drop(false);
	if (ret)
		error_plain(stderr, PROGRAM, "cannot drop capabilities", ret);
	return ret;
}

static int open_both(struct diff *diff)
{
	struct span_opts opts[2];
	int opened = open_files(diff->config, opts), ret = opened;

	for (unsigned int side = 0; side < 2; side++) {
		int err = opened ? 0 : span_open(&diff->spans[side], &opts[side]);

		ret = ret ? ret : err;
		if (opts[side].fd >= 0)
			close(opts[side].fd);
	}
	return ret;
}

/* Returns the exit status. */
static int say(int err)
{
	if (!err || err == -EPIPE)
		return EXIT_SUCCESS;
	if (err == -EINTR)
		error_ended(stderr, PROGRAM, NULL, "is incomplete");
	else
		error_plain(stderr, PROGRAM, "stopped", err);
	return EXIT_RUNTIME;
}

static int compare(struct diff *diff)
{
	for (unsigned int side = 0; side < 2; side++) {
		int ret = diff_add(diff, side);

		span_report(&diff->spans[side]);
		if (ret == -EINTR)
			return say(ret);
		if (ret) {
			span_complain(&diff->spans[side], ret);
			return EXIT_RUNTIME;
		}
	}
	return say(show(diff));
}

static int run(const struct diff_config *config)
{
	struct diff diff = { .config = config };
	int status;

	keys_init(&diff.rows, sizeof(struct diff_row));
	status = open_both(&diff) ? EXIT_RUNTIME : compare(&diff);
	span_close(&diff.spans[0]);
	span_close(&diff.spans[1]);
	keys_free(&diff.rows);
	free(diff.sorted);
	return status;
}

int diff_main(int argc, char **argv)
{
	struct diff_config config = { .sort = DIFF_OCCUPANCY };
	int status;

	if (!subcommand_parse(&diff_program, &config, argc, argv, &status))
		return status;
	if (argc - optind != 2)
		return options_usage(&diff_program, stderr, "two recordings are needed");
	config.paths[0] = argv[optind];
	config.paths[1] = argv[optind + 1];
	signals_setup(false);
	return run(&config);
}
