// SPDX-License-Identifier: GPL-2.0-or-later
/* The duties of cmt-exporter on a machine that is too slow for them: none takes all the time. */
#include <check.h>
#include <time.h>

#include "exporter/collect.h"
#include "unit.h"

#define S	1000000000ULL
#define STEP_NS	(EXPORTER_TURN_NS / 4)	/* of one frame, or one batch */

static uint64_t now_ns;
static unsigned int taken;	/* frames, or batches: there are always more */
static struct cmt_usage_frame frame;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **next);
int __wrap_capture_pump(struct capture *capture);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = (time_t)(now_ns / S);
	ts->tv_nsec = (long)(now_ns % S);
	return 0;
}

static int take_one(void)
{
	/* a turn without an end must fail, not hang */
	ck_assert_uint_lt(++taken, 1000);
	now_ns += STEP_NS;
	return 1;
}

int __wrap_cmt_usage_next(struct cmt_usage *usage, const struct cmt_usage_frame **next)
{
	(void)usage;
	*next = &frame;
	return take_one();
}

int __wrap_capture_pump(struct capture *capture)
{
	(void)capture;
	return take_one();
}

static void setup(void)
{
	now_ns = 1000 * S;
	taken = 0;
	frame = (struct cmt_usage_frame){ .nr_cpus = 1, .brief = true };
}

START_TEST(test_milliseconds)
{
	static const struct exporter_config config = { .culprit = true };
	/* is not looked at */
	struct fine fine = { .config = &config, .usage = (struct cmt_usage *)&fine };

	ck_assert_int_eq(fine_take(&fine), 0);
	ck_assert_uint_eq(taken, EXPORTER_TURN_NS / STEP_NS);
	ck_assert_uint_eq(fine.frames, taken);
	/* it goes on at once, after the others */
	ck_assert_uint_eq(fine_due_ns(&fine), now_ns);
}
END_TEST

START_TEST(test_page)
{
	/* is not looked at */
	struct recent recent = { .dev = (struct cmt_device *)&recent };

	ck_assert_int_eq(recent_take(&recent), 0);
	ck_assert_uint_eq(taken, EXPORTER_TURN_NS / STEP_NS);
	ck_assert_uint_eq(recent_due_ns(&recent), now_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("turns");
	TCase *tcase = tcase_create("turns");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_milliseconds);
	tcase_add_test(tcase, test_page);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
