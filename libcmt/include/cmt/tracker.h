/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The RMID metadata tracker: the owner of an RMID at a time.
 *
 * Pure: no descriptor, no clock.  Events are queued in any order, and applied in the
 * order of time by cmt_tracker_advance().  The metadata of an owner stays after its FREE
 * until the RMID has another owner, so that a reading in the same slot as the FREE still
 * has its name.  Memory is bounded by nr_rmids and the events queued between two advances.
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
#define CMT_OWNER_RESCTRL 0x101		/**< resctrl or another agent uses
					 *   this RMID
					 */
#define CMT_OWNER_KERNEL 0x102		/**< the kernel, where AMD's PLZA gives
					 *   its accesses an RMID
					 */

/**
 * An owner.  The program owns the struct that it passes to cmt_record_owner(), and sets
 * its sz.  The library owns all others, which cmt_tracker_lookup() returns and slots point
 * to: a later version may append members, and a member beyond sz does not exist.
 */
struct cmt_owner {
	size_t sz;		/**< sizeof(struct cmt_owner), by the caller; in
				 *   the library's: the bytes that exist
				 */
	uint64_t since;		/**< ts of the ALLOC, or of an UPDATE, if the
				 *   ALLOC was lost
				 */
	uint64_t until;		/**< ts of the FREE, if freed */
	uint64_t cgroup_id;	/**< cgroup v2 id (inode number); 0: none.  With
				 *   CMT_RESCTRL_GROUP the id of a resctrl group,
				 *   which is CMT_OWNER_RESCTRL
				 */
	uint64_t residual_bytes;/**< cache the RMID held when allocated, in the L3
				 *   domain of the allocation; 0 where
				 *   residual_known is false
				 */
	uint32_t rmid;
	uint32_t generation;
	uint32_t kind;		/**< CMT_OWNER_* */
	uint32_t tgid;		/**< of a process, else 0 */
	uint32_t cpu;		/**< of a CPU, else 0 */
	uint32_t why;		/**< of a pending owner: CMT_WHY_*, else 0 */
	bool attached;		/**< by cmt_device_attach() */
	bool freed;
	char comm[CMT_COMM_LEN + 1];	/**< always terminated, raw bytes */
	bool service;		/**< of the lower class: CMT_F_SERVICE */
	bool sole;		/**< the RMID is that of a resctrl group all of whose
				 *   members belong to this owner: CMT_F_GROUP_SOLE
				 */
	bool residual_known;	/**< CMT_F_RESIDUAL: the RMID was read when allocated */
	uint32_t group_tid;	/**< of CMT_OWNER_RESCTRL: a thread in the group; 0:
				 *   none is known
				 */
	uint32_t group_cpu;	/**< of CMT_OWNER_RESCTRL: a CPU of the group;
				 *   CMT_GROUP_NO_CPU: none is known
				 */
};

#define CMT_GROUP_NO_CPU UINT32_MAX

/**
 * The owner that a lifecycle record describes; since is the record's time.  The owner of
 * an ALLOC_FAIL is pending: rmid and generation are those of the overflow RMID, and why is
 * the reason.
 *
 * @owner: the caller sets sz
 *
 * Returns 0, or -EINVAL (@record is no lifecycle record, or sz).
 */
CMT_API int cmt_record_owner(const struct cmt_record *record,
			     struct cmt_owner *owner);

/**
 * Make a tracker; free it with cmt_tracker_free().
 * @nr_rmids: RMID numbers are below this (cmt_info.nr_rmids), 1..65536
 * Returns 0, -EINVAL or -ENOMEM.
 */
CMT_API int cmt_tracker_new(struct cmt_tracker **tracker, uint32_t nr_rmids);
CMT_API void cmt_tracker_free(struct cmt_tracker *tracker);

/**
 * Queue a lifecycle record (ALLOC, FREE, UPDATE, EXISTING).  A FREE whose generation is
 * not the owner's is ignored.  An UPDATE whose generation is not the owner's makes a new
 * owner, whose ALLOC was lost.  An EXISTING from before the last advance is applied at
 * once, unless a later owner is known.  Any order within the time since the last advance.
 * Returns 1 (queued), 0 (not a lifecycle record of an RMID), -EINVAL (rmid out of
 * range or 0), -ESTALE (before the last advance; not queued) or -ENOMEM.
 */
CMT_API int cmt_tracker_record(struct cmt_tracker *tracker,
			       const struct cmt_record *record);

/**
 * Replace all owners by those of a snapshot, and advance to its as_of.  Queued events
 * after as_of stay; events up to as_of that are queued from now on are ignored, and count
 * as queued.  Owners that the snapshot does not have are freed at as_of.  Where the
 * tracker has advanced past as_of, later changes stay, and so does the FREE of an owner that
 * only the snapshot has.
 * Returns 0 or -EINVAL (an impossible snapshot; state unchanged).
 */
CMT_API int cmt_tracker_sync(struct cmt_tracker *tracker,
			     const struct cmt_snapshot *snapshot);

/** Apply all events with a time up to and at @ts, in order of time. */
CMT_API void cmt_tracker_advance(struct cmt_tracker *tracker, uint64_t ts);

/**
 * The owner of @rmid at @ts, or the last one before @ts, queued events included.  NULL: no
 * owner is known.  @ts: not before the last advance.  The library owns the result, which
 * is valid until the next event is queued or applied; its members end at its sz.
 */
CMT_API const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *tracker,
						   uint32_t rmid, uint64_t ts);

#ifdef __cplusplus
}
#endif

#endif
