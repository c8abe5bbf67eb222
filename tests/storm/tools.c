// SPDX-License-Identifier: GPL-2.0-or-later
/* What the actors share */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
