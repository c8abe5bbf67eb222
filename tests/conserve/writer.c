// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: writer FILE RECORDS: writes RECORDS records to each ring in FILE with
 * module/ring.c, one thread to a ring, and waits for no reader.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conserve.h"
#include "ring.h"

#define YIELD_EVERY	997	/* readers have a turn on a machine with few CPUs */

static char *rings;
static uint64_t records;

static void *write_ring(void *arg)
{
	uint16_t cpu = (uintptr_t)arg;
	char *at = rings + cpu * RING_BYTES;
	struct cmt_record record;
	struct cmt_ring ring;
	uint64_t i;

	cmt_ring_init(&ring, (struct cmt_ring_header *)at, cpu, RING_RECORDS,
		      INSTANCE);
	ring.slots = (struct cmt_record *)(at + CMT_RING_DATA_OFFSET);
	cmt_ring_set_state(&ring, CMT_RING_ONLINE);
	for (i = 0; i < records; i++) {
		record_make(&record, cpu, i);
		cmt_ring_write(&ring, &record);
		if (!(i % YIELD_EVERY))
			sched_yield();
	}
	cmt_ring_set_state(&ring, CMT_RING_OFFLINE);
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	pthread_t threads[NR_RINGS];
	uintptr_t cpu;

	if (fd < 0) {
		perror("writer: FILE RECORDS");
		return 2;
	}
	records = strtoull(argv[2], NULL, 0);
	rings = mmap(NULL, NR_RINGS * RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (rings == MAP_FAILED) {
		perror("writer: mmap");
		return 1;
	}
	for (cpu = 0; cpu < NR_RINGS; cpu++)
		if (pthread_create(&threads[cpu], NULL, write_ring, (void *)cpu))
			return 1;
	for (cpu = 0; cpu < NR_RINGS; cpu++)
		pthread_join(threads[cpu], NULL);
	return 0;
}
