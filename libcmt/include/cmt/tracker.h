/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The RMID metadata tracker: who owned RMID r at time t?
 *
 * Pure: no descriptor, no clock.  Events are queued in any order within the
 * window, applied in order of time by cmt_tracker_advance().  An owner's
 * metadata outlives its FREE until the RMID is handed out again, so that a
 * reading that comes in the same slot as the FREE still finds its name.
 * Memory is bounded by nr_rmids and the events queued between two advances.
 */
#ifndef CMT_TRACKER_H
#define CMT_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_tracker;

/** cmt_owner.kind: CMT_OWNER_PROCESS, _CGROUP, _CPU of uapi/cmt.h, or one of
 *  these, which cannot be attached
 */
#define CMT_OWNER_OVERFLOW 0x100	/**< all pending owners together */
#define CMT_OWNER_RESCTRL 0x101		/**< what resctrl, or another agent,
					 *   counts under this RMID
					 */
#define CMT_OWNER_KERNEL 0x102		/**< the kernel, where AMD's PLZA gives
					 *   its accesses an RMID
					 */

/**
 * Who an RMID belonged to.  Of cmt_record_owner() the program's.  All others, which
 * cmt_tracker_lookup() returns and slots point to, are the library's: a later
 * version appends members, and a member that is not within sz is not there.
 */
struct cmt_owner {
	size_t sz;		/**< sizeof(struct cmt_owner), by the caller; of
				 *   the library's: the bytes that there are
				 */
	uint64_t since;		/**< ts of the ALLOC */
	uint64_t until;		/**< ts of the FREE, if freed */
	uint64_t cgroup_id;	/**< cgroup v2 id (inode number); 0: none */
	uint64_t residual_bytes;/**< cache the RMID held when allocated */
	uint32_t rmid;
	uint32_t generation;
	uint32_t kind;		/**< CMT_OWNER_* */
	uint32_t tgid;		/**< of a process, else 0 */
	uint32_t cpu;		/**< of a CPU, else 0 */
	uint32_t why;		/**< of a pending owner: CMT_WHY_*, else 0 */
	bool attached;		/**< by cmt_device_attach() */
	bool freed;
	char comm[CMT_COMM_LEN + 1];	/**< always terminated, raw bytes */
};

/**
 * What a lifecycle record says of an owner; since is the record's time.  An
 * ALLOC_FAIL tells of a pending owner, and why it is: rmid and generation are
 * those of the overflow RMID.
 *
 * @owner: the caller sets sz
 *
 * Returns 0, or -EINVAL (@record is no lifecycle record, or sz).
 */
CMT_API int cmt_record_owner(const struct cmt_record *record,
			     struct cmt_owner *owner);

/**
 * @nr_rmids: RMID numbers are below this (cmt_info.nr_rmids), 1..65536
 * Returns 0, -EINVAL or -ENOMEM.
 */
CMT_API int cmt_tracker_new(struct cmt_tracker **tracker, uint32_t nr_rmids);
CMT_API void cmt_tracker_free(struct cmt_tracker *tracker);

/**
 * Queue whatever a lifecycle record says (ALLOC, FREE, UPDATE, EXISTING).
 * A FREE of another generation than the owner's is ignored; an UPDATE of
 * another one tells of an owner whose ALLOC was lost.  An EXISTING from before
 * the last advance is taken at once, unless a later owner is known.
 * Returns 1 (queued), 0 (not a lifecycle record of an RMID), -EINVAL (rmid out of
 * range or 0), -ESTALE (before the last advance; not queued) or -ENOMEM.
 */
CMT_API int cmt_tracker_record(struct cmt_tracker *tracker,
			       const struct cmt_record *record);

/**
 * Replace all state by a snapshot and advance to its as_of.  Queued events
 * after as_of stay; events up to as_of that are queued from now on are ignored
 * (they count as queued).  Owners that the snapshot does not have are freed at
 * as_of.  Where the tracker, advanced past as_of, knows of something later,
 * that stays.  Returns 0 or -EINVAL (an impossible snapshot; state unchanged).
 */
CMT_API int cmt_tracker_sync(struct cmt_tracker *tracker,
			     const struct cmt_snapshot *snapshot);

/** Apply all events with a time up to and at @ts, in order of time. */
CMT_API void cmt_tracker_advance(struct cmt_tracker *tracker, uint64_t ts);

/**
 * Who owns @rmid at @ts, or did last before it; queued events are looked at
 * too.  NULL: no owner is known.  @ts: not more than the tracker's memory ago,
 * which is the last advance.  The library owns what is returned, whose members end
 * at its sz: a later version appends some.  It is valid until an event is queued or
 * applied.
 */
CMT_API const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *tracker,
						   uint32_t rmid, uint64_t ts);

#ifdef __cplusplus
}
#endif

#endif
