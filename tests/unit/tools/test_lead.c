// SPDX-License-Identifier: GPL-2.0-or-later
/* What an incident that began before the part cost in it.  The engine is this test. */
#include <check.h>
#include <stdlib.h>

#include "unit.h"
#include "watch/lead.h"

#define MS	1000000ULL
#define FROM	(20000 * MS)

static struct lead *lead;
static struct cmt_incident told;

const struct cmt_incident *cmt_culprit_incident_at(const struct cmt_culprit *culprit,
						   uint32_t index)
{
	(void)culprit;
	return index ? NULL : &told;
}

/* It has cost so much; 0: that is not known. */
static void tell(uint64_t lost_ms)
{
	told.flags = CMT_INCIDENT_OPEN | (lost_ms ? CMT_INCIDENT_LOST : 0);
	told.lost_ns = lost_ms * MS;
	told.parts[0].lost_ns = lost_ms * MS;
}

static void setup(void)
{
	told = (struct cmt_incident){
		.number = 1, .id = 1, .begin_ns = 3000 * MS, .end_ns = FROM, .share = 0.3,
		.worst = 0.3, .nr_parts = 1, .parts = { { .by = 2, .share = 0.3 } },
	};
	lead = lead_new(FROM);
	ck_assert_ptr_nonnull(lead);
}

static void teardown(void)
{
	free(lead);
}

/* It costs @before ms by the begin of the part, and @after ms in all. */
static const struct cmt_incident *cut_of(uint64_t before, uint64_t after)
{
	tell(before);
	told.end_ns = FROM;
	lead_follow(lead, NULL, FROM);
	told.end_ns = FROM + 10000 * MS;
	tell(after);
	lead_follow(lead, NULL, told.end_ns);
	return lead_cut(lead, &told);
}

START_TEST(known)
{
	const struct cmt_incident *cut = cut_of(4000, 9000);

	ck_assert(cut->flags & CMT_INCIDENT_LOST);
	ck_assert_uint_eq(cut->lost_ns, 5000 * MS);
	ck_assert_uint_eq(cut->parts[0].lost_ns, 5000 * MS);
}
END_TEST

static const struct {
	uint64_t before, after;
} unknown[] = { { 0, 9000 }, { 4000, 0 }, { 0, 0 } };

/* What is not known at one end of the part is not known of the part. */
START_TEST(not_known)
{
	const struct cmt_incident *cut = cut_of(unknown[_i].before, unknown[_i].after);

	ck_assert_uint_eq(cut->flags & CMT_INCIDENT_LOST, 0);
	ck_assert_uint_eq(cut->lost_ns, 0);
	ck_assert_uint_eq(cut->nr_parts, 1);
	ck_assert_uint_eq(cut->parts[0].lost_ns, 0);
	/* nor does a look in between end what is known of it later */
	if (unknown[_i].before)
		ck_assert_uint_eq(cut_of(4000, 9000)->lost_ns, 5000 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lead");
	TCase *tcase = tcase_create("lead");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, known);
	tcase_add_loop_test(tcase, not_known, 0, sizeof(unknown) / sizeof(unknown[0]));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
