// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns from arguments and files, and what is said of a wrong one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uapi/cmt.h>

#include "cmtctl/patterns.h"
#include "unit.h"

static struct patterns patterns;
static char *said;
static size_t said_len;

static void teardown(void)
{
	patterns_free(&patterns);
	free(said);
	said = NULL;
}

static int read_text(const char *text, size_t len)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int ret = patterns_read(&patterns, in);

	fclose(in);
	return ret;
}

static void explains(uint32_t bad_at, const char *expected)
{
	FILE *err;

	free(said);
	said = NULL;
	err = open_memstream(&said, &said_len);
	patterns_explain(&patterns, bad_at, err);
	fclose(err);
	ck_assert_str_eq(said, expected);
}

START_TEST(test_words_of_arguments)
{
	ck_assert_int_eq(patterns_add(&patterns, "  a\t!b/*\n"), 0);
	ck_assert_int_eq(patterns_add(&patterns, ""), 0);
	ck_assert_int_eq(patterns_add(&patterns, "#c"), 0);
	ck_assert_str_eq(patterns.text, "a\n!b/*\n#c");
	ck_assert_uint_eq(patterns.bytes, strlen(patterns.text));
	ck_assert_uint_eq(patterns.nr, 3);
}
END_TEST

START_TEST(test_words_of_a_file)
{
	static const char file[] = "# all\na b # two\n\n c#d";

	ck_assert_int_eq(read_text(file, sizeof(file) - 1), 0);
	ck_assert_str_eq(patterns.text, "a\nb\nc#d");
	ck_assert_uint_eq(patterns.lines[1], 2);
	ck_assert_uint_eq(patterns.lines[2], 4);
	ck_assert_int_eq(read_text("a\0b", 3), -EINVAL);
}
END_TEST

START_TEST(test_explained_where)
{
	patterns_add(&patterns, "ab \033[31m");
	read_text("\nlast<\n", 7);
	explains(0, "Pattern 'ab' is wrong at byte 1\n");
	explains(1, "Pattern 'ab' is wrong at byte 2\n");
	/* its end, where something is missing */
	explains(2, "Pattern 'ab' is wrong at byte 3\n");
	explains(3, "Pattern '\\x1b[31m' is wrong at byte 1\n");
	explains(9, "Pattern 'last<' of line 2 is wrong at byte 1\n");
	explains(14, "Pattern 'last<' of line 2 is wrong at byte 6\n");
	/* a module that says what cannot be is not followed */
	explains(400, "Pattern 'last<' of line 2 is wrong at byte 6\n");
}
END_TEST

START_TEST(test_explained_length)
{
	static char longest[CMT_PATTERNS_MAX + 2];

	explains(0, "There is no pattern\n");
	memset(longest, 'x', CMT_PATTERNS_MAX);
	patterns_add(&patterns, longest);
	ck_assert_uint_eq(patterns.bytes, CMT_PATTERNS_MAX);
	patterns_free(&patterns);
	longest[CMT_PATTERNS_MAX] = 'x';
	patterns_add(&patterns, longest);
	explains(CMT_PATTERNS_MAX,
		 "The patterns are 4097 bytes long, and at most 4096 can be\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("patterns");
	TCase *tcase = tcase_create("patterns");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, test_words_of_arguments);
	tcase_add_test(tcase, test_words_of_a_file);
	tcase_add_test(tcase, test_explained_where);
	tcase_add_test(tcase, test_explained_length);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
