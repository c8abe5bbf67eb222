/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device: what answers the calls of uapi/cmt.h and has rings.  That is the module, or
 * resctrl in its place.
 */
#ifndef LIBCMT_DEVICE_H
#define LIBCMT_DEVICE_H

#include <cmt/device.h>

#include "base/base.h"

struct cmt_reader;

/* All return 0 or -errno. */
struct cmt_device_ops {
	int (*call)(const struct cmt_device *dev, unsigned long command, void *arg);
	/*
	 * The ring of @cpu, of info.ring_bytes bytes; sampling begins.  The ring is not
	 * inherited by a child of fork(), which would keep the sampling alive.
	 */
	int (*map)(const struct cmt_device *dev, uint32_t cpu, const void **ring);
	void (*unmap)(const struct cmt_device *dev, const void *ring);
	/* Write to the rings what is due; NULL: something else does. */
	int (*pump)(const struct cmt_device *dev);
	void (*close)(struct cmt_device *dev);
};

/*
 * @ops, @fd and @info are constant from cmt_device_open() to cmt_device_close(), and
 * @cannot_count is atomic.  So threads share a device without a lock.
 */
struct cmt_device {
	const struct cmt_device_ops *ops;
	int fd;				/* readable when a reader should read */
	union {
		struct cmt_info info;
		char info_room[CMT_INFO_ROOM];
	};
	/* the only reader that the device can have */
	struct cmt_reader *reader;
	bool cannot_count;		/* the module has answered so */
};

/* A call of uapi/cmt.h.  Returns 0 or -errno. */
int cmt_device_ioctl(const struct cmt_device *dev, unsigned long command, void *arg);

/* Read the device's current cmt_info. */
int cmt_device_info_now(const struct cmt_device *dev, struct cmt_info *info);

/* Make the texts of an answer printable, and end those that were not ended. */
void cmt_info_texts(struct cmt_info *info);

/* Is @info a possible answer? */
bool cmt_info_possible(const struct cmt_info *info);

/* Are all records of @type, and possible answers? */
bool cmt_snapshot_possible(const struct cmt_snapshot *snapshot, uint16_t type,
			   const struct cmt_info *info);

#endif
