/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * resctrl as the source of readings, where the cmt module is not loaded.
 *
 *	struct cmt_resctrl_opts opts = { .sz = sizeof(opts) };
 *
 *	cmt_resctrl_open(&dev, &opts);
 *
 * The device that this opens gives records as /dev/cmt does: to struct cmt_reader, struct
 * cmt_usage and struct cmt_recorder.  Each record is made from the files that the kernel
 * shows below /sys/fs/resctrl; nothing is written there, and nothing is mounted.
 *
 * An owner is a resctrl group, whoever made the group: kind CMT_OWNER_RESCTRL, and a
 * cgroup_id with CMT_RESCTRL_GROUP set, which is no cgroup.  cmt_device_cgroup_path()
 * gives the name of the group with "/" before it: "/web" of a control group, "/web/a" of
 * a monitoring group of web, "/mon_groups/a" of one of the default group.  RMID 0 is the
 * default group.  Other RMIDs are numbers of the library: resctrl does not tell the RMIDs
 * of the processor.
 *
 * The files of a control group count its monitoring groups, too.  The records do not: what
 * the monitoring groups have is subtracted, so that the values of all groups add up.
 *
 * cmt_reader_read(), cmt_reader_feed() and cmt_usage_next() read the files, which may take
 * some microseconds for each: the kernel asks a CPU of the L3 domain.
 *
 * The device has one ring, of CPU 0, with one TICK for each time that all groups were
 * read; cmt_record.tick.busy_ns is the time that the readings took.  A group is read while
 * a reader reads, and no more often than opts.interval_ns.  A group that came is found
 * within opts.scan_ns.  What it moved before that is not known (CMT_F_REBASED).
 *
 * There are no processes, CPUs, counters of the processor or memory channels.
 * cmt_device_set_interval(), _set_scope(), _set_resctrl(), _attach(), _detach(),
 * cmt_register() and cmt_unregister() return -EOPNOTSUPP, as do cmt_device_patterns() and
 * cmt_device_read_now().
 *
 * While the device is open it keeps files of resctrl open: umount(8) fails with "target
 * is busy".  rmdir(1) of a group does not.
 */
#ifndef CMT_RESCTRL_H
#define CMT_RESCTRL_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CMT_RESCTRL_PATH "/sys/fs/resctrl"

/** cmt_info.backend of such a device, and of a recording of one.  No module says it. */
#define CMT_BACKEND_RESCTRL 0x100

/** This bit of a cgroup_id: the id of a resctrl group, and of no cgroup. */
#define CMT_RESCTRL_GROUP (1ULL << 63)

/** cmt_resctrl_opts.interval_ns lies between these. */
#define CMT_RESCTRL_INTERVAL_MIN_NS 10000000U
#define CMT_RESCTRL_INTERVAL_MAX_NS 250000000U

struct cmt_resctrl_opts {
	size_t sz;		/**< sizeof(struct cmt_resctrl_opts) */
	const char *root;	/**< where resctrl is mounted; NULL:
				 *   CMT_RESCTRL_PATH, which must be resctrl.  Of
				 *   another directory that is not asked.
				 */
	uint64_t interval_ns;	/**< between readings; 0: 100 ms; 10 ms .. 250 ms */
	uint64_t scan_ns;	/**< between scans for groups; 0: 1 s; 1 ms .. 1 min */
	uint64_t l3_bytes;	/**< cmt_info.l3_bytes; 0: as /sys says of CPU 0 */
};

/**
 * Open resctrl as a device.
 *
 * @dev:  where the device is stored; free it with cmt_device_close()
 * @opts: NULL for defaults
 *
 * A path and its files are opened; a call may wait while the kernel creates or removes
 * a group.  Thread-safe, and so is the device, as of cmt_device_open().
 *
 * Returns 0 or: -EINVAL (options), -ENOENT (resctrl is not mounted there), -EOPNOTSUPP
 * (resctrl monitors no L3 cache), -EACCES (the files may not be read), -ENOMEM, or
 * -errno of open(2) and timerfd_create(2).  Readers return -ENODEV when resctrl has been
 * unmounted.
 */
CMT_API int cmt_resctrl_open(struct cmt_device **dev,
			     const struct cmt_resctrl_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
