// SPDX-License-Identifier: GPL-2.0-or-later
/* The idle time of memory channels, from records to frames, without a device. */
#include <check.h>
#include <cmt/cmt.h>
#include <math.h>
#include <stdlib.h>

#include "unit.h"

#define MS 1000000ULL
#define T0 (100 * MS)
#define EVERY 8		/* ticks from cycles to cycles, as the module has it */

static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static void setup(void)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_PROCESS,
		.interval_ns = 101 * MS, .nr_rmids = 8, .nr_cpus = 4,
		.unit_bytes = 64, .counters = CMT_F_CHANNEL,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
}

static void teardown(void)
{
	cmt_usage_free(usage);
	usage = NULL;
}

static void put_flags(uint64_t ms, uint64_t idle, uint64_t busy, uint32_t flags)
{
	struct cmt_record record = {
		.ts = T0 + ms * MS, .type = CMT_REC_CHANNEL, .flags = flags,
	};

	if (flags & CMT_F_CHANNEL)
		record.channels.read_bytes = 1000 * ms;
	if (flags & CMT_F_CHANNEL_IDLE) {
		record.channels.idle_cycles = idle;
		record.channels.busy_cycles = busy;
	}
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

/* The bytes, and at every eighth ms the cycles. */
static void put(uint64_t ms, uint64_t idle, uint64_t busy)
{
	put_flags(ms, idle, busy, CMT_F_CHANNEL |
		  (ms % EVERY ? 0 : CMT_F_CHANNEL_IDLE));
}

static const struct cmt_usage_channel *close_frame(void)
{
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->nr_channels, 1);
	return cmt_usage_channel_at(frame, 0);
}

static void assert_idle(const struct cmt_usage_idle *idle, uint64_t idle_cycles,
			uint64_t busy_cycles)
{
	ck_assert(idle->known && !idle->partial);
	ck_assert_uint_eq(idle->why, 0);
	ck_assert_uint_eq(idle->idle_cycles, idle_cycles);
	ck_assert_uint_eq(idle->busy_cycles, busy_cycles);
	ck_assert_double_eq_tol(idle->share, (double)idle_cycles /
				(double)(idle_cycles + busy_cycles), 1e-12);
}

static void assert_partial(const struct cmt_usage_idle *idle,
			   uint64_t idle_cycles, uint64_t busy_cycles)
{
	ck_assert(idle->known && idle->partial);
	ck_assert_uint_eq(idle->why & CMT_USAGE_WHY_GAP, CMT_USAGE_WHY_GAP);
	ck_assert_uint_eq(idle->idle_cycles, idle_cycles);
	ck_assert_uint_eq(idle->busy_cycles, busy_cycles);
}

static void assert_unknown(const struct cmt_usage_channel *c, uint32_t why)
{
	ck_assert(!c->idle.known && !c->idle.partial && isnan(c->idle.share));
	ck_assert_uint_eq(c->idle.why, why);
	ck_assert(!c->idle.idle_cycles && !c->idle.busy_cycles);
}

/* Read seldom, and a share of all time all the same; differences go on. */
START_TEST(test_share_of_seldom_readings)
{
	const struct cmt_usage_channel *c;

	for (uint64_t ms = 0; ms <= 96; ms++)
		put(ms, 700 * ms, 300 * ms);
	c = close_frame();
	assert_idle(&c->idle, 67200, 28800);
	ck_assert(c->read.known && !c->why);
	for (uint64_t ms = 97; ms <= 192; ms++)
		put(ms, 67200 + 100 * (ms - 96), 28800 + 900 * (ms - 96));
	assert_idle(&close_frame()->idle, 9600, 86400);
	for (uint64_t ms = 193; ms <= 288; ms++)
		put(ms, 76800, 115200 + (ms - 192));
	c = close_frame();
	assert_idle(&c->idle, 0, 96);
	ck_assert_double_eq(c->idle.share, 0);
}
END_TEST

/* Another processor, or counters that are too narrow: the bytes are known. */
START_TEST(test_bytes_without_cycles)
{
	const struct cmt_usage_channel *c;

	for (uint64_t ms = 0; ms <= 100; ms++)
		put_flags(ms, 0, 0, CMT_F_CHANNEL);
	c = close_frame();
	assert_unknown(c, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert(c->read.known && !c->why);
	ck_assert(frame->memory.read.known);
}
END_TEST

/* One reading, none, and a clock that stands. */
START_TEST(test_no_share_without_difference)
{
	for (uint64_t ms = 1; ms <= 12; ms++)
		put(ms, 10 * ms, 10 * ms);
	assert_unknown(close_frame(), CMT_USAGE_WHY_FIRST);
	for (uint64_t ms = 17; ms <= 23; ms++)
		put(ms, 0, 0);
	assert_unknown(close_frame(), CMT_USAGE_WHY_OLD);
	for (uint64_t ms = 24; ms <= 100; ms++)
		put(ms, 80, 80);
	assert_unknown(close_frame(), CMT_USAGE_WHY_UNAVAILABLE);
}
END_TEST

/* What was counted while the channel was not read is in no share. */
START_TEST(test_rebased)
{
	for (uint64_t ms = 0; ms <= 100; ms++) {
		uint64_t more = ms >= 48 ? 1000000 : 0;
		uint32_t flags = CMT_F_CHANNEL |
				 (ms == 48 ? CMT_F_REBASED : 0) |
				 (ms % EVERY ? 0 : CMT_F_CHANNEL_IDLE);

		put_flags(ms, 5 * ms + more, 2 * ms + more, flags);
	}
	/* from 0 to 40, and from 48 to 96 */
	assert_partial(&close_frame()->idle, 5 * 88, 2 * 88);
}
END_TEST

/* Another program takes the box, and then it is free. */
START_TEST(test_box_taken_by_other_program)
{
	const struct cmt_usage_channel *c;

	for (uint64_t ms = 0; ms < 48; ms++)
		put(ms, 3 * ms, ms);
	put_flags(48, 0, 0, CMT_F_UNAVAILABLE);
	put_flags(100, 0, 0, CMT_F_UNAVAILABLE);
	c = close_frame();
	assert_partial(&c->idle, 120, 40);
	ck_assert_uint_eq(c->idle.why & CMT_USAGE_WHY_UNAVAILABLE,
			  CMT_USAGE_WHY_UNAVAILABLE);
	put_flags(150, 0, 0, CMT_F_UNAVAILABLE);
	put_flags(200, 0, 0, CMT_F_UNAVAILABLE);
	assert_unknown(close_frame(), CMT_USAGE_WHY_UNAVAILABLE);
	put_flags(208, 120, 40, CMT_F_CHANNEL | CMT_F_CHANNEL_IDLE |
		  CMT_F_REBASED);
	for (uint64_t ms = 209; ms <= 296; ms++)
		put(ms, 120 + 3 * (ms - 208), 40 + (ms - 208));
	assert_partial(&close_frame()->idle, 264, 88);
	for (uint64_t ms = 297; ms <= 392; ms++)
		put(ms, 120 + 3 * (ms - 208), 40 + (ms - 208));
	assert_idle(&close_frame()->idle, 288, 96);
}
END_TEST

/* Another program had the box between two readings: that time is in no share. */
START_TEST(test_box_taken_between_readings)
{
	for (uint64_t ms = 0; ms < 48; ms++)
		put(ms, 3 * ms, ms);
	put_flags(48, 0, 0, CMT_F_UNAVAILABLE);
	for (uint64_t ms = 49; ms <= 100; ms++)
		put(ms, 3 * ms, ms);
	/* from 0 to 40, and from 56 to 96 */
	assert_partial(&close_frame()->idle, 240, 80);
}
END_TEST

/* Sums that go back are no sums; and the largest ones are some. */
START_TEST(test_hostile_values)
{
	for (uint64_t ms = 0; ms <= 96; ms++)
		put(ms, 100 - ms, ms);
	assert_unknown(close_frame(), CMT_USAGE_WHY_FIRST);
	for (uint64_t ms = 97; ms <= 104; ms++)
		put(ms, 0, 0);
	for (uint64_t ms = 105; ms <= 200; ms++)
		put(ms, UINT64_MAX, UINT64_MAX);
	assert_partial(&close_frame()->idle, UINT64_MAX, UINT64_MAX);
	ck_assert_double_eq(cmt_usage_channel_at(frame, 0)->idle.share, 0.5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_idle");
	TCase *tcase = tcase_create("usage_idle");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_share_of_seldom_readings);
	tcase_add_test(tcase, test_bytes_without_cycles);
	tcase_add_test(tcase, test_no_share_without_difference);
	tcase_add_test(tcase, test_rebased);
	tcase_add_test(tcase, test_box_taken_by_other_program);
	tcase_add_test(tcase, test_box_taken_between_readings);
	tcase_add_test(tcase, test_hostile_values);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
