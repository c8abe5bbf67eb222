/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The merge: the rings of all CPUs in one order of (ts, cpu, index).
 * Pure: it works on mapped bytes and is told the time.
 *
 * A record may come out when no ring can show one that goes before it.  What a
 * ring can still show is bounded by
 *  - its oldest record that is copied but not delivered;
 *  - otherwise the last record it showed: it never goes back in time.  TICKs
 *    move this bound on every ring that is online;
 *  - @now, for a ring that is ABSENT, or OFFLINE with CPU_OFFLINE as its last
 *    record: the next record it shows is not taken yet;
 *  - @now - latency_ns for all: what comes later than that is dropped as late.
 */
#ifndef LIBCMT_MERGE_H
#define LIBCMT_MERGE_H

#include <cmt/reader.h>

#include "internal.h"

/*
 * A record's time may be ahead of a clock read before it was copied.  If it
 * still is by more than this when the clock has been read again, it is
 * malformed; the allowance is for clocks of CPUs that differ a little.
 */
#define CMT_MERGE_AHEAD_NS	1000000

struct cmt_merge;

/* @info is copied.  Returns 0 or -ENOMEM. */
int cmt_merge_new(struct cmt_merge **merge, const struct cmt_info *info,
		  uint64_t latency_ns);
void cmt_merge_free(struct cmt_merge *merge);

/*
 * Give the ring of the next CPU, beginning with 0; all info.nr_cpus must be
 * given before the first read.  @image stays the caller's and outlives the
 * merge.  Returns 0 or -EPROTO.
 */
int cmt_merge_add(struct cmt_merge *merge, const void *image, size_t bytes,
		  bool oldest);

/*
 * As cmt_reader_read() at @now, which never goes back.
 * -EPROTO comes again at every further call.
 */
int cmt_merge_read(struct cmt_merge *merge, struct cmt_record *records,
		   unsigned int n, uint64_t now);

/* @cpu: below info.nr_cpus */
void cmt_merge_counts(const struct cmt_merge *merge, uint32_t cpu,
		      struct cmt_reader_counts *counts);

#endif
