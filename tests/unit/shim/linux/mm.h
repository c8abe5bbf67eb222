/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <stdlib.h>

#include "../fake.h"
#include "slab.h"

#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(n)	(((n) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

struct page;

static inline unsigned long get_zeroed_page(int gfp)
{
	(void)gfp;
	return (unsigned long)calloc(1, PAGE_SIZE);
}

static inline void free_page(unsigned long page)
{
	free((void *)page);
}

static inline struct page *virt_to_page(void *p)
{
	return p;
}

#endif
