/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * resctrl as the source of readings, where the cmt module is not loaded.
 *
 *	struct cmt_resctrl_opts opts = { .sz = sizeof(opts) };
 *
 *	cmt_resctrl_open(&dev, &opts);
 *
 * struct cmt_reader, struct cmt_usage and struct cmt_recorder read this device as they read
 * /dev/cmt.  The library makes its records from the files below /sys/fs/resctrl.  It
 * writes nothing there, and mounts nothing.
 *
 * An owner is a resctrl group, made by any program: kind CMT_OWNER_RESCTRL, and a
 * cgroup_id with CMT_RESCTRL_GROUP set, which is not the id of a cgroup.
 * cmt_device_cgroup_path() returns the name of the group with "/" before it: "/web" for a
 * control group, "/web/a" for a monitoring group of web, "/mon_groups/a" for a monitoring
 * group of the default group.  RMID 0 is the default group.  Other RMIDs are numbers that
 * the library chooses: resctrl does not show the RMIDs of the processor.
 *
 * The files of a control group include its monitoring groups.  The library subtracts the
 * values of the monitoring groups, so that the values of all groups add up.  Traffic of
 * a control group is CMT_F_UNAVAILABLE where the kernel's sum lacks the group's own RMID, as
 * far as that can be noticed; occupancy is 0 then.
 *
 * cmt_reader_read(), cmt_reader_feed() and cmt_usage_next() read the files.  Each file may
 * take some microseconds, because the kernel interrupts a CPU of the L3 domain.
 *
 * The device has one ring, of CPU 0, with one TICK after each reading of all groups;
 * cmt_record.tick.busy_ns is the time that the readings took.  Groups are read while a
 * reader reads, no more often than opts.interval_ns.  A new group is found within
 * opts.scan_ns; its traffic before that is not known (CMT_F_REBASED).  A monitoring group
 * that is moved to another control group is a new owner with the next reading.
 *
 * There are no records of processes, CPUs, counters of the processor or memory channels.
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

/** cmt_info.backend of such a device, and of its recordings.  No module has this value. */
#define CMT_BACKEND_RESCTRL 0x100

/** Set in a cgroup_id: the id is that of a resctrl group, not of a cgroup. */
#define CMT_RESCTRL_GROUP (1ULL << 63)
/** Set beside it: the module knows no id of its group, and the id is made of the RMID (bits
 *  15:0) and its generation (bits 47:16).  Another group may have the id later.
 */
#define CMT_RESCTRL_RMID (1ULL << 62)

/** cmt_resctrl_opts.interval_ns lies between these. */
#define CMT_RESCTRL_INTERVAL_MIN_NS 10000000U
#define CMT_RESCTRL_INTERVAL_MAX_NS 250000000U

struct cmt_resctrl_opts {
	size_t sz;		/**< sizeof(struct cmt_resctrl_opts) */
	const char *root;	/**< where resctrl is mounted; NULL:
				 *   CMT_RESCTRL_PATH, whose file system must be
				 *   resctrl.  The file system of another directory
				 *   is not checked
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
 * Opens the directory and its files; may wait while the kernel creates or removes a
 * group.  Thread-safe; the device is as thread-safe as that of cmt_device_open().
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
