// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers that are lists of records: owners, pending owners, readings on demand. */
#include "device.h"

#include "record/record.h"

/* More processes, cgroups and CPUs than a kernel has process ids. */
#define PENDING_MAX	(8U << 20)
/* All owners in all domains; in bytes, it fits 32 bits. */
#define READINGS_MAX	(8U << 20)

/* A call, and the members of its argument that all such calls have */
struct question {
	unsigned long command;
	void *arg;
	uint16_t type;		/* of the records */
	uint32_t *count;	/* in: the room; out: the number, or the necessary room */
	__u64 *records, *as_of;
};

bool cmt_snapshot_possible(const struct cmt_snapshot *snapshot,
			   uint16_t type, const struct cmt_info *info)
{
	for (uint32_t i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(snapshot, i);

		if (record->type != type ||
		    !cmt_record_possible(record, info->nr_cpus, info->nr_rmids))
			return false;
	}
	return true;
}

/* Ask with room for @room records.  -ENOSPC: they are more. */
static int ask(const struct cmt_device *dev, const struct question *q, uint32_t room,
	       struct cmt_snapshot **snapshot)
{
	struct cmt_snapshot *s = cmt_snapshot_alloc(room);
	int err;

	if (!s)
		return -ENOMEM;
	*q->count = room;
	*q->records = (uintptr_t)s->records;
	err = cmt_device_ioctl(dev, q->command, q->arg);
	if (!err && *q->count > room)
		err = -EPROTO;
	if (!err) {
		s->as_of = *q->as_of;
		s->count = *q->count;
		if (!cmt_snapshot_possible(s, q->type, &dev->info))
			err = -EPROTO;
	}
	if (err)
		cmt_snapshot_free(s);
	else
		*snapshot = s;
	return err;
}

/* How many records there are is not known before, and may grow meanwhile. */
static int ask_again(const struct cmt_device *dev, const struct question *q, uint32_t room,
		     uint32_t most, struct cmt_snapshot **snapshot)
{
	for (unsigned int i = 0; i < 8; i++) {
		int err = ask(dev, q, room, snapshot);

		if (err != -ENOSPC)
			return err;
		room = *q->count;
		if (room > most)
			return -EPROTO;
		room += room / 4;
	}
	return -EAGAIN;
}

static struct question about_rmids(unsigned long command, uint16_t type,
				   struct cmt_rmids *arg)
{
	*arg = (struct cmt_rmids){ .size = sizeof(*arg) };
	return (struct question){
		.command = command, .arg = arg, .type = type, .count = &arg->count,
		.records = &arg->records, .as_of = &arg->as_of,
	};
}

/* Room for every RMID once is always enough. */
int cmt_device_snapshot(const struct cmt_device *dev,
			struct cmt_snapshot **snapshot)
{
	struct cmt_rmids arg;
	struct question q = about_rmids(CMT_IOC_GET_RMIDS, CMT_REC_EXISTING, &arg);
	int err = ask(dev, &q, dev->info.nr_rmids, snapshot);

	return err == -ENOSPC ? -EPROTO : err;
}

int cmt_device_pending(const struct cmt_device *dev,
		       struct cmt_snapshot **pending)
{
	struct cmt_rmids arg;
	struct question q = about_rmids(CMT_IOC_GET_PENDING, CMT_REC_ALLOC_FAIL, &arg);

	return ask_again(dev, &q, 64, PENDING_MAX, pending);
}

/* A first guess for one owner, and for all. */
static uint32_t room_for(const struct cmt_device *dev, uint32_t kind)
{
	return kind ? 8 : 2 * dev->info.nr_rmids;
}

int cmt_device_read_now(const struct cmt_device *dev, uint32_t kind,
			uint64_t id, struct cmt_snapshot **readings)
{
	struct cmt_read arg = { .size = sizeof(arg), .kind = kind, .id = id };
	struct question q = {
		.command = CMT_IOC_READ, .arg = &arg, .type = CMT_REC_SAMPLE,
		.count = &arg.count, .records = &arg.records, .as_of = &arg.as_of,
	};

	return ask_again(dev, &q, room_for(dev, kind), READINGS_MAX, readings);
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
