// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The broadcast protocol with real concurrency: one writer that waits for
 * nobody, readers fast and slow.  Every record carries a pattern made of its
 * index, so that one which was torn, mixed up or delivered twice shows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "image.h"
#include "ring/ring.h"
#include "unit.h"

#define RECORDS		256
#define READERS		3
#define WRITES		2000000ULL

static struct cmt_info info;
static void *image;

struct tally {
	struct cmt_ring ring;	/* made before the first record */
	unsigned int batch;	/* records per copy */
	bool slow;		/* lets the writer overrun it */
	uint64_t delivered, lost, torn;
	int err;
};

static uint64_t pattern(uint64_t index, unsigned int word)
{
	return (index + 1) * 0x9e3779b97f4a7c15ULL + word;
}

static void fill(struct cmt_record *record, uint64_t index)
{
	uint64_t words[sizeof(*record) / 8];

	words[0] = index;
	for (unsigned int i = 1; i < sizeof(*record) / 8; i++)
		words[i] = pattern(index, i);
	memcpy(record, words, sizeof(*record));
}

static bool intact(const struct cmt_record *record, uint64_t index)
{
	struct cmt_record good;

	fill(&good, index);
	return !memcmp(record, &good, sizeof(good));
}

static void *writer(void *arg)
{
	for (uint64_t i = 0; i < WRITES; i++) {
		struct cmt_record record;

		fill(&record, i);
		image_put(image, &record);
		/* Give readers a turn on a machine with few CPUs. */
		if (!(i % 997))
			sched_yield();
	}
	return arg;
}

static void *reader(void *arg)
{
	struct tally *tally = arg;
	struct cmt_record records[RECORDS];
	struct cmt_ring *ring = &tally->ring;
	uint64_t lost;
	int n;

	while (ring->pos < WRITES) {
		tally->err = cmt_ring_refresh(ring);
		if (tally->err)
			break;
		if (tally->slow || ring->pos == ring->head)
			sched_yield();
		n = cmt_ring_copy(ring, records, tally->batch, &lost);
		if (n < 0) {
			tally->err = n;
			break;
		}
		for (int i = 0; i < n; i++) {
			uint64_t index = ring->pos - (uint64_t)n + (uint64_t)i;

			tally->torn += !intact(&records[i], index);
		}
		tally->delivered += (uint64_t)n;
		tally->lost += lost;
	}
	return NULL;
}

START_TEST(test_concurrent_intact_and_conserved)
{
	struct tally tallies[READERS] = {
		{ .batch = RECORDS },
		{ .batch = 8 },
		{ .batch = RECORDS, .slow = true },
	};
	pthread_t readers[READERS], writes;

	image_info(&info, 1, RECORDS);
	image = calloc(1, info.ring_bytes);
	image_init(image, &info, 0);
	for (int i = 0; i < READERS; i++) {
		ck_assert_int_eq(cmt_ring_init(&tallies[i].ring, image,
					       info.ring_bytes, &info, 0,
					       false), 0);
		ck_assert_int_eq(pthread_create(&readers[i], NULL, reader,
						&tallies[i]), 0);
	}
	ck_assert_int_eq(pthread_create(&writes, NULL, writer, NULL), 0);
	pthread_join(writes, NULL);
	for (int i = 0; i < READERS; i++) {
		struct tally *tally = &tallies[i];

		pthread_join(readers[i], NULL);
		printf("reader %d: delivered %llu lost %llu\n", i,
		       (unsigned long long)tally->delivered,
		       (unsigned long long)tally->lost);
		ck_assert_int_eq(tally->err, 0);
		ck_assert_uint_eq(tally->torn, 0);
		ck_assert_uint_gt(tally->delivered, 0);
		ck_assert_uint_eq(tally->delivered + tally->lost, WRITES);
	}
	free(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("broadcast");

	UNIT_CASE(suite, test_concurrent_intact_and_conserved);
	return unit_run(suite);
}
