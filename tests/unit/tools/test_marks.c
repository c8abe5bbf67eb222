// SPDX-License-Identifier: GPL-2.0-or-later
/* What tables are marked with, and one owner closely. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frame/follow.h"
#include "unit.h"
#include "why/marks.h"

#define SECOND 1000000000ULL

static struct marks marks;

static void say_kind(enum cmt_culprit_kind kind, uint64_t victim, uint64_t suspect,
		     uint64_t ts_ns)
{
	struct cmt_culprit_verdict verdict = {
		.id = victim, .ts_ns = ts_ns, .confidence = 0.9,
		.kind = kind,
		.nr_suspects = suspect != 0, .suspects[0].id = suspect,
		.cpu_share = NAN,
	};
	struct why_names names = { 0 };

	snprintf(names.victim.label, CONTAINER_LABEL_LEN, "docker:%u",
		 (unsigned int)victim);
	snprintf(names.suspects[0].label, CONTAINER_LABEL_LEN, "docker:%u",
		 (unsigned int)suspect);
	marks_add(&marks, &verdict, &names);
}

static void say(uint64_t victim, uint64_t suspect, uint64_t ts_ns)
{
	say_kind(suspect ? CMT_CULPRIT_CACHE : CMT_CULPRIT_THROTTLED, victim, suspect, ts_ns);
}

/* What the note of the row of @id says at @now_ns; "": nothing. */
static const char *note_of(uint64_t id, uint64_t now_ns)
{
	static char text[2 * CONTAINER_LABEL_LEN];
	struct row row = { .culprit_id = id, .mark = marks.list };
	struct frame frame = { .end_ns = now_ns, .nr_rows = 1, .rows = &row };

	marks_set(&marks, &frame);
	text[0] = '\0';
	if (row.mark)
		mark_text(text, sizeof(text), row.mark, row.suspected);
	return text;
}

START_TEST(test_roles)
{
	marks.nr = 0;
	ck_assert_ptr_null(marks_first(&marks, SECOND));
	say(1, 2, 10 * SECOND);
	say(2, 0, 11 * SECOND);
	ck_assert_str_eq(note_of(1, 12 * SECOND), "lost cache to docker:2");
	/* its own trouble comes after what it does to others */
	ck_assert_str_eq(note_of(2, 12 * SECOND), "took cache of docker:1");
	ck_assert_str_eq(note_of(3, 12 * SECOND), "");
	say(2, 3, 12 * SECOND);
	ck_assert_str_eq(note_of(2, 12 * SECOND), "lost cache to docker:3");
	say_kind(CMT_CULPRIT_WAIT, 4, 5, 12 * SECOND);
	ck_assert_str_eq(note_of(4, 12 * SECOND), "waits for a CPU, used by docker:5");
	ck_assert_str_eq(note_of(5, 12 * SECOND), "uses the CPU that docker:4 waits for");
}
END_TEST

START_TEST(test_age)
{
	marks.nr = 0;
	say(1, 2, 10 * SECOND);
	say(4, 0, 60 * SECOND);
	ck_assert_uint_eq(marks_first(&marks, 70 * SECOND)->verdict.id, 1);
	ck_assert_str_eq(note_of(1, 70 * SECOND), "lost cache to docker:2");
	ck_assert_str_eq(note_of(1, 70 * SECOND + 1), "");
	ck_assert_str_eq(note_of(2, 70 * SECOND + 1), "");
	ck_assert_uint_eq(marks_first(&marks, 70 * SECOND + 1)->verdict.id, 4);
	ck_assert_ptr_null(marks_first(&marks, 121 * SECOND));
}
END_TEST

/* The same again is one mark; the oldest goes where there are too many. */
START_TEST(test_room)
{
	uint64_t i;

	marks.nr = 0;
	for (i = 1; i <= MARKS; i++)
		say(i, 100, i * SECOND);
	say(1, 100, 20 * SECOND);
	ck_assert_uint_eq(marks.nr, MARKS);
	ck_assert_uint_eq(marks.list[0].verdict.id, 1);
	say(50, 100, 21 * SECOND);
	ck_assert_uint_eq(marks.nr, MARKS);
	ck_assert_str_eq(note_of(2, 21 * SECOND), "");
	ck_assert_str_eq(note_of(1, 21 * SECOND), "lost cache to docker:100");
	ck_assert_str_eq(note_of(3, 21 * SECOND), "lost cache to docker:100");
}
END_TEST

/* What an incident says otherwise is not said: its victim, and who costs most, stay. */
START_TEST(test_explained)
{
	struct ongoing ongoing = { .nr = 2, .list = {
		{ .id = 1, .by_id = 2 }, { .id = 4 },
	} };

	marks.nr = 0;
	say(1, 3, 10 * SECOND);
	say(1, 0, 10 * SECOND);
	say(4, 3, 10 * SECOND);
	say(5, 3, 10 * SECOND);
	say(1, 2, 10 * SECOND);
	marks_explain(&marks, &ongoing);
	ck_assert_uint_eq(marks.nr, 4);
	ck_assert_str_eq(note_of(1, 11 * SECOND), "lost cache to docker:2");
	/* nobody costs this one anything now */
	ck_assert_str_eq(note_of(4, 11 * SECOND), "lost cache to docker:3");
	ck_assert_str_eq(note_of(3, 11 * SECOND), "took cache of docker:5");
	marks.nr = 0;
	say(1, 3, 10 * SECOND);
	say(1, 0, 10 * SECOND);
	marks_explain(&marks, &ongoing);
	ck_assert_str_eq(note_of(3, 11 * SECOND), "");
	ck_assert_str_eq(note_of(1, 11 * SECOND), why_what(&marks.list[0].verdict));
	ongoing.nr = 0;
	say(1, 3, 10 * SECOND);
	marks_explain(&marks, &ongoing);
	ck_assert_str_eq(note_of(1, 11 * SECOND), "lost cache to docker:3");
}
END_TEST

START_TEST(test_line)
{
	char line[MARK_LINE];

	marks.nr = 0;
	say(1, 2, 10 * SECOND);
	mark_line(line, marks.list, 14 * SECOND);
	ck_assert_str_eq(line, "docker:1 lost cache to docker:2, 4 s ago (confidence 0.90, no counters)");
	/* a clock that is behind makes it no older than new */
	mark_line(line, marks.list, 9 * SECOND);
	ck_assert_ptr_nonnull(strstr(line, ", 0 s ago"));
	memset(marks.list[0].victim, '\033', CONTAINER_LABEL_LEN - 1);
	memset(marks.list[0].suspect, '\xff', CONTAINER_LABEL_LEN - 1);
	mark_line(line, marks.list, 14 * SECOND);
	ck_assert_ptr_null(strchr(line, '\033'));
	ck_assert_ptr_null(strchr(line, '\xff'));
	ck_assert_ptr_nonnull(strstr(line, "no counters)"));
}
END_TEST

static bool no_bandwidth;	/* the machine does not count it */
static uint32_t bounded_why;	/* bandwidth and occupancy of parts are lower bounds */

/* A frame of one slot: the row of @id, with a part in each of two domains. */
static void feed(struct follow *follow, uint64_t id, uint64_t slot,
		 uint64_t bytes, bool known)
{
	struct cmt_usage_row parts[2] = { { .kind = CMT_USAGE_OWNER } };
	struct cmt_usage_row row = {
		.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP,
		.cgroup_id = id, .nr_children = 2,
		.occupancy = { .known = known, .last_bytes = bytes },
		.total = { .known = known, .bytes = 500, .rate = 5e5 },
	};
	const struct cmt_usage_frame frame = {
		.by = CMT_USAGE_BY_CONTAINER, .row_size = sizeof(row),
		.start_ns = slot * FOLLOW_SLOT_NS, .nr_rows = 1, .rows = &row,
		.nr_children = 2, .children = parts,
	};

	for (uint32_t i = 0; i < 2; i++) {
		parts[i].domain = 7 * i;
		parts[i].occupancy.known = known;
		parts[i].occupancy.last_bytes = bytes / 2;
		parts[i].total.known = known && !no_bandwidth;
		parts[i].total.bytes = 1000 * i;
		parts[i].total.partial = bounded_why;
		parts[i].total.why = bounded_why;
		parts[i].occupancy.partial = bounded_why & ~CMT_USAGE_WHY_OLD;
	}
	follow_add(follow, &frame);
}

/* A brief frame without a row: it was not read, and holds what it held. */
START_TEST(test_follow_brief)
{
	struct cmt_usage_frame frame = {
		.by = CMT_USAGE_BY_CONTAINER,
		.row_size = sizeof(struct cmt_usage_row), .brief = true,
		.start_ns = 999 * FOLLOW_SLOT_NS,
	};
	struct follow follow = { 0 };

	follow_id(&follow, 5);
	follow_add(&follow, &frame);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	feed(&follow, 5, 1000, 4096, true);
	frame.start_ns = 1001 * FOLLOW_SLOT_NS;
	follow_add(&follow, &frame);
	ck_assert_double_eq(follow_occupancy(&follow, 0), 4096);
	ck_assert(isnan(follow_traffic(&follow, 0)));
	/* where all are, it is not */
	frame.brief = false;
	frame.start_ns = 1002 * FOLLOW_SLOT_NS;
	follow_add(&follow, &frame);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	frame.brief = true;
	frame.start_ns = 1003 * FOLLOW_SLOT_NS;
	follow_add(&follow, &frame);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	/* nor is it known where a reading may be lost, or a slot is left out */
	feed(&follow, 5, 1004, 4096, true);
	frame.start_ns = 1005 * FOLLOW_SLOT_NS;
	frame.nr_gaps = 1;
	follow_add(&follow, &frame);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	feed(&follow, 5, 1006, 4096, true);
	frame.start_ns = 1008 * FOLLOW_SLOT_NS;
	frame.nr_gaps = 0;
	follow_add(&follow, &frame);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
}
END_TEST

START_TEST(test_follow)
{
	struct follow follow = { 0 };

	feed(&follow, 5, 1000, 1, true);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	follow_id(&follow, 5);
	feed(&follow, 5, 1000, 4096, true);
	feed(&follow, 6, 1001, 1, true);
	feed(&follow, 5, 1003, 8192, true);
	feed(&follow, 5, 1004, 1, false);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
	ck_assert_double_eq(follow_occupancy(&follow, 1), 8192);
	ck_assert_double_eq(follow_traffic(&follow, 1), 5e5);
	ck_assert(isnan(follow_occupancy(&follow, 2)));
	ck_assert(isnan(follow_occupancy(&follow, 3)));
	ck_assert_double_eq(follow_occupancy(&follow, 4), 4096);
	ck_assert(isnan(follow_occupancy(&follow, 5)));
	ck_assert(isnan(follow_occupancy(&follow, FOLLOW_SLOTS)));
	/* older slots do not come back */
	feed(&follow, 5, 1002, 77, true);
	ck_assert(isnan(follow_occupancy(&follow, 2)));
	/* a long pause leaves nothing of what was before */
	feed(&follow, 5, 900000, 16384, true);
	ck_assert_double_eq(follow_occupancy(&follow, 0), 16384);
	for (unsigned int age = 1; age < FOLLOW_SLOTS; age++)
		ck_assert(isnan(follow_occupancy(&follow, age)));
	follow_id(&follow, 6);
	ck_assert_uint_eq(follow.nr_parts, 0);
	ck_assert(isnan(follow_occupancy(&follow, 0)));
}
END_TEST

START_TEST(test_parts)
{
	struct follow follow = { 0 };
	uint64_t slot;

	follow_id(&follow, 5);
	for (slot = 1000; slot <= 2000; slot++)
		feed(&follow, 5, slot, 4096, true);
	ck_assert_uint_eq(follow.nr_parts, 2);
	ck_assert_uint_eq(follow.parts[1].domain, 7);
	ck_assert_double_eq(follow.parts[1].occupancy, 2048);
	/* 1,001 slots of 1,000 bytes, in the second from 1000 to 2000 */
	ck_assert_double_eq(follow.parts[1].rate, 1001000);
	ck_assert_double_eq(follow.parts[0].rate, 0);
	ck_assert_uint_eq(follow.parts[1].bytes, 0);
}
END_TEST

/* What was never read in a window is not 0. */
START_TEST(test_parts_without_bandwidth)
{
	struct follow follow = { 0 };
	uint64_t slot;

	no_bandwidth = true;
	follow_id(&follow, 5);
	for (slot = 1000; slot <= 2000; slot++)
		feed(&follow, 5, slot, 4096, true);
	ck_assert_double_eq(follow.parts[1].occupancy, 2048);
	ck_assert(isnan(follow.parts[0].rate));
	ck_assert(isnan(follow.parts[1].rate));
	no_bandwidth = false;
	for (; slot <= 3000; slot++)
		feed(&follow, 5, slot, 4096, true);
	ck_assert_double_eq(follow.parts[0].rate, 0);
	ck_assert_double_eq(follow.parts[1].rate, 1000000);
	no_bandwidth = true;
	for (; slot <= 4000; slot++)
		feed(&follow, 5, slot, 4096, true);
	ck_assert(isnan(follow.parts[1].rate));
	no_bandwidth = false;
}
END_TEST

/* Feed slots up to @last, which ends a window: its rate is a lower bound or not. */
static void expect_bounds(struct follow *follow, uint64_t *slot, uint64_t last, bool bounds)
{
	for (; *slot <= last; ++*slot)
		feed(follow, 5, *slot, 4096, true);
	ck_assert(!isnan(follow->parts[1].rate));
	ck_assert_int_eq(follow->parts[1].rate_partial, bounds);
}

/* What a part lacks in one slot of a window its rate lacks; the next window is complete. */
START_TEST(test_parts_are_lower_bounds)
{
	struct follow follow = { 0 };
	uint64_t slot = 1000;

	follow_id(&follow, 5);
	expect_bounds(&follow, &slot, 2000, false);
	bounded_why = CMT_USAGE_WHY_OVERWRITTEN;
	feed(&follow, 5, slot++, 4096, true);
	bounded_why = 0;
	ck_assert(follow.parts[1].occupancy_partial);
	expect_bounds(&follow, &slot, 3000, true);
	ck_assert(!follow.parts[1].occupancy_partial);
	expect_bounds(&follow, &slot, 4000, false);
	/* traffic of an older reading comes within the window */
	bounded_why = CMT_USAGE_WHY_OLD;
	feed(&follow, 5, slot++, 4096, true);
	bounded_why = 0;
	expect_bounds(&follow, &slot, 5000, false);
	/* a reading that failed */
	no_bandwidth = true;
	bounded_why = CMT_USAGE_WHY_ERROR;
	feed(&follow, 5, slot++, 4096, true);
	no_bandwidth = false;
	bounded_why = 0;
	expect_bounds(&follow, &slot, 6000, true);
}
END_TEST

/* One known slot of a thousand is no rate of a second. */
START_TEST(test_parts_of_unknown_slots)
{
	struct cmt_usage_frame frame = {
		.by = CMT_USAGE_BY_CONTAINER, .row_size = sizeof(struct cmt_usage_row),
		.brief = true, .start_ns = 3001 * FOLLOW_SLOT_NS,
	};
	struct follow follow = { 0 };
	uint64_t slot = 1000;

	follow_id(&follow, 5);
	expect_bounds(&follow, &slot, 2000, false);
	slot = 3000;
	expect_bounds(&follow, &slot, 3000, true);
	/* not read, and then with records missing */
	follow_add(&follow, &frame);
	slot = 3002;
	expect_bounds(&follow, &slot, 4000, false);
	frame.start_ns = 4001 * FOLLOW_SLOT_NS;
	frame.nr_gaps = 1;
	follow_add(&follow, &frame);
	slot = 4002;
	expect_bounds(&follow, &slot, 5000, true);
}
END_TEST

/* What a part held is not what it holds. */
START_TEST(test_parts_forget)
{
	struct cmt_usage_frame frame = {
		.by = CMT_USAGE_BY_CONTAINER, .row_size = sizeof(struct cmt_usage_row),
		.brief = true, .start_ns = 1001 * FOLLOW_SLOT_NS,
	};
	struct follow follow = { 0 };

	follow_id(&follow, 5);
	feed(&follow, 5, 1000, 4096, true);
	follow_add(&follow, &frame);
	ck_assert_double_eq(follow.parts[1].occupancy, 2048);
	feed(&follow, 5, 1002, 4096, false);
	ck_assert(isnan(follow.parts[1].occupancy));
	feed(&follow, 5, 1003, 4096, true);
	ck_assert_double_eq(follow.parts[1].occupancy, 2048);
	/* all rows are in this one, and the owner's is not */
	frame.brief = false;
	frame.start_ns = 1004 * FOLLOW_SLOT_NS;
	follow_add(&follow, &frame);
	ck_assert(isnan(follow.parts[1].occupancy));
}
END_TEST

START_TEST(test_budget)
{
	const uint64_t window = BUDGET_WINDOW_NS, part = window / 100 * BUDGET_PERCENT;
	struct budget budget = { 0 };
	uint64_t now = 5 * SECOND;

	ck_assert(!budget_exceeded(&budget, now, part));
	ck_assert(!budget_exceeded(&budget, now + window - 1, 0));
	/* its part, and not more */
	ck_assert(!budget_exceeded(&budget, now += window, 0));
	ck_assert(!budget_exceeded(&budget, now + 1, part));
	ck_assert(budget_exceeded(&budget, now += window, 1));
	/* a new window begins with nothing */
	ck_assert(!budget_exceeded(&budget, now + window, part));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("marks");

	UNIT_CASE(suite, test_roles);
	UNIT_CASE(suite, test_age);
	UNIT_CASE(suite, test_room);
	UNIT_CASE(suite, test_explained);
	UNIT_CASE(suite, test_line);
	UNIT_CASE(suite, test_follow);
	UNIT_CASE(suite, test_follow_brief);
	UNIT_CASE(suite, test_parts);
	UNIT_CASE(suite, test_parts_without_bandwidth);
	UNIT_CASE(suite, test_parts_are_lower_bounds);
	UNIT_CASE(suite, test_parts_of_unknown_slots);
	UNIT_CASE(suite, test_parts_forget);
	UNIT_CASE(suite, test_budget);
	return unit_run(suite);
}
