/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is there as a whole or not at all. */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *file;
	const char *path;
	char *part;		/* what is renamed at the end; NULL: written in place */
};

/*
 * @path: "-" is standard output; what is no regular file is written in place.  Returns 0
 * or -errno: there is nothing to close then.
 */
int output_open(struct output *output, const char *path);

/* @ret: of what was written.  Returns that, or -errno; unless 0, no file is left. */
int output_close(struct output *output, int ret);

#endif
