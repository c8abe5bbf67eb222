/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The L3 caches of a frame by owner: how much of each is held.  Pure. */
#ifndef TOOLS_CACHES_H
#define TOOLS_CACHES_H

#include "common/rows.h"

#define CACHES_MOST 65U		/* all together, and as many L3 domains as the module reads */

struct cache {
	bool all;		/* of the machine together */
	uint32_t domain;	/* else: of this one */
	uint64_t bytes;		/* its size; 0: unknown */
	struct measure held;	/* bytes */
	const struct trail *trail;	/* of it, its last minute; NULL: nothing is kept */
};

struct caches {
	uint32_t nr;		/* 0: the rows are not owners; 1: there are no parts by domain */
	struct cache list[CACHES_MOST];	/* the first is of all, others by domain, ascending */
};

/* Of all rows of @frame. */
void caches_set(struct caches *caches, const struct frame *frame);

/* The part of the row in the cache; NULL: it has none there. */
const struct measure *cache_part(const struct cache *cache, const struct frame *frame,
				 const struct row *row);

#endif
