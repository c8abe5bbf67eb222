// SPDX-License-Identifier: GPL-2.0-or-later
#include "subcommand.h"

#include <stdlib.h>

#include <cmt/cmt.h>

static int finish_output(void)
{
	return fflush(stdout) || ferror(stdout) ? EXIT_RUNTIME : EXIT_SUCCESS;
}

bool subcommand_parse(const struct program *program, void *config, int argc,
		      char **argv, int *status)
{
	switch (options_parse(program, config, argc, argv, stderr)) {
	case OPTIONS_HELP:
		options_help(program, stdout);
		*status = finish_output();
		return false;
	case OPTIONS_VERSION:
		printf("cmtstat %s\n", cmt_version());
		*status = finish_output();
		return false;
	case OPTIONS_BAD:
		*status = EXIT_USAGE;
		return false;
	case OPTIONS_RUN:
		break;
	}
	return true;
}
