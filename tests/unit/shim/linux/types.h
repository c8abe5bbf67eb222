/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int uint;

#define DECLARE_BITMAP(name, bits)	unsigned long name[((bits) + 63) / 64]

struct rcu_head {
	int unused;
};

#endif
