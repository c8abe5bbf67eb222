/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of the full screen other than ASCII: bars and curves, a byte and a column each.
 * Names are ASCII, so no name has such a byte.  Pure.
 */
#ifndef TOOLS_GLYPHS_H
#define TOOLS_GLYPHS_H

#include <stddef.h>
#include <stdint.h>

#define GLYPH_STEPS 8U

#define GLYPH_BAR	0x80U	/* + 1 ..  8: eighths, from the left */
#define GLYPH_HEIGHT	0x90U	/* + 0 .. 8: from below; 0 is a value, too */
#define GLYPH_SHADE	0xa0U

/* The character of a byte on a terminal: in Unicode, or in ASCII */
uint32_t glyph_unicode(unsigned char byte);
char glyph_ascii(unsigned char byte);

/*
 * A bar of @width columns: up to @part of 1 filled, and shaded up to @most.  Terminates;
 * @buf has room for @width + 1 bytes.
 */
void glyph_bar(char *buf, unsigned int width, double part, double most);

/* The byte of @value in a curve that reaches up to @most; NAN: a space. */
char glyph_height(double value, double most);

#endif
