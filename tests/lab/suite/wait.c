// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who waits for a CPU, where the answer is known: one CPU, whose clock counts instructions
 * (tests/vm/guest --icount).  This process sleeps while the containers run.  wait_usage.c
 * asks libcmt the same; schedules.c has situations by chance.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/waits.h"
#include "tests.h"

#define MS 1000000ULL

/* A container with a process, and what they did in the time that was watched */
struct party {
	struct cmt_record owner;
	pid_t pid;
	struct perfs sum;
	uint64_t kernel_ns;	/* waited, by /proc/PID/schedstat */
	uint64_t throttled_us;	/* by cpu.stat */
};

struct watch {
	struct dev dev;
	struct party parties[2];
	uint64_t from, to;
};

/* Two containers without processes. */
static void watch_open(struct watch *w)
{
	memset(w, 0, sizeof(*w));
	dev_open(&w->dev, O_RDONLY);
	dev_map(&w->dev, FROM_NOW);
	waits_ask(&w->dev, CMT_F_WAITED);
	groups_limit_cpu();
	for (unsigned int i = 0; i < 2; i++)
		w->parties[i].owner = waits_container(&w->dev, i);
}

static void watch_close(struct watch *w)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (w->parties[i].pid)
			reap(w->parties[i].pid, SIGKILL);
		group_remove(container(i));
	}
	dev_close(&w->dev);
}

static void begin(struct watch *w, unsigned int i, void (*run)(void))
{
	w->parties[i].pid = waits_fork(i, run);
}

static void parties_note(struct watch *w, bool begins)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct party *party = &w->parties[i];
		uint64_t ns = party->pid ? process_waited(party->pid) : 0;
		uint64_t us = group_throttled_us(i);

		party->kernel_ns = begins ? ns : ns - party->kernel_ns;
		party->throttled_us = begins ? us : us - party->throttled_us;
	}
}

static void parties_show(const struct watch *w)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct party *party = &w->parties[i];

		note("container %u: waited %llu us, by the kernel %llu, of these throttled %llu; ran %llu",
		     i, (unsigned long long)party->sum.waited_ns / 1000,
		     (unsigned long long)party->kernel_ns / 1000,
		     (unsigned long long)party->throttled_us,
		     (unsigned long long)party->sum.ran_ns / 1000);
	}
}

/* Watch the containers for a time. */
static void watch(struct watch *w, unsigned int ms)
{
	struct log log = { };

	dev_drain(&w->dev, &log);
	log.count = 0;
	parties_note(w, true);
	w->from = now_ns();
	sleep_ms(ms);
	w->to = now_ns();
	parties_note(w, false);
	sleep_ms(2);
	dev_drain(&w->dev, &log);
	for (int i = 0; i < 2; i++) {
		struct perfs sum = perfs_of(&log, &w->parties[i].owner, -1, w->from, w->to);

		CHECK(!sum.without, "%u records without CMT_F_WAITED", sum.without);
		w->parties[i].sum = sum;
	}
	log_free(&log);
	parties_show(w);
}

/* Is this share of the watched time @percent, within @points? */
static void check_share(const struct watch *w, const char *what, uint64_t ns,
			double percent, double points)
{
	double share = 100.0 * (double)ns / (double)(w->to - w->from);

	note("%s: %.1f %%", what, share);
	CHECK(share >= percent - points && share <= percent + points,
	      "%s: %.1f %% of the time, not %.1f", what, share, percent);
}

static void spin_both(struct watch *w)
{
	begin(w, 0, waits_spin);
	begin(w, 1, waits_spin);
	sleep_ms(300);
}

static void two_halves(void)
{
	struct watch w;

	watch_open(&w);
	spin_both(&w);
	watch(&w, 1000);
	check_share(&w, "one", w.parties[0].sum.waited_ns, 50, 2);
	check_share(&w, "other", w.parties[1].sum.waited_ns, 50, 2);
	watch_close(&w);
}

static void by_weight(void)
{
	struct watch w;

	watch_open(&w);
	group_set(0, "cpu.weight", "100");
	group_set(1, "cpu.weight", "300");
	spin_both(&w);
	watch(&w, 1500);
	check_share(&w, "weight 100", w.parties[0].sum.waited_ns, 75, 2);
	check_share(&w, "weight 300", w.parties[1].sum.waited_ns, 25, 2);
	watch_close(&w);
}

static void real_time(void)
{
	struct sched_param param = { 1 };

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO: %m");
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS)) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Takes the CPU for 10 of every 100 ms. */
static void take_a_tenth(void)
{
	real_time();
	for (;;) {
		uint64_t until = now_ns() / (100 * MS) * (100 * MS) + 100 * MS;

		sleep_until(until);
		while (now_ns() < until + 10 * MS)
			;
	}
}

static void behind_real_time(void)
{
	struct watch w;

	watch_open(&w);
	begin(&w, 0, waits_spin);
	begin(&w, 1, take_a_tenth);
	sleep_ms(300);
	watch(&w, 1000);
	check_share(&w, "the other one", w.parties[0].sum.waited_ns, 10, 1);
	check_share(&w, "the real-time one", w.parties[1].sum.waited_ns, 0, 0.5);
	watch_close(&w);
}

static void quota_alone(void)
{
	struct watch w;

	watch_open(&w);
	group_set(0, "cpu.max", "20000 100000");
	begin(&w, 0, waits_spin);
	sleep_ms(300);
	watch(&w, 1000);
	check_share(&w, "waited", w.parties[0].sum.waited_ns, 0, 0.5);
	check_share(&w, "throttled", w.parties[0].throttled_us * 1000, 80, 3);
	check_share(&w, "ran", w.parties[0].sum.ran_ns, 20, 3);
	CHECK(w.parties[0].sum.quotas, "no CMT_F_WAIT_QUOTA");
	watch_close(&w);
}

/* 20 of every 100 ms, by the real-time scheduler that has such a promise. */
static void spin_by_deadline(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {
		.size = sizeof(attr), .policy = SCHED_DEADLINE,
		.runtime = 20 * MS, .deadline = 100 * MS, .period = 100 * MS,
	};

	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0), "SCHED_DEADLINE: %m");
	waits_spin();
}

static void deadline_alone(void)
{
	struct watch w;

	watch_open(&w);
	begin(&w, 0, spin_by_deadline);
	sleep_ms(300);
	watch(&w, 1000);
	check_share(&w, "by the kernel", w.parties[0].kernel_ns, 80, 3);
	check_share(&w, "waited", w.parties[0].sum.waited_ns, 0, 0.5);
	CHECK(w.parties[0].sum.quotas, "no CMT_F_WAIT_QUOTA");
	watch_close(&w);
}

/* What is no quota's is waiting, but for up to two ticks in each period. */
static void quota_beside(void)
{
	struct watch w;
	uint64_t rest;

	watch_open(&w);
	group_set(0, "cpu.max", "20000 100000");
	spin_both(&w);
	watch(&w, 1500);
	rest = w.parties[0].kernel_ns - w.parties[0].throttled_us * 1000;
	check_share(&w, "waited, by the kernel, without the quota's", rest, 20, 10);
	check_share(&w, "waited", w.parties[0].sum.waited_ns,
		    100.0 * (double)rest / (double)(w.to - w.from) - 1, 1);
	check_share(&w, "the neighbour", w.parties[1].sum.waited_ns, 20, 3);
	CHECK(w.parties[0].sum.quotas && !w.parties[1].sum.quotas, "CMT_F_WAIT_QUOTA: %u, %u",
	      w.parties[0].sum.quotas, w.parties[1].sum.quotas);
	watch_close(&w);
}

/* Its threads wait for each other. */
static void for_itself(void)
{
	struct watch w;

	watch_open(&w);
	begin(&w, 0, waits_spin_twice);
	sleep_ms(300);
	watch(&w, 1000);
	check_share(&w, "waited", w.parties[0].sum.waited_ns, 100, 2);
	check_share(&w, "ran", w.parties[0].sum.ran_ns, 100, 2);
	watch_close(&w);
}

/* When the real-time one takes the CPU for 50 ms, and when the other one wakes up */
static uint64_t taken_ns, woken_ns;

static void take_50_ms(void)
{
	real_time();
	sleep_until(taken_ns);
	while (now_ns() < taken_ns + 50 * MS)
		;
	for (;;)
		pause();
}

static void wake_up(void)
{
	sleep_until(woken_ns);
	for (;;)
		pause();
}

/* The wait from @begin on is in the records of each of its milliseconds. */
static void check_seen(const struct watch *w, const struct log *log, uint64_t begin)
{
	uint64_t ms = (taken_ns + 50 * MS - begin) / MS;
	struct perfs sum = perfs_of(log, &w->parties[0].owner, -1, begin,
				    taken_ns + 51 * MS);

	note("waited %llu of %llu ms, in %u records; seen after %llu us",
	     (unsigned long long)(sum.waited_ns / MS), (unsigned long long)ms, sum.records,
	     (unsigned long long)(sum.first_ns - begin) / 1000);
	CHECK(sum.waited_ns > (ms - 1) * MS && sum.waited_ns < (ms + 2) * MS,
	      "waited %llu us", (unsigned long long)sum.waited_ns / 1000);
	CHECK(sum.records >= ms - 1, "%u records", sum.records);
	CHECK(sum.first_ns && sum.first_ns < begin + 3 * MS, "seen late");
}

static void seen_while(void (*victim)(void), unsigned int begins_ms)
{
	struct log log = { };
	struct watch w;

	watch_open(&w);
	taken_ns = now_ns() + 300 * MS;
	woken_ns = taken_ns + 10 * MS;
	begin(&w, 0, victim);
	begin(&w, 1, take_50_ms);
	sleep_until(taken_ns + 100 * MS);
	dev_drain(&w.dev, &log);
	check_seen(&w, &log, taken_ns + begins_ms * MS);
	log_free(&log);
	watch_close(&w);
}

static void preempted_is_seen(void)
{
	seen_while(waits_spin, 0);
}

static void woken_is_seen(void)
{
	seen_while(wake_up, 10);
}

#define PARAMS SOFTWARE "scope=container ring_records=65536"

const struct test wait_truth_tests[] = {
	{ "wait_two_halves", two_halves, PARAMS, 60 },
	{ "wait_two_halves_hw", two_halves, "scope=container ring_records=65536", 60 },
	{ "wait_by_weight", by_weight, PARAMS, 60 },
	{ "wait_behind_real_time", behind_real_time, PARAMS, 60 },
	{ "wait_quota_alone", quota_alone, PARAMS, 60 },
	{ "wait_deadline_alone", deadline_alone, PARAMS, 60 },
	{ "wait_quota_beside", quota_beside, PARAMS, 60 },
	{ "wait_for_itself", for_itself, PARAMS, 60 },
	{ "wait_preempted_is_seen", preempted_is_seen, PARAMS, 60 },
	{ "wait_woken_is_seen", woken_is_seen, PARAMS, 60 },
	{ }
};
