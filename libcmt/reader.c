// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader: a device's rings mapped, merged, and the clock. */
#include <cmt/reader.h>

#include <cmt/slots.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "internal.h"
#include "merge.h"

#define FEED_RECORDS		512
#define LATENCY_DEFAULT_NS	500000000ULL
/* Far below 2^63, where differences of times change their sign. */
#define LATENCY_MAX_NS		(1ULL << 62)

struct cmt_reader {
	struct cmt_device *dev;
	struct cmt_merge *merge;
	uint32_t nr_maps;
	void *maps[];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int set_watermark(const struct cmt_device *dev, uint32_t records)
{
	struct cmt_watermark watermark = {
		.size = sizeof(watermark),
		.records = records,
	};

	return ioctl(dev->fd, CMT_IOC_SET_WATERMARK, &watermark) < 0 ?
	       -errno : 0;
}

/* The caller's options, or all zero, with the defaults filled in. */
static int reader_opts(struct cmt_reader_opts *opts,
		       const struct cmt_reader_opts *from,
		       const struct cmt_info *info)
{
	int err;

	memset(opts, 0, sizeof(*opts));
	if (from) {
		err = cmt_opts_copy(opts, sizeof(*opts), from, from->sz);
		if (err)
			return err;
	}
	if (!opts->latency_ns)
		opts->latency_ns = LATENCY_DEFAULT_NS;
	if (!opts->watermark)
		opts->watermark = (info->ring_records + 3) / 4;
	if (opts->latency_ns > LATENCY_MAX_NS ||
	    opts->watermark > info->ring_records / 2 ||
	    (opts->flags & ~CMT_READER_OLDEST))
		return -EINVAL;
	return 0;
}

static int map_ring(struct cmt_reader *reader, uint32_t cpu, bool oldest)
{
	size_t bytes = reader->dev->info.ring_bytes;
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, reader->dev->fd,
			 (off_t)cpu * (off_t)bytes);

	if (map == MAP_FAILED)
		return -errno;
	reader->maps[reader->nr_maps++] = map;
	return cmt_merge_add(reader->merge, map, bytes, oldest);
}

static int reader_fill(struct cmt_reader *reader,
		       const struct cmt_reader_opts *opts)
{
	const struct cmt_info *info = &reader->dev->info;
	int err;

	err = cmt_merge_new(&reader->merge, info, opts->latency_ns);
	if (!err)
		err = set_watermark(reader->dev, opts->watermark);
	for (uint32_t cpu = 0; !err && cpu < info->nr_cpus; cpu++)
		err = map_ring(reader, cpu, opts->flags & CMT_READER_OLDEST);
	return err;
}

int cmt_reader_new(struct cmt_reader **reader, struct cmt_device *dev,
		   const struct cmt_reader_opts *opts)
{
	struct cmt_reader_opts o;
	struct cmt_reader *r;
	int err;

	err = reader_opts(&o, opts, &dev->info);
	if (err)
		return err;
	if (dev->reader)
		return -EBUSY;
	r = calloc(1, sizeof(*r) + dev->info.nr_cpus * sizeof(r->maps[0]));
	if (!r)
		return -ENOMEM;

	r->dev = dev;
	dev->reader = r;
	err = reader_fill(r, &o);
	if (err) {
		cmt_reader_free(r);
		return err;
	}
	*reader = r;
	return 0;
}

void cmt_reader_free(struct cmt_reader *reader)
{
	if (!reader)
		return;
	for (uint32_t i = 0; i < reader->nr_maps; i++)
		munmap(reader->maps[i], reader->dev->info.ring_bytes);
	cmt_merge_free(reader->merge);
	reader->dev->reader = NULL;
	free(reader);
}

/* The clock is read before any ring: see the bounds in merge.h. */
int cmt_reader_read(struct cmt_reader *reader, struct cmt_record *records,
		    unsigned int n)
{
	return cmt_merge_read(reader->merge, records, n, now_ns());
}

static uint64_t count_late(const struct cmt_reader *reader)
{
	struct cmt_reader_counts counts;

	cmt_reader_counts(reader, &counts);
	return counts.late;
}

/*
 * The rings are mapped already.  What happens between this and the next record
 * is in both, and the tracker knows what to do with that.
 */
static int sync_owners(struct cmt_reader *reader, struct cmt_slots *slots)
{
	uint64_t late = count_late(reader);
	struct cmt_snapshot *snapshot;
	int err = cmt_device_snapshot(reader->dev, &snapshot);

	if (err)
		return err;
	err = cmt_slots_sync(slots, snapshot, late);
	free(snapshot);
	return err;
}

/*
 * One snapshot makes good for all losses of a batch: it is taken after the last
 * record of the batch was written.
 */
static int feed(struct cmt_reader *reader, struct cmt_slots *slots,
		const struct cmt_record *records, int n)
{
	bool synced = false;

	for (int i = 0; i < n; i++) {
		int err = 0;

		if (cmt_record_lost(&records[i]) && !synced) {
			err = sync_owners(reader, slots);
			synced = true;
		}
		if (!err)
			err = cmt_slots_add(slots, &records[i]);
		if (err)
			return err;
	}
	return n;
}

int cmt_reader_feed(struct cmt_reader *reader, struct cmt_slots *slots)
{
	struct cmt_record records[FEED_RECORDS];
	int n, err;

	/* what came too late is not in the stream, and may have told of owners */
	if (!cmt_slots_synced(slots, count_late(reader))) {
		err = sync_owners(reader, slots);
		if (err)
			return err;
	}
	n = cmt_reader_read(reader, records, FEED_RECORDS);
	return n > 0 ? feed(reader, slots, records, n) : n;
}

int cmt_reader_wait(struct cmt_reader *reader, int timeout_ms)
{
	struct pollfd pfd = { .fd = reader->dev->fd, .events = POLLIN };
	int n = poll(&pfd, 1, timeout_ms);

	if (n < 0)
		return -errno;
	if (pfd.revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	return n;
}

int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
			  struct cmt_reader_counts *counts)
{
	if (cpu >= reader->nr_maps)
		return -EINVAL;
	cmt_merge_counts(reader->merge, cpu, counts);
	return 0;
}

void cmt_reader_counts(const struct cmt_reader *reader,
		       struct cmt_reader_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (uint32_t cpu = 0; cpu < reader->nr_maps; cpu++) {
		struct cmt_reader_counts one;

		cmt_merge_counts(reader->merge, cpu, &one);
		counts->emitted += one.emitted;
		counts->delivered += one.delivered;
		counts->lost += one.lost;
		counts->late += one.late;
		counts->malformed += one.malformed;
		counts->pending += one.pending;
	}
}
