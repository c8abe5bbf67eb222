// SPDX-License-Identifier: GPL-2.0-or-later
/* What all rooms of the library use: arrays that grow, printable texts. */
#include <check.h>
#include <stdlib.h>

#include "base/base.h"
#include "unit.h"

START_TEST(test_grow_keeps_elements)
{
	uint32_t *array = NULL, nr, room = 0;

	for (nr = 0; nr < 1000; nr++) {
		ck_assert_int_eq(cmt_grow(&array, nr, &room, sizeof(*array)), 0);
		ck_assert_uint_gt(room, nr);
		array[nr] = nr;
	}
	for (uint32_t i = 0; i < nr; i++)
		ck_assert_uint_eq(array[i], i);
	free(array);
}
END_TEST

START_TEST(test_room_is_exact)
{
	uint64_t *array = NULL;
	uint32_t room = 0;

	ck_assert_int_eq(cmt_array_reserve(&array, &room, 3, sizeof(*array)), 0);
	ck_assert_uint_eq(room, 3);
	ck_assert_int_eq(cmt_array_reserve(&array, &room, 2, sizeof(*array)), 0);
	ck_assert_uint_eq(room, 3);
	free(array);
}
END_TEST

/* Without memory, or with a number that does not fit, the array stays as it is. */
START_TEST(test_grow_fails)
{
	char *array = malloc(1), *before = array;
	uint32_t room = UINT32_MAX / 2 + 1;

	ck_assert_int_eq(cmt_grow(&array, room, &room, 1), -ENOMEM);
	ck_assert_uint_eq(room, UINT32_MAX / 2 + 1);
	room = 1;
	ck_assert_int_eq(cmt_array_reserve(&array, &room, 2, SIZE_MAX / 2 + 1), -ENOMEM);
	ck_assert_uint_eq(room, 1);
	ck_assert_ptr_eq(array, before);
	free(array);
}
END_TEST

START_TEST(test_text_is_printable)
{
	char to[6];

	cmt_text(to, sizeof(to), "a\x1b\x7f\xc3");
	ck_assert_str_eq(to, "a???");
	cmt_text(to, sizeof(to), "printable");
	ck_assert_str_eq(to, "print");
	cmt_text(to, sizeof(to), NULL);
	ck_assert_str_eq(to, "");
	cmt_printable(to, sizeof(to), "ab", 1);
	ck_assert_str_eq(to, "a");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");

	UNIT_CASE(suite, test_grow_keeps_elements);
	UNIT_CASE(suite, test_room_is_exact);
	UNIT_CASE(suite, test_grow_fails);
	UNIT_CASE(suite, test_text_is_printable);
	return unit_run(suite);
}
