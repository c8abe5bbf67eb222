// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many times the same: the module in and out, CPU 1 off and on, the machine asleep and
 * awake.  STORM_CYCLES is how often, 20 without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "storm.h"

#define POWER		"/sys/power/"
#define PM_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define RESET_AFTER_US	300000	/* everything is frozen then */

static uint64_t cycles(void)
{
	return storm_number("STORM_CYCLES", 20);
}

static void load(const char *params)
{
	int err = storm_load(params);

	CHECK(!err, "the module does not load (%s): %s", params, strerror(-err));
}

/* With a reader of its rings, and owners that come and go. */
static void use(struct dev *dev)
{
	pid_t pid;

	dev_open(dev, O_RDWR);
	dev_map(dev, FROM_NOW);
	pid = park(1, NULL);
	WAIT_FOR(dev_stats(dev).ticks, 10000, "no tick");
	reap(pid, 9);
}

void cycles_load(void)
{
	static const char *const params[] = {
		"ring_records=256", "scope=container", "backend=emulated",
		"scope=manual", "backend=software", "scope=cpu",
	};
	uint64_t n = cycles(), i;
	struct dev dev;

	storm_prepare();
	for (i = 0; i < n; i++) {
		load(params[i % (sizeof(params) / sizeof(params[0]))]);
		use(&dev);
		dev_close(&dev);
		CHECK(!module_unload(), "cycle %llu: the module does not unload",
		      (unsigned long long)i);
		if (i % 100 == 99)
			check_log();
	}
	note("cycles: %llu loads and unloads", (unsigned long long)n);
	check_unloaded();
	check_log();
}

/* The module stays loaded for fifty of them. */
void cycles_cpu(void)
{
	uint64_t n = cycles(), i;
	struct rng rng = { 1 };
	struct dev dev;

	storm_prepare();
	for (i = 0; i < n; i++) {
		if (i % 50 == 0) {
			load(i % 100 ? "scope=cpu" : "");
			use(&dev);
		}
		cpu_online(1, false);
		cpu_online(1, true);
		WAIT_FOR(dev_stats(&dev).cpus_online >= 2, 10000, "CPU 1 has no ring");
		if (i % 50 != 49 && i != n - 1)
			continue;
		dev_close(&dev);
		check_loaded(&rng);
		CHECK(!module_unload(), "the module does not unload");
		check_log();
	}
	note("cycles: CPU 1 %llu times offline and online", (unsigned long long)n);
	check_unloaded();
	check_log();
}

/* The counters are reset meanwhile, as a hibernation does. */
static void sleep_once(const char *level, const char *state)
{
	uint64_t resets = lab_get(LAB_MBM_RESET, RESET_AFTER_US);
	int err;

	CHECK(!write_file(PM_DELAY, "1"), PM_DELAY);
	CHECK(!write_file(POWER "pm_test", level), "pm_test: %s", level);
	err = write_file(POWER "state", state);
	CHECK(!err, "%s to " POWER "state: %s", state, strerror(-err));
	CHECK(!write_file(POWER "pm_test", "none"), "pm_test: none");
	WAIT_FOR(lab_get(LAB_STAT, LAB_S_MBM_RESETS) > resets, 10000,
		 "the counters were not reset");
}

/* One in fifty of the cycles: each takes more than a second. */
void cycles_sleep(void)
{
	uint64_t n = 2 + cycles() / 50, i, ticks;
	struct rng rng = { 1 };
	struct dev dev;

	if (!lab_present() || access(POWER "pm_test", F_OK)) {
		note("this kernel cannot test a suspend");
		return;
	}
	storm_prepare();
	load("");
	use(&dev);
	for (i = 0; i < n; i++) {
		if (i % 2)
			sleep_once("core", "mem");
		else
			sleep_once("devices", "freeze");
		ticks = dev_stats(&dev).ticks;
		WAIT_FOR(dev_stats(&dev).ticks > ticks + 2, 10000,
			 "no ticks after the resume");
	}
	dev_close(&dev);
	check_loaded(&rng);
	CHECK(!module_unload(), "the module does not unload");
	note("cycles: %llu suspends, the counters reset in each", (unsigned long long)n);
	check_unloaded();
	check_log();
}
