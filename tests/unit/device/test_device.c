// SPDX-License-Identifier: GPL-2.0-or-later
/* The device: errors, answers that contradict each other, what is sent. */
#include <cmt/device.h>
#include <cmt/pqos_cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "fake_device.h"
#include "unit.h"

static struct cmt_device *dev;

static void setup(void)
{
	fake_setup(2, 64);
	dev = NULL;
}

static void teardown(void)
{
	cmt_device_close(dev);
	fake_teardown();
}

static void open_ok(unsigned int flags)
{
	ck_assert_int_eq(cmt_device_open(&dev, NULL, flags), 0);
}

/* Opening fails with @err and stores nothing. */
static void open_fails(int err)
{
	struct cmt_device *d = NULL;

	ck_assert_int_eq(cmt_device_open(&d, NULL, 0), err);
	ck_assert_ptr_null(d);
}

START_TEST(test_open_modes)
{
	open_ok(0);
	ck_assert_int_eq(fake.open_flags & O_ACCMODE, O_RDONLY);
	ck_assert(fake.open_flags & O_CLOEXEC);
	ck_assert_int_ge(cmt_device_fd(dev), 0);
	ck_assert_uint_eq(cmt_device_info(dev)->nr_cpus, 2);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(fake.open_flags & O_ACCMODE, O_RDWR);
	cmt_device_close(NULL);
}
END_TEST

START_TEST(test_open_errors)
{
	struct cmt_device *d = NULL;

	ck_assert_int_eq(cmt_device_open(&d, NULL, 2), -EINVAL);
	fake.open_errno = EACCES;
	open_fails(-EACCES);
	fake.open_errno = ENOENT;
	open_fails(-ENOENT);
	fake.open_errno = 0;
	fake.ioctl_errno = ENOTTY;
	open_fails(-ENOTTY);
	fake.ioctl_errno = ENODEV;
	open_fails(-ENODEV);
	ck_assert_int_eq(cmt_device_open(&d, "/nonexistent", 0), -ENOENT);
	ck_assert_ptr_null(d);
}
END_TEST

START_TEST(test_abi_mismatch)
{
	uint32_t abi = 0;

	fake.info.abi_version = (CMT_ABI_MAJOR + 1) << 16 | 3;
	open_fails(-EPROTONOSUPPORT);
	ck_assert_int_eq(cmt_device_abi(NULL, &abi), 0);
	ck_assert_uint_eq(abi, (CMT_ABI_MAJOR + 1) << 16 | 3);
	/* A higher minor number only adds. */
	fake.info.abi_version = CMT_ABI_VERSION + 1;
	open_ok(0);
	fake.ioctl_errno = ENOTTY;
	ck_assert_int_eq(cmt_device_abi(NULL, &abi), -ENOTTY);
	fake.open_errno = EACCES;
	ck_assert_int_eq(cmt_device_abi(NULL, &abi), -EACCES);
}
END_TEST

#define INFO(field, value) { #field, offsetof(struct cmt_info, field), \
	sizeof(((struct cmt_info *)0)->field), value }

static const struct {
	const char *name;
	size_t offset, size;
	uint64_t value;
} contradictions[] = {
	INFO(size, 8),
	INFO(nr_cpus, 0),
	INFO(nr_cpus, 65537),
	INFO(nr_rmids, 1),
	INFO(nr_rmids, 65537),
	INFO(rmids_usable, 64),
	INFO(ring_records, 0),
	INFO(ring_records, 1),
	INFO(ring_records, 63),
	INFO(ring_records, 128),
	INFO(ring_records, 131072),
	INFO(ring_bytes, 0),
	INFO(ring_bytes, 4096),
	INFO(ring_bytes, 1ULL << 40),
	INFO(interval_min_ns, 0),
	INFO(interval_max_ns, 5),
};

START_TEST(test_info_contradictions)
{
	for (size_t i = 0; i < sizeof(contradictions) /
			       sizeof(contradictions[0]); i++) {
		struct cmt_info good = fake.info;
		struct cmt_device *d = NULL;

		memcpy((char *)&fake.info + contradictions[i].offset,
		       &contradictions[i].value, contradictions[i].size);
		ck_assert_msg(cmt_device_open(&d, NULL, 0) == -EPROTO,
			      "%s", contradictions[i].name);
		fake.info = good;
	}
	open_ok(0);
}
END_TEST

/* More than any machine has */
START_TEST(test_info_greatest)
{
	fake.info.nr_rmids = 65536;
	fake.info.rmids_usable = 65535;
	open_ok(0);
	ck_assert_uint_eq(cmt_device_info(dev)->nr_rmids, 65536);
}
END_TEST

START_TEST(test_info_strings_terminated)
{
	memset(fake.info.reason, 'x', sizeof(fake.info.reason));
	memset(fake.info.mbm_reason, 'x', sizeof(fake.info.mbm_reason));
	memset(fake.info.wait_reason, 'x', sizeof(fake.info.wait_reason));
	memset(fake.info.module_version, 'x',
	       sizeof(fake.info.module_version));
	open_ok(0);
	ck_assert_uint_eq(strlen(cmt_device_info(dev)->reason), 63);
	ck_assert_uint_eq(strlen(cmt_device_info(dev)->mbm_reason), 63);
	ck_assert_uint_eq(strlen(cmt_device_info(dev)->wait_reason), 63);
	ck_assert_uint_eq(strlen(cmt_device_info(dev)->module_version), 15);
}
END_TEST

START_TEST(test_stats)
{
	struct cmt_stats stats = { .size = sizeof(stats) };

	fake.stats.allocs = 42;
	open_ok(0);
	ck_assert_int_eq(cmt_device_stats(dev, &stats), 0);
	ck_assert_uint_eq(stats.allocs, 42);
	ck_assert_uint_eq(stats.size, sizeof(stats));
	fake.ioctl_errno = ENODEV;
	ck_assert_int_eq(cmt_device_stats(dev, &stats), -ENODEV);
	stats.size = CMT_STATS_SIZE - 1;
	ck_assert_int_eq(cmt_device_stats(dev, &stats), -EINVAL);
}
END_TEST

/* The module is older than this program: what it does not know is 0. */
START_TEST(test_older_module)
{
	struct {
		struct cmt_stats known;
		uint64_t newer[4];
	} stats;

	open_ok(0);
	memset(&stats, 0xff, sizeof(stats));
	stats.known.size = sizeof(stats);
	fake.stats.lock_held_ns = 7;
	ck_assert_int_eq(cmt_device_stats(dev, &stats.known), 0);
	ck_assert_uint_eq(stats.known.size, CMT_STATS_SIZE);
	ck_assert_uint_eq(stats.known.lock_held_ns, 7);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(stats.newer[i], 0);

	/* it says that it wrote less than what was there from the first on */
	fake.stats_size = CMT_STATS_SIZE - 8;
	ck_assert_int_eq(cmt_device_stats(dev, &stats.known), -EPROTO);
}
END_TEST

/* The module is newer: it writes no more than this program knows. */
START_TEST(test_newer_module)
{
	struct {
		struct cmt_stats stats;
		uint64_t behind;
	} known = { .stats.size = CMT_STATS_SIZE, .behind = 0x55 };

	fake.more = 16;
	open_ok(0);
	fake.stats.lock_held_ns = 7;
	ck_assert_int_eq(cmt_device_stats(dev, &known.stats), 0);
	ck_assert_uint_eq(known.stats.lock_held_ns, 7);
	ck_assert_uint_eq(known.stats.size, CMT_STATS_SIZE);
	ck_assert_uint_eq(known.behind, 0x55);
}
END_TEST

START_TEST(test_resctrl)
{
	uint32_t mode = 0;
	bool mounted = true;

	open_ok(0);
	ck_assert_int_eq(cmt_device_set_resctrl(dev, CMT_RESCTRL_TAKE), -EBADF);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_device_resctrl(dev, &mode, &mounted), 0);
	ck_assert_uint_eq(mode, CMT_RESCTRL_RESPECT);
	ck_assert(!mounted);
	ck_assert_int_eq(cmt_device_set_resctrl(dev, 0), -EINVAL);
	ck_assert_int_eq(cmt_device_set_resctrl(dev, CMT_RESCTRL_TAKE), 0);
	fake.info.resctrl_mounted = 1;
	ck_assert_int_eq(cmt_device_resctrl(dev, &mode, &mounted), 0);
	ck_assert_uint_eq(mode, CMT_RESCTRL_TAKE);
	ck_assert(mounted);
	ck_assert_int_eq(cmt_device_resctrl(dev, &mode, NULL), 0);
	fake.ioctl_errno = EPERM;
	ck_assert_int_eq(cmt_device_set_resctrl(dev, CMT_RESCTRL_TAKE), -EPERM);
	ck_assert_int_eq(cmt_device_resctrl(dev, &mode, NULL), -EPERM);
}
END_TEST

START_TEST(test_counters)
{
	const uint32_t all = CMT_F_CYCLES | CMT_F_INSTRUCTIONS |
			     CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES;
	char reason[CMT_REASON_LEN];
	uint32_t counters = 1;

	open_ok(0);
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), 0);
	ck_assert_uint_eq(counters, 0);
	ck_assert_str_eq(reason, "");
	fake.uncounted = CMT_F_LLC_MISSES;
	ck_assert_int_eq(cmt_device_set_counters(dev, all), 0);
	ck_assert_uint_eq(fake.counters, all);
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), 0);
	ck_assert_uint_eq(counters, all & ~CMT_F_LLC_MISSES);
	ck_assert_str_eq(reason, "no such counter");
	ck_assert_int_eq(cmt_device_set_counters(dev, 1), -EINVAL);
	ck_assert_uint_eq(fake.counters, all);
	ck_assert_int_eq(cmt_device_set_counters(dev, 0), 0);
	ck_assert_int_eq(cmt_device_counters(dev, &counters, NULL), 0);
	ck_assert_uint_eq(counters, 0);
	memset(fake.info.perf_reason, 'x', sizeof(fake.info.perf_reason));
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), 0);
	ck_assert_uint_eq(strlen(reason), CMT_REASON_LEN - 1);
	fake.ioctl_errno = EPERM;
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), -EPERM);
	ck_assert_int_eq(cmt_device_set_counters(dev, all), -EPERM);
}
END_TEST

/* A module that is older cannot be asked, and cannot say why. */
START_TEST(test_counters_of_older_module)
{
	char reason[CMT_REASON_LEN] = "";
	uint32_t counters = 1;

	fake.old = true;
	open_ok(0);
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), 0);
	ck_assert_str_eq(reason, "");
	ck_assert_int_eq(cmt_device_set_counters(dev, CMT_F_CYCLES), -ENOTTY);
	ck_assert_int_eq(cmt_device_counters(dev, &counters, reason), 0);
	ck_assert_uint_eq(counters, 0);
	ck_assert_str_eq(reason, "the module is older and cannot count");
}
END_TEST

START_TEST(test_values)
{
	open_ok(0);
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_OCCUPANCY), 0);
	ck_assert_uint_eq(fake.values, CMT_F_OCCUPANCY);
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL), 0);
	ck_assert_uint_eq(fake.values, CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL);
	ck_assert_int_eq(cmt_device_set_values(dev, 0), -EINVAL);
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_OCCUPANCY | CMT_F_CYCLES), -EINVAL);
	ck_assert_uint_eq(fake.values, CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL);
	fake.ioctl_errno = EPERM;
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_OCCUPANCY), -EPERM);
	fake.ioctl_errno = 0;
	fake.old = true;
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_OCCUPANCY), -ENOTTY);
}
END_TEST

START_TEST(test_cgroup_path)
{
	char path[8] = "xxxxxxx";

	open_ok(0);
	ck_assert_int_eq(cmt_device_cgroup_path(dev, 7001, path, 5), 0);
	ck_assert_str_eq(path, "/a/b");
	ck_assert_int_eq(cmt_device_cgroup_path(dev, 7001, path, 4), -ENOSPC);
	ck_assert_int_eq(cmt_device_cgroup_path(dev, 7002, path, 8), -ENOENT);
	/* not terminated, or longer than there is room */
	path[5] = 'x';
	fake.path_lies = 1;
	ck_assert_int_eq(cmt_device_cgroup_path(dev, 7001, path, 8), -EPROTO);
	fake.path_lies = 100;
	ck_assert_int_eq(cmt_device_cgroup_path(dev, 7001, path, 8), -EPROTO);
}
END_TEST

START_TEST(test_interval)
{
	uint32_t ns = 0;

	open_ok(0);
	ck_assert_int_eq(cmt_device_set_interval(dev, 2000000), -EBADF);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_device_set_interval(dev, 5), -EINVAL);
	ck_assert_int_eq(cmt_device_set_interval(dev, 2000000), 0);
	ck_assert_int_eq(cmt_device_interval(dev, &ns), 0);
	ck_assert_uint_eq(ns, 2000000);
	fake.ioctl_errno = EPERM;
	ck_assert_int_eq(cmt_device_set_interval(dev, 2000000), -EPERM);
	ck_assert_int_eq(cmt_device_interval(dev, &ns), -EPERM);
}
END_TEST

START_TEST(test_snapshot)
{
	struct cmt_snapshot *s = NULL;

	fake.nr_existing = 2;
	fake.as_of = 77;
	for (uint32_t i = 0; i < 2; i++)
		fake.existing[i] = (struct cmt_record){
			.type = CMT_REC_EXISTING,
			.rmid = i + 1,
			.generation = 1,
		};
	open_ok(0);
	ck_assert_int_eq(cmt_device_snapshot(dev, &s), 0);
	ck_assert_uint_eq(s->as_of, 77);
	ck_assert_uint_eq(s->count, 2);
	ck_assert_uint_eq(cmt_snapshot_at(s, 1)->rmid, 2);
	cmt_snapshot_free(s);
	s = NULL;

	fake.existing[1].rmid = 64;
	ck_assert_int_eq(cmt_device_snapshot(dev, &s), -EPROTO);
	fake.existing[1].rmid = 2;
	fake.existing[1].type = CMT_REC_ALLOC;
	ck_assert_int_eq(cmt_device_snapshot(dev, &s), -EPROTO);
	fake.nr_existing = 65;
	ck_assert_int_eq(cmt_device_snapshot(dev, &s), -EPROTO);
	fake.ioctl_errno = ENODEV;
	ck_assert_int_eq(cmt_device_snapshot(dev, &s), -ENODEV);
	ck_assert_ptr_null(s);
}
END_TEST

/* As many as there are, however many come while we ask, but for ever. */
START_TEST(test_pending)
{
	struct cmt_snapshot *s = NULL;

	for (uint32_t i = 0; i < 256; i++)
		fake.pending[i] = (struct cmt_record){
			.type = CMT_REC_ALLOC_FAIL,
			.ts = i,
			.rmid = 5,
			.generation = 1,
		};
	fake.as_of = 77;
	open_ok(0);
	ck_assert_int_eq(cmt_device_pending(dev, &s), 0);
	ck_assert_uint_eq(s->count, 0);
	cmt_snapshot_free(s);
	fake.nr_pending = 200;
	fake.more_pending = 1;
	ck_assert_int_eq(cmt_device_pending(dev, &s), 0);
	ck_assert_uint_eq(s->as_of, 77);
	ck_assert_uint_eq(s->count, 202);
	ck_assert_uint_eq(cmt_snapshot_at(s, 201)->ts, 201);
	cmt_snapshot_free(s);
	s = NULL;
	fake.more_pending = 100;
	ck_assert_int_eq(cmt_device_pending(dev, &s), -EAGAIN);
	fake.nr_pending = UINT32_MAX;
	fake.more_pending = 0;
	ck_assert_int_eq(cmt_device_pending(dev, &s), -EPROTO);
	fake.nr_pending = 2;
	fake.pending[1].type = CMT_REC_EXISTING;
	ck_assert_int_eq(cmt_device_pending(dev, &s), -EPROTO);
	fake.ioctl_errno = ENOTTY;
	ck_assert_int_eq(cmt_device_pending(dev, &s), -ENOTTY);
	ck_assert_ptr_null(s);
}
END_TEST

START_TEST(test_scope)
{
	uint32_t scope = 0, bad_at = 0;
	char *patterns = NULL;

	open_ok(0);
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, NULL, NULL),
			 -EBADF);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CONTAINER, "a b",
					      &bad_at), 0);
	ck_assert_int_eq(cmt_device_scope(dev, &scope), 0);
	ck_assert_uint_eq(scope, CMT_SCOPE_CONTAINER);
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), 0);
	ck_assert_str_eq(patterns, "a b");
	free(patterns);
	patterns = NULL;
	/* NULL: as they are */
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, NULL, NULL),
			 0);
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), 0);
	ck_assert_str_eq(patterns, "a b");
	free(patterns);
	ck_assert_int_eq(cmt_device_set_scope(dev, 9, "c", &bad_at), -EINVAL);
	ck_assert_uint_eq(bad_at, UINT32_MAX);
	fake.bad_at = 2;
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, "c !",
					      &bad_at), -EINVAL);
	ck_assert_uint_eq(bad_at, 2);
	fake.ioctl_errno = EPERM;
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, NULL, NULL),
			 -EPERM);
	ck_assert_int_eq(cmt_device_scope(dev, &scope), -EPERM);
}
END_TEST

/* An empty text would mean to keep what there is; a long one is cut nowhere. */
START_TEST(test_patterns_length)
{
	static char text[CMT_PATTERNS_MAX + 2];
	char *patterns = NULL;
	uint32_t bad_at = 7;

	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, "", &bad_at),
			 -EINVAL);
	ck_assert_uint_eq(bad_at, 0);
	memset(text, 'x', CMT_PATTERNS_MAX);
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, text,
					      &bad_at), 0);
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), 0);
	ck_assert_str_eq(patterns, text);
	free(patterns);
	patterns = NULL;
	text[CMT_PATTERNS_MAX] = 'x';
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, text,
					      &bad_at), -EINVAL);
	ck_assert_uint_eq(bad_at, CMT_PATTERNS_MAX);
	memset(fake.patterns, 'x', CMT_PATTERNS_MAX + 2);
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), -EPROTO);
	fake.ioctl_errno = ENOTTY;
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), -ENOTTY);
	ck_assert_ptr_null(patterns);
}
END_TEST

START_TEST(test_attach)
{
	struct cmt_attached attached = { .sz = sizeof(attached) };

	open_ok(0);
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0, NULL),
			 -EBADF);
	ck_assert_int_eq(cmt_device_detach(dev, CMT_OWNER_CPU, 1), -EBADF);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_PROCESS, 1ULL << 40,
					   CMT_ATTACH_CHILDREN, &attached), 0);
	ck_assert_uint_eq(fake.attach_command, CMT_IOC_ATTACH);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_PROCESS);
	ck_assert_uint_eq(fake.attach.id, 1ULL << 40);
	ck_assert_uint_eq(fake.attach.options, CMT_ATTACH_CHILDREN);
	ck_assert_uint_eq(attached.rmid, 7);
	ck_assert_uint_eq(attached.generation, 70);
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0, NULL), 0);
	ck_assert_int_eq(cmt_device_detach(dev, CMT_OWNER_CGROUP, 9), 0);
	ck_assert_uint_eq(fake.attach_command, CMT_IOC_DETACH);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_CGROUP);
	ck_assert_uint_eq(fake.attach.id, 9);
	ck_assert_uint_eq(fake.attach.options, 0);
	fake.ioctl_errno = EEXIST;
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0, &attached),
			 -EEXIST);
	fake.ioctl_errno = ENOENT;
	ck_assert_int_eq(cmt_device_detach(dev, CMT_OWNER_CPU, 1), -ENOENT);
}
END_TEST

START_TEST(test_register)
{
	struct cmt_attached got = { .sz = sizeof(got) };

	open_ok(0);
	ck_assert_int_eq(cmt_register(dev, CMT_OWNER_CPU, 1, 0, NULL), -EBADF);
	cmt_device_close(dev);
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(cmt_register(dev, CMT_OWNER_PROCESS, 1ULL << 40,
				      CMT_ATTACH_CHILDREN, &got), 0);
	ck_assert_uint_eq(fake.attach_command, CMT_IOC_REGISTER);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_PROCESS);
	ck_assert_uint_eq(fake.attach.id, 1ULL << 40);
	ck_assert_uint_eq(fake.attach.options, CMT_ATTACH_CHILDREN);
	ck_assert_uint_eq(got.rmid, 7);
	ck_assert_uint_eq(got.generation, 70);
	ck_assert_int_eq(cmt_unregister(dev, CMT_OWNER_CGROUP, 9), 0);
	ck_assert_uint_eq(fake.attach_command, CMT_IOC_UNREGISTER);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_CGROUP);
	ck_assert_uint_eq(fake.attach.id, 9);
	fake.ioctl_errno = EEXIST;
	ck_assert_int_eq(cmt_register(dev, CMT_OWNER_CPU, 1, 0, &got), -EEXIST);
	fake.ioctl_errno = 0;
	fake.old = true;
	ck_assert_int_eq(cmt_register(dev, CMT_OWNER_CPU, 1, 0, &got), -ENOTTY);
}
END_TEST

static void add_reading(uint32_t domain, uint32_t flags, uint64_t bytes)
{
	fake.readings[fake.nr_readings++] = (struct cmt_record) {
		.ts = 1, .type = CMT_REC_SAMPLE, .rmid = 3, .generation = 30,
		.flags = flags, .domain = domain, .base = 2,
		.sample.occupancy_bytes = bytes,
	};
}

START_TEST(test_occupancy)
{
	uint64_t bytes = 1;

	open_ok(0);
	/* no domain at all */
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 1, &bytes),
			 -ENODATA);
	add_reading(0, CMT_F_OCCUPANCY, 1000);
	add_reading(1, CMT_F_OCCUPANCY, 1ULL << 40);
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes), 0);
	ck_assert_uint_eq(bytes, (1ULL << 40) + 1000);
	ck_assert_uint_eq(fake.read.kind, CMT_OWNER_CPU);
	ck_assert_uint_eq(fake.read.id, 4);
	ck_assert_int_eq(cmt_get_occupancy(dev, 0, 0, &bytes), -EINVAL);
	/* a lower bound is not the occupancy */
	fake.readings[1].flags |= CMT_F_PQR_OVERWRITTEN;
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes),
			 -ENODATA);
	fake.readings[1].flags &= ~CMT_F_PQR_OVERWRITTEN;
	add_reading(2, CMT_F_UNAVAILABLE, 0);
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes),
			 -ENODATA);
	ck_assert_uint_eq(bytes, (1ULL << 40) + 1000);
	fake.ioctl_errno = EAGAIN;
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes),
			 -EAGAIN);
	fake.ioctl_errno = 0;
	fake.readings[1].type = CMT_REC_TICK;
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes),
			 -EPROTO);
	fake.old = true;
	ck_assert_int_eq(cmt_get_occupancy(dev, CMT_OWNER_CPU, 4, &bytes),
			 -ENOTTY);
}
END_TEST

/* More domains than a first guess has room for. */
START_TEST(test_read_now)
{
	struct cmt_snapshot *readings;

	open_ok(0);
	for (uint32_t i = 0; i < 40; i++)
		add_reading(i, CMT_F_OCCUPANCY, i);
	ck_assert_int_eq(cmt_device_read_now(dev, CMT_OWNER_PROCESS, 1,
					     &readings), 0);
	ck_assert_uint_eq(readings->count, 40);
	ck_assert_uint_eq(readings->as_of, 5);
	ck_assert_uint_eq(cmt_snapshot_at(readings, 39)->domain, 39);
	ck_assert_uint_eq(cmt_snapshot_at(readings, 39)->base, 2);
	cmt_snapshot_free(readings);
}
END_TEST

/* The calls of 2014 name a task or a CPU. */
START_TEST(test_pqos)
{
	open_ok(CMT_OPEN_CONTROL);
	ck_assert_int_eq(pqos_register_cmt(dev, 12, -1), 0);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_PROCESS);
	ck_assert_uint_eq(fake.attach.id, 12);
	ck_assert_int_eq(pqos_unregister_cmt(dev, -1, 0), 0);
	ck_assert_uint_eq(fake.attach.kind, CMT_OWNER_CPU);
	ck_assert_uint_eq(fake.attach.id, 0);
	add_reading(0, CMT_F_OCCUPANCY, 4096);
	ck_assert_int_eq(pqos_get_cmt_occupancy(dev, 12, -1), 4096);
	ck_assert_uint_eq(fake.read.kind, CMT_OWNER_PROCESS);
	ck_assert_int_eq(pqos_register_cmt(dev, 12, 1), -EINVAL);
	ck_assert_int_eq(pqos_unregister_cmt(dev, -1, -1), -EINVAL);
	ck_assert_int_eq(pqos_get_cmt_occupancy(dev, 0, -1), -EINVAL);
}
END_TEST

/* A program is older or newer than the library: sz says what it knows. */
START_TEST(test_attached_sizes)
{
	struct {
		struct cmt_attached known;
		uint64_t newer;
	} attached = { { offsetof(struct cmt_attached, generation), 1, 1 }, 1 };

	open_ok(CMT_OPEN_CONTROL);
	/* not a size that a structure can have: nothing is attached */
	attached.known.sz = 3;
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0,
					   &attached.known), -EINVAL);
	ck_assert_uint_eq(fake.attach_command, 0);
	attached.known.sz = sizeof(attached);
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0,
					   &attached.known), 0);
	ck_assert_uint_eq(attached.known.sz, sizeof(attached));
	ck_assert_uint_eq(attached.known.rmid, 7);
	ck_assert_uint_eq(attached.known.generation, 70);
	ck_assert_uint_eq(attached.newer, 0);
	attached.known.sz = sizeof(size_t);
	attached.known.rmid = 1;
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0,
					   &attached.known), 0);
	ck_assert_uint_eq(attached.known.rmid, 1);
}
END_TEST

/* All bytes that the library promises are those of the module, or 0. */
START_TEST(test_info_room)
{
	const unsigned char *room;

	open_ok(0);
	room = (const unsigned char *)cmt_device_info(dev);
	ck_assert_uint_eq(cmt_device_info(dev)->size, sizeof(struct cmt_info));
	for (size_t i = sizeof(struct cmt_info); i < CMT_INFO_ROOM; i++)
		ck_assert_uint_eq(room[i], 0);
	cmt_device_close(dev);
	fake.more = 16;
	fake.info.size += 16;
	open_ok(0);
	room = (const unsigned char *)cmt_device_info(dev);
	ck_assert_uint_eq(cmt_device_info(dev)->size,
			  sizeof(struct cmt_info) + 16);
	for (size_t i = sizeof(struct cmt_info); i < CMT_INFO_ROOM; i++)
		ck_assert_uint_eq(room[i], i < sizeof(struct cmt_info) + 16 ?
				  0xee : 0);
}
END_TEST

START_TEST(test_snapshot_new)
{
	struct cmt_record records[2] = { { .rmid = 1 }, { .rmid = 2 } };
	struct cmt_snapshot *s = NULL;

	ck_assert_int_eq(cmt_snapshot_new(&s, 77, records, 2), 0);
	records[1].rmid = 9;	/* it has copies */
	ck_assert_uint_eq(s->as_of, 77);
	ck_assert_uint_eq(s->count, 2);
	ck_assert_uint_eq(s->entry_size, sizeof(struct cmt_record));
	ck_assert_uint_eq(cmt_snapshot_at(s, 0)->rmid, 1);
	ck_assert_uint_eq(cmt_snapshot_at(s, 1)->rmid, 2);
	cmt_snapshot_free(s);
	s = NULL;
	ck_assert_int_eq(cmt_snapshot_new(&s, 0, NULL, 3), 0);
	ck_assert_uint_eq(s->count, 3);
	ck_assert_uint_eq(cmt_snapshot_at(s, 2)->rmid, 0);
	cmt_snapshot_free(s);
	s = NULL;
	ck_assert_int_eq(cmt_snapshot_new(&s, 0, records, UINT32_MAX), -EINVAL);
	ck_assert_ptr_null(s);
	cmt_snapshot_free(NULL);
}
END_TEST

/* The stride is the library's, which may be newer than this program. */
START_TEST(test_snapshot_stride)
{
	struct cmt_record records[3] = { { .rmid = 1 }, { .rmid = 2 },
					 { .rmid = 3 } };
	const struct cmt_snapshot s = {
		.count = 2,
		.entry_size = 2 * sizeof(records[0]),
		.records = records,
	};

	ck_assert_uint_eq(cmt_snapshot_at(&s, 1)->rmid, 3);
}
END_TEST

/* Nothing is written beyond the caller's size, nor to a structure of an impossible size. */
START_TEST(test_uncore_sizes)
{
	static const uint32_t impossible[] = { 0, CMT_UNCORE_SIZE - 1, 4097, UINT32_MAX };
	struct {
		struct cmt_uncore known;
		uint64_t newer[4];
	} uncore;
	struct cmt_box *boxes;

	fake.more = 16;
	fake.uncore.channels = 3;
	open_ok(0);
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		memset(&uncore, 0xff, sizeof(uncore));
		uncore.known.size = impossible[i];
		ck_assert_int_eq(cmt_device_uncore(dev, &uncore.known, &boxes), -EINVAL);
		ck_assert_uint_eq(uncore.known.channels, UINT32_MAX);
	}
	uncore.known.size = CMT_UNCORE_SIZE;
	ck_assert_int_eq(cmt_device_uncore(dev, &uncore.known, &boxes), 0);
	ck_assert_uint_eq(uncore.known.size, CMT_UNCORE_SIZE);
	ck_assert_uint_eq(uncore.known.channels, 3);
	ck_assert_uint_eq(uncore.newer[0], UINT64_MAX);
	free(boxes);
	uncore.known.size = sizeof(uncore);
	fake.more = 0;
	ck_assert_int_eq(cmt_device_uncore(dev, &uncore.known, &boxes), 0);
	ck_assert_uint_eq(uncore.known.size, CMT_UNCORE_SIZE);
	ck_assert_uint_eq(uncore.newer[0], 0);
	free(boxes);
}
END_TEST

/* A text of a module that fills all of its room ends there. */
START_TEST(test_uncore_strings_terminated)
{
	struct cmt_uncore uncore = { .size = sizeof(uncore) };
	struct cmt_box *boxes;

	memset(fake.uncore.reason, 'x', sizeof(fake.uncore.reason));
	memset(fake.uncore.channels_reason, 'x', sizeof(fake.uncore.channels_reason));
	open_ok(0);
	ck_assert_int_eq(cmt_device_uncore(dev, &uncore, &boxes), 0);
	ck_assert_uint_eq(strnlen(uncore.reason, sizeof(uncore.reason)),
			  sizeof(uncore.reason) - 1);
	ck_assert_uint_eq(strnlen(uncore.channels_reason, sizeof(uncore.channels_reason)),
			  sizeof(uncore.channels_reason) - 1);
	ck_assert_uint_eq(uncore.boxes, 0);
	free(boxes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device");
	TCase *tcase = tcase_create("device");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_open_modes);
	tcase_add_test(tcase, test_open_errors);
	tcase_add_test(tcase, test_abi_mismatch);
	tcase_add_test(tcase, test_info_contradictions);
	tcase_add_test(tcase, test_info_greatest);
	tcase_add_test(tcase, test_info_strings_terminated);
	tcase_add_test(tcase, test_uncore_sizes);
	tcase_add_test(tcase, test_uncore_strings_terminated);
	tcase_add_test(tcase, test_stats);
	tcase_add_test(tcase, test_older_module);
	tcase_add_test(tcase, test_info_room);
	tcase_add_test(tcase, test_attached_sizes);
	tcase_add_test(tcase, test_register);
	tcase_add_test(tcase, test_occupancy);
	tcase_add_test(tcase, test_read_now);
	tcase_add_test(tcase, test_pqos);
	tcase_add_test(tcase, test_snapshot_new);
	tcase_add_test(tcase, test_snapshot_stride);
	tcase_add_test(tcase, test_newer_module);
	tcase_add_test(tcase, test_resctrl);
	tcase_add_test(tcase, test_counters);
	tcase_add_test(tcase, test_counters_of_older_module);
	tcase_add_test(tcase, test_values);
	tcase_add_test(tcase, test_cgroup_path);
	tcase_add_test(tcase, test_interval);
	tcase_add_test(tcase, test_snapshot);
	tcase_add_test(tcase, test_pending);
	tcase_add_test(tcase, test_scope);
	tcase_add_test(tcase, test_patterns_length);
	tcase_add_test(tcase, test_attach);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
