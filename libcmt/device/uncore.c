// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counters outside the cores. */
#include "device.h"

#include <stdlib.h>

/* More than all tables of a machine can list. */
#define BOXES_MAX	(1U << 20)

/* @size bytes at @uncore, and @room boxes, freed unless all is well. */
static int get_boxes(const struct cmt_device *dev, uint32_t room, uint32_t size,
		     struct cmt_uncore *uncore, struct cmt_box **boxes)
{
	int err;

	*boxes = calloc(room + 1, sizeof(**boxes));
	if (!*boxes)
		return -ENOMEM;
	memset(uncore, 0, size);
	uncore->size = size;
	uncore->count = room;
	uncore->boxes = (uintptr_t)*boxes;
	err = cmt_device_ioctl(dev, CMT_IOC_GET_UNCORE, uncore);
	if (!err && (uncore->count > room || uncore->size < CMT_UNCORE_SIZE ||
		     uncore->size > size))
		err = -EPROTO;
	if (err)
		free(*boxes);
	uncore->reason[sizeof(uncore->reason) - 1] = '\0';
	uncore->channels_reason[sizeof(uncore->channels_reason) - 1] = '\0';
	uncore->boxes = 0;
	return err;
}

/* They do not become more while the module is loaded, but it may be another one. */
int cmt_device_uncore(const struct cmt_device *dev, struct cmt_uncore *uncore,
		      struct cmt_box **boxes)
{
	uint32_t size = uncore->size, room = 256;
	struct cmt_box *list;

	/* of a caller that is older or newer than this library */
	if (size < CMT_UNCORE_SIZE || size > CMT_SZ_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < 8; i++) {
		int err = get_boxes(dev, room, size, uncore, &list);

		if (!err) {
			*boxes = list;
			return 0;
		}
		if (err != -ENOSPC)
			return err;
		if (uncore->count <= room || uncore->count > BOXES_MAX)
			return -EPROTO;
		room = uncore->count;
	}
	return -EPROTO;
}
