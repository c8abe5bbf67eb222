// SPDX-License-Identifier: GPL-2.0-or-later
/* Bad input: counters, owners and clocks that do strange things, and owners that do little. */
#include "slowdown/neighbours.h"

#include <check.h>
#include <math.h>

#include "unit.h"

/* No value makes a share that is none: told() looks at each. */
START_TEST(strange_counters)
{
	const struct slowdown_values strange[] = {
		{ .occupancy_kib = -1 },
		{ .occupancy_kib = 0, .counted = true },
		{ .occupancy_kib = 1e9, .counted = true, .cycles = 1e15, .instructions = 1,
		  .misses = 1e15, .references = 1 },
		{ .occupancy_kib = 1, .counted = true, .cycles = 1, .instructions = 1e15,
		  .misses = 0, .references = 1e15 },
		{ .occupancy_kib = 5, .counted = true, .cycles = 3e6, .instructions = 0,
		  .misses = 5, .references = 5 },
		{ .occupancy_kib = 5, .counted = true, .cycles = 0, .instructions = 100,
		  .misses = 5, .references = 50 },
	};
	uint32_t n = sizeof(strange) / sizeof(strange[0]);

	begin(8);
	ck_assert_int_eq(slowdown_parts(&sums, parts, 64), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		slot_of(i, i % 3, i % 2);
		add_one(OTHER, strange[i * 7 % n]);
		add_one(VICTIM, strange[i % n]);
		if (i % 100 == 0)
			told(VICTIM, STREAMER);
	}
	slowdown_free(&sums);
}
END_TEST

/* Owners that come and go: those that were forgotten make room, others are left out. */
START_TEST(come_and_go)
{
	begin(4);
	for (uint64_t id = 1; id < 1000; id++)
		add_one(id, streamer);
	ck_assert_int_ge(slowdown_parts(&sums, parts, 64), 0);
	for (uint32_t i = 0; i < 7000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_end(&sums);
	}
	slots_of(2000, true, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	ck_assert_int_eq(slowdown_parts(&sums, parts, 1), 1);
	ck_assert_uint_eq(parts[0].by, STREAMER);
	slowdown_free(&sums);
}
END_TEST

/* The shares of means are the same where only one slot of three is counted. */
START_TEST(counters_multiplex)
{
	begin(8);
	for (uint32_t i = 0; i < 6000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer, q = quiet;

		v.counted = i % 3 == 0;
		s.counted = i % 3 == 1;
		q.counted = i % 3 == 2;
		add_three(&v, &s, &q);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.45);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.06);
	ck_assert_uint_eq(slowdown_counted(&sums), 3);
	slowdown_free(&sums);
}
END_TEST

/* The slots in which CPU time is known, and those with counters: a bit of ten slots each */
struct known {
	uint32_t timed, counted;
};

/* The CPUs of a victim that has nine tenths of one */
static double cpus_where(const struct known *known)
{
	double cpus;

	begin(8);
	for (uint32_t i = 0; i < 3000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer;

		v.ran_ns = known->timed >> i % 10 & 1 ? 9e5 : -1;
		v.counted = known->counted >> i % 10 & 1;
		add_two(&v, &s);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	cpus = parts[0].cpus;
	slowdown_free(&sums);
	return cpus;
}

/* CPU time that is known in some slots is known, whichever slot was the last one. */
START_TEST(cpu_time_multiplexes)
{
	const struct known known[] = {
		{ 0x3ff, 0x3ff }, { 0x155, 0x3ff }, { 0x2aa, 0x3ff }, { 0x1ff, 0x3ff },
		{ 0x3ff, 0x155 }, { 0x3ff, 0x2aa }, { 0x2aa, 0x155 },
	};
	const struct known few = { 0x201, 0x3ff };

	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_double_eq_tol(cpus_where(&known[i]), 0.9, 0.045);
	ck_assert_double_lt(cpus_where(&few), 0);
}
END_TEST

/* What was told fades; that nothing is known then is said. */
START_TEST(counters_stop)
{
	struct slowdown_values v = victim_in(0), s = streamer, q = quiet;

	begin(8);
	slots_of(2000, true, 0);
	ck_assert_uint_eq(slowdown_counted(&sums), 3);
	ck_assert_uint_eq(slowdown_referenced(&sums), 3);
	v.counted = s.counted = q.counted = false;
	for (uint32_t i = 0; i < 6000; i++)
		add_three(&v, &s, &q);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	ck_assert_uint_eq(slowdown_counted(&sums), 0);
	ck_assert_uint_eq(slowdown_referenced(&sums), 0);
	slowdown_free(&sums);
}
END_TEST

/* They go on, and count nothing any more. */
START_TEST(counters_stand_still)
{
	const struct slowdown_values still = { .occupancy_kib = 4096, .counted = true };

	begin(8);
	slots_of(2000, true, 0);
	for (uint32_t i = 0; i < 6000; i++)
		add_three(&still, &still, &still);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	slowdown_free(&sums);
}
END_TEST

/* One slot of a counter that jumped is not in the means, whichever counter it is. */
START_TEST(counters_jump)
{
	for (int which = 0; which < 4; which++) {
		double before, jump = 1ULL << 40;

		begin(8);
		for (uint32_t i = 0; i < 4000; i++) {
			struct slowdown_values v = victim_in(i), s = streamer;

			v.ran_ns = s.ran_ns = 1e6;
			if (i == 3000)
				before = told(VICTIM, STREAMER);
			if (i == 3500) {
				v.cycles += which == 0 || which == 3 ? jump : 0;
				v.misses += which == 1 || which == 3 ? jump : 0;
				v.instructions += which == 2 || which == 3 ? jump : 0;
			}
			add_two(&v, &s);
		}
		ck_assert_double_gt(before, 0.2);
		ck_assert_double_eq_tol(told(VICTIM, STREAMER), before, 0.01);
		slowdown_free(&sums);
	}
}
END_TEST

/* Fewer references than misses are no hits, and no gain by cache. */
START_TEST(fewer_references_than_misses)
{
	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer;

		v.references = v.misses / 2;
		s.references = 0;
		add_two(&v, &s);
	}
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.05);
	ck_assert_double_lt(told(STREAMER, VICTIM), 0.01);
	slowdown_free(&sums);
}
END_TEST

/* On the slow cores of a hybrid CPU an instruction and a miss take other times. */
START_TEST(hybrid_cores)
{
	uint32_t random = 1;

	begin(8);
	for (uint32_t i = 0; i < 4000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer, q = quiet;

		random = random * 1664525 + 1013904223;
		if (random >> 31) {
			v.cycles = 1.8e6 + 60 * v.misses;
			q.cycles *= 1.8;
		}
		add_three(&v, &s, &q);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.12);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.45);
	ck_assert_double_lt(told(VICTIM, QUIET), 0.06);
	ck_assert_double_eq(told(QUIET, STREAMER), 0);
	ck_assert_double_eq(told(VICTIM, CMT_CULPRIT_OUTSIDE), 0);
	slowdown_free(&sums);
}
END_TEST

/* A slot that comes after hours, or after what cannot be counted, is like a first one. */
START_TEST(clock_steps)
{
	const uint64_t steps[] = { 2, 1000, 3600000, 1ULL << 40, 1ULL << 62 };

	begin(8);
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		slots_of(2000, true, 0);
		ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
		slowdown_begin(&sums, steps[i]);
		slowdown_end(&sums);
		told(VICTIM, STREAMER);
	}
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	slots_of(2000, true, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	slowdown_free(&sums);
}
END_TEST

/* A new one each 10 ms takes no part of what is told, and is in no one's way. */
START_TEST(each_lives_10_ms)
{
	int n;

	begin(1024);
	for (uint32_t i = 0; i < 10000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer, o = quiet;

		o.misses = 500;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_add(&sums, 1000 + i / 10, 0, false, &o);
		slowdown_end(&sums);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.15);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.5);
	ck_assert_uint_eq(parts[0].by, STREAMER);
	n = slowdown_parts(&sums, parts, NEIGHBOURS_PARTS);
	ck_assert_int_lt(n, NEIGHBOURS_PARTS);
	for (int i = 0; i < n; i++)
		ck_assert_uint_lt(parts[i].id, 1000);
	slowdown_free(&sums);
}
END_TEST

START_TEST(thousand_owners)
{
	struct slowdown_values o = quiet;

	o.occupancy_kib = 1;
	o.misses = 2;
	begin(1024);
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i);

		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		for (uint64_t id = 1000; id < 2000; id++)
			slowdown_add(&sums, id, 0, false, &o);
		slowdown_end(&sums);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.2);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.45);
	ck_assert_uint_eq(parts[0].id, VICTIM);
	ck_assert_uint_eq(slowdown_counted(&sums), 1002);
	slowdown_free(&sums);
}
END_TEST

/* Those that ran too little, as so many */
static int little(uint64_t *first)
{
	uint64_t ids[2] = { 0 };
	int n = slowdown_too_little(&sums, ids, 2);

	*first = ids[0];
	return n;
}

/*
 * The victim sleeps 99 % of the time: it runs in so many of 1,000 slots, or for that part of each
 * of them.  One that runs for a thirtieth is told.
 */
static void sleeps(uint32_t slots, double part)
{
	for (uint32_t i = 0; i < 5000; i++) {
		struct slowdown_values v = victim_in(i);

		v.cycles *= part * 2;	/* 3 GHz */
		v.instructions *= part * 2;
		v.misses *= part * 2;
		v.references *= part * 2;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		if (i % 1000 < slots)
			slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_end(&sums);
		if (i >= 2000 && i % 100 == 99 && part * slots < 30)
			ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	}
}

START_TEST(sleeps_99_percent)
{
	uint64_t first;

	begin(8);
	sleeps(10, 1);
	ck_assert_int_eq(little(&first), 1);
	ck_assert_uint_eq(first, VICTIM);
	slowdown_free(&sums);
	begin(8);
	sleeps(1000, 0.01);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	ck_assert_int_eq(little(&first), 1);
	ck_assert_uint_eq(first, VICTIM);
	slowdown_free(&sums);
	begin(8);
	sleeps(1000, 0.035);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.1);
	ck_assert_int_eq(little(&first), 0);
	slowdown_free(&sums);
}
END_TEST

/* Who does enough in one domain is told there, and it is not too little in another one. */
START_TEST(little_in_one_domain)
{
	struct slowdown_values v = victim_in(0);
	uint64_t first;

	v.cycles = v.instructions = 20000;
	v.misses = v.references = 200;
	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 1, false, &v);
		slowdown_add(&sums, OTHER, 1, true, &v);
		slowdown_add(&sums, QUIET, 1, false, &quiet);
		slowdown_end(&sums);
	}
	ck_assert_int_eq(little(&first), 1);
	ck_assert_uint_eq(first, VICTIM);
	slots_of(1000, true, 0);
	ck_assert_int_eq(little(&first), 0);
	ck_assert_int_eq(slowdown_too_little(&sums, NULL, 0), 0);
	slowdown_free(&sums);
}
END_TEST

/* They are read from time to time, and do nothing: that they ran was long ago. */
START_TEST(idle_ones_are_read)
{
	const struct slowdown_values idle = { .occupancy_kib = 1024 };
	uint64_t first;

	begin(8);
	slots_of(2000, true, 0);
	for (uint32_t i = 0; i < 400; i++) {
		slowdown_begin(&sums, 32);
		slowdown_add(&sums, VICTIM, 0, false, &idle);
		slowdown_end(&sums);
		if (i == 150)
			ck_assert_int_eq(little(&first), 3);
	}
	ck_assert_int_eq(little(&first), 0);
	slowdown_free(&sums);
}
END_TEST

static bool is_small(double value)
{
	return fpclassify(value) == FP_SUBNORMAL;
}

/*
 * Means of what is no more end as 0, after minutes: a processor computes with subnormal numbers
 * some hundred times more slowly, in each slot of each owner.
 */
START_TEST(means_end)
{
	struct slowdown_values v = victim_in(0), s = streamer;
	const struct slowdown_owner *owner;

	begin(8);
	add_two(&v, &s);
	v.cycles = v.instructions = 1000;
	v.misses = v.references = 1;
	s.counted = false;
	for (uint32_t i = 0; i < 800000; i++)
		add_two(&v, &s);
	for (owner = sums.owners; owner < sums.owners + 2; owner++) {
		ck_assert(!is_small(owner->mean.cycles) && !is_small(owner->mean.misses));
		ck_assert(!is_small(owner->mean.references) && !is_small(owner->mean.ran_ns));
		ck_assert(!is_small(owner->mean.instructions) && !is_small(owner->curve.hh));
		ck_assert(!is_small(owner->curve.o) && !is_small(owner->curve.oo));
		ck_assert(!is_small(owner->moments.n) && !is_small(owner->moments.xx));
		ck_assert(!is_small(owner->moments.t) && !is_small(owner->moments.xxtt));
		for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++) {
			const struct slowdown_phase *phase = &owner->phases[p];

			ck_assert(!is_small(phase->cycles) && !is_small(phase->misses));
			ck_assert(!is_small(phase->references) && !is_small(phase->held));
		}
	}
	ck_assert_double_gt(sums.owners[0].mean.cycles, 0);
	slowdown_free(&sums);
}
END_TEST

/* Nothing is told, what can be told is as before, and nobody is told to have run. */
START_TEST(everything_idle)
{
	uint64_t first;

	begin(8);
	ck_assert_int_eq(little(&first), 0);
	slots_of(2000, true, 0);
	for (uint32_t i = 0; i < 60000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_end(&sums);
		if (i == 4500)
			ck_assert_int_eq(little(&first), 3);
	}
	ck_assert_int_eq(slowdown_parts(&sums, parts, NEIGHBOURS_PARTS), 0);
	ck_assert_int_eq(little(&first), 0);
	ck_assert_uint_eq(slowdown_counted(&sums), 3);
	ck_assert_uint_eq(slowdown_referenced(&sums), 3);
	slowdown_free(&sums);
}
END_TEST

/* In two domains, one is never a victim, of one no references are known, of one some are. */
static void slot_of_two_domains(bool victims)
{
	slowdown_begin(&sums, 1);
	for (uint32_t domain = 0; domain < 2; domain++) {
		struct slowdown_values v = victim_in(0), q = quiet;

		q.references = -1;
		v.references = domain ? -1 : v.references;
		slowdown_add(&sums, STREAMER, domain, true, &streamer);
		if (!victims)
			continue;
		slowdown_add(&sums, VICTIM, domain, false, &v);
		slowdown_add(&sums, QUIET, domain, false, &q);
	}
	slowdown_end(&sums);
}

/* Owners count once, and others only where there are no owners. */
START_TEST(counted_once)
{
	const struct slowdown_values unreferenced = { .occupancy_kib = 4096, .counted = true,
		.cycles = 3e6, .instructions = 1e6, .misses = 20000, .references = -1 };

	begin(8);
	for (uint32_t i = 0; i < 2000; i++)
		slot_of_two_domains(false);
	ck_assert_uint_eq(slowdown_counted(&sums), 1);
	ck_assert_uint_eq(slowdown_referenced(&sums), 1);
	for (uint32_t i = 0; i < 2000; i++)
		slot_of_two_domains(true);
	ck_assert_uint_eq(slowdown_counted(&sums), 2);
	ck_assert_uint_eq(slowdown_referenced(&sums), 1);
	for (uint32_t i = 0; i < 6000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, STREAMER, 0, true, &streamer);
		slowdown_add(&sums, QUIET, 0, false, &unreferenced);
		slowdown_end(&sums);
	}
	ck_assert_uint_eq(slowdown_counted(&sums), 1);
	ck_assert_uint_eq(slowdown_referenced(&sums), 0);
	slowdown_free(&sums);
}
END_TEST

/* An owner that moves to another domain has the pace that it has there. */
START_TEST(pace_after_a_move)
{
	struct slowdown_values fast = quiet, slow = quiet;
	double cpi, mpki;

	slow.cycles = 9e6;
	slow.misses = 60000;
	begin(8);
	for (uint32_t i = 0; i < 4000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, i >= 3000, false, i >= 3000 ? &slow : &fast);
		slowdown_end(&sums);
		if (i != 2999)
			continue;
		slowdown_pace(&sums, VICTIM, &cpi, &mpki);
		ck_assert_double_eq_tol(cpi, 2.0 / 3, 0.01);
	}
	slowdown_pace(&sums, VICTIM, &cpi, &mpki);
	ck_assert_double_eq_tol(cpi, 3, 0.01);
	ck_assert_double_eq_tol(mpki, 20, 0.1);
	slowdown_pace(&sums, OTHER, &cpi, &mpki);
	ck_assert(isnan(cpi) && isnan(mpki));
	slowdown_free(&sums);
}
END_TEST

/* What may be a loop lacks the cache that a neighbour holds, until that one has ended. */
START_TEST(neighbour_ends)
{
	struct slowdown_values idle = { .occupancy_kib = 15000 }, stream = streamer;
	double share;

	stream.references = stream.misses = 30000;
	begin(8);
	for (uint32_t i = 0; i < 3000; i++)
		add_two(&stream, &idle);
	share = told(VICTIM, STREAMER);
	ck_assert_double_gt(share, 0.004);
	/* idle owners are read now and then */
	for (uint32_t i = 0; i < 3000; i++)
		if (i % 64)
			add_one(VICTIM, stream);
		else
			add_two(&stream, &idle);
	ck_assert_double_eq_tol(told(VICTIM, STREAMER), share, 0.01 * share);
	for (uint32_t i = 0; i < 3000; i++)
		add_one(VICTIM, stream);
	ck_assert_double_lt(told(VICTIM, STREAMER), 0.2 * share);
	slowdown_free(&sums);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slowdown input");

	UNIT_CASE(suite, strange_counters);
	UNIT_CASE(suite, come_and_go);
	UNIT_CASE(suite, counters_multiplex);
	UNIT_CASE(suite, cpu_time_multiplexes);
	UNIT_CASE(suite, counters_stop);
	UNIT_CASE(suite, counters_stand_still);
	UNIT_CASE(suite, counters_jump);
	UNIT_CASE(suite, fewer_references_than_misses);
	UNIT_CASE(suite, hybrid_cores);
	UNIT_CASE(suite, clock_steps);
	UNIT_CASE(suite, each_lives_10_ms);
	UNIT_CASE(suite, thousand_owners);
	UNIT_CASE(suite, sleeps_99_percent);
	UNIT_CASE(suite, little_in_one_domain);
	UNIT_CASE(suite, idle_ones_are_read);
	UNIT_CASE(suite, means_end);
	UNIT_CASE(suite, everything_idle);
	UNIT_CASE(suite, counted_once);
	UNIT_CASE(suite, pace_after_a_move);
	UNIT_CASE(suite, neighbour_ends);
	return unit_run(suite);
}
