/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of a recorder while it records, and at its end */
#ifndef TOOLS_RECORD_VIEW_H
#define TOOLS_RECORD_VIEW_H

#include <stdio.h>

#include "common/capture.h"
#include "record_file.h"

struct record_summary {
	struct capture_counts counts;
	const struct record_file *file;
	uint64_t elapsed_ns;
	uint64_t unread;	/* records that are left in the rings at the end */
};

/* At the start, by a quiet recorder too: are the values of a model? */
void record_emulated(FILE *out, const struct cmt_info *info);

/* One line that replaces the last one, without a newline */
void record_progress(FILE *out, const struct record_summary *summary);

/* It is cleared. */
void record_progress_end(FILE *out);

void record_summary(FILE *out, const struct record_summary *summary);

/* Data that is missing in the recording; printed also by a quiet recorder. */
void record_losses(FILE *out, const struct record_summary *summary);

#endif
