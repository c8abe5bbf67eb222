/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole cache as one bar, and whose parts it has.  Pure. */
#ifndef TOOLS_SHARES_H
#define TOOLS_SHARES_H

#include "rows.h"

#define SHARES_LETTERS 26U
#define SHARES_SUMS 3U		/* further owners, the overflow RMID, unattributed */
#define SHARES_NAME 40U

/* An owner keeps its letter while it is among those that hold most. */
struct letters {
	uint64_t owners[SHARES_LETTERS];	/* 0: the letter is free */
};

struct share {
	char letter;		/* '+', '*' and '?' for sums */
	double part;		/* of the cache */
	char name[SHARES_NAME];	/* escaped, and cut */
};

struct shares {
	bool wanted;		/* the rows are owners */
	bool known;		/* the size of the cache, and what an owner holds of it */
	bool partial;		/* what is not known of others is not in it */
	double held;
	uint32_t nr;
	struct share list[SHARES_LETTERS + SHARES_SUMS];	/* by letter, then sums */
};

/* Of all rows of @frame, whose row.letter are set. */
void shares_set(struct shares *shares, struct letters *letters, struct frame *frame);

struct screen;

/* One line with the bar; the letter and the name of an owner are in its part. */
void shares_put(struct screen *screen, const struct shares *shares, bool emulated);

/* enum attribute of a letter, the same in the bar and in the row */
unsigned int shares_attribute(char letter);

#endif
