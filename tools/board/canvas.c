// SPDX-License-Identifier: GPL-2.0-or-later
#include "canvas.h"

#include <errno.h>
#include <stdlib.h>

#include "table/glyphs.h"

int canvas_size(struct canvas *canvas, unsigned int width, unsigned int height)
{
	size_t i, nr = (size_t)width * height;

	canvas_free(canvas);
	canvas->cells = calloc(nr + 1, sizeof(canvas->cells[0]));
	if (!canvas->cells)
		return -ENOMEM;
	canvas->width = width;
	canvas->height = height;
	for (i = 0; i < nr; i++)
		canvas->cells[i].byte = ' ';
	return 0;
}

void canvas_free(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

/* A reverse line is so up to the edge. */
void canvas_put(void *to, unsigned int number, enum attribute attribute,
		const char *line, size_t len)
{
	struct canvas *canvas = to;
	struct canvas_cell *row;
	unsigned int i;

	if (number >= canvas->height)
		return;
	row = canvas->cells + (size_t)number * canvas->width;
	for (i = 0; i < canvas->width; i++)
		row[i] = (struct canvas_cell){
			.byte = i < len ? (unsigned char)line[i] : ' ',
			.attribute = (unsigned char)attribute,
		};
}

void canvas_paint(void *to, unsigned int number, unsigned int begin,
		  unsigned int end, enum attribute attribute)
{
	struct canvas *canvas = to;

	if (number >= canvas->height)
		return;
	for (; begin < end && begin < canvas->width; begin++)
		canvas->cells[(size_t)number * canvas->width + begin].attribute =
			(unsigned char)attribute;
}

/* As UTF-8: at most three bytes, since no glyph is beyond U+FFFF. */
static size_t put_code(char *buf, uint32_t code)
{
	if (code < 0x80) {
		buf[0] = (char)code;
		return 1;
	}
	buf[0] = (char)(0xe0 | code >> 12);
	buf[1] = (char)(0x80 | (code >> 6 & 0x3f));
	buf[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

void canvas_text(const struct canvas *canvas, unsigned int number, bool unicode,
		 char *buf, size_t size)
{
	const struct canvas_cell *row =
		canvas->cells + (size_t)number * canvas->width;
	unsigned int i, end = canvas->width;
	size_t used = 0;

	while (end && row[end - 1].byte == ' ')
		end--;
	for (i = 0; i < end && used + 4 < size; i++) {
		unsigned char byte = row[i].byte;

		used += put_code(buf + used, unicode ? glyph_unicode(byte) :
					     (unsigned char)glyph_ascii(byte));
	}
	buf[used] = '\0';
}
