// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repetitions: the module is loaded and unloaded, CPU 1 goes offline and online, the
 * machine suspends and resumes.  STORM_CYCLES is their number, 20 without it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "../lab/suspend.h"
#include "storm.h"

#define ASLEEP_S	1
#define AGENT		2	/* an RMID */

static uint64_t cycles(void)
{
	return storm_number("STORM_CYCLES", 20);
}

static void load(const char *params)
{
	int err = storm_load(params);

	CHECK(!err, "the module does not load (%s): %s", params, strerror(-err));
}

/* With a reader of its rings, and owners that begin and end. */
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

static void set_fifo(pid_t pid, int priority)
{
	struct sched_param param = { priority };

	CHECK(!sched_setscheduler(pid, SCHED_FIFO, &param), "SCHED_FIFO of %d: %m", pid);
}

/* Where RCU has a thread on CPU 1 (PREEMPT_RT), it goes before every task of this test. */
static void raise_rcu(void)
{
	char path[300], comm[32];
	const struct dirent *entry;
	DIR *dir = opendir("/proc");

	CHECK(dir, "/proc: %m");
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) && !access(path, R_OK) &&
		    !strcmp(read_file(path, comm, sizeof(comm)), "rcuc/1\n"))
			set_fifo(atoi(entry->d_name), 60);
	}
	closedir(dir);
}

static void agent_write(uint32_t rmid)
{
	run_on(0, 1);
	lab_ask(LAB_RMID_SET, LAB_ARG(0, rmid, 0));
}

/* A real-time task that keeps CPU 1, where an agent has loaded an RMID */
static pid_t agent_spin(void)
{
	pid_t pid = fork_on(1);

	if (pid)
		return pid;
	set_fifo(0, 50);
	agent_write(AGENT);
	for (;;)
		;
}

/* What the module finds on such a CPU is known, and the module can be unloaded. */
void cycles_real_time(void)
{
	uint64_t n = 1 + cycles() / 10, i;
	struct dev dev;
	pid_t pid;

	CHECK(lab_present(), "no CPU has RMIDs");
	storm_prepare();
	raise_rcu();
	run_on(0, 0);
	for (i = 0; i < n; i++) {
		load("scope=manual");
		pid = agent_spin();
		dev_open(&dev, O_RDWR);
		dev_map(&dev, FROM_NOW);
		WAIT_FOR(dev_stats(&dev).rmids_foreign, 10000, "RMID %u is not known",
			 AGENT);
		dev_close(&dev);
		CHECK(!module_unload(), "the module does not unload");
		reap(pid, SIGKILL);
		agent_write(0);
		run_on(0, 0);
	}
	check_unloaded();
	check_log();
}

/* One in fifty of the cycles: each takes more than a second. */
void cycles_sleep(void)
{
	uint64_t n = 2 + cycles() / 50, i, ticks;
	struct rng rng = { 1 };
	struct dev dev;

	CHECK(lab_present(), "no CPU has RMIDs");
	CHECK(!access(SUSPEND_POWER "pm_test", F_OK), "this kernel cannot test a suspend");
	storm_prepare();
	load("");
	use(&dev);
	for (i = 0; i < n; i++) {
		if (i % 2)
			suspend_once("core", "mem", ASLEEP_S);
		else
			suspend_once("devices", "freeze", ASLEEP_S);
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
