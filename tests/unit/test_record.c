// SPDX-License-Identifier: GPL-2.0-or-later
/* Which records can be, and which can be in a ring. */
#include <cmt/reader.h>

#include "internal.h"
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
	static const uint16_t kinds[] = {
		CMT_F_OWNER_CGROUP, CMT_F_OWNER_CPU, CMT_F_OWNER_REST,
	};
	static const uint16_t types[] = {
		CMT_REC_ALLOC, CMT_REC_FREE, CMT_REC_EXISTING, CMT_REC_UPDATE,
		CMT_REC_ALLOC_FAIL,
	};
	struct cmt_record record = { .rmid = 1, .generation = 1 };

	for (size_t i = 0; i < 5; i++) {
		record.type = types[i];
		for (size_t k = 0; k < 3; k++) {
			record.flags = kinds[k] | CMT_F_ATTACHED;
			ck_assert(cmt_record_possible(&record, CPUS, RMIDS));
			record.flags |= kinds[(k + 1) % 3];
			ck_assert(!cmt_record_possible(&record, CPUS, RMIDS));
		}
	}
	/* These flags are those of lifecycle records. */
	record.type = CMT_REC_SAMPLE;
	ck_assert(cmt_record_possible(&record, CPUS, RMIDS));
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

START_TEST(test_opts_sizes)
{
	struct { size_t sz; uint64_t a; } opts, big[2] = { { 32, 7 }, { 0, 0 } };

	ck_assert_int_eq(cmt_opts_copy(&opts, sizeof(opts), big, 32), 0);
	ck_assert_uint_eq(opts.a, 7);
	big[1].a = 1ULL << 56;
	ck_assert_int_eq(cmt_opts_copy(&opts, sizeof(opts), big, 32), -EINVAL);
	ck_assert_int_eq(cmt_opts_copy(&opts, sizeof(opts), big,
				       sizeof(opts) - 1), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");

	UNIT_CASE(suite, test_possible_table);
	UNIT_CASE(suite, test_possible_kinds);
	UNIT_CASE(suite, test_lost_other_types_zero);
	UNIT_CASE(suite, test_opts_sizes);
	return unit_run(suite);
}
