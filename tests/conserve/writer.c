// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: writer FILE RECORDS: writes RECORDS records to each ring in FILE with
 * module/ring/writer.c, one thread to a ring, and waits for no reader.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conserve.h"
#include "ring/writer.h"

#define YIELD_EVERY	997	/* readers have a turn on a machine with few CPUs */

static uint64_t records;

static struct cmt_ring writers[NR_RINGS];

static void *write_ring(void *arg)
{
	uint16_t cpu = (uintptr_t)arg;
	struct cmt_ring *ring = &writers[cpu];
	struct cmt_record record;
	uint64_t i;

	cmt_ring_set_state(ring, CMT_RING_ONLINE);
	for (i = 0; i < records; i++) {
		record_make(&record, cpu, i);
		cmt_ring_write(ring, &record);
		if (!(i % YIELD_EVERY))
			sched_yield();
	}
	cmt_ring_set_state(ring, CMT_RING_OFFLINE);
	return NULL;
}

void prepare_rings(char *at)
{
	uint16_t cpu;

	for (cpu = 0; cpu < NR_RINGS; cpu++, at += RING_BYTES) {
		cmt_ring_init(&writers[cpu], (struct cmt_ring_header *)at, cpu,
			      RING_RECORDS, INSTANCE);
		writers[cpu].slots = (struct cmt_record *)(at + CMT_RING_DATA_OFFSET);
	}
}

int write_rings(uint64_t each)
{
	pthread_t threads[NR_RINGS];
	uintptr_t cpu;

	records = each;
	for (cpu = 0; cpu < NR_RINGS; cpu++)
		if (pthread_create(&threads[cpu], NULL, write_ring, (void *)cpu))
			return 1;
	for (cpu = 0; cpu < NR_RINGS; cpu++)
		pthread_join(threads[cpu], NULL);
	return 0;
}

#ifndef CONSERVE_THREADS
int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0) {
		perror("writer: FILE RECORDS");
		return 2;
	}
	at = mmap(NULL, NR_RINGS * RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror("writer: mmap");
		return 1;
	}
	prepare_rings(at);
	return write_rings(strtoull(argv[2], NULL, 0));
}
#endif
