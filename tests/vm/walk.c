// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo's workload: touch so many KiB in all, over and over, so many of them in
 * each millisecond.  With PASSES, end after so many times.
 *
 *	walk NAME KIB STEP_KIB [PASSES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LINE 64
#define MS 1000000L

static size_t number(const char *text)
{
	size_t value;
	char *end;

	value = strtoul(text, &end, 10);
	if (end == text || *end || !value) {
		fprintf(stderr, "walk: not a number: %s\n", text);
		exit(2);
	}
	return value;
}

static size_t kib(const char *text)
{
	return number(text) << 10;
}

/* What was missed is not made up for. */
static void next_millisecond(struct timespec *next)
{
	struct timespec now;

	next->tv_nsec += MS;
	next->tv_sec += next->tv_nsec / (1000 * MS);
	next->tv_nsec %= 1000 * MS;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > next->tv_sec ||
	    (now.tv_sec == next->tv_sec && now.tv_nsec > next->tv_nsec))
		*next = now;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

/* @passes 0: without an end */
static void walk(volatile char *memory, size_t bytes, size_t step, size_t passes)
{
	size_t at = 0, touched = 0, i;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!passes || touched < passes * bytes) {
		for (i = 0; i < step; i += LINE)
			memory[(at + i) % bytes]++;
		at = (at + step) % bytes;
		touched += step;
		next_millisecond(&next);
	}
}

int main(int argc, char **argv)
{
	size_t bytes;
	char *memory;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "Usage: walk NAME KIB STEP_KIB [PASSES]\n");
		return 2;
	}
	prctl(PR_SET_NAME, argv[1]);
	/* cmtstat comes first, and so loses nothing */
	if (nice(19) < 0) {
		perror("walk: nice");
		return 1;
	}
	bytes = kib(argv[2]);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("walk: mmap");
		return 1;
	}
	/*
	 * khugepaged would copy them into a huge page, and the copy's lines were
	 * its, under RMID 0; a kernel that has none refuses
	 */
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	walk(memory, bytes, kib(argv[3]), argc == 5 ? number(argv[4]) : 0);
	return 0;
}
