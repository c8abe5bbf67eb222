// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../vm/suite/suite.h"
#include "event.h"

static int event_try_of(pid_t pid, unsigned int config, unsigned int flags, int group,
			uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.disabled = group < 0,
		.pinned = !!(flags & PINNED),
		.exclude_kernel = !!(flags & USER),
		.read_format = PERF_FORMAT_GROUP |
			       PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, group,
		       PERF_FLAG_FD_CLOEXEC);
}

int event_try(unsigned int config, unsigned int flags, int group)
{
	return event_try_of(0, config, flags, group, 0);
}

int event_sample(unsigned int config, uint64_t period)
{
	int fd = event_try_of(0, config, USER, -1, period);

	CHECK(fd >= 0, "perf_event_open(%u), sampled: %m", config);
	return fd;
}

int event_open(unsigned int config, unsigned int flags, int group)
{
	int fd = event_try(config, flags, group);

	CHECK(fd >= 0, "perf_event_open(%u): %m", config);
	return fd;
}

int event_open_of(pid_t pid, unsigned int config, int group)
{
	int fd = event_try_of(pid, config, 0, group, 0);

	CHECK(fd >= 0, "perf_event_open(%u) of %d: %m", config, (int)pid);
	if (group < 0)
		event_enable(fd);
	return fd;
}

void event_enable(int fd)
{
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %m");
}

void event_disable(int fd)
{
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable: %m");
}

bool event_read(int fd, struct counts *counts)
{
	ssize_t n = read(fd, counts, sizeof(*counts));

	CHECK(n >= 0, "read: %m");
	return n > 0;
}

void event_read_all(int fd, struct counts *counts)
{
	CHECK(event_read(fd, counts), "the event is in error state");
	CHECK(counts->running_ns && counts->running_ns == counts->enabled_ns,
	      "the event shares a counter: %llu of %llu ns",
	      (unsigned long long)counts->running_ns,
	      (unsigned long long)counts->enabled_ns);
}

struct perf_event_mmap_page *event_map(int fd)
{
	struct perf_event_mmap_page *page;

	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED, "mmap of an event: %m");
	event_enable(fd);
	CHECK(page->cap_user_rdpmc && page->index,
	      "RDPMC is not to be used: index %u", page->index);
	return page;
}

bool event_rdpmc(const volatile struct perf_event_mmap_page *page,
		 uint64_t *value)
{
	uint32_t seq = page->lock, low, high;
	uint64_t n;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high)
			 : "c" (page->index - 1) : "memory");
	n = (uint64_t)high << 32 | low;
	n <<= 64 - page->pmc_width;
	*value = page->offset + ((int64_t)n >> (64 - page->pmc_width));
	return page->lock == seq;
}
