/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From raw counter values to bytes: the state of one RMID in one L3 domain.  Pure; the
 * caller excludes concurrent calls (cmt_counter.seen, burst.h).
 */
#ifndef CMT_COUNTER_H
#define CMT_COUNTER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "backend.h"
#include "cmt.h"

/*
 * An MBM counter that is read at least once a second wraps at most once
 * between two readings (SDM vol. 3B 18.18.6.1); a tenth more is given for the
 * lateness of a timer.
 */
#define CMT_COUNTER_GAP_NS	1100000000ULL

/* QM_CTR's own bits, kept in a raw value; the data is below them. */
#define CMT_RAW_ERROR		BIT_ULL(63)
#define CMT_RAW_UNAVAILABLE	BIT_ULL(62)

/*
 * A counter with this number of bits does not wrap between two readings.  A value below
 * the last one means that the counter was reset.  AMD's counters report that once
 * (Unavailable), to the first agent that reads.
 */
#define CMT_COUNTER_WIDE	40

/* One reading of an RMID: its events, at nearly one time.  0: the event was not read. */
struct cmt_raws {
	u64 occupancy;
	u64 total;
	u64 local;
};

struct cmt_mbm {
	u64 prev;		/* raw */
	u64 units;		/* since the owner began, unwrapped */
};

/*
 * cmt_counter.key: the generation of the owner, without other bits while the next
 * reading continues the last one in all events.  Otherwise CMT_KEY_SLOW, with bits for
 * the events that it continues.
 */
#define CMT_KEY_SLOW		BIT_ULL(32)
#define CMT_KEY_BEGUN		BIT_ULL(33)	/* the generation is valid */
#define CMT_KEY_TOTAL		BIT_ULL(34)	/* total.prev is the last reading */
#define CMT_KEY_LOCAL		BIT_ULL(35)
#define CMT_KEY_NEW		BIT_ULL(36)	/* begun, and not read yet */
#define CMT_KEY_BASED		(CMT_KEY_TOTAL | CMT_KEY_LOCAL)

/* One cache line, so that a sample touches one. */
struct cmt_counter {
	u32 seen;		/* the tick of the last reading: burst.h */
	u32 flags;		/* of a sample with all its values */
	u64 key;
	u64 name;		/* rmid and generation, as a record has them */
	struct cmt_mbm total;
	struct cmt_mbm local;
	u64 residual_bytes;
};

/* Values that are the same for all samples of a burst. */
struct cmt_scale {
	u64 mbm_mask;
	u64 upscale_bytes;
};

/*
 * @events: the events that were read into @raws, which the backend has: CMT_F_OCCUPANCY |
 * _MBM_TOTAL | _MBM_LOCAL.
 */

/* Nothing is known of the RMID in this domain. */
void cmt_counter_reset(struct cmt_counter *counter);

/* A new owner begins in this domain, without any reading yet. */
void cmt_counter_begin(struct cmt_counter *counter, u32 rmid, u32 generation,
		       const struct cmt_backend_caps *caps);

/*
 * The owner has filled no cache in this domain yet: @raws is the residue.  False: @raws has
 * no occupancy.
 */
bool cmt_counter_set_residue(struct cmt_counter *counter,
			     const struct cmt_raws *raws, u32 events,
			     const struct cmt_backend_caps *caps);

/* The owner has had no traffic in this domain yet: traffic counts from @raws on. */
void cmt_counter_set_base(struct cmt_counter *counter,
			  const struct cmt_raws *raws, u32 events,
			  const struct cmt_backend_caps *caps);

/* The counters have been reset, or not been read for too long. */
void cmt_counter_lose_base(struct cmt_counter *counter);

/* Is a wide counter in @raws less than the last reading that the next one continues? */
bool cmt_counter_fell(const struct cmt_counter *counter,
		      const struct cmt_raws *raws, u32 events,
		      const struct cmt_backend_caps *caps);

/*
 * Is a counter that was above @units not less now?  Then it was not reset, if it counts no
 * more than @units between two readings.
 */
bool cmt_counter_kept(const struct cmt_counter *counter,
		      const struct cmt_raws *raws, u32 events, u64 units,
		      const struct cmt_backend_caps *caps);

/* The next reading goes to cmt_counter_sample(), in any state. */
void cmt_counter_make_slow(struct cmt_counter *counter);

/* Does the state belong to @generation? */
static inline bool cmt_counter_is_of(const struct cmt_counter *counter,
				     u32 generation)
{
	return (u32)counter->key == generation &&
	       (!(counter->key & CMT_KEY_SLOW) || counter->key & CMT_KEY_BEGUN);
}

/*
 * Account a reading and fill a SAMPLE: flags, rmid, generation and the payload.
 * For any reading; cmt_counter_continue() does the same for most readings.  The next
 * reading does not continue an event that this one lacks.
 */
void cmt_counter_sample(struct cmt_counter *counter,
			const struct cmt_raws *raws, u32 events,
			const struct cmt_backend_caps *caps,
			struct cmt_record *sample);

/* The owner has begun, and has no accounted reading yet. */
static inline bool cmt_counter_is_new(const struct cmt_counter *counter)
{
	return counter->key & CMT_KEY_NEW;
}

static __always_inline u64 cmt_mbm_add(struct cmt_mbm *mbm, u64 raw,
				       const struct cmt_scale *scale)
{
	mbm->units += (raw - mbm->prev) & scale->mbm_mask;
	mbm->prev = raw;
	return mbm->units * scale->upscale_bytes;
}

/*
 * All three events were read, and are data without another status.  The key is the
 * generation, no correction applies to the RMID, and no counter is reset by the processor:
 * AMD's bursts are "flawed".
 */
static __always_inline void
cmt_counter_continue(struct cmt_counter *counter, const struct cmt_raws *raws,
		     const struct cmt_scale *scale, struct cmt_record *sample)
{
	sample->flags = counter->flags;
	cmt_record_put64(&sample->rmid, counter->name);
	sample->sample.occupancy_bytes = raws->occupancy *
					 scale->upscale_bytes;
	sample->sample.mbm_total_bytes = cmt_mbm_add(&counter->total,
						     raws->total, scale);
	sample->sample.mbm_local_bytes = cmt_mbm_add(&counter->local,
						     raws->local, scale);
	sample->sample.residual_bytes = counter->residual_bytes;
}

#endif
