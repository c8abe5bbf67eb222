// SPDX-License-Identifier: GPL-2.0-or-later
/* Invalid arguments of the ioctls, and arguments of other versions. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"
#include "dev.h"
#include "suite.h"

static const struct command {
	const char *name;
	unsigned long number;
	uint32_t least;
	bool grows;		/* in tests/abi/next */
	uint32_t value;		/* of the first field after flags */
	int error;		/* an error that a valid call may return, too */
	/* offset of the word that must be 0; 0: there is none */
	unsigned int reserved;
} commands[] = {
	{ "GET_INFO", CMT_IOC_GET_INFO, CMT_INFO_SIZE, true, 0, 0, 0 },
	{ "GET_STATS", CMT_IOC_GET_STATS, CMT_STATS_SIZE, true, 0, 0, 0 },
	{ "GET_RMIDS", CMT_IOC_GET_RMIDS, CMT_RMIDS_SIZE, false, 0, -ENOSPC,
	  3 },
	{ "SET_INTERVAL", CMT_IOC_SET_INTERVAL, CMT_INTERVAL_SIZE, false,
	  2000000, 0, 3 },
	{ "SET_WATERMARK", CMT_IOC_SET_WATERMARK, CMT_WATERMARK_SIZE, false, 7,
	  0, 3 },
	{ "SET_SCOPE", CMT_IOC_SET_SCOPE, CMT_SCOPE_SIZE, false,
	  CMT_SCOPE_PROCESS, 0, 7 },
	{ "GET_PATTERNS", CMT_IOC_GET_PATTERNS, CMT_PATTERNS_SIZE, false, 0,
	  -ENOSPC, 3 },
	{ "ATTACH", CMT_IOC_ATTACH, CMT_ATTACH_SIZE, true, CMT_OWNER_CPU,
	  -EEXIST, 3 },
	{ "DETACH", CMT_IOC_DETACH, CMT_ATTACH_SIZE, true, CMT_OWNER_CPU,
	  -ENOENT, 3 },
	{ "GET_PENDING", CMT_IOC_GET_PENDING, CMT_RMIDS_SIZE, false, 0, 0, 3 },
	{ "SET_RESCTRL", CMT_IOC_SET_RESCTRL, CMT_RESCTRL_SIZE, false,
	  CMT_RESCTRL_RESPECT, 0, 3 },
	{ "PATH_OF_CGROUP", CMT_IOC_PATH_OF_CGROUP, CMT_CGROUP_PATH_SIZE, false,
	  1 /* the root */, -ENOSPC, 7 },
	{ "SET_COUNTERS", CMT_IOC_SET_COUNTERS, CMT_COUNTERS_SIZE, false,
	  CMT_F_CYCLES, 0, 3 },
	{ "REGISTER", CMT_IOC_REGISTER, CMT_ATTACH_SIZE, true, CMT_OWNER_CPU,
	  -EEXIST, 3 },
	{ "UNREGISTER", CMT_IOC_UNREGISTER, CMT_ATTACH_SIZE, true,
	  CMT_OWNER_CPU, -ENOENT, 3 },
	{ "READ", CMT_IOC_READ, CMT_READ_SIZE, false, 0, -ENOSPC, 0 },
	{ "GET_UNCORE", CMT_IOC_GET_UNCORE, CMT_UNCORE_SIZE, true, 0, 0, 0 },
	{ "SET_VALUES", CMT_IOC_SET_VALUES, CMT_VALUES_SIZE, false,
	  CMT_F_OCCUPANCY, 0, 3 },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define ARG_MAX_BYTES 4096U	/* larger sizes are refused */
#define TEST_GROWN 8U		/* bytes that tests/abi/next appends */

/* The version that the module was built with, which may differ from this program's. */
static uint32_t size_of(const struct command *c)
{
	return c->least + (c->grows && module_is_next ? TEST_GROWN : 0);
}

/* An argument with a valid first part.  All bytes after that part are 0. */
static uint32_t *argument(const struct command *c, uint32_t size)
{
	static uint32_t words[4096];

	memset(words, 0, sizeof(words));
	words[0] = size;
	words[2] = c->value;
	return words;
}

static int call(const struct dev *dev, unsigned long number, void *arg)
{
	return ioctl(dev->fd, number, arg) ? -errno : 0;
}

static void ioctl_unknown(void)
{
	static const unsigned long unknown[] = {
		0, _IO(CMT_IOC_TYPE, 1), _IOW(CMT_IOC_TYPE, 1, struct cmt_info),
		_IOWR(CMT_IOC_TYPE, 0, struct cmt_info),
		_IOWR(CMT_IOC_TYPE, 6, struct cmt_info),
		_IOWR(CMT_IOC_TYPE, 1, struct cmt_stats),
		_IOC(_IOC_READ, CMT_IOC_TYPE, 0, 0),
		_IOC(_IOC_READ | _IOC_WRITE, CMT_IOC_TYPE - 1, 0, 0),
		_IOC(_IOC_READ | _IOC_WRITE, 0xCE, 1, 0),
		CMT_IOC(0x12), CMT_IOC(0x7f), CMT_IOC(0xff), 0xffffffff,
	};
	struct dev dev;
	unsigned int i;
	int err;

	dev_open(&dev, O_RDWR);
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		err = call(&dev, unknown[i], argument(&commands[0],
						      CMT_INFO_SIZE));
		CHECK(err == -ENOTTY, "command %#lx: %s", unknown[i],
		      strerror(-err));
	}
	dev_close(&dev);
}

static void check_refused_size(const struct dev *dev, const struct command *c,
			       uint32_t size)
{
	int err = call(dev, c->number, argument(c, size));

	CHECK(err == -EINVAL, "%s, size %u: %s", c->name, size, strerror(-err));
}

/* The module writes no byte beyond the caller's size, and reports no larger size. */
static void check_good_size(const struct dev *dev, const struct command *c,
			    uint32_t size)
{
	uint32_t known = size_of(c), want = size < known ? size : known, i;
	uint32_t *arg = argument(c, size);
	uint8_t *bytes = (uint8_t *)arg;
	int err;

	memset(bytes + size, 0xa5, 64);
	err = call(dev, c->number, arg);
	CHECK(!err || err == c->error, "%s, size %u: %s", c->name, size,
	      strerror(-err));
	for (i = size; i < size + 64; i++)
		CHECK(bytes[i] == 0xa5, "%s, size %u: wrote byte %u", c->name,
		      size, i);
	for (i = want; i < size; i++)
		CHECK(!bytes[i], "%s, size %u: wrote byte %u of a tail",
		      c->name, size, i);
	if (!err || err == -ENOSPC)
		CHECK(arg[0] == want, "%s, size %u: %u written back", c->name,
		      size, arg[0]);
}

static void check_tail(const struct dev *dev, const struct command *c,
		       uint32_t size, uint32_t at)
{
	uint32_t *arg = argument(c, size);
	int err;

	((uint8_t *)arg)[at] = 1;
	err = call(dev, c->number, arg);
	CHECK(err == -EINVAL, "%s, size %u, byte %u set: %s", c->name, size, at,
	      strerror(-err));
}

static void ioctl_size(void)
{
	const struct command *c;
	struct dev dev;
	uint32_t size;

	dev_open(&dev, O_RDWR);
	for (c = commands; c < commands + NR_COMMANDS; c++) {
		for (size = 0; size < c->least; size++)
			check_refused_size(&dev, c, size);
		for (size = c->least; size <= c->least + 2 * TEST_GROWN; size++)
			check_good_size(&dev, c, size);
		check_good_size(&dev, c, ARG_MAX_BYTES - 1);
		check_good_size(&dev, c, ARG_MAX_BYTES);
		check_refused_size(&dev, c, ARG_MAX_BYTES + 1);
		check_refused_size(&dev, c, 0x80000000);
		check_refused_size(&dev, c, 0xffffffff);
		/* a program of a newer version that requests an unknown feature */
		size = size_of(c);
		check_tail(&dev, c, size + 1, size);
		check_tail(&dev, c, size + 24, size + 23);
		check_tail(&dev, c, ARG_MAX_BYTES, ARG_MAX_BYTES - 1);
	}
	dev_close(&dev);
}

/*
 * A program and a module of different versions: each works without the features that it
 * does not know.
 */
static void ioctl_growth(void)
{
	struct cmt_attach arg = { .size = sizeof(arg), .kind = CMT_OWNER_CPU };
	struct cmt_stats stats;
	struct dev dev;
	int err;

	dev_open(&dev, O_RDWR);
	stats = dev_stats(&dev);
	CHECK(stats.cpus_online == 2, "%u CPUs", stats.cpus_online);
#ifdef CMT_TEST_NEXT
	CHECK(dev.info.size == CMT_INFO_SIZE +
	      (module_is_next ? TEST_GROWN : 0), "size %u", dev.info.size);
	CHECK(dev.info.test_next == (module_is_next ? CMT_TEST_NEXT : 0) &&
	      stats.test_next == dev.info.test_next, "%#llx, %#llx",
	      (unsigned long long)dev.info.test_next,
	      (unsigned long long)stats.test_next);
	/* an older module must refuse what only a newer module can do */
	arg.test_in = 1;
	err = call(&dev, CMT_IOC_ATTACH, &arg);
	if (module_is_next) {
		CHECK(!err && arg.test_out == 2 && arg.rmid, "%s, out %u",
		      strerror(-err), arg.test_out);
	} else {
		CHECK(err == -EINVAL, "attached without: %s", strerror(-err));
		arg.test_in = 0;
		err = call(&dev, CMT_IOC_ATTACH, &arg);
		CHECK(!err && arg.size == CMT_ATTACH_SIZE && arg.rmid &&
		      !arg.test_out, "%s, size %u", strerror(-err), arg.size);
	}
#else
	err = call(&dev, CMT_IOC_ATTACH, &arg);
	CHECK(!err && arg.rmid && arg.size == sizeof(arg), "%s, size %u",
	      strerror(-err), arg.size);
#endif
	dev_close(&dev);
}

static void ioctl_flags(void)
{
	const struct command *c;
	struct dev dev;
	uint32_t *arg;
	int bit, err;

	dev_open(&dev, O_RDWR);
	for (c = commands; c < commands + NR_COMMANDS; c++) {
		for (bit = 0; bit < 32; bit++) {
			arg = argument(c, c->least);
			arg[1] = 1U << bit;
			err = call(&dev, c->number, arg);
			CHECK(err == -EINVAL, "%s, flag %d: %s", c->name, bit,
			      strerror(-err));
		}
		if (!c->reserved)
			continue;
		arg = argument(c, c->least);
		/* a bit that is no option of ATTACH */
		arg[c->reserved] = 2;
		err = call(&dev, c->number, arg);
		CHECK(err == -EINVAL, "%s, reserved field set: %s", c->name,
		      strerror(-err));
	}
	CHECK(dev_stats(&dev).readers == 0, "a bad ioctl made a reader");
	dev_close(&dev);
}

static int cpu_call(const struct dev *dev, unsigned long number, uint64_t cpu)
{
	struct cmt_attach arg = {
		.size = sizeof(arg), .kind = CMT_OWNER_CPU, .id = cpu,
	};

	return call(dev, number, &arg);
}

static void ioctl_pointer(void)
{
	long page = sysconf(_SC_PAGESIZE);
	const struct command *c;
	struct dev dev;
	uint32_t *edge;
	char *map;
	int err;

	dev_open(&dev, O_RDWR);
	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED && !mprotect(map + page, page, PROT_NONE),
	      "mmap: %m");
	err = cpu_call(&dev, CMT_IOC_ATTACH, 1);
	CHECK(!err, "ATTACH: %s", strerror(-err));
	for (c = commands; c < commands + NR_COMMANDS; c++) {
		err = call(&dev, c->number, NULL);
		CHECK(err == -EFAULT, "%s(NULL): %s", c->name, strerror(-err));
		err = call(&dev, c->number, (void *)-4096L);
		CHECK(err == -EFAULT, "%s in the kernel: %s", c->name,
		      strerror(-err));
		/* the size can be read, the bytes after it cannot */
		edge = (uint32_t *)(map + page) - 1;
		*edge = c->least;
		err = call(&dev, c->number, edge);
		CHECK(err == -EFAULT, "%s across the edge: %s", c->name,
		      strerror(-err));
		/* readable, but not writable */
		memcpy(map, argument(c, c->least), c->least);
		mprotect(map, page, PROT_READ);
		err = call(&dev, c->number, map);
		CHECK(err == -EFAULT, "%s, read-only: %s", c->name,
		      strerror(-err));
		mprotect(map, page, PROT_READ | PROT_WRITE);
	}
	munmap(map, 2 * page);
	err = cpu_call(&dev, CMT_IOC_DETACH, 0);
	CHECK(err == -ENOENT, "ATTACH failed and attached: %s", strerror(-err));
	err = cpu_call(&dev, CMT_IOC_DETACH, 1);
	CHECK(!err, "SET_SCOPE failed and detached: %s", strerror(-err));
	dev_close(&dev);
}

static void ioctl_rmids_room(void)
{
	static struct cmt_record records[MAX_RMIDS];
	struct cmt_rmids arg;
	uint32_t need;
	struct dev dev;
	int err;

	dev_open(&dev, O_RDONLY);
	arg = (struct cmt_rmids){ .size = sizeof(arg) };
	err = call(&dev, CMT_IOC_GET_RMIDS, &arg);
	need = arg.count;
	CHECK(err == -ENOSPC && need >= 2, "no room: %s, count %u",
	      strerror(-err), need);

	arg = (struct cmt_rmids){ .size = sizeof(arg), .count = need - 1,
				  .records = (uintptr_t)records };
	err = call(&dev, CMT_IOC_GET_RMIDS, &arg);
	CHECK(err == -ENOSPC && arg.count == need && !records[0].type,
	      "one too little: %s, count %u, type %u", strerror(-err),
	      arg.count, records[0].type);

	arg = (struct cmt_rmids){ .size = sizeof(arg), .count = need,
				  .records = (uintptr_t)records };
	err = call(&dev, CMT_IOC_GET_RMIDS, &arg);
	CHECK(!err && arg.count == need && arg.size == sizeof(arg) &&
	      records[need - 1].type == CMT_REC_EXISTING &&
	      !records[need].type, "just enough: %s, count %u", strerror(-err),
	      arg.count);

	arg = (struct cmt_rmids){ .size = sizeof(arg), .count = MAX_RMIDS,
				  .records = 8 };
	err = call(&dev, CMT_IOC_GET_RMIDS, &arg);
	CHECK(err == -EFAULT, "bad records: %s", strerror(-err));
	arg.records = UINT64_MAX - 4095;
	err = call(&dev, CMT_IOC_GET_RMIDS, &arg);
	CHECK(err == -EFAULT, "records in the kernel: %s", strerror(-err));
	dev_close(&dev);
}

static int set_interval(const struct dev *dev, uint32_t ns)
{
	struct cmt_interval arg = { .size = sizeof(arg), .interval_ns = ns };

	return call(dev, CMT_IOC_SET_INTERVAL, &arg);
}

static void check_interval(uint32_t ns)
{
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.interval_ns == ns, "the interval is %u, not %u",
	      dev.info.interval_ns, ns);
	dev_close(&dev);
}

static void ioctl_interval_range(void)
{
	struct dev dev;
	uint32_t before;

	dev_open(&dev, O_RDWR);
	before = dev.info.interval_ns;
	CHECK(set_interval(&dev, 0) == -EINVAL, "0 taken");
	CHECK(set_interval(&dev, dev.info.interval_min_ns - 1) == -EINVAL,
	      "below the least taken");
	CHECK(set_interval(&dev, dev.info.interval_max_ns + 1) == -EINVAL,
	      "above the most taken");
	CHECK(set_interval(&dev, UINT32_MAX) == -EINVAL, "UINT32_MAX taken");
	check_interval(before);
	CHECK(!set_interval(&dev, dev.info.interval_min_ns), "least refused");
	check_interval(dev.info.interval_min_ns);
	CHECK(!set_interval(&dev, dev.info.interval_max_ns), "most refused");
	check_interval(dev.info.interval_max_ns);
	CHECK(!set_interval(&dev, 1234567), "odd interval refused");
	check_interval(1234567);
	dev_close(&dev);
}

static void ioctl_interval_rights(void)
{
	struct dev ro, rw;
	uint32_t before;

	dev_open(&ro, O_RDONLY);
	dev_open(&rw, O_RDWR);
	before = ro.info.interval_ns;
	CHECK(set_interval(&ro, 2000000) == -EBADF, "read-only descriptor");
	check_interval(before);

	capabilities_keep(1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_PERFMON);
	CHECK(!set_interval(&rw, 3000000), "CAP_PERFMON is not enough");
	check_interval(3000000);
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE);
	CHECK(set_interval(&rw, 2000000) == -EPERM, "no capability needed");
	CHECK(set_interval(&ro, 2000000) == -EBADF, "EBADF comes first");
	check_interval(3000000);
	dev_close(&ro);
	dev_close(&rw);
}

static void ioctl_watermark_range(void)
{
	struct cmt_watermark arg = { .size = sizeof(arg) };
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(call(&dev, CMT_IOC_SET_WATERMARK, &arg) == -EINVAL, "0 taken");
	arg.records = dev.info.ring_records / 2 + 1;
	CHECK(call(&dev, CMT_IOC_SET_WATERMARK, &arg) == -EINVAL,
	      "more than half a ring taken");
	arg.records = UINT32_MAX;
	CHECK(call(&dev, CMT_IOC_SET_WATERMARK, &arg) == -EINVAL,
	      "UINT32_MAX taken");
	arg.records = dev.info.ring_records / 2;
	CHECK(!call(&dev, CMT_IOC_SET_WATERMARK, &arg), "half a ring refused");
	arg.records = 1;
	CHECK(!call(&dev, CMT_IOC_SET_WATERMARK, &arg), "1 refused");
	dev_close(&dev);
}

static void ioctl_info(void)
{
	const struct cmt_info *i;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	i = &dev.info;
	CHECK(i->size == (sizeof(*i) < size_of(&commands[0]) ? sizeof(*i) :
			  size_of(&commands[0])) && !i->flags,
	      "size %u, flags %#x", i->size, i->flags);
	CHECK(i->scope == CMT_SCOPE_PROCESS, "scope %u", i->scope);
	CHECK(i->nr_cpus >= (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
	      "%u rings", i->nr_cpus);
	CHECK(i->rmids_usable < i->nr_rmids, "RMID 0 counted");
	CHECK(i->events == (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
			    CMT_F_MBM_LOCAL), "events %#x", i->events);
	CHECK(!(i->ring_records & (i->ring_records - 1)) &&
	      i->ring_bytes == CMT_RING_DATA_OFFSET +
			       i->ring_records * sizeof(struct cmt_record),
	      "%u records in %llu bytes", i->ring_records,
	      (unsigned long long)i->ring_bytes);
	CHECK(i->upscale_bytes && i->counter_bits >= 24 && i->l3_bytes,
	      "counter geometry");
	CHECK(strnlen(i->module_version, 16) < 16 && i->module_version[0] &&
	      strnlen(i->reason, 64) < 64 && strnlen(i->mbm_reason, 64) < 64,
	      "strings not terminated");
	CHECK(!i->mbm_reason[0], "MBM, and a reason against it: %s",
	      i->mbm_reason);
	CHECK(i->ring_hold_ns && i->budget_ns && i->idle_ticks,
	      "rings hold %llu ns, budget %u ns, %u idle ticks",
	      (unsigned long long)i->ring_hold_ns, i->budget_ns, i->idle_ticks);
	CHECK(i->resctrl == CMT_RESCTRL_RESPECT && !i->resctrl_mounted,
	      "resctrl %u, mounted %u", i->resctrl, i->resctrl_mounted);
	dev_close(&dev);
}

static int set_resctrl(const struct dev *dev, uint32_t mode)
{
	struct cmt_resctrl arg = { .size = sizeof(arg), .mode = mode };

	return call(dev, CMT_IOC_SET_RESCTRL, &arg);
}

static void check_resctrl(uint32_t mode)
{
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.resctrl == mode, "mode %u, not %u", dev.info.resctrl,
	      mode);
	dev_close(&dev);
}

static void ioctl_resctrl_mode(void)
{
	static const uint32_t bad[] = { 0, 3, 4, 0x80000001, UINT32_MAX };
	struct dev ro, rw;
	unsigned int i;

	dev_open(&ro, O_RDONLY);
	dev_open(&rw, O_RDWR);
	CHECK(!set_resctrl(&rw, CMT_RESCTRL_TAKE), "TAKE refused");
	check_resctrl(CMT_RESCTRL_TAKE);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(set_resctrl(&rw, bad[i]) == -EINVAL, "mode %u taken",
		      bad[i]);
	CHECK(set_resctrl(&ro, CMT_RESCTRL_RESPECT) == -EBADF,
	      "read-only descriptor");
	check_resctrl(CMT_RESCTRL_TAKE);
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_PERFMON);
	CHECK(!set_resctrl(&rw, CMT_RESCTRL_RESPECT), "RESPECT refused");
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE);
	CHECK(set_resctrl(&rw, CMT_RESCTRL_TAKE) == -EPERM,
	      "no capability needed");
	check_resctrl(CMT_RESCTRL_RESPECT);
	dev_close(&ro);
	dev_close(&rw);
}

static bool saw_state(struct dev *dev, uint32_t interval_ns)
{
	struct log log = { };
	bool saw = false;
	size_t i;

	dev_drain_events(dev, &log);
	for (i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type != CMT_REC_STATE)
			continue;
		CHECK(r->state.scope == dev->info.scope &&
		      r->state.resctrl == CMT_RESCTRL_RESPECT &&
		      !r->state.resctrl_mounted, "scope %u, resctrl %u",
		      r->state.scope, r->state.resctrl);
		saw |= r->state.interval_ns == interval_ns;
	}
	log_free(&log);
	return saw;
}

static void ioctl_state_record(void)
{
	struct dev dev;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(!set_interval(&dev, 2345678), "SET_INTERVAL");
	CHECK(saw_state(&dev, 2345678), "no STATE of the new interval");
	CHECK(set_interval(&dev, 1) == -EINVAL, "1 ns taken");
	CHECK(!saw_state(&dev, 2345678), "a STATE, and nothing has changed");
	dev_close(&dev);
}

static int path_of(const struct dev *dev, uint64_t id, char *path,
		   uint32_t *bytes)
{
	struct cmt_cgroup_path arg = {
		.size = sizeof(arg),
		.cgroup_id = id,
		.path = (uintptr_t)path,
		.bytes = *bytes,
	};
	int err = call(dev, CMT_IOC_PATH_OF_CGROUP, &arg);

	CHECK(arg.size == sizeof(arg) && arg.cgroup_id == id,
	      "the argument has changed");
	*bytes = arg.bytes;
	return err;
}

static void check_path(const struct dev *dev, uint64_t id, const char *want)
{
	uint32_t length = strlen(want) + 1, bytes = 4096;
	char path[4096];
	int err;

	memset(path, 'x', sizeof(path));
	err = path_of(dev, id, path, &bytes);
	CHECK(!err && bytes == length && !memcmp(path, want, length) &&
	      path[length] == 'x', "%s: %s, %u bytes", want, strerror(-err),
	      bytes);

	memset(path, 'x', sizeof(path));
	err = path_of(dev, id, path, &bytes);
	CHECK(!err && bytes == length && path[length] == 'x',
	      "%s, just enough: %s", want, strerror(-err));

	memset(path, 'x', sizeof(path));
	bytes--;
	err = path_of(dev, id, path, &bytes);
	CHECK(err == -ENOSPC && bytes == length && path[0] == 'x',
	      "%s, one too little: %s, %u bytes", want, strerror(-err), bytes);
	bytes = 0;
	err = path_of(dev, id, NULL, &bytes);
	CHECK(err == -ENOSPC && bytes == length, "%s, no room: %s", want,
	      strerror(-err));
}

static void check_no_path(const struct dev *dev, uint64_t id, int error)
{
	char path[4096] = "x";
	uint32_t bytes = sizeof(path);
	int err = path_of(dev, id, path, &bytes);

	CHECK(err == error && bytes == sizeof(path) && path[0] == 'x',
	      "cgroup %llu: %s, %.40s", (unsigned long long)id, strerror(-err),
	      path);
}

static uint64_t id_of_path(const char *path)
{
	struct stat st;

	CHECK(!stat(path, &st), "stat %s: %m", path);
	return st.st_ino;
}

static void ioctl_cgroup_path(void)
{
	uint64_t root = id_of_path(CGROUPS), outer, inner;
	uint32_t bytes = 4096;
	struct dev dev;
	int err;

	outer = group_make("outer");
	inner = group_make("outer/in ner");
	dev_open(&dev, O_RDONLY);
	check_path(&dev, root, "/");
	check_path(&dev, outer, "/outer");
	check_path(&dev, inner, "/outer/in ner");
	err = path_of(&dev, inner, (char *)8, &bytes);
	CHECK(err == -EFAULT && bytes == 4096, "bad path: %s", strerror(-err));
	err = path_of(&dev, inner, (char *)-4096L, &bytes);
	CHECK(err == -EFAULT, "path in the kernel: %s", strerror(-err));
	check_no_path(&dev, 0, -ENOENT);
	check_no_path(&dev, UINT64_MAX, -ENOENT);
	check_no_path(&dev, inner | 1ULL << 32, -ENOENT);
	check_no_path(&dev, inner + 12345, -ENOENT);
	group_remove("outer/in ner");
	check_no_path(&dev, inner, -ENOENT);
	check_path(&dev, outer, "/outer");
	group_remove("outer");
	check_no_path(&dev, outer, -ENOENT);
	capabilities_keep(0);	/* every reader may ask */
	check_path(&dev, root, "/");
	dev_close(&dev);
}

/* A zombie keeps its cgroup in memory. */
static void ioctl_cgroup_path_dead(void)
{
	uint64_t id = group_make("dead");
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	pid = park(0, NULL);
	group_enter("dead", pid);
	check_path(&dev, id, "/dead");
	kill(pid, SIGKILL);
	WAIT_FOR(process_is(pid, 'Z'), 5000, "process %d lives", pid);
	group_remove("dead");
	check_no_path(&dev, id, -ENOENT);
	reap(pid, 0);
	dev_close(&dev);
}

static void ioctl_cgroup_path_namespace(void)
{
	uint64_t root = id_of_path(CGROUPS), mine, below, other;
	struct dev dev;
	pid_t pid;

	mine = group_make("mine");
	below = group_make("mine/below");
	other = group_make("mine2");
	dev_open(&dev, O_RDONLY);
	pid = fork();
	if (pid == 0) {
		group_enter("mine", getpid());
		CHECK(!unshare(CLONE_NEWCGROUP), "unshare: %m");
		check_path(&dev, mine, "/mine");
		check_path(&dev, below, "/mine/below");
		check_no_path(&dev, other, -ENOENT);
		check_no_path(&dev, root, -ENOENT);
		_exit(0);
	}
	expect_exit_0(pid, "who has a namespace");
	group_remove("mine2");
	group_remove("mine/below");
	group_remove("mine");
	dev_close(&dev);
}

#define LONG_LEVELS 17	/* of 250 bytes: more than PATH_MAX */

static void ioctl_cgroup_path_long(void)
{
	char name[251];
	struct dev dev;
	uint64_t id;
	int i;

	memset(name, 'n', 250);
	name[250] = '\0';
	dev_open(&dev, O_RDONLY);
	CHECK(!chdir(CGROUPS), "chdir: %m");
	for (i = 0; i < LONG_LEVELS; i++)
		CHECK(!mkdir(name, 0755) && !chdir(name), "level %d: %m", i);
	id = id_of_path(".");
	check_no_path(&dev, id, -ENAMETOOLONG);
	for (i = 0; i < LONG_LEVELS; i++) {
		CHECK(!chdir(".."), "chdir: %m");
		WAIT_FOR(!rmdir(name), 5000, "level %d: %m", i);
	}
	check_no_path(&dev, id, -ENOENT);
	dev_close(&dev);
}

/* Arguments from a random generator: every call fails. */
static void ioctl_random(void)
{
	static uint32_t words[ARG_MAX_BYTES / 4];
	const struct command *c;
	unsigned int i, k;
	struct dev dev;
	int err;

	dev_open(&dev, O_RDONLY);
	srandom(1);
	for (i = 0; i < 20000 / slowness; i++) {
		c = &commands[random() % NR_COMMANDS];
		for (k = 0; k < c->least / 4 + 4; k++)
			words[k] = random() % 4 ? 0 : random();
		words[0] = random() % 4 ? c->least : random() % (2 * c->least);
		err = call(&dev, c->number, words);
		CHECK(!err || err == -EINVAL || err == -EFAULT ||
		      err == -EBADF || err == -ENOENT || err == -ENOSPC,
		      "%s: %s", c->name, strerror(-err));
	}
	dev_close(&dev);
}

static void check_proc_line(const struct cmt_attach *owner, const char *rest)
{
	static char text[65536];
	char line[128];

	snprintf(line, sizeof(line), "\n%u %u %s", owner->rmid,
		 owner->generation, rest);
	read_file("/proc/cmt/rmids", text, sizeof(text));
	CHECK(strstr(text, line), "/proc/cmt/rmids: not there:%s", line);
}

/* The number of a CPU is not a process id. */
static void proc_kinds(void)
{
	uint64_t id = group_make("kind");
	struct cmt_attach owner;
	char rest[64];
	struct dev dev;
	pid_t pid;

	pid = park(0, NULL);
	dev_open(&dev, O_RDWR);
	CHECK(!attach(&dev, CMT_OWNER_CPU, 1, 0, &owner), "ATTACH CPU");
	check_proc_line(&owner, "cpu 1 0 ");
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, id, 0, &owner), "ATTACH cgroup");
	snprintf(rest, sizeof(rest), "cgroup 0 %llu ", (unsigned long long)id);
	check_proc_line(&owner, rest);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, &owner), "ATTACH");
	snprintf(rest, sizeof(rest), "process %d ", pid);
	check_proc_line(&owner, rest);
	group_remove("kind");
	dev_close(&dev);
}

/* The ioctls and the maps, as seen by a 32-bit program. */
static void compat_32bit(void)
{
	run_suite("/bin/suite32", NULL, "ioctl_");
	run_suite("/bin/suite32", NULL, "map_");
}

/* The same, with a program and a module of different versions. */
static void abi_older_program(void)
{
	run_suite("/bin/suite", "--module-next", "ioctl_");
}

static void abi_newer_program(void)
{
	run_suite("/bin/suite-next", NULL, "ioctl_");
}

static void abi_newer_both(void)
{
	run_suite("/bin/suite-next", "--module-next", "ioctl_");
}

const struct test ioctl_tests[] = {
	{ "ioctl_unknown", ioctl_unknown, "", 0 },
	{ "ioctl_size", ioctl_size, "", 0 },
	{ "ioctl_flags", ioctl_flags, "", 0 },
	{ "ioctl_pointer", ioctl_pointer, "", 0 },
	{ "ioctl_rmids_room", ioctl_rmids_room, "", 0 },
	{ "ioctl_interval_range", ioctl_interval_range, "", 0 },
	{ "ioctl_interval_rights", ioctl_interval_rights, "", 0 },
	{ "ioctl_watermark_range", ioctl_watermark_range, "", 0 },
	{ "ioctl_info", ioctl_info, "", 0 },
	{ "ioctl_growth", ioctl_growth, "scope=process", 0 },
	{ "ioctl_resctrl_mode", ioctl_resctrl_mode, "", 0 },
	{ "ioctl_state_record", ioctl_state_record, "", 0 },
	{ "ioctl_cgroup_path", ioctl_cgroup_path, "", 0 },
	{ "ioctl_cgroup_path_dead", ioctl_cgroup_path_dead, "", 0 },
	{ "ioctl_cgroup_path_namespace", ioctl_cgroup_path_namespace, "", 0 },
	{ "ioctl_cgroup_path_long", ioctl_cgroup_path_long, "", 0 },
	{ "ioctl_random", ioctl_random, "", 0 },
	{ "proc_kinds", proc_kinds, "scope=manual", 0 },
	{ }
};

const struct test version_tests[] = {
	{ "compat_32bit", compat_32bit, NULL, 60 },
	{ "abi_older_program", abi_older_program, NULL, 40 },
	{ "abi_newer_program", abi_newer_program, NULL, 40 },
	{ "abi_newer_both", abi_newer_both, NULL, 40 },
	{ }
};
