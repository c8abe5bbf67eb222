/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sub-commands of cmtstat: its first argument selects one.  One line here adds a
 * sub-command, whose header has NAME_program and NAME_main(): NAME_program, its option
 * table, is in cmt_tools, so that completions are made from it; NAME_main() is in
 * CMTSTAT_SOURCES.
 */
#ifndef TOOLS_SUBCOMMANDS_H
#define TOOLS_SUBCOMMANDS_H

#include <stdbool.h>

#include "cmtstat.h"
#include "export/diff.h"
#include "export/export.h"
#include "recorder/record.h"
#include "report/command.h"

#define CMTSTAT_SUBCOMMANDS(X) \
	X(record, "keep all that is measured in a file") \
	X(replay, "show a recording") \
	X(export, "write a recording in a format that other programs read") \
	X(diff, "show which containers changed between two recordings") \
	X(report, "make an HTML page of a recording")

/* Is argv[1] a sub-command? Then *@status is its exit status. */
bool subcommand_run(int argc, char **argv, int *status);

bool is_subcommand(const char *name);

#endif
