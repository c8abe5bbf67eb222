/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The three calls of the article "Intel's Cache Monitoring Technology: Software
 * Support and Tools" (2014), over cmt_register(), cmt_get_occupancy() and
 * cmt_unregister().  In the article, the calls take a task and a CPU.  Here they also take
 * the device, to which the registration belongs, and exactly one of task and CPU:
 *
 *	taskid > 0, cpu < 0	a process, with all its threads
 *	taskid < 0, cpu >= 0	a CPU, whatever runs there
 *
 * Anything else is -EINVAL: cache is not counted by task and CPU at once.
 * All calls are thread-safe.
 */
#ifndef CMT_PQOS_CMT_H
#define CMT_PQOS_CMT_H

#include <errno.h>
#include <stdint.h>

#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind and id for cmt_register().  Returns 0 or -EINVAL. */
static inline int cmt_pqos_owner(int64_t taskid, int64_t cpu, uint32_t *kind,
				 uint64_t *id)
{
	if (taskid > 0 && cpu < 0) {
		*kind = CMT_OWNER_PROCESS;
		*id = (uint64_t)taskid;
		return 0;
	}
	if (taskid < 0 && cpu >= 0) {
		*kind = CMT_OWNER_CPU;
		*id = (uint64_t)cpu;
		return 0;
	}
	return -EINVAL;
}

/** Returns 0 or as cmt_register(): the device needs CMT_OPEN_CONTROL. */
static inline int pqos_register_cmt(struct cmt_device *dev, int64_t taskid,
				    int64_t cpu)
{
	uint64_t id;
	uint32_t kind;
	int err = cmt_pqos_owner(taskid, cpu, &kind, &id);

	return err ? err : cmt_register(dev, kind, id, 0, NULL);
}

/** Returns bytes in all L3 domains together, or as cmt_get_occupancy(). */
static inline int64_t pqos_get_cmt_occupancy(const struct cmt_device *dev,
					     int64_t taskid, int64_t cpu)
{
	uint64_t id, bytes;
	uint32_t kind;
	int err = cmt_pqos_owner(taskid, cpu, &kind, &id);

	if (!err)
		err = cmt_get_occupancy(dev, kind, id, &bytes);
	return err ? err : (int64_t)bytes;
}

/** Returns 0 or as cmt_unregister(). */
static inline int pqos_unregister_cmt(struct cmt_device *dev, int64_t taskid,
				      int64_t cpu)
{
	uint64_t id;
	uint32_t kind;
	int err = cmt_pqos_owner(taskid, cpu, &kind, &id);

	return err ? err : cmt_unregister(dev, kind, id);
}

#ifdef __cplusplus
}
#endif

#endif
