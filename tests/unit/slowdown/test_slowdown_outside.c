// SPDX-License-Identifier: GPL-2.0-or-later
/* Slowdowns by what is outside this machine. */
#include "slowdown/neighbours.h"

#include <check.h>

#include "unit.h"

/* Two owners that miss, and a third one, of which nothing is told */
struct load {
	double cost;		/* cycles of a miss */
	double misses, kib;	/* of each of the two, in parts of what they are else */
	double others;		/* misses of the third */
	double others_kib;
	double ghz;
	bool one;		/* only the first one is so, the second one as ever */
	bool half;		/* every second slot has counters; CPU time is always known */
	bool unreferenced;	/* the references of the first one are not known */
};

static const struct load usual = { 100, 1, 1, 4000, 2048, 2, false, false, false };

static struct slowdown_values under(const struct load *load, uint32_t slot)
{
	struct slowdown_values v = victim_in(slot);

	v.misses *= load->misses;
	v.references = 20000;
	v.cycles = 1e6 + load->cost * v.misses;
	v.ran_ns = v.cycles / load->ghz;
	v.occupancy_kib *= load->kib;
	v.counted = !load->half || slot % 2;
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

		v.references = load->unreferenced ? -1 : v.references;
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
	ck_assert_double_eq(told(VICTIM, CMT_CULPRIT_OUTSIDE), 0);
	load_for(&load, 2000);
	share = told(VICTIM, CMT_CULPRIT_OUTSIDE);
	slowdown_free(&sums);
	return share;
}

static double by_outside(enum cmt_slowdown_resource resource)
{
	double share = 0;

	for (int i = slowdown_parts(&sums, parts, 64); i-- > 0;)
		if (parts[i].id == VICTIM && parts[i].by == CMT_CULPRIT_OUTSIDE &&
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
	ck_assert_double_eq_tol(by_outside(CMT_SLOWDOWN_MEMORY), 0.27, 0.06);
	ck_assert_double_lt(by_outside(CMT_SLOWDOWN_CACHE), 0.01);
	load_for(&load, 60000);
	ck_assert_double_gt(by_outside(CMT_SLOWDOWN_MEMORY), 0.2);
	load_for(&usual, 2000);
	ck_assert_double_eq(told(VICTIM, CMT_CULPRIT_OUTSIDE), 0);
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
	ck_assert_double_eq_tol(by_outside(CMT_SLOWDOWN_CACHE), 0.15, 0.05);
	ck_assert_double_lt(by_outside(CMT_SLOWDOWN_MEMORY), 0.03);
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

/* A miss takes as long at any frequency: more cycles at a higher one, fewer at a lower one. */
START_TEST(by_another_frequency)
{
	const double ghz[] = { 2.6, 1.4 };

	for (int i = 0; i < 2; i++) {
		struct load load = usual;

		load.ghz = ghz[i];
		load.cost = usual.cost * load.ghz / usual.ghz;
		ck_assert_double_eq(outside_under(load), 0);
		load.half = true;
		ck_assert_double_eq(outside_under(load), 0);
	}
}
END_TEST

/* The past does not have fewer references because some are not known. */
START_TEST(after_unknown_references)
{
	struct load load = usual;

	begin(8);
	load.unreferenced = true;
	load_for(&usual, 20000);
	load_for(&load, 5000);
	load.unreferenced = false;
	load.cost = 200;
	load_for(&load, 3000);
	ck_assert_double_gt(told(VICTIM, CMT_CULPRIT_OUTSIDE), 0.1);
	slowdown_free(&sums);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slowdown outside");

	UNIT_CASE(suite, by_memory_outside);
	UNIT_CASE(suite, by_cache_outside);
	UNIT_CASE(suite, by_nobody_outside);
	UNIT_CASE(suite, by_another_frequency);
	UNIT_CASE(suite, after_unknown_references);
	return unit_run(suite);
}
