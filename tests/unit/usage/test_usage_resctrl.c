// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows beside resctrl: work that a group's RMID counts, from records to rows. */
#include <check.h>
#include <cmt/cmt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MS 1000000ULL
#define NR_RMIDS 64
#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define ALL (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | \
	     CMT_F_LLC_REFERENCES)

#define WEB 12
#define DB 13
/* RMIDs: cmt's are the high ones. */
#define GROUP 2
#define WEBS 40
#define DBS 41

static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static void name(uint64_t cgroup_id, const char *path)
{
	struct cmt_container container = {
		.sz = sizeof(container), .cgroup_id = cgroup_id, .path = path,
	};

	ck_assert_int_eq(cmt_containers_put(cmt_usage_containers(usage), &container), 0);
}

static void begin_flags(uint32_t by, uint32_t flags, uint64_t interval_ns)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = by, .interval_ns = interval_ns, .flags = flags,
		.nr_rmids = NR_RMIDS, .nr_cpus = 4, .unit_bytes = 1, .l3_bytes = 1000,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	name(WEB, "/web");
	name(DB, "/db");
}

/* Intervals end where the test says. */
static void begin(uint32_t by)
{
	begin_flags(by, 0, 3600000 * MS);
}

static void teardown(void)
{
	cmt_usage_free(usage);
	usage = NULL;
}

static void add(struct cmt_record record)
{
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static void event(uint16_t type, uint64_t ts, uint32_t rmid, uint32_t flags, uint64_t cgroup_id)
{
	struct cmt_record record = {
		.ts = ts, .type = type, .flags = flags, .rmid = rmid, .generation = 1,
	};

	record.owner.cgroup_id = cgroup_id;
	add(record);
}

static void read_flags(uint32_t rmid, uint64_t ts, uint64_t occupancy, uint64_t mbm,
		       uint32_t flags)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_SAMPLE, .flags = VALUES | flags, .rmid = rmid,
		.generation = rmid ? 1 : 0, .sample.occupancy_bytes = occupancy,
		.sample.mbm_total_bytes = mbm, .sample.mbm_local_bytes = mbm / 2,
	});
}

static void read_at(uint32_t rmid, uint64_t ts, uint64_t occupancy, uint64_t mbm)
{
	read_flags(rmid, ts, occupancy, mbm, 0);
}

static void ran(uint32_t rmid, uint64_t ts, uint32_t ran_us)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_PERF, .flags = ALL, .rmid = rmid, .generation = 1,
		.ran_ns = ran_us * 1000, .perf.cycles = ran_us * 1000ULL,
		.perf.instructions = ran_us * 500ULL,
	});
}

static void close_frame(void)
{
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
}

static const struct cmt_usage_row *find_row(uint64_t cgroup_id, uint32_t owner)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (row->kind == CMT_USAGE_OWNER && row->owner == owner &&
		    (!cgroup_id || row->cgroup_id == cgroup_id))
			return row;
	}
	return NULL;
}

static const struct cmt_usage_row *row_of(uint64_t cgroup_id)
{
	const struct cmt_usage_row *row = find_row(cgroup_id, CMT_OWNER_CGROUP);

	ck_assert_msg(row, "no row of cgroup %llu", (unsigned long long)cgroup_id);
	return row;
}

static void assert_complete(const struct cmt_usage_row *row, uint64_t occupancy,
			    uint64_t bytes)
{
	ck_assert_uint_eq(row->why, 0);
	ck_assert(row->occupancy.known && !row->occupancy.partial);
	ck_assert_uint_eq(row->occupancy.last_bytes, occupancy);
	ck_assert(row->total.known && !row->total.partial);
	ck_assert_uint_eq(row->total.bytes, bytes);
	ck_assert_uint_eq(row->local.bytes, bytes / 2);
}

/* A CPU of a group counts all work of web, or some of it. */
static void count_elsewhere(uint64_t occupancy, uint64_t bytes, uint32_t flags)
{
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, GROUP, CMT_F_OWNER_RESCTRL, 0);
	read_at(WEBS, MS, 0, 0);
	read_at(GROUP, MS, 0, 0);
	close_frame();
	read_flags(WEBS, 3 * MS, occupancy, bytes, flags);
	read_at(GROUP, 3 * MS, 300, 7000);
}

static void assert_reason(const struct cmt_usage_row *row)
{
	ck_assert_uint_eq(row->why & CMT_USAGE_WHY_OVERWRITTEN, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert_uint_eq(row->occupancy.why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert_uint_eq(row->total.why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert_uint_eq(row->local.why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert(isnan(row->coverage.occupancy) && isnan(row->coverage.total));
	ck_assert(isnan(row->coverage.local));
}

START_TEST(test_overwritten_zero_is_not_known)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_CONTAINER);
	count_elsewhere(0, 0, CMT_F_PQR_OVERWRITTEN);
	ran(WEBS, 3 * MS, 0);
	ran(GROUP, 3 * MS, 1000);
	close_frame();
	row = row_of(WEB);
	assert_reason(row);
	ck_assert(!row->occupancy.known && !row->occupancy.partial);
	ck_assert_uint_eq(row->occupancy.slots, 0);
	ck_assert(!row->total.known && !row->total.partial && isnan(row->total.rate));
	ck_assert(!row->local.known);
	ck_assert(!row->counters.known && !row->counters.partial && !row->counters.values);
	ck_assert_uint_eq(row->counters.why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert(isnan(row->counters.cpu_share));
	/* the group's row is complete */
	assert_complete(find_row(0, CMT_OWNER_RESCTRL), 300, 7000);
	teardown();
}
END_TEST

START_TEST(test_overwritten_value_is_lower_bound)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_CONTAINER);
	count_elsewhere(50, 400, CMT_F_PQR_OVERWRITTEN);
	ran(WEBS, 3 * MS, 100);
	close_frame();
	row = row_of(WEB);
	assert_reason(row);
	ck_assert(row->occupancy.known && row->occupancy.partial);
	ck_assert_uint_eq(row->occupancy.last_bytes, 50);
	ck_assert(row->total.known && row->total.partial && row->local.partial);
	ck_assert_uint_eq(row->total.bytes, 400);
	ck_assert(row->total.lo > 0 && isinf(row->total.hi));
	ck_assert(row->counters.known && row->counters.partial);
	ck_assert_uint_eq(row->counters.ran_ns, 100000);
	/* there was no miss: a lower bound of 0 says nothing */
	ck_assert_uint_eq(row->counters.values, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(row->counters.bounds, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert(!isnan(row->counters.cpu_share));
	ck_assert(isnan(row->counters.ipc) && isnan(row->counters.mpki));
	teardown();
}
END_TEST

/* What was held before is a lower bound, too. */
START_TEST(test_overwritten_most_is_lower_bound)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_CONTAINER);
	count_elsewhere(80, 400, 0);
	read_flags(WEBS, 4 * MS, 0, 400, CMT_F_PQR_OVERWRITTEN);
	close_frame();
	row = row_of(WEB);
	ck_assert(!row->occupancy.known && row->occupancy.partial);
	ck_assert_uint_eq(row->occupancy.most_bytes, 80);
	ck_assert_uint_eq(row->occupancy.slots, 0);
	ck_assert(row->total.known && row->total.partial);
	teardown();
}
END_TEST

/* The last reading stands for a row until the next one, with all that it says. */
START_TEST(test_overwritten_lasts_until_next_reading)
{
	begin(CMT_USAGE_BY_CONTAINER);
	count_elsewhere(0, 0, CMT_F_PQR_OVERWRITTEN);
	close_frame();
	read_at(GROUP, 4 * MS, 300, 8000);
	close_frame();
	ck_assert(row_of(WEB)->why & CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert(!row_of(WEB)->occupancy.known);
	read_at(WEBS, 5 * MS, 0, 0);
	close_frame();
	assert_complete(row_of(WEB), 0, 0);
	teardown();
}
END_TEST

/* A domain has the group's RMID, and a CPU counts the work of all RMIDs. */
START_TEST(test_overwritten_domain_and_cpu_are_complete)
{
	const struct cmt_record tick = {
		.ts = 3 * MS, .type = CMT_REC_TICK, .flags = CMT_F_PQR_OVERWRITTEN,
		.interval_ns = MS,
	};

	begin(CMT_USAGE_BY_DOMAIN);
	count_elsewhere(50, 400, CMT_F_PQR_OVERWRITTEN);
	close_frame();
	assert_complete(cmt_usage_row_at(frame, 0), 350, 7400);
	teardown();
	begin(CMT_USAGE_BY_CPU);
	add(tick);
	ran(WEBS, 3 * MS, 100);
	close_frame();
	ck_assert_uint_eq(cmt_usage_row_at(frame, 0)->why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert(cmt_usage_row_at(frame, 0)->counters.known);
	ck_assert(!cmt_usage_row_at(frame, 0)->counters.partial);
	teardown();
}
END_TEST

static Suite *usage_resctrl_suite(void)
{
	Suite *suite = suite_create("usage_resctrl");

	UNIT_CASE(suite, test_overwritten_zero_is_not_known);
	UNIT_CASE(suite, test_overwritten_value_is_lower_bound);
	UNIT_CASE(suite, test_overwritten_most_is_lower_bound);
	UNIT_CASE(suite, test_overwritten_lasts_until_next_reading);
	UNIT_CASE(suite, test_overwritten_domain_and_cpu_are_complete);
	return suite;
}

int main(void)
{
	return unit_run(usage_resctrl_suite());
}
