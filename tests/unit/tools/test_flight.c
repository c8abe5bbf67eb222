// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmtstat record and replay are told, and what a flight recorder keeps. */
#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "common/keep.h"
#include "common/options.h"
#include "recorder/rule.h"
#include "recording.h"
#include "replay/replay.h"
#include "unit.h"

#define S 1000000000ULL

START_TEST(test_spans_and_sizes)
{
	static const char *const bad[] = {
		"", "s", "1x", "-1s", "1 s", "1ss", "0.5", "11", "1e1",
	};
	uint64_t n = 7;

	ck_assert_int_eq(parse_span("90", 0, 1000 * S, &n), 0);
	ck_assert_uint_eq(n, 90 * S);
	ck_assert_int_eq(parse_span("1.5m", 0, 1000 * S, &n), 0);
	ck_assert_uint_eq(n, 90 * S);
	ck_assert_int_eq(parse_span("250ms", 0, S, &n), 0);
	ck_assert_uint_eq(n, S / 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(parse_span(bad[i], S, 10 * S, &n) == -EINVAL, "%s", bad[i]);
	ck_assert_int_eq(parse_size("64K", 0, 1 << 20, &n), 0);
	ck_assert_uint_eq(n, 65536);
	ck_assert_int_eq(parse_size("7", 0, 1 << 20, &n), 0);
	ck_assert_uint_eq(n, 7);
	ck_assert_int_eq(parse_size("1.5M", 0, 1 << 30, &n), -EINVAL);
	ck_assert_int_eq(parse_size("17179869184G", 0, UINT64_MAX, &n), -EINVAL);
	ck_assert_uint_eq(n, 7);
}
END_TEST

START_TEST(test_moments)
{
	static const char *const bad[] = {
		"", "+", "-0", "x12:30", "24:00", "12:60", "12:3", "12:30:5",
		"12:30:05x", "2026-13-01T00:00", "2026-02-29T00:00", "2026-11-23",
		"2026-11-23T", "2026/11/23T00:00", "12:30Zx", "12:30:61",
	};
	struct replay_time at = { 0 };

	ck_assert_int_eq(replay_time_parse("+90s", &at), 0);
	ck_assert(at.kind == REPLAY_OFFSET && at.ns == 90 * (int64_t)S);
	ck_assert_int_eq(replay_time_parse("-5m", &at), 0);
	ck_assert(at.kind == REPLAY_OFFSET && at.ns == -300 * (int64_t)S);
	ck_assert_int_eq(replay_time_parse("03:12:00.25Z", &at), 0);
	ck_assert(at.kind == REPLAY_DAYTIME);
	ck_assert_int_eq(at.ns, 11520 * (int64_t)S + 250000000);
	ck_assert_int_eq(replay_time_parse("2024-02-29 00:00:01", &at), 0);
	ck_assert(at.kind == REPLAY_REALTIME);
	ck_assert_int_eq(at.ns, 1709164801 * (int64_t)S);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(replay_time_parse(bad[i], &at) == -EINVAL, "%s",
			      bad[i]);
}
END_TEST

/* A recording of 20 s that began at 23:59:50. */
START_TEST(test_moments_of_a_recording)
{
	const int64_t day = 86400 * (int64_t)S;
	struct replay replay = {
		.about = { .start_ns = 100 * S, .end_ns = 120 * S },
		.clock_known = true, .offset_ns = day - 110 * (int64_t)S,
	};
	struct replay_time at = { REPLAY_OFFSET, -5 * (int64_t)S };
	uint64_t ns;

	ck_assert_int_eq(replay_moment(&replay, &at, &ns), 0);
	ck_assert_uint_eq(ns, 115 * S);
	at = (struct replay_time){ REPLAY_DAYTIME, 5 * (int64_t)S };
	ck_assert_int_eq(replay_moment(&replay, &at, &ns), 0);
	ck_assert_uint_eq(ns, 115 * S);
	at.ns = day - 5 * (int64_t)S;
	ck_assert_int_eq(replay_moment(&replay, &at, &ns), 0);
	ck_assert_uint_eq(ns, 105 * S);
	replay.clock_known = false;
	ck_assert_int_eq(replay_moment(&replay, &at, &ns), -EINVAL);
}
END_TEST

START_TEST(test_rules)
{
	struct cmt_usage_row rows[2] = {
		{ .kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_PROCESS, .comm = "web",
		  .occupancy = { .known = true, .last_bytes = 20 << 20 } },
		{ .kind = CMT_USAGE_UNATTRIBUTED,
		  .occupancy = { .known = true, .last_bytes = 1 << 30 } },
	};
	struct cmt_usage_frame frame = {
		.rows = rows, .nr_rows = 2, .row_size = sizeof(rows[0]),
	};
	struct rule rule;

	ck_assert_ptr_null(rule_parse(" culprit ", &rule));
	ck_assert(!rule_fires(&rule, &frame));
	ck_assert_ptr_null(rule_parse("occupancy * > 19M", &rule));
	ck_assert(rule_fires(&rule, &frame));
	/* once, until it has not held */
	ck_assert(!rule_fires(&rule, &frame));
	rows[0].occupancy.last_bytes = 19 << 20;
	ck_assert(!rule_fires(&rule, &frame));
	rows[0].occupancy.last_bytes++;
	ck_assert(rule_fires(&rule, &frame));
	/* a lower bound says nothing of what is below, and what is not known nothing */
	ck_assert_ptr_null(rule_parse("occupancy * < 1G", &rule));
	rows[0].occupancy.partial = true;
	ck_assert(!rule_fires(&rule, &frame));
	rows[0].occupancy.partial = false;
	ck_assert(rule_fires(&rule, &frame));
	rows[0].occupancy.known = false;
	ck_assert(!rule_fires(&rule, &frame));
	/* as tables have them: bytes of memory, and bytes a second */
	ck_assert(rule.limit == 1 << 30);
	ck_assert_ptr_null(rule_parse("bandwidth * > 1G", &rule));
	ck_assert(rule.limit == 1e9);
	ck_assert_ptr_null(rule_parse("bandwidth * > 500K", &rule));
	ck_assert(rule.limit == 500e3);
	ck_assert_ptr_null(rule_parse("bandwidth * > 1", &rule));
	ck_assert(!rule_fires(&rule, &frame));
}
END_TEST

/* A second without a value does not end what holds: there was no crossing. */
START_TEST(test_rule_of_an_unknown_second)
{
	struct cmt_usage_row rows[2] = {
		{ .kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .cgroup_id = 7,
		  .occupancy = { .known = true, .last_bytes = 20 << 20 } },
		{ .kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .cgroup_id = 8 },
	};
	struct cmt_usage_occupancy *o = &rows[0].occupancy;
	struct cmt_usage_frame frame = {
		.rows = rows, .nr_rows = 2, .row_size = sizeof(rows[0]),
	};
	struct rule rule;

	ck_assert_ptr_null(rule_parse("occupancy * > 19M", &rule));
	ck_assert(rule_fires(&rule, &frame));
	o->known = false;
	ck_assert(!rule_fires(&rule, &frame));
	o->known = true;
	ck_assert(!rule_fires(&rule, &frame));
	/* the other container never has a value, and ends and keeps nothing */
	o->last_bytes = 0;
	ck_assert(!rule_fires(&rule, &frame));
	o->last_bytes = 20 << 20;
	ck_assert(rule_fires(&rule, &frame));
	/* below: a lower bound under the limit is on no side, one above it is above */
	ck_assert_ptr_null(rule_parse("occupancy * < 21M", &rule));
	ck_assert(rule_fires(&rule, &frame));
	o->partial = true;
	ck_assert(!rule_fires(&rule, &frame));
	o->partial = false;
	ck_assert(!rule_fires(&rule, &frame));
	o->partial = true;
	o->last_bytes = 22 << 20;
	ck_assert(!rule_fires(&rule, &frame));
	o->partial = false;
	o->last_bytes = 20 << 20;
	ck_assert(rule_fires(&rule, &frame));
}
END_TEST

/* Without a value of the container that was beyond, another one may take its place. */
START_TEST(test_rule_holder_changes)
{
	struct cmt_usage_row rows[2] = {
		{ .kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .cgroup_id = 7,
		  .total = { .known = true, .rate = 200 } },
		{ .kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .cgroup_id = 8,
		  .total = { .known = true, .rate = 50 } },
	};
	struct cmt_usage_frame frame = {
		.rows = rows, .nr_rows = 2, .row_size = sizeof(rows[0]),
	};
	struct rule rule;

	ck_assert_ptr_null(rule_parse("bandwidth * > 100", &rule));
	ck_assert(rule_fires(&rule, &frame));
	rows[0].total.known = false;
	rows[1].total.rate = 150;
	ck_assert(!rule_fires(&rule, &frame));
	rows[1].total.rate = 50;
	ck_assert(!rule_fires(&rule, &frame));
	rows[1].total.rate = 150;
	ck_assert(rule_fires(&rule, &frame));
}
END_TEST

START_TEST(test_rule_slower)
{
	static struct slowers slowers = {
		.nr = 2, .list = {
			{ .share = 0.3, .name.label = "docker:batch" },
			{ .share = 0.1, .name.label = "docker:web" },
		},
	};
	struct cmt_usage_frame frame = { 0 };
	struct rule rule;

	ck_assert_ptr_null(rule_parse("slower web > 10%", &rule));
	slowers.list[1].share = 0.11;
	/* what is not known begins nothing */
	ck_assert(!rule_fires_slower(&rule, &slowers));
	slowers.known = true;
	ck_assert(rule_fires_slower(&rule, &slowers));
	ck_assert(!rule_fires(&rule, &frame));
	ck_assert(!rule_fires_slower(&rule, &slowers));
	/* and ends nothing */
	slowers.known = false;
	slowers.list[1].share = 0.09;
	ck_assert(!rule_fires_slower(&rule, &slowers));
	slowers.known = true;
	slowers.list[1].share = 0.11;
	ck_assert(!rule_fires_slower(&rule, &slowers));
	slowers.list[1].share = 0.09;
	ck_assert(!rule_fires_slower(&rule, &slowers));
	slowers.list[1].share = 0.11;
	ck_assert(rule_fires_slower(&rule, &slowers));
	ck_assert_ptr_null(rule_parse("occupancy * > 1", &rule));
	ck_assert(!rule_fires_slower(&rule, &slowers));
	ck_assert_ptr_nonnull(rule_parse("slower web < 10%", &rule));
	ck_assert_ptr_nonnull(rule_parse("slower web > 10", &rule));
	ck_assert_ptr_nonnull(rule_parse("slower web > 0%", &rule));
	ck_assert_ptr_nonnull(rule_parse("slower web > 100%", &rule));
	ck_assert_ptr_nonnull(rule_parse("slower web > %", &rule));
}
END_TEST

static void add(struct keep *keep, uint32_t kind, uint32_t flags, uint64_t second)
{
	const struct cmt_chunk chunk = {
		.bytes = "0123456789", .nr_bytes = 10, .kind = kind,
		.flags = flags, .first_ns = second * S,
		.last_ns = second * S + (second ? 1 : 0),
	};

	ck_assert_int_eq(keep_add(keep, &chunk), 0);
}

static void add_group(struct keep *keep, uint64_t second)
{
	add(keep, CMT_CHUNK_HEAD, 0, 0);
	add(keep, CMT_CHUNK_NAMES, CMT_CHUNK_ALL_NAMES, 0);
	add(keep, CMT_CHUNK_DATA, 0, second);
}

/* What leaves ends before a chunk that has all names, and the span is kept. */
START_TEST(test_keep_span)
{
	struct keep keep = { .span_ns = 3 * S, .max_bytes = 1 << 20 };
	const struct kept *first;

	keep_begin(&keep);
	ck_assert_ptr_null(keep_first(&keep));
	for (uint64_t second = 1; second <= 10; second++)
		add_group(&keep, second);
	first = keep_first(&keep);
	ck_assert_ptr_nonnull(keep.head);
	ck_assert_uint_eq(first->place.kind, CMT_CHUNK_NAMES);
	ck_assert_uint_eq(first->next->place.first_ns, 7 * S);
	ck_assert_uint_eq(keep.short_of, 0);
	keep_end(&keep);
	ck_assert_uint_eq(keep.bytes, 0);
}
END_TEST

START_TEST(test_keep_bytes)
{
	const uint64_t each = sizeof(struct kept) + 10;
	struct keep keep = { .span_ns = 100 * S, .max_bytes = 5 * each };

	keep_begin(&keep);
	for (uint64_t second = 1; second <= 10; second++) {
		add_group(&keep, second);
		ck_assert_uint_le(keep.bytes, keep.max_bytes);
	}
	ck_assert_uint_gt(keep.short_of, 0);
	/* of five chunks the oldest has lost its names */
	ck_assert_uint_eq(keep_first(&keep)->place.kind, CMT_CHUNK_NAMES);
	ck_assert_uint_eq(keep_first(&keep)->next->place.first_ns, 9 * S);
	keep_end(&keep);
}
END_TEST

static int take_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	return keep_add(ctx, chunk);
}

/* Returns how many records a file of what is kept has; nothing of it is damaged. */
static uint32_t read_kept(const struct keep *keep)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *recording;
	uint32_t records = 0;
	int fd = made_file(keep->head->bytes, keep->head->place.nr_bytes), ret;

	ck_assert_int_ge(lseek(fd, 0, SEEK_END), 0);
	for (const struct kept *k = keep_first(keep); k; k = k->next)
		ck_assert_int_eq(write(fd, k->bytes, k->place.nr_bytes),
				 (int)k->place.nr_bytes);
	ck_assert_int_eq(cmt_recording_open_fd(&recording, fd), 0);
	while ((ret = cmt_recording_next(recording, &item)) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		ck_assert_uint_ne(item->type, CMT_RECORDING_NAME);
		records += item->nr_records;
	}
	ck_assert_int_eq(ret, 0);
	cmt_recording_close(recording);
	close(fd);
	return records;
}

/*
 * Owners without names, as CPUs and the default group of resctrl: chunks leave by age all
 * the same.  All names come again after 32 chunks of half a second.
 */
START_TEST(test_keep_without_names)
{
	struct keep keep = { .span_ns = 2 * S, .max_bytes = 32 << 20 };
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &made_info, .write = take_chunk, .ctx = &keep,
		.flags = CMT_RECORDER_NO_INDEX,
	};
	struct cmt_record tick = { .type = CMT_REC_TICK, .interval_ns = S / 10 };
	struct cmt_recorder *recorder;
	const struct kept *first;

	keep_begin(&keep);
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
	for (int i = 0; i < 600; i++) {
		tick.ts = 1000 * S + (uint64_t)i * S / 10;
		ck_assert_int_eq(cmt_recorder_add(recorder, &tick, 1), 0);
		for (first = keep_first(&keep); first && !first->place.first_ns;)
			first = first->next;
		if (first)
			ck_assert_uint_le(tick.ts - first->place.first_ns, 19 * S);
	}
	ck_assert_uint_eq(keep_first(&keep)->place.kind, CMT_CHUNK_NAMES);
	ck_assert_uint_ge(tick.ts - first->place.first_ns, 2 * S);
	ck_assert_uint_eq(keep.short_of, 0);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	ck_assert_uint_eq(read_kept(&keep),
			  (tick.ts - first->place.first_ns) / (S / 10) + 1);
	cmt_recorder_free(recorder);
	keep_end(&keep);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flight");

	UNIT_CASE(suite, test_spans_and_sizes);
	UNIT_CASE(suite, test_moments);
	UNIT_CASE(suite, test_moments_of_a_recording);
	UNIT_CASE(suite, test_rules);
	UNIT_CASE(suite, test_rule_of_an_unknown_second);
	UNIT_CASE(suite, test_rule_holder_changes);
	UNIT_CASE(suite, test_rule_slower);
	UNIT_CASE(suite, test_keep_span);
	UNIT_CASE(suite, test_keep_bytes);
	UNIT_CASE(suite, test_keep_without_names);
	return unit_run(suite);
}
