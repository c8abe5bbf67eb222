// SPDX-License-Identifier: GPL-2.0-or-later
/* What a page of cmtstat report has: points, how they are coded, and from which frames. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/base64.h"
#include "report/output.h"
#include "report/page.h"
#include "report/print.h"
#include "unit.h"

#define MS	1000000ULL
#define T0	(1000 * MS)
#define UNIT	4096U

/* What a browser would read. */
struct seen {
	uint32_t mean, least, most, rate, rate_most, local;
	uint32_t part;		/* there, of THERE_WHOLE */
	uint8_t note;
	bool there;
};

static struct spool spool;
static struct model *model;
static struct cmt_usage_row rows[4];
static struct cmt_usage_frame frame;
static struct cmt_container containers[4];

static uint64_t take(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

static int64_t take_signed(const uint8_t **at)
{
	uint64_t value = take(at);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void take_values(const uint8_t **at, struct seen *p, bool fine)
{
	p->there = true;
	p->mean = (uint32_t)(p->mean + take_signed(at));
	p->least = p->most = p->mean;
	if (p->mean && !fine) {
		p->least -= (uint32_t)take(at);
		p->most += (uint32_t)take(at);
	}
	p->rate = (uint32_t)(p->rate + take_signed(at));
	p->rate_most = p->rate;
	if (p->rate && !fine)
		p->rate_most += (uint32_t)take(at);
	p->local = (uint32_t)(p->local + take_signed(at));
}

static void decode(const uint8_t *at, const uint8_t *end, struct seen *seen, bool fine)
{
	struct seen p = { 0 };
	uint32_t n = 0;

	while (at < end) {
		uint64_t header = take(&at), nr = (header >> 3) + 1;

		ck_assert_uint_le(n + nr, PYRAMID_BLOCK);
		for (uint64_t i = 0; i < nr; i++, n++) {
			if ((header & 7) >= STREAM_VALUES) {
				p.part = (header & 7) == STREAM_BRIEF ? (uint32_t)take(&at) :
									THERE_WHOLE;
				p.note = (header & 7) >= STREAM_NOTED ? *at++ : NOTE_SHARE;
				take_values(&at, &p, fine);
			}
			if ((header & 7) >= STREAM_SAME)
				seen[n] = p;
			else
				seen[n] = (struct seen){
					.there = (header & 7) == STREAM_UNKNOWN,
				};
		}
	}
	ck_assert_ptr_eq(at, end);
}

/* Points of a member in a block; false: the block has none. */
static bool find_stream(const uint8_t *at, const uint8_t *end, uint32_t member,
			struct seen *seen, bool fine)
{
	while (at < end) {
		uint64_t who = take(&at), len = take(&at);

		if (who == member)
			decode(at, at + len, seen, fine);
		if (who == member)
			return true;
		at += len;
	}
	return false;
}

static struct seen point_at(uint32_t level, uint64_t index, uint32_t member)
{
	struct seen seen[PYRAMID_BLOCK] = { 0 };
	struct bytes bytes = { 0 };

	for (uint32_t i = 0; i < spool.nr; i++) {
		const struct blob *blob = &spool.blobs[i];
		uLongf len = blob->raw;
		uint8_t *raw;

		if (blob->level != level || blob->block != index / PYRAMID_BLOCK)
			continue;
		raw = malloc(blob->raw);
		ck_assert_int_eq(spool_read(&spool, blob, &bytes), 0);
		ck_assert_int_eq(uncompress(raw, &len, bytes.at, bytes.len), Z_OK);
		find_stream(raw, raw + len, member, seen, !level);
		free(raw);
	}
	bytes_free(&bytes);
	return seen[index % PYRAMID_BLOCK];
}

static void setup(void)
{
	ck_assert_int_eq(spool_open(&spool, "."), 0);
	model = calloc(1, sizeof(*model));
	model_init(model, &spool, UNIT, T0);
	frame = (struct cmt_usage_frame){
		.by = CMT_USAGE_BY_CONTAINER, .rows = rows, .row_size = sizeof(rows[0]),
		.nr_cpus = 1, .nr_domains = 1, .sampling_ns = MS,
	};
}

static void teardown(void)
{
	model_free(model);
	free(model);
	spool_close(&spool);
}

/* A row of container @i; bytes and rate: UINT64_MAX, NAN: not known */
static struct cmt_usage_row *row(uint32_t i, uint64_t bytes, double rate)
{
	struct cmt_usage_row *to = &rows[frame.nr_rows++];

	containers[i] = (struct cmt_container){ .sz = sizeof(containers[i]), .path = "/x" };
	*to = (struct cmt_usage_row){
		.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .cgroup_id = 10 + i,
		.container = &containers[i],
		.occupancy = { .known = bytes != UINT64_MAX, .last_bytes = bytes },
		.total = { .known = !isnan(rate), .rate = rate,
			   .bytes = isnan(rate) ? 0 : (uint64_t)(rate / 1000) },
	};
	return to;
}

static void add(uint64_t slot, bool brief)
{
	frame.start_ns = T0 + slot * MS;
	frame.end_ns = frame.start_ns + MS;
	frame.brief = brief;
	ck_assert_int_eq(model_add(model, &frame), 0);
	frame.nr_rows = 0;
	frame.nr_gaps = 0;
}

START_TEST(test_codes)
{
	for (double value = 0; value < 1e12; value = value * 1.37 + 1) {
		double back = code_value(code_of(value, 10), 10);

		if (value < 1024)
			ck_assert_double_le(fabs(back - value), 0.5);
		else
			ck_assert_double_le(fabs(back - value) / value, 1.0 / 1024);
	}
	for (uint32_t code = 0; code < CODE_MAX; code++)
		ck_assert_uint_eq(code_of(code_value(code, 10), 10), code);
	ck_assert_uint_eq(code_of(-1, 10), 0);
	ck_assert_uint_eq(code_of((double)NAN, 10), 0);
	ck_assert_uint_eq(code_of((double)INFINITY, 10), CODE_MAX);
}
END_TEST

/* Every slot of a random walk comes out as it went in, and the sums of each level. */
START_TEST(test_round_trip)
{
	enum { SLOTS = 5000 };
	static uint64_t bytes[SLOTS];
	uint64_t now = 50;

	srand(7);
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		now = (now + (uint64_t)rand() % 5 + 1000 - 2) % 1000;
		bytes[slot] = now * UNIT;
		row(0, bytes[slot], 1000.0 * (double)(rand() % 100));
		add(slot, slot % 1000);
	}
	ck_assert_int_eq(model_finish(model, 0), 0);
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		ck_assert_uint_eq(point_at(0, slot, 0).mean, bytes[slot] / UNIT + 1);
	for (uint64_t index = 0; index < SLOTS / 64; index++) {
		uint64_t least = UINT64_MAX, most = 0;
		struct seen seen = point_at(3, index, 0);

		for (uint64_t i = 64 * index; i < 64 * index + 64; i++) {
			least = bytes[i] < least ? bytes[i] : least;
			most = bytes[i] > most ? bytes[i] : most;
		}
		ck_assert_uint_eq(seen.least, least / UNIT + 1);
		ck_assert_uint_eq(seen.most, most / UNIT + 1);
		ck_assert_uint_eq(seen.note, NOTE_SHARE);
	}
}
END_TEST

/* One that does not run holds its value, and the next reading has the bandwidth of then. */
START_TEST(test_held)
{
	row(0, 8 * UNIT, 5000);
	row(1, UNIT, 1000);
	add(0, false);
	for (uint64_t slot = 1; slot < 10; slot++) {
		row(1, UNIT, 1000);
		add(slot, true);
	}
	row(0, 9 * UNIT, 2000)->total.bytes = 20;	/* in 10 ms */
	add(10, true);
	row(1, UNIT, 1000);
	add(11, true);
	ck_assert_int_eq(model_finish(model, 0), 0);
	for (uint64_t slot = 1; slot < 10; slot++) {
		struct seen seen = point_at(0, slot, 0);

		ck_assert_uint_eq(seen.mean, 8 + 1);
		ck_assert_uint_eq(seen.rate, 2 + 1);
		ck_assert_uint_eq(seen.note, NOTE_SHARE | NOTE_HELD);
	}
	ck_assert_uint_eq(point_at(0, 10, 0).mean, 9 + 1);
	ck_assert_uint_eq(point_at(0, 10, 0).note, NOTE_SHARE);
	/* no reading came after it: its bandwidth is not known */
	ck_assert_uint_eq(point_at(0, 11, 0).mean, 9 + 1);
	ck_assert_uint_eq(point_at(0, 11, 0).rate, 0);
	ck_assert_uint_eq(model->members[0].all.held, 10);
}
END_TEST

/*
 * Of a row with more than one RMID only those are read that ran: the others come later.  What
 * the page says that was moved is what was counted, and that is no lower bound.
 */
START_TEST(test_parts)
{
	double moved = 0;

	row(0, 8 * UNIT, 1000e6);
	add(0, false);
	for (uint64_t slot = 1; slot <= 1000; slot++) {
		struct cmt_usage_row *to = row(0, 8 * UNIT, slot % 5 ? (double)NAN : 4e6);

		to->occupancy.age_ns = slot % 5 ? MS : 0;
		to->total.bytes = slot % 5 ? 0 : 4000;
		to->total.partial = slot % 5 == 0;
		to->total.why = CMT_USAGE_WHY_OLD;
		add(slot, true);
	}
	ck_assert_int_eq(model_finish(model, 0), 0);
	for (uint64_t slot = 1; slot <= 1000; slot++) {
		struct seen seen = point_at(0, slot, 0);

		ck_assert_uint_ge(seen.rate, 1);
		ck_assert_uint_eq(seen.note & NOTE_PARTIAL, 0);
		moved += code_value(seen.rate - 1, RATE_BITS) * RATE_UNIT / 1000;
	}
	/* 4,000 bytes each 5 ms, and no more */
	ck_assert_double_le(fabs(moved / (200 * 4000) - 1), 0.008);
	ck_assert_uint_eq(model->members[0].all.rated, 1001);
}
END_TEST

/* Another reason than a reading to come makes a lower bound. */
START_TEST(test_bounded)
{
	struct cmt_usage_row *to = row(0, 8 * UNIT, 5000);

	to->total.partial = true;
	to->total.why = CMT_USAGE_WHY_OLD | CMT_USAGE_WHY_PENDING;
	add(0, false);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(point_at(0, 0, 0).note, NOTE_SHARE | NOTE_PARTIAL);
}
END_TEST

/* Local bandwidth is a part of the bandwidth, through slots that come with a later reading. */
START_TEST(test_local)
{
	struct cmt_usage_row *to = row(0, 8 * UNIT, 64000);

	to->local = (struct cmt_usage_rate){ .known = true, .rate = 16000, .bytes = 16 };
	row(1, UNIT, 64000);
	add(0, false);
	for (uint64_t slot = 1; slot < 4; slot++) {
		row(1, UNIT, 64000);
		add(slot, true);
	}
	to = row(0, 8 * UNIT, 64000);
	to->total.bytes = 256;	/* in 4 ms */
	to->local = (struct cmt_usage_rate){ .known = true, .rate = 48000, .bytes = 192 };
	row(1, UNIT, 64000);
	add(4, true);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(point_at(0, 0, 0).local, 1 + LOCAL_PARTS / 4);
	for (uint64_t slot = 1; slot < 5; slot++)
		ck_assert_uint_eq(point_at(0, slot, 0).local, 1 + LOCAL_PARTS * 3 / 4);
	ck_assert_uint_eq(point_at(0, 4, 1).local, 0);
	ck_assert_double_eq_tol(model->members[0].all.local_sum, 16000 + 4 * 48000, 1);
}
END_TEST

/* A lower bound of the local bandwidth is only there where the bandwidth is one, too. */
START_TEST(test_local_bound)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct cmt_usage_row *to = row(i, 8 * UNIT, 64000);

		to->total.partial = i == 1;
		to->total.why = CMT_USAGE_WHY_ERROR;
		to->local = (struct cmt_usage_rate){
			.known = true, .partial = true, .rate = 16000, .bytes = 16,
			.why = i < 2 ? CMT_USAGE_WHY_ERROR : CMT_USAGE_WHY_OLD,
		};
	}
	add(0, false);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(point_at(0, 0, 0).local, 0);
	ck_assert_uint_eq(model->members[0].all.localed, 0);
	ck_assert_uint_eq(point_at(0, 0, 1).local, 1 + LOCAL_PARTS / 4);
	ck_assert_uint_eq(point_at(0, 0, 1).note, NOTE_SHARE | NOTE_PARTIAL);
	ck_assert_uint_eq(point_at(0, 0, 2).local, 1 + LOCAL_PARTS / 4);
	ck_assert_uint_eq(point_at(0, 0, 2).note, NOTE_SHARE);
}
END_TEST

static const struct member *member_of(uint32_t kind)
{
	for (uint32_t i = 0; i < model->nr; i++)
		if (model->members[i].kind == kind)
			return &model->members[i];
	ck_abort_msg("no member of kind %u", kind);
	return NULL;
}

static struct seen point_of_kind(uint64_t slot, uint32_t kind)
{
	return point_at(0, slot, (uint32_t)(member_of(kind) - model->members));
}

/* Channels are members, and so is what all RMIDs moved: also what comes with a later reading. */
START_TEST(test_channels)
{
	const struct cmt_usage_rate all = { .known = true, .rate = 90000 };
	const struct cmt_usage_rate read = { .known = true, .rate = 45000 };
	const struct cmt_usage_channel channel = { .socket = 1, .channel = 4, .read = read,
						   .total = all };

	frame.channels = &channel;
	frame.channel_size = sizeof(channel);
	frame.nr_channels = 1;
	frame.memory = (struct cmt_usage_memory){ .read = read, .total = all };
	for (uint64_t slot = 0; slot < 3000; slot++) {
		row(1, UNIT, 3000)->kind = CMT_USAGE_UNATTRIBUTED;
		if (slot % 8 == 0)
			row(0, 8 * UNIT, 2000)->total.bytes = slot ? 16 : 2;
		frame.nr_gaps = slot == 1500;
		add(slot, slot > 0);
	}
	frame.nr_channels = 0;
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_str_eq(member_of(MEMBER_CHANNEL)->label, "socket 1, channel 4");
	ck_assert_uint_eq(point_of_kind(7, MEMBER_CHANNEL).rate, 90 + 1);
	ck_assert_uint_eq(point_of_kind(7, MEMBER_CHANNEL).local, LOCAL_PARTS / 2 + 1);
	ck_assert_uint_eq(point_of_kind(7, MEMBER_CHANNELS).rate, 90 + 1);
	for (uint64_t slot = 0; slot < 2900; slot += 50)
		ck_assert_uint_eq(point_of_kind(slot, MEMBER_RMIDS).rate,
				  slot == 1500 ? 0 : 5 + 1);
	/* no reading came after it */
	ck_assert_uint_eq(point_of_kind(2999, MEMBER_RMIDS).rate, 0);
}
END_TEST

/* Processes of a container, in frames that have children: means over what is known. */
START_TEST(test_processes)
{
	struct cmt_usage_row child = {
		.kind = CMT_USAGE_OWNER, .pid = 7, .comm = "worker",
		.occupancy = { .known = true, .mean_bytes = 3 * UNIT, .most_bytes = 9 * UNIT,
			       .slots = 1 },
		.total = { .known = true, .rate = 4000 },
		.local = { .known = false, .rate = (double)NAN },
	};
	struct processes processes;
	const struct process *process;

	row(0, 8 * UNIT, 5000);
	add(0, false);
	processes_init(&processes, model);
	frame.children = &child;
	for (uint32_t i = 0; i < 2; i++) {
		row(0, 8 * UNIT, 5000)->nr_children = 1;
		ck_assert_int_eq(processes_add(&processes, &frame), 0);
		child.total.rate = 2000;
		child.occupancy.slots = 0;	/* not known in the second frame */
		frame.nr_rows = 0;
	}
	child.total.partial = true;
	for (child.pid = 100; child.pid < 100 + PROCESSES_SHOWN; child.pid++) {
		row(0, 8 * UNIT, 5000)->nr_children = 1;
		ck_assert_int_eq(processes_add(&processes, &frame), 0);
		frame.nr_rows = 0;
	}
	ck_assert_int_eq(processes_finish(&processes), 0);
	processes_free(&processes);
	process = &model->members[0].processes[0];
	ck_assert_uint_eq(model->members[0].nr_processes, PROCESSES_SHOWN);
	ck_assert_uint_eq(model->members[0].processes_left_out, 1);
	ck_assert_uint_eq(process->pid, 7);
	ck_assert_str_eq(process->comm, "worker");
	ck_assert_double_eq_tol(process->held / process->slots, 3 * UNIT, 0.1);
	ck_assert_double_eq_tol(process->moved * 1e9 / process->moved_ns, 3000, 0.1);
	ck_assert_double_eq(process->local_ns, 0);
	ck_assert(!process->partial && model->members[0].processes[1].partial);
	ck_assert_int_eq(model_finish(model, 0), 0);
}
END_TEST

/* Slots without a frame, or in which no CPU ticked, are a gap of all members. */
START_TEST(test_gap)
{
	row(0, 8 * UNIT, 5000);
	add(0, false);
	frame.nr_cpus = 0;
	add(1, true);
	frame.nr_cpus = 1;
	row(0, 8 * UNIT, 5000);
	add(3000, true);
	ck_assert_int_eq(model_finish(model, 0), 0);
	for (uint64_t slot = 1; slot < 3000; slot += 100) {
		struct seen seen = point_at(0, slot, 0);

		ck_assert(seen.there);
		ck_assert_uint_eq(seen.mean, 0);
		ck_assert_uint_eq(seen.rate, 0);
	}
	ck_assert_uint_eq(point_at(0, 3000, 0).mean, 9);
	ck_assert_uint_eq(model->nr_gaps, 1);
	ck_assert_uint_eq(model->gaps[0].slot, 1);
	ck_assert_uint_eq(model->gaps[0].nr, 2999);
	ck_assert_uint_eq(model->members[0].all.known, 2);
	ck_assert_uint_eq(model->members[0].all.slots, 3001);
}
END_TEST

/* Through a lost record nothing is held. */
START_TEST(test_lost)
{
	row(0, 8 * UNIT, 5000);
	row(1, UNIT, 1000);
	add(0, false);
	row(1, UNIT, 1000);
	frame.nr_gaps = 1;
	add(1, true);
	row(1, UNIT, 1000);
	add(2, true);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert(point_at(0, 1, 0).there && !point_at(0, 1, 0).mean);
	ck_assert(point_at(0, 2, 0).there && !point_at(0, 2, 0).mean);
	ck_assert_uint_eq(point_at(0, 1, 1).mean, 2);
	ck_assert_uint_eq(model->gaps[0].why, GAP_LOST);
}
END_TEST

/* ... nor is it at the end of a recording, where no frame follows. */
START_TEST(test_lost_end)
{
	row(0, 8 * UNIT, 5000);
	add(0, false);
	row(0, 8 * UNIT, 5000);
	frame.nr_gaps = 1;
	add(1, true);
	ck_assert_int_eq(model_finish(model, T0 + 1000 * MS), 0);
	ck_assert_uint_ge(model->nr_gaps, 1);
	for (uint32_t i = 0; i < model->nr_gaps; i++)
		ck_assert_uint_eq(model->gaps[i].why, GAP_LOST);
}
END_TEST

/* It came, it ended, and it came again: what is between is no value and no gap. */
START_TEST(test_ended)
{
	row(1, UNIT, 1000);
	add(0, false);
	row(0, 8 * UNIT, 5000);
	add(1, true);
	row(0, UINT64_MAX, (double)NAN)->occupancy.why = CMT_USAGE_WHY_ENDED;
	add(2, true);
	row(1, UNIT, 1000);
	add(3, true);
	/* what a reading counted while it was not there is not of this ms */
	row(0, 7 * UNIT, 5000)->total.bytes = 15;
	add(4, true);
	row(1, UNIT, 1000);
	add(5, false);
	row(1, UNIT, 1000);
	add(6, true);
	ck_assert_int_eq(model_finish(model, 0), 0);
	/* the second member is container 0 */
	ck_assert(!point_at(0, 0, 1).there);
	ck_assert_uint_eq(point_at(0, 1, 1).mean, 9);
	ck_assert(!point_at(0, 2, 1).there && !point_at(0, 3, 1).there);
	ck_assert_uint_eq(point_at(0, 4, 1).mean, 8);
	ck_assert_uint_eq(point_at(0, 4, 1).rate, 5 + 1);
	ck_assert(!point_at(0, 5, 1).there && !point_at(0, 6, 1).there);
	ck_assert_uint_eq(model->members[1].all.slots, 2);
	/* of a coarser point it has a part, and another one has all */
	ck_assert_uint_eq(point_at(1, 0, 1).part, THERE_WHOLE / 4);
	ck_assert_uint_eq(point_at(1, 1, 1).part, THERE_WHOLE / 3);
	ck_assert_uint_eq(point_at(1, 1, 1).mean, 8);
	ck_assert_uint_eq(point_at(1, 0, 0).part, THERE_WHOLE);
	ck_assert_uint_eq(point_at(0, 4, 1).part, THERE_WHOLE);
}
END_TEST

/* Not known is not 0, and a lower bound is called one. */
START_TEST(test_unknown)
{
	row(0, UINT64_MAX, (double)NAN)->occupancy.why = CMT_USAGE_WHY_ERROR;
	row(1, 0, 0);
	row(2, 3 * UNIT, 1000)->occupancy.partial = true;
	add(0, false);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert(point_at(0, 0, 0).there && !point_at(0, 0, 0).mean);
	ck_assert_uint_eq(point_at(0, 0, 1).mean, 1);
	ck_assert_uint_eq(point_at(0, 0, 1).rate, 1);
	ck_assert_uint_eq(point_at(0, 0, 2).note, NOTE_SHARE | NOTE_PARTIAL);
	/* of a coarser point it is a part */
	ck_assert_uint_eq(model->members[0].all.known, 0);
	ck_assert_uint_eq(model->members[0].why, CMT_USAGE_WHY_ERROR);
}
END_TEST

/* Rows that are no container have the names that tables give them. */
START_TEST(test_labels)
{
	*row(0, UNIT, 1000) = (struct cmt_usage_row){
		.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_KERNEL, .rmid = 5,
	};
	*row(1, UNIT, 1000) = (struct cmt_usage_row){ .kind = CMT_USAGE_UNATTRIBUTED };
	*row(2, UNIT, 1000) = (struct cmt_usage_row){ .kind = CMT_USAGE_OVERFLOW };
	add(0, false);
	ck_assert_uint_eq(model->nr, 3);
	ck_assert_str_eq(model->members[0].label, "(kernel)");
	ck_assert_str_eq(model->members[1].label, "(unattributed)");
	ck_assert_str_eq(model->members[2].label, "(overflow)");
	ck_assert_int_eq(model_finish(model, 0), 0);
}
END_TEST

/* Without scripts, too, a lower bound is marked, and no other value of its row. */
START_TEST(test_noscript)
{
	const struct page_about about = { .complete = true };
	struct cmt_usage_row *to;
	size_t len;
	char *page;
	FILE *out = open_memstream(&page, &len);

	row(0, 2 * UNIT, 1000);
	row(1, 3 * UNIT, 2000)->occupancy.partial = true;
	row(2, UINT64_MAX, (double)NAN);
	to = row(3, 4 * UNIT, 3000);
	to->total.partial = true;
	to->total.why = CMT_USAGE_WHY_ERROR;
	add(0, false);
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_int_eq(page_write(out, model, &about, 1 << 20), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(page, "</td><td>8.0 KiB</td><td>1.0 kB/s</td>"));
	ck_assert_ptr_nonnull(strstr(page, "</td><td>&gt;12.0 KiB</td><td>2.0 kB/s</td>"));
	ck_assert_ptr_nonnull(strstr(page, "</td><td>16.0 KiB</td><td>&gt;3.0 kB/s</td>"));
	ck_assert_ptr_nonnull(strstr(page, "</td><td>not known</td><td>not known</td>"));
	free(page);
}
END_TEST

static void set_waited(struct cmt_usage_row *to, uint64_t ns, uint32_t values, uint32_t bounds)
{
	to->counters = (struct cmt_usage_counters){
		.known = true, .values = values, .bounds = bounds, .waited_ns = ns,
	};
}

/* Waiting adds up over slots; that of some slots only is a lower bound, and of none unknown. */
START_TEST(test_waits)
{
	for (uint64_t slot = 0; slot < 2; slot++) {
		set_waited(row(0, UNIT, 0), MS / 4 + slot, CMT_F_WAITED, 0);
		set_waited(row(1, UNIT, 0), 7, CMT_F_WAITED, slot ? CMT_F_WAITED : 0);
		set_waited(row(2, UNIT, 0), slot ? 7 : 0, slot ? CMT_F_WAITED : 0, 0);
		row(3, UNIT, 0);
		add(slot, false);
	}
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(model->members[0].waited_ns, MS / 2 + 1);
	ck_assert(model->members[0].waits && !model->members[0].waits_partial);
	ck_assert(model->members[1].waits && model->members[1].waits_partial);
	ck_assert(model->members[2].waits && model->members[2].waits_partial);
	ck_assert(!model->members[3].waits);
}
END_TEST

/* The share of time in which tasks waited is of the time that was sampled. */
START_TEST(test_waits_gap)
{
	const struct page_about about = { .complete = true };
	size_t len;
	char *page;
	FILE *out = open_memstream(&page, &len);

	for (uint64_t slot = 0; slot < 20; slot++) {
		set_waited(row(0, UNIT, 0), MS / 2, CMT_F_WAITED, 0);
		add(slot, false);
	}
	ck_assert_int_eq(model_finish(model, T0 + 60 * MS), 0);
	page_meta(out, model, &about);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(page, "\"slots\":60,\"known\":20,"));
	ck_assert_ptr_nonnull(strstr(page, "\"waited\":0.5,\"waited_partial\":false"));
	ck_assert_ptr_nonnull(strstr(page, "\"why\":\"gap\""));
	free(page);
}
END_TEST

static void check_pair(uint32_t i, uint32_t victim, uint32_t runner, uint64_t ns)
{
	const struct wait_pair *pair = &model->wait_pairs.all[i];

	ck_assert_uint_eq(pair->victim, victim);
	ck_assert_uint_eq(pair->runner, runner);
	ck_assert_uint_eq(pair->ns, ns);
}

/* Rows come in another order, and are the same containers. */
START_TEST(test_wait_pairs)
{
	static const struct cmt_usage_wait_part parts[2][3] = {
		{ { .row = 0, .by = 1, .ns = 5 }, { .row = 0, .by = 0, .ns = 2 },
		  { .row = 1, .by = CMT_USAGE_WAIT_UNKNOWN, .ns = 4 } },
		{ { .row = 1, .by = 0, .ns = 7 }, { .row = 0, .by = 1, .ns = 1 },
		  { .row = 0, .by = 1, .ns = 0 } },
	};

	frame.wait_size = sizeof(parts[0][0]);
	frame.nr_waits = 3;
	for (uint32_t slot = 0; slot < 2; slot++) {
		row(slot, UNIT, 0);
		row(1 - slot, UNIT, 0);
		frame.waits = parts[slot];
		add(slot, false);
	}
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(model->wait_pairs.nr, 4);
	check_pair(0, 0, 1, 12);
	check_pair(1, 1, WAIT_PAIR_UNKNOWN, 4);
	check_pair(2, 0, 0, 2);
	check_pair(3, 1, 0, 1);
	ck_assert_uint_eq(model->wait_pairs.left_out_ns, 0);
}
END_TEST

/* Those that cost most, in the order of their begins. */
START_TEST(test_incidents)
{
	struct incidents *incidents = &model->incidents;
	struct cmt_incident told = { .nr_parts = 1 };
	struct why_incident incident = {
		.told = &told, .victim.label = "web", .parts[0].label = "batch",
	};

	for (uint32_t i = 0; i < INCIDENTS_LISTED + 20; i++) {
		told.number = i + 1;
		told.begin_ns = (INCIDENTS_LISTED + 20 - i) * MS;
		told.lost_ns = i * MS;
		told.worst = 0.1;
		ck_assert_int_eq(incidents_add(incidents, &incident), 0);
	}
	incidents_finish(incidents);
	ck_assert_uint_eq(incidents->nr, INCIDENTS_LISTED);
	ck_assert_uint_eq(incidents->left_out, 20);
	for (uint32_t i = 0; i < incidents->nr; i++) {
		ck_assert_uint_eq(incidents->all[i].told.begin_ns, (i + 1) * MS);
		ck_assert_uint_ge(incidents->all[i].told.lost_ns, 20 * MS);
		ck_assert_str_eq(incidents->all[i].parts[0], "batch");
	}
}
END_TEST

/* An incident from before the page is said to be that, and ends with the page. */
START_TEST(test_incident_before)
{
	const struct page_about about = { .complete = true };
	struct cmt_incident told = { .begin_ns = T0 - MS, .end_ns = T0 + 9 * MS };
	struct why_incident incident = { .told = &told, .victim.label = "web" };
	size_t len;
	char *page;
	FILE *out = open_memstream(&page, &len);

	row(0, UNIT, 1000);
	add(0, false);
	ck_assert_int_eq(incidents_add(&model->incidents, &incident), 0);
	told.begin_ns = T0;
	ck_assert_int_eq(incidents_add(&model->incidents, &incident), 0);
	ck_assert_int_eq(model_finish(model, T0 + 2 * MS), 0);
	page_meta(out, model, &about);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(page, "\"begin\":0,\"end\":2,"));
	ck_assert_ptr_nonnull(strstr(page, "\"before\":true"));
	ck_assert_ptr_nonnull(strstr(page, "\"before\":false"));
	free(page);
}
END_TEST

/* Of more pairs than places, and than are listed, the page knows how long their waits were. */
START_TEST(test_many_wait_pairs)
{
	struct wait_pairs *pairs = &model->wait_pairs;
	uint64_t all_ns = 0, listed_ns = 0;

	for (uint32_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < WAIT_PAIRS_ROOM; i++) {
			ck_assert_int_eq(wait_pairs_add(pairs, i % 2, i / 2, 1 + i % 1000), 0);
			all_ns += 1 + i % 1000;
		}
	ck_assert_uint_lt(pairs->nr, WAIT_PAIRS_ROOM);
	ck_assert_uint_ge(pairs->nr, WAIT_PAIRS_ROOM / 2);
	wait_pairs_finish(pairs);
	ck_assert_uint_eq(pairs->nr, WAIT_PAIRS_LISTED);
	for (uint32_t i = 0; i < pairs->nr; i++) {
		const struct wait_pair *pair = &pairs->all[i];

		listed_ns += pair->ns;
		ck_assert_uint_eq(pair->ns, 2 * (1 + (pair->victim + 2 * pair->runner) % 1000));
		ck_assert(!i || pair->ns <= pairs->all[i - 1].ns);
	}
	ck_assert_uint_eq(pairs->all[0].ns, 2000);
	ck_assert_uint_eq(listed_ns + pairs->left_out_ns, all_ns);
}
END_TEST

START_TEST(test_times)
{
	row(0, UNIT, 1000);
	add(5, false);
	ck_assert_uint_eq(model->gaps[0].slot, 0);
	ck_assert_uint_eq(model->gaps[0].nr, 5);
	frame.start_ns = T0;
	ck_assert_int_eq(model_add(model, &frame), -ERANGE);
	frame.start_ns = T0 + (MODEL_SLOTS_MAX + 6) * MS;
	ck_assert_int_eq(model_add(model, &frame), -ERANGE);
	/* what is missing at the end is a gap, too */
	ck_assert_int_eq(model_finish(model, T0 + 100 * MS), 0);
	ck_assert_uint_eq(model->slots, 100);
	ck_assert_uint_eq(model->gaps[1].slot, 6);
	ck_assert_uint_eq(model->gaps[1].nr, 94);
	ck_assert(!point_at(0, 4, 0).there && point_at(0, 5, 0).mean);
	ck_assert(point_at(0, 99, 0).there && !point_at(0, 99, 0).mean);
}
END_TEST

/* A recording that begins within a slot lacks nothing. */
START_TEST(test_first_slot)
{
	row(0, UNIT, 1000);
	add(1, false);
	row(0, UNIT, 1000);
	add(2, true);
	ck_assert_int_eq(model_finish(model, T0 + 3 * MS), 0);
	ck_assert_uint_eq(model->gap_slots, 0);
	ck_assert_uint_eq(model->nr_gaps, 0);
	ck_assert(!point_at(0, 0, 0).there && point_at(0, 1, 0).mean);
}
END_TEST

/* Without room the coarser levels stay, and what has a verdict. */
START_TEST(test_choose)
{
	struct cmt_culprit_verdict verdict = { .id = 10, .ts_ns = T0 + 15000 * MS };
	struct why_names names = { 0 };
	uint64_t all, kept = 0;
	uint32_t full = PYRAMID_LEVELS;	/* the level that has no room for all */

	for (uint64_t slot = 0; slot < 30000; slot++) {
		row(0, UNIT * (slot * 7919 % 1000), 1000.0 * (double)(slot * 31 % 977));
		add(slot, slot % 1000);
	}
	ck_assert_int_eq(model_verdict(model, &verdict, &names), 0);
	ck_assert_int_eq(model_finish(model, 0), 0);
	all = spool_choose(&spool, UINT64_MAX);
	ck_assert_uint_lt(spool_choose(&spool, all / 2), all / 2 + 1);
	for (uint32_t i = 0; i < spool.nr; i++) {
		const struct blob *blob = &spool.blobs[i];

		/* the coarsest ones come first */
		if (!blob->kept && full == PYRAMID_LEVELS)
			full = blob->level;
		ck_assert(!blob->kept || blob->wanted || blob->level >= full ||
			  full == PYRAMID_LEVELS);
		if (!blob->level && blob->block == 15000 / PYRAMID_BLOCK)
			ck_assert(blob->kept && blob->wanted);
		kept += blob->kept;
	}
	ck_assert_uint_lt(kept, spool.nr);
	ck_assert_uint_eq(model->members[0].verdicts, 1);
	/* nothing but what cannot be left out */
	spool_choose(&spool, 0);
	ck_assert(spool.blobs[0].kept);
}
END_TEST

/* Of too many verdicts the surest stay, by time. */
START_TEST(test_verdicts)
{
	struct cmt_culprit_verdict verdict = { .id = 10 };
	struct why_names names = { 0 };

	row(0, UNIT, 1000);
	add(0, false);
	for (uint32_t i = 0; i < 2 * MODEL_VERDICTS; i++) {
		verdict.ts_ns = T0 + i;
		verdict.confidence = i % 2 ? 0.9 : 0.5;
		ck_assert_int_eq(model_verdict(model, &verdict, &names), 0);
	}
	ck_assert_int_eq(model_finish(model, 0), 0);
	ck_assert_uint_eq(model->nr_verdicts, MODEL_VERDICTS);
	ck_assert_uint_eq(model->verdicts_left_out, MODEL_VERDICTS);
	for (uint32_t i = 0; i < MODEL_VERDICTS; i++)
		ck_assert_uint_eq(model->verdicts[i].verdict.ts_ns, T0 + 2 * i + 1);
}
END_TEST

static char *printed(void (*print)(FILE *, const char *), const char *text)
{
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	print(out, text);
	fclose(out);
	return bytes;
}

START_TEST(test_text)
{
	char *json = printed(print_text, "</script>&'\"\\\x1b\xe2\x80\xae\xff\xe2\x80\xa8\xf0\x9f\x98\x80");
	char *html = printed(print_html, "<b>&\"\xc3\xa9");

	ck_assert_ptr_null(strpbrk(json, "<>&'"));
	ck_assert_ptr_nonnull(strstr(json, "\\u003c/script\\u003e\\u0026\\u0027\\u0022"));
	ck_assert_ptr_nonnull(strstr(json, "\\ud83d\\ude00"));
	for (const char *at = json; *at; at++)
		ck_assert(*at >= 0x20 && *at < 0x7f);
	ck_assert_str_eq(html, "&#60;b&#62;&#38;&#34;&#233;");
	free(json);
	free(html);
	json = printed(print_text, NULL);
	ck_assert_str_eq(json, "null");
	free(json);
}
END_TEST

/* A name that somebody else has made is not written to, nor cut. */
START_TEST(test_part_of_another)
{
	struct output output;
	char text[16] = "";
	FILE *other = fopen("report-other", "w");

	ck_assert_ptr_nonnull(other);
	fputs("another's", other);
	ck_assert_int_eq(fclose(other), 0);
	ck_assert_int_eq(link("report-other", "report-page.part"), 0);
	ck_assert_int_eq(output_open(&output, "report-page"), 0);
	fputs("page", output.file);
	ck_assert_int_eq(output_close(&output, 0), 0);
	other = fopen("report-other", "r");
	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), other));
	fclose(other);
	ck_assert_str_eq(text, "another's");
	ck_assert_int_eq(access("report-page.part", F_OK), -1);
	ck_assert_int_eq(unlink("report-page"), 0);
	unlink("report-other");
}
END_TEST

static void print_base64(FILE *out, const char *text)
{
	base64_print(out, (const uint8_t *)text, strlen(text));
}

START_TEST(test_base64)
{
	static const char *const pairs[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foobar", "Zm9vYmFy" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *text = printed(print_base64, pairs[i][0]);

		ck_assert_str_eq(text, pairs[i][1]);
		free(text);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("model"), *plain = tcase_create("plain");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_round_trip);
	tcase_add_test(tc, test_held);
	tcase_add_test(tc, test_parts);
	tcase_add_test(tc, test_bounded);
	tcase_add_test(tc, test_local);
	tcase_add_test(tc, test_local_bound);
	tcase_add_test(tc, test_channels);
	tcase_add_test(tc, test_processes);
	tcase_add_test(tc, test_gap);
	tcase_add_test(tc, test_lost);
	tcase_add_test(tc, test_lost_end);
	tcase_add_test(tc, test_ended);
	tcase_add_test(tc, test_unknown);
	tcase_add_test(tc, test_labels);
	tcase_add_test(tc, test_noscript);
	tcase_add_test(tc, test_incidents);
	tcase_add_test(tc, test_incident_before);
	tcase_add_test(tc, test_waits);
	tcase_add_test(tc, test_waits_gap);
	tcase_add_test(tc, test_wait_pairs);
	tcase_add_test(tc, test_many_wait_pairs);
	tcase_add_test(tc, test_times);
	tcase_add_test(tc, test_first_slot);
	tcase_add_test(tc, test_choose);
	tcase_add_test(tc, test_verdicts);
	suite_add_tcase(s, tc);
	tcase_add_test(plain, test_codes);
	tcase_add_test(plain, test_text);
	tcase_add_test(plain, test_part_of_another);
	tcase_add_test(plain, test_base64);
	suite_add_tcase(s, plain);
	return s;
}

int main(void)
{
	return unit_run(suite());
}
