// SPDX-License-Identifier: GPL-2.0-or-later
/* Which records can be, and which can be in a ring. */
#include <cmt/reader.h>

#include "record/record.h"
#include "unit.h"

#define CPUS	4
#define RMIDS	16

static const struct {
	uint16_t type;
	uint32_t cpu, rmid, generation;
	bool possible, in_ring;	/* in that of CPU 1 */
} cases[] = {
	{ CMT_REC_PAD, 1, 0, 0, false, false },
	{ CMT_REC_ALLOC, 1, 1, 1, true, true },
	{ CMT_REC_ALLOC, 1, 15, 1, true, true },
	{ CMT_REC_ALLOC, 1, 16, 1, false, false },
	{ CMT_REC_ALLOC, 1, 0, 0, false, false },
	{ CMT_REC_ALLOC, 1, 1, 0, false, false },
	{ CMT_REC_ALLOC, 3, 1, 1, true, false },
	{ CMT_REC_ALLOC, 4, 1, 1, false, false },
	{ CMT_REC_FREE, 1, 2, 9, true, true },
	{ CMT_REC_FREE, 1, 0, 9, false, false },
	{ CMT_REC_UPDATE, 1, 2, 9, true, true },
	{ CMT_REC_UPDATE, 1, UINT32_MAX, 9, false, false },
	{ CMT_REC_EXISTING, 1, 2, 9, true, false },
	{ CMT_REC_ALLOC_FAIL, 1, 0, 0, true, true },
	{ CMT_REC_ALLOC_FAIL, 1, 3, 1, true, true },
	{ CMT_REC_ALLOC_FAIL, 1, 3, 0, false, false },
	{ CMT_REC_ALLOC_FAIL, 1, 16, 1, false, false },
	{ CMT_REC_SAMPLE, 1, 0, 0, true, true },
	{ CMT_REC_SAMPLE, 1, 0, 1, false, false },
	{ CMT_REC_SAMPLE, 1, 5, 0, false, false },
	{ CMT_REC_SAMPLE, 1, 5, 1, true, true },
	{ CMT_REC_TICK, 1, 5, 1, true, true },
	{ CMT_REC_TICK, 1, 99, 1, false, false },
	{ CMT_REC_CPU_ONLINE, 1, 0, 0, true, true },
	{ CMT_REC_CPU_OFFLINE, 2, 0, 0, true, false },
	{ 1000, 1, 99, 0, true, true },
	{ 1000, 9, 99, 0, false, false },
	{ CMT_REC_LOST, 1, 0, 0, true, false },
	{ 0xffff, 1, 0, 0, true, false },
};

START_TEST(test_possible_table)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cmt_record record = {
			.type = cases[i].type,
			.cpu = cases[i].cpu,
			.rmid = cases[i].rmid,
			.generation = cases[i].generation,
		};

		ck_assert_msg(cmt_record_possible(&record, CPUS, RMIDS) ==
			      cases[i].possible, "case %zu", i);
		ck_assert_msg(cmt_record_possible_in_ring(&record, 1, RMIDS) ==
			      cases[i].in_ring, "case %zu in ring", i);
	}
}
END_TEST

/* An owner cannot be two things at once. */
START_TEST(test_possible_kinds)
{
	static const uint32_t kinds[] = {
		CMT_F_OWNER_CGROUP, CMT_F_OWNER_CPU, CMT_F_OWNER_OVERFLOW,
		CMT_F_OWNER_RESCTRL, CMT_F_OWNER_KERNEL,
	};
	static const uint16_t types[] = {
		CMT_REC_ALLOC, CMT_REC_FREE, CMT_REC_EXISTING, CMT_REC_UPDATE,
		CMT_REC_ALLOC_FAIL,
	};
	struct cmt_record record = { .rmid = 1, .generation = 1 };

	for (size_t i = 0; i < 5; i++) {
		record.type = types[i];
		for (size_t k = 0; k < 5; k++) {
			record.flags = kinds[k] | CMT_F_ATTACHED;
			ck_assert(cmt_record_possible(&record, CPUS, RMIDS));
			if (kinds[k] == CMT_F_OWNER_RESCTRL)
				continue;
			record.flags |= kinds[(k + 1) % 3];
			ck_assert(!cmt_record_possible(&record, CPUS, RMIDS));
		}
	}
	/* These flags are those of lifecycle records. */
	record.type = CMT_REC_SAMPLE;
	ck_assert(cmt_record_possible(&record, CPUS, RMIDS));
}
END_TEST

/* A group of resctrl is also what its members' owner is, or has a CPU. */
START_TEST(test_possible_groups)
{
	static const struct {
		uint32_t flags;
		bool possible, sole;
	} groups[] = {
		{ 0, true, true },
		{ CMT_F_OWNER_CGROUP, false, true },
		{ CMT_F_OWNER_CGROUP | CMT_F_SERVICE, false, true },
		{ CMT_F_OWNER_CPU, true, true },
		{ CMT_F_OWNER_CPU | CMT_F_OWNER_CGROUP, false, false },
		{ CMT_F_OWNER_OVERFLOW, false, false },
		{ CMT_F_OWNER_KERNEL, false, false },
	};
	struct cmt_record record = { .type = CMT_REC_UPDATE, .rmid = 1, .generation = 1 };

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		record.flags = CMT_F_OWNER_RESCTRL | groups[i].flags;
		ck_assert(cmt_record_possible(&record, CPUS, RMIDS) == groups[i].possible);
		record.flags |= CMT_F_GROUP_SOLE;
		ck_assert(cmt_record_possible(&record, CPUS, RMIDS) == groups[i].sole);
		record.flags &= ~CMT_F_OWNER_RESCTRL;
		ck_assert(!cmt_record_possible(&record, CPUS, RMIDS));
	}
}
END_TEST

START_TEST(test_lost_other_types_zero)
{
	struct cmt_record record = { .type = CMT_REC_SAMPLE };

	record.sample.occupancy_bytes = 5;
	ck_assert_uint_eq(cmt_record_lost(&record), 0);
	record.type = CMT_REC_LOST;
	ck_assert_uint_eq(cmt_record_lost(&record), 5);
}
END_TEST

struct versions {
	size_t sz;
	uint64_t first, second, third;
};

#define FIRST offsetof(struct versions, second)	/* sizes of three versions */
#define SECOND offsetof(struct versions, third)
#define THIRD sizeof(struct versions)

/* The library knows the second version. */
static int opts_copy(struct versions *opts, const struct versions *from)
{
	return cmt_opts_copy(opts, SECOND, from);
}

START_TEST(test_opts_older_program)
{
	struct versions from = { FIRST, 7, 8, 9 }, opts = { 1, 1, 1, 1 };

	ck_assert_int_eq(opts_copy(&opts, &from), 0);
	ck_assert_uint_eq(opts.first, 7);
	ck_assert_uint_eq(opts.second, 0);
	ck_assert_uint_eq(opts.third, 1);
}
END_TEST

START_TEST(test_opts_newer_program)
{
	struct versions from = { THIRD, 7, 8, 0 }, opts = { 1, 1, 1, 1 };

	ck_assert_int_eq(opts_copy(&opts, &from), 0);
	ck_assert_uint_eq(opts.first, 7);
	ck_assert_uint_eq(opts.second, 8);
	ck_assert_uint_eq(opts.third, 1);
	from.third = 1ULL << 56;
	ck_assert_int_eq(opts_copy(&opts, &from), -EINVAL);
}
END_TEST

START_TEST(test_opts_none)
{
	struct versions opts = { 1, 1, 1, 1 };

	ck_assert_int_eq(opts_copy(&opts, NULL), 0);
	ck_assert_uint_eq(opts.sz, 0);
	ck_assert_uint_eq(opts.first, 0);
	ck_assert_uint_eq(opts.second, 0);
	ck_assert_uint_eq(opts.third, 1);
}
END_TEST

static const size_t impossible_sizes[] = {
	0, 1, sizeof(size_t) - 1, SECOND - 1, SECOND + 1, 4096 + sizeof(size_t),
	SIZE_MAX, SIZE_MAX - 7,
};

START_TEST(test_sizes_impossible)
{
	struct versions from = { 0, 7, 8, 9 }, to = { 1, 1, 1, 1 };

	for (size_t i = 0; i < sizeof(impossible_sizes) / sizeof(size_t); i++) {
		from.sz = to.sz = impossible_sizes[i];
		ck_assert_int_eq(opts_copy(&to, &from), -EINVAL);
		ck_assert_int_eq(cmt_out_copy(&to, &from, SECOND), -EINVAL);
		ck_assert_uint_eq(to.sz, impossible_sizes[i]);
		ck_assert_uint_eq(to.first, 1);
	}
}
END_TEST

START_TEST(test_out_sizes)
{
	struct versions known = { SECOND, 7, 8, 9 }, out = { FIRST, 1, 1, 1 };

	ck_assert_int_eq(cmt_out_copy(&out, &known, SECOND), 0);
	ck_assert_uint_eq(out.sz, FIRST);
	ck_assert_uint_eq(out.first, 7);
	ck_assert_uint_eq(out.second, 1);

	out = (struct versions){ THIRD, 1, 1, 1 };
	ck_assert_int_eq(cmt_out_copy(&out, &known, SECOND), 0);
	ck_assert_uint_eq(out.sz, THIRD);
	ck_assert_uint_eq(out.first, 7);
	ck_assert_uint_eq(out.second, 8);
	ck_assert_uint_eq(out.third, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");

	UNIT_CASE(suite, test_possible_table);
	UNIT_CASE(suite, test_possible_kinds);
	UNIT_CASE(suite, test_possible_groups);
	UNIT_CASE(suite, test_lost_other_types_zero);
	UNIT_CASE(suite, test_opts_older_program);
	UNIT_CASE(suite, test_opts_newer_program);
	UNIT_CASE(suite, test_opts_none);
	UNIT_CASE(suite, test_sizes_impossible);
	UNIT_CASE(suite, test_out_sizes);
	return unit_run(suite);
}
