/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings that are the same for all readers, as CMT_REC_STATE has them.  One room
 * changes each of them, with WRITE_ONCE().
 */
#ifndef CMT_SETTINGS_H
#define CMT_SETTINGS_H

#include "cmt.h"

extern typeof_member(struct cmt_record, state) cmt_settings;

/*
 * A setting has changed: write all to this CPU's ring, as a CMT_REC_STATE record.  Called
 * without the lock that the change takes.
 */
void cmt_settings_emit(void);

#endif
