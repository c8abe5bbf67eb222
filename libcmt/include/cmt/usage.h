/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Usage: who held how much cache and caused how much memory traffic, per
 * interval, and how sure that is.  The layer that most programs need.
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
 * Occupancy is the sum over the RMIDs and L3 domains of a row.  The last value is
 * that of the last readings of the interval; an owner that ended in the interval
 * holds none at its end: what it left is unattributed, and the next owner of its
 * RMID reads it as residue.  An RMID that did not run is not read at every tick:
 * its last reading counts, as old as it is.
 *
 * Bandwidth is traffic over the time in which it was counted: for an owner that
 * lived throughout, from its last reading of the interval before to its last of
 * this one; for one that came, ended or has a gap, the interval.  What an owner
 * moved between its ALLOC and its first reading counts, in the domain in which it
 * was allocated; what it moved before its first reading in another domain is not
 * known, and the value is partial (CMT_USAGE_WHY_GAP).
 *
 * Counters of the processor are counted while an owner's RMID is loaded, and only
 * while some reader wants them (cmt_usage_opts.counters).  What an owner counted
 * shortly before its end may show in the interval after it.
 *
 * A value is known or not.  A known value is partial when it leaves something
 * out: it is a lower bound.
 *
 * Memory channels say what the memory of each socket carried, whoever asked for it, and
 * only while some reader wants that, too (CMT_F_CHANNEL in cmt_usage_opts.counters).
 * Their sum less that of all RMIDs is what no RMID accounts for.  It may well be below
 * 0: the two count different things, in different places.
 *
 * A device that reads nothing (cmt_info.events is 0: the software backend) has rows
 * of all owners that are there at the end of an interval.  Their values are not
 * known, for CMT_USAGE_WHY_UNAVAILABLE; cmt_info.reason says why.
 *
 * A row by container is the cgroup of one container, service or other cgroup with
 * all that is nested in it: cgroups are in one row exactly if their paths begin
 * with the same cgroup of a container (cmt_container.own_len).  Names and ids are
 * text that users can choose, and join nothing.
 */
#ifndef CMT_USAGE_H
#define CMT_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/device.h>
#include <cmt/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_usage;
struct cmt_recording;
struct cmt_recording_state;

/** What a row is. */
enum cmt_usage_by {
	CMT_USAGE_BY_CONTAINER,
	CMT_USAGE_BY_PROCESS,	/**< or whatever else has an RMID */
	CMT_USAGE_BY_CPU,
	CMT_USAGE_BY_DOMAIN,
};

struct cmt_usage_opts {
	size_t sz;		/**< sizeof(struct cmt_usage_opts) */
	struct cmt_device *device;	/**< read with a reader of its own, must
					 *   outlive the usage; NULL: records
					 *   come by cmt_usage_add()
					 */
	const struct cmt_reader_opts *reader;	/**< NULL for defaults; used
						 *   during cmt_usage_new() only
						 */
	struct cmt_containers *containers;	/**< names; must outlive the usage.
						 *   NULL: a cache of its own:
						 *   cmt_usage_containers()
						 */
	uint32_t by;		/**< enum cmt_usage_by */
	uint32_t flags;		/**< CMT_USAGE_CHILDREN, CMT_USAGE_DOMAINS, ... */
	uint64_t interval_ns;	/**< of a frame, 0: 1 s; slot_ns .. 1 h */
	uint64_t slot_ns;	/**< time slots that least, most and mean are
				 *   of; 0: 1 ms; 10 us .. 10 s
				 */
	/* Without a device; with one these are the device's. */
	uint32_t nr_rmids;	/**< cmt_info.nr_rmids */
	uint32_t nr_cpus;	/**< cmt_info.nr_cpus */
	uint64_t l3_bytes;	/**< cmt_info.l3_bytes, 0: unknown */
	uint32_t unit_bytes;	/**< cmt_info.upscale_bytes, 0: bytes */
	uint64_t counters;	/**< CMT_F_CYCLES | ..., and CMT_F_CHANNEL for
				 *   memory channels: with a device, they are
				 *   asked for with cmt_device_set_counters(), until
				 *   cmt_usage_free(); 0: what was asked for stays.
				 *   What cannot be counted is no error, nor is a
				 *   module that cannot count.
				 */
	struct cmt_recording *recording;	/**< read in place of a device, which
						 *   must be NULL; must outlive the
						 *   usage.  Then nr_rmids, nr_cpus,
						 *   l3_bytes and unit_bytes are the
						 *   recording's.
						 */
};

/** By container: each row has rows of its processes, cmt_usage_frame.children. */
#define CMT_USAGE_CHILDREN (1U << 0)
/** By container and by process: the children of a row are its parts instead, one for
 *  each L3 domain that it has something in (CMT_USAGE_ROW_PART).  Where only one domain
 *  has been seen, there are none.  Not with CMT_USAGE_CHILDREN.
 */
#define CMT_USAGE_DOMAINS (1U << 1)

/** By container and by process: rows only of what has something new.  That is what was read
 *  or ran in the interval, came or ended, is pending or not known, and what is in no
 *  cgroup; CMT_USAGE_ROW_BORROWED_ID is of these rows alone.  Of what is left out the
 *  last reading counts, as old as it is.  For programs that follow each millisecond:
 *  most owners do not run in it.
 *  cmt_usage_memory.rmids is not known in such a frame.
 *  All rows are in the first frame in which a CPU ticked, in one a second at least, in
 *  the next one after a cmt_usage_refresh() or an owner's end, and in cmt_usage_peek().
 */
#define CMT_USAGE_BRIEF	  (1U << 2)

/** Whose a row is. */
enum cmt_usage_kind {
	CMT_USAGE_OWNER,
	CMT_USAGE_UNKNOWN,	/**< an RMID whose owner's record was lost */
	CMT_USAGE_OVERFLOW,	/**< the overflow RMID: all pending owners */
	CMT_USAGE_UNATTRIBUTED,	/**< RMID 0: idle, kernel, not monitored */
};

/** why: what kept a value from being known, or complete. */
#define CMT_USAGE_WHY_ERROR	(1U << 0)	/**< the hardware said error */
#define CMT_USAGE_WHY_UNAVAILABLE (1U << 1)	/**< it said unavailable, or there
						 *   are no counters
						 */
#define CMT_USAGE_WHY_GAP	(1U << 2)	/**< traffic was not counted */
#define CMT_USAGE_WHY_FIRST	(1U << 3)	/**< one reading makes no rate */
#define CMT_USAGE_WHY_ENDED	(1U << 4)	/**< all owners of the row ended */
#define CMT_USAGE_WHY_OVERWRITTEN (1U << 5)	/**< another agent set a CPU's RMID */
#define CMT_USAGE_WHY_OLD	(1U << 6)	/**< no reading in the interval */
#define CMT_USAGE_WHY_PENDING	(1U << 7)	/**< owners of the row are pending:
						 *   the overflow RMID has theirs
						 */
#define CMT_USAGE_WHY_NOT_COUNTED (1U << 8)	/**< of counters only, and not in
						 *   cmt_usage_row.why: PERF records
						 *   lack a value, or there is none
						 */
#define CMT_USAGE_WHY_EXCLUDED	(1U << 9)	/**< of counters only, as above: a CPU
						 *   is excluded, and what ran there
						 *   has no PERF records
						 */

/*
 * Rows have these structures as members, so that they cannot grow: a later version
 * uses what is reserved, and until then that is 0.
 */
struct cmt_usage_occupancy {
	bool known;
	bool partial;
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint64_t last_bytes;	/**< at the end of the interval */
	uint64_t least_bytes;	/**< of the time slots in which all RMIDs of the
				 *   row were known; so the mean
				 */
	uint64_t most_bytes;	/**< of all time slots, also of an owner that
				 *   ended (known is false then)
				 */
	uint64_t mean_bytes;
	uint64_t residual_bytes;	/**< of last_bytes at most this was there
					 *   before the owners were
					 */
	uint64_t age_ns;	/**< of the oldest value in last_bytes, where it
				 *   is older than the last slot; else 0
				 */
	uint32_t slots;		/**< least and mean are of so many time slots; 0:
				 *   there was none, and they say nothing
				 */
	uint64_t reserved[2];	/**< 0 */
};

struct cmt_usage_rate {
	bool known;
	bool partial;
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint64_t bytes;		/**< counted in the interval */
	double rate;		/**< bytes a second; NAN: not known */
	double lo, hi;		/**< it lies between these, by the unit of the
				 *   counters and the times of the readings; hi is
				 *   INFINITY where the value is partial or not
				 *   known
				 */
	uint64_t reserved[2];	/**< 0 */
};

/**
 * What the processor counted while the RMIDs of the row were loaded, on all CPUs that
 * are sampled.  A sum is 0 unless its CMT_F_* is in values.
 */
struct cmt_usage_counters {
	bool known;		/**< ran_ns is */
	bool partial;		/**< some of the sums are lower bounds */
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint32_t values;	/**< CMT_F_CYCLES | ...: the sums that are known */
	uint32_t bounds;	/**< CMT_F_CYCLES | ...: of these, lower bounds */
	uint64_t ran_ns;	/**< CPU time; of RMID 0 with idle time.  By CPU and
				 *   by domain that of all RMIDs but 0.
				 */
	uint64_t cycles;	/**< unhalted */
	uint64_t instructions;	/**< retired */
	uint64_t llc_misses;
	uint64_t llc_references;
	double cpu_share;	/**< CPUs used: ran_ns over cmt_usage_frame.counted_ns;
				 *   1.0 is one CPU all the time.  NAN: not known; of
				 *   RMID 0 it never is.
				 */
	double ipc;		/**< instructions per cycle; NAN: not known, or no
				 *   cycle.  This and mpki are of the records that
				 *   have both values.
				 */
	double mpki;		/**< LLC misses per 1,000 instructions; NAN likewise */
	uint64_t reserved[4];	/**< 0 */
};

/**
 * How complete the values of a row are: 1 is complete, 0 is nothing.  NAN: the row has
 * nothing that could be counted.
 */
struct cmt_usage_coverage {
	double occupancy;	/**< of the owners of the row in each domain, those whose
				 *   occupancy is known; of pending owners it is not
				 */
	double total;		/**< of the time between the readings of the row, that in
				 *   which its total traffic was counted; for a pending
				 *   owner the interval, in which it was not
				 */
	double local;		/**< likewise */
	uint64_t reserved[2];	/**< 0 */
};

/** cmt_usage_row.flags */
#define CMT_USAGE_ROW_EMULATED	(1U << 0)	/**< values of a model */
#define CMT_USAGE_ROW_WHOLE	(1U << 1)	/**< by container: one RMID is all
						 *   of a cgroup
						 */
#define CMT_USAGE_ROW_ATTACHED	(1U << 2)
#define CMT_USAGE_ROW_CPU	(1U << 3)	/**< by CPU: the row is a CPU's;
						 *   others have what no CPU has
						 */
#define CMT_USAGE_ROW_SEEN	(1U << 4)	/**< not set: only a CPU's losses
						 *   are known
						 */
#define CMT_USAGE_ROW_BORROWED_ID (1U << 5)	/**< another row has the same
						 *   container id, and this one
						 *   is in a user's slice, or
						 *   neither or both are
						 */
#define CMT_USAGE_ROW_PART	(1U << 6)	/**< what a row has in one domain */

struct cmt_usage_row {
	enum cmt_usage_kind kind;
	uint32_t owner;		/**< CMT_OWNER_*, of CMT_USAGE_OWNER.  By container
				 *   CMT_OWNER_CGROUP, whatever the row sums up.
				 */
	uint32_t flags;		/**< CMT_USAGE_ROW_* */
	uint32_t why;		/**< of all its values */
	uint64_t cgroup_id;	/**< 0: in none, such as a CPU.  By container: the
				 *   lowest of the cgroups in the row.
				 */
	const struct cmt_container *container;	/**< NULL: in no cgroup, or no
						 *   memory.  path NULL: not
						 *   known, or not yet: see
						 *   cmt_usage_refresh()
						 */
	char comm[CMT_COMM_LEN + 1];	/**< raw bytes, terminated; "" of a
					 *   container's row
					 */
	uint32_t pid;		/**< of a process, else 0 */
	uint32_t rmid;		/**< by CPU: at the last tick; 0 of a container's row */
	uint32_t generation;
	uint32_t domain;	/**< by domain and by CPU, and of a part */
	uint32_t cpu;		/**< of CMT_OWNER_CPU, and by CPU */
	uint32_t rmids;		/**< coverage: owners in the row with a dedicated
				 *   RMID, ended ones not counted
				 */
	uint32_t pending;	/**< coverage: owners of the row that share the
				 *   overflow RMID, as of frame.pending_ns.  By
				 *   container a row may have no other owners, and
				 *   then has no value.
				 */
	uint64_t l3_bytes;	/**< what 100 % is; 0: unknown */
	struct cmt_usage_occupancy occupancy;
	struct cmt_usage_rate total;
	struct cmt_usage_rate local;
	uint32_t first_child;	/**< its rows in frame.children */
	uint32_t nr_children;
	/* Of a CPU. */
	uint32_t ticks;
	uint32_t busy_ticks;	/**< with an RMID other than 0 */
	uint64_t missed;	/**< ticks that did not happen */
	uint64_t busy_ns;	/**< spent in ticks */
	uint64_t lost;		/**< records */
	struct cmt_usage_counters counters;
	struct cmt_usage_coverage coverage;	/**< by CPU: of no CPU */
};

/**
 * In how much of the time no read was pending in the first of the two halves (pseudo
 * channels) of a memory channel.  That is not how much of its bandwidth is free: writes
 * and refreshes are in neither of the two, and a half that always has a read pending
 * may serve many more.  It is counted on processors whose events are known only.
 */
struct cmt_usage_idle {
	bool known;
	bool partial;		/**< of a part of the interval */
	uint32_t why;		/**< CMT_USAGE_WHY_*; of this only, and not in
				 *   cmt_usage_channel.why
				 */
	uint64_t idle_cycles;	/**< of the memory controller, with no read pending */
	uint64_t busy_cycles;	/**< with one at least */
	double share;		/**< idle_cycles over both, 0 to 1; NAN: not known */
	uint64_t reserved[2];	/**< 0 */
};

/** A memory channel.  The library owns it: a later version appends members. */
struct cmt_usage_channel {
	uint32_t socket;
	uint32_t channel;	/**< id of the box, on the socket: struct cmt_box */
	uint32_t why;		/**< of all its values but idle */
	uint32_t reserved;	/**< 0 */
	/* A value is partial when the channel was not read for some of the interval. */
	struct cmt_usage_rate read;
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;	/**< both together */
	struct cmt_usage_idle idle;
};

/** A difference of two rates, which may be below 0; bytes a second. */
struct cmt_usage_difference {
	bool known;		/**< both are, and neither is partial */
	uint32_t why;		/**< CMT_USAGE_WHY_*, of either */
	double rate;		/**< NAN: not known */
	double lo, hi;		/**< it lies between these, also where it is not known;
				 *   -INFINITY, INFINITY: there is no such bound
				 */
	uint64_t reserved[2];	/**< 0 */
};

/**
 * What all memory channels carried, and what all RMIDs asked for.  A member of the
 * frame, which cannot grow: a later version uses what is reserved.
 */
struct cmt_usage_memory {
	struct cmt_usage_rate read;	/**< of the channels: known only if every
					 *   channel is
					 */
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;
	struct cmt_usage_rate rmids;	/**< total bandwidth of all RMIDs, RMID 0
					 *   among them
					 */
	struct cmt_usage_difference unattributed;	/**< total less rmids.  Not
							 *   known where RMIDs
							 *   are of a model.
							 */
	uint64_t reserved[4];	/**< 0 */
};

/** One interval.  The library owns it: a later version appends members. */
struct cmt_usage_frame {
	uint64_t start_ns;	/**< CLOCK_MONOTONIC, multiples of the interval
				 *   after the first one's
				 */
	uint64_t end_ns;	/**< exclusive */
	uint64_t last_ns;	/**< of the last reading, 0: there was none; of a
				 *   device that reads nothing, of the last slot
				 */
	uint64_t elapsed_ns;	/**< since the last reading of the frame before */
	uint32_t by;		/**< enum cmt_usage_by */
	uint32_t nr_rows;	/**< in no order of use */
	uint32_t nr_children;
	uint32_t row_size;	/**< bytes from one row to the next */
	const struct cmt_usage_row *rows;
	const struct cmt_usage_row *children;
	bool emulated;
	bool pending_known;	/**< cmt_usage_row.pending can be relied on */
	uint32_t nr_cpus;	/**< that ticked in the interval */
	uint32_t nr_domains;	/**< seen so far */
	uint32_t sampling_ns;	/**< sampling interval in force; 0: no tick */
	uint64_t busy_ns;	/**< spent sampling, all CPUs */
	uint64_t missed;	/**< ticks that did not happen, all CPUs */
	uint64_t pending_ns;	/**< when the pending owners were counted */
	uint32_t pending;	/**< how many there were */
	uint64_t lost;		/**< records overwritten before they were read, */
	uint64_t lost_ever;	/**< in the interval, and since the start */
	uint64_t dropped;	/**< records late or malformed, likewise */
	uint64_t dropped_ever;
	uint32_t nr_slots;	/**< time slots with a record */
	uint32_t nr_gaps;	/**< of these, with records lost in their time: rows
				 *   may be older, or missing
				 */
	uint64_t counted_ns;	/**< time that cmt_usage_row.counters are of; 0: none */
	uint32_t counters;	/**< CMT_F_CYCLES | ...: what some PERF record of the
				 *   interval has
				 */
	uint32_t reserved;	/**< 0 */
	uint32_t nr_channels;	/**< memory channels that were ever read, by
				 *   (socket, channel), ascending
				 */
	uint32_t channel_size;	/**< bytes from one channel to the next */
	const struct cmt_usage_channel *channels;
	const char *channels_reason;	/**< why no channel, or not every one, is
					 *   read, for people; "": all are, as far
					 *   as is known.  Never NULL.
					 */
	struct cmt_usage_memory memory;
	bool brief;		/**< rows are left out: CMT_USAGE_BRIEF */
	uint32_t brief_why;	/**< CMT_USAGE_WHY_*: why what is left out may have run
				 *   all the same; 0: where the processor counts it
				 *   did not, nor was it read
				 */
};

/** Row @i of @frame, below nr_rows. */
static inline const struct cmt_usage_row *
cmt_usage_row_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_row *)
		((const char *)frame->rows + (size_t)i * frame->row_size);
}

/** Child @i of @frame, first_child of a row and the nr_children from there. */
static inline const struct cmt_usage_row *
cmt_usage_child_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_row *)
		((const char *)frame->children + (size_t)i * frame->row_size);
}

/** Channel @i of @frame, below nr_channels: a place in the array, no id. */
static inline const struct cmt_usage_channel *
cmt_usage_channel_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_channel *)
		((const char *)frame->channels + (size_t)i * frame->channel_size);
}

/**
 * Begin to read a device, or to take records.  The first interval begins now, or
 * with the first record.
 *
 * Returns 0, -EINVAL (options), -ENOMEM, or with a device as cmt_reader_new(),
 * cmt_reader_feed() and, but for -ENOTTY, cmt_device_set_counters(); with a recording
 * -EBADMSG (nothing in it says of what machine it is).
 */
CMT_API int cmt_usage_new(struct cmt_usage **usage,
			  const struct cmt_usage_opts *opts);
CMT_API void cmt_usage_free(struct cmt_usage *usage);

/**
 * The next interval that is complete.  With a device, takes in what there is to
 * read, for a bounded time; never blocks, and reads no file.
 *
 * @frame: valid, with its rows and their containers, until this function or
 *         cmt_usage_peek() stores another, or cmt_usage_free(); a
 *         cmt_usage_refresh() may complete the names in it
 *
 * An interval in which nothing was read makes a frame without rows with a device,
 * and none without.
 *
 * With a recording, reads it until an interval is complete; at its end the last one ends
 * with it.  0 is the end then: cmt_recording_at_end().  What is damaged counts as lost
 * (frame.lost: the records that are known to be missing, or one), and as a gap (nr_gaps).
 *
 * Returns 1, 0: none is complete yet, or -errno of cmt_reader_feed() or -ENOMEM:
 * the interval may lack records, and it is best to begin again.  With a recording also
 * -errno of cmt_recording_next().
 */
CMT_API int cmt_usage_next(struct cmt_usage *usage,
			   const struct cmt_usage_frame **frame);

/**
 * The interval that goes on, as far as cmt_usage_next() has taken it in; it is not
 * ended.  @frame: as of cmt_usage_next(), which it replaces.  Does not block.
 * Returns 0 or -ENOMEM.
 */
CMT_API int cmt_usage_peek(struct cmt_usage *usage,
			   const struct cmt_usage_frame **frame);

/**
 * For loops with poll(2) or epoll(7) on cmt_device_fd(): wait no longer than this
 * before the next cmt_usage_next(), in milliseconds; 0: call it now, -1: only
 * cmt_usage_add() brings the next frame, or the recording has ended.
 */
CMT_API int cmt_usage_timeout(const struct cmt_usage *usage);

/**
 * Sleep until cmt_usage_next() has something to do, at most @timeout_ms (-1: no
 * limit).  Returns as cmt_reader_wait(), or -EINVAL without a device.
 */
CMT_API int cmt_usage_wait(struct cmt_usage *usage, int timeout_ms);

#define CMT_USAGE_NAMES	  (1U << 0) /**< of the cgroups that rows have or will have:
				     *   asks the kernel, and reads state files,
				     *   which may wait for a disk
				     */
#define CMT_USAGE_PENDING (1U << 1) /**< count pending owners: for that the module
				     *   looks at every process, in process scope.
				     *   Without it cmt_usage_row.pending is 0.
				     */

/**
 * Renew what is not in the records.  Counts hold from the next frame on, and so
 * does what names join; names also for the frame that the caller has.
 *
 * @what: CMT_USAGE_NAMES | CMT_USAGE_PENDING, or one of these.  With a recording, both
 *        come from that, and nothing is done.
 *
 * Returns 0, -EINVAL, -ENOMEM, or -errno of cmt_device_pending() but -EAGAIN:
 * then frame.pending_known is false.
 */
CMT_API int cmt_usage_refresh(struct cmt_usage *usage, unsigned int what);

/**
 * Without a device: add a record.  Ordering: as cmt_slots_add(); CMT_REC_LOST
 * counts as lost.  Returns 0, -EINVAL (there is a device) or -ENOMEM.
 */
CMT_API int cmt_usage_add(struct cmt_usage *usage,
			  const struct cmt_record *record);

/** Without a device: who owns what, as cmt_tracker_sync(), whose errors it returns,
 *  or -EINVAL (there is a device).
 */
CMT_API int cmt_usage_sync(struct cmt_usage *usage,
			   const struct cmt_snapshot *snapshot);

/**
 * The pending owners, as cmt_device_pending() gives them; NULL: not known.
 * Returns 0, -EINVAL (a record that is none of an owner) or -ENOMEM.
 */
CMT_API int cmt_usage_set_pending(struct cmt_usage *usage,
				  const struct cmt_snapshot *pending);

/**
 * Without a device: what cmt_device_uncore() said of the channels that are read, from the
 * next frame on; NULL: not known, and the channels that have records are all.
 * Returns 0 or -EINVAL (there is a device).
 */
CMT_API int cmt_usage_set_uncore(struct cmt_usage *usage,
				 const struct cmt_uncore *uncore);

/**
 * With a recording: what the last state in it says that cmt_usage_next() has come to.
 * Pending owners and channels it has set already; its cpus are for the caller's
 * cmt_culprit_add_cpu(), once for each new state.
 * @state: valid until the next call with @usage or its recording
 * Returns 1: it is a new one, 0: it is that of the last call, -ENODATA: there was none, or
 * -EINVAL (no recording).
 */
CMT_API int cmt_usage_state(struct cmt_usage *usage,
			    const struct cmt_recording_state **state);

/** End the interval now, with what was read: cmt_usage_next() has a frame, unless
 *  there was nothing.  The next interval begins.  Returns 0 or -ENOMEM.
 */
CMT_API int cmt_usage_flush(struct cmt_usage *usage);

/** The cache of names, for cmt_containers_put() and lookups.  It stays the usage's,
 *  unless it was given in the options.
 */
CMT_API struct cmt_containers *cmt_usage_containers(struct cmt_usage *usage);

#ifdef __cplusplus
}
#endif

#endif
