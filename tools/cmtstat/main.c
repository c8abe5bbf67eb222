// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtstat.h"

#include <getopt.h>
#include <string.h>

#include "command/command.h"
#include "common/meter.h"
#include "common/standard.h"
#include "config/subcommand.h"
#include "session/light_reader.h"
#include "session/session.h"
#include "session/why_session.h"
#include "subcommands.h"

/* NULL, or why the options do not go with a command */
static const char *misplaced(const struct config *config)
{
	if (config->interval_given && config->interval_ns > METER_READ_NS)
		return "--interval: at most 0.5 with a command";
	if (config->origin == ORIGIN_RESCTRL)
		return "with a command, not --source resctrl: a command takes a dedicated RMID";
	if (config->by_given || config->expand || config->count ||
	    config->top || config->filter || config->plain || config->light ||
	    config->why || config->peak_bytes || config->slower ||
	    config->sort != SORT_DEFAULT || config->output == OUTPUT_CSV ||
	    config->no_color || config->counters & CMT_F_COUNTERS_FIRST)
		return "with a command, only --interval, --json and --device";
	return NULL;
}

static int run_command(const struct config *config, char **argv)
{
	const char *why = misplaced(config);

	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return command_measure(config, argv);
}

/* NULL, or why the options need ticks */
static const char *not_light(const struct config *config)
{
	if (config->by == VIEW_CPU)
		return "--light: not --by cpu: only ticks show what runs on a CPU";
	if (config->by == VIEW_CHANNEL)
		return "--light: not --by channel: memory channels are read in ticks";
	if (config->slower)
		return "--light: not --slower, --sort slower: slowdowns need the sampling";
	if (config->counters & CMT_F_COUNTERS_FIRST)
		return "--light: not --counters-first: the processor's counters need the sampling";
	if (config->interval_ns < LIGHT_MIN_NS ||
	    config->interval_ns > LIGHT_MAX_NS)
		return "--light: an interval from 0.05 to 1800";
	return NULL;
}

static int misplaced_operand(const char *operand)
{
	if (is_subcommand(operand))
		return options_usage(&cmtstat_program, stderr,
				     "%s: the sub-command comes first: cmtstat %s [OPTION...]",
				     operand, operand);
	return options_usage(&cmtstat_program, stderr,
			     "%s: takes no operands; a command follows --, and one container is shown by --why %s or --filter %s",
			     operand, operand, operand);
}

static int misplaced_after_why(const char *operand)
{
	return options_usage(&cmtstat_program, stderr, *operand == '-' ?
			     "%s: options come before CONTAINER" :
			     "%s: --why takes one container", operand);
}

/* The operand of --why is a pattern, as that of --filter. */
static int run_why(struct config *config, int argc, char **argv)
{
	const char *why = why_misplaced(config, false);

	if (optind + 1 < argc && is_subcommand(argv[optind]))
		return misplaced_operand(argv[optind]);
	if (optind < argc && !config->filter && *argv[optind])
		config->filter = argv[optind++];
	if (optind < argc)
		return misplaced_after_why(argv[optind]);
	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return session_device(config);
}

static int run_parsed(struct config *config, int argc, char **argv)
{
	bool dashes = !strcmp(argv[optind - 1], "--");
	const char *why = config->light ? not_light(config) : NULL;

	if (optind < argc && dashes)
		return run_command(config, argv + optind);
	if (config->why && !dashes)
		return run_why(config, argc, argv);
	if (optind < argc)
		return misplaced_operand(argv[optind]);
	if (dashes)
		return options_usage(&cmtstat_program, stderr,
				     "--: no command follows");
	if (config->expand && config->by != VIEW_CONTAINER)
		return options_usage(&cmtstat_program, stderr,
				     "--expand: only --by container");
	if (config->slower && config->by != VIEW_CONTAINER)
		return options_usage(&cmtstat_program, stderr,
				     "--slower, --sort slower: only --by container");
	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return session_device(config);
}

int main(int argc, char **argv)
{
	struct config config = cmtstat_defaults;
	int status;

	if (standard_occupy("cmtstat"))
		return EXIT_RUNTIME;
	if (subcommand_run(argc, argv, &status) ||
	    !subcommand_parse(&cmtstat_program, &config, argc, argv, &status))
		return status;
	return run_parsed(&config, argc, argv);
}
