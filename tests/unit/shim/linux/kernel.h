/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <stdio.h>
#include_next <linux/kernel.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif
