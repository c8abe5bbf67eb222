/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The device: /dev/cmt opened, and what it answers without a ring. */
#ifndef CMT_DEVICE_H
#define CMT_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include "uapi/cmt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CMT_DEVICE_PATH "/dev/cmt"

struct cmt_device;

/** cmt_device_open() flags */
#define CMT_OPEN_CONTROL (1U << 0) /**< read-write: may change the interval and
				    *   the scope, attach and detach
				    */

/**
 * Open the device and check that module and library speak the same ABI.
 *
 * @dev:   where the device is stored; free it with cmt_device_close()
 * @path:  NULL for CMT_DEVICE_PATH
 * @flags: 0 or CMT_OPEN_CONTROL
 *
 * Returns 0 or: -ENOENT (module not loaded), -EACCES (not in the group that
 * owns the device), -ENOTTY (not a cmt device), -EPROTONOSUPPORT (another
 * major ABI version: see cmt_device_abi()), -EINVAL (unknown flags), -EPROTO
 * (the module's answers contradict each other), -ENOMEM, or what open(2) and
 * ioctl(2) say.
 */
CMT_API int cmt_device_open(struct cmt_device **dev, const char *path,
			    unsigned int flags);

/** Close.  Readers made from the device must have been freed before. */
CMT_API void cmt_device_close(struct cmt_device *dev);

/**
 * Ask a device for its ABI version, whichever it is, to explain
 * -EPROTONOSUPPORT.  @abi is as CMT_ABI_VERSION: major << 16 | minor.
 * Returns 0 or as cmt_device_open().
 */
CMT_API int cmt_device_abi(const char *path, uint32_t *abi);

/** The descriptor, for poll(2).  It stays the device's. */
CMT_API int cmt_device_fd(const struct cmt_device *dev);

/**
 * What the module said at open.  Owned by the device; never NULL.  Interval and
 * scope may have changed since: see cmt_device_interval(), cmt_device_scope().
 */
CMT_API const struct cmt_info *cmt_device_info(const struct cmt_device *dev);

/** Read the module's counters now.  Returns 0 or -errno of ioctl(2). */
CMT_API int cmt_device_stats(const struct cmt_device *dev,
			     struct cmt_stats *stats);

/** The RMID assignments at one instant. */
struct cmt_snapshot {
	uint64_t as_of;			/**< lifecycle records up to and at this
					 *   time are included
					 */
	uint32_t count;
	struct cmt_record records[];	/**< oldest first; see cmt_record_owner() */
};

/**
 * Take a snapshot: CMT_REC_EXISTING records.  Free it with free(3).  Feed it to
 * cmt_tracker_sync() when starting late or after losing records.  Returns 0,
 * -ENOMEM or -errno.
 */
CMT_API int cmt_device_snapshot(const struct cmt_device *dev,
				struct cmt_snapshot **snapshot);

/**
 * Who waits for an RMID at one instant: CMT_REC_ALLOC_FAIL records, whose ts is
 * since when.  Until one is free they count in the RMID of the rest.  Free it
 * with free(3); a tracker wants none of it.  Returns 0, -ENOMEM, -EAGAIN (more
 * came to wait whenever there was room for all) or -errno of ioctl(2).
 */
CMT_API int cmt_device_waiting(const struct cmt_device *dev,
			       struct cmt_snapshot **waiting);

/** The sampling interval in force, nanoseconds, read now.  0 or -errno. */
CMT_API int cmt_device_interval(const struct cmt_device *dev,
				uint32_t *interval_ns);

/**
 * Set the sampling interval for everybody.  Range: interval_min_ns to
 * interval_max_ns of struct cmt_info.  Returns 0, -EBADF (not opened with
 * CMT_OPEN_CONTROL), -EPERM (neither CAP_SYS_ADMIN nor CAP_PERFMON) or -EINVAL
 * (out of range; nothing changed).
 */
CMT_API int cmt_device_set_interval(struct cmt_device *dev,
				    uint32_t interval_ns);

/** What an RMID's owner is, CMT_SCOPE_*, read now.  0 or -errno. */
CMT_API int cmt_device_scope(const struct cmt_device *dev, uint32_t *scope);

/**
 * Change for everybody what RMIDs are given to.  All owners lose theirs, and
 * what was attached is forgotten.
 *
 * @scope:    CMT_SCOPE_*
 * @patterns: which cgroups are containers, separated by white space: see
 *            struct cmt_scope in uapi/cmt.h.  NULL: those in force stay
 * @bad_at:   with -EINVAL: the byte of @patterns that is wrong, UINT32_MAX: it
 *            is not the patterns; may be NULL
 *
 * Returns 0, -EBADF (not opened with CMT_OPEN_CONTROL), -EPERM (neither
 * CAP_SYS_ADMIN nor CAP_PERFMON), -EINVAL (unknown scope, or patterns that are
 * wrong, empty, or longer than CMT_PATTERNS_MAX bytes; nothing changed) or
 * -errno of ioctl(2).
 */
CMT_API int cmt_device_set_scope(struct cmt_device *dev, uint32_t scope,
				 const char *patterns, uint32_t *bad_at);

/**
 * The patterns in force, one to a line, in any scope.  Free @patterns with
 * free(3).  Returns 0, -ENOMEM, -EPROTO or -errno of ioctl(2).
 */
CMT_API int cmt_device_patterns(const struct cmt_device *dev, char **patterns);

/** What cmt_device_attach() gave. */
struct cmt_attached {
	uint32_t rmid;		/**< while it waits, that of the rest */
	uint32_t generation;
};

/**
 * Give an owner of its own to a process, a cgroup or a CPU, whatever the scope.
 * It goes before those who wait, and waits itself when no RMID is free.
 *
 * @kind:     CMT_OWNER_PROCESS, _CGROUP or _CPU
 * @id:       process id in the caller's namespace, cgroup v2 inode number, or
 *            CPU number
 * @options:  0 or CMT_ATTACH_CHILDREN
 * @attached: may be NULL
 *
 * Returns 0, -EBADF and -EPERM as cmt_device_set_interval(), -ESRCH (no such
 * process), -ENOENT (no such cgroup), -ENXIO (no such CPU, or it is offline),
 * -EEXIST (it is attached), -ENOSPC (too many are), -EINVAL (unknown kind or
 * options, or options that the kind does not have) or -errno of ioctl(2).
 */
CMT_API int cmt_device_attach(struct cmt_device *dev, uint32_t kind,
			      uint64_t id, uint32_t options,
			      struct cmt_attached *attached);

/**
 * The end of that.  Returns 0, -EBADF, -EPERM and -EINVAL as
 * cmt_device_attach(), -ENOENT (it is not attached) or -errno of ioctl(2).
 */
CMT_API int cmt_device_detach(struct cmt_device *dev, uint32_t kind,
			      uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
