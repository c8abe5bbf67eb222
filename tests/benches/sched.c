// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the module adds to a context switch and to fork and exit: the same work
 * with and without it, in one boot, loading and unloading it several times.
 * Nobody reads, so that no tick of the module's comes in between.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define CYCLES		3	/* without, with: so often */
#define ROUNDS		15	/* of each kind in each half of a cycle */
#define ROUND_TRIPS	200	/* in a round: less than 4 ms for most */
#define FORKS		10	/* in a round */

struct pair {
	int ping[2], pong[2];
};

enum kind { SAME_RMID, OTHER_RMID, FORK_EXIT, KINDS };

struct results {
	double v[KINDS][CYCLES * ROUNDS];
	size_t n;
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

/* Until it reads a zero. */
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

/* Times this thread gave up the CPU to wait. */
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

static void real_time(bool on)
{
	struct sched_param param = { .sched_priority = on ? 1 : 0 };

	if (sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param))
		die_errno("sched_setscheduler");
}

/* Without it a real-time process is stopped for 50 ms in a second. */
static void real_time_unlimited(void)
{
	FILE *file = fopen("/proc/sys/kernel/sched_rt_runtime_us", "w");

	if (!file || fputs("-1\n", file) < 0 || fclose(file))
		die_errno("sched_rt_runtime_us");
}

/* The module must have done in this round what the figure is said to be of. */
static void check_switches(struct pair *pair, bool changed)
{
	struct cmt_stats before, after;
	double switches, writes;
	int fd = device_open();

	device_stats(fd, &before);
	ping_pong(pair);
	device_stats(fd, &after);
	close(fd);
	switches = after.switches - before.switches;
	writes = after.pqr_writes - before.pqr_writes;
	if (switches < 2 * ROUND_TRIPS)
		die("the module saw %.0f of %d switches", switches,
		    2 * ROUND_TRIPS);
	if (changed ? writes < 0.9 * switches : writes > 0.1 * switches)
		die("%.0f of %.0f switches changed the RMID", writes, switches);
}

static void rounds(struct results *results, enum kind kind, struct pair *pair,
		   bool loaded)
{
	int i;

	ping_pong(pair);
	for (i = 0; i < ROUNDS; i++)
		results->v[kind][results->n + i] = ping_pong(pair);
	if (loaded)
		check_switches(pair, kind == OTHER_RMID);
	ask(pair, 0);
}

static void switch_same(struct results *results, bool loaded)
{
	pthread_t thread;
	struct pair pair;

	pair_init(&pair);
	real_time(true);
	if (pthread_create(&thread, NULL, answer, &pair))
		die("pthread_create");
	rounds(results, SAME_RMID, &pair, loaded);
	pthread_join(thread, NULL);
	real_time(false);
	pair_close(&pair);
}

static void switch_other(struct results *results, bool loaded)
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
	rounds(results, OTHER_RMID, &pair, loaded);
	waitpid(pid, NULL, 0);
	real_time(false);
	pair_close(&pair);
}

/*
 * vfork() makes a process as fork() does, for the module too, but copies no
 * page tables, whose cost varies by more than what is looked for here.
 */
static double fork_exit(void)
{
	uint64_t start = instructions();
	pid_t pid;
	int i;

	for (i = 0; i < FORKS; i++) {
		pid = vfork();
		if (pid < 0)
			die_errno("vfork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			die_errno("waitpid");
	}
	return (double)(instructions() - start) / FORKS;
}

static void forks(struct results *results)
{
	int i;

	fork_exit();
	for (i = 0; i < ROUNDS; i++)
		results->v[FORK_EXIT][results->n + i] = fork_exit();
}

static void half_cycle(struct results *results, bool loaded)
{
	switch_same(results, loaded);
	switch_other(results, loaded);
	forks(results);
	results->n += ROUNDS;
}

void bench_sched(const char *params)
{
	static const struct {
		const char *without, *added;
	} keys[KINDS] = {
		[SAME_RMID] = { "switch_same_without", "switch_same_added" },
		[OTHER_RMID] = { "switch_other_without", "switch_other_added" },
		[FORK_EXIT] = { "fork_exit_without", "fork_exit_added" },
	};
	static struct results without, with;
	int i;

	real_time_unlimited();
	for (i = 0; i < CYCLES; i++) {
		half_cycle(&without, false);
		module_load(params);
		half_cycle(&with, true);
		module_unload();
	}
	for (i = 0; i < KINDS; i++) {
		double base = median(without.v[i], without.n);

		figure(keys[i].without, base);
		figure(keys[i].added, median(with.v[i], with.n) - base);
	}
}
