// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer's half of the broadcast ring, module/ring/writer.c. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ring/writer.h"
#include "unit.h"

#define RECORDS	256

static struct cmt_ring_header header;
static struct cmt_record slots[RECORDS];
static struct cmt_ring ring;

static void setup(void)
{
	memset(&header, 0, sizeof(header));
	memset(slots, 0, sizeof(slots));
	cmt_ring_init(&ring, &header, 3, RECORDS, 0x1234);
}

static void write_at(u64 ts)
{
	struct cmt_record record = { .ts = ts, .type = CMT_REC_TICK,
				     .cpu = 99, .rmid = 7 };

	cmt_ring_write(&ring, &record);
}

START_TEST(test_init_describes_the_ring)
{
	ck_assert_uint_eq(header.magic, CMT_RING_MAGIC);
	ck_assert_uint_eq(header.abi_version, CMT_ABI_VERSION);
	ck_assert_uint_eq(header.instance, 0x1234);
	ck_assert_uint_eq(header.cpu, 3);
	ck_assert_uint_eq(header.records, RECORDS);
	ck_assert_uint_eq(header.record_bytes, 64);
	ck_assert_uint_eq(header.data_offset, 4096);
	ck_assert_uint_eq(header.state, CMT_RING_ABSENT);
	ck_assert_uint_eq(header.head, 0);
}
END_TEST

START_TEST(test_state_is_published)
{
	cmt_ring_set_state(&ring, CMT_RING_ONLINE);
	ck_assert_uint_eq(header.state, CMT_RING_ONLINE);
	cmt_ring_set_state(&ring, CMT_RING_OFFLINE);
	ck_assert_uint_eq(header.state, CMT_RING_OFFLINE);
}
END_TEST

START_TEST(test_write_fills_slot_and_head)
{
	ring.slots = slots;
	write_at(5);
	ck_assert_uint_eq(header.head, 1);
	ck_assert_uint_eq(slots[0].ts, 5);
	ck_assert_uint_eq(slots[0].rmid, 7);
	ck_assert_uint_eq(slots[0].cpu, 3);
}
END_TEST

START_TEST(test_write_wraps_over_the_oldest)
{
	u64 i;

	ring.slots = slots;
	for (i = 0; i < RECORDS + 2; i++)
		write_at(100 + i);
	ck_assert_uint_eq(header.head, RECORDS + 2);
	ck_assert_uint_eq(slots[0].ts, 100 + RECORDS);
	ck_assert_uint_eq(slots[1].ts, 101 + RECORDS);
	ck_assert_uint_eq(slots[2].ts, 102);
}
END_TEST

START_TEST(test_time_never_goes_back)
{
	ring.slots = slots;
	write_at(1000);
	write_at(999);
	write_at(1001);
	ck_assert_uint_eq(slots[1].ts, 1000);
	ck_assert_uint_eq(slots[2].ts, 1001);
}
END_TEST

/* What user space maps is written only: a scribbled head is put right. */
START_TEST(test_head_is_not_read_back)
{
	ring.slots = slots;
	write_at(1);
	header.head = 77777;
	write_at(2);
	ck_assert_uint_eq(header.head, 2);
	ck_assert_uint_eq(slots[1].ts, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_writer");
	TCase *tc = tcase_create("write");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_init_describes_the_ring);
	tcase_add_test(tc, test_state_is_published);
	tcase_add_test(tc, test_write_fills_slot_and_head);
	tcase_add_test(tc, test_write_wraps_over_the_oldest);
	tcase_add_test(tc, test_time_never_goes_back);
	tcase_add_test(tc, test_head_is_not_read_back);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
