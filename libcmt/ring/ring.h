/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A broadcast ring: checked, and copied from while the kernel overwrites it.  Then the
 * rings of all CPUs.  They work on mapped bytes and need no descriptor.
 */
#ifndef LIBCMT_RING_H
#define LIBCMT_RING_H

#include <cmt/reader.h>
#include <stddef.h>

#include "base/base.h"

/*
 * A larger head is not a count of records: at a billion records a second, a head
 * reaches 2^56 in more than two years.
 */
#define CMT_RING_HEAD_MAX	(1ULL << 56)

struct cmt_ring {
	const struct cmt_ring_header *header;
	/* with ABSENT: pages that must not be accessed */
	const struct cmt_record *slots;
	uint64_t capacity;
	uint64_t start;		/* index of the first record for this reader */
	uint64_t pos;		/* index of the next record to copy */
	uint64_t head;		/* the last loaded head, at least pos */
	uint64_t unwritten;	/* the last loaded header->unwritten */
	uint64_t unwritten_start;	/* the first loaded header->unwritten */
	uint32_t state;		/* loaded before head */
};

/*
 * Check @image, a mapping of @bytes, against the device's info.  Begin at the head
 * or, with @oldest, at the oldest record that is still present.  The caller keeps
 * the image, which outlives @ring.  Returns 0 or -EPROTO.
 */
int cmt_ring_init(struct cmt_ring *ring, const void *image, size_t bytes,
		  const struct cmt_info *info, uint32_t cpu, bool oldest);

/* Load state, head and unwritten.  Returns 0, or -EPROTO: they are inconsistent. */
int cmt_ring_refresh(struct cmt_ring *ring);

/*
 * Copy up to @n records below the head of the last refresh, and load head again.
 * *@lost: number of overwritten records before the first copied record.  Returns the
 * number of copied records, or -EPROTO.  The number is 0 if all were overwritten.
 * The first copied record has index pos minus this number.
 */
int cmt_ring_copy(struct cmt_ring *ring, struct cmt_record *records,
		  unsigned int n, uint64_t *lost);

/*
 * GCC takes a function that only prefetches for a function without effect, and drops
 * the call.  The statement prevents this.
 */
static inline void cmt_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* Prefetch the record @n after the next one, if it is present. */
static inline void cmt_ring_prefetch_at(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t index = ring->pos + n;

	/* The writer may own the cache line of an older record. */
	if (index < ring->head)
		cmt_prefetch(&ring->slots[index & (ring->capacity - 1)]);
}

/* Prefetch the next @n records. */
static inline void cmt_ring_prefetch(const struct cmt_ring *ring, uint64_t n)
{
	uint64_t mask = ring->capacity - 1;

	if (n > ring->head - ring->pos)
		n = ring->head - ring->pos;
	for (uint64_t i = 0; i < n; i++)
		cmt_prefetch(&ring->slots[(ring->pos + i) & mask]);
}

/*
 * Read the time of the record @index, which is below head.  Returns 1, 0 (the record
 * may have been overwritten, and *@ts is undefined) or -EPROTO.
 */
int cmt_ring_ts_at(struct cmt_ring *ring, uint64_t index, uint64_t *ts);

/*
 * Make @header that of a ring of @cpu without records.  @header is followed by zeroes up
 * to the first record.
 */
void cmt_ring_begin(struct cmt_ring_header *header, const struct cmt_info *info,
		    uint32_t cpu, uint32_t state);

/* Write a record, as the module does.  One thread writes at a time. */
void cmt_ring_put(struct cmt_ring_header *header, const struct cmt_record *record);

/*
 * The rings as sources of records.  Records that are taken from a source are checked
 * and counted.  Both the merge (room reader) and the feed (room slots) use sources.  Pure: the
 * input is mapped bytes and the time.
 *
 * The next record of a ring is not older than
 *  - the ring's oldest record that is not delivered;
 *  - otherwise the ring's last delivered record: a ring never goes back in time.  TICKs
 *    move this bound on every ring that is online;
 *  - @now, for a ring that is ABSENT, or OFFLINE with CPU_OFFLINE as its last record:
 *    the time of its next record is not taken yet;
 *  - @now - CMT_QUIET_NS, for a ring that is QUIET: no TICK moves its bound, and its
 *    records appear at once;
 *  - @now - latency_ns for all rings, and earlier when a ring fills up meanwhile
 *    (cmt_sources_press()): later records are dropped as late.
 */
/*
 * A record's time may be ahead of a clock read before it was copied.  If it
 * still is by more than this when the clock has been read again, it is
 * malformed; the allowance is for clocks of CPUs that differ a little.
 */
#define CMT_AHEAD_NS	1000000

/*
 * A record of a QUIET ring appears within the time of a tick, some 100 us.  While a
 * hypervisor keeps the CPU from running, the record appears later.
 */
#define CMT_QUIET_NS	10000000

/*
 * The part of @whole that may wait for another ring.  @whole is a ring's number of
 * records or their time span.  The rest is for a late reader, and is more than the
 * watermark, which is an eighth.
 */
static inline uint64_t cmt_ring_share(uint64_t whole)
{
	return whole / 16 * 13;
}

struct cmt_source {
	struct cmt_ring ring;
	uint32_t cpu;
	uint32_t want;			/* the feed's: number of records to copy next */
	/* time of the last record; later records are not before it */
	uint64_t last_ts;
	bool started;			/* last_ts and last_type are set */
	uint16_t last_type;
	bool gap_ended;			/* gap_end is set */
	/* 1 + index of a record that seemed to be from the future */
	uint64_t ahead;
	uint64_t ahead_now;		/* the time of that check */
	uint64_t unwritten;		/* as in the ring, and counted as lost */
	uint64_t gap;			/* number of lost records, not reported yet */
	/* times of the records before and after the gap */
	uint64_t gap_begin, gap_end;
	/* emitted and pending are not set; delivered includes buffered records */
	struct cmt_reader_counts counts;
	/* the merge's: the gap is in the list of gaps */
	bool listed;
};

/*
 * Records that the merge has taken from a ring and not delivered yet.  The buffers of
 * all rings are adjacent, because the merge changes the ring with every record.
 */
struct cmt_buffered {
	const struct cmt_record *next, *end;
};

struct cmt_sources {
	struct cmt_info info;
	uint64_t latency_ns;
	uint64_t now;		/* never decreases */
	uint64_t since;		/* the first now */
	/* if pressed: records before this time wait for no ring */
	uint64_t release;
	bool pressed;		/* release is set */
	/*
	 * if held: the first waiting record is ready when all bounds are past this time
	 */
	uint64_t held_ts;
	bool held;		/* records wait; held_ts is set */
	/* incremented when records were lost, or lifecycle records were late */
	uint64_t missed;
	bool state_changed;	/* a CMT_REC_STATE was read */
	uint32_t nr;
	struct cmt_buffered *buffered;	/* by CPU */
	struct cmt_source all[];
};

/* @info is copied.  Returns 0 or -ENOMEM. */
int cmt_sources_new(struct cmt_sources **sources, const struct cmt_info *info,
		    uint64_t latency_ns);
void cmt_sources_free(struct cmt_sources *sources);

/*
 * Add the ring of the next CPU, beginning with CPU 0.  All info.nr_cpus rings must be
 * added before the first read.  The caller keeps @image, which outlives the sources.
 * Returns 0 or -EPROTO.
 */
int cmt_sources_add(struct cmt_sources *sources, const void *image,
		    size_t bytes, bool oldest);

/* Set the time of the following calls. */
void cmt_sources_now(struct cmt_sources *sources, uint64_t now);

/*
 * If more records wait in a ring than cmt_ring_share(), release the surplus: these
 * records wait for no other ring.  Returns 0 or -EPROTO.
 */
int cmt_sources_press(struct cmt_sources *sources);

/* @cpu: below info.nr_cpus */
void cmt_sources_counts(const struct cmt_sources *sources, uint32_t cpu,
			struct cmt_reader_counts *counts);

enum cmt_stop {
	/* no record is left, or the next one is from the future */
	CMT_STOP_DRAINED,
	CMT_STOP_BATCH,		/* records are left */
	CMT_STOP_LIMIT,		/* records are left, all at stop_ts or later */
};

/* A request to a source, and the state where it stopped */
struct cmt_take {
	/* in: with floored, records before this time are late */
	uint64_t floor;
	bool floored;		/* in: floor is set */
	/* in: with limited, records from this time on stay in the ring */
	uint64_t limit;
	bool limited;		/* in: limit is set */
	bool closed;		/* in: all records stay in the ring */
	enum cmt_stop stop;
	uint64_t stop_ts;
};

/*
 * Copy up to @n records, and keep the records that are possible and not late.  Returns
 * the number of kept records in @records, in order of time, or -EPROTO.
 */
int cmt_source_take(struct cmt_sources *sources, struct cmt_source *source,
		    struct cmt_record *records, uint32_t n,
		    struct cmt_take *take);

/* The lower bound of the next record's time.  @source must be drained. */
uint64_t cmt_source_bound(const struct cmt_sources *sources,
			  const struct cmt_source *source);

/*
 * The time at which waiting records are due if no ring gets new records.  Returns
 * whether records wait; the time may be in the past.
 */
bool cmt_sources_due(const struct cmt_sources *sources, uint64_t *due);

/* Can a gap be reported?  Records were lost, and the end of the gap is known. */
static inline bool cmt_source_gap(const struct cmt_source *source)
{
	return source->gap && source->gap_ended;
}

#endif
