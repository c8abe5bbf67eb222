// SPDX-License-Identifier: GPL-2.0-or-later
/* How much slower a row is: what of it is known, in which words, and in JSON. */
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "board/frozen_report.h"
#include "table/columns.h"
#include "unit.h"
#include "why/slower.h"
#include "why/slower_json.h"

#define COUNTED	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

static struct slowers slowers;
static struct row rows[4];
static struct frame frame;

static void row_of(struct row *row, uint64_t id, uint32_t values)
{
	*row = (struct row){
		.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP, .seen = true,
		.culprit_id = id,
		.counters = { .known = true, .values = values, .cycles = 1000000000 },
	};
}

/* Container 7 is 18 % slower: 16 % by the cache, because of container 8. */
static void setup(void)
{
	struct slower *slower = &slowers.list[0];

	memset(&slowers, 0, sizeof(slowers));
	slowers.known = slowers.complete = true;
	slowers.nr = 1;
	*slower = (struct slower){
		.id = 7, .share = 0.18, .low = 0.07, .high = 0.41, .nr_parts = 2,
		.parts = {
			{ .by_id = 8, .domain = 1, .resource = CMT_SLOWDOWN_CACHE, .share = 0.16 },
			{ .by_id = 9, .resource = CMT_SLOWDOWN_CPU, .share = 0.02 },
		},
	};
	strcpy(slower->parts[0].by.label, "docker:ba\x1btch");
	strcpy(slower->parts[1].by.label, "(unattributed)");
	for (uint32_t i = 0; i < 4; i++)
		row_of(&rows[i], 7 + i, COUNTED | CMT_F_WAITED);
	frame = (struct frame){ .by = VIEW_CONTAINER, .nr_rows = 4, .rows = rows };
}

static const struct column *slower_column(void)
{
	const struct column *column = columns_of(VIEW_CONTAINER);

	while (column->get && (!column->title || strcmp(column->title, "SLOWER")))
		column++;
	ck_assert_ptr_nonnull(column->get);
	return column;
}

/* The cell of a row; "-": there is none. */
static const char *shown(uint32_t i)
{
	static struct cell cell;

	cell = (struct cell){ .kind = CELL_ABSENT };
	slowers_set(&slowers, &frame);
	slower_column()->get(&rows[i], &cell);
	return cell.kind == CELL_ABSENT ? "-" : cell.text;
}

START_TEST(test_slowers_set_known)
{
	setup();
	ck_assert_str_eq(shown(0), "18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "<1%");
	ck_assert_int_eq(column_sort(slower_column()), SORT_SLOWER);
	slowers.list[0].parts[0] = slowers.list[0].parts[1];
	ck_assert_str_eq(shown(0), "18% (unattributed) CPU");
}
END_TEST

/* A lower bound has a mark; nothing of a part is not nothing. */
START_TEST(test_slowers_set_partial)
{
	setup();
	rows[0].counters.values = rows[1].counters.values = CMT_F_WAITED;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
	rows[0].counters.values = COUNTED;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	rows[0].counters.values = rows[1].counters.values = COUNTED | CMT_F_WAITED;
	rows[0].counters.bounds = rows[1].counters.bounds = CMT_F_WAITED;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
	rows[0].counters.bounds = rows[1].counters.bounds = CMT_F_LLC_REFERENCES;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
}
END_TEST

START_TEST(test_slowers_set_unknown)
{
	setup();
	slowers.known = false;
	ck_assert_str_eq(shown(0), "-");
	ck_assert_str_eq(shown(1), "-");
	setup();
	slowers.complete = false;
	ck_assert_str_eq(shown(0), "18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
	setup();
	/* without references of memory alone */
	rows[0].counters.values = rows[1].counters.values = COUNTED & ~CMT_F_LLC_REFERENCES;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
	rows[0].counters.values = COUNTED & ~CMT_F_LLC_MISSES;
	ck_assert_str_eq(shown(0), "-");
	rows[0].counters = (struct cmt_usage_counters){ .values = COUNTED | CMT_F_WAITED };
	ck_assert_str_eq(shown(0), "-");
	/* what is outside all containers is no victim */
	rows[1].kind = CMT_USAGE_UNATTRIBUTED;
	ck_assert_str_eq(shown(1), "-");
	rows[2].culprit_id = 0;
	ck_assert_str_eq(shown(2), "-");
}
END_TEST

/* Who ran too little, or not at all, is told by the CPU only, and not to lose nothing else. */
START_TEST(test_slowers_set_too_little)
{
	setup();
	slowers.little.nr = slowers.little.all = 2;
	slowers.little.ids[0] = 7;
	slowers.little.ids[1] = 8;
	ck_assert_str_eq(shown(0), ">18% ba\x1btch cache");
	ck_assert_str_eq(shown(1), "-");
	ck_assert(!rows[1].slowed.known && !rows[1].slower);
	ck_assert_str_eq(shown(2), "<1%");
	rows[2].counters.cycles = 0;
	ck_assert_str_eq(shown(2), "-");
	rows[1].counters.values = CMT_F_WAITED;
	ck_assert_str_eq(shown(1), "-");
}
END_TEST

/* Unknown comes after what is nothing. */
START_TEST(test_sort)
{
	struct row flat[8];
	const struct selection selection = { .key = SORT_SLOWER };

	setup();
	frame.flat = flat;
	rows[0].culprit_id = 8;
	rows[0].counters.known = false;
	rows[2].culprit_id = 7;
	slowers_set(&slowers, &frame);
	rows_select(&frame, &selection);
	ck_assert_uint_eq(frame.rows[0].culprit_id, 7);
	ck_assert(!frame.rows[3].slowed.known);
}
END_TEST

static const char *json_of(uint32_t i)
{
	static char text[1024];
	struct json_object *value;

	slowers_set(&slowers, &frame);
	ck_assert_int_eq(slower_json(&rows[i], &value), 0);
	snprintf(text, sizeof(text), "%s", json_object_to_json_string_ext(value, 0));
	json_object_put(value);
	return text;
}

START_TEST(test_slower_json)
{
	setup();
	strcpy(slowers.list[0].parts[0].by.label, "docker:batch");
	ck_assert_str_eq(json_of(0),
		"{\"share\":0.1800,\"low\":0.0700,\"high\":0.4100,\"partial\":false,\"because_of\":["
		"{\"container\":\"docker:batch\",\"id\":8,\"resource\":\"cache\",\"domain\":1,\"share\":0.1600},"
		"{\"container\":\"(unattributed)\",\"id\":9,\"resource\":\"CPU\",\"domain\":null,\"share\":0.0200}]}");
	ck_assert_str_eq(json_of(1),
		"{\"share\":0.0000,\"low\":0.0000,\"high\":0.0100,\"partial\":false,\"because_of\":[]}");
	slowers.known = false;
	ck_assert_str_eq(json_of(0), "null");
}
END_TEST

/* A frozen screen keeps what the engine has replaced. */
START_TEST(test_hold)
{
	struct report report = { 0 };
	struct frozen_report frozen;

	setup();
	slowers_set(&slowers, &frame);
	report.frame = frame;
	ck_assert_int_eq(frozen_report_copy(&frozen, &report), 0);
	memset(&slowers, 0, sizeof(slowers));
	ck_assert_double_eq(frozen.report.frame.rows[0].slower->share, 0.18);
	frozen_report_drop(&frozen);
}
END_TEST

START_TEST(test_label_name)
{
	ck_assert_str_eq(label_name("docker:web:1"), "web:1");
	ck_assert_str_eq(label_name("cgroup:4711"), "cgroup:4711");
	ck_assert_str_eq(label_name("dockerweb"), "dockerweb");
	ck_assert_str_eq(label_name("(unattributed)"), "(unattributed)");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slower");

	UNIT_CASE(suite, test_slowers_set_known);
	UNIT_CASE(suite, test_slowers_set_partial);
	UNIT_CASE(suite, test_slowers_set_unknown);
	UNIT_CASE(suite, test_slowers_set_too_little);
	UNIT_CASE(suite, test_sort);
	UNIT_CASE(suite, test_slower_json);
	UNIT_CASE(suite, test_hold);
	UNIT_CASE(suite, test_label_name);
	return unit_run(suite);
}
