/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong and what to do about it. */
#ifndef TOOLS_ERRORS_H
#define TOOLS_ERRORS_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Why cmt_device_open() of @path (NULL: the default) failed with @err, in one
 * or two lines that say what to do.  @control: it was to be opened for writing.
 */
void error_open(FILE *out, const char *program, const char *path, bool control,
		int err);

/* "program: what: reason" for any other -errno. */
void error_plain(FILE *out, const char *program, const char *what, int err);

/* What an -errno means in one place, better than strerror() could know. */
struct reason {
	int err;		/* 0 ends a table */
	const char *why;
	const char *todo;	/* a line of its own; NULL: none */
};

/* As error_plain(), in the words of @reasons where they have some for @err. */
void error_reason(FILE *out, const char *program, const char *what, int err,
		  const struct reason *reasons);

#endif
