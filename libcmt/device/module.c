// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/ring.h"

static int module_call(const struct cmt_device *dev, unsigned long command, void *arg)
{
	return ioctl(dev->fd, command, arg) < 0 ? -errno : 0;
}

/* The numbers of CPUs have gaps: a CPU in a gap never has records. */
static void *map_gap(const struct cmt_info *info, uint32_t cpu)
{
	void *ring = mmap(NULL, info->ring_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ring != MAP_FAILED)
		cmt_ring_begin(ring, info, cpu, CMT_RING_ABSENT);
	return ring;
}

static int module_map(const struct cmt_device *dev, uint32_t cpu, const void **ring)
{
	size_t bytes = dev->info.ring_bytes;
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, dev->fd,
			 (off_t)cpu * (off_t)bytes);

	if (map == MAP_FAILED && errno == ENXIO)
		map = map_gap(&dev->info, cpu);
	if (map == MAP_FAILED)
		return -errno;
	if (madvise(map, bytes, MADV_DONTFORK)) {
		int err = -errno;

		munmap(map, bytes);
		return err;
	}
	*ring = map;
	return 0;
}

static void module_unmap(const struct cmt_device *dev, const void *ring)
{
	munmap((void *)ring, dev->info.ring_bytes);
}

static void module_close(struct cmt_device *dev)
{
	close(dev->fd);
	free(dev);
}

static const struct cmt_device_ops module_ops = {
	.call = module_call,
	.map = module_map,
	.unmap = module_unmap,
	.close = module_close,
};

/*
 * O_NONBLOCK: should the path be a FIFO, open must not wait for its other end.
 * The device itself never blocks but in poll.
 */
int cmt_module_open(struct cmt_device **dev, const char *path, int mode)
{
	int fd = open(path ? path : CMT_DEVICE_PATH,
		      mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int err = fd < 0 ? -errno : 0;

	if (err)
		return err;
	*dev = calloc(1, sizeof(**dev));
	if (!*dev) {
		close(fd);
		return -ENOMEM;
	}
	(*dev)->ops = &module_ops;
	(*dev)->fd = fd;
	return 0;
}
