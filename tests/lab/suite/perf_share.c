// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debian's perf beside the readers of cmt: the events of perf have a counter as much of the
 * time as without cmt.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "tests.h"

#define COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			 CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define RECORDING	"/tmp/perf-share.cmt"

/*
 * Per cent: the least share of perf's events.  With icount time is instructions, so the share
 * does not depend on the host.
 */
#define SHARE		99.0

/* The default events of cmt, and as many events as the lab's PMU has counters */
#define FOUR		"-e cycles,instructions,cache-misses,cache-references"
#define ALL		"-e cycles,instructions,ref-cycles,cache-misses:u," \
			"cache-references:u,cache-misses:k,cache-references:k"
#define GROUPS		"-e '{cache-misses:u,cache-references:u,cache-misses:k," \
			"cache-references:k}' -e '{cycles,instructions}'"
#define PINNED_FOUR	"-e cycles:D,instructions:D,cache-misses:D,cache-references:D"

static void want(const struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg), "SET_COUNTERS: %m");
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

/* Of the values for which a counter is needed: those that are there. */
static uint32_t counted(const struct dev *dev)
{
	return info_of(dev).counters & COUNTERS;
}

static void wait_counted(const struct dev *dev, unsigned int ms)
{
	WAIT_FOR(counted(dev) == COUNTERS, ms, "counters %#x: %s",
		 info_of(dev).counters, info_of(dev).perf_reason);
}

/* cmtstat and its recorder, and a descriptor that asks as cmt-exporter --counters does */
struct readers {
	pid_t pids[2];
	struct dev dev;
};

static pid_t program_start(const char *const *args)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(freopen("/dev/null", "w", stdout), "freopen: %m");
	execvp(args[0], (char *const *)args);
	_exit(127);
}

static void readers_start(struct readers *r)
{
	static const char *const stat[] = { "cmtstat", "--plain", NULL };
	static const char *const record[] = {
		"cmtstat", "record", "--quiet", "--force", "-o", RECORDING, NULL,
	};

	dev_open(&r->dev, O_RDONLY);
	r->pids[0] = program_start(stat);
	r->pids[1] = program_start(record);
	dev_map(&r->dev, FROM_NOW);
	want(&r->dev, COUNTERS);
	WAIT_FOR(dev_stats(&r->dev).readers >= 3, 20000, "%u readers",
		 dev_stats(&r->dev).readers);
	wait_counted(&r->dev, 5000);
}

static void readers_stop(struct readers *r)
{
	for (int i = 0; i < 2; i++)
		reap(r->pids[i], SIGKILL);
	dev_close(&r->dev);
}

/*
 * The share of its time in which the event of this line of perf had a counter: the first
 * field with a point; -1: none
 */
static double share_of(char *line)
{
	/* a pinned event that has no counter */
	bool counted = line[0] != '<';
	const char *field;

	while ((field = strsep(&line, ",")))
		if (strchr(field, '.'))
			return counted ? strtod(field, NULL) : 0;
	return -1;
}

/* The least share of the events of perf stat */
static double perf_share(const char *options, const char *command)
{
	char run[512], line[256];
	double least = 101, share;
	FILE *pipe;

	snprintf(run, sizeof(run), "perf stat -x, %s %s 2>&1", options, command);
	pipe = popen(run, "r");
	CHECK(pipe, "popen: %m");
	while (fgets(line, sizeof(line), pipe)) {
		note("perf: %.*s", (int)strcspn(line, "\n"), line);
		share = share_of(line);
		if (share >= 0 && share < least)
			least = share;
	}
	CHECK(!pclose(pipe) && least <= 100, "%s", run);
	return least;
}

/* What the last reader asked for is counted for 2 s longer. */
static void wait_uncounted(void)
{
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	WAIT_FOR(!info_of(&dev).counters && !info_of(&dev).perf_reason[0], 5000,
		 "counters without a reader");
	dev_close(&dev);
}

/*
 * Without a reader of cmt the events are not multiplexed; with its readers they lose 1 % at
 * most.
 */
static void check_share(const char *options, const char *command)
{
	struct readers readers;
	double share;

	wait_uncounted();
	share = perf_share(options, command);
	CHECK(share == 100, "%.2f %% without a reader of cmt", share);
	readers_start(&readers);
	share = perf_share(options, command);
	CHECK(share >= SHARE, "%.2f %% beside the readers of cmt", share);
	readers_stop(&readers);
}

static void share_of_cpus(void)
{
	check_share("-a " FOUR, "sleep 3");
}

static void share_of_all_counters(void)
{
	check_share("-a " ALL, "sleep 3");
}

static void share_of_groups(void)
{
	check_share("-a " GROUPS, "sleep 3");
}

static void share_of_pinned(void)
{
	check_share("-a " PINNED_FOUR, "sleep 3");
}

static void share_of_command(void)
{
	check_share(FOUR, "sh -c 'timeout 3 yes >/dev/null; true'");
	check_share(ALL, "sh -c 'timeout 3 yes >/dev/null; true'");
}

static pid_t spinner_start(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

static void share_of_process(void)
{
	pid_t pid = spinner_start();
	char options[256];

	snprintf(options, sizeof(options), FOUR " -p %d", pid);
	check_share(options, "sleep 3");
	snprintf(options, sizeof(options), PINNED_FOUR " -p %d", pid);
	check_share(options, "sleep 3");
	reap(pid, SIGKILL);
}

static void share_of_cgroup(void)
{
	pid_t pid = spinner_start();

	/* with any controller the cgroups have that of perf, too */
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	group_make("share");
	group_enter("share", pid);
	check_share("-a " ALL " -G share", "sleep 3");
	reap(pid, SIGKILL);
	group_remove("share");
}

/* A process that runs for one millisecond in ten */
static pid_t dozer_start(void)
{
	uint64_t end;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		end = now_ns() + 1000000;
		while (now_ns() < end)
			;
		sleep_ms(9);
	}
}

/* No tick sees most of its events while they wait. */
static void share_of_dozer(void)
{
	pid_t pid = dozer_start();
	char options[256];

	snprintf(options, sizeof(options), ALL " -p %d", pid);
	check_share(options, "sleep 30");
	reap(pid, SIGKILL);
}

/* Ticks that are a second apart do not see a shortage in time. */
static void share_with_rare_ticks(void)
{
	check_share("-a " ALL, "sleep 3");
}

static pid_t perf_start(const char *command)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(system(command) ? 1 : 0);
}

/* Rows of a process that runs, and the machine's line, while perf has all counters */
static void check_rows(pid_t pid)
{
	FILE *pipe = popen("cmtstat --by process --json -n 2 -i 0.5", "r");
	unsigned int rows = 0, reasons = 0;
	char line[4096], key[32];

	CHECK(pipe, "popen: %m");
	snprintf(key, sizeof(key), "\"pid\":%d,", pid);
	while (fgets(line, sizeof(line), pipe)) {
		reasons += !!strstr(line, "cmt gives way");
		if (!strstr(line, key))
			continue;
		note("%.*s", (int)strcspn(line, "\n"), line);
		rows++;
		CHECK(strstr(line, "\"cycles\":null") &&
		      strstr(line, "\"instructions\":null") &&
		      strstr(line, "\"llc_misses\":null") &&
		      strstr(line, "\"ipc\":null"), "values without counters");
		CHECK(!strstr(line, "\"ran_ns\":null"), "no CPU time");
	}
	CHECK(!pclose(pipe) && rows == 2 && reasons, "%u rows, %u reasons", rows,
	      reasons);
}

/* While perf has all counters, the values are missing.  When perf ends, they come back. */
static void share_comes_back(void)
{
	pid_t pid = spinner_start(), perf;
	struct readers readers;
	uint64_t begin;

	readers_start(&readers);
	perf = perf_start("perf stat -a " ALL " sleep 10 2>/dev/null");
	WAIT_FOR(!counted(&readers.dev), 5000, "counters %#x",
		 info_of(&readers.dev).counters);
	CHECK(strstr(info_of(&readers.dev).perf_reason, "CPU 0: cmt gives way"),
	      "reason: %s", info_of(&readers.dev).perf_reason);
	check_rows(pid);
	expect_exit_0(perf, "perf");
	begin = now_ns();
	wait_counted(&readers.dev, 5000);
	note("back after %llu ms", (unsigned long long)(now_ns() - begin) / 1000000);
	readers_stop(&readers);
	reap(pid, SIGKILL);
}

#define SHARE_TEST(name) { "perf_" #name, name, PROCESS, 300 }

/* Where perf and cmtstat are */
const struct test perf_share_tests[] = {
	SHARE_TEST(share_of_all_counters),
	SHARE_TEST(share_of_cgroup),
	SHARE_TEST(share_comes_back),
	{ 0 }
};

/* Minutes, of the same kind */
const struct test perf_shares_tests[] = {
	SHARE_TEST(share_of_cpus),
	SHARE_TEST(share_of_groups),
	SHARE_TEST(share_of_pinned),
	SHARE_TEST(share_of_command),
	SHARE_TEST(share_of_process),
	SHARE_TEST(share_of_dozer),
	{ "perf_share_with_rare_ticks", share_with_rare_ticks, PROCESS " interval_us=1000000", 300 },
	{ 0 }
};
