/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AMD's assignable bandwidth counters: which RMIDs have one.
 * docs/decisions/0032-assignable-counters.md has the reasons.
 */
#ifndef CMT_ABMC_H
#define CMT_ABMC_H

#include <linux/types.h>

/* When all CPUs are up. */
int cmt_abmc_init(void);
/* Release all of cmt's counters.  Called before the CPUs go. */
void cmt_abmc_exit(void);

/* The last CPU of @domain is not up any more.  On itself, in process context. */
void cmt_abmc_domain_down(u32 domain);

/* CMT_ABMC_* of all domains, for cmt_info.  Any context. */
u32 cmt_abmc_info(void);

#endif
