/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <stdbool.h>

#include <linux/bits.h>

#define BITS_PER_LONG		64
#define BITS_TO_LONGS(bits)	(((bits) + 63) / 64)

static inline bool test_bit(unsigned long nr, const unsigned long *bits)
{
	return bits[nr / 64] >> nr % 64 & 1;
}

static inline void set_bit(unsigned long nr, unsigned long *bits)
{
	__atomic_fetch_or(&bits[nr / 64], BIT(nr % 64), __ATOMIC_RELAXED);
}

static inline void __set_bit(unsigned long nr, unsigned long *bits)
{
	bits[nr / 64] |= BIT(nr % 64);
}

#define __ffs(word)		((unsigned long)__builtin_ctzl(word))
#define hweight32(word)		((unsigned int)__builtin_popcount(word))
#define hweight_long(word)	((unsigned long)__builtin_popcountl(word))
#define ror32(word, shift)	((word) >> (shift) | (word) << (32 - (shift)))

static inline void clear_bit(unsigned long nr, unsigned long *bits)
{
	__atomic_fetch_and(&bits[nr / 64], ~BIT(nr % 64), __ATOMIC_RELAXED);
}

static inline void assign_bit(unsigned long nr, unsigned long *bits, bool value)
{
	if (value)
		set_bit(nr, bits);
	else
		clear_bit(nr, bits);
}

#define for_each_set_bit(nr, bits, size)		\
	for ((nr) = 0; (nr) < (size); (nr)++)		\
		if (test_bit(nr, bits))

#endif
