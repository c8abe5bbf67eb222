// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More processes than CPUs, switching, migrating, forking and exiting: whose
 * lines carry the RMID of somebody else?
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
#define FILLS		65536	/* that are judged */
#define LINE		64

static const bool *stop;	/* shared with the walkers */
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
 * From here on everything this process fills is judged, by the RMID that the
 * module says it has.  Its space is new: what is said holds for all of it.
 */
static void walker_expect(void)
{
	static struct snapshot snapshot;
	uint32_t space = lab_get(LAB_SPACE_NEW, 0);
	const struct cmt_record *r;

	CHECK(space, "the model has no space left");
	dev_snapshot(&dev, &snapshot);
	r = snapshot_find(&snapshot, getpid());
	CHECK(r, "a walker has no RMID");
	lab_ask(LAB_EXPECT, LAB_ARG(0, r->rmid, space));
}

static void walker_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	walker_expect();
	walker_run(TURNS);
	/*
	 * The next process may get our page tables' root, and begins in
	 * whatever space that has.
	 */
	lab_get(LAB_SPACE_NEW, 0);
	_exit(0);
}

/* A walker lives for some turns, and its child goes on in its place. */
static pid_t walker_start(void)
{
	pid_t pid = fork(), child;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		child = fork();
		CHECK(child >= 0, "fork: %m");
		if (!child)
			walker_child();
		expect_exit_0(child, "a walker's child");
	}
	_exit(0);
}

static void wait_churn(const struct cmt_stats *before, uint64_t begin)
{
	struct cmt_stats now;

	WAIT_FOR((now = dev_stats(&dev),
		  now_ns() - begin >= SECONDS * 1000000000ULL &&
		  now.allocs - before->allocs >= FORKS &&
		  now.switches - before->switches >= SWITCHES &&
		  lab_ask(LAB_WRONG_MOST, LAB_ARG(L3, 0, 0)).second >= FILLS),
		 100000, "too few switches, forks or fills");
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

static void test_churn(void)
{
	struct cmt_stats before, after;
	struct lab_answer most, now;
	pid_t pids[WALKERS];
	uint64_t begin, ns;
	unsigned int i;
	bool *flag;

	flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(flag != MAP_FAILED, "mmap: %m");
	stop = flag;
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	model_begin();
	lab_ask(LAB_WRONG_RESET, 0);
	before = dev_stats(&dev);
	begin = now_ns();
	for (i = 0; i < WALKERS; i++)
		pids[i] = walker_start();
	wait_churn(&before, begin);
	most = lab_ask(LAB_WRONG_MOST, LAB_ARG(L3, 0, 0));
	now = lab_ask(LAB_WRONG, LAB_ARG(L3, 0, 0));
	after = dev_stats(&dev);
	ns = now_ns() - begin;
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
	for (i = 0; i < WALKERS; i++)
		expect_exit_0(pids[i], "a walker");
	lab_switch(false);

	note("%llu ms: %llu switches a second, %llu forks, %llu PQR writes",
	     (unsigned long long)ns / 1000000,
	     (unsigned long long)((after.switches - before.switches) *
				  1000000000ULL / ns),
	     (unsigned long long)(after.allocs - before.allocs),
	     (unsigned long long)(after.pqr_writes - before.pqr_writes));
	check_most(most, now);
	dev_close(&dev);
}

const struct test churn_tests[] = {
	{ "churn_lines_have_their_owners", test_churn, "", 120 },
	{ 0 }
};
