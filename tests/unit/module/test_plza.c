// SPDX-License-Identifier: GPL-2.0-or-later
/* What PQR_PLZA_ASSOC says: module/cpu/plza.h. */
#include <check.h>
#include <stdint.h>

#include "cpu/plza.h"
#include "unit.h"

static const struct {
	uint64_t value;
	uint32_t says;
} cases[] = {
	{ 0, 0 },
	/* an RMID, a CLOSID, and nothing enabled */
	{ 0x0000800380000123ULL, 0 },
	{ 0x8000000000000123ULL, CMT_PLZA_ON },
	{ 0x8000800300000123ULL, CMT_PLZA_ON },
	{ 0x8000000080000123ULL, CMT_PLZA_ON | CMT_PLZA_HAS_RMID | 0x123 },
	{ 0x8000800380000000ULL, CMT_PLZA_ON | CMT_PLZA_HAS_RMID },
	{ 0x8000000080000fffULL, CMT_PLZA_ON | CMT_PLZA_HAS_RMID | 0xfff },
	/* reserved bits are no RMID */
	{ ~0ULL, CMT_PLZA_ON | CMT_PLZA_HAS_RMID | 0xfff },
	{ 0xfffffffffffff000ULL, CMT_PLZA_ON | CMT_PLZA_HAS_RMID },
};

START_TEST(test_plza_register)
{
	uint32_t says = cmt_plza_of(cases[_i].value);

	ck_assert_uint_eq(says, cases[_i].says);
	ck_assert(!(says & CMT_PLZA_EXISTS));
	ck_assert_uint_eq(CMT_PLZA_RMID(says),
			  says & CMT_PLZA_HAS_RMID ? cases[_i].value & 0xfff : 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plza");
	TCase *tc = tcase_create("register");

	tcase_add_loop_test(tc, test_plza_register, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
