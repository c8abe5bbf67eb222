// SPDX-License-Identifier: GPL-2.0-or-later
/* What readings of one owner add up to: known, a lower bound, or not known. */
#include <check.h>
#include <string.h>

#include "common/meter.h"
#include "unit.h"

#define SECOND	1000000000ULL
#define VALUES	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

static struct cmt_record records[METER_DOMAINS + 1];
static struct meter meter;

static void begin(void)
{
	uint32_t i;

	meter = (struct meter){ .events = VALUES };
	for (i = 0; i <= METER_DOMAINS; i++)
		records[i] = (struct cmt_record){
			.type = CMT_REC_SAMPLE, .flags = VALUES, .rmid = 5,
			.generation = 7, .domain = i, .base = 1,
		};
}

/* At second @at, domain @d holds and has moved this. */
static void set(uint32_t d, uint64_t at, uint64_t held, uint64_t moved)
{
	records[d].ts = at * SECOND;
	records[d].sample.occupancy_bytes = held;
	records[d].sample.mbm_total_bytes = moved;
	records[d].sample.mbm_local_bytes = moved / 2;
}

static void add(uint32_t nr)
{
	const struct cmt_snapshot reading = {
		.as_of = 1, .count = nr, .entry_size = sizeof(records[0]),
		.records = records,
	};

	meter_add(&meter, &reading);
}

static void check(struct measure value, bool known, bool partial, double is)
{
	ck_assert_int_eq(value.known, known);
	ck_assert_int_eq(value.partial, partial);
	if (known)
		ck_assert_double_eq(value.value, is);
}

START_TEST(two_readings)
{
	begin();
	set(0, 10, 100, 5000);
	set(1, 10, 50, 0);
	add(2);
	check(meter_bytes(&meter, METER_TOTAL), false, false, 0);
	check(meter_rate(&meter, METER_TOTAL), false, false, 0);
	meter_begin(&meter);
	set(0, 12, 200, 7000);
	set(1, 12, 10, 100);
	add(2);
	check(meter_occupancy(&meter), true, false, 210);
	check(meter_most(&meter), true, false, 210);
	check(meter_bytes(&meter, METER_TOTAL), true, false, 2100);
	check(meter_rate(&meter, METER_TOTAL), true, false, 1050);
	check(meter_bytes(&meter, METER_LOCAL), true, false, 1050);
	set(0, 13, 90, 7000);
	set(1, 13, 0, 100);
	add(2);
	ck_assert(meter.domains[1].most_known);
	check(meter_occupancy(&meter), true, false, 90);
	check(meter_most(&meter), true, false, 210);
	check(meter_mean(&meter), true, false, 150);
	ck_assert_uint_eq(meter.domains[0].most, 200);
	ck_assert_uint_eq(meter.why, 0);
}
END_TEST

START_TEST(rebased_traffic_is_partial)
{
	begin();
	set(0, 10, 100, 5000);
	add(1);
	meter_begin(&meter);
	set(0, 11, 100, 9000);
	records[0].base = 2;
	add(1);
	check(meter_bytes(&meter, METER_TOTAL), false, false, 0);
	ck_assert_uint_eq(meter.why, CMT_USAGE_WHY_GAP);
	set(0, 12, 100, 9500);
	add(1);
	check(meter_bytes(&meter, METER_TOTAL), true, true, 500);
	/* nothing of that is left in the next span */
	meter_begin(&meter);
	set(0, 13, 100, 9700);
	add(1);
	check(meter_bytes(&meter, METER_TOTAL), true, false, 200);
}
END_TEST

START_TEST(new_rmid_has_no_base)
{
	begin();
	set(0, 10, 100, 5000);
	add(1);
	meter_begin(&meter);
	set(0, 11, 100, 6000);
	records[0].generation++;
	add(1);
	check(meter_bytes(&meter, METER_TOTAL), false, false, 0);
	check(meter_occupancy(&meter), true, false, 100);
	ck_assert_uint_eq(meter.why, CMT_USAGE_WHY_GAP);
}
END_TEST

START_TEST(pending)
{
	begin();
	meter_add_pending(&meter, 10 * SECOND);
	check(meter_occupancy(&meter), false, false, 0);
	check(meter_most(&meter), false, false, 0);
	check(meter_bytes(&meter, METER_TOTAL), false, false, 0);
	ck_assert_uint_eq(meter.why, CMT_USAGE_WHY_PENDING);
	set(0, 11, 100, 5000);
	add(1);
	set(0, 12, 100, 6000);
	add(1);
	check(meter_most(&meter), true, true, 100);
	check(meter_mean(&meter), true, false, 100);
	check(meter_bytes(&meter, METER_TOTAL), true, true, 1000);
	check(meter_rate(&meter, METER_TOTAL), true, true, 500);
}
END_TEST

/* A domain without values, and one that is gone. */
START_TEST(domain_missing)
{
	begin();
	set(0, 10, 100, 5000);
	set(1, 10, 0, 0);
	records[1].flags = CMT_F_UNAVAILABLE;
	add(2);
	check(meter_occupancy(&meter), true, true, 100);
	check(meter_mean(&meter), false, false, 0);
	ck_assert_uint_eq(meter.why, CMT_USAGE_WHY_GAP |
			  CMT_USAGE_WHY_UNAVAILABLE);
	records[1].flags = VALUES;
	set(1, 10, 7, 70);
	add(2);
	meter_begin(&meter);
	set(0, 11, 100, 6000);
	add(1);
	check(meter_occupancy(&meter), true, true, 100);
	check(meter_bytes(&meter, METER_TOTAL), true, true, 1000);
}
END_TEST

/* What the machine does not count is no gap. */
START_TEST(uncounted_traffic_is_no_gap)
{
	begin();
	meter.events = CMT_F_OCCUPANCY;
	records[0].flags = CMT_F_OCCUPANCY;
	set(0, 10, 100, 0);
	add(1);
	set(0, 11, 100, 0);
	add(1);
	check(meter_bytes(&meter, METER_TOTAL), false, false, 0);
	check(meter_most(&meter), true, false, 100);
	ck_assert_uint_eq(meter.why, 0);
}
END_TEST

START_TEST(too_many_domains)
{
	uint32_t i;

	begin();
	for (i = 0; i <= METER_DOMAINS; i++)
		set(i, 10, 1, 0);
	add(METER_DOMAINS + 1);
	ck_assert_uint_eq(meter.nr_domains, METER_DOMAINS);
	check(meter_most(&meter), true, true, METER_DOMAINS);
}
END_TEST

/* Another RMID counts a part: a lower bound, and one of 0 says nothing. */
START_TEST(overwritten_is_lower_bound)
{
	begin();
	set(0, 10, 100, 5000);
	set(1, 10, 0, 0);
	add(2);
	meter_begin(&meter);
	set(0, 12, 200, 7000);
	set(1, 12, 0, 0);
	records[0].flags |= CMT_F_PQR_OVERWRITTEN;
	add(2);
	ck_assert_uint_eq(meter.why, CMT_USAGE_WHY_OVERWRITTEN);
	check(meter_occupancy(&meter), true, true, 200);
	check(meter_most(&meter), true, true, 200);
	check(meter_bytes(&meter, METER_TOTAL), true, true, 2000);
	check(meter_rate(&meter, METER_LOCAL), true, true, 500);
	/* no reading was complete */
	check(meter_mean(&meter), false, false, 0);
	check(meter_domain_occupancy(&meter, &meter.domains[0]), true, true, 200);
	check(meter_domain_occupancy(&meter, &meter.domains[1]), false, false, 0);
	check(meter_domain_most(&meter, &meter.domains[1]), false, false, 0);
	check(meter_domain_bytes(&meter, &meter.domains[1], METER_TOTAL), false, false, 0);
	/* the next span is complete again */
	meter_begin(&meter);
	records[0].flags &= ~CMT_F_PQR_OVERWRITTEN;
	set(0, 13, 90, 7000);
	set(1, 13, 0, 0);
	add(2);
	check(meter_occupancy(&meter), true, false, 90);
	check(meter_bytes(&meter, METER_TOTAL), true, false, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("meter");

	UNIT_CASE(suite, two_readings);
	UNIT_CASE(suite, rebased_traffic_is_partial);
	UNIT_CASE(suite, new_rmid_has_no_base);
	UNIT_CASE(suite, pending);
	UNIT_CASE(suite, domain_missing);
	UNIT_CASE(suite, uncounted_traffic_is_no_gap);
	UNIT_CASE(suite, too_many_domains);
	UNIT_CASE(suite, overwritten_is_lower_bound);
	return unit_run(suite);
}
