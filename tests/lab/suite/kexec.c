// SPDX-License-Identifier: GPL-2.0-or-later
/* The second kernel after kexec -e below a reader: nothing is another agent's. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "tests.h"
#include "uncore.h"

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "info: %m");
	return info;
}

static bool is_second(void)
{
	char line[4096];

	return strstr(read_file("/proc/cmdline", line, sizeof(line)), "cmt_lab.second");
}

static void test_counters(void)
{
	struct cmt_info info;
	struct dev dev;

	CHECK(is_second(), "this is the first kernel");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	WAIT_FOR((info = info_of(&dev), CMT_ASSIGNABLE_OURS(info.assignable)), 20000,
		 "no counter is assigned");
	note("%u counters, of other agents: %u", CMT_ASSIGNABLE_OURS(info.assignable),
	     CMT_ASSIGNABLE_OTHERS(info.assignable));
	CHECK(!CMT_ASSIGNABLE_OTHERS(info.assignable), "counters are another agent's");
	dev_close(&dev);
}

static struct cmt_uncore uncore_now(const struct dev *dev)
{
	struct cmt_uncore uncore = { .size = sizeof(uncore) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_UNCORE, &uncore) || errno == ENOSPC, "uncore: %m");
	return uncore;
}

static void test_channels(void)
{
	struct cmt_uncore uncore;
	struct dev dev;

	CHECK(is_second(), "this is the first kernel");
	open_reader(&dev, FROM_NOW);
	uncore = uncore_now(&dev);
	note("%u channels: \"%s\"", uncore.channels, uncore.channels_reason);
	CHECK(uncore.channels == nr_channels() && !uncore.channels_reason[0],
	      "boxes are another agent's");
	dev_close(&dev);
}

const struct test kexec_counters_tests[] = {
	{ "kexec_frees_assigned_counters", test_counters, PROCESS, 60 },
	{ 0 }
};

const struct test kexec_channels_tests[] = {
	{ "kexec_frees_memory_channels", test_channels, SLOWLY, 60 },
	{ 0 }
};
