// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "erdt.h"

/* The header of an ACPI table, and the fields behind it in an ERDT */
#define ACPI_LENGTH		4
#define ACPI_REVISION		8
#define ERDT_BYTES		64
#define ERDT_REVISION		1

/* Every structure begins with two 16-bit words: its type and its length. */
#define STRUCT_TYPE		0
#define STRUCT_LENGTH		2
#define STRUCT_BYTES		4

enum { RMDD, CACD, DACD, CMRC, MMRC };

#define RMDD_FLAGS		4
#define RMDD_ID			18
#define RMDD_MAX_RMID		20
#define RMDD_CONTROL		24
#define RMDD_CONTROL_PAGES	32
#define RMDD_BYTES		34
#define RMDD_OF_CPUS		BIT(0)

#define CACD_ID			6
#define CACD_CPUS		8

/* The same in a CMRC and in an MMRC */
#define BLOCK_INDEX_FN		12
#define BLOCK_BASE		24
#define BLOCK_PAGES		32
#define INDEX_FN		1	/* the clump size that offsets are computed with */

#define CMRC_CLUMP		36
#define CMRC_STRIDE		38
#define CMRC_UNIT		40
#define CMRC_BYTES		48

#define MMRC_WIDTH		36
#define MMRC_UNIT		37
#define MMRC_NR_FACTORS		52
#define MMRC_FACTORS		56

#define MRRM_MAX_REGION		36
#define MRRM_BYTES		64

#define PAGE_BYTES		4096
#define BLOCK_PAGES_MAX		4096	/* 16 MiB: more than 65,536 RMIDs take */
#define REGISTER_BYTES		8
#define WIDTH_MIN		24
#define WIDTH_MAX		62

/* MMRC: four sets of 8 RMIDs in turn, four pages each; a region has half a page */
#define MMRC_SET_RMIDS		8
#define MMRC_SETS		4
#define MMRC_SET_BYTES		(4 * PAGE_BYTES)
#define MMRC_REGION_BYTES	2048

/* A table with a greater correction is refused. */
#define FACTOR_ONE		BIT(16)
#define FACTOR_MIN		(FACTOR_ONE / 16)
#define FACTOR_MAX		(FACTOR_ONE * 16)

static u32 get16(const u8 *at)
{
	return at[0] | at[1] << 8;
}

static u32 get32(const u8 *at)
{
	return get16(at) | get16(at + 2) << 16;
}

static u64 get64(const u8 *at)
{
	return get32(at) | (u64)get32(at + 4) << 32;
}

/* The rest of a list of structures */
struct walk {
	const u8 *at;
	u32 bytes;
};

static bool walk_is_cut(const struct walk *w)
{
	u32 length;

	if (w->bytes < STRUCT_BYTES)
		return true;
	length = get16(w->at + STRUCT_LENGTH);
	return length < STRUCT_BYTES || length > w->bytes;
}

static void walk_on(struct walk *w)
{
	u32 length = get16(w->at + STRUCT_LENGTH);

	w->at += length;
	w->bytes -= length;
}

static const char *check_place(u64 base, u64 bytes, u64 address_end)
{
	if (!base || base & (REGISTER_BYTES - 1))
		return "registers have no address, or one that is not aligned";
	if (base >= address_end || bytes > address_end - base)
		return "registers are beyond the physical addresses";
	return NULL;
}

/* Parse the fields that a CMRC and an MMRC share. */
static const char *parse_block(struct cmt_erdt_block *block, const u8 *at,
			       u64 unit, u64 address_end)
{
	u32 pages = get32(at + BLOCK_PAGES);

	if (block->bytes)
		return "a domain has its registers twice";
	if (at[BLOCK_INDEX_FN] != INDEX_FN)
		return "registers are laid out in a way that is not known";
	if (!pages || pages > BLOCK_PAGES_MAX)
		return "a block of registers has an impossible size";
	if (!unit || unit > U32_MAX)
		return "a counter has an impossible unit";
	*block = (struct cmt_erdt_block) {
		.base = get64(at + BLOCK_BASE),
		.bytes = pages * PAGE_BYTES,
		.unit = unit,
	};
	return check_place(block->base, block->bytes, address_end);
}

static const char *parse_cacd(struct cmt_erdt_domain *domain, const u8 *at,
			      u32 length)
{
	if (domain->nr_cpus)
		return "a domain has two lists of CPUs";
	if (length < CACD_CPUS + 4 || (length - CACD_CPUS) % 4)
		return "a list of CPUs is cut short";
	if (get16(at + CACD_ID) != domain->id)
		return "a list of CPUs is of another domain";
	domain->cpus = at + CACD_CPUS;
	domain->nr_cpus = (length - CACD_CPUS) / 4;
	return NULL;
}

static const char *parse_cmrc(struct cmt_erdt_domain *domain, const u8 *at,
			      u32 length, u64 address_end)
{
	u32 last = min_t(u32, domain->max_rmid, CMT_MAX_RMIDS - 1);
	const char *why;

	if (length < CMRC_BYTES)
		return "a CMRC is cut short";
	why = parse_block(&domain->cmrc, at, get64(at + CMRC_UNIT), address_end);
	if (why)
		return why;
	domain->clump = get16(at + CMRC_CLUMP);
	domain->stride = get16(at + CMRC_STRIDE);
	if (!domain->clump)
		return "a clump has no register";
	if (last < domain->clump)
		domain->clump = last + 1;
	else if (domain->stride < domain->clump * REGISTER_BYTES ||
		 domain->stride % REGISTER_BYTES)
		return "clumps of registers overlap, or are not aligned";
	if (cmt_erdt_cmrc_offset(domain, last) > domain->cmrc.bytes - REGISTER_BYTES)
		return "registers of occupancy are beyond the end of their block";
	return NULL;
}

static const char *check_factors(const struct cmt_erdt_domain *domain)
{
	u32 i, factor;

	for (i = 0; i < domain->nr_factors; i++) {
		factor = get32(domain->factors + i * 4);
		if (factor && (factor < FACTOR_MIN || factor > FACTOR_MAX))
			return "a correction factor is out of range";
	}
	return NULL;
}

/* A list with more factors than the structure has room for is refused. */
static const char *parse_factors(struct cmt_erdt_domain *domain, const u8 *at,
				 u32 length)
{
	u32 count = get32(at + MMRC_NR_FACTORS);

	if (count > 1 && (u64)count != (u64)domain->max_rmid + 1)
		return "there are not as many correction factors as RMIDs";
	if (count > (length - MMRC_FACTORS) / 4)
		return "a list of correction factors is cut short";
	domain->factors = at + MMRC_FACTORS;
	domain->nr_factors = count;
	return check_factors(domain);
}

static bool mmrc_is_too_small(const struct cmt_erdt_domain *domain)
{
	u32 last = min_t(u32, domain->max_rmid, CMT_ERDT_MBM_RMIDS - 1), rmid;

	for (rmid = 0; rmid <= last; rmid++)
		if (cmt_erdt_mmrc_offset(rmid, CMT_ERDT_REGIONS_MAX - 1) >
		    domain->mmrc.bytes - REGISTER_BYTES)
			return true;
	return false;
}

static const char *parse_mmrc(struct cmt_erdt_domain *domain, const u8 *at,
			      u32 length, u64 address_end)
{
	const char *why;

	if (length < MMRC_FACTORS)
		return "an MMRC is cut short";
	why = parse_block(&domain->mmrc, at, get64(at + MMRC_UNIT), address_end);
	if (why)
		return why;
	domain->width = at[MMRC_WIDTH];
	if (domain->width < WIDTH_MIN || domain->width > WIDTH_MAX)
		return "a counter of traffic has an impossible width";
	if (mmrc_is_too_small(domain))
		return "registers of traffic are beyond the end of their block";
	return parse_factors(domain, at, length);
}

static const char *parse_part(struct cmt_erdt_domain *domain, const u8 *at,
			      u64 address_end)
{
	u32 length = get16(at + STRUCT_LENGTH);

	switch (get16(at + STRUCT_TYPE)) {
	case CACD:
		return parse_cacd(domain, at, length);
	case CMRC:
		return parse_cmrc(domain, at, length, address_end);
	case MMRC:
		return parse_mmrc(domain, at, length, address_end);
	}
	return NULL;
}

static const char *parse_parts(struct cmt_erdt_domain *domain, const u8 *at,
			       u32 length, u64 address_end)
{
	struct walk w = { at + RMDD_BYTES, length - RMDD_BYTES };
	const char *why;

	for (; w.bytes; walk_on(&w)) {
		if (walk_is_cut(&w))
			return "a structure of a domain is cut short";
		why = parse_part(domain, w.at, address_end);
		if (why)
			return why;
	}
	if (!domain->nr_cpus)
		return "a domain has no CPU";
	if (!domain->cmrc.bytes && !domain->mmrc.bytes)
		return "a domain has no registers";
	return NULL;
}

static const char *parse_domain(struct cmt_erdt_domain *domain, const u8 *at,
				u32 length, u64 address_end)
{
	*domain = (struct cmt_erdt_domain) {
		.id = get16(at + RMDD_ID),
		.max_rmid = get32(at + RMDD_MAX_RMID),
		.control = get64(at + RMDD_CONTROL),
	};
	if (!domain->max_rmid)
		return "a domain has no RMID but 0";
	if (!get16(at + RMDD_CONTROL_PAGES))
		return "a block of registers has an impossible size";
	return check_place(domain->control, CMT_ERDT_CONTROL_BYTES, address_end) ?:
	       parse_parts(domain, at, length, address_end);
}

static bool overlap(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
	return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

static bool block_overlaps(const struct cmt_erdt_block *block,
			   const struct cmt_erdt_domain *d)
{
	return overlap(block->base, block->bytes, d->cmrc.base, d->cmrc.bytes) ||
	       overlap(block->base, block->bytes, d->mmrc.base, d->mmrc.bytes) ||
	       overlap(block->base, block->bytes, d->control,
		       CMT_ERDT_CONTROL_BYTES);
}

static const char *check_own(const struct cmt_erdt_domain *d)
{
	struct cmt_erdt_domain rest = *d;

	rest.cmrc.bytes = 0;
	if (block_overlaps(&d->cmrc, &rest))
		return "blocks of registers overlap";
	rest.mmrc.bytes = 0;
	return block_overlaps(&d->mmrc, &rest) ? "blocks of registers overlap" : NULL;
}

/* The counters of all domains must have the same units, width and factors. */
static bool are_alike(const struct cmt_erdt_domain *a,
		      const struct cmt_erdt_domain *b)
{
	return a->cmrc.unit == b->cmrc.unit && a->mmrc.unit == b->mmrc.unit &&
	       a->width == b->width && a->nr_factors == b->nr_factors &&
	       (!a->nr_factors ||
		!memcmp(a->factors, b->factors, a->nr_factors * 4));
}

static const char *check_pair(const struct cmt_erdt_domain *a,
			      const struct cmt_erdt_domain *b)
{
	if (a->id == b->id)
		return "two domains have one number";
	if (!are_alike(a, b))
		return "domains differ in their counters";
	if (a->control == b->control || block_overlaps(&a->cmrc, b) ||
	    block_overlaps(&a->mmrc, b) || block_overlaps(&b->cmrc, a) ||
	    block_overlaps(&b->mmrc, a))
		return "blocks of registers overlap";
	return NULL;
}

static const char *check_domain(const struct cmt_erdt *erdt)
{
	const struct cmt_erdt_domain *domain = &erdt->domains[erdt->count];
	const char *why = check_own(domain);
	u32 i;

	for (i = 0; i < erdt->count; i++)
		why = why ?: check_pair(&erdt->domains[i], domain);
	return why;
}

static const char *add_domain(struct cmt_erdt *erdt, const u8 *at,
			      u64 address_end)
{
	u32 length = get16(at + STRUCT_LENGTH);
	struct cmt_erdt_domain *domain = &erdt->domains[erdt->count];
	const char *why;

	if (length < RMDD_BYTES)
		return "an RMDD is cut short";
	if (!(get16(at + RMDD_FLAGS) & RMDD_OF_CPUS))
		return NULL;
	if (erdt->count == CMT_MAX_DOMAINS)
		return "there are more domains than cmt knows";
	why = parse_domain(domain, at, length, address_end) ?:
	      check_domain(erdt);
	if (why)
		return why;
	erdt->max_rmid = min(erdt->max_rmid, domain->max_rmid);
	erdt->count++;
	return NULL;
}

static const char *check_header(const u8 *table, u32 bytes)
{
	u8 sum = 0;
	u32 i;

	if (bytes < ERDT_BYTES || get32(table + ACPI_LENGTH) != bytes)
		return "the table is cut short";
	if (table[ACPI_REVISION] != ERDT_REVISION)
		return "the table's revision is not known";
	for (i = 0; i < bytes; i++)
		sum += table[i];
	return sum ? "the table's checksum is wrong" : NULL;
}

const char *cmt_erdt_parse(struct cmt_erdt *erdt, const u8 *table, u32 bytes,
			   u64 address_end)
{
	const char *why = check_header(table, bytes);
	struct walk w;

	erdt->count = 0;
	erdt->max_rmid = U32_MAX;
	if (why)
		return why;
	w = (struct walk) { table + ERDT_BYTES, bytes - ERDT_BYTES };
	for (; w.bytes; walk_on(&w)) {
		if (walk_is_cut(&w))
			return "a structure is cut short";
		if (get16(w.at + STRUCT_TYPE) == RMDD)
			why = add_domain(erdt, w.at, address_end);
		if (why)
			return why;
	}
	return erdt->count ? NULL : "the table has no domain of CPUs";
}

static bool domain_has(const struct cmt_erdt_domain *domain, u32 apic_id)
{
	u32 i;

	for (i = 0; i < domain->nr_cpus; i++)
		if (get32(domain->cpus + i * 4) == apic_id)
			return true;
	return false;
}

int cmt_erdt_domain_of(const struct cmt_erdt *erdt, u32 apic_id)
{
	int found = -ENOENT;
	u32 i;

	for (i = 0; i < erdt->count; i++) {
		if (!domain_has(&erdt->domains[i], apic_id))
			continue;
		if (found >= 0)
			return -EEXIST;
		found = i;
	}
	return found;
}

u32 cmt_erdt_cmrc_offset(const struct cmt_erdt_domain *domain, u32 rmid)
{
	return rmid / domain->clump * domain->stride +
	       rmid % domain->clump * REGISTER_BYTES;
}

u32 cmt_erdt_mmrc_offset(u32 rmid, u32 region)
{
	u32 set = rmid / MMRC_SET_RMIDS;

	return set % MMRC_SETS * MMRC_SET_BYTES + region * MMRC_REGION_BYTES +
	       (set / MMRC_SETS * MMRC_SET_RMIDS + rmid % MMRC_SET_RMIDS) *
		       REGISTER_BYTES;
}

u32 cmt_erdt_factor(const struct cmt_erdt_domain *domain, u32 rmid)
{
	u32 i = domain->nr_factors == 1 ? 0 : rmid;

	if (!domain->nr_factors)
		return FACTOR_ONE;
	return get32(domain->factors + i * 4) ?: FACTOR_ONE;
}

u32 cmt_erdt_regions(const u8 *mrrm, u32 bytes)
{
	u32 regions;

	if (bytes < MRRM_BYTES)
		return CMT_ERDT_REGIONS_MAX;
	regions = mrrm[MRRM_MAX_REGION];
	return regions && regions <= CMT_ERDT_REGIONS_MAX ? regions :
							    CMT_ERDT_REGIONS_MAX;
}
