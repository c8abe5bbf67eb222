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
#define CMT_OPEN_CONTROL (1U << 0) /**< read-write: may change the interval */

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

/** What the module said at open.  Owned by the device; never NULL. */
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
	struct cmt_record records[];	/**< CMT_REC_EXISTING, oldest first */
};

/**
 * Take a snapshot.  Free it with free(3).  Feed it to cmt_tracker_sync() when
 * starting late or after losing records.  Returns 0, -ENOMEM or -errno.
 */
CMT_API int cmt_device_snapshot(const struct cmt_device *dev,
				struct cmt_snapshot **snapshot);

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

#ifdef __cplusplus
}
#endif

#endif
