// SPDX-License-Identifier: GPL-2.0-or-later
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/format.h"

/* escape_text(), or a replacement without memory */
static char *visible(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *shown = malloc(size);

	if (shown)
		escape_text(shown, size, text, 0);
	return shown;
}

static void print_code(FILE *out, uint32_t code)
{
	if (code > 0xffff)
		fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
			0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
	else if (code < 0x20 || code > 0x7e || strchr("\"\\<>&'", (int)code))
		fprintf(out, "\\u%04" PRIx32, code);
	else
		fputc((int)code, out);
}

void print_text(FILE *out, const char *text)
{
	char *shown = text ? visible(text) : NULL;
	uint32_t code;

	if (!shown) {
		fputs(text ? "\"(no memory)\"" : "null", out);
		return;
	}
	fputc('"', out);
	for (const char *at = shown; *at;) {
		unsigned int len = utf8_decode(at, &code);

		print_code(out, len ? code : 0xfffd);
		at += len ? len : 1;
	}
	fputc('"', out);
	free(shown);
}

void print_html(FILE *out, const char *text)
{
	char *shown = visible(text);
	uint32_t code;

	for (const char *at = shown; at && *at;) {
		unsigned int len = utf8_decode(at, &code);

		if (!len || code < 0x20 || code > 0x7e || strchr("\"<>&'", (int)code))
			fprintf(out, "&#%" PRIu32 ";", len ? code : 0xfffd);
		else
			fputc((int)code, out);
		at += len ? len : 1;
	}
	free(shown);
}

void print_real(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.15g", value);
	else
		fputs("null", out);
}
