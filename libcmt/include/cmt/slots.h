/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Time slots: records folded into windows of equal length.
 *
 * Slot k covers [k * slot_ns, (k + 1) * slot_ns).  Several are open at once;
 * a record newer than all of them moves the window and retires the oldest,
 * which is handed out once, with the metadata of every owner in it.  The slots
 * hold a tracker, and advance it with each retirement.  Pure: no descriptor,
 * no clock.
 */
#ifndef CMT_SLOTS_H
#define CMT_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_slots;

/** One RMID in one L3 domain in one slot. */
struct cmt_slot_entry {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t samples;	/**< SAMPLE records in the slot */
	uint64_t ts;		/**< of the last sample */
	uint16_t flags;		/**< CMT_F_* of the last sample; values are only
				 *   valid with their CMT_F_OCCUPANCY, ... flag;
				 *   CMT_F_ERROR, _UNAVAILABLE, _REBASED,
				 *   _PQR_OVERWRITTEN of any sample in the slot
				 */
	uint16_t reserved;
	uint64_t occupancy_bytes;	/**< last in the slot */
	uint64_t residual_bytes;	/**< of the last sample */
	uint64_t mbm_total_bytes;	/**< last in the slot, since allocation */
	uint64_t mbm_local_bytes;
	const struct cmt_owner *owner;	/**< NULL: RMID 0 or unknown */
};

/** What one CPU said in one slot. */
struct cmt_slot_cpu {
	uint32_t cpu;
	uint32_t domain;
	uint32_t ticks;		/**< TICK records in the slot */
	uint32_t busy_ticks;	/**< of these, with an RMID other than 0 */
	uint32_t rmid;		/**< at the last tick */
	uint32_t generation;
	uint16_t flags;		/**< CMT_F_* of any tick in the slot */
	uint16_t reserved;
	uint32_t interval_ns;
	uint64_t missed;	/**< counters of the last TICK */
	uint64_t deferred;
	uint64_t busy_ns;
	uint64_t samples;
	const struct cmt_owner *owner;	/**< of rmid; NULL: RMID 0 or unknown */
};

/** A retired slot.  Valid, with all that it points to, during the callback. */
struct cmt_slot {
	uint64_t start_ns;
	uint64_t end_ns;	/**< exclusive */
	uint64_t lost;		/**< records lost (CMT_REC_LOST) in the slot;
				 *   in the next one if theirs was retired
				 */
	uint32_t nr_entries;	/**< by (rmid, domain, generation), ascending */
	uint32_t nr_cpus;	/**< by cpu, ascending */
	const struct cmt_slot_entry *entries;
	const struct cmt_slot_cpu *cpus;
};

/**
 * Called for every slot with a record in it, in order, once.  It may use the
 * tracker, but must not add, flush or free.
 */
typedef void (*cmt_slot_fn)(void *ctx, const struct cmt_slot *slot);

struct cmt_slots_opts {
	size_t sz;		/**< sizeof(struct cmt_slots_opts) */
	uint64_t slot_ns;	/**< 0: default, 1 ms; 10 us .. 10 s */
	uint32_t window;	/**< slots open at once, 0: default, 4; 2..64 */
	uint32_t nr_rmids;	/**< cmt_info.nr_rmids */
	uint32_t nr_cpus;	/**< cmt_info.nr_cpus */
};

/**
 * @opts: nr_rmids and nr_cpus must be set
 * @fn:   called from cmt_slots_add() and cmt_slots_flush()
 * Returns 0, -EINVAL or -ENOMEM.
 */
CMT_API int cmt_slots_new(struct cmt_slots **slots,
			  const struct cmt_slots_opts *opts, cmt_slot_fn fn,
			  void *ctx);
CMT_API void cmt_slots_free(struct cmt_slots *slots);

/**
 * Add one record: lifecycle records go to the tracker, SAMPLE and TICK into
 * their slot.  Late, malformed and unknown ones are counted and skipped.
 * Returns 0 or -ENOMEM.
 */
CMT_API int cmt_slots_add(struct cmt_slots *slots,
			  const struct cmt_record *record);

/** Retire all open slots, oldest first.  Records up to the newest of them are
 *  late from then on.
 */
CMT_API void cmt_slots_flush(struct cmt_slots *slots);

/** The tracker, for cmt_tracker_sync() and lookups.  It stays the slots'. */
CMT_API struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *slots);

/** What was skipped, by kind, since cmt_slots_new(). */
struct cmt_slots_counts {
	uint64_t added;
	uint64_t late;		/**< their slot was retired already */
	uint64_t malformed;	/**< impossible RMID, CPU, generation, or more
				 *   domains than 64
				 */
	uint64_t unknown;	/**< a type this library does not know */
	uint64_t retired;	/**< slots */
};

CMT_API void cmt_slots_counts(const struct cmt_slots *slots,
			      struct cmt_slots_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
