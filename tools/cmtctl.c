// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "errors.h"
#include "format.h"

struct command {
	const char *name;
	int (*run)(const struct ctl *ctl, const char **what);
	bool operand;		/* may have one */
};

static const struct command commands[] = {
	{ "info", ctl_info, false },
	{ "rmids", ctl_rmids, false },
	{ "stats", ctl_stats, false },
	{ "interval", ctl_interval, true },
};

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* The command and its operand, or NULL with what is wrong said. */
static const struct command *parse_command(int argc, char **argv,
					   const char **operand)
{
	const struct command *command;
	uint64_t ns;
	int nr = argc - optind;

	if (!nr) {
		options_usage(&cmtctl_program, stderr, "no command");
		return NULL;
	}
	command = find_command(argv[optind]);
	*operand = nr > 1 ? argv[optind + 1] : NULL;
	if (!command) {
		options_usage(&cmtctl_program, stderr, "%s: no such command",
			      argv[optind]);
		return NULL;
	}
	if (nr > 1 + command->operand) {
		options_usage(&cmtctl_program, stderr, "%s: too many operands",
			      command->name);
		return NULL;
	}
	if (*operand && parse_duration(*operand, &ns)) {
		options_usage(&cmtctl_program, stderr,
			      "'%s' is not a number with ns, us, ms or s",
			      *operand);
		return NULL;
	}
	return command;
}

/* What a refused interval wants to hear; other errors speak for themselves. */
static void explain(const struct ctl *ctl, const char *what, int err)
{
	const struct cmt_info *info = cmt_device_info(ctl->dev);
	char min[FORMAT_LEN], max[FORMAT_LEN];

	error_plain(stderr, "cmtctl", what, err);
	if (!ctl->operand)
		return;
	if (err == -EPERM)
		fprintf(stderr,
			"Setting it takes CAP_SYS_ADMIN or CAP_PERFMON: run cmtctl as root\n");
	else if (err == -EINVAL)
		fprintf(stderr, "It must be from %s to %s\n",
			format_duration(min, info->interval_min_ns),
			format_duration(max, info->interval_max_ns));
}

/* A reader of our output that has gone is no failure. */
static int finish_output(void)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return 0;
	error_plain(stderr, "cmtctl", "cannot print", errno ? -errno : -EIO);
	return EXIT_RUNTIME;
}

/* Only setting the interval keeps the capabilities that it takes. */
static int run_command(const struct command *command, const struct ctl *ctl)
{
	const char *what = "cannot drop capabilities";
	int ret = caps_drop(ctl->operand != NULL);

	if (!ret)
		ret = command->run(ctl, &what);
	if (!ret)
		return finish_output();
	explain(ctl, what, ret);
	return EXIT_RUNTIME;
}

int main(int argc, char **argv)
{
	struct ctl_config config = { 0 };
	const struct command *command;
	struct ctl ctl = { 0 };
	int ret;

	signal(SIGPIPE, SIG_IGN);
	switch (options_parse(&cmtctl_program, &config, argc, argv, stderr)) {
	case OPTIONS_HELP:
		options_help(&cmtctl_program, stdout);
		return finish_output();
	case OPTIONS_VERSION:
		printf("cmtctl %s\n", cmt_version());
		return finish_output();
	case OPTIONS_BAD:
		return EXIT_USAGE;
	case OPTIONS_RUN:
		break;
	}
	command = parse_command(argc, argv, &ctl.operand);
	if (!command)
		return EXIT_USAGE;
	ctl.json = config.json;
	ret = cmt_device_open(&ctl.dev, config.device,
			      ctl.operand ? CMT_OPEN_CONTROL : 0);
	if (ret) {
		error_open(stderr, "cmtctl", config.device,
			   ctl.operand != NULL, ret);
		return EXIT_RUNTIME;
	}
	ret = run_command(command, &ctl);
	cmt_device_close(ctl.dev);
	return ret;
}
