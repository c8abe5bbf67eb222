// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: threads RECORDS: the rings of writer.c, RECORDS records each, and two readers
 * with libcmt's code, all of them threads of one process, for ThreadSanitizer: it knows
 * memory by its address, which readers that are processes do not share with the writer.
 * Each reader has some records delivered.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "conserve.h"
#include "ring/ring.h"

#define NR_READERS	2
#define BATCH		256

struct reader {
	uint64_t delivered, lost, torn;
};

static char *image;
static struct cmt_info info = {
	.abi_version = CMT_ABI_VERSION, .instance = INSTANCE, .nr_cpus = NR_RINGS,
	.ring_records = RING_RECORDS, .ring_bytes = RING_BYTES,
};

/* Returns whether the ring is read to its end. */
static bool follow(struct cmt_ring *ring, uint16_t cpu, struct reader *reader)
{
	struct cmt_record records[BATCH], good;
	uint64_t lost, ts;
	int n;

	if (cmt_ring_refresh(ring))
		abort();
	n = cmt_ring_copy(ring, records, BATCH, &lost);
	if (n < 0)
		abort();
	for (int i = 0; i < n; i++) {
		record_make(&good, cpu, ring->pos - (unsigned int)n + (unsigned int)i);
		reader->torn += !!memcmp(&records[i], &good, sizeof(good));
	}
	reader->delivered += (unsigned int)n;
	reader->lost += lost;
	if (ring->pos != ring->head && cmt_ring_ts_at(ring, ring->pos, &ts) == 1)
		reader->torn += ts != ring->pos;
	return ring->state == CMT_RING_OFFLINE && ring->pos == ring->head;
}

static void *read_rings(void *arg)
{
	struct cmt_ring rings[NR_RINGS];
	bool ended[NR_RINGS] = { false };
	unsigned int left = NR_RINGS;

	for (uint16_t cpu = 0; cpu < NR_RINGS; cpu++)
		if (cmt_ring_init(&rings[cpu], image + cpu * RING_BYTES, RING_BYTES, &info,
				  cpu, true))
			abort();
	while (left)
		for (uint16_t cpu = 0; cpu < NR_RINGS; cpu++)
			if (!ended[cpu] && follow(&rings[cpu], cpu, arg)) {
				ended[cpu] = true;
				left--;
			}
	return NULL;
}

int main(int argc, char **argv)
{
	struct reader readers[NR_READERS] = { { 0 } };
	pthread_t threads[NR_READERS];
	uint64_t each = argc == 2 ? strtoull(argv[1], NULL, 0) : 0;
	unsigned int i, bad = 0;

	image = aligned_alloc(4096, NR_RINGS * RING_BYTES);
	if (!each || !image)
		return 2;
	prepare_rings(image);
	for (i = 0; i < NR_READERS; i++)
		if (pthread_create(&threads[i], NULL, read_rings, &readers[i]))
			return 2;
	if (write_rings(each))
		return 2;
	for (i = 0; i < NR_READERS; i++) {
		struct reader *r = &readers[i];

		pthread_join(threads[i], NULL);
		bad += r->delivered + r->lost != each * NR_RINGS || !r->delivered || r->torn;
		printf("# reader %u: delivered %llu, lost %llu, torn %llu\n", i,
		       (unsigned long long)r->delivered, (unsigned long long)r->lost,
		       (unsigned long long)r->torn);
	}
	free(image);
	return bad != 0;
}
