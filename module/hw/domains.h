/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The L3 domains that are read, by index.  A domain gets its index when its first CPU
 * comes up, and keeps it.  Pure.
 */
#ifndef CMT_DOMAINS_H
#define CMT_DOMAINS_H

#include <linux/errno.h>
#include <linux/types.h>

#include "backend.h"

struct cmt_domain_ids {
	u32 ids[CMT_MAX_DOMAINS];	/* by index */
	u32 nr;
};

/*
 * The index of a domain; .nr: the domain is new and gets this index; -ENOSPC: no index is
 * left.
 */
static inline int cmt_domain_find(const struct cmt_domain_ids *known, u32 id)
{
	u32 i;

	for (i = 0; i < known->nr; i++)
		if (known->ids[i] == id)
			return i;
	return i < CMT_MAX_DOMAINS ? i : -ENOSPC;
}

#endif
