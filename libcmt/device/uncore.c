// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counters outside the cores. */
#include "device.h"

#include <stdlib.h>

/* More than all tables of a machine can list. */
#define BOXES_MAX	(1U << 20)

/* @room boxes, freed unless all is well. */
static int get_boxes(const struct cmt_device *dev, uint32_t room,
		     struct cmt_uncore *uncore, struct cmt_box **boxes)
{
	struct cmt_uncore arg = { .size = sizeof(arg), .count = room };
	int err;

	*boxes = calloc(room + 1, sizeof(**boxes));
	if (!*boxes)
		return -ENOMEM;
	arg.boxes = (uintptr_t)*boxes;
	err = cmt_device_ioctl(dev, CMT_IOC_GET_UNCORE, &arg);
	if (!err && arg.count > room)
		err = -EPROTO;
	if (err)
		free(*boxes);
	if (err && err != -ENOSPC)
		return err;
	arg.reason[sizeof(arg.reason) - 1] = '\0';
	arg.channels_reason[sizeof(arg.channels_reason) - 1] = '\0';
	arg.boxes = 0;
	*uncore = arg;
	return err;
}

/* They do not become more while the module is loaded, but it may be another one. */
int cmt_device_uncore(const struct cmt_device *dev, struct cmt_uncore *uncore,
		      struct cmt_box **boxes)
{
	struct cmt_uncore got;
	struct cmt_box *list;
	uint32_t room = 256;

	for (unsigned int i = 0; i < 8; i++) {
		int err = get_boxes(dev, room, &got, &list);

		if (!err) {
			*uncore = got;
			*boxes = list;
			return 0;
		}
		if (err != -ENOSPC)
			return err;
		if (got.count <= room || got.count > BOXES_MAX)
			return -EPROTO;
		room = got.count;
	}
	return -EPROTO;
}
