/* SPDX-License-Identifier: GPL-2.0 */
/* Online CPUs, and CPUs that come up and go down. */
#ifndef CMT_HOTPLUG_H
#define CMT_HOTPLUG_H

#include <linux/types.h>

int cmt_hotplug_init(void);
void cmt_hotplug_exit(void);

/* resctrl has been mounted or unmounted.  Process context, one call at a time. */
void cmt_hotplug_follow_resctrl(bool mounted);
/* CMT_EVTSEL_*: what readings of resctrl meet */
u32 cmt_hotplug_evtsel(void);

#endif
