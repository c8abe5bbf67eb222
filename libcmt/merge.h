/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The merge: the records of all rings in one order of (ts, cpu, index).  A record is
 * ready when no ring can have an earlier one: see source.h.
 *
 * A loser tree over the rings: the key of a ring is the time of its first record that
 * is copied and not delivered, or without one the bound of the ring.  So the merge ends
 * when a bound wins.  Equal times are sorted by ring.
 */
#ifndef LIBCMT_MERGE_H
#define LIBCMT_MERGE_H

#include "source.h"

struct cmt_merge;

/* @sources outlive the merge.  Returns 0 or -ENOMEM. */
int cmt_merge_new(struct cmt_merge **merge, struct cmt_sources *sources);
void cmt_merge_free(struct cmt_merge *merge);

/* The sources have been read from in another way. */
void cmt_merge_restart(struct cmt_merge *merge);

/*
 * As cmt_reader_read(), at the time of @sources.  -EPROTO is returned by every further
 * call.
 */
int cmt_merge_read(struct cmt_merge *merge, struct cmt_record *records,
		   unsigned int n);

#endif
