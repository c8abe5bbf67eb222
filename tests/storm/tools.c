// SPDX-License-Identifier: GPL-2.0-or-later
/* Common functions of the actors */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "storm.h"

struct storm *storm;

void did(enum deed deed)
{
	__atomic_fetch_add(&storm->deeds[deed], 1, __ATOMIC_RELAXED);
}

/* xorshift64*; a state of 0 would stay 0 */
uint32_t rng_next(struct rng *rng)
{
	uint64_t x = rng->state ? rng->state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rng->state = x;
	return x * 0x2545f4914f6cdd1dULL >> 32;
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint64_t)rng_next(rng) * n >> 32;
}

bool rng_one_in(struct rng *rng, uint32_t n)
{
	return !rng_below(rng, n);
}

pid_t storm_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	return 0;
}

uint64_t storm_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

int storm_load(const char *params)
{
	const char *backend = getenv("STORM_BACKEND");
	char named[512];

	if (!backend || !*backend)
		return module_load(params);
	/* the last one counts */
	snprintf(named, sizeof(named), "%s backend=%s", params, backend);
	return module_load(named);
}

bool storm_closing(void)
{
	return __atomic_load_n(&storm->closing, __ATOMIC_RELAXED);
}

bool storm_open(struct dev *dev, int flags)
{
	memset(dev, 0, sizeof(*dev));
	if (storm_closing()) {
		sleep_ms(1);
		return false;
	}
	dev->fd = open(DEV_PATH, flags | O_CLOEXEC);
	if (dev->fd < 0) {
		CHECK(errno == ENOENT || errno == ENODEV || errno == ENXIO ||
		      errno == ENOMEM, "open " DEV_PATH ": %m");
		sleep_ms(1);
		return false;
	}
	dev->info.size = sizeof(dev->info);
	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &dev->info), "GET_INFO: %m");
	return true;
}

void storm_check_errno(const char *what, int err, const int *allowed)
{
	if (err == -ENOMEM)
		did(DEED_starved);
	if (!err || err == -ENOMEM)
		return;
	while (*allowed && *allowed != -err)
		allowed++;
	CHECK(*allowed, "%s: %s", what, strerror(-err));
}

uint64_t storm_some_id(struct rng *rng, uint32_t kind)
{
	switch (kind) {
	case CMT_OWNER_PROCESS:
		return storm->pids[rng_below(rng, STORM_PIDS)];
	case CMT_OWNER_CGROUP:
		return storm->cgroups[rng_below(rng, STORM_GROUPS)];
	}
	return rng_below(rng, 3);
}
