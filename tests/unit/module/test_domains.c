// SPDX-License-Identifier: GPL-2.0-or-later
/* Which index an L3 domain has: module/hw/domains.h. */
#include <check.h>
#include <errno.h>

#include "hw/domains.h"
#include "unit.h"

#define ID(index)	(7 * (index) + 3)	/* they need not be dense */

static struct cmt_domain_ids known;

static void add(u32 nr)
{
	for (known.nr = 0; known.nr < nr; known.nr++) {
		ck_assert_int_eq(cmt_domain_find(&known, ID(known.nr)), known.nr);
		known.ids[known.nr] = ID(known.nr);
	}
}

START_TEST(test_domains_64)
{
	u32 i;

	add(64);
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(cmt_domain_find(&known, ID(i)), i);
}
END_TEST

START_TEST(test_domains_65th_has_no_index)
{
	u32 i;

	add(64);
	ck_assert_int_eq(cmt_domain_find(&known, ID(64)), -ENOSPC);
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(cmt_domain_find(&known, ID(i)), i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("domains");
	TCase *tc = tcase_create("find");

	tcase_add_test(tc, test_domains_64);
	tcase_add_test(tc, test_domains_65th_has_no_index);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
