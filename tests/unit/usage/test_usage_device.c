// SPDX-License-Identifier: GPL-2.0-or-later
/* Usage of a device whose rings are really mapped. */
#include <cmt/cmt.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fake_device.h"
#include "image.h"
#include "unit.h"

#define RECORDS	64
#define MS	1000000ULL
#define T0	(5000 * MS)
#define LATE	(502 * MS)	/* the reader's latency, and two slots */

static struct cmt_device *dev;
static struct cmt_usage *usage;
static const struct cmt_usage_frame *frame;

static struct cmt_usage_opts opts_of(uint32_t by)
{
	return (struct cmt_usage_opts){
		.sz = sizeof(struct cmt_usage_opts), .device = dev, .by = by,
		.interval_ns = 20 * MS,
	};
}

/* RMID 1 is of process 1001 in the cgroup 7001, which is /a/b. */
static void setup(void)
{
	struct cmt_usage_opts opts;

	fake_setup(2, RECORDS);
	fake.now = T0;
	fake.existing[0] = image_event(CMT_REC_EXISTING, 0, 1, 1, 10);
	fake.nr_existing = 1;
	fake.as_of = T0;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	opts = opts_of(CMT_USAGE_BY_CONTAINER);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
}

static void teardown(void)
{
	cmt_usage_free(usage);
	cmt_device_close(dev);
	fake_teardown();
}

/* A millisecond of both CPUs; the first reads RMID 1. */
static void put_ms(uint64_t ms)
{
	struct cmt_record record;
	uint32_t cpu;

	record = image_sample(0, T0 + ms * MS, 1, 10);
	record.sample.occupancy_bytes = 1000 + ms;
	image_put(fake_ring(0), &record);
	for (cpu = 0; cpu < 2; cpu++) {
		record = image_tick(cpu, T0 + ms * MS + 10);
		image_put(fake_ring(cpu), &record);
	}
	fake.now = T0 + ms * MS + 20;
}

/* The first of @nr. */
static const struct cmt_usage_row *next_rows(uint32_t nr)
{
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->nr_rows, nr);
	return cmt_usage_row_at(frame, 0);
}

static const struct cmt_usage_row *next_row(void)
{
	return next_rows(1);
}

static void nothing_yet(void)
{
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 0);
}

START_TEST(test_frame_when_complete)
{
	const struct cmt_usage_row *row;

	for (uint64_t ms = 0; ms < 21; ms++) {
		put_ms(ms);
		nothing_yet();
	}
	put_ms(21);
	row = next_row();
	ck_assert_uint_eq(frame->start_ns, T0);
	ck_assert_uint_eq(frame->end_ns, T0 + 20 * MS);
	ck_assert_uint_eq(row->occupancy.last_bytes, 1019);
	ck_assert_uint_eq(row->occupancy.least_bytes, 1000);
	ck_assert_uint_eq(frame->nr_cpus, 2);
	ck_assert_uint_eq(frame->sampling_ns, MS);
	ck_assert(!frame->lost && !frame->dropped);
	nothing_yet();
}
END_TEST

/* CPU 1 is silent: a record of CPU 0 is held back for as long as the reader waits. */
START_TEST(test_waits_as_the_reader)
{
	const struct cmt_reader_opts reader = {
		.sz = sizeof(reader), .latency_ns = 2000 * MS,
	};
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);
	struct cmt_record record = image_sample(0, T0 + 10 * MS, 1, 10);

	opts.reader = &reader;
	cmt_usage_free(usage);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	record.sample.occupancy_bytes = 1000;
	image_put(fake_ring(0), &record);
	fake.now = T0 + 20 * MS + LATE;
	nothing_yet();
	fake.now = T0 + 20 * MS + 2002 * MS - 1;
	nothing_yet();
	fake.now++;
	ck_assert_uint_eq(next_row()->occupancy.last_bytes, 1000);
}
END_TEST

static int readings_left;

/* The process stands still until long after the interval, and the module goes on. */
static void stall(void)
{
	uint64_t ms;

	if (--readings_left)
		return;
	for (ms = 19; ms < 30; ms++)
		put_ms(ms);
	fake.now = T0 + 20 * MS + LATE;
}

/* Records that a stalled process has not read yet belong to the interval. */
START_TEST(test_stall)
{
	const struct cmt_usage_row *row;
	uint64_t ms;

	for (ms = 0; ms < 19; ms++)
		put_ms(ms);
	readings_left = _i;
	fake.on_clock = stall;
	if (cmt_usage_next(usage, &frame) != 1) {
		/* the call ended before the stall, which comes now, or with it */
		fake.on_clock = NULL;
		if (readings_left > 0) {
			readings_left = 1;
			stall();
		}
		ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	}
	row = cmt_usage_row_at(frame, 0);
	ck_assert_uint_eq(row->occupancy.last_bytes, 1019);
	ck_assert_uint_eq(frame->nr_slots, 20);
}
END_TEST

static void put_ticks(uint64_t ms)
{
	struct cmt_record record;
	uint32_t cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		record = image_tick(cpu, T0 + ms * MS + 10);
		record.domain = cpu;
		image_put(fake_ring(cpu), &record);
	}
	fake.now = T0 + ms * MS + 20;
}

static void assert_nothing_to_cover(const struct cmt_usage_row *row)
{
	ck_assert(isnan(row->coverage.occupancy));
	ck_assert(isnan(row->coverage.total));
	ck_assert(isnan(row->coverage.local));
}

/* A device without counters has its owners, and no value of any of them. */
START_TEST(test_nothing_is_read)
{
	static const uint32_t bys[] = {
		CMT_USAGE_BY_CONTAINER, CMT_USAGE_BY_PROCESS,
		CMT_USAGE_BY_DOMAIN, CMT_USAGE_BY_CPU,
	};
	const uint32_t by = bys[_i];
	const uint32_t nr = by == CMT_USAGE_BY_CONTAINER ||
			    by == CMT_USAGE_BY_PROCESS ? 1 : 2;
	const struct cmt_usage_row *row;
	struct cmt_usage_opts opts;
	struct cmt_record record;
	uint64_t ms;

	cmt_usage_free(usage);
	cmt_device_close(dev);
	fake.info.events = 0;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	opts = opts_of(by);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	for (ms = 0; ms < 22; ms++)
		put_ticks(ms);
	row = next_rows(nr);
	ck_assert_uint_eq(frame->last_ns, T0 + 20 * MS - 1);
	ck_assert_uint_eq(frame->elapsed_ns, 20 * MS - 1);
	ck_assert_uint_eq(frame->nr_domains, 2);
	ck_assert(!frame->emulated);
	ck_assert(!row->occupancy.known && !row->total.known &&
		  !row->local.known);
	ck_assert(!row->occupancy.slots && !row->occupancy.most_bytes);
	assert_nothing_to_cover(row);
	if (by == CMT_USAGE_BY_CPU)
		return;
	ck_assert_uint_eq(row->why, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert_uint_eq(row->occupancy.why, CMT_USAGE_WHY_UNAVAILABLE);
	ck_assert_uint_eq(row->rmids, 1);
	ck_assert(isnan(row->total.rate));
	if (by == CMT_USAGE_BY_PROCESS)
		ck_assert_uint_eq(row->pid, 1001);
	/* the owner is in the interval so far, and ends in it */
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	for (; ms < 30; ms++)
		put_ticks(ms);
	record = image_event(CMT_REC_FREE, 0, T0 + 30 * MS, 1, 10);
	image_put(fake_ring(0), &record);
	for (; ms < 42; ms++)
		put_ticks(ms);
	row = next_rows(nr);
	ck_assert_uint_eq(frame->elapsed_ns, 20 * MS);
	ck_assert(row->why & CMT_USAGE_WHY_ENDED);
	ck_assert_uint_eq(row->rmids, 0);
	for (; ms < 62; ms++)
		put_ticks(ms);
	next_rows(0);
	ck_assert_uint_eq(frame->elapsed_ns, 20 * MS);
}
END_TEST

static void set_pending(uint32_t nr, const uint64_t *cgroups)
{
	struct cmt_snapshot *snapshot;
	uint32_t i;

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, T0, NULL, nr), 0);
	for (i = 0; i < nr; i++) {
		snapshot->records[i] = image_event(CMT_REC_ALLOC_FAIL, 0, T0, 63, 0);
		snapshot->records[i].tgid = 2000 + i;
		snapshot->records[i].owner.cgroup_id = cgroups[i];
	}
	ck_assert_int_eq(cmt_usage_set_pending(usage, snapshot), 0);
	cmt_snapshot_free(snapshot);
}

/* Another event's reason, and pending owners, are no coverage of an event that is missing. */
START_TEST(test_coverage_of_missing_event)
{
	static const uint64_t cgroups[] = { 7001, 7002 };
	const struct cmt_usage_row *row;
	struct cmt_record record;
	uint32_t i;

	ck_assert_uint_eq(fake.info.events, CMT_F_OCCUPANCY);
	set_pending(2, cgroups);
	for (uint64_t ms = 0; ms < 22; ms++) {
		put_ms(ms);
		record = image_sample(0, fake.now, 1, 10);
		record.flags = CMT_F_UNAVAILABLE;
		image_put(fake_ring(0), &record);
	}
	next_rows(2);
	for (i = 0; i < 2; i++) {
		row = cmt_usage_row_at(frame, i);
		ck_assert_uint_eq(row->pending, 1);
		ck_assert_double_eq(row->coverage.occupancy, row->rmids ? 0.5 : 0);
		ck_assert(isnan(row->coverage.total));
		ck_assert(isnan(row->coverage.local));
	}
	/* AMD: the mode of the counters was switched, and there is bandwidth */
	for (uint64_t ms = 22; ms < 42; ms++) {
		put_ms(ms);
		record = image_sample(0, fake.now, 1, 10);
		record.flags |= CMT_F_MBM_TOTAL;
		image_put(fake_ring(0), &record);
	}
	next_rows(2);
	for (i = 0; i < 2; i++) {
		row = cmt_usage_row_at(frame, i);
		ck_assert(row->rmids ? row->coverage.total > 0 : !row->coverage.total);
		ck_assert(isnan(row->coverage.local));
	}
}
END_TEST

START_TEST(test_coverage_of_nothing)
{
	static const uint64_t cgroup = 7002;
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);

	cmt_usage_free(usage);
	cmt_device_close(dev);
	fake.info.events = 0;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	opts.device = dev;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	set_pending(1, &cgroup);
	for (uint64_t ms = 0; ms < 22; ms++)
		put_ticks(ms);
	next_rows(2);
	assert_nothing_to_cover(cmt_usage_row_at(frame, 0));
	assert_nothing_to_cover(cmt_usage_row_at(frame, 1));
}
END_TEST

/* Not blocked by, and not waiting for ever for CPUs that say nothing. */
START_TEST(test_silent_device)
{
	put_ms(0);
	nothing_yet();
	fake.now = T0 + 20 * MS + LATE - 1;
	nothing_yet();
	ck_assert_int_eq(cmt_usage_timeout(usage), 5);
	fake.now++;
	next_row();
	ck_assert_uint_eq(frame->start_ns, T0);
	ck_assert_uint_eq(frame->last_ns, T0);
	nothing_yet();
	fake.now += 20 * MS;
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, T0 + 20 * MS);
	ck_assert_uint_eq(frame->nr_rows, 0);
	ck_assert_uint_eq(frame->last_ns, 0);
	nothing_yet();
	/* a program that slept gets one frame, and the grid stays */
	fake.now += 1010 * MS;
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, T0 + 40 * MS);
	nothing_yet();
	fake.now += 10 * MS;
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, T0 + 1040 * MS);
}
END_TEST

/* Rings that hold more of the time since the interval is another one are waited for longer. */
START_TEST(test_late_after_change)
{
	const struct cmt_record state = { .type = CMT_REC_STATE, .ts = T0 + 1 * MS };
	struct cmt_usage_opts opts;

	cmt_usage_free(usage);
	cmt_device_close(dev);
	fake.info.ring_hold_ns = 16 * MS;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	opts = opts_of(CMT_USAGE_BY_CONTAINER);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	put_ms(0);
	nothing_yet();
	fake.info.ring_hold_ns = 160 * MS;
	image_put(fake_ring(0), &state);
	fake.now = T0 + 2 * MS;
	nothing_yet();
	fake.now = T0 + 20 * MS + 132 * MS - 1;
	nothing_yet();
	fake.now++;
	ck_assert_int_eq(cmt_usage_next(usage, &frame), 1);
	ck_assert_uint_eq(frame->start_ns, T0);
}
END_TEST

START_TEST(test_timeout)
{
	ck_assert_int_eq(cmt_usage_timeout(usage), 22);
	fake.now += 10 * MS + 1;
	ck_assert_int_eq(cmt_usage_timeout(usage), 12);
	fake.now = T0 + 25 * MS;
	ck_assert_int_eq(cmt_usage_timeout(usage), 5);
	ck_assert_int_eq(cmt_usage_wait(usage, -1), 0);
	fake.poll_errno = EINTR;
	ck_assert_int_eq(cmt_usage_wait(usage, 1), -EINTR);
}
END_TEST

/* Names come when they are refreshed, also to the frame that is there. */
START_TEST(test_refresh_names)
{
	const struct cmt_usage_row *row;

	for (uint64_t ms = 0; ms < 26; ms++)
		put_ms(ms % 26);
	row = next_row();
	ck_assert_str_eq(row->container->name, "cgroup:7001");
	ck_assert_ptr_null(row->container->path);
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_NAMES), 0);
	ck_assert_str_eq(row->container->path, "/a/b");
}
END_TEST

START_TEST(test_refresh_pending)
{
	const struct cmt_usage_row *row;

	fake.nr_pending = 2;
	fake.pending[0] = image_event(CMT_REC_ALLOC_FAIL, 0, 1, 0, 0);
	fake.pending[0].owner.cgroup_id = 7001;
	fake.pending[1] = fake.pending[0];
	fake.pending[1].owner.cgroup_id = 7002;
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_PENDING |
						  CMT_USAGE_NAMES), 0);
	for (uint64_t ms = 0; ms < 26; ms++)
		put_ms(ms);
	row = next_rows(2);
	ck_assert_uint_eq(row->rmids, 1);
	ck_assert_uint_eq(row->pending, 1);
	ck_assert(row->occupancy.partial);
	row = cmt_usage_row_at(frame, 1);
	ck_assert_uint_eq(row->cgroup_id, 7002);
	ck_assert_uint_eq(row->pending, 1);
	ck_assert(!row->occupancy.known);
	ck_assert_uint_eq(frame->pending, 2);
	ck_assert_uint_eq(frame->pending_ns, T0);
	/* ever more of them: not known, and no failure */
	fake.nr_pending = 150;
	fake.more_pending = 100;
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_PENDING), 0);
	for (uint64_t ms = 26; ms < 46; ms++)
		put_ms(ms);
	row = next_row();
	ck_assert(!frame->pending_known);
	ck_assert_uint_eq(row->pending, 0);
	fake.ioctl_errno = ENODEV;
	ck_assert_int_eq(cmt_usage_refresh(usage, CMT_USAGE_PENDING), -ENODEV);
	fake.ioctl_errno = 0;
}
END_TEST

START_TEST(test_losses)
{
	uint64_t ms;

	for (ms = 0; ms < 100; ms++)
		put_ms(ms);
	while (!cmt_usage_next(usage, &frame))
		put_ms(ms++);
	ck_assert_uint_gt(frame->lost, 0);
	ck_assert_uint_eq(frame->lost, frame->lost_ever);
}
END_TEST

/* Of a CPU its own; the records that are lost are counted with it. */
START_TEST(test_losses_by_cpu)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CPU);
	uint64_t ms;

	cmt_usage_free(usage);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	for (ms = 0; ms < 50; ms++)
		put_ms(ms);
	while (!cmt_usage_next(usage, &frame))
		put_ms(ms++);
	ck_assert_uint_eq(frame->nr_rows, 2);
	ck_assert_uint_gt(cmt_usage_row_at(frame, 0)->lost, 0);
	ck_assert_uint_eq(cmt_usage_row_at(frame, 1)->lost, 0);
}
END_TEST

START_TEST(test_not_for_records)
{
	struct cmt_record record = image_tick(0, T0);
	struct cmt_snapshot snapshot = { .as_of = T0 };

	ck_assert_int_eq(cmt_usage_add(usage, &record), -EINVAL);
	ck_assert_int_eq(cmt_usage_sync(usage, &snapshot), -EINVAL);
}
END_TEST

/* The device is asked as long as the usage lives. */
START_TEST(test_asks_for_counters)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);

	ck_assert_uint_eq(fake.counters, 0);
	cmt_device_set_counters(dev, CMT_F_LLC_MISSES);
	cmt_usage_free(usage);
	ck_assert_uint_eq(fake.counters, CMT_F_LLC_MISSES);
	opts.counters = CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_COUNTERS_FIRST;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	ck_assert_uint_eq(fake.counters, opts.counters);
	cmt_usage_free(usage);
	ck_assert_uint_eq(fake.counters, 0);
	opts.counters = CMT_F_ERROR;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	/* an older module counts nothing, and that is all */
	fake.old = true;
	opts.counters = CMT_F_CYCLES;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	put_ms(1);
	put_ms(25);
	fake.now = T0 + 25 * MS + LATE;
	next_row();
	ck_assert_uint_eq(frame->counters, 0);
	ck_assert(!cmt_usage_row_at(frame, 0)->counters.known);
}
END_TEST

START_TEST(test_asks_for_values)
{
	const uint32_t all = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);

	ck_assert_uint_eq(fake.values, 0);
	cmt_usage_free(usage);
	ck_assert_uint_eq(fake.values, 0);
	opts.values = CMT_F_OCCUPANCY;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	ck_assert_uint_eq(fake.values, CMT_F_OCCUPANCY);
	cmt_usage_free(usage);
	ck_assert_uint_eq(fake.values, all);
	opts.values = CMT_F_ERROR;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), -EINVAL);
	/* an older module reads all, of which the usage has what was asked for */
	fake.old = true;
	opts.values = CMT_F_OCCUPANCY;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	put_ms(1);
	put_ms(25);
	fake.now = T0 + 25 * MS + LATE;
	next_row();
	ck_assert(cmt_usage_row_at(frame, 0)->occupancy.known);
	ck_assert(!cmt_usage_row_at(frame, 0)->total.known);
	ck_assert(!cmt_usage_row_at(frame, 0)->local.known);
}
END_TEST

/* A millisecond of both CPUs; the second reads a channel of its socket. */
static void put_channel(uint64_t ms)
{
	struct cmt_record record = {
		.type = CMT_REC_CHANNEL, .cpu = 1, .flags = CMT_F_CHANNEL,
		.ts = T0 + ms * MS + 2, .domain = 1, .channel = 3,
		.channels = { 1000 * ms, 100 * ms },
	};

	image_put(fake_ring(1), &record);
	put_ms(ms);
}

static const struct cmt_usage_channel *read_channel(uint64_t from)
{
	for (uint64_t ms = from; ms <= from + 21; ms++) {
		put_channel(ms);
		if (cmt_usage_next(usage, &frame))
			break;
	}
	ck_assert_uint_eq(frame->nr_channels, 1);
	return cmt_usage_channel_at(frame, 0);
}

/* Channels are asked for, and what the module says of them is in each frame. */
START_TEST(test_channels_of_device)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);
	const struct cmt_usage_channel *c;

	cmt_usage_free(usage);
	opts.counters = CMT_F_CHANNEL;
	fake.uncore.channels = 1;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	ck_assert_uint_eq(fake.counters, CMT_F_CHANNEL);
	c = read_channel(0);
	ck_assert(c->socket == 1 && c->channel == 3);
	ck_assert(c->read.known && !c->read.partial);
	ck_assert_uint_eq(c->read.bytes, 19000);
	ck_assert_double_eq_tol(c->total.rate, 1.1e6, 1);
	ck_assert(frame->memory.total.known);
	ck_assert_str_eq(frame->channels_reason, "");
	strcpy(fake.uncore.channels_reason, "in use");
	c = read_channel(22);
	ck_assert(c->read.known && !frame->memory.total.known);
	ck_assert_str_eq(frame->channels_reason, "in use");
	ck_assert_int_eq(cmt_usage_set_uncore(usage, NULL), -EINVAL);
	cmt_usage_free(usage);
	ck_assert_uint_eq(fake.counters, 0);
	/* an older module has none */
	fake.old = true;
	fake.as_of = 0;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	put_ms(50);
	ck_assert_int_eq(cmt_usage_peek(usage, &frame), 0);
	ck_assert_uint_eq(frame->nr_channels, 0);
	ck_assert_str_ne(frame->channels_reason, "");
	ck_assert(!frame->memory.total.known);
}
END_TEST

/* PERF records of the rings, the last of them after the owner's FREE. */
START_TEST(test_counters_from_rings)
{
	const struct cmt_usage_counters *c;
	struct cmt_record record;

	for (uint64_t ms = 1; ms < 10; ms++) {
		put_ms(ms);
		record = image_perf(0, fake.now, 1, 10, 1000);
		image_put(fake_ring(0), &record);
		image_put(fake_ring(0), &record);
	}
	record = image_event(CMT_REC_FREE, 1, fake.now + 1, 1, 10);
	image_put(fake_ring(1), &record);
	put_ms(10);
	record = image_perf(0, fake.now, 1, 10, 500);
	image_put(fake_ring(0), &record);
	put_ms(25);
	fake.now = T0 + 25 * MS + LATE;
	c = &next_row()->counters;
	ck_assert(c->known && !c->partial);
	ck_assert_uint_eq(c->cycles, 18500);
	ck_assert_uint_eq(c->ran_ns, 19 * 1000);
	ck_assert_uint_eq(frame->counters, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(frame->counted_ns, 9 * MS + 1000);
	ck_assert_double_eq_tol(c->ipc, 0.5, 1e-9);
	ck_assert(cmt_usage_row_at(frame, 0)->container);
}
END_TEST

/*
 * What runs on an excluded CPU has no PERF: an owner that has none may have run there,
 * and one that has some may have run more.
 */
START_TEST(test_counters_beside_excluded)
{
	const struct cmt_usage_counters *c;
	struct cmt_record record;
	uint64_t ms;

	record = image_event(CMT_REC_ALLOC, 0, T0, 2, 20);
	image_put(fake_ring(0), &record);
	image_header(fake_ring(1))->state = CMT_RING_QUIET;
	for (ms = 1; ms < 10; ms++) {
		put_ms(ms);
		record = image_perf(0, fake.now, 2, 20, 1000);
		image_put(fake_ring(0), &record);
	}
	put_ms(25);
	fake.now += LATE;
	next_rows(2);
	for (uint32_t i = 0; i < 2; i++) {
		c = &cmt_usage_row_at(frame, i)->counters;
		ck_assert_uint_eq(c->why & CMT_USAGE_WHY_EXCLUDED,
				  CMT_USAGE_WHY_EXCLUDED);
		ck_assert_uint_eq(cmt_usage_row_at(frame, i)->why &
				  CMT_USAGE_WHY_EXCLUDED, 0);
		if (cmt_usage_row_at(frame, i)->cgroup_id == 7002) {
			ck_assert(c->known && c->partial);
			ck_assert_uint_eq(c->bounds, c->values);
			ck_assert_uint_gt(c->cycles, 0);
		} else {
			ck_assert(!c->known && isnan(c->cpu_share));
		}
	}
}
END_TEST

/* Of a CPU that is counted all is, whatever the others are. */
START_TEST(test_counters_of_cpus_beside_excluded)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CPU);
	const struct cmt_usage_counters *c;
	struct cmt_record record;

	cmt_usage_free(usage);
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	image_header(fake_ring(1))->state = CMT_RING_QUIET;
	for (uint64_t ms = 1; ms < 10; ms++) {
		put_ms(ms);
		record = image_perf(0, fake.now, 1, 10, 1000);
		image_put(fake_ring(0), &record);
	}
	put_ms(25);
	fake.now += LATE;
	next_rows(2);
	c = &cmt_usage_row_at(frame, 0)->counters;
	ck_assert(c->known && !c->partial);
	c = &cmt_usage_row_at(frame, 1)->counters;
	ck_assert(!c->known);
	ck_assert_uint_eq(c->why, CMT_USAGE_WHY_EXCLUDED);
}
END_TEST

/* A second usage of the device is refused, and the first one counts on. */
START_TEST(test_second_changes_nothing)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_CONTAINER);
	struct cmt_usage *other = NULL;

	cmt_usage_free(usage);
	opts.counters = CMT_F_CYCLES | CMT_F_INSTRUCTIONS;
	opts.values = CMT_F_OCCUPANCY;
	ck_assert_int_eq(cmt_usage_new(&usage, &opts), 0);
	opts.counters = CMT_F_LLC_MISSES;
	opts.values = CMT_F_MBM_TOTAL;
	ck_assert_int_eq(cmt_usage_new(&other, &opts), -EBUSY);
	ck_assert_uint_eq(fake.counters, CMT_F_CYCLES | CMT_F_INSTRUCTIONS);
	ck_assert_uint_eq(fake.values, CMT_F_OCCUPANCY);
}
END_TEST

START_TEST(test_new_fails)
{
	struct cmt_usage_opts opts = opts_of(CMT_USAGE_BY_DOMAIN);
	struct cmt_usage *other = NULL;
	int fds = unit_open_fds();

	ck_assert_int_eq(cmt_usage_new(&other, &opts), -EBUSY);
	cmt_usage_free(usage);
	usage = NULL;
	fake.mmap_fails_at = fake.nr_maps + 2;
	ck_assert_int_eq(cmt_usage_new(&other, &opts), -ENOMEM);
	fake.ioctl_errno = ENOTTY;
	ck_assert_int_eq(cmt_usage_new(&other, &opts), -ENOTTY);
	fake.ioctl_errno = 0;
	ck_assert_ptr_null(other);
	ck_assert_int_le(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_device");
	TCase *tcase = tcase_create("usage_device");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_frame_when_complete);
	tcase_add_test(tcase, test_waits_as_the_reader);
	tcase_add_loop_test(tcase, test_nothing_is_read, 0, 4);
	tcase_add_test(tcase, test_coverage_of_missing_event);
	tcase_add_test(tcase, test_coverage_of_nothing);
	tcase_add_test(tcase, test_silent_device);
	tcase_add_test(tcase, test_late_after_change);
	tcase_add_loop_test(tcase, test_stall, 1, 10);
	tcase_add_test(tcase, test_timeout);
	tcase_add_test(tcase, test_refresh_names);
	tcase_add_test(tcase, test_refresh_pending);
	tcase_add_test(tcase, test_losses);
	tcase_add_test(tcase, test_losses_by_cpu);
	tcase_add_test(tcase, test_not_for_records);
	tcase_add_test(tcase, test_asks_for_counters);
	tcase_add_test(tcase, test_asks_for_values);
	tcase_add_test(tcase, test_channels_of_device);
	tcase_add_test(tcase, test_counters_from_rings);
	tcase_add_test(tcase, test_counters_beside_excluded);
	tcase_add_test(tcase, test_counters_of_cpus_beside_excluded);
	tcase_add_test(tcase, test_second_changes_nothing);
	tcase_add_test(tcase, test_new_fails);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
