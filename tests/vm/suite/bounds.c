// SPDX-License-Identifier: GPL-2.0-or-later
/* What a user without privileges can make other users pay */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

#define MOST_PIDS	4194304
#define CHAIN		800
#define TRIES		2000

static pid_t pids[CHAIN];

/* The bucket of a process without the secret of this load: hash_64() of its id and kind */
static unsigned int plain_bucket(uint64_t pid)
{
	uint64_t key = pid ^ (uint64_t)CMT_OWNER_PROCESS << 56;

	return key * 0x61c8864680b583ebULL >> 52;
}

/* The least time of an ioctl that looks for the owner of a process, ns */
static uint64_t lookup_ns(const struct dev *dev, pid_t pid)
{
	uint64_t from, took, least = UINT64_MAX;
	int i, err;

	for (i = 0; i < TRIES; i++) {
		from = now_ns();
		err = detach(dev, CMT_OWNER_PROCESS, pid);
		took = now_ns() - from;
		CHECK(err == -ENOENT, "DETACH of %d: %s", pid, strerror(-err));
		least = took < least ? took : least;
	}
	return least;
}

/* Processes whose ids a user has chosen do not make the search for one of them long. */
static void bounds_chosen_ids(void)
{
	unsigned int bucket = plain_bucket(1 << 20), n = 0, i;
	uint64_t alone, among;
	struct dev dev;
	pid_t pid;

	CHECK(!write_file("/proc/sys/kernel/pid_max", "4194304"), "pid_max");
	dev_open(&dev, O_RDWR);
	CHECK(plain_bucket(getpid()) != bucket, "this process is in the bucket");
	for (pid = 1 << 16; n < CHAIN && pid < MOST_PIDS; pid++)
		if (plain_bucket(pid) == bucket)
			pids[n++] = park_as(pid);
	CHECK(n == CHAIN, "%u processes", n);
	alone = lookup_ns(&dev, getpid());
	among = lookup_ns(&dev, pids[0]);
	note("the owner of a process is found in %llu ns, that of the oldest of %u chosen ids in %llu ns",
	     (unsigned long long)alone, n, (unsigned long long)among);
	CHECK(among < 2 * alone, "%llu ns with chosen ids, %llu ns without",
	      (unsigned long long)among, (unsigned long long)alone);
	for (i = 0; i < n; i++)
		reap(pids[i], SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

const struct test bounds_tests[] = {
	{ "bounds_chosen_ids", bounds_chosen_ids, SOFTWARE "scope=process", 60 },
	{ }
};
