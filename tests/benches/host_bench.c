// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records per second through merge, tracker and slots, on the host, beside a
 * plain memcpy of the same bytes in the same run.
 *
 * The rings are images in memory with one reading of traffic as it is: per
 * millisecond and CPU one TICK and the CPU's share of samples, and a process
 * that ends and another that begins now and then.  Every figure is the best of
 * some passes: noise of the machine only ever adds time.
 *
 * Output, one line per number of rings, times in ns per record:
 *   rings=8 records=... mrec_per_s=... ns=... merge_ns=... memcpy_ns=... ratio=...
 * ratio is ns / memcpy_ns.  Exit status 0, or 1 if a record went missing.
 */
#include <cmt/cmt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image.h"
#include "merge.h"

#define MS		1000000ULL
#define T0		(1000 * MS)
#define TOTAL		(1U << 19)	/* records in all rings */
#define RMIDS		256
#define SAMPLES		7		/* per CPU and tick */
#define PASSES		7
#define BATCH		1024

struct bench {
	struct cmt_info info;
	char *images;
	uint64_t records;	/* in all rings */
	uint64_t end;		/* the last time in them */
	uint64_t delivered, slots, entries;
};

static void die(const char *what)
{
	fprintf(stderr, "cmt-bench-host: %s\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *image(const struct bench *b, uint32_t cpu)
{
	return b->images + cpu * b->info.ring_bytes;
}

static void put(struct bench *b, struct cmt_record record)
{
	image_put(image(b, record.cpu), &record);
	b->records++;
}

/* One RMID goes from one process to the next; its generation says so. */
static void put_change(struct bench *b, uint32_t cpu, uint64_t ts, uint64_t ms)
{
	uint32_t rmid = 1 + (uint32_t)(ms % (RMIDS - 1));
	uint32_t generation = 1 + (uint32_t)(ms / (RMIDS - 1));

	if (generation > 1)
		put(b, image_event(CMT_REC_FREE, cpu, ts, rmid,
				   generation - 1));
	put(b, image_event(CMT_REC_ALLOC, cpu, ts + 10, rmid, generation));
}

static uint32_t generation_at(uint32_t rmid, uint64_t ms)
{
	uint64_t first = rmid - 1;

	return ms < first ? 1 : 1 + (uint32_t)((ms - first) / (RMIDS - 1));
}

static void put_tick(struct bench *b, uint32_t cpu, uint64_t ms)
{
	/* CPUs fire a little apart. */
	uint64_t ts = T0 + ms * MS + 100 * (cpu % 64);
	uint32_t domain = cpu / 64;
	uint32_t rmid = 1 + (uint32_t)((cpu * SAMPLES + ms) % (RMIDS - 8));

	if (ms % b->info.nr_cpus == cpu)
		put_change(b, cpu, ts - 50000, ms);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct cmt_record record =
			image_sample(cpu, ts + i * 150, rmid + i,
				     generation_at(rmid + i, ms));

		record.domain = domain;
		put(b, record);
	}
	put(b, image_tick(cpu, ts + SAMPLES * 150));
	b->end = ts + SAMPLES * 150;
}

static void bench_fill(struct bench *b, uint32_t rings)
{
	uint32_t capacity = 2 * TOTAL / rings;
	uint64_t ticks;

	if (capacity > 65536)
		capacity = 65536;
	ticks = (capacity - 1) / (SAMPLES + 1 + 1);
	memset(b, 0, sizeof(*b));
	image_info(&b->info, rings, capacity);
	b->info.nr_rmids = RMIDS;
	b->images = calloc(rings, b->info.ring_bytes);
	if (!b->images)
		die("no memory");
	for (uint32_t cpu = 0; cpu < rings; cpu++)
		image_init(image(b, cpu), &b->info, cpu);
	for (uint64_t ms = 1; ms <= ticks; ms++) {
		for (uint32_t cpu = 0; cpu < rings; cpu++)
			put_tick(b, cpu, ms);
	}
}

static void on_slot(void *ctx, const struct cmt_slot *slot)
{
	struct bench *b = ctx;

	b->slots++;
	b->entries += slot->nr_entries;
}

static struct cmt_merge *new_merge(const struct bench *b)
{
	struct cmt_merge *merge;

	if (cmt_merge_new(&merge, &b->info, MS))
		die("no memory");
	for (uint32_t cpu = 0; cpu < b->info.nr_cpus; cpu++) {
		if (cmt_merge_add(merge, image(b, cpu), b->info.ring_bytes,
				  true))
			die("a ring is wrong");
	}
	return merge;
}

/* @slots NULL: the merge alone.  Returns the time it took. */
static uint64_t run(struct bench *b, struct cmt_slots *slots)
{
	static struct cmt_record records[BATCH];
	struct cmt_merge *merge = new_merge(b);
	uint64_t begin = now_ns();
	int n;

	b->delivered = 0;
	/* Late enough for the last tick of every ring to come out. */
	while ((n = cmt_merge_read(merge, records, BATCH, b->end + 2 * MS)) > 0) {
		b->delivered += (uint64_t)n;
		for (int i = 0; slots && i < n; i++) {
			if (cmt_slots_add(slots, &records[i]))
				die("no memory");
		}
	}
	if (slots)
		cmt_slots_flush(slots);
	begin = now_ns() - begin;
	cmt_merge_free(merge);
	if (n < 0 || b->delivered != b->records)
		die("records are missing");
	return begin;
}

static uint64_t run_all(struct bench *b)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.nr_rmids = b->info.nr_rmids,
		.nr_cpus = b->info.nr_cpus,
	};
	struct cmt_slots_counts counts;
	struct cmt_slots *slots;
	uint64_t ns;

	if (cmt_slots_new(&slots, &opts, on_slot, b))
		die("no memory");
	ns = run(b, slots);
	cmt_slots_counts(slots, &counts);
	if (counts.added != b->records)
		die("the slots did not take all records");
	cmt_slots_free(slots);
	return ns;
}

static uint64_t run_memcpy(const struct bench *b)
{
	static struct cmt_record records[BATCH];
	uint64_t begin = now_ns();

	for (uint32_t cpu = 0; cpu < b->info.nr_cpus; cpu++) {
		uint64_t n = image_header(image(b, cpu))->head, i, k;

		for (i = 0; i < n; i += k) {
			k = n - i < BATCH ? n - i : BATCH;
			memcpy(records, image_slots(image(b, cpu)) + i,
			       k * sizeof(records[0]));
			/* The copy is wanted. */
			__asm__ volatile("" : : "r"(records) : "memory");
		}
	}
	return now_ns() - begin;
}

static void least(uint64_t *best, uint64_t ns)
{
	if (!*best || ns < *best)
		*best = ns;
}

static void bench(uint32_t rings)
{
	uint64_t all = 0, merge = 0, copy = 0;
	struct bench b;
	double n;

	bench_fill(&b, rings);
	for (int pass = 0; pass < PASSES; pass++) {
		least(&copy, run_memcpy(&b));
		least(&merge, run(&b, NULL));
		least(&all, run_all(&b));
	}
	n = (double)b.records;
	printf("rings=%u records=%.0f mrec_per_s=%.1f ns=%.1f merge_ns=%.1f memcpy_ns=%.1f ratio=%.1f\n",
	       rings, n, n / (double)all * 1000, (double)all / n,
	       (double)merge / n, (double)copy / n,
	       (double)all / (double)copy);
	free(b.images);
}

int main(void)
{
	bench(8);
	bench(256);
	return EXIT_SUCCESS;
}
