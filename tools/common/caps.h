/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up privileges once the device is open. */
#ifndef TOOLS_CAPS_H
#define TOOLS_CAPS_H

#include <stdbool.h>

/*
 * Drop every capability: effective, permitted, inheritable, ambient and, where the
 * process may, the bounding set; and every way to get one back (no_new_privs).
 * @keep_control keeps CAP_SYS_ADMIN and CAP_PERFMON, if there, in the permitted and
 * effective sets, for setting the interval.  Returns 0, or -errno when a capability is
 * left that should not be.
 */
int caps_drop(bool keep_control);

#endif
