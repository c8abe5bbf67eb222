/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_BITMAP_H
#define SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/slab.h>

#define bitmap_zalloc(bits, gfp) \
	((unsigned long *)kcalloc(BITS_TO_LONGS(bits), sizeof(unsigned long), gfp))
#define bitmap_free(bitmap)	kfree(bitmap)

/* @bits is a multiple of a word's, as of the next function. */
static inline void bitmap_zero(unsigned long *bitmap, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		bitmap[i] = 0;
}

static inline bool bitmap_empty(const unsigned long *bitmap, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits / BITS_PER_LONG; i++)
		if (__atomic_load_n(&bitmap[i], __ATOMIC_RELAXED))
			return false;
	return true;
}

#endif
