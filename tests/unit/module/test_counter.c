// SPDX-License-Identifier: GPL-2.0-or-later
/* From raw counter values to bytes, module/hw/counter.c. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hw/counter.h"
#include "unit.h"

#define MS	1000000ULL
#define ALL_MBM	(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

static struct cmt_backend_caps caps;
static struct cmt_counter counter;
static struct cmt_record sample;
static u32 short_ways;

static void setup(void)
{
	memset(&caps, 0, sizeof(caps));
	caps.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	caps.upscale_bytes = 100;	/* not a power of two */
	caps.counter_bits = 24;
	caps.data_mask = (1ULL << 62) - 1;
	caps.mbm_correct_above = UINT32_MAX;
	cmt_counter_reset(&counter);
	short_ways = 0;
}

struct reading {
	u64 ts;
	struct cmt_raws raws;
};

static u64 last_ts;

static struct reading at(u64 ts, u64 occupancy, u64 total, u64 local)
{
	return (struct reading) {
		.ts = ts,
		.raws = { occupancy, total, local },
	};
}

/* As at an allocation (fresh), or where the owner is found later. */
static void begin(struct reading r, bool fresh)
{
	last_ts = r.ts;
	cmt_counter_begin(&counter, 5, 9, &caps);
	if (!fresh)
		return;
	cmt_counter_set_residue(&counter, &r.raws, caps.events, &caps);
	cmt_counter_set_base(&counter, &r.raws, caps.events, &caps);
}

/*
 * As a tick does: the short way where it may be taken, and there it says what the
 * long one says.
 */
static void take(struct reading r)
{
	struct cmt_counter twin;
	struct cmt_record other;
	const struct cmt_scale scale = {
		.mbm_mask = (1ULL << caps.counter_bits) - 1,
		.upscale_bytes = caps.upscale_bytes,
	};
	const u64 bits = r.raws.occupancy | r.raws.total | r.raws.local;
	bool plain;

	if (r.ts - last_ts > CMT_COUNTER_GAP_NS)
		cmt_counter_lose_base(&counter);
	last_ts = r.ts;
	plain = counter.key == 9 && !(bits & ~caps.data_mask) &&
		!cmt_counter_fell(&counter, &r.raws, caps.events, &caps);
	twin = counter;
	memset(&sample, 0, sizeof(sample));
	memset(&other, 0, sizeof(other));
	cmt_counter_sample(&counter, &r.raws, caps.events, &caps, &sample);
	if (!plain)
		return;
	short_ways++;
	cmt_counter_continue(&twin, &r.raws, &scale, &other);
	ck_assert_mem_eq(&other, &sample, sizeof(sample));
	ck_assert_mem_eq(&twin, &counter, sizeof(counter));
}

START_TEST(test_fresh_owner_counts_from_its_begin)
{
	begin(at(0, 30, 1000, 500), true);
	take(at(MS, 50, 1010, 501));
	ck_assert_uint_eq(short_ways, 1);
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
	struct reading r = at(0, 30, 1, 1);

	r.raws.occupancy |= CMT_RAW_UNAVAILABLE;
	begin(r, true);
	take(at(MS, 30, 1, 1));
	ck_assert(!(sample.flags & CMT_F_RESIDUAL));
	ck_assert_uint_eq(sample.sample.residual_bytes, 0);
	ck_assert(!cmt_counter_set_residue(&counter, &r.raws, caps.events,
					   &caps));
	r.raws.occupancy &= ~CMT_RAW_UNAVAILABLE;
	ck_assert(cmt_counter_set_residue(&counter, &r.raws, caps.events,
					  &caps));
	take(at(2 * MS, 40, 1, 1));
	ck_assert(sample.flags & CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.residual_bytes, 30 * 100);
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

START_TEST(test_mbm_unwraps_below_40_bits)
{
	caps.counter_bits = CMT_COUNTER_WIDE - 1;
	caps.upscale_bytes = 1;
	begin(at(0, 0, (1ULL << 39) - 1, 0), true);
	take(at(MS, 0, 1ULL << 38, 0));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, (1ULL << 38) + 1);
}
END_TEST

static const u32 wide[] = { CMT_COUNTER_WIDE, 44, 62 };

/* It cannot have wrapped: it began anew, and the other one goes on. */
START_TEST(test_wide_counter_that_falls_is_rebased)
{
	caps.counter_bits = wide[_i];
	begin(at(0, 0, 1000, 1000), true);
	take(at(MS, 0, 1500, 1500));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 500 * 100);
	take(at(2 * MS, 0, 1499, 1700));
	ck_assert_uint_eq(sample.flags & ALL_MBM, ALL_MBM);
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 500 * 100);
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 700 * 100);
	take(at(3 * MS, 0, 1600, 1700));
	ck_assert(!(sample.flags & CMT_F_REBASED));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 601 * 100);
}
END_TEST

START_TEST(test_fell_is_of_data_and_a_base)
{
	const struct cmt_raws more = { 0, 7, 9 }, less = { 0, 7, 8 };
	const struct cmt_raws error = { 0, CMT_RAW_ERROR, CMT_RAW_UNAVAILABLE };

	caps.counter_bits = 44;
	begin(at(0, 0, 7, 9), true);
	ck_assert(!cmt_counter_fell(&counter, &more, caps.events, &caps));
	ck_assert(cmt_counter_fell(&counter, &less, caps.events, &caps));
	ck_assert(!cmt_counter_fell(&counter, &error, caps.events, &caps));
	caps.counter_bits = 24;
	ck_assert(!cmt_counter_fell(&counter, &less, caps.events, &caps));
	caps.counter_bits = 44;
	cmt_counter_lose_base(&counter);
	ck_assert(!cmt_counter_fell(&counter, &less, caps.events, &caps));
}
END_TEST

START_TEST(test_kept_is_above_what_it_may_count)
{
	const struct cmt_raws same = { 0, 7, 9 }, less = { 0, 7, 8 };
	const struct cmt_raws error = { 0, 100, CMT_RAW_UNAVAILABLE };

	caps.counter_bits = 44;
	begin(at(0, 0, 7, 9), true);
	ck_assert(cmt_counter_kept(&counter, &same, caps.events, 8, &caps));
	ck_assert(!cmt_counter_kept(&counter, &same, caps.events, 9, &caps));
	ck_assert(!cmt_counter_kept(&counter, &same, CMT_F_MBM_TOTAL, 8, &caps));
	ck_assert(!cmt_counter_kept(&counter, &less, caps.events, 8, &caps));
	ck_assert(!cmt_counter_kept(&counter, &error, caps.events, 8, &caps));
	cmt_counter_lose_base(&counter);
	ck_assert(!cmt_counter_kept(&counter, &same, caps.events, 0, &caps));
}
END_TEST

START_TEST(test_error_is_no_number)
{
	struct reading r = at(MS, 77, 2000, 2000);

	begin(at(0, 1, 1000, 1000), true);
	r.raws.occupancy |= CMT_RAW_ERROR;
	take(r);
	ck_assert(sample.flags & CMT_F_ERROR);
	ck_assert(!(sample.flags & CMT_F_OCCUPANCY));
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 0);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 100000);
}
END_TEST

START_TEST(test_unavailable_mbm_rebases_the_next)
{
	struct reading r = at(2 * MS, 1, 5, 1000);

	begin(at(0, 1, 1000, 1000), true);
	take(at(MS, 1, 1010, 1000));
	r.raws.total |= CMT_RAW_UNAVAILABLE;
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
	struct reading r = at(MS, 1, 0, 0);

	caps.events = CMT_F_OCCUPANCY;
	r.raws.total = CMT_RAW_UNAVAILABLE;
	r.raws.local = CMT_RAW_UNAVAILABLE;
	begin(r, true);
	take(r);
	ck_assert_uint_eq(sample.flags, CMT_F_OCCUPANCY | CMT_F_RESIDUAL);
}
END_TEST

/* As take(), where not all values are wanted: what was not read has some raw value. */
static u32 take_some(struct reading r, u32 events)
{
	last_ts = r.ts;
	memset(&sample, 0, sizeof(sample));
	cmt_counter_sample(&counter, &r.raws, events, &caps, &sample);
	return sample.flags;
}

START_TEST(test_value_that_is_not_wanted_has_no_flag)
{
	const u64 garbage = CMT_RAW_ERROR | CMT_RAW_UNAVAILABLE | 5;

	begin(at(0, 30, 1000, 500), true);
	ck_assert_uint_eq(take_some(at(MS, 50, garbage, garbage),
				    CMT_F_OCCUPANCY),
			  CMT_F_OCCUPANCY | CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 5000);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 0);
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 0);
	ck_assert_uint_eq(take_some(at(2 * MS, garbage, garbage, garbage), 0),
			  CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 0);
}
END_TEST

/* The counter may have wrapped meanwhile, or not: the pause is short. */
START_TEST(test_value_wanted_again_has_a_new_base)
{
	u32 total = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;

	begin(at(0, 30, 1000, 500), true);
	take(at(MS, 30, 1010, 510));
	take_some(at(2 * MS, 30, 0, 0), CMT_F_OCCUPANCY);
	ck_assert_uint_eq(take_some(at(3 * MS, 30, 1030, 0), total),
			  total | CMT_F_REBASED | CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 10 * 100);
	ck_assert_uint_eq(take_some(at(4 * MS, 30, 1035, 0), total),
			  total | CMT_F_RESIDUAL);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 15 * 100);
	/* the total goes on, and the local traffic of the pause is not known */
	take(at(5 * MS, 30, 1040, 550));
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 20 * 100);
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 10 * 100);
	ck_assert_uint_eq(short_ways, 1);
	take(at(6 * MS, 30, 1041, 551));
	ck_assert(!(sample.flags & CMT_F_REBASED));
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 11 * 100);
	ck_assert_uint_eq(short_ways, 2);
}
END_TEST

/* An owner that begins while its occupancy is not wanted has no residue of 0. */
START_TEST(test_owner_begins_without_values)
{
	struct reading r = at(0, 0, 1000, 0);

	last_ts = 0;
	cmt_counter_begin(&counter, 5, 9, &caps);
	ck_assert(!cmt_counter_set_residue(&counter, &r.raws, CMT_F_MBM_TOTAL,
					   &caps));
	cmt_counter_set_base(&counter, &r.raws, CMT_F_MBM_TOTAL, &caps);
	ck_assert_uint_eq(take_some(at(MS, 0, 1001, 0), CMT_F_MBM_TOTAL),
			  CMT_F_MBM_TOTAL);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 100);
	take(at(2 * MS, 7, 1002, 700));
	ck_assert_uint_eq(sample.flags, caps.events | CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_local_bytes, 0);
}
END_TEST

START_TEST(test_value_that_is_not_wanted_has_not_fallen)
{
	const struct cmt_raws none = { 0 };

	caps.counter_bits = 44;
	begin(at(0, 0, 7, 9), true);
	ck_assert(!cmt_counter_fell(&counter, &none, CMT_F_OCCUPANCY, &caps));
	ck_assert(cmt_counter_fell(&counter, &none, CMT_F_MBM_LOCAL, &caps));
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

/* After a suspend, say. */
START_TEST(test_lost_base_is_a_gap)
{
	begin(at(0, 1, 100, 100), true);
	cmt_counter_lose_base(&counter);
	take(at(2 * MS, 1, 3, 3));
	ck_assert(sample.flags & CMT_F_REBASED);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 0);
	ck_assert_uint_eq(short_ways, 0);
	take(at(3 * MS, 1, 5, 3));
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 200);
	ck_assert_uint_eq(short_ways, 1);
}
END_TEST

/* Even one that is told to lose its base before it is read. */
START_TEST(test_new_owner_is_new_until_it_is_read)
{
	ck_assert(!cmt_counter_is_of(&counter, 0));
	begin(at(0, 30, 1000, 500), false);
	ck_assert(cmt_counter_is_of(&counter, 9));
	ck_assert(!cmt_counter_is_of(&counter, 8));
	cmt_counter_lose_base(&counter);
	ck_assert(cmt_counter_is_new(&counter));
	take(at(0, 30, 1000, 500));
	ck_assert(!cmt_counter_is_new(&counter));
}
END_TEST

START_TEST(test_overflow_bit_is_no_data)
{
	caps.counter_bits = 61;
	caps.data_mask = (1ULL << 61) - 1;
	begin(at(0, 0, 5, 5), true);
	take(at(MS, 1ULL << 61 | 7, 1ULL << 61 | 6, 5));
	ck_assert_uint_eq(short_ways, 0);
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 700);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 100);
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

/* Occupancy and traffic in units of their own, and a factor for each RMID */
START_TEST(test_units_and_factors_of_registers_in_memory)
{
	const u32 factors[] = { 1 << 16, 0, 0, 0, 0, 3 << 15 };
	u64 raw;

	caps.mbm_unit_bytes = 7;
	begin(at(0, 0, 0, 0), true);
	take(at(MS, 3, 1000, 0));
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 300);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 7000);

	caps.mbm_factors = factors;
	begin(at(0, 0, 0, 0), true);
	for (raw = 1; raw < 1000; raw += 2)
		take(at(raw * MS, 3, raw, 0));
	ck_assert_uint_eq(sample.sample.occupancy_bytes, 300);
	ck_assert_uint_eq(sample.sample.mbm_total_bytes, 999 * 3 / 2 * 7);
	ck_assert_uint_eq(short_ways, 0);
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
	tcase_add_test(tc, test_mbm_unwraps_below_40_bits);
	tcase_add_loop_test(tc, test_wide_counter_that_falls_is_rebased, 0, 3);
	tcase_add_test(tc, test_fell_is_of_data_and_a_base);
	tcase_add_test(tc, test_kept_is_above_what_it_may_count);
	tcase_add_test(tc, test_error_is_no_number);
	tcase_add_test(tc, test_unavailable_mbm_rebases_the_next);
	tcase_add_test(tc, test_absent_event_has_no_flag_at_all);
	tcase_add_test(tc, test_value_that_is_not_wanted_has_no_flag);
	tcase_add_test(tc, test_value_wanted_again_has_a_new_base);
	tcase_add_test(tc, test_owner_begins_without_values);
	tcase_add_test(tc, test_value_that_is_not_wanted_has_not_fallen);
	tcase_add_test(tc, test_gap_of_more_than_a_second_is_not_guessed);
	tcase_add_test(tc, test_lost_base_is_a_gap);
	tcase_add_test(tc, test_new_owner_is_new_until_it_is_read);
	tcase_add_test(tc, test_overflow_bit_is_no_data);
	tcase_add_test(tc, test_correction_is_monotonic_and_above_its_threshold);
	tcase_add_test(tc, test_units_and_factors_of_registers_in_memory);
	tcase_add_test(tc, test_emulated_flag_is_kept);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
