/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is there as a whole or not at all. */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdio.h>

struct output {
	int fd;
	FILE *file;
	const char *path;
	char *part;		/* the name before the final rename; NULL: written in place */
};

/*
 * @path: "-" is standard output; a file that is not regular is written in place.
 * Returns 0 or -errno: then there is nothing to close.
 */
int output_open(struct output *output, const char *path);

/* @ret: the result of writing.  Returns that, or -errno; unless 0, no file is left. */
int output_close(struct output *output, int ret);

#endif
