/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring one command, as perf stat does. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include "config/config.h"

/*
 * Run @argv, and print its occupancy and traffic on standard error.  Returns the exit
 * status: the command's status, 128 and the signal that ended it, 127 or 126 if there
 * is no such command or it cannot be run, or EXIT_RUNTIME.
 */
int command_measure(const struct config *config, char **argv);

#endif
