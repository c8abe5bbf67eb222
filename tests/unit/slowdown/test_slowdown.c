// SPDX-License-Identifier: GPL-2.0-or-later
/* How much slower owners are: who is told, who is not, and strange input. */
#include "slowdown/slowdown.h"

#include <check.h>
#include <math.h>

#include "unit.h"

enum { VICTIM = 1, STREAMER, QUIET, OTHER };

static struct slowdown sums;
static struct slowdown_part parts[64];

static void begin(uint32_t room)
{
	sums = (struct slowdown){ 0 };
	ck_assert(slowdown_init(&sums, room));
}

/* Holds half of a cache of 16 MiB; its misses differ from slot to slot and cost 100 cycles. */
static struct slowdown_values victim_in(uint32_t slot)
{
	double misses = 4000 + 1000 * (slot % 5);

	return (struct slowdown_values){
		.occupancy_kib = 8192, .counted = true, .instructions = 2e6,
		.misses = misses, .references = 15000, .cycles = 1e6 + 100 * misses,
	};
}

static const struct slowdown_values streamer = {
	.occupancy_kib = 7168, .counted = true, .instructions = 1e6, .cycles = 3e6,
	.misses = 20000, .references = 20000,
};

static const struct slowdown_values quiet = {
	.occupancy_kib = 1024, .counted = true, .instructions = 3e6, .cycles = 2e6,
	.misses = 0, .references = 5000,
};

static void slot_of(uint32_t slot, bool held, uint32_t streamers_domain)
{
	struct slowdown_values v = victim_in(slot), s = streamer, q = quiet;

	if (!held)
		v.occupancy_kib = s.occupancy_kib = q.occupancy_kib = -1;
	slowdown_begin(&sums, 1);
	slowdown_add(&sums, VICTIM, 0, false, &v);
	slowdown_add(&sums, STREAMER, streamers_domain, false, &s);
	slowdown_add(&sums, QUIET, 0, false, &q);
	slowdown_end(&sums);
}

static void slots_of(uint32_t n, bool held, uint32_t streamers_domain)
{
	for (uint32_t i = 0; i < n; i++)
		slot_of(i, held, streamers_domain);
}

static void add_one(uint64_t id, struct slowdown_values v)
{
	slowdown_begin(&sums, 1);
	slowdown_add(&sums, id, 0, false, &v);
	slowdown_end(&sums);
}

/* The share of @id's time that @by costs it, with all resources; 0: it is not told. */
static double told(uint64_t id, uint64_t by)
{
	int n = slowdown_parts(&sums, parts, 64);
	double share = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		const struct slowdown_part *p = &parts[i];

		ck_assert(p->share > 0 && p->share < 1);
		ck_assert(p->most >= p->share && p->most <= 1);
		ck_assert(p->low <= p->share && p->share <= p->high && p->high <= 1);
		ck_assert(!i || p->share <= p[-1].share);
		share += p->id == id && p->by == by ? p->share : 0;
	}
	return share;
}

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
	slowdown_begin(&sums, 1);
	slowdown_add(&sums, VICTIM, 0, false, &v);
	slowdown_add(&sums, STREAMER, 0, false, &s);
	slowdown_add(&sums, QUIET, 0, false, &q);
	slowdown_end(&sums);
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
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_add(&sums, QUIET, 0, false, &q);
		slowdown_end(&sums);
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
	slots_of(500, true, 0);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
	slots_of(1000, true, 0);
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.1);
	slowdown_free(&sums);
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

/* Two neighbours hold the same: the one that moves more is first. */
START_TEST(of_equals_what_moves_more)
{
	const struct slowdown_values v = {
		.occupancy_kib = 1024, .counted = true, .instructions = 2e6, .cycles = 2e6,
		.misses = 400, .references = 15000,
	}, slow = {
		.occupancy_kib = streamer.occupancy_kib, .counted = true, .instructions = 2e6,
		.cycles = 2e6, .misses = 5000, .references = 5000,
	};

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, OTHER, 0, false, &slow);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		slowdown_end(&sums);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), told(VICTIM, OTHER));
	ck_assert_double_gt(told(VICTIM, OTHER), 0.94 * told(VICTIM, STREAMER));
	ck_assert_uint_eq(parts[0].by, STREAMER);
	slowdown_free(&sums);
}
END_TEST

START_TEST(domains_are_apart)
{
	begin(8);
	slots_of(2000, true, 63);
	ck_assert_double_eq(told(VICTIM, STREAMER), 0);
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
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_end(&sums);
	}
	ck_assert_double_gt(told(VICTIM, STREAMER), 0.05);
	ck_assert_int_eq(parts[0].resource, SLOWDOWN_MEMORY);
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
	ck_assert_int_eq(parts[0].resource, SLOWDOWN_MEMORY);
	slowdown_free(&sums);
}
END_TEST

/* The slots with more misses are those in which each of them costs more, 100 cycles and up. */
START_TEST(cost_where_memory_is_busy)
{
	struct slowdown_values v = victim_in(0), s = streamer;

	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		v.misses = 4000 + 500 * (i % 5) + 100 * (i % 3);
		s.misses = s.references = 10000 + 5000 * (i % 5);
		v.cycles = 1.6e6 + v.misses * (100 + 10 * (i % 5));
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_end(&sums);
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
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_end(&sums);
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
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &streamer);
		slowdown_end(&sums);
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
	const struct slowdown_need none = { 0, 0.985, 1, 0 }, half = { 0.5, 0.985, 1, 0 },
				   loop = { 0.1, 0.985, 4, 0 }, slow = { 0.5, 0.985, 1, 0.8 };
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
	for (int i = 0; i < SLOWDOWN_PRESSURES - 1; i++)
		ck_assert(a[i] < a[i + 1] && b[i] <= b[i + 1] && c[i] <= c[i + 1]);
	ck_assert_double_eq(slowdown_hits(&none, 100), 0);
	ck_assert_double_eq_tol(slowdown_hits(&half, 1.5), 0.75, 1e-4);
	ck_assert_double_eq_tol(slowdown_hits(&loop, 1.5), 0.1 * pow(1.5, 4), 1e-4);
	ck_assert_double_eq(slowdown_hits(&loop, 1000), 0.985);
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
	ck_assert_int_eq(slowdown_parts(&sums, parts, 64), 0);
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

/* Two owners that miss, and a third one, of which nothing is told */
struct load {
	double cost;		/* cycles of a miss */
	double misses, kib;	/* of each of the two, in parts of what they are else */
	double others;		/* misses of the third */
	double others_kib;
	bool one;		/* only the first one is so, the second one as ever */
};

static const struct load usual = { 100, 1, 1, 4000, 2048, false };

static struct slowdown_values under(const struct load *load, uint32_t slot)
{
	struct slowdown_values v = victim_in(slot);

	v.misses *= load->misses;
	v.references = 20000;
	v.cycles = 1e6 + load->cost * v.misses;
	v.occupancy_kib *= load->kib;
	return v;
}

static void load_for(const struct load *load, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i++) {
		struct slowdown_values v = under(load, i);
		struct slowdown_values w = under(load->one ? &usual : load, i);
		struct slowdown_values o = { .occupancy_kib = load->others_kib, .counted = true,
			.cycles = 1e5, .instructions = 1e6, .misses = load->others,
			.references = load->others };

		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &w);
		slowdown_add(&sums, OTHER, 0, false, &o);
		slowdown_end(&sums);
	}
}

/* What is told of the victim after 2 s in which it is so */
static double outside_under(struct load load)
{
	double share;

	begin(8);
	load_for(&usual, 8000);
	ck_assert_double_eq(told(VICTIM, SLOWDOWN_OUTSIDE), 0);
	load_for(&load, 2000);
	share = told(VICTIM, SLOWDOWN_OUTSIDE);
	slowdown_free(&sums);
	return share;
}

static double by_outside(enum slowdown_resource resource)
{
	double share = 0;

	for (int i = slowdown_parts(&sums, parts, 64); i-- > 0;)
		if (parts[i].id == VICTIM && parts[i].by == SLOWDOWN_OUTSIDE &&
		    parts[i].resource == resource)
			share += parts[i].share;
	return share;
}

/* Misses of 200 cycles in place of 100 are 600,000 more of 2,200,000 cycles. */
START_TEST(by_memory_outside)
{
	struct load load = usual;

	begin(8);
	load.cost = 200;
	load_for(&usual, 8000);
	load_for(&load, 3000);
	ck_assert_double_eq_tol(by_outside(SLOWDOWN_MEMORY), 0.27, 0.06);
	ck_assert_double_lt(by_outside(SLOWDOWN_CACHE), 0.01);
	load_for(&load, 60000);
	ck_assert_double_gt(by_outside(SLOWDOWN_MEMORY), 0.2);
	load_for(&usual, 2000);
	ck_assert_double_eq(told(VICTIM, SLOWDOWN_OUTSIDE), 0);
	slowdown_free(&sums);
}
END_TEST

/* Both lose a third of what they hold, and nobody inside holds it. */
START_TEST(by_cache_outside)
{
	struct load load = usual;

	begin(8);
	load.misses = 1.5;
	load.kib = 0.67;
	load_for(&usual, 8000);
	load_for(&load, 3000);
	ck_assert_double_eq_tol(by_outside(SLOWDOWN_CACHE), 0.15, 0.05);
	ck_assert_double_lt(by_outside(SLOWDOWN_MEMORY), 0.03);
	slowdown_free(&sums);
	load.others_kib = 7000;
	ck_assert_double_eq(outside_under(load), 0);
}
END_TEST

/* Nothing outside is told where one inside moves more, or one owner alone is slower. */
START_TEST(by_nobody_outside)
{
	struct load load = usual;

	load.cost = 200;
	ck_assert_double_gt(outside_under(load), 0.1);
	load.one = true;
	ck_assert_double_eq(outside_under(load), 0);
	load.one = false;
	load.others = 20000;
	ck_assert_double_eq(outside_under(load), 0);
}
END_TEST

/* @told_of: one slot in so many has references; 0: none. */
static void referenced_slots(uint32_t told_of)
{
	begin(8);
	for (uint32_t i = 0; i < 2000; i++) {
		struct slowdown_values v = victim_in(i), s = streamer;

		v.cycles = 1e6 + v.misses * (i % 2 ? 200 : 100);
		s.misses = s.references = i % 2 ? 30000 : 3000;
		if (!told_of || i % told_of)
			v.references = s.references = -1;
		slowdown_begin(&sums, 1);
		slowdown_add(&sums, VICTIM, 0, false, &v);
		slowdown_add(&sums, STREAMER, 0, false, &s);
		slowdown_end(&sums);
	}
}

static double by_resource(enum slowdown_resource resource)
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
	referenced_slots(0);
	ck_assert_uint_eq(slowdown_counted(&sums), 2);
	ck_assert_uint_eq(slowdown_referenced(&sums), 0);
	ck_assert_double_gt(by_resource(SLOWDOWN_MEMORY), 0.05);
	ck_assert_double_eq(by_resource(SLOWDOWN_CACHE), 0);
	slowdown_free(&sums);
}
END_TEST

/*
 * Where some slots have them, the share of hits is of these.  Means of references are then
 * less than those of misses, and the slowdown by cache is a lower bound.
 */
START_TEST(with_some_references)
{
	double all;

	referenced_slots(1);
	all = by_resource(SLOWDOWN_CACHE);
	slowdown_free(&sums);
	referenced_slots(3);
	ck_assert_uint_eq(slowdown_referenced(&sums), 2);
	ck_assert_double_gt(by_resource(SLOWDOWN_CACHE), 0.1 * all);
	ck_assert_double_lt(by_resource(SLOWDOWN_CACHE), all);
	slowdown_free(&sums);
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
	Suite *suite = suite_create("slowdown");

	UNIT_CASE(suite, by_cache);
	UNIT_CASE(suite, by_cache_of_a_full_one);
	UNIT_CASE(suite, by_cache_of_a_steady_one);
	UNIT_CASE(suite, a_new_one_is_no_victim);
	UNIT_CASE(suite, all_cost_no_more);
	UNIT_CASE(suite, without_occupancy);
	UNIT_CASE(suite, of_equals_what_moves_more);
	UNIT_CASE(suite, domains_are_apart);
	UNIT_CASE(suite, by_memory);
	UNIT_CASE(suite, by_memory_in_bursts);
	UNIT_CASE(suite, cost_where_memory_is_busy);
	UNIT_CASE(suite, cost_of_a_steady_one);
	UNIT_CASE(suite, steep_is_seen);
	UNIT_CASE(suite, steep_is_not_seen);
	UNIT_CASE(suite, loop_gains_more);
	UNIT_CASE(suite, holds_by_pressure);
	UNIT_CASE(suite, suspects_only);
	UNIT_CASE(suite, fades);
	UNIT_CASE(suite, strange_counters);
	UNIT_CASE(suite, come_and_go);
	UNIT_CASE(suite, by_memory_outside);
	UNIT_CASE(suite, by_cache_outside);
	UNIT_CASE(suite, by_nobody_outside);
	UNIT_CASE(suite, without_references);
	UNIT_CASE(suite, with_some_references);
	UNIT_CASE(suite, kept_is_exponential);
	return unit_run(suite);
}
