// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With a thousand RMIDs no tick keeps interrupts off for long, at any interval, and the
 * owner lock is not held for long, whatever a user keeps.  The guest's clock counts
 * instructions, so times are exact: one nanosecond is one instruction (tests/vm/guest
 * --icount).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/waits.h"
#include "bench.h"
#include "tests.h"

#define OWNERS		1000
#define IRQS_OFF_MAX_NS	100000
/* no MSR access, no message and no walk under the lock */
#define LOCK_MAX_NS	20000

static void owners_start(unsigned int count)
{
	while (count--) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork: %m");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

/* Wait until each RMID was read again. */
static void all_read(uint32_t count, uint32_t interval_ns)
{
	static struct snapshot snapshot;
	static uint64_t seen[MAX_RMIDS];
	struct dev dev;
	uint32_t i;

	dev_open(&dev, O_RDONLY);
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot.count >= count, "only %u RMIDs have an owner",
	      snapshot.count);
	for (i = 0; i < snapshot.count; i++)
		seen[i] = lab_ask(LAB_LAST, LAB_ARG(L3,
						    snapshot.records[i].rmid,
						    1)).second;
	for (i = 0; i < snapshot.count; i++) {
		uint32_t arg = LAB_ARG(L3, snapshot.records[i].rmid, 1);

		WAIT_FOR(lab_ask(LAB_LAST, arg).second != seen[i], 200000,
			 "interval %u: RMID %u is not read", interval_ns,
			 snapshot.records[i].rmid);
	}
	dev_close(&dev);
}

static void check_interval(struct dev *dev, uint32_t interval_ns)
{
	struct cmt_stats stats, before = dev_stats(dev);

	dev_set_interval(dev, interval_ns);
	all_read(OWNERS, interval_ns);
	stats = dev_stats(dev);
	note("interval %u us: %llu ticks, %llu samples, %llu deferred; since the load interrupts were off for %llu ns at most, the owner lock held for %llu",
	     interval_ns / 1000,
	     (unsigned long long)(stats.ticks - before.ticks),
	     (unsigned long long)(stats.samples - before.samples),
	     (unsigned long long)(stats.deferred - before.deferred),
	     (unsigned long long)stats.irqs_off_ns,
	     (unsigned long long)stats.lock_held_ns);
	CHECK(stats.irqs_off_ns && stats.irqs_off_ns <= IRQS_OFF_MAX_NS,
	      "interrupts were off for %llu ns",
	      (unsigned long long)stats.irqs_off_ns);
	CHECK(stats.lock_held_ns && stats.lock_held_ns <= LOCK_MAX_NS,
	      "the owner lock was held for %llu ns",
	      (unsigned long long)stats.lock_held_ns);
}

static void test_bound(void)
{
	static const uint32_t intervals[] = { 100000, 1000000, 1000000000 };
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDWR);
	CHECK(dev.info.nr_rmids >= OWNERS, "%u RMIDs", dev.info.nr_rmids);
	dev_map(&dev, FROM_NOW);
	owners_start(OWNERS);
	for (i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++)
		check_interval(&dev, intervals[i]);
	dev_close(&dev);
}

#define ZOMBIES		5000
#define MOVES		8

/* Shared with the process: its threads, of which the last one lives on */
static struct {
	pid_t tids[ZOMBIES + 1];
	unsigned int ready;
	int go[2], stays[2];
} *threads;

/* Waits until the other end of its pipe is closed. */
static void *wait_and_exit(void *pipe)
{
	char byte;

	threads->tids[__sync_fetch_and_add(&threads->ready, 1)] = syscall(SYS_gettid);
	if (read(*(int *)pipe, &byte, 1))
		_exit(1);
	syscall(SYS_exit, 0);
	return NULL;
}

static void thread_start(int *pipe)
{
	unsigned int before = threads->ready;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	CHECK(!pthread_create(&thread, &attr, wait_and_exit, pipe), "thread %u", before);
	WAIT_FOR(*(volatile unsigned int *)&threads->ready > before, 20000,
		 "thread %u does not run", before);
}

/* The leader exits; the other threads are in the order in which they were made. */
static pid_t threads_new(void)
{
	unsigned int i;
	pid_t pid;

	threads = mmap(NULL, sizeof(*threads), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(threads != MAP_FAILED && !pipe(threads->go) && !pipe(threads->stays),
	      "mmap, pipe: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(threads->go[1]);
		close(threads->stays[1]);
		for (i = 0; i < ZOMBIES; i++)
			thread_start(&threads->go[0]);
		thread_start(&threads->stays[0]);
		syscall(SYS_exit, 0);
	}
	WAIT_FOR(*(volatile unsigned int *)&threads->ready > ZOMBIES, 300000,
		 "%u threads", threads->ready);
	WAIT_FOR(process_is(pid, 'Z'), 20000, "the leader does not exit");
	return pid;
}

/* A tracer does not wait for its threads: the exited ones stay in the process. */
static void zombies_make(void)
{
	siginfo_t info;
	unsigned int i;

	for (i = 0; i < ZOMBIES; i++)
		CHECK(!ptrace(PTRACE_SEIZE, threads->tids[i], 0, 0), "PTRACE_SEIZE: %m");
	close(threads->go[1]);
	for (i = 0; i < ZOMBIES; i++)
		CHECK(!waitid(P_PID, threads->tids[i], &info, WEXITED | WNOWAIT | __WALL),
		      "waitid: %m");
}

static uint64_t lock_held_ns(const struct dev *dev)
{
	return dev_stats(dev).lock_held_ns;
}

/*
 * A process moves whose leader has exited and which keeps many exited threads before the one
 * that lives.  Then the scope is set again: all processes are walked over.
 */
static void test_zombies(void)
{
	uint64_t ids[2], moved, set;
	unsigned int i;
	struct dev dev;
	pid_t pid;

	CHECK(!write_file("/proc/sys/kernel/threads-max", "30000"), "threads-max");
	dev_open(&dev, O_RDWR);
	for (i = 0; i < 2; i++)
		ids[i] = group_make(container(i));
	pid = threads_new();
	zombies_make();
	for (i = 0; i < MOVES; i++)
		group_enter(container(i & 1), pid);
	moved = lock_held_ns(&dev);
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	set = lock_held_ns(&dev);
	note("beside %u exited threads the owner lock was held for %llu ns at most in moves, %llu with the scope",
	     ZOMBIES, (unsigned long long)moved, (unsigned long long)set);
	CHECK(moved && set <= LOCK_MAX_NS, "the owner lock was held for %llu ns",
	      (unsigned long long)set);
	CHECK(owner_find(&dev, CMT_OWNER_CGROUP, ids[1]), "the container is no owner");
	close(threads->stays[1]);
	for (i = 0; i < ZOMBIES; i++)
		waitpid(threads->tids[i], NULL, __WALL);
	reap(pid, 0);
	for (i = 0; i < 2; i++)
		group_remove(container(i));
	dev_close(&dev);
}

#define LEVELS		1500
#define WAITING		20
#define TICKS		300

static void level_file(const char *file, const char *text)
{
	int err = write_file(file, text);

	CHECK(!err, "%s: %s", file, strerror(-err));
}

/* The working directory is the deepest group; below each, groups have weights and quotas. */
static void levels_make(void)
{
	unsigned int i;

	CHECK(!chdir(CGROUPS), CGROUPS ": %m");
	for (i = 0; i < LEVELS; i++) {
		level_file("cgroup.subtree_control", "+cpu");
		CHECK(!mkdir("level", 0755) && !chdir("level"), "level %u: %m", i);
	}
}

static void levels_remove(void)
{
	unsigned int i;

	for (i = 0; i < LEVELS; i++)
		CHECK(!chdir("..") && !rmdir("level"), "level %u: %m", i);
}

/* Tasks that wait for the CPU are deep in nested groups. */
static void test_levels(void)
{
	pid_t pids[WAITING];
	struct cmt_stats stats;
	uint64_t ticks;
	char text[16];
	struct dev dev;
	unsigned int i;

	dev_open(&dev, O_RDWR);
	levels_make();
	for (i = 0; i < WAITING; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			waits_spin();
		}
		snprintf(text, sizeof(text), "%d", pids[i]);
		level_file("cgroup.procs", text);
	}
	waits_ask(&dev, CMT_F_WAITED);
	dev_map(&dev, FROM_NOW);
	ticks = dev_stats(&dev).ticks;
	WAIT_FOR(dev_stats(&dev).ticks - ticks > TICKS, 200000, "no ticks");
	stats = dev_stats(&dev);
	note("%u tasks wait in %u nested groups: interrupts were off for %llu ns at most, %llu ns in a tick",
	     WAITING, LEVELS, (unsigned long long)stats.irqs_off_ns,
	     (unsigned long long)(stats.busy_ns / stats.ticks));
	for (i = 0; i < WAITING; i++)
		reap(pids[i], SIGKILL);
	levels_remove();
	CHECK(stats.irqs_off_ns <= IRQS_OFF_MAX_NS, "interrupts were off for %llu ns",
	      (unsigned long long)stats.irqs_off_ns);
	dev_close(&dev);
}

const struct test bound_tests[] = {
	{ "interrupts_off_at_most_100_us", test_bound, PROCESS, 500 },
	{ "lock_beside_exited_threads", test_zombies, "scope=container", 300 },
	{ "interrupts_off_beside_deep_groups", test_levels, "scope=manual", 300 },
	{ 0 }
};
