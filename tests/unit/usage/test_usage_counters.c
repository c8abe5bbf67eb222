// SPDX-License-Identifier: GPL-2.0-or-later
/* What the processor counted, from records to rows, without a device. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MS 1000000ULL
#define NR_RMIDS 128
#define ALL (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | \
	     CMT_F_LLC_REFERENCES)

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
#define DOCKER "/docker/" ID

static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static void begin(uint32_t by)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = by, .interval_ns = 3600000 * MS,
		.flags = by == CMT_USAGE_BY_CONTAINER ? CMT_USAGE_CHILDREN : 0,
		.nr_rmids = NR_RMIDS, .nr_cpus = 4, .unit_bytes = 64,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
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

static void name(uint64_t cgroup_id, const char *path)
{
	struct cmt_container container = {
		.sz = sizeof(container), .cgroup_id = cgroup_id, .path = path,
	};

	ck_assert_int_eq(cmt_containers_put(cmt_usage_containers(usage),
					    &container), 0);
}

static void event(uint16_t type, uint64_t ts, uint32_t rmid,
		  uint32_t generation, uint64_t cgroup_id, uint32_t flags)
{
	struct cmt_record record = {
		.ts = ts, .type = type, .flags = flags, .rmid = rmid,
		.generation = generation,
	};

	record.owner.cgroup_id = cgroup_id;
	if (!flags)
		record.tgid = 100 * generation + rmid;
	add(record);
}

static void own(uint32_t rmid, uint64_t cgroup_id, uint32_t flags)
{
	event(CMT_REC_EXISTING, 1, rmid, 1, cgroup_id, flags);
}

static void read_at(uint32_t rmid, uint64_t ts)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_SAMPLE, .rmid = rmid,
		.flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
		.generation = rmid ? 1 : 0, .sample.occupancy_bytes = 100,
	});
}

static void tick(uint32_t cpu, uint64_t ts)
{
	add((struct cmt_record){
		.ts = ts, .type = CMT_REC_TICK, .cpu = (uint16_t)cpu,
		.interval_ns = MS,
	});
}

/* 1,000 cycles a microsecond, half as many instructions, 10 misses in 1,000. */
static struct cmt_record perf(uint32_t cpu, uint64_t ts, uint32_t rmid,
			      uint32_t ran_us)
{
	return (struct cmt_record){
		.ts = ts, .type = CMT_REC_PERF, .cpu = (uint16_t)cpu,
		.flags = ALL, .rmid = rmid, .generation = rmid ? 1 : 0,
		.domain = cpu / 2, .ran_ns = ran_us * 1000,
		.perf.cycles = ran_us * 1000ULL,
		.perf.instructions = ran_us * 500ULL,
		.perf.llc_misses = ran_us * 5ULL,
		.perf.llc_references = ran_us * 8ULL,
	};
}

static void ran(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t ran_us)
{
	add(perf(cpu, ts, rmid, ran_us));
}

static void close_frame(uint32_t nr_rows)
{
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->nr_rows, nr_rows);
}

/* The row of a kind; of owners, of an RMID (by process), or 0: the only one. */
static const struct cmt_usage_row *row_of(enum cmt_usage_kind kind, uint32_t rmid)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (row->kind == kind && (!rmid || row->rmid == rmid))
			return row;
	}
	ck_abort_msg("no row of kind %u, RMID %u", (unsigned int)kind, rmid);
	return NULL;
}

static void assert_counted(const struct cmt_usage_row *row, uint32_t ran_us,
			   double share)
{
	const struct cmt_usage_counters *c = &row->counters;

	ck_assert(c->known && !c->partial);
	ck_assert_uint_eq(c->why, 0);
	ck_assert_uint_eq(c->values, ALL);
	ck_assert_uint_eq(c->bounds, 0);
	ck_assert_uint_eq(c->ran_ns, ran_us * 1000ULL);
	ck_assert_uint_eq(c->cycles, ran_us * 1000ULL);
	ck_assert_uint_eq(c->instructions, ran_us * 500ULL);
	ck_assert_uint_eq(c->llc_misses, ran_us * 5ULL);
	ck_assert_uint_eq(c->llc_references, ran_us * 8ULL);
	ck_assert_double_eq_tol(c->cpu_share, share, 1e-9);
	if (ran_us) {
		ck_assert_double_eq_tol(c->ipc, 0.5, 1e-9);
		ck_assert_double_eq_tol(c->mpki, 10, 1e-9);
	} else {
		ck_assert(isnan(c->ipc) && isnan(c->mpki));
	}
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(c->reserved[i], 0);
}

/* All CPUs add up; the time is that of the records, from the first one's begin. */
START_TEST(test_by_process)
{
	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	own(2, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		read_at(2, ms * MS);
		read_at(0, ms * MS);
		ran(0, ms * MS, 1, 1000);
		ran(1, ms * MS, 1, 500);
		ran(1, ms * MS, 0, 500);
	}
	close_frame(3);
	ck_assert_uint_eq(frame->counters, ALL);
	ck_assert_uint_eq(frame->counted_ns, 10 * MS);
	assert_counted(row_of(CMT_USAGE_OWNER, 1), 15000, 1.5);
	/* it did not run, and that is known */
	assert_counted(row_of(CMT_USAGE_OWNER, 2), 0, 0);
	/* no idle time is a use of a CPU */
	ck_assert_uint_eq(row_of(CMT_USAGE_UNATTRIBUTED, 0)->counters.ran_ns,
			  5 * MS);
	ck_assert(isnan(row_of(CMT_USAGE_UNATTRIBUTED, 0)->counters.cpu_share));
	ck_assert_double_eq_tol(row_of(CMT_USAGE_UNATTRIBUTED, 0)->counters.ipc,
				0.5, 1e-9);
	/* the next interval begins where this one ends */
	ran(0, 24 * MS, 1, 1000);
	read_at(1, 24 * MS);
	close_frame(3);
	ck_assert_uint_eq(frame->counted_ns, 5 * MS);
	assert_counted(row_of(CMT_USAGE_OWNER, 1), 1000, 0.2);
}
END_TEST

START_TEST(test_by_container)
{
	const struct cmt_usage_row *row, *child;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(11, DOCKER "/nested");
	own(1, 10, 0);
	own(2, 11, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		read_at(2, ms * MS);
		ran(0, ms * MS, 1, 750);
		ran(0, ms * MS, 2, 250);
	}
	close_frame(1);
	row = row_of(CMT_USAGE_OWNER, 0);
	ck_assert_uint_eq(frame->counted_ns, 9 * MS + 750000);
	assert_counted(row, 10000, 10 / 9.75);
	ck_assert_uint_eq(row->nr_children, 2);
	for (uint32_t i = 0; i < 2; i++) {
		child = cmt_usage_child_at(frame, row->first_child + i);
		ck_assert_uint_eq(child->counters.ran_ns,
				  child->rmid == 1 ? 7500000 : 2500000);
	}
}
END_TEST

/* An interval so far, twice, and whole: nothing counts twice. */
START_TEST(test_peek)
{
	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	own(1, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		ran(0, ms * MS, 1, 1000);
	}
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
		assert_counted(row_of(CMT_USAGE_OWNER, 0), 6000, 1);
	}
	close_frame(1);
	assert_counted(row_of(CMT_USAGE_OWNER, 0), 10000, 1);
}
END_TEST

START_TEST(test_by_cpu)
{
	begin(CMT_USAGE_BY_CPU);
	own(100, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			ran(cpu, ms * MS, 100, cpu ? 250 : 1000);
			ran(cpu, ms * MS, 0, cpu ? 750 : 0);
			tick(cpu, ms * MS);
		}
	close_frame(2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		/* all that the CPU counted, and the time of owners */
		ck_assert_uint_eq(row->counters.cycles, 10000000);
		ck_assert_double_eq_tol(row->counters.cpu_share,
					row->cpu ? 0.25 : 1, 1e-9);
	}
}
END_TEST

START_TEST(test_by_domain)
{
	begin(CMT_USAGE_BY_DOMAIN);
	own(100, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++)
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			if (!cpu)
				read_at(100, ms * MS);
			ran(cpu, ms * MS, 100, cpu < 3 ? 1000 : 0);
			ran(cpu, ms * MS, 0, cpu < 3 ? 0 : 1000);
		}
	/* domain 1 has not been read */
	close_frame(2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		ck_assert_uint_eq(row->counters.cycles, 20000000);
		ck_assert_double_eq_tol(row->counters.cpu_share,
					row->domain ? 1 : 2, 1e-9);
	}
}
END_TEST

/* An owner that has no reading is a row all the same, and spoils no other's. */
START_TEST(test_owner_without_reading)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(12, "/system.slice/a.service");
	own(1, 10, 0);
	own(2, 10, 0);
	own(3, 12, CMT_F_OWNER_CGROUP);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		ran(0, ms * MS, 1, 100);
		ran(1, ms * MS, 2, 200);
		ran(2, ms * MS, 3, 1000);
	}
	close_frame(2);
	for (uint32_t i = 0; i < 2; i++) {
		row = cmt_usage_row_at(frame, i);
		if (row->container->id[0]) {
			assert_counted(row, 3000, 0.3);
			ck_assert(row->occupancy.known);
			ck_assert(!row->occupancy.partial);
			ck_assert_uint_eq(row->rmids, 2);
			ck_assert_uint_eq(row->nr_children, 2);
		} else {
			assert_counted(row, 10000, 1);
			ck_assert(!row->occupancy.known && !row->total.known);
			ck_assert_uint_eq(row->occupancy.why,
					  CMT_USAGE_WHY_OLD);
			ck_assert_uint_eq(row->rmids, 1);
		}
	}
}
END_TEST

/* The CPU's tick comes after the FREE, and the next owner's ALLOC. */
START_TEST(test_freed_owner)
{
	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(0, 10 * MS);
	read_at(1, 10 * MS);
	event(CMT_REC_FREE, 11 * MS, 1, 1, 10, 0);
	event(CMT_REC_ALLOC, 14 * MS, 1, 2, 10, 0);
	read_at(0, 15 * MS);
	close_frame(2);
	ck_assert(!row_of(CMT_USAGE_OWNER, 1)->counters.known);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->counters.why,
			  CMT_USAGE_WHY_NOT_COUNTED);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->why &
			  CMT_USAGE_WHY_NOT_COUNTED, 0);
	ran(0, 20 * MS, 1, 1000);
	read_at(0, 20 * MS);
	close_frame(2);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->pid, 101);
	ck_assert(row_of(CMT_USAGE_OWNER, 1)->why & CMT_USAGE_WHY_ENDED);
	assert_counted(row_of(CMT_USAGE_OWNER, 1), 1000, 1);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->rmids, 0);
}
END_TEST

/* A value without its flag is none; where some records have it, a lower bound. */
/* The cgroup that an owner moves to is looked up while the owner runs there. */
START_TEST(test_moved_owner)
{
	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	ran(0, 10 * MS, 1, 100);
	event(CMT_REC_UPDATE, 11 * MS, 1, 1, 12, 0);
	ran(0, 12 * MS, 1, 100);
	for (uint64_t ms = 13; ms < 30; ms++)
		ran(0, ms * MS, 0, 100);
	ck_assert_ptr_nonnull(cmt_containers_find(cmt_usage_containers(usage), 10));
	ck_assert_ptr_nonnull(cmt_containers_find(cmt_usage_containers(usage), 12));
	close_frame(2);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->cgroup_id, 12);
}
END_TEST

START_TEST(test_values)
{
	struct cmt_record record;
	const struct cmt_usage_counters *c;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	own(2, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		record = perf(0, ms * MS, 1, 1000);
		record.flags = CMT_F_CYCLES |
			       (ms % 2 ? CMT_F_INSTRUCTIONS : 0);
		add(record);
		record = perf(1, ms * MS, 2, 1000);
		record.flags = 0;
		add(record);
	}
	close_frame(2);
	ck_assert_uint_eq(frame->counters, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	c = &row_of(CMT_USAGE_OWNER, 1)->counters;
	ck_assert(c->known && c->partial);
	ck_assert_uint_eq(c->why, CMT_USAGE_WHY_NOT_COUNTED);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->why &
			  CMT_USAGE_WHY_NOT_COUNTED, 0);
	ck_assert_uint_eq(c->values, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(c->bounds, CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(c->cycles, 10000000);
	ck_assert_uint_eq(c->instructions, 2500000);
	ck_assert_uint_eq(c->llc_misses, 0);
	/* of the records that have both */
	ck_assert_double_eq_tol(c->ipc, 0.5, 1e-9);
	ck_assert(isnan(c->mpki));
	ck_assert_double_eq_tol(c->cpu_share, 1, 1e-9);
	/* time is all that is known */
	c = &row_of(CMT_USAGE_OWNER, 2)->counters;
	ck_assert(c->known && !c->partial);
	ck_assert_uint_eq(c->values, 0);
	ck_assert_uint_eq(c->ran_ns, 10 * MS);
	ck_assert_uint_eq(c->cycles, 0);
	ck_assert(isnan(c->ipc));
}
END_TEST

/* Of a container, what is counted of some of its processes alone is at least so much. */
START_TEST(test_values_of_some)
{
	const struct cmt_usage_counters *c;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	for (uint32_t rmid = 1; rmid <= 3; rmid++) {
		struct cmt_record record = perf(0, 10 * MS + rmid * 1000, rmid, 1000);

		own(rmid, 10, 0);
		read_at(rmid, 10 * MS);
		record.flags = rmid == 1 ? CMT_F_CYCLES : rmid == 2 ? CMT_F_INSTRUCTIONS : 0;
		add(record);
	}
	close_frame(1);
	c = &row_of(CMT_USAGE_OWNER, 0)->counters;
	ck_assert_uint_eq(c->values, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(c->bounds, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(c->cycles, 1000000);
	ck_assert_uint_eq(c->instructions, 500000);
	ck_assert_uint_eq(c->ran_ns, 3 * MS);
}
END_TEST

static void lose(uint64_t ts)
{
	const uint64_t gap[4] = { 3, ts, ts + 1, 0 };
	struct cmt_record record = { .ts = ts, .type = CMT_REC_LOST };

	memcpy(record.payload, gap, sizeof(gap));
	add(record);
}

START_TEST(test_lost_records)
{
	const struct cmt_usage_row *row;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		ran(0, ms * MS, 1, 500);
		if (ms == 15)
			lose(ms * MS);
	}
	close_frame(1);
	row = row_of(CMT_USAGE_OWNER, 1);
	ck_assert(row->counters.known && row->counters.partial);
	ck_assert_uint_eq(row->counters.why, CMT_USAGE_WHY_GAP);
	ck_assert_uint_eq(row->counters.bounds, ALL);
	ck_assert(row->why & CMT_USAGE_WHY_GAP);
	ran(0, 20 * MS, 1, 500);
	close_frame(1);
	assert_counted(row_of(CMT_USAGE_OWNER, 1), 500, 0.5);
}
END_TEST

/* More than a slot takes: what is left is a lower bound. */
START_TEST(test_dropped_records)
{
	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	for (int i = 0; i < 4 * 256 + 1; i++)
		ran(0, 10 * MS, 1, 1);
	close_frame(1);
	ck_assert_uint_eq(frame->dropped, 1);
	ck_assert(row_of(CMT_USAGE_OWNER, 1)->counters.partial);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 1)->counters.ran_ns,
			  1024 * 1000);
}
END_TEST

/* A part of a container runs with the overflow RMID. */
START_TEST(test_pending)
{
	struct cmt_record records[2] = {
		{ .type = CMT_REC_ALLOC_FAIL, .owner.cgroup_id = 10 },
		{ .type = CMT_REC_ALLOC_FAIL, .owner.cgroup_id = 13 },
	};
	struct cmt_snapshot *pending;

	begin(CMT_USAGE_BY_CONTAINER);
	name(10, DOCKER);
	name(13, "/system.slice/b.service");
	own(1, 10, 0);
	ck_assert_int_eq(cmt_snapshot_new(&pending, MS, records, 2), 0);
	ck_assert_int_eq(cmt_usage_set_pending(usage, pending), 0);
	cmt_snapshot_free(pending);
	read_at(1, 10 * MS);
	ran(0, 10 * MS, 1, 500);
	close_frame(2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);
		const struct cmt_usage_counters *c = &row->counters;

		if (!row->container->id[0]) {
			ck_assert(!c->known && isnan(c->cpu_share));
			continue;
		}
		ck_assert(c->known && c->partial);
		ck_assert_uint_eq(c->why, CMT_USAGE_WHY_PENDING);
	}
}
END_TEST

/* A stream that makes owners up has a row for each RMID, and no more memory. */
START_TEST(test_unknown_owners)
{
	struct cmt_record record = perf(0, 10 * MS, 5, 1);

	begin(CMT_USAGE_BY_PROCESS);
	for (uint32_t i = 1; i < 1000; i++) {
		record.generation = i;
		record.ts = 10 * MS + i * 10000;
		add(record);
	}
	close_frame(1);
	ck_assert_uint_eq(row_of(CMT_USAGE_UNKNOWN, 5)->counters.ran_ns,
			  999 * 1000);
}
END_TEST

/* One of several unknown owners is known later, and has no counts of the others. */
START_TEST(test_unknown_owner_is_known_later)
{
	struct cmt_record record = perf(0, 10 * MS, 3, 1000);

	begin(CMT_USAGE_BY_PROCESS);
	record.generation = 8;
	add(record);
	record = perf(1, 10 * MS, 3, 500);
	record.generation = 7;
	add(record);
	event(CMT_REC_UPDATE, 12 * MS, 3, 8, 10, 0);
	record = perf(0, 13 * MS, 3, 200);
	record.generation = 8;
	add(record);
	close_frame(2);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 3)->counters.ran_ns, 200 * 1000);
	ck_assert_uint_eq(row_of(CMT_USAGE_UNKNOWN, 3)->counters.ran_ns, 1500 * 1000);
}
END_TEST

/* The only unknown owner of an RMID is known later, and has all counts. */
START_TEST(test_only_unknown_owner_is_known_later)
{
	begin(CMT_USAGE_BY_PROCESS);
	ran(0, 10 * MS, 3, 1000);
	event(CMT_REC_UPDATE, 12 * MS, 3, 1, 10, 0);
	ran(0, 13 * MS, 3, 200);
	close_frame(1);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 3)->counters.ran_ns, 1200 * 1000);
}
END_TEST

/* A stream that makes domains up has 64 of them, and records of others are counted. */
START_TEST(test_domains_bounded)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER,
		.interval_ns = 3600000 * MS, .flags = CMT_USAGE_DOMAINS,
		.nr_rmids = NR_RMIDS, .nr_cpus = 4, .unit_bytes = 64,
	};
	struct cmt_record record;

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	name(10, DOCKER);
	own(1, 10, 0);
	for (uint32_t i = 1; i <= 1024; i++) {
		record = perf(0, 10 * MS, 1, 1);
		record.domain = i;
		add(record);
	}
	close_frame(1);
	ck_assert_uint_eq(frame->dropped, 1024 - 64);
	ck_assert_uint_eq(frame->nr_children, 64);
	ck_assert_uint_eq(frame->nr_domains, 64);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 0)->counters.ran_ns, 64 * 1000);
	ck_assert(row_of(CMT_USAGE_OWNER, 0)->counters.partial);
	/* of another domain, and of one of the 64 */
	read_at(1, 20 * MS);
	read_at(1, 20 * MS + 1);
	ran(0, 20 * MS, 1, 1);
	record = perf(0, 20 * MS, 1, 1);
	record.domain = 64;
	add(record);
	close_frame(1);
	ck_assert_uint_eq(frame->dropped, 3);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 0)->counters.ran_ns, 1000);
}
END_TEST

/* As perf(), of tasks that waited, too. */
static void waited(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t ran_us,
		   uint32_t waited_us)
{
	struct cmt_record record = perf(cpu, ts, rmid, ran_us);

	record.flags |= CMT_F_WAITED;
	record.perf.waited_ns = waited_us * 1000ULL;
	add(record);
}

static void assert_waited(const struct cmt_usage_row *row, uint32_t waited_us, double share)
{
	ck_assert(row->counters.values & CMT_F_WAITED);
	ck_assert(!(row->counters.bounds & CMT_F_WAITED));
	ck_assert_uint_eq(row->counters.waited_ns, waited_us * 1000ULL);
	ck_assert_double_eq_tol(row->counters.wait_share, share, 1e-9);
}

/* Two owners on CPU 0; one of them also alone on CPU 2, which has kernel threads. */
static void both_wait(void)
{
	own(1, 10, 0);
	own(2, 11, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		read_at(1, ms * MS);
		read_at(2, ms * MS);
		waited(0, ms * MS, 1, 600, 400);
		waited(0, ms * MS, 2, 400, 600);
		waited(2, ms * MS, 2, 1000, 0);
		waited(2, ms * MS, 0, 0, 10);
		tick(0, ms * MS);
		tick(2, ms * MS);
	}
}

START_TEST(test_waited_by_process)
{
	begin(CMT_USAGE_BY_PROCESS);
	both_wait();
	close_frame(3);
	ck_assert_uint_eq(frame->counters, ALL | CMT_F_WAITED);
	assert_waited(row_of(CMT_USAGE_OWNER, 1), 4000, 0.4);
	assert_waited(row_of(CMT_USAGE_OWNER, 2), 6000, 0.6);
	ck_assert_uint_eq(frame->nr_waits, 0);
}
END_TEST

START_TEST(test_waited_by_cpu_and_domain)
{
	begin(CMT_USAGE_BY_CPU);
	both_wait();
	close_frame(2);
	assert_waited(cmt_usage_row_at(frame, 0), 10000, 1);
	assert_waited(cmt_usage_row_at(frame, 1), 100, 0.01);
	teardown();
	begin(CMT_USAGE_BY_DOMAIN);
	both_wait();
	close_frame(2);
	assert_waited(cmt_usage_row_at(frame, 0), 10000, 1);
	assert_waited(cmt_usage_row_at(frame, 1), 100, 0.01);
}
END_TEST

/* Not asked for, and asked for in the middle of the interval */
START_TEST(test_waited_partly_known)
{
	const struct cmt_usage_counters *c;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(1, 10 * MS);
	ran(0, 10 * MS, 1, 1000);
	close_frame(1);
	c = &row_of(CMT_USAGE_OWNER, 1)->counters;
	ck_assert(!(c->values & CMT_F_WAITED) && isnan(c->wait_share));
	ck_assert_uint_eq(c->why, 0);
	read_at(1, 11 * MS);
	ran(0, 11 * MS, 1, 1000);
	waited(0, 12 * MS, 1, 1000, 500);
	close_frame(1);
	c = &row_of(CMT_USAGE_OWNER, 1)->counters;
	ck_assert(c->values & c->bounds & CMT_F_WAITED);
	ck_assert_uint_eq(c->waited_ns, 500000);
}
END_TEST

/* An owner that waits and does not run has no record of the time before. */
START_TEST(test_waited_from_the_middle)
{
	const struct cmt_usage_counters *c;

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	own(2, 11, 0);
	read_at(1, 10 * MS);
	read_at(2, 10 * MS);
	ran(0, 10 * MS, 1, 1000);
	waited(0, 11 * MS, 1, 1000, 500);
	close_frame(2);
	c = &row_of(CMT_USAGE_OWNER, 2)->counters;
	ck_assert_uint_eq(c->values & CMT_F_WAITED, CMT_F_WAITED);
	ck_assert_uint_eq(c->bounds, CMT_F_WAITED);
	ck_assert(c->partial);
	read_at(1, 12 * MS);
	read_at(2, 12 * MS);
	waited(0, 12 * MS, 1, 1000, 500);
	close_frame(2);
	ck_assert_uint_eq(row_of(CMT_USAGE_OWNER, 2)->counters.bounds, 0);
	assert_waited(row_of(CMT_USAGE_OWNER, 2), 0, 0);
}
END_TEST

START_TEST(test_waited_and_quota)
{
	struct cmt_record record = perf(0, 10 * MS, 1, 200);

	begin(CMT_USAGE_BY_PROCESS);
	own(1, 10, 0);
	read_at(1, 10 * MS);
	record.flags |= CMT_F_WAITED | CMT_F_WAIT_QUOTA;
	add(record);
	waited(0, 11 * MS, 1, 1000, 0);
	close_frame(1);
	ck_assert(row_of(CMT_USAGE_OWNER, 1)->counters.quota);
	assert_waited(row_of(CMT_USAGE_OWNER, 1), 0, 0);
	waited(0, 12 * MS, 1, 1000, 0);
	close_frame(1);
	ck_assert(!row_of(CMT_USAGE_OWNER, 1)->counters.quota);
}
END_TEST

/* What row @row of the frame waited while row @by ran. */
static uint64_t part(const struct cmt_usage_row *row, const struct cmt_usage_row *by)
{
	for (uint32_t i = 0; i < frame->nr_waits; i++) {
		const struct cmt_usage_wait_part *p = cmt_usage_wait_part_at(frame, i);

		if (cmt_usage_row_at(frame, p->row) == row &&
		    p->by != CMT_USAGE_WAIT_UNKNOWN && cmt_usage_row_at(frame, p->by) == by)
			return p->ns;
	}
	return 0;
}

static void assert_parts_add_up(void)
{
	uint64_t all = 0, parts = 0;

	for (uint32_t i = 0; i < frame->nr_rows; i++)
		all += cmt_usage_row_at(frame, i)->counters.waited_ns;
	for (uint32_t i = 0; i < frame->nr_waits; i++)
		parts += cmt_usage_wait_part_at(frame, i)->ns;
	ck_assert_uint_eq(parts, all);
}

/* RMIDs 1 and 2 are of one container, whose tasks waited for each other, and for RMID 3. */
START_TEST(test_waited_for_whom)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER,
		.interval_ns = 3600000 * MS, .flags = CMT_USAGE_WAITS,
		.nr_rmids = NR_RMIDS, .nr_cpus = 4, .unit_bytes = 64,
	};
	const struct cmt_usage_row *docker, *other;

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	name(10, DOCKER);
	name(11, DOCKER "/nested");
	name(12, "/system.slice/other.service");
	own(1, 10, 0);
	own(2, 11, 0);
	own(3, 12, 0);
	for (uint64_t ms = 10; ms < 20; ms++) {
		for (uint32_t rmid = 1; rmid <= 3; rmid++)
			read_at(rmid, ms * MS);
		waited(0, ms * MS, 1, 200, 500);
		waited(0, ms * MS, 2, 300, 100);
		waited(0, ms * MS, 3, 500, 0);
		waited(1, ms * MS, 3, 1000, 0);
	}
	close_frame(2);
	docker = cmt_usage_row_at(frame, 0);
	other = cmt_usage_row_at(frame, 1);
	if (docker->cgroup_id == 12) {
		other = docker;
		docker = cmt_usage_row_at(frame, 1);
	}
	assert_waited(docker, 6000, 6 / 10.0);
	ck_assert_uint_eq(frame->nr_waits, 2);
	/*
	 * RMID 1 waited no longer than the others ran, and so did RMID 2: 500 us by parts of
	 * 500 and 300, and 100 us by parts of 500 and 200.
	 */
	ck_assert_uint_eq(part(docker, other) / 1000, 10 * (500 * 5 / 8.0 + 100 * 5 / 7.0));
	ck_assert_uint_eq(part(docker, docker) + part(docker, other), 6 * MS);
	assert_parts_add_up();
	/* the next interval begins anew */
	waited(0, 20 * MS, 3, 500, 500);
	close_frame(2);
	ck_assert_uint_eq(frame->nr_waits, 1);
	assert_parts_add_up();
}
END_TEST

START_TEST(test_refuses)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .nr_rmids = 8, .nr_cpus = 1,
		.counters = CMT_F_CYCLES | CMT_F_ERROR,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_counters");
	TCase *tcase = tcase_create("usage_counters");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, test_by_process);
	tcase_add_test(tcase, test_by_container);
	tcase_add_test(tcase, test_peek);
	tcase_add_test(tcase, test_by_cpu);
	tcase_add_test(tcase, test_by_domain);
	tcase_add_test(tcase, test_owner_without_reading);
	tcase_add_test(tcase, test_freed_owner);
	tcase_add_test(tcase, test_moved_owner);
	tcase_add_test(tcase, test_values);
	tcase_add_test(tcase, test_values_of_some);
	tcase_add_test(tcase, test_lost_records);
	tcase_add_test(tcase, test_dropped_records);
	tcase_add_test(tcase, test_pending);
	tcase_add_test(tcase, test_unknown_owners);
	tcase_add_test(tcase, test_unknown_owner_is_known_later);
	tcase_add_test(tcase, test_only_unknown_owner_is_known_later);
	tcase_add_test(tcase, test_domains_bounded);
	tcase_add_test(tcase, test_waited_by_process);
	tcase_add_test(tcase, test_waited_by_cpu_and_domain);
	tcase_add_test(tcase, test_waited_partly_known);
	tcase_add_test(tcase, test_waited_from_the_middle);
	tcase_add_test(tcase, test_waited_and_quota);
	tcase_add_test(tcase, test_waited_for_whom);
	tcase_add_test(tcase, test_refuses);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
