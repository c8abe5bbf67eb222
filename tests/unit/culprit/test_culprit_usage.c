// SPDX-License-Identifier: GPL-2.0-or-later
/* From records to verdicts, through a usage. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <string.h>

#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define VALUES	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define COUNTED	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES)
#define ONSET	400	/* ms */
#define END	460

enum { VICTIM = 1, QUIET, STREAMER };	/* RMIDs; cgroups are 10 times as much */

static struct cmt_usage *usage;
static struct cmt_culprit *culprit;
static const struct cmt_usage_frame *frame;
static struct cmt_culprit_verdict verdict;	/* the first with a suspect */
static uint32_t accused;
static uint64_t moved[4][2];			/* by RMID and domain */
static uint32_t counters;			/* what PERF records have */

static void own(uint32_t rmid, uint64_t cgroup_id, uint32_t flags)
{
	struct cmt_record record = {
		.ts = 1, .type = CMT_REC_EXISTING, .flags = flags,
		.rmid = rmid, .generation = 1,
	};

	record.owner.cgroup_id = cgroup_id;
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static void begin_opts(struct cmt_usage_opts opts)
{
	const struct cmt_culprit_opts culprit_opts = {
		.sz = sizeof(culprit_opts),
	};

	opts.sz = sizeof(opts);
	opts.nr_rmids = 16;
	opts.nr_cpus = 2;
	opts.interval_ns = opts.interval_ns ? opts.interval_ns : MS;
	memset(moved, 0, sizeof(moved));
	memset(&verdict, 0, sizeof(verdict));
	accused = 0;
	counters = COUNTED;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &culprit_opts), 0);
	for (uint32_t rmid = VICTIM; rmid <= STREAMER; rmid++)
		own(rmid, 10 * rmid, CMT_F_OWNER_CGROUP);
}

static void end(void)
{
	cmt_usage_free(usage);
	cmt_culprit_free(culprit);
}

static void read_at(uint32_t rmid, uint32_t domain, uint64_t ms, uint64_t kib,
		    uint64_t traffic_kib)
{
	struct cmt_record record = {
		.ts = ms * MS + 1000, .type = CMT_REC_SAMPLE, .flags = VALUES,
		.rmid = rmid, .generation = !!rmid, .domain = domain,
	};

	moved[rmid][domain] += traffic_kib * KIB;
	record.sample.occupancy_bytes = kib * KIB;
	record.sample.mbm_total_bytes = moved[rmid][domain];
	record.sample.mbm_local_bytes = moved[rmid][domain];
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static void ran(uint32_t rmid, uint32_t domain, uint64_t ms, uint64_t cpi)
{
	struct cmt_record record = {
		.ts = ms * MS + 1000, .type = CMT_REC_PERF, .flags = counters,
		.rmid = rmid, .generation = !!rmid, .domain = domain,
		.cpu = (uint16_t)domain,
	};

	record.ran_ns = 900000;
	record.perf.instructions = 1000000;
	record.perf.cycles = 1000000 * cpi;
	record.perf.llc_misses = 1000 * cpi;
	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static void tick(uint16_t cpu, uint64_t ms)
{
	struct cmt_record record = {
		.ts = ms * MS + 2000, .type = CMT_REC_TICK, .cpu = cpu,
		.domain = cpu, .interval_ns = MS,
	};

	ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
}

static void drain(void)
{
	const struct cmt_culprit_verdict *next;

	while (cmt_usage_next(usage, &frame) > 0) {
		ck_assert_int_ge(cmt_culprit_add_frame(culprit, frame), 0);
		while (cmt_culprit_next(culprit, &next) > 0)
			if (next->nr_suspects && !accused++)
				verdict = *next;
	}
}

static struct cmt_culprit_counts counts(void)
{
	struct cmt_culprit_counts now = { .sz = sizeof(now) };

	ck_assert_int_eq(cmt_culprit_counts(culprit, &now), 0);
	return now;
}

/*
 * A millisecond: the victim holds 8 MiB of domain 0, and from ONSET on loses some and
 * fetches it again; one owner is idle and read once in 32; the streamer comes at ONSET in
 * @domain.
 */
static void step(uint64_t ms, uint32_t domain, bool counted)
{
	uint64_t late = ms > ONSET ? ms - ONSET : 0;
	uint64_t taken = late < 6 ? 512 * late : 3072;

	read_at(VICTIM, 0, ms, 8192 - (late ? taken : 0), late ? 700 : 100);
	if (ms % 32 == 0)
		read_at(QUIET, 0, ms, 2048, 0);
	if (late)
		read_at(STREAMER, domain, ms, 64 + taken, 2500);
	else if (ms % 32 == 0)
		read_at(STREAMER, domain, ms, 64, 0);
	if (counted) {
		ran(VICTIM, 0, ms, late ? 4 : 1);
		if (late)
			ran(STREAMER, domain, ms, 9);
	}
	tick(0, ms);
	tick(1, ms);
	drain();
}

static void run(uint32_t domain, bool counted)
{
	for (uint64_t ms = 1; ms <= END; ms++) {
		step(ms, domain, counted);
		ck_assert_msg(ms > ONSET || !accused, "accused at %lu",
			      (unsigned long)ms);
	}
}

static void assert_named(void)
{
	ck_assert_uint_ge(accused, 1);
	ck_assert_uint_eq(verdict.id, 10 * VICTIM);
	ck_assert_int_eq(verdict.kind, CMT_CULPRIT_CACHE);
	ck_assert_uint_ge(verdict.nr_suspects, 1);
	ck_assert_uint_eq(verdict.suspects[0].id, 10 * STREAMER);
	ck_assert_uint_gt(verdict.since_ns, (ONSET - 10) * MS);
	ck_assert_uint_lt(verdict.ts_ns, (ONSET + 30) * MS);
}

START_TEST(test_streamer_is_named)
{
	for (int counted = 0; counted < 2; counted++) {
		begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
		run(0, counted);
		assert_named();
		ck_assert_int_eq(!!(verdict.flags & CMT_CULPRIT_COUNTED), counted);
		ck_assert_uint_eq(counts().missing, 0);
		/* what is idle is known all the time */
		ck_assert_uint_eq(counts().learning, 0);
		end();
	}
}
END_TEST

/* What was not counted is not 0: the owner is told by its occupancy and traffic alone. */
START_TEST(test_streamer_without_a_counter)
{
	static const uint32_t missing[] = { CMT_F_CYCLES, CMT_F_INSTRUCTIONS, CMT_F_LLC_MISSES };

	for (int i = 0; i < 3; i++) {
		begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
		counters &= ~missing[i];
		run(0, true);
		assert_named();
		ck_assert_uint_eq(verdict.flags & CMT_CULPRIT_COUNTED, 0);
		end();
	}
}
END_TEST

/*
 * RMID 0 streams all the time, and some ticks defer it: that does not say that it was
 * idle, and what it moved meanwhile is no burst of the next tick.
 */
START_TEST(test_rmid_0_is_steady)
{
	for (int counted = 0; counted < 2; counted++) {
		begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
		for (uint64_t ms = 1; ms <= END; ms++) {
			if (ms % 8)
				read_at(0, 0, ms, 3072, ms % 8 == 1 ? 4000 : 2000);
			if (counted)
				ran(0, 0, ms, 1);
			step(ms, 0, counted);
			ck_assert_msg(ms > ONSET || !accused, "accused at %lu",
				      (unsigned long)ms);
			ck_assert(ms != ONSET || !counts().learning);
		}
		assert_named();
		ck_assert_uint_eq(verdict.nr_suspects, 1);
		end();
	}
}
END_TEST

/* Sums would accuse it: what it gains is of another cache. */
START_TEST(test_other_domain_is_innocent)
{
	static const struct cmt_usage_opts opts = {
		.by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_DOMAINS,
	};

	begin_opts(opts);
	run(1, true);
	ck_assert_uint_eq(accused, 0);
	ck_assert_uint_eq(frame->nr_domains, 2);
	end();
	begin_opts(opts);
	run(0, true);
	assert_named();
	ck_assert_uint_eq(verdict.domain, 0);
	end();
}
END_TEST

static const struct cmt_usage_row *row_of(uint64_t id)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (cmt_culprit_id(frame, row) == id)
			return row;
	}
	ck_abort_msg("no row has id %#llx", (unsigned long long)id);
	return NULL;
}

START_TEST(test_parts)
{
	const struct cmt_usage_row *row, *part;
	uint64_t sum = 0, ran_ns = 0;

	begin_opts((struct cmt_usage_opts){
		.by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_DOMAINS,
		.l3_bytes = 1000,
	});
	for (uint64_t ms = 1; ms <= 3; ms++) {
		read_at(VICTIM, 0, ms, 100, 10);
		read_at(VICTIM, 1, ms, 30, 5);
		read_at(QUIET, 1, ms, 7, 0);
		ran(VICTIM, 0, ms, 2);
		ran(VICTIM, 1, ms, 2);
		tick(0, ms);
		tick(1, ms);
	}
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	while (cmt_usage_next(usage, &frame) > 0)
		;
	row = row_of(10 * VICTIM);
	ck_assert_uint_eq(row->nr_children, 2);
	ck_assert_uint_eq(row->l3_bytes, 2000);
	for (uint32_t i = 0; i < 2; i++) {
		part = cmt_usage_child_at(frame, row->first_child + i);
		ck_assert_uint_eq(part->flags & CMT_USAGE_ROW_PART,
				  CMT_USAGE_ROW_PART);
		ck_assert_uint_eq(part->domain, i);
		ck_assert_uint_eq(part->l3_bytes, 1000);
		ck_assert_uint_eq(cmt_culprit_id(frame, part), 10 * VICTIM);
		sum += part->occupancy.last_bytes;
		ran_ns += part->counters.ran_ns;
		ck_assert_uint_eq(part->counters.ran_ns, 900000);
		ck_assert_uint_eq(part->total.bytes, i ? 5 * KIB : 10 * KIB);
	}
	ck_assert_uint_eq(sum, row->occupancy.last_bytes);
	ck_assert_uint_eq(ran_ns, row->counters.ran_ns);
	ck_assert_uint_eq(row_of(10 * QUIET)->nr_children, 1);
	end();
}
END_TEST

/* Processes are of a row, too: the two flags exclude each other. */
START_TEST(test_parts_or_processes)
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .nr_rmids = 4, .nr_cpus = 1,
		.flags = CMT_USAGE_CHILDREN | CMT_USAGE_DOMAINS,
	};

	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
}
END_TEST

START_TEST(test_ids)
{
	uint64_t other;

	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
	own(5, 0, CMT_F_OWNER_OVERFLOW);
	own(6, 0, CMT_F_OWNER_RESCTRL);
	for (uint32_t rmid = 0; rmid <= STREAMER; rmid++)
		read_at(rmid, 0, 1, 10, 0);
	tick(0, 1);
	tick(0, 2);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(row_of(20)->cgroup_id, 20);
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		other = cmt_culprit_id(frame, row);
		ck_assert(row_of(other) == row);
		if (row->kind != CMT_USAGE_OWNER)
			ck_assert_uint_ge(other, 0xffULL << 56);
	}
	end();
}
END_TEST

/* The lowest cgroup of a container names it, whichever is read first. */
START_TEST(test_id_stays)
{
	static const char path[] = "/docker/"
		"4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a";
	struct cmt_container container = {
		.sz = sizeof(container), .cgroup_id = 20, .path = path,
	};

	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
	cmt_containers_put(cmt_usage_containers(usage), &container);
	container.cgroup_id = 10;
	cmt_containers_put(cmt_usage_containers(usage), &container);
	own(1, 20, 0);
	own(2, 10, 0);
	read_at(1, 0, 1, 10, 0);
	read_at(2, 0, 1, 10, 0);
	tick(0, 1);
	ck_assert_int_eq(cmt_usage_flush(usage), 0);
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->nr_rows, 1);
	ck_assert_uint_eq(cmt_culprit_id(frame, cmt_usage_row_at(frame, 0)), 10);
	end();
}
END_TEST

/* A counter that jumped by more than there can be is not known in this slot, and no error. */
START_TEST(test_counter_jumps)
{
	struct cmt_record record = {
		.ts = 100 * MS + 500, .type = CMT_REC_PERF, .flags = COUNTED, .rmid = VICTIM,
		.generation = 1, .ran_ns = 1000, .perf.instructions = UINT64_MAX - 5000,
		.perf.cycles = 1000,
	};

	begin_opts((struct cmt_usage_opts){ .flags = CMT_USAGE_DOMAINS });
	for (uint64_t ms = 0; ms < 200; ms++) {
		if (ms == 100)
			ck_assert_int_eq(cmt_usage_add(usage, &record), 0);
		step(ms, 0, false);
	}
	drain();
	ck_assert_uint_gt(counts().slots, 190);
	ck_assert_uint_eq(counts().missing, 0);
	end();
}
END_TEST

START_TEST(test_refused)
{
	static const struct cmt_usage_opts not[] = {
		{ .by = CMT_USAGE_BY_CONTAINER, .interval_ns = 2 * MS },
		{ .by = CMT_USAGE_BY_CPU },
		{ .by = CMT_USAGE_BY_DOMAIN },
	};

	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++) {
		begin_opts(not[i]);
		for (uint64_t ms = 1; ms < 4; ms++) {
			read_at(VICTIM, 0, ms, 10, 0);
			tick(0, ms);
		}
		ck_assert_int_eq(cmt_usage_flush(usage), 0);
		ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
		ck_assert_int_eq(cmt_culprit_add_frame(culprit, frame), -EINVAL);
		ck_assert_uint_eq(counts().slots, 0);
		end();
	}
}
END_TEST

/* Nothing is known of a time without ticks: no loss, no gain, and no idle owner. */
START_TEST(test_no_ticks)
{
	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
	for (uint64_t ms = 1; ms <= 300; ms++) {
		read_at(VICTIM, 0, ms, 8192, 100);
		tick(0, ms);
		drain();
	}
	for (uint64_t ms = 301; ms <= 340; ms++) {
		read_at(VICTIM, 0, ms, 100, 100);
		drain();
	}
	/* some slots are open at once */
	for (uint64_t ms = 341; ms <= 360; ms++) {
		read_at(VICTIM, 0, ms, 8192, 100);
		tick(0, ms);
		drain();
	}
	ck_assert_uint_eq(counts().missing, 40);
	ck_assert_uint_eq(accused, 0);
	end();
}
END_TEST

/*
 * A CPU that has no tick in a slot may run what is not read: a steady neighbour is not
 * one that bursts, however seldom it is read.
 */
START_TEST(test_one_cpu_missing)
{
	begin_opts((struct cmt_usage_opts){ .by = CMT_USAGE_BY_CONTAINER });
	for (uint64_t ms = 1; ms <= END; ms++) {
		bool late = ms > ONSET, seldom = ms > ONSET - 40;

		read_at(VICTIM, 0, ms, late ? 5000 : 8192, late ? 700 : 100);
		ran(VICTIM, 0, ms, late ? 4 : 1);
		tick(0, ms);
		if (!seldom || ms % 10 == 0) {
			read_at(STREAMER, 0, ms, 4000, seldom ? 15000 : 1500);
			ran(STREAMER, 0, ms, 9);
			tick(1, ms);
		}
		drain();
	}
	ck_assert_uint_eq(accused, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit_usage");

	UNIT_CASE(suite, test_streamer_is_named);
	UNIT_CASE(suite, test_streamer_without_a_counter);
	UNIT_CASE(suite, test_rmid_0_is_steady);
	UNIT_CASE(suite, test_other_domain_is_innocent);
	UNIT_CASE(suite, test_parts);
	UNIT_CASE(suite, test_parts_or_processes);
	UNIT_CASE(suite, test_ids);
	UNIT_CASE(suite, test_id_stays);
	UNIT_CASE(suite, test_refused);
	UNIT_CASE(suite, test_counter_jumps);
	UNIT_CASE(suite, test_no_ticks);
	UNIT_CASE(suite, test_one_cpu_missing);
	return unit_run(suite);
}
