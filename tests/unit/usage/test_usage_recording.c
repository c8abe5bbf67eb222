// SPDX-License-Identifier: GPL-2.0-or-later
/* A usage over a recording gives the frames, and an engine the verdicts, that the records gave. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"
#include "recording/chunk.h"
#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define START	(1000 * MS)
#define VALUES	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define ONSET	400	/* ms */
#define END	460
#define VERDICTS 64

enum { VICTIM = 1, QUIET, STREAMER };	/* RMIDs; cgroups are MADE_CGROUP + RMID */

static struct made made;
static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static struct cmt_recording *open_made(void)
{
	struct cmt_recording *r = NULL;
	int fd = made_file(made.bytes, made.nr_bytes);

	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	close(fd);
	return r;
}

static struct cmt_usage *usage_long(struct cmt_recording *recording, uint32_t flags,
				    uint64_t interval_ns)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .recording = recording, .by = CMT_USAGE_BY_CONTAINER,
		.flags = flags, .interval_ns = interval_ns, .slot_ns = MS, .nr_rmids = MADE_RMIDS,
		.nr_cpus = MADE_CPUS, .l3_bytes = made_info.l3_bytes, .unit_bytes = MADE_UNIT,
	};
	struct cmt_usage *made_usage;

	ck_assert_int_eq(cmt_usage_new(&made_usage, &opts), 0);
	return made_usage;
}

static struct cmt_usage *usage_of(struct cmt_recording *recording, uint32_t flags)
{
	return usage_long(recording, flags, MS);
}

static void sample(uint32_t rmid, uint64_t ms, uint64_t kib, uint64_t traffic_kib)
{
	static uint64_t moved[4];
	struct cmt_record r = {
		.ts = START + ms * MS + 1000, .type = CMT_REC_SAMPLE, .flags = VALUES,
		.rmid = rmid, .generation = 1,
	};

	moved[rmid] += traffic_kib * KIB;
	r.sample.occupancy_bytes = kib * KIB;
	r.sample.mbm_total_bytes = r.sample.mbm_local_bytes = moved[rmid];
	made_add(&made, &r, 1);
}

/* The victim holds 8 MiB, and from ONSET on loses some to a streamer. */
static void step(uint64_t ms)
{
	uint64_t late = ms > ONSET ? ms - ONSET : 0;
	uint64_t taken = late < 6 ? 512 * late : 3072;
	struct cmt_record tick = {
		.ts = START + ms * MS + 2000, .type = CMT_REC_TICK, .interval_ns = MS,
	};

	sample(VICTIM, ms, 8192 - (late ? taken : 0), late ? 700 : 100);
	if (ms % 32 == 0)
		sample(QUIET, ms, 2048, 0);
	if (late)
		sample(STREAMER, ms, 64 + taken, 2500);
	else if (ms % 32 == 0)
		sample(STREAMER, ms, 64, 0);
	made_add(&made, &tick, 1);
}

static void make_trouble(void)
{
	made_begin(&made, 128);
	for (uint64_t ms = 0; ms < END; ms++)
		step(ms);
	made_end(&made);
}

struct told {
	struct cmt_culprit_verdict verdicts[VERDICTS];
	uint32_t nr;
	uint32_t frames;
	double sum;		/* of what all rows say */
};

static void add_rows(struct told *told)
{
	told->frames++;
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		told->sum += (double)(row->occupancy.last_bytes * (i + 1) + row->rmids +
				      row->cgroup_id + row->why * 3);
		if (!isnan(row->total.rate))
			told->sum += row->total.rate;
	}
}

static void drain(struct cmt_culprit *culprit, struct told *told)
{
	const struct cmt_culprit_verdict *verdict;

	while (cmt_usage_next(usage, &frame) > 0) {
		ck_assert_int_ge(cmt_culprit_add_frame(culprit, frame), 0);
		add_rows(told);
		while (cmt_culprit_next(culprit, &verdict) > 0 && told->nr < VERDICTS)
			told->verdicts[told->nr++] = *verdict;
	}
}

static struct cmt_culprit *engine(void)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_culprit *culprit;

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	return culprit;
}

/* The owners and names of made_begin(), as they were given to the recorder. */
static void own(void)
{
	for (uint32_t i = 1; i <= 20; i++) {
		struct cmt_record r = {
			.ts = MADE_START - 101 + i, .type = CMT_REC_EXISTING, .rmid = i,
			.generation = 1, .flags = CMT_F_OWNER_CGROUP,
			.owner.cgroup_id = MADE_CGROUP + i,
		};
		char path[64];
		struct cmt_container c = { .sz = sizeof(c), .cgroup_id = MADE_CGROUP + i,
					   .path = path };

		snprintf(path, sizeof(path), "/system.slice/made%u.service", i);
		ck_assert_int_eq(cmt_usage_add(usage, &r), 0);
		ck_assert_int_eq(cmt_containers_put(cmt_usage_containers(usage), &c), 0);
	}
}

static void check_same(const struct told *live, const struct told *replayed)
{
	ck_assert_uint_eq(live->frames, replayed->frames);
	ck_assert_double_eq(live->sum, replayed->sum);
	ck_assert_uint_eq(live->nr, replayed->nr);
	for (uint32_t i = 0; i < live->nr; i++) {
		const struct cmt_culprit_verdict *a = &live->verdicts[i];
		const struct cmt_culprit_verdict *b = &replayed->verdicts[i];

		ck_assert_uint_eq(a->id, b->id);
		ck_assert_uint_eq(a->kind, b->kind);
		ck_assert_uint_eq(a->ts_ns, b->ts_ns);
		ck_assert_uint_eq(a->since_ns, b->since_ns);
		ck_assert_uint_eq(a->lost_bytes, b->lost_bytes);
		ck_assert_uint_eq(a->nr_suspects, b->nr_suspects);
		ck_assert(!a->nr_suspects || a->suspects[0].id == b->suspects[0].id);
		ck_assert(a->confidence == b->confidence || isnan(a->confidence));
	}
}

/* With the records themselves, and with the recording of them. */
static void run_both(uint32_t flags)
{
	struct told live = { 0 }, replayed = { 0 };
	struct cmt_culprit *culprit = engine();
	struct cmt_recording *r;

	usage = usage_of(NULL, flags);
	own();
	for (uint32_t i = 0; i < made.nr_records; i++) {
		ck_assert_int_eq(cmt_usage_add(usage, &made.records[i]), 0);
		drain(culprit, &live);
	}
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	drain(culprit, &live);
	cmt_usage_free(usage);
	cmt_culprit_free(culprit);
	r = open_made();
	culprit = engine();
	usage = usage_of(r, flags);
	drain(culprit, &replayed);
	ck_assert_int_eq(cmt_recording_at_end(r), 1);
	ck_assert_int_eq(cmt_usage_timeout(usage), -1);
	cmt_usage_free(usage);
	cmt_culprit_free(culprit);
	cmt_recording_close(r);
	ck_assert_uint_ge(live.nr, 1);
	ck_assert_uint_eq(live.verdicts[0].id, MADE_CGROUP + VICTIM);
	ck_assert_uint_eq(live.verdicts[0].suspects[0].id, MADE_CGROUP + STREAMER);
	check_same(&live, &replayed);
}

START_TEST(verdicts_equal_live)
{
	make_trouble();
	run_both(0);
	run_both(CMT_USAGE_BRIEF);
	run_both(CMT_USAGE_BRIEF | CMT_USAGE_DOMAINS);
	run_both(CMT_USAGE_CHILDREN);
	made_free(&made);
}
END_TEST

START_TEST(states_equal_live)
{
	const struct cmt_recording_state *state;
	struct cmt_recording *r;
	uint32_t states = 0, named = 0;

	made_begin(&made, 512);
	for (uint64_t ms = 0; ms < 100; ms++) {
		made_tick(&made, ms);
		if (ms % 40 == 39)
			made_state(&made, ms);
	}
	made_end(&made);
	r = open_made();
	usage = usage_of(r, 0);
	ck_assert_int_eq(cmt_usage_state(usage, &state), -ENODATA);
	ck_assert_int_eq(cmt_usage_timeout(usage), 0);
	while (cmt_usage_next(usage, &frame) > 0) {
		if (cmt_usage_state(usage, &state) > 0) {
			states++;
			ck_assert_uint_eq(cmt_recording_cpu_at(state, 0)->throttled_ns, 5);
			ck_assert_int_eq(cmt_usage_state(usage, &state), 0);
		}
		for (uint32_t i = 0; i < frame->nr_rows; i++) {
			const struct cmt_container *c = cmt_usage_row_at(frame, i)->container;

			named += c && c->path && !strcmp(c->path, "/system.slice/made3.service");
		}
	}
	ck_assert_uint_eq(states, 2);
	ck_assert_uint_ge(named, 99);
	/* the first state is the base of what the reader had dropped */
	ck_assert_uint_eq(frame->dropped_ever, 40);
	ck_assert(frame->pending_known);
	ck_assert_uint_eq(frame->pending, 1);
	ck_assert_str_eq(frame->channels_reason, "none here");
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_NAMES | CMT_USAGE_PENDING), 0);
	ck_assert_int_eq(cmt_usage_add(usage, made.records), -EINVAL);
	cmt_usage_free(usage);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* What is damaged is lost, and a gap in the frames that it is of. */
START_TEST(damage_is_a_gap)
{
	struct cmt_recording *r;
	uint64_t lost = 0;
	uint32_t gaps = 0, frames = 0, chunk = 0;

	made_begin(&made, 512);
	for (uint64_t ms = 0; ms < 100; ms++)
		made_tick(&made, ms);
	made_end(&made);
	for (uint32_t i = 0; i < made.nr_places / 2; i++)
		if (made.places[i].kind == CMT_CHUNK_DATA)
			chunk = i;
	made.bytes[made.places[chunk].offset + 200] ^= 1;
	r = open_made();
	usage = usage_of(r, 0);
	while (cmt_usage_next(usage, &frame) > 0) {
		frames++;
		lost += frame->lost;
		gaps += frame->nr_gaps;
	}
	ck_assert_uint_eq(lost, made.places[chunk].records);
	ck_assert_uint_ge(gaps, 1);
	ck_assert_uint_lt(frames, 100);
	ck_assert_int_eq(cmt_recording_at_end(r), 1);
	cmt_usage_free(usage);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

#define RECORDS_A_MS 28U	/* of made_tick() */

static void make_intact(uint32_t chunk_records)
{
	made_begin(&made, chunk_records);
	for (uint64_t ms = 0; ms < 100; ms++)
		made_tick(&made, ms);
	made_end(&made);
}

/* Returns the place of a chunk of records near the middle, which is damaged now. */
static const struct cmt_chunk_place *make_hole(uint32_t chunk_records)
{
	const struct cmt_chunk_place *hole = NULL;

	make_intact(chunk_records);
	for (uint32_t i = 0; i < made.nr_places / 2; i++)
		if (made.places[i].kind == CMT_CHUNK_DATA)
			hole = &made.places[i];
	made.bytes[hole->offset + 200] ^= 1;
	return hole;
}

static void check_rows_partial(bool partial)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		ck_assert(!row->counters.known || row->counters.partial == partial);
	}
}

/*
 * Each interval counts the slots that it lacks, the one in which the damage begins has the
 * lost records, and no other value is said to be partial.
 */
static void check_hole(const struct cmt_chunk_place *hole, uint64_t interval_ns)
{
	uint64_t first = hole->first_ns / MS, last = hole->last_ns / MS, gaps = 0;
	struct cmt_recording *r = open_made();
	uint32_t lacking = 0;

	usage = usage_long(r, 0, interval_ns);
	while (cmt_usage_next(usage, &frame) > 0) {
		uint64_t from = frame->start_ns / MS, to = frame->end_ns / MS - 1;
		bool lacks = from <= last && to >= first;

		from = from < first ? first : from;
		to = to > last ? last : to;
		ck_assert_uint_eq(frame->nr_gaps, lacks ? to - from + 1 : 0);
		ck_assert_uint_eq(frame->lost, lacks && !lacking ? hole->records : 0);
		check_rows_partial(lacks);
		lacking += lacks;
		gaps += frame->nr_gaps;
	}
	ck_assert_uint_eq(gaps, last - first + 1);
	cmt_usage_free(usage);
	cmt_recording_close(r);
}

/* Chunks that end in a time slot, and between two. */
START_TEST(missing_slots_are_gaps)
{
	static const uint32_t sizes[] = { 512, 18 * RECORDS_A_MS };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct cmt_chunk_place *hole = make_hole(sizes[i]);

		check_hole(hole, 100 * MS);
		check_hole(hole, 20 * MS);
		check_hole(hole, 13 * MS);
		made_free(&made);
	}
}
END_TEST

/*
 * The chunk of records behind which the most chunks without a time follow, as a part from the
 * record before it to the record behind it.  What was in it is not known.
 */
static struct cmt_chunk_place make_blind_hole(void)
{
	uint32_t last = 0, hole = 0, behind = 0;

	make_intact(18 * RECORDS_A_MS);
	for (uint32_t i = 0; i < made.nr_places && !behind; i++) {
		if (made.places[i].kind != CMT_CHUNK_DATA)
			continue;
		if (last && i > hole + 1)
			behind = i;
		last = behind ? last : hole;
		hole = behind ? hole : i;
	}
	return (struct cmt_chunk_place){
		.offset = made.places[hole].offset, .nr_bytes = made.places[hole].nr_bytes,
		.first_ns = made.places[last].last_ns, .last_ns = made.places[behind].first_ns,
		.records = 1,
	};
}

/* Names and a head are between the hole and the first time that is known behind it. */
START_TEST(missing_before_names_is_a_gap)
{
	for (int i = 0; i < 2; i++) {
		struct cmt_chunk_place hole = make_blind_hole();
		uint64_t end = hole.offset + hole.nr_bytes;

		if (i) {
			made.bytes[hole.offset] ^= 1;
		} else {
			memmove(made.bytes + hole.offset, made.bytes + end, made.nr_bytes - end);
			made.nr_bytes -= hole.nr_bytes;
		}
		check_hole(&hole, 100 * MS);
		check_hole(&hole, 20 * MS);
		check_hole(&hole, 13 * MS);
		made_free(&made);
	}
}
END_TEST

/* A chunk without records, whose header is intact: nothing is missing that an interval has. */
START_TEST(damage_without_records_is_no_gap)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };

	made_begin(&made, 512);
	for (uint64_t ms = 0; ms < 100; ms++)
		made_tick(&made, ms);
	made_state(&made, 100);
	made_end(&made);
	for (uint32_t i = 0; i < made.nr_places; i++) {
		const struct cmt_chunk_place *place = &made.places[i];
		struct cmt_recording *r;

		if (place->records || place->nr_bytes == REC_HEADER)
			continue;
		made.bytes[place->offset + place->nr_bytes - 1] ^= 1;
		r = open_made();
		usage = usage_long(r, 0, 20 * MS);
		while (cmt_usage_next(usage, &frame) > 0) {
			ck_assert_uint_eq(frame->nr_gaps, 0);
			ck_assert_uint_eq(frame->lost_ever, 0);
			check_rows_partial(false);
		}
		ck_assert_int_eq(cmt_recording_about(r, &about), 0);
		ck_assert_uint_eq(about.damaged, 1);
		cmt_usage_free(usage);
		cmt_recording_close(r);
		made.bytes[place->offset + place->nr_bytes - 1] ^= 1;
	}
	made_free(&made);
}
END_TEST

/* Intervals without any record make no frame: the next frame says that they lack records. */
START_TEST(missing_intervals_are_a_gap)
{
	const struct cmt_chunk_place *hole = make_hole(18 * RECORDS_A_MS);
	struct cmt_recording *r = open_made();
	uint64_t last_ns = 0, lost = 0;
	uint32_t holes = 0;

	usage = usage_of(r, 0);
	while (cmt_usage_next(usage, &frame) > 0) {
		if (last_ns && frame->start_ns > last_ns + MS) {
			ck_assert_uint_eq(frame->nr_gaps, 1);
			check_rows_partial(true);
			holes++;
		}
		last_ns = frame->start_ns;
		lost += frame->lost;
	}
	ck_assert_uint_eq(holes, 1);
	ck_assert_uint_eq(lost, hole->records);
	cmt_usage_free(usage);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* From a moment on there are owners and names at once. */
START_TEST(owners_at_a_moment)
{
	struct cmt_recording *r;

	make_trouble();
	r = open_made();
	ck_assert_int_eq(cmt_recording_seek(r, START + 300 * MS), 0);
	usage = usage_of(r, 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_le(frame->start_ns, START + 300 * MS);
	ck_assert_uint_ge(frame->start_ns, START + 200 * MS);
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		ck_assert(row->kind == CMT_USAGE_OWNER && row->container &&
			  row->container->path);
	}
	ck_assert_uint_ge(frame->nr_rows, 1);
	cmt_usage_free(usage);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* An interval begins at the wanted moment; what a value needs is in the intervals before. */
START_TEST(intervals_from_a_moment)
{
	const uint64_t from_ns = START + 305 * MS;
	struct cmt_recording *r;
	uint32_t before = 0, nr = 0;

	make_trouble();
	r = open_made();
	ck_assert_int_eq(cmt_recording_seek(r, from_ns + MS / 2), 0);
	usage = usage_long(r, 0, 20 * MS);
	while (cmt_usage_next(usage, &frame) > 0) {
		before += frame->end_ns <= from_ns;
		if (frame->end_ns <= from_ns)
			continue;
		ck_assert_uint_eq(frame->start_ns, from_ns + nr++ * 20 * MS);
		ck_assert_uint_eq(frame->elapsed_ns, (nr <= 7 ? 20 : 15) * MS);
	}
	ck_assert_uint_ge(before, 1);
	ck_assert_uint_eq(nr, 8);
	cmt_usage_free(usage);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* No HEAD is intact: the records can be read, and a usage cannot. */
START_TEST(usage_needs_a_head)
{
	struct cmt_usage_opts opts = { .sz = sizeof(opts) };
	const struct cmt_recording_item *item;
	struct cmt_recording *r;
	uint32_t records = 0;

	make_trouble();
	for (uint32_t i = 0; i < made.nr_places; i++)
		if (made.places[i].kind == CMT_CHUNK_HEAD)
			made.bytes[made.places[i].offset + 120] ^= 1;
	r = open_made();
	ck_assert_ptr_null(cmt_recording_info(r));
	opts.recording = r;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EBADMSG);
	while (cmt_recording_next(r, &item) > 0)
		records += item->nr_records;
	ck_assert_uint_eq(records, made.nr_records);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* Two would take each other's items. */
START_TEST(one_usage_at_a_time)
{
	struct cmt_recording *r;
	struct cmt_usage_opts opts = { .sz = sizeof(opts) };
	struct cmt_usage *second = NULL;
	uint32_t frames[2] = { 0 };

	make_trouble();
	opts.recording = r = open_made();
	for (int i = 0; i < 2; i++) {
		usage = usage_of(r, 0);
		ck_assert_int_eq(cmt_usage_new(&second, &opts), -EBUSY);
		while (cmt_usage_next(usage, &frame) > 0)
			frames[i]++;
		ck_assert_int_eq(cmt_usage_new(&second, &opts), -EBUSY);
		cmt_usage_free(usage);
		ck_assert_int_eq(cmt_recording_seek(r, 0), 0);
	}
	ck_assert_ptr_null(second);
	ck_assert_uint_eq(frames[0], END);
	ck_assert_uint_eq(frames[1], END);
	/* what fails for its options takes none */
	opts.by = 77;
	ck_assert_int_eq(cmt_usage_new(&second, &opts), -EINVAL);
	cmt_usage_free(usage_of(r, 0));
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

/* A long interval is read in parts, and is the same: at each, a program can look at signals. */
START_TEST(long_interval_in_parts)
{
	struct cmt_usage_opts opts = { .sz = sizeof(opts), .interval_ns = 3600000 * MS };
	struct told whole = { 0 }, parts = { 0 };
	uint32_t waits = 0;
	int ret;

	made_begin(&made, 4096);
	for (uint64_t ms = 0; ms < 12000; ms++)
		made_tick(&made, ms);
	made_end(&made);
	for (int i = 0; i < 2; i++) {
		opts.recording = open_made();
		opts.flags = i ? CMT_USAGE_BOUNDED : 0;
		ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
		while ((ret = cmt_usage_next(usage, &frame)) > 0 || !cmt_usage_timeout(usage)) {
			ck_assert_int_ge(ret, 0);
			waits += !ret;
			if (ret)
				add_rows(i ? &parts : &whole);
		}
		ck_assert_int_eq(cmt_recording_at_end(opts.recording), 1);
		ck_assert_int_eq(waits >= 2, i);
		cmt_usage_free(usage);
		cmt_recording_close(opts.recording);
	}
	ck_assert_uint_eq(whole.frames, 1);
	check_same(&whole, &parts);
	made_free(&made);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_recording");

	UNIT_CASE(suite, verdicts_equal_live);
	UNIT_CASE(suite, states_equal_live);
	UNIT_CASE(suite, damage_is_a_gap);
	UNIT_CASE(suite, missing_slots_are_gaps);
	UNIT_CASE(suite, missing_before_names_is_a_gap);
	UNIT_CASE(suite, damage_without_records_is_no_gap);
	UNIT_CASE(suite, missing_intervals_are_a_gap);
	UNIT_CASE(suite, owners_at_a_moment);
	UNIT_CASE(suite, intervals_from_a_moment);
	UNIT_CASE(suite, usage_needs_a_head);
	UNIT_CASE(suite, one_usage_at_a_time);
	UNIT_CASE(suite, long_interval_in_parts);
	return unit_run(suite);
}
