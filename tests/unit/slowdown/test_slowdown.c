// SPDX-License-Identifier: GPL-2.0-or-later
/* How much slower owners are: who is told, and who is not. */
#include "slowdown/neighbours.h"

#include <check.h>
#include <math.h>

#include "unit.h"

/*
 * Alone with QUIET the victim would hold nearly twice as much, and miss little: 6,000 misses of
 * 100 cycles are 37 % of its time.
 */
START_TEST(by_cache)
{
	begin(8);
	slots_of(2000, true, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.45);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.06);
	/* it would miss without the victim, too */
	ck_assert_double_lt(told(STREAMER, VICTIM), 0.01);
	ck_assert_double_lt(told(QUIET, STREAMER), 0.01);
	slowdown_free(&sums);
}
END_TEST

/* Its misses, by what it holds and by chance, are what it holds more in the next slot. */
static void steady_slot(double *held_kib, double chance)
{
	double misses = 15000 * (1 - 0.6 * *held_kib / 8192) + 2000 * chance;
	struct slowdown_values v = victim_in(0), s = streamer, q = quiet;

	*held_kib += misses / 16 - 375 * *held_kib / 8192;
	v.occupancy_kib = *held_kib;
	v.misses = misses;
	v.cycles = 1e6 + 100 * misses;
	s.occupancy_kib = 15360 - *held_kib;
	add_three(&v, &s, &q);
}

/*
 * It hits nearly always: its few misses cost a third of its time, and some of them may be of
 * lines that it never had.  A small neighbour is not to blame for them.
 */
START_TEST(by_cache_of_a_full_one)
{
	struct slowdown_values v = {
		.occupancy_kib = 260, .counted = true, .instructions = 1e6, .references = 280000,
	}, s = streamer, q = quiet;

	begin(8);
	q.occupancy_kib = 80;
	for (uint32_t i = 0; i < 2000; i++) {
		v.misses = 2000 + 400 * (i % 4);
		v.cycles = 1e6 + 200 * v.misses;
		add_three(&v, &s, &q);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.17);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.35);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.03);
	slowdown_free(&sums);
}
END_TEST

/*
 * A victim that does the same in each slot: what it holds changes little, and most with what
 * it has just missed.  That it missed more where it then holds more is no effect of holding.
 */
START_TEST(by_cache_of_a_steady_one)
{
	double held_kib = 8192;
	uint32_t random = 1;

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		random = random * 1664525 + 1013904223;
		steady_slot(&held_kib, (random >> 16) / 65536.0 - 0.5);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.45);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.06);
	slowdown_free(&sums);
}
END_TEST

/* A program that has just begun misses what it has never had. */
START_TEST(a_new_one_is_no_victim)
{
	struct slowdown_values s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 1000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_end(&sums);
	}
	slots_of(1500, true, 0);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	slots_of(1000, true, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.1);
	slowdown_free(&sums);
}
END_TEST

/* A program that reads its files, and then only streams; @age: of it, slots */
static struct slowdown_values starts(uint32_t age, bool held)
{
	bool start = age < 300;

	return (struct slowdown_values){
		.occupancy_kib = !held ? -1 : age < 1000 ? 3.0 * age : 3000,
		.counted = true, .instructions = 34000, .cycles = start ? 2e5 : 5.4e5,
		.references = 3000, .misses = start ? 1000 : 2995,
	};
}

static double most_told_of_a_start(bool held)
{
	struct slowdown_values v, o, q = quiet;
	double most = 0;

	q.occupancy_kib = held ? q.occupancy_kib : -1;
	begin(8);
	for (uint32_t i = 0; i < 4000; i++)
		add_one(QUIET, q);
	for (uint32_t age = 0; age < 8000; age++) {
		v = victim_in(age);
		v.occupancy_kib = held ? v.occupancy_kib : -1;
		o = starts(age, held);
		add_three(&v, &o, &q);
		ck_assert_uint_eq(slowdown_referenced(&sums), 3);
		if (age % 250 == 0 && told(STREAMER, VICTIM) > most)
			most = told(STREAMER, VICTIM);
	}
	slowdown_free(&sums);
	return most;
}

/* What it hit when it began is nothing that its neighbours took. */
START_TEST(a_start_is_no_loss)
{
	ck_assert_double_lt(most_told_of_a_start(false), 0.02);
	ck_assert_double_lt(most_told_of_a_start(true), 0.02);
}
END_TEST

/* Each of ten neighbours frees enough for all misses: together they cost no more than these. */
START_TEST(all_cost_no_more)
{
	struct slowdown_values v = {
		.occupancy_kib = 1000, .counted = true, .instructions = 1e6, .cycles = 1e6,
		.misses = 1000, .references = 10000,
	};
	double sum = 0;
	int n;

	begin(16);
	for (uint32_t i = 0; i < 2000; i++) {
		slowdown_begin(&sums, 1);
		for (uint64_t id = 1; id <= 11; id++)
			slowdown_add(&sums, id, 0, id != VICTIM, &v);
		slowdown_end(&sums);
	}
	n = slowdown_parts(&sums, parts, 64);
	ck_assert_int_eq(n, 10);
	for (int i = 0; i < n; i++)
		sum += parts[i].share;
	ck_assert_double_gt(sum, 1000 * 90 / 1e6);
	ck_assert_double_lt(parts[0].most, 1000 * 90 / 1e6);
	ck_assert_double_gt(parts[0].most, 800 * 90 / 1e6);
	slowdown_free(&sums);
}
END_TEST

START_TEST(without_occupancy)
{
	begin(8);
	slots_of(2000, false, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.15);
	ck_assert_double_lt(told(STREAMER, VICTIM), 0.01);
	ck_assert_double_eq(told(VICTIM, QUIET), 0);
	slowdown_free(&sums);
}
END_TEST

/* @n slots: a streamer, and an owner that holds as much and misses so many @misses */
static void slots_of_equals(uint32_t n, double misses)
{
	const struct slowdown_values v = {
		.occupancy_kib = 1024, .counted = true, .instructions = 2e6, .cycles = 2e6,
		.misses = 400, .references = 15000,
	}, slow = {
		.occupancy_kib = streamer.occupancy_kib, .counted = true, .instructions = 2e6,
		.cycles = 2e6, .misses = misses, .references = misses,
	};

	for (uint32_t i = 0; i < n; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, OTHER, 0, false, &slow);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		slowdown_end(&sums);
	}
}

/* Two neighbours hold the same: the one that moves more is first. */
START_TEST(of_equals_what_moves_more)
{
	begin(8);
	slots_of_equals(2000, 5000);
	ck_assert_double_gt(told(VICTIM, STREAMER), told(VICTIM, OTHER));
	ck_assert_double_gt(told(VICTIM, OTHER), 0.94 * told(VICTIM, STREAMER));
	ck_assert_uint_eq(parts[0].by, STREAMER);
	slowdown_free(&sums);
}
END_TEST

/* It is harmed in domain 0, and does @times as much in domain 1, where nobody is. */
static void slots_in_two(double times, double ran_ns)
{
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values here = victim_in(i), there = {
			.counted = true, .occupancy_kib = 100, .references = 1000,
			.cycles = times * here.cycles, .instructions = times * here.cycles,
			.ran_ns = times * ran_ns,
		};

		here.ran_ns = ran_ns;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &here);
		slowdown_add(&sums, VICTIM, 1, false, &there);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		slowdown_add(&sums, QUIET, 0, false, &quiet);
		slowdown_end(&sums);
	}
}

/* Shares are of what it does anywhere, and so is the time that it loses. */
START_TEST(share_of_all_its_time)
{
	double alone;

	begin(8);
	slots_in_two(0, 1e6);
	alone = told(VICTIM, STREAMER);
	ck_assert_double_gt(alone, 0.2);
	ck_assert_double_eq_tol(parts[0].cpus, 1, 0.02);
	slowdown_free(&sums);
	begin(8);
	slots_in_two(9, 1e6);
	ck_assert_double_eq_tol(told(VICTIM, STREAMER), alone / 10, 0.002);
	ck_assert_double_eq_tol(parts[0].cpus, 10, 0.2);
	ck_assert_double_le(parts[0].most, 0.1);
	slowdown_free(&sums);
}
END_TEST

START_TEST(domains_are_apart)
{
	begin(8);
	slots_of(2000, true, 63);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	ck_assert_double_eq_tol(slowdown_held_kib(&sums, STREAMER, 63), 7168, 8);
	ck_assert_double_eq(slowdown_held_kib(&sums, STREAMER, 0), 0);
	ck_assert_double_eq(slowdown_held_kib(&sums, VICTIM, 63), 0);
	ck_assert_double_eq_tol(slowdown_held_kib(&sums, QUIET, 0), 1024, 1);
	slowdown_free(&sums);
}
END_TEST

/* A miss costs the more, the more the domain misses: the neighbour's are the memory's. */
START_TEST(by_memory)
{
	struct slowdown_values v = victim_in(0), s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		v.misses = 3000 + 100 * (i % 7);
		s.misses = s.references = i % 2 ? 30000 : 3000;
		v.references = v.misses;
		v.cycles = 1e6 + v.misses * (i % 2 ? 200 : 100);
		add_two(&v, &s);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.05);
	ck_assert_int_eq(parts[0].resource, CMT_SLOWDOWN_MEMORY);
	slowdown_free(&sums);
}
END_TEST

/*
 * Two neighbours that bring in the same in a second, and hold the same; one runs in one of
 * four slots.  In between the victim gets back a part of what that one takes.
 */
START_TEST(by_cache_in_bursts)
{
	struct slowdown_values steady = streamer, burst = streamer;
	double by_steady, by_burst;

	begin(8);
	steady.occupancy_kib = burst.occupancy_kib = 3584;
	burst.misses = burst.references = 4 * steady.misses;
	burst.cycles = 4 * steady.cycles;
	for (uint32_t i = 0; i < 4000; i++) {
		struct slowdown_values v = victim_in(i);

		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &steady);
		if (i % 4 == 0)
			slowdown_add(&sums, OTHER, 0, false, &burst);
		slowdown_end(&sums);
	}
	by_steady = told(VICTIM, STREAMER);
	by_burst = told(VICTIM, OTHER);
	ck_assert_double_gt(by_burst, 0.5 * by_steady);
	ck_assert_double_lt(by_burst, 0.8 * by_steady);
	slowdown_free(&sums);
}
END_TEST

/* What is only seen to hold cache does not come and go. */
START_TEST(by_cache_of_one_without_counters)
{
	struct slowdown_values s = streamer;
	double counted;

	begin(8);
	s.misses = s.references = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i);

		add_two(&v, &s);
	}
	counted = told(VICTIM, STREAMER);
	slowdown_free(&sums);
	begin(8);
	s.counted = false;
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i);

		add_two(&v, &s);
	}
	ck_assert_double_gt(counted, 0.01);
	ck_assert_double_eq_tol(told(VICTIM, STREAMER), counted, 1e-6);
	slowdown_free(&sums);
}
END_TEST

/* It may be a loop that gets too little: then it is the one with the cache that takes it. */
START_TEST(by_who_has_the_cache)
{
	struct slowdown_values v = streamer, small = streamer, large = streamer;

	begin(8);
	v.occupancy_kib = 1024;
	small.occupancy_kib = 2048;
	large.occupancy_kib = 12288;
	for (uint32_t i = 0; i < 2000; i++)
		add_three(&v, &small, &large);
	ck_assert_double_gt(told(VICTIM, QUIET), 4 * told(VICTIM, STREAMER));
	ck_assert_double_gt(told(VICTIM, QUIET), 0.002);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.01);
	slowdown_free(&sums);
}
END_TEST

/* The victim's misses take 100 cycles each, and all else @cycles in a slot. */
static double told_at(double cycles, bool held)
{
	double share;

	begin(8);
	for (uint32_t i = 0; i < 4000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer;

		v.cycles = cycles + 100 * v.misses;
		if (!held)
			v.occupancy_kib = s.occupancy_kib = -1;
		add_two(&v, &s);
	}
	share = told(VICTIM, STREAMER);
	slowdown_free(&sums);
	return share;
}

/* The same misses are a @part of the time: by itself, so large a part of what is told. */
static double kept_of_part(double part, bool held)
{
	double misses = 6000, cycles = 1e6 + 100 * misses;

	return told_at(cycles / part - 100 * misses, held) / told_at(1e6, held) / part;
}

/* A guess is drawn to what is usual.  With occupancies a large one is told as it is. */
START_TEST(drawn_to_the_usual)
{
	double small = 0.02 * told_at(1e6, true);

	ck_assert_double_eq_tol(kept_of_part(0.5, true), 1, 0.01);
	ck_assert_double_eq_tol(kept_of_part(0.02, true), pow(0.1 / small, 0.1), 0.02);
	ck_assert_double_eq_tol(kept_of_part(0.5, false), pow(2, 0.2), 0.01);
	ck_assert_double_eq_tol(kept_of_part(0.02, false), pow(50, 0.2), 0.05);
}
END_TEST

/* It still moves less than the other one, which moved as much before. */
START_TEST(of_equals_what_rises)
{
	begin(8);
	slots_of_equals(4000, 500);
	ck_assert_double_gt(told(VICTIM, STREAMER), told(VICTIM, OTHER));
	slots_of_equals(1000, 8000);
	ck_assert_double_gt(told(VICTIM, OTHER), told(VICTIM, STREAMER));
	slots_of_equals(40000, 8000);
	ck_assert_double_gt(told(VICTIM, STREAMER), told(VICTIM, OTHER));
	slowdown_free(&sums);
}
END_TEST

/* Both run in one of four slots: the memory is as busy as in these, and not as on average. */
START_TEST(by_memory_in_bursts)
{
	struct slowdown_values v = victim_in(0), s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 4000; i++) {
		slowdown_begin(&sums, 1);
		if (i % 4 == 0) {
			v.misses = v.references = 3000 + 100 * (i % 7);
			s.misses = s.references = i % 8 ? 40000 : 20000;
			v.cycles = 1e6 + v.misses * (100 + s.misses / 400);
			slowdown_add(&sums, VICTIM, 0, false, &v);
			slowdown_add(&sums, STREAMER, 0, false, &s);
		}
		slowdown_end(&sums);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.04);
	ck_assert_int_eq(parts[0].resource, CMT_SLOWDOWN_MEMORY);
	slowdown_free(&sums);
}
END_TEST

START_TEST(suspects_only)
{
	struct slowdown_values v = victim_in(0), s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 1000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, true, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_end(&sums);
	}
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	/* of one that hits nothing, no more than that it may be a loop */
	ck_assert_double_lt(told(STREAMER, VICTIM), 0.01);
	slowdown_free(&sums);
}
END_TEST

/* What was slow is so no more when it is over. */
START_TEST(fades)
{
	const struct slowdown_values gone = { .occupancy_kib = 0 };
	double before;

	begin(8);
	slots_of(2000, true, 0);
	before = told(VICTIM, STREAMER);
	for (uint32_t i = 0; i < 3000; i++) {
		struct slowdown_values v = victim_in(i);

		v.occupancy_kib = 15000;
		v.misses /= 20;
		v.cycles = 1e6 + 100 * v.misses;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		if (!i)
			slowdown_add(&sums, STREAMER, 0, false, &gone);
		slowdown_end(&sums);
	}
	ck_assert_double_lt(told(VICTIM, STREAMER), before / 4);
	slowdown_begin(&sums, 6000);
	slot_of(0, true, 0);
	ck_assert_double_ge(told(VICTIM, STREAMER), 0);
	slowdown_free(&sums);
}
END_TEST

/* Of @period slots, one after another, those whose bit in @known is set have references. */
static void referenced_slots(uint32_t period, uint32_t known)
{
	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer;

		v.cycles = 1e6 + v.misses * (i % 2 ? 200 : 100);
		s.misses = s.references = i % 2 ? 30000 : 3000;
		if (!(known >> i % period & 1))
			v.references = s.references = -1;
		add_two(&v, &s);
	}
}

static double by_resource(enum cmt_slowdown_resource resource)
{
	int n = slowdown_parts(&sums, parts, 64);
	double share = 0;

	for (int i = 0; i < n; i++)
		if (parts[i].id == VICTIM && parts[i].resource == resource)
			share += parts[i].share;
	return share;
}

/* Without references nothing is known of cache, and memory is told. */
START_TEST(without_references)
{
	referenced_slots(1, 0);
	ck_assert_uint_eq(slowdown_counted(&sums), 2);
	ck_assert_uint_eq(slowdown_referenced(&sums), 0);
	ck_assert_double_gt(by_resource(CMT_SLOWDOWN_MEMORY), 0.05);
	ck_assert_double_eq(by_resource(CMT_SLOWDOWN_CACHE), 0);
	slowdown_free(&sums);
}
END_TEST

/* Where half of the slots have them, the others are taken to be like these. */
START_TEST(with_half_of_the_references)
{
	double all;

	referenced_slots(1, 0x1);
	all = by_resource(CMT_SLOWDOWN_CACHE);
	slowdown_free(&sums);
	referenced_slots(4, 0x3);
	ck_assert_uint_eq(slowdown_referenced(&sums), 2);
	ck_assert_double_eq_tol(by_resource(CMT_SLOWDOWN_CACHE), all, 0.2 * all);
	slowdown_free(&sums);
}
END_TEST

/* Where fewer have them, or none of a phase, slowdown by cache is not known. */
START_TEST(with_few_references)
{
	const struct {
		uint32_t period, known;
	} few[] = { { 6, 0x3 }, { 20, 0x3 }, { 2, 0x1 } };

	for (uint32_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		referenced_slots(few[i].period, few[i].known);
		ck_assert_uint_eq(slowdown_counted(&sums), 2);
		ck_assert_uint_eq(slowdown_referenced(&sums), 0);
		ck_assert_double_eq(by_resource(CMT_SLOWDOWN_CACHE), 0);
		ck_assert_double_gt(by_resource(CMT_SLOWDOWN_MEMORY), 0.05);
		slowdown_free(&sums);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slowdown");

	UNIT_CASE(suite, by_cache);
	UNIT_CASE(suite, by_cache_of_a_full_one);
	UNIT_CASE(suite, by_cache_of_a_steady_one);
	UNIT_CASE(suite, a_new_one_is_no_victim);
	UNIT_CASE(suite, a_start_is_no_loss);
	UNIT_CASE(suite, all_cost_no_more);
	UNIT_CASE(suite, without_occupancy);
	UNIT_CASE(suite, of_equals_what_moves_more);
	UNIT_CASE(suite, of_equals_what_rises);
	UNIT_CASE(suite, share_of_all_its_time);
	UNIT_CASE(suite, domains_are_apart);
	UNIT_CASE(suite, by_memory);
	UNIT_CASE(suite, by_memory_in_bursts);
	UNIT_CASE(suite, by_cache_in_bursts);
	UNIT_CASE(suite, by_cache_of_one_without_counters);
	UNIT_CASE(suite, by_who_has_the_cache);
	UNIT_CASE(suite, drawn_to_the_usual);
	UNIT_CASE(suite, suspects_only);
	UNIT_CASE(suite, fades);
	UNIT_CASE(suite, without_references);
	UNIT_CASE(suite, with_half_of_the_references);
	UNIT_CASE(suite, with_few_references);
	return unit_run(suite);
}
