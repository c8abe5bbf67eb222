// SPDX-License-Identifier: GPL-2.0-or-later
/* Many processes, few RMIDs. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define STORM_WORKERS	4
#define STORM_EACH	1500	/* processes by each worker: 6,000 */
#define STORM_FEW	300	/* most of these processes have to wait for an RMID */

/* The invariants of the pool while no process begins or ends. */
static void check_conservation(const struct dev *dev,
			       const struct snapshot *snapshot)
{
	struct cmt_stats s = dev_stats(dev);
	uint32_t i;

	CHECK(s.allocs - s.frees == s.rmids_active,
	      "%llu allocations, %llu frees, %u active",
	      (unsigned long long)s.allocs, (unsigned long long)s.frees,
	      s.rmids_active);
	CHECK(s.rmids_active + s.rmids_limbo + s.rmids_free +
	      s.rmids_foreign == dev->info.rmids_usable,
	      "%u active, %u in limbo, %u free, %u foreign of %u",
	      s.rmids_active, s.rmids_limbo, s.rmids_free, s.rmids_foreign,
	      dev->info.rmids_usable);
	CHECK(snapshot->count == s.rmids_active, "snapshot of %u, %u active",
	      snapshot->count, s.rmids_active);
	for (i = 0; i < snapshot->count; i++) {
		uint32_t tgid = snapshot->records[i].tgid;

		if (snapshot->records[i].flags & CMT_F_OWNER_OVERFLOW)
			continue;
		CHECK(!kill(tgid, 0), "RMID %u is of %u, which is gone",
		      snapshot->records[i].rmid, tgid);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

/* The life of one process, of one of several kinds. */
static void storm_child(unsigned int style)
{
	pthread_t t[2];

	switch (style % 10) {
	case 0:
		execl(suite_path, "suite", "--true", NULL);
		_exit(1);
	case 1:
	case 2:
		/* threads that outlive the call, and the leader's exit */
		if (pthread_create(&t[0], NULL, nothing, NULL) ||
		    pthread_create(&t[1], NULL, nothing, NULL))
			_exit(1);
		if (style % 10 == 1)
			pthread_join(t[0], NULL);
		_exit(0);
	default:
		_exit(0);
	}
}

static pid_t vfork_and_exit(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static pid_t fork_child(unsigned int style)
{
	pid_t pid = fork();

	if (pid == 0)
		storm_child(style);
	return pid;
}

static void storm_worker(unsigned int seed, unsigned int each)
{
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < each; i++) {
		pid = i % 4 == 3 ? vfork_and_exit() : fork_child(i + seed);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			_exit(1);
	}
	_exit(0);
}

static void storm(unsigned int each)
{
	static struct snapshot snapshot;
	struct history history;
	pid_t workers[STORM_WORKERS];
	struct recorder rec;
	struct dev dev;
	unsigned int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < STORM_WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0)
			storm_worker(i, each);
	}
	for (i = 0; i < STORM_WORKERS; i++)
		expect_exit_0(workers[i], "storm worker");
	recorder_stop(&rec);

	dev_snapshot(&dev, &snapshot);
	check_conservation(&dev, &snapshot);
	history_replay(&history, &rec.log, &dev.info);
	history_matches(&history, &snapshot);
	CHECK(history.allocs == dev_stats(&dev).allocs, "%u ALLOC records",
	      history.allocs);
	CHECK(history.allocs + history.fails >= STORM_WORKERS * each,
	      "only %u processes seen", history.allocs);
	CHECK(history.reused > each / 2, "only %u RMIDs used again",
	      history.reused);
	CHECK(!dev_stats(&dev).pending, "%u wait for ever",
	      dev_stats(&dev).pending);
	note("%u allocations, %u reused, shortest limbo %llu us, %u failed",
	     history.allocs, history.reused,
	     (unsigned long long)history.least_limbo_ns / 1000, history.fails);
	log_free(&rec.log);
	dev_close(&dev);
}

static void pool_storm(void)
{
	storm(STORM_EACH / slowness / (again ? 4 : 1));
}

static void pool_storm_few_rmids(void)
{
	storm(STORM_FEW / slowness);
}

#define CROWD 60

static unsigned int count_owners(const struct dev *dev, const pid_t *pids)
{
	static struct snapshot snapshot;
	unsigned int i, n = 0;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < CROWD; i++)
		n += pids[i] && snapshot_find(&snapshot, pids[i]);
	return n;
}

/* End n processes of the crowd, either with or without an RMID. */
static void end_some(const struct dev *dev, pid_t *pids, unsigned int n,
		     bool owners)
{
	static struct snapshot snapshot;
	unsigned int i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < CROWD && n; i++) {
		if (!pids[i] || !snapshot_find(&snapshot, pids[i]) == owners)
			continue;
		reap(pids[i], SIGKILL);
		pids[i] = 0;
		n--;
	}
	CHECK(!n, "%u too few to end", n);
}

static void pool_exhaustion(void)
{
	static struct snapshot snapshot;
	struct history history;
	struct recorder rec;
	struct cmt_stats s;
	pid_t pids[CROWD];
	unsigned int i, owners;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.rmids_usable == 15, "%u RMIDs", dev.info.rmids_usable);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < CROWD; i++)
		pids[i] = park(i % 3, NULL);

	owners = count_owners(&dev, pids);
	s = dev_stats(&dev);
	CHECK(s.rmids_active == 15, "%u of 15 RMIDs given", s.rmids_active);
	CHECK(s.pending == CROWD - owners && s.alloc_fails == s.pending,
	      "%u have one, %u wait, %llu failed", owners, s.pending,
	      (unsigned long long)s.alloc_fails);

	/* pending owners may end without an RMID */
	end_some(&dev, pids, 5, false);
	CHECK(dev_stats(&dev).pending == s.pending - 5,
	      "the dead still wait: %u", dev_stats(&dev).pending);
	CHECK(!dev_stats(&dev).served, "served without an RMID to give");

	end_some(&dev, pids, 8, true);
	WAIT_FOR(dev_stats(&dev).served == 8, 5000, "%llu of 8 served",
		 (unsigned long long)dev_stats(&dev).served);
	CHECK(dev_stats(&dev).pending == s.pending - 13, "%u wait",
	      dev_stats(&dev).pending);
	CHECK(count_owners(&dev, pids) == owners, "%u of %u have an RMID",
	      count_owners(&dev, pids), owners);

	/* until all pending owners had their turn */
	while (dev_stats(&dev).pending) {
		unsigned int left = dev_stats(&dev).pending;

		end_some(&dev, pids, 1, true);
		WAIT_FOR(dev_stats(&dev).pending < left, 5000,
			 "%u are pending, none is served", left);
	}
	for (i = 0; i < CROWD; i++)
		if (pids[i])
			reap(pids[i], SIGKILL);
	recorder_stop(&rec);

	s = dev_stats(&dev);
	CHECK(s.served + 5 == s.alloc_fails, "%llu failed, %llu served, 5 died",
	      (unsigned long long)s.alloc_fails, (unsigned long long)s.served);
	dev_snapshot(&dev, &snapshot);
	check_conservation(&dev, &snapshot);
	history_replay(&history, &rec.log, &dev.info);
	history_matches(&history, &snapshot);
	CHECK(history.fails == s.alloc_fails, "%u ALLOC_FAIL records",
	      history.fails);
	log_free(&rec.log);
	dev_close(&dev);
}

/* More processes than RMIDs at load: the same queue. */
static void pool_exhausted_at_load(void)
{
	static struct snapshot snapshot;
	struct cmt_stats s;
	pid_t pids[CROWD];
	struct dev dev;
	int i;

	for (i = 0; i < CROWD; i++)
		pids[i] = park(0, NULL);
	CHECK(!module_load(EMULATED "emulated_rmids=16 interval_us=10000"),
	      "load");
	dev_open(&dev, O_RDONLY);
	s = dev_stats(&dev);
	CHECK(s.rmids_active == 15 && s.pending >= CROWD - 15 &&
	      s.alloc_fails == s.pending, "%u active, %u wait", s.rmids_active,
	      s.pending);
	for (i = 0; i < CROWD; i++)
		reap(pids[i], SIGKILL);
	WAIT_FOR(!dev_stats(&dev).pending, 5000, "%u wait",
		 dev_stats(&dev).pending);
	dev_snapshot(&dev, &snapshot);
	check_conservation(&dev, &snapshot);
	CHECK(snapshot_find(&snapshot, getpid()), "this test has no RMID");
	CHECK(snapshot_find(&snapshot, 1), "init has no RMID");
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/*
 * One RMID, and many owners in quick succession.  Without limbo, the RMID would be
 * reused at once.
 */
static void pool_limbo(void)
{
	static struct snapshot snapshot;
	struct history history;
	struct recorder rec;
	char params[96];
	struct dev dev;
	int i;

	CHECK(!module_load(""), "load");
	dev_open(&dev, O_RDONLY);
	dev_snapshot(&dev, &snapshot);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
	snprintf(params, sizeof(params),
		 EMULATED
		 "emulated_rmids=%u interval_us=10000 ring_records=16384",
		 snapshot.count + 2);

	CHECK(!module_load(params), "load with %s", params);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < 300; i++)
		CHECK(waitpid(vfork_and_exit(), NULL, 0) > 0, "vfork: %m");
	recorder_stop(&rec);
	dev_snapshot(&dev, &snapshot);
	check_conservation(&dev, &snapshot);
	history_replay(&history, &rec.log, &dev.info);
	history_matches(&history, &snapshot);
	note("%u reused, %u failed, shortest limbo %llu us", history.reused,
	     history.fails, (unsigned long long)history.least_limbo_ns / 1000);
	CHECK(history.reused > 10, "only %u RMIDs used again", history.reused);
	log_free(&rec.log);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* Two RMID numbers, so one owner: the smallest pool. */
static void pool_of_one(void)
{
	static struct snapshot snapshot;
	struct dev dev;
	int i;

	dev_open(&dev, O_RDONLY);
	for (i = 0; i < 20; i++) {
		reap(park(1, NULL), SIGKILL);
		dev_snapshot(&dev, &snapshot);
		check_conservation(&dev, &snapshot);
	}
	CHECK(snapshot.count == 1, "%u owners of one RMID", snapshot.count);
	CHECK(!snapshot_rest(&snapshot), "the only RMID is kept for the rest");
	dev_close(&dev);
}

/* Runs for ever, and touches enough memory to be visible. */
static pid_t spin(void)
{
	static char bytes[1 << 20];
	size_t i;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	while (pid == 0)
		for (i = 0; i < sizeof(bytes); i += 64)
			((volatile char *)bytes)[i]++;
	return pid;
}

/* Pending owners share the overflow RMID, which runs and fills cache. */
static void pool_overflow_rmid(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *r, *rest;
	uint64_t most = 0, ticks = 0;
	struct recorder rec;
	pid_t pids[10];
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	for (i = 0; i < 9; i++)
		pids[i] = park(0, NULL);
	recorder_start(&rec, &dev, true);
	pids[9] = spin();
	dev_snapshot(&dev, &snapshot);
	CHECK(!snapshot_find(&snapshot, pids[9]), "an RMID was free");
	sleep_ms(300);
	recorder_stop(&rec);

	rest = snapshot_rest(&snapshot);
	CHECK(rest, "no overflow RMID");
	r = log_find(&rec.log, 0, CMT_REC_ALLOC_FAIL, pids[9]);
	CHECK(r && r->rmid == rest->rmid && r->generation == rest->generation,
	      "ALLOC_FAIL says RMID %u, the rest is %u", r ? r->rmid : 0,
	      rest->rmid);
	for (i = 0; i < rec.log.count; i++) {
		r = &rec.log.records[i];
		if (r->rmid != rest->rmid || r->generation != rest->generation)
			continue;
		if (r->type == CMT_REC_TICK)
			ticks++;
		if (r->type == CMT_REC_SAMPLE && r->sample.occupancy_bytes > most)
			most = r->sample.occupancy_bytes;
	}
	note("the rest: %llu ticks, %llu KiB", (unsigned long long)ticks,
	     (unsigned long long)most >> 10);
	CHECK(ticks && most >= 256 << 10, "who waits does not run under it");
	log_free(&rec.log);
	for (i = 0; i < 10; i++)
		reap(pids[i], SIGKILL);
	WAIT_FOR(!dev_stats(&dev).pending, 5000, "%u wait",
		 dev_stats(&dev).pending);
	dev_snapshot(&dev, &snapshot);
	check_conservation(&dev, &snapshot);
	CHECK(snapshot_rest(&snapshot), "the rest is gone");
	dev_close(&dev);
}

/* Unload with pending processes, while the timer that serves them is armed. */
static void pool_unload_while_waiting(void)
{
	pid_t pids[20];
	int i, round;

	for (round = 0; round < 5; round++) {
		CHECK(!module_load(EMULATED "emulated_rmids=4"), "load");
		for (i = 0; i < 20; i++)
			pids[i] = park(0, NULL);
		for (i = 0; i < 20; i++)
			reap(pids[i], SIGKILL);
		CHECK(!module_unload(), "unload");
	}
}

const struct test pool_tests[] = {
	{ "pool_storm", pool_storm,
	  "interval_us=10000 ring_records=65536", 300 },
	{ "pool_storm_few_rmids", pool_storm_few_rmids,
	  EMULATED "interval_us=10000 ring_records=65536 emulated_rmids=24",
	  120 },
	{ "pool_exhaustion", pool_exhaustion,
	  EMULATED "emulated_rmids=16 interval_us=10000 ring_records=16384", 0 },
	{ "pool_exhausted_at_load", pool_exhausted_at_load, NULL, 0 },
	{ "pool_limbo", pool_limbo, NULL, 0 },
	{ "pool_of_one", pool_of_one, EMULATED "emulated_rmids=2", 0 },
	{ "pool_overflow_rmid", pool_overflow_rmid,
	  EMULATED "emulated_rmids=8 interval_us=2000 ring_records=16384", 0 },
	{ "pool_unload_while_waiting", pool_unload_while_waiting, NULL, 0 },
	{ }
};
