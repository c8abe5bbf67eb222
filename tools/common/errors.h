/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error messages: the failure and the remedy */
#ifndef TOOLS_ERRORS_H
#define TOOLS_ERRORS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Print why cmt_device_open() of @path (NULL: the default) failed with @err, and the
 * remedy, in one or two lines.  @control: it was to be opened for writing.
 */
void error_open(FILE *out, const char *program, const char *path, bool control,
		int err);

/* Why the rings of a device that is open cannot be read. */
void error_reader(FILE *out, const char *program, int err);

/* "program: what: reason" for any other -errno; @what is escaped, see escape_text(). */
void error_plain(FILE *out, const char *program, const char *what, int err);

/*
 * "program: ended by a signal; PATH STATE", where there is one result.  @path: NULL for
 * standard output; @state: "is incomplete".
 */
void error_ended(FILE *out, const char *program, const char *path, const char *state);

/* The meaning of an -errno in one place, where the library has none */
struct reason {
	int err;		/* 0 ends a table */
	const char *why;
	const char *todo;	/* a line of its own; NULL: none */
};

#define ERROR_RELEASE \
	"Install the module and the tools of one release, then reload the module"

/*
 * As error_plain(), in the words of @reasons where they have some for @err, or else in
 * those of libcmt for @call, CMT_CALL_*.  @reasons: NULL for libcmt's only.
 */
void error_reason(FILE *out, const char *program, const char *what,
		  uint32_t call, int err, const struct reason *reasons);

#endif
