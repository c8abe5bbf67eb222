// SPDX-License-Identifier: GPL-2.0-or-later
/* What all neighbours cost a victim together, as its incident has it. */
#include <check.h>
#include <cmt/culprit.h>
#include <math.h>

#include "culprit/state.h"
#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL

enum { VICTIM = 100, OTHERS = 200 };

#define COUNTED (CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC | CMT_CULPRIT_CYCLES |	\
		 CMT_CULPRIT_INSTRUCTIONS | CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES |	\
		 CMT_CULPRIT_RAN)

static struct cmt_culprit *culprit;
static uint64_t now;
static struct cmt_culprit_sample samples[64];

static void setup(void)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	now = 1000 * MS;
}

static void teardown(void)
{
	cmt_culprit_free(culprit);
}

/* @cost: cycles of a miss */
static struct cmt_culprit_sample owner(uint64_t id, uint64_t kib, uint64_t misses, uint64_t cost)
{
	return (struct cmt_culprit_sample){
		.id = id, .valid = COUNTED, .occupancy_bytes = kib * KIB,
		.traffic_bytes = 64 * misses, .misses = misses, .references = 15000,
		.instructions = 2000000, .cycles = 1000000 + cost * misses, .ran_ns = MS,
	};
}

static struct cmt_culprit_sample stream(uint64_t id, uint64_t kib, uint64_t misses)
{
	struct cmt_culprit_sample sample = owner(id, kib, misses, 100);

	sample.references = misses;
	return sample;
}

static void add_slot(uint32_t nr)
{
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = now, .sample_size = sizeof(samples[0]),
		.nr_samples = nr, .samples = samples,
	};

	ck_assert_int_ge(cmt_culprit_add(culprit, &slot), 0);
	now += MS;
}

/* The open incident of the victim */
static const struct cmt_incident *incident(void)
{
	const struct cmt_incident *in;
	uint32_t i = 0;

	while ((in = cmt_culprit_incident_at(culprit, i)) && in->id != VICTIM)
		i++;
	ck_assert_ptr_nonnull(in);
	return in;
}

static double parts_share(const struct cmt_incident *in)
{
	double share = 0;

	for (uint32_t i = 0; i < in->nr_parts; i++)
		share += in->parts[i].share;
	return share;
}

/* Its misses take nine tenths of its time, and each of them longer where others miss. */
static void bound_slot(uint32_t i)
{
	uint64_t misses = 16000 + 3000 * (i % 5), others_miss = i / 10 % 2 ? 50000 : 20000;
	uint64_t cost = 50 + (misses + others_miss) / 400;

	samples[0] = owner(VICTIM, 500, misses, cost);
	samples[0].instructions = 1000000;
	samples[0].cycles -= 500000;
	samples[0].references = 30500;
	samples[1] = owner(OTHERS, 6144, others_miss, cost);
	samples[1].references = others_miss + 1000;
	add_slot(2);
}

/* Misses that the cache would spare cost nothing by memory: a miss is not lost twice. */
START_TEST(no_more_than_its_misses)
{
	const struct cmt_incident *in;

	for (uint32_t i = 0; i < 4750; i++)
		bound_slot(i);
	in = incident();
	ck_assert_uint_eq(in->nr_parts, 2);
	ck_assert_double_gt(in->parts[0].share, 0.5);
	ck_assert_double_gt(in->parts[1].share, 0.001);
	ck_assert_double_lt(in->share, 0.9);
	ck_assert_double_eq_tol(in->share, parts_share(in), 1e-9);
	ck_assert(in->flags & CMT_INCIDENT_LOST);
	ck_assert_double_lt((double)in->lost_ns, 0.9 * 4750 * MS);
}
END_TEST

/* For @ms, @n owners with @kib each press on the victim, and on each other more. */
static const struct cmt_incident *crowd(uint32_t ms, uint32_t n, uint64_t kib)
{
	while (ms--) {
		uint64_t misses = 1037 + 254 * (now / MS % 5);

		samples[0] = owner(VICTIM, 13298, misses, 100);
		for (uint32_t i = 0; i < n; i++)
			samples[i + 1] = owner(OTHERS + i, kib, 3 * misses / 2, 133);
		add_slot(n + 1);
	}
	return incident();
}

/* What many cost together is known, where there are more pairs than an estimate has. */
START_TEST(of_many)
{
	struct cmt_slowdown list[CULPRIT_PAIRS];
	double few = crowd(4000, 8, 5000)->share;
	uint32_t pairs = 0;

	ck_assert_double_gt(crowd(4000, 40, 1000)->share, 0.8 * few);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, CULPRIT_PAIRS), CULPRIT_PAIRS);
	for (uint32_t i = 0; i < CULPRIT_PAIRS; i++)
		pairs += list[i].id == VICTIM;
	ck_assert_uint_ge(pairs, 1);
	ck_assert_uint_lt(pairs, 40);
}
END_TEST

/* The bounds of what all cost are as near to it as those of one are. */
START_TEST(bounds_of_many)
{
	for (uint32_t n = 1; n <= 25; n += 8) {
		const struct cmt_incident *in;

		teardown();
		setup();
		in = crowd(4000, n, 8000 / n);
		ck_assert_double_le(in->low, 0.4001 * in->share);
		ck_assert_double_gt(in->low, 0.3999 * in->share);
		ck_assert_double_gt(in->high, 2.1999 * in->share);
	}
}
END_TEST

/* The share of the victim beside two that stream, of which @last holds less */
static double beside_two(uint64_t first, uint64_t last)
{
	for (uint32_t i = 0; i < 4000; i++) {
		samples[0] = owner(VICTIM, 13979, 642 + 154 * (i % 5), 100);
		samples[1] = stream(first, 7168, 20000);
		samples[2] = stream(last, 3584, 20000);
		add_slot(3);
	}
	return incident()->share;
}

/* What all cost does not depend on their ids. */
START_TEST(ids_swapped)
{
	double share = beside_two(OTHERS, OTHERS + 1);

	teardown();
	setup();
	ck_assert_double_eq_tol(share, beside_two(OTHERS + 1, OTHERS), 1e-9);
}
END_TEST

/* Cycles are counted while it runs: what it waits for a CPU does not change what each needs. */
START_TEST(cycles_without_them)
{
	const struct cmt_incident *in = crowd(4000, 1, 5000);
	double without = in->cpi * (1 - in->share), share = in->share;

	ck_assert_double_eq_tol(in->cpi_without, without, 1e-9);
	culprit_owner_add(culprit, VICTIM)->wait_share = 0.5;
	in = crowd(1000, 1, 5000);
	ck_assert_double_eq_tol(in->share, share / 2, 0.01 * share);
	ck_assert_double_eq_tol(in->cpi_without, without, 0.01 * without);
}
END_TEST

/* Neighbours that take turns cost as much in a minute as one that stays. */
START_TEST(minute_of_turns)
{
	struct cmt_slowdown pair = {
		.id = VICTIM, .resource = CMT_SLOWDOWN_CACHE, .share = 0.2, .most = 0.2, .cpus = 1,
	};
	struct cmt_slowdown list[4];

	for (uint32_t i = 0; i < 240; i++) {
		pair.by = OTHERS + i / 120;
		culprit_minute_add(&culprit->minute, &pair, 1, 250 * MS);
	}
	ck_assert_int_eq(cmt_culprit_slowdown_minute(culprit, list, 4), 2);
	ck_assert_double_eq_tol(list[0].share + list[1].share, 0.2, 1e-6);
	ck_assert_double_eq_tol(list[0].most, 0.2, 1e-6);
	ck_assert_double_eq_tol(list[1].most, 0.2, 1e-6);
}
END_TEST

/* A victim with small pairs is in a minute that has more of others than it has room for. */
START_TEST(minute_of_small_pairs)
{
	struct cmt_slowdown list[CULPRIT_PAIRS];
	double found = 0;

	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < CULPRIT_PAIRS; i++)
			list[i] = (struct cmt_slowdown){
				.id = VICTIM + 1 + i / 256, .by = 1000 * (1 + turn) + i,
				.resource = CMT_SLOWDOWN_CACHE, .share = 0.1, .most = 0.5,
			};
		list[0] = (struct cmt_slowdown){
			.id = VICTIM, .by = OTHERS, .resource = CMT_SLOWDOWN_CACHE,
			.share = 0.01, .most = 0.2,
		};
		culprit_minute_add(&culprit->minute, list, CULPRIT_PAIRS, 250 * MS);
	}
	ck_assert_int_eq(cmt_culprit_slowdown_minute(culprit, list, CULPRIT_PAIRS), CULPRIT_PAIRS);
	for (uint32_t i = 0; i < CULPRIT_PAIRS; i++)
		found += list[i].id == VICTIM ? list[i].most : 0;
	ck_assert_double_eq_tol(found, 0.2, 1e-6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit_totals");
	TCase *tcase = tcase_create("totals");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, no_more_than_its_misses);
	tcase_add_test(tcase, of_many);
	tcase_add_test(tcase, bounds_of_many);
	tcase_add_test(tcase, ids_swapped);
	tcase_add_test(tcase, cycles_without_them);
	tcase_add_test(tcase, minute_of_turns);
	tcase_add_test(tcase, minute_of_small_pairs);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
