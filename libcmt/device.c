// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmt/device.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* What the library computes with must not lead it astray. */
bool cmt_info_possible(const struct cmt_info *info)
{
	uint64_t ring = CMT_RING_DATA_OFFSET +
			(uint64_t)info->ring_records * sizeof(struct cmt_record);

	return info->nr_cpus >= 1 && info->nr_cpus <= 65536 &&
	       info->nr_rmids >= 2 && info->nr_rmids <= 65536 &&
	       info->rmids_usable < info->nr_rmids &&
	       info->ring_records >= 2 && info->ring_records <= 65536 &&
	       power_of_two(info->ring_records) &&
	       info->ring_bytes >= ring && info->ring_bytes <= 1U << 30 &&
	       info->interval_min_ns >= 1 &&
	       info->interval_min_ns <= info->interval_max_ns;
}

static int device_ioctl(int fd, unsigned long command, void *arg)
{
	return ioctl(fd, command, arg) < 0 ? -errno : 0;
}

static int get_info(int fd, struct cmt_info *info)
{
	int err;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	err = device_ioctl(fd, CMT_IOC_GET_INFO, info);
	info->module_version[sizeof(info->module_version) - 1] = '\0';
	info->reason[sizeof(info->reason) - 1] = '\0';
	return err;
}

/*
 * O_NONBLOCK: should the path be a FIFO, open must not wait for its other end.
 * The device itself never blocks but in poll.
 */
static int open_path(const char *path, int mode)
{
	int fd = open(path ? path : CMT_DEVICE_PATH,
		      mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int check_info(const struct cmt_info *info)
{
	if (info->abi_version >> 16 != CMT_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (info->size != sizeof(*info) || !cmt_info_possible(info))
		return -EPROTO;
	return 0;
}

int cmt_device_open(struct cmt_device **dev, const char *path,
		    unsigned int flags)
{
	struct cmt_device *d;
	int err;

	if (flags & ~CMT_OPEN_CONTROL)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;

	d->fd = open_path(path, flags & CMT_OPEN_CONTROL ? O_RDWR : O_RDONLY);
	if (d->fd < 0) {
		err = d->fd;
		goto err_free;
	}
	err = get_info(d->fd, &d->info);
	if (!err)
		err = check_info(&d->info);
	if (err)
		goto err_close;
	*dev = d;
	return 0;

err_close:
	close(d->fd);
err_free:
	free(d);
	return err;
}

void cmt_device_close(struct cmt_device *dev)
{
	if (!dev)
		return;
	close(dev->fd);
	free(dev);
}

int cmt_device_abi(const char *path, uint32_t *abi)
{
	struct cmt_info info;
	int fd = open_path(path, O_RDONLY), err;

	if (fd < 0)
		return fd;
	err = get_info(fd, &info);
	close(fd);
	if (!err)
		*abi = info.abi_version;
	return err;
}

int cmt_device_fd(const struct cmt_device *dev)
{
	return dev->fd;
}

const struct cmt_info *cmt_device_info(const struct cmt_device *dev)
{
	return &dev->info;
}

int cmt_device_stats(const struct cmt_device *dev, struct cmt_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	return device_ioctl(dev->fd, CMT_IOC_GET_STATS, stats);
}

static bool snapshot_possible(const struct cmt_snapshot *snapshot,
			      const struct cmt_info *info)
{
	for (uint32_t i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = &snapshot->records[i];

		if (record->type != CMT_REC_EXISTING ||
		    !cmt_record_possible(record, info->nr_cpus, info->nr_rmids))
			return false;
	}
	return true;
}

/* Room for every RMID once is always enough. */
int cmt_device_snapshot(const struct cmt_device *dev,
			struct cmt_snapshot **snapshot)
{
	struct cmt_rmids rmids = {
		.size = sizeof(rmids),
		.count = dev->info.nr_rmids,
	};
	struct cmt_snapshot *s;
	int err;

	s = calloc(1, sizeof(*s) + rmids.count * sizeof(s->records[0]));
	if (!s)
		return -ENOMEM;
	rmids.records = (uintptr_t)s->records;
	err = device_ioctl(dev->fd, CMT_IOC_GET_RMIDS, &rmids);
	if (!err && rmids.count > dev->info.nr_rmids)
		err = -EPROTO;
	if (err) {
		free(s);
		return err == -ENOSPC ? -EPROTO : err;
	}

	s->as_of = rmids.as_of;
	s->count = rmids.count;
	if (!snapshot_possible(s, &dev->info)) {
		free(s);
		return -EPROTO;
	}
	*snapshot = s;
	return 0;
}

int cmt_device_interval(const struct cmt_device *dev, uint32_t *interval_ns)
{
	struct cmt_info info;
	int err = get_info(dev->fd, &info);

	if (!err)
		*interval_ns = info.interval_ns;
	return err;
}

int cmt_device_set_interval(struct cmt_device *dev, uint32_t interval_ns)
{
	struct cmt_interval interval = {
		.size = sizeof(interval),
		.interval_ns = interval_ns,
	};

	return device_ioctl(dev->fd, CMT_IOC_SET_INTERVAL, &interval);
}
