// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers with wrong values, failures, and changes by other agents: a record is
 * flagged or right.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../vm/suite/timed.h"
#include "bench.h"
#include "faults.h"
#include "rdtgroup.h"
#include "tests.h"

#define CPUS		2
#define PLANTED		10000
#define FAULT_PERIOD	3
#define INTERVAL_NS	1000000
#define LAST_TICKS	50	/* ticks of all CPUs */
#define GP_PERIOD	7	/* a part of all accesses: more than a sample has */

/* Of the last readings: a period that no number of complete samples divides by */
#define LAST_PLANTED	1500
#define LAST_PERIOD	7
/*
 * Shorter than the time between two ticks, and longer than the module lets a burst
 * take: a burst that the host has stopped for longer is discarded.
 */
#define LAST_INTERVAL_NS	4000000
#define TICK_APART_NS		2000000

/* The last value of a flagged counter, to check the next one. */
struct previous {
	uint64_t said;
	uint64_t units;
	uint32_t generation;
	bool known;
};

/* As pqos at its end */
static void agent_end(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		cpu_rmid_write(cpu, 0);
}

/* A value is of a reading without a fault, or it is bad. */
static const struct reading *good_reading(const struct readings *readings,
					  const struct cmt_record *r,
					  uint32_t event)
{
	const struct reading *reading = reading_of(readings, r, event);

	return reading && reading->fault == LAB_FAULT_NONE ? reading : NULL;
}

#define BAD_SHOWN 5

static void judge(struct verdicts *v, const struct cmt_record *r,
		  uint64_t said, const struct reading *reading, bool right)
{
	v->values++;
	if (right || v->bad++ >= BAD_SHOWN)
		return;
	note("RMID %u generation %u flags %#x says %llu; the reading %lld ns later ought to give %llu units",
	     r->rmid, r->generation, r->flags, (unsigned long long)said,
	     reading ? (long long)(reading->ns - r->ts) : -1LL,
	     reading ? (unsigned long long)reading->ought : 0);
}

/*
 * A reported value is rounded once, and a correction can round a difference
 * differently.
 */
static bool is_traffic(uint32_t rmid, uint64_t said, uint64_t units)
{
	uint64_t truth = traffic_bytes(rmid, units);

	return said == truth || (lab_get(LAB_CONFIG, LAB_C_ERDT) &&
				 said == truth + LAB_ERDT_MBM_UNIT);
}

static void judge_mbm(struct verdicts *v, struct previous *prev,
		      const struct cmt_record *r, uint64_t said,
		      const struct reading *reading)
{
	uint64_t mask = (1ULL << lab_get(LAB_CONFIG, LAB_C_WIDTH)) - 1;
	bool comparable = prev->known && prev->generation == r->generation &&
			  !(r->flags & CMT_F_REBASED);

	judge(v, r, said, reading, reading && (!comparable ||
	      is_traffic(r->rmid, said - prev->said,
			 (reading->ought - prev->units) & mask)));
	prev->known = reading;
	prev->said = said;
	prev->units = reading ? reading->ought : 0;
	prev->generation = r->generation;
}

static void judge_sample(struct verdicts *v, const struct readings *readings,
			 const struct cmt_record *r)
{
	static struct previous previous[MAX_RMIDS][2];
	const uint16_t reasons = CMT_F_ERROR | CMT_F_UNAVAILABLE;
	const uint16_t all = lab_get(LAB_CONFIG, LAB_C_EVENTS) * CMT_F_OCCUPANCY;
	const struct reading *reading;

	if ((r->flags & all) != all) {
		v->missing++;
		v->silent += !(r->flags & reasons);
	}
	if (r->flags & CMT_F_OCCUPANCY) {
		reading = good_reading(readings, r, 1);
		judge(v, r, r->sample.occupancy_bytes, reading,
		      reading && r->sample.occupancy_bytes ==
				 reading->ought * lab_unit());
	}
	if (r->flags & CMT_F_MBM_TOTAL)
		judge_mbm(v, &previous[r->rmid][0], r,
			  r->sample.mbm_total_bytes,
			  good_reading(readings, r, 2));
	if (r->flags & CMT_F_MBM_LOCAL)
		judge_mbm(v, &previous[r->rmid][1], r,
			  r->sample.mbm_local_bytes,
			  good_reading(readings, r, 3));
}

struct verdicts judge_all(const struct log *log,
				 const struct readings *readings)
{
	struct verdicts v = { 0 };
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_SAMPLE && r->ts >= readings->ns)
			judge_sample(&v, readings, r);
	}
	return v;
}

static uint64_t planted(enum lab_fault fault)
{
	return lab_get(LAB_FAULT_COUNT, fault);
}

/* The module repeats the reading; there are never so many faults in a row. */
static bool changes_evtsel(enum lab_fault fault)
{
	return fault == LAB_FAULT_EVTSEL || fault == LAB_FAULT_EVTSEL_ERROR;
}

void plant_begin(struct planting *p, uint32_t interval_ns)
{
	enum lab_fault fault;

	/* no fault is left by a failed test */
	for (fault = LAB_FAULT_ERROR; fault < LAB_FAULTS; fault++)
		lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 0, 0));
	p->worker = worker_start(1 << 20);
	dev_open(&p->dev, O_RDWR);
	dev_set_interval(&p->dev, interval_ns);
	dev_map(&p->dev, FROM_NOW);
	model_begin();
	worker_go(p->worker, true);
	recorder_start(&p->recorder, &p->dev, true);
	readings_begin(&p->readings);
}

void plant_more(struct planting *p, enum lab_fault fault, unsigned int burst,
		unsigned int period, uint64_t least)
{
	uint64_t before = planted(fault);

	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, burst, period));
	WAIT_FOR(planted(fault) - before >= least, 60000, "too few faults");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 0, 0));
	p->faults += planted(fault) - before;
}

void plant_stop(struct planting *p)
{
	recorder_stop(&p->recorder);
	readings_end(&p->readings);
	lab_switch(false);
	p->stats = dev_stats(&p->dev);
}

/* @least faults, one in @period readings each. */
static void plant(struct planting *p, enum lab_fault fault, unsigned int period,
		  uint64_t least, uint32_t interval_ns)
{
	*p = (struct planting) { 0 };
	plant_begin(p, interval_ns);
	plant_more(p, fault, 1, period, least);
	plant_stop(p);
}

void plant_end(struct planting *p)
{
	readings_free(&p->readings);
	log_free(&p->recorder.log);
	worker_stop(p->worker);
	dev_close(&p->dev);
}

struct verdicts check_planted(const struct planting *p)
{
	struct verdicts v = judge_all(&p->recorder.log, &p->readings);

	note("%llu faults in %zu readings: %zu values, %zu samples with some missing; bad values %zu, missing without a reason %zu; module counts %llu errors, %llu unavailable",
	     (unsigned long long)p->faults, p->readings.count,
	     v.values, v.missing, v.bad, v.silent,
	     (unsigned long long)p->stats.read_errors,
	     (unsigned long long)p->stats.read_unavailable);
	CHECK(v.values, "no value at all");
	CHECK(!v.bad, "%zu bad values have no flag", v.bad);
	CHECK(!v.silent, "%zu values are missing without a reason", v.silent);
	return v;
}

static void plant_reads(enum lab_fault fault, unsigned int period)
{
	struct planting p;
	struct verdicts v;

	plant(&p, fault, period, PLANTED, INTERVAL_NS);
	v = check_planted(&p);
	CHECK(!v.missing || !changes_evtsel(fault),
	      "%zu samples miss what another try would have given", v.missing);
	plant_end(&p);
}

static void test_error(void)
{
	plant_reads(LAB_FAULT_ERROR, FAULT_PERIOD);
}

static void test_unavailable(void)
{
	plant_reads(LAB_FAULT_UNAVAILABLE, FAULT_PERIOD);
}

/* Is there a SAMPLE of this reading? */
static bool is_in(const struct log *log, const struct readings *readings,
		  const struct reading *reading)
{
	uint64_t apart;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		apart = r->ts > reading->ns ? r->ts - reading->ns :
					      reading->ns - r->ts;
		if (r->type == CMT_REC_SAMPLE && r->cpu == reading->cpu &&
		    r->rmid == reading->rmid && apart < TICK_APART_NS &&
		    reading_of(readings, r, reading->event) == reading)
			return true;
	}
	return false;
}

/* Is the reading the last one of a tick, but not of the log? */
static bool is_last_of_tick(const struct readings *readings, size_t i)
{
	const struct reading *r = &readings->all[i];

	return i + 1 < readings->count && r[1].cpu == r->cpu &&
	       r[1].ns - r->ns > TICK_APART_NS;
}

/*
 * If a CPU has its own registers, a tick checks EVTSEL once, after its last reading:
 * docs/decisions/0016-burst.md.  If EVTSEL has changed, no record of that tick is
 * published.
 */
static void plant_last(enum lab_fault fault)
{
	size_t i, last = 0, published = 0;
	struct planting p;

	plant(&p, fault, LAST_PERIOD, LAST_PLANTED, LAST_INTERVAL_NS);
	for (i = 0; i < p.readings.count; i++) {
		if (p.readings.all[i].fault == LAB_FAULT_NONE ||
		    !is_last_of_tick(&p.readings, i))
			continue;
		last++;
		published += is_in(&p.recorder.log, &p.readings,
				   &p.readings.all[i]);
	}
	note("%llu faults, %zu of them in the last reading of a tick: %zu published; module counts %llu errors",
	     (unsigned long long)p.faults, last, published,
	     (unsigned long long)p.stats.read_errors);
	CHECK(last >= 10, "only %zu faults in last readings", last);
	CHECK(!published, "%zu bad readings are published", published);
	CHECK(p.stats.read_errors >= last, "they are not counted");
	plant_end(&p);
}

static void plant_evtsel(enum lab_fault fault)
{
	if (lab_get(LAB_CONFIG, LAB_C_AMD))
		plant_reads(fault, FAULT_PERIOD);
	else
		plant_last(fault);
}

static void test_evtsel(void)
{
	plant_evtsel(LAB_FAULT_EVTSEL);
}

static void test_evtsel_error(void)
{
	plant_evtsel(LAB_FAULT_EVTSEL_ERROR);
}

/*
 * An agent that repeatedly replaces every CPU's RMID, and "take", by which owners have theirs
 * again.
 */
static void test_pqr(void)
{
	struct worker *worker = worker_start(1 << 20);
	uint64_t flagged = 0, before, taken, ticks;
	struct cmt_stats from, to;
	struct recorder recorder;
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	worker_identify(worker, &dev);
	worker_go(worker, true);
	recorder_start(&recorder, &dev, true);
	from = dev_stats(&dev);
	before = planted(LAB_FAULT_PQR_TIMER);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 3000));
	WAIT_FOR(planted(LAB_FAULT_PQR_TIMER) - before >= 500, 60000,
		 "too few faults");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 0, 0));
	/* wait until no CPU has a change to notice */
	ticks = dev_stats(&dev).ticks;
	WAIT_FOR(dev_stats(&dev).ticks - ticks >= LAST_TICKS, 30000,
		 "there are no ticks");
	recorder_stop(&recorder);
	to = dev_stats(&dev);
	taken = planted(LAB_FAULT_PQR_TIMER) - before;
	ticks = to.ticks - from.ticks;

	for (i = 0; i < recorder.log.count; i++)
		flagged += recorder.log.records[i].type == CMT_REC_TICK &&
			recorder.log.records[i].flags & CMT_F_PQR_OVERWRITTEN;
	note("%llu times overwritten: %llu of %llu ticks say so, %llu counted",
	     (unsigned long long)taken, (unsigned long long)flagged,
	     (unsigned long long)ticks,
	     (unsigned long long)(to.pqr_overwritten - from.pqr_overwritten));
	/* a switch notices changes, too: more than once between two ticks */
	CHECK(flagged && flagged <= to.pqr_overwritten - from.pqr_overwritten &&
	      to.pqr_overwritten - from.pqr_overwritten <= taken,
	      "flags and counter differ");
	/*
	 * A CPU may have switched since, and a tick can notice no more than
	 * once what happened since the one before it.
	 */
	CHECK(flagged * 4 >= (taken < ticks ? taken : ticks),
	      "most were not noticed");
	worker_wait(worker, 2);
	WAIT_FOR(__atomic_load_n(&worker->seen_rmid, __ATOMIC_RELAXED) ==
		 worker->rmid, 30000, "the worker did not get its RMID back");
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
	agent_end();
}

#define WALKS 200

/*
 * The same in "respect": the agent's RMID stays, also where the agent writes between the
 * module's RDMSR and WRMSR.
 */
static void test_pqr_respected(void)
{
	struct worker *worker = worker_start(64 << 10);
	unsigned int percent;
	uint32_t agent, own;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	worker_identify(worker, &dev);
	own = worker->rmid;
	worker_go(worker, true);
	check_under(worker, "before the agent", own);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 3000));
	agent = group_rmid(worker, own);
	check_under(worker, "beside the agent", agent);
	percent = percent_under(worker, agent, WALKS);
	note("under the agent's RMID %u for %u %% of walks", agent, percent);
	CHECK(percent == 100, "under RMID %u", worker->other_rmid);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 0, 0));
	check_under(worker, "without a writer", agent);
	agent_end();
	check_under(worker, "after the agent", own);
	worker_stop(worker);
	dev_close(&dev);
}

/* #GP at unexpected accesses causes no crash and no wrong value. */
static void test_gp(void)
{
	plant_reads(LAB_FAULT_GP, GP_PERIOD);
}

#define AGENTS_TICKS 100

/*
 * Another agent's selection is still selected after every tick.  The check runs on the
 * CPU that reads: a task there runs between two ticks of the CPU.
 */
static void check_evtsel(const struct dev *dev, int cpu)
{
	uint64_t selected = 3 | (uint64_t)(cpu + 1) << 32, readings, changed = 0;
	uint64_t ticks = dev_stats(dev).ticks;

	run_on(0, cpu);
	lab_ask(LAB_EVTSEL_SET, LAB_ARG(0, cpu + 1, 3));
	readings = lab_get(LAB_STAT, LAB_S_CTR_READS);
	WAIT_FOR((changed += lab_get(LAB_EVTSEL, 0) != selected,
		  dev_stats(dev).ticks - ticks >= AGENTS_TICKS), 30000,
		 "there are no ticks");
	readings = lab_get(LAB_STAT, LAB_S_CTR_READS) - readings;
	note("CPU %d: %llu readings, EVTSEL found changed %llu times", cpu,
	     (unsigned long long)readings, (unsigned long long)changed);
	CHECK(readings >= AGENTS_TICKS / 2, "nothing was read");
	CHECK(!changed, "EVTSEL was not restored");
}

static void test_evtsel_put_back(void)
{
	bool shared = lab_get(LAB_CONFIG, LAB_C_AMD);
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	check_evtsel(&dev, 0);
	if (!shared)
		check_evtsel(&dev, 1);
	dev_close(&dev);
}

static void put_back(const char *mode, bool respected)
{
	char params[64];
	uint32_t found[CPUS], during, after;
	int cpu;

	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 1000));
	WAIT_FOR(cpu_rmid(0) && cpu_rmid(1), 30000, "no agent came");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 0, 0));
	for (cpu = 0; cpu < CPUS; cpu++)
		found[cpu] = cpu_rmid(cpu);
	snprintf(params, sizeof(params), PROCESS " resctrl=%s", mode);
	CHECK(!module_load(params), "the module does not load");
	during = cpu_rmid(0);
	CHECK(!module_unload(), "the module does not unload");
	for (cpu = 0; cpu < CPUS; cpu++) {
		after = cpu_rmid(cpu);
		note("%s, CPU %d: RMID %u found, %u left", mode, cpu, found[cpu], after);
		CHECK(after == found[cpu], "PQR_ASSOC was not restored");
	}
	CHECK((during == found[0]) == respected, "%s: RMID %u", mode, during);
	agent_end();
}

/* PQR_ASSOC has the same value before the load and after the unload. */
static void test_pqr_put_back(void)
{
	put_back("take", false);
	put_back("respect", true);
}

static int own_event(uint64_t config, bool inherit)
{
	struct perf_event_attr attr = {
		.type = pmu_type("cmt"),
		.size = sizeof(attr),
		.config = config,
		.inherit = inherit,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		     PERF_FLAG_FD_CLOEXEC);
	CHECK(fd >= 0, "event: %m");
	return fd;
}

/* The time of this process, which does not sleep, so that perf does not switch to it. */
static void spin_ms(unsigned int ms)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ms * 1000000ULL)
		;
}

/* An event of perf does not run before its value is known. */
static void test_perf(void)
{
	struct timed t;
	int fds[2], i;

	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 1, 1));
	for (i = 0; i < 2; i++)
		fds[i] = own_event(1 + i, false);
	spin_ms(300);
	for (i = 0; i < 2; i++) {
		t = timed(fds[i]);
		CHECK(t.enabled && !t.running && !t.bytes,
		      "%llu bytes, and it ran for %llu of %llu ns",
		      (unsigned long long)t.bytes, (unsigned long long)t.running,
		      (unsigned long long)t.enabled);
	}
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 0, 0));
	for (i = 0; i < 2; i++) {
		WAIT_FOR((spin_ms(10), timed(fds[i]).running), 5000,
			 "it never runs");
		close(fds[i]);
	}
}

/* A child that runs on CPU 1 for ever; no other task gets that CPU. */
static pid_t start_child(void)
{
	const struct sched_param high = { .sched_priority = 50 };
	pid_t pid;

	CHECK(!write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
	      "real-time tasks are throttled");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, 1);
	CHECK(!sched_setscheduler(0, SCHED_FIFO, &high), "SCHED_FIFO: %m");
	for (;;)
		;
}

/* When the value is known, an inherited event runs, too, on whichever CPU its task is. */
static void test_perf_inherited(void)
{
	struct timed before, after;
	pid_t child;
	int fd;

	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 1, 1));
	run_on(0, 0);
	fd = own_event(1, true);
	child = start_child();
	spin_ms(300);
	before = timed(fd);
	CHECK(before.enabled && !before.running, "it ran for %llu of %llu ns",
	      (unsigned long long)before.running,
	      (unsigned long long)before.enabled);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 0, 0));
	WAIT_FOR((spin_ms(10), timed(fd).running), 5000, "it never runs");
	before = timed(fd);
	spin_ms(500);
	after = timed(fd);
	note("in 500 ms, two tasks run for %llu of %llu us",
	     (unsigned long long)(after.running - before.running) / 1000,
	     (unsigned long long)(after.enabled - before.enabled) / 1000);
	CHECK(after.running - before.running >
	      (after.enabled - before.enabled) / 4 * 3,
	      "both run for %llu of %llu ns",
	      (unsigned long long)(after.running - before.running),
	      (unsigned long long)(after.enabled - before.enabled));
	reap(child, SIGKILL);
	close(fd);
}

const struct test faults_tests[] = {
	{ "pqr_is_restored", test_pqr_put_back, NULL, 60 },
	{ "evtsel_is_restored", test_evtsel_put_back, PROCESS, 60 },
	{ "fault_error_is_flagged", test_error, PROCESS, 120 },
	{ "fault_unavailable_is_flagged", test_unavailable, PROCESS, 120 },
	{ "fault_evtsel_error_changes_no_value", test_evtsel_error, PROCESS, 120 },
	{ "fault_evtsel_changes_no_value", test_evtsel, PROCESS, 120 },
	{ "fault_unavailable_is_not_counted_by_perf", test_perf, PROCESS, 60 },
	{ "fault_inherited_event_runs", test_perf_inherited, PROCESS, 60 },
	{ "fault_gp_is_flagged", test_gp, PROCESS, 120 },
	{ "fault_pqr_is_flagged", test_pqr, PROCESS " resctrl=take", 120 },
	{ "fault_pqr_is_respected", test_pqr_respected, PROCESS, 120 },
	{ 0 }
};
