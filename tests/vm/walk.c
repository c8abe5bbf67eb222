// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo's workload: touch so many KiB in all, over and over, so many of them in
 * each millisecond.  With PASSES, end after so many times.
 *
 *	walk [-r] NAME KIB STEP_KIB [PASSES]
 *
 *	-r	in no order, as requests touch what they need
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A line of so many, by xorshift */
static size_t any_line(size_t lines)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state >> 11) % lines;
}

/*
 * Each line is touched once, by a store: the lab's cache has no other one before it, and
 * would count a second touch as a hit.
 */
static void walk_step(volatile char *memory, size_t bytes, size_t at, size_t step,
		      bool in_order)
{
	for (size_t i = 0; i < step; i += LINE)
		memory[in_order ? (at + i) % bytes : any_line(bytes / LINE) * LINE] = 1;
}

/* @passes 0: without an end */
static void walk(volatile char *memory, size_t bytes, size_t step, size_t passes,
		 bool in_order)
{
	struct timespec next;
	size_t touched = 0;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!passes || touched < passes * bytes) {
		walk_step(memory, bytes, touched % bytes, step, in_order);
		touched += step;
		next_millisecond(&next);
	}
}

int main(int argc, char **argv)
{
	bool in_order = argc < 2 || strcmp(argv[1], "-r");
	size_t bytes;
	char *memory;

	if (!in_order) {
		argv++;
		argc--;
	}
	if (argc != 4 && argc != 5) {
		fprintf(stderr, "Usage: walk [-r] NAME KIB STEP_KIB [PASSES]\n");
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
	walk(memory, bytes, kib(argv[3]), argc == 5 ? number(argv[4]) : 0, in_order);
	return 0;
}
