// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes, threads and cgroups that begin, end and change */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define MAX_THREADS	4
#define LATE_GROUPS	2	/* cgroups that are no containers */

static void *thread_main(void *arg)
{
	struct rng rng = { (uintptr_t)arg };

	prctl(PR_SET_NAME, rng_one_in(&rng, 2) ? "storm-thread" : "(a) \"b\"\\");
	if (rng_one_in(&rng, 2))
		sched_yield();
	/* a thread that is not the first executes: the others end */
	if (rng_one_in(&rng, 8))
		execl(suite_path, suite_path, "--true", NULL);
	usleep(rng_below(&rng, 3000));
	return NULL;
}

static void spawn_threads(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, MAX_THREADS);
	pthread_t thread;

	while (n--)
		if (!pthread_create(&thread, NULL, thread_main,
				    (void *)(uintptr_t)rng_next(rng)))
			pthread_detach(thread);
	did(DEED_threads);
	/* the first thread ends before the others, and is a zombie meanwhile */
	if (rng_one_in(rng, 2))
		syscall(SYS_exit, 0);
	usleep(rng_below(rng, 2000));
}

static void live(struct rng *rng)
{
	static char bytes[64 << 10];
	unsigned int i;

	switch (rng_below(rng, 6)) {
	case 0:
		did(DEED_execs);
		execl(suite_path, suite_path, "--true", NULL);
		break;
	case 1:
	case 2:
		spawn_threads(rng);
		break;
	case 3:
		/* a process whose parent ends first */
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			usleep(rng_below(rng, 500));
		}
		break;
	case 4:
		for (i = 0; i < sizeof(bytes); i += 64)
			((volatile char *)bytes)[i]++;
		break;
	}
	_exit(0);
}

/* No actor may use the id of a reaped process. */
static void reap_all(void)
{
	unsigned int i;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (i = 0; i < STORM_PIDS; i++)
			if (storm->pids[i] == pid)
				storm->pids[i] = 0;
}

static pid_t spawn(struct rng *rng)
{
	struct rng own = { rng_next(rng) };
	pid_t pid;

	if (rng_one_in(rng, 8)) {
		pid = vfork();
		if (!pid) {
			execl(suite_path, suite_path, "--true", NULL);
			_exit(1);
		}
		return pid;
	}
	pid = storm_fork();
	if (!pid)
		live(&own);
	return pid;
}

void act_tasks(struct rng *rng)
{
	pid_t pid = spawn(rng);

	did(DEED_forks);
	if (pid > 0 && rng_one_in(rng, 3))
		kill(pid, SIGKILL);
	reap_all();
	if (rng_one_in(rng, 4))
		usleep(rng_below(rng, 2000));
}

/* Some of its processes remain, for other actors to attach, to move and to kill. */
static void replace_sitter(struct rng *rng)
{
	unsigned int i = rng_below(rng, STORM_PIDS);
	struct rng own = { rng_next(rng) };
	pid_t old = storm->pids[i];

	storm->pids[i] = 0;
	if (old) {
		kill(old, SIGKILL);
		waitpid(old, NULL, 0);
	}
	storm->pids[i] = storm_fork();
	if (storm->pids[i])
		return;
	if (rng_one_in(&own, 2))
		prctl(PR_SET_NAME, "sitter");
	for (;;) {
		usleep(500 + rng_below(&own, 20000));
		sched_yield();
	}
}

static const char *group_name(unsigned int i, bool inner)
{
	static char name[192];

	if (i < STORM_GROUPS - LATE_GROUPS)
		snprintf(name, sizeof(name), "docker-%064x.scope%s", i,
			 inner ? "/inner" : "");
	else
		snprintf(name, sizeof(name), "unit%u.service%s", i,
			 inner ? "/inner" : "");
	return name;
}

static void make_group(unsigned int i, bool inner)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), CGROUPS "/%s", group_name(i, inner));
	if (mkdir(path, 0755))
		return;
	did(DEED_cgroups);
	if (!inner && !stat(path, &st))
		storm->cgroups[i] = st.st_ino;
}

int storm_open_group(unsigned int i)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), CGROUPS "/%s", group_name(i, false));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* EBUSY while a process is inside */
static void drop_group(unsigned int i)
{
	char path[256];

	snprintf(path, sizeof(path), CGROUPS "/%s", group_name(i, true));
	rmdir(path);
	snprintf(path, sizeof(path), CGROUPS "/%s", group_name(i, false));
	rmdir(path);
}

static void move(pid_t pid, const char *group)
{
	char path[300], text[16];

	snprintf(path, sizeof(path), CGROUPS "/%s/cgroup.procs", group);
	snprintf(text, sizeof(text), "%d", pid);
	if (pid && !write_file(path, text))
		did(DEED_moves);
}

static void kill_group(unsigned int i)
{
	char path[256];

	snprintf(path, sizeof(path), CGROUPS "/%s/cgroup.kill",
		 group_name(i, false));
	write_file(path, "1");
}

/* A process that is born in a cgroup during the life of the cgroup */
static void visit_group(struct rng *rng, unsigned int i)
{
	struct rng own = { rng_next(rng) };

	if (storm_fork())
		return;
	move(getpid(), group_name(i, rng_one_in(&own, 3)));
	if (!fork())
		usleep(rng_below(&own, 3000));
	_exit(0);
}

void act_cgroups(struct rng *rng)
{
	unsigned int i = rng_below(rng, STORM_GROUPS);

	switch (rng_below(rng, 8)) {
	case 0:
		make_group(i, rng_one_in(rng, 3));
		break;
	case 1:
		make_group(i, false);
		visit_group(rng, i);
		break;
	case 2:
		kill_group(i);
		drop_group(i);
		break;
	case 3:
		drop_group(i);
		break;
	case 4:
	case 5:
		move(storm->pids[rng_below(rng, STORM_PIDS)],
		     group_name(i, rng_one_in(rng, 4)));
		break;
	case 6:
		move(storm->pids[rng_below(rng, STORM_PIDS)], "");
		break;
	case 7:
		replace_sitter(rng);
		break;
	}
	reap_all();
	usleep(rng_below(rng, 1000));
}
