// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void screen_print(void *to, unsigned int number, enum attribute attribute,
		  const char *line, size_t len)
{
	(void)number;
	(void)attribute;
	fprintf(to, "%.*s\n", (int)len, line);
}

static bool put(struct screen *screen, enum attribute attribute,
		const char *line, size_t len)
{
	while (len && line[len - 1] == ' ')
		len--;
	if (screen->most && screen->lines >= screen->most)
		return false;
	screen->put(screen->to, screen->lines++, attribute, line, len);
	return true;
}

bool screen_line(struct screen *screen, enum attribute attribute,
		 const char *line)
{
	size_t len = strlen(line);

	if (screen->opts->width && len > screen->opts->width)
		len = screen->opts->width;
	return put(screen, attribute, line, len);
}

void screen_paint(struct screen *screen, unsigned int begin, unsigned int end,
		  enum attribute attribute)
{
	if (screen->paint && screen->lines)
		screen->paint(screen->to, screen->lines - 1, begin, end, attribute);
}

/*
 * How much of @text is the first of its lines: up to the last comma or two
 * spaces in the last two thirds, or else a space; a word that is too long is cut.
 */
static size_t first_line(const char *text, size_t width)
{
	size_t i, space = 0, best = 0;

	if (!width || strlen(text) <= width)
		return strlen(text);
	for (i = 1; i <= width; i++) {
		if (text[i] != ' ')
			continue;
		space = i;
		if (i > width / 3 && (text[i - 1] == ',' || text[i + 1] == ' '))
			best = i;
	}
	return best ? best : space ? space : width;
}

static const char *next_line(const char *text, size_t len)
{
	text += len;
	return text + strspn(text, " ");
}

unsigned int screen_rows(const struct screen *screen, const char *text)
{
	unsigned int rows = 0;

	do {
		text = next_line(text, first_line(text, screen->opts->width));
		rows++;
	} while (*text);
	return rows;
}

void screen_wrapped(struct screen *screen, enum attribute attribute,
		    const char *format, ...)
{
	char text[LINE_LEN];
	const char *rest = text;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	do {
		size_t len = first_line(rest, screen->opts->width);

		put(screen, attribute, rest, len);
		rest = next_line(rest, len);
	} while (*rest);
}
