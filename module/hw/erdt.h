/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACPI's ERDT table (Enhanced RDT): the addresses of the monitoring registers of L3s in
 * the memory of Intel's processors.  The layout is that of the Intel RDT Architecture
 * Specification, which ACPICA's actbl1.h follows.
 *
 * The table is untrusted input.  erdt_table.c checks it, and is pure: no register, no
 * allocation.  A table that fails one check is refused completely.
 */
#ifndef CMT_ERDT_H
#define CMT_ERDT_H

#include <linux/bits.h>
#include <linux/types.h>

#include "backend.h"

#define CMT_ERDT_REGIONS_MAX	4	/* regions of memory that an RMID has counters for */
#define CMT_ERDT_MBM_RMIDS	1024	/* RMIDs that the MMRC's layout has room for */
#define CMT_ERDT_CONTROL_BYTES	8

/* RDT_CTRL: bandwidth is counted for the MSRs, and not for the registers in memory. */
#define CMT_ERDT_CTRL_MSR_MODE	BIT_ULL(2)

/*
 * A bit of a counter register, which differs from that of QM_CTR.  Bit 62 of a traffic counter
 * says that the counter wrapped: it is ignored, as differences are modulo its width.
 */
#define CMT_ERDT_UNAVAILABLE	BIT_ULL(63)

/* A block of registers; 0 bytes: there is none. */
struct cmt_erdt_block {
	u64 base;		/* physical */
	u32 bytes;
	u32 unit;		/* bytes of traffic or cache in one unit of a counter */
};

/* The domain of an L3 (RMDD) that processors fill. */
struct cmt_erdt_domain {
	u16 id;
	u32 max_rmid;
	u64 control;		/* physical, of RDT_CTRL */
	struct cmt_erdt_block cmrc;	/* occupancy */
	u32 clump;		/* RMIDs with adjoining registers */
	u32 stride;		/* bytes from one clump to the next */
	struct cmt_erdt_block mmrc;	/* traffic */
	u32 width;		/* bits of its counters, 24..62 */
	const u8 *cpus;		/* x2APIC ids, 32 bits each, in the table */
	u32 nr_cpus;
	const u8 *factors;	/* 16.16 bits, 32 bits each, in the table */
	u32 nr_factors;		/* 0: none, 1: of all RMIDs, or max_rmid + 1 */
};

struct cmt_erdt {
	u32 count;
	u32 max_rmid;		/* the least of the domains' */
	struct cmt_erdt_domain domains[CMT_MAX_DOMAINS];
};

/*
 * Check a complete table of @bytes, header included, which must stay valid while @erdt
 * is used.  @address_end: the end of the processor's physical addresses.  Returns NULL,
 * or why the table is refused.
 */
const char *cmt_erdt_parse(struct cmt_erdt *erdt, const u8 *table, u32 bytes,
			   u64 address_end);

/* The index of the domain with this CPU; -ENOENT: none has it, -EEXIST: two have. */
int cmt_erdt_domain_of(const struct cmt_erdt *erdt, u32 apic_id);

/* Offsets of an RMID's registers in their block; @rmid is not above max_rmid. */
u32 cmt_erdt_cmrc_offset(const struct cmt_erdt_domain *domain, u32 rmid);
u32 cmt_erdt_mmrc_offset(u32 rmid, u32 region);

/* The factor of an RMID's traffic, 16.16 bits; 1 << 16: it is right as it is. */
u32 cmt_erdt_factor(const struct cmt_erdt_domain *domain, u32 rmid);

/*
 * How many regions of memory ACPI's MRRM table has, 1..CMT_ERDT_REGIONS_MAX: the most,
 * where there is no such table (@bytes is 0) or it makes no sense.
 */
u32 cmt_erdt_regions(const u8 *mrrm, u32 bytes);

#endif
