// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes of rings, module/ring/size.c, and the table of docs/overhead.md. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cmt.h"
#include "hw/backend.h"
#include "ring/size.h"
#include "unit.h"

#define MS		1000000ULL
#define HOLD_NS		(250 * MS)
#define CPU_BYTES	(4ULL << 30)	/* a machine has at least this much memory a CPU */
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const u32 intervals[] = { CMT_INTERVAL_MIN_NS, 200000, 500000, 1000000 };

static bool is_size(u32 records)
{
	return records >= CMT_RING_RECORDS_MIN && records <= CMT_RING_RECORDS_MAX &&
	       !(records & (records - 1));
}

/* Up to 0.1 % of the memory, whatever the number of RMIDs and of CPUs that share them. */
START_TEST(test_size_of_memory)
{
	u64 most = 0;

	for (u32 i = 0; i < NR(intervals); i++)
		for (u32 rmids = 1; rmids <= CMT_MAX_RMIDS; rmids++)
			for (u32 readers = 0; readers <= 768; readers += 1 + readers / 4) {
				u32 records = cmt_size_records(rmids, readers, intervals[i]);

				if (!is_size(records))
					ck_abort_msg("%u RMIDs, %u readers: %u", rmids, readers,
						     records);
				if (cmt_size_bytes(records) > most)
					most = cmt_size_bytes(records);
			}
	ck_assert_uint_eq(most, cmt_size_bytes(CMT_RING_RECORDS_MAX));
	ck_assert_uint_le(most * 1000, CPU_BYTES);
}
END_TEST

/* Ticks of a ring of any size leave it the records of 250 ms, down to 8 records a tick. */
START_TEST(test_size_holds_250_ms)
{
	for (u32 records = CMT_RING_RECORDS_MIN; records <= CMT_RING_RECORDS_MAX; records *= 2)
		for (u32 i = 0; i < NR(intervals); i++) {
			u64 hold = cmt_size_hold_ns(records, intervals[i]);
			u64 per_tick = (u64)records * intervals[i] / HOLD_NS;

			ck_assert_uint_eq(cmt_size_cap(records, intervals[i]),
					  (per_tick < 8 ? 8 : per_tick > 84 ? 84 : per_tick) - 4);
			if (per_tick >= 8)
				ck_assert_uint_ge(hold, HOLD_NS);
			else
				ck_assert_uint_eq(hold, records / 8 * (u64)intervals[i]);
		}
	/* sizes by default hold it at their interval and longer ones */
	for (u32 rmids = 1; rmids <= CMT_MAX_RMIDS; rmids *= 2)
		for (u32 readers = 0; readers <= 64; readers++) {
			u32 records = cmt_size_records(rmids, readers, MS);

			ck_assert_uint_ge(cmt_size_hold_ns(records, MS), HOLD_NS);
			ck_assert_uint_ge(cmt_size_hold_ns(records, 100 * MS), HOLD_NS);
		}
}
END_TEST

/* What a CPU reads decides: twice its part of the RMIDs, 12 to 80 a tick. */
START_TEST(test_size_by_part)
{
	ck_assert_uint_eq(cmt_size_records(4096, 0, MS), 4096);
	ck_assert_uint_eq(cmt_size_records(64, 64, MS), 4096);
	ck_assert_uint_eq(cmt_size_records(256, 16, MS), 16384);
	ck_assert_uint_eq(cmt_size_records(256, 1, MS), 32768);
	ck_assert_uint_eq(cmt_size_records(4096, 16, MS), 32768);
	ck_assert_uint_eq(cmt_size_records(4096, 1, CMT_INTERVAL_MIN_NS), 65536);
}
END_TEST

/* Machines of docs/overhead.md: domains of 16 CPUs, or one of 8. */
static u64 machine_bytes(u32 cpus, u32 rmids, bool shared)
{
	u32 in_domain = cpus < 16 ? cpus : 16, domains = cpus / in_domain;
	u64 reads = cmt_size_bytes(cmt_size_records(rmids, shared ? 1 : in_domain, MS));
	u64 other = cmt_size_bytes(cmt_size_records(rmids, 0, MS));

	return shared ? domains * reads + (cpus - domains) * other : cpus * reads;
}

/* With a comma after each three digits; valid until the fourth call after. */
static const char *bytes_text(u64 bytes)
{
	static char texts[4][32];
	static u32 turn;
	char digits[24], *to = texts[turn++ % 4], *text = to;
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)bytes);

	for (int i = 0; i < n; i++) {
		if (i && !((n - i) % 3))
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

static char document[1 << 17];

static void read_document(void)
{
	FILE *file = fopen(OVERHEAD, "r");
	size_t n;

	ck_assert_msg(file, "%s", OVERHEAD);
	n = fread(document, 1, sizeof(document) - 1, file);
	fclose(file);
	ck_assert_uint_lt(n, sizeof(document) - 1);
	document[n] = '\0';
}

START_TEST(test_size_table)
{
	static const u32 machines[] = { 8, 64, 256, 768 };
	char line[160];

	read_document();
	for (u32 i = 0; i < NR(machines); i++) {
		u32 cpus = machines[i];

		snprintf(line, sizeof(line), "\n| %u | %s | %s | %s | %s |\n", cpus,
			 bytes_text(cpus * cmt_size_bytes(cmt_size_records(4096, 0, MS))),
			 bytes_text(machine_bytes(cpus, 4096, true)),
			 bytes_text(machine_bytes(cpus, 256, false)),
			 bytes_text(machine_bytes(cpus, 1024, false)));
		ck_assert_msg(strstr(document, line), "%s lacks:%s", OVERHEAD, line);
	}
	snprintf(line, sizeof(line), " %s bytes a CPU",
		 bytes_text(cmt_size_bytes(CMT_RING_RECORDS_MAX)));
	ck_assert_msg(strstr(document, line), "%s lacks:%s", OVERHEAD, line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_size");

	UNIT_CASE(suite, test_size_of_memory);
	UNIT_CASE(suite, test_size_holds_250_ms);
	UNIT_CASE(suite, test_size_by_part);
	UNIT_CASE(suite, test_size_table);
	return unit_run(suite);
}
