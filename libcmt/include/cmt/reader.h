/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The reader: the records of all rings; every lost record is counted.
 *
 * cmt_reader_read() returns the records in the order of time.  cmt_reader_feed() puts
 * them into slots, which need no order, at a lower cost.  One thread at a time may use a
 * reader.  A child of fork(2) has no mapping of the rings: it must neither use reader and
 * device nor free the reader, or a usage of the device, which would end what the parent has
 * asked for.  Sampling goes on until the child has closed its copy of the device's descriptor,
 * by cmt_device_close(), exec or otherwise.
 */
#ifndef CMT_READER_H
#define CMT_READER_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_reader;

/**
 * A record type that only the library makes: records of CPU record.cpu were lost here.
 * cmt_record_lost() returns how many.  Its ts is that of the last record delivered before
 * it (0: none was), so that the order holds.  It does not count as delivered.  Lifecycle
 * records may be among the lost ones: take a cmt_device_snapshot() and pass it to
 * cmt_slots_sync() or cmt_usage_sync().  Do the same when records were late
 * (cmt_reader_counts.late).  The next records are older than the snapshot: a program with
 * a tracker alone passes it to cmt_tracker_sync() after the last record up to its as_of.
 */
#define CMT_REC_LOST 0xff00

/** The number of records that a CMT_REC_LOST stands for; 0 for any other type. */
CMT_API uint64_t cmt_record_lost(const struct cmt_record *record);

/**
 * The time of the gap that a CMT_REC_LOST stands for.  *@begin_ns is the time of the
 * CPU's last record before the gap, or of the first read if there is none.  *@end_ns is
 * the time of the first record after the gap, or of the read that found none.  Pure.
 * Returns 0, or -EINVAL for any other type.
 */
CMT_API int cmt_record_gap(const struct cmt_record *record, uint64_t *begin_ns,
			   uint64_t *end_ns);

struct cmt_reader_opts {
	size_t sz;		/**< sizeof(struct cmt_reader_opts) */
	uint64_t latency_ns;	/**< longest wait for a ring that has no new
				 *   record; 0: default, 13/16 of
				 *   cmt_info.ring_hold_ns, computed again when
				 *   the interval changes, at most 500 ms.  The
				 *   wait also ends when another ring holds
				 *   unread records in 13/16 of its slots.
				 *   Records that come after the wait are
				 *   counted as late and dropped.
				 */
	uint32_t watermark;	/**< records in one ring that wake
				 *   cmt_reader_wait(): at most half of the
				 *   smallest ring; 0: default, an eighth of the
				 *   smallest ring
				 */
	uint32_t flags;		/**< CMT_READER_OLDEST or 0 */
};

/** Begin with the oldest record in the rings, not with the next one. */
#define CMT_READER_OLDEST (1U << 0)

/**
 * Map the rings and begin to read; sampling starts if it was off.
 *
 * @reader: where the reader is stored; free it with cmt_reader_free()
 * @dev:    must outlive the reader; one reader per device
 * @opts:   NULL for defaults
 *
 * Returns 0, -EINVAL (options), -EPROTO (a ring that contradicts the device's
 * info, or is another module instance's), -EXDEV (the process is in a time
 * namespace whose CLOCK_MONOTONIC differs from the kernel's, so that the times of
 * records cannot be compared with it), -EBUSY (the device has a reader), -ENOMEM or
 * -errno of mmap(2) and cmt_device_snapshot().
 */
CMT_API int cmt_reader_new(struct cmt_reader **reader, struct cmt_device *dev,
			   const struct cmt_reader_opts *opts);

/** Unmap the rings and free @reader; NULL: do nothing.  Sampling stops when the device of
 *  the last reader is closed.
 */
CMT_API void cmt_reader_free(struct cmt_reader *reader);

/**
 * Take up to @n records in strict order of (ts, cpu, index in the ring).  Does not block.
 * A record is returned once every online ring is complete past its ts, or after
 * latency_ns.  The ring of a CPU that is excluded from sampling has no TICKs: it is taken
 * to be complete 10 ms before now.  Malformed records (impossible CPU, RMID, ...) are
 * counted and skipped; records of unknown types are returned.
 *
 * A program that waits with poll(2) or epoll(7) on cmt_device_fd() calls this function
 * until it returns 0, and then waits again.  The descriptor is level-triggered; this
 * function clears its readiness before it empties the rings.
 *
 * Returns the number of records stored; 0: none is ready now.  -EPROTO: a ring's head
 * or header is impossible; the reader cannot be used any more.
 */
CMT_API int cmt_reader_read(struct cmt_reader *reader,
			    struct cmt_record *records, unsigned int n);

struct cmt_slots;

/**
 * Move a batch of ready records into @slots: at most 16 records of each ring, so that the
 * time of a call is bounded.  @slots calls its callback meanwhile.  The first call, and a
 * call after lost records, takes a snapshot of the owners from the device.  Does not
 * block.  Ordering: records of one ring are added in their order, records of different
 * rings in any order.  A slot is handed out when no ring can have another record of its
 * time, by the same rule as in cmt_reader_read().  Both functions may be called on one
 * reader; each record goes to one of them.
 *
 * Returns the number of records; 0: none is ready.  -errno of cmt_reader_read(),
 * cmt_device_snapshot() or cmt_slots_add(): some records may be missing in @slots; free
 * them and begin with new ones.  A value other than 0 from the callback is returned
 * unchanged; it should be negative, to differ from a number of records.  No record is lost
 * then, and the next call continues.
 */
CMT_API int cmt_reader_feed(struct cmt_reader *reader,
			    struct cmt_slots *slots);

/**
 * The longest time, in milliseconds, to wait in poll(2), epoll(7) or cmt_reader_wait()
 * after cmt_reader_read() or cmt_reader_feed() has returned 0.  After this time, records
 * or slots that are held back, because another CPU has no new record, are due.  0: do not
 * wait, as after any other result; -1: nothing is held back.  Does not block.
 */
CMT_API int cmt_reader_timeout(const struct cmt_reader *reader);

/**
 * Sleep until a ring has the watermark's number of records, or for @timeout_ms (-1: no
 * limit).  Then call cmt_reader_read() until it returns 0: records that are written
 * meanwhile end the next wait.  Returns 1 (watermark), 0 (timeout), -EINTR, -ENODEV (the
 * device is gone) or -errno of poll(2) and read(2).
 */
CMT_API int cmt_reader_wait(struct cmt_reader *reader, int timeout_ms);

/** The fate of every record.  For each CPU and for their sum, at any time:
 *  emitted = delivered + lost + late + malformed + pending.
 */
struct cmt_reader_counts {
	size_t sz;		/**< sizeof(struct cmt_reader_counts), by the caller */
	uint64_t emitted;	/**< by the kernel since this reader began */
	uint64_t delivered;	/**< returned to the caller, or added to slots */
	uint64_t lost;		/**< overwritten before they were read */
	uint64_t late;		/**< came after latency_ns, dropped */
	uint64_t malformed;	/**< impossible, dropped */
	uint64_t pending;	/**< published, not read yet or held back */
	uint64_t quiet;		/**< CPUs that are excluded from sampling: online,
				 *   without TICK and PERF
				 */
	uint64_t latency_ns;	/**< that a ring without a new record is waited for
				 *   now, see cmt_reader_opts.latency_ns; 0 in a
				 *   recording
				 */
};

/** Sum over all CPUs.  @counts: the caller sets sz.  Returns 0 or -EINVAL (sz). */
CMT_API int cmt_reader_counts(const struct cmt_reader *reader,
			      struct cmt_reader_counts *counts);

/** One CPU.  As cmt_reader_counts(), and -EINVAL: no such ring. */
CMT_API int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
				  struct cmt_reader_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
