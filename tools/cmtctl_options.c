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

static const struct option_spec options[] = {
	{ 'j', "json", NULL, "print JSON", NULL, set_json },
	{ 'c', "children", NULL, "attach pid: with all that it forks from now on",
	  NULL, set_children },
	{ 'p', "patterns", "TEXT", "scope: these cgroups are containers",
	  "patterns that fit into memory", set_patterns },
	{ 'f', "file", "PATH", "scope: so are those of a file, - is standard input",
	  "a path", set_file },
	{ 'F', "force", NULL, "scope: container, even if none can be seen",
	  NULL, set_force },
	{ 'd', "device", "PATH", "ask PATH instead of /dev/cmt", "a path",
	  set_device },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL },
	{ .name = NULL },
};

const struct program cmtctl_program = {
	.name = "cmtctl",
	.synopsis = "[options] info | rmids | show | stats | interval | scope | attach | detach",
	.about =
		"Ask the cmt module, and set what it measures.\n"
		"\n"
		"  info                       the machine, the backend, the limits\n"
		"  rmids                      who has which RMID, and what it held before\n"
		"  show                       who has an RMID, who waits, what is attached\n"
		"  stats                      what the module counted since it was loaded\n"
		"  interval [VALUE]           the sampling interval, or set it: 500us, 1ms, 1s\n"
		"  scope [SCOPE]              what RMIDs are given to, or set it: process,\n"
		"                             container, cpu, manual\n"
		"  attach pid N | cgroup PATH | cpu N\n"
		"                             give it an RMID of its own\n"
		"  detach pid N | cgroup PATH | cpu N\n"
		"                             take that back\n",
	.options = options,
};
