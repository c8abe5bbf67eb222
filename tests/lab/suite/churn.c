// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More processes than CPUs, which switch, migrate, fork, execute and exit.  Each is an
 * owner, or is in a container, and some move to another container.  The test looks for
 * lines that carry another owner's RMID.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "tests.h"

#define WALKERS		8
#define CONTAINERS	20
#define WALKERS_BYTES	(4 << 20)	/* of all of them; half the cache */
#define SLICE_LINES	64	/* walked between two switches */
#define TURNS		100	/* in a third of a walker's life */
/* one of this number of lives goes on in another container */
#define MOVES		4
#define SECONDS		3	/* at least */
#define FORKS		24	/* forks, at least */
#define EXECS		24	/* programs executed, at least */
#define GONE		6	/* moves to another container, at least */
#define SWITCHES	3000
#define FILLS		65536	/* judged fills, at least */
#define LINE		64

/* Lives in memory that the walkers and the test share. */
static struct churn {
	bool stop;
	uint64_t forks;
	uint64_t execs;		/* number of programs that have walked */
	uint64_t moves;
	size_t bytes;		/* bytes that each walks */
	uint32_t containers;	/* 0: none; the walkers are owners */
	uint32_t rmids[CONTAINERS];
} *churn;
static int churn_fd;		/* kept open across a walker's exec */
static struct dev dev;

static bool stopped(void)
{
	return __atomic_load_n(&churn->stop, __ATOMIC_RELAXED);
}

/* Walk a little, give up the CPU, and sometimes move to another CPU. */
static void walker_run(unsigned int turns)
{
	static char memory[WALKERS_BYTES / WALKERS];
	size_t at = 0, i;
	cpu_set_t set;

	while (turns-- && !stopped()) {
		for (i = 0; i < SLICE_LINES; i++) {
			((volatile char *)memory)[at]++;
			at = (at + LINE) % churn->bytes;
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
 * Walk.  All lines that this process fills meanwhile are judged by the RMID that the
 * module reports for the process or its container.  The address space is new, so the
 * result holds for all of it.  Afterwards the process has another space, which is not
 * judged: the next process may get the root of these page tables, and begins in the
 * space of that root.
 */
static void walker_judged(uint32_t rmid)
{
	uint32_t space = lab_get(LAB_SPACE_NEW, 0);

	CHECK(space, "the model has no space left");
	lab_ask(LAB_EXPECT, LAB_ARG(0, rmid, space));
	walker_run(TURNS);
	lab_get(LAB_SPACE_NEW, 0);
}

static void walker_exec(uint32_t rmid)
{
	char fd[16], number[16];

	snprintf(fd, sizeof(fd), "%d", churn_fd);
	snprintf(number, sizeof(number), "%u", rmid);
	execl(suite_path, suite_path, "--walk", fd, number, NULL);
	FAIL("exec: %m");
}

/* A walker has executed this program again; main() does not handle that. */
static void __attribute__((constructor)) walker_executed(int argc, char **argv)
{
	if (argc != 4 || strcmp(argv[1], "--walk"))
		return;
	churn = mmap(NULL, sizeof(*churn), PROT_READ | PROT_WRITE, MAP_SHARED,
		     atoi(argv[2]), 0);
	CHECK(churn != MAP_FAILED, "mmap: %m");
	walker_judged(atoi(argv[3]));
	__atomic_fetch_add(&churn->execs, 1, __ATOMIC_RELAXED);
	_exit(0);
}

/* Move to the next container; returns the RMID of this one. */
static uint32_t walker_move(unsigned int from)
{
	unsigned int to = (from + 1) % churn->containers;

	group_enter(container(to), getpid());
	__atomic_fetch_add(&churn->moves, 1, __ATOMIC_RELAXED);
	return churn->rmids[to];
}

static void walker_child(unsigned int number, uint64_t life)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;
	uint32_t rmid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (churn->containers) {
		rmid = churn->rmids[number];
	} else {
		dev_snapshot(&dev, &snapshot);
		r = snapshot_find(&snapshot, getpid());
		CHECK(r, "a walker has no RMID");
		rmid = r->rmid;
	}
	walker_judged(rmid);
	if (churn->containers && life % MOVES == 0)
		rmid = walker_move(number);
	walker_judged(rmid);
	walker_exec(rmid);
}

/*
 * A walker lives for some turns, and its child replaces it.  With containers, all of
 * them are in the container of the walker's number.
 */
static pid_t walker_start(unsigned int number)
{
	pid_t pid = fork(), child;
	uint64_t life;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (churn->containers)
		group_enter(container(number), getpid());
	while (!stopped()) {
		life = __atomic_fetch_add(&churn->forks, 1, __ATOMIC_RELAXED);
		child = fork();
		CHECK(child >= 0, "fork: %m");
		if (!child)
			walker_child(number, life);
		expect_exit_0(child, "a walker's child");
	}
	_exit(0);
}

static bool churned(const struct cmt_stats *before, uint64_t begin)
{
	return now_ns() - begin >= SECONDS * 1000000000ULL &&
	       __atomic_load_n(&churn->forks, __ATOMIC_RELAXED) >= FORKS &&
	       __atomic_load_n(&churn->execs, __ATOMIC_RELAXED) >= EXECS &&
	       __atomic_load_n(&churn->moves, __ATOMIC_RELAXED) >=
		       (churn->containers ? GONE : 0) &&
	       dev_stats(&dev).switches - before->switches >= SWITCHES &&
	       lab_ask(LAB_WRONG_MOST, LAB_ARG(L3, 0, 0)).second >= FILLS;
}

static void wait_churn(const struct cmt_stats *before, uint64_t begin)
{
	WAIT_FOR(churned(before, begin), 100000,
		 "too few: %llu forks, %llu programs, %llu moves",
		 (unsigned long long)churn->forks,
		 (unsigned long long)churn->execs,
		 (unsigned long long)churn->moves);
}

static void check_most(struct lab_answer most, struct lab_answer now)
{
	uint64_t size = lab_get(LAB_CONFIG, LAB_C_SIZE);

	note("wrong owner: at most %llu bytes at any instant, %.3f %% of the cache; %llu at the end; %llu fills judged; borrowed %llu",
	     (unsigned long long)most.first, 100.0 * most.first / size,
	     (unsigned long long)now.first, (unsigned long long)most.second,
	     (unsigned long long)now.second);
	CHECK(most.first * 100 <= size, "more than 1 %% of the cache");
}

/*
 * All walked memory stays in the cache.  The kernel sometimes works for one process
 * with the page tables of another: at a switch, and when a process without memory
 * exits.  With a smaller cache such accesses miss more often, and look wrong: with 20
 * times 512 KiB they were 0.9 % of the cache.
 */
static void churn_begin(unsigned int walkers)
{
	churn_fd = memfd_create("churn", 0);
	CHECK(churn_fd >= 0 && !ftruncate(churn_fd, sizeof(*churn)),
	      "memfd: %m");
	churn = mmap(NULL, sizeof(*churn), PROT_READ | PROT_WRITE, MAP_SHARED,
		     churn_fd, 0);
	CHECK(churn != MAP_FAILED, "mmap: %m");
	churn->bytes = WALKERS_BYTES / walkers / LINE * LINE;
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	model_begin();
	lab_ask(LAB_WRONG_RESET, 0);
}

/* Run the walkers, and judge them. */
static void churn_run(const pid_t *pids, unsigned int count,
		      const struct cmt_stats *before, uint64_t begin)
{
	struct lab_answer most, now;
	struct cmt_stats after;
	unsigned int i;
	uint64_t ns;

	wait_churn(before, begin);
	most = lab_ask(LAB_WRONG_MOST, LAB_ARG(L3, 0, 0));
	now = lab_ask(LAB_WRONG, LAB_ARG(L3, 0, 0));
	after = dev_stats(&dev);
	ns = now_ns() - begin;
	__atomic_store_n(&churn->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++)
		expect_exit_0(pids[i], "a walker");
	lab_switch(false);

	note("%llu ms: %llu switches a second, %llu forks, %llu programs, %llu moves, %llu PQR writes",
	     (unsigned long long)ns / 1000000,
	     (unsigned long long)((after.switches - before->switches) *
				  1000000000ULL / ns),
	     (unsigned long long)churn->forks,
	     (unsigned long long)churn->execs,
	     (unsigned long long)churn->moves,
	     (unsigned long long)(after.pqr_writes - before->pqr_writes));
	check_most(most, now);
	CHECK(!after.rmids_foreign, "%u RMIDs are said to be another agent's",
	      after.rmids_foreign);
	dev_close(&dev);
}

static void test_churn(void)
{
	struct cmt_stats before;
	pid_t pids[WALKERS];
	uint64_t begin;
	unsigned int i;

	churn_begin(WALKERS);
	before = dev_stats(&dev);
	begin = now_ns();
	for (i = 0; i < WALKERS; i++)
		pids[i] = walker_start(i);
	churn_run(pids, WALKERS, &before, begin);
}

static void test_churn_of_containers(void)
{
	const struct cmt_record *owner;
	struct cmt_stats before;
	pid_t pids[CONTAINERS];
	uint64_t begin, id;
	unsigned int i;

	churn_begin(CONTAINERS);
	before = dev_stats(&dev);
	begin = now_ns();
	for (i = 0; i < CONTAINERS; i++) {
		id = group_make(container(i));
		owner = owner_find(&dev, CMT_OWNER_CGROUP, id);
		CHECK(owner, "container %u has no RMID", i);
		churn->rmids[i] = owner->rmid;
	}
	churn->containers = CONTAINERS;
	for (i = 0; i < CONTAINERS; i++)
		pids[i] = walker_start(i);
	churn_run(pids, CONTAINERS, &before, begin);
	for (i = 0; i < CONTAINERS; i++)
		group_remove(container(i));
}

const struct test churn_tests[] = {
	{ "churn_lines_have_their_owners", test_churn, PROCESS, 120 },
	{ "churn_lines_have_their_containers", test_churn_of_containers,
	  "scope=container", 120 },
	{ "churn_on_an_excluded_cpu", test_churn, PROCESS " exclude_cpus=1", 120 },
	{ 0 }
};
