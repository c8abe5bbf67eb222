// SPDX-License-Identifier: GPL-2.0-or-later
#include "subcommands.h"

#include <string.h>

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
