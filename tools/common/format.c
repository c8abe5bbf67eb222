// SPDX-License-Identifier: GPL-2.0-or-later
#include "format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * One digit after the point.  The unit is chosen for the rounded value, so
 * that nothing reads "1024.0 KiB".
 */
static const char *scaled(char *buf, double value, double base,
			  const char *const units[], unsigned int nr_units)
{
	unsigned int unit = 0;

	while (unit + 1 < nr_units && value >= base - (unit ? 0.05 : 0.5)) {
		value /= base;
		unit++;
	}
	snprintf(buf, FORMAT_LEN, unit ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return buf;
}

const char *format_bytes(char buf[FORMAT_LEN], uint64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB",
	};

	return scaled(buf, (double)bytes, 1024, units, 7);
}

const char *format_rate(char buf[FORMAT_LEN], double bytes_per_s)
{
	static const char *const units[] = {
		"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s",
	};

	return scaled(buf, bytes_per_s, 1000, units, 7);
}

/* At most four digits, and one of them after the point only below 100. */
static const char *scaled_short(char *buf, double value, double base,
				const char *const units[], unsigned int nr_units)
{
	unsigned int unit = 0;

	while (unit + 1 < nr_units && value >= base - 0.5) {
		value /= base;
		unit++;
	}
	snprintf(buf, FORMAT_LEN, unit && value < 99.95 ? "%.1f%s" : "%.0f%s",
		 value, units[unit]);
	return buf;
}

const char *format_bytes_short(char buf[FORMAT_LEN], uint64_t bytes)
{
	static const char *const units[] = {
		"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	};

	return scaled_short(buf, (double)bytes, 1024, units, 7);
}

const char *format_rate_short(char buf[FORMAT_LEN], double bytes_per_s)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };

	return scaled_short(buf, bytes_per_s, 1000, units, 7);
}

const char *format_duration(char buf[FORMAT_LEN], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
		{ 1, "ns" },
	};
	unsigned int unit = 0;
	char fraction[24] = "";
	uint64_t rest;

	while (unit < 3 && ns < units[unit].ns)
		unit++;
	rest = ns % units[unit].ns;
	if (rest) {
		int digits = unit == 0 ? 9 : unit == 1 ? 6 : 3;

		snprintf(fraction, sizeof(fraction), ".%0*" PRIu64, digits,
			 rest);
		while (fraction[strlen(fraction) - 1] == '0')
			fraction[strlen(fraction) - 1] = '\0';
	}
	snprintf(buf, FORMAT_LEN, "%" PRIu64 "%s %s", ns / units[unit].ns,
		 fraction, units[unit].name);
	return buf;
}

const char *format_time(char buf[FORMAT_LEN], int64_t realtime_ns)
{
	time_t seconds = realtime_ns / 1000000000;
	struct tm tm;
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(buf, FORMAT_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, FORMAT_LEN - n, ".%06dZ",
		 (int)(realtime_ns % 1000000000 / 1000));
	return buf;
}

/* Length of the UTF-8 sequence that begins with @lead; 0: none does. */
static unsigned int utf8_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	if (lead >= 0xf0 && lead < 0xf5)
		return 4;
	return 0;
}

unsigned int utf8_decode(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	unsigned int len = utf8_length(s[0]);
	unsigned int i;

	if (len <= 1) {
		*code = s[0];
		return len;
	}
	*code = s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[len] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return len;
}

/*
 * Invisible or reordering: line and paragraph separators, interlinear annotations, and
 * Unicode's Default_Ignorable_Code_Point, which has the bidirectional controls, joiners,
 * fillers, variation selectors and tags.
 */
static bool invisible(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00ad, 0x00ad }, { 0x034f, 0x034f }, { 0x061c, 0x061c },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

bool acts_on_terminal(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || invisible(code);
}

/*
 * Write one character or escape to @out.  Returns the number of bytes of @src that it
 * represents.
 */
static unsigned int escape_one(char out[20], const char *src,
			       unsigned int flags)
{
	const unsigned char *s = (const unsigned char *)src;
	unsigned int i, len;
	uint32_t code;

	len = utf8_decode(src, &code);
	if (len == 1 && code == '\\') {
		strcpy(out, "\\\\");
	} else if (len && !acts_on_terminal(code) &&
		   (code < 0x80 || !(flags & ESCAPE_ASCII))) {
		memcpy(out, src, len);
		out[len] = '\0';
	} else {
		len = len ? len : 1;
		for (i = 0; i < len; i++)
			sprintf(out + 4 * i, "\\x%02x", s[i]);
	}
	return len;
}

const char *json_escape(char buf[JSON_ESCAPE_LEN], uint32_t code)
{
	if (code > 0xffff)
		snprintf(buf, JSON_ESCAPE_LEN, "\\u%04" PRIx32 "\\u%04" PRIx32,
			 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
	else
		snprintf(buf, JSON_ESCAPE_LEN, "\\u%04" PRIx32, code);
	return buf;
}

bool begins_formula(const char *text)
{
	return *text && strchr("=+-@'", *text);
}

size_t escape_text(char *dst, size_t size, const char *src, unsigned int flags)
{
	size_t used = 0;
	char out[20];

	while (*src) {
		unsigned int taken = escape_one(out, src, flags);
		size_t len = strlen(out);

		if (used + len >= size)
			break;
		memcpy(dst + used, out, len);
		used += len;
		src += taken;
	}
	dst[used] = '\0';
	return used;
}
