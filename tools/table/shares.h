/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The L3 caches as bars, and whose parts they have.  Pure. */
#ifndef TOOLS_SHARES_H
#define TOOLS_SHARES_H

#include "frame/caches.h"

#define SHARES_BARS 16U
#define SHARES_LETTERS 26U
#define SHARES_SUMS 3U		/* further owners, the overflow RMID, unattributed */
#define SHARES_NAME 40U

/* An owner keeps its letter while it is among those that hold most in the bars. */
struct letters {
	uint64_t owners[SHARES_LETTERS];	/* 0: the letter is free */
};

struct share {
	char letter;		/* '+', '*' and '?' for sums */
	double part;		/* of the cache */
	char name[SHARES_NAME];	/* escaped, and cut */
};

struct bar {
	const struct cache *cache;
	struct share list[SHARES_LETTERS + SHARES_SUMS];	/* by letter, then sums */
};

struct shares {
	bool several;		/* L3 domains: a bar has the name of its cache */
	uint32_t nr;
	struct bar bars[SHARES_BARS];
};

/* How many bars a screen of @height lines has room for; 0: rows are more. */
unsigned int shares_room(unsigned int height);

/*
 * Bars of all rows of @frame.  If not all L3 domains have one of @room, those have it in
 * which @selected holds most, or all caches together if it is NULL.
 */
void shares_set(struct shares *shares, struct letters *letters,
		const struct caches *caches, const struct frame *frame,
		const struct row *selected, unsigned int room);

/* Set row.letter of rows that are in a bar. */
void shares_mark(const struct shares *shares, const struct letters *letters,
		 const struct frame *frame);

struct screen;

/*
 * A line for each bar; the letter and the name of an owner are in its part.  Behind it are
 * the last seconds up to @now_ns, up to a full cache.
 */
void shares_put(struct screen *screen, const struct shares *shares, uint64_t now_ns,
		bool emulated);

/* enum attribute of a letter, the same in the bar and in the row */
unsigned int shares_attribute(char letter);

#endif
