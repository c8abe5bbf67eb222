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

#define NR_SUBCOMMANDS (sizeof(subcommands) / sizeof(subcommands[0]))

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < NR_SUBCOMMANDS && strcmp(name, subcommands[i].name))
		i++;
	return i;
}

bool is_subcommand(const char *name)
{
	return find(name) < NR_SUBCOMMANDS;
}

bool subcommand_run(int argc, char **argv, int *status)
{
	size_t i = argc > 1 ? find(argv[1]) : NR_SUBCOMMANDS;

	if (i == NR_SUBCOMMANDS)
		return false;
	*status = subcommands[i].main(argc - 1, argv + 1);
	return true;
}
