// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What reading costs on the host, beside a reader that sorts the same records with
 * qsort(3) in the same run.  Everything goes through a reader, whose device is
 * fake_device.c: the rings are mapped, their heads are loaded, and owners are asked for.
 *
 *	feed	cmt_reader_feed() into slots
 *	read	cmt_reader_read(), in order
 *	replay	cmt_reader_read(), then cmt_slots_add() of each record
 *
 * The rings have one reading of traffic as it is: per millisecond and CPU one TICK
 * and the CPU's share of samples, and a process that ends and another that begins
 * now and then.  Every figure is the best of many passes, and sorting has its turn
 * in each: noise of the machine only ever adds time.
 *
 * Output: lines "figure KEY VALUE" for report.awk.  Sorting is in ns per record, the
 * others are in percent of it.  The time is the process's own, on a CPU.
 * Exit status 0, or 1 if a record went missing.
 */
#include <cmt/cmt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_device.h"
#include "image.h"

#define MS		1000000ULL
#define T0		(1000 * MS)
#define TOTAL		(1U << 19)	/* records in all rings */
#define RMIDS		256
#define SAMPLES		7		/* per CPU and tick */
#define PASSES		25
#define BATCH		1024
#define MOST_RINGS	256

struct bench {
	uint64_t records;	/* records in all rings */
	uint64_t end;		/* the last time in all rings */
	uint64_t delivered, slots, entries;
};

static void die(const char *what)
{
	fprintf(stderr, "cmt-bench-host: %s\n", what);
	exit(EXIT_FAILURE);
}

/* The CPU time of this process, because other processes run on the machine. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put(struct bench *b, struct cmt_record record)
{
	image_put(fake_ring(record.cpu), &record);
	b->records++;
}

/* An RMID goes from one process to the next, with the next generation. */
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
	/* CPUs tick at slightly different times. */
	uint64_t ts = T0 + ms * MS + 100 * (cpu % 64);
	uint32_t domain = cpu / 64;
	uint32_t rmid = 1 + (uint32_t)((cpu * SAMPLES + ms) % (RMIDS - 8));

	if (ms % fake.nr_rings == cpu)
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
	fake_setup(rings, capacity);
	fake.info.nr_rmids = RMIDS;
	/* as after the first time around a ring */
	fake.populate = true;
	for (uint64_t ms = 1; ms <= ticks; ms++) {
		for (uint32_t cpu = 0; cpu < rings; cpu++)
			put_tick(b, cpu, ms);
	}
	/* Late enough for the last TICK of every ring to be delivered. */
	fake.now = b->end + 10 * MS;
}

static int on_slot(void *ctx, const struct cmt_slot *slot)
{
	struct bench *b = ctx;

	b->slots++;
	b->entries += slot->nr_entries;
	return 0;
}

static struct cmt_slots *new_slots(struct bench *b)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.nr_rmids = RMIDS,
		.nr_cpus = fake.nr_rings,
	};
	struct cmt_slots *slots;

	if (cmt_slots_new(&slots, &opts, on_slot, b))
		die("no memory");
	return slots;
}

enum way { FEED, READ, REPLAY };

static const char *const names[] = { "feed", "read", "replay" };

static uint64_t feed(struct cmt_reader *reader, struct cmt_slots *slots)
{
	uint64_t total = 0;
	int n;

	while ((n = cmt_reader_feed(reader, slots)) > 0)
		total += (unsigned int)n;
	return n ? 0 : total;
}

static uint64_t read_all(struct cmt_reader *reader, struct cmt_slots *slots)
{
	static struct cmt_record records[BATCH];
	uint64_t total = 0;
	int n;

	while ((n = cmt_reader_read(reader, records, BATCH)) > 0) {
		total += (unsigned int)n;
		for (int i = 0; slots && i < n; i++) {
			if (cmt_slots_add(slots, &records[i]))
				die("no memory");
		}
	}
	return n ? 0 : total;
}

/* Returns the elapsed time. */
static uint64_t run_on(struct bench *b, struct cmt_reader *reader, enum way way)
{
	struct cmt_slots *slots = way == READ ? NULL : new_slots(b);
	struct cmt_slots_counts counts = {
		.sz = sizeof(counts), .added = b->records,
	};
	uint64_t begin = now_ns(), total;

	total = way == FEED ? feed(reader, slots) : read_all(reader, slots);
	if (slots && cmt_slots_flush(slots))
		die("a slot was refused");
	begin = now_ns() - begin;
	if (slots)
		cmt_slots_counts(slots, &counts);
	cmt_slots_free(slots);
	if (total != b->records || counts.added != b->records)
		die("records are missing");
	return begin;
}

static uint64_t run(struct bench *b, enum way way)
{
	const struct cmt_reader_opts opts = {
		.sz = sizeof(opts),
		.latency_ns = MS,
		.flags = CMT_READER_OLDEST,
	};
	struct cmt_reader *reader;
	struct cmt_device *dev;
	uint64_t ns;

	if (cmt_device_open(&dev, NULL, 0) ||
	    cmt_reader_new(&reader, dev, &opts))
		die("no reader");
	ns = run_on(b, reader, way);
	cmt_reader_free(reader);
	cmt_device_close(dev);
	return ns;
}

static int cmp_ts(const void *pa, const void *pb)
{
	const struct cmt_record *a = pa, *b = pb;

	return (a->ts > b->ts) - (a->ts < b->ts);
}

/* The records of all rings up to @until: from @next of each ring on. */
static uint32_t take_until(uint64_t until, uint64_t *next, struct cmt_record *records)
{
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < fake.nr_rings; cpu++) {
		const struct cmt_record *ring = image_slots(fake_ring(cpu));
		uint64_t head = image_header(fake_ring(cpu))->head;

		while (next[cpu] < head && ring[next[cpu]].ts <= until)
			records[n++] = ring[next[cpu]++];
	}
	return n;
}

/* The reader that one writes first: each millisecond's records, sorted by the C library. */
static uint64_t run_sort(const struct bench *b)
{
	static struct cmt_record records[MOST_RINGS * (SAMPLES + 3)];
	uint64_t next[MOST_RINGS] = { 0 }, total = 0, begin = now_ns();

	for (uint64_t until = T0 + MS / 2; total < b->records; until += MS) {
		uint32_t n = take_until(until, next, records);

		qsort(records, n, sizeof(records[0]), cmp_ts);
		/* The compiler must not drop it. */
		__asm__ volatile("" : : "r"(records) : "memory");
		total += n;
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
	uint64_t best[REPLAY + 1] = { 0 }, sort = 0;
	struct bench b;
	double n;

	bench_fill(&b, rings);
	n = (double)b.records;
	for (int pass = 0; pass < PASSES; pass++) {
		least(&sort, run_sort(&b));
		for (enum way way = FEED; way <= REPLAY; way++)
			least(&best[way], run(&b, way));
	}
	printf("figure host_sort_%u %.2f\n", rings, (double)sort / n);
	for (enum way way = FEED; way <= REPLAY; way++)
		printf("figure host_%s_%u %.1f\n", names[way], rings,
		       100 * (double)best[way] / (double)sort);
	fake_teardown();
}

int main(void)
{
	bench(8);
	bench(MOST_RINGS);
	return EXIT_SUCCESS;
}
