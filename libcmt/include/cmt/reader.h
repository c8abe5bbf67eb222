/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The reader: all rings' records in one order of time, none lost uncounted. */
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
 * A record type of the library's own, put into the stream where records of
 * CPU record.cpu were lost; read the count with cmt_record_lost().  Its ts is
 * that of the last record delivered before it (0: none was), so that order
 * holds.  It does not count as delivered.  After one, lifecycle records may
 * be among the lost: take a cmt_device_snapshot() and cmt_tracker_sync() it.
 * The same goes for records that were late (cmt_reader_counts.late).
 */
#define CMT_REC_LOST 0xff00

/** How many records a CMT_REC_LOST stands for; 0 for any other type. */
CMT_API uint64_t cmt_record_lost(const struct cmt_record *record);

struct cmt_reader_opts {
	size_t sz;		/**< sizeof(struct cmt_reader_opts) */
	uint64_t latency_ns;	/**< wait at most this long for a ring that says
				 *   nothing; 0: default, 500 ms.  A ring's
				 *   records that come later than that are
				 *   counted as late and dropped.
				 */
	uint32_t watermark;	/**< records in one ring that wake
				 *   cmt_reader_wait(); 0: default, a quarter
				 *   of the ring
				 */
	uint32_t flags;		/**< CMT_READER_OLDEST or 0 */
};

/** Begin with the oldest record that is still there, not with the next one. */
#define CMT_READER_OLDEST (1U << 0)

/**
 * Map the rings and begin to read; sampling starts if it was off.
 *
 * @reader: where the reader is stored; free it with cmt_reader_free()
 * @dev:    must outlive the reader; one reader per device
 * @opts:   NULL for defaults
 *
 * Returns 0, -EINVAL (options), -EPROTO (a ring that contradicts the device's
 * info, or is another module instance's), -EBUSY (the device has a reader),
 * -ENOMEM or -errno of mmap(2).
 */
CMT_API int cmt_reader_new(struct cmt_reader **reader, struct cmt_device *dev,
			   const struct cmt_reader_opts *opts);

/** Unmap and free.  Sampling stops with the last reader's cmt_device_close(). */
CMT_API void cmt_reader_free(struct cmt_reader *reader);

/**
 * Take up to @n records in strict order of (ts, cpu, index in the ring).
 * Does not block.  A record comes out once every online ring is complete past
 * it, or after latency_ns.  Records that cannot be (unknown CPU or RMID, ...)
 * are counted and skipped; unknown types pass through.
 *
 * Returns how many were stored; 0: none is ready now.  -EPROTO: a ring's head
 * or header makes no sense; the reader is of no further use.
 */
CMT_API int cmt_reader_read(struct cmt_reader *reader,
			    struct cmt_record *records, unsigned int n);

struct cmt_slots;

/**
 * Take a batch of what is ready into @slots, which call back meanwhile.  Who owns
 * what is asked of the device the first time, and whenever records were missed.
 * Does not block.  Ordering: as cmt_reader_read(), of which it is a call: the
 * records go to @slots and to nobody else.
 * Returns how many there were, 0: none is ready; or -errno of cmt_reader_read(),
 * cmt_device_snapshot() or cmt_slots_add(): then some records may not be in
 * @slots, and it is best to begin again with new ones.
 */
CMT_API int cmt_reader_feed(struct cmt_reader *reader,
			    struct cmt_slots *slots);

/**
 * Sleep until cmt_reader_read() has something to do: the watermark, or
 * @timeout_ms (-1: no limit).  Returns 1 (watermark), 0 (timeout), -EINTR,
 * -ENODEV (the device is gone) or -errno of poll(2).
 */
CMT_API int cmt_reader_wait(struct cmt_reader *reader, int timeout_ms);

/** Where every record went.  For each CPU and in sum, at any time:
 *  emitted = delivered + lost + late + malformed + pending.
 */
struct cmt_reader_counts {
	uint64_t emitted;	/**< by the kernel since this reader began */
	uint64_t delivered;	/**< given to the caller */
	uint64_t lost;		/**< overwritten before they were read */
	uint64_t late;		/**< came after latency_ns, dropped */
	uint64_t malformed;	/**< impossible, dropped */
	uint64_t pending;	/**< published, its fate not yet known */
};

/** Sum over all CPUs. */
CMT_API void cmt_reader_counts(const struct cmt_reader *reader,
			       struct cmt_reader_counts *counts);

/** One CPU.  -EINVAL: no such ring. */
CMT_API int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
				  struct cmt_reader_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
