/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Frames: what a cmt_usage gives for each interval.  A frame has rows, and the memory
 * channels.  Each value says whether it is known, whether it is complete, and why not;
 * cmt/usage.h says what the values mean.
 */
#ifndef CMT_FRAME_H
#define CMT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/containers.h>
#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a row is. */
enum cmt_usage_by {
	CMT_USAGE_BY_CONTAINER,
	CMT_USAGE_BY_PROCESS,	/**< processes, and all other owners */
	CMT_USAGE_BY_CPU,
	CMT_USAGE_BY_DOMAIN,
};

/** The kind of a row. */
enum cmt_usage_kind {
	CMT_USAGE_OWNER,
	CMT_USAGE_UNKNOWN,	/**< an RMID whose ALLOC was lost */
	CMT_USAGE_OVERFLOW,	/**< the overflow RMID: all pending owners */
	CMT_USAGE_UNATTRIBUTED,	/**< RMID 0: idle, kernel, not monitored */
	CMT_USAGE_OUTSIDE,	/**< outside this machine: no row of a frame, but what
				 *   a caller may make of CMT_CULPRIT_OUTSIDE
				 */
};

/** why: the reasons for which a value is not known or not complete. */
#define CMT_USAGE_WHY_ERROR	(1U << 0)	/**< the hardware reported an error */
#define CMT_USAGE_WHY_UNAVAILABLE (1U << 1)	/**< the hardware reported that the
						 *   value is unavailable, or there
						 *   are no counters
						 */
#define CMT_USAGE_WHY_GAP	(1U << 2)	/**< traffic was not counted */
#define CMT_USAGE_WHY_FIRST	(1U << 3)	/**< one reading makes no rate */
#define CMT_USAGE_WHY_ENDED	(1U << 4)	/**< all owners of the row ended */
#define CMT_USAGE_WHY_OVERWRITTEN (1U << 5)	/**< another agent's RMID counted
						 *   some of it.  By CPU: another
						 *   agent set the CPU's RMID
						 */
#define CMT_USAGE_WHY_OLD	(1U << 6)	/**< no reading in the interval */
#define CMT_USAGE_WHY_PENDING	(1U << 7)	/**< owners of the row are pending:
						 *   their values are in the overflow
						 *   RMID
						 */
/* Of counters only, and not in cmt_usage_row.why: */
#define CMT_USAGE_WHY_NOT_COUNTED (1U << 8)	/**< PERF records lack a value, or
						 *   there is no PERF record
						 */
#define CMT_USAGE_WHY_EXCLUDED	(1U << 9)	/**< a CPU is excluded from sampling,
						 *   and has no PERF records
						 */

/*
 * Rows have these structures as members, so the structures cannot grow: a later version
 * may use the reserved members, which are 0 until then.
 */
struct cmt_usage_occupancy {
	bool known;
	bool partial;		/**< lower bounds: what is known of last_bytes,
				 *   least_bytes, mean_bytes and most_bytes
				 */
	bool residual_known;	/**< residual_bytes is known: of each owner in each L3
				 *   domain in which it holds cache.  Not known where
				 *   the module did not read the RMID when the owner
				 *   got it; why has no reason for that
				 */
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint64_t last_bytes;	/**< at the end of the interval */
	uint64_t least_bytes;	/**< of the time slots in which all RMIDs of the
				 *   row were known
				 */
	uint64_t most_bytes;	/**< of all time slots; also where known is false:
				 *   of an owner that ended, or whose last_bytes is
				 *   a lower bound of 0.  0: not known, where known
				 *   is false and slots is 0
				 */
	uint64_t mean_bytes;	/**< of the same time slots as least_bytes */
	uint64_t residual_bytes;	/**< upper bound of the part of last_bytes
					 *   that earlier owners of the RMIDs left; 0
					 *   where residual_known is false
					 */
	uint64_t age_ns;	/**< of the oldest value in last_bytes, if that is
				 *   older than the last slot; else 0
				 */
	uint32_t slots;		/**< number of time slots in least and mean; 0:
				 *   least and mean are not known
				 */
	uint64_t reserved[2];	/**< 0 */
};

struct cmt_usage_rate {
	bool known;
	bool partial;
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint64_t bytes;		/**< counted in the interval */
	double rate;		/**< bytes a second; NAN: not known */
	double lo, hi;		/**< bounds of rate, from the unit of the counters
				 *   and the times of the readings; hi is INFINITY
				 *   where the value is partial or not known
				 */
	uint64_t reserved[2];	/**< 0 */
};

/**
 * Counts of the processor while the RMIDs of the row were loaded, and what its tasks waited
 * for a CPU, on all CPUs that are sampled.  A sum is 0 unless its CMT_F_* is in values.
 */
struct cmt_usage_counters {
	bool known;		/**< ran_ns is known */
	bool partial;		/**< some of the sums are lower bounds: those in bounds
				 *   and, where why has CMT_USAGE_WHY_GAP, _PENDING,
				 *   _EXCLUDED or _OVERWRITTEN, ran_ns
				 */
	bool quota;		/**< a task was out of its quota of CPU time, which is
				 *   not in waited_ns
				 */
	uint32_t why;		/**< CMT_USAGE_WHY_* */
	uint32_t values;	/**< CMT_F_CYCLES | ...: the sums that are known */
	uint32_t bounds;	/**< CMT_F_CYCLES | ...: those of values that are
				 *   lower bounds
				 */
	uint64_t ran_ns;	/**< CPU time; of RMID 0 with idle time.  By CPU and
				 *   by domain: of all RMIDs except 0
				 */
	uint64_t cycles;	/**< unhalted */
	uint64_t instructions;	/**< retired */
	uint64_t llc_misses;
	uint64_t llc_references;
	uint64_t waited_ns;	/**< with CMT_F_WAITED; of all tasks together.  By CPU
				 *   and by domain: of all RMIDs.  A lower bound in
				 *   the interval in which a device first asks for it
				 */
	double cpu_share;	/**< CPUs used: ran_ns / cmt_usage_frame.counted_ns;
				 *   1.0 is one CPU all the time.  NAN: not known;
				 *   always for RMID 0
				 */
	double wait_share;	/**< waited_ns / cmt_usage_frame.counted_ns; 1.0 is one
				 *   task all the time.  NAN: not known
				 */
	double ipc;		/**< instructions per cycle, of the records that have
				 *   both values; NAN: not known, or no cycle
				 */
	double mpki;		/**< LLC misses per 1,000 instructions, of the records
				 *   that have both values; NAN: not known, or no
				 *   instruction
				 */
	uint64_t reserved[2];	/**< 0 */
};

/**
 * How complete the values of a row are: 1 is complete, 0 is nothing.  NAN: not known, since
 * there was nothing to count, since another agent's RMID counted some of it, or since the
 * machine does not have the event (cmt_info.events when the usage was made, and what
 * readings had since).
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
#define CMT_USAGE_ROW_EMULATED	(1U << 0)	/**< the values are a model's */
#define CMT_USAGE_ROW_WHOLE	(1U << 1)	/**< by container: one RMID counts
						 *   a complete cgroup, except
						 *   owners below it
						 */
#define CMT_USAGE_ROW_ATTACHED	(1U << 2)	/**< an owner was attached */
#define CMT_USAGE_ROW_CPU	(1U << 3)	/**< by CPU: the row is a CPU.  Rows
						 *   without this flag have what
						 *   is counted for no CPU
						 */
#define CMT_USAGE_ROW_SEEN	(1U << 4)	/**< not set: a CPU of which only
						 *   lost is known
						 */
#define CMT_USAGE_ROW_BORROWED_ID (1U << 5)	/**< another row has the same
						 *   container id.  Not set in a
						 *   row outside of users' slices
						 *   if all others with the id
						 *   are inside.  Or a row inside
						 *   has runtime and name of
						 *   another row; both have no id
						 */
#define CMT_USAGE_ROW_PART	(1U << 6)	/**< the part of a row in one domain */
#define CMT_USAGE_ROW_GROUP_CPU	(1U << 7)	/**< of CMT_OWNER_RESCTRL: cpu is a
						 *   CPU of the group
						 */

struct cmt_usage_row {
	enum cmt_usage_kind kind;
	uint32_t owner;		/**< CMT_OWNER_*, if kind is CMT_USAGE_OWNER.  By
				 *   container always CMT_OWNER_CGROUP
				 */
	uint32_t flags;		/**< CMT_USAGE_ROW_* */
	uint32_t why;		/**< CMT_USAGE_WHY_* of all values of the row */
	uint64_t cgroup_id;	/**< 0: in no cgroup, as a CPU.  By container: the
				 *   lowest id among the cgroups in the row
				 */
	const struct cmt_container *container;	/**< NULL: in no cgroup, or no
						 *   memory.  If its path is NULL,
						 *   the cgroup is not known, or
						 *   not before the next
						 *   cmt_usage_refresh()
						 */
	char comm[CMT_COMM_LEN + 1];	/**< raw bytes, terminated; "" of a
					 *   container's row
					 */
	uint32_t pid;		/**< of a process, else 0 */
	uint32_t rmid;		/**< by CPU: at the last tick; 0 of a container's row */
	uint32_t generation;
	uint32_t domain;	/**< by domain and by CPU, and of a part */
	uint32_t cpu;		/**< of CMT_OWNER_CPU, by CPU, and with
				 *   CMT_USAGE_ROW_GROUP_CPU
				 */
	uint32_t rmids;		/**< coverage: live owners in the row with a
				 *   dedicated RMID.  The RMIDs of their resctrl
				 *   groups do not count
				 */
	uint32_t pending;	/**< coverage: owners of the row that share the
				 *   overflow RMID, as of frame.pending_ns.  By
				 *   container all owners of a row may be pending;
				 *   the row then has no value
				 */
	uint64_t l3_bytes;	/**< size of the L3 caches, 100 % of the occupancy;
				 *   0: unknown
				 */
	struct cmt_usage_occupancy occupancy;
	struct cmt_usage_rate total;
	struct cmt_usage_rate local;
	uint32_t first_child;	/**< index of the row's first child in frame.children */
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
 * The share of the time in which no read was pending in the first of the two halves
 * (pseudo channels) of a memory channel.  It is not the share of the bandwidth that is
 * free: writes and refreshes are not counted, and a half that always has a read pending
 * may serve many more.  Counted only on processors whose events are known.
 */
struct cmt_usage_idle {
	bool known;
	bool partial;		/**< counted in a part of the interval */
	uint32_t why;		/**< CMT_USAGE_WHY_*; not in cmt_usage_channel.why */
	uint64_t idle_cycles;	/**< of the memory controller, with no read pending */
	uint64_t busy_cycles;	/**< of the memory controller, with a read pending */
	double share;		/**< idle_cycles / (idle_cycles + busy_cycles), 0 to 1;
				 *   NAN: not known
				 */
	uint64_t reserved[2];	/**< 0 */
};

/** A memory channel.  The library owns it: a later version appends members. */
struct cmt_usage_channel {
	uint32_t socket;
	uint32_t channel;	/**< id of the box, on the socket: struct cmt_box */
	uint32_t why;		/**< CMT_USAGE_WHY_* of all values except idle */
	uint32_t reserved;	/**< 0 */
	/* A value is partial when the channel was not read for some of the interval. */
	struct cmt_usage_rate read;
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;	/**< read and written together */
	struct cmt_usage_idle idle;
};

/** A difference of two rates, bytes a second; may be below 0. */
struct cmt_usage_difference {
	bool known;		/**< both rates are known, and neither is partial */
	uint32_t why;		/**< CMT_USAGE_WHY_* of both rates */
	double rate;		/**< NAN: not known */
	double lo, hi;		/**< bounds of the difference, also where known is
				 *   false; -INFINITY, INFINITY: there is no such bound
				 */
	uint64_t reserved[2];	/**< 0 */
};

/**
 * The traffic of all memory channels, and that of all RMIDs.  The structure is a member of
 * the frame and cannot grow: a later version may use the reserved members.
 */
struct cmt_usage_memory {
	struct cmt_usage_rate read;	/**< of all channels; known if each channel
					 *   is known
					 */
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;
	struct cmt_usage_rate rmids;	/**< total bandwidth of all RMIDs, RMID 0
					 *   included
					 */
	struct cmt_usage_difference unattributed;	/**< total less rmids; not
							 *   known with the
							 *   emulated backend
							 */
	uint64_t reserved[4];	/**< 0 */
};

/** cmt_usage_wait_part.by: not known, since records are lost */
#define CMT_USAGE_WAIT_UNKNOWN	UINT32_MAX

/**
 * A part of what the tasks of a row waited for CPUs: that in which tasks of another row, or
 * of the same one, ran there.  In each time slot the wait for a CPU is shared out among all
 * others that ran on it, by their times.  The row's own part is what its tasks waited for each
 * other: with n of them, n - 1 waited while one ran.  The parts of a row add up to its
 * waited_ns.
 */
struct cmt_usage_wait_part {
	uint32_t row;		/**< index in cmt_usage_frame.rows: who waited */
	uint32_t by;		/**< index of the row that ran, which may be the same one;
				 *   CMT_USAGE_WAIT_UNKNOWN
				 */
	uint64_t ns;
};

/** One interval.  The library owns it: a later version appends members. */
struct cmt_usage_frame {
	uint64_t start_ns;	/**< CLOCK_MONOTONIC; a multiple of the interval after
				 *   the start of the first frame
				 */
	uint64_t end_ns;	/**< exclusive */
	uint64_t last_ns;	/**< time of the last reading, 0: none; with a device
				 *   that reads nothing, time of the last slot
				 */
	uint64_t elapsed_ns;	/**< since the last reading of the frame before */
	uint32_t by;		/**< enum cmt_usage_by */
	uint32_t nr_rows;	/**< in no order of use */
	uint32_t nr_children;
	uint32_t row_size;	/**< bytes from one row to the next */
	const struct cmt_usage_row *rows;
	const struct cmt_usage_row *children;
	bool emulated;
	bool pending_known;	/**< cmt_usage_row.pending is known */
	uint32_t nr_cpus;	/**< CPUs with a TICK in the interval */
	uint32_t nr_domains;	/**< L3 domains seen so far */
	uint32_t sampling_ns;	/**< sampling interval in force; 0: no tick */
	uint64_t busy_ns;	/**< spent sampling, all CPUs */
	uint64_t missed;	/**< ticks that did not happen, all CPUs */
	uint64_t pending_ns;	/**< time at which the pending owners were counted */
	uint32_t pending;	/**< number of pending owners at pending_ns */
	uint64_t lost;		/**< records overwritten before they were read, in the
				 *   interval
				 */
	uint64_t lost_ever;	/**< the same, since cmt_usage_new() */
	uint64_t dropped;	/**< late or malformed records in the interval, and
				 *   those of more L3 domains than 64
				 */
	uint64_t dropped_ever;	/**< the same, since cmt_usage_new() */
	uint32_t nr_slots;	/**< time slots with a record */
	uint32_t nr_gaps;	/**< time slots with lost records: rows may be older,
				 *   or missing.  Of a recording also those without
				 *   any record that a damaged part had
				 */
	uint64_t counted_ns;	/**< time that cmt_usage_row.counters cover; 0: none */
	uint32_t counters;	/**< CMT_F_CYCLES | ...: values that some PERF record
				 *   of the interval has
				 */
	uint32_t reserved;	/**< 0 */
	uint32_t nr_channels;	/**< memory channels read since cmt_usage_new(), by
				 *   (socket, channel), ascending
				 */
	uint32_t channel_size;	/**< bytes from one channel to the next */
	const struct cmt_usage_channel *channels;
	const char *channels_reason;	/**< why no channel, or not every channel, is
					 *   read, for people; "": every channel
					 *   is, as far as is known.  Never NULL
					 */
	struct cmt_usage_memory memory;
	bool brief;		/**< rows are left out: CMT_USAGE_BRIEF */
	uint32_t brief_why;	/**< CMT_USAGE_WHY_*: why an owner without a row may
				 *   have run; 0: owners without a row were not read,
				 *   and did not run on a CPU that counts
				 */
	uint32_t nr_waits;	/**< by row, ascending, and the largest first; 0 without
				 *   CMT_USAGE_WAITS
				 */
	uint32_t wait_size;	/**< bytes from one of waits to the next */
	const struct cmt_usage_wait_part *waits;
};

/** Row @i of @frame, below nr_rows. */
static inline const struct cmt_usage_row *
cmt_usage_row_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_row *)
		((const char *)frame->rows + (size_t)i * frame->row_size);
}

/** Child @i of @frame, below nr_children.  A row has the children from its first_child on,
 *  nr_children of them.
 */
static inline const struct cmt_usage_row *
cmt_usage_child_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_row *)
		((const char *)frame->children + (size_t)i * frame->row_size);
}

/** Part @i of the waits of @frame, below nr_waits. */
static inline const struct cmt_usage_wait_part *
cmt_usage_wait_part_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_wait_part *)
		((const char *)frame->waits + (size_t)i * frame->wait_size);
}

/** Channel @i of @frame, below nr_channels: an index of the array, no id. */
static inline const struct cmt_usage_channel *
cmt_usage_channel_at(const struct cmt_usage_frame *frame, uint32_t i)
{
	return (const struct cmt_usage_channel *)
		((const char *)frame->channels + (size_t)i * frame->channel_size);
}

#ifdef __cplusplus
}
#endif

#endif
