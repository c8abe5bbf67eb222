// SPDX-License-Identifier: GPL-2.0-or-later
#include "base64.h"

#define LINE 3072U	/* bytes at a time, a multiple of 3 */

static size_t encode(char *to, const uint8_t *bytes, size_t len)
{
	static const char DIGITS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *begin = to;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t left = len - i < 3 ? (uint32_t)(len - i) : 3;
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0);

		*to++ = DIGITS[three >> 18];
		*to++ = DIGITS[three >> 12 & 63];
		*to++ = left > 1 ? DIGITS[three >> 6 & 63] : '=';
		*to++ = left > 2 ? DIGITS[three & 63] : '=';
	}
	return (size_t)(to - begin);
}

void base64_print(FILE *out, const uint8_t *bytes, size_t len)
{
	char line[LINE / 3 * 4];

	for (size_t i = 0; i < len; i += LINE) {
		size_t nr = encode(line, bytes + i, len - i < LINE ? len - i : LINE);

		fwrite(line, 1, nr, out);
	}
}
