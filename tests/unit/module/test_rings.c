// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring of one CPU, module/ring/ring.c: what it is where memory is short. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/random.h>

#include "hw/hw.h"
#include "ring/ring.h"
#include "ring/size.h"
#include "unit.h"

#define MS		1000000
#define RECORDS		4096

struct fake_machine fake = { .nr_cpus = 1 };
u32 fake_cpu;
struct cmt_backend_caps cmt_caps = { .nr_rmids = 64 };
const struct cmt_backend *cmt_backend;
struct cmt_due cmt_due = { .at = ~0ULL };

static u64 now;
static size_t memory;	/* an allocation of more bytes fails */
static unsigned int tries;

u64 ktime_get_ns(void)
{
	return ++now;
}

void *vzalloc_node(size_t bytes, int node)
{
	(void)node;
	tries++;
	return bytes > memory ? NULL : calloc(1, bytes);
}

void on_each_cpu(void (*function)(void *), void *arg, int wait)
{
	(void)wait;
	function(arg);
}

u32 cmt_topology_domain_id(u32 nodes_per_l3)
{
	(void)nodes_per_l3;
	return 0;
}

bool cmt_is_excluded(unsigned int cpu)
{
	(void)cpu;
	return false;
}

void cmt_waiters_due(unsigned int cpu)
{
	(void)cpu;
}

void cmt_waiters_check_cpu(unsigned int cpu, u64 head)
{
	(void)cpu;
	(void)head;
}

/* With memory for a ring of this many records */
static void setup_for(u32 records)
{
	memset(&cmt_rings, 0, sizeof(cmt_rings));
	memory = records * sizeof(struct cmt_record);
	tries = 0;
	shim_lines = 0;
	ck_assert(!cmt_rings_init(RECORDS, MS));
}

static u32 rings_small(void)
{
	struct cmt_stats stats = { .size = sizeof(stats) };

	cmt_rings_stats(&stats);
	return stats.rings_small;
}

static void emit(u32 records)
{
	struct cmt_record record = { .type = CMT_REC_FREE };

	shim_irqs_off = true;
	while (records--)
		cmt_emit(&record);
	shim_irqs_off = false;
}

/* All slots are there: ASan looks.  The newest are kept, and head counts all. */
static void fill_ring(u32 records)
{
	struct cmt_record record = { .type = CMT_REC_TICK };
	u64 before = cmt_rings.head;

	shim_irqs_off = true;
	for (u32 i = 0; i < 3 * records; i++) {
		record.rmid = i;
		cmt_emit(&record);
	}
	shim_irqs_off = false;
	ck_assert_uint_eq(cmt_rings.header->head, before + 3 * records);
	for (u64 i = cmt_rings.head - records; i < cmt_rings.head; i++)
		ck_assert_uint_eq(cmt_rings.slots[i & (cmt_rings.header->records - 1)].rmid,
				  i - before);
}

START_TEST(test_memory_suffices)
{
	setup_for(RECORDS);
	ck_assert(!cmt_ring_prepare(0));
	cmt_rings_sizes_are_known();
	ck_assert_uint_eq(cmt_rings.header->records, RECORDS);
	ck_assert_uint_eq(cmt_ring_records_least, RECORDS);
	ck_assert_uint_eq(rings_small(), 0);
	ck_assert_uint_eq(shim_lines, 0);
	fill_ring(RECORDS);
	cmt_rings_exit();
}
END_TEST

/* The ring is as large as the memory, and everything says so. */
START_TEST(test_memory_short)
{
	for (u32 records = RECORDS / 2; records >= CMT_RING_RECORDS_MIN; records /= 2) {
		unsigned long pages;
		char says[32];

		cmt_instance = 0;
		setup_for(records);
		ck_assert_uint_eq(cmt_instance, get_random_u64());
		ck_assert(!cmt_ring_prepare(0));
		cmt_rings_sizes_are_known();
		ck_assert_uint_eq(cmt_rings.header->records, records);
		ck_assert_uint_eq(cmt_rings.header->cpu, 0);
		ck_assert_uint_eq(cmt_rings.header->instance, cmt_instance);
		ck_assert_uint_eq(cmt_rings.header->state, CMT_RING_QUIET);
		ck_assert_uint_eq(cmt_rings.header->head, 1);
		ck_assert_uint_eq(cmt_ring_records_least, records);
		ck_assert_uint_eq(cmt_ring_bytes(), cmt_size_bytes(RECORDS));
		ck_assert_uint_eq(cmt_rings_hold_ns(MS), cmt_size_hold_ns(records, MS));
		ck_assert_uint_eq(cmt_ring_cap(0, MS), cmt_size_cap(records, MS));
		pages = cmt_size_bytes(records) >> PAGE_SHIFT;
		ck_assert_ptr_nonnull(cmt_ring_page(0, pages - 1));
		ck_assert_ptr_null(cmt_ring_page(0, pages));
		ck_assert_uint_eq(rings_small(), 1);
		ck_assert_uint_eq(shim_lines, 1);
		snprintf(says, sizeof(says), "of %u records", records);
		ck_assert_msg(strstr(shim_printed, says), "%s", shim_printed);
		fill_ring(records);
		cmt_rings_exit();
	}
}
END_TEST

/* Not even the smallest ring: records are counted, and the next call finds memory. */
START_TEST(test_memory_none)
{
	setup_for(CMT_RING_RECORDS_MIN / 2);
	ck_assert_int_eq(cmt_ring_prepare(0), -ENOMEM);
	ck_assert_uint_eq(cmt_rings.header->records, RECORDS);
	ck_assert_uint_eq(cmt_rings.header->state, CMT_RING_ABSENT);
	ck_assert_uint_eq(rings_small(), 0);
	emit(3);
	ck_assert_uint_eq(cmt_rings.header->unwritten, 3);
	ck_assert_uint_eq(cmt_rings.header->head, 0);
	memory = RECORDS * sizeof(struct cmt_record);
	ck_assert(!cmt_ring_prepare(0));
	ck_assert_uint_eq(cmt_rings.header->records, RECORDS);
	emit(1);
	ck_assert_uint_eq(cmt_rings.header->unwritten, 3);
	ck_assert_uint_eq(cmt_rings.header->head, 2);
	ck_assert_uint_eq(cmt_ring_records_least, RECORDS);
	cmt_rings_exit();
}
END_TEST

/* A program may have mapped the header: its ring has this size or is not there. */
START_TEST(test_memory_short_later)
{
	setup_for(RECORDS / 2);
	cmt_rings_sizes_are_known();
	ck_assert_uint_eq(shim_lines, 0);
	ck_assert_int_eq(cmt_ring_prepare(0), -ENOMEM);
	ck_assert_uint_eq(tries, 1);
	ck_assert_uint_eq(cmt_rings.header->records, RECORDS);
	ck_assert_uint_eq(rings_small(), 0);
	memory *= 2;
	ck_assert(!cmt_ring_prepare(0));
	ck_assert_uint_eq(cmt_rings.header->records, RECORDS);
	fill_ring(RECORDS);
	cmt_rings_exit();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rings");

	UNIT_CASE(suite, test_memory_suffices);
	UNIT_CASE(suite, test_memory_short);
	UNIT_CASE(suite, test_memory_none);
	UNIT_CASE(suite, test_memory_short_later);
	return unit_run(suite);
}
