/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The merge: the records of all rings in one order of (ts, cpu, index).  A record is
 * ready when no ring can have an earlier one: see ring/ring.h.
 *
 * A loser tree over the rings: the key of a ring is the time of its first record that
 * is copied and not delivered.  For a ring without such a record, the key is its bound.
 * So the merge ends when a bound wins.  Equal times are sorted by ring.
 */
#ifndef LIBCMT_MERGE_H
#define LIBCMT_MERGE_H

#include "ring/ring.h"

struct cmt_merge;

/* @sources outlive the merge.  Returns 0 or -ENOMEM. */
int cmt_merge_new(struct cmt_merge **merge, struct cmt_sources *sources);
void cmt_merge_free(struct cmt_merge *merge);

/* To be called after the sources were read by other means. */
void cmt_merge_restart(struct cmt_merge *merge);

/*
 * As cmt_reader_read(), at the time of @sources.  After -EPROTO every further call
 * returns -EPROTO.
 */
int cmt_merge_read(struct cmt_merge *merge, struct cmt_record *records,
		   unsigned int n);

#endif
