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

/** cmt_owner.kind: CMT_OWNER_PROCESS, _CGROUP, _CPU of uapi/cmt.h, or this */
#define CMT_OWNER_REST 0x100	/**< all who wait for an RMID; not attachable */

/** Who an RMID belonged to. */
struct cmt_owner {
	uint64_t since;		/**< ts of the ALLOC */
	uint64_t until;		/**< ts of the FREE, if freed */
	uint64_t cgroup_id;	/**< cgroup v2 id (inode number); 0: none */
	uint64_t residual_bytes;/**< cache the RMID held when allocated */
	uint32_t rmid;
	uint32_t generation;
	uint32_t kind;		/**< CMT_OWNER_* */
	uint32_t tgid;		/**< of a process, else 0 */
	uint32_t cpu;		/**< of a CPU, else 0 */
	bool attached;		/**< by cmt_device_attach() */
	bool freed;
	char comm[CMT_COMM_LEN + 1];	/**< always terminated, raw bytes */
};

/**
 * What a lifecycle record says of an owner; since is the record's time.  An
 * ALLOC_FAIL tells of one who waits: rmid and generation are those of the rest.
 * Returns 0, or -EINVAL when @record is no lifecycle record.
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
 * Queue an allocation.  @owner: since, rmid, generation and metadata; freed and
 * until are ignored.  Returns 0, -EINVAL (rmid out of range or 0), -ESTALE
 * (before the last advance; not queued) or -ENOMEM.
 */
CMT_API int cmt_tracker_alloc(struct cmt_tracker *tracker,
			      const struct cmt_owner *owner);

/** Queue a free of @rmid at @ts.  Returns as cmt_tracker_alloc(). */
CMT_API int cmt_tracker_release(struct cmt_tracker *tracker, uint32_t rmid,
				uint32_t generation, uint64_t ts);

/**
 * Queue whatever a lifecycle record says (ALLOC, FREE, UPDATE, EXISTING).
 * A FREE of another generation than the owner's is ignored; an UPDATE of
 * another one tells of an owner whose ALLOC was lost.  An EXISTING from before
 * the last advance is taken at once, unless a later owner is known.
 * Returns 1 (queued), 0 (not a lifecycle record of an RMID) or as
 * cmt_tracker_alloc().
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
 * too.  NULL: nobody is known.  @ts: not more than the tracker's memory ago,
 * which is the last advance.  The owner stays the tracker's and is valid until
 * its next call.
 */
CMT_API const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *tracker,
						   uint32_t rmid, uint64_t ts);

/** Queued events. */
CMT_API size_t cmt_tracker_queued(const struct cmt_tracker *tracker);

/** RMIDs with an owner that is not freed, as of the last advance. */
CMT_API uint32_t cmt_tracker_active(const struct cmt_tracker *tracker);

#ifdef __cplusplus
}
#endif

#endif
