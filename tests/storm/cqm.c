// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clients of the perf PMUs cmt and intel_cqm, and of the processor's counters: events of
 * tasks, cgroups and CPUs that are opened, read, enabled and disabled.  They are closed in
 * any order, also by the death of their process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define MOST_EVENTS	12

enum { OCCUPANCY = 1, TOTAL, LOCAL };

static struct event {
	int fd;			/* 0: none */
	bool traffic;		/* never decreases */
	uint64_t last;		/* the last value */
	bool pinned;		/* may have no counter, and no value */
} events[MOST_EVENTS];

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
		      unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			 flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_cgroup(struct rng *rng, struct perf_event_attr *attr)
{
	int group = storm_open_group(rng_below(rng, STORM_GROUPS)), fd;

	if (group < 0)
		return group;
	fd = event_open(attr, group, rng_below(rng, 3), PERF_FLAG_PID_CGROUP);
	close(group);
	return fd;
}

static int open_some(struct rng *rng, struct perf_event_attr *attr)
{
	switch (rng_below(rng, 3)) {
	case 0:
		return event_open(attr, storm_some_id(rng, CMT_OWNER_PROCESS),
				  -1, 0);
	case 1:
		return open_cgroup(rng, attr);
	}
	return event_open(attr, -1, storm_some_id(rng, CMT_OWNER_CPU), 0);
}

static void read_event(struct event *e)
{
	uint64_t value = e->last;
	ssize_t n = read(e->fd, &value, sizeof(value));

	CHECK(n == sizeof(value) || (!n && e->pinned) ||
	      (n < 0 && errno == EINTR), "read of an event: %zd, %m", n);
	CHECK(!e->traffic || value >= e->last,
	      "an event had %llu bytes of traffic, and has %llu",
	      (unsigned long long)e->last, (unsigned long long)value);
	e->last = value;
	did(DEED_event_reads);
}

/* cmt's events and these need each other's counters. */
static void want_counter(struct rng *rng, struct perf_event_attr *attr)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
		PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
		PERF_COUNT_HW_REF_CPU_CYCLES,
	};

	attr->type = PERF_TYPE_HARDWARE;
	attr->config = configs[rng_below(rng, sizeof(configs) / sizeof(configs[0]))];
	attr->pinned = rng_one_in(rng, 3);
}

/* ENOENT, ENODEV: the module is gone, or the CPU is. */
static void open_event(struct rng *rng, struct event *e)
{
	struct perf_event_attr attr = {
		.type = pmu_type(rng_one_in(rng, 4) ? "intel_cqm" : "cmt"),
		.size = sizeof(attr),
		.config = OCCUPANCY + rng_below(rng, 3),
		.disabled = rng_one_in(rng, 3),
		.inherit = rng_one_in(rng, 3),
	};
	bool counter = rng_one_in(rng, 2);
	int fd;

	if (counter)
		want_counter(rng, &attr);
	else if (!attr.type)
		return;
	fd = open_some(rng, &attr);
	storm_check_errno("perf_event_open", fd < 0 ? fd : 0,
			  ALLOW(ESRCH, ENOENT, ENODEV, EBUSY, EINTR, EINVAL,
				EBADF, ENOSPC, EOPNOTSUPP));
	if (fd < 0)
		return;
	*e = (struct event){
		.fd = fd, .traffic = !counter && attr.config != OCCUPANCY,
		.pinned = attr.pinned,
	};
	did(DEED_events);
	read_event(e);
}

static void close_event(struct event *e)
{
	close(e->fd);
	e->fd = 0;
}

static void change_event(struct rng *rng, struct event *e)
{
	switch (rng_below(rng, 3)) {
	case 0:
		ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0);
		break;
	case 1:
		ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
		break;
	case 2:
		CHECK(!ioctl(e->fd, PERF_EVENT_IOC_RESET, 0), "RESET: %m");
		e->last = 0;
		break;
	}
}

static void close_all(void)
{
	unsigned int i;

	for (i = 0; i < MOST_EVENTS; i++)
		if (events[i].fd)
			close_event(&events[i]);
}

void act_perf(struct rng *rng)
{
	struct event *e = &events[rng_below(rng, MOST_EVENTS)];
	static bool joined;

	if (!joined)
		famine_join();
	joined = true;
	if (storm_closing())
		close_all();
	else if (!e->fd)
		open_event(rng, e);
	else if (rng_one_in(rng, 8))
		close_event(e);
	else if (rng_one_in(rng, 3))
		change_event(rng, e);
	else
		read_event(e);
	usleep(rng_below(rng, 20000));
}
