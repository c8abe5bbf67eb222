// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tick of a CPU that is not the first one of its domain.  In manual scope nothing is due
 * there, while the first CPU reads RMID 0.  The guest has two CPUs in one domain; CPU 0
 * sleeps but for its ticks.
 *
 * A TICK of CPU 1 says how long all ticks of this CPU before it took.  The MSR accesses of
 * both CPUs are counted together: those of CPU 0 are measured while CPU 1 is offline.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"

#define INTERVAL_NS	3100000
#define CPU		1
#define WARM_UP_TICKS	34
#define TICKS		60
#define SPINS		100
#define ROUNDS_MAX	100000000U
#define AFTER_TICK	500000	/* the ticks of both CPUs are over then; less than an interval */

static void cpu_online(bool online)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "w");

	if (!file || fputs(online ? "1\n" : "0\n", file) < 0 || fclose(file))
		die_errno("cpu1/online");
}

static void run_on_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(CPU, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die_errno("sched_setaffinity");
}

static struct cmt_record next_tick(struct records *records)
{
	struct cmt_record record;

	for (unsigned int i = 0; i < ROUNDS_MAX; i++) {
		while (records_next(records, &record))
			if (record.type == CMT_REC_TICK)
				return record;
		spin(SPINS);
	}
	die("no tick");
	return record;
}

static struct msrs msrs_between_ticks(void)
{
	spin(AFTER_TICK);
	return msrs_now();
}

/* The median of busy_ns of the ticks without a sample; *msrs: accesses in a tick of each CPU */
static double ticks_measure(struct records *records, double *msrs)
{
	static double busy[TICKS];
	struct cmt_record last = { 0 }, record;
	struct msrs before;
	size_t n = 0;

	for (int i = 0; i < WARM_UP_TICKS; i++)
		last = next_tick(records);
	before = msrs_between_ticks();
	for (int i = 0; i < TICKS; i++) {
		record = next_tick(records);
		if (record.tick.missed != last.tick.missed)
			die("a tick was missed");
		if (!last.tick.read)
			busy[n++] = record.tick.busy_ns - last.tick.busy_ns;
		last = record;
	}
	spin(AFTER_TICK);
	*msrs = msrs_since(&before).all / TICKS;
	return median(busy, n);
}

static double second_measure(const char *params, double *msrs)
{
	struct records records;
	struct cmt_info info;
	double busy;
	int fd;

	run_on_cpu();
	module_load(params);
	fd = device_open();
	device_info(fd, &info);
	device_scope(fd, CMT_SCOPE_MANUAL, NULL);
	device_interval(fd, INTERVAL_NS);
	records_open_of(&records, fd, &info, CPU);
	real_time(true);
	busy = ticks_measure(&records, msrs);
	real_time(false);
	records_close(&records);
	close(fd);
	module_unload();
	return busy;
}

void bench_second(const char *params, const char *suffix)
{
	struct tick first;
	char key[32];
	double msrs;

	cpu_online(false);
	first = bench_idle_with(params, "", 0);
	cpu_online(true);
	snprintf(key, sizeof(key), "tick%s", suffix);
	figure(key, second_measure(params, &msrs));
	snprintf(key, sizeof(key), "tick%s_msr", suffix);
	if (msrs_counted())
		figure(key, msrs - first.msrs.all);
}
