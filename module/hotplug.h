/* SPDX-License-Identifier: GPL-2.0 */
/* Online CPUs, and CPUs that come up and go down. */
#ifndef CMT_HOTPLUG_H
#define CMT_HOTPLUG_H

int cmt_hotplug_init(void);
void cmt_hotplug_exit(void);

#endif
