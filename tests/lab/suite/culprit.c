// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The suspects that cmtstat --why names, where the model knows who evicted whose lines.
 * The guest's clock counts instructions, so the host's load does not matter.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "owners.h"
#include "tests.h"

#define BEFORE_MS	2000	/* no container streams, and no verdict */

enum { VICTIM, QUIET, STREAMER, OWNERS };

/* Alone, the victim finds all its lines in the cache of 8 MiB. */
static const struct plan plans[OWNERS] = {
	{ .name = "victim", .bytes = 4 * MIB, .step = 512 * KIB },
	{ .name = "quiet", .bytes = 256 * KIB, .step = 4 * KIB },
	{ .name = "streamer", .bytes = 32 * MIB, .step = 1 * MIB, .later = true },
};

/* @outside: the streamer is in no container */
static struct owner *begin(bool outside)
{
	struct plan now[OWNERS];

	memcpy(now, plans, sizeof(now));
	now[STREAMER].outside = outside;
	model_begin();
	return owners_start(now, OWNERS, 0);
}

/* The output of cmtstat so far. */
static struct {
	pid_t pid;
	int fd;
	uint64_t begin_ns;
	size_t len;
	char text[256 << 10];
} why;

static void why_read(void)
{
	ssize_t n;

	do {
		n = read(why.fd, why.text + why.len,
			 sizeof(why.text) - 1 - why.len);
		why.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
}

/* The first line with both texts; NULL: there is none yet. */
static const char *why_line(const char *a, const char *b)
{
	static char line[8 << 10];
	const char *at, *end;

	why_read();
	for (at = why.text; (end = strchr(at, '\n')); at = end + 1) {
		CHECK((size_t)(end - at) < sizeof(line), "a line is too long");
		memcpy(line, at, (size_t)(end - at));
		line[end - at] = '\0';
		if (strstr(line, a) && strstr(line, b))
			return line;
	}
	return NULL;
}

static uint64_t number_in(const char *line, const char *name)
{
	const char *at = line ? strstr(line, name) : NULL;

	CHECK(at, "%s is not in %s", name, line ? line : "what was said");
	return strtoull(at + strlen(name), NULL, 10);
}

/* @option: an additional option */
static void why_start(const char *option)
{
	int fds[2];

	CHECK(!pipe2(fds, O_CLOEXEC), "pipe: %m");
	why.begin_ns = now_ns();
	why.pid = fork();
	CHECK(why.pid >= 0, "fork: %m");
	if (!why.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		execl("/bin/cmtstat", "cmtstat", "--why", "--json",
		      option, NULL);
		_exit(127);
	}
	close(fds[1]);
	why.fd = fds[0];
	CHECK(!fcntl(why.fd, F_SETFL, O_NONBLOCK), "fcntl: %m");
	WAIT_FOR(why_line("\"record\":\"learned\"", ""), 60000,
		 "it learns nothing: %s", why.text);
	note("%s", why_line("\"record\":\"learned\"", ""));
	CHECK(!number_in(why_line("\"record\":\"learned\"", ""), "\"learning\":"),
	      "an owner without complete baselines");
}

static void why_dump(void)
{
	const char *at, *end;

	why_read();
	for (at = why.text; (end = strchr(at, '\n')); at = end + 1)
		note("%.*s", (int)(end - at), at);
}

static double seconds(const struct timeval *a, const struct timeval *b)
{
	return (double)(a->tv_sec + b->tv_sec) +
	       (double)(a->tv_usec + b->tv_usec) / 1e6;
}

static void why_end(void)
{
	struct rusage used;
	const char *line;
	int status;

	CHECK(!kill(why.pid, SIGINT), "SIGINT: %m");
	CHECK(wait4(why.pid, &status, 0, &used) == why.pid && !status,
	      "cmtstat ended with %#x", status);
	line = why_line("\"record\":\"end\"", "");
	note("%llu ms seen, %llu not known, %llu records lost; %.1f %% of the CPU",
	     (unsigned long long)number_in(line, "\"slots\":"),
	     (unsigned long long)number_in(line, "\"missing\":"),
	     (unsigned long long)number_in(line, "\"lost\":"),
	     100 * seconds(&used.ru_utime, &used.ru_stime) * 1e9 /
	     (double)(now_ns() - why.begin_ns));
}

/* The first accusation of having taken the victim's cache, or NULL. */
static const char *accusation(const struct owner *owners)
{
	char victim[64];

	snprintf(victim, sizeof(victim), "\"id\":%llu,\"cgroup\"",
		 (unsigned long long)owners[VICTIM].id);
	return why_line("\"kind\":\"cache\"", victim);
}

/* Checks the time of the accusation, and its first suspect. */
static void check_accusation(const struct owner *owners, uint64_t begin)
{
	const char *line = accusation(owners);
	uint64_t end = number_in(line, "\"end_ns\":");
	uint64_t since = number_in(line, "\"since_ns\":");

	note("named after %.0f ms, since %+.0f ms", (double)(end - begin) / 1e6,
	     (double)(int64_t)(since - begin) / 1e6);
	CHECK(end > begin, "a verdict before a container streams");
	CHECK(number_in(strstr(line, "\"suspects\":["), "\"id\":") ==
	      owners[STREAMER].id, "another one is suspected: %s", line);
}

/* Is somebody said to take cache or bandwidth? */
static bool accused(void)
{
	return why_line("\"kind\":\"cache\"", "\"suspects\":[{") ||
	       why_line("\"kind\":\"bandwidth\"", "\"suspects\":[{");
}

static void quiet_before(void)
{
	sleep_ms(BEFORE_MS);
	/* that they share one CPU is no accusation */
	if (accused())
		why_dump();
	CHECK(!accused(), "an innocent is accused");
}

static void streamer_named(const char *option, bool outside)
{
	struct owner *owners = begin(outside);
	uint64_t begin, before, after;

	why_start(option);
	quiet_before();
	before = owner_held(&owners[VICTIM]);
	begin = now_ns();
	owner_go(&owners[STREAMER]);
	for (int i = 0; i < 3000 && !accusation(owners); i++)
		sleep_ms(1);
	after = owner_held(&owners[VICTIM]);
	note("the victim's lines in the model: %llu KiB, then %llu KiB; the streamer's %llu KiB",
	     (unsigned long long)before >> 10, (unsigned long long)after >> 10,
	     (unsigned long long)owner_held(&owners[STREAMER]) >> 10);
	if (!accusation(owners))
		why_dump();
	CHECK(accusation(owners), "no verdict");
	/* cmtstat itself holds some of the cache, too */
	CHECK(before > plans[VICTIM].bytes * 3 / 4 && after < before * 9 / 10,
	      "the victim did not lose what it had");
	check_accusation(owners, begin);
	CHECK(!!strstr(accusation(owners), "\"counted\":true") == !option,
	      "counters: %s", accusation(owners));
	why_end();
	owners_end(owners, OWNERS);
}

static void test_streamer(void)
{
	streamer_named(NULL, false);
}

static void test_no_counters(void)
{
	streamer_named("--no-counters", false);
}

/* The streamer runs with RMID 0. */
static void test_outside(void)
{
	streamer_named(NULL, true);
}

static void test_outside_no_counters(void)
{
	streamer_named("--no-counters", true);
}

/* A container that streams from the start is in no verdict, and is in the estimate. */
static void test_standing(void)
{
	struct owner *owners = begin(false);
	const char *line;
	char by[64], victim[64];

	owner_go(&owners[STREAMER]);
	owner_wait(&owners[STREAMER], 100);
	why_start(NULL);
	quiet_before();
	why_end();
	snprintf(victim, sizeof(victim), "\"id\":%llu,\"cgroup\"",
		 (unsigned long long)owners[VICTIM].id);
	line = why_line("\"record\":\"slower\",\"estimate\":true", victim);
	if (!line)
		why_dump();
	CHECK(line, "the victim is not slower");
	note("%s", line);
	snprintf(by, sizeof(by), "\"id\":%llu,", (unsigned long long)owners[STREAMER].id);
	line = strstr(line, "\"because_of\":[{");
	CHECK(line && strstr(line, by) && strstr(line, by) < strchr(line, '}'),
	      "another one is named first: %s", line ? line : "none");
	owners_end(owners, OWNERS);
}

/* A container that its own quota throttles: the verdict has no suspect. */
static void test_throttled(void)
{
	struct owner *owners = begin(false);
	char path[256], victim[64];
	const char *line;

	CHECK(!write_file(CGROUPS "/cgroup.subtree_control", "+cpu"),
	      "there is no controller of CPU time");
	why_start(NULL);
	snprintf(path, sizeof(path), CGROUPS "/%s/cpu.max", container(VICTIM));
	/* it uses some 5 % */
	CHECK(!write_file(path, "1000 100000"), "no quota");
	snprintf(victim, sizeof(victim), "\"id\":%llu,\"cgroup\"",
		 (unsigned long long)owners[VICTIM].id);
	WAIT_FOR(why_line("\"kind\":\"throttled\"", victim), 20000,
		 "no container is throttled: %s", why.text);
	line = why_line("\"kind\":\"throttled\"", victim);
	note("%s", line);
	CHECK(number_in(line, "\"cpu_share\":0.") > 50,
	      "throttled for less than a twentieth");
	quiet_before();
	why_end();
	owners_end(owners, OWNERS);
}

const struct test culprit_tests[] = {
	{ "culprit_streamer", test_streamer, "scope=container", 300 },
	{ "culprit_no_counters", test_no_counters, "scope=container", 300 },
	{ "culprit_outside", test_outside, "scope=container", 300 },
	{ "culprit_outside_no_counters", test_outside_no_counters,
	  "scope=container", 300 },
	{ "culprit_standing", test_standing, "scope=container", 300 },
	{ "culprit_throttled", test_throttled, "scope=container", 300 },
	{ 0 }
};
