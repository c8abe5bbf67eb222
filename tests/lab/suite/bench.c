// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LINE 64

/*
 * Some time after boot, the kernel refines the TSC's frequency, and changes from
 * "tsc-early" to "tsc".  From then on one slope leads from TSC to time.
 */
static bool clock_is_steady(void)
{
	char text[32];

	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  text, sizeof(text));
	return !strcmp(text, "tsc\n");
}

uint32_t cpu_rmid(int cpu)
{
	run_on(0, cpu);
	return lab_get(LAB_PQR, 0);
}

void cpu_rmid_write(int cpu, uint32_t rmid)
{
	run_on(0, cpu);
	lab_ask(LAB_RMID_SET, LAB_ARG(0, rmid, 0));
}

void model_begin(void)
{
	CHECK(lab_present(), "this is not the lab processor");
	WAIT_FOR(clock_is_steady(), 60000, "the clock is not the TSC");
	lab_switch(true);
	lab_ask(LAB_FLUSH, 0);
}

static void walk(volatile char *memory, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		memory[i]++;
}

/* The RMID that this process runs with. */
static void worker_look(struct worker *worker)
{
	uint64_t pqr = lab_get(LAB_PQR, 0);

	__atomic_fetch_or(&worker->closids, 1U << (pqr >> 32 & 31),
			  __ATOMIC_RELAXED);
	__atomic_store_n(&worker->seen_rmid, (uint32_t)pqr, __ATOMIC_RELAXED);
	if ((uint32_t)pqr == __atomic_load_n(&worker->rmid, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&worker->other_rmid, (uint32_t)pqr, __ATOMIC_RELAXED);
	__atomic_fetch_add(&worker->elsewhere, 1, __ATOMIC_RELAXED);
}

/* 1 + the number of the last reading of an event. */
static uint64_t last_read(uint32_t l3, uint32_t rmid, uint32_t event)
{
	return lab_ask(LAB_LAST, LAB_ARG(l3, rmid, event)).second;
}

/*
 * A counter may be read late, or not for a long time, because the host does not run the
 * guest's CPU that reads it: wait for the reading.
 */
static void worker_pace(const struct worker *worker)
{
	uint64_t seen = last_read(L3, worker->rmid, 2);

	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE) &&
	       last_read(L3, worker->rmid, 2) == seen)
		sched_yield();
}

static void worker_main(struct worker *worker, char *memory)
{
	if (!memory)
		memory = mmap(NULL, worker->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
			      -1, 0);
	CHECK(memory != MAP_FAILED, "mmap: %m");
	worker->space = lab_get(LAB_SPACE_NEW, 0);
	CHECK(worker->space, "the model has no space left");
	__atomic_store_n(&worker->ready, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		bool go = __atomic_load_n(&worker->go, __ATOMIC_ACQUIRE);

		__atomic_store_n(&worker->going, go, __ATOMIC_RELEASE);
		if (!go) {
			sleep_ms(1);
			continue;
		}
		if (__atomic_exchange_n(&worker->huge, false, __ATOMIC_ACQUIRE))
			CHECK(!madvise(memory, worker->bytes, MADV_HUGEPAGE),
			      "madvise: %m");
		walk(memory, worker->bytes);
		worker_look(worker);
		if (__atomic_load_n(&worker->paced, __ATOMIC_ACQUIRE))
			worker_pace(worker);
		__atomic_fetch_add(&worker->walks, 1, __ATOMIC_RELEASE);
	}
}

struct worker *worker_start_in(char *memory, size_t bytes)
{
	struct worker *worker = mmap(NULL, sizeof(*worker),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	CHECK(worker != MAP_FAILED, "mmap: %m");
	worker->bytes = bytes;
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		worker_main(worker, memory);
		_exit(0);
	}
	worker->pid = pid;
	WAIT_FOR(__atomic_load_n(&worker->ready, __ATOMIC_ACQUIRE), 10000,
		 "a worker did not start");
	return worker;
}

struct worker *worker_start(size_t bytes)
{
	return worker_start_in(NULL, bytes);
}

void worker_identify(struct worker *worker, const struct dev *dev)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;

	dev_snapshot(dev, &snapshot);
	r = snapshot_find(&snapshot, worker->pid);
	CHECK(r, "process %d has no RMID", worker->pid);
	worker->rmid = r->rmid;
	worker->generation = r->generation;
}

void worker_pin(const struct worker *worker, unsigned int cpu)
{
	run_on(worker->pid, (int)cpu);
}

void worker_go(struct worker *worker, bool go)
{
	__atomic_store_n(&worker->go, go, __ATOMIC_RELEASE);
	WAIT_FOR(__atomic_load_n(&worker->going, __ATOMIC_ACQUIRE) == go, 30000,
		 "a worker does not %s", go ? "go" : "rest");
}

void worker_wait(struct worker *worker, uint64_t walks)
{
	uint64_t from = __atomic_load_n(&worker->walks, __ATOMIC_ACQUIRE);

	WAIT_FOR(__atomic_load_n(&worker->walks, __ATOMIC_ACQUIRE) - from >=
		 walks, 30000, "a worker stands still");
}

void worker_halt(const struct worker *worker)
{
	CHECK(!kill(worker->pid, SIGSTOP), "SIGSTOP: %m");
	WAIT_FOR(process_is(worker->pid, 'T'), 30000, "a worker does not halt");
}

void worker_stop(struct worker *worker)
{
	kill(worker->pid, SIGCONT);
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELEASE);
	expect_exit_0(worker->pid, "a worker");
	munmap(worker, sizeof(*worker));
}

static int occupancy_event(pid_t of)
{
	struct perf_event_attr attr = {
		.type = pmu_type("cmt"), .size = sizeof(attr), .config = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, of, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	CHECK(fd >= 0, "an event of %d: %m", of);
	return fd;
}

static bool is_asked_to_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGTERM);
}

/* A child has the descriptors of the module, too: it ends before its parent. */
static void demand_until_asked(int event)
{
	uint64_t value;
	pid_t pid;

	while (!is_asked_to_end()) {
		pid = fork();
		if (!pid)
			_exit(0);
		CHECK(read(event, &value, sizeof(value)) == sizeof(value),
		      "read of an event: %m");
		waitpid(pid, NULL, 0);
	}
}

pid_t demand_start(pid_t of, unsigned int cpu)
{
	pid_t pid = fork();
	sigset_t term;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 19);
	run_on(0, cpu);
	demand_until_asked(occupancy_event(of));
	_exit(0);
}

void demand_stop(pid_t demand)
{
	kill(demand, SIGTERM);
	expect_exit_0(demand, "the demand");
}

void wait_read(uint32_t l3, uint32_t rmid)
{
	uint64_t seen;
	int i;

	for (i = 0; i < 2; i++) {
		seen = last_read(l3, rmid, 1);
		WAIT_FOR(last_read(l3, rmid, 1) != seen, 30000,
			 "RMID %u is not read", rmid);
	}
}

struct worker *worker_below(uint32_t rmid, size_t bytes, const struct dev *dev)
{
	struct worker *worker;
	int i;

	for (i = 0; i < MAX_PARKED; i++) {
		worker = worker_start(bytes);
		worker_identify(worker, dev);
		if (worker->rmid < rmid)
			return worker;
		worker_stop(worker);
		park(0, NULL);
	}
	FAIL("no RMID below %u is handed out", rmid);
}

static uint64_t tsc(void)
{
	return __builtin_ia32_rdtsc();
}

#define CLOSE_TICKS 2000
#define CLOSE_TRIES 5000

/* TSC and CLOCK_MONOTONIC at one instant: the closest pair of several. */
static void clocks(uint64_t *at_tsc, uint64_t *at_ns)
{
	uint64_t before, after, ns, best = UINT64_MAX;
	int i;

	for (i = 0; i < CLOSE_TRIES && best > CLOSE_TICKS; i++) {
		before = tsc();
		ns = now_ns();
		after = tsc();
		if (after - before >= best)
			continue;
		best = after - before;
		*at_tsc = before + best / 2;
		*at_ns = ns;
	}
}

void readings_begin(struct readings *readings)
{
	memset(readings, 0, sizeof(*readings));
	readings->from = lab_get(LAB_LOG_HEAD, 0);
	clocks(&readings->tsc, &readings->ns);
}

static struct reading fetch(uint64_t number, const struct readings *readings,
			    double ns_per_tick)
{
	struct lab_answer value = lab_ask(LAB_LOG_VALUE, number);
	struct lab_answer what = lab_ask(LAB_LOG_WHAT, number);
	struct lab_answer truth = lab_ask(LAB_LOG_TRUTH, number);

	CHECK(what.second != UINT64_MAX, "the processor's log was too short");
	return (struct reading) {
		.number = number,
		.tsc = what.first,
		.ns = readings->ns + (int64_t)((double)(int64_t)
			(what.first - readings->tsc) * ns_per_tick),
		.gave = value.first,
		.ought = value.second,
		.truth = truth.first,
		.rmid = LAB_LOG_RMID(what.second),
		.event = LAB_LOG_EVENT(what.second),
		.l3 = LAB_LOG_L3(what.second),
		.region = LAB_LOG_REGION(what.second),
		.cpu = LAB_LOG_CPU(what.second),
		.fault = LAB_LOG_FAULT(what.second),
		.counted = LAB_LOG_COUNTED(what.second),
	};
}

static int by_cpu(const void *a, const void *b)
{
	const struct reading *one = a, *other = b;

	if (one->cpu != other->cpu)
		return one->cpu < other->cpu ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

/* Is @next the next region of the same counter? */
static bool is_next_region(const struct reading *sum, const struct reading *next)
{
	return next->region && sum->region + 1 == next->region &&
	       sum->cpu == next->cpu && sum->l3 == next->l3 &&
	       sum->event == next->event && sum->rmid == next->rmid;
}

static void add_region(struct reading *sum, const struct reading *next)
{
	uint64_t mask = (1ULL << LAB_ERDT_WIDTH) - 1;
	uint64_t gave = ((sum->gave + next->gave) & mask) |
			((sum->gave | next->gave) & LAB_ERDT_UNAVAILABLE);

	if (sum->gave == LAB_ERDT_ONES || next->gave == LAB_ERDT_ONES)
		gave = LAB_ERDT_ONES;
	sum->gave = gave;
	sum->ought += next->ought;
	sum->region = next->region;
	sum->fault = sum->fault ? sum->fault : next->fault;
}

static void add_regions(struct readings *readings)
{
	struct reading *all = readings->all;
	size_t i, n = 0;

	for (i = 0; i < readings->count; i++) {
		if (n && is_next_region(&all[n - 1], &all[i]))
			add_region(&all[n - 1], &all[i]);
		else
			all[n++] = all[i];
	}
	readings->count = n;
}

void readings_end(struct readings *readings)
{
	struct lab_answer head = lab_ask(LAB_LOG_HEAD, 0);
	uint64_t end_tsc = 0, end_ns = 0;
	double ns_per_tick;
	size_t i;

	clocks(&end_tsc, &end_ns);
	ns_per_tick = (double)(end_ns - readings->ns) /
		(double)(end_tsc - readings->tsc);
	readings->count = head.first - readings->from;
	readings->all = calloc(readings->count + 1, sizeof(*readings->all));
	CHECK(readings->all, "no memory");
	for (i = 0; i < readings->count; i++)
		readings->all[i] = fetch(readings->from + i, readings,
					 ns_per_tick);
	qsort(readings->all, readings->count, sizeof(*readings->all), by_cpu);
	add_regions(readings);
}

void readings_free(struct readings *readings)
{
	free(readings->all);
	readings->all = NULL;
}

/*
 * The difference of two clocks is far below this.  Two samples of one RMID are farther
 * apart: one timer interrupt ends between them, and another one begins.
 */
#define CLOCK_ERROR_NS 2000

/* With sub-NUMA nodes a domain is a node, and has a part of its L3's RMIDs. */
static bool is_of(const struct reading *r, const struct cmt_record *sample,
		  uint32_t event)
{
	static uint32_t nodes, rmids;
	uint32_t node;

	if (!nodes) {
		nodes = lab_get(LAB_CONFIG, LAB_C_SNC);
		rmids = lab_get(LAB_CONFIG, LAB_C_RMIDS) / nodes;
	}
	node = sample->domain % nodes;
	return r->cpu == sample->cpu && r->rmid == sample->rmid + node * rmids &&
	       r->l3 == sample->domain / nodes && r->event == event;
}

/* The index of the first reading of a CPU that is not before @ns. */
static size_t first_at(const struct readings *readings, uint32_t cpu,
		       uint64_t ns)
{
	size_t from = 0, to = readings->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct reading *r = &readings->all[middle];

		if (r->cpu < cpu || (r->cpu == cpu && r->ns < ns))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Was reading @b, which follows @a in the log of their CPU, a repetition of @a? */
static bool is_repeat(const struct reading *a, const struct reading *b)
{
	return b->tsc == a->tsc;
}

const struct reading *reading_of(const struct readings *readings,
				 const struct cmt_record *sample,
				 uint32_t event)
{
	const struct reading *best = NULL;
	size_t i = first_at(readings, sample->cpu, sample->ts - CLOCK_ERROR_NS);

	if (sample->ts < readings->ns)
		return NULL;
	for (; i < readings->count; i++) {
		const struct reading *r = &readings->all[i];
		bool at = r->ns <= sample->ts + CLOCK_ERROR_NS;

		if (r->cpu != sample->cpu || (best && !at &&
					      !is_repeat(best, r)))
			break;
		if (is_of(r, sample, event) &&
		    (!best || is_repeat(best, r) ||
		     apart(r->ns, sample->ts) < apart(best->ns, sample->ts)))
			best = r;
	}
	return best;
}

size_t samples_match(const struct log *log, const struct readings *readings,
		     uint32_t rmid)
{
	uint64_t unit = lab_unit();
	size_t matched = 0, i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];
		const struct reading *reading;

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid ||
		    r->ts < readings->ns)
			continue;
		CHECK(r->flags & CMT_F_OCCUPANCY, "flags %#x", r->flags);
		reading = reading_of(readings, r, 1);
		CHECK(reading, "a SAMPLE without a reading");
		CHECK(reading->gave == reading->ought &&
		      r->sample.occupancy_bytes == reading->ought * unit,
		      "SAMPLE says %llu, the counter %llu units",
		      (unsigned long long)r->sample.occupancy_bytes,
		      (unsigned long long)reading->ought);
		matched++;
	}
	return matched;
}

uint64_t lab_unit(void)
{
	return lab_get(LAB_CONFIG, LAB_C_UPSCALE) /
		lab_get(LAB_CONFIG, LAB_C_SNC);
}

uint64_t traffic_bytes(uint32_t rmid, uint64_t units)
{
	uint64_t factor = LAB_ERDT_FACTOR(rmid);

	if (!lab_get(LAB_CONFIG, LAB_C_ERDT))
		return units * lab_unit();
	return (factor ? units * factor >> 16 : units) * LAB_ERDT_MBM_UNIT;
}

const struct cmt_record *last_sample(const struct log *log, uint32_t rmid)
{
	size_t i = log->count;

	while (i--)
		if (log->records[i].type == CMT_REC_SAMPLE &&
		    log->records[i].rmid == rmid)
			return &log->records[i];
	return NULL;
}

const struct cmt_record *last_sample_in(const struct log *log, uint32_t rmid,
					uint32_t domain)
{
	size_t i = log->count;

	while (i--) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_SAMPLE && r->rmid == rmid &&
		    r->domain == domain)
			return r;
	}
	return NULL;
}
