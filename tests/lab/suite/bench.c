// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

#define LINE 64

/*
 * The kernel refines the TSC's frequency some time after boot, and takes "tsc"
 * for "tsc-early" then: from there on one slope leads from TSC to time.
 */
static bool clock_is_steady(void)
{
	char text[32];

	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  text, sizeof(text));
	return !strcmp(text, "tsc\n");
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

/* Under what does this process run? */
static void worker_look(struct worker *worker)
{
	uint64_t pqr = lab_get(LAB_PQR, 0);

	__atomic_fetch_or(&worker->closids, 1U << (pqr >> 32 & 31),
			  __ATOMIC_RELAXED);
	__atomic_store_n(&worker->seen_rmid, (uint32_t)pqr, __ATOMIC_RELAXED);
	if ((uint32_t)pqr == __atomic_load_n(&worker->rmid, __ATOMIC_RELAXED))
		__atomic_fetch_add(&worker->with_rmid, 1, __ATOMIC_RELAXED);
}

static void worker_main(struct worker *worker)
{
	char *memory = mmap(NULL, worker->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

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
		walk(memory, worker->bytes);
		worker_look(worker);
		__atomic_fetch_add(&worker->walks, 1, __ATOMIC_RELEASE);
	}
}

struct worker *worker_start(size_t bytes)
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
		worker_main(worker);
		_exit(0);
	}
	worker->pid = pid;
	WAIT_FOR(__atomic_load_n(&worker->ready, __ATOMIC_ACQUIRE), 10000,
		 "a worker did not start");
	return worker;
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
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(worker->pid, sizeof(set), &set),
	      "sched_setaffinity: %m");
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

void worker_stop(struct worker *worker)
{
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELEASE);
	expect_exit_0(worker->pid, "a worker");
	munmap(worker, sizeof(*worker));
}

static uint64_t tsc(void)
{
	return __builtin_ia32_rdtsc();
}

#define CLOSE_TICKS 2000
#define CLOSE_TRIES 5000

/* The TSC and CLOCK_MONOTONIC of one instant: the closest pair to be had. */
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
	clocks(&readings->tsc, &readings->ns);
	readings->from = lab_get(LAB_LOG_HEAD, 0);
}

static struct reading fetch(uint64_t number, const struct readings *readings,
			    double ns_per_tick)
{
	struct lab_answer value = lab_ask(LAB_LOG_VALUE, number);
	struct lab_answer what = lab_ask(LAB_LOG_WHAT, number);

	CHECK(what.second != UINT64_MAX, "the processor's log was too short");
	return (struct reading) {
		.ns = readings->ns + (int64_t)((double)(int64_t)
			(what.first - readings->tsc) * ns_per_tick),
		.gave = value.first,
		.ought = value.second,
		.rmid = LAB_LOG_RMID(what.second),
		.event = LAB_LOG_EVENT(what.second),
		.l3 = LAB_LOG_L3(what.second),
		.fault = LAB_LOG_FAULT(what.second),
	};
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
}

void readings_free(struct readings *readings)
{
	free(readings->all);
	readings->all = NULL;
}

/*
 * A record's time is taken just before the register is read; so much is given
 * for the two clocks, and it is far below the time between two ticks.
 */
#define CLOCK_ERROR_NS 50000

const struct reading *reading_of(const struct readings *readings, size_t *at,
				 const struct cmt_record *sample,
				 uint32_t event)
{
	size_t i;

	for (i = *at; i < readings->count; i++) {
		const struct reading *r = &readings->all[i];

		if (r->ns + CLOCK_ERROR_NS < sample->ts)
			continue;
		if (r->rmid == sample->rmid && r->event == event &&
		    r->l3 == sample->domain) {
			*at = i;
			return r;
		}
	}
	return NULL;
}

uint64_t lab_unit(void)
{
	return lab_get(LAB_CONFIG, LAB_C_UPSCALE) /
		lab_get(LAB_CONFIG, LAB_C_SNC);
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
