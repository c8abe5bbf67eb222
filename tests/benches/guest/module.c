// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define RMIDS_ROOM	2048
#define OWNER_FLAGS \
	(CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU | CMT_F_OWNER_OVERFLOW | \
	 CMT_F_OWNER_RESCTRL | CMT_F_OWNER_KERNEL)

static void load(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, params, 0))
		die_errno(path);
	close(fd);
}

static void unload(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die_errno("unloading a module");
}

/* With scope=process if @params name no scope. */
void module_load(const char *params)
{
	char named[512];

	snprintf(named, sizeof(named), "%s%s", params,
		 strstr(params, "scope=") ? "" : " scope=process");
	load("/lib/cmt.ko", named);
}

void module_unload(void)
{
	unload("cmt");
}

void probe_load(void)
{
	load("/lib/bench_probe.ko", "");
}

void probe_unload(void)
{
	unload("bench_probe");
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

void device_counters(int fd, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };
	struct cmt_info info;
	int tries = 0;

	if (ioctl(fd, CMT_IOC_SET_COUNTERS, &arg))
		die_errno("SET_COUNTERS");
	/* the values of the last measurement are dropped late */
	do {
		usleep(tries ? 100000 : 0);
		device_info(fd, &info);
	} while (info.counters != (counters & ~CMT_F_CHANNEL) && tries++ < 50);
	if (info.counters != (counters & ~CMT_F_CHANNEL))
		die("counters %#x of %#x: %s", info.counters, counters,
		    info.perf_reason);
}

void device_values(int fd, uint32_t values)
{
	struct cmt_values arg = { .size = sizeof(arg), .values = values };

	if (ioctl(fd, CMT_IOC_SET_VALUES, &arg))
		die_errno("SET_VALUES");
}

void device_scope(int fd, uint32_t scope, const char *patterns)
{
	struct cmt_scope arg = {
		.size = sizeof(arg),
		.scope = scope,
		.patterns_bytes = patterns ? strlen(patterns) : 0,
		.patterns = (uintptr_t)patterns,
	};

	if (ioctl(fd, CMT_IOC_SET_SCOPE, &arg))
		die_errno("CMT_IOC_SET_SCOPE");
}

uint32_t device_room(int fd, const struct cmt_info *info)
{
	struct cmt_stats stats;

	device_stats(fd, &stats);
	return info->rmids_usable > stats.rmids_active ?
	       info->rmids_usable - stats.rmids_active : 0;
}

/* The records of CMT_IOC_GET_RMIDS or CMT_IOC_GET_PENDING. */
static uint32_t list(int fd, unsigned int request, struct cmt_record *records)
{
	struct cmt_rmids arg = {
		.size = sizeof(arg),
		.count = RMIDS_ROOM,
		.records = (uintptr_t)records,
	};

	if (ioctl(fd, request, &arg))
		die_errno("the list of RMIDs");
	return arg.count;
}

static struct cmt_record listed[RMIDS_ROOM];

static bool is_owner(const struct cmt_record *record, uint32_t flag, uint64_t id)
{
	if ((record->flags & OWNER_FLAGS) != flag)
		return false;
	return flag == CMT_F_OWNER_CGROUP ? record->owner.cgroup_id == id :
					    record->tgid == id;
}

uint32_t device_rmid_of(int fd, uint32_t flag, uint64_t id)
{
	uint32_t i, n = list(fd, CMT_IOC_GET_RMIDS, listed);

	for (i = 0; i < n; i++) {
		if (is_owner(&listed[i], flag, id))
			return listed[i].rmid;
	}
	return CMT_RMID_NONE;
}

void device_list(int fd)
{
	list(fd, CMT_IOC_GET_RMIDS, listed);
	list(fd, CMT_IOC_GET_PENDING, listed);
}
