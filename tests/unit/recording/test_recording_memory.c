// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings and usages where memory runs out: nothing is lost without a word, nor twice. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"
#include "unit.h"

#define MS 1000000ULL

static long fail_at;		/* the allocation that fails, from 1 on; 0: none */
static long fail_for = 1;	/* and those after it */
static long nr_allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);

static bool fails(void)
{
	if (!fail_at)
		return false;
	nr_allocations++;
	return nr_allocations >= fail_at && nr_allocations < fail_at + fail_for;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

static void fail_from(long at, long nr)
{
	nr_allocations = 0;
	fail_at = at;
	fail_for = nr;
}

/* Check allocates, too, in the same program. */
#define NEED(cond) do {			\
	if (!(cond)) {			\
		fail_at = 0;		\
		ck_abort_msg(#cond);	\
	}				\
} while (0)

static uint8_t *bytes;
static size_t nr_bytes, room;

static int take(void *ctx, const struct cmt_chunk *chunk)
{
	(void)ctx;
	NEED(nr_bytes + chunk->nr_bytes <= room);
	memcpy(bytes + nr_bytes, chunk->bytes, chunk->nr_bytes);
	nr_bytes += chunk->nr_bytes;
	return 0;
}

static uint64_t read_all(uint64_t *missing)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *r = NULL;
	uint64_t records = 0;
	int fd = made_file(bytes, nr_bytes);

	*missing = 0;
	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	close(fd);
	while (cmt_recording_next(r, &item) > 0) {
		records += item->nr_records;
		*missing += item->missing_records;
	}
	cmt_recording_close(r);
	return records;
}

/* Returns 0, or -ENOMEM: there is no recorder. */
static int record(struct made *made, long at, long nr, uint64_t *dropped)
{
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &made_info, .write = take, .host = "h",
		.kernel = "k", .boot_id = "b", .chunk_records = 64,
	};
	struct cmt_recorder_counts counts = { .sz = sizeof(counts) };
	struct cmt_container c = { .sz = sizeof(c), .cgroup_id = 9, .path = "/a" };
	struct cmt_recorder *recorder;
	int ret;

	nr_bytes = 0;
	fail_from(at, nr);
	ret = cmt_recorder_new(&recorder, &opts);
	if (ret) {
		NEED(ret == -ENOMEM);
		fail_at = 0;
		return ret;
	}
	ret = cmt_recorder_begin(recorder);
	NEED(!ret || ret == -ENOMEM);
	ret = cmt_recorder_name(recorder, &c);
	NEED(!ret || ret == -ENOMEM);
	for (uint32_t i = 0; i < made->nr_records; i += 50) {
		uint32_t n = made->nr_records - i < 50 ? made->nr_records - i : 50;

		ret = cmt_recorder_add(recorder, made->records + i, n);
		NEED(!ret || ret == -ENOMEM);
	}
	fail_at = 0;
	/* a last record, so that a chunk says what was dropped before it */
	ck_assert_int_eq(cmt_recorder_add(recorder, made->records, 1), 0);
	ck_assert_int_eq(cmt_recorder_end(recorder), 0);
	cmt_recorder_counts(recorder, &counts);
	ck_assert_uint_eq(counts.records, made->nr_records + 1);
	ck_assert_uint_eq(counts.records, counts.written + counts.dropped);
	*dropped = counts.dropped;
	cmt_recorder_free(recorder);
	return 0;
}

START_TEST(recorder_without_memory)
{
	uint64_t dropped, missing, records;
	uint32_t with_drops = 0;
	struct made made;

	made_begin(&made, 0);
	for (uint64_t ms = 0; ms < 20; ms++)
		made_tick(&made, ms);
	room = 1 << 20;
	bytes = malloc(room);
	for (long at = 1; at < 120; at++) {
		if (record(&made, at, at % 3 ? 1 : 10, &dropped))
			continue;
		records = read_all(&missing);
		ck_assert_uint_eq(records + dropped, made.nr_records + 1);
		ck_assert_uint_eq(missing, dropped);
		with_drops += dropped != 0;
	}
	ck_assert_uint_ge(with_drops, 3);
	free(bytes);
	made_free(&made);
}
END_TEST

/* What had no memory comes with the next call. */
START_TEST(recording_without_memory)
{
	const struct cmt_recording_item *item;
	struct made made;
	uint32_t failed = 0;

	made_begin(&made, 256);
	for (uint64_t ms = 0; ms < 60; ms++) {
		made_tick(&made, ms);
		if (ms % 20 == 19)
			made_state(&made, ms);
	}
	made_end(&made);
	for (long at = 1; at < 200; at++) {
		struct cmt_recording *r = NULL;
		int fd = made_file(made.bytes, made.nr_bytes), ret;
		uint32_t records = 0;

		fail_from(at, at % 3 ? 1 : 4);
		ret = cmt_recording_open_fd(&r, fd);
		close(fd);
		while (!ret && (ret = cmt_recording_next(r, &item))) {
			if (ret == -ENOMEM) {
				failed++;
				ret = 0;
				continue;
			}
			NEED(ret == 1 && item->type != CMT_RECORDING_DAMAGE);
			records += item->nr_records;
			ret = 0;
		}
		fail_at = 0;
		ck_assert(r || ret == -ENOMEM);
		if (r)
			ck_assert_uint_eq(records, made.nr_records);
		cmt_recording_close(r);
	}
	ck_assert_uint_ge(failed, 3);
	made_free(&made);
}
END_TEST

static uint32_t count_frames(struct cmt_usage *usage)
{
	const struct cmt_usage_frame *frame;
	uint32_t frames = 0, failures = 0;
	int ret;

	while ((ret = cmt_usage_next(usage, &frame))) {
		if (ret == -ENOMEM)
			NEED(failures++ < 50);
		else
			NEED(ret == 1);
		frames += ret > 0;
	}
	return frames;
}

START_TEST(usage_without_memory)
{
	struct made made;

	made_begin(&made, 256);
	for (uint64_t ms = 0; ms < 30; ms++)
		made_tick(&made, ms);
	made_state(&made, 30);
	made_end(&made);
	for (long at = 1; at < 300; at++) {
		struct cmt_usage_opts opts = { .sz = sizeof(opts), .interval_ns = MS };
		struct cmt_usage *usage = NULL;
		int fd = made_file(made.bytes, made.nr_bytes), ret;

		ck_assert_int_eq(cmt_recording_open_fd(&opts.recording, fd), 0);
		close(fd);
		fail_from(at, 1);
		ret = cmt_usage_new(&usage, &opts);
		NEED(!ret || ret == -ENOMEM);
		/* what had no memory is not there, and the next call goes on */
		if (!ret)
			NEED(count_frames(usage) >= 20);
		fail_at = 0;
		cmt_usage_free(usage);
		cmt_recording_close(opts.recording);
	}
	made_free(&made);
}
END_TEST

#define WAITERS	20U	/* owners with the RMIDs from 1 on */

/* In every other millisecond all owners run on all CPUs, and wait there, else one on one. */
static void wait_for_cpus(struct made *made, uint64_t ms)
{
	struct cmt_record perf[WAITERS * MADE_CPUS];
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < (ms % 2 ? MADE_CPUS : 1); cpu++)
		for (uint32_t rmid = 1; rmid <= (ms % 2 ? WAITERS : 1); rmid++)
			perf[n++] = (struct cmt_record){
				.ts = MADE_START + ms * MADE_MS + 500000 + cpu,
				.type = CMT_REC_PERF, .cpu = (uint16_t)cpu, .rmid = rmid,
				.generation = 1, .flags = CMT_F_WAITED, .ran_ns = 10000,
				.perf.waited_ns = 20000 + 1000 * rmid,
			};
	made_add(made, perf, n);
}

/* Returns whether parts are missing of what a row waited; there are never more. */
static bool lacks_parts(const struct cmt_usage_frame *frame)
{
	bool lacks = false;
	uint32_t at = 0;

	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		uint64_t ns = cmt_usage_row_at(frame, i)->counters.waited_ns, parts = 0;

		for (; at < frame->nr_waits && frame->waits[at].row == i; at++)
			parts += frame->waits[at].ns;
		NEED(parts <= ns);
		lacks |= parts < ns;
	}
	NEED(at == frame->nr_waits);
	return lacks;
}

/* Returns how many frames there are. */
static uint32_t read_waits(struct cmt_usage *usage, uint32_t *lacking, uint32_t *failures)
{
	const struct cmt_usage_frame *frame;
	uint32_t frames = 0;
	int ret;

	*lacking = 0;
	while ((ret = cmt_usage_next(usage, &frame))) {
		NEED(ret == 1 || ret == -ENOMEM);
		*failures += ret < 0;
		if (ret < 0)
			continue;
		frames++;
		*lacking += lacks_parts(frame);
	}
	return frames;
}

/* What a slot without memory waited is not shared out in the next one. */
START_TEST(waits_without_memory)
{
	uint32_t failures = 0, lacking;
	struct made made;

	made_begin(&made, 256);
	for (uint64_t ms = 0; ms < 30; ms++) {
		made_tick(&made, ms);
		wait_for_cpus(&made, ms);
	}
	made_end(&made);
	for (long at = 1; at < 300; at++) {
		struct cmt_usage_opts opts = {
			.sz = sizeof(opts), .interval_ns = MS, .flags = CMT_USAGE_WAITS,
		};
		struct cmt_usage *usage = NULL;
		int fd = made_file(made.bytes, made.nr_bytes), ret;

		ck_assert_int_eq(cmt_recording_open_fd(&opts.recording, fd), 0);
		close(fd);
		fail_from(at, 1);
		ret = cmt_usage_new(&usage, &opts);
		NEED(!ret || ret == -ENOMEM);
		if (!ret)
			NEED(read_waits(usage, &lacking, &failures) >= 20 && lacking <= 1);
		fail_at = 0;
		cmt_usage_free(usage);
		cmt_recording_close(opts.recording);
	}
	ck_assert_uint_ge(failures, 10);
	made_free(&made);
}
END_TEST

/*
 * The RMIDs of a usage that is given its records; those from IDLE on are seldom read.  The
 * holdings take all of their first memory, so that a further one takes more.
 */
enum { CPU_OWNER = 1, BUSY, OVERFLOW, GROUP, IDLE, END_RMIDS = 64 };

#define SCRIPT_MS	32U
#define FIRST_MS	2U	/* of readings */
#define UPDATE_MS	11U	/* the group has another owner */
#define STEP		(10ULL << 20)	/* traffic between two readings */

struct outcome {
	uint64_t bytes;		/* traffic in all frames */
	uint64_t last_bytes;	/* traffic in the last frame */
	uint32_t last_rows;
	uint32_t frames;
	uint64_t shown;		/* bitmap: RMIDs that have a row as of the last frame */
	uint32_t lacking;	/* frames as of which some RMID has no row */
	uint64_t failed_ms;	/* when an allocation failed, or 0 */
};

static void check_added(struct outcome *to, uint64_t ms, int ret)
{
	NEED(!ret || (ret == -ENOMEM && !to->failed_ms));
	if (ret)
		to->failed_ms = ms + 1;
}

static void give(struct cmt_usage *usage, struct outcome *to, struct cmt_record record)
{
	uint64_t ms = record.ts / MS;
	int ret;

	record.ts += MADE_START;
	do {
		ret = cmt_usage_add(usage, &record);
		check_added(to, ms, ret);
	} while (ret);
}

static struct cmt_record owner_event(uint16_t type, uint64_t ms, uint32_t rmid)
{
	struct cmt_record record = {
		.ts = ms * MS, .type = type, .rmid = rmid, .generation = 1,
	};

	if (rmid == CPU_OWNER)
		record.flags = CMT_F_OWNER_CPU;
	else if (rmid == OVERFLOW)
		record.flags = CMT_F_OWNER_OVERFLOW;
	else
		record.owner.cgroup_id = MADE_CGROUP + rmid;
	if (rmid == GROUP) {
		record.flags = CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE | CMT_F_OWNER_CGROUP;
		record.owner.cgroup_id += type == CMT_REC_UPDATE;
	}
	return record;
}

static void give_sample(struct cmt_usage *usage, struct outcome *to, uint64_t ms, uint32_t rmid)
{
	give(usage, to, (struct cmt_record){
		.ts = ms * MS + 1000 + rmid, .type = CMT_REC_SAMPLE, .rmid = rmid,
		.generation = rmid ? 1 : 0,
		.flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
		.sample.occupancy_bytes = MADE_UNIT,
		.sample.mbm_total_bytes = (ms - FIRST_MS + 1) * STEP,
	});
}

static void give_ms(struct cmt_usage *usage, struct outcome *to, uint64_t ms)
{
	for (uint32_t rmid = 1; ms == 1 && rmid < END_RMIDS; rmid++)
		give(usage, to, owner_event(CMT_REC_ALLOC, ms, rmid));
	if (ms == UPDATE_MS)
		give(usage, to, owner_event(CMT_REC_UPDATE, ms, GROUP));
	give(usage, to, (struct cmt_record){
		.ts = ms * MS + 500, .type = CMT_REC_PERF, .rmid = BUSY, .generation = 1,
		.flags = CMT_F_CYCLES, .ran_ns = 500, .perf.cycles = 1000,
	});
	give(usage, to, (struct cmt_record){
		.ts = ms * MS + 600, .type = CMT_REC_TICK, .rmid = BUSY, .generation = 1,
		.interval_ns = MS,
	});
	for (uint32_t rmid = ms == FIRST_MS; ms >= FIRST_MS && rmid < END_RMIDS; rmid++)
		if (rmid < IDLE || ms % 20 == FIRST_MS)
			give_sample(usage, to, ms, rmid);
}

static void take_frames(struct cmt_usage *usage, struct outcome *to)
{
	const struct cmt_usage_frame *frame;

	while (cmt_usage_next(usage, &frame) > 0) {
		to->frames++;
		to->last_rows = frame->nr_rows;
		to->last_bytes = 0;
		to->shown = frame->brief ? to->shown : 0;
		for (uint32_t i = 0; i < frame->nr_rows; i++) {
			const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

			to->last_bytes += row->total.known ? row->total.bytes : 0;
			to->shown |= 1ULL << row->rmid;
		}
		to->bytes += to->last_bytes;
		to->lacking += frame->start_ns > MADE_START + FIRST_MS * MS &&
			       to->shown != UINT64_MAX;
	}
}

/* The allocation number @at fails. */
static struct outcome outcome_of(const struct cmt_usage_opts *opts, long at)
{
	struct outcome outcome = { 0 };
	struct cmt_usage *usage;
	int ret;

	ck_assert_int_eq(cmt_usage_new(&usage, opts), 0);
	fail_from(at, 1);
	for (uint64_t ms = 0; ms < SCRIPT_MS; ms++) {
		give_ms(usage, &outcome, ms);
		take_frames(usage, &outcome);
	}
	do {
		ret = cmt_usage_flush(usage);
		check_added(&outcome, SCRIPT_MS, ret);
	} while (ret);
	take_frames(usage, &outcome);
	fail_at = 0;
	cmt_usage_free(usage);
	return outcome;
}

/*
 * An owner that had no memory is not there, and comes with the next slot: no traffic counts
 * twice, none is lost but with its frame, and later frames are as without the failure.
 */
static void compare_outcomes(uint32_t by, uint32_t flags, uint64_t interval_ns)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = by, .flags = flags, .interval_ns = interval_ns,
		.nr_rmids = MADE_RMIDS, .nr_cpus = 1, .unit_bytes = MADE_UNIT,
	};
	struct outcome all = outcome_of(&opts, 1000000), one;
	long nr = nr_allocations;
	char text[200];

	ck_assert_int_ge(nr, 10);
	for (long at = 1; at <= nr; at++) {
		one = outcome_of(&opts, at);
		snprintf(text, sizeof(text), "allocation %ld, %llu ms: %llu bytes, not %llu; "
			 "%u frames lack a row", at, (unsigned long long)one.failed_ms - 1,
			 (unsigned long long)one.bytes, (unsigned long long)all.bytes,
			 one.lacking);
		ck_assert_msg(one.bytes <= all.bytes, "%s", text);
		/* RMID 0 counts from its first reading on; a frame without a CPU's RMID has CPUs only */
		if (by != CMT_USAGE_BY_CPU && one.frames == all.frames)
			ck_assert_msg(one.bytes + STEP >= all.bytes, "%s", text);
		if (by == CMT_USAGE_BY_PROCESS)
			ck_assert_msg(one.lacking <= 1, "%s", text);
		if (one.failed_ms > SCRIPT_MS - 8)
			continue;
		ck_assert_uint_eq(one.last_rows, all.last_rows);
		ck_assert_uint_eq(one.last_bytes, all.last_bytes);
	}
}

START_TEST(usage_goes_on)
{
	static const struct {
		uint32_t by, flags;
	} views[] = {
		{ CMT_USAGE_BY_CPU, 0 }, { CMT_USAGE_BY_DOMAIN, 0 },
		{ CMT_USAGE_BY_CONTAINER, CMT_USAGE_CHILDREN }, { CMT_USAGE_BY_PROCESS, 0 },
		{ CMT_USAGE_BY_PROCESS, CMT_USAGE_BRIEF },
	};

	compare_outcomes(views[_i / 2].by, views[_i / 2].flags, _i % 2 ? 3 * MS : MS);
}
END_TEST

/* A file that has not grown has its places read once. */
START_TEST(seek_reads_places_once)
{
	struct cmt_recording *r = NULL;
	struct made made;
	int fd;

	made_begin(&made, 256);
	for (uint64_t ms = 0; ms < 30; ms++)
		made_tick(&made, ms);
	made_end(&made);
	fd = made_file(made.bytes, made.nr_bytes);
	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	close(fd);
	ck_assert_int_eq(cmt_recording_seek(r, MADE_START), 0);
	fail_from(1000000, 1);
	NEED(!cmt_recording_seek(r, MADE_START + 20 * MADE_MS));
	fail_at = 0;
	ck_assert_int_eq(nr_allocations, 0);
	cmt_recording_close(r);
	made_free(&made);
}
END_TEST

static int slot_ignored(void *ctx, const struct cmt_slot *slot)
{
	(void)ctx;
	(void)slot;
	return 0;
}

/* Without memory for the counts of a slot the record is not taken. */
START_TEST(counts_of_slots)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = 8, .nr_cpus = 1, .slot_ns = MS,
	};
	struct cmt_slots_counts counts = { .sz = sizeof(counts) };
	struct cmt_record record = {
		.ts = 10 * MS, .type = CMT_REC_TICK, .interval_ns = MS,
	};
	struct cmt_slots *slots;

	ck_assert_int_eq(cmt_slots_new(&slots, &opts, slot_ignored, NULL), 0);
	ck_assert_int_eq(cmt_slots_add(slots, &record), 0);
	record.type = CMT_REC_PERF;
	record.rmid = 1;
	record.generation = 1;
	record.flags = CMT_F_CYCLES;
	fail_from(1, 1);
	NEED(cmt_slots_add(slots, &record) == -ENOMEM);
	fail_at = 0;
	ck_assert_int_eq(cmt_slots_counts(slots, &counts), 0);
	ck_assert_uint_eq(counts.added, 1);
	ck_assert_int_eq(cmt_slots_add(slots, &record), 0);
	ck_assert_int_eq(cmt_slots_counts(slots, &counts), 0);
	ck_assert_uint_eq(counts.added, 2);
	cmt_slots_free(slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_memory");
	TCase *usages = tcase_create("usage_goes_on");

	UNIT_CASE(suite, recorder_without_memory);
	UNIT_CASE(suite, recording_without_memory);
	UNIT_CASE(suite, usage_without_memory);
	UNIT_CASE(suite, waits_without_memory);
	tcase_add_loop_test(usages, usage_goes_on, 0, 10);
	suite_add_tcase(suite, usages);
	UNIT_CASE(suite, seek_reads_places_once);
	UNIT_CASE(suite, counts_of_slots);
	return unit_run(suite);
}
