// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of cmtctl selftest: what is not known is no 0. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmtctl/selftest.h"
#include "unit.h"

static char page[1 << 16];

static void print(const struct selftest *test, bool json)
{
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO);
	size_t n;

	ck_assert(file && out >= 0 && !fflush(stdout));
	ck_assert_int_ge(dup2(fileno(file), STDOUT_FILENO), 0);
	ck_assert_int_eq(selftest_print(test, json), 0);
	ck_assert(!fflush(stdout) && dup2(out, STDOUT_FILENO) >= 0);
	rewind(file);
	n = fread(page, 1, sizeof(page) - 1, file);
	page[n] = '\0';
	fclose(file);
	close(out);
}

static void has(const char *text)
{
	ck_assert_msg(strstr(page, text), "%s is not in\n%s", text, page);
}

START_TEST(test_unknown)
{
	static const struct cmt_info info = { .backend = CMT_BACKEND_HARDWARE };
	struct selftest test = { .info = &info };

	print(&test, false);
	has("ticks        0 ticks each 0 ns: 0.000 % of the CPU time");
	has("; RMID 0\n");
	ck_assert_ptr_null(strstr(page, "L3 0"));
	ck_assert_ptr_null(strstr(page, "median"));
	print(&test, true);
	has("\"growth_held_bytes\":null");
	has("\"tick_median_ns\":null");
	has("\"domain\":null");
	ck_assert_ptr_null(strstr(page, "\"domain\":0"));
	has("\"traffic_reason\":null,\"read_bytes\":0,");
	test.traffic_reason = "too little memory is available";
	print(&test, true);
	has("\"read_bytes\":null");
	test.fills[FILL_LARGE].known = true;
	print(&test, true);
	has("\"growth_held_bytes\":null");
}
END_TEST

START_TEST(test_known)
{
	static const struct cmt_info info = { .backend = CMT_BACKEND_HARDWARE };
	struct selftest test = {
		.info = &info, .growth.held = 5,
		.ticks = { .ticks = 9, .known = true, .median_ns = 100, .most_ns = 200 },
	};

	test.fills[FILL_LARGE].known = true;
	test.fills[FILL_SMALL].known = true;
	print(&test, false);
	has(": median 100 ns, longest 200 ns; 0.000 % of the CPU time");
	print(&test, true);
	has("\"growth_held_bytes\":5");
	has("\"domain\":0");
	has("\"tick_median_ns\":100");
}
END_TEST

static struct selftest passing(void)
{
	struct selftest test = {
		.growth.state = CHECK_PASS, .rates.state = CHECK_PASS,
		.traffic.state = CHECK_PASS,
	};

	for (unsigned int i = 0; i < NR_FILLS; i++)
		test.fills[i].state = CHECK_PASS;
	return test;
}

static enum check_state judged(struct selftest test)
{
	selftest_judge(&test);
	return test.state;
}

/* Traffic that could not be checked here does not count; failed readings of it do. */
START_TEST(test_judge_traffic)
{
	struct selftest test = passing();

	ck_assert_int_eq(judged(test), CHECK_PASS);
	test.traffic.state = CHECK_FAIL;
	ck_assert_int_eq(judged(test), CHECK_FAIL);
	test.traffic.state = CHECK_UNKNOWN;
	ck_assert_int_eq(judged(test), CHECK_FAIL);
	test.traffic_reason = "too little memory is available";
	ck_assert_int_eq(judged(test), CHECK_PASS);
}
END_TEST

START_TEST(test_judge_unknown)
{
	struct selftest test = passing();

	test.fills[FILL_SECOND].state = CHECK_UNKNOWN;
	ck_assert_int_eq(judged(test), CHECK_FAIL);
	test = passing();
	test.growth.state = CHECK_UNKNOWN;
	ck_assert_int_eq(judged(test), CHECK_FAIL);
	test = passing();
	test.rates.state = CHECK_UNKNOWN;
	ck_assert_int_eq(judged(test), CHECK_FAIL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("selftest_page");

	UNIT_CASE(suite, test_unknown);
	UNIT_CASE(suite, test_known);
	UNIT_CASE(suite, test_judge_traffic);
	UNIT_CASE(suite, test_judge_unknown);
	return unit_run(suite);
}
