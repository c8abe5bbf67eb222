/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's resctrl beside cmt: which RMIDs it uses, and when it writes
 * PQR_ASSOC.  docs/decisions/0017-resctrl.md has the reasons.
 */
#ifndef CMT_RESCTRL_H
#define CMT_RESCTRL_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "compat.h"

/* resctrl is mounted: it writes PQR_ASSOC at context switches. */
DECLARE_STATIC_KEY_FALSE(cmt_resctrl_key);

/* @mode: CMT_RESCTRL_* */
int cmt_resctrl_init(u32 mode);
/* After the probes. */
void cmt_resctrl_stop(void);

/* @mode: CMT_RESCTRL_*.  Process context. */
void cmt_resctrl_set_mode(u32 mode);
/* As of the last check */
bool cmt_resctrl_mounted(void);
/* Is resctrl mounted now?  Any context. */
bool cmt_resctrl_is_mounted(void);

/* Another agent uses this RMID.  Any context. */
void cmt_resctrl_seen(u32 rmid);

/* A CPU has an association that cmt did not load: check the mount.  Any context. */
void cmt_resctrl_look(void);

/*
 * Does resctrl write PQR_ASSOC in the switch from @prev to @next?  resctrl writes if the
 * CLOSID or the RMID of the two tasks differ.
 */
static inline bool cmt_resctrl_writes(const struct task_struct *prev,
				      const struct task_struct *next)
{
	return cmt_task_rmid(prev) != cmt_task_rmid(next) ||
	       cmt_task_closid(prev) != cmt_task_closid(next);
}

#endif
