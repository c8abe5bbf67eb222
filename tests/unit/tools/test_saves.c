// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that cmtstat record has finished: which of them stay, and that they are synced. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/record_sync.h"
#include "recorder/save.h"
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

static char *make_directory(char path[])
{
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static void make_file(const struct saves *saves, const char *name)
{
	int fd = openat(saves->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static bool exists(const struct saves *saves, const char *name)
{
	return !faccessat(saves->dir, name, F_OK, 0);
}

/* Save a file for a rule or a request, and write its name to @name. */
static void save_for(struct saves *saves, bool asked, char name[NAME_MAX + 1])
{
	const struct cmt_chunk head = {
		.bytes = "head", .nr_bytes = 4, .kind = CMT_CHUNK_HEAD,
	};
	const struct cmt_chunk names = {
		.bytes = "names", .nr_bytes = 5, .kind = CMT_CHUNK_NAMES,
		.flags = CMT_CHUNK_ALL_NAMES,
	};
	struct keep keep = { .span_ns = 1000000000, .max_bytes = 1 << 20 };
	struct save save;

	keep_begin(&keep);
	ck_assert_int_eq(keep_add(&keep, &head), 0);
	ck_assert_int_eq(keep_add(&keep, &names), 0);
	ck_assert_int_eq(save_begin(&save, saves, &keep, asked), 0);
	ck_assert_int_eq(save_finish(&save, saves, 0), 0);
	memcpy(name, save.name, NAME_MAX + 1);
	save_close(&save);
	keep_end(&keep);
	usleep(2000);	/* the next name is another one */
}

static void save_file(struct saves *saves, char name[NAME_MAX + 1])
{
	save_for(saves, false, name);
}

/* The clock was set back: the names of earlier files are later than the new one's. */
START_TEST(test_saves_clock_set_back)
{
	static const char *const later[] = {
		"cmt-20990101T000000.000Z.cmt", "cmt-20990102T000000.000Z.cmt",
	};
	char path[] = "/tmp/cmt-saves-XXXXXX", names[3][NAME_MAX + 1];
	struct saves saves;

	ck_assert_int_eq(saves_open(&saves, make_directory(path), 2), 0);
	make_file(&saves, later[0]);
	make_file(&saves, later[1]);
	save_file(&saves, names[0]);
	ck_assert(exists(&saves, names[0]));
	ck_assert(!exists(&saves, later[0]) && exists(&saves, later[1]));
	save_file(&saves, names[1]);
	ck_assert(exists(&saves, names[0]) && exists(&saves, names[1]));
	ck_assert(!exists(&saves, later[1]));
	save_file(&saves, names[2]);
	ck_assert(!exists(&saves, names[0]));
	ck_assert(exists(&saves, names[1]) && exists(&saves, names[2]));
	ck_assert_uint_eq(saves.removed, 3);
	unlinkat(saves.dir, names[1], 0);
	unlinkat(saves.dir, names[2], 0);
	saves_close(&saves);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* Other files stay, and the one that is new does, too. */
START_TEST(test_saves_only_one)
{
	char path[] = "/tmp/cmt-saves-XXXXXX", name[NAME_MAX + 1];
	struct saves saves;

	ck_assert_int_eq(saves_open(&saves, make_directory(path), 1), 0);
	make_file(&saves, "cmt-20000101T000000.000Z.cmt");
	make_file(&saves, "cmt-20990101T000000.000Z.cmt");
	make_file(&saves, "cmt-a.cmt");
	save_file(&saves, name);
	ck_assert(exists(&saves, name) && exists(&saves, "cmt-a.cmt"));
	ck_assert_uint_eq(saves.removed, 2);
	unlinkat(saves.dir, name, 0);
	unlinkat(saves.dir, "cmt-a.cmt", 0);
	saves_close(&saves);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* Requests remove no file of a rule, and rules none of a request. */
START_TEST(test_saves_requests_apart)
{
	char path[] = "/tmp/cmt-saves-XXXXXX", rules[3][NAME_MAX + 1], asked[3][NAME_MAX + 1];
	struct saves saves;

	ck_assert_int_eq(saves_open(&saves, make_directory(path), 2), 0);
	save_for(&saves, false, rules[0]);
	for (int i = 0; i < 3; i++)
		save_for(&saves, true, asked[i]);
	ck_assert(exists(&saves, rules[0]));
	ck_assert(!exists(&saves, asked[0]) && exists(&saves, asked[1]));
	save_for(&saves, false, rules[1]);
	save_for(&saves, false, rules[2]);
	ck_assert(!exists(&saves, rules[0]) && exists(&saves, rules[1]));
	ck_assert(exists(&saves, asked[1]) && exists(&saves, asked[2]));
	ck_assert_uint_eq(saves.removed, 2);
	ck_assert_str_eq(strrchr(rules[1], 'Z'), "Z.cmt");
	ck_assert_str_eq(strrchr(asked[1], 'Z'), "Z-asked.cmt");
	for (int i = 1; i < 3; i++) {
		unlinkat(saves.dir, rules[i], 0);
		unlinkat(saves.dir, asked[i], 0);
	}
	saves_close(&saves);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

static const char *immutable = "";	/* the name of a file that cannot be removed */

int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);

int __wrap_unlinkat(int dir, const char *name, int flags)
{
	if (strcmp(name, immutable))
		return __real_unlinkat(dir, name, flags);
	errno = EPERM;
	return -1;
}

/* Others go in its place, and the first such error is kept.  A directory counts for none. */
START_TEST(test_saves_one_stays)
{
	static const char *const old[] = {
		"cmt-20000101T000000.000Z.cmt", "cmt-20000102T000000.000Z.cmt",
		"cmt-20000103T000000.000Z.cmt",
	};
	char path[] = "/tmp/cmt-saves-XXXXXX", names[3][NAME_MAX + 1];
	struct saves saves;

	ck_assert_int_eq(saves_open(&saves, make_directory(path), 2), 0);
	ck_assert_int_eq(mkdirat(saves.dir, old[0], 0700), 0);
	make_file(&saves, old[1]);
	make_file(&saves, old[2]);
	immutable = old[1];
	for (int i = 0; i < 3; i++)
		save_file(&saves, names[i]);
	ck_assert(exists(&saves, old[0]) && exists(&saves, old[1]));
	ck_assert(!exists(&saves, old[2]) && !exists(&saves, names[0]));
	ck_assert(!exists(&saves, names[1]) && exists(&saves, names[2]));
	ck_assert_uint_eq(saves.removed, 3);
	ck_assert_int_eq(saves.stays_err, -EPERM);
	ck_assert_str_eq(saves.stays, old[1]);
	immutable = "";
	unlinkat(saves.dir, old[0], AT_REMOVEDIR);
	unlinkat(saves.dir, old[1], 0);
	unlinkat(saves.dir, names[2], 0);
	saves_close(&saves);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* A second recorder is refused before it removes the file that the first one writes. */
START_TEST(test_saves_one_recorder)
{
	char path[] = "/tmp/cmt-saves-XXXXXX";
	struct saves saves, second;

	ck_assert_int_eq(saves_open(&saves, make_directory(path), 2), 0);
	make_file(&saves, ".cmt-part");
	ck_assert_int_eq(saves_open(&second, path, 2), -EWOULDBLOCK);
	saves_close(&second);
	ck_assert(exists(&saves, ".cmt-part"));
	saves_close(&saves);
	ck_assert_int_eq(saves_open(&second, path, 2), 0);
	ck_assert(!exists(&second, ".cmt-part"));
	saves_close(&second);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saves");

	UNIT_CASE(suite, test_saves_clock_set_back);
	UNIT_CASE(suite, test_saves_only_one);
	UNIT_CASE(suite, test_saves_requests_apart);
	UNIT_CASE(suite, test_saves_one_stays);
	UNIT_CASE(suite, test_saves_one_recorder);
	UNIT_CASE(suite, test_sync_takes_answers);
	UNIT_CASE(suite, test_sync_disk_is_behind);
	UNIT_CASE(suite, test_sync_failures);
	UNIT_CASE(suite, test_sync_process_is_gone);
	return unit_run(suite);
}
