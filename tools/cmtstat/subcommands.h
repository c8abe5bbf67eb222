/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sub-commands of cmtstat: its first argument selects one.  One line here adds a
 * sub-command: NAME_program, its option table, is in cmt_tools, so that completions are
 * made from it; NAME_main() is in CMTSTAT_SOURCES.
 */
#ifndef TOOLS_SUBCOMMANDS_H
#define TOOLS_SUBCOMMANDS_H

#include "common/options.h"

#define CMTSTAT_SUBCOMMANDS(X) \
	X(record, "keep all that is measured in a file") \
	X(replay, "show a recording") \
	X(export, "write a recording in a format that other programs read") \
	X(diff, "show which containers changed between two recordings") \
	X(report, "make an HTML page of a recording")

/* argv[0] is the name.  Returns the exit status. */
#define SUBCOMMAND_DECLARE(name, help) \
	extern const struct program name##_program; \
	int name##_main(int argc, char **argv);
CMTSTAT_SUBCOMMANDS(SUBCOMMAND_DECLARE)
#undef SUBCOMMAND_DECLARE

/* Is argv[1] a sub-command? Then *@status is its exit status. */
bool subcommand_run(int argc, char **argv, int *status);

/*
 * Parse argv as options_parse(), and handle -h and -V.  Returns true: continue; false:
 * exit with *@status.
 */
bool subcommand_parse(const struct program *program, void *config, int argc,
		      char **argv, int *status);

#endif
