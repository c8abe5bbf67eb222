// SPDX-License-Identifier: GPL-2.0-or-later
#include "suspend.h"

#include <stdio.h>
#include <string.h>

#include "../vm/suite/suite.h"
#include "lab.h"

#define PM_DELAY	"/sys/module/suspend/parameters/pm_test_delay"

/*
 * As a hibernation does, the counters are reset while all tasks are frozen.  That is so for
 * @seconds, from some time on that is long where the host is busy.
 */
void suspend_once(const char *level, const char *state, unsigned int seconds)
{
	uint64_t resets = lab_get(LAB_MBM_RESET, seconds * 1000000 / 4 * 3);
	char delay[12];
	int err;

	snprintf(delay, sizeof(delay), "%u", seconds);
	CHECK(!write_file(PM_DELAY, delay), PM_DELAY);
	CHECK(!write_file(SUSPEND_POWER "pm_test", level), "pm_test: %s", level);
	err = write_file(SUSPEND_POWER "state", state);
	CHECK(!err, "%s to " SUSPEND_POWER "state: %s", state, strerror(-err));
	CHECK(!write_file(SUSPEND_POWER "pm_test", "none"), "pm_test: none");
	WAIT_FOR(lab_get(LAB_STAT, LAB_S_MBM_RESETS) > resets, 10000,
		 "the counters were not reset");
}
