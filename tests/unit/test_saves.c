// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that cmtstat record has finished: which of them stay, and that they are synced. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "record_sync.h"
#include "save.h"
#include "unit.h"

#define FILES 600

/* A file without a name: its space is free when all descriptors are closed. */
static int unnamed_file(void)
{
	char path[] = "/tmp/cmt-saves-XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(write(fd, path, sizeof(path)), (int)sizeof(path));
	return fd;
}

/* Returns as record_sync_hand(). */
static int hand_over(struct record_sync *sync)
{
	int fd = unnamed_file(), ret = record_sync_hand(sync, fd, "a");

	close(fd);
	return ret;
}

START_TEST(test_sync_takes_answers)
{
	struct record_sync sync;
	int fds = unit_open_fds();

	ck_assert_int_eq(record_sync_begin(&sync, false), 0);
	for (int i = 0; i < FILES; i++) {
		int ret = hand_over(&sync);

		ck_assert_msg(!ret || ret == -EAGAIN, "%d", ret);
		ck_assert_uint_le(sync.asked, RECORD_SYNC_MOST);
		if (ret)
			ck_assert_int_eq(record_sync_failed(&sync, true), 0);
	}
	ck_assert_int_eq(record_sync_failed(&sync, true), 0);
	ck_assert_uint_eq(sync.asked, 0);
	ck_assert_int_eq(record_sync_end(&sync), 0);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

START_TEST(test_sync_disk_is_behind)
{
	struct record_sync sync;
	int handed = 0;

	ck_assert_int_eq(record_sync_begin(&sync, false), 0);
	ck_assert_int_eq(kill(sync.pid, SIGSTOP), 0);
	for (int i = 0; i < FILES; i++) {
		int ret = hand_over(&sync);

		ck_assert_int_eq(ret, i < RECORD_SYNC_MOST ? 0 : -EAGAIN);
		handed += !ret;
		ck_assert_int_eq(record_sync_failed(&sync, false), 0);
	}
	ck_assert_int_eq(handed, RECORD_SYNC_MOST);
	ck_assert_int_eq(kill(sync.pid, SIGCONT), 0);
	ck_assert_int_eq(record_sync_failed(&sync, true), 0);
	ck_assert_uint_eq(sync.asked, 0);
	ck_assert_int_eq(hand_over(&sync), 0);
	ck_assert_int_eq(record_sync_end(&sync), 0);
}
END_TEST

/* fdatasync(2) of a pipe fails.  Each failure is reported once, with its name. */
START_TEST(test_sync_failures)
{
	struct record_sync sync;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(record_sync_begin(&sync, false), 0);
	ck_assert_int_eq(record_sync_hand(&sync, fds[1], "first"), 0);
	ck_assert_int_eq(record_sync_hand(&sync, fds[1], "second"), 0);
	ck_assert_int_eq(hand_over(&sync), 0);
	ck_assert_int_eq(record_sync_failed(&sync, true), -EINVAL);
	ck_assert_str_eq(sync.failed, "first");
	ck_assert_int_eq(record_sync_failed(&sync, true), -EINVAL);
	ck_assert_str_eq(sync.failed, "second");
	ck_assert_int_eq(record_sync_failed(&sync, true), 0);
	ck_assert_int_eq(record_sync_hand(&sync, fds[1], "third"), 0);
	ck_assert_int_eq(record_sync_end(&sync), -EINVAL);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(test_sync_process_is_gone)
{
	struct record_sync sync;

	ck_assert_int_eq(record_sync_begin(&sync, false), 0);
	ck_assert_int_eq(kill(sync.pid, SIGSTOP), 0);
	ck_assert_int_eq(hand_over(&sync), 0);
	ck_assert_int_eq(kill(sync.pid, SIGKILL), 0);
	ck_assert_int_eq(record_sync_failed(&sync, true), -EPIPE);
	ck_assert_str_eq(sync.failed, "");
	ck_assert_int_eq(hand_over(&sync), -EPIPE);
	ck_assert_int_eq(record_sync_end(&sync), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saves");

	UNIT_CASE(suite, test_sync_takes_answers);
	UNIT_CASE(suite, test_sync_disk_is_behind);
	UNIT_CASE(suite, test_sync_failures);
	UNIT_CASE(suite, test_sync_process_is_gone);
	return unit_run(suite);
}
