// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* Allowed deviation of the clock, in parts of one */
#define CLOCK_TOLERANCE	0.01
#define CLOCK_SPINS	500000	/* less than the 4 ms between two clock ticks */
#define CLOCK_ROUNDS	15

void die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("bench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void die_errno(const char *what)
{
	die("%s: %s", what, strerror(errno));
}

void figure(const char *key, double value)
{
	printf("figure %s %.1f\n", key, value);
	fflush(stdout);
}

void text(const char *key, const char *value)
{
	printf("text %s %s\n", key, value);
	fflush(stdout);
}

void missing(const char *key, const char *fmt, ...)
{
	va_list ap;

	printf("missing %s ", key);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, size_t n)
{
	if (!n)
		die("a median of nothing");
	qsort(values, n, sizeof(*values), compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double most_frequent(double *values, size_t n)
{
	size_t i, end, best = 0, most = 0;

	if (!n)
		die("the most frequent of nothing");
	qsort(values, n, sizeof(*values), compare);
	for (i = 0; i < n; i = end) {
		for (end = i; end < n && values[end] == values[i]; end++)
			;
		if (end - i > most) {
			most = end - i;
			best = i;
		}
	}
	return values[best];
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Without this setting a real-time process is stopped for 50 ms in each second. */
static void real_time_unlimited(void)
{
	FILE *file = fopen("/proc/sys/kernel/sched_rt_runtime_us", "w");

	if (!file || fputs("-1\n", file) < 0 || fclose(file))
		die_errno("sched_rt_runtime_us");
}

void real_time(bool on)
{
	struct sched_param param = { .sched_priority = on ? 1 : 0 };

	real_time_unlimited();
	if (sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param))
		die_errno("sched_setscheduler");
}

static void check_ratio(const char *what, double *counts)
{
	double ratio = median(counts, CLOCK_ROUNDS) / (2.0 * CLOCK_SPINS);

	if (ratio < 1 - CLOCK_TOLERANCE || ratio > 1 + CLOCK_TOLERANCE)
		die("%s advances by %.3f per instruction: start QEMU with one CPU and -icount shift=0",
		    what, ratio);
}

/*
 * The kernel's clock comes from the TSC, too, by a frequency that the kernel has
 * measured.  The module's busy_ns is in nanoseconds of that clock.
 */
void check_clock(void)
{
	double tsc[CLOCK_ROUNDS], ns[CLOCK_ROUNDS];
	uint64_t start, start_ns;
	int i;

	for (i = 0; i < CLOCK_ROUNDS; i++) {
		start_ns = now_ns();
		start = instructions();
		spin(CLOCK_SPINS);
		tsc[i] = instructions() - start;
		ns[i] = now_ns() - start_ns;
	}
	check_ratio("the TSC", tsc);
	check_ratio("CLOCK_MONOTONIC", ns);
}
