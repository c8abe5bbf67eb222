// SPDX-License-Identifier: GPL-2.0-or-later
/* What a PERF leaves of the counts of an RMID, module/cpu/perf_sum.h. */
#include <check.h>

#include "cpu/perf_sum.h"
#include "unit.h"

#define MOST	1000	/* cycles in one PERF */

static struct perf_sum sum;

static void setup(void)
{
	sum = (struct perf_sum){
		.values = { 1, 2, 3, 4 }, .ran = 10, .waited = 3 * CMT_WAIT_UNIT + 5,
		.generation = 7, .missing = 1, .quota = true,
	};
}

/* Write it, until nothing is left.  Returns how many PERFs that takes; *@told: their time. */
static unsigned int write_all(uint64_t *told)
{
	unsigned int n = 0;

	*told = 0;
	do {
		*told += sum.ran < MOST ? sum.ran : MOST;
		cmt_perf_sum_written(&sum, MOST);
		ck_assert_uint_lt(++n, 100);
	} while (sum.ran);
	return n;
}

START_TEST(test_sum_begins_again)
{
	uint64_t told;

	ck_assert_uint_eq(write_all(&told), 1);
	ck_assert_uint_eq(told, 10);
	ck_assert_uint_eq(sum.generation, 7);
	ck_assert_uint_eq(sum.waited, 5);
	ck_assert(!sum.missing && !sum.quota && !sum.values[0]);
}
END_TEST

START_TEST(test_sum_continues)
{
	uint64_t told;

	sum.ran = 2 * MOST + 1;
	cmt_perf_sum_written(&sum, MOST);
	ck_assert_uint_eq(sum.ran, MOST + 1);
	ck_assert_msg(sum.missing == 1 && sum.quota,
		      "what was not counted is a count of 0 in the rest of the time");
	ck_assert(!sum.values[0] && sum.waited == 5);
	ck_assert_uint_eq(write_all(&told), 2);
	ck_assert_uint_eq(told, MOST + 1);
	ck_assert(!sum.missing && !sum.quota);
}
END_TEST

/* A CPU without ticks adds up the time of days. */
START_TEST(test_sum_of_days)
{
	uint64_t told;

	sum.ran = 1000000 * MOST;
	ck_assert_uint_eq(write_all(&told), CMT_PERF_RAN_RECORDS);
	ck_assert_uint_eq(told, CMT_PERF_RAN_RECORDS * MOST);
	sum.ran = UINT64_MAX;
	ck_assert_uint_eq(write_all(&told), CMT_PERF_RAN_RECORDS);
}
END_TEST

START_TEST(test_sum_of_a_clock_that_goes_back)
{
	cmt_perf_sum_ran(&sum, 5);
	ck_assert_uint_eq(sum.ran, 15);
	cmt_perf_sum_ran(&sum, (uint64_t)-3);
	ck_assert_uint_eq(sum.ran, 15);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_sum");
	TCase *tcase = tcase_create("perf_sum");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_sum_begins_again);
	tcase_add_test(tcase, test_sum_continues);
	tcase_add_test(tcase, test_sum_of_days);
	tcase_add_test(tcase, test_sum_of_a_clock_that_goes_back);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
