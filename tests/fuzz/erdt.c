// SPDX-License-Identifier: GPL-2.0-or-later
/* ACPI's ERDT table, its length and checksum put right: they would hide the rest. */
#include "hw/erdt.h"
#include "fuzz.h"

#define ADDRESS_END	(1ULL << 46)

static void seal(uint8_t *table, uint32_t bytes)
{
	uint8_t sum = 0;

	memcpy(table + 4, &bytes, sizeof(bytes));
	table[9] = 0;
	for (uint32_t i = 0; i < bytes; i++)
		sum += table[i];
	table[9] = -sum;
}

static void check_block(const struct cmt_erdt_block *block)
{
	FUZZ_CHECK(block->base && block->unit && block->base < ADDRESS_END);
	FUZZ_CHECK(block->bytes <= ADDRESS_END - block->base);
}

static void check_domain(const struct cmt_erdt *erdt, const struct cmt_erdt_domain *d)
{
	FUZZ_CHECK(erdt->max_rmid <= d->max_rmid && d->nr_cpus);
	FUZZ_CHECK(d->cmrc.bytes || d->mmrc.bytes);
	if (d->cmrc.bytes)
		check_block(&d->cmrc);
	if (d->mmrc.bytes)
		check_block(&d->mmrc);
	for (u32 rmid = 0; rmid <= d->max_rmid && rmid < CMT_MAX_RMIDS; rmid++) {
		FUZZ_CHECK(!d->cmrc.bytes ||
			   cmt_erdt_cmrc_offset(d, rmid) <= d->cmrc.bytes - 8);
		if (d->mmrc.bytes && rmid < CMT_ERDT_MBM_RMIDS)
			FUZZ_CHECK(cmt_erdt_mmrc_offset(rmid, CMT_ERDT_REGIONS_MAX - 1) <=
				   d->mmrc.bytes - 8);
		FUZZ_CHECK(cmt_erdt_factor(d, rmid));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cmt_erdt erdt;
	uint8_t *table = malloc(size + 1);

	FUZZ_CHECK(table);
	memcpy(table, data, size);
	cmt_erdt_regions(table, size);
	if (size >= 10)
		seal(table, size);
	if (!cmt_erdt_parse(&erdt, table, size, ADDRESS_END)) {
		FUZZ_CHECK(erdt.count && erdt.count <= CMT_MAX_DOMAINS);
		for (u32 i = 0; i < erdt.count; i++)
			check_domain(&erdt, &erdt.domains[i]);
		cmt_erdt_domain_of(&erdt, size);
	}
	free(table);
	return 0;
}
