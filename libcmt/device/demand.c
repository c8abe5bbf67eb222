// SPDX-License-Identifier: LGPL-2.1-or-later
/* Readings on demand. */
#include "device.h"

#include "record/record.h"

/* All owners in all domains; in bytes, it fits 32 bits. */
#define READINGS_MAX	(8U << 20)

static int read_into(const struct cmt_device *dev, uint32_t kind, uint64_t id,
		     uint32_t *room, struct cmt_snapshot *s)
{
	struct cmt_read arg = {
		.size = sizeof(arg),
		.kind = kind,
		.count = *room,
		.id = id,
		.records = (uintptr_t)s->records,
	};
	int err = cmt_device_ioctl(dev, CMT_IOC_READ, &arg);

	if (!err && arg.count > *room)
		return -EPROTO;
	*room = arg.count;
	if (err)
		return err;
	s->as_of = arg.as_of;
	s->count = arg.count;
	return cmt_snapshot_possible(s, CMT_REC_SAMPLE, &dev->info) ? 0 :
								      -EPROTO;
}

/* A first guess for one owner, and for all. */
static uint32_t room_for(const struct cmt_device *dev, uint32_t kind)
{
	return kind ? 8 : 2 * dev->info.nr_rmids;
}

/* RMIDs and domains may become more meanwhile. */
int cmt_device_read_now(const struct cmt_device *dev, uint32_t kind,
			uint64_t id, struct cmt_snapshot **readings)
{
	uint32_t room = room_for(dev, kind);

	for (unsigned int i = 0; i < 8; i++) {
		struct cmt_snapshot *s = cmt_snapshot_alloc(room);
		int err = s ? read_into(dev, kind, id, &room, s) : -ENOMEM;

		if (!err) {
			*readings = s;
			return 0;
		}
		cmt_snapshot_free(s);
		if (err != -ENOSPC)
			return err;
		if (room > READINGS_MAX)
			return -EPROTO;
		room += room / 4;
	}
	return -EAGAIN;
}

static int sum_occupancy(const struct cmt_snapshot *s, uint64_t *bytes)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(s, i);

		/* a lower bound is not the occupancy */
		if (!(record->flags & CMT_F_OCCUPANCY) ||
		    record->flags & CMT_F_PQR_OVERWRITTEN)
			return -ENODATA;
		sum += record->sample.occupancy_bytes;
	}
	if (!s->count)
		return -ENODATA;
	*bytes = sum;
	return 0;
}

int cmt_get_occupancy(const struct cmt_device *dev, uint32_t kind, uint64_t id,
		      uint64_t *bytes)
{
	struct cmt_snapshot *s;
	int err;

	if (!kind)
		return -EINVAL;
	err = cmt_device_read_now(dev, kind, id, &s);
	if (err)
		return err;
	err = sum_occupancy(s, bytes);
	cmt_snapshot_free(s);
	return err;
}
