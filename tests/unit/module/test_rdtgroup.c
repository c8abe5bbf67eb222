// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose a resctrl group is: module/cpu/rdtgroup.c. */
#include <check.h>
#include <stdint.h>

#include "cpu/rdtgroup.h"
#include "unit.h"

#define A	7U
#define B	9U
#define NONE	CMT_RDTGROUP_NONE
#define SEVERAL	CMT_RDTGROUP_SEVERAL

static struct cmt_rdtgroup group;

static void setup(void)
{
	group = (struct cmt_rdtgroup) { };
}

/* A period in which these owners had members; returns whether cache is inherited. */
static bool period(uint32_t owner, uint32_t other)
{
	if (owner)
		cmt_rdtgroup_see(&group, owner);
	if (other)
		cmt_rdtgroup_see(&group, other);
	return cmt_rdtgroup_judge(&group, true);
}

START_TEST(test_rdtgroup_new_is_sole_at_once)
{
	ck_assert(!cmt_rdtgroup_is_sole(&group, A));
	ck_assert(!cmt_rdtgroup_see(&group, A));
	ck_assert(!cmt_rdtgroup_judge(&group, false));
	ck_assert(cmt_rdtgroup_is_sole(&group, A));
	ck_assert(!period(A, NONE));
	ck_assert(cmt_rdtgroup_is_sole(&group, A));
	ck_assert(!cmt_rdtgroup_is_sole(&group, B));
}
END_TEST

START_TEST(test_rdtgroup_other_member_ends_it_at_once)
{
	static const uint32_t others[] = { B, SEVERAL };

	period(A, NONE);
	ck_assert(!cmt_rdtgroup_see(&group, A));
	ck_assert(cmt_rdtgroup_see(&group, others[_i]));
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	/* it was said once, and neither can change it in this period */
	ck_assert(!cmt_rdtgroup_see(&group, others[_i]));
	ck_assert(!cmt_rdtgroup_see(&group, A));
	cmt_rdtgroup_judge(&group, false);
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
}
END_TEST

START_TEST(test_rdtgroup_other_member_alone_ends_it)
{
	period(A, NONE);
	ck_assert(cmt_rdtgroup_see(&group, B));
	cmt_rdtgroup_judge(&group, false);
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	/* to be judged in this period, and two periods more */
	ck_assert(!period(B, NONE));
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	ck_assert(period(B, NONE));
	ck_assert(cmt_rdtgroup_is_sole(&group, B));
}
END_TEST

/* Looks within a period do not count as periods. */
START_TEST(test_rdtgroup_returns_after_two_periods)
{
	unsigned int i;

	period(A, NONE);
	period(A, B);
	for (i = 0; i < 10; i++) {
		cmt_rdtgroup_see(&group, A);
		ck_assert(!cmt_rdtgroup_judge(&group, false));
		ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	}
	ck_assert(!period(A, NONE));
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	ck_assert(period(A, NONE));
	ck_assert(cmt_rdtgroup_is_sole(&group, A));
	/* the cache of the other one is inherited once */
	ck_assert(!period(A, NONE));
}
END_TEST

START_TEST(test_rdtgroup_mixed_from_the_beginning)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ck_assert(!period(A, B));
		ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	}
	/* a period without members counts */
	period(NONE, NONE);
	period(NONE, NONE);
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	ck_assert(cmt_rdtgroup_see(&group, A));
	ck_assert(cmt_rdtgroup_judge(&group, false));
	ck_assert(cmt_rdtgroup_is_sole(&group, A));
}
END_TEST

/* The owner's lines stay the owner's while no other owner has a member. */
START_TEST(test_rdtgroup_idle_stays_sole)
{
	unsigned int i;

	period(A, NONE);
	for (i = 0; i < 10; i++)
		period(NONE, NONE);
	ck_assert(cmt_rdtgroup_is_sole(&group, A));
	ck_assert(cmt_rdtgroup_see(&group, B));
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
}
END_TEST

START_TEST(test_rdtgroup_next_owner_at_once)
{
	period(A, NONE);
	cmt_rdtgroup_reset(&group);
	ck_assert(cmt_rdtgroup_is_sole(&group, NONE));
	ck_assert(cmt_rdtgroup_see(&group, B));
	ck_assert(cmt_rdtgroup_judge(&group, false));
	ck_assert(cmt_rdtgroup_is_sole(&group, B));
	/* another member is no reason to judge */
	ck_assert(!cmt_rdtgroup_see(&group, B));
	period(B, NONE);
	ck_assert(!cmt_rdtgroup_see(&group, B));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rdtgroup");
	TCase *tc = tcase_create("sole");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_rdtgroup_new_is_sole_at_once);
	tcase_add_loop_test(tc, test_rdtgroup_other_member_ends_it_at_once, 0, 2);
	tcase_add_test(tc, test_rdtgroup_other_member_alone_ends_it);
	tcase_add_test(tc, test_rdtgroup_returns_after_two_periods);
	tcase_add_test(tc, test_rdtgroup_mixed_from_the_beginning);
	tcase_add_test(tc, test_rdtgroup_idle_stays_sole);
	tcase_add_test(tc, test_rdtgroup_next_owner_at_once);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
