// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/format.h"
#include "unit.h"

START_TEST(test_format_short)
{
	static const struct {
		double value;
		const char *bytes, *rate;
	} cases[] = {
		{ 0, "0", "0" },
		{ 999, "999", "999" },
		{ 1000, "1000", "1.0k" },
		{ 1023, "1023", "1.0k" },
		{ 1024, "1.0Ki", "1.0k" },
		{ 99.9 * 1024, "99.9Ki", "102k" },
		{ 99.96 * 1024, "100Ki", "102k" },
		{ 1023.4 * 1024, "1023Ki", "1.0M" },
		{ 1023.6 * 1024, "1.0Mi", "1.0M" },
		{ 999499, "976Ki", "999k" },
		{ 999501, "976Ki", "1.0M" },
		{ 18446744073709549568.0, "16.0Ei", "18.4E" },
	};
	char buf[FORMAT_LEN];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_str_eq(format_bytes_short(buf,
					(uint64_t)cases[i].value),
				 cases[i].bytes);
		ck_assert_str_eq(format_rate_short(buf, cases[i].value),
				 cases[i].rate);
	}
}
END_TEST

START_TEST(test_format_bytes_units)
{
	char buf[FORMAT_LEN];

	ck_assert_str_eq(format_bytes(buf, 0), "0 B");
	ck_assert_str_eq(format_bytes(buf, 1023), "1023 B");
	ck_assert_str_eq(format_bytes(buf, 1024), "1.0 KiB");
	ck_assert_str_eq(format_bytes(buf, 1536), "1.5 KiB");
	ck_assert_str_eq(format_bytes(buf, 32 << 20), "32.0 MiB");
	ck_assert_str_eq(format_bytes(buf, 5ULL << 30), "5.0 GiB");
	ck_assert_str_eq(format_bytes(buf, UINT64_MAX), "16.0 EiB");
}
END_TEST

START_TEST(test_format_bytes_rounds_into_next_unit)
{
	char buf[FORMAT_LEN];

	ck_assert_str_eq(format_bytes(buf, (1 << 20) - 1), "1.0 MiB");
	ck_assert_str_eq(format_bytes(buf, 1023 << 10), "1023.0 KiB");
}
END_TEST

START_TEST(test_format_rate_units)
{
	char buf[FORMAT_LEN];

	ck_assert_str_eq(format_rate(buf, 0), "0 B/s");
	ck_assert_str_eq(format_rate(buf, 999), "999 B/s");
	ck_assert_str_eq(format_rate(buf, 999.6), "1.0 kB/s");
	ck_assert_str_eq(format_rate(buf, 12345678), "12.3 MB/s");
	ck_assert_str_eq(format_rate(buf, 2.5e10), "25.0 GB/s");
}
END_TEST

START_TEST(test_format_duration_exact)
{
	char buf[FORMAT_LEN];

	ck_assert_str_eq(format_duration(buf, 0), "0 ns");
	ck_assert_str_eq(format_duration(buf, 999), "999 ns");
	ck_assert_str_eq(format_duration(buf, 100000), "100 us");
	ck_assert_str_eq(format_duration(buf, 1000000), "1 ms");
	ck_assert_str_eq(format_duration(buf, 1000001), "1.000001 ms");
	ck_assert_str_eq(format_duration(buf, 1500000000), "1.5 s");
}
END_TEST

START_TEST(test_format_time_utc)
{
	char buf[FORMAT_LEN];

	ck_assert_str_eq(format_time(buf, 1000000000123456789),
			 "2001-09-09T01:46:40.123456Z");
}
END_TEST

static void check_escape(const char *in, unsigned int flags, const char *out)
{
	char buf[256];
	size_t len = escape_text(buf, sizeof(buf), in, flags);

	ck_assert_str_eq(buf, out);
	ck_assert_uint_eq(len, strlen(out));
}

START_TEST(test_escape_text_controls)
{
	check_escape("", 0, "");
	check_escape("nginx: worker", 0, "nginx: worker");
	check_escape("\033[2J", 0, "\\x1b[2J");
	check_escape("a\nb\tc\x7f", 0, "a\\x0ab\\x09c\\x7f");
	check_escape("back\\slash", 0, "back\\\\slash");
	/* U+009B is CSI, U+202E turns the text around */
	check_escape("\xc2\x9b" "31m", 0, "\\xc2\\x9b31m");
	check_escape("\xe2\x80\xae", 0, "\\xe2\\x80\\xae");
}
END_TEST

START_TEST(test_escape_text_utf8)
{
	check_escape("caf\xc3\xa9", 0, "caf\xc3\xa9");
	check_escape("caf\xc3\xa9", ESCAPE_ASCII, "caf\\xc3\\xa9");
	check_escape("\xf0\x9f\x90\xb3", 0, "\xf0\x9f\x90\xb3");
}
END_TEST

START_TEST(test_escape_text_bad_utf8)
{
	check_escape("\xff", 0, "\\xff");
	check_escape("\xc3", 0, "\\xc3");
	check_escape("\xc3(", 0, "\\xc3(");
	check_escape("\xc0\x80", 0, "\\xc0\\x80");		/* overlong */
	check_escape("\xe0\x80\x80", 0, "\\xe0\\x80\\x80");	/* overlong */
	check_escape("\xed\xa0\x80", 0, "\\xed\\xa0\\x80");	/* surrogate */
	check_escape("\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80");
	check_escape("\xe2\x82", 0, "\\xe2\\x82");
}
END_TEST

START_TEST(test_escape_text_cut_whole)
{
	char buf[6];

	/* a piece of exactly the room is not to be read past its end */
	ck_assert_uint_eq(escape_text(buf, 6, "abcdefgh", 0), 5);
	ck_assert_str_eq(buf, "abcde");
	ck_assert_uint_eq(escape_text(buf, 6, "abc\033", 0), 3);
	ck_assert_str_eq(buf, "abc");
	ck_assert_uint_eq(escape_text(buf, 6, "abcd\xc3\xa9", 0), 4);
	ck_assert_str_eq(buf, "abcd");
	ck_assert_uint_eq(escape_text(buf, 1, "x", 0), 0);
	ck_assert_str_eq(buf, "");
}
END_TEST

START_TEST(test_clock_unknown)
{
	ck_assert_uint_eq(clock_ns((clockid_t)999), 0);
	ck_assert_uint_ne(clock_ns(CLOCK_MONOTONIC), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("format");
	TCase *tc = tcase_create("format");

	tcase_add_test(tc, test_format_short);
	tcase_add_test(tc, test_format_bytes_units);
	tcase_add_test(tc, test_format_bytes_rounds_into_next_unit);
	tcase_add_test(tc, test_format_rate_units);
	tcase_add_test(tc, test_format_duration_exact);
	tcase_add_test(tc, test_format_time_utc);
	tcase_add_test(tc, test_escape_text_controls);
	tcase_add_test(tc, test_escape_text_utf8);
	tcase_add_test(tc, test_escape_text_bad_utf8);
	tcase_add_test(tc, test_escape_text_cut_whole);
	tcase_add_test(tc, test_clock_unknown);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
