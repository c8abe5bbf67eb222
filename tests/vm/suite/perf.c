// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PERF records: the owners that ran, and their running time, also on a processor
 * without counters.  tests/lab/suite/perf.c tests the counts.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define MS 1000000ULL
#define COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | \
		  CMT_F_LLC_REFERENCES)

static void want(const struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg),
	      "SET_COUNTERS %#x: %m", counters);
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

static bool is_of(const struct cmt_record *r, uint16_t type, uint32_t cpu)
{
	return r->type == type && r->cpu == cpu;
}

static size_t count_of(const struct log *log, uint16_t type, uint32_t cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += is_of(&log->records[i], type, cpu);
	return n;
}

/* The records of this type on a CPU from now on, in a number of ticks. */
static size_t count_in_ticks(struct dev *dev, uint16_t type, uint32_t cpu,
			     unsigned int ticks)
{
	struct log log = { };
	size_t n;

	dev_drain(dev, &log);
	log.count = 0;
	WAIT_FOR((dev_drain(dev, &log),
		  count_of(&log, CMT_REC_TICK, cpu) >= ticks), 5000,
		 "no ticks on CPU %u", cpu);
	n = count_of(&log, type, cpu);
	log_free(&log);
	return n;
}

/* Values that no descriptor wants any more are dropped late. */
static void wait_no_perf(struct dev *dev, uint32_t cpu, const char *why)
{
	WAIT_FOR(!count_in_ticks(dev, CMT_REC_PERF, cpu, 10), 10000, "PERF, %s", why);
}

static void run_for(uint64_t ns)
{
	struct timespec ts;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while ((uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec < ns);
}

/* There are no records before a descriptor asks for them, and after it is closed. */
static void perf_records_on_request(void)
{
	struct dev dev, asks, other;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	CHECK(!count_in_ticks(&dev, CMT_REC_PERF, 1, 10), "PERF, unasked");
	CHECK(!info_of(&dev).counters && !info_of(&dev).perf_reason[0],
	      "counters %#x, reason %s", info_of(&dev).counters,
	      info_of(&dev).perf_reason);
	dev_open(&asks, O_RDONLY);
	dev_open(&other, O_RDONLY);
	want(&asks, CMT_F_CYCLES);
	want(&other, CMT_F_INSTRUCTIONS);
	CHECK(count_in_ticks(&dev, CMT_REC_PERF, 1, 10), "no PERF");
	CHECK(count_in_ticks(&dev, CMT_REC_STATE, 1, 1) <= 2, "states");
	dev_close(&asks);
	CHECK(count_in_ticks(&dev, CMT_REC_PERF, 1, 10),
	      "no PERF: another one asked, too");
	want(&other, 0);
	wait_no_perf(&dev, 1, "asked no more");
	want(&other, COUNTERS);
	CHECK(count_in_ticks(&dev, CMT_REC_PERF, 1, 10), "no PERF again");
	dev_close(&other);
	wait_no_perf(&dev, 1, "and who asked is gone");
	dev_close(&dev);
}

/* CPUID leaf 0xA: the processor has architectural counters. */
static bool has_counters(void)
{
	uint32_t eax = 0, ebx, ecx, edx;

	return __get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx) && eax & 0xff;
}

/* A counter that the processor lacks has no value, and a reason. */
static void perf_without_counters(void)
{
	uint32_t flags = has_counters() ? COUNTERS : 0;
	struct log log = { };
	struct cmt_info info;
	struct dev dev;
	size_t n = 0;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	info = info_of(&dev);
	CHECK(info.counters == flags, "counters %#x", info.counters);
	CHECK(flags ? !info.perf_reason[0] :
		      !!strstr(info.perf_reason, "does not count cycles"),
	      "reason: %s", info.perf_reason);
	CHECK(count_in_ticks(&dev, CMT_REC_PERF, 0, 10), "no PERF");
	sleep_ms(50);
	dev_drain(&dev, &log);
	for (size_t i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type != CMT_REC_PERF)
			continue;
		n++;
		CHECK(r->flags == flags, "flags %#x", r->flags);
		CHECK(flags || (!r->perf.cycles && !r->perf.instructions &&
				!r->perf.llc_misses && !r->perf.llc_references),
		      "values without a flag");
	}
	CHECK(n, "no PERF");
	log_free(&log);
	dev_close(&dev);
}

/* On each CPU, the running times of all RMIDs add up to the elapsed time. */
static void perf_time_adds_up(void)
{
	struct log log = { };
	struct dev dev;
	pid_t pids[6];

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES);
	for (int i = 0; i < 6; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (!pids[i])
			for (;;)
				sched_yield();
	}
	sleep_ms(500);
	dev_drain(&dev, &log);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		uint64_t first = 0, last = 0, sum = 0, of_owners = 0, err;

		for (size_t i = 0; i < log.count; i++) {
			const struct cmt_record *r = &log.records[i];

			if (r->cpu != cpu || r->type != CMT_REC_PERF)
				continue;
			if (!first)
				first = r->ts;
			/* the first record covers the time before */
			if (r->ts == first)
				continue;
			last = r->ts;
			sum += r->ran_ns;
			of_owners += r->rmid ? r->ran_ns : 0;
		}
		CHECK(last > first + 200 * MS, "CPU %u: PERF for %llu ns", cpu,
		      (unsigned long long)(last - first));
		err = sum > last - first ? sum - (last - first) :
					   last - first - sum;
		note("CPU %u: %llu of %llu ns, owners %llu", cpu,
		     (unsigned long long)sum, (unsigned long long)(last - first),
		     (unsigned long long)of_owners);
		/* the CPU may be preempted between the time of a tick and its turn */
		CHECK(err < (last - first) / 100 + 3 * MS, "CPU %u: off by %llu",
		      cpu, (unsigned long long)err);
		CHECK(of_owners > sum / 2, "CPU %u: the owners ran for %llu",
		      cpu, (unsigned long long)of_owners);
	}
	for (int i = 0; i < 6; i++)
		reap(pids[i], SIGKILL);
	log_free(&log);
	dev_close(&dev);
}

static uint64_t ran_of(const struct log *log, uint32_t rmid,
		       uint32_t generation)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_PERF && r->rmid == rmid &&
		    r->generation == generation)
			ns += r->ran_ns;
	}
	return ns;
}

struct life {
	pid_t pid;
	uint64_t ns;		/* the running time by the kernel's accounting */
};

/*
 * The memory that it has from its parent is given back by the exec.  At the exit that would be
 * done without an owner on newer kernels, which tell of the exit before (7.3: do_exit()).
 */
static struct life one_life(uint64_t ns)
{
	struct life life = { .pid = fork() };
	struct rusage u;
	int status;

	CHECK(life.pid >= 0, "fork: %m");
	if (!life.pid) {
		run_for(ns);
		execl(suite_path, "suite", "--true", NULL);
		_exit(1);
	}
	CHECK(wait4(life.pid, &status, 0, &u) == life.pid && !status, "wait4");
	life.ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 * MS +
		  (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
	return life;
}

/* A CPU that the host stops for a while has a late tick. */
static uint64_t next_tick(const struct log *log, const struct cmt_record *after)
{
	uint64_t ts = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_TICK && r->cpu == after->cpu &&
		    r->ts > after->ts && (!ts || r->ts < ts))
			ts = r->ts;
	}
	return ts ? ts : after->ts;
}

/*
 * The running time with the dedicated RMID; 0: the process had none.  Before the ALLOC
 * the overflow RMID has the time.  An exiting process runs without an owner until the
 * next tick.
 */
static uint64_t life_check(const struct log *log, const struct life *life)
{
	const struct cmt_record *begin, *end;
	uint64_t ns;

	begin = log_find(log, 0, CMT_REC_ALLOC, (uint32_t)life->pid);
	end = log_find(log, 0, CMT_REC_FREE, (uint32_t)life->pid);
	if (!begin || !end)
		return 0;
	ns = ran_of(log, end->rmid, end->generation);
	CHECK(ns < next_tick(log, end) - begin->ts + MS,
	      "process %d: PERFs of %llu us, it had the RMID for %llu, and the next tick came %llu after that",
	      life->pid, (unsigned long long)ns / 1000,
	      (unsigned long long)(end->ts - begin->ts) / 1000,
	      (unsigned long long)(next_tick(log, end) - end->ts) / 1000);
	return ns;
}

/*
 * Owners follow each other on few RMIDs between two ticks that are a second apart.
 * Each generation has its own running time.
 */
static void perf_records_by_generation(void)
{
	enum { LIVES = 40 };
	struct life lives[LIVES];
	uint64_t ran = 0, cpu = 0;
	struct recorder rec;
	struct dev dev;
	int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES);
	recorder_start(&rec, &dev, true);
	run_on(0, 1);
	for (i = 0; i < LIVES; i++)
		lives[i] = one_life(10 * MS);
	sleep_ms(2500);
	recorder_stop(&rec);
	for (i = 0; i < LIVES; i++) {
		ran += life_check(&rec.log, &lives[i]);
		cpu += lives[i].ns;
	}
	note("%d lives: %llu us on a CPU, PERFs of %llu", LIVES,
	     (unsigned long long)cpu / 1000, (unsigned long long)ran / 1000);
	CHECK(ran > cpu / 2, "%llu of %llu us are missing",
	      (unsigned long long)(cpu - ran) / 1000,
	      (unsigned long long)cpu / 1000);
	log_free(&rec.log);
	dev_close(&dev);
}

/* A CPU goes offline and online: its counts stay correct. */
static void perf_cpu_goes_offline(void)
{
	struct log log = { };
	struct dev dev;
	uint64_t gone;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	for (int i = 0; i < 2; i++) {
		CHECK(count_in_ticks(&dev, CMT_REC_PERF, 1, 10), "no PERF");
		cpu_online(1, false);
		dev_drain(&dev, &log);
		log.count = 0;
		sleep_ms(200);
		gone = now_ns();
		cpu_online(1, true);
		CHECK(count_in_ticks(&dev, CMT_REC_PERF, 0, 10),
		      "no PERF on CPU 0");
		WAIT_FOR(ring_state(&dev.rings[1]) == CMT_RING_ONLINE, 5000,
			 "CPU 1 does not come back");
		sleep_ms(50);
		dev_drain(&dev, &log);
		for (size_t k = 0; k < log.count; k++) {
			const struct cmt_record *r = &log.records[k];

			CHECK(r->type != CMT_REC_PERF || r->cpu != 1 ||
			      r->ts >= gone + r->ran_ns,
			      "%u ns while the CPU was away", r->ran_ns);
		}
		/* counters are also requested and released while the CPU is offline */
		cpu_online(1, false);
		want(&dev, 0);
		wait_no_perf(&dev, 0, "asked no more");
		cpu_online(1, true);
		CHECK(!count_in_ticks(&dev, CMT_REC_PERF, 1, 10), "PERF");
		cpu_online(1, false);
		want(&dev, COUNTERS);
		cpu_online(1, true);
	}
	log_free(&log);
	dev_close(&dev);
}

/* Runs for 1.4 ticks and sleeps for 0.8: it leaves the CPU amid an interval. */
static pid_t come_and_go(uint32_t tick_ns)
{
	struct timespec pause = { .tv_nsec = (long)tick_ns / 10 * 8 };
	uint64_t until;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	run_on(0, 1);
	for (;;) {
		until = now_ns() + tick_ns / 10 * 14;
		while (now_ns() < until)
			;
		nanosleep(&pause, NULL);
	}
}

/*
 * Add the owner's PERFs on CPU 1, and how many of them are in a tick without a SAMPLE of
 * the owner.  Another CPU may have taken the sample for the same boundary.
 */
static void count_unread(const struct log *log, uint32_t rmid, size_t *perfs,
			 size_t *unread)
{
	uint64_t tick = 0, sampled = 0;
	bool ran = false;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_SAMPLE && r->rmid == rmid)
			sampled = r->ts;
		else if (is_of(r, CMT_REC_PERF, 1) && r->rmid == rmid)
			ran = true;
		if (!is_of(r, CMT_REC_TICK, 1))
			continue;
		/* of the first tick, and of one that deferred RMIDs, nothing is known */
		if (ran && tick && !r->tick.waiting) {
			(*perfs)++;
			*unread += sampled <= tick;
		}
		tick = r->ts;
		ran = false;
	}
}

#define TICKS_RAN	100

/* An RMID that ran since the last tick is read, also if it runs no more. */
static void perf_ran_is_sampled(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *owner;
	size_t perfs = 0, unread = 0;
	struct recorder rec;
	struct dev dev;
	int seconds;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	pid = come_and_go(dev.info.interval_ns);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES);
	dev_snapshot(&dev, &snapshot);
	owner = snapshot_find(&snapshot, (uint32_t)pid);
	CHECK(owner && owner->rmid, "no RMID for process %d", pid);
	/* on a busy host the owner runs in few ticks of a second */
	for (seconds = 0; perfs < TICKS_RAN && seconds < 20; seconds++) {
		recorder_start(&rec, &dev, true);
		sleep_ms(1000);
		recorder_stop(&rec);
		count_unread(&rec.log, owner->rmid, &perfs, &unread);
		log_free(&rec.log);
	}
	reap(pid, SIGKILL);
	note("the owner ran in %zu ticks of %d s, unread in %zu", perfs, seconds, unread);
	CHECK(perfs >= TICKS_RAN, "the owner ran in %zu ticks", perfs);
	CHECK(unread * 10 < perfs, "the owner ran in %zu ticks, unread in %zu",
	      perfs, unread);
	dev_close(&dev);
}

/* A descriptor that asks for what is counted already changes nothing, and writes nothing. */
static void perf_asked_again(void)
{
	uint64_t before, records;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	/* no ring is mapped: there are no ticks */
	want(&dev, 0);
	before = dev_stats(&dev).records;
	for (int i = 0; i < 100000; i++)
		want(&dev, 0);
	records = dev_stats(&dev).records - before;
	CHECK(records <= 8, "%llu records, asked for none",
	      (unsigned long long)records);
	want(&dev, COUNTERS);
	before = dev_stats(&dev).records;
	for (int i = 0; i < 100; i++)
		want(&dev, COUNTERS);
	records = dev_stats(&dev).records - before;
	CHECK(records <= 8, "%llu records, asked for the same",
	      (unsigned long long)records);
	dev_close(&dev);
}

/* A descriptor that asks for values and for none in a loop writes few records. */
static void perf_asked_in_turn(void)
{
	uint64_t before, records, from = now_ns();
	unsigned int n = 0;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	/* no ring is mapped: there are no ticks */
	before = dev_stats(&dev).records;
	/* longer than two intervals in which values are dropped */
	while (n < 400 || now_ns() - from < 3000 * MS) {
		want(&dev, n & 2 ? CMT_F_CYCLES : COUNTERS);
		want(&dev, 0);
		n++;
	}
	records = dev_stats(&dev).records - before;
	note("asked %u times: %llu records", n, (unsigned long long)records);
	CHECK(records <= 8, "%llu records, asked %u times",
	      (unsigned long long)records, n);
	dev_close(&dev);
}

/* The PERFs of a process have at least 97 % of its running time. */
static void life_is_complete(const struct log *log, const struct life *life)
{
	uint64_t ns = life_check(log, life);

	note("%llu us on a CPU, PERFs of %llu",
	     (unsigned long long)life->ns / 1000, (unsigned long long)ns / 1000);
	CHECK(ns >= life->ns / 100 * 97, "%llu of %llu us are missing",
	      (unsigned long long)(life->ns - ns) / 1000,
	      (unsigned long long)life->ns / 1000);
}

/* Another descriptor asks for one more value, and ceases to, again and again. */
static void perf_other_reader_changes(void)
{
	struct recorder rec;
	struct life life;
	struct dev dev;
	pid_t other;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES);
	other = fork();
	CHECK(other >= 0, "fork: %m");
	if (!other) {
		struct dev toggles;

		run_on(0, 0);
		dev_open(&toggles, O_RDONLY);
		for (;;) {
			want(&toggles, CMT_F_LLC_REFERENCES);
			want(&toggles, 0);
		}
	}
	recorder_start(&rec, &dev, true);
	run_on(0, 1);
	life = one_life(2000 * MS);
	sleep_ms(100);
	recorder_stop(&rec);
	life_is_complete(&rec.log, &life);
	reap(other, SIGKILL);
	log_free(&rec.log);
	dev_close(&dev);
}

#define WAKERS	640

/* Processes on CPU 1 that run for a moment every two seconds */
static void wakers_start(pid_t *pids)
{
	for (int i = 0; i < WAKERS; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (pids[i])
			continue;
		run_on(0, 1);
		for (;;)
			sleep_ms(2000);
	}
}

static uint32_t longest_run(const struct log *log)
{
	uint32_t ns = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->records[i].type == CMT_REC_PERF && log->records[i].cpu == 1)
			ns = log->records[i].ran_ns > ns ? log->records[i].ran_ns : ns;
	return ns;
}

/*
 * A tick writes 80 PERFs.  With 640 owners, ticks that are a second apart write one of each
 * owner in 8 s.  An owner may run for longer meanwhile than one record can say.
 */
static void perf_long_run(void)
{
	static pid_t pids[WAKERS];
	struct recorder rec;
	struct life life;
	struct dev dev;

	if (slowness > 1) {
		note("640 processes take minutes here");
		return;
	}
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES);
	wakers_start(pids);
	recorder_start(&rec, &dev, true);
	run_on(0, 1);
	life = one_life(10000 * MS);
	run_on(0, 0);
	sleep_ms(10000);
	recorder_stop(&rec);
	for (int i = 0; i < WAKERS; i++)
		reap(pids[i], SIGKILL);
	note("the longest time in a PERF is %u us", longest_run(&rec.log) / 1000);
	CHECK(longest_run(&rec.log) >= 4294 * MS, "no PERF is late enough");
	life_is_complete(&rec.log, &life);
	log_free(&rec.log);
	dev_close(&dev);
}

/* In the middle of a tick's interval, of which a second has one */
static void wait_between_ticks(void)
{
	sleep_ms(1000);
	WAIT_FOR(now_ns() % (1000 * MS) >= 600 * MS &&
		 now_ns() % (1000 * MS) <= 700 * MS, 5000,
		 "no time between two ticks");
}

/* What happens in the middle of a tick's interval drops no count. */
static void keeps_counts(void (*happens)(const struct dev *dev))
{
	struct recorder rec;
	struct life life;
	struct dev dev;
	pid_t other;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES);
	other = fork();
	CHECK(other >= 0, "fork: %m");
	if (!other) {
		wait_between_ticks();
		happens(&dev);
		_exit(0);
	}
	recorder_start(&rec, &dev, true);
	run_on(0, 1);
	life = one_life(3000 * MS);	/* it happens within 2.1 s */
	expect_exit_0(other, "the one between two ticks");
	sleep_ms(1100);
	recorder_stop(&rec);
	life_is_complete(&rec.log, &life);
	log_free(&rec.log);
	dev_close(&dev);
}

static void take_cpu_1(const struct dev *unused)
{
	(void)unused;
	cpu_online(1, false);
}

/* A CPU goes offline: its counts get their PERFs. */
static void perf_offline_keeps_counts(void)
{
	keeps_counts(take_cpu_1);
	cpu_online(1, true);
}

static void set_interval(const struct dev *dev)
{
	dev_set_interval(dev, 1000 * MS);
}

static void perf_interval_keeps_counts(void)
{
	keeps_counts(set_interval);
}

static void perf_bad_input(void)
{
	struct cmt_counters arg = { .size = sizeof(arg) };
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	for (unsigned int bit = 0; bit < 32; bit++) {
		int bad;

		arg.counters = 1U << bit;
		bad = ioctl(dev.fd, CMT_IOC_SET_COUNTERS, &arg);
		if (arg.counters & (COUNTERS | CMT_F_WAITED | CMT_F_CHANNEL))
			CHECK(!bad, "bit %u: %m", bit);
		else
			CHECK(bad && errno == EINVAL, "bit %u is accepted", bit);
	}
	dev_close(&dev);
}

static int try_first(const struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = {
		.size = sizeof(arg), .counters = counters | CMT_F_COUNTERS_FIRST,
	};

	return ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg) ? -errno : 0;
}

/* The rights are those of whoever opened the device. */
static void perf_first_rights(void)
{
	struct dev root, group;

	dev_open(&root, O_RDONLY);
	CHECK(try_first(&root, 0) == -EINVAL &&
	      try_first(&root, CMT_F_CHANNEL) == -EINVAL, "no value");
	CHECK(!try_first(&root, CMT_F_CYCLES), "with all rights");
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_PERFMON);
	dev_open(&group, O_RDONLY);
	CHECK(!try_first(&group, CMT_F_CYCLES), "with CAP_PERFMON");
	dev_close(&group);
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE);
	dev_open(&group, O_RDONLY);
	CHECK(try_first(&group, CMT_F_CYCLES) == -EPERM, "without CAP_PERFMON");
	CHECK(!try_first(&root, COUNTERS), "opened with all rights");
	dev_close(&group);
	dev_close(&root);
}

const struct test perf_tests[] = {
	{ "perf_records_on_request", perf_records_on_request, "", 0 },
	{ "perf_without_counters", perf_without_counters, "", 0 },
	{ "perf_time_adds_up", perf_time_adds_up, "ring_records=16384", 0 },
	{ "perf_records_by_generation", perf_records_by_generation,
	  EMULATED "emulated_rmids=16 interval_us=1000000", 60 },
	{ "perf_cpu_goes_offline", perf_cpu_goes_offline,
	  "ring_records=16384", 40 },
	{ "perf_ran_is_sampled", perf_ran_is_sampled,
	  EMULATED "emulated_rmids=64 interval_us=8000 ring_records=16384", 60 },
	{ "perf_asked_again", perf_asked_again, "", 60 },
	{ "perf_asked_in_turn", perf_asked_in_turn, "", 60 },
	{ "perf_other_reader_changes", perf_other_reader_changes,
	  "interval_us=10000 ring_records=16384", 60 },
	{ "perf_long_run", perf_long_run, SOFTWARE "interval_us=1000000", 120 },
	{ "perf_offline_keeps_counts", perf_offline_keeps_counts,
	  "interval_us=1000000", 60 },
	{ "perf_interval_keeps_counts", perf_interval_keeps_counts,
	  "interval_us=1000000", 60 },
	{ "perf_bad_input", perf_bad_input, "", 0 },
	{ "perf_first_rights", perf_first_rights, "", 0 },
	{ }
};
