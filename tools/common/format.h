/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and names as text.  Pure: no output, no locale, no allocation. */
#ifndef TOOLS_FORMAT_H
#define TOOLS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for any text of format_bytes(), _rate() and _duration(). */
#define FORMAT_LEN 32

/* "0 B", "1.0 KiB", "12.3 MiB": binary units, as memory is counted. */
const char *format_bytes(char buf[FORMAT_LEN], uint64_t bytes);

/* "0 B/s", "1.0 kB/s", "12.3 MB/s": decimal units, as bandwidth is sold. */
const char *format_rate(char buf[FORMAT_LEN], double bytes_per_s);

/* The same where there is little room: "0", "1.0Ki", "512Mi"; "1.0k", "512M". */
const char *format_bytes_short(char buf[FORMAT_LEN], uint64_t bytes);
const char *format_rate_short(char buf[FORMAT_LEN], double bytes_per_s);

/* "250 ns", "100 us", "1 ms", "1.5 s": exact, never rounded. */
const char *format_duration(char buf[FORMAT_LEN], uint64_t ns);

/* "2026-03-01T12:00:00.123456Z" */
const char *format_time(char buf[FORMAT_LEN], int64_t realtime_ns);

/*
 * Decode the character that @text begins with.  Returns its length, 0 when it
 * is not UTF-8.
 */
unsigned int utf8_decode(const char *text, uint32_t *code);

/* Controls (C0, DEL, C1), and characters that are invisible or reorder text */
bool acts_on_terminal(uint32_t code);

#define JSON_ESCAPE_LEN 16

/* "\u001b", and two of them above U+FFFF. */
const char *json_escape(char buf[JSON_ESCAPE_LEN], uint32_t code);

/*
 * A spreadsheet runs a text with such a begin as a formula: CSV has an apostrophe
 * before it.  A text that begins with an apostrophe gets another one, so that names
 * stay distinct.
 */
bool begins_formula(const char *text);

#define ESCAPE_ASCII	(1U << 0)	/* escape all that is not ASCII, too */

/*
 * Copy a name that any user may have chosen, so that no part of it acts on a terminal:
 * control characters (C0, DEL, C1), bytes that are not UTF-8, and the invisible
 * characters that reorder text become \xNN, one for each byte; a backslash becomes two.
 * A text that is too long is cut, never in the middle of a character or an escape.
 * Always terminates; size > 0.  Returns the length written.
 */
size_t escape_text(char *dst, size_t size, const char *src, unsigned int flags);

#endif
