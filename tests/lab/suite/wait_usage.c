// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who waits for a CPU, and for whom, as libcmt says it: one CPU, whose clock counts
 * instructions, as in wait.c.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cmt/cmt.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/waits.h"
#include "tests.h"

#define MS 1000000ULL

/* Percent.  A tick is not the other's. */
#define BY_OTHER 96

struct watch {
	struct cmt_device *dev;
	struct cmt_usage *usage;
	uint64_t ids[2];
	pid_t pids[2];
	const struct cmt_usage_frame *frame;
};

static void watch_open(struct watch *w, void (*first)(void), void (*second)(void))
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_WAITS,
		.counters = CMT_F_WAITED,
	};
	int err;

	memset(w, 0, sizeof(*w));
	for (unsigned int i = 0; i < 2; i++)
		w->ids[i] = group_make(container(i));
	err = cmt_device_open(&w->dev, NULL, 0);
	CHECK(!err, "cmt_device_open: %s", strerror(-err));
	opts.device = w->dev;
	err = cmt_usage_new(&w->usage, &opts);
	CHECK(!err, "cmt_usage_new: %s", strerror(-err));
	w->pids[0] = waits_fork(0, first);
	if (second)
		w->pids[1] = waits_fork(1, second);
}

static void watch_close(struct watch *w)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (w->pids[i])
			reap(w->pids[i], SIGKILL);
		group_remove(container(i));
	}
	cmt_usage_free(w->usage);
	cmt_device_close(w->dev);
}

/* This process sleeps in each interval.  The first one has the beginning. */
static void watch_second(struct watch *w)
{
	for (int i = 0; i < 2; i++) {
		sleep_ms(1000);
		while (!cmt_usage_next(w->usage, &w->frame))
			sleep_ms(10);
	}
	CHECK(!w->frame->lost && w->frame->counters & CMT_F_WAITED, "lost %llu, counters %#x",
	      (unsigned long long)w->frame->lost, w->frame->counters);
}

static const struct cmt_usage_row *row_of(const struct watch *w, unsigned int i)
{
	for (uint32_t j = 0; j < w->frame->nr_rows; j++)
		if (cmt_usage_row_at(w->frame, j)->cgroup_id == w->ids[i])
			return cmt_usage_row_at(w->frame, j);
	CHECK(false, "container %u has no row", i);
	return NULL;
}

/* What container @i waited, in percent of the time */
static void check_wait(const struct watch *w, unsigned int i, double percent, double points)
{
	const struct cmt_usage_counters *counters = &row_of(w, i)->counters;
	double share = 100 * counters->wait_share;

	note("container %u waited %.1f %%", i, share);
	CHECK(counters->values & CMT_F_WAITED && !(counters->bounds & CMT_F_WAITED) &&
	      !counters->quota, "values %#x, bounds %#x", counters->values, counters->bounds);
	CHECK(share >= percent - points && share <= percent + points, "not %.1f %%", percent);
}

/* That part of its wait in which container @by ran: more than @percent of it */
static void check_by(const struct watch *w, unsigned int i, unsigned int by, double percent)
{
	uint64_t all = row_of(w, i)->counters.waited_ns, sum = 0, ns = 0;
	double share;

	for (uint32_t j = 0; j < w->frame->nr_waits; j++) {
		const struct cmt_usage_wait_part *part = cmt_usage_wait_part_at(w->frame, j);

		if (cmt_usage_row_at(w->frame, part->row) != row_of(w, i))
			continue;
		sum += part->ns;
		if (part->by != CMT_USAGE_WAIT_UNKNOWN &&
		    cmt_usage_row_at(w->frame, part->by) == row_of(w, by))
			ns += part->ns;
	}
	share = 100.0 * (double)ns / (double)all;
	note("container %u waited by container %u: %.1f %%", i, by, share);
	CHECK(sum == all, "parts of %llu ns, of %llu", (unsigned long long)sum,
	      (unsigned long long)all);
	CHECK(share > percent, "not by container %u", by);
}

static void by_each_other(void)
{
	struct watch w;

	watch_open(&w, waits_spin, waits_spin);
	watch_second(&w);
	check_wait(&w, 0, 50, 2);
	check_wait(&w, 1, 50, 2);
	check_by(&w, 0, 1, BY_OTHER);
	check_by(&w, 1, 0, BY_OTHER);
	watch_close(&w);
}

/* Takes the CPU for 10 of every 100 ms. */
static void take_a_tenth(void)
{
	struct sched_param param = { 1 };

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO: %m");
	for (;;) {
		uint64_t until = now_ns() + 10 * MS;

		while (now_ns() < until)
			;
		sleep_ms(90);
	}
}

static void by_real_time(void)
{
	struct watch w;

	watch_open(&w, waits_spin, take_a_tenth);
	watch_second(&w);
	check_wait(&w, 0, 10, 2);
	/* the kernel's threads and ticks take some of the 1,000 ms, too */
	check_by(&w, 0, 1, 80);
	watch_close(&w);
}

static void by_itself(void)
{
	struct watch w;

	watch_open(&w, waits_spin_twice, NULL);
	watch_second(&w);
	check_wait(&w, 0, 100, 2);
	check_by(&w, 0, 0, 96);
	watch_close(&w);
}

#define PARAMS SOFTWARE "scope=container ring_records=65536"

const struct test wait_usage_tests[] = {
	{ "wait_by_each_other", by_each_other, PARAMS, 60 },
	{ "wait_by_real_time", by_real_time, PARAMS, 60 },
	{ "wait_by_itself", by_itself, PARAMS, 60 },
	{ }
};
