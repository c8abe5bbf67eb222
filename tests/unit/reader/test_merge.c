// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of records over rings, completeness, latency and accounting. */
#include <errno.h>
#include <stdlib.h>

#include "image.h"
#include "reader/merge.h"
#include "unit.h"

#define RECORDS		64
#define LATENCY		1000000000ULL
#define T0		5000000000ULL	/* well after the first latency */
#define OUT_MAX		65536

static struct image_rings rings;
static struct cmt_sources *sources;
static struct cmt_merge *merge;
static struct cmt_record *out;

static void setup(uint32_t nr_cpus, uint32_t records)
{
	image_rings_new(&rings, nr_cpus, records);
	out = calloc(OUT_MAX, sizeof(*out));
}

static long callocs_left = -1;	/* so many succeed, and one fails */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return callocs_left >= 0 && !callocs_left-- ? NULL : __real_calloc(n, size);
}

static void merge_start(bool oldest)
{
	ck_assert_int_eq(cmt_sources_new(&sources, &rings.info, LATENCY), 0);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	for (uint32_t cpu = 0; cpu < rings.info.nr_cpus; cpu++)
		ck_assert_int_eq(cmt_sources_add(sources,
						 image_ring(&rings, cpu),
						 rings.info.ring_bytes, oldest), 0);
}

static void start(uint32_t nr_cpus)
{
	setup(nr_cpus, RECORDS);
	merge_start(false);
}

static void stop(void)
{
	cmt_merge_free(merge);
	cmt_sources_free(sources);
	image_rings_free(&rings);
	free(out);
}

static void tick(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_tick(cpu, ts);

	image_put(image_ring(&rings, cpu), &record);
}

static void sample(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_sample(cpu, ts, 1, 1);

	image_put(image_ring(&rings, cpu), &record);
}

static void event(uint16_t type, uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_event(type, cpu, ts, 0, 0);

	image_put(image_ring(&rings, cpu), &record);
}

static int read_n_at(unsigned int n, uint64_t now)
{
	cmt_sources_now(sources, now);
	return cmt_merge_read(merge, out, n);
}

static int read_at(uint64_t now)
{
	return read_n_at(OUT_MAX, now);
}

static struct cmt_reader_counts counts(uint32_t cpu)
{
	struct cmt_reader_counts c;

	cmt_sources_counts(sources, cpu, &c);
	ck_assert_uint_eq(c.emitted, c.delivered + c.lost + c.late +
			  c.malformed + c.pending);
	return c;
}

static void check_ordered(int n)
{
	for (int i = 1; i < n; i++) {
		ck_assert_uint_le(out[i - 1].ts, out[i].ts);
		if (out[i - 1].ts == out[i].ts)
			ck_assert_uint_le(out[i - 1].cpu, out[i].cpu);
	}
}

START_TEST(test_order_ts_cpu_index)
{
	start(3);
	sample(2, T0);
	tick(2, T0 + 9);
	sample(1, T0 + 1);
	sample(1, T0 + 1);
	tick(1, T0 + 9);
	sample(0, T0 + 1);
	tick(0, T0 + 9);
	ck_assert_int_eq(read_at(T0 + 10), 5);
	ck_assert_uint_eq(out[0].cpu, 2);
	ck_assert_uint_eq(out[1].cpu, 0);
	ck_assert_uint_eq(out[2].cpu, 1);
	ck_assert_uint_eq(out[3].cpu, 1);
	/* T0 + 9: CPU 0 may come out, CPU 1 waits for CPU 0's next. */
	ck_assert_uint_eq(out[4].ts, T0 + 9);
	ck_assert_uint_eq(out[4].cpu, 0);
	stop();
}
END_TEST

START_TEST(test_complete_waits_for_silent_ring)
{
	start(2);
	sample(0, T0);
	tick(0, T0 + 10);
	ck_assert_int_eq(read_at(T0 + 20), 0);
	tick(1, T0 + 5);
	ck_assert_int_eq(read_at(T0 + 20), 2);
	ck_assert_uint_eq(out[0].ts, T0);
	ck_assert_uint_eq(out[1].ts, T0 + 5);
	ck_assert_uint_eq(counts(0).pending, 1);
	tick(1, T0 + 15);
	ck_assert_int_eq(read_at(T0 + 20), 1);
	ck_assert_uint_eq(out[0].ts, T0 + 10);
	stop();
}
END_TEST

START_TEST(test_latency_bounds_wait)
{
	start(2);
	sample(0, T0);
	ck_assert_int_eq(read_at(T0 + LATENCY), 1);
	stop();

	start(2);
	sample(1, T0);
	ck_assert_int_eq(read_at(T0 + LATENCY - 1), 0);
	ck_assert_int_eq(read_at(T0 + LATENCY), 0);
	ck_assert_int_eq(read_at(T0 + LATENCY + 1), 1);
	stop();
}
END_TEST

START_TEST(test_late_counted_and_dropped)
{
	start(2);
	sample(0, T0);
	ck_assert_int_eq(read_at(T0 + LATENCY), 1);
	sample(1, T0 - 7);
	sample(1, T0 - 6);
	sample(1, T0);
	tick(1, T0 + 5);
	tick(0, T0 + 9);
	ck_assert_int_eq(read_at(T0 + LATENCY), 2);
	ck_assert_uint_eq(out[0].ts, T0);
	ck_assert_uint_eq(out[1].ts, T0 + 5);
	ck_assert_uint_eq(counts(1).late, 2);
	ck_assert_uint_eq(counts(1).delivered, 2);
	ck_assert_uint_eq(counts(1).pending, 0);
	stop();
}
END_TEST

/* A reader that slept longer than the latency drops nothing. */
START_TEST(test_late_not_by_own_sleep)
{
	start(2);
	for (int i = 0; i < 20; i++) {
		tick(0, T0 + 10 * (uint64_t)i);
		sample(1, T0 + 10 * (uint64_t)i + 5);
	}
	ck_assert_int_eq(read_at(T0 + 100 * LATENCY), 40);
	check_ordered(40);
	ck_assert_uint_eq(counts(0).late + counts(1).late, 0);
	stop();
}
END_TEST

START_TEST(test_offline_not_waited_for)
{
	start(2);
	event(CMT_REC_CPU_OFFLINE, 1, T0);
	image_header(image_ring(&rings, 1))->state = CMT_RING_OFFLINE;
	sample(0, T0 + 5);
	ck_assert_int_eq(read_at(T0 + 10), 2);
	ck_assert_uint_eq(out[1].ts, T0 + 5);

	image_header(image_ring(&rings, 1))->state = CMT_RING_ONLINE;
	event(CMT_REC_CPU_ONLINE, 1, T0 + 20);
	sample(0, T0 + 30);
	ck_assert_int_eq(read_at(T0 + 40), 1);
	ck_assert_uint_eq(out[0].type, CMT_REC_CPU_ONLINE);
	stop();
}
END_TEST

/* The state is set, but the last record is not CPU_OFFLINE: it is coming. */
START_TEST(test_offline_last_record_awaited)
{
	start(2);
	tick(1, T0);
	image_header(image_ring(&rings, 1))->state = CMT_RING_OFFLINE;
	sample(0, T0 + 5);
	ck_assert_int_eq(read_at(T0 + 10), 1);
	event(CMT_REC_CPU_OFFLINE, 1, T0 + 4);
	ck_assert_int_eq(read_at(T0 + 10), 2);
	ck_assert_uint_eq(out[0].ts, T0 + 4);
	stop();
}
END_TEST

/* No TICK comes from an excluded CPU: it is not waited for as long as others. */
START_TEST(test_quiet_waited_for_shortly)
{
	start(2);
	image_header(image_ring(&rings, 1))->state = CMT_RING_QUIET;
	sample(0, T0);
	ck_assert_int_eq(read_at(T0 + CMT_QUIET_NS - 1), 0);
	sample(1, T0 - 1);
	ck_assert_int_eq(read_at(T0 + CMT_QUIET_NS), 2);
	ck_assert_uint_eq(out[0].ts, T0 - 1);
	/* an online one is */
	image_header(image_ring(&rings, 1))->state = CMT_RING_ONLINE;
	sample(0, T0 + 20);
	ck_assert_int_eq(read_at(T0 + 2 * CMT_QUIET_NS), 0);
	stop();
}
END_TEST

START_TEST(test_absent_picked_up_in_order)
{
	start(2);
	image_header(image_ring(&rings, 1))->state = CMT_RING_ABSENT;
	sample(0, T0);
	sample(0, T0 + 50);
	/* Not T0 + 50: the absent ring is complete up to the clock only. */
	ck_assert_int_eq(read_at(T0 + 20), 1);

	image_header(image_ring(&rings, 1))->state = CMT_RING_ONLINE;
	event(CMT_REC_CPU_ONLINE, 1, T0 + 30);
	tick(1, T0 + 60);
	ck_assert_int_eq(read_at(T0 + 70), 2);
	ck_assert_uint_eq(out[0].ts, T0 + 30);
	ck_assert_uint_eq(out[1].ts, T0 + 50);
	ck_assert_uint_eq(counts(1).late, 0);
	stop();
}
END_TEST

/* A CPU without memory for its ring counts its records: they are lost, owners among them. */
START_TEST(test_unwritten_lost)
{
	struct cmt_ring_header *header;

	start(2);
	header = image_header(image_ring(&rings, 1));
	header->state = CMT_RING_ABSENT;
	sample(0, T0);
	ck_assert_int_eq(read_at(T0 + 20), 1);
	header->unwritten = 3;
	sample(0, T0 + 30);
	ck_assert_int_eq(read_at(T0 + 40), 2);
	ck_assert_uint_eq(out[0].type, CMT_REC_LOST);
	ck_assert_uint_eq(out[0].cpu, 1);
	ck_assert_uint_eq(cmt_record_lost(&out[0]), 3);
	ck_assert_uint_eq(counts(1).lost, 3);
	ck_assert_uint_eq(counts(1).emitted, 3);
	/* then it comes online again, and there is memory */
	header->unwritten = 5;
	header->state = CMT_RING_ONLINE;
	event(CMT_REC_CPU_ONLINE, 1, T0 + 50);
	tick(0, T0 + 60);
	ck_assert_int_eq(read_at(T0 + 60 + LATENCY), 3);
	ck_assert_uint_eq(cmt_record_lost(&out[0]), 2);
	ck_assert_uint_eq(counts(1).lost, 5);
	ck_assert_uint_eq(counts(1).emitted, 6);
	ck_assert_uint_eq(counts(1).delivered, 1);
	stop();
}
END_TEST

START_TEST(test_lost_delivered_and_counted)
{
	start(2);
	tick(0, T0);
	tick(1, T0);
	ck_assert_int_eq(read_at(T0), 1);
	for (uint64_t i = 1; i <= 100; i++)
		tick(1, T0 + i);
	tick(0, T0 + 200);
	ck_assert_int_eq(read_at(T0 + 200), 1 + RECORDS - 1 + 1);
	/* CPU 1's first tick was copied before. */
	ck_assert_uint_eq(out[0].cpu, 1);
	ck_assert_uint_eq(out[0].ts, T0);
	ck_assert_uint_eq(out[1].type, CMT_REC_LOST);
	ck_assert_uint_eq(out[1].cpu, 1);
	ck_assert_uint_eq(out[1].ts, T0);
	ck_assert_uint_eq(cmt_record_lost(&out[1]), 100 - (RECORDS - 1));
	ck_assert_uint_eq(out[2].ts, T0 + 100 - (RECORDS - 1) + 1);
	ck_assert_uint_eq(counts(1).lost, 100 - (RECORDS - 1));
	ck_assert_uint_eq(counts(1).delivered, 1 + RECORDS - 1);
	ck_assert_uint_eq(counts(1).pending, 0);
	/* The next loss is told alone. */
	for (uint64_t i = 0; i < RECORDS; i++)
		tick(1, T0 + 300 + i);
	ck_assert_int_gt(read_at(T0 + 400), 1);
	ck_assert_uint_eq(out[0].type, CMT_REC_LOST);
	ck_assert_uint_eq(out[0].ts, T0 + 100);
	ck_assert_uint_eq(cmt_record_lost(&out[0]), 1);
	stop();
}
END_TEST

START_TEST(test_lost_at_start_ts_zero)
{
	start(1);
	for (uint64_t i = 0; i < 2 * RECORDS; i++)
		tick(0, T0 + i);
	ck_assert_int_eq(read_n_at(1, T0 + 2 * RECORDS), 1);
	ck_assert_uint_eq(out[0].type, CMT_REC_LOST);
	ck_assert_uint_eq(out[0].ts, 0);
	ck_assert_uint_eq(cmt_record_lost(&out[0]), RECORDS + 1);
	stop();
}
END_TEST

START_TEST(test_malformed_skipped)
{
	struct cmt_record bad;

	start(1);
	tick(0, T0);
	bad = image_tick(3, T0 + 1);		/* another CPU */
	image_put(image_ring(&rings, 0), &bad);
	bad = image_sample(0, T0 + 1, 64, 1);	/* RMID out of range */
	image_put(image_ring(&rings, 0), &bad);
	bad = image_tick(0, T0 - 1);		/* back in time */
	image_put(image_ring(&rings, 0), &bad);
	bad = (struct cmt_record){ 0 };		/* never written */
	image_put(image_ring(&rings, 0), &bad);
	bad = image_tick(0, T0 + 1);		/* the library's own type */
	bad.type = CMT_REC_LOST;
	image_put(image_ring(&rings, 0), &bad);
	bad = image_tick(0, T0 + 1);		/* unknown: not malformed */
	bad.type = 999;
	image_put(image_ring(&rings, 0), &bad);
	tick(0, T0 + 2);
	ck_assert_int_eq(read_at(T0 + 10), 3);
	ck_assert_uint_eq(out[1].type, 999);
	ck_assert_uint_eq(out[2].ts, T0 + 2);
	ck_assert_uint_eq(counts(0).malformed, 5);
	ck_assert_uint_eq(counts(0).pending, 0);
	stop();
}
END_TEST

/* One record far ahead of the clock must not stop its ring for ever. */
START_TEST(test_future_record_malformed)
{
	start(1);
	tick(0, T0);
	tick(0, T0 + (1ULL << 60));
	tick(0, T0 + 1);
	ck_assert_int_eq(read_at(T0 + 1), 1);
	ck_assert_uint_eq(counts(0).pending, 2);
	ck_assert_int_eq(read_at(T0 + 2), 1);
	ck_assert_uint_eq(out[0].ts, T0 + 1);
	ck_assert_uint_eq(counts(0).malformed, 1);
	ck_assert_uint_eq(counts(0).pending, 0);
	stop();
}
END_TEST

/* The clock was read long before the copy: the record is good, and waits. */
START_TEST(test_future_record_waits_for_clock)
{
	uint64_t later = T0 + 2 * CMT_AHEAD_NS;

	start(1);
	tick(0, later);
	ck_assert_int_eq(read_at(T0), 0);
	ck_assert_int_eq(read_at(T0), 0);
	ck_assert_int_eq(read_at(later), 1);
	ck_assert_uint_eq(counts(0).malformed, 0);
	stop();
}
END_TEST

START_TEST(test_corrupt_head_sticky)
{
	start(2);
	tick(0, T0);
	tick(1, T0);
	ck_assert_int_eq(read_at(T0), 1);
	image_header(image_ring(&rings, 0))->head = 0;
	ck_assert_int_eq(read_at(T0), -EPROTO);
	image_header(image_ring(&rings, 0))->head = 1;
	ck_assert_int_eq(read_at(T0), -EPROTO);
	stop();
}
END_TEST

/* A head that jumps over a ring of junk: all counted, and it ends. */
START_TEST(test_corrupt_junk_ends)
{
	start(2);
	memset(image_slots(image_ring(&rings, 1)), 0xa5,
	       RECORDS * sizeof(struct cmt_record));
	image_header(image_ring(&rings, 1))->head = 1000000;
	tick(0, T0);
	ck_assert_int_eq(read_at(T0), 1);
	ck_assert_uint_eq(out[0].type, CMT_REC_LOST);
	for (uint64_t i = 1; i < 2 * RECORDS; i++)
		read_at(T0 + i);
	ck_assert_uint_eq(counts(1).emitted, 1000000);
	ck_assert_uint_eq(counts(1).lost, 1000000 - (RECORDS - 1));
	ck_assert_uint_eq(counts(1).malformed, RECORDS - 1);
	ck_assert_uint_eq(counts(1).pending, 0);
	stop();
}
END_TEST

START_TEST(test_ts_wraps_modulo)
{
	uint64_t t = UINT64_MAX - 4;

	start(2);
	for (uint64_t i = 0; i < 10; i++)
		tick(i & 1, t + i);
	ck_assert_int_eq(read_at(t + 10), 9);
	for (uint64_t i = 0; i < 9; i++)
		ck_assert_uint_eq(out[i].ts, t + i);
	stop();
}
END_TEST

/* Keys hold 78 hours: what is later waits for a tree with another base. */
START_TEST(test_ts_far_apart)
{
	const uint64_t far = 1ULL << 48;

	start(3);
	for (uint64_t i = 0; i < 12; i++) {
		uint64_t ts = T0 + i / 3 * far + i;

		tick((uint32_t)(i * 2 % 3), ts);
	}
	tick(0, T0 + 9 * far);
	ck_assert_int_eq(read_at(T0 + 10 * far), 13);
	for (uint64_t i = 0; i < 12; i++)
		ck_assert_uint_eq(out[i].ts, T0 + i / 3 * far + i);
	ck_assert_uint_eq(out[12].ts, T0 + 9 * far);
	stop();
}
END_TEST

static int by_ts_and_cpu(const void *p, const void *q)
{
	const struct cmt_record *a = p, *b = q;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (int)a->cpu - (int)b->cpu;
}

/* Many batches of every ring, times that are equal, and readings of any size. */
START_TEST(test_random_parts)
{
	enum { CPUS = 5, EACH = 1000 };
	static struct cmt_record want[CPUS * EACH];
	unsigned int seed = 7, got = 0;
	const uint64_t end = T0 + 4 * EACH;

	setup(CPUS, 1024);
	merge_start(false);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t ts = T0;

		for (uint32_t i = 0; i < EACH; i++) {
			ts += (unsigned int)rand_r(&seed) % 4;
			want[cpu * EACH + i] = image_tick(cpu, ts);
			image_put(image_ring(&rings, cpu),
				  &want[cpu * EACH + i]);
		}
	}
	qsort(want, CPUS * EACH, sizeof(want[0]), by_ts_and_cpu);
	while (got < CPUS * EACH) {
		unsigned int n = 1 + (unsigned int)rand_r(&seed) % 300;
		int ret = read_n_at(n, end + LATENCY + 1);

		ck_assert_int_gt(ret, 0);
		ck_assert_int_eq(memcmp(out, want + got,
					(unsigned int)ret * sizeof(*out)), 0);
		got += (unsigned int)ret;
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		ck_assert_uint_eq(counts(cpu).delivered, EACH);
	stop();
}
END_TEST

START_TEST(test_read_small_buffers)
{
	uint64_t last = 0;
	int n = 0;

	start(4);
	for (uint64_t i = 0; i < 160; i++)
		tick(i & 3, T0 + i / 3);
	while (read_n_at(1, T0 + 1000) == 1) {
		ck_assert_uint_le(last, out[0].ts);
		last = out[0].ts;
		n++;
	}
	ck_assert_int_ge(n, 150);
	ck_assert_int_eq(read_n_at(0, T0 + 1000), 0);
	stop();
}
END_TEST

/* 256 rings, random traffic, several readings: ordered, and all there. */
START_TEST(test_random_256_rings)
{
	uint64_t now = T0, last = 0, total = 0, got = 0;
	unsigned int seed = 42;

	setup(256, 1024);
	merge_start(false);
	for (int round = 0; round < 50; round++) {
		for (uint32_t cpu = 0; cpu < 256; cpu++) {
			uint64_t ts = now;
			unsigned int k = (unsigned int)rand_r(&seed) % 8;

			while (k--) {
				ts += (unsigned int)rand_r(&seed) % 1000;
				sample(cpu, ts);
				total++;
			}
			tick(cpu, now + 10000);
			total++;
		}
		now += 10000;
		int n = read_at(now);

		ck_assert_int_gt(n, 0);
		check_ordered(n);
		ck_assert_uint_le(last, out[0].ts);
		last = out[n - 1].ts;
		got += (uint64_t)n;
	}
	/* Of the last ticks CPU 0's came out; the others wait for its next. */
	ck_assert_uint_eq(got, total - 255);
	stop();
}
END_TEST

/* Whichever of its parts has no memory. */
START_TEST(test_no_memory)
{
	struct cmt_merge *none = NULL;

	start(2);
	for (long left = 0; left < 6; left++) {
		int ret;

		callocs_left = left;
		ret = cmt_merge_new(&none, sources);
		callocs_left = -1;
		ck_assert_int_eq(ret, -ENOMEM);
		ck_assert_ptr_null(none);
	}
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");

	UNIT_CASE(suite, test_order_ts_cpu_index);
	UNIT_CASE(suite, test_complete_waits_for_silent_ring);
	UNIT_CASE(suite, test_latency_bounds_wait);
	UNIT_CASE(suite, test_late_counted_and_dropped);
	UNIT_CASE(suite, test_late_not_by_own_sleep);
	UNIT_CASE(suite, test_offline_not_waited_for);
	UNIT_CASE(suite, test_offline_last_record_awaited);
	UNIT_CASE(suite, test_quiet_waited_for_shortly);
	UNIT_CASE(suite, test_absent_picked_up_in_order);
	UNIT_CASE(suite, test_unwritten_lost);
	UNIT_CASE(suite, test_lost_delivered_and_counted);
	UNIT_CASE(suite, test_lost_at_start_ts_zero);
	UNIT_CASE(suite, test_malformed_skipped);
	UNIT_CASE(suite, test_future_record_malformed);
	UNIT_CASE(suite, test_future_record_waits_for_clock);
	UNIT_CASE(suite, test_corrupt_head_sticky);
	UNIT_CASE(suite, test_corrupt_junk_ends);
	UNIT_CASE(suite, test_ts_wraps_modulo);
	UNIT_CASE(suite, test_ts_far_apart);
	UNIT_CASE(suite, test_random_parts);
	UNIT_CASE(suite, test_read_small_buffers);
	UNIT_CASE(suite, test_random_256_rings);
	UNIT_CASE(suite, test_no_memory);
	return unit_run(suite);
}
