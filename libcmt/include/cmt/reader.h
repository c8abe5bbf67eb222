/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The reader: the records of all rings, none lost uncounted.
 *
 * cmt_reader_read() gives them in one order of time; cmt_reader_feed() puts them
 * into slots, which need no order, at less cost.  A reader and its device are
 * used by one thread at a time.  The rings are not mapped in a child of fork(2),
 * which must use neither; until it closes the device's descriptor, by exec or
 * otherwise, sampling goes on.
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

/**
 * Where the gap is that a CMT_REC_LOST stands for: *@begin_ns is the time of the
 * CPU's last record before it (or of the first read, if there is none), *@end_ns
 * that of the first one after it (or of the read that found none).  Pure.
 * Returns 0, or -EINVAL for any other type.
 */
CMT_API int cmt_record_gap(const struct cmt_record *record, uint64_t *begin_ns,
			   uint64_t *end_ns);

struct cmt_reader_opts {
	size_t sz;		/**< sizeof(struct cmt_reader_opts) */
	uint64_t latency_ns;	/**< wait at most this long for a ring that says
				 *   nothing; 0: default, 13/16 of
				 *   cmt_info.ring_hold_ns, renewed when the
				 *   interval changes, at most 500 ms.  In
				 *   any case not longer than until 13/16 of
				 *   another ring are waiting for it.  A
				 *   ring's records that come later than that
				 *   are counted as late and dropped.
				 */
	uint32_t watermark;	/**< records in one ring that wake
				 *   cmt_reader_wait(), at most half of the
				 *   smallest ring; 0: default, an eighth of it
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
 * info, or is another module instance's), -EXDEV (the process is in a time
 * namespace whose CLOCK_MONOTONIC is not the kernel's: no record's time means
 * anything to it), -EBUSY (the device has a reader), -ENOMEM or -errno of mmap(2)
 * and cmt_device_snapshot().
 */
CMT_API int cmt_reader_new(struct cmt_reader **reader, struct cmt_device *dev,
			   const struct cmt_reader_opts *opts);

/** Unmap and free.  Sampling stops with the last reader's cmt_device_close(). */
CMT_API void cmt_reader_free(struct cmt_reader *reader);

/**
 * Take up to @n records in strict order of (ts, cpu, index in the ring).
 * Does not block.  A record comes out once every online ring is complete past
 * it, or after latency_ns; of a CPU that is excluded from sampling, whose ring
 * says nothing for long, that is 10 ms.  Records that cannot be (unknown CPU or
 * RMID, ...) are counted and skipped; unknown types pass through.
 *
 * A program that waits with poll(2) or epoll(7) on cmt_device_fd() calls this
 * until it returns 0, and waits again then: this function takes the descriptor's
 * readiness, which is level-triggered, before it empties the rings.
 *
 * Returns how many were stored; 0: none is ready now.  -EPROTO: a ring's head
 * or header makes no sense; the reader is of no further use.
 */
CMT_API int cmt_reader_read(struct cmt_reader *reader,
			    struct cmt_record *records, unsigned int n);

struct cmt_slots;

/**
 * Take a batch of what is ready into @slots, which call back meanwhile: at most 16
 * records of each ring, so that the time of a call is bounded.  Who owns what is
 * asked of the device the first time, and when records were missed.  Does not
 * block.  Ordering: each ring's records come in their order, and different rings'
 * in none; a slot is handed out when no ring can show a record of its time any
 * more, by the same rule as for cmt_reader_read().  Both may be called on one
 * reader: each record goes one way.
 *
 * Returns how many there were; 0: none is ready; or -errno of cmt_reader_read(),
 * cmt_device_snapshot() or cmt_slots_add(): then some records may not be in
 * @slots, and it is best to begin again with new ones.  What the callback
 * returned, unless 0, is returned too: a negative value, if it is to be told from
 * a count.  Nothing is lost then, and the next call goes on.
 */
CMT_API int cmt_reader_feed(struct cmt_reader *reader,
			    struct cmt_slots *slots);

/**
 * After cmt_reader_read() or cmt_reader_feed() has returned 0: for how many
 * milliseconds to wait for the descriptor at most, for poll(2), epoll(7) or
 * cmt_reader_wait().  Then records (or slots) that are held, because another CPU
 * says nothing, fall due.  0: now, as after any other result; -1: nothing is held.
 * Does not block.
 */
CMT_API int cmt_reader_timeout(const struct cmt_reader *reader);

/**
 * Sleep until cmt_reader_read() has something to do: the watermark, or
 * @timeout_ms (-1: no limit).  Then call cmt_reader_read() until it returns 0:
 * what is written meanwhile ends the next wait.  Returns 1 (watermark), 0
 * (timeout), -EINTR, -ENODEV (the device is gone) or -errno of poll(2) and
 * read(2).
 */
CMT_API int cmt_reader_wait(struct cmt_reader *reader, int timeout_ms);

/** Where every record went.  For each CPU and in sum, at any time:
 *  emitted = delivered + lost + late + malformed + pending.
 */
struct cmt_reader_counts {
	size_t sz;		/**< sizeof(struct cmt_reader_counts), by the caller */
	uint64_t emitted;	/**< by the kernel since this reader began */
	uint64_t delivered;	/**< given to the caller */
	uint64_t lost;		/**< overwritten before they were read */
	uint64_t late;		/**< came after latency_ns, dropped */
	uint64_t malformed;	/**< impossible, dropped */
	uint64_t pending;	/**< published, its fate not yet known */
	uint64_t quiet;		/**< CPUs that are excluded: online, no TICK, no PERF */
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
