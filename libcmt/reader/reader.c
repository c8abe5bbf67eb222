// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader: a device's rings mapped, and the clock. */
#include "reader.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "merge.h"

#define LATENCY_DEFAULT_NS	500000000ULL
#define LATENCY_LEAST_NS	1000000ULL
/* Far below 2^63, where differences of times change their sign. */
#define LATENCY_MAX_NS		(1ULL << 62)

/* @records: 0: an eighth of the smallest ring */
static int set_watermark(const struct cmt_reader *reader, uint32_t records)
{
	struct cmt_watermark watermark = {
		.size = sizeof(watermark),
		.records = records ? records : (reader->least_records + 7) / 8,
	};

	if (watermark.records > reader->least_records / 2)
		return -EINVAL;
	return cmt_device_ioctl(reader->dev, CMT_IOC_SET_WATERMARK, &watermark);
}

/* The caller's options, or all zero. */
static int reader_opts(struct cmt_reader_opts *opts,
		       const struct cmt_reader_opts *from)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (err)
		return err;
	if (opts->latency_ns > LATENCY_MAX_NS ||
	    (opts->flags & ~CMT_READER_OLDEST))
		return -EINVAL;
	return 0;
}

/*
 * A record waits in its ring for records of other rings, and a reader cannot wait
 * longer than the rings hold.  See cmt_ring_share().
 */
static uint64_t default_latency(const struct cmt_info *info)
{
	uint64_t latency = cmt_ring_share(info->ring_hold_ns);

	if (!latency || latency > LATENCY_DEFAULT_NS)
		return LATENCY_DEFAULT_NS;
	return latency < LATENCY_LEAST_NS ? LATENCY_LEAST_NS : latency;
}

/*
 * The module's clock must be this process's, or no record's time means anything:
 * every one would seem to be from the past or the future.
 */
static int check_clock(struct cmt_device *dev)
{
	uint64_t before = cmt_now_ns(), after;
	struct cmt_snapshot *snapshot;
	int err = cmt_device_snapshot(dev, &snapshot);

	if (err)
		return err;
	after = cmt_now_ns();
	if (cmt_ts_before(snapshot->as_of + CMT_AHEAD_NS, before) ||
	    cmt_ts_before(after + CMT_AHEAD_NS, snapshot->as_of))
		err = -EXDEV;
	cmt_snapshot_free(snapshot);
	return err;
}

static int add_ring(struct cmt_reader *reader, uint32_t cpu, bool oldest)
{
	const struct cmt_device *dev = reader->dev;
	const struct cmt_ring_header *header;
	const void *ring;
	int err = dev->ops->map(dev, cpu, &ring);

	if (err)
		return err;
	reader->rings[reader->nr_rings++] = ring;
	err = cmt_sources_add(reader->sources, ring, dev->info.ring_bytes, oldest);
	if (err)
		return err;
	header = ring;
	if (header->records < reader->least_records)
		reader->least_records = header->records;
	return 0;
}

static int reader_fill(struct cmt_reader *reader,
		       const struct cmt_reader_opts *opts)
{
	const struct cmt_info *info = &reader->dev->info;
	int err;

	err = check_clock(reader->dev);
	if (err)
		return err;
	reader->least_records = info->ring_records;
	reader->latency_default = !opts->latency_ns;
	err = cmt_sources_new(&reader->sources, info, reader->latency_default ?
			      default_latency(info) : opts->latency_ns);
	if (!err)
		err = cmt_merge_new(&reader->merge, reader->sources);
	for (uint32_t cpu = 0; !err && cpu < info->nr_cpus; cpu++)
		err = add_ring(reader, cpu, opts->flags & CMT_READER_OLDEST);
	return err ? err : set_watermark(reader, opts->watermark);
}

int cmt_reader_new(struct cmt_reader **reader, struct cmt_device *dev,
		   const struct cmt_reader_opts *opts)
{
	struct cmt_reader_opts o;
	struct cmt_reader *r;
	int err;

	err = reader_opts(&o, opts);
	if (err)
		return err;
	if (dev->reader)
		return -EBUSY;
	r = calloc(1, sizeof(*r) + dev->info.nr_cpus * sizeof(r->rings[0]));
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
	for (uint32_t i = 0; i < reader->nr_rings; i++)
		reader->dev->ops->unmap(reader->dev, reader->rings[i]);
	cmt_merge_free(reader->merge);
	cmt_sources_free(reader->sources);
	reader->dev->reader = NULL;
	free(reader);
}

/*
 * poll() is level-triggered, and read() ends its report.  read() comes before the rings
 * are emptied, so that later records are reported again.
 */
static int take_readiness(struct cmt_reader *reader)
{
	uint64_t records;

	if (read(reader->dev->fd, &records, sizeof(records)) < 0 &&
	    errno != EAGAIN && errno != EINTR)
		return -errno;
	reader->taken = true;
	return 0;
}

/* The rings hold more or less of the time when the interval is another one. */
static void renew_latency(struct cmt_reader *reader)
{
	struct cmt_info info;

	if (!reader->sources->state_changed)
		return;
	reader->sources->state_changed = false;
	if (reader->latency_default && !cmt_device_info_now(reader->dev, &info))
		reader->sources->latency_ns = default_latency(&info);
}

/*
 * The clock is read before any ring: see the bounds in ring/ring.h.  Readiness is
 * taken once for all records up to the call that finds none.
 */
static int reader_begin(struct cmt_reader *reader)
{
	int err = 0;

	if (!reader->taken)
		take_readiness(reader);
	if (reader->dev->ops->pump)
		err = reader->dev->ops->pump(reader->dev);
	cmt_sources_now(reader->sources, cmt_now_ns());
	return err;
}

int cmt_reader_begin_feed(struct cmt_reader *reader)
{
	int err = reader_begin(reader);

	if (err)
		cmt_reader_end(reader, err);
	else
		cmt_merge_restart(reader->merge);
	return err;
}

void cmt_reader_end(struct cmt_reader *reader, int ret)
{
	renew_latency(reader);
	reader->ready = ret;
	reader->taken = reader->taken && ret > 0;
}

int cmt_reader_read(struct cmt_reader *reader, struct cmt_record *records,
		    unsigned int n)
{
	int got = reader_begin(reader);

	if (!got)
		got = cmt_merge_read(reader->merge, records, n);
	cmt_reader_end(reader, got);
	return got;
}

int cmt_reader_timeout(const struct cmt_reader *reader)
{
	uint64_t due, now, ms;

	if (reader->ready)
		return 0;
	if (!cmt_sources_due(reader->sources, &due))
		return -1;
	now = cmt_now_ns();
	if (!cmt_ts_before(now, due))
		return 0;
	ms = (due - now + 999999) / 1000000;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int cmt_reader_wait(struct cmt_reader *reader, int timeout_ms)
{
	struct pollfd pfd = { .fd = reader->dev->fd, .events = POLLIN };
	int n = poll(&pfd, 1, timeout_ms);

	if (n < 0)
		return -errno;
	if (pfd.revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	if (n) {
		int err = take_readiness(reader);

		if (err)
			return err;
	}
	return n;
}

int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
			  struct cmt_reader_counts *counts)
{
	struct cmt_reader_counts known;

	if (cpu >= reader->sources->nr)
		return -EINVAL;
	cmt_sources_counts(reader->sources, cpu, &known);
	return cmt_out_copy(counts, &known, sizeof(known));
}

int cmt_reader_counts(const struct cmt_reader *reader,
		      struct cmt_reader_counts *counts)
{
	struct cmt_reader_counts sum = { 0 };

	for (uint32_t cpu = 0; cpu < reader->sources->nr; cpu++) {
		struct cmt_reader_counts one;

		cmt_sources_counts(reader->sources, cpu, &one);
		sum.emitted += one.emitted;
		sum.delivered += one.delivered;
		sum.lost += one.lost;
		sum.late += one.late;
		sum.malformed += one.malformed;
		sum.pending += one.pending;
		sum.quiet += one.quiet;
		sum.latency_ns = one.latency_ns;
	}
	return cmt_out_copy(counts, &sum, sizeof(sum));
}
