// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo's workload: touch so many KiB in all, over and over, so many of them in
 * each millisecond.
 *
 *	walk NAME KIB STEP_KIB
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LINE 64
#define MS 1000000L

static size_t kib(const char *text)
{
	size_t bytes;
	char *end;

	bytes = strtoul(text, &end, 10) << 10;
	if (end == text || *end || !bytes) {
		fprintf(stderr, "walk: not a number: %s\n", text);
		exit(2);
	}
	return bytes;
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

static void walk(volatile char *memory, size_t bytes, size_t step)
{
	struct timespec next;
	size_t at = 0, i;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		for (i = 0; i < step; i += LINE)
			memory[(at + i) % bytes]++;
		at = (at + step) % bytes;
		next_millisecond(&next);
	}
}

int main(int argc, char **argv)
{
	size_t bytes;
	char *memory;

	if (argc != 4) {
		fprintf(stderr, "Usage: walk NAME KIB STEP_KIB\n");
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
	walk(memory, bytes, kib(argv[3]));
}
