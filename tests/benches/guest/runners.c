// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* Shared with the processes. */
struct runner {
	uint32_t asked;		/* the futex: requested number of runs */
	uint32_t done;
};

static struct runner *runners;
static pid_t pids[RUNNERS_MAX];
static unsigned int nr;

static void runners_map(void)
{
	if (runners)
		return;
	runners = mmap(NULL, RUNNERS_MAX * sizeof(*runners),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	if (runners == MAP_FAILED)
		die_errno("mmap");
}

static void __attribute__((noreturn)) run(struct runner *runner)
{
	uint32_t asked;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		asked = __atomic_load_n(&runner->asked, __ATOMIC_ACQUIRE);
		__atomic_store_n(&runner->done, asked, __ATOMIC_RELEASE);
		syscall(SYS_futex, &runner->asked, FUTEX_WAIT, asked, NULL,
			NULL, 0);
	}
}

static bool sleeps(unsigned int i)
{
	return __atomic_load_n(&runners[i].done, __ATOMIC_ACQUIRE) ==
	       runners[i].asked;
}

/* The processes have the caller's priority: each runs until it sleeps. */
static void await(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		while (!sleeps(i))
			sched_yield();
	}
}

void runners_add(unsigned int up_to)
{
	if (up_to > RUNNERS_MAX)
		die("%u runners", up_to);
	runners_map();
	for (; nr < up_to; nr++) {
		runners[nr].asked++;	/* done when the process has begun */
		pids[nr] = fork();
		if (pids[nr] < 0)
			die_errno("fork");
		if (!pids[nr])
			run(&runners[nr]);
	}
	await(nr);
}

void runners_wake(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		__atomic_fetch_add(&runners[i].asked, 1, __ATOMIC_RELEASE);
		if (syscall(SYS_futex, &runners[i].asked, FUTEX_WAKE, 1, NULL,
			    NULL, 0) != 1)
			die("runner %u does not sleep", i);
	}
	await(n);
}

int runners_pid(unsigned int i)
{
	return pids[i];
}

void runners_end(void)
{
	while (nr) {
		nr--;
		kill(pids[nr], SIGKILL);
		waitpid(pids[nr], NULL, 0);
	}
}
