/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AMD's privilege-level zero association (PLZA): the RMID of the kernel's own accesses.
 * docs/decisions/0038-plza.md has the reasons.
 */
#ifndef CMT_PLZA_H
#define CMT_PLZA_H

#include <linux/bits.h>
#include <linux/types.h>

#include "uapi/cmt.h"

/* PQR_PLZA_ASSOC, one in each CPU */
#define CMT_PLZA_REG_RMID	GENMASK_ULL(11, 0)
#define CMT_PLZA_REG_RMID_EN	BIT_ULL(31)
#define CMT_PLZA_REG_EN		BIT_ULL(63)

/* The register of a CPU, as cmt_info.plza */
static inline u32 cmt_plza_of(u64 value)
{
	if (!(value & CMT_PLZA_REG_EN))
		return 0;
	if (!(value & CMT_PLZA_REG_RMID_EN))
		return CMT_PLZA_ON;
	return CMT_PLZA_ON | CMT_PLZA_HAS_RMID | (value & CMT_PLZA_REG_RMID);
}

/* Read the register of all CPUs.  Process context. */
void cmt_plza_look(void);

/* The RMID at the last reading, if cmt reads that RMID, or CMT_RMID_NONE. */
u32 cmt_plza_rmid(void);

/* cmt_info.plza at the last reading */
u32 cmt_plza_info(void);

#endif
