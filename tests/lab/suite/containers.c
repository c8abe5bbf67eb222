// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of containers, compared with the model: summed over their processes, with more
 * containers than RMIDs, and while the scope changes.
 */
#include <cmt/cmt.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "tests.h"

static struct dev dev;

/*
 * Each container has two processes of this size; the next container has twice as much.
 */
#define TRUE_CONTAINERS	3
#define PER_CONTAINER	2
#define TRUE_BYTES	(256 << 10)

/* The lines of a process, without lines that others filled with its page tables. */
static uint64_t worker_truth(const struct worker *worker)
{
	return lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, worker->space)) -
	       lab_get(LAB_OF_PAIR, LAB_ARG(L3, 0, worker->space));
}

static uint64_t container_truth(struct worker *const *workers)
{
	uint64_t truth = 0;
	unsigned int i;

	for (i = 0; i < PER_CONTAINER; i++)
		truth += worker_truth(workers[i]);
	return truth;
}

static void check_container(const struct log *log, uint32_t rmid,
			    struct worker *const *workers)
{
	const struct cmt_record *r = last_sample(log, rmid);
	uint64_t truth = container_truth(workers), said, off;

	CHECK(r, "RMID %u has no sample", rmid);
	said = r->sample.occupancy_bytes;
	off = said > truth ? said - truth : truth - said;
	note("RMID %u: %u processes of %zu bytes; truth %llu, said %llu, off by %.2f %%",
	     rmid, PER_CONTAINER, workers[0]->bytes, (unsigned long long)truth,
	     (unsigned long long)said, 100.0 * off / truth);
	CHECK(truth >= PER_CONTAINER * workers[0]->bytes * 98 / 100,
	      "its memory is not in the cache");
	CHECK(off <= truth / 50 + lab_unit(),
	      "more than 2 %% and a unit off");
}

static void test_containers(void)
{
	struct worker *workers[TRUE_CONTAINERS][PER_CONTAINER];
	uint32_t rmids[TRUE_CONTAINERS];
	struct recorder recorder;
	unsigned int i, k;
	uint64_t id;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < TRUE_CONTAINERS; i++) {
		id = group_make(container(i));
		rmids[i] = owner_find(&dev, CMT_OWNER_CGROUP, id)->rmid;
		for (k = 0; k < PER_CONTAINER; k++) {
			workers[i][k] = worker_start((size_t)TRUE_BYTES << i);
			group_enter(container(i), workers[i][k]->pid);
		}
	}
	model_begin();
	recorder_start(&recorder, &dev, true);
	for (i = 0; i < TRUE_CONTAINERS; i++)
		for (k = 0; k < PER_CONTAINER; k++)
			worker_go(workers[i][k], true);
	for (i = 0; i < TRUE_CONTAINERS; i++)
		for (k = 0; k < PER_CONTAINER; k++)
			worker_wait(workers[i][k], 3);
	for (i = 0; i < TRUE_CONTAINERS; i++)
		for (k = 0; k < PER_CONTAINER; k++)
			worker_halt(workers[i][k]);
	for (i = 0; i < TRUE_CONTAINERS; i++)
		wait_read(L3, rmids[i]);
	recorder_stop(&recorder);
	for (i = 0; i < TRUE_CONTAINERS; i++)
		check_container(&recorder.log, rmids[i], workers[i]);
	lab_switch(false);
	log_free(&recorder.log);
	for (i = 0; i < TRUE_CONTAINERS; i++) {
		for (k = 0; k < PER_CONTAINER; k++)
			worker_stop(workers[i][k]);
		group_remove(container(i));
	}
	dev_close(&dev);
}

#define CROWD		200
/* the budget: on a busy host trapped MSR accesses are slow */
#define OVERCOMMIT	"scope=container interval_us=20000 ring_records=65536 " \
			"budget_us=100"
#define WHOLE_WINDOWS	3
#define TICK_BYTES	(64 << 10)	/* lines that a tick itself may fill */

/* Containers with a process: with 64 RMIDs the first ones have an RMID. */
static const unsigned int inhabited[] = { 0, 30, 61, 62, 120, 199 };

#define INHABITED	(sizeof(inhabited) / sizeof(inhabited[0]))
#define ALONE		3	/* number of them with an RMID */
#define IDLE		1	/* one with an RMID, and no processes */
/* size of the first; each further one has this much more */
#define CROWD_BYTES	(128 << 10)

/* The way to cmtstat's rows: the test decides when an interval ends. */
static struct cmt_usage *table_open(void)
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts),
		.by = CMT_USAGE_BY_CONTAINER,
		.interval_ns = 3600000000000,
		.slot_ns = 10000,	/* no interval has records of two ticks */
		.nr_rmids = dev.info.nr_rmids,
		.nr_cpus = dev.info.nr_cpus,
		.l3_bytes = dev.info.l3_bytes,
	};
	static struct snapshot snapshot;
	struct cmt_snapshot *owners;
	struct cmt_usage *table;

	CHECK(!cmt_usage_new(&table, &opts), "no memory");
	dev_snapshot(&dev, &snapshot);
	CHECK(!cmt_snapshot_new(&owners, snapshot.as_of, snapshot.records,
				snapshot.count), "no memory");
	CHECK(!cmt_usage_sync(table, owners), "sync");
	cmt_snapshot_free(owners);
	return table;
}

/*
 * The library's values for one tick: of all rows, and of the row of the overflow RMID.
 */
static uint64_t table_sum(struct cmt_usage *table, uint64_t *rest)
{
	const struct cmt_usage_frame *frame;
	uint64_t sum = 0;
	uint32_t i, rests = 0;

	CHECK(!cmt_usage_flush(table) && cmt_usage_next(table, &frame) == 1,
	      "no frame");
	CHECK(frame->nr_rows == dev.info.nr_rmids, "%u rows for %u RMIDs",
	      frame->nr_rows, dev.info.nr_rmids);
	for (i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		CHECK(row->occupancy.known && !row->occupancy.partial,
		      "a row without occupancy");
		sum += row->occupancy.last_bytes;
		if (row->kind != CMT_USAGE_OVERFLOW)
			continue;
		*rest = row->occupancy.last_bytes;
		rests++;
	}
	CHECK(rests == 1, "%u rows of the overflow RMID", rests);
	return sum;
}

/* The samples of the log that end before @end, which are all of one tick. */
static uint64_t counters_sum(const struct log *log, size_t from, size_t end,
			     const struct readings *readings)
{
	uint64_t last[MAX_RMIDS] = { }, sum = 0;
	const struct reading *reading;
	uint32_t i;

	for (; from < end; from++) {
		const struct cmt_record *r = &log->records[from];

		if (r->type != CMT_REC_SAMPLE)
			continue;
		reading = reading_of(readings, r, 1);
		CHECK(reading && reading->gave == reading->ought,
		      "a SAMPLE without a reading");
		last[r->rmid] = reading->ought * lab_unit();
	}
	for (i = 0; i < MAX_RMIDS; i++)
		sum += last[i];
	return sum;
}

/* Counts the RMIDs that were read at least once. */
static size_t rmids_between(const struct log *log, size_t from, size_t end)
{
	bool seen[MAX_RMIDS] = { };
	size_t n = 0;

	for (; from < end; from++) {
		const struct cmt_record *r = &log->records[from];

		if (r->type != CMT_REC_SAMPLE || seen[r->rmid])
			continue;
		seen[r->rmid] = true;
		n++;
	}
	return n;
}

/*
 * The sum of the rows of one window is the sum of the counters' last values, and the
 * size of the cache, which is full.  A counter rounds down to its unit, and the
 * counters were read within the window, not at once.
 */
static void check_sum(uint64_t rows, uint64_t counters)
{
	uint64_t size = lab_get(LAB_CONFIG, LAB_C_SIZE);

	CHECK(rows == counters, "the rows are %llu bytes, the counters %llu",
	      (unsigned long long)rows, (unsigned long long)counters);
	CHECK(rows <= size + size / 50 + TICK_BYTES &&
	      rows + dev.info.nr_rmids * lab_unit() + size / 50 +
	      TICK_BYTES >= size,
	      "the rows are %llu bytes, the cache %llu",
	      (unsigned long long)rows, (unsigned long long)size);
}

/*
 * Checks window by window, of those in which all RMIDs could be read.  On a busy host a
 * tick defers readings by some ticks, so a window has twice idle_ticks.  One CPU is
 * online, so one tick has all readings.  Returns the last value of the overflow RMID.
 */
static uint64_t check_rows(const struct log *log,
			   const struct readings *readings)
{
	uint64_t sum = 0, counters, rest = 0;
	unsigned int whole = 0, ticks = 0;
	struct cmt_usage *table = table_open();
	size_t from = 0, i;

	for (i = 0; i < log->count; i++) {
		if (log->records[i].type != CMT_REC_TICK ||
		    ++ticks < 2 * dev.info.idle_ticks)
			continue;
		ticks = 0;
		if (log->records[from].ts >= readings->ns &&
		    rmids_between(log, from, i) == dev.info.nr_rmids) {
			for (size_t k = from; k <= i; k++)
				CHECK(!cmt_usage_add(table,
						     &log->records[k]), "add");
			counters = counters_sum(log, from, i, readings);
			sum = table_sum(table, &rest);
			check_sum(sum, counters);
			whole++;
		}
		from = i + 1;
	}
	CHECK(whole >= WHOLE_WINDOWS, "only %u windows read all", whole);
	note("%u windows: the rows are what the counters gave, the last %llu bytes",
	     whole, (unsigned long long)sum);
	cmt_usage_free(table);
	return rest;
}

/* The owners with an RMID came first, and all others are listed as pending. */
static void check_crowd(const uint64_t *ids, uint32_t alone)
{
	static struct cmt_record waiting[CROWD];
	uint32_t i, n = waiting_get(&dev, waiting, CROWD);

	CHECK(n == CROWD - alone, "%u wait, not %u", n, CROWD - alone);
	for (i = 0; i < CROWD; i++)
		CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, ids[i]) == (i >= alone),
		      "container %u", i);
	for (i = 0; i < n; i++)
		CHECK(waiting[i].owner.cgroup_id == ids[alone + i],
		      "in place %u waits %llu", i,
		      (unsigned long long)waiting[i].owner.cgroup_id);
}

static void check_near(const char *who, uint64_t truth, uint64_t said)
{
	uint64_t off = said > truth ? said - truth : truth - said;

	note("%s: truth %llu, said %llu, off by %.2f %%", who,
	     (unsigned long long)truth, (unsigned long long)said,
	     100.0 * off / truth);
	CHECK(off <= truth / 50 + lab_unit(),
	      "more than 2 %% and a unit off");
}

/* Every line of the cache is used, so that all RMIDs add up to its size. */
static void fill_cache(void)
{
	size_t bytes = 2 * lab_get(LAB_CONFIG, LAB_C_SIZE), i;
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED, "mmap: %m");
	for (i = 0; i < bytes; i += lab_get(LAB_CONFIG, LAB_C_LINE))
		memory[i]++;
	munmap((void *)(uintptr_t)memory, bytes);
}

/* The dedicated RMID of container @i, one of those with processes. */
static uint32_t inhabited_rmid(const uint64_t *ids, unsigned int i)
{
	return owner_find(&dev, CMT_OWNER_CGROUP, ids[inhabited[i]])->rmid;
}

static void check_inhabited(const struct log *log, const uint64_t *ids,
			    const uint64_t *truth, uint64_t rest)
{
	uint64_t waiting = 0;
	unsigned int i;

	for (i = 0; i < INHABITED; i++) {
		const struct cmt_record *sample;

		if (i >= ALONE) {
			waiting += truth[i];
			continue;
		}
		sample = last_sample(log, inhabited_rmid(ids, i));
		check_near("one of its own", truth[i],
			   sample->sample.occupancy_bytes);
	}
	check_near("the rest", waiting, rest);
}

static void test_overcommit(void)
{
	uint64_t ids[CROWD], truth[INHABITED], rest;
	struct worker *workers[INHABITED];
	struct readings readings;
	struct recorder recorder;
	unsigned int i;

	cpu_online(1, false);
	CHECK(!module_load(OVERCOMMIT), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < CROWD; i++)
		ids[i] = group_make(container(i));
	check_crowd(ids, dev.info.rmids_usable - 1);
	for (i = 0; i < INHABITED; i++) {
		workers[i] = worker_start((size_t)CROWD_BYTES * (i + 1));
		group_enter(container(inhabited[i]), workers[i]->pid);
	}
	model_begin();
	fill_cache();
	for (i = 0; i < INHABITED; i++)
		worker_go(workers[i], true);
	for (i = 0; i < INHABITED; i++)
		worker_wait(workers[i], 3);
	recorder_start(&recorder, &dev, true);
	readings_begin(&readings);
	/*
	 * An idle RMID is read at least twice in a window, and not every window has all
	 * RMIDs
	 */
	for (i = 0; i < 2 * WHOLE_WINDOWS; i++)
		wait_read(L3, owner_find(&dev, CMT_OWNER_CGROUP, ids[IDLE])->rmid);
	for (i = 0; i < INHABITED; i++)
		worker_halt(workers[i]);
	/* idle RMIDs are read in their turn: older values are out of date */
	for (i = 0; i < ALONE; i++)
		wait_read(L3, inhabited_rmid(ids, i));
	/* soon: lines filled from here on evict lines of the others */
	for (i = 0; i < INHABITED; i++)
		truth[i] = worker_truth(workers[i]);
	for (i = 0; i < INHABITED; i++)
		CHECK(truth[i] >= workers[i]->bytes * 98 / 100,
		      "the memory of number %u is not in the cache", i);
	recorder_stop(&recorder);
	readings_end(&readings);
	rest = check_rows(&recorder.log, &readings);
	check_inhabited(&recorder.log, ids, truth, rest);
	check_crowd(ids, dev.info.rmids_usable - 1);
	lab_switch(false);
	log_free(&recorder.log);
	readings_free(&readings);
	for (i = 0; i < INHABITED; i++)
		worker_stop(workers[i]);
	for (i = 0; i < CROWD; i++)
		group_remove(container(i));
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	cpu_online(1, true);
}

#define CHANGES		300
#define JUDGED		40	/* these are also checked by the cache, which is slow */
#define RESIDENTS	2	/* one process on each CPU, each in a container */
#define RESIDENT_BYTES	(32 << 10)

/* The owner of a resident in this scope; NULL: it is pending. */
static const struct cmt_record *resident_owner(uint32_t scope, unsigned int i,
					       uint64_t id, pid_t pid)
{
	if (scope == CMT_SCOPE_PROCESS)
		return owner_find(&dev, CMT_OWNER_PROCESS, pid);
	if (scope == CMT_SCOPE_CONTAINER)
		return owner_find(&dev, CMT_OWNER_CGROUP, id);
	return owner_find(&dev, CMT_OWNER_CPU, i);
}

/* As the module reports it; false: some owner is pending. */
static bool residents_rmids(uint32_t scope, const uint64_t *ids,
			    struct worker *const *workers, uint32_t *rmids)
{
	const struct cmt_record *r;
	unsigned int i;

	for (i = 0; i < RESIDENTS; i++) {
		rmids[i] = 0;
		if (scope == CMT_SCOPE_MANUAL)
			continue;
		r = resident_owner(scope, i, ids[i], workers[i]->pid);
		if (!r)
			return false;
		rmids[i] = r->rmid;
	}
	return true;
}

static uint32_t seen_rmid(const struct worker *worker)
{
	return __atomic_load_n(&worker->seen_rmid, __ATOMIC_RELAXED);
}

/*
 * Owners that find no free RMID get one soon after they are listed.  The work item that
 * gives it lets every CPU load its RMID at most once in a limbo, so a process that runs on
 * comes under the RMID up to 2 ms after the ALLOC (decision 0018).
 */
static void residents_settle(uint32_t scope, const uint64_t *ids,
			     struct worker *const *workers, uint32_t *rmids)
{
	unsigned int i;

	WAIT_FOR(residents_rmids(scope, ids, workers, rmids), 5000,
		 "scope %u: a resident has no RMID", scope);
	for (i = 0; i < RESIDENTS; i++)
		WAIT_FOR(seen_rmid(workers[i]) == rmids[i], 5000,
			 "scope %u: resident %u does not come under %u", scope,
			 i, rmids[i]);
}

/* Since the cache was emptied, the process has filled lines with this RMID only. */
static void check_lines(const struct worker *worker, uint32_t rmid)
{
	struct lab_answer user = lab_ask(LAB_OF_USER,
					 LAB_ARG(L3, rmid, worker->space));

	CHECK(user.second >= worker->bytes && user.first == user.second,
	      "of %llu bytes %llu are RMID %u's",
	      (unsigned long long)user.second, (unsigned long long)user.first,
	      rmid);
}

static uint64_t walks_of(const struct worker *worker)
{
	return __atomic_load_n(&worker->walks, __ATOMIC_ACQUIRE);
}

/* Each process has begun a walk and ended it. */
static void wait_residents(struct worker *const *workers)
{
	uint64_t from[RESIDENTS];
	unsigned int i;

	for (i = 0; i < RESIDENTS; i++)
		from[i] = walks_of(workers[i]);
	for (i = 0; i < RESIDENTS; i++)
		WAIT_FOR(walks_of(workers[i]) - from[i] >= 2, 30000,
			 "resident %u stands still", i);
}

/* The RMIDs that they run with from here on, before the scope changes again. */
static void check_residents(uint32_t scope, const uint64_t *ids,
			    struct worker *const *workers, bool lines)
{
	uint32_t rmids[RESIDENTS];
	unsigned int i;

	residents_settle(scope, ids, workers, rmids);
	if (lines)
		lab_ask(LAB_FLUSH, 0);
	wait_residents(workers);
	for (i = 0; i < RESIDENTS; i++) {
		CHECK(seen_rmid(workers[i]) == rmids[i],
		      "scope %u: resident %u runs under %u, not %u", scope, i,
		      seen_rmid(workers[i]), rmids[i]);
		if (lines)
			check_lines(workers[i], rmids[i]);
	}
}

/* All RMIDs have returned to the pool, and the records are in order. */
static void check_history(struct recorder *recorder)
{
	static struct snapshot snapshot;
	struct history history;

	CHECK(dev_stats(&dev).rmids_active == 1 && !dev_stats(&dev).pending &&
	      !dev_stats(&dev).rmids_foreign, "RMIDs are left");
	check_pool(&dev);
	dev_snapshot(&dev, &snapshot);
	history_replay(&history, &recorder->log, &dev.info);
	history_matches(&history, &snapshot);
	note("%u allocations, %u failed", history.allocs, history.fails);
}

static void test_scope_changes(void)
{
	struct worker *workers[RESIDENTS];
	uint64_t ids[LOAD_GROUPS];
	struct recorder recorder;
	uint32_t i, scope;
	pid_t load[2];

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&recorder, &dev, false);
	for (i = 0; i < LOAD_GROUPS; i++)
		ids[i] = group_make(container(i));
	for (i = 0; i < RESIDENTS; i++) {
		workers[i] = worker_start(RESIDENT_BYTES);
		worker_pin(workers[i], i);
		group_enter(container(i), workers[i]->pid);
	}
	for (i = 0; i < 2; i++)
		load[i] = load_start(i);
	model_begin();
	for (i = 0; i < RESIDENTS; i++)
		worker_go(workers[i], true);
	/* the observer need not wait for a CPU that an observed process uses */
	CHECK(!setpriority(PRIO_PROCESS, 0, -20), "setpriority: %m");
	for (i = 0; i < CHANGES; i++) {
		if (i == JUDGED)
			lab_switch(false);
		scope = 1 + i % 4;
		scope_set(&dev, scope);
		check_scope(&dev, scope, ids);
		check_residents(scope, ids, workers, i < JUDGED);
		check_pool(&dev);
	}
	for (i = 0; i < 2; i++)
		reap(load[i], SIGKILL);
	for (i = 0; i < RESIDENTS; i++)
		worker_stop(workers[i]);
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	for (i = 0; i < LOAD_GROUPS; i++)
		group_remove(container(i));
	recorder_stop(&recorder);
	check_history(&recorder);
	log_free(&recorder.log);
	dev_close(&dev);
}

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"
#define GIVEN_ROUNDS	3
#define GIVEN_TRIES	20
#define GIVEN_BYTES	4096
/* far below the interval: a tick lets its CPU load its RMID again, too */
#define LOADED_MS	100

/* The process runs before the kernel's threads. */
static void run_first(pid_t pid, bool first)
{
	const struct sched_param param = { .sched_priority = first };

	CHECK(!sched_setscheduler(pid, first ? SCHED_FIFO : SCHED_OTHER, &param),
	      "priority: %m");
}

static uint32_t overflow_rmid(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;

	dev_snapshot(&dev, &snapshot);
	r = snapshot_rest(&snapshot);
	CHECK(r, "no overflow RMID");
	return r->rmid;
}

/*
 * Remove a container, and make another one when the limbo of its RMID is over.  Returns
 * whether the probe of mkdir gave the RMID to the container that was pending, before the
 * work item did, which the test build delays.
 */
static bool given_by_mkdir(const char *removed, const char *made, uint64_t pending,
			   uint64_t *made_id)
{
	const struct cmt_record *r;
	uint64_t from, to;

	group_remove(removed);
	WAIT_FOR(dev_stats(&dev).rmids_free ||
		 owner_find(&dev, CMT_OWNER_CGROUP, pending), 5000,
		 "the limbo does not end");
	from = now_ns();
	*made_id = group_make(made);
	to = now_ns();
	WAIT_FOR(owner_find(&dev, CMT_OWNER_CGROUP, pending), 5000,
		 "the container that was pending has no RMID");
	r = owner_find(&dev, CMT_OWNER_CGROUP, pending);
	return r->ts >= from && r->ts <= to;
}

/*
 * A probe of mkdir gives the RMID that is free to the owner that is pending for the
 * longest time.  A process of that owner may run on another CPU, without a switch.
 */
static void test_given_by_mkdir(void)
{
	struct worker *worker = worker_start(GIVEN_BYTES);
	unsigned int next, tries, rounds = 0;
	uint64_t pending;
	uint32_t rest;

	dev_open(&dev, O_RDONLY);
	rest = overflow_rmid();
	for (next = 0; next < dev.info.rmids_usable - 1; next++)
		group_make(container(next));
	CHECK(!write_file(RT_RUNTIME, "-1"), "%s", RT_RUNTIME);
	run_on(0, 0);
	worker_pin(worker, 1);
	worker_go(worker, true);
	pending = group_make(container(next++));
	for (tries = 0; rounds < GIVEN_ROUNDS; tries++) {
		CHECK(tries < GIVEN_TRIES, "the work item always gave the RMID");
		group_enter(container(next - 1), worker->pid);
		WAIT_FOR(seen_rmid(worker) == rest, 5000, "it is not pending");
		run_first(worker->pid, true);
		if (given_by_mkdir(container(tries), container(next++), pending,
				   &pending)) {
			rounds++;
			WAIT_FOR(seen_rmid(worker) != rest, LOADED_MS,
				 "the process does not come under its RMID");
		}
		run_first(worker->pid, false);
	}
	note("%u of %u RMIDs given by mkdir", rounds, tries);
	worker_stop(worker);
	while (next-- > tries)
		group_remove(container(next));
	dev_close(&dev);
}

const struct test containers_tests[] = {
	{ "containers_match_model", test_containers, "scope=container", 120 },
	{ "containers_more_than_rmids", test_overcommit, NULL, 120 },
	{ "containers_while_scope_changes", test_scope_changes,
	  "interval_us=10000 ring_records=65536", 300 },
	{ 0 }
};

/* with the test build of the module */
const struct test containers_delay_tests[] = {
	{ "containers_given_by_mkdir", test_given_by_mkdir,
	  "scope=container interval_us=1000000", 120 },
	{ 0 }
};
