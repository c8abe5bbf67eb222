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

#define SOLE (CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE)

static void rename_group(uint64_t ts, uint32_t flags, uint64_t cgroup_id)
{
	event(CMT_REC_UPDATE, ts, GROUP, flags, cgroup_id);
}

/* The group of web's runtime: all its members are web's. */
START_TEST(test_sole_group_is_its_owners)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_CONTAINER);
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(WEBS, MS, 30, 0);
	read_at(GROUP, MS, 200, 0);
	ran(WEBS, MS, 0);
	close_frame();
	read_at(WEBS, 2 * MS, 20, 10);
	read_at(GROUP, 2 * MS, 300, 7000);
	ran(GROUP, 2 * MS, 900);
	close_frame();
	ck_assert_uint_eq(frame->nr_rows, 1);
	row = row_of(WEB);
	assert_complete(row, 320, 7010);
	ck_assert_uint_eq(row->occupancy.most_bytes, 320);
	ck_assert_uint_eq(row->rmids, 1);
	ck_assert(row->flags & CMT_USAGE_ROW_WHOLE);
	ck_assert(row->coverage.occupancy == 1 && row->coverage.total == 1);
	ck_assert(row->counters.known && !row->counters.partial);
	ck_assert_uint_eq(row->counters.ran_ns, 900000);
	teardown();
}
END_TEST

/* Its owner is pending: the group's RMID is the only one that it has. */
START_TEST(test_sole_group_without_dedicated_rmid)
{
	begin(CMT_USAGE_BY_CONTAINER);
	event(CMT_REC_EXISTING, 2, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(GROUP, MS, 200, 0);
	close_frame();
	read_at(GROUP, 2 * MS, 300, 50);
	close_frame();
	ck_assert_uint_eq(frame->nr_rows, 1);
	assert_complete(row_of(WEB), 300, 50);
	ck_assert_uint_eq(row_of(WEB)->rmids, 0);
	teardown();
}
END_TEST

/* db's thread joins web's group at 4 ms: each owner keeps what was counted till then. */
START_TEST(test_group_becomes_shared_in_interval)
{
	begin(CMT_USAGE_BY_CONTAINER);
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(WEBS, MS, 30, 0);
	read_at(GROUP, MS, 200, 0);
	close_frame();
	read_at(GROUP, 3 * MS, 250, 1000);
	ran(GROUP, 3 * MS, 300);
	rename_group(4 * MS, CMT_F_OWNER_RESCTRL, 0);
	read_at(GROUP, 5 * MS, 300, 1700);
	read_at(WEBS, 5 * MS, 30, 20);
	ran(GROUP, 5 * MS, 400);
	close_frame();
	ck_assert_uint_eq(frame->nr_rows, 2);
	ck_assert_uint_eq(row_of(WEB)->occupancy.last_bytes, 30);
	ck_assert_uint_eq(row_of(WEB)->total.bytes, 1020);
	ck_assert_uint_eq(row_of(WEB)->counters.ran_ns, 300000);
	ck_assert_uint_eq(find_row(0, CMT_OWNER_RESCTRL)->occupancy.last_bytes, 300);
	ck_assert_uint_eq(find_row(0, CMT_OWNER_RESCTRL)->total.bytes, 700);
	ck_assert_uint_eq(find_row(0, CMT_OWNER_RESCTRL)->counters.ran_ns, 400000);
	/* and back: the traffic since the last reading is web's */
	rename_group(6 * MS, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(GROUP, 7 * MS, 300, 1750);
	read_at(WEBS, 7 * MS, 30, 20);
	close_frame();
	ck_assert_uint_eq(row_of(WEB)->total.bytes, 50);
	ck_assert_uint_eq(row_of(WEB)->occupancy.last_bytes, 330);
	ck_assert_ptr_null(find_row(0, CMT_OWNER_RESCTRL));
	read_at(GROUP, 9 * MS, 310, 1800);
	read_at(WEBS, 9 * MS, 30, 20);
	close_frame();
	ck_assert_uint_eq(frame->nr_rows, 1);
	assert_complete(row_of(WEB), 340, 50);
	teardown();
}
END_TEST

/* Without a reading since: the value stays, and is the new owner's. */
START_TEST(test_group_changes_owner_without_reading)
{
	begin(CMT_USAGE_BY_CONTAINER);
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, DBS, CMT_F_OWNER_CGROUP, DB);
	event(CMT_REC_EXISTING, 3, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(GROUP, MS, 200, 100);
	read_at(WEBS, MS, 10, 0);
	read_at(DBS, MS, 20, 0);
	close_frame();
	rename_group(2 * MS, SOLE | CMT_F_OWNER_CGROUP, DB);
	read_at(WEBS, 3 * MS, 10, 0);
	read_at(DBS, 3 * MS, 20, 0);
	close_frame();
	ck_assert_uint_eq(row_of(WEB)->occupancy.last_bytes, 10);
	ck_assert_uint_eq(row_of(DB)->occupancy.last_bytes, 220);
	ck_assert_uint_eq(row_of(DB)->total.bytes, 0);
	read_at(GROUP, 4 * MS, 200, 160);
	read_at(WEBS, 4 * MS, 10, 0);
	read_at(DBS, 4 * MS, 20, 0);
	close_frame();
	ck_assert_uint_eq(row_of(WEB)->total.bytes, 0);
	ck_assert_uint_eq(row_of(DB)->total.bytes, 60);
	teardown();
}
END_TEST

/* The RMID has another generation: nothing of the former is counted again. */
START_TEST(test_sole_group_new_generation)
{
	struct cmt_record record = {
		.ts = 3 * MS, .type = CMT_REC_ALLOC, .rmid = GROUP, .generation = 2,
		.flags = SOLE | CMT_F_OWNER_CGROUP, .owner.cgroup_id = WEB,
	};

	begin(CMT_USAGE_BY_CONTAINER);
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	read_at(WEBS, MS, 30, 0);
	read_at(GROUP, MS, 200, 1000);
	close_frame();
	read_at(GROUP, 2 * MS, 200, 1500);
	event(CMT_REC_FREE, 2 * MS + 1, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	add(record);
	record = (struct cmt_record){
		.ts = 4 * MS, .type = CMT_REC_SAMPLE, .rmid = GROUP, .generation = 2,
		.flags = VALUES, .sample.occupancy_bytes = 70, .sample.mbm_total_bytes = 40,
		.sample.mbm_local_bytes = 20,
	};
	add(record);
	read_at(WEBS, 4 * MS, 30, 5);
	close_frame();
	ck_assert_uint_eq(frame->nr_rows, 1);
	ck_assert_uint_eq(row_of(WEB)->occupancy.last_bytes, 100);
	ck_assert_uint_eq(row_of(WEB)->total.bytes, 545);
	teardown();
}
END_TEST

static void process(uint64_t ts, uint32_t rmid, uint32_t flags, uint32_t tgid)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_EXISTING, .flags = flags, .rmid = rmid,
		.generation = 1, .tgid = tgid, .owner.cgroup_id = WEB,
		.owner.comm = "nginx",
	};

	add(record);
}

/* By process, the row is that of the process, with the RMID that cmt gave. */
START_TEST(test_sole_group_by_process)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_PROCESS);
	process(1, WEBS, 0, 4711);
	process(2, GROUP, SOLE, 4711);
	process(3, GROUP + 1, SOLE, 4712);
	process(4, GROUP + 2, SOLE, 4712);
	for (uint64_t ts = MS; ts <= 2 * MS; ts += MS) {
		read_at(WEBS, ts, 30, ts / 1000);
		read_at(GROUP, ts, 200, ts / 1000);
		read_at(GROUP + 1, ts, 5, 0);
		read_at(GROUP + 2, ts, 6, 0);
		close_frame();
	}
	ck_assert_uint_eq(frame->nr_rows, 2);
	for (uint32_t i = 0; i < 2; i++) {
		row = cmt_usage_row_at(frame, i);
		ck_assert_str_eq(row->comm, "nginx");
		if (row->pid == 4712) {
			ck_assert_uint_eq(row->rmid, GROUP + 1);
			ck_assert_uint_eq(row->occupancy.last_bytes, 11);
			continue;
		}
		ck_assert_uint_eq(row->pid, 4711);
		ck_assert_uint_eq(row->rmid, WEBS);
		assert_complete(row, 230, 2000);
	}
	teardown();
}
END_TEST

static void assert_holds(uint32_t i)
{
	const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

	ck_assert(row->pid == 4711 || row->pid == 4712);
	ck_assert_uint_eq(row->occupancy.last_bytes, row->pid == 4711 ? 7 : 100);
}

/* One of two groups of a process becomes another's: the other one gets a row at once. */
START_TEST(test_sole_group_of_another_process)
{
	const struct cmt_record update = {
		.ts = 2 * MS - 1, .type = CMT_REC_UPDATE, .flags = SOLE, .rmid = GROUP,
		.generation = 1, .tgid = 4712, .owner.cgroup_id = WEB,
	};

	unsigned int frames = 0;

	begin_flags(CMT_USAGE_BY_PROCESS, 0, MS);
	process(1, GROUP, SOLE, 4711);
	process(2, GROUP + 1, SOLE, 4711);
	for (uint64_t ts = MS / 2; ts < 20 * MS; ts += MS) {
		read_at(GROUP, ts, 100, 0);
		read_at(GROUP + 1, ts, 7, 0);
		if (ts / MS == 1)
			add(update);
		while (cmt_usage_next(usage, &frame) > 0) {
			if (frame->start_ns < 4 * MS)
				continue;
			frames++;
			ck_assert_uint_eq(frame->nr_rows, 2);
			assert_holds(0);
			assert_holds(1);
		}
	}
	ck_assert_uint_ge(frames, 5);
	teardown();
}
END_TEST

START_TEST(test_sole_group_of_child)
{
	const struct cmt_usage_row *row;

	begin_flags(CMT_USAGE_BY_CONTAINER, CMT_USAGE_CHILDREN, 3600000 * MS);
	process(1, WEBS, 0, 4711);
	process(2, GROUP, SOLE, 4711);
	process(3, DBS, 0, 4712);
	for (uint64_t ts = MS; ts <= 2 * MS; ts += MS) {
		read_at(GROUP, ts, 200, ts / 1000);
		read_at(WEBS, ts, 30, ts / 1000);
		read_at(DBS, ts, 4, 0);
		close_frame();
	}
	row = row_of(WEB);
	assert_complete(row, 234, 2000);
	ck_assert_uint_eq(row->rmids, 2);
	ck_assert_uint_eq(row->nr_children, 2);
	for (uint32_t i = 0; i < 2; i++) {
		row = cmt_usage_child_at(frame, row_of(WEB)->first_child + i);
		ck_assert_uint_eq(row->rmid, row->pid == 4711 ? WEBS : DBS);
		ck_assert_uint_eq(row->occupancy.last_bytes, row->pid == 4711 ? 230 : 4);
	}
	teardown();
}
END_TEST

/* A group with a CPU of its own, beside the row that it counts a part of. */
START_TEST(test_shared_group_has_its_cpu)
{
	const struct cmt_usage_row *row;
	struct cmt_record record = {
		.ts = 2, .type = CMT_REC_EXISTING, .rmid = GROUP, .generation = 7,
		.flags = CMT_F_OWNER_RESCTRL | CMT_F_OWNER_CPU, .owner_cpu = 3,
		.owner.comm = "resctrl",
	};

	begin(CMT_USAGE_BY_CONTAINER);
	add(record);
	add((struct cmt_record){
		.ts = MS, .type = CMT_REC_SAMPLE, .rmid = GROUP, .generation = 7,
		.flags = VALUES,
	});
	close_frame();
	row = find_row(0, CMT_OWNER_RESCTRL);
	ck_assert_ptr_nonnull(row);
	ck_assert(row->flags & CMT_USAGE_ROW_GROUP_CPU);
	ck_assert_uint_eq(row->cpu, 3);
	ck_assert_uint_eq(row->pid, 0);
	ck_assert_uint_eq(row->rmid, GROUP);
	ck_assert(row->cgroup_id == (CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID | 7 << 16 | GROUP));
	ck_assert_ptr_null(row->container);
	name(row->cgroup_id, "/mon_groups/x");
	add((struct cmt_record){
		.ts = 2 * MS, .type = CMT_REC_SAMPLE, .rmid = GROUP, .generation = 7,
		.flags = VALUES,
	});
	close_frame();
	row = find_row(0, CMT_OWNER_RESCTRL);
	ck_assert_str_eq(row->container->name, "mon_groups/x");
	teardown();
}
END_TEST

/* Each millisecond, in which most rows are left out. */
START_TEST(test_group_changes_owner_in_brief_frames)
{
	begin_flags(CMT_USAGE_BY_CONTAINER, CMT_USAGE_BRIEF, MS);
	event(CMT_REC_EXISTING, 1, WEBS, CMT_F_OWNER_CGROUP, WEB);
	event(CMT_REC_EXISTING, 2, GROUP, SOLE | CMT_F_OWNER_CGROUP, WEB);
	for (uint64_t ts = MS; ts < 40 * MS; ts += MS) {
		add((struct cmt_record){
			.ts = ts, .type = CMT_REC_TICK, .interval_ns = MS,
		});
		read_at(GROUP, ts, 200, ts / 1000);
		if (ts == MS)
			read_at(WEBS, ts, 30, 0);
		if (ts == 20 * MS)
			rename_group(ts - 1, CMT_F_OWNER_RESCTRL, 0);
		while (cmt_usage_next(usage, &frame) > 0) {
			bool late = frame->start_ns >= 20 * MS;
			const struct cmt_usage_row *group = find_row(0, CMT_OWNER_RESCTRL);

			ck_assert(late == (group != NULL));
			if (group)
				ck_assert_uint_eq(group->occupancy.last_bytes, 200);
			if (!late || find_row(WEB, CMT_OWNER_CGROUP))
				ck_assert_uint_eq(row_of(WEB)->occupancy.last_bytes,
						  late ? 30 : 230);
		}
	}
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
	UNIT_CASE(suite, test_sole_group_is_its_owners);
	UNIT_CASE(suite, test_sole_group_without_dedicated_rmid);
	UNIT_CASE(suite, test_group_becomes_shared_in_interval);
	UNIT_CASE(suite, test_group_changes_owner_without_reading);
	UNIT_CASE(suite, test_sole_group_new_generation);
	UNIT_CASE(suite, test_sole_group_by_process);
	UNIT_CASE(suite, test_sole_group_of_another_process);
	UNIT_CASE(suite, test_sole_group_of_child);
	UNIT_CASE(suite, test_shared_group_has_its_cpu);
	UNIT_CASE(suite, test_group_changes_owner_in_brief_frames);
	return suite;
}

int main(void)
{
	return unit_run(usage_resctrl_suite());
}
