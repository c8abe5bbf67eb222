/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspends that the kernel tests, on the lab's processor. */
#ifndef CMT_LAB_SUSPEND_H
#define CMT_LAB_SUSPEND_H

#define SUSPEND_POWER	"/sys/power/"

/*
 * Suspend to @state of /sys/power/state as far as @level of /sys/power/pm_test, for so
 * many seconds, in which the lab resets the MBM counters.  Returns after the resume.
 */
void suspend_once(const char *level, const char *state, unsigned int seconds);

#endif
