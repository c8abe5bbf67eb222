/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals on standard output, one after the other. */
#ifndef TOOLS_TABLES_H
#define TOOLS_TABLES_H

#include "config/config.h"
#include "table/view.h"

/* The line with the fields' names of CSV.  Returns as signals_write(). */
int tables_begin(enum view by);

/*
 * Print the report in the output of @config, a table at most @width columns wide; 0: no limit.
 * Returns as signals_write(), or -ENOMEM.
 */
int tables_print(const struct config *config, const struct report *report,
		 unsigned int width);

#endif
