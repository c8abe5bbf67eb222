/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The device: /dev/cmt, opened, and all calls that need no ring.
 *
 * Thread-safety: several threads may use one device at once, with two exceptions.
 * cmt_device_close() must be the last call, and cmt_reader_new() and cmt_reader_free() of
 * one device must not overlap.  The kernel serialises changes that hold for all programs
 * (interval, scope, resctrl mode, attachments), in any order.  Several threads may read
 * one snapshot at once.
 */
#ifndef CMT_DEVICE_H
#define CMT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include "uapi/cmt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CMT_DEVICE_PATH "/dev/cmt"

struct cmt_device;	/**< opaque; a program has pointers only */

/** cmt_device_open() flags */
#define CMT_OPEN_CONTROL (1U << 0) /**< read-write: may change the interval,
				    *   the scope and the resctrl mode, attach
				    *   and detach
				    */

/**
 * Open the device and check that module and library speak the same ABI.
 *
 * @dev:   where the device is stored; free it with cmt_device_close()
 * @path:  NULL for CMT_DEVICE_PATH
 * @flags: 0 or CMT_OPEN_CONTROL
 *
 * Thread-safe.  Returns 0 or: -ENOENT (module not loaded), -EACCES (not in the group that
 * owns the device), -ENOTTY (not a cmt device), -EPROTONOSUPPORT (another
 * major ABI version: see cmt_device_abi()), -EINVAL (unknown flags), -EPROTO
 * (the module's answers contradict each other), -ENOMEM, or what open(2) and
 * ioctl(2) say.
 */
CMT_API int cmt_device_open(struct cmt_device **dev, const char *path,
			    unsigned int flags);

/**
 * Close and free @dev; NULL: do nothing.  Readers made from the device must have
 * been freed before, and no other thread may use the device.
 */
CMT_API void cmt_device_close(struct cmt_device *dev);

/**
 * The ABI version of a device, also of a device that cmt_device_open() refuses with
 * -EPROTONOSUPPORT.  @abi is as CMT_ABI_VERSION: major << 16 | minor.  @path: NULL for
 * CMT_DEVICE_PATH.  Thread-safe.  Returns 0 or as cmt_device_open().
 */
CMT_API int cmt_device_abi(const char *path, uint32_t *abi);

/**
 * The descriptor, for poll(2).  The device closes it.  Thread-safe; never fails.
 */
CMT_API int cmt_device_fd(const struct cmt_device *dev);

/**
 * Has the device its one reader, that of cmt_reader_new() or cmt_usage_new(), so that both
 * would return -EBUSY now?  Never fails.
 */
CMT_API bool cmt_device_has_reader(const struct cmt_device *dev);

/** Bytes that cmt_device_info() always returns. */
#define CMT_INFO_ROOM 1024

/**
 * The module's information as of cmt_device_open().  The device owns it; it is constant
 * until cmt_device_close(), and never NULL.  It has CMT_INFO_ROOM bytes: a member that the
 * module or the library does not have is 0.  Interval, scope, resctrl mode and counters
 * may have changed since: see cmt_device_interval(), cmt_device_scope(),
 * cmt_device_resctrl(), cmt_device_counters().  Thread-safe.
 */
CMT_API const struct cmt_info *cmt_device_info(const struct cmt_device *dev);

/**
 * Read the module's counters now.  The caller sets @stats->size to sizeof(struct
 * cmt_stats), since the structure may grow.  On return, size is the number of bytes that
 * the module has; members beyond them are 0.  Thread-safe.
 * Returns 0, -EINVAL (size below CMT_STATS_SIZE) or -errno of ioctl(2).
 */
CMT_API int cmt_device_stats(const struct cmt_device *dev,
			     struct cmt_stats *stats);

/** Records that describe one instant.  Only the library makes snapshots. */
struct cmt_snapshot {
	uint64_t as_of;			/**< lifecycle records up to and at this
					 *   time are included
					 */
	uint32_t count;			/**< of records */
	uint32_t entry_size;		/**< bytes from one record to the next */
	struct cmt_record *records;	/**< see cmt_snapshot_at() */
};

/** Record @i, below count, of a snapshot; see cmt_record_owner(). */
static inline struct cmt_record *
cmt_snapshot_at(const struct cmt_snapshot *snapshot, uint32_t i)
{
	return (struct cmt_record *)(void *)((char *)snapshot->records +
					     (size_t)i * snapshot->entry_size);
}

/**
 * Make a snapshot from recorded records, for a replay.
 *
 * @snapshot: where the snapshot is stored; free it with cmt_snapshot_free()
 * @as_of:    the instant, CLOCK_MONOTONIC ns
 * @records:  @count records, which are copied and not checked; NULL: the records of
 *            the snapshot are zero, and the caller fills them in
 *
 * Thread-safe.  Returns 0, -EINVAL (more than 2^24 records) or -ENOMEM.
 */
CMT_API int cmt_snapshot_new(struct cmt_snapshot **snapshot, uint64_t as_of,
			     const struct cmt_record *records, uint32_t count);

/** Free a snapshot; NULL: do nothing. */
CMT_API void cmt_snapshot_free(struct cmt_snapshot *snapshot);

/**
 * Take a snapshot of the RMID assignments: CMT_REC_EXISTING records, oldest first.  Free
 * the snapshot with cmt_snapshot_free().  cmt_slots_sync(), cmt_usage_sync() or
 * cmt_tracker_sync() needs it at the start and after lost records.  Thread-safe.  Returns 0, -ENOMEM, -EPROTO (impossible records) or
 * -errno of ioctl(2).
 */
CMT_API int cmt_device_snapshot(const struct cmt_device *dev,
				struct cmt_snapshot **snapshot);

/**
 * The pending owners: CMT_REC_ALLOC_FAIL records.  They are looked up some at a time, and
 * as_of is a time after that: an owner that began or ceased to be pending meanwhile may be
 * among them or not.  The ts of a record is the time since which its owner is pending.  Until an RMID is free, pending owners count
 * in the overflow RMID.  Free the snapshot with cmt_snapshot_free(); cmt_tracker_sync()
 * does not accept it.  Thread-safe.  Returns 0, -ENOMEM, -EAGAIN (the number of pending
 * owners grew during each attempt), -EPROTO (impossible records) or -errno of ioctl(2).
 */
CMT_API int cmt_device_pending(const struct cmt_device *dev,
			       struct cmt_snapshot **pending);

/**
 * The sampling interval in force, nanoseconds, read now.  Thread-safe.  Returns 0
 * or -errno of ioctl(2).
 */
CMT_API int cmt_device_interval(const struct cmt_device *dev,
				uint32_t *interval_ns);

/**
 * Set the sampling interval for all programs.  Range: interval_min_ns to
 * interval_max_ns of struct cmt_info.  Thread-safe.  Returns 0, -EBADF (not opened with
 * CMT_OPEN_CONTROL), -EPERM (neither CAP_SYS_ADMIN nor CAP_PERFMON) or -EINVAL
 * (out of range; nothing changed).
 */
CMT_API int cmt_device_set_interval(struct cmt_device *dev,
				    uint32_t interval_ns);

/**
 * The scope, CMT_SCOPE_*, read now; 0 while the scope is being
 * changed.  Thread-safe.  Returns 0 or -errno of ioctl(2).
 */
CMT_API int cmt_device_scope(const struct cmt_device *dev, uint32_t *scope);

/**
 * Change the scope for all programs.  All owners lose their RMIDs, and all attachments
 * end.
 *
 * @scope:    CMT_SCOPE_*
 * @patterns: which cgroups are containers, separated by white space: see
 *            struct cmt_scope in uapi/cmt.h.  NULL: the patterns in force stay
 * @bad_at:   with -EINVAL: the offset of the wrong byte in @patterns; UINT32_MAX: the
 *            patterns are right, another argument is wrong; may be NULL
 *
 * Thread-safe.  Returns 0, -EBADF (not opened with CMT_OPEN_CONTROL), -EPERM
 * (neither CAP_SYS_ADMIN nor CAP_PERFMON), -EINVAL (unknown scope, or patterns that are
 * wrong, empty, or longer than CMT_PATTERNS_MAX bytes; nothing changed) or
 * -errno of ioctl(2).
 */
CMT_API int cmt_device_set_scope(struct cmt_device *dev, uint32_t scope,
				 const char *patterns, uint32_t *bad_at);

/**
 * The patterns in force, one to a line, in any scope.  Free @patterns with
 * free(3).  Thread-safe.  Returns 0, -ENOMEM, -EPROTO or -errno of ioctl(2).
 */
CMT_API int cmt_device_patterns(const struct cmt_device *dev, char **patterns);

/** The result of cmt_device_attach(). */
struct cmt_attached {
	size_t sz;		/**< sizeof(struct cmt_attached), by the caller */
	uint32_t rmid;		/**< the overflow RMID where the owner is pending */
	uint32_t generation;
};

/**
 * Make a process, a cgroup or a CPU an owner, in any scope.  When no RMID is free, the
 * new owner is pending, before the pending owners of the scope.
 *
 * @kind:     CMT_OWNER_PROCESS, _CGROUP or _CPU
 * @id:       process id in the caller's namespace, cgroup v2 inode number, or
 *            CPU number
 * @options:  0 or CMT_ATTACH_CHILDREN
 * @attached: the caller sets sz; may be NULL
 *
 * Thread-safe.  Returns 0, -EBADF and -EPERM as cmt_device_set_interval(), -ESRCH (no such
 * process), -ENOENT (no such cgroup), -ENXIO (no such CPU, or it is offline),
 * -EEXIST (already attached), -ENOSPC (too many attachments), -EINVAL (unknown kind or
 * options, options that the kind does not have, or an impossible sz; nothing was
 * attached) or -errno of ioctl(2).
 */
CMT_API int cmt_device_attach(struct cmt_device *dev, uint32_t kind,
			      uint64_t id, uint32_t options,
			      struct cmt_attached *attached);

/**
 * End an attachment.  Thread-safe.  Returns 0, -EBADF, -EPERM and -EINVAL as
 * cmt_device_attach(), -ENOENT (not attached) or -errno of ioctl(2).
 */
CMT_API int cmt_device_detach(struct cmt_device *dev, uint32_t kind,
			      uint64_t id);

/**
 * Make a process, a cgroup or a CPU an owner until cmt_unregister() or until @dev is
 * closed.  The kernel ends the registration with the descriptor, so also when the program
 * is killed.  The owner may exist already: by the scope, by an attachment, or registered
 * by other programs.  It is then shared with these, and keeps its RMID until the last of
 * them ends.  A child of fork(2) shares the descriptor and its registrations.
 *
 * Arguments as of cmt_device_attach().  Thread-safe.  Returns as cmt_device_attach(), and
 * -EEXIST (already registered with @dev), -ENOSPC (also: CMT_REGISTER_MAX registrations
 * with @dev), -ENOTTY (the module is older and has no such call).
 */
CMT_API int cmt_register(struct cmt_device *dev, uint32_t kind, uint64_t id,
			 uint32_t options, struct cmt_attached *registered);

/**
 * End the registration that cmt_register() made with the same @kind and @id, also where
 * the owner has ended meanwhile.  Thread-safe.  Returns 0, -EBADF, -EPERM and -EINVAL as
 * cmt_device_attach(), -ENOENT (not registered with @dev), -ENOTTY or -errno of
 * ioctl(2).
 */
CMT_API int cmt_unregister(struct cmt_device *dev, uint32_t kind, uint64_t id);

/**
 * Read the counters now, without a ring and without waiting for a tick.
 *
 * @kind:     CMT_OWNER_PROCESS, _CGROUP or _CPU: one owner, by the scope, attached or
 *            registered; 0: every RMID that has an owner
 * @id:       as of cmt_device_attach(); with @kind 0: 0
 * @readings: CMT_REC_SAMPLE records, one for each L3 domain and RMID, by domain and
 *            then by RMID.  as_of is the time at which the RMIDs were determined, the ts
 *            of a record the time of its reading.  Free it with cmt_snapshot_free()
 *
 * A value without its flag is not known.  MBM values of two records may be subtracted if
 * RMID, generation, domain and base are the same: a new base begins (CMT_F_REBASED) when
 * the RMID was not read for 1.1 s.  Needs no CMT_OPEN_CONTROL.  Thread-safe.  Returns 0,
 * -ENOENT (no owner, or the owner ended meanwhile), -ESRCH (no such process), -EAGAIN (the
 * owner is pending and shares the overflow RMID; or the number of RMIDs grew during each
 * attempt), -EINVAL, -ENOMEM, -EPROTO (impossible records), -ENOTTY (the module is older)
 * or -errno of ioctl(2).
 */
CMT_API int cmt_device_read_now(const struct cmt_device *dev, uint32_t kind,
				uint64_t id, struct cmt_snapshot **readings);

/**
 * The boxes of counters outside the cores that the processor's discovery tables list:
 * see struct cmt_uncore.
 * @uncore: the caller sets size, as for cmt_device_stats().  Filled in, except its member
 *          boxes; with a count of 0, reason says why
 * @boxes:  uncore->count boxes, by socket.  Free it with free(3)
 *
 * Thread-safe.  Returns 0, -EINVAL (size below CMT_UNCORE_SIZE, or above 4096), -ENOMEM,
 * -EPROTO (impossible counts), -ENOTTY (the module is older) or -errno of ioctl(2).
 */
CMT_API int cmt_device_uncore(const struct cmt_device *dev,
			      struct cmt_uncore *uncore,
			      struct cmt_box **boxes);

/**
 * The L3 occupancy of an owner now, bytes, in all L3 domains together.  It includes the
 * residue of earlier owners of the RMID.  Thread-safe.  Returns 0, -ENODATA (not known in
 * some domain, or another agent's RMID counts some of it: CMT_F_PQR_OVERWRITTEN; *@bytes is
 * unchanged), or as cmt_device_read_now() with a @kind other than 0.
 */
CMT_API int cmt_get_occupancy(const struct cmt_device *dev, uint32_t kind,
			      uint64_t id, uint64_t *bytes);

/**
 * The resctrl mode, and whether resctrl is mounted, both read now.
 *
 * @mode:    CMT_RESCTRL_*: which RMID is loaded for a task that is in a resctrl group
 * @mounted: may be NULL
 *
 * Thread-safe.  Returns 0 or -errno of ioctl(2).
 */
CMT_API int cmt_device_resctrl(const struct cmt_device *dev, uint32_t *mode,
			       bool *mounted);

/**
 * Change the resctrl mode for all programs.
 *
 * @mode: CMT_RESCTRL_RESPECT: a task in a resctrl group keeps resctrl's RMID, which is
 *        sampled as an owner of the kind CMT_OWNER_RESCTRL.  CMT_RESCTRL_TAKE: the task
 *        has an RMID of cmt.  In both modes the task keeps its CLOSID.
 *
 * Thread-safe.  Returns 0, -EBADF and -EPERM as cmt_device_set_interval(), -EINVAL
 * (unknown mode; nothing changed) or -errno of ioctl(2).
 */
CMT_API int cmt_device_set_resctrl(struct cmt_device *dev, uint32_t mode);

/** Bytes of a reason, its NUL included. */
#define CMT_REASON_LEN 64

/**
 * The values that the processor's counters count now, for all descriptors together.
 *
 * @counters: where CMT_F_CYCLES | ... is stored; 0: nothing is counted
 * @reason:   CMT_REASON_LEN bytes: why a value that was asked for is not counted, for
 *            people; "": every value is, or none was asked for.  May be NULL
 *
 * A module that is too old to count is no error: the reason says so after
 * cmt_device_set_counters().  Thread-safe.  Returns 0 or -errno of ioctl(2).
 */
CMT_API int cmt_device_counters(const struct cmt_device *dev, uint32_t *counters,
				char *reason);

/**
 * Ask for PERF records with these values; a newly opened device asks for none.  The values
 * are counted until the last device that asked for them is closed or asks for none, except
 * where other programs need the processor's counters.
 *
 * @counters: any of CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES |
 *            CMT_F_LLC_REFERENCES; CMT_F_WAITED: also what tasks wait for a CPU, which
 *            takes no counter; CMT_F_COUNTERS_FIRST: they are counted also where
 *            other programs need the counters; CMT_F_CHANNEL: also memory channels, in
 *            CHANNEL records, and cmt_device_uncore() says which channels are not read,
 *            and why; 0: none
 *
 * A value that cannot be counted is no error: see cmt_device_counters().  Needs no
 * CMT_OPEN_CONTROL.  Thread-safe.  Returns 0, -EINVAL (another bit, or
 * CMT_F_COUNTERS_FIRST without a value), -EPERM (CMT_F_COUNTERS_FIRST, and the device was
 * opened without CAP_PERFMON), -ENOTTY (the module is older, and cannot count) or -errno
 * of ioctl(2).
 */
CMT_API int cmt_device_set_counters(struct cmt_device *dev, uint32_t counters);

/**
 * Ask for these values in SAMPLE records and in readings on demand; a newly opened device
 * asks for all.  A device counts from its first reader or its first reading on demand until
 * it is closed.  What no such device asks for, and no event of perf counts, is not read: it
 * has no flag, which is no error.  Other devices may bring more values than were asked for.
 *
 * @values: any of CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL, and not 0
 *
 * Traffic that is asked for anew has CMT_F_REBASED in its first sample.  With the resctrl
 * source all values are read.  Needs no CMT_OPEN_CONTROL.  Thread-safe.  Returns 0, -EINVAL
 * (another bit, or none), -ENOTTY (the module is older, and reads all) or -errno of
 * ioctl(2).
 */
CMT_API int cmt_device_set_values(struct cmt_device *dev, uint32_t values);

/**
 * The path of a cgroup of the v2 hierarchy.
 *
 * @cgroup_id: inode number of the cgroup's directory
 * @path:      where the path from the root of the hierarchy is stored, terminated; "/"
 *             is the root itself
 * @size:      bytes of room at @path; PATH_MAX is always enough
 *
 * Thread-safe.  Returns 0, -ENOENT (no such cgroup, or none below the caller's cgroup
 * namespace), -ENOSPC (@size is too small), -ENAMETOOLONG (the path is longer
 * than PATH_MAX), -ENOMEM or -errno of ioctl(2).
 */
CMT_API int cmt_device_cgroup_path(const struct cmt_device *dev,
				   uint64_t cgroup_id, char *path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
