/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_HRTIMER_H
#define SHIM_LINUX_HRTIMER_H

#include "../fake_perf.h"

struct hrtimer {
	int unused;
};

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_PINNED_HARD,
};

/* The test has the timers.  The setup is module/compat.h's. */
int hrtimer_cancel(struct hrtimer *timer);
int hrtimer_try_to_cancel(struct hrtimer *timer);
void cmt_hrtimer_setup(struct hrtimer *timer,
		       enum hrtimer_restart (*function)(struct hrtimer *timer),
		       enum hrtimer_mode mode);

#endif
