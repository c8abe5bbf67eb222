// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* Allowed deviation of the clock, in parts of one */
#define CLOCK_TOLERANCE	0.01
#define CLOCK_SPINS	10000000

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

static double monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/*
 * The kernel's clock comes from the TSC too, by a frequency that it has
 * measured itself; the module's busy_ns is in its nanoseconds.
 */
void check_clock(void)
{
	double ns = monotonic();
	uint64_t start = instructions();
	double counted, ratio;

	spin(CLOCK_SPINS);
	counted = instructions() - start;
	ns = monotonic() - ns;

	ratio = counted / (2.0 * CLOCK_SPINS);
	if (ratio < 1 - CLOCK_TOLERANCE || ratio > 1 + CLOCK_TOLERANCE)
		die("the TSC advances by %.3f per instruction: start QEMU with one CPU and -icount shift=0",
		    ratio);
	ratio = ns / (2.0 * CLOCK_SPINS);
	if (ratio < 1 - CLOCK_TOLERANCE || ratio > 1 + CLOCK_TOLERANCE)
		die("CLOCK_MONOTONIC advances by %.3f ns per instruction",
		    ratio);
}
