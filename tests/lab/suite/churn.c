// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More processes than CPUs, switching, migrating, forking and exiting: whose
 * lines carry the RMID of somebody else?
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define WALKERS		8
#define WALKER_BYTES	(512 << 10)
#define SLICE_LINES	64	/* walked between two switches */
#define TURNS		300	/* in a walker's life */
#define SECONDS		3	/* at least, */
#define FORKS		24	/* and at least so many forks */
#define SWITCHES	3000
#define LINE		64

struct walker {
	pid_t pid;
	uint32_t space;		/* 0: not yet known to the test */
};

static struct walker *walkers;	/* shared with the walkers */
static const bool *stop;
static struct dev dev;

/* Walk a little, give up the CPU, change to another one now and then. */
static void walker_run(unsigned int turns)
{
	static char memory[WALKER_BYTES];
	size_t at = 0, i;
	cpu_set_t set;

	while (turns-- && !__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < SLICE_LINES; i++) {
			((volatile char *)memory)[at]++;
			at = (at + LINE) % WALKER_BYTES;
		}
		if (turns % 16 == 0) {
			CPU_ZERO(&set);
			CPU_SET(turns / 16 % 2, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		sched_yield();
	}
}

/*
 * A walker lives for some turns, and its child goes on in its place.  Its space
 * is new before it tells the test of it, and the test learns its RMID from the
 * module.
 */
static void walker_main(struct walker *walker)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork: %m");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			walker->pid = getpid();
			__atomic_store_n(&walker->space,
					 lab_get(LAB_SPACE_NEW, 0),
					 __ATOMIC_RELEASE);
			walker_run(TURNS);
			/*
			 * The next process may get our page tables' root, and
			 * begins in whatever space that has.
			 */
			lab_get(LAB_SPACE_NEW, 0);
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid, "waitpid: %m");
		__atomic_store_n(&walker->space, 0, __ATOMIC_RELEASE);
	}
}

static pid_t walker_start(struct walker *walker)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		walker_main(walker);
		_exit(0);
	}
	return pid;
}

/* Tell the model which RMID every walker that lives ought to have. */
static void expect_walkers(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;
	unsigned int i;

	dev_snapshot(&dev, &snapshot);
	for (i = 0; i < WALKERS; i++) {
		uint32_t space = __atomic_load_n(&walkers[i].space,
						 __ATOMIC_ACQUIRE);

		if (!space)
			continue;
		r = snapshot_find(&snapshot, walkers[i].pid);
		/* if it is still the same, that RMID was this space's */
		if (r && space == __atomic_load_n(&walkers[i].space,
						  __ATOMIC_ACQUIRE))
			lab_ask(LAB_EXPECT, LAB_ARG(0, r->rmid, space));
	}
}

struct churn {
	uint64_t worst, worst_none, sum, looks;
};

static void look(struct churn *churn)
{
	struct lab_answer wrong = lab_ask(LAB_WRONG, LAB_ARG(L3, 0, 0));

	if (wrong.first > churn->worst)
		churn->worst = wrong.first;
	if (wrong.second > churn->worst_none)
		churn->worst_none = wrong.second;
	churn->sum += wrong.first;
	churn->looks++;
}

/* Every millisecond, however busy the walkers are. */
static void look_in_time(void)
{
	struct sched_param param = { .sched_priority = 1 };

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO: %m");
}

static void test_churn(void)
{
	uint64_t size = lab_get(LAB_CONFIG, LAB_C_SIZE);
	uint64_t begin, switches, per_second;
	struct cmt_stats before, after;
	struct churn churn = { 0 };
	pid_t pids[WALKERS];
	unsigned int i;
	bool *flag;

	walkers = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(walkers != MAP_FAILED, "mmap: %m");
	flag = (bool *)(walkers + WALKERS);
	stop = flag;
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	model_begin();
	for (i = 0; i < WALKERS; i++)
		pids[i] = walker_start(&walkers[i]);

	look_in_time();
	before = dev_stats(&dev);
	begin = now_ns();
	do {
		expect_walkers();
		look(&churn);
		sleep_ms(1);
		after = dev_stats(&dev);
	} while (now_ns() - begin < SECONDS * 1000000000ULL ||
		 after.allocs - before.allocs < FORKS);
	switches = after.switches - before.switches;
	per_second = switches * 1000000000ULL / (now_ns() - begin);
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
	for (i = 0; i < WALKERS; i++)
		expect_exit_0(pids[i], "a walker");
	lab_switch(false);

	note("%llu switches a second, %llu forks, %llu PQR writes; wrong owner: at most %llu bytes, %.3f %% of the cache, %llu on average, in %llu looks; no owner: at most %llu",
	     (unsigned long long)per_second,
	     (unsigned long long)(after.allocs - before.allocs),
	     (unsigned long long)(after.pqr_writes - before.pqr_writes),
	     (unsigned long long)churn.worst, 100.0 * churn.worst / size,
	     (unsigned long long)(churn.sum / churn.looks),
	     (unsigned long long)churn.looks,
	     (unsigned long long)churn.worst_none);
	/* A busy host slows all down alike: by its clock nothing is required. */
	CHECK(switches >= 2 * churn.looks && switches >= SWITCHES,
	      "only %llu switches in %llu looks", (unsigned long long)switches,
	      (unsigned long long)churn.looks);
	CHECK(churn.worst * 100 <= size, "more than 1 %% of the cache");
	dev_close(&dev);
}

const struct test churn_tests[] = {
	{ "churn_lines_have_their_owners", test_churn, "", 120 },
	{ 0 }
};
