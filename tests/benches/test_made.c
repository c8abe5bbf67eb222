// SPDX-License-Identifier: GPL-2.0-or-later
/* The made-up machine does what the module promises of its ticks, and no more. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "unit.h"

#define CPUS	16U
#define DOMAINS	2U
#define MOST	1024U
#define RUN	400U	/* ms */

static uint32_t last_ms[DOMAINS][MOST];	/* of the last reading */
static uint32_t now_ms, oldest_ms;
static uint64_t nr_samples, nr_read, nr_ticks, nr_deferred, nr_zero;
static uint64_t last_ts[CPUS];
static uint32_t loaded[CPUS];		/* at the last tick */
static uint32_t nr_unread;		/* loaded RMIDs without a reading in the domain */

static void take_sample(const struct cmt_record *record)
{
	uint32_t *last = &last_ms[record->domain][record->rmid];

	ck_assert_uint_eq(record->domain, record->cpu / (CPUS / DOMAINS));
	/* one reading of a domain in a tick, by whichever CPU */
	ck_assert_uint_ne(*last, now_ms);
	nr_samples++;
	nr_zero += !record->rmid;
	if (*last && now_ms - *last > oldest_ms)
		oldest_ms = now_ms - *last;
	*last = now_ms;
}

static void put(const struct cmt_record *record)
{
	ck_assert_uint_ge(record->ts, last_ts[record->cpu]);
	last_ts[record->cpu] = record->ts;
	if (record->type == CMT_REC_SAMPLE)
		take_sample(record);
	if (record->type != CMT_REC_TICK)
		return;
	nr_ticks++;
	nr_read += record->tick.read;
	nr_deferred += record->tick.waiting;
	loaded[record->cpu] = record->rmid;
}

static void run(uint32_t containers, uint32_t read_ns)
{
	const struct made made = {
		.cpus = CPUS, .domains = DOMAINS, .containers = containers,
		.read_ns = read_ns, .budget_ns = 20000,
	};

	made_begin(&made);
	for (now_ms = 1; now_ms <= RUN; now_ms++) {
		made_write(now_ms, 1000 * MADE_MS + now_ms * MADE_MS, put);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			nr_unread += last_ms[cpu / (CPUS / DOMAINS)][loaded[cpu]] != now_ms;
	}
	ck_assert_uint_eq(nr_ticks, CPUS * RUN);
	ck_assert_uint_eq(nr_read, nr_samples);
	ck_assert_uint_eq(nr_samples, made_counts()->samples);
	ck_assert_uint_eq(nr_deferred, made_counts()->deferred);
}

/* What was loaded is read in the tick, all others once in 32, and no more. */
START_TEST(test_budget_suffices)
{
	uint64_t hot, turns = DOMAINS * 200 * RUN / 32;

	run(200, 600);
	hot = made_counts()->loaded;
	/* RMID 0 in each tick, once in a domain */
	ck_assert_uint_eq(nr_zero, DOMAINS * RUN);
	ck_assert_uint_eq(nr_unread, 0);
	ck_assert_uint_eq(nr_deferred, 0);
	ck_assert_uint_le(oldest_ms, 32);
	ck_assert_uint_ge(nr_samples, turns + nr_zero);
	ck_assert_uint_le(nr_samples, hot + turns + nr_zero + DOMAINS * 200);
}
END_TEST

/* A budget for four readings: what waits is counted, and no RMID is forgotten. */
START_TEST(test_budget_is_short)
{
	run(900, 5000);
	ck_assert_uint_gt(nr_deferred, 0);
	ck_assert_uint_le(nr_samples, 5 * nr_ticks);
	ck_assert_uint_gt(oldest_ms, 32);
	ck_assert_uint_lt(oldest_ms, RUN / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("made");

	/* each in a process of its own: a machine begins once */
	UNIT_CASE(suite, test_budget_suffices);
	UNIT_CASE(suite, test_budget_is_short);
	return unit_run(suite);
}
