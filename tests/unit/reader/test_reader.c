// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader, by way of a device whose rings are really mapped. */
#include <cmt/reader.h>
#include <cmt/slots.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "fake_device.h"
#include "image.h"
#include "unit.h"

#define RECORDS	64
#define T0	5000000000ULL

static struct cmt_device *dev;
static struct cmt_reader *reader;
static struct cmt_record out[256];

static void setup(void)
{
	fake_setup(2, RECORDS);
	fake.now = T0;
	reader = NULL;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
}

static void teardown(void)
{
	cmt_reader_free(reader);
	cmt_device_close(dev);
	fake_teardown();
}

static void tick(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_tick(cpu, ts);

	image_put(fake_ring(cpu), &record);
}

static void event(uint16_t type, uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_event(type, cpu, ts, 3, 1);

	image_put(fake_ring(cpu), &record);
}

static void new_fails(int err)
{
	struct cmt_reader *r = NULL;

	ck_assert_int_eq(cmt_reader_new(&r, dev, NULL), err);
	ck_assert_ptr_null(r);
}

START_TEST(test_read_merged)
{
	struct cmt_reader_counts c = { .sz = sizeof(c) };

	tick(0, T0 - 10);	/* before it begins */
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_uint_eq(fake.watermark, RECORDS / 8);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	for (uint64_t i = 1; i <= 10; i++)
		tick(i & 1, T0 + i);
	fake.now = T0 + 20;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 9);
	for (uint64_t i = 0; i < 9; i++)
		ck_assert_uint_eq(out[i].ts, T0 + 1 + i);
	cmt_reader_counts(reader, &c);
	ck_assert_uint_eq(c.emitted, 10);
	ck_assert_uint_eq(c.delivered, 9);
	ck_assert_uint_eq(c.pending, 1);
	ck_assert_int_eq(cmt_reader_cpu_counts(reader, 1, &c), 0);
	ck_assert_uint_eq(c.emitted, 5);
	ck_assert_int_eq(cmt_reader_cpu_counts(reader, 2, &c), -EINVAL);
	c.sz = offsetof(struct cmt_reader_counts, delivered);
	ck_assert_int_eq(cmt_reader_counts(reader, &c), 0);
	ck_assert_uint_eq(c.emitted, 10);
	ck_assert_uint_eq(c.delivered, 5);	/* as it was */
	ck_assert_int_eq(cmt_reader_cpu_counts(reader, 1, &c), 0);
	ck_assert_uint_eq(c.emitted, 5);
	c.sz = 0;
	ck_assert_int_eq(cmt_reader_counts(reader, &c), -EINVAL);
	ck_assert_int_eq(cmt_reader_cpu_counts(reader, 1, &c), -EINVAL);
	/* The default latency, half a second. */
	fake.now = T0 + 10 + 500000000 - 1;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	fake.now++;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);
}
END_TEST

START_TEST(test_read_oldest)
{
	const struct cmt_reader_opts opts = {
		.sz = sizeof(opts),
		.latency_ns = 1,
		.watermark = 7,
		.flags = CMT_READER_OLDEST,
	};
	struct cmt_reader_counts c = { .sz = sizeof(c) };

	for (uint64_t i = 0; i < 100; i++)
		tick(0, T0 - 1000 + i);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &opts), 0);
	ck_assert_uint_eq(fake.watermark, 7);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), RECORDS - 1);
	cmt_reader_counts(reader, &c);
	ck_assert_uint_eq(c.emitted, RECORDS - 1);
	ck_assert_uint_eq(c.lost, 0);
}
END_TEST

START_TEST(test_new_options)
{
	struct { struct cmt_reader_opts o; uint64_t tail; } big = {
		.o = { .sz = sizeof(big) },
	};
	struct cmt_reader_opts bad[] = {
		{ .sz = sizeof(bad[0]) - 1 },
		{ .sz = sizeof(bad[0]), .flags = 2 },
		{ .sz = sizeof(bad[0]), .watermark = RECORDS / 2 + 1 },
		{ .sz = sizeof(bad[0]), .latency_ns = UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(cmt_reader_new(&reader, dev, &bad[i]),
				 -EINVAL);
	big.tail = 1;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &big.o), -EINVAL);
	big.tail = 0;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &big.o), 0);
}
END_TEST

START_TEST(test_new_one_per_device)
{
	struct cmt_reader *second = NULL;

	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert(cmt_device_has_reader(dev));
	ck_assert_int_eq(cmt_reader_new(&second, dev, NULL), -EBUSY);
	ck_assert_ptr_null(second);
	cmt_reader_free(reader);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	cmt_reader_free(NULL);
}
END_TEST

START_TEST(test_new_foreign_ring)
{
	image_header(fake_ring(1))->instance++;
	new_fails(-EPROTO);
	image_header(fake_ring(1))->instance--;
	image_header(fake_ring(1))->head = UINT64_MAX;
	new_fails(-EPROTO);
	image_header(fake_ring(1))->head = 0;
	memset(fake_ring(0), 0, 128);
	new_fails(-EPROTO);
	image_init(fake_ring(0), &fake.info, 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
}
END_TEST

START_TEST(test_new_system_errors)
{
	fake.mmap_fails_at = fake.nr_maps + 2;
	new_fails(-ENOMEM);
	fake.mmap_fails_at = 0;
	fake.ioctl_errno = ENODEV;
	new_fails(-ENODEV);
	fake.ioctl_errno = 0;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
}
END_TEST

START_TEST(test_read_corrupt_while_reading)
{
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	tick(0, T0);
	tick(1, T0);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);
	image_header(fake_ring(0))->head = 0;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), -EPROTO);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), -EPROTO);
}
END_TEST

/* Readiness is taken before the rings are emptied, and so nothing is slept over. */
START_TEST(test_wait_level_triggered)
{
	const struct cmt_reader_opts opts = { .sz = sizeof(opts), .watermark = 2 };

	fake.level = true;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &opts), 0);
	tick(0, T0);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 0);
	tick(0, T0 + 1);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 1);
	/* these two come after the report that ended the wait */
	tick(0, T0 + 2);
	tick(0, T0 + 3);
	tick(1, T0 + 4);
	fake.now = T0 + 10;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 4);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 1);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 0);
}
END_TEST

/* Who polls the descriptor empties the rings, and is not told of it again. */
START_TEST(test_poll_level_triggered)
{
	const struct cmt_reader_opts opts = { .sz = sizeof(opts), .watermark = 2 };
	struct pollfd pfd = { .events = POLLIN };
	int reads;

	fake.level = true;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &opts), 0);
	pfd.fd = cmt_device_fd(dev);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	for (uint64_t i = 0; i < 20; i++)
		tick(i & 1, T0 + i);
	fake.now = T0 + 100;
	ck_assert_int_eq(poll(&pfd, 1, 0), 1);
	ck_assert_int_eq(poll(&pfd, 1, 0), 1);
	reads = fake.nr_reads;
	while (cmt_reader_read(reader, out, 4) > 0)
		;
	ck_assert_int_eq(fake.nr_reads, reads + 1);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
}
END_TEST

/* Nearly what the rings hold, and another one when the interval changes. */
START_TEST(test_latency_of_the_rings)
{
	struct cmt_record state = { .type = CMT_REC_STATE, .ts = T0 + 200000000 };

	fake.info.ring_hold_ns = 160000000;
	cmt_device_close(dev);
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	tick(0, T0);
	fake.now = T0 + 130000000 - 1;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	fake.now++;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);

	fake.info.ring_hold_ns = 16000000;
	image_put(fake_ring(0), &state);
	fake.now = state.ts + 130000000;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);
	tick(0, fake.now);
	fake.now += 13000000 - 1;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	fake.now++;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);
}
END_TEST

/* Rings have sizes of their own; what all need fits the smallest. */
START_TEST(test_new_smaller_ring)
{
	const struct cmt_reader_opts opts = {
		.sz = sizeof(opts), .watermark = RECORDS / 4 / 2 + 1,
	};
	struct cmt_reader_counts c = { .sz = sizeof(c) };

	image_header(fake_ring(1))->records = RECORDS / 4;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, &opts), -EINVAL);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_uint_eq(fake.watermark, RECORDS / 4 / 8);
	for (uint64_t i = 0; i < RECORDS; i++)
		tick(1, T0 + i);
	fake.now = T0 + 1000000000;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), RECORDS / 4);
	ck_assert_uint_eq(cmt_record_lost(&out[0]), RECORDS - RECORDS / 4 + 1);
	for (uint64_t i = 1; i < RECORDS / 4; i++)
		ck_assert_uint_eq(out[i].ts, T0 + RECORDS - RECORDS / 4 + i);
	cmt_reader_counts(reader, &c);
	ck_assert_uint_eq(c.emitted, c.delivered + c.lost);
}
END_TEST

/* CPU 0 is not possible: nothing comes from there, and nothing waits for it. */
START_TEST(test_new_gap_in_cpus)
{
	fake.mmap_fails_at = fake.nr_maps + 1;
	fake.mmap_errno = ENXIO;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	tick(1, T0);
	tick(1, T0 + 1);
	fake.now = T0 + 2;
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 2);
}
END_TEST

START_TEST(test_wait_results)
{
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 0);
	fake.poll_revents = POLLIN;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), 1);
	fake.read_errno = EIO;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), -EIO);
	fake.read_errno = EINTR;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), 1);
	fake.poll_revents = POLLIN | POLLHUP;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), -ENODEV);
	fake.poll_revents = POLLERR;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), -ENODEV);
	fake.poll_errno = EINTR;
	ck_assert_int_eq(cmt_reader_wait(reader, -1), -EINTR);
}
END_TEST

/* Rings are mapped read-only: writing to one must not be possible. */
START_TEST(test_maps_read_only)
{
	FILE *maps;
	char line[512];
	int shared = 0, writable = 0;

	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	maps = fopen("/proc/self/maps", "r");
	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "memfd:rings"))
			continue;
		shared += !!strstr(line, " r--s ");
		writable += !!strstr(line, " rw-s ");
	}
	fclose(maps);
	ck_assert_int_ge(shared, 1);
	ck_assert_int_eq(writable, 1);	/* the test's own */
}
END_TEST

static int on_slot(void *ctx, const struct cmt_slot *slot)
{
	(void)slot;
	++*(int *)ctx;
	return 0;
}

/* RMID 3 belongs to this process from now on, as the device says it. */
static void owner_is(uint32_t generation)
{
	fake.existing[0] = image_event(CMT_REC_EXISTING, 0, T0 - 100 + generation,
				       3, generation);
	fake.nr_existing = 1;
	fake.as_of = fake.now;
}

static uint32_t owner(struct cmt_slots *slots)
{
	const struct cmt_owner *o;

	o = cmt_tracker_lookup(cmt_slots_tracker(slots), 3, fake.now);
	return o ? o->generation : 0;
}

/* Until nothing is ready; returns how many records there were. */
static int feed_all(struct cmt_slots *slots)
{
	int n, total = 0;

	while ((n = cmt_reader_feed(reader, slots)) > 0)
		total += n;
	ck_assert_int_eq(n, 0);
	return total;
}

/* Owners are asked for at the start, and when records were lost or late. */
START_TEST(test_feed_takes_snapshot)
{
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = fake.info.nr_rmids, .nr_cpus = 2,
	};
	struct cmt_slots *slots;
	int retired = 0;

	ck_assert_int_eq(cmt_slots_new(&slots, &opts, on_slot, &retired), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	owner_is(1);
	fake.ioctl_errno = ENODEV;
	ck_assert_int_eq(cmt_reader_feed(reader, slots), -ENODEV);
	fake.ioctl_errno = 0;
	ck_assert_int_eq(cmt_reader_feed(reader, slots), 0);
	ck_assert_uint_eq(owner(slots), 1);

	owner_is(2);
	for (uint64_t i = 0; i < 10; i++) {
		tick(0, T0 + i * 1000000);
		tick(1, T0 + i * 1000000);
	}
	fake.now = T0 + 10000000;
	ck_assert_int_eq(feed_all(slots), 20);
	ck_assert_int_gt(retired, 0);
	ck_assert_uint_eq(owner(slots), 1);

	/* CPU 1 tells of a time that is over */
	tick(0, fake.now);
	fake.now += 600000000;
	ck_assert_int_eq(feed_all(slots), 1);
	tick(1, fake.now - 501000000);
	ck_assert_int_eq(feed_all(slots), 0);
	ck_assert_uint_eq(owner(slots), 1);
	event(CMT_REC_ALLOC, 1, fake.now - 501000000);
	ck_assert_int_eq(feed_all(slots), 0);
	ck_assert_uint_eq(owner(slots), 2);

	owner_is(3);
	for (uint64_t i = 0; i < 2 * RECORDS; i++)
		tick(0, fake.now + i);
	fake.now += 1000000000;
	ck_assert_int_ge(feed_all(slots), RECORDS / 2);
	ck_assert_uint_eq(owner(slots), 3);
	image_header(fake_ring(0))->head = 0;
	ck_assert_int_eq(cmt_reader_feed(reader, slots), -EPROTO);
	cmt_slots_free(slots);
}
END_TEST

/* A device whose rings hold 255 ms at 257 records per millisecond. */
static struct cmt_slots *start_busy(const struct cmt_reader_opts *opts, int *retired)
{
	const struct cmt_slots_opts slots_opts = {
		.sz = sizeof(slots_opts), .nr_rmids = 64, .nr_cpus = 2,
	};
	struct cmt_slots *slots;

	teardown();
	fake_setup(2, 65536);
	fake.now = T0;
	fake.info.ring_hold_ns = 255000000;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, opts), 0);
	ck_assert_int_eq(cmt_slots_new(&slots, &slots_opts, on_slot, retired), 0);
	return slots;
}

/* A millisecond of CPU 0; the reader looks every 10 ms. */
static void busy_ms(struct cmt_slots *slots)
{
	for (uint64_t i = 0; i < 257; i++)
		tick(0, fake.now + i * 1000);
	fake.now += 1000000;
	if (fake.now / 1000000 % 10)
		return;
	if (slots)
		feed_all(slots);
	else
		while (cmt_reader_read(reader, out, 256) > 0)
			;
}

static void assert_nothing_missed(void)
{
	struct cmt_reader_counts c = { .sz = sizeof(c) };

	cmt_reader_counts(reader, &c);
	ck_assert_uint_eq(c.lost, 0);
	ck_assert_uint_eq(c.late, 0);
	ck_assert_uint_eq(c.malformed, 0);
}

/* CPU 1 is halted between taking a time and publishing the record, for 200 ms. */
static void silent_cpu(struct cmt_slots *slots)
{
	uint64_t halted;

	tick(1, fake.now);
	for (int ms = 0; ms < 10; ms++)
		busy_ms(slots);
	halted = fake.now;
	for (int ms = 0; ms < 200; ms++)
		busy_ms(slots);
	tick(1, halted + 1);
	for (int ms = 0; ms < 20; ms++) {
		busy_ms(slots);
		tick(1, fake.now);
	}
	assert_nothing_missed();
}

START_TEST(test_silent_cpu_causes_no_loss)
{
	int retired = 0;
	struct cmt_slots *slots = start_busy(NULL, &retired);

	silent_cpu(slots);
	ck_assert_int_gt(retired, 220);
	silent_cpu(NULL);
	cmt_slots_free(slots);
}
END_TEST

/* A latency beyond the time that the rings hold loses no record. */
START_TEST(test_latency_beyond_the_rings)
{
	const struct cmt_reader_opts opts = {
		.sz = sizeof(opts), .latency_ns = 2000000000,
	};
	int retired = 0;
	struct cmt_slots *slots = start_busy(&opts, &retired);

	tick(1, fake.now);
	for (int ms = 0; ms < 1000; ms++)
		busy_ms(slots);
	ck_assert_int_gt(retired, 700);
	tick(1, fake.now);	/* what is held comes out, and is counted */
	busy_ms(slots);
	assert_nothing_missed();
	for (int ms = 0; ms < 1000; ms++)
		busy_ms(NULL);
	tick(1, fake.now);
	while (cmt_reader_read(reader, out, 256) > 0)
		;
	assert_nothing_missed();
	cmt_slots_free(slots);
}
END_TEST

/* When what is held falls due, a wait for nothing may end. */
static int fail_pump(const struct cmt_device *device)
{
	(void)device;
	return -ENODEV;
}

/* A device that cannot be asked: no time to wait from the call before is left. */
static void check_timeout_of_failure(struct cmt_slots *slots)
{
	const struct cmt_device_ops *ops = dev->ops;
	struct cmt_device_ops failing = *ops;

	failing.pump = fail_pump;
	for (int feeds = 0; feeds < 2; feeds++) {
		ck_assert_int_eq(cmt_reader_timeout(reader), -1);
		dev->ops = &failing;
		ck_assert_int_eq(feeds ? cmt_reader_feed(reader, slots) :
				 cmt_reader_read(reader, out, 256), -ENODEV);
		ck_assert_int_eq(cmt_reader_timeout(reader), 0);
		dev->ops = ops;
		ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	}
}

START_TEST(test_timeout)
{
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = fake.info.nr_rmids, .nr_cpus = 2,
	};
	struct cmt_slots *slots;
	int retired = 0;

	ck_assert_int_eq(cmt_slots_new(&slots, &opts, on_slot, &retired), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	ck_assert_int_eq(cmt_reader_timeout(reader), -1);
	tick(0, T0);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	ck_assert_int_eq(cmt_reader_timeout(reader), 501);
	fake.now += 500000000;
	ck_assert_int_eq(cmt_reader_timeout(reader), 1);
	fake.now += 1;
	ck_assert_int_eq(cmt_reader_timeout(reader), 0);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 1);
	ck_assert_int_eq(cmt_reader_timeout(reader), 0);
	ck_assert_int_eq(cmt_reader_read(reader, out, 256), 0);
	ck_assert_int_eq(cmt_reader_timeout(reader), -1);

	/* beyond the window at first; then the slot is held */
	tick(0, fake.now);
	ck_assert_int_eq(feed_all(slots), 0);
	ck_assert_int_eq(cmt_reader_timeout(reader), 497);
	fake.now += 497000000;
	ck_assert_int_eq(feed_all(slots), 1);
	ck_assert_int_eq(cmt_reader_timeout(reader), 4);
	fake.now += 4000000;
	ck_assert_int_eq(cmt_reader_timeout(reader), 0);
	ck_assert_int_eq(feed_all(slots), 0);
	ck_assert_int_eq(retired, 1);
	check_timeout_of_failure(slots);
	cmt_slots_free(slots);
}
END_TEST

/* The module's clock is another one: said, and not "malformed". */
START_TEST(test_new_time_namespace)
{
	fake.as_of = T0 - 3600000000000ULL;
	new_fails(-EXDEV);
	fake.as_of = T0 + 2000000;
	new_fails(-EXDEV);
	fake.as_of = T0 + 500000;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
}
END_TEST

static int count_maps(const char *what)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "memfd:rings") && strstr(line, what);
	fclose(maps);
	return n;
}

/* A child does not keep the rings mapped, and with them sampling on. */
START_TEST(test_fork_unmaps)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_int_ge(count_maps(" r--s "), 1);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(count_maps(" r--s "));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* Overload must not feed itself: a loss in each of many rounds is one snapshot
 * until that one is in force.
 */
START_TEST(test_one_snapshot_for_many_losses)
{
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = fake.info.nr_rmids, .nr_cpus = 2,
	};
	struct cmt_slots *slots;
	int retired = 0, asked;

	ck_assert_int_eq(cmt_slots_new(&slots, &opts, on_slot, &retired), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	tick(0, T0);
	tick(1, T0);
	ck_assert_int_eq(feed_all(slots), 2);
	asked = fake.nr_snapshots;
	for (int i = 0; i < 20; i++) {
		for (uint64_t k = 0; k < 2 * RECORDS; k++)
			tick(0, T0 + 1 + (uint64_t)i);
		fake.now += 1000;
		feed_all(slots);
	}
	ck_assert_int_le(fake.nr_snapshots - asked, 1);
	cmt_slots_free(slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *tcase = tcase_create("reader");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_read_merged);
	tcase_add_test(tcase, test_read_oldest);
	tcase_add_test(tcase, test_new_options);
	tcase_add_test(tcase, test_new_one_per_device);
	tcase_add_test(tcase, test_new_foreign_ring);
	tcase_add_test(tcase, test_new_system_errors);
	tcase_add_test(tcase, test_read_corrupt_while_reading);
	tcase_add_test(tcase, test_wait_level_triggered);
	tcase_add_test(tcase, test_poll_level_triggered);
	tcase_add_test(tcase, test_latency_of_the_rings);
	tcase_add_test(tcase, test_new_smaller_ring);
	tcase_add_test(tcase, test_new_gap_in_cpus);
	tcase_add_test(tcase, test_wait_results);
	tcase_add_test(tcase, test_maps_read_only);
	tcase_add_test(tcase, test_feed_takes_snapshot);
	tcase_add_test(tcase, test_silent_cpu_causes_no_loss);
	tcase_add_test(tcase, test_latency_beyond_the_rings);
	tcase_add_test(tcase, test_timeout);
	tcase_add_test(tcase, test_new_time_namespace);
	tcase_add_test(tcase, test_fork_unmaps);
	tcase_add_test(tcase, test_one_snapshot_for_many_losses);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
