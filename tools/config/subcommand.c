// SPDX-License-Identifier: GPL-2.0-or-later
#include "subcommand.h"

bool subcommand_parse(const struct program *program, void *config, int argc,
		      char **argv, int *status)
{
	enum options_result result = options_parse(program, config, argc, argv, stderr);

	if (result == OPTIONS_RUN)
		return true;
	*status = options_end(program, "cmtstat", result);
	return false;
}
