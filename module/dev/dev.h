/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/cmt, as uapi/cmt.h says, and /proc/cmt. */
#ifndef CMT_DEV_H
#define CMT_DEV_H

int cmt_device_init(void);
void cmt_device_exit(void);

int cmt_procfs_init(void);
void cmt_procfs_exit(void);

#endif
