// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader, by way of a device whose rings are really mapped. */
#include <cmt/reader.h>
#include <cmt/slots.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

static void new_fails(int err)
{
	struct cmt_reader *r = NULL;

	ck_assert_int_eq(cmt_reader_new(&r, dev, NULL), err);
	ck_assert_ptr_null(r);
}

START_TEST(test_read_merged)
{
	struct cmt_reader_counts c;

	tick(0, T0 - 10);	/* before it begins */
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_uint_eq(fake.watermark, RECORDS / 4);
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
	struct cmt_reader_counts c;

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

START_TEST(test_wait_results)
{
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_int_eq(cmt_reader_wait(reader, 0), 0);
	fake.poll_revents = POLLIN;
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

static void on_slot(void *ctx, const struct cmt_slot *slot)
{
	(void)slot;
	++*(int *)ctx;
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

/* Owners are asked for at the start, and when records were lost or late. */
START_TEST(test_feed_asks_for_owners)
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
	ck_assert_int_eq(cmt_reader_feed(reader, slots), 19);
	ck_assert_int_gt(retired, 0);
	ck_assert_uint_eq(owner(slots), 1);

	/* CPU 1 tells of a time that is over */
	tick(0, fake.now);
	fake.now += 500000000;
	ck_assert_int_eq(cmt_reader_feed(reader, slots), 2);
	tick(1, fake.now - 500000001);
	ck_assert_int_eq(cmt_reader_feed(reader, slots), 0);
	ck_assert_uint_eq(owner(slots), 1);
	ck_assert_int_eq(cmt_reader_feed(reader, slots), 0);
	ck_assert_uint_eq(owner(slots), 2);

	owner_is(3);
	for (uint64_t i = 0; i < 2 * RECORDS; i++)
		tick(0, fake.now + i);
	fake.now += 1000000000;
	ck_assert_int_ge(cmt_reader_feed(reader, slots), RECORDS / 2);
	ck_assert_uint_eq(owner(slots), 3);
	image_header(fake_ring(0))->head = 0;
	ck_assert_int_eq(cmt_reader_feed(reader, slots), -EPROTO);
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
	tcase_add_test(tcase, test_wait_results);
	tcase_add_test(tcase, test_maps_read_only);
	tcase_add_test(tcase, test_feed_asks_for_owners);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
