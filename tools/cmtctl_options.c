// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>

static int set_json(void *config, const char *value)
{
	(void)value;
	((struct ctl_config *)config)->json = true;
	return 0;
}

static int set_device(void *config, const char *value)
{
	((struct ctl_config *)config)->device = value;
	return *value ? 0 : -EINVAL;
}

static const struct option_spec options[] = {
	{ 'j', "json", NULL, "print JSON", NULL, set_json },
	{ 'd', "device", "PATH", "ask PATH instead of /dev/cmt", "a path",
	  set_device },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL },
	{ .name = NULL },
};

const struct program cmtctl_program = {
	.name = "cmtctl",
	.synopsis = "[options] info | rmids | stats | interval [VALUE]",
	.about =
		"Ask the cmt module, and set its sampling interval.\n"
		"\n"
		"  info                       the machine, the backend, the limits\n"
		"  rmids                      which process has which RMID\n"
		"  stats                      what the module counted since it was loaded\n"
		"  interval                   the sampling interval in force\n"
		"  interval VALUE             set it, for all readers: 500us, 1ms, 1s\n",
	.options = options,
};
