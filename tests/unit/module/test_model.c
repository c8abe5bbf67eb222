// SPDX-License-Identifier: GPL-2.0-or-later
/* The emulated cache's arithmetic (module/hw/model.c). */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hw/model.h"
#include "unit.h"

#define MIB		(1ULL << 20)
#define MS		1000000ULL
#define OWNERS		16
#define CACHE		(32 * MIB)

static struct cmt_model_owner owners[OWNERS];
static struct cmt_model model;

static void set_up(void)
{
	memset(owners, 0, sizeof(owners));
	cmt_model_init(&model, owners, OWNERS, CACHE);
}

static void run(u32 rmid, u64 ns, u64 rss_bytes)
{
	cmt_model_run(&model, rmid, ns, rss_bytes);
	cmt_model_evict(&model);
}

static u64 sum(void)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < OWNERS; i++)
		total += owners[i].occupancy_bytes;
	return total;
}

START_TEST(test_run_fills_at_its_rate)
{
	run(1, 1 * MS, 16 * MIB);
	ck_assert_uint_eq(owners[1].occupancy_bytes, 4 * MS);
	ck_assert_uint_eq(owners[1].traffic_bytes, 4 * MS);
	ck_assert_uint_eq(model.total_bytes, 4 * MS);
}
END_TEST

START_TEST(test_run_stops_at_the_resident_set)
{
	int i;

	for (i = 0; i < 100; i++)
		run(1, 1 * MS, 5 * MIB);
	ck_assert_uint_eq(owners[1].occupancy_bytes, 5 * MIB);
	/* a set that fits makes no traffic once it is there */
	ck_assert_uint_eq(owners[1].traffic_bytes, 5 * MIB);
}
END_TEST

START_TEST(test_run_stops_at_the_cache)
{
	run(1, 1000 * MS, 64 * MIB);
	ck_assert_uint_eq(owners[1].occupancy_bytes, CACHE);
}
END_TEST

/* Half of a set twice the cache misses: 2 bytes of the 4 per nanosecond. */
START_TEST(test_run_large_set_misses_steadily)
{
	u64 before;

	run(1, 1000 * MS, 64 * MIB);
	before = owners[1].traffic_bytes;
	run(1, 1 * MS, 64 * MIB);
	ck_assert_uint_eq(owners[1].traffic_bytes - before, 2 * MS);
}
END_TEST

/* Only what is touched after the fill can miss again. */
START_TEST(test_run_fills_before_it_misses)
{
	run(1, 10 * MS, 64 * MIB);
	ck_assert_uint_eq(owners[1].traffic_bytes,
			  CACHE + (40 * MS - CACHE) / 2);
}
END_TEST

/* Next to nothing of such a set is cached, so nearly every byte misses. */
START_TEST(test_run_endless_set)
{
	u64 before;

	run(1, 1000 * MS, ~0ULL);
	before = owners[1].traffic_bytes;
	run(1, 1 * MS, ~0ULL);
	ck_assert_uint_ge(owners[1].traffic_bytes - before, 4 * MS - 100);
	ck_assert_uint_le(owners[1].traffic_bytes - before, 4 * MS);
}
END_TEST

START_TEST(test_run_shrunk_set_keeps_its_lines)
{
	run(1, 100 * MS, 8 * MIB);
	run(1, 100 * MS, 2 * MIB);
	ck_assert_uint_eq(owners[1].occupancy_bytes, 8 * MIB);
	ck_assert_uint_eq(owners[1].traffic_bytes, 8 * MIB);
}
END_TEST

static void compete(u64 ns_a, u64 ns_b)
{
	int i;

	for (i = 0; i < 1000; i++) {
		cmt_model_run(&model, 1, ns_a, 1024 * MIB);
		cmt_model_run(&model, 2, ns_b, 1024 * MIB);
		cmt_model_evict(&model);
		ck_assert_uint_le(sum(), CACHE);
	}
}

START_TEST(test_evict_equal_owners_share_equally)
{
	compete(1 * MS, 1 * MS);
	ck_assert_uint_ge(owners[1].occupancy_bytes, 16 * MIB - 64);
	ck_assert_uint_le(owners[1].occupancy_bytes, 16 * MIB);
	ck_assert_uint_eq(owners[1].occupancy_bytes, owners[2].occupancy_bytes);
}
END_TEST

START_TEST(test_evict_shares_follow_running_time)
{
	compete(MS * 3 / 10, MS / 10);
	ck_assert_uint_ge(owners[1].occupancy_bytes, 24 * MIB - MIB / 64);
	ck_assert_uint_le(owners[1].occupancy_bytes, 24 * MIB + MIB / 64);
	ck_assert_uint_ge(sum(), CACHE - 64);
}
END_TEST

START_TEST(test_evict_residue_stays_without_pressure)
{
	int i;

	run(3, 100 * MS, 8 * MIB);
	for (i = 0; i < 1000; i++)
		run(1, 1 * MS, 20 * MIB);
	ck_assert_uint_eq(owners[3].occupancy_bytes, 8 * MIB);
}
END_TEST

START_TEST(test_evict_residue_decays_under_pressure)
{
	u64 before;
	int i;

	run(3, 100 * MS, 8 * MIB);
	for (i = 0; i < 20; i++) {
		before = owners[3].occupancy_bytes;
		run(1, 1 * MS, 1024 * MIB);
		ck_assert_uint_le(owners[3].occupancy_bytes, before);
	}
	ck_assert_uint_lt(owners[3].occupancy_bytes, 4 * MIB);
	for (i = 0; i < 2000; i++) {
		cmt_model_run(&model, 1, 1 * MS, 1024 * MIB);
		run(2, 1 * MS, 1024 * MIB);
	}
	ck_assert_uint_eq(owners[3].occupancy_bytes, 0);
}
END_TEST

/* Nothing that can be asked for overflows, overfills, or goes backwards. */
START_TEST(test_run_anything_keeps_the_invariants)
{
	static const u64 spans[] = { 0, 1, 999, MS, 1000 * MS, 1ULL << 52, ~0ULL };
	static const u64 sets[] = { 0, 1, 4096, 3 * MIB, CACHE, CACHE + 1,
				    1ULL << 44, ~0ULL };
	unsigned int seed = 1;
	u64 traffic;
	int i;

	for (i = 0; i < 20000; i++) {
		u32 rmid = rand_r(&seed) % OWNERS;
		u64 ns = spans[rand_r(&seed) % 7];
		u64 rss = sets[rand_r(&seed) % 8];

		traffic = owners[rmid].traffic_bytes;
		cmt_model_run(&model, rmid, ns, rss);
		ck_assert_uint_ge(owners[rmid].traffic_bytes, traffic);
		if (rand_r(&seed) % 4)
			continue;
		cmt_model_evict(&model);
		ck_assert_uint_eq(model.total_bytes, sum());
		ck_assert_uint_le(model.total_bytes, CACHE);
	}
}
END_TEST

START_TEST(test_init_limits_the_cache)
{
	cmt_model_init(&model, owners, OWNERS, ~0ULL);
	ck_assert_uint_eq(model.cache_bytes, CMT_MODEL_MAX_CACHE_BYTES);
}
END_TEST

/* The largest cache, full of owners as large as it: the products still fit. */
START_TEST(test_evict_largest_cache)
{
	u64 each = CMT_MODEL_MAX_CACHE_BYTES / OWNERS;
	u32 i;

	cmt_model_init(&model, owners, OWNERS, CMT_MODEL_MAX_CACHE_BYTES);
	for (i = 0; i < OWNERS; i++)
		cmt_model_run(&model, i, 1ULL << 50, ~0ULL);
	cmt_model_evict(&model);
	for (i = 0; i < OWNERS; i++)
		ck_assert_uint_eq(owners[i].occupancy_bytes, each);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model");
	TCase *tcase = tcase_create("model");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_run_fills_at_its_rate);
	tcase_add_test(tcase, test_run_stops_at_the_resident_set);
	tcase_add_test(tcase, test_run_stops_at_the_cache);
	tcase_add_test(tcase, test_run_large_set_misses_steadily);
	tcase_add_test(tcase, test_run_fills_before_it_misses);
	tcase_add_test(tcase, test_run_endless_set);
	tcase_add_test(tcase, test_run_shrunk_set_keeps_its_lines);
	tcase_add_test(tcase, test_evict_equal_owners_share_equally);
	tcase_add_test(tcase, test_evict_shares_follow_running_time);
	tcase_add_test(tcase, test_evict_residue_stays_without_pressure);
	tcase_add_test(tcase, test_evict_residue_decays_under_pressure);
	tcase_add_test(tcase, test_run_anything_keeps_the_invariants);
	tcase_add_test(tcase, test_init_limits_the_cache);
	tcase_add_test(tcase, test_evict_largest_cache);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
