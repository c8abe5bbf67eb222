// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD's bandwidth counters: assignable counters, of which there are few, and the
 * counters of processors that track few RMIDs.  Reported bandwidth is at most the true
 * bandwidth, and all of it while the RMID has a counter.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define WALK_BYTES	(2U << 20)	/* more than the cache */
#define MBM	(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define ASK	2
#define CROWD	6
#define SWITCHES	30
#define SEEN_TICKS	4	/* ticks of all CPUs, so that each CPU had one */
#define FAULT_PERIOD	97
#define NOBODYS_RMID	3U

/* Workers, and the traffic of their RMIDs when the model was switched on. */
struct crowd {
	struct dev dev;
	struct worker *workers[CROWD];
	uint64_t from[CROWD];
	size_t n;
	struct recorder recorder;
};

static uint64_t traffic(uint32_t rmid)
{
	return lab_get(LAB_TRAFFIC, LAB_ARG(L3, rmid, 0));
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

static uint64_t counter_config(uint32_t id)
{
	return lab_get(LAB_ABMC_COUNTER, LAB_ARG(L3, 0, id));
}

static uint64_t counter_writes(uint32_t id)
{
	return lab_ask(LAB_ABMC_COUNTER, LAB_ARG(L3, 0, id)).second;
}

static uint32_t counters(void)
{
	return lab_get(LAB_CONFIG, LAB_C_ABMC_COUNTERS);
}

static bool has_counter(uint32_t rmid)
{
	uint32_t id;

	for (id = 0; id < counters(); id++)
		if (LAB_ABMC_ON(counter_config(id)) &&
		    LAB_ABMC_RMID(counter_config(id)) == rmid)
			return true;
	return false;
}

static uint32_t counters_on(void)
{
	uint32_t id, n = 0;

	for (id = 0; id < counters(); id++)
		n += LAB_ABMC_ON(counter_config(id));
	return n;
}

static uint64_t all_writes(void)
{
	uint64_t n = 0;
	uint32_t id;

	for (id = 0; id < counters(); id++)
		n += counter_writes(id);
	return n;
}

static void crowd_begin(struct crowd *c, size_t n)
{
	size_t i;

	memset(c, 0, sizeof(*c));
	c->n = n;
	dev_open(&c->dev, O_RDONLY);
	for (i = 0; i < n; i++) {
		c->workers[i] = worker_start(WALK_BYTES);
		worker_identify(c->workers[i], &c->dev);
		c->from[i] = traffic(c->workers[i]->rmid);
	}
	dev_map(&c->dev, FROM_NOW);
	recorder_start(&c->recorder, &c->dev, true);
	model_begin();
	for (i = 0; i < n; i++)
		worker_go(c->workers[i], true);
}

static void crowd_walk(struct crowd *c, uint64_t walks)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		worker_wait(c->workers[i], walks);
}

/* The reported traffic of a worker; UINT64_MAX: none is reported. */
static uint64_t said_of(const struct log *log, const struct worker *w)
{
	uint64_t said = UINT64_MAX;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != w->rmid ||
		    r->generation != w->generation)
			continue;
		CHECK(r->flags & CMT_F_MBM_TOTAL || !r->sample.mbm_total_bytes,
		      "a number without a flag");
		CHECK(r->flags & CMT_F_MBM_LOCAL || !r->sample.mbm_local_bytes,
		      "a number without a flag");
		if (!(r->flags & CMT_F_MBM_TOTAL))
			continue;
		CHECK(said == UINT64_MAX || r->sample.mbm_total_bytes >= said,
		      "the total went back");
		said = r->sample.mbm_total_bytes;
	}
	return said;
}

/*
 * From here on nothing is recorded.  No worker has moved less than reported.  Returns
 * the number of workers with reported traffic.
 */
static size_t crowd_check(struct crowd *c)
{
	size_t i, some = 0;

	lab_switch(false);
	for (i = 0; i < c->n; i++)
		wait_read(L3, c->workers[i]->rmid);
	recorder_stop(&c->recorder);
	for (i = 0; i < c->n; i++) {
		uint32_t rmid = c->workers[i]->rmid;
		uint64_t truth = traffic(rmid) - c->from[i];
		uint64_t said = said_of(&c->recorder.log, c->workers[i]);

		note("RMID %u: moved %llu, said %lld", rmid,
		     (unsigned long long)truth, (long long)said);
		if (said == UINT64_MAX)
			continue;
		CHECK(said <= truth + 2 * lab_unit(), "it is said to be more");
		some += said > 0;
	}
	log_free(&c->recorder.log);
	return some;
}

static void crowd_stop(struct crowd *c)
{
	size_t i;

	lab_switch(false);
	for (i = 0; i < c->n; i++)
		worker_stop(c->workers[i]);
	dev_close(&c->dev);
}

static size_t crowd_end(struct crowd *c)
{
	size_t some = crowd_check(c);

	crowd_stop(c);
	return some;
}

static const struct cmt_record *sample_with_mbm(struct dev *dev,
						struct log *log, uint32_t rmid)
{
	const struct cmt_record *r;

	dev_drain(dev, log);
	r = last_sample(log, rmid);
	return r && (r->flags & MBM) == MBM ? r : NULL;
}

/* With the cache off, so that there is no traffic meanwhile. */
static struct cmt_record settled(struct dev *dev, uint32_t rmid)
{
	struct log log = { 0 };
	struct cmt_record copy;

	wait_read(L3, rmid);
	dev_drain(dev, &log);
	log_free(&log);
	WAIT_FOR(sample_with_mbm(dev, &log, rmid), 10000,
		 "no bandwidth of RMID %u", rmid);
	copy = *last_sample(&log, rmid);
	log_free(&log);
	return copy;
}

static void expect_bytes(const char *what, uint64_t said, uint64_t truth)
{
	note("%s: %llu of %llu", what, (unsigned long long)said,
	     (unsigned long long)truth);
	CHECK(said + 2 * lab_unit() >= truth && said <= truth + 2 * lab_unit(),
	      "%s is wrong", what);
}

/* The traffic of a worker from here on is reported completely, and no more. */
static void expect_exact(struct dev *dev, struct worker *worker)
{
	struct lab_answer from, to;
	struct cmt_record a, b;

	lab_switch(false);
	worker_go(worker, true);
	a = settled(dev, worker->rmid);
	from = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	lab_switch(true);
	worker_wait(worker, 5);
	lab_switch(false);
	to = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	b = settled(dev, worker->rmid);
	CHECK(to.first - from.first >= 5ULL * WALK_BYTES, "no traffic");
	expect_bytes("the total", b.sample.mbm_total_bytes -
		     a.sample.mbm_total_bytes, to.first - from.first);
	expect_bytes("the local", b.sample.mbm_local_bytes -
		     a.sample.mbm_local_bytes, to.second - from.second);
}

static struct worker *one_worker(struct dev *dev)
{
	struct worker *worker = worker_start(WALK_BYTES);

	dev_open(dev, O_RDONLY);
	worker_identify(worker, dev);
	dev_map(dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	return worker;
}

static void test_measures(void)
{
	struct worker *worker;
	struct cmt_info info;
	struct dev dev;

	CHECK(lab_get(LAB_ABMC_SET, LAB_ARG(0, 0, ASK)) == 1, "it is off");
	worker = one_worker(&dev);
	WAIT_FOR(has_counter(worker->rmid), 10000, "no counter is assigned");
	expect_exact(&dev, worker);
	info = info_of(&dev);
	note("events %#x, counters %#x: \"%s\"", info.events, info.assignable,
	     info.mbm_reason);
	CHECK((info.events & MBM) == MBM && !info.mbm_reason[0], "no MBM");
	CHECK(info.assignable & CMT_ASSIGNABLE_ON &&
	      CMT_ASSIGNABLE_ALL(info.assignable) == counters() &&
	      CMT_ASSIGNABLE_OURS(info.assignable) == counters_on() &&
	      !CMT_ASSIGNABLE_OTHERS(info.assignable), "the counters");
	worker_stop(worker);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	CHECK(!counters_on(), "%u counters are not given back", counters_on());
}

/* The number of samples of a worker with bandwidth, and without. */
static void count_mbm(const struct log *log, uint32_t rmid, size_t *with,
		      size_t *without)
{
	size_t i;

	*with = 0;
	*without = 0;
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid)
			continue;
		*with += (r->flags & MBM) == MBM;
		*without += !(r->flags & MBM);
		CHECK(r->flags & CMT_F_OCCUPANCY, "no occupancy");
		CHECK(r->flags & MBM || r->flags & CMT_F_UNAVAILABLE,
		      "why there is none is not said");
	}
}

/* False: counters have changed meanwhile. */
static bool coverage_is_right(struct crowd *c, size_t *covered)
{
	size_t i, with[CROWD], without[CROWD];
	struct log log = { 0 };
	uint64_t writes;

	recorder_stop(&c->recorder);
	log_free(&c->recorder.log);
	for (i = 0; i < c->n; i++)
		wait_read(L3, c->workers[i]->rmid);
	dev_drain(&c->dev, &log);
	log_free(&log);
	writes = all_writes();
	recorder_start(&c->recorder, &c->dev, true);
	crowd_walk(c, 3);
	recorder_stop(&c->recorder);
	for (i = 0; i < c->n; i++)
		count_mbm(&c->recorder.log, c->workers[i]->rmid, &with[i],
			  &without[i]);
	log_free(&c->recorder.log);
	recorder_start(&c->recorder, &c->dev, true);
	if (all_writes() != writes)
		return false;
	*covered = 0;
	for (i = 0; i < c->n; i++) {
		uint32_t rmid = c->workers[i]->rmid;

		note("RMID %u: %zu samples with, %zu without", rmid, with[i],
		     without[i]);
		CHECK(has_counter(rmid) ? !without[i] && with[i]
					: !with[i] && without[i],
		      "coverage is not the processor's");
		*covered += has_counter(rmid);
	}
	return true;
}

static bool is_worker(const struct crowd *c, uint32_t rmid)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->workers[i]->rmid == rmid)
			return true;
	return false;
}

static bool is_of(const struct snapshot *snapshot, pid_t pid, uint32_t rmid)
{
	const struct cmt_record *owner = snapshot_find(snapshot, pid);

	return owner && owner->rmid == rmid;
}

/*
 * RMIDs with counters that belong to no worker.  The test itself runs, too, and the process
 * that waits for it, and may be hot, and so may RMID 0.  No other owner runs.
 */
static size_t covered_others(const struct crowd *c)
{
	static struct snapshot snapshot;
	uint32_t rmid;
	size_t n = 0;

	dev_snapshot(&c->dev, &snapshot);
	CHECK(snapshot_find(&snapshot, getpid()), "the test has no RMID");
	for (rmid = 0; rmid < c->dev.info.nr_rmids; rmid++) {
		if (is_worker(c, rmid) || !has_counter(rmid))
			continue;
		CHECK(!rmid || is_of(&snapshot, getpid(), rmid) ||
		      is_of(&snapshot, getppid(), rmid), "RMID %u has a counter", rmid);
		n++;
	}
	return n;
}

static void test_scarce(void)
{
	struct crowd c;
	size_t covered = 0, others;

	crowd_begin(&c, CROWD);
	crowd_walk(&c, 5);
	WAIT_FOR(coverage_is_right(&c, &covered), 60000,
		 "counters change all the time");
	others = covered_others(&c);
	CHECK(covered && covered + others == counters() / 2,
	      "%zu workers and %zu others have counters, of %u", covered, others,
	      counters() / 2);
	crowd_end(&c);
}

/*
 * The counters are with the n workers from @first on, and with no worker that is
 * stopped.  The test itself and RMID 0 run, too, and keep a counter from a worker that
 * is not twice as hot.
 */
static bool counters_are_with(const struct crowd *c, size_t first, size_t n)
{
	size_t i, covered = 0;

	for (i = 0; i < c->n; i++) {
		if (!has_counter(c->workers[i]->rmid))
			continue;
		if (i < first || i >= first + n)
			return false;
		covered++;
	}
	return covered && covered + covered_others(c) == n;
}

/* Counters go to RMIDs that run, from RMIDs that no longer run. */
static void test_hot_first(void)
{
	struct crowd c;
	size_t i, n = counters() / 2;

	crowd_begin(&c, 2 * n);
	for (i = n; i < 2 * n; i++)
		worker_halt(c.workers[i]);
	WAIT_FOR(counters_are_with(&c, 0, n), 20000,
		 "not all counters are with RMIDs that run");
	for (i = 0; i < n; i++)
		worker_halt(c.workers[i]);
	for (i = n; i < 2 * n; i++)
		CHECK(!kill(c.workers[i]->pid, SIGCONT), "SIGCONT: %m");
	WAIT_FOR(counters_are_with(&c, n, n), 20000,
		 "not all counters are with RMIDs that run now");
	crowd_end(&c);
}

/* Another agent's counters: its configuration stays, byte for byte. */
static void test_others_stay(void)
{
	uint64_t config[3], writes[3];
	uint32_t id, top = counters() - 1;
	const uint32_t ids[3] = { 0, 1, top };
	struct worker *worker;
	struct dev dev;

	for (id = 0; id < 3; id++) {
		lab_ask(LAB_ABMC_ASSIGN, LAB_ARG(L3, NOBODYS_RMID,
			LAB_ABMC(ids[id], id == 1 ? LAB_ABMC_LOCAL :
				 LAB_ABMC_TOTAL, true)));
		config[id] = counter_config(ids[id]);
		writes[id] = counter_writes(ids[id]);
	}
	CHECK(!module_load(PROCESS), "the module does not load");
	worker = one_worker(&dev);
	WAIT_FOR(has_counter(worker->rmid), 10000, "no counter is assigned");
	expect_exact(&dev, worker);
	CHECK(CMT_ASSIGNABLE_OTHERS(info_of(&dev).assignable) == 3,
	      "others' counters are not counted");
	worker_stop(worker);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	for (id = 0; id < 3; id++)
		CHECK(counter_config(ids[id]) == config[id] &&
		      counter_writes(ids[id]) == writes[id],
		      "counter %u was changed", ids[id]);
	CHECK(counters_on() == 3, "%u counters are on", counters_on());
	for (id = 0; id < 3; id++)
		lab_ask(LAB_ABMC_ASSIGN, LAB_ARG(L3, 0,
			LAB_ABMC(ids[id], 0, false)));
}

/* Another agent takes cmt's counters and keeps them. */
static void test_taken(void)
{
	uint64_t config[2], writes[2];
	uint32_t id, taken = 0;
	struct crowd c;

	crowd_begin(&c, 1);
	WAIT_FOR(has_counter(c.workers[0]->rmid), 10000, "no counter");
	crowd_walk(&c, 5);
	for (id = 0; id < counters() && taken < 2; id++) {
		if (LAB_ABMC_RMID(counter_config(id)) != c.workers[0]->rmid ||
		    !LAB_ABMC_ON(counter_config(id)))
			continue;
		/* another RMID's traffic, which is much more than this RMID's */
		lab_ask(LAB_ABMC_ASSIGN, LAB_ARG(L3, 0,
			LAB_ABMC(id, LAB_ABMC_TOTAL, true)));
		config[taken] = counter_config(id);
		writes[taken++] = counter_writes(id);
	}
	CHECK(taken == 2, "not two counters");
	WAIT_FOR(has_counter(c.workers[0]->rmid), 10000, "no other counter");
	crowd_walk(&c, 5);
	CHECK(crowd_check(&c) == 1, "no bandwidth");
	expect_exact(&c.dev, c.workers[0]);
	crowd_stop(&c);
	CHECK(!module_unload(), "the module does not unload");
	CHECK(counters_on() == 2, "%u counters are on", counters_on());
	for (id = 0, taken = 0; id < counters(); id++) {
		if (!LAB_ABMC_ON(counter_config(id)))
			continue;
		CHECK(counter_config(id) == config[taken] &&
		      counter_writes(id) == writes[taken],
		      "counter %u was changed", id);
		taken++;
		lab_ask(LAB_ABMC_ASSIGN, LAB_ARG(L3, 0, LAB_ABMC(id, 0, false)));
	}
}

/* The mode changes at any time, under ticks. */
static void test_switched(void)
{
	struct crowd c;
	int i;

	crowd_begin(&c, 3);
	for (i = 0; i < SWITCHES; i++) {
		lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, i & 1));
		/* sometimes before counters are assigned, sometimes long after */
		crowd_walk(&c, i % 5 == 4 ? 6 : 1);
	}
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, true));
	crowd_walk(&c, 20);
	CHECK(crowd_check(&c), "no bandwidth");
	note("%d switches", SWITCHES);
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, false));
	WAIT_FOR(!info_of(&c.dev).assignable, 10000, "it is said to be on");
	expect_exact(&c.dev, c.workers[0]);
	crowd_stop(&c);
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, true));
}

static void mode_set(const struct crowd *c, bool on)
{
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, on));
	WAIT_FOR(!(info_of(&c->dev).assignable & CMT_ASSIGNABLE_ON) == !on, 20000,
		 "the module does not follow the mode");
}

/*
 * The mode was switched on and off, and MBM is available again.  RMIDs that did not run
 * meanwhile were not read.  Their base was removed, so their next reading has no wrong
 * difference.  The time is too short to assign counters, which would remove the base
 * anyway.
 */
static void test_settled(void)
{
	size_t i, with = 0, without = 0;
	struct log log = { 0 };
	struct crowd c;
	uint64_t ticks;

	crowd_begin(&c, CROWD);
	mode_set(&c, false);
	crowd_walk(&c, 3);
	for (i = 1; i < c.n; i++)
		worker_halt(c.workers[i]);
	for (i = 1; i < c.n; i++)
		wait_read(L3, c.workers[i]->rmid);
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, true));
	ticks = dev_stats(&c.dev).ticks;
	WAIT_FOR(dev_stats(&c.dev).ticks - ticks >= SEEN_TICKS, 20000,
		 "there are no ticks");
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, false));
	recorder_stop(&c.recorder);
	log_free(&c.recorder.log);
	dev_drain(&c.dev, &log);
	log_free(&log);
	WAIT_FOR(sample_with_mbm(&c.dev, &log, c.workers[0]->rmid), 20000,
		 "no bandwidth after the switch");
	log_free(&log);
	recorder_start(&c.recorder, &c.dev, true);
	for (i = 1; i < c.n; i++)
		wait_read(L3, c.workers[i]->rmid);
	recorder_stop(&c.recorder);
	count_mbm(&c.recorder.log, c.workers[0]->rmid, &with, &without);
	log_free(&c.recorder.log);
	note("%zu samples with bandwidth, %zu without", with, without);
	CHECK(with && !without, "the mode is settled more than once");
	crowd_stop(&c);
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, true));
}

/* Open an event of the PMU cmt.  A descriptor or -errno */
static int open_event(uint64_t config, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = pmu_type("cmt"),
		.size = sizeof(attr),
		.config = config,
		.inherit = cpu < 0,
	};
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
		     PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The same for all RMIDs of CPU 0, and close it.  0 or -errno */
static int try_event(uint64_t config)
{
	int fd = open_event(config, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void *thread_fn(void *unused)
{
	return unused;
}

/* A process that has an inherited event; it forks and makes a thread when asked to. */
struct family {
	pid_t pid;
	int event;
	int ends[2];
};

static void family_run(const int *ends)
{
	pthread_t thread;
	pid_t pid;
	char byte;

	CHECK(read(ends[0], &byte, 1) == 1, "read: %m");
	pid = fork();
	CHECK(pid >= 0, "fork of a process with an event: %m");
	if (!pid)
		_exit(0);
	expect_exit_0(pid, "a child");
	errno = pthread_create(&thread, NULL, thread_fn, NULL);
	CHECK(!errno, "a thread of a process with an event: %m");
	pthread_join(thread, NULL);
	_exit(0);
}

static void family_start(struct family *f, uint64_t config)
{
	f->pid = fork_with_pipe(f->ends);
	if (!f->pid)
		family_run(f->ends);
	f->event = open_event(config, f->pid, -1);
	CHECK(f->event >= 0, "an inherited event: %s", strerror(-f->event));
}

static void family_ask(const struct family *f)
{
	CHECK(write(f->ends[1], "", 1) == 1, "write: %m");
	expect_exit_0(f->pid, "a process with an inherited event");
}

static void family_end(const struct family *f)
{
	close(f->event);
	close(f->ends[0]);
	close(f->ends[1]);
}

/*
 * While resctrl is mounted, all counters are resctrl's, also those that it does not
 * use.  A process with an event that was opened before can fork.
 */
static void test_resctrl(void)
{
	struct family family;
	uint64_t writes;
	struct crowd c;

	crowd_begin(&c, 1);
	WAIT_FOR(has_counter(c.workers[0]->rmid), 10000, "no counter");
	crowd_walk(&c, 5);
	family_start(&family, 2);
	resctrl_mount();
	WAIT_FOR(!counters_on(), 20000, "%u counters are not given back",
		 counters_on());
	WAIT_FOR(strstr(info_of(&c.dev).mbm_reason, "while mounted"), 20000,
		 "why there is no bandwidth is not said");
	CHECK(try_event(2) == -EINVAL && !try_event(1),
	      "perf opens bandwidth: %d, occupancy: %d", try_event(2), try_event(1));
	family_ask(&family);
	family_end(&family);
	writes = all_writes();
	resctrl_make("mon_groups/g");
	resctrl_add("mon_groups/g", c.workers[0]->pid);
	crowd_walk(&c, 20);
	CHECK(!counters_on() && all_writes() == writes, "counters are assigned");
	CHECK(!CMT_ASSIGNABLE_OURS(info_of(&c.dev).assignable),
	      "counters are said to be cmt's");
	resctrl_remove("mon_groups/g");
	resctrl_umount();
	WAIT_FOR(has_counter(c.workers[0]->rmid), 20000, "no counter again");
	WAIT_FOR(!info_of(&c.dev).mbm_reason[0], 20000, "bandwidth is not said");
	CHECK(!try_event(2), "perf does not open bandwidth: %d", try_event(2));
	crowd_walk(&c, 5);
	CHECK(crowd_check(&c) == 1, "no bandwidth");
	expect_exact(&c.dev, c.workers[0]);
	crowd_stop(&c);
}

/* Accesses fail now and then: no wrong value is reported. */
static void test_faults(void)
{
	struct crowd c;

	crowd_begin(&c, 2);
	WAIT_FOR(has_counter(c.workers[0]->rmid), 10000, "no counter");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_GP, 3, FAULT_PERIOD));
	crowd_walk(&c, 20);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_GP, 0, 0));
	note("%llu accesses failed",
	     (unsigned long long)lab_get(LAB_FAULT_COUNT, LAB_FAULT_GP));
	CHECK(lab_get(LAB_FAULT_COUNT, LAB_FAULT_GP) > 100, "too few faults");
	WAIT_FOR(has_counter(c.workers[0]->rmid), 10000, "no counter");
	crowd_walk(&c, 5);
	CHECK(crowd_end(&c), "no bandwidth");
}

/* The mode is off: every RMID has its hardware counters. */
static void test_off(void)
{
	struct worker *worker;
	struct dev dev;

	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, false));
	CHECK(!module_load(PROCESS), "the module does not load");
	worker = one_worker(&dev);
	expect_exact(&dev, worker);
	CHECK(!info_of(&dev).assignable, "it is said to be on");
	worker_stop(worker);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, true));
}

/* The only CPU of a domain goes offline: cmt's counters there are released. */
static void test_domain_goes(void)
{
	uint32_t id, on = 0;
	struct crowd c;

	CHECK(lab_get(LAB_CONFIG, LAB_C_L3S) == 2, "not two sockets");
	crowd_begin(&c, 1);
	run_on(c.workers[0]->pid, 1);
	WAIT_FOR(LAB_ABMC_ON(lab_get(LAB_ABMC_COUNTER,
				     LAB_ARG(1, 0, counters() - 1))),
		 20000, "no counter in domain 1");
	run_on(c.workers[0]->pid, 0);
	cpu_online(1, false);
	for (id = 0; id < counters(); id++)
		on += LAB_ABMC_ON(lab_get(LAB_ABMC_COUNTER,
					  LAB_ARG(1, 0, id)));
	CHECK(!on, "%u counters are not given back", on);
	cpu_online(1, true);
	WAIT_FOR(LAB_ABMC_ON(lab_get(LAB_ABMC_COUNTER,
				     LAB_ARG(1, 0, counters() - 1))),
		 20000, "no counter in domain 1 again");
	lab_switch(false);
	recorder_stop(&c.recorder);
	log_free(&c.recorder.log);
	worker_stop(c.workers[0]);
	dev_close(&c.dev);
}

/* How many looks at a worker of the crowd found its RMID untracked */
static size_t crowd_untracked(struct crowd *c)
{
	size_t i, untracked = 0;
	int turn;

	for (turn = 0; turn < 5; turn++) {
		crowd_walk(c, 3);
		for (i = 0; i < c->n; i++)
			untracked += !lab_get(LAB_TRACKED,
				LAB_ARG(L3, c->workers[i]->rmid, 0));
	}
	return untracked;
}

/* All but the first rest: they are not even scheduled. */
static void crowd_halt(const struct crowd *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		worker_halt(c->workers[i]);
}

/*
 * Without assignable counters: RMIDs that are not tracked are reported as unavailable.
 * Bandwidth takes two readings between which the RMID stays tracked, which is sure only
 * for one that walks alone: the processor tracks three.
 */
static void test_tracked(void)
{
	size_t some, untracked;
	struct crowd c;
	int turn;

	CHECK(lab_get(LAB_CONFIG, LAB_C_TRACKED), "tracked= is not set");
	crowd_begin(&c, CROWD);
	untracked = crowd_untracked(&c);
	crowd_halt(&c);
	for (turn = 0; turn < 3; turn++) {
		worker_wait(c.workers[0], 2);
		wait_read(L3, c.workers[0]->rmid);
	}
	some = crowd_end(&c);
	note("%zu of %d have bandwidth; %zu looks found one untracked", some, CROWD,
	     untracked);
	CHECK(untracked, "all RMIDs were tracked");
	CHECK(some, "no bandwidth");
}

const struct test abmc_tests[] = {
	{ "abmc_measures", test_measures, PROCESS, 60 },
	{ "abmc_keeps_counters_of_others", test_others_stay, NULL, 60 },
	{ "abmc_taken", test_taken, PROCESS, 60 },
	{ "abmc_switched", test_switched, PROCESS, 120 },
	{ "abmc_faults", test_faults, PROCESS, 120 },
	{ "abmc_off", test_off, NULL, 60 },
	{ "abmc_resctrl", test_resctrl, PROCESS, 120 },
	{ 0 }
};

const struct test abmc_scarce_tests[] = {
	{ "abmc_scarce", test_scarce, PROCESS, 120 },
	{ "abmc_hot_first", test_hot_first, PROCESS, 120 },
	{ "abmc_settled", test_settled, PROCESS " interval_us=30000", 120 },
	{ "abmc_switched", test_switched, PROCESS, 120 },
	{ 0 }
};

const struct test abmc_domains_tests[] = {
	{ "abmc_domain_goes", test_domain_goes, PROCESS, 60 },
	{ 0 }
};

const struct test tracked_tests[] = {
	{ "tracked_few", test_tracked, PROCESS, 120 },
	{ 0 }
};
