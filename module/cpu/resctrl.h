/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's resctrl beside cmt: whether it is mounted, and when it writes PQR_ASSOC.
 * docs/decisions/0017-resctrl.md has the reasons.
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
/* After the probes, and cmt_foreign_exit(). */
void cmt_resctrl_exit(void);

/* @mode: CMT_RESCTRL_*.  Process context. */
void cmt_resctrl_set_mode(u32 mode);
/* Is resctrl mounted now?  Any context. */
bool cmt_resctrl_is_mounted(void);
/* Was it at the last call of the next function? */
bool cmt_resctrl_mounted(void);
/*
 * Check the mount: from now on the switches of all CPUs follow it.  Returns whether it has
 * changed.  Process context, one call at a time.
 */
bool cmt_resctrl_follow(void);

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
