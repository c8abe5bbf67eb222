// SPDX-License-Identifier: GPL-2.0-or-later
/* Processors with wrong announcements, or that need a correction. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define BYTES		(1 << 20)
#define WALK_BYTES	(16 << 20)	/* more than the cache */
#define MILLION		1000000
#define CPUS		2
#define CLOSID(cpu)	((uint32_t)(cpu) + 1)
#define PQR_WRITES	500

/* Samples of an RMID without counters: no values, and a reason. */
static size_t samples_refused(const struct log *log, uint32_t rmid)
{
	const uint16_t values = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
				CMT_F_MBM_LOCAL | CMT_F_RESIDUAL;
	size_t i, n = 0;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid)
			continue;
		CHECK(!(r->flags & values) && r->flags & CMT_F_ERROR,
		      "flags %#x of an RMID that does not exist", r->flags);
		CHECK(!r->sample.occupancy_bytes && !r->sample.residual_bytes &&
		      !r->sample.mbm_total_bytes && !r->sample.mbm_local_bytes,
		      "a number without a flag");
		n++;
	}
	return n;
}

static uint64_t user_bytes(uint32_t rmid, const struct worker *of)
{
	return lab_get(LAB_OF_USER, LAB_ARG(L3, rmid, of->space));
}

/*
 * Two processes take turns on a CPU, and the processor refuses the RMID of one of them.
 * The accesses of that process must not count for the other one.
 */
static void test_limit(void)
{
	uint32_t limit = lab_get(LAB_CONFIG, LAB_C_LIMIT);
	struct worker *refused = worker_start(BYTES), *other;
	struct cmt_stats before, after;
	struct recorder recorder;
	struct readings readings;
	size_t samples, matched;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(refused, &dev);
	CHECK(refused->rmid >= limit, "RMID %u is not refused", refused->rmid);
	other = worker_below(limit, BYTES, &dev);
	run_on(refused->pid, 0);
	run_on(other->pid, 0);
	dev_map(&dev, FROM_NOW);
	model_begin();
	before = dev_stats(&dev);
	recorder_start(&recorder, &dev, true);
	readings_begin(&readings);
	worker_go(refused, true);
	worker_go(other, true);
	worker_wait(refused, 50);
	worker_wait(other, 50);
	wait_read(L3, other->rmid);
	after = dev_stats(&dev);
	recorder_stop(&recorder);
	readings_end(&readings);
	lab_switch(false);

	samples = samples_refused(&recorder.log, refused->rmid);
	matched = samples_match(&recorder.log, &readings, other->rmid);
	note("RMID %u of %u: %zu samples say that there is no number; %llu errors, %llu ticks without their RMID; its own bytes under RMID 0 %llu, under the other's %llu; the other: %llu of its own, %zu samples equal the counter",
	     refused->rmid, limit, samples,
	     (unsigned long long)(after.read_errors - before.read_errors),
	     (unsigned long long)(after.pqr_overwritten - before.pqr_overwritten),
	     (unsigned long long)user_bytes(0, refused),
	     (unsigned long long)user_bytes(other->rmid, refused),
	     (unsigned long long)user_bytes(other->rmid, other), matched);
	CHECK(samples && matched, "no samples");
	CHECK(after.read_errors - before.read_errors >= samples,
	      "errors are not counted");
	CHECK(after.pqr_overwritten != before.pqr_overwritten,
	      "that the RMID is not in force is not counted");
	CHECK(user_bytes(0, refused) >= BYTES - BYTES / 50,
	      "its memory is not in the cache under RMID 0");
	CHECK(!user_bytes(other->rmid, refused),
	      "what it did is said of another process");
	readings_free(&readings);
	log_free(&recorder.log);
	worker_stop(refused);
	worker_stop(other);
	dev_close(&dev);
}

/*
 * The reported traffic of a worker, in millionths of the true traffic.  The cache is
 * off during the comparison: otherwise a worker's lines are written back when other
 * owners need the room.
 */
static uint64_t said_millionths(struct worker *worker, struct dev *dev)
{
	struct lab_answer from, to;
	const struct cmt_record *r;
	struct recorder recorder;
	uint64_t begin, said;

	lab_switch(false);
	recorder_start(&recorder, dev, true);
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	from = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	r = last_sample(&recorder.log, worker->rmid);
	CHECK(r && r->flags & CMT_F_MBM_TOTAL, "no sample");
	begin = r->sample.mbm_total_bytes;
	log_free(&recorder.log);

	recorder_start(&recorder, dev, true);
	lab_switch(true);
	worker_go(worker, true);
	worker_wait(worker, 5);
	lab_switch(false);
	worker_go(worker, false);
	to = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	r = last_sample(&recorder.log, worker->rmid);
	CHECK(r && r->flags & CMT_F_MBM_TOTAL, "no sample");
	said = r->sample.mbm_total_bytes - begin;
	log_free(&recorder.log);
	note("RMID %u: truth %llu, said %llu", worker->rmid,
	     (unsigned long long)(to.first - from.first),
	     (unsigned long long)said);
	CHECK(to.first - from.first >= 5 * (uint64_t)WALK_BYTES,
	      "there was no traffic");
	return said * MILLION / (to.first - from.first);
}

static void expect_near(uint64_t is, uint64_t ought)
{
	CHECK(is + 2000 >= ought && is <= ought + 2000,
	      "%llu millionths, not %llu", (unsigned long long)is,
	      (unsigned long long)ought);
}

/*
 * A Broadwell server with 40 RMIDs counts too little above RMID 31: the factor
 * in Intel's table is 1.066667.
 */
static void test_correction(void)
{
	struct worker *high = worker_start(WALK_BYTES), *low;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(high, &dev);
	CHECK(high->rmid > 31, "RMID %u", high->rmid);
	low = worker_below(32, WALK_BYTES, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	expect_near(said_millionths(high, &dev), 1066667);
	expect_near(said_millionths(low, &dev), MILLION);
	lab_switch(false);
	worker_stop(high);
	worker_stop(low);
	dev_close(&dev);
}

static void check_refused(const char *reason)
{
	struct dev dev;

	CHECK(lab_present(), "this is not the lab processor");
	dev_open(&dev, O_RDONLY);
	note("backend %u: %s", dev.info.backend, dev.info.reason);
	CHECK(dev.info.backend == CMT_BACKEND_SOFTWARE,
	      "the hardware is used all the same");
	CHECK(strstr(dev.info.reason, reason), "the reason is not said");
	dev_close(&dev);
}

/* The first Skylake servers count wrongly: no value of theirs is reported. */
static void test_erratum(void)
{
	check_refused("erratum");
}

/* Cascade Lake with two nodes in an L3 */
static void test_nodes(void)
{
	check_refused("several NUMA nodes per L3");
}

static void test_reset(void)
{
	struct lab_answer info = lab_ask(LAB_INFO, 0);
	uint64_t fills = lab_get(LAB_STAT, LAB_S_FILLS);

	note("%llu lines were filled since the reset",
	     (unsigned long long)fills);
	CHECK(info.first == LAB_MAGIC, "this is not the lab processor");
	CHECK(info.second, "the model is off");
	CHECK(fills > lab_get(LAB_CONFIG, LAB_C_SIZE) /
	      lab_get(LAB_CONFIG, LAB_C_LINE), "booting filled too little");
}

static uint32_t closid_of_cpu(int cpu)
{
	run_on(0, cpu);
	return lab_get(LAB_PQR, 0) >> 32;
}

static void check_closids(const char *when)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		CHECK(closid_of_cpu(cpu) == CLOSID(cpu),
		      "%s: CPU %d has CLOSID %u, not %u", when, cpu,
		      closid_of_cpu(cpu), CLOSID(cpu));
}

/*
 * A CPU has a CLOSID of another agent, which stays while the module changes the other
 * half of the register.
 */
static void test_closid(void)
{
	struct worker *workers[2 * CPUS];
	struct cmt_stats stats;
	struct dev dev;
	int i;

	CHECK(lab_get(LAB_CONFIG, LAB_C_CLOSIDS) > CLOSID(CPUS - 1),
	      "too few CLOSIDs");
	for (i = 0; i < CPUS; i++) {
		run_on(0, i);
		lab_ask(LAB_CLOSID_SET, CLOSID(i));
	}
	CHECK(!module_load(PROCESS), "the module does not load");
	check_closids("loaded");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 2 * CPUS; i++) {
		workers[i] = worker_start(64 << 10);
		run_on(workers[i]->pid, i % CPUS);
		worker_go(workers[i], true);
	}
	stats = dev_stats(&dev);
	WAIT_FOR((check_closids("running"),
		  dev_stats(&dev).pqr_writes - stats.pqr_writes >= PQR_WRITES),
		 30000, "too few switches");
	for (i = 0; i < 2 * CPUS; i++)
		worker_stop(workers[i]);
	dev_close(&dev);
	check_closids("idle");
	CHECK(!module_unload(), "the module does not unload");
	check_closids("unloaded");
	note("%u PQR writes and more, and every CLOSID is what it was",
	     PQR_WRITES);
}

const struct test limit_tests[] = {
	{ "refused_rmid_has_no_values", test_limit, PROCESS, 120 },
	{ 0 }
};

const struct test correction_tests[] = {
	{ "correction_is_applied", test_correction, PROCESS, 120 },
	{ 0 }
};

const struct test erratum_tests[] = {
	{ "erratum_is_refused", test_erratum, PROCESS, 60 },
	{ 0 }
};

const struct test nodes_tests[] = {
	{ "nodes_are_refused", test_nodes, PROCESS, 60 },
	{ 0 }
};

const struct test closid_tests[] = {
	{ "closid_is_kept", test_closid, NULL, 60 },
	{ 0 }
};

#define RELOADS		5
#define STORM		150	/* number of children */

/* Forks while the module is unloaded; its children run now and then, until the end. */
static pid_t fork_storm(void)
{
	pid_t pid = fork();
	int i;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	for (i = 0; i < STORM; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				sleep_ms(20);
		}
		sleep_ms(2);
	}
	for (;;)
		pause();
}

/*
 * A task that was forked during the unload has no RMID of cmt.  The next load would
 * take such an RMID for resctrl's.
 */
static void test_forks_while_unloading(void)
{
	struct cmt_stats stats;
	struct dev dev;
	int i;

	for (i = 0; i < RELOADS; i++) {
		pid_t pid;

		CHECK(!module_load(PROCESS), "the module does not load");
		pid = fork_storm();
		sleep_ms(20);	/* of the storm's own time */
		WAIT_FOR(!module_unload(), 5000, "the module does not unload");
		CHECK(!module_load(PROCESS), "the module does not load again");
		dev_open(&dev, O_RDONLY);
		dev_map(&dev, FROM_NOW);
		WAIT_FOR((stats = dev_stats(&dev)).switches >= 10 * STORM, 30000,
			 "the storm does not run");
		dev_close(&dev);
		reap(pid, SIGKILL);
		CHECK(!stats.rmids_foreign && !stats.pqr_overwritten,
		      "load %d: %u RMIDs and %llu switches are said to be another agent's",
		      i, stats.rmids_foreign,
		      (unsigned long long)stats.pqr_overwritten);
		WAIT_FOR(!module_unload(), 5000, "the module does not unload");
	}
}

const struct test unload_tests[] = {
	{ "forks_while_unloading", test_forks_while_unloading, NULL, 60 },
	{ 0 }
};

const struct test reset_tests[] = {
	{ "model_is_on_from_reset", test_reset, PROCESS, 60 },
	{ 0 }
};
