// SPDX-License-Identifier: GPL-2.0-or-later
/* From records to rows, without a device. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit.h"

#define MS 1000000ULL
#define NR_RMIDS 64
#define UNIT 64
#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define OVERFLOW_RMID 63

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
#define DOCKER "/docker/" ID

static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static void begin_opts(struct cmt_usage_opts opts)
{
	opts.sz = sizeof(opts);
	opts.nr_rmids = NR_RMIDS;
	opts.nr_cpus = 4;
	opts.l3_bytes = 1000;
	opts.unit_bytes = UNIT;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	frame = NULL;
}

/* Intervals end where the test says. */
static void begin(uint32_t by)
{
	begin_opts((struct cmt_usage_opts){
		.by = by, .interval_ns = 3600000 * MS,
		.flags = by == CMT_USAGE_BY_CONTAINER ? CMT_USAGE_CHILDREN : 0,
	});
}

static void end(void)
{
	cmt_usage_free(usage);
	usage = NULL;
}

static void name(uint64_t cgroup_id, const char *path)
{
	struct cmt_container container = {
		.sz = sizeof(container), .cgroup_id = cgroup_id, .path = path,
	};

	ck_assert_int_eq(cmt_containers_put(cmt_usage_containers(usage),
					    &container), 0);
}

static void add(struct cmt_record record)
{
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static struct cmt_record event(uint16_t type, uint64_t ts, uint32_t rmid,
			       uint64_t cgroup_id, uint32_t flags)
{
	struct cmt_record record = {
		.ts = ts, .type = type, .flags = flags, .rmid = rmid,
		.generation = 1,
	};

	record.owner.cgroup_id = cgroup_id;
	if (!(flags & (CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU |
		       CMT_F_OWNER_OVERFLOW | CMT_F_OWNER_RESCTRL |
			CMT_F_OWNER_KERNEL)))
		record.tgid = 100 + rmid;
	snprintf(record.owner.comm, sizeof(record.owner.comm), "p%u", rmid);
	return record;
}

/* An owner from before the first record. */
static void own(uint32_t rmid, uint64_t cgroup_id, uint32_t flags)
{
	add(event(CMT_REC_EXISTING, 1, rmid, cgroup_id, flags));
}

static void own_cpu(uint32_t rmid, uint32_t cpu)
{
	struct cmt_record record = event(CMT_REC_EXISTING, 1, rmid, 0,
					 CMT_F_OWNER_CPU);

	record.owner_cpu = cpu;
	add(record);
}

static struct cmt_record sample(uint32_t rmid, uint32_t domain, uint64_t ts,
				uint64_t occupancy, uint64_t mbm)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_SAMPLE, .flags = VALUES,
		.rmid = rmid, .generation = rmid ? 1 : 0, .domain = domain,
	};

	record.sample.occupancy_bytes = occupancy;
	record.sample.mbm_total_bytes = mbm;
	record.sample.mbm_local_bytes = mbm / 2;
	return record;
}

static void read_at(uint32_t rmid, uint64_t ts, uint64_t occupancy,
		    uint64_t mbm)
{
	add(sample(rmid, 0, ts, occupancy, mbm));
}

static struct cmt_record tick(uint32_t cpu, uint64_t ts, uint32_t rmid)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_TICK, .cpu = (uint16_t)cpu,
		.rmid = rmid, .generation = rmid ? 1 : 0, .interval_ns = MS,
	};

	return record;
}

static int cmp_row(const void *pa, const void *pb)
{
	const struct cmt_usage_row *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->occupancy.last_bytes > b->occupancy.last_bytes ? -1 :
	       a->occupancy.last_bytes < b->occupancy.last_bytes;
}

/* The rows of the frame, owners first, largest first. */
static const struct cmt_usage_row *sorted_rows(uint32_t expected)
{
	static struct cmt_usage_row rows[NR_RMIDS];
	uint32_t i;

	ck_assert_uint_eq(frame->nr_rows, expected);
	for (i = 0; i < frame->nr_rows; i++)
		rows[i] = *cmt_usage_row_at(frame, i);
	if (frame->nr_rows)
		qsort(rows, frame->nr_rows, sizeof(rows[0]), cmp_row);
	return rows;
}

static const struct cmt_usage_row *close_rows(uint32_t expected)
{
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	return sorted_rows(expected);
}

static void assert_rate(const struct cmt_usage_rate *r, double rate)
{
	ck_assert(r->known);
	ck_assert_double_eq_tol(r->rate, rate, rate / 1e9);
	ck_assert_double_le(r->lo, r->rate);
	ck_assert_double_ge(r->hi, r->rate);
	ck_assert(r->partial == !!isinf(r->hi));
}

START_TEST(test_usage_sums_container)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, DOCKER "/nested");
	name(12, "/system.slice/a.service");
	own(1, 10, 0);
	own(2, 11, 0);
	own(3, 12, 0);
	read_at(1, MS, 100, 0);
	add(sample(1, 1, MS, 50, 0));
	read_at(2, MS, 10, 0);
	read_at(3, MS, 500, 0);
	read_at(1, 2 * MS, 200, 0);
	rows = close_rows(2);
	/* the last reading of each, not the mean */
	ck_assert(rows[0].occupancy.known && !rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 500);
	ck_assert_uint_eq(rows[1].occupancy.last_bytes, 260);
	ck_assert_uint_eq(rows[1].occupancy.least_bytes, 160);
	ck_assert_uint_eq(rows[1].occupancy.most_bytes, 260);
	ck_assert_uint_eq(rows[1].occupancy.mean_bytes, 210);
	ck_assert_uint_eq(rows[1].rmids, 2);
	ck_assert_uint_eq(rows[1].l3_bytes, 2000);
	ck_assert_str_eq(rows[1].container->id, ID);
	ck_assert_uint_eq(frame->nr_domains, 2);
	end();
}
END_TEST

/* What is of one process is not the container's (L13). */
START_TEST(test_usage_container_has_no_process)
{
	const struct cmt_usage_row *rows, *child;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	own(1, 10, CMT_F_ATTACHED);
	read_at(1, MS, 100, 0);
	rows = close_rows(1);
	ck_assert_str_eq(rows[0].comm, "");
	ck_assert_uint_eq(rows[0].pid, 0);
	ck_assert_uint_eq(rows[0].rmid, 0);
	ck_assert_uint_eq(rows[0].owner, CMT_OWNER_CGROUP);
	ck_assert_uint_eq(rows[0].flags, CMT_USAGE_ROW_SEEN);
	ck_assert_uint_eq(rows[0].cgroup_id, 10);
	ck_assert_uint_eq(rows[0].nr_children, 1);
	child = cmt_usage_child_at(frame, rows[0].first_child);
	ck_assert_str_eq(child->comm, "p1");
	ck_assert_uint_eq(child->pid, 101);
	ck_assert(child->flags & CMT_USAGE_ROW_ATTACHED);
	end();
}
END_TEST

/* Peaks show, whatever the last reading is. */
START_TEST(test_usage_spread)
{
	const struct cmt_usage_row *rows;
	struct cmt_record bad;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	for (uint64_t ms = 1; ms <= 10; ms++)
		read_at(1, ms * MS, ms == 4 ? 1000 : 100, 0);
	/* a slot that is not known is neither the least nor in the mean */
	bad = sample(1, 0, 11 * MS, 0, 0);
	bad.flags = CMT_F_ERROR;
	add(bad);
	read_at(1, 12 * MS, 90, 0);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 90);
	ck_assert_uint_eq(rows[0].occupancy.least_bytes, 90);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 1000);
	ck_assert_uint_eq(rows[0].occupancy.mean_bytes, 1990 / 11);
	ck_assert_uint_eq(rows[0].occupancy.slots, 11);
	/* the next interval begins anew */
	read_at(1, 13 * MS, 80, 0);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.least_bytes, 80);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 80);
	ck_assert_uint_eq(rows[0].occupancy.mean_bytes, 80);
	end();
}
END_TEST

/* Least and mean of no slot are told from a cache that is empty, and measured. */
START_TEST(test_usage_spread_of_no_slot)
{
	const struct cmt_usage_row *rows;
	struct cmt_record bad;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, DOCKER "/nested");
	own(1, 10, 0);
	own(2, 11, 0);
	for (uint64_t ms = 1; ms <= 3; ms++) {
		read_at(1, ms * MS, 100, 0);
		bad = sample(2, 0, ms * MS, 0, 0);
		bad.flags = CMT_F_ERROR;
		add(bad);
	}
	rows = close_rows(1);
	ck_assert(rows[0].occupancy.known && rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.slots, 0);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 100);
	read_at(1, 4 * MS, 0, 0);
	read_at(2, 4 * MS, 0, 0);
	read_at(1, 5 * MS, 0, 0);
	rows = close_rows(1);
	ck_assert(rows[0].occupancy.known && !rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.slots, 2);
	ck_assert_uint_eq(rows[0].occupancy.least_bytes, 0);
	ck_assert_uint_eq(rows[0].occupancy.mean_bytes, 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(rows[0].occupancy.reserved[i], 0);
		ck_assert_uint_eq(rows[0].total.reserved[i], 0);
	}
	end();
}
END_TEST

START_TEST(test_usage_bandwidth_over_actual_time)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(1, 10 * MS, 1, 1000);
	rows = close_rows(1);
	ck_assert(!rows[0].total.known);
	ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_FIRST);
	ck_assert_uint_eq(rows[0].total.why, CMT_USAGE_WHY_FIRST);
	/* late by half: the interval was to be 10 ms and took 15 */
	read_at(1, 20 * MS, 1, 31000);
	read_at(1, 25 * MS, 1, 31000);
	rows = close_rows(1);
	ck_assert(!rows[0].total.partial);
	assert_rate(&rows[0].total, 30000 * 1e9 / (15 * MS));
	assert_rate(&rows[0].local, 15000 * 1e9 / (15 * MS));
	ck_assert_uint_eq(rows[0].total.bytes, 30000);
	ck_assert_uint_eq(rows[0].why, 0);
	ck_assert_uint_eq(frame->elapsed_ns, 15 * MS);
	ck_assert_uint_eq(frame->last_ns, 25 * MS);
	end();
}
END_TEST

/* A unit at either end, and 20 us of the readings' times. */
START_TEST(test_usage_bounds)
{
	const double lo = (30000 - 2 * UNIT) * 1e9 / (15 * MS + 40000);
	const double hi = (30000 + 2 * UNIT) * 1e9 / (15 * MS - 40000);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(1, 10 * MS, 1, 1000);
	close_rows(1);
	read_at(1, 20 * MS, 1, 30500);
	read_at(1, 25 * MS, 1, 31000);
	rows = close_rows(1);
	ck_assert_double_eq_tol(rows[0].total.lo, lo, 1);
	ck_assert_double_eq_tol(rows[0].total.hi, hi, 1);
	/* less than the unit: perhaps none */
	read_at(1, 35 * MS, 1, 31000 + UNIT);
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].total.lo, 0);
	ck_assert_double_gt(rows[0].total.hi, rows[0].total.rate);
	end();
}
END_TEST

START_TEST(test_usage_short_life_spreads_over_interval)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	read_at(1, MS, 9, 0);
	close_rows(1);
	/* 2 moves 1000 bytes in 1 of the 10 ms */
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(2, 2 * MS + 1, 5, 0);
	read_at(2, 3 * MS, 5, 1000);
	add(event(CMT_REC_FREE, 3 * MS + 1, 2, 13, 0));
	read_at(1, 11 * MS, 9, 0);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[1].rmid, 2);
	assert_rate(&rows[1].total, 1000 * 1e9 / (10 * MS));
	ck_assert(!rows[1].occupancy.known);
	ck_assert_uint_eq(rows[1].occupancy.most_bytes, 5);
	ck_assert(rows[1].why & CMT_USAGE_WHY_ENDED);
	ck_assert_uint_eq(rows[1].rmids, 0);
	/* and it is gone afterwards */
	read_at(1, 12 * MS, 9, 0);
	close_rows(1);
	end();
}
END_TEST

/* What an owner moved before its first reading is its traffic (L9). */
START_TEST(test_usage_first_reading_counts)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	close_rows(1);
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(2, 10 * MS, 5, 100000000);
	read_at(0, 11 * MS, 1, 0);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].rmid, 2);
	ck_assert_uint_eq(rows[0].total.bytes, 100000000);
	ck_assert(!rows[0].total.partial);
	assert_rate(&rows[0].total, 1e8 * 1e9 / (10 * MS));
	ck_assert_uint_eq(rows[0].why & ~CMT_USAGE_WHY_OLD, 0);
	/* and counts once */
	read_at(2, 20 * MS, 5, 100000500);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].total.bytes, 500);
	end();
}
END_TEST

/* It was allocated in an interval before: over the time since. */
START_TEST(test_usage_first_reading_later)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(0, 3 * MS, 1, 0);
	close_rows(1);
	read_at(2, 12 * MS, 5, 5000);
	rows = close_rows(2);
	ck_assert_uint_eq(frame->elapsed_ns, 9 * MS);
	assert_rate(&rows[0].total, 5000 * 1e9 / (10 * MS));
	end();
}
END_TEST

/* An owner that was lost, and is found again, is not counted twice. */
START_TEST(test_usage_lost_owner_counts_once)
{
	struct cmt_snapshot *empty, *full;
	const struct cmt_usage_row *rows;

	ck_assert_int_eq(cmt_snapshot_new(&empty, 7 * MS, NULL, 0), 0);
	ck_assert_int_eq(cmt_snapshot_new(&full, 10 * MS, NULL, 1), 0);
	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(2, 3 * MS, 5, 1000);
	read_at(0, 4 * MS, 1, 0);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].total.bytes, 1000);
	read_at(0, 5 * MS, 1, 0);
	ck_assert_int_eq(cmt_usage_sync(usage, empty), 0);
	read_at(0, 8 * MS, 1, 0);
	rows = close_rows(2);
	ck_assert(rows[0].why & CMT_USAGE_WHY_ENDED);
	full->records[0] = event(CMT_REC_EXISTING, 2 * MS, 2, 13, 0);
	ck_assert_int_eq(cmt_usage_sync(usage, full), 0);
	read_at(2, 11 * MS, 5, 1500);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].rmid, 2);
	ck_assert_uint_eq(rows[0].total.bytes, 500);
	cmt_snapshot_free(empty);
	cmt_snapshot_free(full);
	end();
}
END_TEST

/* Records that wait in the rings are older than the snapshot: an owner that ended there. */
START_TEST(test_usage_sync_keeps_owners_before)
{
	struct cmt_record next = event(CMT_REC_EXISTING, 108 * MS, 2, 14, 0);
	struct cmt_record ended = event(CMT_REC_ALLOC, 103 * MS, 2, 13, 0);
	struct cmt_record reading = sample(2, 0, 104 * MS, 700, 0);
	const struct cmt_usage_row *rows;
	struct cmt_snapshot *snapshot;

	ended.tgid = 77;
	next.generation = 2;
	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 110 * MS, &next, 1), 0);
	begin(CMT_USAGE_BY_PROCESS);
	add(tick(0, 100 * MS, 0));
	ck_assert_int_eq(cmt_usage_sync(usage, snapshot), 0);
	cmt_snapshot_free(snapshot);
	add(ended);
	add(reading);
	ended.type = CMT_REC_FREE;
	ended.ts = 105 * MS;
	add(ended);
	next.type = CMT_REC_ALLOC;
	add(next);
	reading.ts = 112 * MS;
	reading.generation = 2;
	reading.sample.occupancy_bytes = 300;
	add(reading);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].pid, 102);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 300);
	ck_assert_uint_eq(rows[1].pid, 77);
	ck_assert_uint_eq(rows[1].occupancy.most_bytes, 700);
	end();
}
END_TEST

/* A snapshot that cannot be changes nothing. */
START_TEST(test_usage_sync_impossible)
{
	struct cmt_record records[2] = {
		event(CMT_REC_EXISTING, MS, 2, 13, 0),
		event(CMT_REC_EXISTING, MS, NR_RMIDS, 14, 0),
	};
	const struct cmt_usage_row *rows;
	struct cmt_snapshot *snapshot;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 2 * MS, records, 2), 0);
	begin(CMT_USAGE_BY_PROCESS);
	ck_assert_int_eq(cmt_usage_sync(usage, snapshot), -EINVAL);
	snapshot->records[1].rmid = 3;
	snapshot->records[1].type = CMT_REC_ALLOC;
	ck_assert_int_eq(cmt_usage_sync(usage, snapshot), -EINVAL);
	read_at(0, 3 * MS, 1, 0);
	read_at(2, 3 * MS, 1, 0);
	rows = close_rows(2);
	ck_assert(!rows[0].pid && !rows[1].pid);
	cmt_snapshot_free(snapshot);
	end();
}
END_TEST

/* The ALLOC was lost: what the owner moved before its first reading is not known. */
START_TEST(test_usage_first_reading_without_alloc)
{
	struct cmt_record record;
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	add(tick(0, MS, 0));
	record = event(CMT_REC_UPDATE, 10 * MS, 2, 13, 0);
	record.generation = 5;
	add(record);
	record = sample(2, 0, 10 * MS + MS / 2, 5, 50000000000);
	record.generation = 5;
	add(record);
	if (_i) {
		rows = close_rows(1);
		ck_assert(!rows[0].total.known);
		ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_FIRST);
	}
	record.ts = 11 * MS;
	record.sample.mbm_total_bytes += 640;
	add(record);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].rmid, 2);
	ck_assert(rows[0].total.known && !rows[0].total.partial);
	ck_assert_uint_eq(rows[0].total.bytes, 640);
	ck_assert_uint_eq(rows[0].why, 0);
	end();
}
END_TEST

/* The ALLOC comes late, or a snapshot has it: then the traffic since is known. */
START_TEST(test_usage_first_reading_alloc_late)
{
	struct cmt_record record = event(CMT_REC_ALLOC, 10 * MS, 2, 13, 0);
	struct cmt_snapshot *snapshot;
	const struct cmt_usage_row *rows;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 13 * MS, &record, 1), 0);
	snapshot->records[0].type = CMT_REC_EXISTING;
	begin(CMT_USAGE_BY_PROCESS);
	add(tick(0, MS, 0));
	add(event(CMT_REC_UPDATE, 12 * MS, 2, 14, 0));
	if (_i) {
		add(tick(0, 13 * MS, 0));
		close_rows(0);
		ck_assert_int_eq(cmt_usage_sync(usage, snapshot), 0);
	} else {
		add(record);
	}
	read_at(2, 14 * MS, 5, 50000);
	rows = close_rows(1);
	ck_assert(!rows[0].total.partial);
	ck_assert_uint_eq(rows[0].total.bytes, 50000);
	cmt_snapshot_free(snapshot);
	end();
}
END_TEST

/* Allocated too long ago to be sure that it was not counted. */
START_TEST(test_usage_first_reading_too_late)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(2, 2002 * MS, 5, 1000);
	read_at(2, 2003 * MS, 5, 1100);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].total.bytes, 100);
	ck_assert(rows[0].total.partial);
	ck_assert_uint_eq(rows[0].total.why, CMT_USAGE_WHY_GAP);
	end();
}
END_TEST

/* In a domain where it was not allocated, what came before is not known. */
START_TEST(test_usage_first_reading_rebased)
{
	struct cmt_record rebased = sample(2, 1, 5 * MS, 1, 700);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	add(event(CMT_REC_ALLOC, 2 * MS, 2, 13, 0));
	read_at(2, 3 * MS, 5, 1000);
	rebased.flags |= CMT_F_REBASED;
	add(rebased);
	add(sample(2, 1, 7 * MS, 1, 900));
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].total.bytes, 1200);
	ck_assert(rows[0].total.partial);
	ck_assert(isinf(rows[0].total.hi));
	ck_assert_uint_eq(rows[0].total.why, CMT_USAGE_WHY_GAP);
	end();
}
END_TEST

START_TEST(test_usage_reused_rmid_counts_once)
{
	const struct cmt_usage_row *rows;
	struct cmt_record record;

	begin(CMT_USAGE_BY_DOMAIN);
	own(1, 12, 0);
	read_at(1, MS, 700, 500);
	record = event(CMT_REC_ALLOC, 4 * MS, 1, 13, 0);
	record.generation = 2;
	add(record);
	record = sample(1, 0, 5 * MS, 600, 0);
	record.generation = 2;
	add(record);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 600);
	ck_assert_uint_eq(rows[0].rmids, 1);
	end();
}
END_TEST

START_TEST(test_usage_failed_reading_is_no_zero)
{
	struct cmt_record bad = sample(1, 0, MS, 0, 0);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	name(12, "/a");
	own(1, 12, 0);
	own(2, 12, 0);
	bad.flags = CMT_F_ERROR;
	add(bad);
	rows = close_rows(1);
	ck_assert(!rows[0].occupancy.known && !rows[0].total.known);
	ck_assert(!rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_ERROR);
	ck_assert_uint_eq(rows[0].occupancy.why, CMT_USAGE_WHY_ERROR);
	ck_assert_uint_eq(rows[0].local.why, CMT_USAGE_WHY_ERROR);
	/* beside a good one the sum is a lower bound */
	bad.ts = 2 * MS;
	bad.flags = CMT_F_UNAVAILABLE | CMT_F_PQR_OVERWRITTEN;
	add(bad);
	read_at(2, 2 * MS, 40, 0);
	rows = close_rows(1);
	ck_assert(rows[0].occupancy.known && rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 40);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 40);
	ck_assert_uint_eq(rows[0].occupancy.age_ns, 0);
	ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_UNAVAILABLE |
			  CMT_USAGE_WHY_OVERWRITTEN | CMT_USAGE_WHY_FIRST);
	/* before a good one it is said of the row, and of no value */
	bad.ts = 3 * MS;
	bad.flags = CMT_F_ERROR;
	add(bad);
	read_at(1, 4 * MS, 50, 0);
	read_at(2, 4 * MS, 40, 0);
	rows = close_rows(1);
	ck_assert(rows[0].occupancy.known && !rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.why & CMT_USAGE_WHY_ERROR, 0);
	ck_assert_uint_eq(rows[0].why & CMT_USAGE_WHY_ERROR, CMT_USAGE_WHY_ERROR);
	end();
}
END_TEST

static void read_without(uint32_t rmid, uint64_t ts, uint32_t lacks, uint32_t reason)
{
	struct cmt_record record = sample(rmid, 0, ts, 40, 0);

	record.flags = (record.flags & ~lacks) | reason;
	add(record);
}

/* The time between two readings counts or not, as the second one says. */
START_TEST(test_usage_coverage)
{
	const uint32_t mbm = CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	name(12, "/a");
	own(1, 12, 0);
	read_at(1, 1 * MS, 40, 100);
	rows = close_rows(1);
	/* one reading is no time */
	ck_assert_double_eq(rows[0].coverage.occupancy, 1);
	ck_assert(isnan(rows[0].coverage.total) && isnan(rows[0].coverage.local));
	read_at(1, 2 * MS, 40, 200);
	read_at(1, 5 * MS, 40, 300);
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].coverage.total, 1);
	ck_assert_double_eq(rows[0].coverage.local, 1);
	/* 1 ms is counted, 2 ms and 3 ms are not, 4 ms are */
	read_at(1, 6 * MS, 40, 400);
	read_without(1, 8 * MS, mbm, CMT_F_UNAVAILABLE);
	read_without(1, 11 * MS, 0, CMT_F_REBASED);
	read_at(1, 15 * MS, 40, 500);
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].coverage.occupancy, 1);
	ck_assert_double_eq(rows[0].coverage.total, 0.5);
	ck_assert_double_eq(rows[0].coverage.local, 0.5);
	/* nothing at all, and the occupancy of one of two */
	own(2, 12, 0);
	read_without(1, 16 * MS, mbm, CMT_F_UNAVAILABLE);
	read_without(2, 16 * MS, VALUES, CMT_F_ERROR);
	read_without(1, 17 * MS, mbm, CMT_F_UNAVAILABLE);
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].coverage.occupancy, 0.5);
	ck_assert_double_eq(rows[0].coverage.total, 0);
	ck_assert(!rows[0].total.known);
	end();
}
END_TEST

/* What the machine does not count is not missing. */
START_TEST(test_usage_coverage_without_counters)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 0, 0);
	read_without(1, 1 * MS, CMT_F_MBM_LOCAL, 0);
	read_without(1, 2 * MS, CMT_F_MBM_LOCAL, 0);
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].coverage.total, 1);
	ck_assert(isnan(rows[0].coverage.local));
	read_without(1, 3 * MS, CMT_F_OCCUPANCY, 0);
	rows = close_rows(1);
	ck_assert(isnan(rows[0].coverage.occupancy));
	ck_assert_double_eq(rows[0].coverage.total, 1);
	end();
}
END_TEST

/* An RMID that did not run is not read: what it held counts, as old as it is. */
static struct cmt_record sample_with_residue(uint32_t rmid, uint32_t domain,
					     uint64_t occupancy, uint64_t residue)
{
	struct cmt_record record = sample(rmid, domain, MS, occupancy, 0);

	record.flags |= CMT_F_RESIDUAL;
	record.sample.residual_bytes = residue;
	return record;
}

static void assert_residue(const struct cmt_usage_row *row, bool known, uint64_t bytes)
{
	ck_assert(row->occupancy.known);
	ck_assert_int_eq(row->occupancy.residual_known, known);
	ck_assert_uint_eq(row->occupancy.residual_bytes, bytes);
}

/* The RMID was allocated while nothing was read: its residue is not 0. */
START_TEST(test_usage_residue_not_read)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	own(2, 11, 0);
	read_at(1, MS, 200, 0);
	add(sample_with_residue(2, 0, 100, 0));
	rows = close_rows(2);
	assert_residue(&rows[0], false, 0);
	assert_residue(&rows[1], true, 0);
	/* the values are carried over */
	add(tick(0, 3 * MS, 0));
	rows = close_rows(2);
	assert_residue(&rows[0], false, 0);
	assert_residue(&rows[1], true, 0);
	end();
}
END_TEST

/* A sum without a part of it is no upper bound; a part of nothing lacks nothing. */
START_TEST(test_usage_residue_of_domains)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	own(2, 11, 0);
	own(3, 12, 0);
	add(sample_with_residue(1, 0, 300, 30));
	add(sample(1, 1, MS, 20, 0));
	add(sample_with_residue(2, 0, 200, 20));
	add(sample(2, 1, MS, 0, 0));
	add(sample_with_residue(3, 0, 100, 10));
	add(sample_with_residue(3, 1, 50, 5));
	rows = close_rows(3);
	assert_residue(&rows[0], false, 0);
	assert_residue(&rows[1], true, 20);
	assert_residue(&rows[2], true, 15);
	end();
}
END_TEST

/* In either order of the owners of a row; one that is not readable is not in the sum. */
START_TEST(test_usage_residue_of_containers)
{
	const struct cmt_usage_row *rows;
	struct cmt_record faulty = sample(5, 0, MS, 0, 0);

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, "/system.slice/a.service");
	own(1, 10, 0);
	own(2, 10, 0);
	own(3, 10, 0);
	own(4, 11, 0);
	own(5, 11, 0);
	add(sample_with_residue(1, 0, 300, 30));
	add(sample(2, 0, MS, 10, 0));
	add(sample_with_residue(3, 0, 20, 2));
	add(sample_with_residue(4, 0, 100, 4));
	faulty.flags = CMT_F_ERROR;
	add(faulty);
	rows = close_rows(2);
	assert_residue(&rows[0], false, 0);
	assert_residue(&rows[1], true, 4);
	ck_assert(rows[1].occupancy.partial);
	end();
}
END_TEST

/* The residue is of the reading with the occupancy, and nothing is known without one. */
START_TEST(test_usage_residue_without_occupancy)
{
	const struct cmt_usage_row *rows;
	struct cmt_record record = sample_with_residue(1, 0, 100, 9);

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	record.flags &= ~CMT_F_OCCUPANCY;
	add(record);
	rows = close_rows(1);
	ck_assert(!rows[0].occupancy.known && !rows[0].occupancy.residual_known);
	ck_assert_uint_eq(rows[0].occupancy.residual_bytes, 0);
	end();
}
END_TEST

START_TEST(test_usage_carried)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	own(2, 12, 0);
	read_at(1, MS, 600, 1000);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.age_ns, 0);
	for (uint64_t second = 1; second < 5; second++) {
		read_at(2, (1000 * second + 2) * MS - 1, 10, 0);
		rows = close_rows(2);
		ck_assert(rows[0].occupancy.known);
		ck_assert(!rows[0].occupancy.partial);
		ck_assert_uint_eq(rows[0].occupancy.last_bytes, 600);
		ck_assert_uint_eq(rows[0].occupancy.age_ns,
				  (1000 * second + 1) * MS);
		/* no traffic is known, which is not the same as none */
		ck_assert(!rows[0].total.known);
		ck_assert_uint_eq(rows[0].total.why, CMT_USAGE_WHY_OLD);
		ck_assert_uint_eq(rows[0].local.why, CMT_USAGE_WHY_OLD);
		ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_OLD);
		ck_assert_uint_eq(rows[0].rmids, 1);
	}
	/* the traffic since the last reading is all there */
	read_at(1, 5001 * MS, 500, 6000);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 500);
	ck_assert_uint_eq(rows[0].occupancy.age_ns, 0);
	assert_rate(&rows[0].total, 1000);
	ck_assert_uint_eq(rows[0].why, 0);
	end();
}
END_TEST

/* A sum has the age of the oldest of its values, if the last slot had no newer. */
START_TEST(test_usage_carried_in_a_sum)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own(1, 12, 0);
	own(2, 12, 0);
	read_at(1, MS, 600, 0);
	read_at(2, MS, 40, 0);
	read_at(2, 2 * MS, 50, 0);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 650);
	ck_assert(!rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].occupancy.age_ns, 2 * MS);
	ck_assert(!(rows[0].why & CMT_USAGE_WHY_OLD));
	end();
}
END_TEST

/* An owner that only the first slots visit is there to the end of the interval. */
START_TEST(test_usage_carried_without_a_visit)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	own(2, 12, 0);
	for (uint64_t ms = 1; ms < 40; ms++) {
		read_at(1, ms * MS, 600, 0);
		if (ms < 3)
			read_at(2, ms * MS, 40 * ms, 0);
	}
	rows = close_rows(2);
	ck_assert_uint_eq(rows[1].occupancy.last_bytes, 80);
	ck_assert_uint_eq(rows[1].occupancy.least_bytes, 40);
	ck_assert_uint_eq(rows[1].occupancy.slots, 39);
	ck_assert(!(rows[1].why & CMT_USAGE_WHY_ENDED));
	ck_assert_uint_eq(rows[1].rmids, 1);
	end();
}
END_TEST

/* Each RMID of resctrl's is a row, in no container. */
START_TEST(test_usage_resctrl)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own(1, 10, 0);
	own(5, 0, CMT_F_OWNER_RESCTRL);
	own(6, 0, CMT_F_OWNER_RESCTRL);
	read_at(6, MS, 60, 0);
	read_at(5, MS, 50, 0);
	add(sample(5, 1, MS, 5, 0));
	read_at(1, MS, 100, 0);
	rows = close_rows(3);
	ck_assert_uint_eq(rows[0].owner, CMT_OWNER_CGROUP);
	ck_assert_uint_eq(rows[1].owner, CMT_OWNER_RESCTRL);
	ck_assert_uint_eq(rows[1].occupancy.last_bytes, 60);
	ck_assert_uint_eq(rows[1].rmid, 6);
	ck_assert_uint_eq(rows[2].occupancy.last_bytes, 55);
	ck_assert_ptr_null(rows[2].container);
	ck_assert_uint_eq(rows[2].rmids, 1);
	end();
}
END_TEST

/* What the kernel does is one row, whichever RMID it has; a RMID of resctrl's is another. */
START_TEST(test_usage_kernel)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own(1, 10, 0);
	own(5, 0, CMT_F_OWNER_KERNEL);
	own(6, 0, CMT_F_OWNER_KERNEL);
	own(7, 0, CMT_F_OWNER_RESCTRL);
	read_at(5, MS, 50, 0);
	read_at(6, MS, 60, 0);
	read_at(7, MS, 70, 0);
	read_at(1, MS, 200, 0);
	rows = close_rows(3);
	ck_assert_uint_eq(rows[0].owner, CMT_OWNER_CGROUP);
	ck_assert_uint_eq(rows[1].owner, CMT_OWNER_KERNEL);
	ck_assert_uint_eq(rows[1].occupancy.last_bytes, 110);
	ck_assert_ptr_null(rows[1].container);
	ck_assert_uint_eq(rows[1].rmids, 2);
	ck_assert_uint_eq(rows[2].owner, CMT_OWNER_RESCTRL);
	end();
}
END_TEST

/* A reading that failed leaves the value before it, as old as it is. */
START_TEST(test_usage_age_of_a_value)
{
	struct cmt_record bad = sample(1, 0, 5 * MS, 0, 0);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(1, 2 * MS, 700, 0);
	bad.flags = CMT_F_UNAVAILABLE;
	add(bad);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 700);
	ck_assert_uint_eq(rows[0].occupancy.age_ns, 4 * MS);
	end();
}
END_TEST

START_TEST(test_usage_rebase_is_a_gap)
{
	struct cmt_record rebased = sample(1, 0, 6 * MS, 1, 90000);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	read_at(1, MS, 1, 1000);
	close_rows(1);
	read_at(1, 2 * MS, 1, 2000);
	rebased.flags |= CMT_F_REBASED;
	add(rebased);
	read_at(1, 11 * MS, 1, 93000);
	rows = close_rows(1);
	/* 1000 + 3000 bytes are known of 10 ms; the jump is not traffic */
	ck_assert(rows[0].total.partial);
	assert_rate(&rows[0].total, 4000 * 1e9 / (10 * MS));
	ck_assert(rows[0].why & CMT_USAGE_WHY_GAP);
	end();
}
END_TEST

/* Of an owner from before our time nothing is missing. */
START_TEST(test_usage_first_rebase_of_old_owner_is_no_gap)
{
	struct cmt_record first = sample(1, 0, MS, 1, 500);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	first.flags |= CMT_F_REBASED;
	add(first);
	read_at(1, 3 * MS, 1, 2500);
	rows = close_rows(1);
	ck_assert(!rows[0].total.partial);
	assert_rate(&rows[0].total, 2000 * 1e9 / (2 * MS));
	end();
}
END_TEST

START_TEST(test_usage_missing_reading_breaks_the_base)
{
	struct cmt_record hole = sample(1, 0, 2 * MS, 1, 0);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	read_at(1, MS, 1, 1000);
	hole.flags = CMT_F_OCCUPANCY;
	add(hole);
	read_at(1, 3 * MS, 1, 9000);
	read_at(1, 5 * MS, 1, 9400);
	rows = close_rows(1);
	ck_assert(rows[0].total.partial);
	assert_rate(&rows[0].total, 400 * 1e9 / (4 * MS));
	end();
}
END_TEST

/* Six readings, of 1000 bytes each, that go on where the one before was. */
static void steady_readings(void)
{
	uint64_t n;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 12, 0);
	for (n = 1; n <= 6; n++)
		read_at(1, n * MS, n, n * 1000);
}

/* And one that does not: what they brought counts, and nothing of it. */
START_TEST(test_usage_steady_until_odd)
{
	static const struct odd {
		uint32_t flags;
		uint64_t mbm, next;
	} odds[] = {
		{ VALUES | CMT_F_REBASED, 90000, 90500 },
		{ VALUES, 100, 600 },
		{ CMT_F_OCCUPANCY, 0, 70000 },
		{ CMT_F_ERROR, 0, 70000 },
	};
	const struct odd *o = &odds[_i];
	struct cmt_record odd = sample(1, 0, 7 * MS, 1, o->mbm);
	const struct cmt_usage_row *rows;

	steady_readings();
	odd.flags = o->flags;
	add(odd);
	read_at(1, 8 * MS, 8, o->next);
	rows = close_rows(1);
	ck_assert(rows[0].total.known && rows[0].total.partial);
	ck_assert(rows[0].total.why & CMT_USAGE_WHY_GAP);
	ck_assert_uint_eq(rows[0].total.bytes,
			  o->flags & CMT_F_MBM_TOTAL ? 5500 : 5000);
	ck_assert_uint_eq(rows[0].local.bytes,
			  o->flags & CMT_F_MBM_TOTAL ? 2750 : 2500);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 8);
	end();
}
END_TEST

START_TEST(test_usage_steady_until_renamed)
{
	struct cmt_record renamed = event(CMT_REC_UPDATE, 6 * MS + 1, 1, 13, 0);
	const struct cmt_usage_row *rows;

	steady_readings();
	snprintf(renamed.owner.comm, sizeof(renamed.owner.comm), "other");
	renamed.owner.cgroup_id = 12;
	add(renamed);
	read_at(1, 7 * MS, 7, 7000);
	rows = close_rows(1);
	ck_assert_str_eq(rows[0].comm, "other");
	ck_assert_uint_eq(rows[0].total.bytes, 6000);
	ck_assert(!rows[0].total.partial);
	end();
}
END_TEST

/* Over frames that are looked at meanwhile, and intervals. */
START_TEST(test_usage_steady_goes_on)
{
	const struct cmt_usage_row *rows;

	steady_readings();
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	read_at(1, 7 * MS, 7, 7000);
	read_at(1, 8 * MS, 8, 8000);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].total.bytes, 7000);
	assert_rate(&rows[0].total, 1e6);
	/* begins with a value that is carried over */
	add(tick(0, 9 * MS, 1));
	read_at(1, 10 * MS, 10, 10000);
	read_at(1, 11 * MS, 11, 11000);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].total.bytes, 3000);
	assert_rate(&rows[0].total, 1e6);
	ck_assert_uint_eq(rows[0].why, 0);
	end();
}
END_TEST

START_TEST(test_usage_unattributed_and_unknown)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	read_at(0, MS, 900, 0);
	read_at(1, MS, 300, 0);
	own(2, 99, 0);
	read_at(2, MS, 1, 0);
	rows = close_rows(3);
	ck_assert_int_eq(rows[0].kind, CMT_USAGE_OWNER);
	ck_assert_str_eq(rows[0].container->name, "cgroup:99");
	ck_assert_ptr_null(rows[0].container->path);
	ck_assert_int_eq(rows[1].kind, CMT_USAGE_UNKNOWN);
	ck_assert_int_eq(rows[2].kind, CMT_USAGE_UNATTRIBUTED);
	ck_assert_uint_eq(rows[2].occupancy.last_bytes, 900);
	ck_assert_uint_eq(rows[2].rmids, 0);
	end();
}
END_TEST

/* Who may be joined with whom (L3): only what is below one cgroup. */
START_TEST(test_usage_hostile_names)
{
	static const char *const paths[] = {
		"/system.slice/docker-" ID ".scope",	/* the container */
		"/system.slice/docker-" ID ".scope/a",	/* nested in it */
		"/user.slice/user-1000.slice/docker-" ID ".scope",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/docker-"
		ID ".scope",
		"/docker/" "00" ID + 2,		/* another id, cut short */
		"/user.slice/user-1000.slice/system.slice/docker-" ID
		".scope/a",
		"/system.slice/docker-" ID ".scopex",	/* a plain cgroup */
	};
	static const struct {
		uint64_t bytes;
		bool borrowed;
	} want[] = {
		{ 64, false }, { 32, true }, { 16, false },
		{ 8, true }, { 4, true }, { 3, false },
	};
	const struct cmt_usage_row *rows;
	uint32_t i;

	begin(CMT_USAGE_BY_CONTAINER);
	for (i = 0; i < 7; i++) {
		name(10 + i, paths[i]);
		own(1 + i, 10 + i, 0);
		read_at(1 + i, MS, i > 1 ? 1ULL << i : i + 1, 0);
	}
	rows = close_rows(6);
	for (i = 0; i < 6; i++) {
		ck_assert_uint_eq(rows[i].occupancy.last_bytes, want[i].bytes);
		ck_assert_msg(want[i].borrowed ==
			      !!(rows[i].flags & CMT_USAGE_ROW_BORROWED_ID),
			      "row %u, %s", i, rows[i].container->path);
	}
	end();
}
END_TEST

/* Where no place is better than the other, both are marked. */
START_TEST(test_usage_same_id_twice)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, "/system.slice/docker-" ID ".scope");
	name(11, "/system.slice/evil.service/docker-" ID ".scope");
	own(1, 10, 0);
	own(2, 11, 0);
	read_at(1, MS, 1, 0);
	read_at(2, MS, 2, 0);
	rows = close_rows(2);
	ck_assert(rows[0].flags & CMT_USAGE_ROW_BORROWED_ID);
	ck_assert(rows[1].flags & CMT_USAGE_ROW_BORROWED_ID);
	end();
}
END_TEST

/* Whatever the id is: sixteen of them, of which each is twice. */
START_TEST(test_usage_same_ids)
{
	const struct cmt_usage_row *rows;

	for (uint32_t i = 0; i < 16; i++) {
		char id[] = ID, path[160];

		id[63] = "0123456789abcdef"[i];
		begin(CMT_USAGE_BY_CONTAINER);
		for (uint32_t k = 0; k < 2; k++) {
			snprintf(path, sizeof(path), "/system.slice/%sdocker-%s.scope",
				 k ? "evil.service/" : "", id);
			name(10 + k, path);
			own(1 + k, 10 + k, 0);
			read_at(1 + k, MS, 1, 0);
		}
		rows = close_rows(2);
		ck_assert(rows[0].flags & CMT_USAGE_ROW_BORROWED_ID);
		ck_assert(rows[1].flags & CMT_USAGE_ROW_BORROWED_ID);
		end();
	}
}
END_TEST

/* Of LXC, libvirt and others a path has no id, and the name stands for the container. */
START_TEST(test_usage_same_name_of_a_user)
{
	static const struct {
		const char *path;
		bool borrowed;
	} cases[] = {
		{ "/lxc.payload.web", false },
		{ "/user.slice/user-1000.slice/user@1000.service/lxc.payload.web", true },
		{ "/user.slice/user-1000.slice/user@1000.service/lxc.payload.db", false },
		/* a machine that started again */
		{ "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", false },
		{ "/machine.slice/machine-qemu\\x2d2\\x2dweb.scope", false },
		{ "/system.slice/web.service", false },
		{ "/user.slice/user-1000.slice/web.service", false },
	};
	const uint32_t nr = sizeof(cases) / sizeof(cases[0]);
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	for (uint32_t i = 0; i < nr; i++) {
		name(10 + i, cases[i].path);
		own(1 + i, 10 + i, 0);
		read_at(1 + i, MS, 10 - i, 0);
	}
	rows = close_rows(nr);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_str_eq(rows[i].container->path, cases[i].path);
		ck_assert_msg(cases[i].borrowed ==
			      !!(rows[i].flags & CMT_USAGE_ROW_BORROWED_ID),
			      "row %u", i);
	}
	end();
}
END_TEST

/* Overhead of a container has its id by right; who claims so below a slice has not. */
START_TEST(test_usage_overhead)
{
	static const char *const paths[] = {
		"/kubepods/pod1-2/kata_" ID, "/kata_overhead/" ID,
		"/user.slice/user-1000.slice/kata_overhead/" ID,
	};
	const struct cmt_usage_row *rows;
	uint32_t i;

	begin(CMT_USAGE_BY_CONTAINER);
	for (i = 0; i < 3; i++) {
		name(10 + i, paths[i]);
		own(1 + i, 10 + i, 0);
		read_at(1 + i, MS, 3 - i, 0);
	}
	rows = close_rows(3);
	for (i = 0; i < 3; i++) {
		ck_assert_str_eq(rows[i].container->path, paths[i]);
		ck_assert_msg((i == 2) ==
			      !!(rows[i].flags & CMT_USAGE_ROW_BORROWED_ID),
			      "row %u", i);
	}
	end();
}
END_TEST

/* A name is no identity: cgroups of one name are two rows. */
START_TEST(test_usage_same_name_twice)
{
	begin(CMT_USAGE_BY_CONTAINER);
	name(14, "/a/same");
	name(15, "/b/same");
	own(1, 14, 0);
	own(2, 15, 0);
	read_at(1, MS, 1, 0);
	read_at(2, MS, 1, 0);
	close_rows(2);
	end();
}
END_TEST

/* A path that comes later joins from the next interval on. */
START_TEST(test_usage_late_name_joins)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own(1, 10, 0);
	own(2, 11, 0);
	read_at(1, MS, 1, 0);
	read_at(2, MS, 2, 0);
	rows = close_rows(2);
	name(10, DOCKER);
	name(11, DOCKER "/x");
	/* in place, in the frame that is there */
	ck_assert_str_eq(rows[0].container->id, ID);
	read_at(1, 2 * MS, 1, 0);
	read_at(2, 2 * MS, 2, 0);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 3);
	end();
}
END_TEST

static void pending(uint32_t nr, const uint64_t *cgroups)
{
	struct cmt_snapshot *snapshot;
	uint32_t i;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, 5, NULL, nr), 0);
	for (i = 0; i < nr; i++) {
		snapshot->records[i] = event(CMT_REC_ALLOC_FAIL, 1,
					     OVERFLOW_RMID, cgroups[i], 0);
		snapshot->records[i].tgid = 1000 + i;
	}
	ck_assert_int_eq(cmt_usage_set_pending(usage, snapshot), 0);
	cmt_snapshot_free(snapshot);
}

/* A row that misses processes without a dedicated RMID says so (L1). */
START_TEST(test_usage_pending_processes)
{
	uint64_t cgroups[47];
	const struct cmt_usage_row *rows;
	uint32_t i;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, DOCKER "/nested");
	name(12, "/system.slice/a.service");
	for (i = 1; i <= 3; i++)
		own(i, 10, 0);
	own(4, 12, 0);
	for (i = 0; i < 47; i++)
		cgroups[i] = 10 + i % 2;
	pending(47, cgroups);
	for (uint64_t ms = 1; ms < 3; ms++)
		for (i = 1; i <= 4; i++)
			read_at(i, ms * MS, i, 1000 * ms);
	rows = close_rows(2);
	ck_assert_uint_eq(rows[0].rmids, 3);
	ck_assert_uint_eq(rows[0].pending, 47);
	ck_assert(rows[0].occupancy.partial && rows[0].total.partial);
	ck_assert(isinf(rows[0].total.hi));
	ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_PENDING);
	ck_assert_uint_eq(rows[1].pending, 0);
	ck_assert(!rows[1].occupancy.partial && !rows[1].total.partial);
	ck_assert(frame->pending_known);
	ck_assert_uint_eq(frame->pending, 47);
	ck_assert_uint_eq(frame->pending_ns, 5);
	/* and is complete again when they are served */
	pending(0, NULL);
	for (i = 1; i <= 3; i++)
		read_at(i, 3 * MS, i, 9000);
	rows = close_rows(2);
	ck_assert(!rows[0].occupancy.partial && !rows[0].total.partial);
	ck_assert_int_eq(cmt_usage_set_pending(usage, NULL), 0);
	read_at(1, 4 * MS, 1, 9000);
	close_rows(2);
	ck_assert(!frame->pending_known);
	end();
}
END_TEST

/* A container of which nothing is measured is there all the same, and says why. */
START_TEST(test_usage_all_pending)
{
	static const uint64_t cgroups[] = { 11, 12, 11, 0, 10 };
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, "/system.slice/a.service");
	name(11, DOCKER);
	name(12, DOCKER "/nested");
	own(1, 10, 0);
	read_at(1, MS, 5, 0);
	pending(5, cgroups);
	rows = close_rows(2);
	ck_assert_str_eq(rows[0].container->path, "/system.slice/a.service");
	ck_assert_uint_eq(rows[0].pending, 1);
	ck_assert(rows[0].occupancy.known);
	ck_assert_uint_eq(rows[1].kind, CMT_USAGE_OWNER);
	ck_assert_uint_eq(rows[1].owner, CMT_OWNER_CGROUP);
	ck_assert_str_eq(rows[1].container->path, DOCKER);
	ck_assert_uint_eq(rows[1].cgroup_id, 11);
	ck_assert_uint_eq(rows[1].pending, 3);
	ck_assert_uint_eq(rows[1].rmids, 0);
	ck_assert(rows[1].flags & CMT_USAGE_ROW_SEEN);
	ck_assert(!rows[1].occupancy.known && !rows[1].occupancy.partial);
	ck_assert(!rows[1].total.known && isnan(rows[1].total.rate));
	ck_assert_uint_eq(rows[1].why, CMT_USAGE_WHY_PENDING);
	/* measured now */
	own(2, 12, 2);
	read_at(2, 3 * MS, 7, 0);
	rows = close_rows(2);
	ck_assert_str_eq(rows[0].container->path, DOCKER);
	ck_assert_uint_eq(rows[0].pending, 3);
	ck_assert(rows[0].occupancy.known && rows[0].occupancy.partial);
	/* and nothing of it is there any longer */
	pending(0, NULL);
	read_at(1, 5 * MS, 5, 0);
	close_rows(2);
	end();
}
END_TEST

START_TEST(test_usage_cpu_deltas)
{
	struct cmt_record t = tick(2, MS, 1);
	const struct cmt_usage_row *rows;
	struct cmt_record lost = { .type = CMT_REC_LOST, .cpu = 2 };

	begin(CMT_USAGE_BY_CPU);
	own(1, 12, 0);
	memcpy(lost.payload, &(uint64_t){ 5 }, 8);
	add(lost);
	t.domain = 1;
	t.tick.missed = 10;
	t.tick.busy_ns = 1000;
	t.flags = CMT_F_EMULATED;
	add(t);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].missed, 0);
	ck_assert_uint_eq(rows[0].lost, 5);
	ck_assert(frame->emulated);
	ck_assert_uint_eq(frame->lost, 5);
	t.ts = 2 * MS;
	t.tick.missed = 17;
	t.tick.busy_ns = 4000;
	t.flags = CMT_F_PQR_OVERWRITTEN;
	add(t);
	t.ts += 1;
	t.rmid = t.generation = 0;
	add(t);
	t.ts += 1;
	t.rmid = t.generation = 1;
	add(t);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].cpu, 2);
	ck_assert(rows[0].flags & CMT_USAGE_ROW_CPU);
	ck_assert_uint_eq(rows[0].missed, 7);
	ck_assert_uint_eq(frame->missed, 7);
	ck_assert_uint_eq(rows[0].busy_ns, 3000);
	ck_assert_uint_eq(rows[0].lost, 0);
	ck_assert_uint_eq(rows[0].ticks, 3);
	ck_assert_uint_eq(rows[0].busy_ticks, 2);
	ck_assert_uint_eq(rows[0].domain, 1);
	ck_assert_uint_eq(rows[0].rmid, 1);
	ck_assert_uint_eq(rows[0].generation, 1);
	ck_assert_uint_eq(rows[0].pid, 101);
	ck_assert_uint_eq(rows[0].cgroup_id, 12);
	ck_assert_uint_eq(rows[0].why, CMT_USAGE_WHY_OVERWRITTEN);
	ck_assert_uint_eq(frame->sampling_ns, MS);
	ck_assert_uint_eq(frame->nr_cpus, 1);
	ck_assert_uint_eq(frame->busy_ns, 3000);
	ck_assert(!frame->emulated);
	ck_assert_uint_eq(frame->lost, 0);
	ck_assert_uint_eq(frame->lost_ever, 5);
	end();
}
END_TEST

/* CPU scope: a CPU's row has what its RMID holds, and other rows what is left. */
START_TEST(test_usage_cpu_view_has_values)
{
	const struct cmt_usage_row *rows;
	uint64_t sum = 0;
	uint32_t i;

	begin(CMT_USAGE_BY_CPU);
	own_cpu(1, 0);
	own_cpu(2, 1);
	own(3, 12, 0);
	own(OVERFLOW_RMID, 0, CMT_F_OWNER_OVERFLOW);
	add(tick(0, MS, 1));
	add(tick(1, MS, 3));
	read_at(0, MS, 5, 0);
	read_at(1, MS, 100, 0);
	add(sample(1, 1, MS, 20, 0));
	read_at(2, MS, 1000, 0);
	read_at(3, MS, 300, 0);
	read_at(OVERFLOW_RMID, MS, 7, 0);
	rows = close_rows(5);
	for (i = 0; i < 5; i++)
		sum += rows[i].occupancy.last_bytes;
	ck_assert_uint_eq(sum, 1432);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 1000);
	ck_assert_uint_eq(rows[0].occupancy.most_bytes, 1000);
	ck_assert_uint_eq(rows[0].pid, 103);
	ck_assert_uint_eq(rows[0].cpu, 1);
	ck_assert(rows[0].flags & CMT_USAGE_ROW_CPU);
	ck_assert_uint_eq(rows[1].pid, 103);
	ck_assert(!(rows[1].flags & CMT_USAGE_ROW_CPU));
	ck_assert_uint_eq(rows[2].occupancy.last_bytes, 120);
	ck_assert_uint_eq(rows[2].owner, CMT_OWNER_CPU);
	ck_assert_uint_eq(rows[2].occupancy.why & CMT_USAGE_WHY_ENDED, 0);
	ck_assert_int_eq(rows[3].kind, CMT_USAGE_OVERFLOW);
	ck_assert_int_eq(rows[4].kind, CMT_USAGE_UNATTRIBUTED);
	end();
}
END_TEST

/* By CPU, CMT_USAGE_BRIEF changes no value. */
START_TEST(test_usage_cpu_view_of_one_slot)
{
	begin_opts((struct cmt_usage_opts){
		.by = CMT_USAGE_BY_CPU, .interval_ns = MS, .slot_ns = MS,
		.flags = CMT_USAGE_BRIEF,
	});
	own_cpu(1, 0);
	for (uint64_t ms = 1; ms <= 3; ms++) {
		add(tick(0, ms * MS, 1));
		read_at(1, ms * MS, 100 * ms, 0);
	}
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	for (uint64_t ms = 1; ms <= 3; ms++) {
		const struct cmt_usage_occupancy *o;

		ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
		ck_assert_uint_eq(frame->nr_rows, 1);
		o = &cmt_usage_row_at(frame, 0)->occupancy;
		ck_assert(o->known);
		ck_assert_uint_eq(o->last_bytes, 100 * ms);
		ck_assert_uint_eq(o->most_bytes, 100 * ms);
		ck_assert_uint_eq(o->slots, 1);
	}
	end();
}
END_TEST

/* Where no CPU has an RMID, the rows are CPUs alone, and hold nothing. */
START_TEST(test_usage_cpu_view_of_processes)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CPU);
	own(3, 12, 0);
	own(OVERFLOW_RMID, 0, CMT_F_OWNER_OVERFLOW);
	add(tick(1, MS, OVERFLOW_RMID));
	read_at(3, MS, 300, 0);
	rows = close_rows(1);
	ck_assert(!rows[0].occupancy.known);
	ck_assert_int_eq(rows[0].kind, CMT_USAGE_OVERFLOW);
	end();
}
END_TEST

/* Container scope: an RMID is a container, or the overflow RMID. */
START_TEST(test_usage_containers_and_overflow)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own(1, 12, CMT_F_OWNER_CGROUP);
	own(2, 13, CMT_F_OWNER_CGROUP);
	own(OVERFLOW_RMID, 0, CMT_F_OWNER_OVERFLOW);
	read_at(0, MS, 900, 0);
	read_at(1, MS, 10, 0);
	read_at(2, MS, 30, 0);
	read_at(OVERFLOW_RMID, MS, 500, 0);
	add(sample(OVERFLOW_RMID, 1, MS, 7, 0));
	rows = close_rows(4);
	ck_assert_uint_eq(rows[0].cgroup_id, 13);
	ck_assert_uint_eq(rows[0].rmids, 1);
	ck_assert(rows[0].flags & CMT_USAGE_ROW_WHOLE);
	ck_assert_uint_eq(rows[0].nr_children, 0);
	ck_assert_int_eq(rows[2].kind, CMT_USAGE_OVERFLOW);
	ck_assert_uint_eq(rows[2].occupancy.last_bytes, 507);
	ck_assert_int_eq(rows[3].kind, CMT_USAGE_UNATTRIBUTED);
	end();
}
END_TEST

/* A process with a dedicated RMID is still in its container. */
START_TEST(test_usage_attached_process_in_container)
{
	const struct cmt_usage_row *rows, *child;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, DOCKER "/a");
	own(1, 10, CMT_F_OWNER_CGROUP);
	own(2, 11, CMT_F_ATTACHED);
	read_at(1, MS, 100, 0);
	read_at(2, MS, 11, 0);
	read_at(2, 2 * MS, 9, 0);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].occupancy.last_bytes, 109);
	ck_assert_uint_eq(rows[0].nr_children, 1);
	child = cmt_usage_child_at(frame, rows[0].first_child);
	ck_assert_uint_eq(child->pid, 102);
	ck_assert_uint_eq(child->occupancy.last_bytes, 9);
	ck_assert_uint_eq(child->occupancy.most_bytes, 11);
	end();
}
END_TEST

/* A CPU is in no container. */
START_TEST(test_usage_cpus_among_containers)
{
	const struct cmt_usage_row *rows;

	begin(CMT_USAGE_BY_CONTAINER);
	own_cpu(1, 3);
	own_cpu(2, 0);
	own(3, 12, CMT_F_OWNER_CGROUP);
	read_at(1, MS, 100, 0);
	add(sample(1, 1, MS, 1, 0));
	read_at(2, MS, 200, 0);
	read_at(3, MS, 50, 0);
	rows = close_rows(3);
	ck_assert_uint_eq(rows[0].cpu, 0);
	ck_assert_uint_eq(rows[1].cpu, 3);
	ck_assert_uint_eq(rows[1].owner, CMT_OWNER_CPU);
	ck_assert_uint_eq(rows[1].occupancy.last_bytes, 101);
	ck_assert_ptr_null(rows[0].container);
	end();
}
END_TEST

/* Whenever the first record comes, intervals end at multiples of their length. */
START_TEST(test_usage_aligned)
{
	static const uint64_t ends[] = { 10 * MS, 20 * MS, 30 * MS, 34 * MS };

	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_PROCESS, .interval_ns = 10 * MS,
					    .flags = CMT_USAGE_ALIGNED });
	own(1, 12, 0);
	for (uint64_t ms = 3; ms <= 33; ms++)
		read_at(1, ms * MS + 5, ms, 1000 * ms);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
		ck_assert_uint_eq(frame->start_ns, i ? ends[i - 1] : 3 * MS);
		ck_assert_uint_eq(frame->end_ns, ends[i]);
	}
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
	end();
}
END_TEST

/* Intervals follow the time of the records, one frame each. */
START_TEST(test_usage_intervals)
{
	uint64_t start = 0;
	int n, frames = 0;

	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_PROCESS,
					    .interval_ns = 10 * MS });
	own(1, 12, 0);
	ck_assert_int_eq(cmt_usage_timeout(usage), -1);
	for (uint64_t ms = 3; ms <= 103; ms++)
		read_at(1, ms * MS + 5, ms, 1000 * ms);
	ck_assert_int_eq(cmt_usage_timeout(usage), 0);
	while ((n = cmt_usage_next(usage, &frame)) > 0) {
		ck_assert_uint_eq(frame->start_ns,
				  start ? start : 3 * MS);
		start = frame->start_ns + 10 * MS;
		ck_assert_uint_eq(frame->end_ns, start);
		ck_assert_uint_eq(frame->nr_rows, 1);
		ck_assert_uint_eq(cmt_usage_row_at(frame, 0)->occupancy.last_bytes,
				  start / MS - 1);
		frames++;
	}
	/* the last slots are still open */
	ck_assert_int_eq(n, 0);
	ck_assert_int_eq(frames, 9);
	ck_assert_int_eq(cmt_usage_timeout(usage), -1);
	/* of a time without records there is no frame, and the grid stays */
	read_at(1, 1000 * MS, 1, 0);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, 93 * MS);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, 103 * MS);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, 993 * MS);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
	/* and nothing more to flush */
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
	end();
}
END_TEST

/* The interval so far, as often as one likes; it goes on. */
START_TEST(test_usage_peek)
{
	const struct cmt_usage_row *rows;
	uint64_t cgroup = 10;

	begin(CMT_USAGE_BY_CONTAINER);
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	sorted_rows(0);
	own(1, 10, 0);
	pending(1, &cgroup);
	for (uint64_t ms = 1; ms <= 10; ms++) {
		read_at(1, ms * MS, ms, 1000 * ms);
		if (ms < 6)
			continue;
		ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
		rows = sorted_rows(1);
		ck_assert_uint_eq(rows[0].pending, 1);
		ck_assert_uint_eq(rows[0].occupancy.least_bytes, 1);
		ck_assert_uint_lt(rows[0].occupancy.last_bytes, ms);
		ck_assert_uint_eq(frame->end_ns,
				  (rows[0].occupancy.last_bytes + 1) * MS);
	}
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].total.bytes, 9000);
	ck_assert_uint_eq(rows[0].occupancy.mean_bytes, 5);
	ck_assert_uint_eq(frame->nr_slots, 10);
	ck_assert_uint_eq(frame->nr_gaps, 0);
	end();
}
END_TEST

/* Names are kept while a row or a frame has them, and no longer. */
START_TEST(test_usage_names_bounded)
{
	struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .max = 16, .flags = CMT_CONTAINERS_GIVEN,
	};
	struct cmt_containers *containers;
	const struct cmt_usage_row *rows;
	uint64_t id;

	ck_assert_int_eq(cmt_containers_new(&containers, &opts), 0);
	begin_opts((struct cmt_usage_opts){ .interval_ns = 3600000 * MS,
					    .containers = containers });
	ck_assert_ptr_eq(cmt_usage_containers(usage), containers);
	name(5, DOCKER);
	own(1, 5, 0);
	read_at(1, MS, 1, 0);
	rows = close_rows(1);
	for (id = 100; id < 200; id++)
		cmt_containers_lookup(containers, id);
	ck_assert_str_eq(rows[0].container->id, ID);
	add(event(CMT_REC_FREE, 2 * MS, 1, 5, 0));
	for (uint64_t ms = 3; ms < 6; ms++) {
		read_at(0, ms * MS, 1, 0);
		ck_assert_int_eq(cmt_usage_flush(usage), 0);
		ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	}
	for (id = 100; id < 200; id++)
		cmt_containers_lookup(containers, id);
	ck_assert_ptr_null(cmt_containers_find(containers, 5));
	end();
	cmt_containers_free(containers);
}
END_TEST

START_TEST(test_usage_foreign_numbers_skipped)
{
	begin(CMT_USAGE_BY_PROCESS);
	read_at(0, MS, 1, 0);
	read_at(NR_RMIDS, MS, 1, 0);
	add(tick(4, MS, 0));
	close_rows(1);
	ck_assert_uint_eq(frame->dropped, 2);
	end();
}
END_TEST

START_TEST(test_usage_refuses)
{
	struct cmt_usage_opts good = {
		.sz = sizeof(good), .nr_rmids = 4, .nr_cpus = 1,
	}, opts;
	struct cmt_snapshot *bad;

	ck_assert_int_eq(cmt_usage_new(&usage, NULL), -EINVAL);
	opts = good;
	opts.nr_rmids = 0;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	opts = good;
	opts.by = 4;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	opts = good;
	opts.flags = CMT_USAGE_BOUNDED << 1;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	opts = good;
	opts.interval_ns = 999999;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	opts.interval_ns = 3600001 * MS;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	opts = good;
	opts.slot_ns = 1;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	ck_assert_int_eq(cmt_usage_new(&usage, &good), 0);
	ck_assert_int_eq(cmt_usage_wait(usage, 0), -EINVAL);
	ck_assert_int_eq(cmt_usage_refresh(usage, 0), -EINVAL);
	ck_assert_int_eq(cmt_usage_refresh(usage, 4), -EINVAL);
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_PENDING), -EINVAL);
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_NAMES), 0);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
	ck_assert_int_eq(cmt_snapshot_new(&bad, 0, NULL, 1), 0);
	ck_assert_int_eq(cmt_usage_set_pending(usage, bad), -EINVAL);
	cmt_snapshot_free(bad);
	end();
	cmt_usage_free(NULL);
}
END_TEST

/* Many cgroups come and go: what is kept is what is alive. */
START_TEST(test_usage_churn)
{
	begin_opts((struct cmt_usage_opts){ .interval_ns = 10 * MS });
	for (uint32_t i = 1; i <= 20000; i++) {
		uint32_t rmid = 1 + i % 50;
		uint64_t ts = i * MS;
		struct cmt_record record;

		record = event(CMT_REC_ALLOC, ts, rmid, 1000 + i, 0);
		record.generation = i;
		add(record);
		record = sample(rmid, i % 3, ts + 10, i, i);
		record.generation = i;
		add(record);
		record = event(CMT_REC_FREE, ts + 20, rmid, 1000 + i, 0);
		record.generation = i;
		add(record);
		while (cmt_usage_next(usage, &frame) > 0)
			ck_assert_uint_le(frame->nr_rows, 20);
	}
	end();
}
END_TEST

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A tenth of a second: eight RMIDs have another owner in each 2 ms. */
static double reuse(uint64_t tenth)
{
	double begin = cpu_seconds();

	for (uint64_t ms = 100 * tenth; ms < 100 * tenth + 100; ms++) {
		for (uint32_t rmid = 1; rmid <= 8; rmid++) {
			struct cmt_record record = event(CMT_REC_ALLOC, ms * MS, rmid, 10, 0);

			record.generation = 1 + (uint32_t)ms / 2;
			if (ms % 2 == 0)
				add(record);
			record = sample(rmid, 0, ms * MS + 1000, 64, ms % 2);
			record.generation = 1 + (uint32_t)ms / 2;
			add(record);
			record = event(CMT_REC_FREE, ms * MS + 2000, rmid, 10, 0);
			record.generation = 1 + (uint32_t)ms / 2;
			if (ms % 2)
				add(record);
		}
	}
	return cpu_seconds() - begin;
}

/* Owners that ended stay until the interval ends, and cost nothing until then. */
START_TEST(test_usage_reuse_in_long_interval)
{
	double early = INFINITY, late = INFINITY;
	uint64_t tenth;

	begin(CMT_USAGE_BY_DOMAIN);
	for (tenth = 0; tenth < 30; tenth++) {
		double took = reuse(tenth);

		if (tenth < 5)
			early = fmin(early, took);
		else if (tenth >= 25)
			late = fmin(late, took);
	}
	ck_assert_msg(late < 3 * early, "%.1f ms early, %.1f ms late", early * 1e3, late * 1e3);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage");
	TCase *odd = tcase_create("test_usage_steady_until_odd");
	TCase *lost = tcase_create("test_usage_first_reading_without_alloc");

	UNIT_CASE(suite, test_usage_sums_container);
	UNIT_CASE(suite, test_usage_container_has_no_process);
	UNIT_CASE(suite, test_usage_spread);
	UNIT_CASE(suite, test_usage_spread_of_no_slot);
	UNIT_CASE(suite, test_usage_bandwidth_over_actual_time);
	UNIT_CASE(suite, test_usage_bounds);
	UNIT_CASE(suite, test_usage_short_life_spreads_over_interval);
	UNIT_CASE(suite, test_usage_first_reading_counts);
	UNIT_CASE(suite, test_usage_first_reading_later);
	UNIT_CASE(suite, test_usage_lost_owner_counts_once);
	UNIT_CASE(suite, test_usage_sync_keeps_owners_before);
	UNIT_CASE(suite, test_usage_sync_impossible);
	tcase_add_loop_test(lost, test_usage_first_reading_without_alloc, 0, 2);
	tcase_add_loop_test(lost, test_usage_first_reading_alloc_late, 0, 2);
	suite_add_tcase(suite, lost);
	UNIT_CASE(suite, test_usage_first_reading_too_late);
	UNIT_CASE(suite, test_usage_first_reading_rebased);
	UNIT_CASE(suite, test_usage_reused_rmid_counts_once);
	UNIT_CASE(suite, test_usage_failed_reading_is_no_zero);
	UNIT_CASE(suite, test_usage_coverage);
	UNIT_CASE(suite, test_usage_coverage_without_counters);
	UNIT_CASE(suite, test_usage_residue_not_read);
	UNIT_CASE(suite, test_usage_residue_of_domains);
	UNIT_CASE(suite, test_usage_residue_of_containers);
	UNIT_CASE(suite, test_usage_residue_without_occupancy);
	UNIT_CASE(suite, test_usage_carried);
	UNIT_CASE(suite, test_usage_carried_in_a_sum);
	UNIT_CASE(suite, test_usage_carried_without_a_visit);
	UNIT_CASE(suite, test_usage_age_of_a_value);
	UNIT_CASE(suite, test_usage_resctrl);
	UNIT_CASE(suite, test_usage_kernel);
	UNIT_CASE(suite, test_usage_rebase_is_a_gap);
	UNIT_CASE(suite, test_usage_first_rebase_of_old_owner_is_no_gap);
	UNIT_CASE(suite, test_usage_missing_reading_breaks_the_base);
	tcase_add_loop_test(odd, test_usage_steady_until_odd, 0, 4);
	suite_add_tcase(suite, odd);
	UNIT_CASE(suite, test_usage_steady_until_renamed);
	UNIT_CASE(suite, test_usage_steady_goes_on);
	UNIT_CASE(suite, test_usage_unattributed_and_unknown);
	UNIT_CASE(suite, test_usage_hostile_names);
	UNIT_CASE(suite, test_usage_same_id_twice);
	UNIT_CASE(suite, test_usage_same_ids);
	UNIT_CASE(suite, test_usage_same_name_of_a_user);
	UNIT_CASE(suite, test_usage_overhead);
	UNIT_CASE(suite, test_usage_same_name_twice);
	UNIT_CASE(suite, test_usage_late_name_joins);
	UNIT_CASE(suite, test_usage_pending_processes);
	UNIT_CASE(suite, test_usage_all_pending);
	UNIT_CASE(suite, test_usage_cpu_deltas);
	UNIT_CASE(suite, test_usage_cpu_view_has_values);
	UNIT_CASE(suite, test_usage_cpu_view_of_one_slot);
	UNIT_CASE(suite, test_usage_cpu_view_of_processes);
	UNIT_CASE(suite, test_usage_containers_and_overflow);
	UNIT_CASE(suite, test_usage_attached_process_in_container);
	UNIT_CASE(suite, test_usage_cpus_among_containers);
	UNIT_CASE(suite, test_usage_aligned);
	UNIT_CASE(suite, test_usage_intervals);
	UNIT_CASE(suite, test_usage_peek);
	UNIT_CASE(suite, test_usage_names_bounded);
	UNIT_CASE(suite, test_usage_foreign_numbers_skipped);
	UNIT_CASE(suite, test_usage_refuses);
	UNIT_CASE(suite, test_usage_churn);
	UNIT_CASE(suite, test_usage_reuse_in_long_interval);
	return unit_run(suite);
}
