// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A test of the lab itself: code that the kernel patches on one CPU runs patched on
 * others.  QEMU 7.2 without tests/lab/qemu/stale-code.patch hangs within 50 flips.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define FLIPS	200
#define MOUNTS	20
#define BUSY	3

/* Static keys, and tracepoints, in the paths that run_patched_code() takes. */
static const char *const switches[] = {
	"/proc/sys/kernel/sched_schedstats",
	"/sys/kernel/tracing/events/sched/sched_wakeup/enable",
	"/sys/kernel/tracing/events/sched/sched_stat_runtime/enable",
	"/sys/kernel/tracing/events/task/task_newtask/enable",
};

#define NR_SWITCHES (sizeof(switches) / sizeof(switches[0]))

static pid_t run_patched_code(void)
{
	pid_t pid = fork_on(1);

	if (pid)
		return pid;
	for (;;) {
		pid = fork();
		if (!pid)
			_exit(0);
		sched_yield();
		waitpid(pid, NULL, 0);
	}
}

static void flip(unsigned int n)
{
	size_t i;

	for (i = 0; i < NR_SWITCHES; i++)
		CHECK(!write_file(switches[i], n % 2 ? "0" : "1"), "%s",
		      switches[i]);
}

static void test_patched(void)
{
	pid_t pids[BUSY];
	unsigned int i;

	CHECK(lab_present(), "this is not the lab processor");
	run_on(0, 0);
	for (i = 0; i < BUSY; i++)
		pids[i] = run_patched_code();
	for (i = 0; i < FLIPS; i++)
		flip(i);
	for (i = 0; i < MOUNTS; i++) {
		resctrl_mount();
		resctrl_umount();
	}
	for (i = 0; i < BUSY; i++)
		reap(pids[i], SIGKILL);
	note("%u flips of %zu switches, %u mounts of resctrl", FLIPS,
	     NR_SWITCHES, MOUNTS);
}

const struct test code_tests[] = {
	{ "code_is_never_stale", test_patched, NULL, 120 },
	{ 0 }
};
