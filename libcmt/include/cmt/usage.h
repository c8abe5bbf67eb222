/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Usage: cache occupancy and memory traffic per container, process, CPU or L3 domain and
 * per interval, and how complete each value is.  The layer that most programs need.
 * cmt/frame.h has what it gives.
 *
 *	struct cmt_usage_opts opts = { .sz = sizeof(opts), .device = dev };
 *
 *	cmt_usage_new(&usage, &opts);
 *	for (;;) {
 *		while (cmt_usage_next(usage, &frame) > 0)
 *			for (i = 0; i < frame->nr_rows; i++)
 *				use(cmt_usage_row_at(frame, i));
 *		cmt_usage_refresh(usage, CMT_USAGE_NAMES);
 *		cmt_usage_wait(usage, -1);
 *	}
 *
 * Occupancy is the sum over the RMIDs and L3 domains of a row.  Its last value is that of
 * the last readings of the interval.  An owner that ended in the interval holds nothing at
 * the end of the interval: the cache that its RMID still holds is unattributed, and is
 * residue for the next owner of the RMID.  An RMID that did not run is not read in every
 * tick: its last reading counts, with its age.
 *
 * Bandwidth is traffic divided by the time in which it was counted.  For an owner that
 * existed during the whole interval, this is the time from its last reading in the
 * interval before to its last reading in this one; for an owner that began, ended or has a
 * gap, it is the interval.  Traffic between an owner's ALLOC and its first reading counts
 * in the domain of the ALLOC.  Traffic before the first reading in another domain is not
 * known, and the value is partial (CMT_USAGE_WHY_GAP).
 *
 * What tasks waited for a CPU is time in which they could have run and others did, of all
 * tasks of a row together; only while some reader asks (CMT_F_WAITED in
 * cmt_usage_opts.counters).  Time without a quota (cpu.max) is no wait.
 *
 * Counters of the processor count while an owner's RMID is loaded, and only while some
 * reader asks for them (cmt_usage_opts.counters).  Counts from shortly before the end of
 * an owner may be in the next interval.
 *
 * A value is known or not.  A known value that leaves something out is partial: it is a
 * lower bound.
 *
 * Where the RMID of another agent counts some of an owner's work (a resctrl group of several
 * owners, or with CPUs), the values of the owner's row are lower bounds with
 * CMT_USAGE_WHY_OVERWRITTEN, until a reading says otherwise; a lower bound of 0 says nothing,
 * and is not known.  Ratios and coverage are not known then.  The rows of L3 domains and the
 * counters of CPUs have that work.  A resctrl group all of whose members belong to one owner
 * is that owner's RMID under another number: its values are in the owner's row.  Its values
 * until its members belong to another owner stay with the former one.
 *
 * Memory channels count the traffic of all RMIDs, the kernel and devices, by socket, and
 * only while some reader asks for them (CMT_F_CHANNEL in cmt_usage_opts.counters).  Their
 * sum less the sum of all RMIDs is the traffic that no RMID accounts for.  The difference
 * may be below 0: the two are counted in different places and count different things.
 *
 * A device that reads nothing (cmt_info.events is 0: the software backend) has rows of all
 * owners that exist at the end of an interval.  Their values are not known, with
 * CMT_USAGE_WHY_UNAVAILABLE; cmt_info.reason says why.
 *
 * By container, a row is the cgroup of one container, service or other cgroup, with all
 * cgroups nested in it: two cgroups are in one row exactly if their paths begin with the
 * same cgroup of a container (cmt_container.own_len).  Names and ids are text that users
 * can choose; they never decide what is in one row.
 */
#ifndef CMT_USAGE_H
#define CMT_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/device.h>
#include <cmt/frame.h>
#include <cmt/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_usage;
struct cmt_recording;
struct cmt_recording_state;

struct cmt_usage_opts {
	size_t sz;		/**< sizeof(struct cmt_usage_opts) */
	struct cmt_device *device;	/**< the usage makes a reader of this
					 *   device, which must outlive the usage.
					 *   NULL: cmt_usage_add() brings the records
					 */
	const struct cmt_reader_opts *reader;	/**< NULL for defaults; used
						 *   during cmt_usage_new() only
						 */
	struct cmt_containers *containers;	/**< names; must outlive the usage.
						 *   NULL: the usage makes a cache:
						 *   cmt_usage_containers()
						 */
	uint32_t by;		/**< enum cmt_usage_by */
	uint32_t flags;		/**< CMT_USAGE_CHILDREN, CMT_USAGE_DOMAINS, ... */
	uint64_t interval_ns;	/**< of a frame; 0: 1 s; slot_ns .. 1 h */
	uint64_t slot_ns;	/**< length of the time slots for least, most and
				 *   mean; 0: 1 ms; 10 us .. 10 s
				 */
	/* Without a device.  With a device its values are used instead. */
	uint32_t nr_rmids;	/**< cmt_info.nr_rmids */
	uint32_t nr_cpus;	/**< cmt_info.nr_cpus */
	uint64_t l3_bytes;	/**< cmt_info.l3_bytes, 0: unknown */
	uint32_t unit_bytes;	/**< cmt_info.upscale_bytes, 0: bytes */
	uint64_t counters;	/**< CMT_F_CYCLES | ..., and CMT_F_CHANNEL for
				 *   memory channels: cmt_usage_new() passes them
				 *   to cmt_device_set_counters(), until
				 *   cmt_usage_free(); 0: the device's choice stays.
				 *   A value that cannot be counted is no error, nor
				 *   is a module that cannot count.
				 */
	struct cmt_recording *recording;	/**< read in place of a device, which
						 *   must be NULL.  Must outlive the
						 *   usage, and has one at a time.
						 *   nr_rmids, nr_cpus, l3_bytes and
						 *   unit_bytes are then those of the
						 *   recording.
						 */
	uint64_t values;	/**< CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
				 *   CMT_F_MBM_LOCAL: the values of rows; 0: all, and
				 *   the device's choice stays.  Others are not known,
				 *   without a reason.  cmt_usage_new() passes them to
				 *   cmt_device_set_values(), and cmt_usage_free() asks
				 *   for all again.  An older module reads all.
				 */
};

/** By container: each row has rows of its processes, cmt_usage_frame.children. */
#define CMT_USAGE_CHILDREN (1U << 0)
/** By container and by process: the children of a row are its parts, one for each L3
 *  domain in which the row has values (CMT_USAGE_ROW_PART).  Where only one domain has
 *  been seen, there are no parts.  Not together with CMT_USAGE_CHILDREN.
 */
#define CMT_USAGE_DOMAINS (1U << 1)

/** By container and by process: leave out the rows that have nothing new.  A row stays if
 *  an owner in it ran, was read, began or ended in the interval, is pending or unknown, or
 *  is in no cgroup.  With CMT_USAGE_DOMAINS, so are the parts of a row that stays: where some
 *  of them have something new, the others are left out, and the row has the values of all.
 *  CMT_USAGE_ROW_BORROWED_ID compares these rows only.  For a row or a part that is
 *  left out the last reading counts, with its age.  For programs that follow each
 *  millisecond, in which most owners do not run.
 *  cmt_usage_memory.rmids is not known in such a frame.
 *  All rows are in the first frame in which a CPU ticked, in at least one frame a second,
 *  in the frame after a cmt_usage_refresh() or after the end of an owner, and in
 *  cmt_usage_peek().
 */
#define CMT_USAGE_BRIEF	  (1U << 2)

/** By container and by process: cmt_usage_frame.waits says who ran while tasks waited. */
#define CMT_USAGE_WAITS	  (1U << 3)

/** Not with a device: intervals end at multiples of interval_ns of CLOCK_MONOTONIC, so that
 *  two recordings of the same time have the same intervals.  The first one is shorter.
 */
#define CMT_USAGE_ALIGNED (1U << 4)

/** With a recording: cmt_usage_next() reads for a bounded time, as with a device.  Where it
 *  returns 0 and the recording has not ended, cmt_usage_timeout() returns 0.  For programs
 *  that react to signals and keys during a long interval.
 */
#define CMT_USAGE_BOUNDED (1U << 5)

/**
 * Make a usage; free it with cmt_usage_free().  With a device the first interval begins
 * now, otherwise with the first record.
 *
 * Returns 0, -EINVAL (options) or -ENOMEM.  With a device also as cmt_reader_new(),
 * cmt_reader_feed(), cmt_device_set_counters() and cmt_device_set_values(), except -ENOTTY;
 * where the device has a reader (-EBUSY), its counters and values stay as they are.  With a
 * recording also -EBADMSG (no HEAD chunk is intact) and -EBUSY (it has a usage).
 */
CMT_API int cmt_usage_new(struct cmt_usage **usage,
			  const struct cmt_usage_opts *opts);
CMT_API void cmt_usage_free(struct cmt_usage *usage);

/**
 * The next complete interval.  With a device, reads the records that are ready, for a
 * bounded time; never blocks, and reads no file.
 *
 * @frame: valid, with its rows and their containers, until this function or
 *         cmt_usage_peek() stores another frame, or cmt_usage_free().
 *         cmt_usage_refresh() may complete names in the frame
 *
 * An interval without records makes a frame without rows with a device, and no frame
 * without a device.
 *
 * With a recording, reads it until an interval is complete.  After cmt_recording_seek(),
 * without CMT_USAGE_ALIGNED, an interval begins in the time slot of that moment; there may be
 * intervals before it, the first of which is shorter.  The last interval ends at the
 * end of the recording; then 0 means the end: see cmt_recording_at_end(), and
 * CMT_USAGE_BOUNDED.  A damaged part counts as lost records (frame.lost: the number that is
 * known to be missing, at least 1) of the interval in which it begins, and as a gap (nr_gaps) in
 * each interval that it is of; not where it is known to have had none.  Damaged parts that
 * follow each other are one.  Where intervals have no other record, they make no frame, and the
 * next frame has a gap.
 *
 * Returns 1; 0: no interval is complete yet; -errno of cmt_reader_feed() or -ENOMEM: the
 * interval may lack records, so free the usage and make a new one.  With a recording also
 * -errno of cmt_recording_next().
 */
CMT_API int cmt_usage_next(struct cmt_usage *usage,
			   const struct cmt_usage_frame **frame);

/**
 * The current interval, as far as cmt_usage_next() has read it.  The interval goes on.
 * @frame: valid as of cmt_usage_next(); it replaces the frame of that function.  Does not
 * block.  Returns 0 or -ENOMEM.
 */
CMT_API int cmt_usage_peek(struct cmt_usage *usage,
			   const struct cmt_usage_frame **frame);

/**
 * For loops with poll(2) or epoll(7) on cmt_device_fd(): the longest time to wait before
 * the next cmt_usage_next(), in milliseconds; 0: do not wait; -1: there is no device, or
 * the recording has ended.
 */
CMT_API int cmt_usage_timeout(const struct cmt_usage *usage);

/**
 * Sleep until records are ready for cmt_usage_next(), at most @timeout_ms (-1: no limit).
 * Returns as cmt_reader_wait(), or -EINVAL without a device.
 */
CMT_API int cmt_usage_wait(struct cmt_usage *usage, int timeout_ms);

#define CMT_USAGE_NAMES	  (1U << 0) /**< names of the cgroups in rows: asks the
				     *   kernel, and reads state files, which may
				     *   wait for a disk
				     */
#define CMT_USAGE_PENDING (1U << 1) /**< number of pending owners: in process scope
				     *   the module walks over every process.  If it
				     *   is never counted, cmt_usage_row.pending is 0
				     */

/**
 * Renew values that are not in the records.  Names hold also for the frame that the
 * caller has.  Numbers of pending owners, and rows that are joined because of new names,
 * hold from the next frame on.
 *
 * @what: CMT_USAGE_NAMES | CMT_USAGE_PENDING, or one of these.  With a recording neither is
 *        renewed: both come from the recording.  The next frame has all rows all the same.
 *
 * Returns 0, -EINVAL, -ENOMEM, or -errno of cmt_device_pending().  -EAGAIN is not returned:
 * frame.pending_known is false instead.
 */
CMT_API int cmt_usage_refresh(struct cmt_usage *usage, unsigned int what);

/**
 * Without a device: add a record.  Ordering: as in cmt_slots_add().  A CMT_REC_LOST counts
 * as lost records.  Returns 0, -EINVAL (there is a device) or -ENOMEM.
 */
CMT_API int cmt_usage_add(struct cmt_usage *usage,
			  const struct cmt_record *record);

/** Without a device: set the owners, as cmt_slots_sync().  Returns as that function, or
 *  -EINVAL (there is a device).
 */
CMT_API int cmt_usage_sync(struct cmt_usage *usage,
			   const struct cmt_snapshot *snapshot);

/**
 * Set the pending owners, a snapshot of cmt_device_pending(); NULL: not known.
 * Returns 0, -EINVAL (a record does not describe an owner) or -ENOMEM.
 */
CMT_API int cmt_usage_set_pending(struct cmt_usage *usage,
				  const struct cmt_snapshot *pending);

/**
 * Without a device: set the result of cmt_device_uncore(), from the next frame on.  NULL:
 * not known; then the channels with records are taken to be all.
 * Returns 0 or -EINVAL (there is a device).
 */
CMT_API int cmt_usage_set_uncore(struct cmt_usage *usage,
				 const struct cmt_uncore *uncore);

/**
 * With a recording: the last state that cmt_usage_next() has read.  The usage has used its
 * pending owners and channels already.  The caller passes its cpus to
 * cmt_culprit_add_cpu(), once for each new state.
 * @state: valid until the next call with @usage or its recording
 * Returns 1: a new state; 0: the state of the last call; -ENODATA: no state was read;
 * -EINVAL: no recording.
 */
CMT_API int cmt_usage_state(struct cmt_usage *usage,
			    const struct cmt_recording_state **state);

/** End the interval now, and begin the next one.  cmt_usage_next() then has a frame, unless
 *  the interval had no record.  Returns 0 or -ENOMEM.
 */
CMT_API int cmt_usage_flush(struct cmt_usage *usage);

/** The cache of names, for cmt_containers_put() and lookups.  The usage owns it, unless it
 *  came in the options.
 */
CMT_API struct cmt_containers *cmt_usage_containers(struct cmt_usage *usage);

#ifdef __cplusplus
}
#endif

#endif
