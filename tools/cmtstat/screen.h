/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that fit a screen, counted. */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stddef.h>

#include "view.h"

#define LINE_LEN 1024

enum attribute {
	ATTRIBUTE_NONE,
	ATTRIBUTE_BOLD,
	ATTRIBUTE_REVERSE,
};

struct screen {
	/* one line, of @len bytes, without the spaces at its end */
	void (*put)(void *to, unsigned int number, enum attribute attribute,
		    const char *line, size_t len);
	void *to;
	const struct table_opts *opts;
	unsigned int lines;	/* put so far */
	unsigned int most;	/* further lines are left out; 0: no limit */
};

/* With a screen whose @to is a FILE, lines have no attributes. */
void screen_print(void *to, unsigned int number, enum attribute attribute,
		  const char *line, size_t len);

/* One line.  Everything put is ASCII by now, or a glyph: one byte, one column. */
void screen_line(struct screen *screen, enum attribute attribute,
		 const char *line);

/* A text that continues in the next line where it does not fit */
void screen_wrapped(struct screen *screen, enum attribute attribute,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The lines above a table; @brief: only the necessary ones, and the machine. */
void view_header(struct screen *screen, const struct report *report,
		 bool brief);

/* The traffic of the memory channels, or why it is not known */
void view_memory(struct screen *screen, const struct report *report);

#endif
