/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL	0

/* After this many have succeeded, one allocation fails; negative: none does. */
__attribute__((weak)) int shim_allocs_left = -1;
/* Those not freed.  Check's forked children end without a leak report. */
__attribute__((weak)) int shim_allocs_live;

static inline void *kcalloc(size_t n, size_t size, int gfp)
{
	(void)gfp;
	if (shim_allocs_left >= 0 && !shim_allocs_left--)
		return NULL;
	shim_allocs_live++;
	return calloc(n, size);
}

static inline void kfree(void *p)
{
	shim_allocs_live -= !!p;
	free(p);
}

#define kzalloc_node(size, gfp, node)	((void)(node), kcalloc(1, size, gfp))
#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))

#define kvcalloc(n, size, gfp)		kcalloc(n, size, gfp)
#define kvfree(p)		kfree(p)

#endif
