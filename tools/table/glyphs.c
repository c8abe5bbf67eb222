// SPDX-License-Identifier: GPL-2.0-or-later
#include "glyphs.h"

#include <math.h>
#include <string.h>

uint32_t glyph_unicode(unsigned char byte)
{
	if (byte > GLYPH_BAR && byte <= GLYPH_BAR + GLYPH_STEPS)
		return 0x2590 - (byte - GLYPH_BAR);
	if (byte == GLYPH_HEIGHT)
		return '_';
	if (byte > GLYPH_HEIGHT && byte <= GLYPH_HEIGHT + GLYPH_STEPS)
		return 0x2580 + (byte - GLYPH_HEIGHT);
	if (byte == GLYPH_SHADE)
		return 0x2591;
	return byte < 0x80 ? byte : '?';
}

char glyph_ascii(unsigned char byte)
{
	static const char heights[GLYPH_STEPS + 2] = "_.,-~=+*#";

	if (byte > GLYPH_BAR && byte <= GLYPH_BAR + GLYPH_STEPS)
		return byte - GLYPH_BAR > GLYPH_STEPS / 2 ? '#' : '-';
	if (byte >= GLYPH_HEIGHT && byte <= GLYPH_HEIGHT + GLYPH_STEPS)
		return heights[byte - GLYPH_HEIGHT];
	if (byte == GLYPH_SHADE)
		return ':';
	return byte < 0x80 ? (char)byte : '?';
}

static double within(double value)
{
	return value > 1 ? 1 : value > 0 ? value : 0;
}

/* Every value above 0 is visible. */
static unsigned int eighths_of(double part, unsigned int width)
{
	unsigned int all = width * GLYPH_STEPS;
	unsigned int eighths = (unsigned int)lround(within(part) * all);

	return !eighths && part > 0 && all ? 1 : eighths;
}

void glyph_bar(char *buf, unsigned int width, double part, double most)
{
	unsigned int eighths = eighths_of(part, width);
	unsigned int full = eighths / GLYPH_STEPS;
	unsigned int shaded = (unsigned int)ceil(within(most) * width);

	memset(buf, ' ', width);
	buf[width] = '\0';
	if (shaded > full)
		memset(buf, (int)GLYPH_SHADE, shaded);
	memset(buf, (int)(GLYPH_BAR + GLYPH_STEPS), full);
	if (eighths % GLYPH_STEPS)
		buf[full] = (char)(GLYPH_BAR + eighths % GLYPH_STEPS);
}

char glyph_height(double value, double most)
{
	unsigned int steps;

	if (isnan(value))
		return ' ';
	if (!(value > 0) || !(most > 0))
		return (char)GLYPH_HEIGHT;
	steps = (unsigned int)lround(within(value / most) * GLYPH_STEPS);
	return (char)(GLYPH_HEIGHT + (steps ? steps : 1));
}
