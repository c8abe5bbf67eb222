// SPDX-License-Identifier: GPL-2.0-or-later
/* When waiting is accounted that could not be at first (module/scope/waits.c). */
#include <check.h>
#include <errno.h>

#include <linux/workqueue.h>

#include "scope/scope.h"
#include "unit.h"

#define NO_MEMORY	"no memory to account waiting"

static bool has_memory, accounted;
static int wakeup_error, switch_error;
static const char *reason;	/* as cmt_perf_set_waits() has it */
static u32 tries;

const char *cmt_wait_alloc(void)
{
	tries++;
	return has_memory ? NULL : NO_MEMORY;
}

void cmt_wait_free(void)
{
}

void cmt_wait_begin(void)
{
}

int cmt_probes_add_wakeup(void)
{
	return wakeup_error;
}

void cmt_probes_remove_wakeup(void)
{
}

int cmt_probes_account_waits(bool waits)
{
	accounted = waits && !switch_error;
	return waits ? switch_error : 0;
}

void cmt_perf_set_waits(const char *why)
{
	reason = why;
}

static void set_up(void)
{
	has_memory = true;
	reason = "not asked for";
}

/* Tried again each second while a descriptor asks, and not after it has succeeded */
static void check_later(const char *why)
{
	bool here = false;

	cmt_waits_want(&here, true);
	ck_assert_uint_eq(tries, 1);
	ck_assert_str_eq(reason, why);
	shim_pass(1000);
	ck_assert_uint_eq(tries, 2);
	ck_assert_str_eq(reason, why);
	has_memory = true;
	wakeup_error = switch_error = 0;
	shim_pass(999);
	ck_assert_uint_eq(tries, 2);
	shim_pass(1);
	ck_assert_uint_eq(tries, 3);
	ck_assert(accounted && !reason);
	shim_pass(5000);
	ck_assert_uint_eq(tries, 3);
	cmt_waits_want(&here, false);
	ck_assert(accounted);
	shim_pass(2000);
	ck_assert(!accounted);
	ck_assert_str_eq(reason, "not asked for");
}

START_TEST(test_no_memory)
{
	has_memory = false;
	check_later(NO_MEMORY);
}
END_TEST

START_TEST(test_wakeups_refused)
{
	wakeup_error = -ENOMEM;
	check_later("no tracepoint of wake-ups");
}
END_TEST

START_TEST(test_switches_refused)
{
	switch_error = -ENOMEM;
	check_later("no tracepoint of switches");
}
END_TEST

/* What this kernel does not have is asked for once. */
START_TEST(test_no_tracepoint)
{
	bool here = false;

	wakeup_error = -ENOENT;
	cmt_waits_want(&here, true);
	shim_pass(5000);
	ck_assert_uint_eq(tries, 1);
	ck_assert_str_eq(reason, "no tracepoint of wake-ups");
}
END_TEST

/* Nobody asks any more. */
START_TEST(test_given_up)
{
	bool here = false;

	has_memory = false;
	cmt_waits_want(&here, true);
	cmt_waits_want(&here, false);
	has_memory = true;
	shim_pass(1000);
	shim_pass(5000);
	ck_assert_uint_eq(tries, 1);
	/* at the unload */
	has_memory = false;
	cmt_waits_want(&here, true);
	cmt_waits_stop();
	shim_pass(5000);
	ck_assert_uint_eq(tries, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits");
	TCase *tcase = tcase_create("begin");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_no_memory);
	tcase_add_test(tcase, test_wakeups_refused);
	tcase_add_test(tcase, test_switches_refused);
	tcase_add_test(tcase, test_no_tracepoint);
	tcase_add_test(tcase, test_given_up);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
