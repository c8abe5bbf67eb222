/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cells of a terminal, as bytes: ASCII and glyphs.  Pure. */
#ifndef TOOLS_CANVAS_H
#define TOOLS_CANVAS_H

#include <stdbool.h>

#include "table/screen.h"

struct canvas_cell {
	unsigned char byte;
	unsigned char attribute;	/* enum attribute */
};

struct canvas {
	unsigned int width, height;
	struct canvas_cell *cells;	/* row after row */
};

/* All spaces.  Returns 0 or -ENOMEM: the canvas has no cells then. */
int canvas_size(struct canvas *canvas, unsigned int width, unsigned int height);
void canvas_free(struct canvas *canvas);

/* As screen.put; @to: a canvas.  Text beyond the edges is left out. */
void canvas_put(void *to, unsigned int number, enum attribute attribute,
		const char *line, size_t len);

/* As screen.paint; the same @to. */
void canvas_paint(void *to, unsigned int number, unsigned int begin,
		  unsigned int end, enum attribute attribute);

/* Row @number as text, without spaces at its end; @size: 4 bytes a column, and 1. */
void canvas_text(const struct canvas *canvas, unsigned int number, bool unicode,
		 char *buf, size_t size);

#endif
