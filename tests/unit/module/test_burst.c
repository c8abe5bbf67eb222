// SPDX-License-Identifier: GPL-2.0-or-later
/* What a tick reads, and in which order: module/hw/burst.h and burst.c. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hw/burst.h"
#include "fake.h"
#include "unit.h"

#define MOST		CMT_MAX_RMIDS
#define RMIDS		256	/* of most tests */
#define TICK_NS		1000000ULL
#define COST		10	/* cycles of a reading */
#define STALL		1000000	/* cycles: more than any budget */

/* One CPU; several share the counters. */
struct cpu {
	struct cmt_burst burst;
	unsigned long bits[CMT_BURST_QUEUES * CMT_RMID_WORDS];
};

static struct cmt_backend_caps caps;
static struct cmt_counter counters[MOST];
static u32 generations[MOST];
static unsigned long readable[CMT_RMID_WORDS];
static u64 boundary;
static u32 reads[MOST];		/* in all ticks */
static u32 last_tick[MOST];
static struct cpu one, other;

static void read_one(void *context, u32 rmid, struct cmt_raws *raws)
{
	fake.cycles += COST;
	reads[rmid]++;
	raws->occupancy = rmid;
	raws->total = fake.cycles;
	raws->local = 0;
}

static void cpu_init(struct cpu *cpu)
{
	memset(cpu, 0, sizeof(*cpu));
	cpu->burst.counters = counters;
	cpu->burst.generations = generations;
	cpu->burst.readable = readable;
	cpu->burst.caps = &caps;
	cpu->burst.words = RMIDS / BITS_PER_LONG;
	cpu->burst.budget = 100000;
	cpu->burst.room = CMT_BURST_MAX;
	cmt_burst_init(&cpu->burst, cpu->bits, CMT_RMID_WORDS);
}

static void own(u32 rmid, u32 generation)
{
	generations[rmid] = generation;
	if (generation)
		__set_bit(rmid, readable);
}

static void set_up(void)
{
	u32 rmid;

	memset(&fake, 0, sizeof(fake));
	memset(&caps, 0, sizeof(caps));
	memset(generations, 0, sizeof(generations));
	memset(readable, 0, sizeof(readable));
	memset(reads, 0, sizeof(reads));
	caps.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	caps.upscale_bytes = 1;
	caps.counter_bits = 32;
	caps.mbm_correct_above = ~0U;
	caps.data_mask = ~0ULL >> 2;
	boundary = 77777 * TICK_NS;
	for (rmid = 0; rmid < MOST; rmid++) {
		cmt_counter_reset(&counters[rmid]);
		counters[rmid].seen = cmt_mark(boundary) - 2;
		last_tick[rmid] = 0;
	}
	own(0, 0);
	__set_bit(0, readable);
	cpu_init(&one);
	cpu_init(&other);
}

/* Half of a tick: read, and hold the claims. */
static u32 burst_read(struct cpu *cpu)
{
	cpu->burst.mark = cmt_mark(boundary);
	cpu->burst.start = fake.cycles;
	if (!cmt_burst_is_due(&cpu->burst)) {
		cpu->burst.end = cpu->burst.readings;
		return 0;
	}
	cmt_burst_run(&cpu->burst, read_one, NULL);
	return cpu->burst.end - cpu->burst.readings;
}

static void burst_account(struct cpu *cpu)
{
	struct cmt_reading *r;
	struct cmt_record record;

	for (r = cpu->burst.readings; r != cpu->burst.end; r++) {
		last_tick[r->counter - counters] = boundary / TICK_NS;
		cmt_counter_sample(r->counter, &r->raws, caps.events, &caps, &record);
		cmt_claim_release(r->counter, cpu->burst.mark);
	}
}

static u32 burst_once(struct cpu *cpu)
{
	u32 n = burst_read(cpu);

	burst_account(cpu);
	return n;
}

static void next_tick(void)
{
	boundary += TICK_NS;
}

START_TEST(test_no_rmid_is_due)
{
	ck_assert_uint_eq(burst_once(&one), 0);
}
END_TEST

START_TEST(test_hot_is_read_once)
{
	own(200, 7);
	__set_bit(200, one.burst.hot.rmids);
	__set_bit(200, one.burst.turn.rmids);
	ck_assert_uint_eq(burst_once(&one), 1);
	ck_assert_ptr_eq(one.burst.readings[0].counter, &counters[200]);
	ck_assert_uint_eq(counters[200].name, 7ULL << 32 | 200);
	next_tick();
	ck_assert_uint_eq(burst_once(&one), 0);
}
END_TEST

/* Loaded, and freed before the tick. */
START_TEST(test_rmid_without_owner_is_dropped)
{
	own(200, 7);
	own(200, 0);	/* its bit can be there a little longer */
	__set_bit(200, one.burst.hot.rmids);
	__set_bit(201, one.burst.hot.rmids);
	ck_assert_uint_eq(burst_once(&one), 0);
	ck_assert_uint_eq(reads[200] + reads[201], 0);
	ck_assert_uint_eq(counters[200].seen & 1, 0);
	ck_assert(!cmt_burst_is_due(&one.burst));
}
END_TEST

START_TEST(test_two_cpus_read_an_rmid_once)
{
	own(5, 7);
	__set_bit(5, one.burst.hot.rmids);
	__set_bit(5, other.burst.hot.rmids);
	ck_assert_uint_eq(burst_read(&one), 1);
	/* while the first one has the claim, and afterwards */
	ck_assert_uint_eq(burst_once(&other), 0);
	burst_account(&one);
	ck_assert(!other.burst.busy);
	__set_bit(5, other.burst.hot.rmids);
	ck_assert_uint_eq(burst_once(&other), 0);
	ck_assert_uint_eq(reads[5], 1);
	ck_assert(!cmt_burst_is_due(&other.burst));
}
END_TEST

/* After a long time exactly one reader gets the claim, as in a tick. */
START_TEST(test_claim_after_a_gap)
{
	struct cmt_counter *counter = &counters[5];
	u32 mark = cmt_mark(boundary), seen = mark - 4 * (u32)CMT_MARK_GAP;

	counter->seen = seen;
	ck_assert_int_eq(cmt_claim_odd(counter, mark, &seen), CMT_CLAIM_READ);
	ck_assert_uint_eq(counter->seen, mark | 1);
	seen = counter->seen;
	ck_assert_int_ne(cmt_claim_odd(counter, mark, &seen), CMT_CLAIM_READ);
}
END_TEST

/* A CPU that is a tick late: the RMID waits, and the tick goes on. */
START_TEST(test_busy_waits_and_ends_no_tick)
{
	u32 rmid;

	for (rmid = 1; rmid < 10; rmid++) {
		own(rmid, rmid);
		__set_bit(rmid, other.burst.hot.rmids);
	}
	__set_bit(5, one.burst.hot.rmids);
	ck_assert_uint_eq(burst_read(&one), 1);
	next_tick();
	ck_assert_uint_eq(burst_once(&other), 8);
	ck_assert(other.burst.busy);
	ck_assert_uint_eq(cmt_burst_waiting(&other.burst), 1);
	burst_account(&one);
	next_tick();
	ck_assert_uint_eq(burst_once(&other), 1);
	ck_assert_uint_eq(reads[5], 2);
}
END_TEST

/* A late CPU finds that an RMID was read for a later tick. */
START_TEST(test_rmid_read_by_later_tick_is_skipped)
{
	u32 late = cmt_mark(boundary);

	own(5, 7);
	__set_bit(5, one.burst.hot.rmids);
	__set_bit(5, other.burst.hot.rmids);
	next_tick();
	ck_assert_uint_eq(burst_once(&one), 1);
	other.burst.mark = late;
	cmt_burst_is_due(&other.burst);
	cmt_burst_run(&other.burst, read_one, NULL);
	ck_assert_ptr_eq(other.burst.end, other.burst.readings);
}
END_TEST

static bool based(u32 rmid)
{
	return !(counters[rmid].key & CMT_KEY_SLOW);
}

START_TEST(test_gap_loses_the_base)
{
	int i;

	own(5, 7);
	for (i = 0; i < 2; i++) {
		__set_bit(5, one.burst.hot.rmids);
		burst_once(&one);
		next_tick();
	}
	ck_assert(based(5));
	boundary += CMT_COUNTER_GAP_NS - 2 * TICK_NS;
	__set_bit(5, one.burst.hot.rmids);
	burst_read(&one);
	ck_assert(based(5));
	burst_account(&one);
	boundary += CMT_COUNTER_GAP_NS + TICK_NS;
	__set_bit(5, one.burst.hot.rmids);
	ck_assert_uint_eq(burst_read(&one), 1);
	ck_assert(!based(5));
	burst_account(&one);
	/* so old that its mark seems to be newer */
	boundary += (0x7fffffffULL << CMT_MARK_SHIFT) - 10 * CMT_COUNTER_GAP_NS;
	__set_bit(5, one.burst.hot.rmids);
	ck_assert_uint_eq(burst_read(&one), 1);
	ck_assert(!based(5));
	burst_account(&one);
}
END_TEST

START_TEST(test_new_generation_begins)
{
	own(5, 7);
	__set_bit(5, one.burst.hot.rmids);
	burst_once(&one);
	next_tick();
	own(5, 8);
	__set_bit(5, one.burst.hot.rmids);
	ck_assert_uint_eq(burst_read(&one), 1);
	ck_assert(cmt_counter_is_new(&counters[5]));
	ck_assert_uint_eq(counters[5].name, 8ULL << 32 | 5);
	burst_account(&one);
}
END_TEST

START_TEST(test_discarded_is_read_in_the_next_tick)
{
	u32 seen, rmid;

	for (rmid = 1; rmid < 4; rmid++) {
		own(rmid, rmid);
		__set_bit(rmid, one.burst.turn.rmids);
	}
	seen = counters[2].seen;
	ck_assert_uint_eq(burst_read(&one), 3);
	cmt_burst_discard(&one.burst);
	ck_assert_uint_eq(counters[2].seen, seen);
	ck_assert_uint_eq(cmt_burst_waiting(&one.burst), 3);
	next_tick();
	ck_assert_uint_eq(burst_once(&one), 3);
}
END_TEST

/* AMD says once only that a counter began anew: that stays known. */
START_TEST(test_discarded_unavailable_has_no_base)
{
	const u64 based = CMT_KEY_SLOW | CMT_KEY_BEGUN | CMT_KEY_BASED;
	u32 rmid;

	for (rmid = 1; rmid < 3; rmid++) {
		own(rmid, rmid);
		__set_bit(rmid, one.burst.hot.rmids);
	}
	ck_assert_uint_eq(burst_read(&one), 2);
	for (rmid = 1; rmid < 3; rmid++)
		counters[rmid].key = based | rmid;
	one.burst.readings[_i].raws.total = CMT_RAW_UNAVAILABLE;
	cmt_burst_discard(&one.burst);
	ck_assert(!(counters[1 + _i].key & CMT_KEY_BASED));
	ck_assert_uint_eq(counters[2 - _i].key, based | (2 - _i));
}
END_TEST

/* No RMID is loaded: each one is read once in 32 ticks, by one of three CPUs. */
START_TEST(test_idle_rmids_read_once_in_32_ticks)
{
	static struct cpu cpus[3];
	u32 rmid, i, tick;

	for (rmid = 1; rmid < RMIDS; rmid++)
		own(rmid, rmid);
	for (i = 0; i < 3; i++)
		cpu_init(&cpus[i]);
	for (tick = 0; tick < 10 * CMT_TURN_TICKS; tick++, next_tick()) {
		u64 number = boundary / TICK_NS;

		for (i = 0; i < 3; i++) {
			cmt_burst_add_turns(&cpus[i].burst, number,
					    (i + number / CMT_TURN_TICKS) % 3,
					    3);
			burst_once(&cpus[i]);
		}
		for (rmid = 0; tick >= CMT_TURN_TICKS && rmid < RMIDS; rmid++)
			ck_assert_uint_lt(number - last_tick[rmid],
					  CMT_TURN_TICKS);
	}
	for (rmid = 0; rmid < RMIDS; rmid++)
		ck_assert_uint_eq(reads[rmid], 10);
}
END_TEST

/* 200 owners, 10 of them run, a budget for 30: the 10 are in every tick. */
START_TEST(test_hot_rmids_read_in_every_tick)
{
	u32 rmid, tick, most = 0;

	for (rmid = 1; rmid <= 200; rmid++) {
		own(rmid, rmid);
		__set_bit(rmid, one.burst.hot.rmids);
	}
	one.burst.budget = 30 * COST;
	for (tick = 0; tick < 1000; tick++, next_tick()) {
		u64 number = boundary / TICK_NS;
		u32 n;

		for (rmid = 10; rmid <= 100; rmid += 10)
			__set_bit(rmid, one.burst.hot.rmids);
		cmt_burst_add_turns(&one.burst, number, 0, 1);
		n = burst_once(&one);
		most = n > most ? n : most;
		for (rmid = 10; tick > 20 && rmid <= 100; rmid += 10)
			ck_assert_uint_eq(last_tick[rmid], number);
		for (rmid = 0; tick > 64 && rmid <= 200; rmid++)
			ck_assert_uint_lt(number - last_tick[rmid],
					  CMT_TURN_TICKS);
	}
	ck_assert_uint_le(most, 30);
}
END_TEST

/* More run than there is time for: all are read in turn, and so are idle ones. */
START_TEST(test_all_read_over_budget)
{
	u32 rmid, tick, n = 0;

	for (rmid = 1; rmid <= 200; rmid++)
		own(rmid, rmid);
	one.burst.budget = 20 * COST;
	for (tick = 0; tick < 1000; tick++, next_tick()) {
		for (rmid = 1; rmid <= 150; rmid++)
			__set_bit(rmid, one.burst.hot.rmids);
		cmt_burst_add_turns(&one.burst, boundary / TICK_NS, 0, 1);
		n += burst_once(&one);
		ck_assert_uint_gt(cmt_burst_waiting(&one.burst), 100);
	}
	ck_assert_uint_ge(n, 20 * 1000);
	for (rmid = 1; rmid <= 200; rmid++)
		ck_assert_uint_gt(reads[rmid], 20);
}
END_TEST

/* Eight owners, four of which run: a tick reads one of these and an idle one. */
static void starved_ticks(void)
{
	u32 rmid, tick;

	for (rmid = 1; rmid <= 8; rmid++)
		own(rmid, rmid);
	for (tick = 0; tick < 10 * CMT_TURN_TICKS; tick++, next_tick()) {
		for (rmid = 1; rmid <= 4; rmid++)
			__set_bit(rmid, one.burst.hot.rmids);
		cmt_burst_add_turns(&one.burst, boundary / TICK_NS, 0, 1);
		ck_assert_uint_ge(burst_once(&one), 1);
	}
	for (rmid = 0; rmid <= 8; rmid++)
		ck_assert_uint_ge(reads[rmid], 8);
}

/* A reading takes longer than the budget, as where the host of a VM traps MSRs. */
START_TEST(test_tick_reads_at_least_one_rmid)
{
	one.burst.budget = COST / 2;
	starved_ticks();
}
END_TEST

/* And so much goes by between two looks at the clock, as where it is busy. */
START_TEST(test_slow_cpu_reads_at_least_one_rmid)
{
	one.burst.budget = 1000;
	fake.cycles_step = one.burst.budget / 2;
	starved_ticks();
}
END_TEST

/* The tick began long ago: one reading all the same. */
START_TEST(test_late_burst_reads_at_least_one_rmid)
{
	own(5, 1);
	__set_bit(5, one.burst.hot.rmids);
	one.burst.mark = cmt_mark(boundary);
	one.burst.start = fake.cycles;
	fake.cycles += STALL;
	ck_assert(cmt_burst_is_due(&one.burst));
	cmt_burst_run(&one.burst, read_one, NULL);
	burst_account(&one);
	ck_assert_uint_eq(reads[5], 1);
}
END_TEST

static u32 theirs_ended;	/* cycles */

static void other_cpu_reads(void)
{
	u32 seen;

	if (!cmt_claim_any(&counters[5], &seen))
		return;
	fake.cycles += STALL / 2;
	theirs_ended = fake.cycles;
	cmt_claim_release(&counters[5], seen);
}

/*
 * The CPU stops wherever it looks at the clock, as where a hypervisor takes it away, and a
 * reading on demand comes between: it is not later than the tick's, whose value is newer.
 */
START_TEST(test_times_are_in_the_order_of_values)
{
	own(5, 1);
	__set_bit(5, one.burst.hot.rmids);
	one.burst.budget = 2 * STALL;
	fake.after_look = other_cpu_reads;
	ck_assert_uint_eq(burst_read(&one), 1);
	ck_assert_int_ge((s32)(one.burst.readings[0].cycles - theirs_ended), 0);
	burst_account(&one);
	ck_assert_uint_eq(reads[5], 1);
}
END_TEST

/* The time is up: what was not read is free for others, and read by later ticks. */
START_TEST(test_late_claim_is_released)
{
	u32 rmid, seen, n = 0;

	for (rmid = 1; rmid <= 8; rmid++) {
		own(rmid, 1);
		__set_bit(rmid, one.burst.hot.rmids);
	}
	one.burst.budget = COST / 2;
	n = burst_read(&one);
	ck_assert_uint_lt(n, 8);
	for (rmid = 1; rmid <= 8; rmid++) {
		if (reads[rmid])
			continue;
		ck_assert(cmt_claim_any(&counters[rmid], &seen));
		cmt_claim_release(&counters[rmid], seen);
	}
	burst_account(&one);
	while (n < 8) {
		next_tick();
		n += burst_once(&one);
	}
	for (rmid = 1; rmid <= 8; rmid++)
		ck_assert_uint_eq(reads[rmid], 1);
}
END_TEST

START_TEST(test_room_is_a_limit)
{
	u32 rmid, tick;

	for (rmid = 1; rmid <= 200; rmid++)
		own(rmid, rmid);
	one.burst.room = 1 + _i * 11;
	for (tick = 0; tick < 600; tick++, next_tick()) {
		for (rmid = 1; rmid <= 200; rmid++)
			__set_bit(rmid, one.burst.hot.rmids);
		ck_assert_uint_eq(burst_once(&one), one.burst.room);
	}
	for (rmid = 1; rmid <= 200; rmid++)
		ck_assert_uint_gt(reads[rmid], 0);
}
END_TEST

/* As many RMIDs as there can be: each has its turn once, hot ones of any word first. */
START_TEST(test_4096_rmids)
{
	static const u32 hot[] = { 1, 2047, 2048, MOST - 1 };
	u32 rmid, tick, i;

	one.burst.words = CMT_RMID_WORDS;
	for (rmid = 1; rmid < MOST; rmid++)
		own(rmid, rmid);
	for (i = 0; i < 4; i++)
		__set_bit(hot[i], one.burst.hot.rmids);
	burst_once(&one);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(reads[hot[i]], 1);
	for (tick = 0; tick < 2 * CMT_TURN_TICKS; tick++) {
		next_tick();
		cmt_burst_add_turns(&one.burst, tick, 0, 1);
		burst_once(&one);
	}
	ck_assert_uint_gt(cmt_burst_waiting(&one.burst), 0);
	while (cmt_burst_waiting(&one.burst)) {
		next_tick();
		burst_once(&one);
	}
	for (rmid = 0; rmid < MOST; rmid++)
		ck_assert_uint_ge(reads[rmid], 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("burst");
	TCase *tc = tcase_create("burst");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_no_rmid_is_due);
	tcase_add_test(tc, test_hot_is_read_once);
	tcase_add_test(tc, test_rmid_without_owner_is_dropped);
	tcase_add_test(tc, test_two_cpus_read_an_rmid_once);
	tcase_add_test(tc, test_claim_after_a_gap);
	tcase_add_test(tc, test_busy_waits_and_ends_no_tick);
	tcase_add_test(tc, test_rmid_read_by_later_tick_is_skipped);
	tcase_add_test(tc, test_gap_loses_the_base);
	tcase_add_test(tc, test_new_generation_begins);
	tcase_add_test(tc, test_discarded_is_read_in_the_next_tick);
	tcase_add_loop_test(tc, test_discarded_unavailable_has_no_base, 0, 2);
	tcase_add_test(tc, test_idle_rmids_read_once_in_32_ticks);
	tcase_add_test(tc, test_hot_rmids_read_in_every_tick);
	tcase_add_test(tc, test_all_read_over_budget);
	tcase_add_test(tc, test_tick_reads_at_least_one_rmid);
	tcase_add_test(tc, test_late_burst_reads_at_least_one_rmid);
	tcase_add_test(tc, test_times_are_in_the_order_of_values);
	tcase_add_test(tc, test_late_claim_is_released);
	tcase_add_test(tc, test_slow_cpu_reads_at_least_one_rmid);
	tcase_add_test(tc, test_4096_rmids);
	tcase_add_loop_test(tc, test_room_is_a_limit, 0, 8);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
