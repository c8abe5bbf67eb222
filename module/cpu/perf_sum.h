/* SPDX-License-Identifier: GPL-2.0 */
/* The counts of an RMID on one CPU, and what of them is left when a PERF was written. */
#ifndef CMT_PERF_SUM_H
#define CMT_PERF_SUM_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "perf.h"

#define CMT_WAIT_UNIT	1024U	/* PERF records have multiples of this, ns */

/*
 * A running time is written in so many PERFs at most, which is more than a minute.  It is that
 * long only where no tick writes, and so nobody reads.
 */
#define CMT_PERF_RAN_RECORDS	16

/* Since its last PERF */
struct perf_sum {
	u64 values[CMT_PERF_NR];
	u64 ran;		/* running time in TSC cycles; 0: the RMID did not run */
	u64 waited;		/* ns; what is less than a unit stays for the next PERF */
	u32 generation;		/* generation of the owner; 0: RMID 0 */
	u16 missing;		/* bits of values that were not counted all the time */
	bool quota;		/* CMT_F_WAIT_QUOTA */
};

/* The RMID ran for @cycles.  In a suspend, and without TSC, the clock may go back. */
static __always_inline void cmt_perf_sum_ran(struct perf_sum *sum, u64 cycles)
{
	if (likely((s64)cycles > 0))
		sum->ran += cycles;
}

/*
 * A PERF has its values, and @most of its running time, if there is so much.  The rest
 * continues, with values that lack what these lacked.
 */
static inline void cmt_perf_sum_written(struct perf_sum *sum, u64 most)
{
	u64 left = min(sum->ran - min(sum->ran, most),
		       (CMT_PERF_RAN_RECORDS - 1) * most);

	*sum = (struct perf_sum) {
		.ran = left,
		.waited = sum->waited % CMT_WAIT_UNIT,
		.generation = sum->generation,
		.missing = left ? sum->missing : 0,
		.quota = left && sum->quota,
	};
}

#endif
