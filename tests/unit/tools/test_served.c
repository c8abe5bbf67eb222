// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of cmt-exporter: how long it is served, and the child that makes it. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exporter/served.h"
#include "report/report.h"
#include "unit.h"

#define S 1000000000ULL

static struct served served;
static struct recent recent;
static struct http_report page;
static uint64_t skew_ns;	/* of CLOCK_MONOTONIC */

/* What the child does, as it is at its begin */
static size_t bytes;	/* of the page */
static bool stuck;	/* it does not end */
static int read_err;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);
	uint64_t ns = (uint64_t)ts->tv_nsec + skew_ns;

	if (clock != CLOCK_MONOTONIC)
		return ret;
	ts->tv_sec += (time_t)(ns / S);
	ts->tv_nsec = (long)(ns % S);
	return ret;
}

int recent_flush(struct recent *of)
{
	(void)of;
	return 0;
}

int recent_write(struct recent *of, int fd)
{
	(void)of;
	(void)fd;
	return 0;
}

int replay_open_fd(struct replay *replay, int fd, const char *name)
{
	(void)fd;
	(void)name;
	*replay = (struct replay){ .about.start_ns = 1, .about.end_ns = 2 };
	return 0;
}

int report_open(struct report *report, struct replay *replay, const struct report_opts *opts)
{
	(void)report;
	(void)replay;
	(void)opts;
	while (stuck)
		pause();
	return read_err;
}

int report_write(struct report *report, FILE *out, uint64_t limit)
{
	(void)report;
	(void)limit;
	for (size_t i = 0; i < bytes; i++)
		putc('\n', out);
	return 0;
}

static void setup(void)
{
	recent = (struct recent){ 0 };
	skew_ns = 0;
	bytes = 1000;
	stuck = false;
	read_err = 0;
	served_open(&served, &recent);
}

static void teardown(void)
{
	served_close(&served);
}

/* As a client who asks again. */
static int ask(void)
{
	return served_report(&served, true, &page);
}

/* Ask, and wait for the child's end. */
static int ask_and_wait(void)
{
	struct pollfd ended;

	ck_assert_int_eq(ask(), -EAGAIN);
	ended = (struct pollfd){ .fd = child_fd(&served.child), .events = POLLIN };
	ck_assert_int_eq(poll(&ended, 1, -1), 1);
	return ask();
}

START_TEST(test_served_for_ten_seconds)
{
	uint64_t version;

	ck_assert_int_eq(served_report(&served, false, &page), -EAGAIN);
	ck_assert_int_eq(served.child.pid, 0);
	ck_assert_int_eq(ask_and_wait(), 0);
	ck_assert_uint_eq(page.bytes, 1000);
	ck_assert_ptr_nonnull(strstr(page.policy, "default-src 'none'"));
	version = page.version;
	skew_ns = 9 * S;
	ck_assert_int_eq(ask(), 0);
	ck_assert_uint_eq(page.version, version);
	skew_ns = 10 * S;
	ck_assert_int_eq(served_report(&served, false, &page), -EAGAIN);
	ck_assert_int_eq(served.fd, -1);
	ck_assert_int_eq(ask_and_wait(), 0);
	ck_assert_uint_ne(page.version, version);
}
END_TEST

START_TEST(test_served_one_child)
{
	pid_t pid;

	stuck = true;
	ck_assert_int_eq(ask(), -EAGAIN);
	pid = served.child.pid;
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(ask(), -EAGAIN);
	ck_assert_int_eq(served.child.pid, pid);
	served_close(&served);
	ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

START_TEST(test_served_time_limit)
{
	pid_t pid;

	stuck = true;
	ck_assert_int_eq(ask(), -EAGAIN);
	pid = served.child.pid;
	ck_assert_uint_le(child_wait_ns(&served.child), 60 * S);
	skew_ns = 59 * S;
	ck_assert_int_eq(ask(), -EAGAIN);
	skew_ns = 60 * S;
	ck_assert_int_eq(ask(), -ETIMEDOUT);
	ck_assert_int_eq(kill(pid, 0), -1);
	/* for a second, and is then made again */
	stuck = false;
	ck_assert_int_eq(ask(), -ETIMEDOUT);
	skew_ns = 61 * S;
	ck_assert_int_eq(ask_and_wait(), 0);
}
END_TEST

START_TEST(test_served_failures)
{
	pid_t pid;

	read_err = -ENODATA;
	ck_assert_int_eq(ask_and_wait(), -ENODATA);
	skew_ns = S;
	read_err = -ENOMEM;
	ck_assert_int_eq(ask_and_wait(), -ENOMEM);
	skew_ns = 2 * S;
	stuck = true;
	ck_assert_int_eq(ask(), -EAGAIN);
	pid = served.child.pid;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	poll(&(struct pollfd){ .fd = child_fd(&served.child), .events = POLLIN }, 1, -1);
	ck_assert_int_eq(ask(), -ECHILD);
}
END_TEST

START_TEST(test_served_bytes)
{
	bytes = SERVED_BYTES;
	ck_assert_int_eq(ask_and_wait(), 0);
	ck_assert_uint_eq(page.bytes, SERVED_BYTES);
	skew_ns = 10 * S;
	bytes = SERVED_BYTES + 1;
	ck_assert_int_eq(ask_and_wait(), -EFBIG);
	skew_ns = 11 * S;
	bytes = 0;
	ck_assert_int_eq(ask_and_wait(), -EFBIG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("served");
	TCase *tcase = tcase_create("served");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_served_for_ten_seconds);
	tcase_add_test(tcase, test_served_one_child);
	tcase_add_test(tcase, test_served_time_limit);
	tcase_add_test(tcase, test_served_failures);
	tcase_add_test(tcase, test_served_bytes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
