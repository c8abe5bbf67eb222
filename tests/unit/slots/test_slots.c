// SPDX-License-Identifier: GPL-2.0-or-later
/* Records folded into windows of time. */
#include <cmt/reader.h>
#include <cmt/slots.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots/slots.h"
#include "slots/tracker.h"
#include "unit.h"

#define MS 1000000ULL
#define OUT_MAX 256
#define NR_RMIDS 128

static struct cmt_slots *slots;

/* What was handed out, copied: it is not valid afterwards. */
static struct out {
	struct cmt_slot slot;
	struct cmt_slot_entry entries[16];
	struct cmt_slot_cpu cpus[8];
	struct cmt_owner owners[16];
	struct cmt_slot_perf perf[8];
	struct cmt_owner ran[8];	/* the owners of perf */
	struct cmt_slot_channel channels[8];
	uint32_t active;	/* RMIDs, as the tracker says then */
} outs[OUT_MAX];
static unsigned int nr_outs;
static unsigned int stop_at;	/* the callback returns 42 then; 0: never */

/* RMIDs with an owner that is not freed, as of the tracker's last advance. */
static uint32_t nr_active(void)
{
	const struct cmt_hot *hot = cmt_tracker_hot(cmt_slots_tracker(slots));
	uint32_t n = 0;

	for (uint32_t rmid = 0; rmid < NR_RMIDS; rmid++)
		n += hot[rmid].owner && !hot[rmid].freed;
	return n;
}

static int collect(void *ctx, const struct cmt_slot *slot)
{
	struct out *out = &outs[nr_outs++];

	ck_assert_ptr_eq(ctx, &slots);
	ck_assert_uint_le(nr_outs, OUT_MAX);
	out->slot = *slot;
	out->active = nr_active();
	for (uint32_t i = 0; i < slot->nr_entries && i < 16; i++) {
		out->entries[i] = *cmt_slot_entry_at(slot, i);
		if (out->entries[i].owner)
			out->owners[i] = *out->entries[i].owner;
	}
	for (uint32_t i = 0; i < slot->nr_cpus && i < 8; i++)
		out->cpus[i] = *cmt_slot_cpu_at(slot, i);
	for (uint32_t i = 0; i < slot->nr_perf && i < 8; i++) {
		out->perf[i] = *cmt_slot_perf_at(slot, i);
		if (out->perf[i].owner)
			out->ran[i] = *out->perf[i].owner;
	}
	for (uint32_t i = 0; i < slot->nr_channels && i < 8; i++)
		out->channels[i] = *cmt_slot_channel_at(slot, i);
	return stop_at && nr_outs == stop_at ? 42 : 0;
}

static void start(uint64_t slot_ns, uint32_t window)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.slot_ns = slot_ns,
		.window = window,
		.nr_rmids = NR_RMIDS,
		.nr_cpus = 4,
	};

	cmt_slots_free(slots);
	nr_outs = 0;
	stop_at = 0;
	ck_assert_int_eq(cmt_slots_new(&slots, &opts, collect, &slots), 0);
}

static void setup(void)
{
	start(0, 0);
}

static void teardown(void)
{
	cmt_slots_free(slots);
	slots = NULL;
}

static struct cmt_record sample(uint64_t ts, uint32_t rmid,
				uint32_t generation, uint32_t domain,
				uint64_t bytes)
{
	return (struct cmt_record){
		.ts = ts,
		.type = CMT_REC_SAMPLE,
		.flags = CMT_F_OCCUPANCY,
		.rmid = rmid,
		.generation = generation,
		.domain = domain,
		.sample.occupancy_bytes = bytes,
		.sample.residual_bytes = bytes / 2,
	};
}

static void add(struct cmt_record record)
{
	ck_assert_int_eq(cmt_slots_add(slots, &record), 0);
}

static void event(uint16_t type, uint64_t ts, uint32_t rmid,
		  uint32_t generation)
{
	struct cmt_record record = {
		.ts = ts,
		.type = type,
		.rmid = rmid,
		.generation = generation,
		.tgid = generation * 10,
	};

	add(record);
}

static void tick(uint64_t ts, uint32_t cpu, uint32_t rmid, uint64_t missed)
{
	struct cmt_record record = {
		.ts = ts,
		.type = CMT_REC_TICK,
		.cpu = cpu,
		.rmid = rmid,
		.generation = rmid ? 1 : 0,
		.interval_ns = 1000000,
		.tick.missed = missed,
	};

	add(record);
}

static struct cmt_record perf(uint64_t ts, uint32_t cpu, uint32_t rmid,
			      uint32_t generation, uint64_t cycles)
{
	return (struct cmt_record){
		.ts = ts,
		.type = CMT_REC_PERF,
		.flags = CMT_F_CYCLES,
		.cpu = (uint16_t)cpu,
		.rmid = rmid,
		.generation = generation,
		.domain = 7,
		.ran_ns = 500,
		.perf.cycles = cycles,
		.perf.instructions = 2,
		.perf.llc_misses = 3,
		.perf.llc_references = 4,
	};
}

static struct cmt_slots_counts counts(void)
{
	struct cmt_slots_counts c = { .sz = sizeof(c) };

	ck_assert_int_eq(cmt_slots_counts(slots, &c), 0);
	return c;
}

START_TEST(test_new_options)
{
	struct { struct cmt_slots_opts o; uint64_t tail; } big = {
		.o = { .sz = sizeof(big), .nr_rmids = 8, .nr_cpus = 1 },
	};
	struct cmt_slots_opts o = {
		.sz = sizeof(o), .nr_rmids = 8, .nr_cpus = 1,
	};
	struct cmt_slots *s;

	ck_assert_int_eq(cmt_slots_new(&s, NULL, collect, NULL), -EINVAL);
	ck_assert_int_eq(cmt_slots_new(&s, &o, NULL, NULL), -EINVAL);
	ck_assert_int_eq(cmt_slots_new(&s, &big.o, collect, NULL), 0);
	cmt_slots_free(s);
	big.tail = 1;
	ck_assert_int_eq(cmt_slots_new(&s, &big.o, collect, NULL), -EINVAL);
	o.slot_ns = 9999;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	o.slot_ns = 10000000001;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	o.slot_ns = 0;
	o.window = 1;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	o.window = 65;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	o.window = 2;
	o.nr_rmids = 0;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	o.nr_rmids = 8;
	o.nr_cpus = 0;
	ck_assert_int_eq(cmt_slots_new(&s, &o, collect, NULL), -EINVAL);
	cmt_slots_free(NULL);
}
END_TEST

START_TEST(test_window_retires_oldest)
{
	for (uint64_t ms = 10; ms < 14; ms++)
		add(sample(ms * MS + 5, 1, 1, 0, ms));
	ck_assert_uint_eq(nr_outs, 0);
	add(sample(14 * MS, 1, 1, 0, 14));
	ck_assert_uint_eq(nr_outs, 1);
	ck_assert_uint_eq(outs[0].slot.start_ns, 10 * MS);
	ck_assert_uint_eq(outs[0].slot.end_ns, 11 * MS);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 1);
	ck_assert_uint_eq(outs[0].entries[0].occupancy_bytes, 10);
	/* A gap retires all, and slots without a record are not handed out. */
	add(sample(100 * MS, 1, 1, 0, 100));
	ck_assert_uint_eq(nr_outs, 5);
	ck_assert_uint_eq(outs[4].slot.start_ns, 14 * MS);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 6);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 6);
	ck_assert_uint_eq(counts().retired, 6);
	ck_assert_uint_eq(counts().added, 6);
}
END_TEST

/* What the callback returned comes back, and nothing is lost or told twice. */
START_TEST(test_callback_stops)
{
	struct cmt_record far = sample(100 * MS, 1, 1, 0, 100);

	for (uint64_t ms = 10; ms < 14; ms++)
		add(sample(ms * MS + 5, 1, 1, 0, ms));
	for (stop_at = 1; stop_at < 5; stop_at++) {
		ck_assert_int_eq(cmt_slots_add(slots, &far), 42);
		ck_assert_uint_eq(nr_outs, stop_at);
		ck_assert_uint_eq(counts().added, 4);
	}
	ck_assert_int_eq(cmt_slots_add(slots, &far), 0);
	ck_assert_uint_eq(counts().added, 5);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(outs[i].entries[0].occupancy_bytes, 10 + i);
	ck_assert_int_eq(cmt_slots_flush(slots), 42);
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_eq(nr_outs, 5);
	ck_assert_uint_eq(outs[4].slot.start_ns, 100 * MS);
}
END_TEST

/* A library that is newer than the program has larger elements. */
START_TEST(test_stride)
{
	struct { struct cmt_slot_cpu cpu; uint64_t more; } cpus[2] = {
		[1].cpu.cpu = 5,
	};
	struct { struct cmt_slot_perf perf; uint64_t more; } perf[2] = {
		[1].perf.cpu = 5,
	};
	const struct cmt_slot slot = {
		.nr_cpus = 2, .cpus = &cpus[0].cpu, .cpu_size = sizeof(cpus[0]),
		.nr_perf = 2, .perf = &perf[0].perf, .perf_size = sizeof(perf[0]),
	};

	ck_assert_ptr_eq(cmt_slot_cpu_at(&slot, 1), &cpus[1].cpu);
	ck_assert_ptr_eq(cmt_slot_perf_at(&slot, 1), &perf[1].perf);
}
END_TEST

START_TEST(test_out_of_order_and_late)
{
	add(sample(13 * MS, 1, 1, 0, 13));
	add(sample(10 * MS, 1, 1, 0, 10));
	add(sample(10 * MS - 1, 1, 1, 0, 9));
	ck_assert_uint_eq(counts().late, 1);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 2);
	ck_assert_uint_eq(outs[0].slot.start_ns, 10 * MS);
	add(sample(13 * MS + 1, 1, 1, 0, 13));
	ck_assert_uint_eq(counts().late, 2);
	add(sample(14 * MS, 1, 1, 0, 14));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 3);
}
END_TEST

START_TEST(test_entries_sorted_and_last_value)
{
	const uint32_t order[][3] = {	/* rmid, domain, generation */
		{ 1, 0, 1 }, { 1, 4000000000U, 1 }, { 7, 0, 2 }, { 7, 0, 3 },
		{ 100, 3, 1 },
	};

	add(sample(10 * MS, 1, 1, 4000000000U, 3));
	add(sample(10 * MS, 100, 1, 3, 1));
	add(sample(10 * MS, 7, 3, 0, 2));
	add(sample(10 * MS, 7, 2, 0, 4));
	add(sample(10 * MS, 1, 1, 0, 5));
	add(sample(10 * MS + 2, 1, 1, 0, 6));
	add(sample(10 * MS + 1, 1, 1, 0, 7));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 1);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 5);
	for (int i = 0; i < 5; i++) {
		ck_assert_uint_eq(outs[0].entries[i].rmid, order[i][0]);
		ck_assert_uint_eq(outs[0].entries[i].domain, order[i][1]);
		ck_assert_uint_eq(outs[0].entries[i].generation, order[i][2]);
	}
	/* The latest in time, not the last to come. */
	ck_assert_uint_eq(outs[0].entries[0].occupancy_bytes, 6);
	ck_assert_uint_eq(outs[0].entries[0].residual_bytes, 3);
	ck_assert_uint_eq(outs[0].entries[0].ts, 10 * MS + 2);
	ck_assert_uint_eq(outs[0].entries[0].samples, 3);
}
END_TEST

START_TEST(test_flags_of_any_sample)
{
	struct cmt_record bad = sample(10 * MS, 1, 1, 0, 0);

	bad.flags = CMT_F_ERROR | CMT_F_EMULATED | CMT_F_PQR_OVERWRITTEN;
	add(bad);
	add(sample(10 * MS + 1, 1, 1, 0, 5));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].entries[0].flags, CMT_F_OCCUPANCY |
			  CMT_F_ERROR | CMT_F_PQR_OVERWRITTEN);

	add(sample(20 * MS, 1, 1, 0, 5));
	bad.ts = 20 * MS + 1;
	add(bad);
	cmt_slots_flush(slots);
	/* The last one has no value: that before it is shown. */
	ck_assert_uint_eq(outs[1].entries[0].flags, CMT_F_OCCUPANCY |
			  CMT_F_ERROR | CMT_F_PQR_OVERWRITTEN);
	ck_assert_uint_eq(outs[1].entries[0].occupancy_bytes, 5);
	ck_assert_uint_eq(outs[1].entries[0].ts, 20 * MS);
}
END_TEST

/* Whatever order samples come in, one of them counts, and all are counted. */
START_TEST(test_order_of_samples)
{
	struct cmt_record samples[] = {
		sample(10 * MS, 1, 1, 0, 1), sample(10 * MS + 1, 1, 1, 0, 2),
		sample(10 * MS + 1, 1, 1, 0, 3), sample(10 * MS + 5, 1, 1, 0, 4),
	};
	static const int orders[][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 },
	};

	samples[2].cpu = 3;
	samples[3].flags = CMT_F_UNAVAILABLE;
	for (int k = 0; k < 4; k++) {
		start(0, 0);
		for (int i = 0; i < 4; i++)
			add(samples[orders[k][i]]);
		cmt_slots_flush(slots);
		ck_assert_uint_eq(outs[0].entries[0].occupancy_bytes, 3);
		ck_assert_uint_eq(outs[0].entries[0].cpu, 3);
		ck_assert_uint_eq(outs[0].entries[0].samples, 4);
		ck_assert_uint_eq(outs[0].entries[0].flags,
				  CMT_F_OCCUPANCY | CMT_F_UNAVAILABLE);
	}
}
END_TEST

START_TEST(test_owner_of_the_time)
{
	start(10 * MS, 2);
	event(CMT_REC_ALLOC, 100 * MS, 5, 1);
	add(sample(101 * MS, 5, 1, 0, 1));
	event(CMT_REC_FREE, 102 * MS, 5, 1);
	add(sample(103 * MS, 5, 1, 0, 2));
	event(CMT_REC_ALLOC, 105 * MS, 5, 2);
	add(sample(106 * MS, 5, 2, 0, 3));
	add(sample(106 * MS, 6, 1, 0, 3));	/* no owner is known */
	add(sample(106 * MS, 5, 3, 0, 3));	/* not this owner */
	tick(107 * MS, 1, 5, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 1);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 4);
	ck_assert_ptr_nonnull(outs[0].entries[0].owner);
	ck_assert_uint_eq(outs[0].owners[0].tgid, 10);
	ck_assert(outs[0].owners[0].freed);
	ck_assert_uint_eq(outs[0].owners[1].tgid, 20);
	ck_assert_ptr_null(outs[0].entries[2].owner);
	ck_assert_ptr_null(outs[0].entries[3].owner);
	/* The tick says generation 1, which had gone by then. */
	ck_assert_ptr_null(outs[0].cpus[0].owner);
	for (uint32_t rmid = 0; rmid < NR_RMIDS; rmid++)
		ck_assert(!cmt_tracker_hot(cmt_slots_tracker(slots))[rmid].events);
	ck_assert_uint_eq(nr_active(), 1);
}
END_TEST

/* One jump retires three slots; the tracker goes along one by one. */
START_TEST(test_tracker_advances_with_slots)
{
	for (uint64_t ms = 10; ms < 13; ms++)
		event(CMT_REC_ALLOC, ms * MS, (uint32_t)ms, 1);
	add(sample(100 * MS, 1, 1, 0, 1));
	ck_assert_uint_eq(nr_outs, 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(outs[i].active, i);
}
END_TEST

START_TEST(test_existing_before_window)
{
	event(CMT_REC_EXISTING, 1, 5, 1);
	add(sample(500 * MS, 5, 1, 0, 1));
	event(CMT_REC_EXISTING, 2, 6, 1);
	add(sample(600 * MS, 5, 1, 0, 1));
	event(CMT_REC_EXISTING, 3, 7, 1);
	add(sample(600 * MS, 7, 1, 0, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].owners[0].tgid, 10);
	ck_assert_uint_eq(outs[1].owners[1].tgid, 10);
	ck_assert_uint_eq(outs[1].entries[1].rmid, 7);
	ck_assert_uint_eq(counts().late, 0);
}
END_TEST

/* Each lookup of an RMID walks over its events: those beyond the limit are counted. */
START_TEST(test_events_of_an_rmid_bounded)
{
	for (uint32_t i = 0; i < 1100; i++)
		event(CMT_REC_UPDATE, 11 * MS - i, 5, 1);
	ck_assert_uint_eq(counts().malformed, 1100 - 1024);
	event(CMT_REC_UPDATE, 10 * MS, 6, 1);
	ck_assert_uint_eq(counts().malformed, 1100 - 1024);
	add(perf(11 * MS, 0, 5, 1, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[nr_outs - 1].ran[0].tgid, 10);
	/* the events are applied, and there is room again */
	event(CMT_REC_UPDATE, 20 * MS, 5, 1);
	ck_assert_uint_eq(counts().malformed, 1100 - 1024);
}
END_TEST

static void start_large(uint32_t nr_rmids)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = nr_rmids, .nr_cpus = 4,
	};

	cmt_slots_free(slots);
	ck_assert_int_eq(cmt_slots_new(&slots, &opts, collect, &slots), 0);
}

/* 2^18 of all RMIDs */
START_TEST(test_events_bounded)
{
	struct cmt_record record = { .type = CMT_REC_UPDATE, .generation = 1 };
	int err = 0;

	start_large(512);
	for (uint32_t i = 0; i < (1U << 18) + 5; i++) {
		record.ts = 10 * MS + i;
		record.rmid = 1 + i % 511;
		err |= cmt_slots_add(slots, &record);
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(counts().added, 1U << 18);
	ck_assert_uint_eq(counts().malformed, 5);
}
END_TEST

/* Snapshots from a time that may never come queue no more than that. */
START_TEST(test_owners_of_snapshots_bounded)
{
	const struct cmt_record existing = {
		.type = CMT_REC_EXISTING, .ts = 3600000 * MS, .rmid = 5,
		.generation = 1, .tgid = 10,
	};
	struct cmt_snapshot *snapshot;

	add(sample(10 * MS, 1, 1, 0, 1));
	for (uint32_t i = 0; i < 1100; i++) {
		ck_assert_int_eq(cmt_snapshot_new(&snapshot, 3600000 * MS + 1, &existing, 1), 0);
		ck_assert_int_eq(cmt_slots_sync_missed(slots, snapshot, i), 0);
	}
	event(CMT_REC_UPDATE, 10 * MS, 5, 1);
	ck_assert_uint_eq(counts().malformed, 1);
}
END_TEST

static void take_snapshot(uint64_t as_of, uint32_t rmid, uint32_t generation, uint64_t since)
{
	const struct cmt_record existing = {
		.type = CMT_REC_EXISTING, .ts = since, .rmid = rmid,
		.generation = generation, .tgid = generation * 10,
	};
	struct cmt_snapshot *snapshot;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, as_of, &existing, 1), 0);
	ck_assert_int_eq(cmt_slots_sync_missed(slots, snapshot, 0), 0);
}

/* The UPDATE is after the snapshot: in its slot, or the next record, 40 slots later. */
START_TEST(test_update_after_snapshot)
{
	uint64_t ms = _i ? 50 : 10;
	struct cmt_record update = {
		.type = CMT_REC_UPDATE, .ts = ms * MS + 5, .rmid = 5, .generation = 1,
		.tgid = 77,
	};

	start(0, 64);
	if (!_i)
		add(sample(10 * MS, 5, 1, 0, 1));
	take_snapshot(10 * MS + 2, 5, 1, 1);
	add(update);
	add(sample(ms * MS + 6, 5, 1, 0, 1));
	cmt_slots_flush(slots);
	add(sample(100 * MS, 5, 1, 0, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[nr_outs - 1].owners[0].tgid, 77);
	ck_assert_uint_eq(outs[nr_outs - 1].owners[0].since, 1);
}
END_TEST

/* Owners of a snapshot are known at once; others end with it, also in a gap of slots. */
START_TEST(test_sync_frees_at_its_time)
{
	const struct cmt_record existing = {
		.type = CMT_REC_EXISTING, .ts = 12 * MS, .rmid = 6, .generation = 1,
		.tgid = 60,
	};
	struct cmt_snapshot *snapshot;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 13 * MS, &existing, 1), 0);
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	ck_assert_int_eq(cmt_slots_sync(slots, snapshot), 0);
	cmt_snapshot_free(snapshot);
	add(sample(12 * MS + 1, 6, 1, 0, 8));
	tick(20 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 4);
	ck_assert_uint_eq(outs[2].slot.nr_entries, 2);
	ck_assert_uint_eq(outs[2].owners[1].tgid, 60);
	ck_assert_uint_eq(outs[3].slot.nr_entries, 1);
	ck_assert_uint_eq(outs[3].owners[0].tgid, 60);
}
END_TEST

START_TEST(test_cpus)
{
	event(CMT_REC_ALLOC, 10 * MS, 5, 1);
	tick(10 * MS, 3, 5, 1);
	tick(10 * MS + 200, 3, 0, 2);
	tick(10 * MS + 100, 3, 5, 9);
	tick(10 * MS, 0, 5, 7);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].slot.nr_cpus, 2);
	ck_assert_uint_eq(outs[0].cpus[0].cpu, 0);
	ck_assert_uint_eq(outs[0].cpus[0].missed, 7);
	ck_assert_ptr_nonnull(outs[0].cpus[0].owner);
	ck_assert_uint_eq(outs[0].cpus[1].cpu, 3);
	ck_assert_uint_eq(outs[0].cpus[1].ticks, 3);
	ck_assert_uint_eq(outs[0].cpus[1].busy_ticks, 2);
	ck_assert_uint_eq(outs[0].cpus[1].missed, 2);
	ck_assert_uint_eq(outs[0].cpus[1].rmid, 0);
	ck_assert_ptr_null(outs[0].cpus[1].owner);
	/* Nothing is left of it in the next one. */
	tick(20 * MS, 1, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[1].slot.nr_cpus, 1);
	ck_assert_uint_eq(outs[1].cpus[0].cpu, 1);
	ck_assert_uint_eq(outs[1].slot.nr_entries, 0);
}
END_TEST

static void lost(uint64_t ts, uint64_t n)
{
	struct cmt_record record = { .ts = ts, .type = CMT_REC_LOST };

	memcpy(record.payload, &n, sizeof(n));
	add(record);
}

START_TEST(test_lost_counted_in_slots)
{
	lost(0, 1000);			/* before anything */
	add(sample(10 * MS, 1, 1, 0, 1));
	lost(10 * MS, 3);
	lost(2 * MS, 5);		/* its slot is gone */
	add(sample(12 * MS, 1, 1, 0, 1));
	lost(12 * MS, 7);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 2);
	ck_assert_uint_eq(outs[0].slot.lost, 1008);
	ck_assert_uint_eq(outs[1].slot.lost, 7);
	lost(12 * MS, 9);		/* no slot is open */
	add(sample(30 * MS, 1, 1, 0, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[2].slot.lost, 9);
}
END_TEST

START_TEST(test_counts_by_kind)
{
	struct cmt_record record = sample(10 * MS, 128, 1, 0, 0);

	add(record);			/* RMID */
	record = sample(10 * MS, 1, 0, 0, 0);
	add(record);			/* generation */
	record = sample(10 * MS, 1, 1, 0, 0);
	record.cpu = 4;
	add(record);			/* CPU */
	record.type = CMT_REC_PAD;
	add(record);
	record = sample(99 * MS, 1, 1, 0, 0);
	record.type = 77;
	add(record);
	ck_assert_uint_eq(counts().malformed, 4);
	ck_assert_uint_eq(counts().unknown, 1);
	ck_assert_uint_eq(counts().added, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 0);
}
END_TEST

START_TEST(test_corrupt_stream_bounded)
{
	for (uint32_t i = 0; i < 1000; i++)
		add(sample(10 * MS, 1, 1, i, 0));
	ck_assert_uint_eq(counts().added, 64);
	ck_assert_uint_eq(counts().malformed, 936);
	for (uint32_t i = 1; i <= 1000; i++)
		add(sample(10 * MS, 2, i, 0, 0));
	ck_assert_uint_eq(counts().added, 64 + 3);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 67);
}
END_TEST

START_TEST(test_time_wraps)
{
	uint64_t t = UINT64_MAX - 3 * MS;

	for (uint64_t i = 0; i < 60; i++)
		add(sample(t + i * MS / 8, 1, 1, 0, i));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(counts().late, 0);
	ck_assert_uint_eq(counts().added, 60);
	uint64_t samples = 0;
	for (unsigned int i = 0; i < nr_outs; i++) {
		samples += outs[i].entries[0].samples;
		if (i)
			ck_assert_int_gt((int64_t)(outs[i].slot.start_ns -
					 outs[i - 1].slot.start_ns), 0);
	}
	ck_assert_uint_eq(samples, 60);
}
END_TEST

/* Slot @ms has entry @i with the values of a sample at @ts, and how many. */
static void assert_entry(unsigned int out, uint32_t i, uint64_t ts,
			 uint32_t samples, uint64_t bytes)
{
	const struct cmt_slot_entry *entry = &outs[out].entries[i];

	ck_assert_uint_lt(out, nr_outs);
	ck_assert_uint_lt(i, outs[out].slot.nr_entries);
	ck_assert_uint_eq(entry->ts, ts);
	ck_assert_uint_eq(entry->samples, samples);
	ck_assert_uint_eq(entry->occupancy_bytes, bytes);
}

/* A value that was not read in a slot is carried as it was, and ages. */
START_TEST(test_carried_and_aged)
{
	struct cmt_record first = sample(10 * MS, 5, 1, 0, 7);

	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	first.flags = CMT_F_OCCUPANCY | CMT_F_RESIDUAL | CMT_F_MBM_TOTAL |
		      CMT_F_EMULATED | CMT_F_REBASED | CMT_F_PQR_OVERWRITTEN;
	first.sample.mbm_total_bytes = 1000;
	add(first);
	for (uint64_t ms = 11; ms < 14; ms++)
		tick(ms * MS, 0, 0, 0);
	add(sample(14 * MS, 5, 1, 0, 8));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 6);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 0);
	assert_entry(1, 0, 10 * MS, 1, 7);
	for (unsigned int i = 2; i < 5; i++) {
		assert_entry(i, 0, 10 * MS, 0, 7);
		ck_assert_uint_eq(outs[i].slot.end_ns - outs[i].entries[0].ts,
				  i * MS);
		ck_assert_uint_eq(outs[i].entries[0].residual_bytes, 3);
		ck_assert_uint_eq(outs[i].entries[0].mbm_total_bytes, 1000);
		/* what happened before the sample was told with it */
		ck_assert_uint_eq(outs[i].entries[0].flags,
				  first.flags & ~(CMT_F_REBASED |
						  CMT_F_PQR_OVERWRITTEN));
		ck_assert_ptr_nonnull(outs[i].entries[0].owner);
		ck_assert_uint_eq(outs[i].owners[0].tgid, 10);
	}
	assert_entry(5, 0, 14 * MS, 1, 8);
}
END_TEST

/* A reading that failed, and no other in its slot: older ones are not shown. */
START_TEST(test_carried_without_value)
{
	struct cmt_record bad = sample(11 * MS, 5, 1, 0, 0);

	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	bad.flags = CMT_F_UNAVAILABLE;
	add(sample(10 * MS, 5, 1, 0, 7));
	add(bad);
	tick(12 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	assert_entry(3, 0, 11 * MS, 0, 0);
	ck_assert_uint_eq(outs[3].entries[0].flags, CMT_F_UNAVAILABLE);
}
END_TEST

START_TEST(test_carried_until_free)
{
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	tick(11 * MS, 0, 0, 0);
	event(CMT_REC_FREE, 12 * MS + 1, 5, 1);
	tick(13 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	assert_entry(2, 0, 10 * MS, 0, 7);
	ck_assert_uint_eq(outs[3].slot.start_ns, 12 * MS);
	ck_assert_uint_eq(outs[3].slot.nr_entries, 0);
	ck_assert_uint_eq(outs[4].slot.nr_entries, 0);
}
END_TEST

/* The RMID has another owner: nothing is known of it before its first sample. */
START_TEST(test_carried_until_reallocated)
{
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	event(CMT_REC_FREE, 11 * MS, 5, 1);
	event(CMT_REC_ALLOC, 11 * MS + 2, 5, 2);
	tick(12 * MS, 0, 0, 0);
	add(sample(13 * MS, 5, 2, 0, 9));
	tick(14 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[2].slot.nr_entries, 0);
	ck_assert_uint_eq(outs[3].slot.nr_entries, 0);
	assert_entry(4, 0, 13 * MS, 1, 9);
	assert_entry(5, 0, 13 * MS, 0, 9);
	ck_assert_uint_eq(outs[5].entries[0].generation, 2);
	ck_assert_uint_eq(outs[5].owners[0].tgid, 20);
}
END_TEST

/* FREE and ALLOC were lost: the snapshot that follows ends it. */
START_TEST(test_carried_and_lost_records)
{
	struct cmt_snapshot *snapshot = NULL;
	const struct cmt_record existing = {
		.type = CMT_REC_EXISTING, .ts = 12 * MS, .rmid = 5,
		.generation = 2, .tgid = 20,
	};

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 12 * MS + 5, &existing, 1),
			 0);
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	event(CMT_REC_ALLOC, 9 * MS + 1, 6, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	add(sample(10 * MS, 6, 1, 0, 8));
	tick(11 * MS, 0, 0, 0);
	lost(11 * MS, 3);
	ck_assert_int_eq(cmt_tracker_sync(cmt_slots_tracker(slots), snapshot),
			 0);
	tick(13 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 4);
	ck_assert_uint_eq(outs[3].slot.start_ns, 13 * MS);
	ck_assert_uint_eq(outs[3].slot.nr_entries, 0);
	cmt_snapshot_free(snapshot);
}
END_TEST

/* A reading that failed in a slot is no flag of the value that is carried from it. */
START_TEST(test_carried_flags_of_value)
{
	struct cmt_record failed = sample(10 * MS + 5, 5, 1, 0, 0);

	failed.flags = CMT_F_ERROR;
	event(CMT_REC_ALLOC, 10 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	add(failed);
	tick(11 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	assert_entry(0, 0, 10 * MS, 2, 7);
	ck_assert_uint_eq(outs[0].entries[0].flags,
			  CMT_F_OCCUPANCY | CMT_F_ERROR);
	assert_entry(1, 0, 10 * MS, 0, 7);
	ck_assert_uint_eq(outs[1].entries[0].flags, CMT_F_OCCUPANCY);
}
END_TEST

/* A domain that is seen later, and comes before the others. */
START_TEST(test_carried_and_new_domain)
{
	for (uint32_t rmid = 1; rmid < 4; rmid++)
		event(CMT_REC_ALLOC, 10 * MS, rmid, 1);
	for (uint32_t rmid = 1; rmid < 4; rmid++)
		add(sample(10 * MS, rmid, 1, 5, 10 + rmid));
	tick(14 * MS, 0, 0, 0);
	ck_assert_uint_eq(nr_outs, 1);
	add(sample(14 * MS, 2, 1, 3, 20));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[1].slot.nr_entries, 4);
	assert_entry(1, 0, 10 * MS, 0, 11);
	assert_entry(1, 1, 14 * MS, 1, 20);
	assert_entry(1, 2, 10 * MS, 0, 12);
	assert_entry(1, 3, 10 * MS, 0, 13);
}
END_TEST

/* An event is known long before the slot that it is in is open. */
START_TEST(test_carried_until_known_free)
{
	const struct cmt_record gone = {
		.ts = 20 * MS + 5, .type = CMT_REC_FREE, .rmid = 5,
		.generation = 1,
	};

	event(CMT_REC_ALLOC, 10 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	ck_assert_int_eq(cmt_tracker_record(cmt_slots_tracker(slots), &gone),
			 1);
	for (uint64_t ms = 11; ms <= 20; ms++)
		tick(ms * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	assert_entry(9, 0, 10 * MS, 0, 7);
	ck_assert_uint_eq(outs[10].slot.start_ns, 20 * MS);
	ck_assert_uint_eq(outs[10].slot.nr_entries, 0);
}
END_TEST

/* The ALLOC comes last of all, and is applied two slots before the second sample. */
START_TEST(test_owner_after_samples)
{
	add(sample(10 * MS + 5, 5, 1, 0, 7));
	tick(11 * MS, 0, 0, 0);
	add(sample(12 * MS, 5, 1, 0, 8));
	event(CMT_REC_ALLOC, 10 * MS, 5, 1);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(outs[i].slot.nr_entries, 1);
		ck_assert_ptr_nonnull(outs[i].entries[0].owner);
		ck_assert_uint_eq(outs[i].owners[0].tgid, 10);
	}
}
END_TEST

/* What came too late for its slot is not carried either. */
START_TEST(test_carried_and_late_record)
{
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	tick(15 * MS, 0, 0, 0);
	add(sample(11 * MS, 5, 1, 0, 9));
	ck_assert_uint_eq(counts().late, 1);
	cmt_slots_flush(slots);
	assert_entry(2, 0, 10 * MS, 0, 7);
}
END_TEST

/* Slots are retired in order: a newer sample that came first is not carried back. */
START_TEST(test_carried_out_of_order)
{
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	add(sample(12 * MS, 5, 1, 0, 9));
	tick(11 * MS, 0, 0, 0);
	add(sample(10 * MS, 5, 1, 0, 7));
	cmt_slots_flush(slots);
	assert_entry(1, 0, 10 * MS, 1, 7);
	assert_entry(2, 0, 10 * MS, 0, 7);
	assert_entry(3, 0, 12 * MS, 1, 9);
}
END_TEST

/* RMID 0 has no owner that could go; of unknown owners it is not known. */
START_TEST(test_carried_whose_owner)
{
	add(sample(10 * MS, 0, 0, 0, 7));
	add(sample(10 * MS, 6, 1, 0, 8));
	tick(11 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 2);
	ck_assert_uint_eq(outs[1].slot.nr_entries, 1);
	assert_entry(1, 0, 10 * MS, 0, 7);
	ck_assert_uint_eq(outs[1].entries[0].rmid, 0);
	ck_assert_ptr_null(outs[1].entries[0].owner);
}
END_TEST

/* Each domain by itself, and the order of entries holds. */
START_TEST(test_carried_by_domain)
{
	for (uint32_t rmid = 1; rmid < 4; rmid++)
		event(CMT_REC_ALLOC, 9 * MS, rmid, 1);
	add(sample(10 * MS, 3, 1, 0, 30));
	add(sample(10 * MS, 1, 1, 9, 19));
	add(sample(10 * MS, 1, 1, 2, 12));
	add(sample(11 * MS, 1, 1, 2, 13));
	add(sample(11 * MS, 2, 1, 0, 20));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[2].slot.nr_entries, 4);
	assert_entry(2, 0, 11 * MS, 1, 13);
	assert_entry(2, 1, 10 * MS, 0, 19);
	assert_entry(2, 2, 11 * MS, 1, 20);
	assert_entry(2, 3, 10 * MS, 0, 30);
}
END_TEST

/* Two owners of an RMID in a slot, in either order: the later one is carried on. */
START_TEST(test_carried_after_several_generations)
{
	struct cmt_record older = sample(11 * MS, 5, 1, 0, 11);
	struct cmt_record newer = sample(11 * MS + 4, 5, 2, 0, 12);

	/* slots are handed out while others come, which take what those leave */
	start(0, 2);
	event(CMT_REC_ALLOC, 9 * MS, 5, 1);
	event(CMT_REC_ALLOC, 9 * MS, 6, 1);
	add(sample(10 * MS, 5, 1, 0, 7));
	add(sample(10 * MS, 5, 1, 2, 70));
	add(sample(10 * MS, 6, 1, 0, 8));
	event(CMT_REC_FREE, 11 * MS + 2, 5, 1);
	event(CMT_REC_ALLOC, 11 * MS + 3, 5, 2);
	add(_i ? newer : older);
	add(_i ? older : newer);
	for (uint32_t i = 0; i < 3; i++)
		add(sample((12 + i) * MS, 7 + i, 1, 0, 100 + i));
	cmt_slots_flush(slots);
	/* what the first owner had in domain 2 is not the second one's */
	ck_assert_uint_eq(outs[2].slot.nr_entries, 3);
	assert_entry(2, 0, 11 * MS, 1, 11);
	assert_entry(2, 1, 11 * MS + 4, 1, 12);
	assert_entry(2, 2, 10 * MS, 0, 8);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(outs[3 + i].slot.nr_entries, 3);
		assert_entry(3 + i, 0, 11 * MS + 4, 0, 12);
		ck_assert_uint_eq(outs[3 + i].entries[0].generation, 2);
		assert_entry(3 + i, 1, 10 * MS, 0, 8);
		assert_entry(3 + i, 2, (12 + i) * MS, 1, 100 + i);
	}
}
END_TEST

/* Three generations of each of four RMIDs, in one slot after the other. */
START_TEST(test_generations_of_each_slot)
{
	for (uint64_t ms = 10; ms < 16; ms++)
		for (uint32_t rmid = 1; rmid <= 4; rmid++)
			for (uint32_t g = 1; g <= 3; g++)
				add(sample(ms * MS + g, rmid, g, 0, ms * 100 + rmid * 10 + g));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 6);
	for (uint32_t n = 0; n < nr_outs; n++) {
		ck_assert_uint_eq(outs[n].slot.nr_entries, 12);
		for (uint32_t i = 0; i < 12; i++) {
			const struct cmt_slot_entry *e = &outs[n].entries[i];
			uint32_t rmid = 1 + i / 3, g = 1 + i % 3;

			ck_assert_uint_eq(e->rmid, rmid);
			ck_assert_uint_eq(e->generation, g);
			ck_assert_uint_eq(e->samples, 1);
			ck_assert_uint_eq(e->occupancy_bytes, (10 + n) * 100 + rmid * 10 + g);
		}
	}
}
END_TEST

/* More is handed out than any slot has samples: there is room for it. */
START_TEST(test_carried_many)
{
	for (uint32_t rmid = 1; rmid < 128; rmid++)
		event(CMT_REC_ALLOC, 9 * MS, rmid, 1);
	for (uint32_t rmid = 1; rmid < 128; rmid++)
		add(sample((10 + rmid) * MS, rmid, 1, rmid % 8, rmid));
	tick(200 * MS, 0, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[nr_outs - 1].slot.nr_entries, 127);
	assert_entry(nr_outs - 1, 15, 26 * MS, 0, 16);
}
END_TEST

/* As they are, in their slots, whatever else is between them. */
START_TEST(test_perf)
{
	add(perf(10 * MS, 3, 5, 1, 100));
	add(sample(10 * MS, 5, 1, 0, 1));
	add(perf(11 * MS, 1, 5, 1, 200));
	add(perf(10 * MS + 1, 0, 0, 0, 300));
	add(perf(20 * MS, 0, 0, 0, 400));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 3);
	ck_assert_uint_eq(outs[0].slot.nr_perf, 2);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 1);
	ck_assert_uint_eq(outs[0].perf[0].ts, 10 * MS);
	ck_assert_uint_eq(outs[0].perf[0].cpu, 3);
	ck_assert_uint_eq(outs[0].perf[0].flags, CMT_F_CYCLES);
	ck_assert_uint_eq(outs[0].perf[0].rmid, 5);
	ck_assert_uint_eq(outs[0].perf[0].generation, 1);
	ck_assert_uint_eq(outs[0].perf[0].domain, 7);
	ck_assert_uint_eq(outs[0].perf[0].ran_ns, 500);
	ck_assert_uint_eq(outs[0].perf[0].cycles, 100);
	ck_assert_uint_eq(outs[0].perf[0].instructions, 2);
	ck_assert_uint_eq(outs[0].perf[0].llc_misses, 3);
	ck_assert_uint_eq(outs[0].perf[0].llc_references, 4);
	ck_assert_ptr_null(outs[0].perf[0].owner);
	ck_assert_uint_eq(outs[0].perf[1].cycles, 300);
	ck_assert_uint_eq(outs[1].slot.nr_perf, 1);
	ck_assert_uint_eq(outs[1].perf[0].cycles, 200);
	ck_assert_uint_eq(outs[2].slot.nr_perf, 1);
	ck_assert_uint_eq(outs[2].perf[0].cycles, 400);
	ck_assert_uint_eq(counts().added, 5);
}
END_TEST

static void add_channel(uint64_t ts, uint32_t cpu, uint32_t id, uint64_t read,
			uint32_t flags)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_CHANNEL, .cpu = (uint16_t)cpu,
		.flags = flags, .domain = 1, .channel = id,
		.channels = { read, 2 * read },
	});
}

static void assert_channel(const struct cmt_slot_channel *c, uint32_t id,
			   uint64_t ts, uint64_t read, uint32_t flags)
{
	ck_assert_uint_eq(c->socket, 1);
	ck_assert_uint_eq(c->channel, id);
	ck_assert_uint_eq(c->ts, ts);
	ck_assert_uint_eq(c->read_bytes, read);
	ck_assert_uint_eq(c->written_bytes, 2 * read);
	ck_assert_uint_eq(c->flags, flags);
}

/* Of each channel the last values of the slot, and the flags of all its records. */
START_TEST(test_channels)
{
	add_channel(10 * MS, 2, 7, 100, CMT_F_CHANNEL);
	add_channel(10 * MS + 1, 2, 3, 50, CMT_F_CHANNEL | CMT_F_REBASED);
	add_channel(10 * MS + 9, 3, 7, 200, CMT_F_CHANNEL);
	add_channel(10 * MS + 8, 1, 7, 150, CMT_F_CHANNEL);
	add_channel(10 * MS + 12, 3, 3, 0, CMT_F_UNAVAILABLE);
	add_channel(10 * MS + 5, 0, 9, 0, CMT_F_UNAVAILABLE);
	add_channel(11 * MS, 3, 7, 300, CMT_F_CHANNEL);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 2);
	ck_assert_uint_eq(outs[0].slot.nr_channels, 3);
	assert_channel(&outs[0].channels[0], 3, 10 * MS + 1, 50, CMT_F_CHANNEL |
		       CMT_F_REBASED | CMT_F_UNAVAILABLE);
	assert_channel(&outs[0].channels[1], 7, 10 * MS + 9, 200, CMT_F_CHANNEL);
	ck_assert_uint_eq(outs[0].channels[1].cpu, 3);
	assert_channel(&outs[0].channels[2], 9, 10 * MS + 5, 0,
		       CMT_F_UNAVAILABLE);
	ck_assert_uint_eq(outs[1].slot.nr_channels, 1);
	assert_channel(&outs[1].channels[0], 7, 11 * MS, 300, CMT_F_CHANNEL);
	ck_assert_uint_eq(counts().added, 7);
}
END_TEST

static void add_cycles(uint64_t ts, uint32_t cpu, uint64_t idle, uint32_t flags)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_CHANNEL, .cpu = (uint16_t)cpu,
		.flags = flags, .domain = 1, .channel = 7,
		.channels = { 1, 2, idle, 2 * idle },
	});
}

static void assert_cycles(const struct cmt_slot_channel *c, uint64_t ts,
			  uint64_t idle)
{
	ck_assert_uint_eq(c->cycles_ts, ts);
	ck_assert_uint_eq(c->idle_cycles, idle);
	ck_assert_uint_eq(c->busy_cycles, 2 * idle);
	ck_assert_uint_eq(c->flags & CMT_F_CHANNEL_IDLE,
			  ts ? CMT_F_CHANNEL_IDLE : 0);
}

/* Cycles are in fewer records than bytes, and the last ones count. */
START_TEST(test_channel_cycles)
{
	uint32_t both = CMT_F_CHANNEL | CMT_F_CHANNEL_IDLE;

	add_cycles(10 * MS + 2, 1, 20, both);
	add_cycles(10 * MS + 1, 0, 10, both);
	add_cycles(10 * MS + 3, 1, 0, CMT_F_CHANNEL);
	add_cycles(11 * MS, 1, 0, CMT_F_CHANNEL);
	add_cycles(12 * MS, 2, 40, both);
	add_cycles(12 * MS, 1, 30, both);
	/* cycles without bytes are none */
	add_cycles(12 * MS + 1, 1, 50, CMT_F_CHANNEL_IDLE);
	cmt_slots_flush(slots);
	assert_cycles(&outs[0].channels[0], 10 * MS + 2, 20);
	ck_assert_uint_eq(outs[0].channels[0].ts, 10 * MS + 3);
	assert_cycles(&outs[1].channels[0], 0, 0);
	assert_cycles(&outs[2].channels[0], 12 * MS, 40);
}
END_TEST

/* A stream that makes channels up is dropped, and counted, from the 1,025th on. */
START_TEST(test_channels_bounded)
{
	for (uint32_t i = 0; i < 2000; i++)
		add_channel(10 * MS, 0, UINT32_MAX - i * 77, 1, CMT_F_CHANNEL);
	add_channel(10 * MS + 1, 0, UINT32_MAX, 5, CMT_F_CHANNEL);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].slot.nr_channels, 1024);
	ck_assert_uint_eq(outs[0].slot.channels_dropped, 976);
	ck_assert_uint_eq(counts().channels_dropped, 976);
	ck_assert_uint_eq(counts().added, 1025);
	add_channel(20 * MS, 0, 1, 1, CMT_F_CHANNEL);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[1].slot.nr_channels, 1);
	ck_assert_uint_eq(outs[1].slot.channels_dropped, 0);
}
END_TEST

/* A CPU may say what an owner counted after its FREE, and after the next ALLOC. */
START_TEST(test_perf_owner)
{
	event(CMT_REC_ALLOC, 10 * MS, 5, 1);
	event(CMT_REC_FREE, 11 * MS, 5, 1);
	add(perf(12 * MS, 0, 5, 1, 1));
	event(CMT_REC_ALLOC, 13 * MS, 5, 2);
	add(perf(13 * MS + 1, 0, 5, 1, 2));
	add(perf(13 * MS + 1, 0, 5, 2, 3));
	add(perf(13 * MS + 1, 0, 5, 3, 4));
	add(perf(30 * MS, 0, 5, 1, 5));
	add(perf(30 * MS, 0, 5, 2, 6));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(nr_outs, 5);
	ck_assert_uint_eq(outs[2].ran[0].tgid, 10);
	ck_assert(outs[2].ran[0].freed);
	ck_assert_uint_eq(outs[3].slot.nr_perf, 3);
	ck_assert_uint_eq(outs[3].ran[0].tgid, 10);
	ck_assert_uint_eq(outs[3].ran[1].tgid, 20);
	ck_assert_ptr_null(outs[3].perf[2].owner);
	ck_assert_uint_eq(outs[4].ran[0].tgid, 10);
	ck_assert_uint_eq(outs[4].ran[1].tgid, 20);
}
END_TEST

/* A slot takes so many of them, and says how many there were more. */
START_TEST(test_perf_bounded)
{
	const uint32_t max = 3 * 4 * 256;

	start(3 * MS, 2);
	for (uint32_t i = 0; i < max + 5; i++)
		add(perf(12 * MS, i % 4, 5, 1 + i, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[0].slot.nr_perf, max);
	ck_assert_uint_eq(outs[0].slot.perf_dropped, 5);
	ck_assert_uint_eq(counts().added, max);
	ck_assert_uint_eq(counts().perf_dropped, 5);
	add(perf(15 * MS, 0, 5, 1, 1));
	cmt_slots_flush(slots);
	ck_assert_uint_eq(outs[1].slot.nr_perf, 1);
	ck_assert_uint_eq(outs[1].slot.perf_dropped, 0);
}
END_TEST

START_TEST(test_perf_malformed)
{
	add(perf(10 * MS, 4, 5, 1, 1));
	add(perf(10 * MS, 0, 128, 1, 1));
	add(perf(10 * MS, 0, 5, 0, 1));
	add(perf(10 * MS, 0, 0, 1, 1));
	ck_assert_uint_eq(counts().malformed, 4);
	add(perf(20 * MS, 0, 5, 1, 1));
	add(perf(10 * MS, 0, 5, 1, 1));
	ck_assert_uint_eq(counts().late, 1);
	ck_assert_uint_eq(counts().added, 1);
}
END_TEST

START_TEST(test_state_is_known)
{
	event(CMT_REC_STATE, 10 * MS, 0, 0);
	cmt_slots_flush(slots);
	ck_assert_uint_eq(counts().added, 1);
	ck_assert_uint_eq(counts().unknown, 0);
	ck_assert_uint_eq(nr_outs, 1);
	ck_assert_uint_eq(outs[0].slot.nr_entries, 0);
	ck_assert_uint_eq(outs[0].slot.nr_cpus, 0);
}
END_TEST

/* The entries of the slot before, as they were; and how often cmt_slots_read() answered. */
static struct cmt_slot_entry earlier[NR_RMIDS * 2];
static const struct cmt_slot_entry *addresses[NR_RMIDS * 2];
static uint32_t nr_earlier, nr_answers, nr_no_answers;

static bool is_in(const uint32_t *list, uint32_t nr, uint32_t n)
{
	while (nr--)
		if (list[nr] == n)
			return true;
	return false;
}

/* Without a reading, nothing of an entry changes but its age. */
static void check_kept(const struct cmt_slot_entry *e, uint32_t i)
{
	const struct cmt_slot_entry *before = &earlier[i];

	ck_assert_ptr_eq(e, addresses[i]);
	ck_assert_uint_eq(e->samples, 0);
	ck_assert_uint_eq(e->ts, before->ts);
	ck_assert_uint_eq(e->occupancy_bytes, before->occupancy_bytes);
	ck_assert_uint_eq(e->mbm_total_bytes, before->mbm_total_bytes);
}

/* An index that is listed has a reading, and the same identity. */
static int check_read(void *ctx, const struct cmt_slot *slot)
{
	uint32_t nr;
	const uint32_t *read = cmt_slots_read(slots, &nr);

	(void)ctx;
	ck_assert_uint_le(slot->nr_entries, NR_RMIDS * 2);
	nr_answers += read != NULL;
	nr_no_answers += !read;
	if (read)
		ck_assert_uint_eq(slot->nr_entries, nr_earlier);
	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *e = cmt_slot_entry_at(slot, i);
		const struct cmt_slot_entry *before = &earlier[i];

		if (read) {
			ck_assert_uint_eq(e->rmid, before->rmid);
			ck_assert_uint_eq(e->domain, before->domain);
			ck_assert_uint_eq(e->generation, before->generation);
			ck_assert_ptr_eq(e->owner, before->owner);
			ck_assert_uint_eq(is_in(read, nr, i), e->samples != 0);
		}
		if (read && !e->samples)
			check_kept(e, i);
		earlier[i] = *e;
		addresses[i] = e;
	}
	nr_earlier = slot->nr_entries;
	return 0;
}

/* Owners come, go and are called otherwise, some of them read late. */
START_TEST(test_read_of_same_entries)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = NR_RMIDS, .nr_cpus = 4,
	};
	uint32_t generations[NR_RMIDS] = { 0 };

	cmt_slots_free(slots);
	ck_assert_int_eq(cmt_slots_new(&slots, &opts, check_read, NULL), 0);
	nr_earlier = nr_answers = nr_no_answers = 0;
	srandom(1);
	for (uint64_t ms = 10; ms < 3000; ms++) {
		uint32_t rmid = 1 + (uint32_t)random() % 20;

		if (random() % 60 == 0) {
			if (generations[rmid] && random() % 2)
				event(CMT_REC_FREE, ms * MS + 1, rmid, generations[rmid]);
			else if (generations[rmid] && random() % 2)
				event(CMT_REC_UPDATE, ms * MS + 1, rmid, generations[rmid]);
			else
				event(CMT_REC_ALLOC, ms * MS + 1, rmid, ++generations[rmid]);
		}
		for (int i = 0; i < 8; i++) {
			rmid = 1 + (uint32_t)random() % 20;
			if (generations[rmid])
				add(sample((ms - (uint64_t)random() % 3) * MS + 2, rmid,
					   generations[rmid], (uint32_t)random() % 2,
					   (uint64_t)random()));
		}
	}
	ck_assert_int_eq(cmt_slots_flush(slots), 0);
	ck_assert_uint_ge(nr_answers, 300);
	ck_assert_uint_ge(nr_no_answers, 300);
}
END_TEST

/* Any bytes at all: nothing breaks, everything is counted. */
START_TEST(test_random_bytes)
{
	unsigned int seed = 3;
	uint64_t n = 20000;

	start(10000, 64);
	for (uint64_t i = 0; i < n; i++) {
		struct cmt_record record;
		unsigned char *bytes = (unsigned char *)&record;

		for (size_t k = 0; k < sizeof(record); k++)
			bytes[k] = (unsigned char)rand_r(&seed);
		record.type %= 40;
		record.cpu %= 5;
		record.rmid %= 130;
		record.ts = 1000 * MS + record.ts % (20 * i + 1);
		add(record);
		if (nr_outs > OUT_MAX - 70)
			nr_outs = 0;
	}
	struct cmt_slots_counts c = counts();

	ck_assert_uint_eq(c.added + c.late + c.malformed + c.unknown +
			  c.perf_dropped + c.channels_dropped, n);
	ck_assert_uint_gt(c.added, 0);
	ck_assert_uint_gt(c.malformed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slots");
	TCase *tcase = tcase_create("slots");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_new_options);
	tcase_add_test(tcase, test_window_retires_oldest);
	tcase_add_test(tcase, test_callback_stops);
	tcase_add_test(tcase, test_stride);
	tcase_add_test(tcase, test_out_of_order_and_late);
	tcase_add_test(tcase, test_entries_sorted_and_last_value);
	tcase_add_test(tcase, test_flags_of_any_sample);
	tcase_add_test(tcase, test_order_of_samples);
	tcase_add_test(tcase, test_owner_of_the_time);
	tcase_add_test(tcase, test_tracker_advances_with_slots);
	tcase_add_test(tcase, test_existing_before_window);
	tcase_add_test(tcase, test_events_of_an_rmid_bounded);
	tcase_add_test(tcase, test_events_bounded);
	tcase_add_test(tcase, test_owners_of_snapshots_bounded);
	tcase_add_loop_test(tcase, test_update_after_snapshot, 0, 2);
	tcase_add_test(tcase, test_sync_frees_at_its_time);
	tcase_add_test(tcase, test_cpus);
	tcase_add_test(tcase, test_lost_counted_in_slots);
	tcase_add_test(tcase, test_counts_by_kind);
	tcase_add_test(tcase, test_corrupt_stream_bounded);
	tcase_add_test(tcase, test_time_wraps);
	tcase_add_test(tcase, test_carried_and_aged);
	tcase_add_test(tcase, test_carried_without_value);
	tcase_add_test(tcase, test_carried_until_free);
	tcase_add_test(tcase, test_carried_until_reallocated);
	tcase_add_test(tcase, test_carried_and_lost_records);
	tcase_add_test(tcase, test_carried_flags_of_value);
	tcase_add_test(tcase, test_carried_and_new_domain);
	tcase_add_test(tcase, test_carried_until_known_free);
	tcase_add_test(tcase, test_owner_after_samples);
	tcase_add_test(tcase, test_carried_and_late_record);
	tcase_add_test(tcase, test_carried_out_of_order);
	tcase_add_test(tcase, test_carried_whose_owner);
	tcase_add_test(tcase, test_carried_by_domain);
	tcase_add_loop_test(tcase, test_carried_after_several_generations, 0, 2);
	tcase_add_test(tcase, test_generations_of_each_slot);
	tcase_add_test(tcase, test_carried_many);
	tcase_add_test(tcase, test_perf);
	tcase_add_test(tcase, test_channels);
	tcase_add_test(tcase, test_channels_bounded);
	tcase_add_test(tcase, test_channel_cycles);
	tcase_add_test(tcase, test_perf_owner);
	tcase_add_test(tcase, test_perf_bounded);
	tcase_add_test(tcase, test_perf_malformed);
	tcase_add_test(tcase, test_state_is_known);
	tcase_add_test(tcase, test_read_of_same_entries);
	tcase_add_test(tcase, test_random_bytes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
