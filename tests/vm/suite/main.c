// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <ftw.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "suite.h"

const char *suite_path;
unsigned int slowness = 1;
bool again;
bool has_hw;
bool wants_model;
bool module_is_next;
static bool debug;
static bool first;	/* the first test that fails is the last */

static const struct test *const suites[] = {
#ifdef CMT_SUITE_LIB
	lib_tests,
#else
	load_tests, ioctl_tests, map_tests, ring_tests, poll_tests,
	lifecycle_tests, pool_tests, sample_tests, values_tests, hotplug_tests,
	scope_tests, attach_tests, demand_tests, measure_tests, perf_tests,
	wait_tests, no_wait_tests, cqm_tests,
	software_tests, secure_tests, flood_tests, bounds_tests, version_tests, full_tests,
	limits_tests,
#endif
	debug_tests,	/* the last test: checks the effects of all others */
};

#define NR_SUITES (sizeof(suites) / sizeof(suites[0]))
#define TIMEOUT_S 20

/*
 * Where cgroups are slow, filling the table with cgroups takes minutes.  The lab's
 * cache is off, and would be slow on the slow kernel: see tests/parts/debug and the
 * lab's runs of cqm_tests.
 */
static bool is_in_plan(const struct test *suite)
{
#ifndef CMT_SUITE_LIB
	if (suite == wait_tests || suite == no_wait_tests)
		return (suite == wait_tests) == !access("/proc/self/schedstat", F_OK);
	if (suite == cqm_tests && has_hw)
		return slowness == 1;
	if (again && (suite == full_tests || suite == version_tests ||
		      suite == limits_tests))
		return false;
	if (suite == full_tests || suite == limits_tests)
		return slowness == 1;
#endif
	return suite != debug_tests || debug;
}

/* Tests that take seconds, and do not depend on the kernel */
static const char *const long_tests[] = {
	"bounds_chosen_ids", "bounds_freed_at_once", "demand_first_reader",
	"demand_long_interval", "demand_owed", "demand_stopped_reader",
	"flood_crowd", "flood_killed_readers", "flood_names",
	"flood_throttled_readers", "flood_throttled_wants", "load_bad_params", "measure_killed",
	"measure_recording", "perf_asked_in_turn", "perf_interval_keeps_counts",
	"perf_long_run", "perf_other_reader_changes", "perf_records_by_generation",
	"perf_records_on_request", "pool_storm_few_rmids", "sample_sum_within_cache",
	"scope_overcommit", "software_full", "wait_asked_in_turn",
};

static bool is_left_out(const struct test *test)
{
	for (size_t i = 0; again && i < sizeof(long_tests) / sizeof(long_tests[0]); i++)
		if (!strcmp(test->name, long_tests[i]))
			return true;
	return false;
}

/* Does the name begin with one of the prefixes, which are separated by commas? */
static bool is_wanted(const char *name, const char *prefixes)
{
	size_t n;

	for (;; prefixes += n + 1) {
		n = strcspn(prefixes, ",");
		if (!strncmp(name, prefixes, n))
			return true;
		if (!prefixes[n])
			return false;
	}
}

/*
 * Calls fn for every test whose name begins with one of the prefixes, and for those that
 * check the effects of these.
 */
static unsigned int for_each_test(const char *prefixes,
				  bool (*fn)(const struct test *test),
				  unsigned int *passed)
{
	unsigned int i, n = 0;
	const struct test *t;

	for (i = 0; i < NR_SUITES; i++) {
		for (t = suites[i]; is_in_plan(suites[i]) && t->name; t++) {
			if (is_left_out(t) ||
			    (!is_wanted(t->name, prefixes) &&
			     (suites[i] != debug_tests || !n)))
				continue;
			n++;
			if (!fn)
				continue;
			if (fn(t)) {
				printf("ok %u - %s\n", n, t->name);
				++*passed;
			} else {
				printf("not ok %u - %s\n", n, t->name);
				if (first)
					return n;
			}
			fflush(stdout);
		}
	}
	return n;
}

/* Wait for the test's process alone; false: time is up. */
static bool wait_test(pid_t pid, unsigned int timeout_s, int *status)
{
	struct patience patience = patience_of(timeout_s * 1000);

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (!patience_left(&patience))
			return false;
		sleep_ms(2);
	}
	return true;
}

/* The test's children become ours when it ends: the subreaper's. */
static void kill_leftovers(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static int remove_group(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	if (type == FTW_DP && ftw->level && rmdir(path))
		note("rmdir %s: %m", path);
	return 0;
}

/* One that failed in the middle must not make those after it fail. */
static void tidy_up(void)
{
	write_file("/sys/devices/system/cpu/cpu1/online", "1");
	nftw(CGROUPS, remove_group, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	umount("/sys/fs/resctrl");
}

static bool run_process(const struct test *test)
{
	unsigned int timeout_s = test->timeout_s ? test->timeout_s : TIMEOUT_S;
	int status = 0;
	bool in_time;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		test->fn();
		_exit(0);
	}
	setpgid(pid, pid);
	in_time = wait_test(pid, timeout_s, &status);
	kill_leftovers(pid);
	if (!in_time)
		note("no end within %u s", timeout_s * slowness);
	else if (WIFSIGNALED(status))
		note("killed by signal %d", WTERMSIG(status));
	if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	tidy_up();
	return false;
}

static bool run_test(const struct test *test)
{
	uint64_t begin = now_ns();
	bool passed;
	int err;

	err = test->params ? module_load(test->params) : 0;
	if (err) {
		note("the module does not load: %s", strerror(-err));
		return false;
	}
	passed = run_process(test);
	if (module_present()) {
		err = module_unload();
		if (err)
			note("the module does not unload: %s", strerror(-err));
		if (err || !test->params)
			passed = false;
	}
	note("%s: %llu ms", test->name,
	     (unsigned long long)(now_ns() - begin) / 1000000);
	return passed;
}

static void usage(FILE *to)
{
	fprintf(to, "Usage: suite [--bare] [--run PREFIX[,PREFIX]...] [--list] [--true]\n"
		"             [--slow N] [--hw | --emulated] [--module-next] [--again]\n"
		"             [--debug] [--first]\n"
		"  --bare  run in this process, with the module as it is\n"
		"  --first end with the first test that fails\n"
		"  others  see suite.h\n");
}

static bool run_bare(const struct test *test)
{
	test->fn();
	return true;
}

static bool list_test(const struct test *test)
{
	note("%s", test->name);
	return true;
}

/*
 * The kernel patches the scheduler for the first event of a task, and after the last
 * one.  That must not happen while two CPUs run, see tests/vm/init: so this process
 * has one for its life, and the suites that it runs find that it has.
 */
static void hold_patches(void)
{
#ifndef CMT_SUITE_LIB
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	if (access("/sys/devices/system/cpu/cpu1/online", F_OK) ||
	    mkdir("/run/event-held", 0755))
		return;
	cpu_online(1, false);
	CHECK(syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		      PERF_FLAG_FD_CLOEXEC) >= 0, "an event: %m");
	cpu_online(1, true);
#endif
}

int main(int argc, char **argv)
{
	bool (*run)(const struct test *test) = run_test;
	unsigned int plan, passed = 0;
	const char *prefixes = "";
	int i;

	suite_path = argv[0];
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--true")) {
			return 0;
		} else if (!strcmp(argv[i], "--pause")) {
			pause();
			return 0;
		} else if (!strcmp(argv[i], "--bare")) {
			run = run_bare;
		} else if (!strcmp(argv[i], "--hw")) {
			has_hw = true;
		} else if (!strcmp(argv[i], "--emulated")) {
			wants_model = true;
		} else if (!strcmp(argv[i], "--module-next")) {
			module_is_next = true;
		} else if (!strcmp(argv[i], "--again")) {
			again = true;
		} else if (!strcmp(argv[i], "--debug")) {
			debug = true;
		} else if (!strcmp(argv[i], "--first")) {
			first = true;
		} else if (!strcmp(argv[i], "--slow") && i + 1 < argc &&
			   atoi(argv[i + 1]) > 0) {
			slowness = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--list")) {
			run = list_test;
		} else if (!strcmp(argv[i], "--run") && i + 1 < argc) {
			prefixes = argv[++i];
		} else {
			usage(stderr);
			return 2;
		}
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	plan = for_each_test(prefixes, NULL, NULL);
	printf("1..%u\n", plan);
	if (run == run_test)
		hold_patches();
	for_each_test(prefixes, run, &passed);
	return plan && passed == plan ? 0 : 1;
}
