// SPDX-License-Identifier: GPL-2.0-or-later
/* One ring image: normal, overrun, corrupt, truncated and foreign. */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "image.h"
#include "ring/ring.h"
#include "unit.h"

#define RECORDS 64

static struct cmt_info info;
static void *image;
static struct cmt_ring ring;
static struct cmt_record out[RECORDS];

static void setup(void)
{
	image_info(&info, 4, RECORDS);
	image = calloc(1, info.ring_bytes);
	image_init(image, &info, 2);
}

static void teardown(void)
{
	free(image);
}

static int init(bool oldest)
{
	return cmt_ring_init(&ring, image, info.ring_bytes, &info, 2, oldest);
}

/* Publish records whose ts is their index. */
static void put(unsigned int n)
{
	while (n--) {
		struct cmt_record record =
			image_tick(2, image_header(image)->head);

		image_put(image, &record);
	}
}

static void check_copied(unsigned int n, uint64_t first)
{
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(out[i].ts, first + i);
}

START_TEST(test_copy_normal)
{
	uint64_t lost;

	put(10);
	ck_assert_int_eq(init(false), 0);
	put(5);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, 3, &lost), 3);
	check_copied(3, 10);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), 2);
	check_copied(2, 13);
	ck_assert_uint_eq(lost, 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), 0);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(test_copy_wraps_around)
{
	uint64_t lost;

	put(RECORDS - 3);
	ck_assert_int_eq(init(false), 0);
	put(8);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), 8);
	check_copied(8, RECORDS - 3);
}
END_TEST

/* One slot less than the capacity: the next one may be being written. */
START_TEST(test_copy_full_ring_boundary)
{
	uint64_t lost;

	ck_assert_int_eq(init(false), 0);
	put(RECORDS - 1);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost),
			 RECORDS - 1);
	ck_assert_uint_eq(lost, 0);

	ck_assert_int_eq(init(false), 0);
	put(RECORDS);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost),
			 RECORDS - 1);
	ck_assert_uint_eq(lost, 1);
	check_copied(RECORDS - 1, RECORDS);
}
END_TEST

START_TEST(test_copy_overrun_exact)
{
	uint64_t lost;

	put(7);
	ck_assert_int_eq(init(false), 0);
	put(1000);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, 10, &lost), 10);
	ck_assert_uint_eq(lost, 1000 - (RECORDS - 1));
	check_copied(10, 7 + lost);
}
END_TEST

/* The kernel writes on between our load of head and the copy. */
START_TEST(test_copy_overtaken)
{
	uint64_t lost;

	ck_assert_int_eq(init(false), 0);
	put(RECORDS - 1);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	put(20);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost),
			 RECORDS - 21);
	ck_assert_uint_eq(lost, 20);
	check_copied(RECORDS - 21, 20);

	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	put(3 * RECORDS);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), 0);
	ck_assert_uint_eq(lost + RECORDS - 1, 3 * RECORDS + 20);
}
END_TEST

START_TEST(test_init_oldest)
{
	uint64_t lost;

	put(3 * RECORDS);
	ck_assert_int_eq(init(true), 0);
	ck_assert_uint_eq(ring.start, 2 * RECORDS + 1);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost),
			 RECORDS - 1);
	ck_assert_uint_eq(lost, 0);
	check_copied(RECORDS - 1, 2 * RECORDS + 1);
}
END_TEST

START_TEST(test_init_foreign_header)
{
	const size_t fields[] = {
		offsetof(struct cmt_ring_header, magic),
		offsetof(struct cmt_ring_header, abi_version),
		offsetof(struct cmt_ring_header, instance),
		offsetof(struct cmt_ring_header, cpu),
		offsetof(struct cmt_ring_header, records),
		offsetof(struct cmt_ring_header, record_bytes),
		offsetof(struct cmt_ring_header, data_offset),
	};

	ck_assert_int_eq(init(false), 0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		unsigned char *byte = (unsigned char *)image + fields[i];

		*byte ^= 1;
		ck_assert_msg(init(false) == -EPROTO, "field at %zu",
			      fields[i]);
		*byte ^= 1;
	}
	ck_assert_int_eq(init(false), 0);
}
END_TEST

/* A zeroed page, and pages of all ones. */
START_TEST(test_init_garbage)
{
	memset(image, 0, info.ring_bytes);
	ck_assert_int_eq(init(true), -EPROTO);
	memset(image, 0xff, info.ring_bytes);
	ck_assert_int_eq(init(true), -EPROTO);
}
END_TEST

START_TEST(test_init_truncated)
{
	size_t whole = CMT_RING_DATA_OFFSET +
		       RECORDS * sizeof(struct cmt_record);
	const size_t short_by[] = { 1, 64, 4096, whole - 64, whole };

	ck_assert_int_eq(cmt_ring_init(&ring, image, whole, &info, 2, false),
			 0);
	for (size_t i = 0; i < sizeof(short_by) / sizeof(short_by[0]); i++)
		ck_assert_int_eq(cmt_ring_init(&ring, image,
					       whole - short_by[i], &info, 2,
					       false), -EPROTO);
}
END_TEST

START_TEST(test_refresh_impossible_head)
{
	put(20);
	ck_assert_int_eq(init(false), 0);
	image_header(image)->head = 19;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
	image_header(image)->head = CMT_RING_HEAD_MAX + 1;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
	image_header(image)->head = UINT64_MAX;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
	image_header(image)->head = 20;
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	image_header(image)->head = CMT_RING_HEAD_MAX;
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	/* a state of a newer module: records may come, for all that is known */
	image_header(image)->state = CMT_RING_QUIET + 1;
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	image_header(image)->state = CMT_RING_ABSENT;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
}
END_TEST

START_TEST(test_refresh_impossible_unwritten)
{
	ck_assert_int_eq(init(false), 0);
	image_header(image)->unwritten = 7;
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_uint_eq(ring.unwritten, 7);
	image_header(image)->unwritten = 6;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
	image_header(image)->unwritten = CMT_RING_HEAD_MAX + 1;
	ck_assert_int_eq(cmt_ring_refresh(&ring), -EPROTO);
}
END_TEST

START_TEST(test_copy_head_goes_back)
{
	uint64_t lost;

	put(20);
	ck_assert_int_eq(init(true), 0);
	image_header(image)->head = 3;
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), -EPROTO);
}
END_TEST

/* Touching a data page of an ABSENT ring would kill this process. */
START_TEST(test_absent_data_untouched)
{
	uint64_t lost;
	void *map = mmap(NULL, info.ring_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	image_init(map, &info, 2);
	image_header(map)->state = CMT_RING_ABSENT;
	ck_assert_int_eq(mprotect((char *)map + CMT_RING_DATA_OFFSET,
				  info.ring_bytes - CMT_RING_DATA_OFFSET,
				  PROT_NONE), 0);
	ck_assert_int_eq(cmt_ring_init(&ring, map, info.ring_bytes, &info, 2,
				       true), 0);
	ck_assert_int_eq(cmt_ring_refresh(&ring), 0);
	ck_assert_int_eq(cmt_ring_copy(&ring, out, RECORDS, &lost), 0);
	munmap(map, info.ring_bytes);
}
END_TEST

/* cmt_ring_begin() and _put() make the ring that the module would. */
START_TEST(test_write_as_the_module)
{
	void *ours = calloc(1, info.ring_bytes);

	ck_assert_ptr_nonnull(ours);
	cmt_ring_begin(ours, &info, 2, CMT_RING_ONLINE);
	ck_assert_mem_eq(ours, image, info.ring_bytes);
	for (unsigned int i = 0; i < RECORDS + 5; i++) {
		struct cmt_record record = image_tick(2, i);

		cmt_ring_put(ours, &record);
		put(1);
	}
	ck_assert_mem_eq(ours, image, info.ring_bytes);
	free(ours);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("image");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_copy_normal);
	tcase_add_test(tcase, test_copy_wraps_around);
	tcase_add_test(tcase, test_copy_full_ring_boundary);
	tcase_add_test(tcase, test_copy_overrun_exact);
	tcase_add_test(tcase, test_copy_overtaken);
	tcase_add_test(tcase, test_init_oldest);
	tcase_add_test(tcase, test_init_foreign_header);
	tcase_add_test(tcase, test_init_garbage);
	tcase_add_test(tcase, test_init_truncated);
	tcase_add_test(tcase, test_refresh_impossible_head);
	tcase_add_test(tcase, test_refresh_impossible_unwritten);
	tcase_add_test(tcase, test_copy_head_goes_back);
	tcase_add_test(tcase, test_absent_data_untouched);
	tcase_add_test(tcase, test_write_as_the_module);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
