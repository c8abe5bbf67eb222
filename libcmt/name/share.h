/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The share of a CPU that lookups take. */
#ifndef LIBCMT_SHARE_H
#define LIBCMT_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The lookups of one kind.  A turn ends when they have taken 50 ms of CPU time or of wall
 * time: a slow disk delays the reader of the rings as work does.  A user whose lookup ends
 * a turn has no lookup in the next round if other users were refused in the pause.
 */
struct cmt_share {
	uint64_t cpu_ns, wall_ns;	/* taken in this turn */
	uint64_t pause_ends;
	uint64_t round_ends;		/* not before @pause_ends */
	uint64_t served;		/* users whose lookups ended a turn: user_bit() */
	uint64_t rounds;		/* in which all users were served */
	bool waiting;			/* another user was refused in this pause */
};

/* The times at the begin of a lookup. */
struct cmt_spent {
	uint64_t cpu_ns, wall_ns;
};

/* May a lookup for @uid begin? */
bool cmt_share_admits(struct cmt_share *share, uint32_t uid, uint64_t now);
/* Around a lookup that may begin. */
struct cmt_spent cmt_share_begin(void);
void cmt_share_charge(struct cmt_share *share, uint32_t uid,
		      const struct cmt_spent *began);

#endif
