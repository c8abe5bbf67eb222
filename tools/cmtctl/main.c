// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/caps.h"
#include "common/errors.h"
#include "common/format.h"
#include "common/standard.h"

/* Options that only some commands know. */
#define KNOWS_CHILDREN	(1U << 0)
#define KNOWS_PATTERNS	(1U << 1)
#define KNOWS_FORCE	(1U << 2)
#define KNOWS_TIME	(1U << 3)

struct command {
	int (*run)(const struct ctl *ctl, const char **what);
	int (*operands)(struct ctl *ctl, char **operands, int nr);
	int max;		/* how many operands */
	unsigned int knows;
	int cannot;		/* exit status where the device or the output fails; 0: EXIT_RUNTIME */
};

static const struct command commands[NR_CTL_COMMANDS] = {
	[CTL_INFO] = { ctl_info, NULL, 0, 0 },
	[CTL_RMIDS] = { ctl_rmids, NULL, 0, 0 },
	[CTL_SHOW] = { ctl_show, NULL, 0, 0 },
	[CTL_STATS] = { ctl_stats, NULL, 0, 0 },
	[CTL_UNCORE] = { ctl_uncore, NULL, 0, 0 },
	[CTL_INTERVAL] = { ctl_interval, ctl_interval_operands, 1, 0 },
	[CTL_SCOPE] = { ctl_scope, ctl_scope_operands, 1,
			KNOWS_PATTERNS | KNOWS_FORCE },
	[CTL_RESCTRL] = { ctl_resctrl, ctl_resctrl_operands, 1, 0 },
	[CTL_ATTACH] = { ctl_attach, ctl_attach_operands, 2, KNOWS_CHILDREN },
	[CTL_DETACH] = { ctl_detach, ctl_attach_operands, 2, 0 },
	[CTL_MEASURE] = { ctl_measure, ctl_attach_operands, 2,
			  KNOWS_CHILDREN | KNOWS_TIME },
	[CTL_SAVE] = { ctl_save, ctl_save_operands, 1, 0 },
	[CTL_DOCTOR] = { ctl_doctor, NULL, 0, 0 },
	[CTL_SELFTEST] = { ctl_selftest, NULL, 0, 0, EXIT_CANNOT },
};

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_CTL_COMMANDS; i++)
		if (!strcmp(cmtctl_program.commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* The name of an option that was given and is not for @command, or NULL. */
static const char *misplaced(const struct command *command,
			     const struct ctl_config *config)
{
	if (config->children && !(command->knows & KNOWS_CHILDREN))
		return "children";
	if (config->patterns_given && !(command->knows & KNOWS_PATTERNS))
		return "patterns";
	if (config->file && !(command->knows & KNOWS_PATTERNS))
		return "file";
	if (config->force && !(command->knows & KNOWS_FORCE))
		return "force";
	if (config->measure_ns && !(command->knows & KNOWS_TIME))
		return "interval";
	if (config->count && !(command->knows & KNOWS_TIME))
		return "count";
	if (config->device && command->run == ctl_save)
		return "device";
	return NULL;
}

/* The command, or NULL after a message */
static const struct command *parse_command(int argc, char **argv,
					   struct ctl *ctl)
{
	const struct command *command;
	const char *option;
	int nr = argc - optind - 1;

	if (nr < 0) {
		options_usage(&cmtctl_program, stderr, "no command");
		return NULL;
	}
	command = find_command(argv[optind]);
	if (!command) {
		options_usage(&cmtctl_program, stderr, "%s: no such command",
			      argv[optind]);
		return NULL;
	}
	if (nr > command->max) {
		options_usage(&cmtctl_program, stderr, "%s: too many operands",
			      argv[optind]);
		return NULL;
	}
	option = misplaced(command, ctl->config);
	if (option) {
		options_usage(&cmtctl_program, stderr, "--%s: not with %s",
			      option, argv[optind]);
		return NULL;
	}
	if (command->operands &&
	    command->operands(ctl, argv + optind + 1, nr))
		return NULL;
	return command;
}

/* For a refused interval the message includes the limits. */
static void explain(const struct command *command, const struct ctl *ctl,
		    const char *what, int err)
{
	static const struct reason reasons[] = {
		/* the device is open for what each command does */
		{ -EBADF, "standard output is closed", NULL },
		{ .err = 0 },
	};
	const struct cmt_info *info = cmt_device_info(ctl->dev);
	char min[FORMAT_LEN], max[FORMAT_LEN];

	error_reason(stderr, "cmtctl", what, CMT_CALL_CONTROL, err, reasons);
	if (command->run == ctl_interval && err == -EINVAL)
		fprintf(stderr, "The sampling interval must be from %s to %s\n",
			format_duration(min, info->interval_min_ns),
			format_duration(max, info->interval_max_ns));
}

static int status_of_failure(const struct command *command)
{
	return command->cannot ? command->cannot : EXIT_RUNTIME;
}

/* A closed pipe is no failure: the reader of the output has ended. */
static int finish_output(const struct command *command, int status)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return status;
	error_plain(stderr, "cmtctl", "cannot print", errno ? -errno : -EIO);
	return status_of_failure(command);
}

/* Commands that change nothing drop all capabilities. */
static int run_command(const struct command *command, const struct ctl *ctl)
{
	const char *what = "cannot drop capabilities";
	int ret = caps_drop(ctl->control);

	if (!ret)
		ret = command->run(ctl, &what);
	if (ret >= 0)
		return finish_output(command, ret);
	if (!ctl->dev)
		error_plain(stderr, "cmtctl", what, ret);
	else
		explain(command, ctl, what, ret);
	return status_of_failure(command);
}

static int open_and_run(const struct command *command, struct ctl *ctl)
{
	const char *path = ctl->config->device;
	int ret;

	if (command->run == ctl_save)
		return run_command(command, ctl);
	ret = cmt_device_open(&ctl->dev, path,
			      ctl->control ? CMT_OPEN_CONTROL : 0);
	ctl->opened = ret;
	if (ret && command->run != ctl_doctor) {
		error_open(stderr, "cmtctl", path, ctl->control, ret);
		return status_of_failure(command);
	}
	ret = run_command(command, ctl);
	cmt_device_close(ctl->dev);
	return ret;
}

static int parse_and_run(struct ctl_config *config, int argc, char **argv)
{
	struct ctl ctl = { .config = config };
	const struct command *command;
	enum options_result result = options_parse(&cmtctl_program, config, argc, argv, stderr);

	if (result != OPTIONS_RUN)
		return options_end(&cmtctl_program, "cmtctl", result);
	ctl.json = config->json;
	command = parse_command(argc, argv, &ctl);
	ctl.control |= command && command->run == ctl_selftest;
	return command ? open_and_run(command, &ctl) : EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct ctl_config config = { 0 };
	int ret;

	if (standard_occupy("cmtctl"))
		return EXIT_RUNTIME;
	signal(SIGPIPE, SIG_IGN);
	ret = parse_and_run(&config, argc, argv);
	patterns_free(&config.patterns);
	return ret;
}
