// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A suspend may reset the counters.  The difference to the reading before would be near
 * 2^width units, and is not traffic: the first sample afterwards is flagged as rebased.
 * What is moved after it is counted again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../suspend.h"
#include "bench.h"
#include "tests.h"

#define BYTES		(32U << 20)	/* more than the cache: traffic */
#define ASLEEP_S	4
#define GAP_NS		1100000000ULL	/* CMT_COUNTER_GAP_NS */
#define WALK_TRIES	5

/* No sample has more than the true traffic; at least one sample is rebased. */
static size_t check_samples(const struct log *log, const struct worker *worker,
			    const struct cmt_record *first, uint64_t truth)
{
	uint64_t total = first->sample.mbm_total_bytes;
	size_t i, rebased = 0;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != worker->rmid ||
		    r->ts <= first->ts)
			continue;
		rebased += !!(r->flags & CMT_F_REBASED);
		if (!(r->flags & CMT_F_MBM_TOTAL))
			continue;
		CHECK(r->sample.mbm_total_bytes >= total,
		      "the total goes back");
		total = r->sample.mbm_total_bytes;
		CHECK(total - first->sample.mbm_total_bytes <=
		      truth + lab_unit(),
		      "said %llu bytes, there were %llu; flags %#x",
		      (unsigned long long)(total -
					   first->sample.mbm_total_bytes),
		      (unsigned long long)truth, r->flags);
	}
	return rebased;
}

static uint64_t moved(const struct worker *worker)
{
	return lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0)).first;
}

static struct cmt_record last_total(const struct log *log, const struct worker *worker)
{
	const struct cmt_record *sample = last_sample(log, worker->rmid);

	CHECK(sample, "no sample");
	CHECK(sample->flags & CMT_F_MBM_TOTAL, "flags %#x", sample->flags);
	return *sample;
}

/* A sample that is read after this call */
static struct cmt_record sample_now(struct dev *dev, const struct worker *worker)
{
	struct recorder recorder;
	struct cmt_record r;

	recorder_start(&recorder, dev, true);
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	r = last_total(&recorder.log, worker);
	log_free(&recorder.log);
	return r;
}

/* The longest time without a sample since @ts, the time of one */
static uint64_t longest_gap(const struct log *log, const struct worker *worker, uint64_t ts)
{
	uint64_t gap = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != worker->rmid || r->ts <= ts)
			continue;
		gap = r->ts - ts > gap ? r->ts - ts : gap;
		ts = r->ts;
	}
	return gap;
}

/*
 * Between two samples of a worker at rest, a walk is counted to 2 %.  Returns false if the
 * host did not run the guest for so long that the module had to begin anew.
 */
static bool walk_is_counted(struct dev *dev, struct worker *worker)
{
	struct cmt_record from, to;
	struct recorder recorder;
	uint64_t truth, said, gap;

	worker_go(worker, false);
	from = sample_now(dev, worker);
	truth = moved(worker);
	recorder_start(&recorder, dev, true);
	worker_go(worker, true);
	worker_wait(worker, 2);
	worker_go(worker, false);
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	truth = moved(worker) - truth;
	to = last_total(&recorder.log, worker);
	gap = longest_gap(&recorder.log, worker, from.ts);
	log_free(&recorder.log);
	said = to.sample.mbm_total_bytes - from.sample.mbm_total_bytes;
	note("after it: said %llu bytes, there were %llu; at most %llu ms between samples",
	     (unsigned long long)said, (unsigned long long)truth,
	     (unsigned long long)gap / 1000000);
	if (gap > GAP_NS)
		return false;
	CHECK(said + truth / 50 + lab_unit() >= truth && said <= truth + truth / 50 + lab_unit(),
	      "said %llu bytes, there were %llu", (unsigned long long)said,
	      (unsigned long long)truth);
	return true;
}

static void check_walk(struct dev *dev, struct worker *worker)
{
	unsigned int tries = 1;

	while (!walk_is_counted(dev, worker))
		CHECK(tries++ < WALK_TRIES, "the guest stood still in each of %u walks",
		      WALK_TRIES);
}

static void resume(const char *level, const char *state)
{
	struct worker *worker = worker_start(BYTES);
	struct recorder recorder;
	struct cmt_record first;
	uint64_t truth;
	size_t rebased;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	worker_wait(worker, 2);
	truth = moved(worker);
	first = sample_now(&dev, worker);

	recorder_start(&recorder, &dev, true);
	suspend_once(level, state, ASLEEP_S);
	worker_wait(worker, 2);
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	truth = moved(worker) - truth;
	rebased = check_samples(&recorder.log, worker, &first, truth);
	note("%s, tested by %s: %zu samples say that they begin anew", state,
	     level, rebased);
	CHECK(rebased, "it is not said that the counter began anew");
	log_free(&recorder.log);
	check_walk(&dev, worker);
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
}

static void test_freeze(void)
{
	resume("devices", "freeze");
}

static void test_mem(void)
{
	resume("core", "mem");
}

static struct cmt_record read_worker(const struct dev *dev,
				     const struct worker *worker)
{
	struct cmt_record r;
	int n;

	/* to a task that waits for a busy counter, a freeze is a signal */
	do
		n = owner_read(dev, CMT_OWNER_PROCESS, worker->pid, &r, 1);
	while (n == -EINTR);
	CHECK(n == 1, "READ: %d", n);
	CHECK(r.rmid == worker->rmid && r.generation == worker->generation,
	      "RMID %u, generation %u", r.rmid, r.generation);
	CHECK(r.flags & CMT_F_MBM_TOTAL, "flags %#x", r.flags);
	return r;
}

/*
 * Two readings after a resume can be subtracted.  On a busy host they may be too far
 * apart, and are rebased.
 */
static void check_after(const struct dev *dev, const struct worker *worker)
{
	struct patience patience = patience_of(30000);
	struct cmt_record from, to;
	uint64_t least, most, said;

	do {
		CHECK(patience_left(&patience), "readings never are comparable");
		most = moved(worker);
		from = read_worker(dev, worker);
		least = moved(worker);
		sleep_ms(200);
		least = moved(worker) - least;
		to = read_worker(dev, worker);
		most = moved(worker) - most;
	} while (from.base != to.base);
	said = to.sample.mbm_total_bytes - from.sample.mbm_total_bytes;
	note("said %llu bytes, there were %llu to %llu",
	     (unsigned long long)said, (unsigned long long)least,
	     (unsigned long long)most);
	CHECK(said + 2 * lab_unit() >= least && said <= most + 2 * lab_unit(),
	      "that is not what there was");
}

/*
 * Reads until the machine has slept, with the last reading as close to the suspend as
 * possible: readings far apart would be rebased in any case.  Returns the last reading.
 */
static struct cmt_record read_through(const struct dev *dev,
				      const struct worker *worker,
				      const char *level, const char *state)
{
	struct cmt_record r = read_worker(dev, worker), last;
	uint64_t gap = 0;
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		suspend_once(level, state, ASLEEP_S);
		_exit(0);
	}
	do {
		last = r;
		r = read_worker(dev, worker);
		gap = r.ts - last.ts > gap ? r.ts - last.ts : gap;
		CHECK(r.sample.mbm_total_bytes >= last.sample.mbm_total_bytes,
		      "the total goes back");
	} while (!waitpid(pid, &status, WNOHANG));
	CHECK(!status, "who slept ended with %#x", status);
	note("%s, tested by %s: at most %llu ms between readings", state, level,
	     (unsigned long long)gap / 1000000);
	return r;
}

/* Without ticks: only the readings on demand could be wrong. */
static void resume_on_demand(const char *level, const char *state)
{
	struct worker *worker = worker_start(BYTES);
	struct cmt_record before, after;
	uint64_t ticks, truth;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	ticks = dev_stats(&dev).ticks;
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, worker->pid, NULL),
	      "REGISTER: %m");
	worker_identify(worker, &dev);
	model_begin();
	worker_go(worker, true);
	worker_wait(worker, 1);
	truth = moved(worker);
	before = read_worker(&dev, worker);
	after = read_through(&dev, worker, level, state);
	truth = moved(worker) - truth;
	CHECK(after.base != before.base,
	      "it is not said that the counter began anew");
	CHECK(after.sample.mbm_total_bytes - before.sample.mbm_total_bytes <=
	      truth + lab_unit(), "said %llu bytes, there were %llu",
	      (unsigned long long)(after.sample.mbm_total_bytes -
				   before.sample.mbm_total_bytes),
	      (unsigned long long)truth);
	check_after(&dev, worker);
	CHECK(dev_stats(&dev).ticks == ticks, "there were ticks");
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
}

static void test_freeze_on_demand(void)
{
	resume_on_demand("devices", "freeze");
}

static void test_mem_on_demand(void)
{
	resume_on_demand("core", "mem");
}

/* The cycles of a worker on the CPU that stays online, from @from on, in ns */
static uint64_t cycles_since(const struct log *log, const struct worker *worker,
			     uint64_t from)
{
	uint64_t cycles = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_PERF || r->rmid != worker->rmid || r->cpu)
			continue;
		CHECK(r->perf.cycles < 1ULL << 40, "%llu cycles in one record",
		      (unsigned long long)r->perf.cycles);
		if (r->ts > from)
			cycles += r->perf.cycles;
	}
	return cycles;
}

/* The events are made anew.  The lab's processor keeps its PMU. */
static void test_counts(void)
{
	struct cmt_counters wants = {
		.size = sizeof(wants), .counters = CMT_F_CYCLES,
	};
	struct worker *worker = worker_start(64 << 10);
	struct recorder recorder;
	uint64_t from, cycles;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	worker_pin(worker, 0);
	dev_map(&dev, FROM_NOW);
	CHECK(!ioctl(dev.fd, CMT_IOC_SET_COUNTERS, &wants), "SET_COUNTERS: %m");
	worker_go(worker, true);
	recorder_start(&recorder, &dev, true);
	worker_wait(worker, 2);
	suspend_once("core", "mem", ASLEEP_S);
	from = now_ns();
	worker_wait(worker, 2);
	wait_read(L3, worker->rmid);
	worker_wait(worker, 2);
	recorder_stop(&recorder);
	cycles = cycles_since(&recorder.log, worker, from);
	note("%llu cycles after the resume", (unsigned long long)cycles);
	CHECK(cycles, "no cycles are counted after the resume");
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

const struct test resume_tests[] = {
	{ "resume_from_freeze_rebases", test_freeze, PROCESS, 120 },
	{ "resume_from_memory_rebases", test_mem, PROCESS, 120 },
	{ "resume_from_freeze_on_demand", test_freeze_on_demand, "scope=manual", 120 },
	{ "resume_from_memory_on_demand", test_mem_on_demand, "scope=manual", 120 },
	{ 0 }
};

const struct test resume_counts_tests[] = {
	{ "resume_counts", test_counts, PROCESS, 120 },
	{ 0 }
};
