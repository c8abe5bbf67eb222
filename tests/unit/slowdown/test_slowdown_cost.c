// SPDX-License-Identifier: GPL-2.0-or-later
/* What a miss costs, and what cache gives. */
#include "slowdown/neighbours.h"

#include <check.h>
#include <math.h>

#include "unit.h"

/* The slots with more misses are those in which each of them costs more, 100 cycles and up. */
START_TEST(cost_where_memory_is_busy)
{
	struct slowdown_values v = victim_in(0), s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		v.misses = 4000 + 500 * (i % 5) + 100 * (i % 3);
		s.misses = s.references = 10000 + 5000 * (i % 5);
		v.cycles = 1.6e6 + v.misses * (100 + 10 * (i % 5));
		add_two(&v, &s);
	}
	ck_assert_double_gt(slowdown_cost(&sums.owners[0]).value, 100);
	ck_assert_double_lt(slowdown_cost(&sums.owners[0]).value, 140);
	slowdown_free(&sums);
}
END_TEST

/* 0.8 cycles an instruction, and 50 a miss: its slots do not differ. */
START_TEST(cost_of_a_steady_one)
{
	struct slowdown_values v = {
		.occupancy_kib = 8192, .counted = true, .instructions = 1e6,
		.misses = 50000, .references = 50000, .cycles = 3.3e6,
	};

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		add_one(VICTIM, v);
	}
	ck_assert_double_eq_tol(slowdown_cost(&sums.owners[0]).value, 50, 2);
	slowdown_free(&sums);
	/* rounding is no difference */
	for (v.misses = 400; v.misses < 4000; v.misses += 200) {
		v.cycles = 0.8 * v.instructions + 90 * v.misses;
		begin(8);
		for (uint32_t i = 0; i < 2000; i++)
			add_one(VICTIM, v);
		ck_assert_double_eq_tol(slowdown_cost(&sums.owners[0]).value, 90, 1);
		slowdown_free(&sums);
	}
}
END_TEST

/*
 * An owner of 10,000 references and a @share of hits that is a power of what it holds when the
 * slot begins
 */
static void add_curve(double share, double exponent, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i++) {
		double before = 8192 + 256.0 * ((i + 8) % 9);
		struct slowdown_values v = {
			.occupancy_kib = 8192 + 256.0 * (i % 9), .counted = true,
			.instructions = 2e6, .references = 10000,
			.misses = 10000 * (1 - share * pow(before / 8192, exponent)),
		};

		v.cycles = 1e6 + 100 * v.misses;
		add_two(&v, &streamer);
	}
}

/* Occupancies are of the end of a slot: those of the slot before tell. */
START_TEST(steep_is_seen)
{
	const double exponents[] = { 0.3, 1, 3 };

	for (int i = 0; i < 3; i++) {
		double seen;

		begin(8);
		add_curve(0.3, exponents[i], 2000);
		seen = slowdown_steep(&sums.owners[0]);
		ck_assert_double_gt(seen, 0.5 * exponents[i]);
		ck_assert_double_lt(seen, 1.3 * exponents[i] + 0.1);
		slowdown_free(&sums);
	}
}
END_TEST

static double steep_of(double hits, double kib_by_slot)
{
	struct slowdown_values v = streamer;
	double steep;

	begin(8);
	for (uint32_t i = 0; i < 200; i++) {
		v.references = 20000;
		v.misses = v.references * (1 - hits) + 20 * (i % 3);
		v.occupancy_kib = 1000 + kib_by_slot * (i % 20);
		add_one(VICTIM, v);
	}
	steep = slowdown_steep(&sums.owners[0]);
	slowdown_free(&sums);
	return steep;
}

/* What holds the same all the time, or never hits, tells nothing. */
START_TEST(steep_is_not_seen)
{
	ck_assert_double_eq(slowdown_steep(&(struct slowdown_owner){ 0 }), 1);
	ck_assert_double_eq(steep_of(0.002, 100), 1);
	ck_assert_double_eq_tol(steep_of(0.5, 0.1), 1, 0.1);
	ck_assert_double_lt(steep_of(0.5, 100), 0.3);
}
END_TEST

/* A loop gains more from the same cache than accesses without order. */
START_TEST(loop_gains_more)
{
	double share;

	begin(8);
	add_curve(0.3, 1, 2000);
	share = told(VICTIM, STREAMER);
	slowdown_free(&sums);
	begin(8);
	add_curve(0.3, 3, 2000);
	ck_assert_double_gt(told(VICTIM, STREAMER), 1.3 * share);
	slowdown_free(&sums);
}
END_TEST

START_TEST(holds_by_pressure)
{
	const struct slowdown_need none = { .most = 0.985, .steep = 1 };
	const struct slowdown_need half = { .hits = 0.5, .most = 0.985, .steep = 1 };
	const struct slowdown_need loop = { .hits = 0.1, .most = 0.985, .steep = 4 };
	const struct slowdown_need slow = {
		.hits = 0.5, .most = 0.985, .steep = 1, .waits = 0.8,
	};
	double a[SLOWDOWN_PRESSURES], b[SLOWDOWN_PRESSURES], c[SLOWDOWN_PRESSURES];
	double d[SLOWDOWN_PRESSURES];

	slowdown_times(&none, a);
	slowdown_times(&half, b);
	slowdown_times(&loop, c);
	slowdown_times(&slow, d);
	ck_assert_double_eq_tol(a[16], 256, 1e-6);
	ck_assert_double_eq_tol(b[16], 1.97, 0.01);
	ck_assert_double_eq_tol(c[16], pow(9.85, 0.25), 0.01);
	/* what waits for its misses runs faster without them, and brings in more */
	ck_assert_double_gt(d[2], 1.1 * b[2]);
	/* lines stay twice as long: u^3 is 8 m^2, and m is 2 - u */
	ck_assert_double_eq_tol(pow(b[2], 3), 8 * pow(2 - b[2], 2), 0.1);
	for (int i = 0; i < SLOWDOWN_PRESSURES - 1; i++)
		ck_assert(a[i] < a[i + 1] && b[i] <= b[i + 1] && c[i] <= c[i + 1]);
	ck_assert_double_eq(slowdown_hits(&none, 100), 0);
	ck_assert_double_eq_tol(slowdown_hits(&half, 1.5), 0.75, 1e-4);
	ck_assert_double_eq_tol(slowdown_hits(&loop, 1.5), 0.1 * pow(1.5, 4), 1e-4);
	ck_assert_double_eq(slowdown_hits(&loop, 1000), 0.985);
}
END_TEST

/* Few hits are mostly those of a loop, many tell nothing. */
START_TEST(steep_of_few_hits)
{
	ck_assert_double_eq_tol(steep_of(0.5, 0), 1, 1e-3);
	ck_assert_double_eq_tol(steep_of(0.01, 0), 0.8 * log(100), 0.5);
	/* without a hit it is no loop of infinite steepness */
	ck_assert_double_eq(steep_of(0, 0), 1);
}
END_TEST

/* No occupancy is known; every other slot hits @uneven more, as a part, and the others less. */
static double steep_by_hits(double hits, double uneven)
{
	double steep;

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = streamer;

		v.occupancy_kib = -1;
		v.references = 20000;
		v.misses = v.references * (1 - hits * (i % 2 ? 1 - uneven : 1 + uneven));
		add_one(VICTIM, v);
	}
	steep = slowdown_steep(&sums.owners[0]);
	slowdown_free(&sums);
	return steep;
}

/* What presses changes: accesses without order hit nearly the same, a loop all or nothing. */
START_TEST(steep_of_uneven_hits)
{
	ck_assert_double_eq_tol(steep_by_hits(0.3, 0), 0.6, 1e-3);
	ck_assert_double_eq_tol(steep_by_hits(0.3, 0.2), 1, 1e-3);
	ck_assert_double_eq_tol(steep_by_hits(0.3, 1), 2.6, 0.01);
	ck_assert_double_eq_tol(steep_by_hits(0.02, 1), 2.6, 0.01);
}
END_TEST

/* It is seen to hit 0.8 where it holds four times as much, and then goes on as before. */
START_TEST(hits_that_are_seen)
{
	struct slowdown_need need = slowdown_need(9500, 10000, 0, 1),
			     none = slowdown_need(1, 1, 0, 1);
	double times[SLOWDOWN_PRESSURES];

	slowdown_need_see(&need, 0.8, 4);
	ck_assert_double_eq_tol(slowdown_hits(&need, 1), 0.05, 1e-6);
	ck_assert_double_eq_tol(slowdown_hits(&need, 2), 0.2, 1e-3);
	ck_assert_double_eq_tol(slowdown_hits(&need, 4), 0.8, 1e-3);
	ck_assert_double_eq_tol(slowdown_hits(&need, 4.4), 0.88, 1e-3);
	ck_assert_double_eq(slowdown_hits(&need, 100), 0.985);
	slowdown_times(&need, times);
	ck_assert_double_eq_tol(times[16], 4 * 0.985 / 0.8, 1e-2);
	/* the same of one that hits nothing now: there is no step at what it holds */
	ck_assert_double_eq(slowdown_hits(&none, 4), 0);
	slowdown_need_see(&none, 0.8, 4);
	ck_assert_double_eq_tol(slowdown_hits(&none, 1), 0, 1e-9);
	ck_assert_double_eq_tol(slowdown_hits(&none, 4), 0.8, 0.01);
}
END_TEST

START_TEST(kept_is_exponential)
{
	ck_assert_double_eq(slowdown_kept(0), 1);
	for (double x = 0.001; x < 2; x *= 1.5)
		ck_assert_double_eq_tol(slowdown_kept(x), exp(-x), 1e-5);
	ck_assert_double_lt(slowdown_kept(100), 1e-20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slowdown cost");

	UNIT_CASE(suite, cost_where_memory_is_busy);
	UNIT_CASE(suite, cost_of_a_steady_one);
	UNIT_CASE(suite, steep_is_seen);
	UNIT_CASE(suite, steep_is_not_seen);
	UNIT_CASE(suite, loop_gains_more);
	UNIT_CASE(suite, holds_by_pressure);
	UNIT_CASE(suite, steep_of_few_hits);
	UNIT_CASE(suite, steep_of_uneven_hits);
	UNIT_CASE(suite, hits_that_are_seen);
	UNIT_CASE(suite, kept_is_exponential);
	return unit_run(suite);
}
