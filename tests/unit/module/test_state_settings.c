// SPDX-License-Identifier: GPL-2.0-or-later
/* STATE records of the settings, module/ring/settings.c. */
#include <check.h>

#include <linux/lockdep.h>

#include "hw/hw.h"
#include "ring/ring.h"
#include "unit.h"

struct cmt_backend_caps cmt_caps;

static u64 now;
static void (*before_look)(void);	/* what other CPUs do before the clock is read */
static struct cmt_record last;		/* the emitted record of the latest time */

u64 ktime_get_ns(void)
{
	void (*others)(void) = before_look;

	before_look = NULL;
	if (others)
		others();
	return ++now;
}

void cmt_emit(const struct cmt_record *record)
{
	ck_assert(shim_irqs_off);
	if (record->ts >= last.ts)
		last = *record;
}

static void setup(void)
{
	now = 0;
	before_look = NULL;
	last = (struct cmt_record) { .ts = 0 };
	cmt_settings = (__typeof__(cmt_settings)) {
		.scope = CMT_SCOPE_CONTAINER, .interval_ns = 1000000,
		.resctrl = CMT_RESCTRL_RESPECT, .counters = CMT_F_CYCLES,
	};
}

START_TEST(test_emit_has_all)
{
	cmt_caps.record_flags = CMT_F_EMULATED;
	cmt_settings.resctrl_mounted = 1;
	cmt_settings_emit();
	ck_assert_uint_eq(last.type, CMT_REC_STATE);
	ck_assert_uint_eq(last.flags, CMT_F_EMULATED);
	ck_assert_uint_eq(last.ts, 1);
	ck_assert_uint_eq(last.state.scope, CMT_SCOPE_CONTAINER);
	ck_assert_uint_eq(last.state.interval_ns, 1000000);
	ck_assert_uint_eq(last.state.resctrl, CMT_RESCTRL_RESPECT);
	ck_assert_uint_eq(last.state.resctrl_mounted, 1);
	ck_assert_uint_eq(last.state.counters, CMT_F_CYCLES);
	ck_assert(!shim_irqs_off);
}
END_TEST

static void other_changes(void)
{
	cmt_settings.scope = CMT_SCOPE_PROCESS;
	cmt_settings.interval_ns = 2000000;
	cmt_settings.resctrl = CMT_RESCTRL_TAKE;
	cmt_settings.resctrl_mounted = 1;
	cmt_settings.counters = 0;
	cmt_settings_emit();
}

/* Another CPU makes a change and its record between the begin of this record and its time. */
START_TEST(test_emit_beside_another)
{
	before_look = other_changes;
	cmt_settings_emit();
	ck_assert_uint_eq(last.ts, 2);
	ck_assert_uint_eq(last.state.scope, CMT_SCOPE_PROCESS);
	ck_assert_uint_eq(last.state.interval_ns, 2000000);
	ck_assert_uint_eq(last.state.resctrl, CMT_RESCTRL_TAKE);
	ck_assert_uint_eq(last.state.resctrl_mounted, 1);
	ck_assert_uint_eq(last.state.counters, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settings");
	TCase *tc = tcase_create("emit");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_emit_has_all);
	tcase_add_test(tc, test_emit_beside_another);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
