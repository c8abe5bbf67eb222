/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON that is part of an HTML page: nothing in it can end a script element. */
#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

#include <stdint.h>
#include <stdio.h>

/*
 * @text, raw bytes that any user may have chosen, as a string of JSON: printable ASCII
 * without <, > and &.  Characters that act on a terminal, and bytes that are not UTF-8,
 * are escaped as by escape_text().  NULL: null.
 */
void print_text(FILE *out, const char *text);

/* The same of HTML's text: &lt; and so on. */
void print_html(FILE *out, const char *text);

/* null where it is no number. */
void print_real(FILE *out, double value);

#endif
