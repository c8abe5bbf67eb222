// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <string.h>

#include "keys.h"
#include "unit.h"

static const struct {
	const char *bytes, *keys;
} cases[] = {
	{ "q", "q" },
	{ "Q", "q" },
	{ "xeq", "xeq" },
	{ "\033OQ", "" },		/* F2 */
	{ "\033OQe", "e" },
	{ "\033[12~q", "q" },		/* F2, too */
	{ "\033[1;5Q", "" },		/* Ctrl-F2 */
	{ "\033[[E", "" },		/* F5 of the Linux console */
	{ "\033[[Ee", "e" },
	{ "\033[A\033[B", "" },		/* cursor keys */
	{ "\033q", "" },		/* Alt-q */
	{ "\033\033[Aq", "q" },
	{ "\033[\033OQ", "" },
	{ "\033", "" },
	{ "\xc3\xa9q", "\xc3\xa9q" },
};

START_TEST(test_keys_filter_leaves_out_sequences)
{
	enum keys_state state = KEYS_PLAIN;
	char keys[32];

	keys_filter(&state, keys, cases[_i].bytes, strlen(cases[_i].bytes));
	ck_assert_str_eq(keys, cases[_i].keys);
}
END_TEST

/* A read may end anywhere in a sequence. */
START_TEST(test_keys_filter_in_pieces)
{
	enum keys_state state = KEYS_PLAIN;
	char all[32] = "", keys[2];
	const char *byte;

	for (byte = cases[_i].bytes; *byte; byte++) {
		keys_filter(&state, keys, byte, 1);
		strcat(all, keys);
	}
	ck_assert_str_eq(all, cases[_i].keys);
}
END_TEST

/* A NUL, Ctrl-Space, is no end of what follows. */
START_TEST(test_keys_filter_nul)
{
	enum keys_state state = KEYS_PLAIN;
	char keys[4];

	keys_filter(&state, keys, "\0q", 2);
	ck_assert_str_eq(keys, "q");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("keys");
	TCase *tc = tcase_create("keys");
	int nr = sizeof(cases) / sizeof(cases[0]);

	tcase_add_loop_test(tc, test_keys_filter_leaves_out_sequences, 0, nr);
	tcase_add_loop_test(tc, test_keys_filter_in_pieces, 0, nr);
	tcase_add_test(tc, test_keys_filter_nul);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
