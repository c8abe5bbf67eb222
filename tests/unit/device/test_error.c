// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors in words, and the version. */
#include <cmt/cmt.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_device.h"
#include "unit.h"

static void setup(void)
{
	fake_setup(1, 64);
}

static struct cmt_error explain(uint32_t call, int err, const char *path)
{
	struct cmt_error error = { .sz = sizeof(error) };

	memset(error.reason, 'x', sizeof(error.reason));
	memset(error.remedy, 'x', sizeof(error.remedy));
	ck_assert_int_eq(cmt_error_explain(&error, call, err, path), 0);
	ck_assert_uint_gt(strlen(error.reason), 0);
	ck_assert_uint_lt(strnlen(error.reason, sizeof(error.reason)),
			  sizeof(error.reason));
	ck_assert_uint_lt(strnlen(error.remedy, sizeof(error.remedy)),
			  sizeof(error.remedy));
	return error;
}

START_TEST(test_strerror)
{
	ck_assert_str_eq(cmt_strerror(0), "Success");
	ck_assert_str_eq(cmt_strerror(-ENOMEM), "Cannot allocate memory");
	ck_assert_str_eq(cmt_strerror(-EPROTO),
			 "the module's answers contradict each other");
	ck_assert_ptr_eq(cmt_strerror(-ENOMEM), cmt_strerror(-ENOMEM));
	ck_assert_str_eq(cmt_strerror(1), "unknown error");
	ck_assert_str_eq(cmt_strerror(-4095), "unknown error");
	ck_assert_str_eq(cmt_strerror(INT_MIN), "unknown error");
	ck_assert_str_eq(cmt_strerror(INT_MAX), "unknown error");
}
END_TEST

/* One errno, one meaning for each call. */
START_TEST(test_calls)
{
	static const struct {
		uint32_t call;
		int err;
		const char *reason, *remedy;	/* parts of them */
	} cases[] = {
		{ CMT_CALL_OPEN, -ENOENT, "module is not loaded", "modprobe" },
		{ CMT_CALL_OPEN, -ENODEV, "module is not loaded", "modprobe" },
		{ CMT_CALL_OPEN, -ENOTTY, "not a cmt device", CMT_DEVICE_PATH },
		{ CMT_CALL_OPEN, -EPROTO, "damaged module", "" },
		{ CMT_CALL_OPEN, -EMFILE, "Too many open files", "" },
		{ CMT_CALL_OPEN_CONTROL, -ENOENT, "not loaded", "modprobe" },
		{ CMT_CALL_CONTROL, -EPERM, "not permitted", "CAP_PERFMON" },
		{ CMT_CALL_CONTROL, -EBADF, "not open for writing",
		  "CMT_OPEN_CONTROL" },
		{ CMT_CALL_CONTROL, -ENOTTY, "older", "one release" },
		{ CMT_CALL_ATTACH, -ENOENT, "no such cgroup", "" },
		{ CMT_CALL_ATTACH, -EPERM, "not permitted", "CAP_PERFMON" },
		{ CMT_CALL_ATTACH, -EEXIST, "already attached", "detach" },
		{ CMT_CALL_DETACH, -ENOENT, "not attached", "cmtctl show" },
		{ CMT_CALL_DETACH, -EBADF, "not open for writing",
		  "CMT_OPEN_CONTROL" },
		{ CMT_CALL_READER, -EBUSY, "has a reader", "Free" },
		{ CMT_CALL_READER, -EPERM, "opened without CAP_PERFMON",
		  "AmbientCapabilities=CAP_PERFMON" },
		{ CMT_CALL_READER, -EPROTO, "contradict", "" },
		{ CMT_CALL_READER, -EXDEV, "time namespace", "nsenter" },
		{ CMT_CALL_OTHER, -ENODEV, "the device is gone", "" },
		{ CMT_CALL_OTHER, 5, "unknown error", "" },
		{ CMT_CALL_RESCTRL, -ENOENT, "not mounted", "mount -t resctrl" },
		{ CMT_CALL_RESCTRL, -EOPNOTSUPP, "no such counters", "" },
		{ CMT_CALL_RESCTRL, -ENODEV, "unmounted", "" },
		{ CMT_CALL_RESCTRL + 1, -ENODEV, "the device is gone", "" },
		{ 1000, -ENODEV, "the device is gone", "" },
		{ UINT32_MAX, -ENOENT, "No such file", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cmt_error error = explain(cases[i].call, cases[i].err,
						 NULL);

		ck_assert_msg(strstr(error.reason, cases[i].reason) &&
			      strstr(error.remedy, cases[i].remedy) &&
			      !cases[i].remedy[0] == !error.remedy[0],
			      "%zu: %s: %s", i, error.reason, error.remedy);
	}
}
END_TEST

/* Who may open the device is asked of the file. */
START_TEST(test_denied)
{
	char path[] = "/tmp/cmt-error-XXXXXX", name[80];
	int fd = mkstemp(path);
	struct cmt_error error;
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0600), 0);
	error = explain(CMT_CALL_OPEN, -EACCES, path);
	ck_assert_str_eq(error.reason, "permission denied");
	ck_assert_str_eq(error.remedy, "Only root may read the device");
	error = explain(CMT_CALL_OPEN_CONTROL, -EACCES, path);
	ck_assert_str_eq(error.remedy, "Only root may change the device");
	if (geteuid() == 0)
		ck_assert_int_eq(fchown(fd, 0, 12345678), 0);
	ck_assert_int_eq(fchmod(fd, 0640), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	error = explain(CMT_CALL_OPEN, -EACCES, path);
	if (geteuid() == 0) {
		ck_assert_ptr_nonnull(strstr(error.remedy,
					     "group 12345678, which"));
		ck_assert_int_eq(fchown(fd, 0, 1), 0);
		ck_assert_int_eq(fchmod(fd, 0640), 0);
		error = explain(CMT_CALL_OPEN, -EACCES, path);
		ck_assert_int_eq(fstat(fd, &st), 0);
	}
	snprintf(name, sizeof(name), "group '%s'. ",
		 getgrgid(st.st_gid)->gr_name);
	ck_assert_msg(!!strstr(error.remedy, name), "%s", error.remedy);
	ck_assert_ptr_nonnull(strstr(error.remedy, "usermod -aG "));
	error = explain(CMT_CALL_OPEN_CONTROL, -EACCES, path);
	ck_assert_str_eq(error.remedy, "Only root may change the device");
	close(fd);
	unlink(path);
	error = explain(CMT_CALL_OPEN, -EACCES, path);
	ck_assert_str_eq(error.remedy,
			 "Root and the group of the device may read the device");
}
END_TEST

START_TEST(test_other_abi)
{
	struct cmt_error error;
	char text[80];

	fake.info.abi_version = (CMT_ABI_MAJOR + 1) << 16 | 3;
	snprintf(text, sizeof(text),
		 "the module speaks ABI %d.3, this library ABI %d.%d",
		 CMT_ABI_MAJOR + 1, CMT_ABI_MAJOR, CMT_ABI_MINOR);
	error = explain(CMT_CALL_OPEN, -EPROTONOSUPPORT, NULL);
	ck_assert_str_eq(error.reason, text);
	ck_assert_ptr_nonnull(strstr(error.remedy, "one release"));
	fake.open_errno = EACCES;
	error = explain(CMT_CALL_OPEN, -EPROTONOSUPPORT, NULL);
	ck_assert_ptr_nonnull(strstr(error.reason, "speaks another ABI"));
}
END_TEST

/* A path that was mistyped says nothing of the module. */
START_TEST(test_other_path)
{
	struct cmt_error error = explain(CMT_CALL_OPEN, -ENOENT, "/dev/cnt");

	ck_assert_str_eq(error.reason, "No such file or directory");
	ck_assert_str_eq(error.remedy, "The device of the cmt module is " CMT_DEVICE_PATH);
	error = explain(CMT_CALL_OPEN, -ENOENT, CMT_DEVICE_PATH);
	ck_assert_ptr_nonnull(strstr(error.reason, "not loaded"));
}
END_TEST

START_TEST(test_error_sizes)
{
	struct cmt_error error = { .sz = 7 };

	ck_assert_int_eq(cmt_error_explain(&error, CMT_CALL_OPEN, -ENOENT,
					   NULL), -EINVAL);
	error.sz = offsetof(struct cmt_error, remedy);
	strcpy(error.remedy, "as it was");
	ck_assert_int_eq(cmt_error_explain(&error, CMT_CALL_OPEN, -ENOENT,
					   NULL), 0);
	ck_assert_ptr_nonnull(strstr(error.reason, "not loaded"));
	ck_assert_str_eq(error.remedy, "as it was");
}
END_TEST

START_TEST(test_version)
{
	char text[40];

	snprintf(text, sizeof(text), "%d.%d.%d", CMT_VERSION_MAJOR,
		 CMT_VERSION_MINOR, CMT_VERSION_PATCH);
	ck_assert_str_eq(text, CMT_VERSION);
	ck_assert_str_eq(cmt_version(), CMT_VERSION);
	ck_assert(CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR, CMT_VERSION_MINOR,
				       CMT_VERSION_PATCH));
	ck_assert(CMT_VERSION_AT_LEAST(0, 0, 0));
	ck_assert(CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR - 1, 99, 99));
	ck_assert(CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR,
				       CMT_VERSION_MINOR - 1, 99));
	ck_assert(!CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR, CMT_VERSION_MINOR,
					CMT_VERSION_PATCH + 1));
	ck_assert(!CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR,
					CMT_VERSION_MINOR + 1, 0));
	ck_assert(!CMT_VERSION_AT_LEAST(CMT_VERSION_MAJOR + 1, 0, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error");
	TCase *tcase = tcase_create("error");

	tcase_add_checked_fixture(tcase, setup, fake_teardown);
	tcase_add_test(tcase, test_strerror);
	tcase_add_test(tcase, test_calls);
	tcase_add_test(tcase, test_denied);
	tcase_add_test(tcase, test_other_abi);
	tcase_add_test(tcase, test_other_path);
	tcase_add_test(tcase, test_error_sizes);
	tcase_add_test(tcase, test_version);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
