/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processor's counters: PERF records, summed by owner. */
#ifndef LIBCMT_USAGE_COUNTERS_H
#define LIBCMT_USAGE_COUNTERS_H

#include <cmt/slots.h>
#include <cmt/usage.h>

#include "owner.h"

struct cmt_usage;
struct usage_holding;

/* Values of PERF records that have a flag: counters.c lists them. */
#define USAGE_COUNTS	5

/* The quotient of two values, over the records with both. */
struct usage_ratio {
	uint64_t part, whole;
};

/* Sums over the PERF records of an interval. */
struct usage_counted {
	uint64_t nr;		/* number of records */
	uint32_t flags;		/* CMT_F_* that some records have */
	uint32_t lacking;	/* CMT_F_* that some records lack */
	uint64_t ran_ns;
	uint64_t sums[USAGE_COUNTS];
	struct usage_ratio ipc, mpki;
};

/*
 * An owner that ran in this interval.  With rows by domain: a domain in which owners
 * ran.
 */
struct usage_runner {
	uint32_t rmid;
	uint32_t generation;	/* 0: RMID 0, or several that are not known */
	uint32_t domain;
	/* the next older runner of this RMID, or of any domain */
	uint32_t older;
	struct usage_owner owner;
	bool freed;
	struct usage_counted counted;
	uint32_t group;		/* valid while rows are made, as child and row */
	uint32_t child;
	uint32_t row;		/* or CMT_USAGE_WAIT_UNKNOWN */
};

/* What the processor counts, and all that PERF records have */
#define USAGE_COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define USAGE_VALUES (USAGE_COUNTERS | CMT_F_WAITED)

/* The PERF records of all owners. */
struct usage_perf {
	/* of this interval */
	uint64_t nr;
	uint32_t flags, lacking;	/* as those of usage_counted */
	/* time covered: from closed_ns, or from first_ns if closed_ns is 0 */
	uint64_t first_ns, last_ns, closed_ns;
	/* by RMID or domain: the newest runner; NULL before the first record */
	uint32_t *newest;
	struct usage_runner *runners;
	uint32_t nr_runners, room_runners;
	/* runners without a holding; valid while rows are made */
	struct usage_holding *blanks;
	uint32_t nr_blanks, room_blanks;
	bool quiet;		/* some CPUs write no TICK records */
};

/* Add the PERF records of a slot.  Returns 0 or -ENOMEM. */
int usage_perf_add(struct cmt_usage *usage, const struct cmt_slot *slot);
/*
 * Sum up by group, and add blanks for owners that ran and have no holding.  To be
 * called before rows are made, after usage_holdings_end().  Returns 0 or -ENOMEM.
 */
int usage_perf_end(struct cmt_usage *usage);
/* The time that the PERF records of this interval cover. */
uint64_t usage_counted_ns(const struct cmt_usage *usage);
/*
 * Fill in the counters of a row, the last of its values.  @counted: NULL: no counters.
 */
void usage_row_counters(const struct cmt_usage *usage,
			const struct cmt_usage_frame *frame,
			struct cmt_usage_row *row,
			const struct usage_counted *counted);
void usage_perf_close(struct cmt_usage *usage);
void usage_perf_free(struct cmt_usage *usage);

#endif
