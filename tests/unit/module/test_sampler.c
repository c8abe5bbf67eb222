// SPDX-License-Identifier: GPL-2.0-or-later
/* Ticks that begin and end (module/sample/sampler.c), on one CPU. */
#include <check.h>
#include <string.h>

#include <linux/suspend.h>

#include "hw/hw.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sample/sampler.h"
#include "uncore/uncore.h"
#include "unit.h"

#define MS	1000000ULL

struct fake_machine fake = { .nr_cpus = 1 };
u32 fake_cpu;
struct cmt_backend_caps cmt_caps = { .nr_rmids = 64, .rmid_room = 64 };
const struct cmt_backend *cmt_backend;
DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);
DEFINE_PER_CPU(struct cmt_ring, cmt_rings);
typeof_member(struct cmt_record, state) cmt_settings;
u32 cmt_readers;

static struct cmt_domain domain;
static u64 now = 3600000 * MS;
static u32 ticking, states, suspends, resumes;
static bool last_cancel_saw_ticks;

u64 ktime_get_ns(void)
{
	return now;
}

/* Callbacks that run are waited for, on one CPU after another. */
int hrtimer_cancel(struct hrtimer *timer)
{
	(void)timer;
	last_cancel_saw_ticks = cmt_sampler_ran(now);
	now += 10 * MS;
	ticking = 0;
	return 1;
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	(void)timer;
	return 1;
}

void cmt_hrtimer_setup(struct hrtimer *timer,
		       enum hrtimer_restart (*function)(struct hrtimer *timer),
		       enum hrtimer_mode mode)
{
	(void)timer;
	(void)mode;
	ck_assert(function == cmt_tick);
}

enum hrtimer_restart cmt_tick(struct hrtimer *timer)
{
	(void)timer;
	return HRTIMER_RESTART;
}

void cmt_tick_begin(struct sampler_cpu *s)
{
	(void)s;
	ticking++;
}

void cmt_ticks_init(void)
{
}

void cmt_ticks_prepare(u32 budget_us)
{
	(void)budget_us;
}

void cmt_perf_begin(void)
{
}

void cmt_perf_suspend(void)
{
	ck_assert_uint_eq(ticking, 0);
	suspends++;
}

void cmt_perf_resume(void)
{
	ck_assert_uint_eq(ticking, 0);
	resumes++;
}

void cmt_settings_emit(void)
{
	states++;
}

struct cmt_domain *cmt_sampler_domain(u32 index)
{
	ck_assert_uint_eq(index, 0);
	return &domain;
}

void cmt_domains_lose_base(u64 since)
{
	(void)since;
}

bool cmt_domain_begin(struct cmt_domain *d, u32 rmid, u32 generation)
{
	(void)d;
	(void)rmid;
	(void)generation;
	return false;
}

void cmt_domains_exit(void)
{
}

void cmt_channels_claim(void)
{
}

void cmt_channels_release(void)
{
}

void cmt_cpus_refresh(void)
{
}

bool cmt_resctrl_is_mounted(void)
{
	return false;
}

void cmt_notes_drop(u32 rmid)
{
	(void)rmid;
}

const unsigned long *cmt_table_readable(void)
{
	return NULL;
}

const u32 *cmt_table_generations(void)
{
	return NULL;
}

void synchronize_rcu(void)
{
}

/* A reader comes, and goes. */
static void read_once(void)
{
	bool wants = false;

	cmt_sampler_want_ticks(&wants, true);
	ck_assert_uint_eq(ticking, 1);
	ck_assert(cmt_sampler_ran(now));
	cmt_sampler_want_ticks(&wants, false);
	ck_assert_uint_eq(ticking, 0);
}

static void set_up(void)
{
	ck_assert(!cmt_sampler_init(MS));
	ck_assert(!cmt_sampler_prepare(0));
	cmt_cpus.up = true;
	cmt_sampler_assign(0, 0, true, 0, 1);
}

/*
 * A reading on demand on another CPU continues the last one of a tick also while the ticks
 * are being stopped, and for CMT_COUNTER_GAP_NS after.
 */
START_TEST(test_stop)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		read_once();
		ck_assert(last_cancel_saw_ticks);
		ck_assert(cmt_sampler_ran(now + CMT_COUNTER_GAP_NS));
		ck_assert(!cmt_sampler_ran(now + CMT_COUNTER_GAP_NS + 1));
		now += 3600000 * MS;
	}
}
END_TEST

static void notify(unsigned long action)
{
	shim_pm_block->notifier_call(shim_pm_block, action, NULL);
}

/*
 * Events of perf are there when ticks run: the ticks stop before the events go, and begin
 * after the events have come back.
 */
START_TEST(test_suspend)
{
	static const unsigned long actions[][2] = {
		{ PM_SUSPEND_PREPARE, PM_POST_SUSPEND },
		{ PM_HIBERNATION_PREPARE, PM_POST_HIBERNATION },
	};
	bool wants = false;

	cmt_sampler_want_ticks(&wants, true);
	ck_assert_uint_eq(ticking, 1);
	notify(actions[_i][0]);
	ck_assert_uint_eq(ticking, 0);
	ck_assert_uint_eq(suspends, 1);
	ck_assert_uint_eq(resumes, 0);
	ck_assert(cmt_sampler_is_suspended());
	notify(actions[_i][1]);
	ck_assert_uint_eq(ticking, 1);
	ck_assert_uint_eq(suspends, 1);
	ck_assert_uint_eq(resumes, 1);
	ck_assert(!cmt_sampler_is_suspended());
	cmt_sampler_want_ticks(&wants, false);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler");
	TCase *tcase = tcase_create("ticks");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_stop);
	tcase_add_loop_test(tcase, test_suspend, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
