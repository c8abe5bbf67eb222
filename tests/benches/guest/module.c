// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define MODULE_PATH	"/lib/cmt.ko"

void module_load(const char *params)
{
	int fd = open(MODULE_PATH, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno(MODULE_PATH);
	if (syscall(SYS_finit_module, fd, params, 0))
		die_errno("loading the module");
	close(fd);
}

void module_unload(void)
{
	if (syscall(SYS_delete_module, "cmt", O_NONBLOCK))
		die_errno("unloading the module");
}

int device_open(void)
{
	int fd = open("/dev/cmt", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die_errno("/dev/cmt");
	return fd;
}

void device_info(int fd, struct cmt_info *info)
{
	*info = (struct cmt_info){ .size = sizeof(*info) };
	if (ioctl(fd, CMT_IOC_GET_INFO, info))
		die_errno("CMT_IOC_GET_INFO");
}

void device_stats(int fd, struct cmt_stats *stats)
{
	*stats = (struct cmt_stats){ .size = sizeof(*stats) };
	if (ioctl(fd, CMT_IOC_GET_STATS, stats))
		die_errno("CMT_IOC_GET_STATS");
}

void device_interval(int fd, uint32_t interval_ns)
{
	struct cmt_interval arg = {
		.size = sizeof(arg),
		.interval_ns = interval_ns,
	};

	if (ioctl(fd, CMT_IOC_SET_INTERVAL, &arg))
		die_errno("CMT_IOC_SET_INTERVAL");
}
