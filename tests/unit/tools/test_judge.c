// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmtctl selftest makes of its figures. */
#include <string.h>

#include "cmtctl/judge.h"
#include "unit.h"

#define MIB (1ULL << 20)

static const struct cache_facts cache = {
	.l3_bytes = 32 * MIB, .l2_bytes = 2 * MIB, .unit_bytes = 4096,
};

static enum check_state fill_state(uint64_t filled, uint64_t residue, uint64_t held)
{
	struct fill fill = { .filled = filled, .known = true, .residue = residue, .held = held };

	judge_fill(&fill, &cache);
	return fill.state;
}

START_TEST(fill_of_its_size_passes)
{
	ck_assert_int_eq(fill_state(8 * MIB, 0, 8 * MIB), CHECK_PASS);
	ck_assert_int_eq(fill_state(0, 0, 100 << 10), CHECK_PASS);
}
END_TEST

/* Lines in the L2 may be missing in the L3, former owners' lines may be there. */
START_TEST(fill_concedes_l2_and_residue)
{
	ck_assert_int_eq(fill_state(8 * MIB, 0, 5 * MIB), CHECK_PASS);
	ck_assert_int_eq(fill_state(8 * MIB, 3 * MIB, 12 * MIB), CHECK_PASS);
	ck_assert_int_eq(fill_state(8 * MIB, 0, 12 * MIB), CHECK_FAIL);
	/* half of a small fill is the most that the L2 is conceded */
	ck_assert_int_eq(fill_state(2 * MIB, 0, 600 << 10), CHECK_FAIL);
}
END_TEST

START_TEST(fill_not_in_cache_fails)
{
	ck_assert_int_eq(fill_state(8 * MIB, 0, 0), CHECK_FAIL);
	ck_assert_int_eq(fill_state(8 * MIB, 0, 4 * MIB), CHECK_FAIL);
	ck_assert_int_eq(fill_state(0, 0, 8 * MIB), CHECK_FAIL);
}
END_TEST

START_TEST(unknown_fill_has_no_verdict)
{
	struct fill fill = { .filled = 8 * MIB };

	judge_fill(&fill, &cache);
	ck_assert_int_eq(fill.state, CHECK_UNKNOWN);
}
END_TEST

static enum check_state growth_state(uint64_t small_held, uint64_t large_held)
{
	const struct fill small = { .filled = 4 * MIB, .known = true, .held = small_held };
	const struct fill large = { .filled = 16 * MIB, .known = true, .held = large_held };
	struct growth growth;

	judge_growth(&growth, &small, &large, &cache);
	return growth.state;
}

/* The L2 cancels out; a counter that says 70 or 130 per cent does not pass. */
START_TEST(growth_shows_a_wrong_scale)
{
	ck_assert_int_eq(growth_state(4 * MIB, 16 * MIB), CHECK_PASS);
	ck_assert_int_eq(growth_state(2 * MIB, 14 * MIB), CHECK_PASS);
	ck_assert_int_eq(growth_state(28 * MIB / 10, 112 * MIB / 10), CHECK_FAIL);
	ck_assert_int_eq(growth_state(52 * MIB / 10, 208 * MIB / 10), CHECK_FAIL);
	ck_assert_int_eq(growth_state(16 * MIB, 4 * MIB), CHECK_FAIL);
}
END_TEST

START_TEST(traffic_is_near_bytes_read)
{
	struct traffic_check traffic = { .read = 100 * MIB, .total = 90 * MIB };

	judge_traffic(&traffic);
	ck_assert_int_eq(traffic.state, CHECK_UNKNOWN);
	traffic.total_known = true;
	judge_traffic(&traffic);
	ck_assert_int_eq(traffic.state, CHECK_PASS);
	traffic.total = 60 * MIB;
	judge_traffic(&traffic);
	ck_assert_int_eq(traffic.state, CHECK_FAIL);
	traffic.total = 140 * MIB;
	judge_traffic(&traffic);
	ck_assert_int_eq(traffic.state, CHECK_FAIL);
}
END_TEST

/* 1,000 ns and 200 ns for each RMID; some ticks are disturbed. */
START_TEST(cost_of_a_reading_is_the_slope)
{
	static struct tick ticks[300];
	struct tick_cost cost;
	unsigned int i;

	for (i = 0; i < 300; i++)
		ticks[i] = (struct tick){ i % 3 * 2, 1000 + i % 3 * 400 };
	ticks[7].ns = 1000000;
	judge_ticks(&cost, ticks, 300);
	ck_assert_uint_eq(cost.ticks, 300);
	ck_assert_uint_eq(cost.median_ns, 1400);
	ck_assert_uint_eq(cost.most_ns, 1000000);
	ck_assert(cost.reading_known);
	ck_assert_double_eq_tol(cost.reading_ns, 200, 0.1);
}
END_TEST

START_TEST(cost_of_a_reading_is_unknown_without_a_difference)
{
	static struct tick ticks[100];
	struct tick_cost cost;

	judge_ticks(&cost, ticks, 0);
	ck_assert(!cost.known && !cost.reading_known);
	for (unsigned int i = 0; i < 100; i++)
		ticks[i] = (struct tick){ i < 15 ? 9 : 1, i < 15 ? 900 : 500 };
	judge_ticks(&cost, ticks, 100);
	ck_assert(cost.known && !cost.reading_known);
	/* more readings that take less time are no cost */
	for (unsigned int i = 0; i < 100; i++)
		ticks[i] = (struct tick){ i < 50 ? 9 : 1, i < 50 ? 400 : 500 };
	judge_ticks(&cost, ticks, 100);
	ck_assert(!cost.reading_known);
}
END_TEST

START_TEST(errors_fail_and_unavailable_does_not)
{
	struct rates rates = { .readings = 1000, .errors = 10, .unavailable = 900 };

	judge_rates(&rates);
	ck_assert_int_eq(rates.state, CHECK_PASS);
	rates.errors = 11;
	judge_rates(&rates);
	ck_assert_int_eq(rates.state, CHECK_FAIL);
	rates = (struct rates){ 0 };
	judge_rates(&rates);
	ck_assert_int_eq(rates.state, CHECK_UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("judge");
	TCase *tc = tcase_create("judge");

	tcase_add_test(tc, fill_of_its_size_passes);
	tcase_add_test(tc, fill_concedes_l2_and_residue);
	tcase_add_test(tc, fill_not_in_cache_fails);
	tcase_add_test(tc, unknown_fill_has_no_verdict);
	tcase_add_test(tc, growth_shows_a_wrong_scale);
	tcase_add_test(tc, traffic_is_near_bytes_read);
	tcase_add_test(tc, cost_of_a_reading_is_the_slope);
	tcase_add_test(tc, cost_of_a_reading_is_unknown_without_a_difference);
	tcase_add_test(tc, errors_fail_and_unavailable_does_not);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
