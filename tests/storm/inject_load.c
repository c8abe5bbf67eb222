// SPDX-License-Identifier: GPL-2.0-or-later
/* Each allocation of a load, and of bringing a CPU online, fails in turn */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"
#include "storm.h"

#define LOAD_PARAMS "ring_records=256 "

static struct injected injected;
static struct dev dev;

/*
 * Load with the nth allocation failing; returns the number of allocations until the
 * end.
 */
static unsigned int starve_load(const char *params, int fail, unsigned int nth)
{
	int fd = open("/lib/cmt.ko", O_RDONLY | O_CLOEXEC);
	unsigned int left;
	int err;

	CHECK(fd >= 0, "cmt.ko: %m");
	inject_nth(fail, nth);
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	left = inject_end(fail);
	if (!left)
		inject_look(&injected, err);
	close(fd);
	if (!err)
		CHECK(!module_unload(), "loaded, and does not unload");
	CHECK(left || !err || err == -ENOMEM || err == -EINVAL,
	      "load, allocation %u failing: %s", nth, strerror(-err));
	CHECK(!module_present() && access(DEV_PATH, F_OK) &&
	      access("/proc/cmt", F_OK), "allocation %u: something is left", nth);
	return nth - left;
}

/* A stride that meets all of n numbers: it has no factor in common with n. */
static unsigned int stride(unsigned int n)
{
	unsigned int step = n * 0.618, a, b, rest;

	for (;; step--) {
		for (a = n, b = step; b; a = b, b = rest)
			rest = a % b;
		if (a == 1 || step <= 1)
			return 1 > step ? 1 : step;
	}
}

/* The module works as if nothing had failed. */
static void load_works(const char *params)
{
	static struct snapshot snapshot;

	CHECK(!module_load(params), "the module does not load any more");
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_OLDEST);
	scope_set(&dev, CMT_SCOPE_PROCESS);
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot_find(&snapshot, getpid()) || dev_stats(&dev).pending,
	      "no owner any more");
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* With STORM_ALL a test fails if the time does not suffice for all allocations. */
static void check_all(const char *what, unsigned int done, unsigned int all)
{
	CHECK(done == all || !storm_number("STORM_ALL", 0),
	      "%s: only %u of %u allocations in the time", what, done, all);
}

/*
 * Each allocation of the module's part of a load fails in turn.  If the time does not
 * suffice, as many at equal distances, beginning at a number that depends on the seed.
 * The number of allocations that the kernel's loader makes before is known from a load
 * with a bad parameter.
 */
static void starve_loads(const char *params, int fail, uint64_t end)
{
	unsigned int first, all, n, step, done = 0;
	uint64_t begin = now_ns();

	memset(&injected, 0, sizeof(injected));
	starve_load("backend=foo", fail, INT_MAX);
	first = starve_load("backend=foo", fail, INT_MAX);
	all = starve_load(params, fail, INT_MAX);
	CHECK(all > first, "%u allocations, %u before the module's", all, first);
	step = stride(all - first);
	n = storm_number("STORM_SEED", 1) % (all - first);
	for (; done < all - first && (!done || now_ns() < end); done++) {
		starve_load(params, fail, first + 1 + n);
		n = (n + step) % (all - first);
		if (done % 200 == 199)
			check_log();
	}
	note("%s: %u of %u allocations of a load, after %u of the loader, %llu ms each", params,
	     done, all - first, first,
	     (unsigned long long)((now_ns() - begin) / 1000000 / (done + 3)));
	inject_note("load", &injected);
	check_all(params, done, all - first);
	load_works(params);
	check_unloaded();
	check_log();
}

/* The end of the first of @nr equal parts of the remaining time */
static uint64_t part_of(uint64_t end, unsigned int nr)
{
	uint64_t now = now_ns();

	return now < end ? now + (end - now) / nr : now;
}

void famine_load(void)
{
	static const char *const params[] = {
		LOAD_PARAMS, LOAD_PARAMS "backend=emulated",
		LOAD_PARAMS "backend=software scope=container",
	};
	const unsigned int nr = sizeof(params) / sizeof(params[0]);
	uint64_t end = now_ns() + storm_number("STORM_FAMINE", 20) * 1000000000;
	unsigned int i;
	int fail;

	CHECK(famine_possible(), "this kernel cannot make allocations fail");
	inject_begin();
	fail = inject_open("thread-self");
	for (i = 0; i < nr; i++)
		starve_loads(params[i], fail, part_of(end, nr - i));
	inject_sum("loads");
}

/* A thread of the kernel brings CPU 1 up. */
static int fail_open_hotplug(void)
{
	char path[64], text[64];
	struct dirent *entry;
	int fd = -1;
	DIR *proc;

	proc = opendir("/proc");
	CHECK(proc, "/proc: %m");
	while (fd < 0 && (entry = readdir(proc))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm",
			 atoi(entry->d_name));
		if (strcmp(read_file(path, text, sizeof(text)), "cpuhp/1\n"))
			continue;
		snprintf(path, sizeof(path), "%d/task/%d", atoi(entry->d_name),
			 atoi(entry->d_name));
		fd = inject_open(path);
	}
	closedir(proc);
	CHECK(fd >= 0, "no cpuhp/1");
	return fd;
}

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

/*
 * CPU 1 comes online with the nth allocation of a task failing.  If the module is
 * loaded, it is the first time since the load.  Returns the number of allocations of
 * the task.
 */
static unsigned int starve_online(bool loaded, int fail, unsigned int nth)
{
	unsigned int left;
	int err;

	cpu_online(1, false);
	CHECK(!loaded || !module_load(LOAD_PARAMS), "load");
	inject_nth(fail, nth);
	err = write_file(CPU1_ONLINE, "1");
	left = inject_end(fail);
	if (!left)
		inject_look(&injected, err);
	CHECK(!err || !left, "CPU 1: %s", strerror(-err));
	if (err)
		cpu_online(1, true);
	if (!loaded)
		return nth - left;
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	CHECK(ring_state(&dev.rings[1]) == CMT_RING_ONLINE,
	      "allocation %u: the ring is not online", nth);
	dev_close(&dev);
	cpu_online(1, false);
	CHECK(!module_unload(), "unload");
	cpu_online(1, true);
	return nth - left;
}

/*
 * Allocations of the task that requests the CPU, among them those of the module's
 * preparation.  Then allocations of the kernel's thread on the CPU, of which the
 * module's are the last.
 */
static void starve_task(const char *who, int fail, bool only_last)
{
	uint64_t end = now_ns() + storm_number("STORM_FAMINE", 20) * 1000000000 / 2;
	unsigned int first, all, n, step, done;

	memset(&injected, 0, sizeof(injected));
	starve_online(false, fail, INT_MAX);
	first = only_last ? starve_online(false, fail, INT_MAX) : 0;
	all = starve_online(true, fail, INT_MAX);
	/* the number of the kernel's allocations varies */
	first = all > first + 2 ? first : all - 2;
	all -= first;
	step = stride(all);
	n = storm_number("STORM_SEED", 1) % all;
	/* on a busy host, at least one */
	for (done = 0; done < all && (!done || now_ns() < end); done++) {
		starve_online(true, fail, first + 1 + n);
		n = (n + step) % all;
	}
	note("%s: %u of %u allocations, after %u", who, done, all, first);
	inject_note(who, &injected);
	check_all(who, done, all);
	check_log();
}

void famine_online(void)
{
	CHECK(famine_possible(), "this kernel cannot make allocations fail");
	inject_begin();
	starve_task("who asks", inject_open("thread-self"), false);
	starve_task("cpuhp/1", fail_open_hotplug(), true);
	inject_sum("a CPU's coming online");
	check_unloaded();
	check_log();
}
