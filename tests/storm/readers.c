// SPDX-License-Identifier: GPL-2.0-or-later
/* Readers that begin, stall, wait, map in pieces, and are killed */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define BATCH 128

/* ring_take() checks every record. */
static void take_some(struct dev *dev, struct rng *rng)
{
	struct cmt_record batch[BATCH];
	unsigned int most = 1 + rng_below(rng, BATCH);
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		unsigned int n = ring_take(dev, &dev->rings[cpu], batch, most);

		if (n)
			did(DEED_records);
		while (n--)
			if (batch[n].type == CMT_REC_CHANNEL)
				did(DEED_channels);
	}
}

static void check_conserved(const struct dev *dev)
{
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		const struct ring *ring = &dev->rings[cpu];

		CHECK(ring->pos - ring->begin == ring->delivered + ring->lost,
		      "ring %u: %llu passed, %llu delivered, %llu lost", cpu,
		      (unsigned long long)(ring->pos - ring->begin),
		      (unsigned long long)ring->delivered,
		      (unsigned long long)ring->lost);
	}
}

/* Until the descriptor is closed.  Without channels the request is no error. */
static void want_channels(const struct dev *dev)
{
	struct cmt_counters arg = {
		.size = sizeof(arg), .counters = CMT_F_CHANNEL,
	};

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg) || errno == ENOTTY,
	      "SET_COUNTERS: %m");
}

/* Readers come and go, and what is read with them. */
static void want_values(const struct dev *dev, struct rng *rng)
{
	struct cmt_values arg = {
		.size = sizeof(arg),
		.values = CMT_F_OCCUPANCY * (1 + rng_below(rng, 7)),
	};

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_VALUES, &arg), "SET_VALUES: %m");
}

void act_reader(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, 60);
	struct dev dev;

	if (!storm_open(&dev, O_RDONLY))
		return;
	if (rng_one_in(rng, 3))
		want_channels(&dev);
	if (rng_one_in(rng, 2))
		want_values(&dev, rng);
	dev_map(&dev, rng_one_in(rng, 2) ? FROM_OLDEST : FROM_NOW);
	did(DEED_readers);
	while (n-- && !storm_closing()) {
		take_some(&dev, rng);
		if (rng_one_in(rng, 20)) {
			did(DEED_stalls);
			sleep_ms(rng_below(rng, 400));
		}
		usleep(rng_below(rng, 3000));
	}
	check_conserved(&dev);
	dev_close(&dev);
}

static void set_watermark(const struct dev *dev, struct rng *rng)
{
	struct cmt_watermark arg = {
		.size = sizeof(arg), .records = 1 + rng_below(rng, 64),
	};

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_WATERMARK, &arg), "SET_WATERMARK: %m");
}

static void wait_poll(const struct dev *dev, struct rng *rng)
{
	struct pollfd pollfd = { .fd = dev->fd, .events = POLLIN };

	CHECK(poll(&pollfd, 1, rng_below(rng, 50)) >= 0, "poll: %m");
	CHECK(!(pollfd.revents & POLLNVAL), "poll: revents %#x",
	      pollfd.revents);
}

/* A waiter that is closed, and one that outlives its descriptor */
static void wait_epoll(const struct dev *dev, struct rng *rng)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = epoll_create1(EPOLL_CLOEXEC), other = dup(dev->fd);

	CHECK(fd >= 0 && other >= 0, "epoll_create1, dup: %m");
	if (rng_one_in(rng, 2))
		event.events = EPOLLIN;
	CHECK(!epoll_ctl(fd, EPOLL_CTL_ADD, dev->fd, &event), "EPOLL_CTL_ADD: %m");
	CHECK(!epoll_ctl(fd, EPOLL_CTL_ADD, other, &event), "EPOLL_CTL_ADD: %m");
	CHECK(epoll_wait(fd, &event, 1, rng_below(rng, 50)) >= 0, "epoll_wait: %m");
	if (rng_one_in(rng, 2)) {
		close(other);
		close(fd);
	} else {
		close(fd);
		close(other);
	}
}

/* Any answer is valid, but the call must not wait. */
static void read_count(const struct dev *dev)
{
	uint64_t count;

	fcntl(dev->fd, F_SETFL, O_NONBLOCK);
	if (read(dev->fd, &count, sizeof(count)) < 0)
		CHECK(errno == EAGAIN || errno == EINVAL, "read: %m");
}

void act_poller(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, 30);
	struct dev dev;

	if (!storm_open(&dev, O_RDONLY))
		return;
	dev_map(&dev, FROM_NOW);
	did(DEED_readers);
	while (n-- && !storm_closing()) {
		if (rng_one_in(rng, 5))
			set_watermark(&dev, rng);
		if (rng_one_in(rng, 2))
			wait_poll(&dev, rng);
		else
			wait_epoll(&dev, rng);
		did(DEED_polls);
		if (!rng_one_in(rng, 4))
			read_count(&dev);
		take_some(&dev, rng);
	}
	dev_close(&dev);
}

/*
 * The content of a page of a ring through two mappings, while the ring is not written
 */
static void check_same(const struct cmt_ring_header *header, const char *whole,
		       const char *part, size_t offset)
{
	static char a[4096], b[4096];
	uint64_t head = __atomic_load_n(&header->head, __ATOMIC_ACQUIRE);

	memcpy(a, whole + offset, sizeof(a));
	memcpy(b, part + offset, sizeof(b));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* the next slot may be half written, and may be in this page or not */
	if (__atomic_load_n(&header->head, __ATOMIC_ACQUIRE) != head ||
	    head / 64 % (header->records / 64) == offset / 4096 - 1)
		return;
	CHECK(!memcmp(a, b, sizeof(a)),
	      "ring %u, page %zu: not the same through a mapping in part",
	      header->cpu, offset / 4096);
	did(DEED_looks);
}

/* Refused, or without effect on other readers; never a writable page */
static void disturb(struct rng *rng, char *page, size_t bytes)
{
	switch (rng_below(rng, 6)) {
	case 0:
		CHECK(mprotect(page, bytes, PROT_READ | PROT_WRITE),
		      "a ring became writable");
		break;
	case 1:
		madvise(page, bytes, MADV_DONTNEED);
		break;
	case 2:
		madvise(page, bytes, MADV_DONTFORK);
		break;
	case 3:
		mlock(page, bytes);
		break;
	case 4:
		CHECK(mremap(page, bytes, bytes + 4096, MREMAP_MAYMOVE) ==
		      MAP_FAILED, "a ring grew");
		break;
	case 5:
		if (!storm_fork())
			_exit(*(volatile char *)page & 0);
		while (waitpid(-1, NULL, 0) > 0)
			;
		break;
	}
}

/* Keeps the pages of a range; the pages below and above are unmapped. */
static void unmap_around(struct rng *rng, const struct dev *dev,
			 const struct ring *ring, char *part)
{
	size_t pages = (ring->header->data_offset +
			ring->records * sizeof(struct cmt_record)) / 4096;
	size_t first = rng_below(rng, pages), i;
	size_t end = first + 1 + rng_below(rng, pages - first);

	if (first)
		munmap(part, first * 4096);
	if (end * 4096 < dev->info.ring_bytes)
		munmap(part + end * 4096, dev->info.ring_bytes - end * 4096);
	did(DEED_munmaps);
	disturb(rng, part + first * 4096, (end - first) * 4096);
	for (i = first; i < end && i < first + 16; i++)
		if (i)
			check_same(ring->header, (const char *)ring->header,
				   part, i * 4096);
	munmap(part + first * 4096, (end - first) * 4096);
}

/* A CPU that does not exist has no ring, and no pages. */
void act_mapper(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, 20);
	struct ring *ring;
	struct dev dev;
	uint32_t cpu;
	char *part;

	if (!storm_open(&dev, O_RDONLY))
		return;
	dev_map(&dev, FROM_NOW);
	while (n-- && !storm_closing()) {
		cpu = rng_below(rng, dev.info.nr_cpus);
		ring = &dev.rings[cpu];
		if (ring_state(ring) == CMT_RING_ABSENT)
			continue;
		part = mmap(NULL, dev.info.ring_bytes, PROT_READ, MAP_SHARED,
			    dev.fd, cpu * dev.info.ring_bytes);
		CHECK(part != MAP_FAILED || errno == ENOMEM, "mmap: %m");
		if (part != MAP_FAILED)
			unmap_around(rng, &dev, ring, part);
		usleep(rng_below(rng, 3000));
	}
	dev_close(&dev);
}
