// SPDX-License-Identifier: GPL-2.0-or-later
/* What an ERDT table may say: module/hw/erdt_table.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "hw/erdt.h"
#include "erdt_maker.h"
#include "unit.h"

#define END		(1ULL << 46)
#define MAX_RMID	575

static struct maker m;
static struct maker_domain d[2];
static struct cmt_erdt erdt;

static void setup(void)
{
	maker_begin(&m);
	d[0] = maker_domain(&m, 0, MAX_RMID, 1);
	d[1] = maker_domain(&m, 1, MAX_RMID, 1);
}

/* In memory of exactly its size, so that the sanitizer sees what is read beyond. */
static const char *parse(void)
{
	uint8_t *exact = malloc(m.bytes ? m.bytes : 1);
	const char *why;

	memcpy(exact, m.table, m.bytes);
	why = cmt_erdt_parse(&erdt, exact, m.bytes, END);
	free(exact);
	return why;
}

/* The table is as it was afterwards. */
static void refused(const char *why)
{
	const char *said;

	maker_seal(&m);
	said = parse();
	ck_assert_ptr_nonnull(said);
	ck_assert_str_eq(said, why);
	setup();
}

static void refused_with(uint32_t at, uint64_t value, uint32_t bytes, const char *why)
{
	maker_put(&m, at, value, bytes);
	refused(why);
}

static void accepted(void)
{
	maker_seal(&m);
	ck_assert_ptr_null(parse());
}

START_TEST(test_two_domains)
{
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_uint_eq(erdt.count, 2);
	ck_assert_uint_eq(erdt.max_rmid, MAX_RMID);
	ck_assert_uint_eq(erdt.domains[1].id, 1);
	ck_assert_uint_eq(erdt.domains[1].control, 0xfd100000);
	ck_assert_uint_eq(erdt.domains[1].cmrc.base, 0xfd110000);
	ck_assert_uint_eq(erdt.domains[1].cmrc.bytes, 65536);
	ck_assert_uint_eq(erdt.domains[1].cmrc.unit, 65536);
	ck_assert_uint_eq(erdt.domains[1].mmrc.base, 0xfd120000);
	ck_assert_uint_eq(erdt.domains[1].mmrc.unit, 64);
	ck_assert_uint_eq(erdt.domains[1].width, 44);
	ck_assert_int_eq(cmt_erdt_domain_of(&erdt, 0), 0);
	ck_assert_int_eq(cmt_erdt_domain_of(&erdt, 17), 1);
	ck_assert_int_eq(cmt_erdt_domain_of(&erdt, 2), -ENOENT);
}
END_TEST

START_TEST(test_cpu_in_two_domains)
{
	maker_put(&m, d[1].cacd + AT_CACD_CPUS, 1, 4);
	maker_seal(&m);
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_int_eq(cmt_erdt_domain_of(&erdt, 1), -EEXIST);
	ck_assert_int_eq(cmt_erdt_domain_of(&erdt, 0), 0);
}
END_TEST

/* The layouts, as the specification's formulas have them */
START_TEST(test_offsets)
{
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_uint_eq(cmt_erdt_cmrc_offset(&erdt.domains[0], 0), 0);
	ck_assert_uint_eq(cmt_erdt_cmrc_offset(&erdt.domains[0], 63), 63 * 8);
	ck_assert_uint_eq(cmt_erdt_cmrc_offset(&erdt.domains[0], 130), 2 * 4096 + 2 * 8);
	for (u32 rmid = 0; rmid < CMT_ERDT_MBM_RMIDS; rmid++)
		for (u32 region = 0; region < CMT_ERDT_REGIONS_MAX; region++)
			ck_assert_uint_eq(cmt_erdt_mmrc_offset(rmid, region),
					  rmid % 32 / 8 * 4 * 4096 +
					  (rmid / 32 * 8 + rmid % 8) * 8 + region * 2048);
}
END_TEST

/* Wherever a table ends, nothing beyond is read, and nothing is accepted. */
START_TEST(test_cut_short)
{
	uint32_t all = m.bytes;

	for (m.bytes = 0; m.bytes < all; m.bytes++) {
		if (m.bytes > 10)
			maker_seal(&m);
		if (m.bytes != d[1].rmdd)
			ck_assert_ptr_nonnull(parse());
	}
	/* where a domain ends, the table may */
	m.bytes = d[1].rmdd;
	accepted();
	ck_assert_uint_eq(erdt.count, 1);
	setup();
	maker_put(&m, 4, m.bytes + 4, 4);
	ck_assert_str_eq(parse(), "the table is cut short");
}
END_TEST

START_TEST(test_header)
{
	m.table[20]++;
	ck_assert_str_eq(parse(), "the table's checksum is wrong");
	setup();
	refused_with(8, 2, 1, "the table's revision is not known");
	m.bytes = 64;
	refused("the table has no domain of CPUs");
}
END_TEST

/* The length of every structure: 0, less than its header, and more than there is. */
START_TEST(test_lengths)
{
	const uint32_t parts[] = { d[0].cacd, d[0].cmrc, d[0].mmrc };

	refused_with(d[0].rmdd + AT_LENGTH, 0, 2, "a structure is cut short");
	refused_with(d[0].rmdd + AT_LENGTH, 3, 2, "a structure is cut short");
	refused_with(d[0].rmdd + AT_LENGTH, 33, 2, "an RMDD is cut short");
	refused_with(d[0].rmdd + AT_LENGTH, 0xffff, 2, "a structure is cut short");
	for (unsigned int i = 0; i < 3; i++) {
		refused_with(parts[i] + AT_LENGTH, 0, 2,
			     "a structure of a domain is cut short");
		refused_with(parts[i] + AT_LENGTH, 3, 2,
			     "a structure of a domain is cut short");
		refused_with(parts[i] + AT_LENGTH, 0xffff, 2,
			     "a structure of a domain is cut short");
	}
	refused_with(d[0].cacd + AT_LENGTH, 8, 2, "a list of CPUs is cut short");
	refused_with(d[0].cacd + AT_LENGTH, 15, 2, "a list of CPUs is cut short");
	refused_with(d[0].cmrc + AT_LENGTH, 47, 2, "a CMRC is cut short");
	refused_with(d[0].mmrc + AT_LENGTH, 55, 2, "an MMRC is cut short");
	refused_with(d[0].mmrc + AT_LENGTH, 59, 2,
		     "a list of correction factors is cut short");
}
END_TEST

START_TEST(test_domains)
{
	refused_with(d[1].rmdd + AT_RMDD_ID, 0, 2, "a list of CPUs is of another domain");
	maker_put(&m, d[1].cacd + AT_CACD_ID, 0, 2);
	refused_with(d[1].rmdd + AT_RMDD_ID, 0, 2, "two domains have one number");
	refused_with(d[0].rmdd + AT_RMDD_MAX, 0, 4, "a domain has no RMID but 0");
	refused_with(d[0].rmdd + AT_RMDD_PAGES, 0, 2,
		     "a block of registers has an impossible size");
	refused_with(d[0].cacd, 9, 2, "a domain has no CPU");
	refused_with(d[0].cmrc, 1, 2, "a domain has two lists of CPUs");
	maker_put(&m, d[0].cmrc, 9, 2);
	refused_with(d[0].mmrc, 9, 2, "a domain has no registers");
	refused_with(d[0].cmrc, 9, 2, "domains differ in their counters");
	refused_with(d[1].mmrc, 9, 2, "domains differ in their counters");
	/* of devices: it is left out */
	maker_put(&m, d[1].rmdd + AT_RMDD_FLAGS, 2, 2);
	accepted();
	ck_assert_uint_eq(erdt.count, 1);
}
END_TEST

START_TEST(test_registers_twice)
{
	maker_begin(&m);
	d[0] = maker_domain(&m, 0, MAX_RMID, 0);
	/* a second MMRC, which begins after the first */
	m.bytes += 56;
	memcpy(m.table + d[0].mmrc + 56, m.table + d[0].mmrc, 56);
	refused_with(d[0].rmdd + AT_LENGTH, m.bytes - d[0].rmdd, 2,
		     "a domain has its registers twice");
}
END_TEST

START_TEST(test_too_many_domains)
{
	maker_begin(&m);
	for (uint32_t i = 0; i <= CMT_MAX_DOMAINS && m.bytes + 200 < MAKER_BYTES; i++) {
		struct maker_domain last = maker_domain(&m, i, 31, 0);

		/* without its MMRC, so that all have room */
		m.bytes = last.mmrc;
		maker_put(&m, last.rmdd + AT_LENGTH, m.bytes - last.rmdd, 2);
	}
	maker_seal(&m);
	ck_assert_str_eq(parse(), "there are more domains than cmt knows");
}
END_TEST

START_TEST(test_addresses)
{
	const uint32_t bases[] = {
		d[0].rmdd + AT_RMDD_CONTROL, d[0].cmrc + AT_BASE, d[0].mmrc + AT_BASE,
	};

	for (unsigned int i = 0; i < 3; i++) {
		refused_with(bases[i], 0, 8,
			     "registers have no address, or one that is not aligned");
		refused_with(bases[i], 0xfd040004, 8,
			     "registers have no address, or one that is not aligned");
		refused_with(bases[i], UINT64_MAX - 7, 8,
			     "registers are beyond the physical addresses");
		refused_with(bases[i], END, 8,
			     "registers are beyond the physical addresses");
	}
	refused_with(bases[1], END - 65536 + 4096, 8,
		     "registers are beyond the physical addresses");
	maker_put(&m, bases[1], END - 65536, 8);
	accepted();
}
END_TEST

START_TEST(test_overlaps)
{
	const char *why = "blocks of registers overlap";

	refused_with(d[1].cmrc + AT_BASE, 0xfd010000, 8, why);
	refused_with(d[1].cmrc + AT_BASE, 0xfd01f000, 8, why);
	refused_with(d[1].mmrc + AT_BASE, 0xfd018000, 8, why);
	refused_with(d[0].mmrc + AT_BASE, 0xfd010000, 8, why);
	refused_with(d[0].rmdd + AT_RMDD_CONTROL, 0xfd010008, 8, why);
	refused_with(d[0].rmdd + AT_RMDD_CONTROL, 0xfd020008, 8, why);
	refused_with(d[1].rmdd + AT_RMDD_CONTROL, 0xfd000000, 8, why);
	refused_with(d[1].rmdd + AT_RMDD_CONTROL, 0xfd010000, 8, why);
}
END_TEST

START_TEST(test_blocks)
{
	const uint32_t blocks[] = { d[0].cmrc, d[0].mmrc };

	for (unsigned int i = 0; i < 2; i++) {
		refused_with(blocks[i] + AT_INDEX_FN, 2, 1,
			     "registers are laid out in a way that is not known");
		refused_with(blocks[i] + AT_PAGES, 0, 4,
			     "a block of registers has an impossible size");
		refused_with(blocks[i] + AT_PAGES, 4097, 4,
			     "a block of registers has an impossible size");
	}
	refused_with(d[0].cmrc + AT_CMRC_UNIT, 0, 8, "a counter has an impossible unit");
	refused_with(d[0].cmrc + AT_CMRC_UNIT, 1ULL << 32, 8,
		     "a counter has an impossible unit");
	refused_with(d[0].mmrc + AT_MMRC_UNIT, 0, 8, "a counter has an impossible unit");
	refused_with(d[0].mmrc + AT_WIDTH, 23, 1,
		     "a counter of traffic has an impossible width");
	refused_with(d[0].mmrc + AT_WIDTH, 63, 1,
		     "a counter of traffic has an impossible width");
	refused_with(d[0].mmrc + AT_PAGES, 12, 4,
		     "registers of traffic are beyond the end of their block");
}
END_TEST

START_TEST(test_clumps)
{
	refused_with(d[0].cmrc + AT_CLUMP, 0, 2, "a clump has no register");
	refused_with(d[0].cmrc + AT_STRIDE, 0, 2,
		     "clumps of registers overlap, or are not aligned");
	refused_with(d[0].cmrc + AT_STRIDE, 504, 2,
		     "clumps of registers overlap, or are not aligned");
	refused_with(d[0].cmrc + AT_STRIDE, 4100, 2,
		     "clumps of registers overlap, or are not aligned");
	/* 576 RMIDs are nine clumps */
	refused_with(d[0].cmrc + AT_PAGES, 8, 4,
		     "registers of occupancy are beyond the end of their block");
	maker_put(&m, d[0].cmrc + AT_PAGES, 9, 4);
	accepted();
	/* one clump needs no stride */
	maker_put(&m, d[0].cmrc + AT_CLUMP, 576, 2);
	maker_put(&m, d[0].cmrc + AT_STRIDE, 0, 2);
	accepted();
	ck_assert_uint_eq(cmt_erdt_cmrc_offset(&erdt.domains[0], 575), 575 * 8);
	maker_put(&m, d[0].cmrc + AT_CLUMP, 0xffff, 2);
	accepted();
	/* and two clumps do, if there is one register in the second */
	maker_put(&m, d[0].cmrc + AT_CLUMP, MAX_RMID, 2);
	refused("clumps of registers overlap, or are not aligned");
}
END_TEST

START_TEST(test_factors)
{
	refused_with(d[0].mmrc + AT_NR_FACTORS, 2, 4,
		     "there are not as many correction factors as RMIDs");
	refused_with(d[0].mmrc + AT_NR_FACTORS, UINT32_MAX, 4,
		     "there are not as many correction factors as RMIDs");
	refused_with(d[0].mmrc + AT_NR_FACTORS, MAX_RMID + 1, 4,
		     "a list of correction factors is cut short");
	refused_with(d[0].mmrc + AT_FACTORS, 1, 4, "a correction factor is out of range");
	refused_with(d[0].mmrc + AT_FACTORS, 17 << 16, 4,
		     "a correction factor is out of range");
	refused_with(d[0].mmrc + AT_FACTORS, 3 << 15, 4,
		     "domains differ in their counters");

	maker_begin(&m);
	d[0] = maker_domain(&m, 0, 31, 32);
	maker_put(&m, d[0].mmrc + AT_FACTORS + 5 * 4, 3 << 15, 4);
	maker_put(&m, d[0].mmrc + AT_FACTORS + 6 * 4, 0, 4);
	maker_seal(&m);
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_uint_eq(cmt_erdt_factor(&erdt.domains[0], 4), 1 << 16);
	ck_assert_uint_eq(cmt_erdt_factor(&erdt.domains[0], 5), 3 << 15);
	ck_assert_uint_eq(cmt_erdt_factor(&erdt.domains[0], 6), 1 << 16);

	maker_put(&m, d[0].mmrc + AT_NR_FACTORS, 1, 4);
	maker_put(&m, d[0].mmrc + AT_FACTORS, 5 << 14, 4);
	maker_seal(&m);
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_uint_eq(cmt_erdt_factor(&erdt.domains[0], 31), 5 << 14);
	maker_put(&m, d[0].mmrc + AT_NR_FACTORS, 0, 4);
	maker_seal(&m);
	ck_assert_ptr_null(cmt_erdt_parse(&erdt, m.table, m.bytes, END));
	ck_assert_uint_eq(cmt_erdt_factor(&erdt.domains[0], 31), 1 << 16);
}
END_TEST

/* An RMDD may say more RMIDs than cmt uses: their registers need not be there. */
START_TEST(test_many_rmids)
{
	maker_begin(&m);
	d[0] = maker_domain(&m, 0, UINT32_MAX, 0);
	maker_put(&m, d[0].cmrc + AT_BASE, MAKER_BASE + 0x100000, 8);
	maker_put(&m, d[0].cmrc + AT_PAGES, CMT_MAX_RMIDS / 64, 4);
	accepted();
	ck_assert_uint_eq(erdt.max_rmid, UINT32_MAX);
	maker_put(&m, d[0].mmrc + AT_NR_FACTORS, 0xffff, 4);
	maker_seal(&m);
	ck_assert_str_eq(parse(), "there are not as many correction factors as RMIDs");
}
END_TEST

START_TEST(test_regions)
{
	uint8_t mrrm[64] = { 0 };

	ck_assert_uint_eq(cmt_erdt_regions(NULL, 0), 4);
	ck_assert_uint_eq(cmt_erdt_regions(mrrm, 64), 4);
	mrrm[36] = 2;
	ck_assert_uint_eq(cmt_erdt_regions(mrrm, 64), 2);
	ck_assert_uint_eq(cmt_erdt_regions(mrrm, 63), 4);
	mrrm[36] = 5;
	ck_assert_uint_eq(cmt_erdt_regions(mrrm, 64), 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("erdt_table");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_two_domains);
	tcase_add_test(tc, test_cpu_in_two_domains);
	tcase_add_test(tc, test_offsets);
	tcase_add_test(tc, test_cut_short);
	tcase_add_test(tc, test_header);
	tcase_add_test(tc, test_lengths);
	tcase_add_test(tc, test_domains);
	tcase_add_test(tc, test_registers_twice);
	tcase_add_test(tc, test_too_many_domains);
	tcase_add_test(tc, test_addresses);
	tcase_add_test(tc, test_overlaps);
	tcase_add_test(tc, test_blocks);
	tcase_add_test(tc, test_clumps);
	tcase_add_test(tc, test_factors);
	tcase_add_test(tc, test_many_rmids);
	tcase_add_test(tc, test_regions);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
