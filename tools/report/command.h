/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmtstat report. */
#ifndef REPORT_COMMAND_H
#define REPORT_COMMAND_H

#include <stdint.h>

#include "common/options.h"
#include "replay/excerpt.h"

#define REPORT_NAME	"cmtstat report"
#define REPORT_SIZE	(64ULL << 20)	/* bytes of points, in the page */

struct report_config {
	struct excerpt excerpt;	/* output "-": standard output */
	uint64_t size;		/* bytes that points may take in the page */
};

extern const struct program report_program;

/* As main(), with argv[0] "report". */
int report_main(int argc, char **argv);

#endif
