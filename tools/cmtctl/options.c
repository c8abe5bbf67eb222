// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>

static int set_json(void *config, const char *value)
{
	(void)value;
	((struct ctl_config *)config)->json = true;
	return 0;
}

static int set_children(void *config, const char *value)
{
	(void)value;
	((struct ctl_config *)config)->children = true;
	return 0;
}

static int set_interval(void *config, const char *value)
{
	return parse_seconds(value, 10000000, 3600000000000,
			     &((struct ctl_config *)config)->measure_ns);
}

static int set_count(void *config, const char *value)
{
	return parse_u64(value, 1, UINT32_MAX,
			 &((struct ctl_config *)config)->count);
}

static int set_force(void *config, const char *value)
{
	(void)value;
	((struct ctl_config *)config)->force = true;
	return 0;
}

static int set_patterns(void *config, const char *value)
{
	((struct ctl_config *)config)->patterns_given = true;
	return patterns_add(&((struct ctl_config *)config)->patterns, value);
}

static int set_file(void *config, const char *value)
{
	((struct ctl_config *)config)->file = value;
	return *value ? 0 : -EINVAL;
}

static int set_device(void *config, const char *value)
{
	((struct ctl_config *)config)->device = value;
	return *value ? 0 : -EINVAL;
}

static const struct operand_spec owners[] = {
	{ "pid", WORDS_PIDS },
	{ "cgroup", WORDS_CGROUPS },
	{ "cpu", WORDS_CPUS },
	{ .word = NULL },
};

static const struct command_spec commands[NR_CTL_COMMANDS + 1] = {
	[CTL_INFO] = { "info", NULL, "the machine, the backend, the limits" },
	[CTL_RMIDS] = { "rmids", NULL,
		"the owners of RMIDs, and what each RMID held before" },
	[CTL_SHOW] = { "show", NULL,
		"owners of RMIDs, pending and attached owners" },
	[CTL_STATS] = { "stats", NULL,
		"what the module counted since it was loaded" },
	[CTL_UNCORE] = { "uncore", NULL,
		"the boxes of counters outside the cores" },
	[CTL_INTERVAL] = { "interval", "[VALUE]",
		"print or set the sampling interval: 500us, 1ms, 1s",
		"100us 500us 1ms 10ms 100ms 1s" },
	[CTL_SCOPE] = { "scope", "[SCOPE]",
		"print or set which owners get RMIDs: process,\n"
		"container, cpu, manual", "process container cpu manual" },
	[CTL_RESCTRL] = { "resctrl", "[MODE]",
		"print or set whose RMID tasks in resctrl groups have:\n"
		"respect (resctrl's), take (cmt's)", "respect take" },
	[CTL_ATTACH] = { "attach", "pid N | cgroup PATH | cpu N",
		"give a process, cgroup or CPU a dedicated RMID",
		"pid cgroup cpu", owners },
	[CTL_DETACH] = { "detach", "pid N | cgroup PATH | cpu N",
		"end the attachment", "pid cgroup cpu", owners },
	[CTL_MEASURE] = { "measure", "pid N | cgroup PATH | cpu N",
		"measure a process, cgroup or CPU, without sampling,\n"
		"until it ends or Ctrl-C is pressed", "pid cgroup cpu", owners },
	[CTL_SAVE] = { "save", "[SOCKET]",
		"have the flight recorder save the last minutes,\n"
		"and print the name of the file", WORDS_FILES },
	[CTL_DOCTOR] = { "doctor", NULL,
		"what keeps cmt from measuring here, and what to do" },
	[CTL_SELFTEST] = { "selftest", NULL,
		"fill the cache by known amounts, compare, and print a page" },
};

static const struct option_spec options[] = {
	{ 'j', "json", NULL, "print JSON", NULL, set_json, NULL },
	{ 'c', "children", NULL, "attach, measure pid: with all that it forks from now on",
	  NULL, set_children, NULL },
	{ 'i', "interval", "SECONDS", "measure: time between lines, 0.01 to 3600, default 1",
	  "a number of seconds from 0.01 to 3600", set_interval, NULL },
	{ 'n', "count", "N", "measure: end after N lines",
	  "a whole number of at least 1", set_count, NULL },
	{ 'p', "patterns", "TEXT", "scope: these cgroups are containers",
	  "patterns that fit into memory", set_patterns, NULL },
	{ 'f', "file", "PATH", "scope: read patterns from PATH, - is standard input",
	  "a path", set_file, WORDS_FILES },
	{ 'F', "force", NULL, "scope: container, even if none can be seen",
	  NULL, set_force, NULL },
	{ 'd', "device", "PATH", "ask PATH instead of /dev/cmt", "a path",
	  set_device, WORDS_FILES },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL,
	  NULL },
	{ .name = NULL },
};

const struct program cmtctl_program = {
	.name = "cmtctl",
	.synopsis = "[options]",
	.about = "Ask the cmt module, and set what it measures.\n",
	.commands = commands,
	.options = options,
};
