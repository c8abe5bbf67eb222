/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_VMALLOC_H
#define SHIM_LINUX_VMALLOC_H

#include <stddef.h>
#include <stdlib.h>

struct page;

/* The test has the memory. */
void *vzalloc_node(size_t bytes, int node);

static inline void vfree(void *p)
{
	free(p);
}

static inline struct page *vmalloc_to_page(void *p)
{
	return p;
}

#endif
