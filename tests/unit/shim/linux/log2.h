/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_LOG2_H
#define SHIM_LINUX_LOG2_H

static inline int order_base_2(unsigned long n)
{
	return n > 1 ? 64 - __builtin_clzl(n - 1) : 0;
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return 1UL << order_base_2(n);
}

#endif
