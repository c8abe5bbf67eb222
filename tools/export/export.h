/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cmtstat export */
#ifndef TOOLS_EXPORT_H
#define TOOLS_EXPORT_H

#include "common/options.h"
#include "export_format.h"
#include "span.h"

struct export_config {
	struct span_opts span;	/* first, for its excerpt; grain_ns 0: the format's */
	const struct export_format *format;	/* NULL: none was named */
	bool incidents;		/* rows are incidents, not intervals */
};

extern const struct program export_program;

/* As main(), with argv[0] "export". */
int export_main(int argc, char **argv);

#endif
