/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of a row. */
#ifndef LIBCMT_USAGE_ROW_H
#define LIBCMT_USAGE_ROW_H

#include "frame.h"
#include "group.h"
#include "holding.h"

/* An RMID or a channel is read within this time of its record's timestamp. */
#define USAGE_READ_NS	20000

/* rate.c: */

/* Add @bytes moved in @span, with bounds; the error is at most @slack. */
void usage_rate_add(struct cmt_usage_rate *r, uint64_t bytes, uint64_t slack,
		    uint64_t span);
/*
 * Add the traffic of a holding.  @over_ns: the rate is over this time; 0: over the time
 * that was counted.
 */
void usage_rate_traffic(const struct cmt_usage *usage,
			struct cmt_usage_rate *r, const struct usage_holding *h,
			const struct usage_traffic *t, uint64_t elapsed_ns,
			uint64_t over_ns);
/* Complete a rate, when all bytes are added. */
void usage_rate_settle(struct cmt_usage_rate *r, bool pending);
/* The total bandwidth of all RMIDs.  To be called after usage_rows(). */
void usage_rmids(const struct cmt_usage *usage, struct cmt_usage_rate *r,
		 uint64_t elapsed_ns);

/* row.c: */

/* NULL: no memory. */
struct cmt_usage_row *usage_row_new(struct usage_rows *to);
/* One row from a run of @n holdings, of the group @number. */
void usage_row_fill(struct cmt_usage *usage, struct usage_frame *to,
		    struct cmt_usage_row *row, struct usage_holding *const *run,
		    uint32_t n, uint32_t number);
/*
 * In a container's row, drop what is of one of the processes or cgroups in it and not of
 * the row.
 */
void usage_row_of_container(const struct cmt_usage *usage, struct cmt_usage_row *row);
/*
 * Add a row of a container with pending owners only: their number, without values.
 * Returns 0 or -ENOMEM.
 */
int usage_row_pending(const struct cmt_usage *usage, struct usage_frame *to,
		      const struct usage_group *group);
/* The parts of usage_row_fill() that a CPU's row has, too. */
void usage_row_owner(struct cmt_usage_row *row, const struct usage_owner *owner);
const struct cmt_container *
usage_row_container(const struct cmt_usage *usage, struct usage_frame *to, uint32_t cgroup);
void usage_row_add(const struct cmt_usage *usage, struct cmt_usage_row *row,
		   const struct usage_holding *h, uint64_t elapsed_ns);
void usage_row_spread(struct cmt_usage_row *row, const struct usage_sum *sum);
void usage_row_settle(const struct cmt_usage *usage, struct cmt_usage_row *row, bool alive);

#endif
