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
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define CYCLES		3	/* without, with: so often */
#define ROUNDS		15	/* of each kind in each half of a cycle */
#define ROUND_TRIPS	200	/* in a round: less than 4 ms for most */
#define FORKS		200	/* in each half of a cycle */
#define FORKS_WARM_UP	20

struct pair {
	int ping[2], pong[2];
};

enum kind { SAME_RMID, OTHER_RMID, KINDS };

struct results {
	double switches[KINDS][CYCLES * ROUNDS];
	size_t n;		/* of each kind */
	double forks[CYCLES * FORKS];
	size_t nr_forks;
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
		results->switches[kind][results->n + i] =
			ping_pong(pair);
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
	pid_t pid = vfork();

	if (pid < 0)
		die_errno("vfork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die_errno("waitpid");
	return instructions() - start;
}

/* The module must have given and taken an RMID. */
static void check_fork(void)
{
	struct cmt_stats before, after;
	int fd = device_open();

	device_stats(fd, &before);
	fork_exit();
	device_stats(fd, &after);
	close(fd);
	if (after.allocs == before.allocs || after.frees == before.frees)
		die("a fork and exit without ALLOC or FREE");
}

/*
 * One by one: what the kernel frees later, in batches, then falls to a few of
 * them, and the median does not see it.
 */
static void forks(struct results *results, bool loaded)
{
	int i;

	for (i = 0; i < FORKS_WARM_UP; i++)
		fork_exit();
	for (i = 0; i < FORKS; i++)
		results->forks[results->nr_forks++] = fork_exit();
	if (loaded)
		check_fork();
}

static void half_cycle(struct results *results, bool loaded)
{
	switch_same(results, loaded);
	switch_other(results, loaded);
	forks(results, loaded);
	results->n += ROUNDS;
}

/* @key: "_without" and "_added" are put to it */
static void report(const char *key, double without, double with)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_without", key);
	figure(name, without);
	snprintf(name, sizeof(name), "%s_added", key);
	figure(name, with - without);
}

void bench_sched(const char *params)
{
	static const char *const keys[KINDS] = {
		[SAME_RMID] = "switch_same",
		[OTHER_RMID] = "switch_other",
	};
	static struct results without, with;
	int i;

	for (i = 0; i < CYCLES; i++) {
		half_cycle(&without, false);
		module_load(params);
		half_cycle(&with, true);
		module_unload();
	}
	for (i = 0; i < KINDS; i++)
		report(keys[i], median(without.switches[i], without.n),
		       median(with.switches[i], with.n));
	report("fork_exit", median(without.forks, without.nr_forks),
	       median(with.forks, with.nr_forks));
}
