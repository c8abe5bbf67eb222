// SPDX-License-Identifier: GPL-2.0-or-later
/* What is counted when CPUs come up, and when waiting is (module/cpu/perf_want.c). */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <linux/workqueue.h>

#include "cpu/perf_cpu.h"
#include "ring/ring.h"
#include "unit.h"

struct fake_machine fake = { .nr_cpus = 1 };
u32 fake_cpu;
DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);
typeof_member(struct cmt_record, state) cmt_settings;
u32 cmt_readers = 1;

static u32 updates, states;
static bool gives_up;	/* the next update gives values up on all CPUs */
static bool in_work;	/* a work item made the last update */

bool cmt_perf_events_update(unsigned int cpu, struct cmt_perf *p, u32 wanted)
{
	bool again = gives_up;

	ck_assert_uint_eq(cpu, 0);
	p->wanted = wanted;
	updates++;
	in_work = shim_in_work;
	gives_up = false;
	return again;
}

struct cmt_perf *cmt_perf_new(unsigned int cpu)
{
	(void)cpu;
	return calloc(1, sizeof(struct cmt_perf));
}

void cmt_perf_install(struct cmt_perf *p)
{
	cmt_cpus.perf = p;
}

void cmt_perf_remove(unsigned int cpu)
{
	(void)cpu;
	cmt_cpus.perf = NULL;
}

u32 cmt_perf_events_counted(unsigned int cpu, const struct cmt_perf *p, char *reason)
{
	(void)cpu;
	(void)reason;
	return p->wanted & CMT_PERF_EVENTS;
}

void cmt_perf_write_all(struct cmt_perf *p)
{
	(void)p;
}

void cmt_perf_account_waits(struct cmt_perf *p, bool waits)
{
	p->waits = waits;
}

void cmt_perf_events_give_way(unsigned int cpu, struct cmt_perf *p)
{
	(void)cpu;
	(void)p;
}

void cmt_perf_events_retry(unsigned int cpu, struct cmt_perf *p)
{
	(void)cpu;
	(void)p;
}

void cmt_perf_events_retry_tasks(void)
{
}

void cmt_perf_events_release(struct cmt_perf *p)
{
	(void)p;
}

void cmt_perf_clock_init(void)
{
}

void cmt_settings_emit(void)
{
	states++;
}

void on_each_cpu(void (*function)(void *), void *arg, int wait)
{
	(void)wait;
	function(arg);
}

static void set_up(void)
{
	cmt_settings.interval_ns = 1000000;
	ck_assert(!cmt_perf_init(false));
}

/* The events of a CPU that comes online take the counter of a task's: all CPUs give it up. */
START_TEST(test_cpu_up_gives_up)
{
	u32 wanted_here = 0;

	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	ck_assert_uint_eq(updates, 0);
	gives_up = true;
	cmt_perf_cpu_up(0, true);
	ck_assert_uint_eq(updates, 1);
	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	ck_assert_uint_eq(updates, 2);
	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	ck_assert_uint_eq(updates, 2);
	/* the events of one that gives nothing up */
	cmt_perf_cpu_down(0);
	cmt_perf_cpu_up(0, true);
	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	ck_assert_uint_eq(updates, 3);
	cmt_perf_want(&wanted_here, 0);
	cmt_perf_stop();
	ck_assert_ptr_null(cmt_cpus.perf);
}
END_TEST

/* Nobody wants a value any more when the other CPUs would be looked at. */
START_TEST(test_cpu_up_before_the_end)
{
	u32 wanted_here = 0;

	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	gives_up = true;
	cmt_perf_cpu_up(0, true);
	cmt_perf_stop();
	cmt_perf_want(&wanted_here, 0);
	ck_assert_uint_eq(updates, 1);
	ck_assert_ptr_null(cmt_cpus.perf);
}
END_TEST

/* Waiting is accounted later than a reader asked for it: a STATE says so. */
START_TEST(test_waits_later)
{
	u32 wanted_here = 0;

	cmt_perf_cpu_up(0, true);
	cmt_perf_set_waits("no memory");
	cmt_perf_want(&wanted_here, CMT_F_CYCLES | CMT_F_WAITED);
	ck_assert_uint_eq(cmt_settings.counters, CMT_F_CYCLES);
	ck_assert_uint_eq(states, 1);
	cmt_perf_set_waits(NULL);
	shim_pass(1);
	ck_assert_uint_eq(cmt_settings.counters, CMT_F_CYCLES | CMT_F_WAITED);
	ck_assert_uint_eq(states, 2);
	cmt_perf_want(&wanted_here, 0);
	cmt_perf_stop();
}
END_TEST

/*
 * Counters that a suspend resets: no event is there, and no value is said to be given up.
 * Who asks for the suspend may lack the right to count, so a work item makes the events.
 */
START_TEST(test_no_events_in_suspend)
{
	const u32 both = CMT_F_CYCLES | CMT_F_COUNTERS_FIRST;
	u32 wanted_here = 0;

	cmt_perf_cpu_up(0, true);
	cmt_perf_want(&wanted_here, both);
	ck_assert_uint_eq(cmt_cpus.perf->wanted, both);
	cmt_perf_suspend();
	ck_assert_uint_eq(cmt_cpus.perf->wanted, CMT_F_COUNTERS_FIRST);
	cmt_perf_cpu_down(0);
	cmt_perf_cpu_up(0, true);
	shim_pass(1000);
	ck_assert_uint_eq(cmt_cpus.perf->wanted, CMT_F_COUNTERS_FIRST);
	ck_assert_uint_eq(states, 1);
	cmt_perf_resume();
	ck_assert_uint_eq(cmt_cpus.perf->wanted, both);
	ck_assert(in_work);
	ck_assert_uint_eq(cmt_settings.counters, CMT_F_CYCLES);
	ck_assert_uint_eq(states, 1);
	cmt_perf_want(&wanted_here, 0);
	cmt_perf_stop();
}
END_TEST

/*
 * A suspend that is given up during the unload: the rings are freed before the notifier of
 * suspends is unregistered, and a STATE is a record.
 */
START_TEST(test_no_state_after_stop)
{
	u32 wanted_here = 0;

	cmt_perf_cpu_up(0, true);
	cmt_perf_want(&wanted_here, CMT_F_CYCLES);
	ck_assert_uint_eq(states, 1);
	if (_i)
		cmt_perf_suspend();
	cmt_perf_stop();
	if (!_i)
		cmt_perf_suspend();
	cmt_perf_resume();
	ck_assert_uint_eq(states, 1);
	ck_assert_uint_eq(cmt_settings.counters, 0);
	ck_assert_ptr_null(cmt_cpus.perf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_want");
	TCase *tcase = tcase_create("change");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_cpu_up_gives_up);
	tcase_add_test(tcase, test_cpu_up_before_the_end);
	tcase_add_test(tcase, test_waits_later);
	tcase_add_test(tcase, test_no_events_in_suspend);
	tcase_add_loop_test(tcase, test_no_state_after_stop, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
