/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmtstat report. */
#ifndef REPORT_COMMAND_H
#define REPORT_COMMAND_H

#include <stdint.h>

#include "replay.h"

#define REPORT_NAME	"cmtstat report"
#define REPORT_SIZE	(64ULL << 20)	/* bytes of points, in the page */

struct report_config {
	const char *output;	/* NULL: not said; "-": standard output */
	uint64_t size;		/* bytes that points may take in the page */
	struct replay_time from, to;
};

#endif
