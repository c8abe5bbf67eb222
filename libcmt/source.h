/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rings as sources of records: records that are taken from a source are checked and
 * counted.  Both the merge (merge.h) and the feed (feed.h) use sources.  Pure: mapped
 * bytes, and the time is given.
 *
 * The next record of a ring is not older than
 *  - its oldest record that is not delivered;
 *  - otherwise its last delivered record: a ring never goes back in time.  TICKs move
 *    this bound on every ring that is online;
 *  - @now, for a ring that is ABSENT, or OFFLINE with CPU_OFFLINE as its last record:
 *    its next record is not taken yet;
 *  - @now - CMT_QUIET_NS, for a ring that is QUIET: no TICK moves its bound, and its
 *    records come at once;
 *  - @now - latency_ns for all, and earlier when a ring fills up meanwhile
 *    (cmt_sources_press()): later records are dropped as late.
 */
#ifndef LIBCMT_SOURCE_H
#define LIBCMT_SOURCE_H

#include <cmt/reader.h>

#include "internal.h"
#include "ring.h"

/*
 * A record's time may be ahead of a clock read before it was copied.  If it
 * still is by more than this when the clock has been read again, it is
 * malformed; the allowance is for clocks of CPUs that differ a little.
 */
#define CMT_AHEAD_NS	1000000

/*
 * A record of a QUIET ring shows within a tick's time, some 100 us, or later by as
 * long as a hypervisor keeps the CPU from running in between.
 */
#define CMT_QUIET_NS	10000000

/*
 * The part of @whole, a ring's records or the time that it holds, that may wait for
 * another ring.  The rest is for a reader that is late, and is more than the watermark,
 * which is an eighth.
 */
static inline uint64_t cmt_ring_share(uint64_t whole)
{
	return whole / 16 * 13;
}

struct cmt_source {
	struct cmt_ring ring;
	uint32_t cpu;
	uint32_t want;			/* records to copy next, for the feed */
	uint64_t last_ts;		/* no later record is before it */
	bool started;			/* last_ts and last_type are set */
	uint16_t last_type;
	bool gap_ended;			/* gap_end is set */
	uint64_t ahead;			/* 1 + index of a record from the */
	uint64_t ahead_now;		/* future, and the time then */
	uint64_t gap;			/* lost, not reported yet: */
	uint64_t gap_begin, gap_end;	/* the times around them */
	struct cmt_reader_counts counts;	/* not emitted and pending;
						 * delivered: buffered, too
						 */
	bool listed;			/* the merge's: a gap to report */
};

/*
 * Records that the merge has taken from a ring and not delivered yet.  The buffers of
 * all rings are adjacent: the merge goes from ring to ring with every record.
 */
struct cmt_buffered {
	const struct cmt_record *next, *end;
};

struct cmt_sources {
	struct cmt_info info;
	uint64_t latency_ns;
	uint64_t now;		/* never goes back */
	uint64_t since;		/* the first now */
	uint64_t release;	/* records before it wait for no ring, */
	bool pressed;		/* if this is set */
	uint64_t held_ts;	/* nothing is ready until all bounds are past it, */
	bool held;		/* if this is set; otherwise nothing is held */
	uint64_t missed;	/* + 1 whenever records were lost, or lifecycle
				 * records were late
				 */
	bool state_changed;	/* a CMT_REC_STATE passed */
	uint32_t nr;
	struct cmt_buffered *buffered;	/* [cpu] */
	struct cmt_source all[];
};

/* @info is copied.  Returns 0 or -ENOMEM. */
int cmt_sources_new(struct cmt_sources **sources, const struct cmt_info *info,
		    uint64_t latency_ns);
void cmt_sources_free(struct cmt_sources *sources);

/*
 * Give the ring of the next CPU, beginning with 0; all info.nr_cpus must be
 * given before the first read.  @image stays the caller's and outlives the
 * sources.  Returns 0 or -EPROTO.
 */
int cmt_sources_add(struct cmt_sources *sources, const void *image,
		    size_t bytes, bool oldest);

/* Set the time of the following calls. */
void cmt_sources_now(struct cmt_sources *sources, uint64_t now);

/*
 * Where a ring has more waiting than its share, others are not waited for any
 * longer than for the records that are too much.  Returns 0 or -EPROTO.
 */
int cmt_sources_press(struct cmt_sources *sources);

/* @cpu: below info.nr_cpus */
void cmt_sources_counts(const struct cmt_sources *sources, uint32_t cpu,
			struct cmt_reader_counts *counts);

enum cmt_stop {
	CMT_STOP_DRAINED,	/* there is no more, or it is from the future */
	CMT_STOP_BATCH,		/* there is more */
	CMT_STOP_LIMIT,		/* there is more, all at stop_ts or later */
};

/* A request to a source, and the state where it stopped */
struct cmt_take {
	uint64_t floor;		/* in: records before it are late, */
	bool floored;		/* if this is set */
	uint64_t limit;		/* in: records from it on stay in the ring, */
	bool limited;		/* if this is set; */
	bool closed;		/* in: all records do */
	enum cmt_stop stop;
	uint64_t stop_ts;
};

/*
 * Copy up to @n records, and keep those that are possible and not late.  Returns the
 * number of kept ones in @records, in order of time, or -EPROTO.
 */
int cmt_source_take(struct cmt_sources *sources, struct cmt_source *source,
		    struct cmt_record *records, uint32_t n,
		    struct cmt_take *take);

/* @source was drained: its next records are not older than this. */
uint64_t cmt_source_bound(const struct cmt_sources *sources,
			  const struct cmt_source *source);

/*
 * The time at which waiting records fall due, if no ring has new ones.  Returns whether
 * records wait; they may be due already.
 */
bool cmt_sources_due(const struct cmt_sources *sources, uint64_t *due);

/* Records were lost, and where the gap ends is known: it can be reported. */
static inline bool cmt_source_gap(const struct cmt_source *source)
{
	return source->gap && source->gap_ended;
}

#endif
