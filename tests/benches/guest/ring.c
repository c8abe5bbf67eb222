// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmt_ring_write() of module/ring/writer.c, linked in.  It is compiled without vector
 * registers, as the kernel is.  The kernel's copy also has a call of ftrace, which is
 * patched out.
 */
#include <stdlib.h>

#include "bench.h"
#include "ring/writer.h"

#define ROUNDS	15
#define RECORDS	4096
#define WRITES	20000	/* takes less than the 4 ms between two clock ticks */

static double loop(struct cmt_ring *ring, struct cmt_record *record)
{
	uint64_t start = instructions();
	unsigned int i;

	for (i = 0; i < WRITES; i++) {
		record->ts = i;
		__asm__ volatile("" : : "r"(ring), "r"(record) : "memory");
	}
	return instructions() - start;
}

static double loop_write(struct cmt_ring *ring, struct cmt_record *record)
{
	uint64_t start = instructions();
	unsigned int i;

	for (i = 0; i < WRITES; i++) {
		record->ts = ring->last_ts + 1;
		cmt_ring_write(ring, record);
	}
	return instructions() - start;
}

void bench_ring(void)
{
	struct cmt_ring_header *header = aligned_alloc(4096, 4096);
	struct cmt_record *slots = aligned_alloc(64, RECORDS * sizeof(*slots));
	struct cmt_record record = { .type = CMT_REC_SAMPLE };
	double with[ROUNDS], without[ROUNDS];
	struct cmt_ring ring;
	int i;

	if (!header || !slots)
		die("no memory");
	cmt_ring_init(&ring, header, 0, RECORDS, 1);
	ring.slots = slots;
	loop_write(&ring, &record);
	for (i = 0; i < ROUNDS; i++) {
		without[i] = loop(&ring, &record);
		with[i] = loop_write(&ring, &record);
	}
	if (header->head != (ROUNDS + 1) * WRITES)
		die("the ring's head is not the number of records written");
	figure("ring_record",
	       (median(with, ROUNDS) - median(without, ROUNDS)) / WRITES);
	free(slots);
	free(header);
}
