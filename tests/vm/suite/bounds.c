// SPDX-License-Identifier: GPL-2.0-or-later
/* What a user without privileges can make other users and other CPUs pay */
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

/* The function call interrupts of CPU 1 until now */
static unsigned long calls_of_cpu_1(void)
{
	static char text[1 << 16];
	unsigned long cpu1;
	const char *line;

	line = strstr(read_file("/proc/interrupts", text, sizeof(text)), "CAL:");
	CHECK(line && sscanf(line, "CAL: %*u %lu", &cpu1) == 1, "no row CAL");
	return cpu1;
}

/* What a container holds by a reading now */
static uint64_t holds(const struct dev *dev, uint64_t id)
{
	struct cmt_record records[4];	/* by domain */
	int n = owner_read(dev, CMT_OWNER_CGROUP, id, records, 4);
	uint64_t bytes = 0;

	while (n > 0)
		bytes += records[--n].sample.occupancy_bytes;
	return bytes;
}

#define MOVES		40
#define GROUPS		7

/* The kernel's workers on these CPUs only, as it is where CPUs are isolated */
static void workers_on(const char *mask)
{
	CHECK(!write_file("/sys/devices/virtual/workqueue/cpumask", mask), "cpumask");
}

static void check_quiet(const char *what, unsigned int n, unsigned long before)
{
	unsigned long calls = calls_of_cpu_1() - before;

	note("%u %s: %lu interrupts of the excluded CPU", n, what, calls);
	/* some are the kernel's own, of wake-ups */
	CHECK(calls < n / 4, "%lu interrupts of the excluded CPU", calls);
}

/*
 * A process moves between two containers on CPU 0: the excluded CPU, where another one runs,
 * is left alone.  When that one moves, its CPU loads the RMID of its new container.
 */
static void bounds_excluded_moves(void)
{
	unsigned long before;
	unsigned int i;
	struct dev dev;
	uint64_t id;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	for (i = 0; i < 3; i++)
		group_make(container(i));
	pid = spin_on(1);
	wait_spin();
	group_enter(container(2), pid);
	run_on(0, 0);
	workers_on("1");
	sleep_ms(100);
	before = calls_of_cpu_1();
	for (i = 0; i < MOVES; i++) {
		/* its RMID is in limbo until the CPUs have been asked for the move */
		group_make(container(3));
		group_remove(container(3));
		group_enter(container(i & 1), getpid());
		WAIT_FOR(!dev_stats(&dev).rmids_limbo, 5000, "still in limbo");
	}
	check_quiet("moves", MOVES, before);

	for (i = 3; i < GROUPS; i++) {
		id = group_make(container(i));
		group_enter(container(i), pid);
		WAIT_FOR(holds(&dev, id), 5000, "the CPU keeps the old RMID");
	}
	workers_on("3");
	reap(pid, SIGKILL);
	group_enter("", getpid());
	for (i = 0; i < GROUPS; i++)
		group_remove(container(i));
	check_pool(&dev);
	dev_close(&dev);
}

#define STARTS		200

/* Readers that come and go start the ticks of the other CPUs only. */
static void bounds_excluded_readers(void)
{
	unsigned long before;
	unsigned int i;
	struct dev dev;
	pid_t pid;

	pid = spin_on(1);
	wait_spin();
	run_on(0, 0);
	before = calls_of_cpu_1();
	for (i = 0; i < STARTS; i++) {
		dev_open(&dev, O_RDONLY);
		dev_map(&dev, FROM_NOW);
		dev_unmap(&dev);
		dev_close(&dev);
	}
	check_quiet("starts of the ticks", i, before);
	reap(pid, SIGKILL);
}

#define FREED		1500
#define CALLS_MAX	36	/* with those of the change of scope, and the kernel's own */

/* A drain ends the limbo of all RMIDs that were freed before it, not of a few. */
static void bounds_freed_at_once(void)
{
	unsigned int nr = FREED / slowness, i;
	static pid_t freed[FREED];
	unsigned long calls;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	run_on(0, 0);
	for (i = 0; i < nr; i++)
		freed[i] = park(0, NULL);
	CHECK(dev_stats(&dev).rmids_active > nr, "%u owners", dev_stats(&dev).rmids_active);
	workers_on("1");
	sleep_ms(100);
	calls = calls_of_cpu_1();
	scope_set(&dev, CMT_SCOPE_MANUAL);
	WAIT_FOR(dev_stats(&dev).rmids_active == 1 && !dev_stats(&dev).rmids_limbo, 5000,
		 "%u in use, %u in limbo", dev_stats(&dev).rmids_active,
		 dev_stats(&dev).rmids_limbo);
	calls = calls_of_cpu_1() - calls;
	workers_on("3");
	note("%lu interrupts of CPU 1 after %u RMIDs were freed", calls, nr);
	CHECK(calls < CALLS_MAX, "%lu interrupts of CPU 1", calls);
	for (i = 0; i < nr; i++)
		reap(freed[i], SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

const struct test bounds_tests[] = {
	{ "bounds_chosen_ids", bounds_chosen_ids, SOFTWARE "scope=process", 60 },
	{ "bounds_excluded_moves", bounds_excluded_moves,
	  EMULATED "scope=container exclude_cpus=1", 60 },
	{ "bounds_freed_at_once", bounds_freed_at_once,
	  EMULATED "scope=process emulated_rmids=1600", 90 },
	{ "bounds_excluded_readers", bounds_excluded_readers,
	  EMULATED "scope=manual exclude_cpus=1", 40 },
	{ }
};
