// SPDX-License-Identifier: GPL-2.0-or-later
/* Who waits for a CPU, and who has it: verdicts of frames that are made by hand. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "unit.h"

#define MS	1000000ULL
#define WEB	100	/* cgroups; OTHERS more follow */
#define BATCH	101
#define OTHERS	20
#define ROWS	(2 + OTHERS + 1)
#define IDLE	(ROWS - 1)	/* row of RMID 0 */

static struct cmt_culprit *culprit;
static struct cmt_usage_row rows[ROWS];
static struct cmt_usage_wait_part parts[64];
static struct cmt_usage_frame frame;

/* A software device: nothing is read.  All have a record, and nobody waits. */
static void setup(void)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < ROWS; i++)
		rows[i] = (struct cmt_usage_row){
			.kind = i == IDLE ? CMT_USAGE_UNATTRIBUTED : CMT_USAGE_OWNER,
			.owner = CMT_OWNER_CGROUP, .cgroup_id = i == IDLE ? 0 : WEB + i,
			.counters = { .known = true, .values = CMT_F_WAITED },
		};
	frame = (struct cmt_usage_frame){
		.by = CMT_USAGE_BY_CONTAINER, .start_ns = 1000 * MS, .end_ns = 1001 * MS,
		.nr_rows = ROWS, .row_size = sizeof(rows[0]), .rows = rows, .nr_cpus = 1,
		.counted_ns = MS, .counters = CMT_F_WAITED,
		.wait_size = sizeof(parts[0]), .waits = parts,
	};
}

static void teardown(void)
{
	cmt_culprit_free(culprit);
}

/* In each millisecond row @i runs, and waits; who has the CPU meanwhile comes after it. */
static void does(uint32_t i, uint64_t ran_us, uint64_t waited_us)
{
	rows[i].counters.ran_ns = ran_us * 1000;
	rows[i].counters.waited_ns = waited_us * 1000;
}

static void part(uint32_t i, uint32_t by, uint64_t us)
{
	parts[frame.nr_waits++] = (struct cmt_usage_wait_part){
		.row = i, .by = by, .ns = us * 1000,
	};
}

static void advance(uint64_t ms)
{
	frame.start_ns += ms * MS;
	frame.end_ns = frame.start_ns + MS;
}

static void run(uint32_t ms)
{
	while (ms--) {
		ck_assert_int_ge(cmt_culprit_add_frame(culprit, &frame), 0);
		advance(1);
	}
}

/* The next verdict, which is about waiting. */
static const struct cmt_culprit_verdict *verdict(void)
{
	const struct cmt_culprit_verdict *v;

	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert_int_eq(v->kind, CMT_CULPRIT_WAIT);
	ck_assert(v->confidence == 1 && isnan(v->cpi));
	return v;
}

static void no_verdict(void)
{
	const struct cmt_culprit_verdict *v;

	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 0);
}

static void spin_by_turns(void)
{
	does(0, 500, 500);
	part(0, 1, 500);
	does(1, 500, 500);
	part(1, 0, 500);
}

/* Also from the start, and without a reading or a baseline; once in a second. */
START_TEST(test_two_spinners)
{
	const struct cmt_culprit_verdict *v;

	spin_by_turns();
	run(999);
	no_verdict();
	run(1);
	for (uint64_t id = WEB; id <= BATCH; id++) {
		v = verdict();
		ck_assert_uint_eq(v->id, id);
		ck_assert_double_eq_tol(v->cpu_share, 0.5, 1e-9);
		ck_assert_uint_eq(v->nr_suspects, 1);
		ck_assert_uint_eq(v->suspects[0].id, WEB + BATCH - id);
		ck_assert(v->suspects[0].share == 1);
		ck_assert_uint_eq(v->waited_ns, 500 * MS);
		ck_assert_uint_eq(v->waited_self_ns + v->waited_unknown_ns, 0);
		ck_assert_uint_eq(v->flags, 0);
		ck_assert_uint_eq(v->since_ns, 1000 * MS);
		ck_assert_uint_eq(v->ts_ns, 2000 * MS);
	}
	no_verdict();
	run(1000);
	ck_assert_uint_eq(verdict()->since_ns, 1000 * MS);
}
END_TEST

/* After the first one, seconds end when those of the clock do. */
START_TEST(test_seconds_of_the_clock)
{
	const uint32_t begins[] = { 0, 300, 499, 501, 999 };
	const uint32_t lengths[] = { 1000, 700, 501, 1499, 1001 };

	advance(begins[_i]);
	run(1000);
	no_verdict();
	spin_by_turns();
	run(lengths[_i] - 1);
	no_verdict();
	run(1);
	ck_assert_uint_eq(verdict()->since_ns, (2000 + begins[_i]) * MS);
	verdict();
	run(999);
	no_verdict();
	run(1);
	ck_assert_uint_eq(verdict()->ts_ns % (1000 * MS), 0);
}
END_TEST

/* A frame that comes again is refused, and its waits do not count again. */
START_TEST(test_frame_again)
{
	const struct cmt_culprit_verdict *v;

	spin_by_turns();
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert_int_ge(cmt_culprit_add_frame(culprit, &frame), 0);
		if (i < 999)
			ck_assert_int_eq(cmt_culprit_add_frame(culprit, &frame), -EINVAL);
		advance(1);
	}
	v = verdict();
	ck_assert_uint_eq(v->waited_ns, 500 * MS);
	ck_assert_uint_eq(v->suspects[0].id, BATCH);
}
END_TEST

/* An owner for which there is room within a second: what it waited before does not count. */
START_TEST(test_room_within_a_second)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts), .max_owners = 2 };
	const struct cmt_culprit_verdict *v;

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	frame.nr_rows = 2;
	rows[0].cgroup_id = 500;
	rows[1].cgroup_id = 501;
	run(1);
	rows[0].cgroup_id = WEB;
	rows[1].cgroup_id = BATCH;
	advance(400);
	does(0, 500, 500);
	part(0, 1, 500);
	does(1, 500, 0);
	run(4700);
	v = verdict();
	ck_assert_uint_eq(v->id, WEB);
	ck_assert_uint_lt(v->waited_ns, 400 * MS);
	ck_assert_uint_eq(v->waited_unknown_ns, 0);
	ck_assert_uint_eq(v->nr_suspects, 1);
	ck_assert(v->suspects[0].share == 1);
	no_verdict();
}
END_TEST

/* The same second as a slowdown, in which an owner's own tasks are no others. */
START_TEST(test_slower)
{
	struct cmt_slowdown list[4];

	does(0, 250, 750);
	part(0, 1, 500);
	part(0, 0, 250);
	does(1, 500, 0);
	run(999);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 4), 0);
	run(1);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 4), 2);
	ck_assert_uint_eq(list[0].id, WEB);
	ck_assert_uint_eq(list[0].by, BATCH);
	ck_assert_int_eq(list[0].resource, CMT_SLOWDOWN_CPU);
	ck_assert_double_eq_tol(list[0].share, 0.5, 1e-9);
	ck_assert_double_eq(list[0].low, list[0].high);
	ck_assert_uint_eq(list[1].by, WEB);
	ck_assert_double_eq_tol(list[1].share, 0.25, 1e-9);
	frame.nr_waits = 0;
	does(0, 1000, 0);
	run(1000);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 4), 0);
}
END_TEST

/* Most of what an owner wants, and little of the time: too little to tell. */
START_TEST(test_wants_little)
{
	struct cmt_slowdown list[4];

	does(0, 10, 40);
	part(0, 1, 40);
	does(1, 900, 0);
	run(1000);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 4), 0);
	does(0, 10, 60);
	frame.nr_waits = 0;
	part(0, 1, 60);
	run(1000);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 4), 1);
	ck_assert_double_eq_tol(list[0].cpus, 0.07, 1e-9);
}
END_TEST

/* It says since when, anew after a second without. */
START_TEST(test_since)
{
	run(1000);
	spin_by_turns();
	run(1000);
	ck_assert_uint_eq(verdict()->since_ns, 2000 * MS);
	verdict();
	frame.nr_waits = 0;
	does(0, 1000, 0);
	does(1, 0, 0);
	run(1000);
	no_verdict();
	spin_by_turns();
	run(1000);
	ck_assert_uint_eq(verdict()->since_ns, 4000 * MS);
}
END_TEST

/* Two of its threads want one CPU, of which @took_us of each millisecond are another owner's. */
static void run_itself(uint32_t ms, uint64_t took_us)
{
	frame.nr_waits = 0;
	does(0, 1000 - took_us, 1000);
	part(0, 0, 1000 - took_us);
	part(0, 1, took_us);
	does(1, took_us, 0);
	run(ms);
}

static void since(uint32_t verdicts, uint64_t ms)
{
	while (verdicts--)
		ck_assert_uint_eq(verdict()->since_ns, ms * MS);
	no_verdict();
}

/* What an owner waits for itself is not in the time of a neighbour that comes, or goes. */
START_TEST(test_since_a_neighbour)
{
	const struct cmt_incident *incident;

	run_itself(10000, 0);
	since(10, 1000);
	run_itself(2000, 250);
	since(2, 11000);
	ck_assert_int_eq(cmt_culprit_next_incident(culprit, &incident), 1);
	ck_assert_uint_eq(incident->begin_ns, 11000 * MS);
	ck_assert_uint_eq(incident->flags & CMT_INCIDENT_BEFORE, 0);
	run_itself(2000, 0);
	since(2, 1000);
	run_itself(1000, 250);
	since(1, 15000);
}
END_TEST

/* An incident of waiting costs what was waited, and ends with the last second of it. */
START_TEST(test_cost_of_an_incident)
{
	const uint32_t seconds[] = { 1, 2, 5 };
	const struct cmt_incident *in;
	uint32_t n = seconds[_i];

	does(0, 1000, 0);
	run(10000);
	spin_by_turns();
	rows[1].counters.waited_ns = 0;
	frame.nr_waits = 1;
	run(n * 1000);
	does(0, 1000, 0);
	frame.nr_waits = 0;
	run(4000);
	ck_assert_int_eq(cmt_culprit_next_incident(culprit, &in), 1);
	ck_assert_uint_ne(in->flags & CMT_INCIDENT_OPEN, 0);
	ck_assert_int_eq(cmt_culprit_next_incident(culprit, &in), 1);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_OPEN, 0);
	ck_assert_uint_eq(in->begin_ns, 11000 * MS);
	ck_assert_uint_eq(in->end_ns, (11000 + n * 1000) * MS);
	ck_assert_double_eq_tol((double)in->lost_ns, n * 500.0 * MS, 5.0 * n * MS);
	ck_assert_uint_eq(in->parts[0].lost_ns, in->lost_ns);
}
END_TEST

/* A second of which most records are lost has no verdict. */
START_TEST(test_lost_records)
{
	run(1000);
	spin_by_turns();
	run(450);
	advance(3000);
	frame.nr_gaps = 1;
	frame.counted_ns += 3000 * MS;
	run(1);
	frame.nr_gaps = 0;
	frame.counted_ns = MS;
	no_verdict();
}
END_TEST

/* Two threads on one CPU: that is no neighbour, nor is one who took little. */
START_TEST(test_itself)
{
	const struct cmt_culprit_verdict *v;

	does(0, 990, 1000);
	part(0, 0, 990);
	part(0, 1, 10);
	does(1, 10, 0);
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->id, WEB);
	ck_assert_uint_eq(v->nr_suspects, 0);
	ck_assert_double_eq_tol(v->cpu_share, 1000 / 1990.0, 1e-9);
	ck_assert_uint_eq(v->waited_self_ns, 990 * MS);
	no_verdict();
}
END_TEST

/* With a neighbour beside, its own part is none of the suspects', and shares are of all. */
START_TEST(test_itself_and_a_neighbour)
{
	const struct cmt_culprit_verdict *v;

	does(0, 500, 400);
	part(0, 1, 250);
	part(0, 0, 100);
	part(0, CMT_USAGE_WAIT_UNKNOWN, 50);
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->nr_suspects, 1);
	ck_assert_uint_eq(v->suspects[0].id, BATCH);
	ck_assert_double_eq_tol(v->suspects[0].share, 0.625, 1e-9);
	ck_assert_uint_eq(v->waited_self_ns, 100 * MS);
	ck_assert_uint_eq(v->waited_unknown_ns, 50 * MS);
}
END_TEST

/* Out of its quota is not waiting; what waits beside that is told, with a mark. */
START_TEST(test_quota)
{
	const struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = WEB, .start_ns = 1000 * MS, .end_ns = 2000 * MS,
		.valid = CMT_CULPRIT_CPU_THROTTLED, .throttled_ns = 800 * MS,
	};
	const struct cmt_culprit_verdict *v;

	does(0, 200, 0);
	rows[0].counters.quota = true;
	does(1, 800, 0);
	run(1000);
	no_verdict();
	ck_assert_int_eq(cmt_culprit_add_cpu(culprit, &cpu), 1);
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert_int_eq(v->kind, CMT_CULPRIT_THROTTLED);
	ck_assert_uint_eq(v->nr_suspects, 0);
	ck_assert_double_eq_tol(v->cpu_share, 0.8, 1e-9);
	does(0, 200, 100);
	part(0, 1, 100);
	run(1000);
	ck_assert_uint_eq(verdict()->flags, CMT_CULPRIT_QUOTA);
}
END_TEST

/* What the kernel has counted a little later than the clock was read is no more than all. */
START_TEST(test_throttled_all_the_time)
{
	const struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = WEB, .start_ns = 1000 * MS, .end_ns = 2000 * MS,
		.valid = CMT_CULPRIT_CPU_THROTTLED, .throttled_ns = 1001 * MS,
	};
	const struct cmt_culprit_verdict *v;

	run(1);
	ck_assert_int_eq(cmt_culprit_add_cpu(culprit, &cpu), 1);
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert(v->cpu_share == 1);
}
END_TEST

/* Who ran is not known: nobody is named. */
START_TEST(test_unknown)
{
	const struct cmt_culprit_verdict *v;

	does(0, 500, 500);
	part(0, CMT_USAGE_WAIT_UNKNOWN, 480);
	part(0, 1, 20);
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->nr_suspects, 0);
	ck_assert_uint_eq(v->waited_unknown_ns, 480 * MS);
}
END_TEST

static void run_but_lower_bound(void)
{
	rows[0].counters.bounds = CMT_F_WAITED;
	run(1);
	rows[0].counters.bounds = 0;
	run(999);
}

static void run_but_not_known(void)
{
	rows[0].counters.known = false;
	run(1);
	rows[0].counters.known = true;
	run(999);
}

static void run_but_missing(void)
{
	run(500);
	advance(20);
	run(480);
}

static void run_but_not_accounted(void)
{
	frame.counters = 0;
	run(1);
	frame.counters = CMT_F_WAITED;
	run(999);
}

static void run_but_excluded(void)
{
	frame.brief = true;
	frame.brief_why = CMT_USAGE_WHY_EXCLUDED;
	run(1000);
}

static void (*const incomplete[])(void) = {
	run_but_lower_bound, run_but_not_known, run_but_missing, run_but_not_accounted,
	run_but_excluded,
};

/* A second that is not known in full gives lower bounds, and says so. */
START_TEST(test_lower_bounds)
{
	const struct cmt_culprit_verdict *v;
	struct cmt_slowdown slowdown;

	spin_by_turns();
	incomplete[_i]();
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, &slowdown, 1), 1);
	ck_assert(slowdown.low == slowdown.share && slowdown.high == 1);
	v = verdict();
	ck_assert_uint_eq(v->id, WEB);
	ck_assert_uint_eq(v->flags, CMT_CULPRIT_PARTIAL);
	ck_assert_uint_le(v->waited_ns, 500 * MS);
	ck_assert_uint_ge(v->waited_ns, 490 * MS);
	verdict();
	/* and the next one is complete again */
	frame.brief = false;
	run(10000);
	for (int i = 0; i < 2; i++)
		verdict();
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->flags, 0);
}
END_TEST

/* As libcmt has it where another agent's RMID counts some of the work: a 0 says nothing. */
static void run_overwritten(uint32_t ms, uint64_t ran_us, uint64_t waited_us)
{
	struct cmt_usage_counters *c = &rows[0].counters;

	does(0, ran_us, waited_us);
	c->known = c->partial = ran_us != 0;
	c->values = c->bounds = waited_us ? CMT_F_WAITED : 0;
	frame.nr_waits = 0;
	part(0, 1, waited_us);
	run(ms);
}

static void assert_overwritten(uint64_t waited_ms)
{
	const struct cmt_culprit_verdict *v = verdict();
	double share = (double)waited_ms / 1000;
	struct cmt_slowdown slowdown;

	ck_assert_uint_eq(v->id, WEB);
	ck_assert_uint_eq(v->flags, CMT_CULPRIT_PARTIAL);
	ck_assert_uint_eq(v->waited_ns, waited_ms * MS);
	ck_assert_uint_eq(v->waited_unknown_ns, 0);
	ck_assert_double_eq_tol(v->cpu_share, share, 1e-9);
	ck_assert_uint_eq(v->nr_suspects, 1);
	ck_assert_double_eq_tol(v->suspects[0].share, 1, 1e-9);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, &slowdown, 1), 1);
	ck_assert_double_eq_tol(slowdown.share, share, 1e-9);
	ck_assert_double_eq_tol(slowdown.cpus, 1, 1e-9);
}

/* Milliseconds in which it only waits, or only runs, count as the others do. */
START_TEST(test_only_waits)
{
	run_overwritten(500, 900, 100);
	run_overwritten(500, 0, 1000);
	assert_overwritten(550);
}
END_TEST

START_TEST(test_only_runs)
{
	run_overwritten(500, 1000, 0);
	run_overwritten(500, 500, 500);
	assert_overwritten(250);
}
END_TEST

/* A tick that is late has all since the one before. */
START_TEST(test_missed_ticks)
{
	const struct cmt_culprit_verdict *v;

	spin_by_turns();
	run(500);
	advance(19);
	for (uint32_t i = 0; i < 2; i++) {
		rows[i].counters.ran_ns *= 20;
		rows[i].counters.waited_ns *= 20;
		parts[i].ns *= 20;
	}
	frame.counted_ns *= 20;
	run(1);
	frame.nr_waits = 0;
	frame.counted_ns = MS;
	spin_by_turns();
	run(480);
	v = verdict();
	ck_assert_uint_eq(v->flags, 0);
	ck_assert_uint_eq(v->waited_ns, 500 * MS);
	ck_assert_uint_eq(v->ts_ns, 2000 * MS);
}
END_TEST

/* On how many CPUs an owner could run is of the time that is known. */
START_TEST(test_cpus_of_known_time)
{
	struct cmt_slowdown list[2];

	spin_by_turns();
	run(599);
	advance(400);
	run(1);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 2), 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_double_eq_tol(list[i].share, 0.5, 1e-9);
		ck_assert_double_eq_tol(list[i].cpus, 1, 1e-9);
	}
}
END_TEST

/* Of less than half a second nothing is said. */
START_TEST(test_too_little)
{
	spin_by_turns();
	run(400);
	advance(10000);
	run(1);
	no_verdict();
}
END_TEST

/* Three owners share a cache: WEB and another one hit half of the time, and BATCH never. */
static void share_cache(void)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct cmt_usage_counters *c = &rows[i].counters;

		rows[i].occupancy.known = true;
		rows[i].occupancy.last_bytes = (i == 1 ? 8192 : 4096) * 1024;
		c->values |= CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES |
			     CMT_F_LLC_REFERENCES;
		c->cycles = 3000000;
		c->instructions = 1000000;
		c->llc_misses = i == 1 ? 20000 : 10000;
		c->llc_references = 20000;
	}
}

/* How much slower WEB is because BATCH has the cache. */
static struct cmt_slowdown by_cache(void)
{
	struct cmt_slowdown list[8];
	int n = cmt_culprit_slowdown(culprit, list, 8);

	for (int i = 0; i < n; i++)
		if (list[i].id == WEB && list[i].by == BATCH &&
		    list[i].resource == CMT_SLOWDOWN_CACHE)
			return list[i];
	ck_abort_msg("not in the list of %d", n);
}

static void next_wait(uint64_t since_ns)
{
	const struct cmt_culprit_verdict *v;

	do {
		ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	} while (v->kind != CMT_CULPRIT_WAIT || v->id != WEB);
	ck_assert_uint_eq(v->since_ns, since_ns);
}

/* What a second said of waiting does not hold for those that are not known. */
START_TEST(test_no_longer_accounted)
{
	struct cmt_slowdown before, now;
	uint64_t since_ns;

	share_cache();
	spin_by_turns();
	run(2000);
	next_wait(1000 * MS);
	next_wait(1000 * MS);
	before = by_cache();
	ck_assert_double_eq_tol(before.cpus, 1, 1e-3);
	frame.counters = 0;
	rows[0].counters.values &= ~CMT_F_WAITED;
	run(2000);
	now = by_cache();
	ck_assert_double_eq_tol(now.cpus, 0.5, 1e-3);
	ck_assert_double_eq_tol(now.share, 2 * before.share, before.share / 10);
	since_ns = frame.start_ns;
	frame.counters = CMT_F_WAITED;
	rows[0].counters.values |= CMT_F_WAITED;
	run(1000);
	next_wait(since_ns);
}
END_TEST

/* What is a lower bound in every second frame, also in the last one */
static const uint32_t bounds[] = { CMT_F_WAITED, CMT_F_LLC_REFERENCES, CMT_F_LLC_MISSES };

/* The CPU time is complete where another sum is not. */
START_TEST(test_cpu_time_beside_bounds)
{
	struct cmt_usage_counters *c = &rows[0].counters;

	share_cache();
	does(0, 900, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		c->partial = i % 2;
		c->bounds = i % 2 ? bounds[_i] : 0;
		c->why = i % 2 ? CMT_USAGE_WHY_NOT_COUNTED : 0;
		run(1);
	}
	ck_assert_double_eq_tol(by_cache().cpus, 0.9, 0.045);
}
END_TEST

/* What is lost by waits alone is not what is lost, and what costs most is first. */
START_TEST(test_lost_in_part)
{
	const struct cmt_incident *in;

	share_cache();
	does(0, 850, 150);
	part(0, 2, 150);
	rows[0].counters.why = CMT_USAGE_WHY_EXCLUDED;
	run(6000);
	in = cmt_culprit_incident_at(culprit, 0);
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->id, WEB);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_LOST, 0);
	ck_assert_uint_eq(in->lost_ns, 0);
	ck_assert_uint_eq(in->parts[0].by, BATCH);
	ck_assert_int_eq(in->parts[0].resource, CMT_SLOWDOWN_CACHE);
	ck_assert_uint_gt(in->nr_parts, 1);
	for (uint32_t i = 1; i < in->nr_parts; i++) {
		ck_assert_double_gt(in->parts[i - 1].share, in->parts[i].share);
		ck_assert_uint_eq(in->parts[i].lost_ns, 0);
	}
}
END_TEST

/* A twentieth of the second, and of the time in which it could run, is the least. */
START_TEST(test_thresholds)
{
	does(0, 950, 49);
	part(0, 1, 49);
	run(1000);
	no_verdict();
	does(0, 900, 50);
	parts[0].ns = 50000;
	run(1000);
	ck_assert_uint_eq(verdict()->nr_suspects, 1);
	teardown();
	setup();
	does(0, 0, 49);
	part(0, 1, 49);
	run(1000);
	no_verdict();
	does(0, 0, 50);
	parts[0].ns = 50000;
	run(1000);
	ck_assert_double_eq_tol(verdict()->cpu_share, 1, 1e-9);
}
END_TEST

/* Neighbours by turns, each for a second: each is named once in the cooldown. */
START_TEST(test_suspects_by_turns)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .cooldown_ns = 10000 * MS,
	};
	uint32_t named[4] = { 0 };

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	does(0, 500, 500);
	for (uint32_t second = 0; second < 16; second++) {
		const struct cmt_culprit_verdict *v;
		uint32_t turn = second % 4;

		frame.nr_waits = 0;
		part(0, 1 + turn, 500);
		run(1000);
		if (cmt_culprit_next(culprit, &v) <= 0)
			continue;
		ck_assert_uint_eq(v->suspects[0].id, BATCH + turn);
		ck_assert_uint_eq(second, named[turn]++ ? 12 + turn : turn);
	}
	for (uint32_t turn = 0; turn < 4; turn++)
		ck_assert_uint_eq(named[turn], 2);
}
END_TEST

/* The greatest come first; those that took next to nothing are not there. */
START_TEST(test_many_suspects)
{
	const struct cmt_culprit_verdict *v;

	does(0, 100, 900);
	for (uint32_t i = 0; i < OTHERS; i++)
		part(0, 1 + i, i < 10 ? 89 - i : 4);
	part(0, IDLE, 5);
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->nr_suspects, CMT_CULPRIT_SUSPECTS);
	ck_assert_uint_eq(v->flags, CMT_CULPRIT_CLIPPED);
	for (uint32_t i = 0; i < CMT_CULPRIT_SUSPECTS; i++)
		ck_assert_uint_eq(v->suspects[i].id, BATCH + i);
}
END_TEST

/* Load in no container takes CPUs, too, and is no victim. */
START_TEST(test_outside)
{
	const struct cmt_culprit_verdict *v;

	does(0, 500, 500);
	part(0, IDLE, 500);
	does(IDLE, 500, 500);
	part(IDLE, 0, 500);
	run(1000);
	v = verdict();
	ck_assert_uint_eq(v->id, WEB);
	ck_assert_uint_eq(v->suspects[0].id, cmt_culprit_id(&frame, &rows[IDLE]));
	no_verdict();
}
END_TEST

/* Owners that come and go: of those beyond the room nothing is said, and room is found again. */
START_TEST(test_churn)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts), .max_owners = 2 * ROWS };
	const struct cmt_culprit_verdict *v;

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	for (uint64_t turn = 0; turn < 20; turn++) {
		for (uint32_t i = 1; i < IDLE; i++)
			rows[i].cgroup_id = 1000 + ROWS * turn + i;
		run(400);
		while (cmt_culprit_next(culprit, &v) > 0)
			ck_abort_msg("a verdict");
	}
	run(4000);
	spin_by_turns();
	run(2000);
	ck_assert_uint_eq(verdict()->id, WEB);
	v = verdict();
	ck_assert_uint_eq(v->id, rows[1].cgroup_id);
	ck_assert_uint_eq(v->suspects[0].id, WEB);
}
END_TEST

/*
 * For eight owners there are 24 places for pairs.  The first pairs keep theirs, and grow; what
 * the others wait is theirs all the same, for unknown owners.
 */
START_TEST(test_more_pairs_than_places)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts), .max_owners = 8 };
	static const uint32_t known[8] = { 7, 7, 7, 3 };
	const struct cmt_culprit_verdict *v;

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	frame.nr_rows = 8;
	for (uint32_t i = 0; i < 8; i++) {
		does(i, 125, 700);
		for (uint32_t by = 0; by < 8; by++)
			if (by != i)
				part(i, by, 100);
	}
	run(1000);
	for (uint32_t i = 0; i < 8; i++) {
		v = verdict();
		ck_assert_uint_eq(v->id, WEB + i);
		ck_assert_uint_eq(v->waited_ns, 700 * MS);
		ck_assert_uint_eq(v->nr_suspects, known[i]);
		ck_assert_uint_eq(v->waited_unknown_ns, (7 - known[i]) * 100 * MS);
	}
	no_verdict();
	/* the next second has all places again */
	frame.nr_waits = 0;
	for (uint32_t i = 0; i < 8; i++)
		part(i, (i + 1) % 8, 700);
	run(1000);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(verdict()->waited_unknown_ns, 0);
}
END_TEST

/* Nothing is read, so no owner learns; a file's verdict needs no cell. */
START_TEST(test_without_readings)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	run(300);
	ck_assert_int_eq(cmt_culprit_counts(culprit, &counts), 0);
	ck_assert_uint_eq(counts.owners, 0);
	ck_assert_uint_eq(counts.learning, 0);
	ck_assert_uint_eq(counts.slots, 300);
	/* the past of these owners begins with their first reading */
	for (uint32_t i = 0; i < ROWS; i++)
		rows[i].occupancy.known = true;
	run(10);
	cmt_culprit_counts(culprit, &counts);
	ck_assert_uint_eq(counts.owners, ROWS);
	ck_assert_uint_eq(counts.learning, ROWS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit_waits");
	TCase *tcase = tcase_create("waits");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_two_spinners);
	tcase_add_loop_test(tcase, test_seconds_of_the_clock, 0, 5);
	tcase_add_test(tcase, test_frame_again);
	tcase_add_test(tcase, test_room_within_a_second);
	tcase_add_test(tcase, test_slower);
	tcase_add_test(tcase, test_wants_little);
	tcase_add_test(tcase, test_since);
	tcase_add_test(tcase, test_since_a_neighbour);
	tcase_add_loop_test(tcase, test_cost_of_an_incident, 0, 3);
	tcase_add_test(tcase, test_lost_records);
	tcase_add_test(tcase, test_itself);
	tcase_add_test(tcase, test_itself_and_a_neighbour);
	tcase_add_test(tcase, test_quota);
	tcase_add_test(tcase, test_throttled_all_the_time);
	tcase_add_test(tcase, test_unknown);
	tcase_add_loop_test(tcase, test_lower_bounds, 0,
			    sizeof(incomplete) / sizeof(incomplete[0]));
	tcase_add_test(tcase, test_only_waits);
	tcase_add_test(tcase, test_only_runs);
	tcase_add_test(tcase, test_missed_ticks);
	tcase_add_test(tcase, test_cpus_of_known_time);
	tcase_add_test(tcase, test_too_little);
	tcase_add_test(tcase, test_no_longer_accounted);
	tcase_add_loop_test(tcase, test_cpu_time_beside_bounds, 0,
			    sizeof(bounds) / sizeof(bounds[0]));
	tcase_add_test(tcase, test_lost_in_part);
	tcase_add_test(tcase, test_thresholds);
	tcase_add_test(tcase, test_suspects_by_turns);
	tcase_add_test(tcase, test_many_suspects);
	tcase_add_test(tcase, test_outside);
	tcase_add_test(tcase, test_churn);
	tcase_add_test(tcase, test_more_pairs_than_places);
	tcase_add_test(tcase, test_without_readings);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
