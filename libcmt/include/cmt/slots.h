/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Time slots: records folded into windows of equal length.
 *
 * Slot k covers [k * slot_ns, (k + 1) * slot_ns).  Several are open at once;
 * a record newer than all of them moves the window and retires the oldest,
 * which is handed out once, with the metadata of every owner in it.  The slots
 * hold a tracker, and advance it with each retirement.  Pure: no descriptor,
 * no clock.
 *
 * The module does not read every RMID at every tick: an RMID that did not run is
 * read once in cmt_info.idle_ticks ticks.  A slot without a sample of an owner
 * that is alive carries the owner's last sample: an entry with samples == 0, and
 * the values and the ts of that sample, so that the entries of a slot add up and
 * end_ns - ts is the age of each value.  A value is carried until its owner's
 * FREE, or until the RMID is of another generation; that of RMID 0 for ever; that
 * of an RMID whose owner is not known, not at all.
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

/**
 * One RMID in one L3 domain in one slot.  The values are those of one sample: of
 * the samples in the slot that have the most values (of occupancy, total and
 * local traffic) the last; at equal times that of the highest CPU.
 */
struct cmt_slot_entry {
	uint64_t ts;		/**< of the sample with the values, before the
				 *   slot where samples is 0
				 */
	uint32_t samples;	/**< SAMPLE records in the slot; 0: the values are
				 *   older than the slot, none was read in it
				 */
	uint32_t flags;		/**< CMT_F_* of the sample; values are only
				 *   valid with their CMT_F_OCCUPANCY, ... flag;
				 *   CMT_F_ERROR, _UNAVAILABLE, _REBASED,
				 *   _PQR_OVERWRITTEN of any sample in the slot;
				 *   the last two never where samples is 0
				 */
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t cpu;		/**< that read the sample */
	uint64_t occupancy_bytes;
	uint64_t mbm_total_bytes;	/**< since allocation */
	uint64_t mbm_local_bytes;
	uint64_t residual_bytes;	/**< of occupancy, at most */
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
	uint32_t flags;		/**< CMT_F_* of any tick in the slot */
	uint32_t interval_ns;
	uint64_t missed;	/**< counters of the last TICK */
	uint64_t deferred;
	uint64_t busy_ns;
	uint32_t read;		/**< RMIDs read in the last tick */
	uint32_t waiting;	/**< RMIDs due in the last tick and not read */
	const struct cmt_owner *owner;	/**< of rmid; NULL: RMID 0 or unknown */
};

/**
 * What one RMID counted on one CPU while it was loaded there: a PERF record, as the
 * CPU wrote it.  A slot may have several of one RMID and CPU; all of them add up.
 */
struct cmt_slot_perf {
	uint64_t ts;
	uint32_t cpu;		/**< that counted */
	uint32_t flags;		/**< CMT_F_*; values are only valid with their
				 *   CMT_F_CYCLES, ... flag
				 */
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;	/**< the CPU's */
	uint32_t ran_ns;	/**< time with the RMID; of RMID 0 idle time
				 *   included
				 */
	uint64_t cycles;
	uint64_t instructions;
	uint64_t llc_misses;
	uint64_t llc_references;
	const struct cmt_owner *owner;	/**< whose the generation is or was, also
					 *   after its FREE; NULL: RMID 0 or
					 *   unknown
					 */
};

/**
 * One memory channel of a socket in one slot: what went over it, whoever asked for it.
 * The values are those of the last CHANNEL record with values; they are sums since the
 * module was loaded, so that a record that is lost loses no traffic.
 */
struct cmt_slot_channel {
	uint64_t ts;		/**< of the record with the values; of the last one,
				 *   where none has values
				 */
	uint32_t socket;
	uint32_t channel;	/**< id of the box, on the socket: struct cmt_box */
	uint32_t flags;		/**< CMT_F_CHANNEL: the values are known, else 0;
				 *   CMT_F_CHANNEL_IDLE: so are the cycles, else 0;
				 *   CMT_F_REBASED, _UNAVAILABLE of any record in
				 *   the slot
				 */
	uint32_t cpu;		/**< that read it */
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t cycles_ts;	/**< of the last record with cycles, which are in
				 *   fewer records; 0: none
				 */
	uint64_t idle_cycles;	/**< as in cmt_record.channels */
	uint64_t busy_cycles;
};

/**
 * A retired slot.  Valid, with all that it points to, during the callback.  The
 * library owns it: a later version appends members to it, to an entry, to a CPU, to
 * a struct cmt_slot_perf and to a struct cmt_slot_channel.  cmt_slot_entry_at(),
 * cmt_slot_cpu_at(), cmt_slot_perf_at() and cmt_slot_channel_at() find an element all
 * the same.
 */
struct cmt_slot {
	uint64_t start_ns;
	uint64_t end_ns;	/**< exclusive */
	uint64_t lost;		/**< records lost (CMT_REC_LOST) where the gap
				 *   begins; in a later slot if that was retired
				 */
	uint32_t nr_entries;	/**< by (rmid, domain, generation), ascending */
	uint32_t nr_cpus;	/**< by cpu, ascending */
	const struct cmt_slot_entry *const *entries;	/**< pointers */
	const struct cmt_slot_cpu *cpus;	/**< the first of an array */
	uint32_t cpu_size;	/**< bytes from one of cpus to the next */
	uint32_t gaps;		/**< CPUs of which records in this slot's time
				 *   are lost: what the slot says is partial.
				 *   0: none.  A gap is in every slot from its
				 *   begin to its end.
				 */
	uint32_t nr_perf;	/**< PERF records, in no order of use */
	uint32_t perf_size;	/**< bytes from one of perf to the next */
	const struct cmt_slot_perf *perf;	/**< the first of an array */
	uint32_t perf_dropped;	/**< PERF records that were one too many */
	uint32_t nr_channels;	/**< by (socket, channel), ascending */
	uint32_t channel_size;	/**< bytes from one of channels to the next */
	uint32_t channels_dropped;	/**< CHANNEL records of one channel too many */
	const struct cmt_slot_channel *channels;	/**< the first of an array */
};

/** Entry @i of @slot, below nr_entries. */
static inline const struct cmt_slot_entry *
cmt_slot_entry_at(const struct cmt_slot *slot, uint32_t i)
{
	return slot->entries[i];
}

/** CPU @i of @slot, below nr_cpus: a place in the array, no CPU number. */
static inline const struct cmt_slot_cpu *
cmt_slot_cpu_at(const struct cmt_slot *slot, uint32_t i)
{
	return (const struct cmt_slot_cpu *)
		((const char *)slot->cpus + (size_t)i * slot->cpu_size);
}

/** PERF record @i of @slot, below nr_perf. */
static inline const struct cmt_slot_perf *
cmt_slot_perf_at(const struct cmt_slot *slot, uint32_t i)
{
	return (const struct cmt_slot_perf *)
		((const char *)slot->perf + (size_t)i * slot->perf_size);
}

/** Channel @i of @slot, below nr_channels: a place in the array, no id. */
static inline const struct cmt_slot_channel *
cmt_slot_channel_at(const struct cmt_slot *slot, uint32_t i)
{
	return (const struct cmt_slot_channel *)
		((const char *)slot->channels + (size_t)i * slot->channel_size);
}

/**
 * Called for every slot with a record in it, in order, once.  It may use the
 * tracker, but must not add, flush or free.  0: go on.  Any other value stops
 * the function that called back, which returns the value; the slot counts as
 * handed out.  The next call goes on with the next slot.
 */
typedef int (*cmt_slot_fn)(void *ctx, const struct cmt_slot *slot);

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
 * Add one record: lifecycle records go to the tracker, SAMPLE, TICK, PERF and CHANNEL
 * into their slot; CPU_ONLINE, CPU_OFFLINE and STATE only move the time.  Late,
 * malformed and unknown ones are counted and skipped.
 * Returns 0, -ENOMEM or what the callback returned; unless 0, the record is not
 * added and not counted, and may be added again.
 */
CMT_API int cmt_slots_add(struct cmt_slots *slots,
			  const struct cmt_record *record);

/**
 * Retire all open slots, oldest first.  Records up to the newest of them are
 * late from then on.  Returns 0 or what the callback returned; then the slots
 * that are still open are those after the one that it was called for.
 */
CMT_API int cmt_slots_flush(struct cmt_slots *slots);

/** The tracker, for cmt_tracker_sync() and lookups.  It stays the slots'. */
CMT_API struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *slots);

/** What was skipped, by kind, since cmt_slots_new(). */
struct cmt_slots_counts {
	size_t sz;		/**< sizeof(struct cmt_slots_counts), by the caller */
	uint64_t added;
	uint64_t late;		/**< their slot was retired already */
	uint64_t malformed;	/**< impossible RMID, CPU, generation, or more
				 *   domains than 64
				 */
	uint64_t unknown;	/**< a type this library does not know */
	uint64_t retired;	/**< slots */
	uint64_t perf_dropped;	/**< PERF records beyond those that a slot has room
				 *   for: 256 of each CPU in each millisecond, and
				 *   2^18 at most
				 */
	uint64_t channels_dropped;	/**< CHANNEL records beyond the 1,024
					 *   channels that a slot has room for
					 */
};

/** @counts: the caller sets sz.  Returns 0 or -EINVAL (sz). */
CMT_API int cmt_slots_counts(const struct cmt_slots *slots,
			     struct cmt_slots_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
