// SPDX-License-Identifier: GPL-2.0-or-later
/* The RMID pool, module/owner/rmid.c, with a time of its own. */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hw/backend.h"
#include "owner/rmid.h"
#include "unit.h"

#define NR	8
#define LIMBO	CMT_LIMBO_NS

static struct cmt_rmid rmids[CMT_MAX_RMIDS];
static u32 live[CMT_MAX_RMIDS];
static unsigned long readable[BITS_TO_LONGS(CMT_MAX_RMIDS)];
static struct cmt_pool pool = {
	.rmids = rmids, .live = live, .readable = readable,
};

static void setup_nr(u32 nr)
{
	memset(rmids, 0, sizeof(rmids));
	memset(live, 0, sizeof(live));
	memset(readable, 0, sizeof(readable));
	cmt_pool_init(&pool, nr);
	cmt_pool_drained(&pool, UINT64_MAX);
}

static void setup(void)
{
	setup_nr(NR);
}

/* The number of the RMID that is handed out, 0: none. */
static u32 take(u64 now)
{
	struct cmt_rmid *r = cmt_pool_alloc(&pool, now);

	if (!r)
		return 0;
	cmt_pool_publish(&pool, r);
	return cmt_pool_number(&pool, r);
}

static void assert_conserved(void)
{
	u32 rmid, active = 0;

	ck_assert_uint_eq(pool.nr_free + pool.nr_limbo + pool.nr_active +
			  pool.nr_foreign, NR - 1);
	ck_assert(pool.readable[0] & 1);
	for (rmid = 1; rmid < NR; rmid++) {
		bool is_active = rmids[rmid].state == CMT_RMID_ACTIVE;

		ck_assert_uint_eq(pool.readable[0] >> rmid & 1, is_active);
		ck_assert_uint_eq(pool.live[rmid],
				  is_active ? rmids[rmid].generation : 0);
		active += is_active;
	}
	ck_assert_uint_eq(pool.nr_active, active);
}

START_TEST(test_alloc_highest_first)
{
	u32 rmid;

	for (rmid = NR - 1; rmid; rmid--)
		ck_assert_uint_eq(take(0), rmid);
	ck_assert_uint_eq(take(UINT64_MAX), 0);
	assert_conserved();
}
END_TEST

START_TEST(test_alloc_never_gives_rmid_0)
{
	u64 now = 0;
	int i;

	for (i = 0; i < 1000; i++, now += LIMBO) {
		u32 rmid = take(now);

		ck_assert_uint_ne(rmid, 0);
		ck_assert_int_eq(cmt_pool_free(&pool, rmid, now), 0);
	}
	ck_assert_int_eq(rmids[0].state, CMT_RMID_RESERVED);
	ck_assert_uint_eq(pool.live[0], 0);
}
END_TEST

START_TEST(test_free_is_fifo)
{
	static const u32 order[] = { 3, 7, 1, 5, 2, 6, 4 };
	size_t i;

	while (take(0))
		;
	for (i = 0; i < NR - 1; i++)
		ck_assert_int_eq(cmt_pool_free(&pool, order[i], 100 + i), 0);
	for (i = 0; i < NR - 1; i++)
		ck_assert_uint_eq(take(10 * LIMBO), order[i]);
	assert_conserved();
}
END_TEST

START_TEST(test_limbo_lasts_to_the_nanosecond)
{
	while (take(0))
		;
	cmt_pool_free(&pool, 5, 1000);
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), 1000 + LIMBO);
	ck_assert_uint_eq(take(1000 + LIMBO - 1), 0);
	ck_assert_int_eq(rmids[5].state, CMT_RMID_LIMBO);
	ck_assert_uint_eq(take(1000 + LIMBO), 5);
	ck_assert_int_eq(rmids[5].state, CMT_RMID_ACTIVE);
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), UINT64_MAX);
}
END_TEST

START_TEST(test_undrained_rmid_stays_in_limbo)
{
	while (take(0))
		;
	cmt_pool_free(&pool, 5, 1000);
	cmt_pool_drained(&pool, 999);
	ck_assert_uint_eq(take(UINT64_MAX), 0);
	cmt_pool_drained(&pool, 1000);
	cmt_pool_free(&pool, 3, 1001);
	ck_assert_uint_eq(take(UINT64_MAX), 5);
	ck_assert_uint_eq(take(UINT64_MAX), 0);
	assert_conserved();
	/* its time is known all the same: that is when to drain */
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), 1001 + LIMBO);
	cmt_pool_drained(&pool, 1001);
	ck_assert_uint_eq(take(1001 + LIMBO - 1), 0);
	ck_assert_uint_eq(take(1001 + LIMBO), 3);
}
END_TEST

START_TEST(test_never_used_rmids_go_first)
{
	u32 rmid = take(0);

	cmt_pool_free(&pool, rmid, 0);
	ck_assert_uint_eq(take(LIMBO), rmid - 1);
	ck_assert_uint_eq(pool.nr_limbo, 0);
	ck_assert_uint_eq(pool.nr_free, NR - 2);
}
END_TEST

START_TEST(test_expire_moves_only_expired_rmids)
{
	while (take(0))
		;
	cmt_pool_free(&pool, 2, 10);
	cmt_pool_free(&pool, 3, 20);
	cmt_pool_free(&pool, 4, 30);
	cmt_pool_expire(&pool, 20 + LIMBO);
	ck_assert_uint_eq(pool.nr_free, 2);
	ck_assert_uint_eq(pool.nr_limbo, 1);
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), 30 + LIMBO);
	assert_conserved();
}
END_TEST

#define MANY	100

START_TEST(test_expire_says_whether_there_are_more)
{
	u32 rmid, calls = 1;

	setup_nr(MANY);
	while (take(0))
		;
	for (rmid = 1; rmid < MANY; rmid++)
		cmt_pool_free(&pool, rmid, 10);
	for (; cmt_pool_expire(&pool, 10 + LIMBO); calls++)
		ck_assert_uint_gt(pool.nr_limbo, 0);
	ck_assert_uint_gt(calls, 1);
	ck_assert_uint_eq(pool.nr_free, MANY - 1);
	ck_assert(!cmt_pool_expire(&pool, UINT64_MAX));
}
END_TEST

START_TEST(test_drained_until_another_is_freed)
{
	while (take(0))
		;
	cmt_pool_drained(&pool, 999);
	ck_assert(cmt_pool_is_drained(&pool));
	cmt_pool_free(&pool, 5, 1000);
	ck_assert(!cmt_pool_is_drained(&pool));
	cmt_pool_drained(&pool, 1000);
	ck_assert(cmt_pool_is_drained(&pool));
	cmt_pool_free(&pool, 3, 1001);
	ck_assert(!cmt_pool_is_drained(&pool));
}
END_TEST

START_TEST(test_generation_changes_at_every_alloc)
{
	u64 now = 0;
	u32 rmid, generation = 0;
	int i;

	while (take(now))
		;
	for (i = 0; i < 100; i++, now += LIMBO) {
		cmt_pool_free(&pool, 5, now);
		ck_assert_uint_eq(pool.live[5], 0);
		rmid = take(now + LIMBO);
		ck_assert_uint_eq(rmid, 5);
		ck_assert_uint_ne(rmids[5].generation, generation);
		generation = rmids[5].generation;
		ck_assert_uint_eq(pool.live[5], generation);
	}
}
END_TEST

START_TEST(test_alloc_is_not_read_before_it_is_published)
{
	struct cmt_rmid *r = cmt_pool_alloc(&pool, 0);
	u32 rmid = cmt_pool_number(&pool, r);

	ck_assert_uint_eq(pool.live[rmid], 0);
	ck_assert(!(pool.readable[0] >> rmid & 1));
	cmt_pool_publish(&pool, r);
	ck_assert_uint_eq(pool.live[rmid], r->generation);
	assert_conserved();
}
END_TEST

START_TEST(test_returned_rmid_is_next)
{
	struct cmt_rmid *r;
	u32 i;

	/* the only one of the queue, and the first of several */
	for (i = 0; i < 2; i++) {
		r = cmt_pool_alloc(&pool, 0);
		cmt_pool_return(&pool, r);
		assert_conserved();
		ck_assert_uint_eq(take(0), cmt_pool_number(&pool, r));
		while (!i && pool.nr_free > 1)
			take(0);
	}
	ck_assert_uint_eq(take(0), 0);
}
END_TEST

START_TEST(test_generation_is_never_0)
{
	rmids[NR - 1].generation = UINT32_MAX;
	ck_assert_uint_eq(take(0), NR - 1);
	ck_assert_uint_eq(rmids[NR - 1].generation, 1);
}
END_TEST

START_TEST(test_metadata_outlives_free_and_not_alloc)
{
	struct cmt_rmid *r = cmt_pool_alloc(&pool, 7);
	u32 rmid = cmt_pool_number(&pool, r);

	r->tgid = 42;
	r->cgroup_id = 43;
	r->residual_bytes = 44;
	strcpy(r->comm, "owner");
	cmt_pool_free(&pool, rmid, 100);
	ck_assert_uint_eq(r->tgid, 42);
	ck_assert_uint_eq(r->since, 7);
	ck_assert_str_eq(r->comm, "owner");

	while (take(100 + LIMBO) != rmid)
		;
	ck_assert_uint_eq(r->tgid, 0);
	ck_assert_uint_eq(r->cgroup_id, 0);
	ck_assert_uint_eq(r->residual_bytes, 0);
	ck_assert_str_eq(r->comm, "");
}
END_TEST

START_TEST(test_free_refuses_inactive_rmid)
{
	u32 rmid = take(0);

	ck_assert_int_eq(cmt_pool_free(&pool, NR, 0), -EINVAL);
	ck_assert_int_eq(cmt_pool_free(&pool, 0, 0), -EINVAL);
	ck_assert_int_eq(cmt_pool_free(&pool, rmid - 1, 0), -EINVAL);
	ck_assert_int_eq(cmt_pool_free(&pool, rmid, 0), 0);
	ck_assert_int_eq(cmt_pool_free(&pool, rmid, 0), -EINVAL);
	assert_conserved();
}
END_TEST

START_TEST(test_foreign_is_not_handed_out)
{
	u32 rmid;

	/* the first, one in the middle and the last of the queue */
	ck_assert_int_eq(cmt_pool_exclude(&pool, NR - 1, 7), 0);
	ck_assert_int_eq(cmt_pool_exclude(&pool, 3, 7), 0);
	ck_assert_int_eq(cmt_pool_exclude(&pool, 1, 7), 0);
	ck_assert_int_eq(cmt_pool_exclude(&pool, 1, 8), -EALREADY);
	ck_assert_uint_eq(rmids[1].since, 7);
	ck_assert_uint_eq(pool.nr_foreign, 3);
	for (rmid = NR - 2; rmid > 1; rmid--)
		if (rmid != 3)
			ck_assert_uint_eq(take(0), rmid);
	ck_assert_uint_eq(take(UINT64_MAX), 0);
	ck_assert_int_eq(cmt_pool_exclude(&pool, 2, 7), -EBUSY);
	assert_conserved();
}
END_TEST

START_TEST(test_foreign_comes_back_through_limbo)
{
	u32 rmid = take(0);

	ck_assert_int_eq(cmt_pool_free(&pool, rmid, 5), 0);
	ck_assert_int_eq(cmt_pool_exclude(&pool, rmid, 7), 0);
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), UINT64_MAX);
	ck_assert_int_eq(cmt_pool_include(&pool, rmid, 100), 0);
	ck_assert_int_eq(cmt_pool_include(&pool, rmid, 100), -EINVAL);
	ck_assert_int_eq(cmt_pool_include(&pool, 1, 100), -EINVAL);
	ck_assert_uint_eq(cmt_pool_next_expiry(&pool), 100 + LIMBO);
	while (pool.nr_free)
		take(100);
	ck_assert_uint_eq(take(100 + LIMBO - 1), 0);
	ck_assert_uint_eq(take(100 + LIMBO), rmid);
	assert_conserved();
}
END_TEST

START_TEST(test_foreign_is_read_once_it_is_published)
{
	u32 generation;

	rmids[3].tgid = 42;
	ck_assert_int_eq(cmt_pool_exclude(&pool, 3, 7), 0);
	generation = rmids[3].generation;
	ck_assert_uint_ne(generation, 0);
	ck_assert_uint_eq(rmids[3].tgid, 0);
	ck_assert_uint_eq(pool.live[3], 0);
	cmt_pool_publish(&pool, &rmids[3]);
	ck_assert_uint_eq(pool.live[3], generation);
	ck_assert(pool.readable[0] >> 3 & 1);
	ck_assert_int_eq(cmt_pool_include(&pool, 3, 8), 0);
	ck_assert_uint_eq(pool.live[3], 0);
	assert_conserved();
}
END_TEST

/* Against a model: a list of free times in order. */
START_TEST(test_random_walk_keeps_fifo_limbo_and_count)
{
	u64 now = 0, freed[NR] = { 0 }, last_freed = 0;
	bool used[NR] = { false }, foreign[NR] = { false };
	unsigned int seed = 1;
	int i;

	for (i = 0; i < 10000; i++) {
		u32 rmid;

		now += rand_r(&seed) % (LIMBO / 2);
		rmid = 1 + rand_r(&seed) % (NR - 1);
		if (rand_r(&seed) & 1) {
			rmid = take(now);
			if (!rmid)
				continue;
			ck_assert(!used[rmid] && !foreign[rmid]);
			ck_assert(!freed[rmid] || now - freed[rmid] >= LIMBO);
			ck_assert_uint_ge(freed[rmid], last_freed);
			last_freed = freed[rmid];
			used[rmid] = true;
		} else if (used[rmid]) {
			ck_assert_int_eq(cmt_pool_free(&pool, rmid, now), 0);
			freed[rmid] = now;
			used[rmid] = false;
		} else if (foreign[rmid]) {
			ck_assert_int_eq(cmt_pool_include(&pool, rmid, now), 0);
			freed[rmid] = now;
			foreign[rmid] = false;
		} else if (rand_r(&seed) % 8 == 0) {
			ck_assert_int_eq(cmt_pool_exclude(&pool, rmid, 7), 0);
			foreign[rmid] = true;
		}
		assert_conserved();
	}
}
END_TEST

START_TEST(test_most_rmids)
{
	u32 rmid, i;

	setup_nr(CMT_MAX_RMIDS);
	for (rmid = CMT_MAX_RMIDS - 1; rmid; rmid--) {
		ck_assert_uint_eq(take(0), rmid);
		ck_assert_uint_eq(live[rmid], 1);
	}
	ck_assert_uint_eq(take(0), 0);
	for (i = 0; i < BITS_TO_LONGS(CMT_MAX_RMIDS); i++)
		ck_assert(readable[i] == ~0UL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rmid");
	TCase *tc = tcase_create("pool");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_alloc_highest_first);
	tcase_add_test(tc, test_alloc_never_gives_rmid_0);
	tcase_add_test(tc, test_free_is_fifo);
	tcase_add_test(tc, test_limbo_lasts_to_the_nanosecond);
	tcase_add_test(tc, test_undrained_rmid_stays_in_limbo);
	tcase_add_test(tc, test_never_used_rmids_go_first);
	tcase_add_test(tc, test_expire_moves_only_expired_rmids);
	tcase_add_test(tc, test_expire_says_whether_there_are_more);
	tcase_add_test(tc, test_drained_until_another_is_freed);
	tcase_add_test(tc, test_generation_changes_at_every_alloc);
	tcase_add_test(tc, test_alloc_is_not_read_before_it_is_published);
	tcase_add_test(tc, test_returned_rmid_is_next);
	tcase_add_test(tc, test_generation_is_never_0);
	tcase_add_test(tc, test_metadata_outlives_free_and_not_alloc);
	tcase_add_test(tc, test_free_refuses_inactive_rmid);
	tcase_add_test(tc, test_foreign_is_not_handed_out);
	tcase_add_test(tc, test_foreign_comes_back_through_limbo);
	tcase_add_test(tc, test_foreign_is_read_once_it_is_published);
	tcase_add_test(tc, test_random_walk_keeps_fifo_limbo_and_count);
	tcase_add_test(tc, test_most_rmids);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
