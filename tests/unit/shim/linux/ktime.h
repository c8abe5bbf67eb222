/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_KTIME_H
#define SHIM_LINUX_KTIME_H

#include <linux/types.h>

/* The test has the clock. */
u64 ktime_get_ns(void);

#endif
