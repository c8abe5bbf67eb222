// SPDX-License-Identifier: LGPL-2.1-or-later
/* What tasks waited, shared out among those who ran. */
#include <stdlib.h>

#include "unit.h"
#include "wait/wait.h"

#define MS 1000000ULL

static struct wait_sums sums;

static void setup(void)
{
	sums = (struct wait_sums){ 0 };
	ck_assert_int_eq(wait_init(&sums, 4), 0);
}

static void teardown(void)
{
	wait_free(&sums);
}

static void add(uint32_t cpu, uint32_t party, uint64_t ran_ns, uint64_t waited_ns)
{
	ck_assert_int_eq(wait_add(&sums, cpu, party, ran_ns, waited_ns, false), 0);
}

static void add_idle(uint32_t cpu, uint32_t party, uint64_t ran_ns)
{
	ck_assert_int_eq(wait_add(&sums, cpu, party, ran_ns, 0, true), 0);
}

static void slot_end(void)
{
	ck_assert_int_eq(wait_slot_end(&sums), 0);
}

static uint64_t waited(uint32_t victim, uint32_t by)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < sums.nr_parts; i++)
		if (sums.parts[i].victim == victim && sums.parts[i].by == by)
			ns += sums.parts[i].ns;
	return ns;
}

static uint64_t waited_in_all(uint32_t victim)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < sums.nr_parts; i++)
		if (sums.parts[i].victim == victim)
			ns += sums.parts[i].ns;
	return ns;
}

START_TEST(test_wait_by_who_ran)
{
	add(0, 1, MS, 0);
	add(0, 2, 0, MS);
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 1);
	ck_assert_uint_eq(waited(2, 1), MS);
}
END_TEST

START_TEST(test_wait_in_proportion)
{
	add(0, 1, 600000, 0);
	add(0, 2, 300000, 0);
	add(0, 3, 0, 900000);
	slot_end();
	ck_assert_uint_eq(waited(3, 1), 600000);
	ck_assert_uint_eq(waited(3, 2), 300000);
}
END_TEST

/* A task that runs does not wait for itself. */
START_TEST(test_wait_one_task)
{
	add(0, 1, 400000, 600000);
	add(0, 2, 600000, 400000);
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 2);
	ck_assert_uint_eq(waited(1, 2), 600000);
	ck_assert_uint_eq(waited(2, 1), 400000);
}
END_TEST

/* Two of them, beside a neighbour: both wait while it runs, and one while the other does. */
START_TEST(test_wait_two_tasks)
{
	add(0, 1, 500000, 1500000);
	add(0, 2, 500000, 500000);
	slot_end();
	ck_assert_uint_eq(waited(1, 2), 1000000);
	ck_assert_uint_eq(waited(1, 1), 500000);
	ck_assert_uint_eq(waited(2, 1), 500000);
}
END_TEST

/* Two threads of one owner on one CPU: that is no neighbour. */
START_TEST(test_wait_for_itself)
{
	add(0, 1, MS, MS);
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 1);
	ck_assert_uint_eq(waited(1, 1), MS);
}
END_TEST

/* A slot of several ticks has several records of an owner, which does not wait for itself. */
START_TEST(test_wait_several_records)
{
	for (int tick = 0; tick < 5; tick++) {
		add(0, 1, 100000, 0);
		add(1, 1, 0, 100000);
		add(0, 2, 0, 100000);
		add(1, 2, 100000, 0);
	}
	for (int tick = 0; tick < 5; tick++) {
		add(0, 1, 0, 100000);
		add(0, 2, 100000, 0);
	}
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 2);
	ck_assert_uint_eq(waited(1, 1), 0);
	ck_assert_uint_eq(waited(1, 2), 1000000);
	ck_assert_uint_eq(waited(2, 2), 0);
	ck_assert_uint_eq(waited(2, 1), 500000);
}
END_TEST

/* As many records as a slot has room for: what they take grows with their number. */
START_TEST(test_wait_many_records)
{
	const uint32_t many = 1U << 17;

	for (uint32_t i = 0; i < many; i++) {
		add(0, 1, 10, 10);
		add(0, 2, 10, 10);
	}
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 2);
	ck_assert_uint_eq(waited(1, 2), 10 * many);
	ck_assert_uint_eq(waited(2, 1), 10 * many);
}
END_TEST

START_TEST(test_wait_other_cpus_and_slots_are_innocent)
{
	add(0, 1, MS, 0);
	add(1, 2, MS, 0);
	add(1, 3, 0, MS);
	slot_end();
	add(1, 4, MS, 0);
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 1);
	ck_assert_uint_eq(waited(3, 2), MS);
}
END_TEST

START_TEST(test_wait_idle_time_is_innocent)
{
	add(0, 1, 200000, 0);
	add_idle(0, 0, 800000);
	add(0, 2, 0, 200000);
	slot_end();
	ck_assert_uint_eq(sums.nr_parts, 1);
	ck_assert_uint_eq(waited(2, 1), 200000);
}
END_TEST

/* The CPU was not idle while a task waited: what the owner did not run, RMID 0 did. */
START_TEST(test_wait_rest_is_of_rmid0)
{
	add(0, 1, 200000, 0);
	add_idle(0, 0, 800000);
	add(0, 2, 0, 500000);
	slot_end();
	ck_assert_uint_eq(waited(2, 1), 200000);
	ck_assert_uint_eq(waited(2, 0), 300000);
}
END_TEST

/* PERF records of who ran are lost. */
START_TEST(test_wait_nobody_ran)
{
	add(0, 2, 0, MS);
	slot_end();
	ck_assert_uint_eq(waited(2, WAIT_UNKNOWN), MS);
}
END_TEST

START_TEST(test_wait_reset)
{
	add(0, 1, MS, MS);
	slot_end();
	wait_reset(&sums);
	ck_assert_uint_eq(sums.nr_parts, 0);
	add(0, 1, MS, 7);
	slot_end();
	ck_assert_uint_eq(waited(1, 1), 7);
}
END_TEST

static uint64_t up_to(uint64_t most)
{
	return (uint64_t)rand() % (most + 1);
}

#define PARTIES 50

/* Whatever happens, the parts of a victim add up to what it waited. */
START_TEST(test_wait_parts_add_up)
{
	static uint64_t all[PARTIES];

	srand(1); /* the same each time */
	for (int slot = 0; slot < 2000; slot++) {
		for (uint32_t n = (uint32_t)up_to(12); n; n--) {
			uint32_t party = (uint32_t)up_to(PARTIES - 1);
			uint64_t ns = rand() % 3 ? up_to(5 * MS) : up_to(3);

			all[party] += ns;
			ck_assert_int_eq(wait_add(&sums, (uint32_t)up_to(3), party,
						  rand() % 4 ? up_to(MS) : 0, ns,
						  !party), 0);
		}
		slot_end();
	}
	for (uint32_t i = 0; i < PARTIES; i++)
		ck_assert_uint_eq(waited_in_all(i), all[i]);
	ck_assert_uint_gt(sums.nr_parts, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait");
	TCase *tcase = tcase_create("wait");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_wait_by_who_ran);
	tcase_add_test(tcase, test_wait_in_proportion);
	tcase_add_test(tcase, test_wait_one_task);
	tcase_add_test(tcase, test_wait_two_tasks);
	tcase_add_test(tcase, test_wait_for_itself);
	tcase_add_test(tcase, test_wait_several_records);
	tcase_add_test(tcase, test_wait_many_records);
	tcase_add_test(tcase, test_wait_other_cpus_and_slots_are_innocent);
	tcase_add_test(tcase, test_wait_idle_time_is_innocent);
	tcase_add_test(tcase, test_wait_rest_is_of_rmid0);
	tcase_add_test(tcase, test_wait_nobody_ran);
	tcase_add_test(tcase, test_wait_reset);
	tcase_add_test(tcase, test_wait_parts_add_up);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
