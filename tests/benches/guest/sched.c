// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the module adds to a context switch and to fork and exit: the same work
 * with and without it, in one boot, loading and unloading it several times.
 * A reader has a ring mapped, so that the switch path does all that a sampler
 * asks of it, and is a process by itself, so that a fork copies no descriptor
 * more; the longest interval keeps ticks out of nearly all rounds, and medians
 * leave the others out.  A module with empty probes is measured like the
 * module itself.
 *
 * Two threads, two processes of one container, or two processes that are owners
 * play ping-pong over pipes.  Container scope: the one container is this
 * program's cgroup, and all that it forks is in it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* cycles of: without, with empty probes, with the module */
#define CYCLES		3
#define ROUNDS		40	/* of each kind in each part of a cycle */
#define ROUND_TRIPS	50	/* in a round: few rounds meet one of the kernel's ticks */
#define OTHERS_US	2000	/* before each round, to let other tasks run */
#define FORKS		200	/* in each part of a cycle */
#define FORKS_WARM_UP	20
#define FORKS_CHECKED	10

#define CGROUP		"/sys/fs/cgroup/bench-container"
#define PATTERN		"bench-container"
#define TICK_NS		1000000	/* interval of the ticks that report an RMID */

#define THREE_COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES)

struct pair {
	int ping[2], pong[2];
};

/* YIELD: two threads that do not sleep, and yield to each other */
enum kind { THREAD, MEMBER, OTHER, YIELD, KINDS };
enum fork_kind { FORK_OWNER, FORK_MEMBER, FORK_KINDS };

struct results {
	double switches[KINDS][CYCLES * ROUNDS];
	size_t nr_switches[KINDS];
	double forks[FORK_KINDS][CYCLES * FORKS];
	size_t nr_forks[FORK_KINDS];
	double switch_msrs[KINDS], fork_msrs[FORK_KINDS];
};

static void pair_init(struct pair *pair)
{
	if (pipe(pair->ping) || pipe(pair->pong))
		die_errno("pipe");
}

static void pair_close(struct pair *pair)
{
	int i;

	for (i = 0; i < 2; i++) {
		close(pair->ping[i]);
		close(pair->pong[i]);
	}
}

/* Runs until it reads a zero. */
static void *answer(void *arg)
{
	struct pair *pair = arg;
	char c = 1;

	while (c) {
		if (read(pair->ping[0], &c, 1) != 1 ||
		    write(pair->pong[1], &c, 1) != 1)
			die_errno("pipe");
	}
	return NULL;
}

static void ask(struct pair *pair, char c)
{
	if (write(pair->ping[1], &c, 1) != 1 ||
	    read(pair->pong[0], &c, 1) != 1)
		die_errno("pipe");
}

/* The number of times that this thread gave up the CPU to wait. */
static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/*
 * Instructions per switch.  Both sides have the same real-time priority:
 * neither preempts the other, so each waits once in a round trip.
 */
static double ping_pong(struct pair *pair)
{
	uint64_t start = instructions();
	long before = waits(), switches;
	int i;

	for (i = 0; i < ROUND_TRIPS; i++)
		ask(pair, 1);
	switches = 2 * (waits() - before);
	if (switches != 2 * ROUND_TRIPS)
		die("%ld switches in %d round trips", switches, ROUND_TRIPS);
	return (double)(instructions() - start) / switches;
}

static bool yields;

static void *yield_main(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&yields, __ATOMIC_RELAXED))
		sched_yield();
	return NULL;
}

/* The number of times that the kernel gave the CPU of this thread, which could run, away. */
static long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

/* As ping_pong(), without a wake-up. */
static double yield_to_and_fro(void)
{
	uint64_t start = instructions();
	long before = preemptions(), switches;
	int i;

	for (i = 0; i < ROUND_TRIPS; i++)
		sched_yield();
	switches = 2 * (preemptions() - before);
	if (switches != 2 * ROUND_TRIPS)
		die("%ld switches in %d round trips", switches, ROUND_TRIPS);
	return (double)(instructions() - start) / switches;
}

/*
 * Checks that the module's work in this round is the work that the figure is about.
 * Returns MSR accesses per switch.
 */
static double check_switches(struct pair *pair, enum kind kind)
{
	struct cmt_stats before, after;
	double switches, writes;
	int fd = device_open();
	struct msrs msrs;

	device_stats(fd, &before);
	msrs = msrs_now();
	ping_pong(pair);
	msrs = msrs_since(&msrs);
	device_stats(fd, &after);
	close(fd);
	switches = after.switches - before.switches;
	writes = after.pqr_writes - before.pqr_writes;
	/* the module does not count switches between threads */
	if (kind != THREAD && switches < 2 * ROUND_TRIPS)
		die("the module saw %.0f of %d switches", switches,
		    2 * ROUND_TRIPS);
	if (kind == OTHER ? writes < 2 * ROUND_TRIPS : writes > 0.1 * ROUND_TRIPS)
		die("%d switches, %.0f of them changed the RMID",
		    2 * ROUND_TRIPS, writes);
	return msrs.all / (2 * ROUND_TRIPS);
}

/*
 * A task that waits for the CPU behind the real-time tasks changes the path of each of
 * their wake-ups, by a dozen instructions.
 */
static void let_others_run(void)
{
	usleep(OTHERS_US);
}

static void rounds(struct results *results, enum kind kind, struct pair *pair,
		   bool loaded)
{
	size_t *n = &results->nr_switches[kind];
	int i;

	ping_pong(pair);
	for (i = 0; i < ROUNDS; i++) {
		let_others_run();
		results->switches[kind][(*n)++] = ping_pong(pair);
	}
	if (loaded)
		results->switch_msrs[kind] = check_switches(pair, kind);
	ask(pair, 0);
}

static void switch_thread(struct results *results, bool loaded)
{
	pthread_t thread;
	struct pair pair;

	pair_init(&pair);
	real_time(true);
	if (pthread_create(&thread, NULL, answer, &pair))
		die("pthread_create");
	rounds(results, THREAD, &pair, loaded);
	pthread_join(thread, NULL);
	real_time(false);
	pair_close(&pair);
}

static void switch_yield(struct results *results)
{
	pthread_t thread;
	int i;

	real_time(true);
	__atomic_store_n(&yields, true, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, yield_main, NULL))
		die("pthread_create");
	yield_to_and_fro();
	for (i = 0; i < ROUNDS; i++)
		results->switches[YIELD][results->nr_switches[YIELD]++] = yield_to_and_fro();
	__atomic_store_n(&yields, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	real_time(false);
}

static void switch_process(struct results *results, enum kind kind,
			   bool loaded)
{
	struct pair pair;
	pid_t pid;

	pair_init(&pair);
	real_time(true);
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer(&pair);
		_exit(0);
	}
	rounds(results, kind, &pair, loaded);
	waitpid(pid, NULL, 0);
	real_time(false);
	pair_close(&pair);
}

/*
 * vfork() makes a process as fork() does, also for the module.  It copies no page
 * tables, whose cost varies by more than the measured difference.
 */
static double fork_exit(void)
{
	uint64_t start = instructions();
	pid_t pid = vfork();

	if (pid < 0)
		die_errno("vfork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die_errno("waitpid");
	return instructions() - start;
}

/*
 * Checks that the module gave an RMID to each owner, and none to a member.  Returns MSR
 * accesses per fork and exit.
 */
static double check_forks(enum fork_kind kind)
{
	struct cmt_stats before, after;
	int i, fd = device_open();
	double accesses[FORKS_CHECKED];
	struct msrs msrs;
	uint64_t allocs;

	device_stats(fd, &before);
	for (i = 0; i < FORKS_CHECKED; i++) {
		msrs = msrs_now();
		fork_exit();
		accesses[i] = msrs_since(&msrs).all;
	}
	device_stats(fd, &after);
	close(fd);
	allocs = after.allocs - before.allocs;
	if (kind == FORK_OWNER ? allocs < FORKS_CHECKED : allocs > 0)
		die("%d forks, %llu RMIDs given", FORKS_CHECKED,
		    (unsigned long long)allocs);
	/* a kernel thread that runs meanwhile has RMID 0 */
	return most_frequent(accesses, FORKS_CHECKED);
}

/*
 * One by one: then batches that the kernel frees later are in few of the values, and
 * not in the median.
 */
static void forks(struct results *results, enum fork_kind kind, bool loaded)
{
	int i;

	for (i = 0; i < FORKS_WARM_UP; i++)
		fork_exit();
	for (i = 0; i < FORKS; i++)
		results->forks[kind][results->nr_forks[kind]++] = fork_exit();
	if (loaded)
		results->fork_msrs[kind] = check_forks(kind);
}

/* This program, and all processes that it forks from now on. */
static void enter_cgroup(void)
{
	FILE *file;

	if (mkdir(CGROUP, 0755))
		die_errno(CGROUP);
	file = fopen(CGROUP "/cgroup.procs", "w");
	if (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file))
		die_errno(CGROUP "/cgroup.procs");
}

static uint64_t cgroup_id(void)
{
	struct stat st;

	if (stat(CGROUP, &st))
		die_errno(CGROUP);
	return st.st_ino;
}

/* This program runs with its container's RMID, by the ticks. */
static void check_member(int fd, const struct cmt_info *info)
{
	uint32_t rmid = device_rmid_of(fd, CMT_F_OWNER_CGROUP, cgroup_id());
	struct records records;
	struct tick tick;

	if (rmid == CMT_RMID_NONE)
		die("the container has no RMID");
	records_open(&records, fd, info);
	real_time(true);
	device_interval(fd, TICK_NS);
	tick_await(&records, fd, &tick);
	tick_await(&records, fd, &tick);
	device_interval(fd, info->interval_max_ns);
	real_time(false);
	records_close(&records);
	if (tick.rmid != rmid)
		die("RMID %u runs where the container has %u", tick.rmid, rmid);
}

static void scope_process(void)
{
	struct cmt_info info;
	int fd = device_open();

	device_info(fd, &info);
	device_interval(fd, info.interval_max_ns);
	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
	close(fd);
}

static void scope_container(void)
{
	struct cmt_info info;
	int fd = device_open();

	device_info(fd, &info);
	device_scope(fd, CMT_SCOPE_CONTAINER, PATTERN);
	check_member(fd, &info);
	close(fd);
}

static void part_of_cycle(struct results *results, bool loaded)
{
	if (loaded)
		scope_process();
	switch_thread(results, loaded);
	switch_yield(results);
	switch_process(results, OTHER, loaded);
	forks(results, FORK_OWNER, loaded);
	if (loaded)
		scope_container();
	switch_process(results, MEMBER, loaded);
	forks(results, FORK_MEMBER, loaded);
}

static void __attribute__((noreturn)) read_until_killed(int ready,
							uint32_t counters)
{
	int fd = device_open();
	struct records records;
	struct cmt_info info;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	device_info(fd, &info);
	device_counters(fd, counters);
	records_open(&records, fd, &info);
	if (write(ready, "", 1) != 1)
		die_errno("pipe");
	for (;;)
		pause();
}

static pid_t reader_start(uint32_t counters)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		die_errno("pipe");
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (!pid)
		read_until_killed(ready[1], counters);
	if (read(ready[0], &c, 1) != 1)
		die_errno("pipe");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void part_of_cycle_with(struct results *results, const char *params,
			       uint32_t counters)
{
	pid_t reader;

	module_load(params);
	reader = reader_start(counters);
	part_of_cycle(results, true);
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	module_unload();
}

static void part_of_cycle_probe(struct results *results)
{
	probe_load();
	part_of_cycle(results, false);
	probe_unload();
}

/* One figure in three parts. */
struct three {
	double without, probe, with, msrs;
};

/* "_without", "_probe", "_added", "_own" and "_msr" are appended to @key. */
static void report(const char *key, const struct three *three)
{
	const struct {
		const char *suffix;
		double value;
	} figures[] = {
		{ "without", three->without },
		{ "probe", three->probe - three->without },
		{ "added", three->with - three->without },
		{ "own", three->with - three->probe },
		{ "added_msr", three->msrs },
	};
	size_t i, n = sizeof(figures) / sizeof(figures[0]);
	char name[64];

	for (i = 0; i < n - !msrs_counted(); i++) {
		snprintf(name, sizeof(name), "%s_%s", key, figures[i].suffix);
		figure(name, figures[i].value);
	}
}

static double switch_of(struct results *results, enum kind kind)
{
	return median(results->switches[kind], results->nr_switches[kind]);
}

/* There are few values, and a median would be between two of them. */
static double fork_of(struct results *results, enum fork_kind kind)
{
	return most_frequent(results->forks[kind], results->nr_forks[kind]);
}

static void report_all(struct results *without, struct results *probe,
		       struct results *with)
{
	static const char *const switches[YIELD] = {
		[THREAD] = "switch_thread",
		[MEMBER] = "switch_member",
		[OTHER] = "switch_other",
	};
	static const char *const forks[FORK_KINDS] = {
		[FORK_OWNER] = "fork_owner",
		[FORK_MEMBER] = "fork_member",
	};
	int i;

	for (i = 0; i < YIELD; i++)
		report(switches[i], &(struct three){
			switch_of(without, i), switch_of(probe, i),
			switch_of(with, i), with->switch_msrs[i] });
	for (i = 0; i < FORK_KINDS; i++)
		report(forks[i], &(struct three){
			fork_of(without, i), fork_of(probe, i),
			fork_of(with, i), with->fork_msrs[i] });
}

void bench_sched(const char *params)
{
	static struct results without, probe, with;
	int i;

	enter_cgroup();
	for (i = 0; i < CYCLES; i++) {
		part_of_cycle(&without, false);
		part_of_cycle_probe(&probe);
		part_of_cycle_with(&with, params, 0);
	}
	report_all(&without, &probe, &with);
}

/*
 * The cost of a switch inside of an owner with counters on, compared with counters off.
 */
static void report_counted(struct results *without, struct results *with,
			   struct results *counted)
{
	figure("counted_thread_more", switch_of(counted, THREAD) -
	       switch_of(with, THREAD));
	figure("counted_member_more", switch_of(counted, MEMBER) -
	       switch_of(with, MEMBER));
	figure("counted_other_added", switch_of(counted, OTHER) -
	       switch_of(without, OTHER));
}

/* What waiting adds: the switch, and in all but one kind the wake-up before it, too. */
static void report_waited(struct results *counted, struct results *waited)
{
	static const char *const figures[KINDS] = {
		[THREAD] = "waited_thread_more", [MEMBER] = "waited_member_more",
		[OTHER] = "waited_other_more", [YIELD] = "waited_yield_more",
	};
	int i;

	for (i = 0; i < KINDS; i++)
		figure(figures[i], switch_of(waited, i) - switch_of(counted, i));
}

/* A tick without samples, while a process computes and no other one waits. */
static void report_ticks(const char *params)
{
	struct tick counted = bench_idle_with(params, "", THREE_COUNTERS);
	struct tick waited = bench_idle_with(params, "", THREE_COUNTERS | CMT_F_WAITED);

	figure("tick_counted", counted.busy);
	figure("waited_tick_more", waited.busy - counted.busy);
}

void bench_counted(const char *params)
{
	static struct results without, with, counted, waited;
	int i;

	enter_cgroup();
	for (i = 0; i < CYCLES; i++) {
		part_of_cycle(&without, false);
		part_of_cycle_with(&with, params, 0);
		part_of_cycle_with(&counted, params, THREE_COUNTERS);
		part_of_cycle_with(&waited, params, THREE_COUNTERS | CMT_F_WAITED);
	}
	report_counted(&without, &with, &counted);
	report_waited(&counted, &waited);
	report_ticks(params);
}
