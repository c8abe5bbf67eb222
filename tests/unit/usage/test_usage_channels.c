// SPDX-License-Identifier: GPL-2.0-or-later
/* What memory channels carried, from records to frames, without a device. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MS 1000000ULL
#define T0 (100 * MS)
#define MAX 1024	/* channels that a usage knows */

static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static void setup(void)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_PROCESS,
		.interval_ns = 101 * MS, .nr_rmids = 8, .nr_cpus = 4,
		.unit_bytes = 64, .counters = CMT_F_CHANNEL,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
}

static void teardown(void)
{
	cmt_usage_free(usage);
	usage = NULL;
}

static void add(struct cmt_record record)
{
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static struct cmt_record channel(uint64_t ms, uint32_t socket, uint32_t id,
				 uint64_t read, uint64_t written)
{
	return (struct cmt_record){
		.ts = T0 + ms * MS + id % 1000, .type = CMT_REC_CHANNEL,
		.flags = CMT_F_CHANNEL, .domain = socket, .channel = id,
		.channels = { read, written },
	};
}

static void put(uint64_t ms, uint32_t socket, uint32_t id, uint64_t read,
		uint64_t written)
{
	add(channel(ms, socket, id, read, written));
}

static void put_flags(uint64_t ms, uint32_t socket, uint32_t id, uint64_t read,
		      uint64_t written, uint32_t flags)
{
	struct cmt_record record = channel(ms, socket, id, read, written);

	record.flags = flags;
	add(record);
}

static void gone(uint64_t ms, uint32_t socket, uint32_t id)
{
	put_flags(ms, socket, id, 0, 0, CMT_F_UNAVAILABLE);
}

/* It moves the time, and nothing else. */
static void tick(uint64_t ms)
{
	add((struct cmt_record){
		.ts = T0 + ms * MS, .type = CMT_REC_TICK, .interval_ns = MS,
	});
}

/* Ends where the next one begins, in the last slot that has a record. */
static void close_frame(uint32_t nr_channels)
{
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->nr_channels, nr_channels);
	ck_assert_uint_eq(frame->channel_size,
			  sizeof(struct cmt_usage_channel));
}

static const struct cmt_usage_channel *channel_of(uint32_t i, uint32_t socket,
						  uint32_t id)
{
	const struct cmt_usage_channel *c = cmt_usage_channel_at(frame, i);

	ck_assert_uint_eq(c->socket, socket);
	ck_assert_uint_eq(c->channel, id);
	return c;
}

static void assert_rate(const struct cmt_usage_rate *r, uint64_t bytes,
			double rate)
{
	ck_assert(r->known && !r->partial);
	ck_assert_uint_eq(r->why, 0);
	ck_assert_uint_eq(r->bytes, bytes);
	ck_assert_double_eq_tol(r->rate, rate, rate / 1e6 + 1e-3);
	ck_assert(r->lo <= r->rate && r->rate <= r->hi && isfinite(r->hi));
}

static void assert_unknown(const struct cmt_usage_rate *r, uint32_t why)
{
	ck_assert(!r->known && !r->partial);
	ck_assert_uint_eq(r->why & why, why);
	ck_assert(isnan(r->rate) && isinf(r->hi));
}

static void assert_partial(const struct cmt_usage_rate *r, uint64_t bytes)
{
	ck_assert(r->known && r->partial);
	ck_assert_uint_eq(r->why & CMT_USAGE_WHY_GAP, CMT_USAGE_WHY_GAP);
	ck_assert_uint_eq(r->bytes, bytes);
	ck_assert(isinf(r->hi) && r->lo <= r->rate);
}

/* Two sockets of two channels: what each carried, and all of them. */
START_TEST(test_sums)
{
	const struct cmt_usage_memory *m;
	const struct cmt_usage_channel *c;

	for (uint64_t ms = 0; ms <= 100; ms++)
		for (uint32_t i = 0; i < 4; i++)
			put(ms, 1 - i / 2, 1 - i % 2, (i + 1) * 1000 * ms,
			    (i + 1) * 100 * ms);
	close_frame(4);
	c = channel_of(0, 0, 0);
	assert_rate(&c->read, 400000, 4e6);
	assert_rate(&c->written, 40000, 4e5);
	assert_rate(&c->total, 440000, 4.4e6);
	ck_assert_uint_eq(c->why, 0);
	assert_rate(&channel_of(1, 0, 1)->read, 300000, 3e6);
	assert_rate(&channel_of(2, 1, 0)->read, 200000, 2e6);
	assert_rate(&channel_of(3, 1, 1)->read, 100000, 1e6);
	m = &frame->memory;
	assert_rate(&m->read, 1000000, 1e7);
	assert_rate(&m->written, 100000, 1e6);
	assert_rate(&m->total, 1100000, 1.1e7);
	ck_assert_str_eq(frame->channels_reason, "");
}
END_TEST

/* As many channels as there are, which come in the same order in each slot. */
START_TEST(test_any_number)
{
	for (uint32_t nr = 1; nr <= 70; nr++) {
		teardown();
		setup();
		for (uint64_t ms = 0; ms <= 100; ms += 50)
			for (uint32_t i = 0; i < nr; i++)
				put(ms, i / 8, i % 8, 1000 * ms, 0);
		close_frame(nr);
		assert_rate(&frame->memory.read, 100000ULL * nr, 1e6 * nr);
	}
}
END_TEST

/* A difference goes to the interval in which it ends. */
START_TEST(test_goes_on)
{
	for (uint64_t ms = 0; ms < 250; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	assert_rate(&channel_of(0, 0, 0)->read, 100000, 1e6);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->end_ns, T0 + 202 * MS);
	assert_rate(&channel_of(0, 0, 0)->read, 101000, 1e6);
	assert_rate(&frame->memory.read, 101000, 1e6);
}
END_TEST

START_TEST(test_first_reading)
{
	put(0, 0, 0, 5000, 0);
	close_frame(1);
	assert_unknown(&channel_of(0, 0, 0)->read, CMT_USAGE_WHY_FIRST);
	assert_unknown(&frame->memory.read, CMT_USAGE_WHY_FIRST);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert(isnan(frame->memory.unattributed.rate));
}
END_TEST

/* Without channels nothing is 0. */
START_TEST(test_no_channels)
{
	tick(0);
	tick(10);
	close_frame(0);
	assert_unknown(&frame->memory.total, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert_str_eq(frame->channels_reason, "");
}
END_TEST

static void lose(uint64_t ms, uint64_t until_ms)
{
	struct cmt_record lost = {
		.ts = T0 + ms * MS, .type = CMT_REC_LOST,
	};
	const uint64_t gap[3] = { 7, T0 + ms * MS, T0 + until_ms * MS };

	memcpy(lost.payload, gap, sizeof(gap));
	add(lost);
}

/* The values are sums: what is lost between two readings is in their difference. */
START_TEST(test_lost_between)
{
	for (uint64_t ms = 0; ms <= 10; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	lose(10, 90);
	for (uint64_t ms = 90; ms <= 100; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	close_frame(1);
	ck_assert_uint_eq(frame->lost, 7);
	ck_assert_uint_gt(frame->nr_gaps, 0);
	assert_rate(&channel_of(0, 0, 0)->read, 100000, 1e6);
}
END_TEST

/* Lost to the end of the interval: what is known is a lower bound, over all of it. */
START_TEST(test_lost_at_the_end)
{
	const struct cmt_usage_channel *c;

	for (uint64_t ms = 0; ms <= 50; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	lose(50, 99);
	tick(100);
	close_frame(1);
	c = channel_of(0, 0, 0);
	assert_partial(&c->read, 50000);
	ck_assert_double_eq_tol(c->read.rate, 50000 / 0.101, 1);
	assert_partial(&frame->memory.read, 50000);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert(isinf(frame->memory.unattributed.hi));
}
END_TEST

/* Traffic of intervals in which the channel was not read is of none of them. */
START_TEST(test_lost_for_intervals)
{
	put(0, 0, 0, 0, 0);
	put(90, 0, 0, 1000, 0);
	tick(150);
	tick(250);
	for (uint64_t ms = 380; ms <= 504; ms++)
		put(ms, 0, 0, 1000000 + ms, 0);
	close_frame(1);
	ck_assert_uint_eq(frame->start_ns, T0);
	assert_rate(&channel_of(0, 0, 0)->read, 1000, 1e6 / 90);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	assert_unknown(&channel_of(0, 0, 0)->read, CMT_USAGE_WHY_OLD);
	assert_unknown(&frame->memory.read, CMT_USAGE_WHY_OLD);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, T0 + 303 * MS);
	assert_partial(&channel_of(0, 0, 0)->read, 23);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	assert_rate(&channel_of(0, 0, 0)->read, 101, 1000);
}
END_TEST

/* A channel that comes late, beside one that was always there. */
START_TEST(test_late_channel)
{
	for (uint64_t ms = 0; ms <= 100; ms++) {
		put(ms, 0, 0, 1000 * ms, 0);
		if (ms >= 50)
			put(ms, 0, 1, 1000 * ms, 0);
	}
	close_frame(2);
	assert_rate(&channel_of(0, 0, 0)->read, 100000, 1e6);
	assert_partial(&channel_of(1, 0, 1)->read, 50000);
	assert_partial(&frame->memory.read, 150000);
}
END_TEST

/* Another program takes the box; then it is free again, and counts from anew. */
START_TEST(test_taken_by_others)
{
	for (uint64_t ms = 0; ms < 100; ms++) {
		put(ms, 0, 0, 1000 * ms, 0);
		if (ms < 40)
			put(ms, 0, 1, 1000 * ms, 0);
		if (ms == 40)
			gone(ms, 0, 1);
	}
	close_frame(2);
	assert_rate(&channel_of(0, 0, 0)->read, 99000, 1e6);
	assert_partial(&channel_of(1, 0, 1)->read, 39000);
	ck_assert_uint_eq(channel_of(1, 0, 1)->why & CMT_USAGE_WHY_UNAVAILABLE,
			  CMT_USAGE_WHY_UNAVAILABLE);
	for (uint64_t ms = 100; ms < 200; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	close_frame(2);
	assert_unknown(&channel_of(1, 0, 1)->read, CMT_USAGE_WHY_UNAVAILABLE);
	assert_unknown(&frame->memory.read, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert_double_eq_tol(frame->memory.read.lo, 1e6, 1e3);
	for (uint64_t ms = 200; ms < 300; ms++) {
		put(ms, 0, 0, 1000 * ms, 0);
		put_flags(ms, 0, 1, 39000 + ms, 0, CMT_F_CHANNEL |
			  (ms == 200 ? CMT_F_REBASED : 0));
	}
	close_frame(2);
	assert_partial(&channel_of(1, 0, 1)->read, 99);
	for (uint64_t ms = 300; ms < 400; ms++) {
		put(ms, 0, 0, 1000 * ms, 0);
		put(ms, 0, 1, 39000 + ms, 0);
	}
	close_frame(2);
	assert_rate(&channel_of(1, 0, 1)->read, 100, 1000);
	assert_rate(&frame->memory.read, 100100, 1001000);
}
END_TEST

/* A sum that goes back is no sum: it is not subtracted. */
START_TEST(test_goes_back)
{
	for (uint64_t ms = 0; ms <= 100; ms++) {
		put(ms, 0, 0, 1000 * (ms % 50), 0);
		put(ms, 0, 1, 1000 * ms, 1000 * (ms % 50));
	}
	close_frame(2);
	assert_partial(&channel_of(0, 0, 0)->read, 98000);
	assert_partial(&channel_of(1, 0, 1)->read, 98000);
	assert_partial(&channel_of(1, 0, 1)->written, 98000);
}
END_TEST

/* What a channel carried while it was not read may be in its sum, or not. */
START_TEST(test_rebased)
{
	for (uint64_t ms = 0; ms <= 100; ms++)
		put_flags(ms, 0, 0, 1000 * ms, 0, CMT_F_CHANNEL |
			  (ms == 50 ? CMT_F_REBASED : 0));
	close_frame(1);
	assert_partial(&channel_of(0, 0, 0)->read, 99000);
}
END_TEST

/* After "unavailable" a reading continues no other one, whatever it says. */
START_TEST(test_continues_nothing)
{
	for (uint64_t ms = 0; ms <= 100; ms++)
		if (ms == 50)
			gone(ms, 0, 0);
		else
			put(ms, 0, 0, 1000 * ms, 0);
	close_frame(1);
	assert_partial(&channel_of(0, 0, 0)->read, 98000);
	/* also where hardly anything is left out */
	for (uint64_t ms = 101; ms < 200; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	gone(200, 0, 0);
	close_frame(1);
	assert_partial(&channel_of(0, 0, 0)->read, 99000);
}
END_TEST

/* The CPU that reads has changed: two rings have the records, in any order. */
START_TEST(test_other_reader)
{
	struct cmt_record record;

	for (uint64_t ms = 0; ms <= 100; ms++) {
		record = channel(ms, 0, 5, 1000 * ms, 0);
		record.cpu = ms < 50 ? 2 : 1;
		add(record);
		/* an older one, of the same slot */
		record.ts--;
		record.cpu = 3;
		record.channels.read_bytes -= ms ? 500 : 0;
		add(record);
	}
	close_frame(1);
	assert_rate(&channel_of(0, 0, 5)->read, 100000, 1e6);
}
END_TEST

static void sample(uint64_t ms, uint32_t rmid, uint64_t bytes, uint32_t flags)
{
	add((struct cmt_record){
		.ts = T0 + ms * MS, .type = CMT_REC_SAMPLE, .rmid = rmid,
		.flags = flags, .generation = rmid ? 1 : 0,
		.sample.mbm_total_bytes = bytes,
	});
}

static void own(uint32_t rmid)
{
	struct cmt_record record = {
		.ts = 1, .type = CMT_REC_EXISTING, .rmid = rmid,
		.generation = 1, .tgid = 100 + rmid,
	};

	record.owner.cgroup_id = rmid;
	add(record);
}

/* 1 kB of the channel in a ms, and of RMID 1 and RMID 0 together @rmids bytes. */
static void run_both(uint64_t rmids, uint32_t flags)
{
	own(1);
	for (uint64_t ms = 0; ms <= 100; ms++) {
		sample(ms, 1, ms * (rmids - rmids / 4), flags);
		sample(ms, 0, ms * (rmids / 4), flags);
		put(ms, 0, 0, 800 * ms, 200 * ms);
	}
	close_frame(1);
}

START_TEST(test_unattributed)
{
	const struct cmt_usage_memory *m;

	run_both(800, CMT_F_MBM_TOTAL);
	m = &frame->memory;
	assert_rate(&m->total, 100000, 1e6);
	assert_rate(&m->rmids, 80000, 8e5);
	ck_assert(m->unattributed.known);
	ck_assert_uint_eq(m->unattributed.why, 0);
	ck_assert_double_eq_tol(m->unattributed.rate, 2e5, 10);
	ck_assert(m->unattributed.lo < m->unattributed.rate);
	ck_assert(m->unattributed.rate < m->unattributed.hi);
	/* two readings of two RMIDs, each off by two units of 64 bytes */
	ck_assert_double_eq_tol(m->unattributed.hi - m->unattributed.lo,
				2 * 2560 + 2 * 2e6 * 0.0004, 200);
}
END_TEST

/* A channel of which a part is not known, beside RMIDs that are. */
START_TEST(test_unattributed_of_a_part)
{
	own(1);
	for (uint64_t ms = 0; ms <= 100; ms++) {
		sample(ms, 1, ms * 600, CMT_F_MBM_TOTAL);
		sample(ms, 0, ms * 200, CMT_F_MBM_TOTAL);
		if (ms <= 50)
			put(ms, 0, 0, 1000 * ms, 0);
	}
	close_frame(1);
	ck_assert(frame->memory.total.partial && !frame->memory.rmids.partial);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert(isinf(frame->memory.unattributed.hi));
	ck_assert(isfinite(frame->memory.unattributed.lo));
}
END_TEST

/* RMIDs may have counted more than the memory carried. */
START_TEST(test_unattributed_below_0)
{
	run_both(1200, CMT_F_MBM_TOTAL);
	ck_assert(frame->memory.unattributed.known);
	ck_assert_double_eq_tol(frame->memory.unattributed.rate, -2e5, 10);
}
END_TEST

START_TEST(test_no_rmids)
{
	run_both(800, CMT_F_UNAVAILABLE);
	assert_rate(&frame->memory.total, 100000, 1e6);
	assert_unknown(&frame->memory.rmids, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert_uint_eq(frame->memory.unattributed.why &
			  CMT_USAGE_WHY_UNAVAILABLE,
			  CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert(isnan(frame->memory.unattributed.rate));
	ck_assert(isinf(frame->memory.unattributed.lo));
}
END_TEST

/* What a model moves is no part of what a memory carries. */
START_TEST(test_model)
{
	run_both(800, CMT_F_MBM_TOTAL | CMT_F_EMULATED);
	ck_assert(frame->emulated);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert(isinf(frame->memory.unattributed.lo) &&
		  isinf(frame->memory.unattributed.hi));
}
END_TEST

/* Without RMID 0, the sum is not of all RMIDs. */
START_TEST(test_without_rmid_0)
{
	own(1);
	for (uint64_t ms = 0; ms <= 100; ms++) {
		sample(ms, 1, ms * 800, CMT_F_MBM_TOTAL);
		put(ms, 0, 0, 1000 * ms, 0);
	}
	close_frame(1);
	ck_assert(frame->memory.rmids.known && frame->memory.rmids.partial);
	ck_assert_uint_eq(frame->memory.rmids.why, CMT_USAGE_WHY_OLD);
	ck_assert(!frame->memory.unattributed.known);
}
END_TEST

/* An RMID that counted from somewhere on: its bound is one of the rest, too. */
START_TEST(test_partial_rmids)
{
	own(1);
	for (uint64_t ms = 0; ms <= 100; ms++) {
		sample(ms, 1, ms * 800, CMT_F_MBM_TOTAL |
		       (ms == 50 ? CMT_F_REBASED : 0));
		put(ms, 0, 0, 1000 * ms, 0);
	}
	close_frame(1);
	ck_assert(frame->memory.rmids.partial);
	ck_assert(!frame->memory.unattributed.known);
	ck_assert(isinf(frame->memory.unattributed.lo));
	ck_assert_double_eq_tol(frame->memory.unattributed.hi, 2.08e5, 5000);
}
END_TEST

static void read_one(uint64_t from)
{
	for (uint64_t ms = from; ms < from + 100; ms++)
		put(ms, 0, 0, 1000 * ms, 0);
	close_frame(1);
}

/* What the module says of channels that have no records. */
START_TEST(test_uncore)
{
	struct cmt_uncore uncore = {
		.count = 8, .channels = 2, .reason = "not this one",
	};

	ck_assert_int_eq(cmt_usage_set_uncore(usage, &uncore), 0);
	read_one(0);
	assert_rate(&channel_of(0, 0, 0)->read, 99000, 1e6);
	assert_unknown(&frame->memory.read, CMT_USAGE_WHY_UNAVAILABLE);
	uncore.channels = 1;
	cmt_usage_set_uncore(usage, &uncore);
	read_one(100);
	assert_rate(&frame->memory.read, 100000, 1e6);
	ck_assert_str_eq(frame->channels_reason, "");
	memset(uncore.channels_reason, 'x', sizeof(uncore.channels_reason));
	cmt_usage_set_uncore(usage, &uncore);
	read_one(200);
	assert_unknown(&frame->memory.read, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert_uint_eq(strlen(frame->channels_reason), 79);
	uncore.count = 0;
	cmt_usage_set_uncore(usage, &uncore);
	read_one(300);
	ck_assert_str_eq(frame->channels_reason, "not this one");
	cmt_usage_set_uncore(usage, NULL);
	read_one(400);
	assert_rate(&frame->memory.read, 100000, 1e6);
}
END_TEST

START_TEST(test_peek)
{
	put(0, 0, 0, 0, 0);
	put(20, 0, 0, 20000, 0);
	put(30, 0, 0, 30000, 0);
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	ck_assert_uint_eq(frame->nr_channels, 1);
	assert_rate(&channel_of(0, 0, 0)->read, 20000, 1e6);
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	assert_rate(&channel_of(0, 0, 0)->read, 20000, 1e6);
	close_frame(1);
	assert_rate(&channel_of(0, 0, 0)->read, 30000, 1e6);
}
END_TEST

/* Any number is a socket's and a channel's, and values as large as there are. */
START_TEST(test_hostile_values)
{
	put(0, UINT32_MAX, UINT32_MAX, 0, 0);
	put(0, 0, 4000000000U, UINT64_MAX - 100000, 0);
	for (uint64_t ms = 1; ms <= 100; ms++) {
		put(ms, UINT32_MAX, UINT32_MAX, ms, UINT64_MAX);
		put(ms, 0, 4000000000U, UINT64_MAX, 0);
	}
	close_frame(2);
	assert_rate(&channel_of(0, 0, 4000000000U)->read, 100000, 1e6);
	assert_rate(&channel_of(1, UINT32_MAX, UINT32_MAX)->read, 100, 1000);
}
END_TEST

/* A stream that makes channels up: so many, no more memory, and no sum is known. */
START_TEST(test_too_many)
{
	for (uint64_t ms = 0; ms <= 100; ms++)
		for (uint32_t i = 0; i < 10; i++)
			put(ms, i, (uint32_t)ms * 77, 1000 * ms, 0);
	close_frame(1010);
	for (uint64_t ms = 101; ms <= 200; ms++)
		for (uint32_t i = 0; i < 20; i++)
			put(ms, i, (uint32_t)ms * 77, 1000 * ms, 0);
	close_frame(MAX);
	ck_assert(!frame->memory.total.known);
	for (uint32_t i = 0; i < MAX + 5; i++)
		put(201, 0, i, 0, 0);
	close_frame(MAX);
	ck_assert_uint_eq(frame->dropped, 5);
	ck_assert(!frame->memory.total.known);
}
END_TEST

/* All that there is room for are known, and one more is not. */
START_TEST(test_one_too_many)
{
	for (uint32_t i = 0; i < MAX; i++)
		put(0, 0, i, 0, 0);
	put(50, 0, MAX, 0, 0);
	for (uint32_t i = 0; i < MAX; i++)
		put(100, 0, i, 1, 0);
	close_frame(MAX);
	ck_assert(channel_of(MAX - 1, 0, MAX - 1)->read.known);
	ck_assert(!frame->memory.read.known);
}
END_TEST

/* Channels that are all the same, with every value that a byte can have. */
START_TEST(test_random_bytes)
{
	struct cmt_record record = { .type = CMT_REC_CHANNEL };
	unsigned char *bytes = (unsigned char *)&record;

	srand(1);
	for (uint32_t i = 0; i < 20000; i++) {
		for (size_t at = 12; at < sizeof(record); at++)
			bytes[at] = (unsigned char)rand();
		record.ts = T0 + i * 10000;
		record.domain %= 3;
		record.channel %= 3;
		add(record);
		if (i % 100 == 0)
			ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	}
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	while (cmt_usage_next(usage, &frame))
		ck_assert_uint_le(frame->nr_channels, 9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_channels");
	TCase *tcase = tcase_create("usage_channels");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_sums);
	tcase_add_test(tcase, test_any_number);
	tcase_add_test(tcase, test_goes_on);
	tcase_add_test(tcase, test_first_reading);
	tcase_add_test(tcase, test_no_channels);
	tcase_add_test(tcase, test_lost_between);
	tcase_add_test(tcase, test_lost_at_the_end);
	tcase_add_test(tcase, test_lost_for_intervals);
	tcase_add_test(tcase, test_late_channel);
	tcase_add_test(tcase, test_taken_by_others);
	tcase_add_test(tcase, test_goes_back);
	tcase_add_test(tcase, test_rebased);
	tcase_add_test(tcase, test_continues_nothing);
	tcase_add_test(tcase, test_other_reader);
	tcase_add_test(tcase, test_unattributed);
	tcase_add_test(tcase, test_unattributed_of_a_part);
	tcase_add_test(tcase, test_unattributed_below_0);
	tcase_add_test(tcase, test_no_rmids);
	tcase_add_test(tcase, test_model);
	tcase_add_test(tcase, test_without_rmid_0);
	tcase_add_test(tcase, test_partial_rmids);
	tcase_add_test(tcase, test_uncore);
	tcase_add_test(tcase, test_peek);
	tcase_add_test(tcase, test_hostile_values);
	tcase_add_test(tcase, test_too_many);
	tcase_add_test(tcase, test_one_too_many);
	tcase_add_test(tcase, test_random_bytes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
