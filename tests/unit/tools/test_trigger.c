// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules of a flight recorder whose readings fail: the recorder is told. */
#include <check.h>
#include <errno.h>

#include "trigger.h"
#include "unit.h"

static int next_ret;

int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **frame);

int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **frame)
{
	(void)usage;
	(void)frame;
	return next_ret;
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

int main(void)
{
	Suite *suite = suite_create("trigger");

	UNIT_CASE(suite, test_watch_fails);
	UNIT_CASE(suite, test_usage_fails);
	return unit_run(suite);
}
