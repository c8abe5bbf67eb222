// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debian's perf stat with events of the processor's counters, while a container walks
 * through twice the cache on CPU 1: the share of the time in which its events were
 * counted, and the counts relative to each other, which no speed of the host changes.
 * perf prints the share without its decimals: of a single interval 99 means 99 or more.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../vm/suite/control.h"
#include "beside.h"

#define OUTPUT		"/run/perf.csv"
#define SAID_FILE	"/run/perf.said"
#define WALK_ALL_KIB	(2 * CACHE_KIB)
#define INTERVAL_MS	"2000"
#define EVENTS		"cycles:u,instructions:u,cache-misses:u,cache-references:u"
#define NR_EVENTS	4
/* With these perf has all four programmable counters, and two of the fixed ones. */
#define ALL_EVENTS	EVENTS ",cache-misses:k,cache-references:k"
#define SHARE_ALLOWED	1
/*
 * For each line, a walker has six instructions, two references and a miss.  A count whose
 * share is 99 % is scaled by perf: 5 % for a ratio of two.
 */
#define VALUES(options) {							\
	{ .name = "perf stat " options ": share of the time, %",		\
	  .truth = 100, .allowed = SHARE_ALLOWED },				\
	{ .name = "perf stat " options ": instructions per LLC reference",	\
	  .truth = 3, .allowed = 0.1, .decimals = 2 },				\
	{ .name = "perf stat " options ": misses per 1,000 LLC references",	\
	  .truth = 500, .allowed = 25 },					\
}

enum { CYCLES, INSTRUCTIONS, MISSES, REFERENCES };

static const char *const event_names[NR_EVENTS] = {
	"cycles:u", "instructions:u", "cache-misses:u", "cache-references:u",
};

static pid_t perf, walk;
static size_t asked_from;

struct sums {
	unsigned int intervals[NR_EVENTS];
	double count[NR_EVENTS], share[NR_EVENTS];
};

static int event_of(char *const *field, int *at)
{
	for (*at = 0; *at < 6; ++*at)
		for (int event = 0; field[*at] && event < NR_EVENTS; event++)
			if (!strcmp(field[*at], event_names[event]))
				return event;
	return -1;
}

/*
 * TIME,COUNT,,EVENT,[CGROUP,]RUNNING,SHARE,...; without -I there is no time.  What is not
 * counted has a text in the place of the count.
 */
static void sum_line(struct sums *sums, char *line, bool cgroup)
{
	char *field[16] = { }, *rest = line, *end;
	int n = 0, event, at;
	double count;

	while (n < 15 && rest)
		field[n++] = strsep(&rest, ",\n");
	event = event_of(field, &at);
	if (event < 0 || at < 2 || n < at + 3 + cgroup)
		return;
	count = strtod(field[at - 2], &end);
	sums->intervals[event]++;
	if (end == field[at - 2])
		return;
	sums->count[event] += count;
	sums->share[event] += strtod(field[at + 2 + cgroup], NULL);
}

static struct sums sums_of(bool cgroup)
{
	struct sums sums = { };
	FILE *output = fopen(OUTPUT, "r");
	char line[512];

	if (!output)
		return sums;
	fseek(output, (long)asked_from, SEEK_SET);
	while (fgets(line, sizeof(line), output))
		sum_line(&sums, line, cgroup);
	fclose(output);
	return sums;
}

/* Per cent */
static double least_share(const struct sums *sums)
{
	double least = INFINITY;

	for (int event = 0; event < NR_EVENTS; event++)
		least = fmin(least, sums->share[event] / sums->intervals[event]);
	return least;
}

static bool is_cgroup;

static void wait_intervals(unsigned int n)
{
	struct patience patience = patience_of(30000);

	while (sums_of(is_cgroup).intervals[REFERENCES] < n && patience_left(&patience))
		sleep_ms(50);
}

/*
 * Of one interval, or one run.  Now and then cmt tries whether a counter is free: a few
 * milliseconds, and more where the host of the guest is busy.  Then it is the mean of some.
 */
#define TIMES_MOST 5

static struct sums sums_now(void)
{
	struct sums sums;
	unsigned int n = 0;

	asked_from = file_size(OUTPUT);
	do {
		wait_intervals(++n);
		sums = sums_of(is_cgroup);
	} while (least_share(&sums) < 100 - SHARE_ALLOWED && n < TIMES_MOST);
	return sums;
}

static void perf_ask(enum state state, struct answer *answers)
{
	struct sums sums;

	(void)state;
	/* of one that began in the state before */
	asked_from = file_size(OUTPUT);
	wait_intervals(1);
	sums = sums_now();
	answers[0].is = least_share(&sums);
	answers[1].is = sums.count[INSTRUCTIONS] / sums.count[REFERENCES];
	answers[2].is = 1000 * sums.count[MISSES] / sums.count[REFERENCES];
}

static void perf_start(const char *events, const char *option, const char *of)
{
	const char *argv[] = { "perf", "stat", "-x,", "-I", INTERVAL_MS, "-o", OUTPUT,
			       "-e", events, option, of, NULL };

	unlink(OUTPUT);
	perf = program_start(SAID_FILE, argv);
}

static void perf_stop(void)
{
	program_end(perf, SIGINT);
}

static void watch(const struct client *client)
{
	stage();
	walk = walker_add(WALK_ALL_KIB);
	beside(client);
}

static void all_start(void)
{
	perf_start(ALL_EVENTS, "-a", NULL);
}

void perf_all(void)
{
	static const struct client client = {
		.start = all_start, .ask = perf_ask, .stop = perf_stop,
		.all_readers = true,
		.values = {
			{ .name = "perf stat -a, on all counters: share of the time, %",
			  .truth = 100, .allowed = SHARE_ALLOWED },
		},
	};

	watch(&client);
}

static void cpu_start(void)
{
	perf_start(EVENTS, "-C", "1");
}

void perf_cpu(void)
{
	static const struct client client = {
		.start = cpu_start, .ask = perf_ask, .stop = perf_stop,
		.all_readers = true,
		.values = VALUES("-C 1"),
	};

	watch(&client);
}

static void pid_start(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", walk);
	perf_start(EVENTS, "-p", pid);
}

void perf_pid(void)
{
	static const struct client client = {
		.start = pid_start, .ask = perf_ask, .stop = perf_stop,
		.all_readers = true,
		.values = VALUES("-p PID"),
	};

	watch(&client);
}

static void cgroup_start(void)
{
	const char *argv[] = { "perf", "stat", "-x,", "-I", INTERVAL_MS, "-o", OUTPUT, "-a",
			       "-e", EVENTS, "-G", container(0), NULL };

	unlink(OUTPUT);
	perf = program_start(SAID_FILE, argv);
}

void perf_cgroup(void)
{
	static const struct client client = {
		.start = cgroup_start, .ask = perf_ask, .stop = perf_stop,
		.all_readers = true,
		.values = VALUES("-G CGROUP"),
	};

	is_cgroup = true;
	watch(&client);
}

/* A program that always does the same; the tracepoints are those that cmt uses, too. */
/* For seconds: the first shortage costs a task's events up to 5 ms. */
static void run_counted(void)
{
	const char *argv[] = { "perf", "stat", "-x,", "-o", OUTPUT, "-e",
			       EVENTS ",sched:sched_process_fork,sched:sched_process_exec",
			       "taskset", "2", "walk", "counted", "4096", "1024", "192", NULL };
	int status = program_end(program_start(SAID_FILE, argv), 0);

	CHECK(!status, "perf stat -- walk: status %d", status);
}

static double count_of(const char *event)
{
	char text[2048], *line;

	read_file(OUTPUT, text, sizeof(text));
	line = strstr(text, event);
	if (!line)
		return NAN;
	while (line > text && line[-1] != '\n')
		line--;
	return *line == '<' ? (double)NAN : strtod(line, NULL);
}

static void counts_ask(enum state state, struct answer *answers)
{
	struct sums sums;
	double share = 0;
	int n = 0;

	(void)state;
	do {
		run_counted();
		sums = sums_of(false);
		share += least_share(&sums);
		n++;
	} while (share / n < 100 - SHARE_ALLOWED && n < TIMES_MOST);
	answers[0].is = share / n;
	answers[1].is = count_of("instructions:u") / 1000;
	answers[2].is = count_of("cache-references:u") / 1000;
	answers[3].is = count_of("sched:sched_process_exec");
}

static void nothing(void)
{
}

void perf_counts(void)
{
	static const struct client client = {
		.start = nothing, .ask = counts_ask, .stop = nothing,
		.all_readers = true,
		.values = {
			{ .name = "perf stat -- walk: share of the time, %",
			  .truth = 100, .allowed = SHARE_ALLOWED },
			{ .name = "perf stat -- walk: 1,000 instructions",
			  .truth = NAN, .allowed = 720 },
			{ .name = "perf stat -- walk: 1,000 LLC references",
			  .truth = NAN, .allowed = 240 },
			{ .name = "perf stat -- walk: tracepoint sched_process_exec",
			  .truth = 2, .allowed = 0 },
		},
	};

	stage();
	beside(&client);
}
