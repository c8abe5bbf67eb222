// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is said to count a part of what cmt's owners do. */
#include <check.h>
#include <string.h>

#include "common/beside.h"
#include "unit.h"

static struct cmt_container groups[3];
static struct row rows[8];
static struct frame frame;
static struct beside beside;

static struct row *add(uint32_t owner)
{
	struct row *row = &rows[frame.nr_rows++];

	*row = (struct row){ .owner = owner, .seen = true, .rmid = frame.nr_rows };
	return row;
}

static struct row *add_group(const char *path)
{
	struct row *row = add(CMT_OWNER_RESCTRL);
	struct cmt_container *group = &groups[frame.nr_rows % 3];

	if (!path)
		return row;
	*group = (struct cmt_container){ .path = path };
	strcpy(group->name, path + 1);
	row->container = group;
	return row;
}

static void begin(void)
{
	frame = (struct frame){ .rows = rows };
	beside = (struct beside){ 0 };
}

static const char *said(void)
{
	static char buf[BESIDE_TEXT_LEN];

	beside = (struct beside){ 0 };
	beside_add_frame(&beside, &frame);
	return beside_text(buf, &beside);
}

START_TEST(test_other_program)
{
	begin();
	add(CMT_OWNER_CGROUP)->why = CMT_USAGE_WHY_OVERWRITTEN;
	ck_assert_str_eq(said(), "an RMID of another program counts some of it");
	ck_assert_str_eq(beside_remedy(&beside), "");
	ck_assert_uint_eq(beside.incomplete, 1);
	ck_assert_str_eq(beside.first, "cgroup:0");
}
END_TEST

/* A group with a CPU says most, then one with a name; the number of others follows. */
START_TEST(test_groups)
{
	begin();
	add_group(NULL);
	ck_assert_str_eq(said(), "RMID 1 of resctrl counts tasks of several owners");
	ck_assert_str_ne(beside_remedy(&beside), "");
	add_group("/web/a");
	ck_assert_str_eq(said(), "resctrl group web/a counts tasks of several owners");
	add_group("/mon_groups/x")->has_group_cpu = true;
	rows[2].cpu = 1;
	ck_assert_str_eq(said(), "CPU 1 is of resctrl group mon_groups/x, with 1 more group");
	add_group(NULL)->has_group_cpu = true;
	ck_assert_str_eq(said(), "CPU 1 is of resctrl group mon_groups/x, with 2 more groups");
	rows[2].container = NULL;
	ck_assert_str_eq(said(), "CPU 1 has RMID 3 of resctrl or another program, with 2 more groups");
}
END_TEST

/* Rows of CPUs are no owners, and a process has its name. */
START_TEST(test_incomplete)
{
	begin();
	add(CMT_OWNER_PROCESS)->why = CMT_USAGE_WHY_OLD;
	add(CMT_OWNER_PROCESS)->why = CMT_USAGE_WHY_OVERWRITTEN | CMT_USAGE_WHY_OLD;
	rows[1].pid = 7;
	strcpy(rows[1].comm, "nginx");
	add(CMT_OWNER_RESCTRL)->why = CMT_USAGE_WHY_OVERWRITTEN;
	rows[2].is_cpu = true;
	add(CMT_OWNER_CGROUP)->why = CMT_USAGE_WHY_OVERWRITTEN;
	said();
	ck_assert_uint_eq(beside.incomplete, 2);
	ck_assert_str_eq(beside.first, "nginx");
	ck_assert(!beside.any);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("beside");

	UNIT_CASE(suite, test_other_program);
	UNIT_CASE(suite, test_groups);
	UNIT_CASE(suite, test_incomplete);
	return unit_run(suite);
}
