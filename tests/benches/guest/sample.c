// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks and samples.  Every tick reads another number of RMIDs, because another
 * number of processes ran before it, and because there are more of them each
 * time.  The line through
 *
 *	instructions of a tick = tick with a burst + sample * samples
 *
 * gives both, the same line through the MSR accesses theirs.  A sample is what
 * the interrupted loop sees, the tick with a burst what the module counts
 * (busy_ns), which begins and ends in the timer's function.  The slopes of both
 * must be the same.
 *
 * In manual scope this process has no owner, and only RMID 0 is due, because the CPU is the
 * first one of its domain.  Such ticks are measured as they are; second.c has those without
 * samples.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* No multiple of the 4 ms of the kernel's own tick: the two come together seldom. */
#define INTERVAL_NS	3100000
#define WARM_UP_TICKS	34	/* more than idle_ticks */
#define POPULATIONS	3
#define SHARES		7	/* of a population: 0/6 to 6/6 of it run */
#define REPEATS		6
#define TICKS		(POPULATIONS * SHARES * REPEATS)

/*
 * A burst of up to 40 readings (half of CMT_BURST_MAX in module/hw/burst.h) is one pass
 * over the RMIDs.  A larger one costs another pass, which is no part of a sample.
 */
#define RUNNERS_MOST	28
#define RUNNERS_LEAST	20	/* fewer make no line */
#define ROOM_SPARE	4

/*
 * Off the line by this share, and by so many instructions, is no line: less than a
 * sample, and what one more word of the bitmap of RMIDs costs.
 */
#define LINE_TOLERANCE	0.02
#define LINE_SLACK	100
#define MSR_SLACK	0.01

/* One value of all ticks. */
struct series {
	struct point points[TICKS];
};

struct measured {
	struct series whole, busy, msrs;
	size_t n;
	unsigned int incomplete;	/* SAMPLE records with other values than asked for */
};

/* Every share as often as any other, in no order of size. */
static unsigned int share_of(unsigned int population, unsigned int i)
{
	return population * (i * 3 % SHARES) / (SHARES - 1);
}

static void warm_up(struct records *records, int fd, unsigned int population)
{
	struct tick tick;
	int i;

	for (i = 0; i < WARM_UP_TICKS; i++) {
		runners_wake(population);
		tick_await(records, fd, &tick);
	}
}

static void note(struct measured *m, const struct tick *tick)
{
	double x = tick->read;

	if (tick->missed)
		die("a tick was missed");
	m->whole.points[m->n] = (struct point){ x, tick->whole };
	m->busy.points[m->n] = (struct point){ x, tick->busy };
	m->msrs.points[m->n] = (struct point){ x, tick->msrs.all };
	m->n++;
	m->incomplete += tick->read - tick->complete;
}

static void population_measure(struct records *records, int fd,
			       unsigned int population, struct measured *m)
{
	struct tick tick;
	unsigned int i;

	runners_add(population);
	warm_up(records, fd, population);
	for (i = 0; i < SHARES * REPEATS; i++) {
		runners_wake(share_of(population, i));
		tick_await(records, fd, &tick);
		note(m, &tick);
	}
}

/* @unit: of the value, where it is not instructions */
static void figure_of(const char *key, const char *suffix, const char *unit,
		      double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", key, suffix, unit);
	figure(name, value);
}

static void missing_of(const char *key, const char *suffix, const char *why)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", key, suffix);
	missing(name, "%s", why);
}

/* For whoever looks for the reason, in the file of the figures. */
static void print_points(const char *key, const char *suffix,
			 const struct series *series, size_t n)
{
	size_t i;

	printf("text points_%s%s", key, suffix);
	for (i = 0; i < n; i++)
		printf(" %.0f:%.0f", series->points[i].x, series->points[i].y);
	printf(" .\n");
}

static bool fit(const char *key, const char *suffix, struct series *series,
		size_t n, double tolerance, double slack, struct line *line)
{
	const char *why = line_fit(series->points, n, tolerance, slack, line);

	if (!why)
		return true;
	missing_of(key, suffix, why);
	print_points(key, suffix, series, line->n);
	return false;
}

static void report_msrs(struct measured *m, const char *suffix)
{
	struct line line;
	char of_msrs[32];

	if (!msrs_counted())
		return;
	snprintf(of_msrs, sizeof(of_msrs), "%s_msr", suffix);
	if (!fit("sample", of_msrs, &m->msrs, m->n, 0, MSR_SLACK, &line))
		return;
	figure_of("sample", suffix, "_msr", line.slope);
	figure_of("burst", suffix, "_msr", line.at_0);
}

#define IDLE_TICKS	60
#define REST_US		1000

static double mean(const double *x, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return sum / n;
}

/* Of the least squares; 0 where all x are the same. */
static double slope_of(const double *x, const double *y, size_t n)
{
	double xy = 0, xx = 0, at_x = mean(x, n), at_y = mean(y, n);
	size_t i;

	for (i = 0; i < n; i++) {
		xy += (x[i] - at_x) * (y[i] - at_y);
		xx += (x[i] - at_x) * (x[i] - at_x);
	}
	return xx > 0 ? xy / xx : 0;
}

/* @rest_us: before each tick, so that no other task waits for the CPU; 0: none */
static struct tick bench_idle(struct records *records, int fd, unsigned int rest_us)
{
	static double busy[IDLE_TICKS], whole[IDLE_TICKS], msrs[IDLE_TICKS];
	static double cycles[IDLE_TICKS];
	uint32_t channels = 0;
	double cycles_busy;
	struct tick tick;
	size_t n = 0;
	int i;

	device_scope(fd, CMT_SCOPE_MANUAL, NULL);
	for (i = 0; i < WARM_UP_TICKS; i++)
		tick_await(records, fd, &tick);
	for (i = 0; i < 2 * IDLE_TICKS && n < IDLE_TICKS; i++) {
		if (rest_us)
			usleep(rest_us);
		tick_await(records, fd, &tick);
		if (tick.missed)
			die("a tick was missed");
		if (tick.read != 1)
			continue;
		if (n && tick.channels != channels)
			die("a tick read %u channels, the next one %u", channels,
			    tick.channels);
		channels = tick.channels;
		busy[n] = tick.busy;
		cycles[n] = tick.cycles;
		whole[n] = tick.whole;
		msrs[n++] = tick.msrs.all;
	}
	if (n < IDLE_TICKS)
		die("only %zu ticks that read RMID 0 alone", n);
	/* before the medians, which sort */
	cycles_busy = slope_of(cycles, busy, n);
	return (struct tick){
		.busy = median(busy, n), .whole = median(whole, n),
		.msrs.all = median(msrs, n), .channels = channels,
		.cycles = median(cycles, n), .cycles_busy = cycles_busy,
	};
}

struct tick bench_idle_with(const char *params, const char *more, uint32_t counters)
{
	struct records records;
	struct cmt_info info;
	struct tick tick;
	char all[256];
	int fd;

	snprintf(all, sizeof(all), "%s %s", params, more);
	module_load(all);
	fd = device_open();
	device_info(fd, &info);
	device_interval(fd, INTERVAL_NS);
	device_counters(fd, counters);
	records_open(&records, fd, &info);
	real_time(true);
	tick = bench_idle(&records, fd, counters & CMT_F_CHANNEL ? 0 : REST_US);
	real_time(false);
	records_close(&records);
	close(fd);
	module_unload();
	return tick;
}

static void idle_measure(struct records *records, int fd, const char *suffix)
{
	struct tick idle = bench_idle(records, fd, 0);

	figure_of("tick_first", suffix, "", idle.busy);
	figure_of("tick_first_whole", suffix, "", idle.whole);
	if (msrs_counted())
		figure_of("tick_first", suffix, "_msr", idle.msrs.all);
}

static void report_costs(const struct line *whole, const struct line *busy,
			 const char *suffix)
{
	/* whole instructions, which the slope gives to a few tenths */
	figure_of("sample", suffix, "", round(whole->slope));
	figure_of("sample_by_module", suffix, "",
		  100 * busy->slope / whole->slope);
	figure_of("burst", suffix, "", busy->at_0);
}

static struct costs report(struct measured *m, const char *suffix)
{
	struct line whole, busy;
	bool is_line;

	if (m->incomplete)
		missing_of("sample", suffix, "samples lack a value, or have another one");
	is_line = fit("sample", suffix, &m->whole, m->n, LINE_TOLERANCE,
		      LINE_SLACK, &whole);
	is_line &= fit("burst", suffix, &m->busy, m->n, LINE_TOLERANCE,
		       LINE_SLACK, &busy);
	if (is_line && !m->incomplete)
		report_costs(&whole, &busy, suffix);
	report_msrs(m, suffix);
	return (struct costs){ .sample = whole.slope, .tick = busy.at_0 };
}

/* @idle: also a tick that reads RMID 0 alone */
static struct costs measure(const char *suffix, uint32_t values, bool idle)
{
	static struct measured m;
	struct records records;
	struct cmt_info info;
	int fd = device_open();
	unsigned int i, most;

	memset(&m, 0, sizeof(m));
	device_info(fd, &info);
	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
	device_interval(fd, INTERVAL_NS);
	most = device_room(fd, &info);
	if (most < RUNNERS_LEAST + ROOM_SPARE)
		die("only %u RMIDs are free", most);
	most -= ROOM_SPARE;
	if (most > RUNNERS_MOST)
		most = RUNNERS_MOST;

	device_values(fd, values);
	records_open(&records, fd, &info);
	records.values = values;
	real_time(true);
	if (idle)
		idle_measure(&records, fd, suffix);
	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
	for (i = 1; i <= POPULATIONS; i++)
		population_measure(&records, fd, most * i / POPULATIONS, &m);
	runners_end();
	real_time(false);
	records_close(&records);
	close(fd);
	return report(&m, suffix);
}

struct costs bench_sample(const char *suffix)
{
	return measure(suffix, CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL, true);
}

void bench_sample_of(const char *suffix, uint32_t values)
{
	measure(suffix, values, false);
}
