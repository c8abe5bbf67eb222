/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The discovery tables of the uncore PMU (PMON): one PCI device of each socket has
 * one, with a global unit first and then an entry for each box.  The layout is that
 * of Intel's uncore performance monitoring guides.
 *
 * A table is untrusted input.  pmon_table.c checks it, and is pure: no register, no
 * allocation.
 */
#ifndef CMT_PMON_H
#define CMT_PMON_H

#include <linux/types.h>

#include "uapi/cmt.h"

#define CMT_PMON_WORDS		3	/* of 64 bits, in the global unit and each entry */
#define CMT_PMON_ENTRY_BYTES	(CMT_PMON_WORDS * 8)

/* More counters than any box of Intel's has. */
#define CMT_PMON_COUNTERS_MAX	32

/* The values of the global unit. */
struct cmt_pmon_global {
	u32 units;
	u32 stride;		/* bytes from one entry to the next */
};

/*
 * The global unit in a table that has @bytes.  Returns NULL, or why the table is
 * refused.
 */
const char *cmt_pmon_global(struct cmt_pmon_global *global, const u64 *words,
			    u64 bytes);

/* An entry that is no box: it is ignored without a message. */
bool cmt_pmon_is_unused(const u64 *words);

/*
 * The box of an entry, without socket.  @address_end: the first address that the processor
 * cannot address.  Returns NULL, or why the box is refused; type and id are valid
 * even then.
 */
const char *cmt_pmon_box(struct cmt_box *box, const u64 *words, u64 address_end);

/* The bytes or MSRs from the control of a box to the end of its registers. */
u32 cmt_pmon_extent(const struct cmt_box *box);

/* Boxes of one type are alike on all sockets. */
bool cmt_pmon_alike(const struct cmt_box *a, const struct cmt_box *b);

/* Types of boxes, on Sapphire Rapids and Emerald Rapids */
#define CMT_PMON_IMC	6
#define CMT_PMON_HBM	14	/* memory in the package: Xeon Max */

/* Can the box be one of a memory controller?  The type of a refused box may be invalid. */
bool cmt_pmon_may_be_memory(const struct cmt_box *box);

/* Has the box so many counters in memory, with controls of 32 bits? */
bool cmt_pmon_is_readable(const struct cmt_box *box, u32 counters);

/* Does one of the @n boxes belong to a controller of HBM? */
bool cmt_pmon_has_hbm(const struct cmt_box *boxes, u32 n);

#endif
