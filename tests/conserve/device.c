// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library for LD_PRELOAD: a program that opens the file of rings of live.c has the
 * calls of /dev/cmt.  The rings are mapped from the file.  The file says nothing to
 * poll(2), so that ppoll() returns after CONSERVE_POLL_US at most, 2000 if not set: a
 * reader that is woken seldom loses records.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "conserve.h"

#define HOLD_NS		1000000000	/* readers wait for a ring for 13/16 of it, at most 500 ms */

static int device = -1;

static int fail(int err)
{
	errno = err;
	return -1;
}

/* What was asked for, up to what is known. */
static int answer(void *to, const void *from, uint32_t size)
{
	uint32_t asked;

	memcpy(&asked, to, sizeof(asked));
	memcpy(to, from, asked < size ? asked : size);
	return 0;
}

static int get_info(void *to)
{
	const struct cmt_info info = {
		.size = sizeof(info), .abi_version = CMT_ABI_VERSION,
		.backend = CMT_BACKEND_EMULATED, .scope = CMT_SCOPE_CONTAINER,
		.instance = INSTANCE, .nr_cpus = NR_RINGS, .nr_rmids = 8,
		.rmids_usable = 7, .events = CMT_F_OCCUPANCY, .upscale_bytes = 1024,
		.counter_bits = 24, .ring_records = RING_RECORDS,
		.interval_ns = 1000000, .interval_min_ns = 100000,
		.interval_max_ns = 1000000000, .ring_bytes = RING_BYTES,
		.limbo_ns = 2000000, .ring_hold_ns = HOLD_NS, .budget_ns = 20000,
		.idle_ticks = 32, .resctrl = CMT_RESCTRL_RESPECT,
		.module_version = "0.0.0", .reason = "made up",
		.counters = CMT_F_CYCLES | CMT_F_INSTRUCTIONS,
	};

	return answer(to, &info, sizeof(info));
}

static int get_stats(void *to)
{
	const struct cmt_stats stats = {
		.size = sizeof(stats), .rmids_active = 1, .cpus_online = NR_RINGS,
	};

	return answer(to, &stats, sizeof(stats));
}

static int get_rmids(struct cmt_rmids *rmids)
{
	const struct cmt_record owner = {
		.ts = 1, .type = CMT_REC_EXISTING, .rmid = LIVE_RMID, .generation = 1,
		.flags = CMT_F_OWNER_CGROUP, .owner.cgroup_id = LIVE_CGROUP,
		.owner.comm = "live",
	};
	uint32_t room = rmids->count;
	struct timespec ts;

	rmids->count = 1;
	if (room < 1)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)rmids->records, &owner, sizeof(owner));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	rmids->as_of = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	return 0;
}

static int get_pending(struct cmt_rmids *rmids)
{
	rmids->count = 0;
	return 0;
}

int ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	switch (command) {
	case CMT_IOC_GET_INFO:
		device = fd;
		return get_info(arg);
	case CMT_IOC_GET_STATS:
		return get_stats(arg);
	case CMT_IOC_GET_RMIDS:
		return get_rmids(arg);
	case CMT_IOC_GET_PENDING:
		return get_pending(arg);
	case CMT_IOC_SET_WATERMARK:
	case CMT_IOC_SET_COUNTERS:
	case CMT_IOC_SET_VALUES:
		return 0;
	}
	return fail(command == CMT_IOC_PATH_OF_CGROUP ? ENOENT : ENOTTY);
}

/* CONSERVE_POLL_US, read before the filter is loaded */
static long poll_ns = 2000000;

__attribute__((constructor)) static void begin(void)
{
	const char *us = getenv("CONSERVE_POLL_US");

	if (us)
		poll_ns = atol(us) * 1000;
}

static bool is_longer(const struct timespec *timeout)
{
	return !timeout || timeout->tv_sec || timeout->tv_nsec > poll_ns;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	static int (*next)(struct pollfd *, nfds_t, const struct timespec *,
			   const sigset_t *);
	const struct timespec least = { .tv_nsec = poll_ns };
	nfds_t i;
	int ret;

	if (!next)
		next = (int (*)(struct pollfd *, nfds_t, const struct timespec *,
				const sigset_t *))dlsym(RTLD_NEXT, "ppoll");
	for (i = 0; i < n && (fds[i].fd < 0 || fds[i].fd != device); i++)
		;
	if (i == n)
		return next(fds, n, timeout, mask);
	fds[i].fd = -1;
	ret = next(fds, n, is_longer(timeout) ? &least : timeout, mask);
	fds[i].fd = device;
	if (ret < 0)
		return ret;
	fds[i].revents = POLLIN;
	return ret + 1;
}
