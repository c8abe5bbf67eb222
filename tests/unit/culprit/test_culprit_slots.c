// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts of slots that are given by hand: what is refused, bounds, who took the cache. */
#include <check.h>
#include <cmt/culprit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define MIB	(1024 * KIB)
#define READ	(CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC)
#define PEAK	(20ULL << 30)

enum { WEB = 100, HOG, OTHER };	/* owners */

static struct cmt_culprit *culprit;
static uint64_t now;

static int new_of(uint32_t max_owners, uint64_t slot_ns)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = max_owners, .slot_ns = slot_ns,
		.unit_bytes = 64 * KIB, .peak_bytes = PEAK,
	};

	cmt_culprit_free(culprit);
	culprit = NULL;
	return cmt_culprit_new(&culprit, &opts);
}

static void setup(void)
{
	now = 1000 * MS;
	ck_assert_int_eq(new_of(0, 0), 0);
}

static void teardown(void)
{
	cmt_culprit_free(culprit);
	culprit = NULL;
}

static int add(const struct cmt_culprit_sample *samples, uint32_t n, uint32_t flags)
{
	const struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = now, .nr_samples = n,
		.sample_size = sizeof(*samples), .samples = samples, .flags = flags,
	};
	int ret = cmt_culprit_add(culprit, &slot);

	if (ret >= 0)
		now += MS;
	return ret;
}

static struct cmt_culprit_counts counts(void)
{
	struct cmt_culprit_counts c = { .sz = sizeof(c) };

	ck_assert_int_eq(cmt_culprit_counts(culprit, &c), 0);
	return c;
}

static struct cmt_culprit_sample sample(uint64_t id, uint64_t occupancy, uint64_t traffic)
{
	return (struct cmt_culprit_sample){
		.id = id, .valid = READ, .occupancy_bytes = occupancy,
		.traffic_bytes = traffic,
	};
}

START_TEST(test_options)
{
	ck_assert_int_eq(new_of(16384, 0), 0);
	ck_assert_int_eq(new_of(16385, 0), -EINVAL);
	ck_assert_int_eq(new_of(1, MS), 0);
	ck_assert_int_eq(new_of(1, MS + 1), -EINVAL);
}
END_TEST

START_TEST(test_impossible_slots)
{
	static const struct cmt_culprit_sample impossible[] = {
		{ .id = 1, .domain = 64 },
		{ .id = 1, .valid = 1U << 8 },
		{ .id = 1, .flags = 1U << 2 },
		{ .id = 1, .occupancy_bytes = 1ULL << 50 },
		{ .id = 1, .traffic_bytes = 1ULL << 50 },
		{ .id = 1, .cycles = 1ULL << 50 },
		{ .id = 1, .instructions = 1ULL << 50 },
		{ .id = 1, .misses = 1ULL << 50 },
		{ .id = 1, .references = 1ULL << 50 },
		{ .id = 1, .ran_ns = 1ULL << 50 },
	};
	struct cmt_culprit_sample good = sample(1, 0, 0);

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		ck_assert_int_eq(add(&impossible[i], 1, 0), -EINVAL);
		ck_assert_int_eq(add(&impossible[i], 1, CMT_CULPRIT_SLOT_PART), -EINVAL);
	}
	ck_assert_int_eq(add(NULL, 1, 0), -EINVAL);
	ck_assert_int_eq(add(&good, 1, CMT_CULPRIT_SLOT_IDLE), -EINVAL);
	ck_assert_int_eq(add(&good, 1, 1U << 2), -EINVAL);
	ck_assert_uint_eq(counts().slots, 0);
	ck_assert_int_eq(add(&good, 1, 0), 0);
	now += MS / 2;
	ck_assert_int_eq(add(&good, 1, 0), -EINVAL);
	now -= MS / 2 + MS;
	ck_assert_int_eq(add(&good, 1, 0), -EINVAL);
	ck_assert_uint_eq(counts().slots, 1);
}
END_TEST

/* Others are counted, and not followed, in whatever order they come. */
START_TEST(test_more_owners_than_room)
{
	struct cmt_culprit_sample samples[6];
	uint32_t room = 4 + (uint32_t)_i;

	ck_assert_int_eq(new_of(room, 0), 0);
	for (uint64_t slot = 0; slot < 8; slot++) {
		for (uint64_t i = 0; i < 6; i++)
			samples[slot % 2 ? 5 - i : i] = sample(1 + i, MIB, 0);
		ck_assert_int_eq(add(samples, 6, 0), 0);
	}
	ck_assert_uint_eq(counts().owners, room);
	ck_assert_uint_eq(counts().samples, 48);
	ck_assert_uint_eq(counts().not_followed, 48 - 8 * room);
}
END_TEST

/* An owner that is in no slot any more leaves its room to another one. */
START_TEST(test_room_of_who_is_gone)
{
	struct cmt_culprit_sample samples[4];

	ck_assert_int_eq(new_of(4, 0), 0);
	for (uint64_t slot = 0; slot < 2000; slot++) {
		for (uint64_t i = 0; i < 4; i++)
			samples[i] = sample(1 + i + slot / 500 * 4, MIB, 64 * KIB);
		ck_assert_int_eq(add(samples, 4, 0), 0);
		ck_assert_uint_le(counts().owners, 4);
	}
	ck_assert_uint_eq(counts().owners, 4);
}
END_TEST

/* Add a slot with the first @n samples.  Returns the CPU time that this took. */
static clock_t time_to_add(const struct cmt_culprit_sample *samples, uint32_t n)
{
	clock_t began = clock();

	ck_assert_int_ge(add(samples, n, 0), 0);
	return clock() - began;
}

/* That many owners are forgotten in one slot costs a few times what the slot costs. */
START_TEST(test_all_are_gone_at_once)
{
	const uint32_t nr = 4096;
	struct cmt_culprit_sample *samples = calloc(nr, sizeof(*samples));
	clock_t took, sum = 0;
	uint32_t slots = 0;

	ck_assert_ptr_nonnull(samples);
	ck_assert_int_eq(new_of(nr, 0), 0);
	for (uint64_t i = 0; i < nr; i++)
		samples[i] = sample(1 + i, MIB, 64 * KIB);
	time_to_add(samples, nr);
	for (;;) {
		took = time_to_add(samples, 1);
		if (counts().owners == 1)
			break;
		sum += took;
		ck_assert_uint_lt(slots++, 4000);
	}
	ck_assert_int_lt(took, 40 * (sum / slots + 1));
	free(samples);
}
END_TEST

/*
 * HOG begins at slot 600 and has the cache of WEB 40 slots later; OTHER keeps its own.
 * WEB fetches again what it loses.
 */
static const struct cmt_culprit_verdict *find_culprit(bool reverse)
{
	const struct cmt_culprit_verdict *verdict = NULL;
	struct cmt_culprit_sample samples[3];

	for (uint64_t slot = 0; slot < 800; slot++) {
		uint64_t step = slot < 600 ? 0 : slot - 600 < 40 ? slot - 600 : 40;
		uint64_t taken = step * 192 * KIB;

		samples[0] = sample(WEB, 8 * MIB - taken + slot % 2 * 64 * KIB,
				    (step ? 192 : 16) * KIB);
		samples[1] = sample(HOG, taken, slot < 600 ? 0 : 2048 * KIB);
		samples[2] = sample(OTHER, 4 * MIB + slot % 2 * 64 * KIB, 16 * KIB);
		if (reverse) {
			struct cmt_culprit_sample first = samples[0];

			samples[0] = samples[2];
			samples[2] = first;
		}
		ck_assert_int_ge(add(samples, 3, 0), 0);
		if (cmt_culprit_next(culprit, &verdict) > 0)
			return verdict;
	}
	ck_abort_msg("no verdict");
	return NULL;
}

START_TEST(test_who_took_the_cache)
{
	const struct cmt_culprit_verdict *verdict = find_culprit(_i);
	uint64_t begin = 1600 * MS;

	ck_assert_uint_eq(verdict->id, WEB);
	ck_assert_int_eq(verdict->kind, CMT_CULPRIT_CACHE);
	ck_assert_uint_eq(verdict->flags, 0);
	ck_assert_uint_ge(verdict->nr_suspects, 1);
	ck_assert_uint_eq(verdict->suspects[0].id, HOG);
	ck_assert_double_gt(verdict->suspects[0].share, 0.9);
	ck_assert_double_le(verdict->suspects[0].share, 1);
	ck_assert_uint_eq(verdict->suspects[0].occupancy_before, 0);
	ck_assert_uint_ge(verdict->since_ns, begin - 4 * MS);
	ck_assert_uint_le(verdict->since_ns, begin + 4 * MS);
	ck_assert_uint_le(verdict->ts_ns, begin + 40 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit_slots");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_options);
	tcase_add_test(tcase, test_impossible_slots);
	tcase_add_loop_test(tcase, test_more_owners_than_room, 0, 2);
	tcase_add_test(tcase, test_room_of_who_is_gone);
	tcase_add_test(tcase, test_all_are_gone_at_once);
	tcase_add_loop_test(tcase, test_who_took_the_cache, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
