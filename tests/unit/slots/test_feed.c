// SPDX-License-Identifier: GPL-2.0-or-later
/* The feed: records of rings into slots, in no order among the rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots/feed.h"
#include "slots/window.h"
#include "image.h"
#include "reader/merge.h"
#include "unit.h"

#define MS		1000000ULL
#define RECORDS		1024
#define LATENCY		(50 * MS)
#define T0		(5000 * MS)
#define OUT_MAX		4096

static struct image_rings rings;
static struct cmt_sources *sources;
static struct cmt_slots *slots;

/* What was handed out, copied. */
struct out {
	uint64_t start, lost;
	uint32_t nr_entries, nr_cpus, gaps;
	struct cmt_slot_entry entries[64];
	struct cmt_slot_cpu cpus[8];
	uint64_t tgids;		/* of the owners, added up */
	uint64_t nr_perf, cycles;
};

static struct out *outs;
static unsigned int nr_outs, stop_at;

static int collect(void *ctx, const struct cmt_slot *slot)
{
	struct out *out = &outs[nr_outs++];

	(void)ctx;
	ck_assert_uint_le(nr_outs, OUT_MAX);
	ck_assert_uint_le(slot->nr_entries, 64);
	memset(out, 0, sizeof(*out));
	out->start = slot->start_ns;
	out->lost = slot->lost;
	out->gaps = slot->gaps;
	out->nr_entries = slot->nr_entries;
	out->nr_cpus = slot->nr_cpus;
	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		out->entries[i] = *cmt_slot_entry_at(slot, i);
		if (out->entries[i].owner)
			out->tgids += (i + 1) * out->entries[i].owner->tgid;
		out->entries[i].owner = NULL;
	}
	for (uint32_t i = 0; i < slot->nr_cpus; i++) {
		out->cpus[i] = *cmt_slot_cpu_at(slot, i);
		out->cpus[i].owner = NULL;
	}
	out->nr_perf = slot->nr_perf;
	for (uint32_t i = 0; i < slot->nr_perf; i++)
		out->cycles += cmt_slot_perf_at(slot, i)->cycles;
	return stop_at && nr_outs == stop_at ? -42 : 0;
}

static void setup(uint32_t nr_cpus, uint32_t records)
{
	image_rings_new(&rings, nr_cpus, records);
	outs = calloc(OUT_MAX, sizeof(*outs));
	nr_outs = 0;
	stop_at = 0;
}

static void read_begin(bool oldest)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = rings.info.nr_rmids,
		.nr_cpus = rings.info.nr_cpus,
	};

	ck_assert_int_eq(cmt_sources_new(&sources, &rings.info, LATENCY), 0);
	for (uint32_t cpu = 0; cpu < rings.info.nr_cpus; cpu++)
		ck_assert_int_eq(cmt_sources_add(sources,
						 image_ring(&rings, cpu),
						 rings.info.ring_bytes, oldest), 0);
	ck_assert_int_eq(cmt_slots_new(&slots, &opts, collect, NULL), 0);
}

static void start(uint32_t nr_cpus)
{
	setup(nr_cpus, RECORDS);
	read_begin(false);
}

static void read_end(void)
{
	cmt_sources_free(sources);
	cmt_slots_free(slots);
}

static void stop(void)
{
	read_end();
	image_rings_free(&rings);
	free(outs);
}

static void put(struct cmt_record record)
{
	image_put(image_ring(&rings, record.cpu), &record);
}

static void tick(uint32_t cpu, uint64_t ts)
{
	put(image_tick(cpu, ts));
}

static void sample(uint32_t cpu, uint64_t ts)
{
	put(image_sample(cpu, ts, cpu + 1, 1));
}

/* Rounds until nothing more happens; returns how many records were added. */
static unsigned int feed_at(uint64_t now)
{
	struct cmt_round round;
	unsigned int total = 0;
	bool moved;

	cmt_sources_now(sources, now);
	do {
		ck_assert_int_eq(cmt_feed_round(sources, slots, &round), 0);
		ck_assert_int_eq(cmt_feed_raise(slots, &round, &moved), 0);
		total += round.added;
	} while (round.added || round.dropped || moved);
	return total;
}

static struct cmt_reader_counts counts(uint32_t cpu)
{
	struct cmt_reader_counts c;

	cmt_sources_counts(sources, cpu, &c);
	ck_assert_uint_eq(c.emitted, c.delivered + c.lost + c.late +
			  c.malformed + c.pending);
	return c;
}

static struct cmt_slots_counts slot_counts(void)
{
	struct cmt_slots_counts c = { .sz = sizeof(c) };

	ck_assert_int_eq(cmt_slots_counts(slots, &c), 0);
	return c;
}

/* A slot comes out as soon as every ring is past its end, and not before. */
START_TEST(test_floor_is_the_least)
{
	start(3);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		tick(cpu, T0 + cpu);
	tick(0, T0 + 5 * MS);
	tick(2, T0 + 3 * MS);
	ck_assert_uint_eq(feed_at(T0 + 6 * MS), 4);
	ck_assert_uint_eq(nr_outs, 0);
	ck_assert_uint_eq(counts(0).pending, 1);	/* beyond the window */
	tick(1, T0 + MS - 1);
	feed_at(T0 + 6 * MS);
	ck_assert_uint_eq(nr_outs, 0);
	tick(1, T0 + MS);
	feed_at(T0 + 6 * MS);
	ck_assert_uint_eq(nr_outs, 1);
	ck_assert_uint_eq(outs[0].start, T0);
	ck_assert_uint_eq(outs[0].nr_cpus, 3);
	ck_assert_uint_eq(outs[0].cpus[1].ticks, 2);
	stop();
}
END_TEST

/* One ring far behind the others is not late, however far. */
START_TEST(test_lagging_ring_not_late)
{
	start(2);
	for (uint64_t ms = 0; ms < 100; ms++)
		tick(0, T0 + ms * MS);
	feed_at(T0 + LATENCY - 1);
	for (uint64_t ms = 0; ms < 100; ms++)
		sample(1, T0 + ms * MS + 1);
	feed_at(T0 + 100 * MS);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(counts(1).late + counts(0).late, 0);
	ck_assert_uint_eq(slot_counts().added, 200);
	ck_assert_uint_eq(slot_counts().late, 0);
	ck_assert_uint_eq(nr_outs, 100);
	for (unsigned int i = 0; i < nr_outs; i++)
		ck_assert_uint_eq(outs[i].entries[0].samples, 1);
	stop();
}
END_TEST

START_TEST(test_silent_ring)
{
	start(2);
	tick(0, T0);
	tick(0, T0 + 9 * MS);
	feed_at(T0 + MS + LATENCY - 1);
	ck_assert_uint_eq(nr_outs, 0);
	feed_at(T0 + MS + LATENCY);
	ck_assert_uint_eq(nr_outs, 1);
	/* too late, and owners may be among it */
	put(image_event(CMT_REC_ALLOC, 1, T0 + 1, 3, 1));
	ck_assert_uint_eq(sources->missed, 0);
	feed_at(T0 + MS + LATENCY);
	ck_assert_uint_eq(counts(1).late, 1);
	ck_assert_uint_eq(sources->missed, 1);
	stop();
}
END_TEST

/* Nothing is on its way from a CPU that is off, or was never on. */
START_TEST(test_absent_and_offline_not_waited_for)
{
	struct cmt_record offline = image_event(CMT_REC_CPU_OFFLINE, 1, T0, 0, 0);

	start(3);
	image_header(image_ring(&rings, 2))->state = CMT_RING_ABSENT;
	put(offline);
	image_header(image_ring(&rings, 1))->state = CMT_RING_OFFLINE;
	tick(0, T0);
	tick(0, T0 + 3 * MS);
	feed_at(T0 + 3 * MS);
	ck_assert_uint_eq(nr_outs, 1);
	/* what it shows next is not taken yet */
	image_header(image_ring(&rings, 2))->state = CMT_RING_ONLINE;
	put(image_event(CMT_REC_CPU_ONLINE, 2, T0 + 3 * MS + 1, 0, 0));
	feed_at(T0 + 4 * MS);
	ck_assert_uint_eq(counts(2).delivered, 1);
	ck_assert_uint_eq(counts(2).late, 0);
	stop();
}
END_TEST

/* Records from the future wait for the clock, then count as malformed. */
START_TEST(test_future_records)
{
	start(1);
	tick(0, T0);
	tick(0, T0 + 2 * MS);
	ck_assert_uint_eq(feed_at(T0), 1);
	ck_assert_uint_eq(counts(0).pending, 1);
	ck_assert_uint_eq(feed_at(T0 + 2 * MS), 1);
	tick(0, T0 + (1ULL << 60));
	tick(0, T0 + 3 * MS);
	ck_assert_uint_eq(feed_at(T0 + 3 * MS), 0);
	ck_assert_uint_eq(feed_at(T0 + 3 * MS + 1), 1);
	ck_assert_uint_eq(counts(0).malformed, 1);
	ck_assert_uint_eq(counts(0).late, 0);
	stop();
}
END_TEST

START_TEST(test_malformed_skipped)
{
	struct cmt_record bad = image_sample(0, T0 + 1, 64, 1);

	start(1);
	tick(0, T0);
	put(bad);
	bad = image_tick(0, T0 - 1);	/* back in time */
	put(bad);
	bad.type = CMT_REC_PAD;
	bad.ts = T0 + 1;
	put(bad);
	bad.type = 999;			/* unknown: not malformed */
	put(bad);
	tick(0, T0 + 2);
	ck_assert_uint_eq(feed_at(T0 + 10), 3);
	ck_assert_uint_eq(counts(0).malformed, 3);
	ck_assert_uint_eq(slot_counts().unknown, 1);
	ck_assert_uint_eq(slot_counts().added, 2);
	stop();
}
END_TEST

/* A gap is in every slot that it touches, and its count where it begins. */
START_TEST(test_gap_in_every_slot)
{
	start(2);
	tick(0, T0);
	sample(1, T0);
	feed_at(T0);
	for (uint64_t i = 1; i <= 100; i++)
		tick(0, T0 + i * MS);
	for (uint64_t i = 0; i < 2 * RECORDS; i++)
		sample(1, T0 + i * MS / 20);
	tick(1, T0 + 103 * MS);
	feed_at(T0 + 103 * MS);
	ck_assert_uint_eq(counts(1).lost, RECORDS + 2);
	ck_assert_uint_eq(sources->missed, 1);
	ck_assert_uint_ge(nr_outs, 100);
	ck_assert_uint_eq(outs[0].lost, RECORDS + 2);
	for (unsigned int i = 0; i < 100; i++) {
		bool gap = i <= (RECORDS + 2) / 20;

		ck_assert_uint_eq(outs[i].start, T0 + i * MS);
		ck_assert_uint_eq(outs[i].gaps, gap);
		ck_assert_uint_eq(outs[i].lost, i ? 0 : RECORDS + 2);
	}
	stop();
}
END_TEST

/* The same by way of the ordered stream: LOST has both ends. */
START_TEST(test_gap_of_lost_record)
{
	struct cmt_record lost = { .type = CMT_REC_LOST, .ts = T0, .cpu = 1 };
	const uint64_t payload[] = { 7, T0 + MS / 2, T0 + 3 * MS };
	uint64_t begin, end;

	memcpy(lost.payload, payload, sizeof(payload));
	ck_assert_int_eq(cmt_record_gap(&lost, &begin, &end), 0);
	ck_assert_uint_eq(begin, T0 + MS / 2);
	ck_assert_uint_eq(end, T0 + 3 * MS);
	start(2);
	for (uint64_t ms = 0; ms < 6; ms++) {
		struct cmt_record record = image_tick(0, T0 + ms * MS);

		ck_assert_int_eq(cmt_slots_add(slots, &record), 0);
		if (!ms)
			ck_assert_int_eq(cmt_slots_add(slots, &lost), 0);
	}
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(nr_outs, 6);
	for (unsigned int i = 0; i < 6; i++) {
		ck_assert_uint_eq(outs[i].gaps, i < 4);
		ck_assert_uint_eq(outs[i].lost, i ? 0 : 7);
	}
	lost.type = CMT_REC_TICK;
	ck_assert_int_eq(cmt_record_gap(&lost, &begin, &end), -EINVAL);
	stop();
}
END_TEST

/* The callback stops: the round's records are in, and no slot comes twice. */
START_TEST(test_callback_stops)
{
	struct cmt_round round;
	unsigned int stops = 0;
	bool moved;

	start(2);
	for (uint64_t ms = 0; ms < 50; ms++) {
		tick(0, T0 + ms * MS);
		tick(1, T0 + ms * MS);
	}
	cmt_sources_now(sources, T0 + 50 * MS);
	do {
		int ret;

		ck_assert_int_eq(cmt_feed_round(sources, slots, &round), 0);
		stop_at = nr_outs + 1;
		ret = cmt_feed_raise(slots, &round, &moved);
		ck_assert(ret == 0 || ret == -42);
		stops += ret == -42;
	} while (round.added || moved);
	stop_at = 0;
	ck_assert_uint_gt(stops, 40);
	ck_assert_uint_eq(slot_counts().added, 100);
	ck_assert_uint_eq(slot_counts().late, 0);
	for (unsigned int i = 0; i < nr_outs; i++)
		ck_assert_uint_eq(outs[i].start, T0 + i * MS);
	stop();
}
END_TEST

/* Traffic of @ms milliseconds: samples, ticks, owners that come and go. */
static void traffic(uint32_t nr_cpus, uint64_t ms, unsigned int *seed)
{
	static uint32_t generations[16];

	memset(generations, 0, sizeof(generations));
	for (uint64_t m = 0; m < ms; m++) {
		uint64_t ts = T0 + m * MS;
		uint32_t cpu = (uint32_t)m % nr_cpus, rmid = 1 + m % 15;

		if (generations[rmid])
			put(image_event(CMT_REC_FREE, cpu, ts + 7, rmid,
					generations[rmid]));
		generations[rmid]++;
		put(image_event(CMT_REC_ALLOC, cpu, ts + 8, rmid,
				generations[rmid]));
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			for (int i = 0; i < 4; i++) {
				rmid = (uint32_t)rand_r(seed) % 16;
				struct cmt_record record = image_sample(cpu,
					ts + 10 + 3 * (uint64_t)i, rmid,
					generations[rmid]);

				record.domain = cpu % 3;
				if (rand_r(seed) % 8 == 0)
					record.flags = CMT_F_UNAVAILABLE;
				put(record);
			}
			tick(cpu, ts + 30 + (uint64_t)rand_r(seed) % 5);
			put(image_perf(cpu, ts + 40, 1, 1, ts));
		}
	}
}

/* The same slots come out of the feed and of the merge. */
START_TEST(test_same_as_merge)
{
	struct cmt_merge *merge;
	struct cmt_record record;
	struct out *fed;
	unsigned int n, seed = 11;

	setup(5, 4096);
	traffic(5, 300, &seed);
	read_begin(true);
	feed_at(T0 + 310 * MS);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(slot_counts().late + slot_counts().malformed, 0);
	n = nr_outs;
	fed = outs;
	outs = calloc(OUT_MAX, sizeof(*outs));
	nr_outs = 0;
	read_end();

	read_begin(true);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	cmt_sources_now(sources, T0 + 310 * MS + LATENCY);
	while (cmt_merge_read(merge, &record, 1) == 1)
		ck_assert_int_eq(cmt_slots_add(slots, &record), 0);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	cmt_merge_free(merge);

	ck_assert_uint_eq(n, 300);
	ck_assert_uint_eq(n, nr_outs);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_msg(!memcmp(&fed[i], &outs[i], sizeof(outs[i])),
			      "slot %u", i);
	free(fed);
	stop();
}
END_TEST

/* A run of PERFs goes on in the next slot. */
START_TEST(test_perf)
{
	start(1);
	for (uint64_t ms = 0; ms < 20; ms++) {
		put(image_perf(0, T0 + ms * MS, 1, 1, 1000));
		put(image_perf(0, T0 + (ms + 1) * MS - 1, 1, 1, ms));
	}
	tick(0, T0 + 20 * MS);
	feed_at(T0 + 30 * MS);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(slot_counts().added, 41);
	ck_assert_uint_eq(nr_outs, 21);
	for (uint64_t ms = 0; ms < 20; ms++) {
		ck_assert_uint_eq(outs[ms].nr_perf, 2);
		ck_assert_uint_eq(outs[ms].cycles, 1000 + ms);
	}
	stop();
}
END_TEST

/* Two rings with 20 ticks each, of which the merge has delivered one */
static struct cmt_merge *start_merged(void)
{
	struct cmt_merge *merge;
	struct cmt_record record;

	start(2);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	for (uint64_t ms = 0; ms < 20; ms++) {
		tick(0, T0 + ms * MS);
		tick(1, T0 + ms * MS);
	}
	cmt_sources_now(sources, T0 + 20 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	return merge;
}

/* What the merge has copied and not delivered is fed, too. */
START_TEST(test_after_merge)
{
	struct cmt_merge *merge = start_merged();
	struct cmt_record record;

	ck_assert_uint_eq(feed_at(T0 + 20 * MS), 39);
	ck_assert_uint_eq(slot_counts().added, 39);
	cmt_merge_restart(merge);
	tick(0, T0 + 30 * MS);
	tick(1, T0 + 31 * MS);
	cmt_sources_now(sources, T0 + 32 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	ck_assert_uint_eq(record.ts, T0 + 30 * MS);
	ck_assert_uint_eq(counts(0).delivered + counts(1).delivered, 41);
	cmt_merge_free(merge);
	stop();
}
END_TEST

/* What the merge has copied, but is before the floor, counts as late only. */
START_TEST(test_late_after_merge)
{
	struct cmt_merge *merge = start_merged();

	ck_assert_uint_eq(counts(0).delivered, 1);
	ck_assert_uint_eq(counts(1).pending, 20);
	ck_assert_int_eq(cmt_slots_raise(slots, T0 + 10 * MS), 0);
	feed_at(T0 + 20 * MS);
	ck_assert_uint_eq(counts(0).late, 9);
	ck_assert_uint_eq(counts(1).late, 10);
	ck_assert_uint_eq(counts(0).delivered, 11);
	ck_assert_uint_eq(counts(1).delivered, 10);
	ck_assert_uint_eq(slot_counts().added, 20);
	cmt_merge_free(merge);
	stop();
}
END_TEST

/* An owner's record that is late is missed, also where the merge has copied it. */
START_TEST(test_late_owner_after_merge)
{
	struct cmt_merge *merge;
	struct cmt_record record;

	start(1);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	tick(0, T0);
	put(image_event(CMT_REC_ALLOC, 0, T0 + MS, 1, 1));
	tick(0, T0 + 2 * MS);
	cmt_sources_now(sources, T0 + 20 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	ck_assert_int_eq(cmt_slots_raise(slots, T0 + 10 * MS), 0);
	ck_assert_uint_eq(sources->missed, 0);
	feed_at(T0 + 20 * MS);
	ck_assert_uint_eq(counts(0).late, 2);
	ck_assert_uint_eq(sources->missed, 1);
	cmt_merge_free(merge);
	stop();
}
END_TEST

/* What changes after a snapshot stays, also where all of it is retired at once. */
START_TEST(test_update_after_snapshot)
{
	struct cmt_record existing = image_event(CMT_REC_EXISTING, 0, MS, 1, 1);
	struct cmt_record update = image_event(CMT_REC_UPDATE, 0, T0 + MS / 2, 1, 1);
	struct cmt_snapshot *snapshot;

	start(1);
	tick(0, T0);
	feed_at(T0 + 1);
	ck_assert_int_eq(cmt_snapshot_new(&snapshot, T0 + MS / 5, &existing, 1), 0);
	ck_assert_int_eq(cmt_slots_sync_missed(slots, snapshot, 0), 0);
	update.tgid = existing.tgid + 70;
	put(update);
	for (uint64_t ms = 1; ms < 6; ms++)
		sample(0, T0 + ms * MS);
	feed_at(T0 + 6 * MS);
	ck_assert_uint_ge(nr_outs, 4);
	for (unsigned int i = 1; i < nr_outs; i++)
		ck_assert_uint_eq(outs[i].tgids, update.tgid);
	stop();
}
END_TEST

/* A gap that the merge has found, and the feed has reported, is reported once. */
START_TEST(test_gap_between_merges)
{
	struct cmt_merge *merge;
	struct cmt_record records[4];

	start(1);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	for (uint64_t i = 0; i < 3; i++)
		tick(0, T0 + i);
	cmt_sources_now(sources, T0 + MS);
	ck_assert_int_eq(cmt_merge_read(merge, records, 1), 1);
	for (uint64_t i = 3; i < RECORDS + 9; i++)
		tick(0, T0 + i);
	ck_assert_int_eq(cmt_merge_read(merge, records, 2), 2);
	feed_at(T0 + MS);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(counts(0).lost, outs[0].lost);
	ck_assert_uint_gt(outs[0].lost, 0);
	cmt_merge_restart(merge);
	tick(0, T0 + 30 * MS);
	cmt_sources_now(sources, T0 + 31 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, records, 4), 1);
	ck_assert_uint_eq(records[0].type, CMT_REC_TICK);
	cmt_merge_free(merge);
	stop();
}
END_TEST

/* Some of what the merge has copied was fed: what is left is in order. */
START_TEST(test_between_merges)
{
	struct cmt_merge *merge;
	struct cmt_record record;
	struct cmt_round round;
	bool moved;

	start(2);
	ck_assert_int_eq(cmt_merge_new(&merge, sources), 0);
	for (uint64_t ms = 0; ms < 18; ms += 6) {
		tick(0, T0 + ms * MS);
		tick(1, T0 + (ms + 1) * MS);
	}
	cmt_sources_now(sources, T0 + 20 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cmt_feed_round(sources, slots, &round), 0);
		ck_assert_int_eq(cmt_feed_raise(slots, &round, &moved), 0);
	}
	ck_assert_uint_eq(round.added, 1);
	cmt_merge_restart(merge);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	ck_assert_uint_eq(record.ts, T0 + 6 * MS);
	ck_assert_int_eq(cmt_merge_read(merge, &record, 1), 1);
	ck_assert_uint_eq(record.ts, T0 + 7 * MS);
	cmt_merge_free(merge);
	stop();
}
END_TEST

START_TEST(test_corrupt_head)
{
	struct cmt_round round;

	start(2);
	tick(1, T0);
	feed_at(T0);
	image_header(image_ring(&rings, 1))->head = 0;
	ck_assert_int_eq(cmt_feed_round(sources, slots, &round), -EPROTO);
	stop();
}
END_TEST

/* Any bytes at all in the rings: it ends, and everything is counted. */
START_TEST(test_random_bytes)
{
	unsigned int seed = 5;

	start(3);
	for (uint64_t i = 0; i < 3000; i++) {
		struct cmt_record record;
		unsigned char *bytes = (unsigned char *)&record;

		for (size_t k = 0; k < sizeof(record); k++)
			bytes[k] = (unsigned char)rand_r(&seed);
		record.type %= 40;
		record.rmid %= 66;
		record.ts = T0 + i * 10000 + record.ts % 30000;
		record.cpu = i % 3;
		put(record);
		if (i % 100 == 99)
			feed_at(T0 + i * 10000);
		if (nr_outs > OUT_MAX - 100)
			nr_outs = 0;
	}
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		ck_assert_uint_gt(counts(cpu).delivered, 0);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("feed");

	UNIT_CASE(suite, test_floor_is_the_least);
	UNIT_CASE(suite, test_lagging_ring_not_late);
	UNIT_CASE(suite, test_silent_ring);
	UNIT_CASE(suite, test_absent_and_offline_not_waited_for);
	UNIT_CASE(suite, test_future_records);
	UNIT_CASE(suite, test_malformed_skipped);
	UNIT_CASE(suite, test_gap_in_every_slot);
	UNIT_CASE(suite, test_gap_of_lost_record);
	UNIT_CASE(suite, test_callback_stops);
	UNIT_CASE(suite, test_perf);
	UNIT_CASE(suite, test_same_as_merge);
	UNIT_CASE(suite, test_after_merge);
	UNIT_CASE(suite, test_gap_between_merges);
	UNIT_CASE(suite, test_late_owner_after_merge);
	UNIT_CASE(suite, test_late_after_merge);
	UNIT_CASE(suite, test_update_after_snapshot);
	UNIT_CASE(suite, test_between_merges);
	UNIT_CASE(suite, test_corrupt_head);
	UNIT_CASE(suite, test_random_bytes);
	return unit_run(suite);
}
