/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RMIDs of resctrl's groups, whose bandwidth only resctrl reads, on AMD and Hygon: while
 * assignable counters are off, the processor tracks few RMIDs.  It reports Unavailable to
 * the first reading after it has begun to track an RMID anew, from 0, and to no later one
 * (APM vol. 2 19.3.3).  resctrl needs that report: without it, it takes the lower value for
 * a counter that has wrapped.
 */
#ifndef CMT_HW_MBM_H
#define CMT_HW_MBM_H

#include <linux/types.h>

/* From now on the MBM events of @rmid are not read, or are again.  Any context. */
void hw_mbm_skip(u32 rmid, bool skip);

/* Are there such RMIDs?  Racy. */
bool hw_mbm_skips(void);

/* Is @rmid one?  Racy.  Any context. */
bool hw_mbm_skips_rmid(u32 rmid);

#endif
