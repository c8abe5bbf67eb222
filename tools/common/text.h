/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that is complete in memory before its first byte is written: output that
 * blocks is interrupted by a signal, and must not be left in the middle of a line
 * by anything else.
 */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct text {
	FILE *out;	/* to print to, between text_open() and text_close() */
	char *bytes;	/* after text_close() */
	size_t len;
};

/* Returns 0 or -errno: there is nothing to close then. */
int text_open(struct text *text);

/*
 * @ret: of what printed.  Returns that, or -ENOMEM: not all of it is there.  Either
 * way the caller frees @text->bytes.
 */
int text_close(struct text *text, int ret);

/* Close, write to @fd unless something failed, and free.  As signals_write(). */
int text_write(struct text *text, int fd, int ret);

#endif
