/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <stdbool.h>

#include <linux/bits.h>

#define BITS_TO_LONGS(bits)	(((bits) + 63) / 64)

static inline bool test_bit(unsigned long nr, const unsigned long *bits)
{
	return bits[nr / 64] >> nr % 64 & 1;
}

static inline void set_bit(unsigned long nr, unsigned long *bits)
{
	__atomic_fetch_or(&bits[nr / 64], BIT(nr % 64), __ATOMIC_RELAXED);
}

static inline void clear_bit(unsigned long nr, unsigned long *bits)
{
	__atomic_fetch_and(&bits[nr / 64], ~BIT(nr % 64), __ATOMIC_RELAXED);
}

#define for_each_set_bit(nr, bits, size)		\
	for ((nr) = 0; (nr) < (size); (nr)++)		\
		if (test_bit(nr, bits))

#endif
