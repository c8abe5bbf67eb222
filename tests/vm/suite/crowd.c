// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "waits.h"

#define THREADS		3	/* of each process beside the first one */
#define MEMBERS		(CROWD_GROUPS - 1)	/* the last two groups have one process */

struct member {
	pid_t pid;
	pid_t tids[THREADS];
	unsigned int group;
	uint64_t dead_ns;	/* what processes waited that it has killed */
};

struct crowd {
	struct member members[MEMBERS];
	uint32_t rest;		/* a futex */
	uint32_t resting;	/* the number of threads */
	uint32_t random;
};

static struct crowd *shared;

static uint32_t any(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static void compute(uint32_t us)
{
	uint64_t until = now_ns() + us * 1000ULL;

	while (now_ns() < until)
		;
}

static void one_act(uint32_t *random)
{
	struct timespec pause = { .tv_nsec = any(random, 2000000) };

	switch (any(random, 4)) {
	case 0:
		nanosleep(&pause, NULL);
		break;
	case 1:
		sched_yield();
		break;
	default:
		compute(10 + any(random, 3000));
	}
}

static void rest_if_asked(void)
{
	if (!__atomic_load_n(&shared->rest, __ATOMIC_ACQUIRE))
		return;
	__atomic_fetch_add(&shared->resting, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared->rest, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &shared->rest, FUTEX_WAIT, 1, NULL, NULL, 0);
	__atomic_fetch_sub(&shared->resting, 1, __ATOMIC_RELEASE);
}

static void *thread_main(void *arg)
{
	pid_t *tid = arg;
	uint32_t random;

	*tid = (pid_t)syscall(SYS_gettid);
	random = shared->random + (uint32_t)(tid - &shared->members[0].tids[0]);
	for (;;) {
		rest_if_asked();
		one_act(&random);
	}
	return NULL;
}

/* A process that the parent kills: what it waited stands when it is off its CPU. */
static uint64_t one_life(uint32_t *random)
{
	uint32_t ms = 1 + any(random, 20);
	uint64_t ns = 0, before = 1;
	siginfo_t info;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	while (!pid)
		one_act(random);
	sleep_ms(ms);
	kill(pid, SIGKILL);
	CHECK(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), "waitid: %m");
	while (ns != before) {
		before = ns;
		sleep_ms(2);
		ns = process_waited(pid);
	}
	reap(pid, 0);
	return ns;
}

static void member_main(struct member *member)
{
	uint32_t random = shared->random + member->group;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	group_enter(container(member->group), getpid());
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread, NULL, thread_main, &member->tids[i]),
		      "pthread_create");
	for (;;) {
		rest_if_asked();
		if (member->group == CROWD_KILLED)
			member->dead_ns += one_life(&random);
		else
			one_act(&random);
	}
}

static bool sleeps(pid_t tid)
{
	char path[64], line[512] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	CHECK(file && fgets(line, sizeof(line), file), "%s: %m", path);
	fclose(file);
	state = strrchr(line, ')');
	CHECK(state, "%s: %s", path, line);
	return state[2] == 'S';
}

static bool all_sleep(const struct crowd *crowd)
{
	for (unsigned int i = 0; i < MEMBERS; i++) {
		if (!sleeps(crowd->members[i].pid))
			return false;
		for (unsigned int k = 0; k < THREADS; k++)
			if (!sleeps(crowd->members[i].tids[k]))
				return false;
	}
	return true;
}

/* One that has said so may run on, or wait for its CPU, until it sleeps. */
static void wait_resting(const struct crowd *crowd)
{
	WAIT_FOR(__atomic_load_n(&crowd->resting, __ATOMIC_ACQUIRE) ==
		 MEMBERS * (THREADS + 1), 30000, "%u threads rest", crowd->resting);
	WAIT_FOR(all_sleep(crowd), 30000, "threads that rest do not sleep");
}

struct crowd *crowd_start(unsigned int seed)
{
	struct crowd *crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(crowd != MAP_FAILED, "mmap: %m");
	shared = crowd;
	crowd->random = seed * 2654435761U;
	crowd->rest = 1;
	for (unsigned int i = 0; i < MEMBERS; i++) {
		struct member *member = &crowd->members[i];
		pid_t pid;

		member->group = i;
		pid = fork();
		CHECK(pid >= 0, "fork: %m");
		if (!pid)
			member_main(member);
		member->pid = pid;
	}
	wait_resting(crowd);
	return crowd;
}

void crowd_go(struct crowd *crowd)
{
	__atomic_store_n(&crowd->rest, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &crowd->rest, FUTEX_WAKE, 1000, NULL, NULL, 0);
}

void crowd_rest(struct crowd *crowd)
{
	__atomic_store_n(&crowd->rest, 1, __ATOMIC_RELEASE);
	wait_resting(crowd);
}

static void pin(pid_t tid, uint32_t cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 2; cpu++)
		if (cpus & 1U << cpu)
			CPU_SET(cpu, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

static void set_class(pid_t tid, uint32_t *random)
{
	static const int classes[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR };
	int class = classes[any(random, 4)];
	struct sched_param param = { class == SCHED_RR ? 1 : 0 };

	sched_setscheduler(tid, class, &param);
}

void crowd_disturb(struct crowd *crowd)
{
	uint32_t *random = &crowd->random;
	struct member *member = &crowd->members[any(random, MEMBERS)];
	pid_t tid = member->tids[any(random, THREADS)];

	switch (any(random, 8)) {
	case 0:
		set_class(tid, random);
		break;
	case 1:
		setpriority(PRIO_PROCESS, (id_t)tid, (int)any(random, 40) - 20);
		break;
	case 2:
		member = &crowd->members[CROWD_MOVED];
		group_enter(container(CROWD_MOVED + any(random, 2)), member->pid);
		break;
	default:
		pin(tid, 1 + any(random, 3));
	}
}

uint64_t crowd_waited(const struct crowd *crowd, unsigned int group)
{
	const struct member *member = &crowd->members[group];

	return process_waited(member->pid) + member->dead_ns;
}

/*
 * Not in real time: the last thread of a member wakes its reaper up, and drops its entry in
 * /proc after that.  A reaper that runs before it on its CPU would wait for that in
 * shrink_dcache_parent(), which spins (seen with 6.12), and a thread that is pinned never gets
 * there.
 */
void crowd_stop(struct crowd *crowd)
{
	const struct sched_param param = { 0 };

	CHECK(!sched_setscheduler(0, SCHED_OTHER, &param), "SCHED_OTHER: %m");
	for (int i = 0; i < MEMBERS; i++)
		reap(crowd->members[i].pid, SIGKILL);
	munmap(crowd, sizeof(*crowd));
}
