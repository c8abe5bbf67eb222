// SPDX-License-Identifier: GPL-2.0-or-later
/* Neighbours that come and go: what is by phase, and what owners hold where it is not known. */
#include "slowdown/neighbours.h"

#include <check.h>
#include <math.h>

#include "unit.h"

#define COST	100.0	/* cycles of a miss */
#define ASKS	20000.0	/* references of the victim in a slot */

static struct slowdown_values streams(double misses, double kib)
{
	return (struct slowdown_values){
		.occupancy_kib = kib, .counted = true, .cycles = 3e6, .instructions = 1e6,
		.misses = misses, .references = misses,
	};
}

/* What the victim holds and hits in a slot; the rest of the cache is QUIET's. */
struct slot {
	double kib, hits;
};

static void add_slot(struct slot slot, const struct slowdown_values *steady,
		     const struct slowdown_values *bursts)
{
	struct slowdown_values v = {
		.occupancy_kib = slot.kib, .counted = true, .instructions = 2e6,
		.references = ASKS, .misses = ASKS * (1 - slot.hits),
	}, q = quiet;

	v.cycles = 1e6 + COST * v.misses;
	q.occupancy_kib = 16384 - slot.kib - steady->occupancy_kib - bursts->occupancy_kib;
	slowdown_begin(&sums, 1);
	slowdown_add(&sums, VICTIM, 0, false, &v);
	slowdown_add(&sums, STREAMER, 0, false, steady);
	slowdown_add(&sums, OTHER, 0, false, bursts);
	slowdown_add(&sums, QUIET, 0, false, &q);
	slowdown_end(&sums);
}

/* OTHER streams in the first @duty of 100 slots, STREAMER in all. */
static void slots_with_bursts(uint32_t n, uint32_t duty)
{
	const struct slowdown_values always = streams(40000, 4500), alone = streams(40000, 10000);
	const struct slowdown_values burst = streams(90000, 11000), none = streams(0, 0);

	for (uint32_t i = 0; i < n; i++) {
		if (i % 100 < duty)
			add_slot((struct slot){ 500, 0.05 }, &always, &burst);
		else
			add_slot((struct slot){ 4000, 0.2 }, &alone, &none);
	}
}

/* So many misses less, of ASKS */
static double share_of(double less, double of)
{
	return less * ASKS * COST / (1e6 + of * ASKS * COST);
}

/*
 * The burst has more of the cache, and misses more.  But without it the victim hits no more
 * than it does between two bursts, and then only the other one is in its way.
 */
START_TEST(one_comes_and_goes)
{
	begin(8);
	slots_with_bursts(4000, 70);
	ck_assert_double_gt(told(VICTIM, STREAMER), 1.2 * told(VICTIM, OTHER));
	ck_assert_double_gt(told(VICTIM, STREAMER), share_of(0.3 * 0.2, 0.9));
	ck_assert_double_gt(told(VICTIM, OTHER), 0.4 * share_of(0.7 * 0.15, 0.9));
	ck_assert_double_lt(told(VICTIM, OTHER), 1.3 * share_of(0.7 * 0.15, 0.9));
	slowdown_free(&sums);
}
END_TEST

/* In the slots of the burst it hits nothing; what it would hit is seen in the other ones. */
START_TEST(hits_of_another_phase)
{
	const struct slowdown_values none = streams(0, 0), left = streams(0, 3000);
	const struct slowdown_values burst = streams(60000, 15000);

	begin(8);
	for (uint32_t i = 0; i < 4000; i++) {
		if (i % 100 < 50)
			add_slot((struct slot){ 400, 0 }, &burst, &none);
		else
			add_slot((struct slot){ 4000 + i % 3 * 50, 0.9 }, &left, &none);
	}
	ck_assert_double_eq_tol(told(VICTIM, STREAMER), share_of(0.5 * 0.9, 0.55), 0.12);
	slowdown_free(&sums);
}
END_TEST

/* Misses in a slot, without occupancies; the victim's in times of usual */
struct counts {
	double victim, streams, others;
	double asks;		/* of the victim, in times of usual */
};

static const struct counts usual = { 1, 6000, 4000, 1 };

static void slots_counted(uint32_t n, const struct counts *counts)
{
	struct slowdown_values v, s = streamer, o = streamer;

	s.occupancy_kib = o.occupancy_kib = -1;
	s.misses = s.references = counts->streams;
	o.misses = counts->others;
	o.references = 100000;
	for (uint32_t i = 0; i < n; i++) {
		v = victim_in(i);
		v.occupancy_kib = -1;
		v.misses *= counts->victim;
		v.references *= counts->asks;
		v.cycles = 1e6 + COST * v.misses;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_add(&sums, OTHER, 0, false, &o);
		slowdown_end(&sums);
	}
}

/* From counters alone: what mostly hits keeps its lines, and so holds more than what streams. */
START_TEST(what_hits_holds_more)
{
	begin(8);
	slots_counted(2000, &usual);
	ck_assert_double_gt(told(VICTIM, OTHER), 1.15 * told(VICTIM, STREAMER));
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.01);
	slowdown_free(&sums);
}
END_TEST

/* What OTHER costs the victim after that, in times of what STREAMER does */
static double other_after(struct counts counts)
{
	double times;

	begin(8);
	slots_counted(4000, &usual);
	slots_counted(1500, &counts);
	times = told(VICTIM, OTHER) / told(VICTIM, STREAMER);
	slowdown_free(&sums);
	return times;
}

/* But not if it misses as before while another one misses more by that, in the same phase. */
START_TEST(what_feels_nothing_holds_less)
{
	ck_assert_double_lt(other_after((struct counts){ 1.4, 6000, 4100, 1 }), 0.9);
	ck_assert_double_gt(other_after((struct counts){ 1.4, 6000, 5000, 1 }), 1.15);
	ck_assert_double_gt(other_after((struct counts){ 1.1, 6000, 4100, 1 }), 1.15);
	ck_assert_double_gt(other_after((struct counts){ 1.8, 6000, 4100, 1.3 }), 1.15);
}
END_TEST

START_TEST(phase_by_the_load)
{
	struct slowdown_load load = {
		.slots = { 1, 1, 1, 1 }, .misses = { 100, 200, 600, 700 },
	};

	ck_assert_uint_eq(slowdown_phase_of(&load, 0), 0);
	ck_assert_uint_eq(slowdown_phase_of(&load, 151), 1);
	ck_assert_uint_eq(slowdown_phase_of(&load, 401), 2);
	ck_assert_uint_eq(slowdown_phase_of(&load, 651), 3);
	ck_assert_uint_eq(slowdown_phase_of(&load, 1e18), 3);
	load = (struct slowdown_load){ 0 };
	ck_assert_uint_eq(slowdown_phase_of(&load, 0), 0);
}
END_TEST

static double misses_by_phase(const struct slowdown_owner *owner, double *held_least)
{
	struct slowdown_state states[SLOWDOWN_PHASES];
	double misses = 0;

	slowdown_states(&sums, owner, SLOWDOWN_HOLDS_READ, COST, states);
	*held_least = INFINITY;
	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
		misses += states[p].misses;
		if (sums.loads[0].slots[p] > 0)
			*held_least = fmin(*held_least, states[p].kib);
	}
	return misses;
}

/* Weights grow and are brought back many times: the phases together are the mean. */
START_TEST(phases_add_up_to_the_mean)
{
	const struct slowdown_owner *victim;
	double held;

	begin(8);
	for (uint32_t n = 200; n < 20000; n *= 3) {
		slots_with_bursts(n, 30);
		victim = &sums.owners[0];
		ck_assert_double_eq_tol(misses_by_phase(victim, &held),
					victim->mean.misses * slowdown_scale(&sums, victim), 1);
	}
	ck_assert_double_lt(sums.weight, 10);
	slowdown_free(&sums);
}
END_TEST

/* What sleeps is read seldom, and holds what it held, in all phases. */
START_TEST(one_that_sleeps_holds)
{
	struct slowdown_values v = victim_in(0), s = streamer;
	double held;

	begin(8);
	for (uint32_t i = 0; i < 3001; i++) {
		v.counted = i == 0;
		s.misses = s.references = 1000 + 5000 * (i / 5 % 4);
		if (i % 50 == 0)
			add_two(&v, &s);
		else
			add_one(STREAMER, s);
	}
	misses_by_phase(&sums.owners[0], &held);
	ck_assert_double_eq_tol(held, v.occupancy_kib, 0.01 * v.occupancy_kib);
	slowdown_free(&sums);
}
END_TEST

/* Hours without a slot: all is gone, and nothing is not a number. */
START_TEST(after_a_long_gap)
{
	double held;

	begin(8);
	slots_with_bursts(2000, 50);
	slowdown_begin(&sums, 100000000);
	slowdown_end(&sums);
	ck_assert_double_eq(misses_by_phase(&sums.owners[0], &held), 0);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	slots_with_bursts(3000, 70);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.05);
	slowdown_free(&sums);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slowdown phases");

	UNIT_CASE(suite, one_comes_and_goes);
	UNIT_CASE(suite, hits_of_another_phase);
	UNIT_CASE(suite, what_hits_holds_more);
	UNIT_CASE(suite, what_feels_nothing_holds_less);
	UNIT_CASE(suite, phase_by_the_load);
	UNIT_CASE(suite, phases_add_up_to_the_mean);
	UNIT_CASE(suite, one_that_sleeps_holds);
	UNIT_CASE(suite, after_a_long_gap);
	return unit_run(suite);
}
