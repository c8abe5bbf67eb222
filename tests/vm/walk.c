// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo's workload: touch so many bytes over and over, or none and sleep.
 *
 *	walk NAME MIB
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	volatile char *memory;
	size_t bytes, i;
	char *end;

	if (argc != 3) {
		fprintf(stderr, "Usage: walk NAME MIB\n");
		return 2;
	}
	bytes = strtoul(argv[2], &end, 10) << 20;
	if (end == argv[2] || *end) {
		fprintf(stderr, "walk: not a number: %s\n", argv[2]);
		return 2;
	}
	prctl(PR_SET_NAME, argv[1]);
	/* cmtstat comes first, and so loses nothing */
	if (nice(19) < 0) {
		perror("walk: nice");
		return 1;
	}
	if (!bytes)
		for (;;)
			pause();
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
	madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
	for (;;)
		for (i = 0; i < bytes; i += 64)
			memory[i]++;
}
