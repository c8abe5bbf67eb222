// SPDX-License-Identifier: GPL-2.0-or-later
/* Which rows cmtstat shows, and what it calls them. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "frame/frame.h"
#include "unit.h"

#define NR 8

static struct cmt_container names[NR];
static struct cmt_usage_row rows[NR], children[NR];
static struct cmt_usage_frame from;
static struct frame_room room;
static struct frame frame;

/* A row of the container "c<n>". */
static struct cmt_usage_row *add(uint64_t bytes)
{
	struct cmt_usage_row *row = &rows[from.nr_rows];
	struct cmt_container *name = &names[from.nr_rows++];

	*name = (struct cmt_container){ .runtime = CMT_RUNTIME_DOCKER };
	snprintf(name->name, sizeof(name->name), "c%u", from.nr_rows);
	*row = (struct cmt_usage_row){
		.owner = CMT_OWNER_CGROUP, .flags = CMT_USAGE_ROW_SEEN,
		.cgroup_id = 10 + from.nr_rows, .container = name,
		.occupancy = { .known = true, .last_bytes = bytes },
	};
	return row;
}

static void add_child(uint32_t pid, uint64_t bytes)
{
	children[from.nr_children++] = (struct cmt_usage_row){
		.owner = CMT_OWNER_PROCESS, .flags = CMT_USAGE_ROW_SEEN,
		.pid = pid, .occupancy = { .known = true, .last_bytes = bytes },
	};
}

static void add_sum(enum cmt_usage_kind kind, uint64_t bytes)
{
	struct cmt_usage_row *row = add(bytes);

	row->kind = kind;
	row->container = NULL;
	row->cgroup_id = 0;
}

static void begin(void)
{
	from = (struct cmt_usage_frame){
		.by = CMT_USAGE_BY_CONTAINER, .rows = rows,
		.children = children, .row_size = sizeof(rows[0]),
	};
}

static void choose(enum sort_key key, const char *filter, uint32_t top,
		   bool expand)
{
	const struct selection selection = {
		.key = key, .filter = filter, .top = top, .expand = expand,
	};

	ck_assert_int_eq(frame_copy(&frame, &room, &from,
				    VIEW_CONTAINER), 0);
	rows_select(&frame, &selection);
}

static const char *label(uint32_t i)
{
	static char buf[CONTAINER_LABEL_LEN];

	return container_label(buf, &frame.rows[i]);
}

static void add_part(uint32_t domain, uint64_t bytes)
{
	children[from.nr_children++] = (struct cmt_usage_row){
		.flags = CMT_USAGE_ROW_PART, .domain = domain, .l3_bytes = 1000,
		.occupancy = { .known = domain != 7, .last_bytes = bytes },
	};
}

START_TEST(test_copy_has_the_interval)
{
	begin();
	from.start_ns = 13;
	from.end_ns = 15;
	from.last_ns = 14;
	from.elapsed_ns = 5;
	choose(SORT_OCCUPANCY, NULL, 0, false);
	ck_assert_uint_eq(frame.start_ns, 13);
	ck_assert_uint_eq(frame.end_ns, 14);
	ck_assert_uint_eq(frame.elapsed_ns, 5);
	ck_assert(!frame.unread);
	/* without a reading the age of what is shown is that at its end */
	from.last_ns = 0;
	from.elapsed_ns = 0;
	choose(SORT_OCCUPANCY, NULL, 0, false);
	ck_assert(frame.unread);
	ck_assert_uint_eq(frame.end_ns, 15);
}
END_TEST

/* Parts by L3 domain are no rows of processes. */
START_TEST(test_copy_has_parts)
{
	begin();
	add(10);
	add(30);
	add_part(0, 4);
	add_part(7, 6);
	add_part(2, 30);
	rows[0].nr_children = 2;
	rows[1].first_child = 2;
	rows[1].nr_children = 1;
	choose(SORT_OCCUPANCY, NULL, 0, true);
	ck_assert_uint_eq(frame.nr_rows, 2);
	ck_assert_uint_eq(frame.nr_children, 0);
	ck_assert_uint_eq(frame.nr_parts, 3);
	/* the first row is the one that holds most */
	ck_assert_uint_eq(frame.rows[0].nr_parts, 1);
	ck_assert_uint_eq(frame.parts[frame.rows[0].first_part].domain, 2);
	ck_assert_double_eq(frame.parts[frame.rows[0].first_part].occupancy.value, 30);
	ck_assert_uint_eq(frame.rows[1].nr_parts, 2);
	ck_assert_uint_eq(frame.rows[1].first_part, 0);
	ck_assert_uint_eq(frame.parts[0].l3_bytes, 1000);
	ck_assert(frame.parts[0].occupancy.known && !frame.parts[1].occupancy.known);
}
END_TEST

START_TEST(test_select_filter_and_top)
{
	begin();
	add_sum(CMT_USAGE_UNATTRIBUTED, 900);
	add(10);
	add(30);
	add(20);
	choose(SORT_NAME, NULL, 0, false);
	ck_assert_uint_eq(frame.nr_rows, 4);
	ck_assert_str_eq(label(0), "docker:c2");
	choose(SORT_OCCUPANCY, NULL, 2, false);
	ck_assert_uint_eq(frame.nr_rows, 3);
	ck_assert_str_eq(label(0), "docker:c3");
	ck_assert_str_eq(label(2), "(unattributed)");
	choose(SORT_OCCUPANCY, "c[4]", 0, false);
	ck_assert_uint_eq(frame.nr_rows, 1);
	ck_assert_str_eq(label(0), "docker:c4");
	choose(SORT_OCCUPANCY, "docker:*", 0, false);
	ck_assert_uint_eq(frame.nr_rows, 3);
	choose(SORT_OCCUPANCY, "none", 0, false);
	ck_assert_uint_eq(frame.nr_rows, 0);
	frame_room_free(&room);
}
END_TEST

/*
 * Children follow their row in the same order, and are neither matched nor counted
 * by themselves.
 */
START_TEST(test_select_expand)
{
	static const uint32_t pids[] = { 0, 103, 0, 102, 101 };
	uint32_t i;

	begin();
	add(35)->nr_children = 2;
	add_child(101, 15);
	add_child(102, 20);
	add(500)->nr_children = 1;
	rows[1].first_child = 2;
	add_child(103, 500);
	choose(SORT_DEFAULT, NULL, 0, true);
	ck_assert_uint_eq(frame.nr_rows, 5);
	for (i = 0; i < 5; i++) {
		ck_assert(frame.rows[i].child == (pids[i] != 0));
		ck_assert_uint_eq(frame.rows[i].pid, pids[i]);
		ck_assert_str_eq(row_kind(&frame.rows[i]),
				 pids[i] ? "process" : "cgroup");
	}
	choose(SORT_DEFAULT, "p3", 0, true);
	ck_assert_uint_eq(frame.nr_rows, 0);
	choose(SORT_OCCUPANCY, NULL, 1, true);
	ck_assert_uint_eq(frame.nr_rows, 2);
	frame_room_free(&room);
}
END_TEST

START_TEST(test_labels)
{
	begin();
	add(1)->owner = CMT_OWNER_CPU;
	rows[0].cpu = 3;
	add(2)->owner = CMT_OWNER_RESCTRL;
	rows[1].rmid = 6;
	add(3)->container = NULL;
	add_sum(CMT_USAGE_UNKNOWN, 4);
	add_sum(CMT_USAGE_OVERFLOW, 5);
	choose(SORT_OCCUPANCY, NULL, 0, false);
	ck_assert_str_eq(label(0), "cgroup:13");
	ck_assert_str_eq(label(1), "resctrl:6");
	ck_assert_str_eq(row_kind(&frame.rows[1]), "resctrl");
	ck_assert(!row_in_cgroup(&frame.rows[1]));
	rows[1].owner = CMT_OWNER_KERNEL;
	choose(SORT_OCCUPANCY, NULL, 0, false);
	ck_assert_str_eq(label(1), "(kernel)");
	ck_assert_str_eq(row_kind(&frame.rows[1]), "kernel");
	ck_assert(!row_in_cgroup(&frame.rows[1]));
	rows[1].owner = CMT_OWNER_RESCTRL;
	choose(SORT_OCCUPANCY, NULL, 0, false);
	/* a group that libcmt reads has a name, and no RMID that is known */
	frame.rows[1].cgroup_id = CMT_RESCTRL_GROUP | 7;
	strcpy(frame.rows[1].comm, "web/a");
	ck_assert_str_eq(label(1), "resctrl:web/a");
	ck_assert_str_eq(label(2), "cpu:3");
	ck_assert_str_eq(row_kind(&frame.rows[2]), "cpu");
	ck_assert_str_eq(label(3), "(unknown)");
	ck_assert_str_eq(label(4), "(overflow)");
	frame.rows[4].pending_noun = "containers";
	frame.rows[4].pending = 137;
	ck_assert_str_eq(label(4), "(overflow: 137 containers)");
	frame.rows[4].pending_services = 2;
	ck_assert_str_eq(label(4), "(overflow: 137 containers, 2 services)");
	frame_room_free(&room);
}
END_TEST

/* In order of their numbers, or the busiest first; by name: "socket/channel". */
START_TEST(test_rows_channels)
{
	struct cmt_usage_channel channels[3] = {
		{ .socket = 1, .channel = 0, .total = { .known = true, .rate = 7 } },
		{ .socket = 0, .channel = 4294967295U, .why = CMT_USAGE_WHY_OLD },
		{ .socket = 0, .channel = 2, .total = { .known = true, .rate = 9 },
		  .read = { .known = true, .bytes = 5, .rate = 6 } },
	};
	struct cmt_usage_frame usage = {
		.nr_rows = 2, .row_size = sizeof(struct cmt_usage_row),
		.nr_channels = 3, .channels = channels,
		.channel_size = sizeof(channels[0]),
		.memory.total = { .known = true, .rate = 28 },
	};
	struct selection selection = { 0 };

	ck_assert_int_eq(frame_copy(&frame, &room, &usage, VIEW_CHANNEL), 0);
	rows_select(&frame, &selection);
	ck_assert_uint_eq(frame.nr_rows, 3);
	ck_assert_uint_eq(frame.rows[0].channel, 2);
	ck_assert_uint_eq(frame.rows[1].channel, 4294967295U);
	ck_assert_uint_eq(frame.rows[2].socket, 1);
	ck_assert_uint_eq(frame.rows[0].read_bytes, 5);
	ck_assert(frame.rows[2].share.known && frame.rows[2].share.value == 0.25);
	ck_assert(!frame.rows[1].share.known && !frame.rows[1].total.known);
	selection = (struct selection){ .key = SORT_TOTAL, .top = 2 };
	frame_copy(&frame, &room, &usage, VIEW_CHANNEL);
	rows_select(&frame, &selection);
	ck_assert_uint_eq(frame.nr_rows, 2);
	ck_assert_uint_eq(frame.rows[0].channel, 2);
	ck_assert_uint_eq(frame.rows[1].socket, 1);
	selection = (struct selection){ .filter = "0/*" };
	frame_copy(&frame, &room, &usage, VIEW_CHANNEL);
	rows_select(&frame, &selection);
	ck_assert_uint_eq(frame.nr_rows, 2);
	frame_room_free(&room);
}
END_TEST

/* A neighbour of the hypervisor's is in no frame, and has a name all the same. */
START_TEST(test_label_outside)
{
	const struct cmt_usage_frame none = { .row_size = sizeof(struct cmt_usage_row) };
	char buf[CONTAINER_LABEL_LEN];
	struct cmt_containers *containers;
	const struct cmt_usage_row *row;
	struct cmt_usage_row gone;

	ck_assert_int_eq(cmt_containers_new(&containers, NULL), 0);
	row = culprit_row(&none, containers, CMT_CULPRIT_OUTSIDE, &gone);
	ck_assert_str_eq(usage_row_label(buf, row), "(outside this machine)");
	row = culprit_row(&none, containers, CMT_CULPRIT_NO_CGROUP | 7, &gone);
	ck_assert_str_eq(usage_row_label(buf, row), "(unknown)");
	cmt_containers_free(containers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rows");

	UNIT_CASE(suite, test_copy_has_the_interval);
	UNIT_CASE(suite, test_copy_has_parts);
	UNIT_CASE(suite, test_select_filter_and_top);
	UNIT_CASE(suite, test_select_expand);
	UNIT_CASE(suite, test_labels);
	UNIT_CASE(suite, test_label_outside);
	UNIT_CASE(suite, test_rows_channels);
	return unit_run(suite);
}
