/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Time slots: records folded into windows of equal length.
 *
 * Slot k covers [k * slot_ns, (k + 1) * slot_ns).  Several slots are open at once.  A
 * record that is newer than all of them moves the window and retires the oldest slot,
 * which is handed out once, with the metadata of every owner in it.  The slots hold a
 * tracker, and advance it with each retirement.  Pure: no descriptor, no clock.
 *
 * The module does not read every RMID in every tick: an RMID that did not run is read once
 * in cmt_info.idle_ticks ticks.  A slot without a sample of a live owner carries the
 * owner's last sample: an entry with samples == 0 and with the values and the ts of that
 * sample.  So the entries of a slot add up, and end_ns - ts is the age of each value.  A
 * value is carried until its owner's FREE, or until the RMID has another generation.  The
 * value of RMID 0 is always carried; that of an RMID whose owner is not known, never.
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
 * One RMID in one L3 domain in one slot.  The values are those of one sample: the last
 * one among the samples of the slot that have the most values (of occupancy, total and
 * local traffic).  Of two at the same time, the sample of the higher CPU counts.
 */
struct cmt_slot_entry {
	uint64_t ts;		/**< of the sample with the values; where samples
				 *   is 0, a time before the slot
				 */
	uint32_t samples;	/**< SAMPLE records in the slot; 0: there was no
				 *   reading in the slot, and the values are older
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
	uint32_t cpu;		/**< the CPU that read the sample */
	uint64_t occupancy_bytes;
	uint64_t mbm_total_bytes;	/**< since allocation */
	uint64_t mbm_local_bytes;
	uint64_t residual_bytes;	/**< upper bound of the part of the occupancy
					 *   that earlier owners left
					 */
	const struct cmt_owner *owner;	/**< NULL: RMID 0 or unknown */
};

/** The TICK records of one CPU in one slot. */
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
 * The counts of one RMID on one CPU while the RMID was loaded there: one PERF record.  A
 * slot may have several of one RMID and CPU; their sum counts.
 */
struct cmt_slot_perf {
	uint64_t ts;
	uint32_t cpu;		/**< the CPU that counted */
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
	uint64_t waited_ns;	/**< of all tasks together; with CMT_F_WAITED */
	uint32_t llc_misses;
	uint32_t llc_references;
	const struct cmt_owner *owner;	/**< the owner of the generation, also after
					 *   its FREE; NULL: RMID 0 or unknown
					 */
};

/**
 * One memory channel of a socket in one slot: the traffic of all RMIDs, the kernel and
 * devices.  The values are those of the last CHANNEL record with values.  They are sums
 * since the module was loaded, so that no traffic is lost with a lost record.
 */
struct cmt_slot_channel {
	uint64_t ts;		/**< of the record with the values; where no record
				 *   has values, of the last record
				 */
	uint32_t socket;
	uint32_t channel;	/**< id of the box, on the socket: struct cmt_box */
	uint32_t flags;		/**< CMT_F_CHANNEL: the values are known, else 0;
				 *   CMT_F_CHANNEL_IDLE: so are the cycles, else 0;
				 *   CMT_F_REBASED, _UNAVAILABLE of any record in
				 *   the slot
				 */
	uint32_t cpu;		/**< the CPU that read the channel */
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t cycles_ts;	/**< of the last record with cycles, which are in
				 *   fewer records; 0: none
				 */
	uint64_t idle_cycles;	/**< as in cmt_record.channels */
	uint64_t busy_cycles;
};

/**
 * A retired slot.  The library owns the slot and all structs that it points to; they are
 * valid during the callback.  A later version may append members to each of these
 * structs; cmt_slot_entry_at(), cmt_slot_cpu_at(), cmt_slot_perf_at() and
 * cmt_slot_channel_at() find an element in any version.
 */
struct cmt_slot {
	uint64_t start_ns;
	uint64_t end_ns;	/**< exclusive */
	uint64_t lost;		/**< records lost (CMT_REC_LOST), in the slot in
				 *   which the gap begins; in a later slot if that
				 *   one was retired already
				 */
	uint32_t nr_entries;	/**< by (rmid, domain, generation), ascending */
	uint32_t nr_cpus;	/**< by cpu, ascending */
	const struct cmt_slot_entry *const *entries;	/**< pointers */
	const struct cmt_slot_cpu *cpus;	/**< the first of an array */
	uint32_t cpu_size;	/**< bytes from one of cpus to the next */
	uint32_t gaps;		/**< CPUs of which records of this slot's time are
				 *   lost, so that the slot is partial.  0: none.
				 *   A gap counts in every slot from its begin to
				 *   its end.
				 */
	uint32_t nr_perf;	/**< PERF records, in no order of use */
	uint32_t perf_size;	/**< bytes from one of perf to the next */
	const struct cmt_slot_perf *perf;	/**< the first of an array */
	uint32_t perf_dropped;	/**< PERF records for which there was no room */
	uint32_t nr_channels;	/**< by (socket, channel), ascending */
	uint32_t channel_size;	/**< bytes from one of channels to the next */
	uint32_t channels_dropped;	/**< CHANNEL records for which there was no room */
	const struct cmt_slot_channel *channels;	/**< the first of an array */
};

/** Entry @i of @slot, below nr_entries. */
static inline const struct cmt_slot_entry *
cmt_slot_entry_at(const struct cmt_slot *slot, uint32_t i)
{
	return slot->entries[i];
}

/** CPU @i of @slot, below nr_cpus: an index of the array, no CPU number. */
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

/** Channel @i of @slot, below nr_channels: an index of the array, no id. */
static inline const struct cmt_slot_channel *
cmt_slot_channel_at(const struct cmt_slot *slot, uint32_t i)
{
	return (const struct cmt_slot_channel *)
		((const char *)slot->channels + (size_t)i * slot->channel_size);
}

/**
 * Called once for every slot with a record in it, in the order of time.  The callback may
 * use the tracker, but must not add, flush or free.  Returns 0 to continue.  Any other
 * value stops the function that called back, which returns the value; the slot counts as
 * handed out, and the next call continues with the next slot.
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
 * Make slots; free them with cmt_slots_free().
 * @opts: nr_rmids and nr_cpus must be set
 * @fn:   called from cmt_slots_add() and cmt_slots_flush(), with @ctx
 * Returns 0, -EINVAL or -ENOMEM.
 */
CMT_API int cmt_slots_new(struct cmt_slots **slots,
			  const struct cmt_slots_opts *opts, cmt_slot_fn fn,
			  void *ctx);
CMT_API void cmt_slots_free(struct cmt_slots *slots);

/**
 * Add one record: lifecycle records go to the tracker; SAMPLE, TICK, PERF and CHANNEL
 * into their slot; CPU_ONLINE, CPU_OFFLINE and STATE only move the time.  Late, malformed
 * and unknown records are counted and skipped.  Records may come in any order within the
 * window.
 * Returns 0, -ENOMEM or the value of the callback; unless 0, the record is not
 * added and not counted, and may be added again.
 */
CMT_API int cmt_slots_add(struct cmt_slots *slots,
			  const struct cmt_record *record);

/**
 * Retire all open slots, oldest first.  Records up to the end of the newest of them are
 * late from then on.  Returns 0 or the value of the callback; in the latter case the slots
 * after the one of that call stay open.
 */
CMT_API int cmt_slots_flush(struct cmt_slots *slots);

/**
 * Set the owners to those of a snapshot: at the start, and after lost or late records.  The
 * snapshot counts from its as_of on: records from before as_of, also those that are added
 * later, keep their owners.  The owners in it are known at once.  Owners that it does not
 * have are freed when the slots up to as_of are retired; until then a newer snapshot
 * replaces it.  So a program that takes one with each batch of records adds the records
 * of the snapshot, then the batch, and gives the snapshot after that.  cmt_reader_feed()
 * does this itself.
 *
 * @snapshot: copied
 *
 * Returns 0, -EINVAL (an impossible snapshot; state unchanged) or -ENOMEM.
 */
CMT_API int cmt_slots_sync(struct cmt_slots *slots,
			   const struct cmt_snapshot *snapshot);

/** The tracker, for lookups.  The slots own it. */
CMT_API struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *slots);

/** Records by what became of them, since cmt_slots_new(). */
struct cmt_slots_counts {
	size_t sz;		/**< sizeof(struct cmt_slots_counts), by the caller */
	uint64_t added;
	uint64_t late;		/**< their slot was retired already */
	uint64_t malformed;	/**< impossible RMID, CPU, generation, or more
				 *   domains than 64; or more lifecycle records in the
				 *   window than 256 of an RMID in each millisecond, or
				 *   than 65,536 of all
				 */
	uint64_t unknown;	/**< a type this library does not know */
	uint64_t retired;	/**< slots */
	uint64_t perf_dropped;	/**< PERF records for which a slot has no room: more
				 *   than 256 of each CPU in each millisecond, or
				 *   more than 2^18
				 */
	uint64_t channels_dropped;	/**< CHANNEL records for which a slot has no
					 *   room: more than 1,024 channels
					 */
};

/** @counts: the caller sets sz.  Returns 0 or -EINVAL (sz). */
CMT_API int cmt_slots_counts(const struct cmt_slots *slots,
			     struct cmt_slots_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
