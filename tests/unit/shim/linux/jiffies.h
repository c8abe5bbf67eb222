/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_JIFFIES_H
#define SHIM_LINUX_JIFFIES_H

#define HZ			1000
#define msecs_to_jiffies(ms)	((unsigned long)(ms))

#endif
