// SPDX-License-Identifier: GPL-2.0-or-later
/* From raw counter values to bytes, module/counter.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "unit.h"

#define MS	1000000ULL

static struct cmt_backend_caps caps;
static struct cmt_counter counter;
static struct cmt_record sample;

static void setup(void)
{
	memset(&caps, 0, sizeof(caps));
	caps.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	caps.upscale_bytes = 100;	/* not a power of two */
	caps.counter_bits = 24;
	caps.mbm_correct_above = UINT32_MAX;
	memset(&counter, 0xff, sizeof(counter));
}

static struct cmt_reading at(u64 ts, u64 occupancy, u64 total, u64 local)
{
	return (struct cmt_reading) {
		.ts = ts,
		.occupancy.raw = occupancy,
		.total.raw = total,
		.local.raw = local,
	};
}

/* As at an allocation (fresh), or where the owner is found later. */
static void begin(struct cmt_reading r, bool fresh)
{
	cmt_counter_begin(&counter, 9, &r);
	if (!fresh)
		return;
	cmt_counter_set_residue(&counter, &r, &caps);
	cmt_counter_set_base(&counter, &r);
}

static void take(struct cmt_reading r)
{
	cmt_counter_sample(&counter, 5, &r, &caps, &sample);
}

START_TEST(test_fresh_owner_counts_from_its_begin)
{
	begin(at(0, 30, 1000, 500), true);
	take(at(MS, 50, 1010, 501));
	ck_assert_uint_eq(sample.type, CMT_REC_SAMPLE);
	ck_assert_uint_eq(sample.ts, MS);
	ck_assert_uint_eq(sample.rmid, 5);
	ck_assert_uint_eq(sample.generation, 9);
	ck_assert_uint_eq(sample.flags, CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
			  CMT_F_MBM_LOCAL | CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 5000);
	ck_assert_uint_eq(sample.sample.residual_bytes, 3000);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 1000);
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 100);
}
END_TEST

START_TEST(test_unfresh_owner_has_no_residue_and_is_rebased)
{
	begin(at(0, 30, 1000, 500), false);
	take(at(0, 30, 1000, 500));
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert(!(sample.flags & CMT_F_RESIDUAL));
	ck_assert_uint_eq(sample.sample.residual_bytes, 0);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 0);
	take(at(MS, 30, 1001, 500));
	ck_assert(!(sample.flags & CMT_F_REBASED));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 100);
}
END_TEST

START_TEST(test_unreadable_residue_is_not_known)
{
	struct cmt_reading r = at(0, 30, 1, 1);

	r.occupancy.status = -ENODATA;
	begin(r, true);
	take(at(MS, 30, 1, 1));
	ck_assert(!(sample.flags & CMT_F_RESIDUAL));
	ck_assert_uint_eq(sample.sample.residual_bytes, 0);
}
END_TEST

START_TEST(test_mbm_unwraps_at_the_counter_width)
{
	u64 raw = (1 << 24) - 10, units = 0, ts = 0;
	int i;

	begin(at(0, 0, raw, raw), true);
	for (i = 0; i < 100; i++) {
		raw = (raw + 0x7fffff) & 0xffffff;
		units += 0x7fffff;
		ts += MS;
		take(at(ts, 0, raw, raw));
		ck_assert_uint_eq(sample.sample.mbm_total_bytes, units * 100);
		ck_assert_uint_eq(sample.sample.mbm_local_bytes, units * 100);
	}
}
END_TEST

START_TEST(test_mbm_unwraps_at_62_bits)
{
	caps.counter_bits = 62;
	caps.upscale_bytes = 1;
	begin(at(0, 0, (1ULL << 62) - 1, 0), true);
	take(at(MS, 0, 1ULL << 40, 0));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, (1ULL << 40) + 1);
}
END_TEST

START_TEST(test_error_is_no_number)
{
	struct cmt_reading r = at(MS, 77, 2000, 2000);

	begin(at(0, 1, 1000, 1000), true);
	r.occupancy.status = -EIO;
	take(r);
	ck_assert(sample.flags & CMT_F_ERROR);
	ck_assert(!(sample.flags & CMT_F_OCCUPANCY));
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 0);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 100000);
}
END_TEST

START_TEST(test_unavailable_mbm_rebases_the_next)
{
	struct cmt_reading r = at(2 * MS, 1, 5, 1000);

	begin(at(0, 1, 1000, 1000), true);
	take(at(MS, 1, 1010, 1000));
	r.total.status = -ENODATA;
	take(r);
	ck_assert(sample.flags & CMT_F_UNAVAILABLE);
	ck_assert(!(sample.flags & CMT_F_MBM_TOTAL));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 0);

	/* AMD counts from 0 again: not a wrap, and nothing is added */
	take(at(3 * MS, 1, 7, 1000));
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 1000);
	take(at(4 * MS, 1, 8, 1000));
	ck_assert(!(sample.flags & CMT_F_REBASED));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 1100);
}
END_TEST

START_TEST(test_absent_event_has_no_flag_at_all)
{
	struct cmt_reading r = at(MS, 1, 0, 0);

	r.total.status = -EOPNOTSUPP;
	r.local.status = -EOPNOTSUPP;
	begin(r, true);
	take(r);
	ck_assert_uint_eq(sample.flags, CMT_F_OCCUPANCY | CMT_F_RESIDUAL);
}
END_TEST

START_TEST(test_gap_of_more_than_a_second_is_not_guessed)
{
	begin(at(0, 1, 100, 100), true);
	take(at(CMT_COUNTER_GAP_NS, 1, 110, 110));
	ck_assert(!(sample.flags & CMT_F_REBASED));
	take(at(2 * CMT_COUNTER_GAP_NS + 1, 1, 120, 120));
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 1000);
}
END_TEST

START_TEST(test_epoch_change_is_a_gap)
{
	struct cmt_reading r = at(2 * MS, 1, 3, 3);

	begin(at(0, 1, 100, 100), true);
	r.epoch = 1;
	take(r);
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 0);
}
END_TEST

START_TEST(test_correction_is_monotonic_and_above_its_threshold)
{
	u64 raw, last = 0;

	caps.mbm_correct_above = 4;
	caps.mbm_correct_factor = (1 << 20) * 6 / 5;
	begin(at(0, 0, 0, 0), true);
	for (raw = 1; raw < 1000; raw++) {
		take(at(raw * MS, 0, raw, 0));
		ck_assert_uint_ge(sample.sample.mbm_total_bytes, last);
		last = sample.sample.mbm_total_bytes;
	}
	ck_assert_uint_eq(last, (999 * (u64)caps.mbm_correct_factor >> 20) * 100);

	caps.mbm_correct_above = 5;
	take(at(1000 * MS, 0, 999, 0));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 99900);
}
END_TEST

START_TEST(test_emulated_flag_is_kept)
{
	caps.record_flags = CMT_F_EMULATED;
	begin(at(0, 0, 0, 0), true);
	take(at(MS, 0, 0, 0));
	ck_assert(sample.flags & CMT_F_EMULATED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *tc = tcase_create("counter");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_fresh_owner_counts_from_its_begin);
	tcase_add_test(tc, test_unfresh_owner_has_no_residue_and_is_rebased);
	tcase_add_test(tc, test_unreadable_residue_is_not_known);
	tcase_add_test(tc, test_mbm_unwraps_at_the_counter_width);
	tcase_add_test(tc, test_mbm_unwraps_at_62_bits);
	tcase_add_test(tc, test_error_is_no_number);
	tcase_add_test(tc, test_unavailable_mbm_rebases_the_next);
	tcase_add_test(tc, test_absent_event_has_no_flag_at_all);
	tcase_add_test(tc, test_gap_of_more_than_a_second_is_not_guessed);
	tcase_add_test(tc, test_epoch_change_is_a_gap);
	tcase_add_test(tc, test_correction_is_monotonic_and_above_its_threshold);
	tcase_add_test(tc, test_emulated_flag_is_kept);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
