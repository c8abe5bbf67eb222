/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of a command that has ended */
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include <stdio.h>

#include "common/meter.h"
#include "launch.h"

struct summary {
	char **argv;
	const struct launch *launch;
	const struct meter *meter;
	const struct cmt_info *info;
};

void summary_text(FILE *out, const struct summary *summary);

/* One JSON object in a line.  Returns 0 or -ENOMEM. */
int summary_json(FILE *out, const struct summary *summary);

#endif
