// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the PMUs that the module registers.  Other PMUs are the kernel's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guestfuzz.h"

static int draw_event(struct fuzzer *f)
{
	return slot_fd(slot_look(SLOTS_PERF, draw(f, NR_SLOTS)));
}

static void attr_change(struct fuzzer *f, struct perf_event_attr *attr)
{
	uint32_t at = draw(f, sizeof(*attr));

	switch (draw(f, 4)) {
	case 0:
		((char *)attr)[at] ^= 1 << draw(f, 8);
		break;
	case 1:
		attr->config = draw_odd(f);
		break;
	case 2:
		attr->size = draw_one_in(f, 2) ? draw_odd(f) : draw(f, 256);
		break;
	case 3:
		attr->read_format = draw(f, 64);
		break;
	}
}

/* A process, this thread, none, or the descriptor of a cgroup, @group then */
static pid_t draw_target(struct fuzzer *f, int *group)
{
	char path[64];

	switch (draw(f, 5)) {
	case 0:	return 0;
	case 1:	return -1;
	case 2:	return (pid_t)draw_odd(f);
	case 3:
		snprintf(path, sizeof(path), CGROUPS "/fuzz%u.service",
			 draw(f, NR_GROUPS));
		*group = open(path, O_RDONLY | O_CLOEXEC);
		return *group;
	}
	return fuzz->parked[draw(f, NR_PARKED)];
}

long fuzz_perf_open(struct fuzzer *f)
{
	uint32_t type = fuzz->perf_types[draw_one_in(f, 4)];
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr),
		.config = 1 + draw(f, 3), .disabled = draw(f, 2),
		.inherit = draw_one_in(f, 3),
	};
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (draw_one_in(f, 16) ? draw(f, 16) : 0);
	int cgroup = -1;
	pid_t pid = draw_target(f, &cgroup);
	int cpu = pid >= 0 && cgroup < 0 ? -1 : (int)draw(f, 5) - 1;
	int group = draw_one_in(f, 4) ? draw_event(f) : -1;
	uint64_t at = (uintptr_t)&attr;
	int fd;

	if (!type)
		return -ENOENT;
	if (draw_one_in(f, 2))
		attr_change(f, &attr);
	attr.type = type;
	if (draw_one_in(f, 32))
		at = draw_address(f);
	if (cgroup >= 0)
		flags |= PERF_FLAG_PID_CGROUP;
	fd = syscall(SYS_perf_event_open, at, pid, cpu, group, flags);
	if (fd < 0)
		fd = -errno;
	if (cgroup >= 0)
		close(cgroup);
	if (fd < 0)
		return fd;
	CHECK(f->may_control, "an event without the rights for it");
	slot_set(SLOTS_PERF, draw(f, NR_SLOTS), fd);
	return 0;
}

long fuzz_perf_ioctl(struct fuzzer *f)
{
	static const unsigned long cmds[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_SET_OUTPUT,
		PERF_EVENT_IOC_SET_FILTER, PERF_EVENT_IOC_ID, PERF_EVENT_IOC_SET_BPF,
		PERF_EVENT_IOC_PAUSE_OUTPUT, PERF_EVENT_IOC_QUERY_BPF,
		PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
	};
	unsigned long cmd = cmds[draw(f, sizeof(cmds) / sizeof(cmds[0]))];
	unsigned long arg = draw_one_in(f, 2) ? draw_address(f) : draw(f, 4);

	if (cmd == PERF_EVENT_IOC_SET_OUTPUT)
		arg = draw_event(f);
	if (draw_one_in(f, 4))
		arg |= PERF_IOC_FLAG_GROUP;
	return ioctl(draw_event(f), cmd, arg) < 0 ? -errno : 0;
}

long fuzz_perf_read(struct fuzzer *f)
{
	uint64_t at = draw_one_in(f, 8) ? draw_address(f) : (uintptr_t)f->arena;
	ssize_t n = read(draw_event(f), (void *)(uintptr_t)at, draw(f, 512));

	return n < 0 ? -errno : n;
}

long fuzz_perf_mmap(struct fuzzer *f)
{
	size_t bytes = (1 + (draw(f, 2) ? 1UL << draw(f, 3) : 0)) * 4096;
	char *at = mmap(NULL, bytes, PROT_READ | (draw_one_in(f, 2) ? PROT_WRITE : 0),
			MAP_SHARED, draw_event(f), 0);

	if (at == MAP_FAILED)
		return -errno;
	return munmap(at, bytes) ? -errno : 0;
}

long fuzz_perf_close(struct fuzzer *f)
{
	slot_set(SLOTS_PERF, draw(f, NR_SLOTS), -1);
	return 0;
}
