/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What cmtstat does where its first argument is the name of it.  A line here is all that
 * a sub-command needs to be found: NAME_program, its option table, is in cmt_tools, so
 * that completions are made from it; NAME_main() is in CMTSTAT_SOURCES.
 */
#ifndef TOOLS_SUBCOMMANDS_H
#define TOOLS_SUBCOMMANDS_H

#include "options.h"

#define CMTSTAT_SUBCOMMANDS(X) \
	X(record, "keep all that is measured in a file") \
	X(replay, "show what record has kept") \
	X(export, "write a recording in a format that other programs read") \
	X(diff, "say which containers changed between two recordings") \
	X(report, "make a page of what record has kept")

/* argv[0] is the name.  Returns what to exit with. */
#define SUBCOMMAND_DECLARE(name, help) \
	extern const struct program name##_program; \
	int name##_main(int argc, char **argv);
CMTSTAT_SUBCOMMANDS(SUBCOMMAND_DECLARE)
#undef SUBCOMMAND_DECLARE

/* Is argv[1] a sub-command?  Then *@status is what it returned. */
bool subcommand_run(int argc, char **argv, int *status);

/*
 * Parse argv as options_parse(), and do what -h and -V ask for.  Returns true: go on;
 * false: exit with *@status.
 */
bool subcommand_parse(const struct program *program, void *config, int argc,
		      char **argv, int *status);

#endif
