// SPDX-License-Identifier: GPL-2.0-or-later
/* Readings on demand that take as long as many L3 domains do. */
#include <cmt/cmt.h>

#include "fake_device.h"
#include "image.h"
#include "session/light_reader.h"
#include "unit.h"

#define MS	1000000ULL
#define T0	(5000 * MS)
#define FLAGS	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL)

static struct cmt_device *dev;
static struct light_reader light;

static struct cmt_record reading(uint64_t ts, uint32_t rmid, uint32_t domain, uint64_t total)
{
	struct cmt_record record = image_sample(0, ts, rmid, domain);

	record.flags = FLAGS;
	record.generation = 1;
	record.domain = domain;
	record.sample.occupancy_bytes = 64;
	record.sample.mbm_total_bytes = total;
	return record;
}

/* All owners were read in two domains, one @apart_ms after the other, the last one now. */
static void read_at(uint64_t now, uint32_t nr_owners, uint64_t total, uint64_t apart_ms)
{
	fake.nr_existing = nr_owners;
	fake.nr_readings = 0;
	for (uint32_t i = 0; i < 2 * nr_owners; i++)
		fake.readings[fake.nr_readings++] =
			reading(i < nr_owners ? now - apart_ms * MS : now,
				1 + i % nr_owners, i / nr_owners, i < nr_owners ? total : 0);
	fake.now = fake.as_of = now;
}

static void setup(void)
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_PROCESS, .interval_ns = 500 * MS,
	};

	fake_setup(2, 64);
	fake.existing[0] = image_event(CMT_REC_EXISTING, 0, T0 - 1000 * MS, 1, 1);
	fake.existing[1] = image_event(CMT_REC_EXISTING, 0, T0 + 400 * MS, 2, 1);
	read_at(T0, 1, 100, 1);
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	ck_assert_int_eq(light_reader_open(&light, dev, &opts), 0);
}

static void teardown(void)
{
	light_reader_close(&light);
	cmt_device_close(dev);
	fake_teardown();
}

/* An owner that began since the last readings counts from 0, however long these took. */
START_TEST(test_owner_is_known_at_its_first_reading)
{
	const struct cmt_usage_frame *frame;
	const struct cmt_usage_row *row;
	uint64_t bytes = 0;

	read_at(T0 + 600 * MS, 2, 5000000, _i ? 90 : 1);
	ck_assert_int_eq(light_reader_pump(&light, &frame), 1);
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		row = cmt_usage_row_at(frame, i);
		if (row->pid == fake.existing[1].tgid)
			bytes = row->total.bytes;
	}
	ck_assert_uint_eq(bytes, 5000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("light_reader");
	TCase *tcase = tcase_create("light_reader");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_owner_is_known_at_its_first_reading, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
