// SPDX-License-Identifier: GPL-2.0-or-later
#include "caps.h"

#include <errno.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>

/*
 * The permitted capabilities that are kept.  NULL: errno is set.  cap_set_proc()
 * fails if a requested capability is not permitted.
 */
static cap_t caps_wanted(cap_t now, bool keep_control)
{
	static const cap_value_t control[] = { CAP_SYS_ADMIN, CAP_PERFMON };
	cap_t want = cap_init();
	cap_flag_value_t has;
	unsigned int i;

	for (i = 0; want && keep_control && i < 2; i++) {
		if (cap_get_flag(now, control[i], CAP_PERMITTED, &has) || !has)
			continue;
		cap_set_flag(want, CAP_PERMITTED, 1, &control[i], CAP_SET);
		cap_set_flag(want, CAP_EFFECTIVE, 1, &control[i], CAP_SET);
	}
	return want;
}

/*
 * Only a process with CAP_SETPCAP may drop from the bounding set.  Without
 * CAP_SETPCAP the set has no effect: under no_new_privs execve() grants nothing.
 */
static void drop_bounding(void)
{
	cap_value_t cap;

	for (cap = 0; cap < cap_max_bits(); cap++)
		if (cap_get_bound(cap) > 0 && cap_drop_bound(cap))
			return;
}

int caps_drop(bool keep_control)
{
	cap_t now = NULL, want = NULL;
	int ret = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || cap_reset_ambient())
		return -errno;
	drop_bounding();
	now = cap_get_proc();
	if (now)
		want = caps_wanted(now, keep_control);
	if (!want || cap_set_proc(want)) {
		ret = -errno;
		goto out;
	}
	cap_free(now);
	now = cap_get_proc();
	if (!now)
		ret = -errno;
	else if (cap_compare(now, want))
		ret = -EPERM;
out:
	if (now)
		cap_free(now);
	if (want)
		cap_free(want);
	return ret;
}
