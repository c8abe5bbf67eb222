// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments as they should not be. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

static const struct command {
	const char *name;
	unsigned long number;
	uint32_t size;
	uint32_t value;		/* of the first field after flags */
	int error;		/* what a good call may say, too */
	unsigned int reserved;	/* the word that must be 0; 0: there is none */
} commands[] = {
	{ "GET_INFO", CMT_IOC_GET_INFO, sizeof(struct cmt_info), 0, 0, 0 },
	{ "GET_STATS", CMT_IOC_GET_STATS, sizeof(struct cmt_stats), 0, 0, 0 },
	{ "GET_RMIDS", CMT_IOC_GET_RMIDS, sizeof(struct cmt_rmids), 0, -ENOSPC, 3 },
	{ "SET_INTERVAL", CMT_IOC_SET_INTERVAL, sizeof(struct cmt_interval),
	  2000000, 0, 3 },
	{ "SET_WATERMARK", CMT_IOC_SET_WATERMARK,
	  sizeof(struct cmt_watermark), 7, 0, 3 },
	{ "SET_SCOPE", CMT_IOC_SET_SCOPE, sizeof(struct cmt_scope),
	  CMT_SCOPE_PROCESS, 0, 7 },
	{ "GET_PATTERNS", CMT_IOC_GET_PATTERNS, sizeof(struct cmt_patterns), 0,
	  -ENOSPC, 3 },
	{ "ATTACH", CMT_IOC_ATTACH, sizeof(struct cmt_attach), CMT_OWNER_CPU,
	  -EEXIST, 3 },
	{ "DETACH", CMT_IOC_DETACH, sizeof(struct cmt_attach), CMT_OWNER_CPU,
	  -ENOENT, 3 },
	{ "GET_WAITING", CMT_IOC_GET_WAITING, sizeof(struct cmt_rmids), 0, 0,
	  3 },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* An argument with a valid beginning; all behind it is zero. */
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
		_IOWR(0xCF, 1, struct cmt_info),
		_IOWR(CMT_IOC_TYPE, 1, struct cmt_stats), 0xffffffff,
	};
	struct dev dev;
	unsigned int i;
	int err;

	dev_open(&dev, O_RDWR);
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		err = call(&dev, unknown[i], argument(&commands[0], 176));
		CHECK(err == -ENOTTY, "command %#lx: %s", unknown[i],
		      strerror(-err));
	}
	dev_close(&dev);
}

static void ioctl_size(void)
{
	static const uint32_t bad[] = { 0, 4, 8, 0xffffffff, 0x80000000 };
	const struct command *c;
	struct dev dev;
	unsigned int i;
	uint32_t *arg;
	int err;

	dev_open(&dev, O_RDWR);
	for (c = commands; c < commands + NR_COMMANDS; c++) {
		err = call(&dev, c->number, argument(c, c->size - 1));
		CHECK(err == -EINVAL, "%s, one byte short: %s", c->name,
		      strerror(-err));
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			err = call(&dev, c->number, argument(c, bad[i]));
			CHECK(err == -EINVAL, "%s, size %u: %s", c->name,
			      bad[i], strerror(-err));
		}
		/* larger: a program from the future that asks for nothing new */
		arg = argument(c, c->size + 24);
		err = call(&dev, c->number, arg);
		CHECK(!err || err == c->error, "%s with a zero tail: %s",
		      c->name, strerror(-err));
		CHECK(!(c->number & (unsigned long)_IOC_READ << _IOC_DIRSHIFT) ||
		      arg[0] == c->size, "%s: size %u written back", c->name,
		      arg[0]);
		arg = argument(c, c->size + 24);
		arg[c->size / 4 + 5] = 1;
		err = call(&dev, c->number, arg);
		CHECK(err == -EINVAL, "%s with a tail: %s", c->name,
		      strerror(-err));
	}
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
			arg = argument(c, c->size);
			arg[1] = 1U << bit;
			err = call(&dev, c->number, arg);
			CHECK(err == -EINVAL, "%s, flag %d: %s", c->name, bit,
			      strerror(-err));
		}
		if (!c->reserved)
			continue;
		arg = argument(c, c->size);
		/* a bit that is no option of ATTACH either */
		arg[c->reserved] = 2;
		err = call(&dev, c->number, arg);
		CHECK(err == -EINVAL, "%s, reserved field set: %s", c->name,
		      strerror(-err));
	}
	CHECK(dev_stats(&dev).readers == 0, "a bad ioctl made a reader");
	dev_close(&dev);
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
	for (c = commands; c < commands + NR_COMMANDS; c++) {
		err = call(&dev, c->number, NULL);
		CHECK(err == -EFAULT, "%s(NULL): %s", c->name, strerror(-err));
		err = call(&dev, c->number, (void *)-4096L);
		CHECK(err == -EFAULT, "%s in the kernel: %s", c->name,
		      strerror(-err));
		/* the size can be read, what follows cannot */
		edge = (uint32_t *)(map + page) - 1;
		*edge = c->size;
		err = call(&dev, c->number, edge);
		CHECK(err == -EFAULT, "%s across the edge: %s", c->name,
		      strerror(-err));
		/* can be read, but not written back */
		if (!(_IOC_DIR(c->number) & _IOC_READ))
			continue;
		memcpy(map, argument(c, c->size), c->size);
		mprotect(map, page, PROT_READ);
		err = call(&dev, c->number, map);
		CHECK(err == -EFAULT, "%s, read-only: %s", c->name,
		      strerror(-err));
		mprotect(map, page, PROT_READ | PROT_WRITE);
	}
	munmap(map, 2 * page);
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

static void set_caps(uint64_t caps)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)caps, (uint32_t)caps, 0 },
		{ caps >> 32, caps >> 32, 0 },
	};

	CHECK(!syscall(SYS_capset, &header, data), "capset: %m");
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

	set_caps(1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_PERFMON);
	CHECK(!set_interval(&rw, 3000000), "CAP_PERFMON is not enough");
	check_interval(3000000);
	set_caps(1ULL << CAP_DAC_OVERRIDE);
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
	CHECK(i->size == sizeof(*i) && !i->flags, "size and flags");
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
	      strnlen(i->reason, 64) < 64, "strings not terminated");
	dev_close(&dev);
}

/* The same, and the maps, as a 32-bit program sees them. */
static void compat_32bit(void)
{
	static const char *const prefixes[] = { "ioctl_", "map_" };
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0) {
			if (!freopen("/tmp/compat.log", "w", stdout))
				_exit(1);
			execl("/bin/suite32", "suite32", "--run", prefixes[i],
			      NULL);
			_exit(127);
		}
		expect_exit_0(pid, "suite32");
	}
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
	{ "compat_32bit", compat_32bit, NULL, 40 },
	{ }
};
