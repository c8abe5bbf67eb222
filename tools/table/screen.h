/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that fit a screen, counted. */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stddef.h>

#include "view.h"

#define LINE_LEN 1024

/* What a cell is, which a terminal shows in its colours, if it has any */
enum attribute {
	ATTRIBUTE_NONE,
	ATTRIBUTE_BOLD,
	ATTRIBUTE_REVERSE,
	ATTRIBUTE_TITLE,	/* the machine, and titles */
	ATTRIBUTE_NOTE,		/* who takes what of whom */
	ATTRIBUTE_WARM,
	ATTRIBUTE_HOT,
	ATTRIBUTE_SUM,		/* part of the cache: of more than one owner, */
	ATTRIBUTE_OWNER,	/* + 0 .. 7: of one */
	NR_ATTRIBUTES = ATTRIBUTE_OWNER + 8,
};

#define NR_OWNER_COLOURS 8U

struct screen {
	/* one line, of @len bytes, without the spaces at its end */
	void (*put)(void *to, unsigned int number, enum attribute attribute,
		    const char *line, size_t len);
	/* columns of a line that was put, up to before @end; NULL: no attributes */
	void (*paint)(void *to, unsigned int number, unsigned int begin,
		      unsigned int end, enum attribute attribute);
	void *to;
	const struct table_opts *opts;
	unsigned int lines;	/* put so far */
	unsigned int most;	/* further lines are left out; 0: no limit */
};

/* With a screen whose @to is a FILE, lines have no attributes. */
void screen_print(void *to, unsigned int number, enum attribute attribute,
		  const char *line, size_t len);

/*
 * One line.  Everything put is ASCII by now, or a glyph: one byte, one column.  Returns
 * false: there is no room for it.
 */
bool screen_line(struct screen *screen, enum attribute attribute,
		 const char *line);

/* Columns of the last line, up to before @end: its text says the same as the attribute. */
void screen_paint(struct screen *screen, unsigned int begin, unsigned int end,
		  enum attribute attribute);

/* A text that continues in the next line where it does not fit */
void screen_wrapped(struct screen *screen, enum attribute attribute,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How many lines screen_wrapped() takes for @text */
unsigned int screen_rows(const struct screen *screen, const char *text);

/* The lines above a table; @brief: only the necessary ones, and the machine. */
void view_header(struct screen *screen, const struct report *report,
		 bool brief);

/* The traffic of the memory channels, or why it is not known */
void view_memory(struct screen *screen, const struct report *report);

/*
 * At @now_ns, at most @lines lines, of which the last one may count the incidents without a
 * line; but the first incident is complete.  @lines 0: nothing.
 */
void view_ongoing(struct screen *screen, const struct ongoing *ongoing,
		  uint64_t now_ns, unsigned int lines);

#endif
