// SPDX-License-Identifier: GPL-2.0-or-later
#include "subcommands.h"

#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} subcommands[] = {
#define SUBCOMMAND_MAIN(name, help) { #name, name##_main },
	CMTSTAT_SUBCOMMANDS(SUBCOMMAND_MAIN)
#undef SUBCOMMAND_MAIN
};

bool subcommand_run(int argc, char **argv, int *status)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
		if (strcmp(argv[1], subcommands[i].name))
			continue;
		*status = subcommands[i].main(argc - 1, argv + 1);
		return true;
	}
	return false;
}

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
