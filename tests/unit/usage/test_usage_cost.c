// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a frame costs where there is much of everything.  CPU times of one run are compared,
 * with wide bounds: what is compared is many times more where each of it visits all others.
 */
#include <check.h>
#include <cmt/cmt.h>
#include <stdbool.h>
#include <time.h>

#include "unit.h"

#define MS	1000000ULL
#define RMIDS	4096U
#define CPUS	256U
#define DOMAINS	8U
#define TIMES	10	/* so much longer, and it is more than a constant factor */

static struct cmt_usage *usage;

static void begin(uint32_t by)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = by, .nr_rmids = RMIDS, .nr_cpus = CPUS,
		.interval_ns = 1000 * MS,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
}

static void end(void)
{
	cmt_usage_free(usage);
}

static void add(struct cmt_record record)
{
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

/* Each RMID is of another cgroup. */
static void add_owners(uint32_t flags)
{
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		add((struct cmt_record){
			.ts = MS + rmid, .type = CMT_REC_ALLOC, .rmid = rmid, .generation = 1,
			.flags = CMT_F_OWNER_CGROUP | flags, .owner.cgroup_id = 1000 + rmid,
		});
}

static void add_samples(uint64_t ts, uint32_t domains)
{
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		for (uint32_t d = 0; d < domains; d++)
			add((struct cmt_record){
				.ts = ts, .type = CMT_REC_SAMPLE, .rmid = rmid,
				.generation = 1, .domain = d, .flags = CMT_F_OCCUPANCY,
				.sample.occupancy_bytes = 4096,
			});
}

static void add_ticks(uint64_t ts, uint32_t cpus)
{
	for (uint16_t cpu = 0; cpu < cpus; cpu++)
		add((struct cmt_record){
			.ts = ts, .type = CMT_REC_TICK, .cpu = cpu, .interval_ns = MS,
		});
}

/* The CPU time of three intervals, with a sweep after each */
static clock_t time_of_groups(uint32_t flags)
{
	clock_t began;

	begin(CMT_USAGE_BY_PROCESS);
	add_owners(flags);
	began = clock();
	for (uint64_t i = 1; i <= 3; i++) {
		add_samples(i * 1000 * MS, 1);
		add_ticks(i * 1000 * MS + 1, 1);
		ck_assert_int_eq(cmt_usage_flush(usage), 0);
	}
	began = clock() - began;
	end();
	return began;
}

/* Groups of resctrl that are one owner's each find its row as fast as other RMIDs do. */
START_TEST(test_rows_of_sole_groups)
{
	ck_assert_int_lt(time_of_groups(CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE),
			 TIMES * (time_of_groups(0) + 100));
}
END_TEST

/* The CPU time of a frame with the rows of so many CPUs */
static clock_t time_of_rows(uint32_t cpus)
{
	const struct cmt_usage_frame *frame;
	clock_t began, took;

	begin(CMT_USAGE_BY_CPU);
	add_owners(0);
	add_samples(3 * MS, DOMAINS);
	add_ticks(3 * MS + 1, cpus);
	for (uint64_t ms = 4; ms < 40; ms++)
		add_ticks(ms * MS, 1);
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	began = clock();
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	took = clock() - began;
	ck_assert_uint_eq(frame->nr_cpus, cpus);
	end();
	return took;
}

START_TEST(test_rows_of_cpus)
{
	ck_assert_int_lt(time_of_rows(CPUS), TIMES * (time_of_rows(1) + 100));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_cost");

	UNIT_CASE(suite, test_rows_of_sole_groups);
	UNIT_CASE(suite, test_rows_of_cpus);
	return unit_run(suite);
}
