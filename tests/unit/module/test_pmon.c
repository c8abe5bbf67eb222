// SPDX-License-Identifier: GPL-2.0-or-later
/* What a discovery table may say: module/uncore/pmon_table.c. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "uncore/pmon.h"
#include "unit.h"

#define END	(1ULL << 46)
#define ACCESS(a) ((u64)(a) << 62)

/* The seed's memory channel: 4 counters of 48 bits, controls at 64, counters at 8. */
static const u64 channel[CMT_PMON_WORDS] = {
	4 | 64 << 8 | 48 << 16 | (u64)8 << 24 | ACCESS(CMT_BOX_MMIO),
	0xc8aa2800, 6 | 2 << 16,
};

static u64 words[CMT_PMON_WORDS];
static struct cmt_box box;

static void setup(void)
{
	memcpy(words, channel, sizeof(words));
}

static void refused(void)
{
	ck_assert_ptr_nonnull(cmt_pmon_box(&box, words, END));
	setup();
}

static void accepted(void)
{
	ck_assert_ptr_null(cmt_pmon_box(&box, words, END));
	setup();
}

/* @word with @bits from @at replaced */
static u64 with(u64 word, unsigned int at, unsigned int bits, u64 value)
{
	u64 mask = ((1ULL << bits) - 1) << at;

	return (word & ~mask) | value << at;
}

static u64 ctl_of(u32 access, u64 ctl)
{
	words[0] = with(words[0], 62, 2, access);
	words[1] = ctl;
	return ctl;
}

START_TEST(test_seeds_channel)
{
	accepted();
	ck_assert_uint_eq(box.type, 6);
	ck_assert_uint_eq(box.id, 2);
	ck_assert_uint_eq(box.access, CMT_BOX_MMIO);
	ck_assert_uint_eq(box.counters, 4);
	ck_assert_uint_eq(box.bits, 48);
	ck_assert_uint_eq(box.ctl_offset, 64);
	ck_assert_uint_eq(box.ctr_offset, 8);
	ck_assert_uint_eq(box.ctl, 0xc8aa2800);
	ck_assert_uint_eq(cmt_pmon_extent(&box), 64 + 4 * 8);
}
END_TEST

START_TEST(test_words_of_ones)
{
	for (unsigned int i = 0; i < CMT_PMON_WORDS; i++) {
		words[i] = UINT64_MAX;
		refused();
	}
}
END_TEST

START_TEST(test_unused_entries)
{
	ck_assert(!cmt_pmon_is_unused(words));
	words[0] = 0;
	ck_assert(cmt_pmon_is_unused(words));
	setup();
	words[1] = 0;
	ck_assert(cmt_pmon_is_unused(words));
}
END_TEST

START_TEST(test_geometry)
{
	words[0] = with(words[0], 0, 8, 0);
	refused();
	words[0] = with(words[0], 0, 8, CMT_PMON_COUNTERS_MAX + 1);
	refused();
	words[0] = with(words[0], 0, 8, CMT_PMON_COUNTERS_MAX);
	accepted();
	words[0] = with(words[0], 8, 8, 0);
	refused();
	words[0] = with(words[0], 16, 8, 0);
	refused();
	words[0] = with(words[0], 16, 8, 65);
	refused();
	words[0] = with(words[0], 16, 8, 64);
	accepted();
	words[0] = with(words[0], 24, 8, 0);
	refused();
	words[0] = with(words[0], 62, 2, 3);
	refused();
}
END_TEST

/* The last address whose registers fit, and the one after it. */
START_TEST(test_mmio_addresses)
{
	u64 last = END - 96;

	ctl_of(CMT_BOX_MMIO, last);
	accepted();
	ctl_of(CMT_BOX_MMIO, last + 4);
	refused();
	ctl_of(CMT_BOX_MMIO, 0xc8aa2802);
	refused();
	ctl_of(CMT_BOX_MMIO, END);
	refused();
	ctl_of(CMT_BOX_MMIO, UINT64_MAX - 15);
	refused();
}
END_TEST

START_TEST(test_msr_addresses)
{
	ctl_of(CMT_BOX_MSR, UINT32_MAX - 68);
	accepted();
	ctl_of(CMT_BOX_MSR, UINT32_MAX - 67);
	refused();
	ctl_of(CMT_BOX_MSR, 1ULL << 32);
	refused();
}
END_TEST

START_TEST(test_pci_addresses)
{
	ctl_of(CMT_BOX_PCI, 0x7e09318 + 0);
	accepted();
	ctl_of(CMT_BOX_PCI, 0x1000 - 96);
	accepted();
	ctl_of(CMT_BOX_PCI, 0x1000 - 92);
	refused();
	ctl_of(CMT_BOX_PCI, 1ULL << 31);
	refused();
}
END_TEST

static bool global_is(u64 first, u64 second, u64 bytes)
{
	struct cmt_pmon_global global;
	const u64 unit[CMT_PMON_WORDS] = { first, second, 0 };

	return !cmt_pmon_global(&global, unit, bytes);
}

static u64 global_word(u32 stride, u32 units)
{
	return (u64)stride << 8 | (u64)units << 16;
}

START_TEST(test_global)
{
	ck_assert(global_is(global_word(4, 15), 0x2ff0, 4096));
	ck_assert(global_is(global_word(3, 15), 0x2ff0, 16 * 24));
	ck_assert(!global_is(global_word(3, 15), 0x2ff0, 16 * 24 - 1));
	ck_assert(!global_is(global_word(0, 15), 0x2ff0, 4096));
	ck_assert(!global_is(global_word(2, 15), 0x2ff0, 4096));
	ck_assert(!global_is(global_word(4, 0), 0x2ff0, 4096));
	ck_assert(!global_is(global_word(4, 1023), 0x2ff0, 4096));
	ck_assert(!global_is(global_word(255, 1023), 0x2ff0, 4096));
	ck_assert(!global_is(0, 0x2ff0, 4096));
	ck_assert(!global_is(global_word(4, 15), 0, 4096));
	ck_assert(!global_is(UINT64_MAX, UINT64_MAX, 4096));
	ck_assert(!global_is(global_word(4, 15), 0x2ff0, 24));
}
END_TEST

START_TEST(test_alike)
{
	struct cmt_box a, b;

	cmt_pmon_box(&a, words, END);
	words[1] += 0x8000;
	words[2] = 6 | 3 << 16;
	cmt_pmon_box(&b, words, END);
	ck_assert(cmt_pmon_alike(&a, &b));
	b.bits = 32;
	ck_assert(!cmt_pmon_alike(&a, &b));
	b = a;
	b.ctr_offset++;
	ck_assert(!cmt_pmon_alike(&a, &b));
}
END_TEST

/* A channel, an HBM channel of the socket, and a CXL port: types 6, 14 and 13 */
START_TEST(test_hbm)
{
	struct cmt_box boxes[3];
	const u16 types[] = { 6, 14, 13 };

	for (unsigned int i = 0; i < 3; i++) {
		words[2] = types[i] | i << 16;
		ck_assert_ptr_null(cmt_pmon_box(&boxes[i], words, END));
	}
	ck_assert(!cmt_pmon_has_hbm(boxes, 0));
	ck_assert(!cmt_pmon_has_hbm(boxes, 1));
	ck_assert(cmt_pmon_has_hbm(boxes, 2));
	ck_assert(!cmt_pmon_has_hbm(&boxes[2], 1));
}
END_TEST

/* A refused entry of these types leaves memory traffic uncounted; one of ones may be any. */
START_TEST(test_may_be_memory)
{
	words[2] = CMT_PMON_IMC | 3 << 16;
	words[0] |= 65ULL << 16;
	ck_assert_ptr_nonnull(cmt_pmon_box(&box, words, END));
	ck_assert(cmt_pmon_may_be_memory(&box));
	words[2] = CMT_PMON_HBM;
	cmt_pmon_box(&box, words, END);
	ck_assert(cmt_pmon_may_be_memory(&box));
	words[2] = 13;
	cmt_pmon_box(&box, words, END);
	ck_assert(!cmt_pmon_may_be_memory(&box));
	words[2] = UINT64_MAX;
	cmt_pmon_box(&box, words, END);
	ck_assert(cmt_pmon_may_be_memory(&box));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pmon");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_seeds_channel);
	tcase_add_test(tc, test_words_of_ones);
	tcase_add_test(tc, test_unused_entries);
	tcase_add_test(tc, test_geometry);
	tcase_add_test(tc, test_mmio_addresses);
	tcase_add_test(tc, test_msr_addresses);
	tcase_add_test(tc, test_pci_addresses);
	tcase_add_test(tc, test_global);
	tcase_add_test(tc, test_alike);
	tcase_add_test(tc, test_hbm);
	tcase_add_test(tc, test_may_be_memory);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
