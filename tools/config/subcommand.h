/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sub-commands of cmtstat begin with */
#ifndef TOOLS_SUBCOMMAND_H
#define TOOLS_SUBCOMMAND_H

#include "common/options.h"

/*
 * Parse argv as options_parse(), and handle -h and -V.  Returns true: continue; false:
 * exit with *@status.
 */
bool subcommand_parse(const struct program *program, void *config, int argc,
		      char **argv, int *status);

#endif
