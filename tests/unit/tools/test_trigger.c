// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules of a flight recorder whose readings fail, or do not end: the recorder is told. */
#include <check.h>
#include <errno.h>

#include "recorder/trigger.h"
#include "unit.h"

#define MS 1000000ULL

static int next_ret, next_timeout = 5, nexts, judged;
static uint32_t next_sampling_ns;
static uint64_t now_ns = 5000 * MS;

int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **frame);
int __wrap_cmt_usage_timeout(const struct cmt_usage *usage);
int __wrap_cmt_usage_refresh(struct cmt_usage *usage, unsigned int what);
int __wrap_cmt_culprit_add_frame(struct cmt_culprit *culprit,
				 const struct cmt_usage_frame *frame);
int __wrap_cmt_culprit_next(struct cmt_culprit *culprit,
			    const struct cmt_culprit_verdict **verdict);
uint64_t __wrap_clock_ns(clockid_t clock);

/* A frame takes 1 ms. */
int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **frame)
{
	static struct cmt_usage_frame none = { .brief = true };

	(void)usage;
	none.end_ns = now_ns;
	none.sampling_ns = next_sampling_ns;
	*frame = &none;
	now_ns += MS;
	nexts++;
	return next_ret;
}

int __wrap_cmt_usage_timeout(const struct cmt_usage *usage)
{
	(void)usage;
	return next_timeout;
}

int __wrap_cmt_usage_refresh(struct cmt_usage *usage, unsigned int what)
{
	(void)usage;
	(void)what;
	return 0;
}

int __wrap_cmt_culprit_add_frame(struct cmt_culprit *culprit,
				 const struct cmt_usage_frame *frame)
{
	(void)culprit;
	(void)frame;
	judged++;
	return 0;
}

int __wrap_cmt_culprit_next(struct cmt_culprit *culprit,
			    const struct cmt_culprit_verdict **verdict)
{
	(void)culprit;
	(void)verdict;
	return 0;
}

uint64_t __wrap_clock_ns(clockid_t clock)
{
	(void)clock;
	return now_ns;
}

static void check_error_is_told(struct trigger *trigger)
{
	next_ret = -ENOMEM;
	ck_assert_ptr_null(trigger_pump(trigger));
	ck_assert_int_eq(trigger->err, -ENOMEM);
	next_ret = 0;
	ck_assert_ptr_null(trigger_pump(trigger));
	ck_assert_int_eq(trigger->err, 0);
}

START_TEST(test_watch_fails)
{
	struct trigger trigger = { .watching = true };

	check_error_is_told(&trigger);
}
END_TEST

START_TEST(test_usage_fails)
{
	/* never looked into here */
	struct trigger trigger = { .usage = (struct cmt_usage *)&next_ret };

	check_error_is_told(&trigger);
}
END_TEST

/*
 * Records come as fast as they are read, of many frames or of one: after 10 ms it is the
 * recorder's turn.
 */
static void check_turn_ends(struct trigger *trigger)
{
	for (next_ret = 0; next_ret < 2; next_ret++) {
		next_timeout = next_ret ? 5 : 0;
		nexts = 0;
		trigger_pump(trigger);
		ck_assert_int_ge(nexts, 5);
		ck_assert_int_le(nexts, 12);
		ck_assert(trigger->more);
	}
	next_ret = 0;
	trigger_pump(trigger);
	ck_assert(!trigger->more);
}

/* The sampling interval changes while the recorder runs. */
START_TEST(test_coarse_is_not_judged)
{
	struct trigger trigger = { .watching = true };

	next_ret = 1;
	next_sampling_ns = 10 * MS;
	judged = 0;
	trigger_pump(&trigger);
	ck_assert(trigger.coarse);
	ck_assert_int_eq(judged, 0);
	next_sampling_ns = MS;
	trigger_pump(&trigger);
	ck_assert(!trigger.coarse);
	ck_assert_int_gt(judged, 0);
	next_ret = 0;
	next_sampling_ns = 0;
}
END_TEST

START_TEST(test_watch_is_bounded)
{
	struct trigger trigger = { .watching = true };

	check_turn_ends(&trigger);
}
END_TEST

START_TEST(test_usage_is_bounded)
{
	struct trigger trigger = { .usage = (struct cmt_usage *)&next_ret };

	check_turn_ends(&trigger);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trigger");

	UNIT_CASE(suite, test_watch_fails);
	UNIT_CASE(suite, test_usage_fails);
	UNIT_CASE(suite, test_coarse_is_not_judged);
	UNIT_CASE(suite, test_watch_is_bounded);
	UNIT_CASE(suite, test_usage_is_bounded);
	return unit_run(suite);
}
